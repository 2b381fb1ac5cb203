"""Learning the domain of a column of numbers or dates: bounds, bins, and where in a bin its records lie.

1. Where are they? A histogram over fixed cells, powers of two or decades, shows the bounds.
2. How do they lie? A histogram over finer cells, most where the most records are. A cell that still
   holds a large part of all records is looked into again.
3. Which single values hold many (0, 40 hours, 99999)? Partition selection, unless the finer
   cells are single values already.

What follows is free: `density` takes out of the counts what may be noise, `bins` puts edges at its
quantiles, and the density decides where in a bin values are drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.derivation.axis import Axis
from synthdp.derivation.density import Density, shares_of_cells, smoothed, split_evenly
from synthdp.derivation.significance import PROBABLE, occupied_cells, significance, standing_out
from synthdp.privacy.values.private_values import PrivateValues

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FINE_CELLS = 512
"""Cells that a histogram adds to the one before."""

TAIL_CELLS = 128
"""So many finer cells beside a held stretch may be a thin tail of it."""

CUT_OFF = 0.05
"""Bounds are drawn closer only if records beyond them would have shown if they were more than this part of all."""

NEGLIGIBLE = 0.001
"""Outer pieces of the density that hold less than this part of it are left out."""

CROWDED = 16
"""A cell of many values is looked into again if it holds more than this part of all records."""

LOOKING, ZOOM, SPIKES = Fraction(1, 5), Fraction(1, 20), Fraction(1, 5)
"""Shares of a column's budget for the first histogram, for each closer look, and for single values less these looks."""

MAX_ZOOMS = 2
"""Each makes cells up to 512 times finer."""


@final
@dataclass(frozen=True, eq=False)
class Learnt:
    """What the budget of one column of numbers has bought.

    Parameters
    ----------
    density
        Where the records lie, between the bounds.
    missing, missing_stddev
        Noisy count of records without a value, and the standard deviation of its noise.
    present, present_stddev
        The same of records with one.
    stands_out
        Whether any record was told from noise.
    """

    density: Density
    missing: float
    missing_stddev: float
    present: float
    present_stddev: float
    stands_out: bool


@final
@dataclass(frozen=True, eq=False)
class _Look:
    """A released histogram: cells from each start to the next, the last start being the end."""

    starts: Ints
    counts: Floats
    stddev: float
    missing: float

    @property
    def widths(self) -> Ints:
        return np.diff(self.starts)

    @property
    def present(self) -> tuple[float, float]:
        """Noisy count of records with a value, and the standard deviation of its noise."""
        return float(self.counts.sum()), self.stddev * sqrt(len(self.counts))

    def cells_of(self, points: Ints) -> NDArray[np.intp]:
        """The cell that each point lies in."""
        return np.searchsorted(self.starts, points, side="right") - 1

    def is_empty(self, first: int, stop: int, total: float) -> bool:
        """Whether the cells ``first .. stop - 1`` look empty, and would show it if they held a part of the total."""
        noise = PROBABLE * self.stddev * sqrt(max(stop - first, 0))
        return float(self.counts[first:stop].sum()) <= noise <= CUT_OFF * total

    def between(self, first: int, stop: int) -> "_Look":
        """The cells ``first .. stop - 1``."""
        return _Look(self.starts[first : stop + 1], self.counts[first:stop], self.stddev, self.missing)


def learn_density(values: PrivateValues, axis: Axis, *, rho: Fraction, delta: Fraction | None) -> Learnt:
    """Spend at most ``rho`` on where the records of a column lie.

    Parameters
    ----------
    values
        The records behind the kernel.
    axis
        The column's grid.
    rho
        All that may be spent.
    delta
        For the threshold of single values; None does not look for any.
    """
    first = _look(values, axis, axis.roots, rho=rho * LOOKING)
    low, high = (0, len(first.counts) - 1) if axis.has_bounds else _held_roots(axis, first)
    looks = [first.between(low, high + 1)]
    starts = _finer(looks[0], looks[0].counts, FINE_CELLS)
    ends_here = delta is None or _are_single(starts)
    share = 1 - LOOKING - (0 if ends_here else SPIKES)
    looks.append(_look(values, axis, starts, rho=rho * share))
    while not ends_here and len(looks) < 2 + MAX_ZOOMS and (crowded := _crowded(looks[-1])).any():
        starts = _finer(looks[-1], np.where(crowded, looks[-1].counts, 0.0), len(crowded) + FINE_CELLS)
        looks.append(_look(values, axis, starts, rho=rho * ZOOM))
    spikes: dict[int, float] = {}
    if delta is not None and not _are_single(starts):
        rest = SPIKES - ZOOM * (len(looks) - 2)
        spikes = _spikes(values, axis, looks[-1], rho=rho * rest, delta=delta)
    density = _density(looks, spikes)
    if not axis.has_bounds and density.mass.any():
        density = density.without_thin_ends(NEGLIGIBLE)
        density = density.between(*_held_points(density, looks)).without_thin_ends(NEGLIGIBLE)
    weights = np.array([look.stddev**-2 for look in looks])
    missing = float(weights @ [look.missing for look in looks] / weights.sum())
    stands_out = bool(standing_out(first.counts, first.stddev).any())
    return Learnt(density.simplified(), missing, float(weights.sum() ** -0.5), *first.present, stands_out)


def _look(values: PrivateValues, axis: Axis, starts: Ints, *, rho: Fraction) -> _Look:
    """A histogram. Values beyond the roots are clipped; what lies beyond other cells says nothing of them."""
    found = values.histogram(axis.grid, starts, rho=rho)
    counts = found.counts[:-1].copy()
    if axis.has_bounds or starts is axis.roots:
        counts[0] += found.below
        counts[-1] += found.counts[-1]
    return _Look(starts, counts, found.stddev, found.missing)


