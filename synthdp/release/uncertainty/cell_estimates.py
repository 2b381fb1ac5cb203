"""What measurements say of the cells of one marginal, without a model: best linear unbiased
estimates.

All measurements tell something of a marginal of some columns: summed over the columns that it has
not, each is a table of noisy counts of the others, over merged levels if it was merged. Their noise
is independent, so that least squares with the recorded scales gives the unbiased estimate of least
variance, and that variance.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.measurement import (
    MAX_COUNT,
    MIN_STDDEV,
    Coarsening,
    FloatArray,
    LinearMeasurement,
    total_and_noise,
)
from synthdp.mechanisms.shared.residuals import best_linear_estimates

MAX_SOLVED = 2048
"""Cells of a marginal up to which merged levels and uneven noise are solved for: some seconds at
most.
"""
_EVEN = 1e-9
"""Variances of a table's cells that differ by less are equal: merged ones are divided and rooted.
"""
FINEST = 0.03
"""Scales of noise below this share of the least one of tables of several cells count as that share:
it keeps what is solved from being lost in rounding, and says a little less of totals that are known
exactly than is known.
"""
_RIDGE = 1e-10
"""Of the largest eigenvalue at most: what is added to directions that no measurement tells."""
_OPEN = 1e-2
"""Share of the added precision in a cell's beyond which it is open. Of cells that are determined it
is a thousandth or less, of others a quarter or more, for what measurements tell are sums of cells.
"""


class CellEstimates(NamedTuple):
    """Unbiased counts and their variance, one for each cell; where measurements leave a cell open
    nan and inf.
    """

    counts: FloatArray
    variance: FloatArray

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Which cells the measurements determine."""
        return np.isfinite(self.variance)


def cell_estimates(
    domain: Domain, measurements: Sequence[LinearMeasurement], clique: Clique
) -> CellEstimates:
    """The best linear unbiased estimates of a marginal's cells.

    Parameters
    ----------
    domain
        All attributes.
    measurements
        Everything that was measured, of merged levels or not.
    clique
        Attributes of the marginal, in the order of the axes that are wanted.

    >>> domain = Domain(("a", "b"), (2, 2))
    >>> pair = LinearMeasurement(("a", "b"), np.array([[40.0, 10.0], [20.0, 30.0]]), 2.0)
    >>> single = LinearMeasurement(("a",), np.array([53.0, 50.0]), 2.0)
    >>> estimates = cell_estimates(domain, [pair, single], ("a",))
    >>> estimates.counts.round(3).tolist(), estimates.variance.round(3).tolist()
    ([52.0, 50.0], [2.667, 2.667])
    """
    seen = _seen_from(measurements, clique)
    # Equal noise in all cells and nothing merged: then the best estimates have a closed form,
    # however large the table.
    plain = [table for table in seen if not table.groups and np.ndim(table.stddev) == 0]
    # Otherwise the normal equations are solved, whose cube is the limit.
    if len(plain) < len(seen) and domain.size(clique) <= MAX_SOLVED:
        if any(_tells_a_cell(domain, table, clique) for table in seen):
            return _solved(domain, seen, clique)
    elif any(_tells_a_cell(domain, table, clique) for table in plain):
        (best,) = best_linear_estimates(domain, plain, [clique])
        return CellEstimates(best.values, np.array(best.variance))
    shape = domain.project(clique).shape
    return CellEstimates(np.full(shape, np.nan), np.full(shape, np.inf))


def _seen_from(
    measurements: Sequence[LinearMeasurement], clique: Clique
) -> list[LinearMeasurement]:
    """What each measurement tells of some attributes; those that have none of them tell the total,
    one for all.
    """
    near = [
        measurement
        for measurement in measurements
        if not set(clique).isdisjoint(measurement.clique)
    ]
    seen = [summed_to(measurement, clique) for measurement in near]
    if len(near) < len(measurements):
        # Measurements of other columns know the number of records, and nothing else of these.
        total, stddev = total_and_noise(
            each for each in measurements if set(clique).isdisjoint(each.clique)
        )
        value = np.clip(total, -MAX_COUNT, MAX_COUNT)
        seen.append(LinearMeasurement((), value, float(np.clip(stddev, MIN_STDDEV, MAX_COUNT))))
    return seen


