"""From several histograms to one density: what coarse cells say together with what finer ones do.

Post-processing only.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from synthdp.learning.cells.density import Density, smoothed
from synthdp.learning.cells.stretches import PROBABLE
from synthdp.learning.column_histograms import ColumnHistogram

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def density_of(histograms: Sequence[ColumnHistogram], spikes: dict[int, float]) -> Density:
    """Two histograms or more, from the widest cells to the narrowest, and the counts of single
    points, as one density.
    """
    points = np.array(sorted(spikes), dtype=np.int64)
    heights = np.array([spikes[point] for point in points.tolist()])
    mass = _above_noise(histograms, points, heights)
    for outer, inner in pairwise(histograms):
        counts, widths = _without(inner, points, heights)
        n_inner = np.diff(np.searchsorted(inner.starts, outer.starts))
        # The second histogram is taken at its word everywhere, later ones where they divide a cell:
        # they were asked for to look closer, not to count the same cells again.
        says_more = (n_inner > 1) | (outer is histograms[0])
        mass = _refined(outer, mass, inner, counts, widths, says_more)
    return _with_spikes(histograms[-1].starts, mass, points, heights)


def _above_noise(histograms: Sequence[ColumnHistogram], points: Ints, heights: Floats) -> Floats:
    """Records of the widest cells, by what two histograms say; neighbours that stand out only
    together share alike.
    """
    outer, inner = histograms[:2]
    firsts = np.searchsorted(inner.starts, outer.starts)
    outer_counts, _ = _without(outer, points, heights)
    inner_counts, _ = _without(inner, points, heights)
    inner_sums = np.add.reduceat(inner_counts, firsts[:-1])
    # Both estimate the same, and are averaged by their precisions: noise of n inner cells adds up.
    outer_precision = outer.stddev**-2.0
    inner_precision = inner.stddev**-2.0 / np.diff(firsts)
    precision = outer_precision + inner_precision
    mass: Floats = (outer_counts * outer_precision + inner_sums * inner_precision) / precision
    stands_out = mass > PROBABLE * precision**-0.5
    borders = np.flatnonzero(np.diff(stands_out)) + 1
    for stretch in np.split(np.arange(len(mass)), borders):
        if stands_out[stretch[0]]:
            continue
        total = float(mass[stretch].sum())
        stddev = float((1 / precision[stretch]).sum()) ** 0.5
        mass[stretch] = total / len(stretch) if total > PROBABLE * stddev else 0.0
    return mass


def _without(histogram: ColumnHistogram, points: Ints, heights: Floats) -> tuple[Floats, Floats]:
    """Counts and widths of cells without the spikes in them."""
    counts = histogram.counts.copy()
    widths = histogram.widths.astype(np.float64)
    cells = histogram.cells_of(points)
    np.subtract.at(counts, cells, heights)
    np.subtract.at(widths, cells, 1.0)
    return counts, np.maximum(widths, 0.5)  # a cell of nothing but spikes still takes what is left


def _refined(
    outer: ColumnHistogram,
    mass: Floats,
    inner: ColumnHistogram,
    counts: Floats,
    widths: Floats,
    says_more: NDArray[np.bool_],
) -> Floats:
    """The records of each outer cell, given to the inner cells that it consists of.

    ``says_more`` tells of which outer cells the inner ones say more than what is known already.
    """
    result = np.zeros(len(counts))
    firsts = np.searchsorted(inner.starts, outer.starts).tolist()
    outer_precision = outer.stddev**-2
    for index, (start, stop) in enumerate(pairwise(firsts)):
        n_inner = stop - start
        if mass[index] <= 0 or not says_more[index]:
            result[start:stop] = max(mass[index], 0.0) / n_inner
            continue
        inner_sum = float(counts[start:stop].sum())
        inner_precision = inner.stddev**-2 / n_inner
        total = (mass[index] * outer_precision + inner_sum * inner_precision) / (
            outer_precision + inner_precision
        )
        result[start:stop] = smoothed(counts[start:stop], widths[start:stop], total, inner.stddev)
    return result


def _with_spikes(starts: Ints, mass: Floats, points: Ints, heights: Floats) -> Density:
    """A density in which some points stand out from their cells."""
    if not points.size:
        return Density(starts, mass)
    cuts = np.unique(np.concatenate([starts, points, points + 1]))
    firsts = cuts[:-1]
    cells = np.searchsorted(starts, firsts, side="right") - 1
    is_spike = np.isin(firsts, points)
    # What a cell has beside its spikes is spread evenly over its other points.
    n_points = np.diff(cuts) * ~is_spike
    n_points_of_cell = np.bincount(cells, n_points, len(mass))
    spread = mass[cells] * n_points / np.maximum(n_points_of_cell[cells], 1)
    spread[is_spike] = heights[np.searchsorted(points, firsts[is_spike])]
    return Density(cuts, spread)