def _held_roots(axis: Axis, look: _Look) -> tuple[int, int]:
    """First and last root cell that hold records."""
    likely = look.cells_of(np.array([axis.likely])).clip(0, len(look.counts) - 1)
    return occupied_cells(look.counts, look.stddev, likely=int(likely[0]))


def _finer(look: _Look, mass: Floats, cells: int) -> Ints:
    """Starts of finer cells, most where the mass is, then the end."""
    shares = shares_of_cells(mass.tolist(), look.widths.tolist(), cells)
    starts = [
        start
        for begin, width, pieces in zip(look.starts.tolist(), look.widths.tolist(), shares, strict=False)
        for start in split_evenly(begin, begin + width, pieces)
    ]
    return np.array([*starts, int(look.starts[-1])], dtype=np.int64)


def _are_single(starts: Ints) -> bool:
    """Whether each cell is one value."""
    return bool((np.diff(starts) == 1).all())


def _crowded(look: _Look) -> NDArray[np.bool_]:
    """Cells of many values that hold a large part of the records, beyond doubt."""
    least = max(float(look.counts.sum()) / CROWDED, significance(len(look.counts)) * look.stddev)
    return (look.widths > 1) & (look.counts > least)


def _spikes(values: PrivateValues, axis: Axis, look: _Look, *, rho: Fraction, delta: Fraction) -> dict[int, float]:
    """Single values that many records share, where cells are wider than one value, with noisy counts."""
    found = values.frequent(axis.grid, rho=rho, delta=delta).counts
    spikes: dict[int, float] = {}
    for value, count in found.items():
        point = min(max(int(value), int(look.starts[0])), int(look.starts[-1]) - 1)
        if look.widths[look.cells_of(np.array([point]))[0]] > 1:
            spikes[point] = spikes.get(point, 0.0) + count
    return spikes


def _held_points(density: Density, looks: Sequence[_Look]) -> tuple[int, int]:
    """First grid point that is held, and the one after the last.

    Each look may show where, in the outermost held cells of the one before, records begin and
    end. It is believed if it also shows that next to none are cut off.
    """
    total = float(density.mass.sum())
    begin, end = int(density.starts[0]), int(density.starts[-1])
    for outer, inner in pairwise(looks):
        first, last = occupied_cells(inner.counts, inner.stddev, reach=TAIL_CELLS)
        lowest, highest = outer.cells_of(np.array([begin, end - 1])).tolist()
        from_begin, to_end = np.searchsorted(inner.starts, [begin, end]).tolist()
        if inner.starts[first] < outer.starts[lowest + 1] and inner.is_empty(from_begin, first, total):
            begin = max(begin, int(inner.starts[first]))
        if inner.starts[last + 1] > outer.starts[highest] and inner.is_empty(last + 1, to_end, total):
            end = min(end, int(inner.starts[last + 1]))
    return begin, end


def _density(looks: Sequence[_Look], spikes: dict[int, float]) -> Density:
    """All histograms and the spikes as one density, from the widest cells to the narrowest."""
    points = np.array(sorted(spikes), dtype=np.int64)
    heights = np.array([spikes[point] for point in points.tolist()])
    mass = _without(looks[0], points, heights)[0]
    mass[mass < PROBABLE * looks[0].stddev] = 0.0  # between held cells, not told from noise
    for outer, inner in pairwise(looks):
        counts, widths = _without(inner, points, heights)
        is_divided = np.diff(np.searchsorted(inner.starts, outer.starts)) > 1
        mass = _refined(outer, mass, inner, counts, widths, is_divided | (outer is looks[0]))
    return _with_spikes(looks[-1].starts, mass, points, heights)


def _without(look: _Look, points: Ints, heights: Floats) -> tuple[Floats, Floats]:
    """Counts and widths of cells without the spikes in them."""
    counts, widths = look.counts.copy(), look.widths.astype(np.float64)
    cells = look.cells_of(points)
    np.subtract.at(counts, cells, heights)
    np.subtract.at(widths, cells, 1.0)
    return counts, np.maximum(widths, 0.5)  # a cell of nothing but spikes still takes what is left


def _refined(
    outer: _Look, mass: Floats, inner: _Look, counts: Floats, widths: Floats, is_news: NDArray[np.bool_]
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
        total = (mass[index] * weights[0] + float(counts[start:stop].sum()) * weights[1]) / sum(weights)
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


def learn_tree(values: PrivateValues, axis: Axis, *, rho: Fraction, most: int) -> Learnt:
    """Spend at most ``rho`` on bins by PrivTree: a density whose pieces, at most ``most``, are the bins.

    The first histogram shows bounds and missing values. The tree shows no counts; its cells hold
    about equally many records, and the density says so.
    """
    roots = axis.roots
    first = _look(values, axis, roots, rho=rho * LOOKING)
    low, high = (0, len(roots) - 2) if axis.has_bounds else _held_roots(axis, first)
    start, stop = int(roots[low]), int(roots[high + 1])
    edges = values.split_tree(axis.grid, start, stop, rho=rho * (1 - LOOKING))
    edges = _fewer(edges, most)
    stands_out = bool(standing_out(first.counts, first.stddev).any())
    return Learnt(Density(edges, np.ones(len(edges) - 1)), first.missing, first.stddev, *first.present, stands_out)


def _fewer(edges: Ints, most: int) -> Ints:
    """Join neighbours until there are at most so many cells, about equally many of them in each."""
    if len(edges) - 1 <= most:
        return edges
    return edges[np.linspace(0, len(edges) - 1, most + 1).round().astype(np.int64)]
