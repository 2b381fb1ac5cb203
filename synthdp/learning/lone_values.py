"""Columns of which noise shows one value only: whether there are others, and where they may be."""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from synthdp.learning.cells.density import Density
from synthdp.learning.column_histograms import BEYOND, OTHER_SIDE, ColumnHistogram
from synthdp.learning.search_grid import SearchGrid

MOST_HIDDEN = 0.99
"""Of a value that was told from noise it is not said that all records may have others."""

CONSTANT = 0.05
"""A column is taken to have one value only if no more than this part of all records can have
others.
"""

MAYBE = 0.25
"""How probable it may be that more have others."""


def is_alone(
    density: Density, first: ColumnHistogram, histograms: Sequence[ColumnHistogram]
) -> bool:
    """Whether few records have another value than the only one, as far as noise can tell, and no
    noisy count says that any has.

    What lies beyond the largest numbers counts as the outermost one.
    """
    point = int(density.starts[0])
    is_few = are_few(*_others(point, histograms), float(density.mass.sum()))
    return is_few and not _is_outermost(point, first)


def are_few(others: float, noise: float, total: float) -> bool:
    """Whether a noisy count is none of many records, as far as noise can tell: no more than
    `CONSTANT` of all.
    """
    normal = NormalDist()
    any_others = normal.cdf(others / noise)  # there are no fewer than none
    many_others = normal.cdf((others - CONSTANT * total) / noise)
    return others <= BEYOND * noise and many_others <= MAYBE * any_others


def _is_outermost(point: int, first: ColumnHistogram) -> bool:
    """Whether a point is the largest or smallest one, which stands for all numbers beyond it."""
    return point in (first.starts[0], first.starts[-1] - 1)


def hidden_share(
    density: Density, first: ColumnHistogram, histograms: Sequence[ColumnHistogram]
) -> float:
    """The share of records that may have another value than the only one, with 95 % confidence; not
    all of them, but where values may lie beyond all that numbers can have.
    """
    point = int(density.starts[0])
    if _is_outermost(point, first):
        return 1.0
    others, noise = _others(point, histograms)
    most = max(others, 0.0) + 2 * noise
    return min(most / max(most, float(density.mass.sum())), MOST_HIDDEN)


def _others(point: int, histograms: Sequence[ColumnHistogram]) -> tuple[float, float]:
    """How many records have another value than one, by all histograms that have a cell for it, and
    the standard deviation of that.
    """
    counts, variances = [], []
    for histogram in histograms:
        cell = int(histogram.cells_of(np.array([point]))[0])
        if not 0 <= cell < len(histogram.counts):
            continue
        counts.append(
            float(histogram.counts.sum() - histogram.counts[cell])
            + histogram.below
            + histogram.above
        )
        variances.append(histogram.stddev**2 * (len(histogram.counts) + 1))
    weights = 1 / np.array(variances)
    return float(weights @ counts / weights.sum()), float(weights.sum() ** -0.5)


def with_neighbours(
    axis: SearchGrid, density: Density, first: ColumnHistogram, histogram: ColumnHistogram
) -> Density:
    """The density of a single value with the cells on both sides of it: one, or up to the largest
    values.

    A column of one value says nothing; unless that is beyond doubt, there is room for others, whose
    bins are counted once they are measured.
    """
    point = int(density.starts[0])
    cell = int(first.cells_of(np.array([point]))[0])
    noise = BEYOND * histogram.stddev
    if _is_outermost(point, first) or (
        max(histogram.below, histogram.above) + noise <= CONSTANT * density.mass.sum()
    ):
        return density
    furthest = 0 if axis.largest is None else axis.largest
    is_below = histogram.below > OTHER_SIDE * histogram.stddev
    lowest = min(-furthest, point) if is_below else point
    to_high, to_low = first.cells_of(np.array([max(furthest, point), lowest]))
    # Numbers that begin at 0 go on on one side of it: above, unless those below are told from
    # noise.
    is_zero = point == 0 and not axis.is_calendar
    if not (is_zero and is_below):
        stop = int(first.starts[min(max(int(to_high), cell + 1) + 1, len(first.counts))])
        density = density.with_pieces(
            np.array([point + 1, stop]), np.array([max(histogram.above, 1.0)])
        )
    if cell > 0 and (is_below or not is_zero):
        begin = int(first.starts[max(min(int(to_low), cell - 1), 0)])
        density = density.with_pieces(
            np.array([begin, point]), np.array([max(histogram.below, 1.0)])
        )
    return density
