"""A run whose answers are kept in a journal, and whose cost is charged to the budget of a
population.
"""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from logging import INFO
from os import PathLike
from typing import Any, final

from synthdp.core.errors import ParameterError, PrivacyError, SynthdpError
from synthdp.core.reporting import log
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.release.keeping.budget import Budget
from synthdp.release.keeping.journal import Journal, check_replaceable, new_run, now


@final
@dataclass(frozen=True, kw_only=True)
class RunIdentity:
    """Which run a release is of, and when its answers were given: public, whatever the records are.

    Parameters
    ----------
    run
        Its identifier: random, in hexadecimal.
    when
        When it began, in UTC, before it read a record; None if nobody noted it.
    resumed
        The days on which it was gone on with after it had been stopped.
    replayed
        When all of it came from its journal again; None if it did not.
    rescued
        When it became a release without its run; None if it did not.
    is_asked
        Whether it is charged to a budget, which sees to it that no copy of its journal becomes
        another release.
    """

    run: str
    when: str | None
    resumed: tuple[str, ...] = ()
    replayed: str | None = None
    rescued: str | None = None
    is_asked: bool = False

    def to_dict(self) -> dict[str, Any]:
        """What a certificate says of it, as plain JSON values."""
        found: dict[str, Any] = {
            "id": self.run,
            "released": self.when,
            "is_charged_to_budget": self.is_asked,
        }
        found |= {"resumed": list(self.resumed)} if self.resumed else {}
        found |= {"rescued": self.rescued} if self.rescued else {}
        return found | ({"replayed": self.replayed} if self.replayed else {})


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
        Whether this is about one of several tables, of which another is asked next: then the run
        does not end with it.
    """

    def __init__(
        self, journal: Journal | None = None, budget: Budget | None = None, *, is_part: bool = False
    ) -> None:
        self._journal, self._budget, self._is_part = journal, budget, is_part
        self._run, self._began = (new_run() if journal is None else journal.run), now()
        self._is_closed: bool | None = None

    @property
    def identity(self) -> RunIdentity:
        """Which run it is, and when its answers so far were given."""
        journal, is_asked = self._journal, self._budget is not None
        if journal is None:
            return RunIdentity(run=self._run, when=self._began, is_asked=is_asked)
        return RunIdentity(
            run=self._run,
            when=journal.when,
            resumed=journal.resumed,
            replayed=self._began if self.is_repeated else None,
            is_asked=is_asked,
        )

    @property
    def journal(self) -> Journal | None:
        """The memory of the run, if it has one."""
        return self._journal

    @property
    def is_repeated(self) -> bool:
        """Whether all answers came from the journal: the run was complete before, and no record was
        looked at.
        """
        return self._journal is not None and self._journal.is_repeated

    @property
    def replay(self) -> str:
        """A caution to whoever called, if this is the release of an earlier run again; else an
        empty text.
        """
        if self._journal is None or not self.is_repeated:
            return ""
        began = f"the run of {self._journal.when}" if self._journal.when else "an earlier run"
        way_out = "remove the journal, or name another, for a new release"
        if self._is_closed:
            way_out = "the same command once more makes a new one"
        return (
            f"journal {self._journal.path!r}: nothing was asked of the records: all answers were there, and this is "
            f"the release of {began} again, of the records as they were then; {way_out}"
        )

    @property
    def journal_line(self) -> str:
        """What a journal is good for once its run has ended, for people; an empty text without one."""
        if self._journal is None:
            return ""
        path = shlex.quote(self._journal.path)
        if self._is_closed is False:
            return f"journal {path}: it could not be renamed; remove it, else the next run gives this release again"
        return f"journal {path}: it holds the whole run; --journal {path} gives this release again for nothing"

    @property
    def entropy(self) -> int | None:
        """Seed of draws from released values on which later questions depend: the same whenever the
        run goes on.

        It is the run's identifier, which was drawn before a record was read, and has nothing to do
        with noise. None, of a run that cannot go on: each draw is from fresh entropy.
        """
        return None if self._journal is None else int.from_bytes(self._journal.run.encode())

    def part(self) -> "KeptRun":
        """What is kept of one of several tables of this run: its answers come after those of the
        tables before.
        """
        part = KeptRun(self._journal, is_part=True)
        part._run, part._began = self._run, self._began
        return part

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

    def may_be_rescued(self) -> bool:
        """Whether what was answered so far may become a release though the run fails; a budget is
        told.

        It may not if another copy of the journal became another release: then this would be a
        second one for the price of one. Nor if the budget cannot be asked: what was paid for stays
        in the journal.
        """
        if self._budget is None or self._journal is None:
            return True
        with suppress(SynthdpError):
            self._budget.rescue(self._journal.run, self._journal.hashes, self._journal.path)
            return True
        return False

    def close_as(self, path: str | PathLike[str]) -> None:
        """Give the journal, whose run has ended, another name: the next run begins one of its own."""
        if self._journal is not None:
            self._is_closed = self._journal.move(path)


@contextmanager
def kept_run(
    journal: str | PathLike[str] | None,
    budget: Budget | str | PathLike[str] | None,
    *,
    ended: str | None = None,
    note: str,
    ledger: PrivacyLedger,
    settings: Mapping[str, Any],
    of: str,
    facts: Mapping[str, Any],
) -> Iterator[KeptRun]:
    """Open the journal of a run, and charge its whole budget unless that was done before it was
    stopped.

    Parameters
    ----------
    journal, budget, note
        As in `synthesize`.
    ended
        The name that the journal gets once the block has come to its end: so that the next run does
        not find it.
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
        If there is a budget but no journal: a run that failed would have to pay again; or a note
        but no budget; or one of them is no path.
    DataFileError, ParameterError, PrivacyError
        As `Journal` and `Budget.charge`.
    """
    if not isinstance(note, str):
        raise ParameterError(f"budget_note is {note!r}; give a text")
    if note and budget is None:
        raise ParameterError(
            "budget_note is given without budget, so nothing would be charged; name the budget's file"
        )
    if journal is None:
        if budget is not None:
            raise ParameterError(
                "budget is given without journal; give the name of a file, for instance journal='run.journal', so "
                "that a run that fails goes on without paying again"
            )
        yield KeptRun()
        return
    opened = None if budget is None else budget if isinstance(budget, Budget) else Budget(budget)
    if ended is not None:
        check_replaceable(ended)
    with Journal(journal, settings, facts) as kept:
        if opened is not None:
            try:
                kept.charged_to(opened.place, opened.first)
                is_new = opened.charge(ledger, kept, schema=str(settings[of]), note=note)
            except PrivacyError:  # refused for good, so that a new journal would only be in the way
                kept.discard_if_new()
                raise
            log(
                INFO,
                "budget %s: %s",
                opened.path,
                "charged" if is_new else "it has this run already",
            )
        found = KeptRun(kept, opened)
        yield found
        if ended is not None:
            found.close_as(ended)
