"""The interface of all models: what a fit returns, and what may be asked of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeAlias,
    TypedDict,
    cast,
    final,
)

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.factor import Factor
from synthdp.core.requests import check_cliques, check_rows
from synthdp.inference.arrays import Array, Codes

if TYPE_CHECKING:
    from synthdp.core.known_marginal import KnownMarginal
    from synthdp.core.totals_check import TotalsCheck

Progress = Callable[[int, int], None]
Ending: TypeAlias = Literal["optimal", "stalled", "stopped"]


@final
@dataclass(frozen=True, kw_only=True)
class FitStatus:
    """How a fit ended, after how many iterations, at which loss."""

    ended: Ending
    """"optimal": at the least loss, to the engine's tolerance. "stalled": where further iterations
    gain next to nothing, though there may be a better fit elsewhere. "stopped": at the limit of
    iterations.
    """
    n_iterations: int
    """Number of iterations."""
    loss: float
    """Half the sum of squared distances to the measured counts, each in units of its noise."""
    caution: str = ""
    """What users should know if the engine did not end as it should; empty if it did."""


@final
class Fit(TypedDict):
    """What all models know of the fit that made them."""

    total: float
    status: FitStatus


State = dict[str, object]
LevelWeights = NDArray[np.bool_] | Array


class Model(ABC):
    """An estimated distribution over a domain, scaled to a number of records.

    Models hold released values only; everything they answer is post-processing.
    """

    kind: ClassVar[str]
    choice: str = ""
    """Which engine was chosen and why, if that was left to ``engine="auto"``."""
    target: str = ""
    """How rows get what is to be predicted, and why so; empty if nothing is."""

    def __init__(self, *, domain: Domain, total: float, status: FitStatus) -> None:
        self._domain = domain
        self._total = total
        self._status = status
        self.findings: dict[str, object] = {}
        """Further findings of a mechanism, from released values, as plain JSON for the certificate.
        """
        self.cautions: list[str] = []
        """What a mechanism left out, from released values and public facts: sentences for the
        certificate and stderr.
        """

    @property
    def domain(self) -> Domain:
        """The attributes and their sizes."""
        return self._domain

    @property
    def total(self) -> float:
        """Estimated number of records."""
        return self._total

    @property
    def status(self) -> FitStatus:
        """How the fit ended."""
        return self._status

    @property
    def working_bytes(self) -> float:
        """Memory that tables take which it does not hold but makes for its first answer, in bytes,
        at most.
        """
        return 0.0

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """Attributes whose tables the model holds whole; none if it is not made of tables."""
        return ()

    @property
    def as_fitted(self) -> "Model":
        """What an engine fitted, from which another fit may start."""
        return self

    @property
    def known(self) -> "tuple[KnownMarginal, ...]":
        """Published marginals that it meets exactly; none unless the fit was given some."""
        return ()

    def known_check(
        self,
        codes: Codes,  # noqa: ARG002 - most know none
        wanted: "Mapping[str, LevelWeights]",  # noqa: ARG002
        why_not: str = "",  # noqa: ARG002
    ) -> "TotalsCheck | None":
        """How rows compare with what is published; None if nothing is.

        Parameters
        ----------
        codes
            The rows: of a slice, if any levels are ``wanted`` more than others.
        wanted
            As `sample_where` takes it.
        why_not
            Why these rows are not held to anything, if they are not.
        """
        return None

    def rough(self) -> "Model":
        """A model that completes records sooner and less exactly, for who moves them afterwards;
        itself if quick.
        """
        return self

    @abstractmethod
    def marginal(self, clique: Sequence[str]) -> Factor:
        """Expected counts of the cells of one marginal, axes in the order of ``clique``.

        Raises
        ------
        ParameterError
            If an attribute is unknown or repeats, or there are more than 32.
        ModelTooLargeError
            If the marginal, or a table on the way to it, has more than 2^27 cells (1 GiB); that is
            known before any of it is made.
        """

    def marginals(self, cliques: Sequence[Sequence[str]]) -> list[Factor]:
        """Many marginals, in the order of ``cliques``; models that can share work between them do.

        Raises
        ------
        ParameterError, ModelTooLargeError
            As `marginal` does for one of them, and if they have more than 2^30 cells together (8
            GiB).
        """
        return [self.marginal(clique) for clique in check_cliques(self._domain, cliques)]

    def _in_counts(self, clique: Clique, shares: Array) -> Factor:
        """A marginal in shares as one in counts, which are numbers of its own and sum to the total.

        Shares sum to 1 but for what sums and products of many cells lose; scales of noise that are
        far apart make that show.
        """
        counts = np.asarray(shares * (self._total / shares.sum()))
        counts.setflags(write=False)  # so that the factor need not copy them
        return Factor(self._domain.project(clique), counts)

    @abstractmethod
    def sample(
        self, n_rows: int, *, seed: int | None = None, rounding: bool = True, n_jobs: int = 1
    ) -> Codes:
        """Draw records: for each attribute an integer array of codes of shape ``(n_rows,)``.

        Parameters
        ----------
        n_rows
            Number of records, at least 0.
        seed
            Makes the draw repeatable; this is post-processing, so it costs no privacy.
        rounding
            True: randomised rounding, which keeps the marginals of the table closer to the model's
            than chance would: within about one count a cell for each step of the draw. False:
            independent draws.
        n_jobs
            Threads that draw, -1 for as many as there are cores: the same rows sooner. Only models
            whose rows are moved to match overlapping tables have work for more than one, from some
            100,000 rows on.

        Raises
        ------
        ParameterError
            If ``n_rows`` or ``seed`` is no whole number of at least 0, or rows of so many
            attributes would take more than 64 GiB: 30 bytes a row and one, two or four a code.
        """

    @abstractmethod
    def complete(
        self, given: Mapping[str, NDArray[np.integer]], *, seed: int | None = None
    ) -> Codes:
        """Complete partial records: draw the attributes that are not given, record by record.

        Given values are kept as they are, and constraints hold in every completed record.

        Parameters
        ----------
        given
            Codes of some attributes, each of shape ``(n_rows,)``; at least one.
        seed
            Makes the draw repeatable.

        Raises
        ------
        ParameterError
            If ``given`` does not fit the domain, or a record contradicts the constraints, which are
            named. That the model has no such record is no reason: it is completed by what comes
            nearest. See `sample` for what numbers of rows and seeds may be.
        """

    @abstractmethod
    def sample_where(
        self, wanted: Mapping[str, LevelWeights], n_rows: int, *, seed: int | None = None
    ) -> Codes:
        """Draw records of a slice: for some attributes only some levels are wanted.

        Parameters
        ----------
        wanted
            For each restricted attribute which of its levels are wanted, shape ``(n_levels,)``:
            booleans, or weights of at least 0 that multiply the probability of a level's records.
        n_rows
            Number of records, at least 0.
        seed
            Makes the draw repeatable.

        Raises
        ------
        ParameterError
            If the slice does not fit the domain, or contradicts the constraints, which are named.
            See `sample` for what ``n_rows`` and ``seed`` may be.
        """

    @abstractmethod
    def to_state(self) -> tuple[State, dict[str, Array]]:
        """What `from_state` needs to rebuild the model: plain JSON values, and arrays by name."""

    def _fit_to_state(self) -> State:
        """What all models save: the total and the status."""
        return {"total": self._total, "status": asdict(self._status)}

    @staticmethod
    def _fit_from_state(state: Mapping[str, object]) -> Fit:
        """The inverse of `_fit_to_state`; earlier versions only said whether the stopping rule had
        been met.
        """
        saved = dict(cast("dict[str, Any]", state["status"]))
        # Files of the first versions knew two ends only.
        if "converged" in saved:
            saved["ended"] = "stalled" if saved.pop("converged") else "stopped"
        status = FitStatus(**saved)  # of a forged file the keys are refused
        return {"total": float(cast("float", state["total"])), "status": status}

    @classmethod
    @abstractmethod
    def from_state(
        cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain
    ) -> Self:
        """Rebuild a saved model over ``domain``."""


def check_given(domain: Domain, given: Mapping[str, NDArray[np.integer]]) -> None:
    """Raise `ParameterError` unless there are columns of codes of attributes, of one length, and
    not too many rows.
    """
    if not given:
        raise ParameterError("given: it has no columns; give at least one, or sample without it")
    check_columns(domain.project(tuple(given)), list(given.values()), what="given")
    check_rows(domain, len(next(iter(given.values()))))


def check_columns(
    domain: Domain, columns: Sequence[NDArray[np.integer]], *, what: str = "columns"
) -> None:
    """Raise `ParameterError` unless each attribute has a column of codes, all of one length."""
    if len(columns) != len(domain):
        raise ParameterError(f"{what}: {len(columns)} for {len(domain)} attributes; give one each")
    for column, name, size in zip(columns, domain.attributes, domain.shape, strict=True):
        if column.ndim != 1 or column.dtype.kind not in "iu" or len(column) != len(columns[0]):
            raise ParameterError(
                f"{what}: {name!r} is no 1-D array of integers, as long as the others"
            )
        # A code out of range would not fail by itself: numpy counts negative ones from the end.
        if int(column.min(initial=0)) < 0 or int(column.max(initial=0)) >= size:
            raise ParameterError(
                f"{what}: some codes of {name!r} lie outside 0 .. {size - 1}; use one schema"
            )


def check_slice(domain: Domain, wanted: Mapping[str, LevelWeights]) -> dict[str, Array]:
    """How much each level is wanted, as weights of at most 1; raises `ParameterError` if they do
    not fit.
    """
    checked = {}
    for name in domain.project(wanted).attributes:
        weights = np.asarray(wanted[name], dtype=np.float64)
        if (
            weights.shape != (domain[name],)
            or not (weights >= 0).all()
            or not np.isfinite(weights).all()
        ):
            raise ParameterError(
                f"where: {name!r} has {domain[name]} levels; give each a boolean or a weight from 0"
            )
        if not weights.any():
            raise ParameterError(f"where: no level of {name!r} is wanted; allow at least one")
        # Only ratios matter; at most 1, a weight is also the chance that a drawn level is kept
        # with.
        checked[name] = weights / weights.max()
    return checked
