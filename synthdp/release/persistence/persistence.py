"""Where a run is to keep its answers, and what it is to be charged to."""

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, final

from synthdp.core.errors import ParameterError

if TYPE_CHECKING:
    from synthdp.release.persistence.budget import Budget


@final
@dataclass(frozen=True, kw_only=True)
class Persistence:
    """Where a run keeps its answers, and which budget it is charged to; by default neither.

    Parameters
    ----------
    journal, budget, budget_note
        As in `synthdp.synthesize`.
    ended
        The name that the journal gets once the run has ended, so that the next run does not find
        it.

    Raises
    ------
    ParameterError
        If there is a budget but no journal: a run that failed would have to pay again; or a note
        but no budget.
    """

    journal: str | PathLike[str] | None = None
    budget: "Budget | str | PathLike[str] | None" = None
    budget_note: str = ""
    ended: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.budget_note, str):
            raise ParameterError(f"budget_note is {self.budget_note!r}; give a text")
        if self.budget_note and self.budget is None:
            raise ParameterError(
                "budget_note is given without budget, so nothing would be charged; name the budget's file"
            )
        if self.budget is not None and self.journal is None:
            raise ParameterError(
                "budget is given without journal; give the name of a file, for instance journal='run.journal', so "
                "that a run that fails goes on without paying again"
            )
