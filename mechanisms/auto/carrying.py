"""What earlier measurements are still worth where the population moved.

A table of one noise estimates all parts of its residuals (see `expected_loss`) with one precision.
Where a column moved, the parts that it is in are known less precisely than the others. So a table
is carried with the precision of its worst part. Its marginals, the widest ones first, carry what
the other parts are known better by. No part is carried with more precision than it is still known
with.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import pi, sqrt
from typing import NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.factor import summed_to
from synthdp.core.measurement import LinearMeasurement
from synthdp.mechanisms.auto.resolutions import Resolutions, ResolvedClique
from synthdp.mechanisms.shared.allocation import L1_OF_NOISE

FloatArray = NDArray[np.float64]
Precisions: TypeAlias = Mapping[ResolvedClique, float]
"""Of each part, one over the variance of all cells of a table together: of one noise it is the same
for all parts of a table, and of several tables it adds up.
"""

_USELESS = 1.0
"""Expected L1 norm of a marginal's noise and drift, as a share of the records, above which it is
not carried.
"""
_MIN_ADDED = 0.05
"""A table is carried if it adds at least this share to the precision of one of its parts: else
marginals of marginals would pile up from year to year.
"""


@final
class Earlier(NamedTuple):
    """An earlier measurement, in records of this table, and the parts that it estimates."""

    measurement: LinearMeasurement
    resolution: int
    """That of the marginals inside of it, too, as far as they have so many."""
    parts: Sequence[ResolvedClique]
    """The parts of two columns or more: columns are measured anew."""

    @property
    def precision(self) -> float:
        """One over the variance of all its cells together."""
        table = self.measurement
        return 1.0 / (table.values.size * float(table.variance.mean()))


def earlier_parts(
    resolved: Iterable[tuple[LinearMeasurement, int | None]], resolutions: Resolutions, scale: float
) -> list[Earlier]:
    """Measurements with the parts that they estimate, scaled to this table's number of records.

    ``resolved`` has for each the number of its resolution, None for one that this table has not.
    """
    earlier = []
    for measurement, number in resolved:
        finest = len(resolutions) - 1 if number is None else number
        scaled = LinearMeasurement(
            measurement.clique,
            measurement.values * scale,
            sqrt(float(measurement.variance.mean())) * scale,
            measurement.coarsening,
        )
        parts = _parts(measurement.clique, finest, resolutions)
        earlier.append(Earlier(scaled, finest, parts))
    return earlier


def carried_tables(
    earlier: Sequence[Earlier],
    moved: Callable[[ResolvedClique], float],
    resolutions: Resolutions,
    *,
    total: float,
) -> list[LinearMeasurement]:
    """What is left of earlier tables after the drift, without those that add next to nothing.

    Parameters
    ----------
    earlier
        What the earlier release measured, by table.
    moved
        The squared L1 distance that a part moved, in squared records.
    resolutions
        The ways in which levels are merged.
    total
        Number of records.
    """
    # Precisions of independent measurements add up.
    before: dict[ResolvedClique, float] = {}
    for each in earlier:
        for part in each.parts:
            before[part] = before.get(part, 0.0) + each.precision
    # Drift of variance v turns a precision p into 1 / (1 / p + v), which is p times this share.
    kept = {
        part: 1.0 / (1.0 + precision * _variance(part, moved(part), resolutions))
        for part, precision in before.items()
    }
    left = {part: precision * kept[part] for part, precision in before.items()}
    # What all tables together may carry of each part; each one takes off what it carries.
    limits = dict(left)
    carried: list[tuple[LinearMeasurement, float]] = []
    unused: list[tuple[Earlier, float]] = []
    for each in earlier:
        # One noise for the whole table, so its worst part decides.
        share = min((kept[part] for part in each.parts), default=1.0)
        precision = each.precision * share
        unused.append((each, each.precision - precision))
        for part in each.parts:
            left[part] -= precision
        adds = [precision >= _MIN_ADDED * limits[part] for part in each.parts]
        if any(adds) or not adds:
            carried.append((each.measurement, precision))
    carried += _marginals(unused, left, limits, resolutions)
    tables = [
        LinearMeasurement(
            each.clique, each.values, sqrt(1.0 / (precision * each.values.size)), each.coarsening
        )
        for each, precision in carried
    ]
    return [table for table in tables if is_useful(table, total=total)]


def is_useful(table: LinearMeasurement, *, total: float) -> bool:
    """Whether the noise of a table is expected to be no more than the table itself."""
    stddev = sqrt(float(table.variance.mean()))
    return L1_OF_NOISE * table.values.size * stddev <= _USELESS * total


class _Marginal(NamedTuple):
    """A marginal of tables whose precision is not used up."""

    parts: Sequence[ResolvedClique]
    of: list[tuple[LinearMeasurement, float]]


def _marginals(
    unused: Sequence[tuple[Earlier, float]],
    left: dict[ResolvedClique, float],
    limits: Precisions,
    resolutions: Resolutions,
) -> Iterator[tuple[LinearMeasurement, float]]:
    """What marginals of tables add to them, the widest first; it is taken off ``left``."""
    candidates: dict[tuple[Clique, tuple[bytes, ...]], _Marginal] = {}
    for each, precision in unused:
        # Its marginals would add as little as it does.
        if precision < _MIN_ADDED * each.precision:
            continue
        table = each.measurement
        # Pairs at least: what it says of single columns is measured anew in any case.
        for size in range(len(table.clique) - 1, 1, -1):
            for clique in combinations(table.clique, size):
                groups = [table.groups.get(name) for name in clique]
                # Tables that merged levels in other ways cannot be averaged cell by cell.
                key = (clique, tuple(b"" if one is None else one.tobytes() for one in groups))
                if key not in candidates:
                    candidates[key] = _Marginal(_parts(clique, each.resolution, resolutions), [])
                candidates[key].of.append((table, precision))
    for (clique, _), (parts, tables) in sorted(
        candidates.items(), key=lambda item: -len(item[0][0])
    ):
        # No more than any part has left: what was carried once must not count twice.
        precision = min(sum(own for _, own in tables), *(left[part] for part in parts))
        if all(precision < _MIN_ADDED * limits[part] for part in parts):
            continue
        for part in parts:
            left[part] -= precision
        merging = tables[0][0].coarsening
        averaged = LinearMeasurement(
            clique,
            averaged_marginal(clique, tables),
            1.0,
            None if merging is None else merging.restricted(clique),
        )
        yield averaged, precision


def _parts(clique: Clique, resolution: int, resolutions: Resolutions) -> list[ResolvedClique]:
    parts = resolutions.parts_of(ResolvedClique(clique, resolution))
    return [part for part in parts if len(part.clique) > 1]


def _variance(part: ResolvedClique, square: float, resolutions: Resolutions) -> float:
    """What noise of all cells of a table together would move a part by a squared L1 distance."""
    coarser = [each for each in resolutions.of(part.clique) if each < part.resolution]
    dimensions = resolutions.dimensions(*part)
    if coarser:
        dimensions -= resolutions.dimensions(part.clique, coarser[-1])
    # A residual of d dimensions of n cells, each of variance v, has an L1 norm of sqrt(2 / pi)
    # sqrt(d n v).
    return pi / 2.0 * square / max(dimensions, 1e-9)


def averaged_marginal(
    clique: Clique, tables: Iterable[tuple[LinearMeasurement, float]]
) -> FloatArray:
    """A marginal by several tables that hold it, each of a weight: the weighted mean."""
    summed: FloatArray | float = 0.0
    total = 0.0
    for table, weight in tables:
        summed = summed + weight * summed_to(clique, table.values, table.clique)
        total += weight
    return np.asarray(summed / total)
