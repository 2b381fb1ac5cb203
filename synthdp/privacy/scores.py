"""Scores by which candidates may be selected: a closed set, each with its sensitivity beside it.

A score is data (public estimates), never a function to be called on the records.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.errors import ParameterError
from synthdp.core.measurement import Coarsening
from synthdp.privacy.unit import PrivacyUnit

_GRID_BITS = 10
_WEIGHT_BITS = 16
_LARGEST_TOTAL = 2.0**40
_LARGEST_WEIGHT = 2.0**40


@final
@dataclass(frozen=True, eq=False)
class MarginalL1Error:
    """``weight (sum over cells |count - estimate| - penalty)`` of each candidate: where a model is
    worst.

    Sensitivity of the sum: one more or one less record changes one count by 1, hence the sum by at
    most 1; a replaced record changes two counts, hence 2. This holds exactly, not just up to
    rounding, because estimates are first put on a grid of 2^-10 and all sums are integers; with at
    most 2^40 records on either side they stay far below the end of int64. A penalty is public and
    changes nothing; a weight multiplies: weights are put on a grid of 2^-16, products are Python
    integers, and the sensitivity of all candidates' scores is the largest weight times that of the
    sum.
    """

    name: ClassVar[str] = "L1 error of a marginal"
    estimates: Mapping[Clique, NDArray[np.float64]]
    """For each candidate the model's counts, shape of the candidate's marginal; copied."""
    coarsening: Coarsening | None = None
    """Public merging of levels to which the estimates refer, if any."""
    weights: Mapping[Clique, float] | None = None
    """For each candidate how much its error matters, from 2^-16 to 2^40; 1 if there are none."""
    penalties: Mapping[Clique, float] | None = None
    """For each candidate what to take off its error, in records; 0 if there are none."""
    _grid: Mapping[Clique, NDArray[np.int64]] = field(init=False, repr=False)
    _weights: Mapping[Clique, int] = field(init=False, repr=False)
    _penalties: Mapping[Clique, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        grid = {}
        for clique, values in self.estimates.items():
            estimate = np.asarray(values, dtype=np.float64)
            # Written so that nan fails as well.
            if not np.abs(estimate).sum() <= _LARGEST_TOTAL:
                raise ParameterError(
                    f"estimate of {clique}: it must be finite, with at most 2^40 records in all"
                )
            grid[clique] = np.rint(estimate * 2.0**_GRID_BITS).astype(np.int64)
        object.__setattr__(self, "_grid", grid)
        object.__setattr__(
            self, "_weights", _on_grid(self.weights, grid, "weight", _WEIGHT_BITS, default=1.0)
        )
        object.__setattr__(
            self, "_penalties", _on_grid(self.penalties, grid, "penalty", _GRID_BITS, default=0.0)
        )
        if min(self._weights.values(), default=1) <= 0:
            raise ParameterError("weights: one is 0 or less; give numbers of at least 2^-16")

    def sensitivity(self, candidates: Collection[Clique], unit: PrivacyUnit) -> Fraction:
        """Largest change of any of the candidates' scores, in records times weight, between
        neighbouring tables.
        """
        largest = max(self._weights[clique] for clique in candidates)
        return Fraction(largest * unit.marginal_l1, 1 << _WEIGHT_BITS)

    def shape(self, clique: Clique) -> tuple[int, ...] | None:
        """Shape of the estimate of one candidate; None if there is none."""
        return self._grid[clique].shape if clique in self._grid else None

    def error(self, clique: Clique, counts: NDArray[np.int64]) -> int:
        """The L1 error of one candidate as an exact number of units of 2^-10 records."""
        return int(np.abs((counts << _GRID_BITS) - self._grid[clique]).sum())

    def whole_records(self, error: int) -> int:
        """An error rounded down to whole records; that changes by no more than the error does,
        rounded up.
        """
        return error >> _GRID_BITS

    def weighted(self, clique: Clique, error: int) -> int:
        """The score of one candidate as an exact number of units of 2^-26."""
        return self._weights[clique] * (error - self._penalties[clique])

    def noisy(self, clique: Clique, error: int) -> float:
        """The score of one candidate from its noisy error in whole records."""
        return self.weighted(clique, error << _GRID_BITS) / self.units_per_record

    @property
    def units_per_record(self) -> int:
        """How many units of a score make one record of weight 1."""
        return 1 << (_GRID_BITS + _WEIGHT_BITS)


def _on_grid(
    values: Mapping[Clique, float] | None,
    cliques: Collection[Clique],
    what: str,
    bits: int,
    *,
    default: float,
) -> dict[Clique, int]:
    """One integer multiple of 2^-bits for each clique."""
    given = dict.fromkeys(cliques, default) if values is None else values
    on_grid = {}
    for clique in cliques:
        if clique not in given or not abs(given[clique]) <= _LARGEST_WEIGHT:
            raise ParameterError(f"{what} of {clique}: it is missing or not a number below 2^40")
        on_grid[clique] = round(float(given[clique]) * 2.0**bits)
    return on_grid
