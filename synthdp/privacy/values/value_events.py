"""Events of learning a domain: histograms of single values, and the values that many records share."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from synthdp.privacy.events import CountsEvent
from synthdp.privacy.noise.gaussian import GAUSSIAN
from synthdp.privacy.unit import PrivacyUnit
from synthdp.privacy.values.records import ROW, record_facts
from synthdp.privacy.values.thresholds import value_weights


@final
@dataclass(frozen=True, kw_only=True)
class HistogramEvent(CountsEvent):
    """The counts of a histogram of one column over public cells: a record is in one cell.

    Or it is several rows, and in the cells of all of them: then it counts so many units in all that
    the squares of what it counts in each sum to that of its weight at most, which noise and
    sensitivity are in.
    """

    column: str
    of: str
    n_cells: int
    record: str = ROW

    @classmethod
    def costing(
        cls,
        rho: Fraction,
        *,
        column: str,
        of: str,
        n_cells: int,
        unit: PrivacyUnit,
        record: str = ROW,
    ) -> "HistogramEvent":
        """The event that costs exactly ``rho``."""
        squared = unit.marginal_l2_squared
        sigma_squared = unit.sigma_squared(rho)
        return cls(
            column=column,
            of=of,
            n_cells=n_cells,
            sigma_squared=sigma_squared,
            sensitivity_squared=squared,
            record=record,
        )

    def of_weight(self, weight: int) -> "HistogramEvent":
        """The event of the same cost where a record weighs so many units in place of one."""
        return replace(
            self,
            sigma_squared=self.sigma_squared * weight**2,
            sensitivity_squared=self.sensitivity_squared * weight**2,
        )

    def to_dict(self) -> dict[str, object]:
        """The event for a certificate."""
        counted = {"column": self.column, "of": self.of, "n_cells": self.n_cells}
        return self._described("histogram", of=counted | record_facts(self.record))


@final
@dataclass(frozen=True, kw_only=True)
class PartitionEvent(CountsEvent):
    """The counts of all values that occur, of which only those of at least ``threshold`` are
    released.

    The counts of the values that both of two neighbouring tables hold change by at most the unit's
    sensitivity. A value that only one of them holds belongs to one unit, and passes the threshold
    with a probability of at most ``delta`` in all (`synthdp.privacy.values.thresholds`); given that
    none does, the release is distributed as if there were no such value [Desfontaines22].

    Where a record may have several values, up to ``most_values``, it counts for each by
    `value_weights`; noise, sensitivity and threshold are in these units.
    """

    column: str
    of: str
    threshold: int
    failure_probability: Fraction
    most_values: int = 1
    record: str = ROW

    def __post_init__(self) -> None:
        value_weights(self.most_values)  # raises if there are none, or too many

    @property
    def weight(self) -> int:
        """What a record with a single value counts for it."""
        return value_weights(self.most_values)[0]

    @property
    def delta(self) -> Fraction:
        """Probability of at most this that a value of one unit alone is released."""
        return self.failure_probability

    def to_dict(self) -> dict[str, object]:
        """The event for a certificate."""
        counted = {
            "column": self.column,
            "of": self.of,
            "threshold": self.threshold,
            "delta": float(self.delta),
        }
        if self.most_values > 1:
            counted |= {"values_per_record": self.most_values, "units_of_weight": self.weight}
        mechanism = f"{GAUSSIAN}, counts below a threshold left out"
        counted |= record_facts(self.record)
        return self._described("partition selection", of=counted, mechanism=mechanism)