def _tells_a_cell(domain: Domain, table: LinearMeasurement, clique: Clique) -> bool:
    """Whether a table of some of the attributes has a cell that is one of the marginal's."""
    alone = [
        int(np.bincount(table.groups[name]).min()) == 1 if name in table.groups else True
        for name in table.clique
    ]
    return all(alone) and all(name in table.clique for name in clique if domain[name] > 1)


def summed_to(measurement: LinearMeasurement, clique: Clique) -> LinearMeasurement:
    """A measurement projected onto some of its attributes: all others are summed out."""
    kept = tuple(name for name in measurement.clique if name in clique)
    summed = tuple(axis for axis, name in enumerate(measurement.clique) if name not in kept)
    variance = np.asarray(measurement.variance.sum(axis=summed))
    scale = np.minimum(np.sqrt(variance), MAX_COUNT)
    is_even = np.ptp(variance) <= _EVEN * variance.max()
    groups = {name: merged for name, merged in measurement.groups.items() if name in kept}
    return LinearMeasurement(
        kept,
        np.clip(measurement.values.sum(axis=summed), -MAX_COUNT, MAX_COUNT),
        float(scale.max()) if is_even else scale,
        Coarsening(groups) if groups else None,
    )


def places_in(domain: Domain, table: LinearMeasurement, clique: Clique) -> NDArray[np.int64]:
    """For each cell of a marginal the cell of a table of some of its attributes, merged or not,
    that it counts in.
    """
    places = np.arange(table.values.size).reshape(table.values.shape)
    places = Coarsening(table.groups).spread(table.clique, places)
    order = [table.clique.index(name) for name in clique if name in table.clique]
    absent = tuple(axis for axis, name in enumerate(clique) if name not in table.clique)
    return np.broadcast_to(
        np.expand_dims(places.transpose(order), absent), domain.project(clique).shape
    )


def _solved(domain: Domain, tables: Sequence[LinearMeasurement], clique: Clique) -> CellEstimates:
    """Least squares over all cells, whatever is merged and however uneven the noise is."""
    shape = domain.project(clique).shape
    size = domain.size(clique)
    normal = np.zeros((size, size))
    right = np.zeros(size)
    least = _finest(tables)
    # Tables that merge alike are one table: each has its place in the normal equations once.
    merged: dict[bytes, tuple[NDArray[np.int64], FloatArray, FloatArray]] = {}
    for table in tables:
        places = places_in(domain, table, clique).ravel()
        # Weights a billion times apart would leave no digits for the small ones.
        weights = 1.0 / np.maximum(table.variance, least**2).ravel()[places]
        estimates = weights * table.values.ravel()[places]
        _, earlier, sums = merged.get(key := places.tobytes(), (places, 0.0, 0.0))
        merged[key] = (places, earlier + weights, sums + estimates)
    for places, weights, estimates in merged.values():
        # Two cells that count in one place of a table are seen by their sum only.
        normal += np.where(places[:, np.newaxis] == places, weights, 0.0)
        right += estimates
    ridge = _RIDGE * float(normal.sum(axis=1).max())
    normal[np.diag_indices(size)] += ridge
    covariance = np.linalg.inv(normal)
    counts = np.asarray(covariance @ right)
    variance = np.array(covariance.diagonal(), dtype=np.float64)
    # A direction that only the ridge determines has the ridge's variance: such cells are told apart
    # by a factor of hundreds.
    is_open = variance * ridge > _OPEN
    counts[is_open] = np.nan
    variance[is_open] = np.inf
    return CellEstimates(counts.reshape(shape), variance.reshape(shape))


def _finest(tables: Sequence[LinearMeasurement]) -> float:
    """The scale below which noise counts as none: a share of that of the tables of more than one
    cell.
    """
    scales = [float(np.min(table.stddev)) for table in tables if table.values.size > 1]
    return max(FINEST * min(scales, default=0.0), MIN_STDDEV)
