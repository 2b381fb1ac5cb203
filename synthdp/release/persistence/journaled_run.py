"""A run whose answers are kept in a journal, and whose cost is charged to the budget of a
population.
"""

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from logging import INFO
from os import PathLike
from typing import Any, final

from synthdp.core.errors import DataFileError, PrivacyError, SynthdpError
from synthdp.core.event_log import log
from synthdp.core.version import __version__
from synthdp.inference.engine import Engine
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.release.persistence.budget import Budget
from synthdp.release.persistence.described import digest_of
from synthdp.release.persistence.journal import (
    STOPPED_ENDING,
    Journal,
    check_replaceable,
    set_aside,
)
from synthdp.release.persistence.persistence import Persistence
from synthdp.release.persistence.run_identity import RunIdentity, now


@final
class JournaledRun:
    """A run with a journal, charged to a budget or not; a
    `synthdp.release.persistence.kept_run.KeptRun`.

    Parameters
    ----------
    journal
        Where its answers are.
    budget
        What it is charged to; None if to nothing.
    charge
        Charges it, unless that was done before the run was stopped.
    ledger
        What the whole run has spent.
    makes_way
        Whether the journal is renamed for another run where this one has stopped.
    stops_again
        Whether the run stopped before over its input, and is not to go on.
    is_part
        Whether this is about one of several tables, of which another is asked next: then the run
        does not end with it.
    began
        When whoever asks for it began; by default now.
    """

    def __init__(
        self,
        journal: Journal,
        budget: Budget | None = None,
        *,
        charge: Callable[[], object] | None = None,
        ledger: PrivacyLedger | None = None,
        makes_way: bool = False,
        stops_again: bool = False,
        is_part: bool = False,
        began: str | None = None,
    ) -> None:
        self._journal = journal
        self._budget = budget
        self._charge = charge
        self._is_charged = False
        self._ledger = ledger
        self._makes_way = makes_way
        self._stops_again = stops_again
        self._is_returned: bool | None = None
        self._is_part = is_part
        self._began = now() if began is None else began
        self._is_renamed: bool | None = None

    @property
    def identity(self) -> RunIdentity:
        """Which run it is, and when its answers so far were given."""
        return RunIdentity(
            run=self._journal.run,
            when=self._journal.when,
            resumed=self._journal.resumed,
            replayed=self._began if self.is_repeated else None,
            is_asked=self._budget is not None,
        )

    @property
    def memory(self) -> Journal:
        """The journal."""
        return self._journal

    @property
    def is_repeated(self) -> bool:
        """Whether all answers came from the journal: the run was complete before, and no record was
        read.
        """
        return self._journal.is_repeated

    @property
    def replay(self) -> str:
        """A caution to whoever called, if this is the release of an earlier run again; else an
        empty text.
        """
        if not self.is_repeated:
            return ""
        began = f"the run of {self._journal.when}" if self._journal.when else "an earlier run"
        way_out = "remove the journal, or name another, for a new release"
        if self._is_renamed:
            way_out = "the same command once more makes a new one"
        return (
            f"journal {self._journal.path!r}: nothing was asked of the records: all answers were there, and this is "
            f"the release of {began} again, of the records as they were then; {way_out}"
        )

    @property
    def journal_line(self) -> str:
        """What a journal is good for once its run has ended, for people; an empty text without one."""
        path = shlex.quote(self._journal.path)
        if self._is_renamed is False:
            return f"journal {path}: it could not be renamed; remove it, else the next run gives this release again"
        return f"journal {path}: it holds the whole run; --journal {path} gives this release again for nothing"

    @property
    def entropy(self) -> int:
        """Seed of draws from released values on which later questions depend: the same whenever the
        run goes on.

        It is the run's identifier, which was drawn before a record was read, and has nothing to do
        with noise.
        """
        return int.from_bytes(self._journal.run.encode())

    @property
    def has_paid(self) -> bool:
        """Whether the journal holds an answer, or a budget was charged: failing is no usage then."""
        return self._is_charged or self._journal.has_answers

    def part(self) -> "JournaledRun":
        """What is kept of one of several tables of this run: its answers come after those of the
        tables before.
        """
        return JournaledRun(self._journal, is_part=True, began=self._began)

    def begin(self) -> None:
        """Charge the budget, unless that was done before the run was stopped.

        Not sooner: of a file that cannot be read nothing is asked, so nothing is to be paid. A run
        that stopped, and is to stop again, has all its answers: its rest is charged only before a
        new one, so that it says why it stopped whatever became of the budget since.
        Raises as `Budget.charge`.
        """
        if self._stops_again and self._budget is not None and self._budget.gave_back(self._journal):
            self._journal.before_new(self._pay)
        else:
            self._pay()

    def _pay(self) -> None:
        if self._charge is None or self._is_charged:
            return
        self._is_charged = True  # an interrupt may come when the line is written already
        try:
            self._charge()
        except SynthdpError:
            self._is_charged = False
            raise

    def note(self, content: Mapping[str, Any]) -> None:
        """Note in the journal what follows from its answers; see `Journal.note`."""
        self._journal.note(content)

    def end(self) -> None:
        """All questions were asked: check that the journal agrees, and note it in the budget."""
        if self._is_part:
            return
        # The journal first: if the budget cannot be written, the run can be started again, and ends
        # without a question. The other way round it would have ended with answers that nobody
        # checked.
        self._journal.finish()
        if self._budget is not None:
            self._budget.end(self._journal)

    def may_be_rescued(self) -> bool:
        """Whether what was answered so far may become a release though the run fails; a budget
        notes it.

        It may not if another copy of the journal became another release: then this would be a
        second one for the price of one. Nor if the budget cannot be asked: what was paid for stays
        in the journal.
        """
        if self._budget is None:
            return True
        with suppress(SynthdpError):
            self._budget.rescue(self._journal.run, self._journal.hashes, self._journal.path)
            return True
        return False

    def stop(self, is_over_input: bool) -> None:
        """Note that the run stopped over its input, if it did; the budget has back what it did not
        spend.

        The journal first: where a process is killed in between, the budget keeps the larger charge.
        A journal that cannot be written leaves that charge, too.

        Why the run stopped follows from its answers, so a budget notes them before it is said:
        raises `DataFileError` if it cannot be written, as at the end of a run, and `PrivacyError`
        if another copy of the journal became another release. Then nothing is said, and the same
        command says it once it can be noted.
        """
        if not is_over_input or self._is_part or self._ledger is None:
            return
        is_all = False
        with suppress(DataFileError):
            # Answers of a run that once went on beyond this question are spent, too.
            is_all = self._journal.stop()
        if self._budget is None:
            return
        try:
            self._is_returned = self._budget.give_back(self._ledger, self._journal, is_all=is_all)
        except (DataFileError, PrivacyError) as refused:
            raise refused from None  # not beside what is not to be said

    @property
    def after_stop(self) -> str:
        """How a run that stopped goes on, and what becomes of its journal otherwise."""
        path = shlex.quote(self._journal.path)
        place = "with another --journal"
        if self._makes_way:
            place = f"and this journal becomes {shlex.quote(self._journal.path + STOPPED_ENDING)}"
        given = {
            None: "",
            True: "; the budget has back what was not spent",
            False: "; the budget has nothing back",
        }[self._is_returned]
        return (
            f"is in {path}: the same command with --anyway goes on and pays nothing twice; corrected, it is a new "
            f"run, which pays for itself, {place}; if it is the records that were mended, move the journal away "
            f"first, for its answers are of the old ones{given}"
        )

    def close_as(self, path: str | PathLike[str]) -> None:
        """Give the journal, whose run has ended, another name: the next run begins one of its own."""
        self._is_renamed = self._journal.move(path)


