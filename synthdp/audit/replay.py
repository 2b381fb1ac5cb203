"""A recorded run with frozen noise, and the same run on a neighbouring table, which gets the same
answers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, final

from synthdp.audit.asking.neighbours import Truth
from synthdp.audit.asking.observer import Log
from synthdp.audit.asking.questions import Question
from synthdp.audit.claims import cost_excess
from synthdp.audit.frozen import FrozenRandomness
from synthdp.privacy.events import Event
from synthdp.privacy.unit import PrivacyUnit


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """A question, what was charged for it, and its answers."""

    question: Question[Any]
    """What was asked."""
    events: tuple[Event, ...]
    """What was charged for it."""
    exact: Any
    answer: Any
    """The answer of the recorded table, before and after noise or choice."""
    n_bytes: int
    """How many random bytes it took."""


class Recorder(Log):
    """Records what a run asks of a table and what it is answered, each answer with bits of its own.

    Parameters
    ----------
    truth
        The table.
    bits
        The randomness of the run.
    """

    def __init__(self, truth: Truth, bits: FrozenRandomness) -> None:
        super().__init__(truth)
        self.bits = bits
        self.asked: list[Asked] = []

    def answer(self, question: Question[Any], kernel: Any, sources: Sequence[Any]) -> Any:
        """What the kernel answers."""
        # Bits by the number of the question: a mechanism that asked one more would otherwise shift
        # the noise of all later ones, and differ for that alone.
        self.bits.begin(len(self.asked))
        n_before = len(kernel.ledger.events)
        answer = question.ask(kernel)
        events = kernel.ledger.events[n_before:]
        (source,) = sources
        asked = Asked(
            question=question,
            events=events,
            exact=question.exact(source),
            answer=answer,
            n_bytes=self.bits.n_bytes,
        )
        self.asked.append(asked)
        return answer


@final
class Replayer(Recorder):
    """Records a run on a neighbouring table that gets the answers of an earlier run.

    So both runs must ask the same questions: whatever they do differently, they do because of the
    records.

    Parameters
    ----------
    truth, bits
        As in `Recorder`.
    recorded
        What was asked and answered in the earlier run.
    """

    def __init__(self, truth: Truth, bits: FrozenRandomness, recorded: Sequence[Asked]) -> None:
        super().__init__(truth, bits)
        self._recorded = recorded

    def answer(self, question: Question[Any], kernel: Any, sources: Sequence[Any]) -> Any:
        """What the earlier run was answered, as long as the same is asked."""
        number = len(self.asked)
        own = super().answer(question, kernel, sources)
        is_same = (
            number < len(self._recorded) and self._recorded[number].question.key == question.key
        )
        return self._recorded[number].answer if is_same else own


def excess(one: Recorder, other: Replayer, unit: PrivacyUnit) -> Iterator[str]:
    """In what the questions of a run and of its replay contradict what was charged for them."""
    for name in dict.fromkeys([*one.peeks, *other.peeks]):
        yield f"the run looked for {name!r} in a private object; use its questions only"
    for number, (asked, again) in enumerate(zip_longest(one.asked, other.asked)):
        if asked is None or again is None or asked.question.key != again.question.key:
            yield f"question {number + 1} depends on the records: the neighbour is asked something else"
            return
        what = f"question {number + 1} ({asked.question.key[0]})"
        for problem in _excess_of_answer(asked, again, one.bits.at(number), unit):
            yield f"{what}: {problem}"


def _excess_of_answer(
    one: Asked, other: Asked, bits: FrozenRandomness, unit: PrivacyUnit
) -> Iterator[str]:
    """In what the answers of neighbours to one question, with the same bits, contradict what was
    charged for it.
    """
    if len(one.events) != 1:
        yield f"{len(one.events) or 'no'} events were charged for it"
        return
    (event,) = one.events
    if one.events != other.events:
        yield "its event depends on the records"
    # Rejection sampling takes as many bits as it takes, but of the same bits the same number.
    if one.n_bytes != other.n_bytes and not event.delta:  # values below a threshold have noise, too
        yield "how much randomness it takes depends on the records"
    yield from cost_excess(event, unit)
    yield from one.question.excess(event, one.exact, other.exact)
    for asked in (one, other):
        if asked.question.plain(asked.answer) != asked.question.expected(
            event, asked.exact, bits.again()
        ):
            yield "its answer is not the exact one with the noise, or by the choice, that its event says"
            return
