"""What private objects share: a source that is asked only after the ledger was charged, and let go
in the end.
"""

from abc import ABC
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar, Generic, NamedTuple, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError, PrivacyError
from synthdp.core.event_log import log_charge
from synthdp.privacy.events import CountsEvent, Event
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.gaussian import MAX_SIGMA_SQUARED, add_noise, gaussian_noise
from synthdp.privacy.noise.randomness import Randomness, SystemRandomness

Source = TypeVar("Source")
IntArray = NDArray[np.int64]


class Answer(NamedTuple):
    """What one event releases: noisy numbers, and texts if it releases any. It holds nothing that
    was not paid for.
    """

    numbers: IntArray
    texts: tuple[str, ...] = ()


class AnswerCache(Protocol):
    """Answers that were released before a run was stopped, in their order. It sees questions and
    noisy answers only.
    """

    def get(self, question: tuple[object, ...], n_numbers: int | None) -> Answer | None:
        """The next answer that is remembered, if it answers that question, with so many numbers
        unless that is None.

        None if there is none, an error if it is another one. A question is an event and what was
        asked besides.
        """

    def keep(self, question: tuple[object, ...], answer: Answer) -> None:
        """Keep an answer, which cannot be changed, before anybody sees it; if that fails, nobody
        will.
        """


class Queryable(ABC, Generic[Source]):
    """Records behind a ledger: it shows nothing of them but what an event paid for, and cannot be
    copied.

    Parameters
    ----------
    source
        Where exact counts come from.
    ledger
        The budget; charged here and nowhere else.
    randomness
        Random bits; anything but the default is for tests and makes the release NOT PRIVATE.
    memory
        What a run that was stopped had released before, and where answers are kept; nowhere by
        default.
    """

    __slots__ = ("_ledger", "_memory", "_open_source", "_randomness")
    _purpose: ClassVar[str]
    """What a budget may be too little for, in error messages."""

    def __init__(
        self,
        source: Source,
        ledger: PrivacyLedger,
        *,
        randomness: Randomness | None = None,
        memory: AnswerCache | None = None,
    ) -> None:
        self._open_source: Source | None = source
        self._ledger, self._memory = ledger, memory
        self._randomness = SystemRandomness() if randomness is None else randomness

    @property
    def ledger(self) -> PrivacyLedger:
        """The ledger that pays for every answer."""
        return self._ledger

    @property
    def randomness(self) -> Randomness:
        """Where the random bits come from."""
        return self._randomness

    def close(self) -> None:
        """Let go of the source: whoever still holds this object cannot reach records or exact
        counts any more.
        """
        self._open_source = None

    @property
    def _source(self) -> Source:
        if self._open_source is None:
            raise PrivacyError(f"{self!r}: its run is over; start a new release")
        return self._open_source

    def _answer(
        self, event: Event, make: Callable[[], Answer], n_numbers: int | None, *asked: object
    ) -> Answer:
        """The answer to an event: paid for, then remembered, or else made and kept before it is
        returned.

        The one place where answers come from. Costs nothing if the noise does not fit into int64,
        or the run is over. A remembered answer was released before: to give it again is
        post-processing, whatever was asked, and needs neither records nor noise. ``asked`` is all
        that is public of the question and not in its event; an answer has ``n_numbers`` numbers, or
        as many as it happens to have.
        """
        # Raises if the run is over, before anything is charged.
        _ = self._source
        if isinstance(event, CountsEvent):
            self._check_scale(event.sigma_squared, event.rho)
        # From here on the event is paid for, even if all that follows fails: a failure may depend
        # on the records.
        self._ledger.charge(event)
        answer = None if self._memory is None else self._memory.get((event, *asked), n_numbers)
        # Nothing was asked yet, so what is logged depends on released values at most.
        log_charge(
            event.to_dict(), share_spent=self._ledger.share_spent, is_kept=answer is not None
        )
        if answer is not None:
            return answer
        answer = make()
        if self._memory is not None:
            # The memory keeps what is answered, whatever is done with either.
            answer.numbers.setflags(write=False)
            self._memory.keep((event, *asked), answer)
        return answer

    def _check_scale(self, sigma_squared: Fraction, rho: Fraction | float) -> None:
        if sigma_squared > MAX_SIGMA_SQUARED:
            raise ParameterError(f"rho is {float(rho)}; that is too little {self._purpose}")

    def _noisy(self, event: CountsEvent, counts: IntArray) -> IntArray:
        """Counts of an event that was paid for, each with noise of its own."""
        noise = gaussian_noise(
            sigma_squared=event.sigma_squared, size=counts.size, randomness=self._randomness
        )
        return add_noise(counts, noise.reshape(counts.shape))

    def __reduce__(self) -> NoReturn:
        raise PrivacyError(
            f"{self!r} cannot be copied or pickled: a copy would have a budget of its own"
        )
