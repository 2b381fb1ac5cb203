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
        is_divided = np.diff(np.searchsorted(inner.starts, outer.starts)) > 1
        mass = _refined(outer, mass, inner, counts, widths, is_divided | (outer is histograms[0]))
    return _with_spikes(histograms[-1].starts, mass, points, heights)


def _above_noise(histograms: Sequence[ColumnHistogram], points: Ints, heights: Floats) -> Floats:
    """Records of the widest cells, by what two histograms say; neighbours that stand out only
    together share alike.
    """
    outer, inner = histograms[:2]
    firsts = np.searchsorted(inner.starts, outer.starts)
    finer = np.add.reduceat(_without(inner, points, heights)[0], firsts[:-1])
    coarse, own, other = (
        _without(outer, points, heights)[0],
        outer.stddev**-2.0,
        inner.stddev**-2.0 / np.diff(firsts),
    )
    weight = own + other
    mass: Floats = (coarse * own + finer * other) / weight
    is_plain = mass > PROBABLE * weight**-0.5
    for run in np.split(np.arange(len(mass)), np.flatnonzero(np.diff(is_plain)) + 1):
        if not is_plain[run[0]]:
            total = float(mass[run].sum())
            mass[run] = (
                total / len(run)
                if total > PROBABLE * float((1 / weight[run]).sum()) ** 0.5
                else 0.0
            )
    return mass


def _without(histogram: ColumnHistogram, points: Ints, heights: Floats) -> tuple[Floats, Floats]:
    """Counts and widths of cells without the spikes in them."""
    counts, widths = histogram.counts.copy(), histogram.widths.astype(np.float64)
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
    is_news: NDArray[np.bool_],
) -> Floats:
    """The records of each outer cell, given to the inner cells that it consists of.

    ``is_news`` says of which outer cells the inner ones tell more than what is known already.
    """
    result = np.zeros(len(counts))
    firsts = np.searchsorted(inner.starts, outer.starts).tolist()
    for index, (start, stop) in enumerate(pairwise(firsts)):
        if mass[index] <= 0 or not is_news[index]:
            result[start:stop] = max(mass[index], 0.0) / (stop - start)
            continue
        weights = (outer.stddev**-2, inner.stddev**-2 / (stop - start))
        total = (mass[index] * weights[0] + float(counts[start:stop].sum()) * weights[1]) / sum(
            weights
        )
        result[start:stop] = smoothed(counts[start:stop], widths[start:stop], total, inner.stddev)
    return result


def _with_spikes(starts: Ints, mass: Floats, points: Ints, heights: Floats) -> Density:
    """A density in which some points stand out from their cells."""
    if not points.size:
        return Density(starts, mass)
    cut = np.unique(np.concatenate([starts, points, points + 1]))
    cell = np.searchsorted(starts, cut[:-1], side="right") - 1
    is_spike = np.isin(cut[:-1], points)
    n_points = np.diff(cut) * ~is_spike
    room = np.bincount(cell, n_points, len(mass))
    spread = mass[cell] * n_points / np.maximum(room[cell], 1)
    spread[is_spike] = heights[np.searchsorted(points, cut[:-1][is_spike])]
    return Density(cut, spread)
