"""Events: frozen records of what was done to the sensitive table, each with its zCDP cost.

The meaning of an event never changes once a certificate may hold it: add a class instead.
All costs are exact fractions, so that a ledger can add them up without rounding.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import isfinite, isqrt
from numbers import Rational
from typing import final

from synthdp.cliques import Clique
from synthdp.errors import ParameterError


def exact_rho(rho: Fraction | float) -> Fraction:
    """The same number as a fraction of Python integers, which never round or overflow as numpy's do.

    Raises
    ------
    ParameterError
        If it is not above 0 and at most 2^80.
    """
    if isinstance(rho, Rational):
        exact = Fraction(int(rho.numerator), int(rho.denominator))
    else:
        exact = Fraction(float(rho)) if isfinite(rho) else Fraction(0)
    if exact > 2**80:
        raise ParameterError("rho is above 2^80; give a number above 0 and at most 2^80")
    if exact <= 0:
        raise ParameterError(f"rho is {float(rho)}; give a number above 0 and at most 2^80")
    return exact


MAX_ROWS = 1 << 20
"""Most records of one person; with more, noise would drown everything."""


class Adjacency(Enum):
    """Which tables count as neighbours, that is, what one person can change."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"

    @property
    def marginal_l2_squared(self) -> int:
        """Squared L2 sensitivity of the counts of one marginal, in records squared.

        A record that comes or goes changes one cell by 1; a replaced record changes two.
        """
        return 1 if self is Adjacency.ADD_REMOVE else 2

    @property
    def marginal_l1(self) -> int:
        """Sensitivity of the L1 distance between one marginal and public numbers, in records."""
        return 1 if self is Adjacency.ADD_REMOVE else 2

    @property
    def unit(self) -> str:
        """The unit of privacy in words."""
        return {
            Adjacency.ADD_REMOVE: "one record, present or absent; the number of records is protected",
            Adjacency.REPLACE_ONE: "the content of one record; the number of records is not protected",
        }[self]


@final
@dataclass(frozen=True, kw_only=True)
class PrivacyUnit:
    """What is protected as one: a record, or all records of a person.

    Parameters
    ----------
    adjacency
        Which tables are neighbours.
    max_rows
        Most records of one person, enforced before anything is counted. All of them may fall
        into one cell, so that every sensitivity is ``max_rows`` times that of one record.
    column
        The column that tells persons apart; None if each record is a unit of its own.

    Raises
    ------
    ParameterError
        If ``max_rows`` is not a whole number of at least 1, persons are not told apart, or are
        replaced: a person who is replaced may have another number of records, which would then
        have to be public.
    """

    adjacency: Adjacency
    max_rows: int = 1
    column: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.max_rows, bool) or not isinstance(self.max_rows, int) or not 1 <= self.max_rows <= MAX_ROWS:
            raise ParameterError(
                f"max_rows_per_unit is {self.max_rows}; give a whole number of at least 1 and at most {MAX_ROWS}"
            )
        if self.column is None and self.max_rows > 1:
            raise ParameterError(f"max_rows_per_unit is {self.max_rows} but there is no unit; name the person's column")
        if self.column is not None and self.adjacency is not Adjacency.ADD_REMOVE:
            raise ParameterError("adjacency is 'replace-one', which is for records; with a unit give 'add-remove'")

    @property
    def marginal_l2_squared(self) -> int:
        """Squared L2 sensitivity of the counts of one marginal, in records squared."""
        return self.adjacency.marginal_l2_squared * self.max_rows**2

    @property
    def marginal_l1(self) -> int:
        """Sensitivity of the L1 distance between one marginal and public numbers, in records."""
        return self.adjacency.marginal_l1 * self.max_rows

    @property
    def description(self) -> str:
        """The unit of privacy in words."""
        if self.column is None:
            return self.adjacency.unit
        return (
            f"one person, told apart by column {self.column!r}, with at most {self.max_rows} records, present or "
            "absent; the number of records is protected"
        )


class Noise(Enum):
    """Which Gaussian noise, on integers, an event has."""

    DISCRETE = "discrete Gaussian"
    ROUNDED = "Gaussian, rounded to the nearest integer"

    def variance(self, sigma_squared: Fraction) -> float:
        """Upper bound on the variance for a parameter ``sigma_squared``, tight from sigma = 1 on [CKS20]."""
        return float(sigma_squared) + (1 / 12 if self is Noise.ROUNDED else 0.0)


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

    @property
    @abstractmethod
    def is_gaussian(self) -> bool:
        """Whether the event is a function of integers plus real Gaussian noise, which Gaussian DP asks for [DRS19].

        Rounding ``count + noise`` is a function of it, and the same as adding rounded noise because
        counts are integers. The discrete Gaussian is close to that but no function of it.
        """

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """The event for a certificate: plain JSON values, nothing that depends on records."""


