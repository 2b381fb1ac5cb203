"""What was released, of one table or of several: one interface, whatever it is."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, final

from synthdp.core.imports import import_named
from synthdp.release.on_demand import NOTEBOOK_SUMMARY

if TYPE_CHECKING:
    import pandas as pd

    from synthdp.release.answers import Answers

TABLE = "table"
"""What a release of one table calls it."""


class Released(ABC):
    """What a run paid for, with a certificate of what that was: it can be kept in a file."""

    @property
    @abstractmethod
    def certificate(self) -> dict[str, Any]:
        """What the release says about its guarantee."""

    @property
    def cautions(self) -> tuple[str, ...]:
        """What users should know: columns of which little was read or learnt, fits that fell short."""
        return tuple(self.certificate.get("cautions", ()))

    @property
    @abstractmethod
    def n_measured(self) -> int:
        """How many marginals were measured."""

    is_schema: ClassVar[bool]
    """Whether its file is a schema, as the run had learnt columns only when it was stopped."""

    @property
    @abstractmethod
    def can_sample(self) -> bool:
        """Whether rows can be drawn; if not, the run was stopped before its end."""

    @abstractmethod
    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write everything to one file; raises `DataFileError` if it is there, unless ``force``."""


class Result(Released):
    """A fitted release: it is sampled, counted and saved alike, whatever was released.

    `synthesize` and its like return one, and `synthdp.load` restores it. It holds no records, and
    all it does is post-processing, which costs no privacy however often.
    """

    @property
    def quality(self) -> dict[str, Any] | None:
        """How far a table of this release is from the records, as plain JSON values: measured under
        its budget, and fit to publish. None if it was not measured; see ``docs/quality.md``.
        """
        return self.certificate.get("quality")

    is_schema: ClassVar[bool] = False
    """False: its file is what `synthdp.load` restores."""

    @property
    @abstractmethod
    def knows_size(self) -> bool:
        """Whether the number of rows, persons or roots stands out of its noise; if not, `sample`
        needs a number.
        """

    @property
    @abstractmethod
    def tables(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table that `sample` draws, by the table's name; of one table alone
        that is ``table``.
        """

    @property
    @abstractmethod
    def fitted_parts(self) -> "tuple[FittedPart, ...]":
        """The models of single tables that it is made of."""

    @abstractmethod
    def sample(
        self,
        n: int | None = None,
        /,
        *,
        seed: int | None = None,
        text: bool = False,
        where: Mapping[str, object] | None = None,
        given: Any = None,
    ) -> Any:
        """Draw a synthetic table, or several by name.

        Parameters
        ----------
        n
            How many rows, persons with all their rows, or rows of the root with all that hang on
            them; by default the (noisy) estimate of the sensitive number, unless noise hides it.
        seed, text
            As `Synthesis.sample` has them.
        where, given
            A slice to draw from, or records to complete; an error says what does not take them.
        """

    @abstractmethod
    def marginal(self, columns: Sequence[str]) -> "pd.Series":
        """Expected counts of all combinations of levels of some columns, indexed by their labels.

        Of several tables a column's name has the table's and a dot before it.
        """

    def _repr_html_(self) -> str:
        summary: str = import_named(NOTEBOOK_SUMMARY)(self)
        return summary


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class FittedPart:
    """The model of one table in a release, and which rows it is of."""

    answers: "Answers"
    """What was measured, and the model that explains it."""
    drawn: tuple[str, ...]
    """The columns that are drawn from it; others are known when it is asked."""
    label: str = ""
    """Which of several it is; empty of one."""
    rows: str = ""
    """Which rows it is of, in a sentence; empty if these are all of the table."""
    unit: str = "records"
    weight: int = 1
    """What is counted, and what one of it counts in the measurements."""
