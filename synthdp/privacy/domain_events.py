"""Events of learning a domain: histograms of single values, and the values that many records share."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from synthdp.privacy.events import Event, Noise, PrivacyUnit


@final
@dataclass(frozen=True, kw_only=True)
class HistogramEvent(Event):
    """Gaussian noise of variance parameter ``sigma_squared`` on each count of a histogram over public cells.

    Costs ``sensitivity_squared / (2 sigma_squared)`` like a marginal: a record is in one cell.
    """

    column: str
    of: str
    n_cells: int
    sigma_squared: Fraction
    sensitivity_squared: int
    noise: Noise

    @classmethod
    def costing(
        cls, rho: Fraction, *, column: str, of: str, n_cells: int, unit: PrivacyUnit, noise: Noise
    ) -> "HistogramEvent":
        """The event that costs exactly ``rho``."""
        squared = unit.marginal_l2_squared
        sigma_squared = squared / (2 * rho)
        return cls(
            column=column, of=of, n_cells=n_cells, sigma_squared=sigma_squared, sensitivity_squared=squared, noise=noise
        )

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
            "event": "histogram",
            "mechanism": self.noise.value,
            "column": self.column,
            "of": self.of,
            "n_cells": self.n_cells,
            "sigma": float(self.sigma_squared) ** 0.5,
            "sensitivity_l2_squared": self.sensitivity_squared,
            "rho": float(self.rho),
        }


@final
@dataclass(frozen=True, kw_only=True)
class PartitionEvent(Event):
    """Noisy counts of all values that occur, of which only those of at least ``threshold`` are released.

    The counts of the values that both of two neighbouring tables hold change by at most the
    unit's sensitivity, which costs ``sensitivity_squared / (2 sigma_squared)``. A value that only
    one of them holds belongs to one unit, and passes the threshold with a probability of at most
    ``delta`` in all (`synthdp.privacy.threshold`); given that none does, the release is distributed
    as if there were no such value [Desfontaines22].
    """

    column: str
    of: str
    sigma_squared: Fraction
    sensitivity_squared: int
    threshold: int
    failure_probability: Fraction
    noise: Noise

    @property
    def rho(self) -> Fraction:
        """Cost in zCDP, but for a probability of `delta`."""
        return self.sensitivity_squared / (2 * self.sigma_squared)

    @property
    def delta(self) -> Fraction:
        """Probability of at most this that a value of one unit alone is released."""
        return self.failure_probability

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is the rounded one."""
        return self.noise is Noise.ROUNDED

    def to_dict(self) -> dict[str, object]:
        """The event for a certificate."""
        return {
            "event": "partition selection",
            "mechanism": f"{self.noise.value}, counts below a threshold left out",
            "column": self.column,
            "of": self.of,
            "sigma": float(self.sigma_squared) ** 0.5,
            "threshold": self.threshold,
            "sensitivity_l2_squared": self.sensitivity_squared,
            "rho": float(self.rho),
            "delta": float(self.delta),
        }
