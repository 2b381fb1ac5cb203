"""Scores by which candidates may be selected: a closed set, each with its sensitivity beside it.

A score is data (public estimates), never a function to be called on the records.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.errors import ParameterError
from synthdp.measurement import Coarsening
from synthdp.privacy.events import Adjacency

_GRID_BITS = 10
_LARGEST_TOTAL = 2.0**40


@final
@dataclass(frozen=True, eq=False)
class MarginalL1Error:
    """``sum over cells |count - estimate|`` of each candidate marginal: where a model is worst.

    Sensitivity: one more or one less record changes one count by 1, hence the sum by at most
    1; a replaced record changes two counts, hence 2. This holds exactly, not just up to
    rounding, because estimates are first put on a grid of 2^-10 and all sums are integers; with
    at most 2^40 records on either side they stay far below the end of int64.

    Parameters
    ----------
    estimates
        For each candidate the model's counts, shape of the candidate's marginal; copied.
    coarsening
        Public merging of levels to which the estimates refer, if any.
    """

    name: ClassVar[str] = "L1 error of a marginal"
    estimates: Mapping[Clique, NDArray[np.float64]]
    coarsening: Coarsening | None = None
    _grid: Mapping[Clique, NDArray[np.int64]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        grid = {}
        for clique, values in self.estimates.items():
            estimate = np.asarray(values, dtype=np.float64)
            if not np.abs(estimate).sum() <= _LARGEST_TOTAL:
                raise ParameterError(f"estimate of {clique}: it must be finite, with at most 2^40 records in all")
            grid[clique] = np.rint(estimate * 2.0**_GRID_BITS).astype(np.int64)
        object.__setattr__(self, "_grid", grid)

    def sensitivity(self, adjacency: Adjacency) -> int:
        """Largest change of a score, in records, between neighbouring tables."""
        return adjacency.marginal_l1

    def shape(self, clique: Clique) -> tuple[int, ...] | None:
        """Shape of the estimate of one candidate; None if there is none."""
        return self._grid[clique].shape if clique in self._grid else None

    def grid_units(self, clique: Clique, counts: NDArray[np.int64]) -> int:
        """The score of one candidate as an exact number of units of 2^-10 records."""
        return int(np.abs((counts << _GRID_BITS) - self._grid[clique]).sum())

    @property
    def units_per_record(self) -> int:
        """How many grid units make one record."""
        return 1 << _GRID_BITS
