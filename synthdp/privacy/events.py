"""Events: frozen records of what was done to the sensitive table, each with its zCDP cost.

The meaning of an event never changes once a certificate may hold it: add a class instead.
All costs are exact fractions, so that a ledger can add them up without rounding.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, isqrt
from numbers import Rational
from typing import ClassVar, final

from synthdp.core.cliques import Clique
from synthdp.core.errors import ParameterError
from synthdp.privacy.noise.gaussian import GAUSSIAN, stddev_of_noise
from synthdp.privacy.unit import PrivacyUnit, gaussian_sigma_squared

MAX_RHO = 2**80
"""Noise of variance 2^-81 and less is none: a larger rho is taken for a mistake."""

_GRID_BITS = 80
"""A selection's epsilon is a multiple of 2^-80, so that its square is a short fraction."""


def exact_fraction(number: Fraction | float) -> Fraction:
    """The same number as a fraction of Python integers, which never round or overflow as numpy's
    do; -1 if infinite.
    """
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    return Fraction(float(number)) if isfinite(number) else Fraction(-1)


def exact_rho(rho: Fraction | float) -> Fraction:
    """A cost as an exact fraction.

    Raises
    ------
    ParameterError
        If it is not above 0 and at most 2^80.
    """
    exact = exact_fraction(rho)
    if exact > MAX_RHO:
        raise ParameterError("rho is above 2^80; give a number above 0 and at most 2^80")
    if exact <= 0:
        raise ParameterError(f"rho is {float(rho)}; give a number above 0 and at most 2^80")
    return exact


@dataclass(frozen=True, kw_only=True)
class Event(ABC):
    """One use of the sensitive table."""

    @property
    @abstractmethod
    def rho(self) -> Fraction:
        """Cost in zCDP; for an event that `is_gaussian` it is also mu^2 / 2 in Gaussian DP."""

    @property
    def delta(self) -> Fraction:
        """Probability that the cost does not hold: 0 but for values that only one person has."""
        return Fraction(0)

    is_gaussian: ClassVar[bool] = False
    """Whether the event is a function of integers plus real Gaussian noise, which Gaussian DP asks
    for [DRS19].

    Rounding ``count + noise`` is a function of it, and the same as adding rounded noise because
    counts are integers.
    """

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """The event for a certificate: plain JSON values, nothing that depends on records."""


@dataclass(frozen=True, kw_only=True)
class CountsEvent(Event):
    """Gaussian noise of variance ``sigma_squared``, rounded to whole numbers, on each of some
    counts.

    A unit changes the counts by at most ``sensitivity_squared`` in squared L2 norm. Costs
    ``sensitivity_squared / (2 sigma_squared)`` by [BS16, Prop. 1.6], rounding being
    post-processing.
    """

    is_gaussian: ClassVar[bool] = True
    sigma_squared: Fraction
    sensitivity_squared: int

    @property
    def rho(self) -> Fraction:
        """Cost in zCDP."""
        return self.sensitivity_squared / (2 * self.sigma_squared)

    @property
    def stddev(self) -> float:
        """Standard deviation of the noise on each count, in records, rounding included."""
        return stddev_of_noise(self.sigma_squared)

    def _described(
        self, event: str, *, of: Mapping[str, object], mechanism: str = GAUSSIAN
    ) -> dict[str, object]:
        """The event for a certificate, with what it counts."""
        noise = {
            "sigma": float(self.sigma_squared) ** 0.5,
            "sensitivity_l2_squared": self.sensitivity_squared,
        }
        return {"event": event, "mechanism": mechanism, **of, **noise, "rho": float(self.rho)}


@final
@dataclass(frozen=True, kw_only=True)
class MarginalEvent(CountsEvent):
    """The counts of a marginal."""

    clique: Clique

    @classmethod
    def costing(cls, rho: Fraction, *, clique: Clique, unit: PrivacyUnit) -> "MarginalEvent":
        """The event that costs exactly ``rho``."""
        squared = unit.marginal_l2_squared
        return cls(
            clique=clique, sigma_squared=unit.sigma_squared(rho), sensitivity_squared=squared
        )

    def to_dict(self) -> dict[str, object]:
        """The event for a certificate."""
        return self._described("marginal", of={"columns": list(self.clique)})


@final
@dataclass(frozen=True, kw_only=True)
class SelectionEvent(Event):
    """Exponential mechanism with parameter ``epsilon`` among candidates.

    Costs ``epsilon**2 / 8``, being epsilon-bounded-range [CR21, DR19].
    """

    score: str
    n_candidates: int
    epsilon: Fraction
    sensitivity: Fraction

    @classmethod
    def costing(
        cls, rho: Fraction, *, score: str, n_candidates: int, sensitivity: Fraction
    ) -> "SelectionEvent":
        """The event with the largest epsilon on a 2^-80 grid that costs at most ``rho``."""
        root = Fraction(
            isqrt((8 * rho.numerator << 2 * _GRID_BITS) // rho.denominator), 1 << _GRID_BITS
        )
        if root == 0:
            raise ParameterError(f"rho is {float(rho)}; that is too little for a selection")
        return cls(score=score, n_candidates=n_candidates, epsilon=root, sensitivity=sensitivity)

    @property
    def rho(self) -> Fraction:
        """Cost in zCDP."""
        return self.epsilon**2 / 8

    def to_dict(self) -> dict[str, object]:
        """The event for a certificate."""
        scored = {"score": self.score, "n_candidates": self.n_candidates}
        costs = {
            "epsilon": float(self.epsilon),
            "sensitivity": float(self.sensitivity),
            "rho": float(self.rho),
        }
        return {"event": "selection", "mechanism": "exponential", **scored, **costs}


@final
@dataclass(frozen=True, kw_only=True)
class ScoresEvent(CountsEvent):
    """The integer scores of all candidates.

    A unit changes each of ``n_candidates`` scores by at most ``sensitivity``, hence their vector by
    at most ``sqrt(n_candidates) sensitivity``; this is tight. Charging for ``2 sensitivity``
    because only the largest is looked at would be wrong: the maximum over many candidates varies
    less than each of them does.
    """

    score: str
    n_candidates: int
    sensitivity: int

    @classmethod
    def costing(
        cls, rho: Fraction, *, score: str, n_candidates: int, sensitivity: int
    ) -> "ScoresEvent":
        """The event that costs exactly ``rho``."""
        squared = n_candidates * sensitivity**2
        return cls(
            score=score,
            n_candidates=n_candidates,
            sensitivity=sensitivity,
            sigma_squared=gaussian_sigma_squared(rho, squared),
            sensitivity_squared=squared,
        )

    def to_dict(self) -> dict[str, object]:
        """The event for a certificate."""
        scored = {
            "score": self.score,
            "n_candidates": self.n_candidates,
            "sensitivity": self.sensitivity,
        }
        return self._described("scores", of=scored)
