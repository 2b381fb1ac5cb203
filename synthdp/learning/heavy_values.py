"""Single values that hold many records, such as 0, 40 hours, or 99999: where they may be, and which
they are.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from synthdp.learning.cells.significance import significance
from synthdp.learning.column_histograms import ColumnHistogram

Floats = NDArray[np.float64]

HEAVY = 0.0025
"""A single value is looked for if it could hold more than this part of all records."""

BESIDE = 2
"""Cells on each side that say how many records a cell without heavy values has."""

EDGE = 3.0
"""Standard deviations by which all cells on one side must hold more than all on the other, to be
those that a cell between them is like. By the median of both sides' cells at the end of even
longitudes a value without weight was taken for a heavy one in 15 % of releases at epsilon .5.
"""

MAY_STAND_OUT = 1.0
"""Standard deviations by which a cell must stand out in the last histogram by itself, whatever
coarser ones say: their cells hold other values, too.

By all histograms 15024 of raw Adult was found in 33 of 40 releases at epsilon 1 and 7688 in 24,
where each histogram that spoke for itself alone found them in 25 and 10 of 48.
"""

STANDS_OUT = 2.5
"""Standard deviations by which a value must stand out from those beside it in the finest histogram.
"""

SAME = 3.0
"""Standard deviations by which a cell may hold more than a value in it, to say how much that is,
where bounds are learnt. Between declared bounds all cells do: of raw Adult, 99999 was lost in one
of six releases at epsilon 3 by that rule, and 15024 in three of three at 1.
"""

MAX_HEAVY = 200
"""Most heavy values of a column; fewer can hold so many records each."""

POSSIBLE = 0.5
"""Probability of looking for heavy values where there are none: it costs noise, and no truth."""


def may_hold_heavy_values(histograms: Sequence[ColumnHistogram]) -> NDArray[np.bool_]:
    """Cells of many values, of the last histogram, that hold more records than cells beside them,
    beyond doubt, by all histograms together, and so many that a value of them would weigh for
    itself.
    """
    last = histograms[-1]
    cells = [histogram.cells_of(last.starts[:-1]) for histogram in histograms]
    beyond = [_beyond_neighbours(histogram) for histogram in histograms]
    excess = [each[at] for (each, _), at in zip(beyond, cells, strict=True)]
    variances = [each[at] for (_, each), at in zip(beyond, cells, strict=True)]
    heights, precision = _heights(excess, variances, SAME)
    is_heavy = heights * np.sqrt(precision) > significance(len(heights), POSSIBLE)
    is_heavy &= excess[-1] > MAY_STAND_OUT * np.sqrt(variances[-1])
    is_heavy &= heights > HEAVY * float(last.counts.sum())
    return (last.widths > 1) & is_heavy


def _beyond_neighbours(histogram: ColumnHistogram) -> tuple[Floats, Floats]:
    """How many records more each cell has than the density beside it would give it, and the
    variance of that.
    """
    n_cells = len(histogram.counts)
    if n_cells == 1:
        return histogram.counts, np.full(1, histogram.stddev**2)
    # Shape (2 BESIDE, cells): the nearer and the farther on each side, the left ones first.
    density, noise = (
        np.stack(
            [
                np.pad(each, BESIDE, constant_values=np.nan)[BESIDE + shift :][:n_cells]
                for shift in range(-BESIDE, BESIDE + 1)
                if shift
            ]
        )
        for each in (histogram.counts / histogram.widths, histogram.stddev / histogram.widths)
    )
    usual = np.nanmedian(density, axis=0)
    doubt = EDGE * np.sqrt(2) * noise.max(axis=0)
    # At an end of what is dense a cell is like those of the dense side, not like half of them.
    for side, other in ((slice(BESIDE), slice(BESIDE, None)), (slice(BESIDE, None), slice(BESIDE))):
        least, most = density[side].min(axis=0), density[other].max(axis=0)
        usual = np.where(least - most > doubt, least, usual)
    usual = np.clip(usual, 0.0, None) * histogram.widths
    return histogram.counts - usual, histogram.stddev**2 + usual


def heavy_values(
    histograms: Sequence[ColumnHistogram], n_chances: int, same: float
) -> dict[int, float]:
    """Single values that hold more records than those beside them, beyond doubt, and how many, by
    all histograms together at cells that they lie in.

    The clearest is taken first; what it holds says no more for the values beside it. Of so many
    cells others could have been followed in place of those that were. A coarse cell that holds
    ``same`` standard deviations more than a value in it does not speak of that value.
    """
    last = histograms[-1]
    points = last.starts[:-1][last.widths == 1]
    points = points[histograms[0].widths[histograms[0].cells_of(points)] > 1]
    if not points.size:
        return {}
    cells = [histogram.cells_of(points) for histogram in histograms]
    beyond = [_beyond_neighbours(histogram) for histogram in histograms]
    variances = [variance[at] for (_, variance), at in zip(beyond, cells, strict=True)]
    excess = [each.copy() for each, _ in beyond]
    deviations = significance(len(points) * n_chances)
    found = dict[int, float]()
    while len(found) < min(len(points), MAX_HEAVY):
        own = [each[at] for each, at in zip(excess, cells, strict=True)]
        heights, precision = _heights(own, variances, same)
        is_plain = own[-1] > STANDS_OUT * np.sqrt(variances[-1])
        is_plain &= heights > HEAVY / 2 * float(last.counts.sum())
        clearness = np.where(is_plain, heights * np.sqrt(precision), 0.0)
        best = int(np.argmax(clearness))
        if clearness[best] <= deviations:
            break
        found[int(points[best])] = float(heights[best])
        for each, at in zip(excess, cells, strict=True):
            each[at[best]] -= heights[best]
    return found


def _heights(
    excess: Sequence[Floats], variances: Sequence[Floats], same: float
) -> tuple[Floats, Floats]:
    """What single values hold beyond those beside them, and its precision, from the excess of their
    cells in histograms from coarse to fine.

    A coarser cell that holds more than twice as much, beyond doubt, says nothing of one of the
    values in it.
    """
    heights = excess[-1]
    precision = 1.0 / variances[-1]
    agrees = np.ones(len(heights), dtype=np.bool_)
    for wider, variance in zip(excess[-2::-1], variances[-2::-1], strict=True):
        others = same * np.sqrt(variance + 1.0 / precision)
        agrees &= wider - heights <= np.maximum(others, heights)
        weight = np.where(agrees, 1.0 / variance, 0.0)
        heights = (heights * precision + wider * weight) / (precision + weight)
        precision = precision + weight
    return heights, precision
