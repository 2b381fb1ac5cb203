"""What private objects share: a source that is asked only after the ledger was charged, and let go in the end."""

from abc import ABC
from fractions import Fraction
from typing import ClassVar, Generic, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from synthdp.errors import ParameterError, PrivacyError
from synthdp.privacy.events import CountsEvent, Event
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.gaussian import MAX_SIGMA_SQUARED, gaussian_noise
from synthdp.privacy.noise.randomness import Randomness, SystemRandomness

Source = TypeVar("Source")


class Queryable(ABC, Generic[Source]):
    """Records behind a ledger: it shows nothing of them but what an event paid for, and cannot be copied.

    Parameters
    ----------
    source
        Where exact counts come from.
    ledger
        The budget; charged here and nowhere else.
    randomness
        Random bits; anything but the default is for tests and makes the release NOT PRIVATE.
    """

    __slots__ = ("_ledger", "_open_source", "_randomness")
    _purpose: ClassVar[str]
    """What a budget may be too little for, in error messages."""

    def __init__(self, source: Source, ledger: PrivacyLedger, *, randomness: Randomness | None = None) -> None:
        self._open_source: Source | None = source
        self._ledger = ledger
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
        """Let go of the source: whoever still holds this object cannot reach records or exact counts any more."""
        self._open_source = None

    @property
    def _source(self) -> Source:
        if self._open_source is None:
            raise PrivacyError(f"{self!r}: its run is over; start a new release")
        return self._open_source

    def _pay(self, event: Event) -> None:
        """Charge for an event; costs nothing if its noise does not fit into int64, or the run is over."""
        _ = self._source
        if isinstance(event, CountsEvent):
            self._check_scale(event.sigma_squared, event.rho)
        self._ledger.charge(event)

    def _check_scale(self, sigma_squared: Fraction, rho: Fraction | float) -> None:
        if sigma_squared > MAX_SIGMA_SQUARED:
            raise ParameterError(f"rho is {float(rho)}; that is too little {self._purpose}")

    def _noise(self, event: CountsEvent, size: int) -> NDArray[np.int64]:
        """The noise of an event that was paid for: independent, one number for each of ``size`` counts."""
        return gaussian_noise(sigma_squared=event.sigma_squared, size=size, randomness=self._randomness)

    def __reduce__(self) -> NoReturn:
        raise PrivacyError(f"{self!r} cannot be copied or pickled: a copy would have a budget of its own")