@final
@dataclass(frozen=True, kw_only=True)
class MarginalEvent(Event):
    """Gaussian noise of variance parameter ``sigma_squared`` on each count of a marginal.

    Costs ``sensitivity_squared / (2 sigma_squared)``: [CKS20, Thm. 14] for the discrete Gaussian,
    [BS16] and post-processing for the rounded one.
    """

    clique: Clique
    sigma_squared: Fraction
    sensitivity_squared: int
    noise: Noise = Noise.DISCRETE

    @classmethod
    def costing(cls, rho: Fraction, *, clique: Clique, unit: PrivacyUnit, noise: Noise) -> "MarginalEvent":
        """The event that costs exactly ``rho``."""
        squared = unit.marginal_l2_squared
        return cls(clique=clique, sigma_squared=squared / (2 * rho), sensitivity_squared=squared, noise=noise)

    @property
    def rho(self) -> Fraction:
        """Cost in zCDP."""
        return self.sensitivity_squared / (2 * self.sigma_squared)

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is the rounded one."""
        return self.noise is Noise.ROUNDED

    def to_dict(self) -> dict[str, object]:
        """The event for a certificate."""
        return {
            "event": "marginal",
            "mechanism": self.noise.value,
            "columns": list(self.clique),
            "sigma": float(self.sigma_squared) ** 0.5,
            "sensitivity_l2_squared": self.sensitivity_squared,
            "rho": float(self.rho),
        }


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
    def costing(cls, rho: Fraction, *, score: str, n_candidates: int, sensitivity: Fraction) -> "SelectionEvent":
        """The event with the largest epsilon on a 2^-80 grid that costs at most ``rho``."""
        root = Fraction(isqrt((8 * rho.numerator << 160) // rho.denominator), 1 << 80)
        if root == 0:
            raise ParameterError(f"rho is {float(rho)}; that is too little for a selection")
        return cls(score=score, n_candidates=n_candidates, epsilon=root, sensitivity=sensitivity)

    @property
    def rho(self) -> Fraction:
        """Cost in zCDP."""
        return self.epsilon**2 / 8

    @property
    def is_gaussian(self) -> bool:
        """Never: the exponential mechanism has no Gaussian noise."""
        return False

    def to_dict(self) -> dict[str, object]:
        """The event for a certificate."""
        return {
            "event": "selection",
            "mechanism": "exponential",
            "score": self.score,
            "n_candidates": self.n_candidates,
            "epsilon": float(self.epsilon),
            "sensitivity": float(self.sensitivity),
            "rho": float(self.rho),
        }


@final
@dataclass(frozen=True, kw_only=True)
class ScoresEvent(Event):
    """Gaussian noise of variance parameter ``sigma_squared`` on the integer scores of all candidates.

    One record changes each of ``n_candidates`` scores by at most ``sensitivity``, hence their
    vector by at most ``sqrt(n_candidates) sensitivity``; this is tight. Charging for
    ``2 sensitivity`` because only the largest is looked at would be wrong: the maximum over many
    candidates varies less than each of them does.
    """

    score: str
    n_candidates: int
    sigma_squared: Fraction
    sensitivity: int
    noise: Noise

    @classmethod
    def costing(cls, rho: Fraction, *, score: str, n_candidates: int, sensitivity: int, noise: Noise) -> "ScoresEvent":
        """The event that costs exactly ``rho``."""
        sigma_squared = n_candidates * sensitivity**2 / (2 * rho)
        return cls(
            score=score, n_candidates=n_candidates, sigma_squared=sigma_squared, sensitivity=sensitivity, noise=noise
        )

    @property
    def rho(self) -> Fraction:
        """Cost in zCDP."""
        return self.n_candidates * self.sensitivity**2 / (2 * self.sigma_squared)

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is the rounded one."""
        return self.noise is Noise.ROUNDED

    def to_dict(self) -> dict[str, object]:
        """The event for a certificate."""
        return {
            "event": "scores",
            "mechanism": self.noise.value,
            "score": self.score,
            "n_candidates": self.n_candidates,
            "sigma": float(self.sigma_squared) ** 0.5,
            "sensitivity": self.sensitivity,
            "rho": float(self.rho),
        }
