"""What a run keeps of itself while it goes on; a plain run keeps nothing."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self, final

from synthdp.privacy.queryable import AnswerCache
from synthdp.release.persistence.run_identity import RunIdentity, new_run, now

LOST = "what was paid for is no part of a release: the next run pays anew; one with --journal would go on"
"""Of a run that failed after a look at columns and kept nothing."""


class KeptRun(Protocol):
    """What a release reports to its journal and reads from it as it goes on."""

    @property
    def identity(self) -> RunIdentity:
        """Which run it is, and when its answers so far were given."""

    @property
    def memory(self) -> AnswerCache | None:
        """Answers of the run before it was stopped; None if it cannot go on."""

    @property
    def replay(self) -> str:
        """A caution to whoever called, if this is the release of an earlier run again; else an
        empty text.
        """

    @property
    def journal_line(self) -> str:
        """What a journal is good for once its run has ended, for people; an empty text without one."""

    @property
    def entropy(self) -> int | None:
        """Seed of draws from released values on which later questions depend: the same whenever the
        run goes on.

        None, of a run that cannot go on: each draw is from fresh entropy.
        """

    @property
    def has_paid(self) -> bool:
        """Whether what is kept holds an answer, or the run was charged: failing is no usage then."""

    def part(self) -> "KeptRun":
        """What is kept of one of several tables of this run."""

    def begin(self) -> None:
        """The rows were read, and the first question comes next: charge the run."""

    def note(self, content: Mapping[str, Any]) -> None:
        """Note what follows from the answers so far."""

    def end(self) -> None:
        """Note that all questions were asked."""

    def may_be_rescued(self) -> bool:
        """Whether what was answered so far may become a release though the run fails."""

    def stop(self, is_over_input: bool) -> None:
        """Note that the run stopped over its input, if it did, and asks nothing more: a budget has
        back what it did not spend.
        """

    @property
    def after_stop(self) -> str:
        """Of a run that stopped, how it goes on and how another one does; an empty text without a
        journal.
        """


@final
class UnkeptRun:
    """A run of which nothing is kept: if it fails, it cannot go on."""

    def __init__(self) -> None:
        self._identity = RunIdentity(run=new_run(), when=now())

    @property
    def identity(self) -> RunIdentity:
        """Which run it is, and when it began."""
        return self._identity

    memory: ClassVar[None] = None
    """No answer is remembered."""
    replay: ClassVar[str] = ""
    """Empty: the run is new."""
    journal_line: ClassVar[str] = ""
    """Empty: there is no journal."""
    entropy: ClassVar[None] = None
    """Each draw is from fresh entropy."""
    has_paid: ClassVar[bool] = False
    """Nothing that is kept holds an answer."""

    def part(self) -> Self:
        """The same run: nothing is kept of any table."""
        return self

    def begin(self) -> None:
        """Nothing is charged but its own ledger."""

    def note(self, content: Mapping[str, Any]) -> None:
        """Forget it."""

    def end(self) -> None:
        """There is nothing to end."""

    def may_be_rescued(self) -> bool:
        """It may: no other copy of these answers is anywhere."""
        return True

    def stop(self, is_over_input: bool) -> None:
        """Nobody has to know."""

    after_stop: ClassVar[str] = ""
    """Empty: there is no journal."""
