"""A run whose answers are kept in a journal, and whose cost is charged to the budget of a population."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from logging import INFO
from os import PathLike
from typing import Any, final

from synthdp.errors import ParameterError, PrivacyError
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.release.keeping.budget import Budget
from synthdp.release.keeping.journal import Journal
from synthdp.reporting import log


@final
class KeptRun:
    """What is kept of one run: nothing, a journal, or a journal and a charge.

    Parameters
    ----------
    journal
        Where its answers are.
    budget
        What it was charged to.
    is_part
        Whether this is about one of several tables, of which another is asked next: then the run does not end with it.
    """

    def __init__(self, journal: Journal | None = None, budget: Budget | None = None, *, is_part: bool = False) -> None:
        self._journal, self._budget, self._is_part = journal, budget, is_part

    @property
    def journal(self) -> Journal | None:
        """The memory of the run, if it has one."""
        return self._journal

    @property
    def is_repeated(self) -> bool:
        """Whether all answers came from the journal: the run was complete before, and no record was looked at."""
        return self._journal is not None and self._journal.n_made == 0

    @property
    def entropy(self) -> int | None:
        """Seed of draws from released values on which later questions depend: the same whenever the run goes on.

        It is the run's identifier, which was drawn before a record was read, and has nothing to do with noise. None, of
        a run that cannot go on: each draw is from fresh entropy.
        """
        return None if self._journal is None else int.from_bytes(self._journal.run.encode())

    def part(self) -> "KeptRun":
        """What is kept of one of several tables of this run: its answers come after those of the tables before."""
        return KeptRun(self._journal, is_part=True)

    def note(self, content: Mapping[str, Any]) -> None:
        """Note in the journal, if there is one, what follows from its answers; see `Journal.note`."""
        if self._journal is not None:
            self._journal.note(content)

    def end(self) -> None:
        """All questions were asked: check that the journal agrees, and note it in the budget."""
        if self._journal is not None and not self._is_part:
            self._journal.finish()
            if self._budget is not None:
                self._budget.end(self._journal)


@contextmanager
def kept_run(
    journal: str | PathLike[str] | None,
    budget: Budget | str | PathLike[str] | None,
    *,
    note: str,
    ledger: PrivacyLedger,
    settings: Mapping[str, Any],
    of: str,
    facts: Mapping[str, Any],
) -> Iterator[KeptRun]:
    """Open the journal of a run, and charge its whole budget unless that was done before it was stopped.

    Parameters
    ----------
    journal, budget, note
        As in `synthesize`.
    ledger
        The budget of the run.
    settings
        All that decides what it asks, as plain JSON values.
    of
        Which of these is the fingerprint of what was declared: ``"schema"``, or ``"package"``.
    facts
        What of the run is public besides; see `Journal`.

    Raises
    ------
    ParameterError
        If there is a budget but no journal: a run that failed would have to pay again; or a note but no budget; or
        one of them is no path.
    DataFileError, ParameterError, PrivacyError
        As `Journal` and `Budget.charge`.
    """
    if not isinstance(note, str):
        raise ParameterError(f"budget_note is {note!r}; give a text")
    if note and budget is None:
        raise ParameterError("budget_note is given without budget, so nothing would be charged; name the budget's file")
    if journal is None:
        if budget is not None:
            raise ParameterError(
                "budget is given without journal; give the name of a file, for instance journal='run.journal', so "
                "that a run that fails goes on without paying again"
            )
        yield KeptRun()
        return
    opened = None if budget is None else budget if isinstance(budget, Budget) else Budget(budget)
    with Journal(journal, settings, facts) as kept:
        if opened is not None:
            try:
                is_new = opened.charge(ledger, kept, schema=str(settings[of]), note=note)
            except PrivacyError:  # refused for good, so that a new journal would only be in the way
                kept.discard_if_new()
                raise
            log(INFO, "budget %s: %s", opened.path, "charged" if is_new else "was charged for this run before")
        yield KeptRun(kept, opened)