@contextmanager
def journaled_run(
    persistence: Persistence,
    *,
    ledger: PrivacyLedger,
    mechanism: Mechanism,
    engine: Engine,
    declared: Mapping[str, object],
    others: Mapping[str, object],
    facts: Mapping[str, Any],
    anyway: bool,
) -> Iterator[JournaledRun]:
    """Open the journal of a run, and check that its whole budget can be charged, which
    `JournaledRun.begin` does.

    Parameters
    ----------
    persistence
        Where to keep answers, and what to charge; it names a journal.
    ledger, mechanism, engine
        The budget of the run, and what asks.
    declared
        What is public of the table, by what it is, and then the workload: of these fingerprints
        are kept, and the first goes into the budget.
    others
        All else that decides what the run asks, as plain JSON values.
    facts
        What of the run is public besides; see `Journal`.
    anyway
        Whether it goes on over an input that it would stop over.

    Raises
    ------
    DataFileError, ParameterError, PrivacyError
        As `Journal` and `Budget.charge`.
    """
    assert persistence.journal is not None
    budget = persistence.budget
    if budget is not None and not isinstance(budget, Budget):
        budget = Budget(budget)
    if persistence.ended is not None:
        check_replaceable(persistence.ended)
    hashed = {name: digest_of(value) for name, value in declared.items()}
    settings = {
        "software": f"synthdp {__version__}",
        "epsilon": ledger.epsilon,
        "delta": ledger.delta,
        "adjacency": ledger.unit.adjacency.value,
        "accounting": ledger.accounting.value,
        "unit": ledger.unit.column,
        "max_rows_per_unit": ledger.unit.max_rows,
        "mechanism": mechanism.name,
        "parameters of the mechanism": digest_of(mechanism),
        "engine": engine.name,
        "parameters of the engine": digest_of(engine),
        **hashed,
        **others,
    }
    schema = next(iter(hashed.values()))
    # Only a journal whose name nobody gave: whoever names one is asked.
    moved = None if persistence.ended is None else set_aside(persistence.journal, settings)
    if moved is not None:
        log(INFO, "journal %s: of a run that stopped; it is %s now", persistence.journal, moved)
    with Journal(persistence.journal, settings, facts) as journal:
        journal.check_charged(None if budget is None else budget.first)
        stops_again = journal.has_stopped and not anyway

        def charge() -> None:
            assert budget is not None
            journal.charged_to(budget.place, budget.first)
            is_new = budget.charge(ledger, journal, schema=schema, note=persistence.budget_note)
            outcome = "charged" if is_new else "it has this run already"
            log(INFO, "budget %s: %s", budget.path, outcome)

        run = JournaledRun(
            journal,
            budget,
            charge=None if budget is None else charge,
            ledger=ledger,
            makes_way=persistence.ended is not None,
            stops_again=stops_again,
        )
        try:
            if budget is not None:  # before the rows are read, which may take long
                budget.check(ledger, journal, asks_more=not stops_again)
            yield run
        except BaseException:
            if not run.has_paid:  # a new journal would only be in the way
                journal.discard_if_new()
            raise
        if persistence.ended is not None:
            run.close_as(persistence.ended)
