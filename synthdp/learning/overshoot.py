"""Overshoot: how probable it is that values are drawn where no record has any.

Where records end is known up to noise (`support`). Whether that matters depends on how many rows
are drawn beyond: a bound that is too far out is no harm where nothing lies. Post-processing only.
"""

from dataclasses import dataclass, replace
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.learning.cells.density import BELIEVED, Density
from synthdp.learning.cells.ends import PIECES
from synthdp.learning.column_histograms import ColumnHistogram, Counted
from synthdp.learning.support import Ends, Support

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MANY, BEYOND = 0.01, 0.1
"""More than this part of the rows beyond the records' range by more than this part of it is harm
...
"""

FAR = 0.5
"""... and so is a single row that lies further out than this part of it."""

FEW_VALUES = 40
"""A range of more values than that has tails that become thin. To `support` records lie evenly up
to their end, which makes ends near to the others too probable. So an end counts the less the more
the counts beyond it stand out together.
"""

PROBABLE = 0.5
"""Harm that is more probable than not is worth a word; less of it seldom comes true, as ends are
mostly further out than the nearest possible ones.
"""

LEFT_OUT = 0.1
"""So is that more than this part of the records is to be expected beyond the bounds: so many move
to the outermost values. Of 256 columns of real tables of which that was said 238 left out so many,
and of the others one in five (six releases at epsilon 1).
"""

GAP, BEYOND_NOISE = 0.25, 3.0
"""Records lie after a gap if before it they are less dense than this part of what they are in it,
and it holds as many more as so many standard deviations of noise, as likely as not.
"""

SURE = 3.0
"""Records beyond the bounds are at least as many as were measured there, but for so many standard
deviations of noise: few of them lie just beyond, where learning counted none.
"""

HARMLESS, MOST_LEFT_OUT = 0.25, 0.03
"""An end is drawn in until harm is no more probable than that, unless more than this part of the
rows would have to be left out.
"""

BETTER = 0.02
"""By so much at least must drawing an end in make harm less probable."""

SLOWEST = 1e-9
"""A tail that thins out by no more than this does not."""

PLACES = 16
"""Places in a cell at which records may end."""


class BoundsDoubt(NamedTuple):
    """What is to be said of learnt bounds."""

    is_worth_a_word: bool
    """Whether anything is."""
    left_out: float
    """Which part of the records is to be expected beyond them."""


@final
@dataclass(frozen=True, eq=False)
class Overshoot:
    """Where the records of a column may begin and end, and where values are drawn."""

    density: Density
    """Where values are drawn."""
    support: Support
    """How probable each end of the records is."""
    histogram: ColumnHistogram
    """The counts that say so."""
    leaves: tuple[int, int]
    """Grid points of the first and of the last cell: within it nothing tells where records end."""
    histograms: tuple[ColumnHistogram, ...] = ()
    """These and finer histograms of some of them."""
    excess: tuple[Counted | None, Counted | None] = (None, None)
    """How many more records than lie in them the first and the last bin were measured to have."""

    @property
    def all_histograms(self) -> tuple[ColumnHistogram, ...]:
        """The counts that say so, and those of finer histograms."""
        return self.histograms or (self.histogram,)

    @property
    def is_probable(self) -> bool:
        """Whether harm is probable enough for a word."""
        return self.probability > PROBABLE

    @property
    def leaves_out_many(self) -> bool:
        """Whether many records are to be expected where no value is drawn."""
        return self.left_out > LEFT_OUT

    @property
    def left_out(self) -> float:
        """Which part of the records is to be expected where no value is drawn."""
        first, stop = (int(each) for each in self.density.starts[[0, -1]])
        below, above = self.excess
        beyond = _expected_beyond(stop, self.support.above, self.histogram, 1, above)
        beyond += _expected_beyond(-first, self.support.below, self.histogram.mirrored(), -1, below)
        return beyond / max(beyond + float(self.density.mass.sum()), 1.0)

    @property
    def probability(self) -> float:
        """How probable it is that rows lie where no record does, by enough to be harm."""
        density = self.density
        mirrored = density.mirrored()
        above = self._above(density, self.support.above, self.histogram, 1)
        below = self._above(mirrored, self.support.below, self.histogram.mirrored(), -1)
        noise = self.histogram.stddev
        above = max(above, _within_leaf(density, self.leaves[1], noise))
        below = max(below, _within_leaf(mirrored, self.leaves[0], noise))
        return 1 - (1 - above) * (1 - below)

    @property
    def doubtful_ends(self) -> list[int]:
        """Grid points at which records may end, the likelier ones first: where what stands out
        does, and after the next cell. Of few values also before an outermost one that does not
        stand out by itself.
        """
        first, stop = self.density.starts[[0, -1]].tolist()
        nearest = []
        next_ones = []
        inner = []
        for origin, bound, direction in (
            (self.support.above.origin, stop, 1),
            (self.support.below.origin, first, -1),
        ):
            if (bound - origin) * direction > 0:
                cell = self._cell(origin - (direction < 0))
                nearest.append(origin)
                next_ones.append(origin + direction * int(self.histogram.widths[cell]))
        if self._has_few_values:
            for point, inside in ((stop - 1, stop - 1), (first, first + 1)):
                if self.histogram.counts[self._cell(point)] <= BELIEVED * self.histogram.stddev:
                    inner.append(inside)
        return [*nearest, *next_ones, *inner]

    def _cell(self, point: int) -> int:
        """The cell of the histogram that a grid point lies in, or the outermost one."""
        cell = int(self.histogram.cells_of(np.array([point]))[0])
        return min(max(cell, 0), len(self.histogram.counts) - 1)

    def drawn_in(self) -> "Overshoot":
        """The same with nearer ends, as far as that makes harm improbable and leaves out few rows."""
        mass = float(self.density.mass.sum())
        starts = np.unique(np.concatenate([self.density.starts, self.histogram.starts])).tolist()
        best = self
        harm = self.probability
        for is_above in (True, False):
            for start in reversed(starts) if is_above else starts:
                if harm <= HARMLESS:
                    return best
                first, stop = (int(each) for each in best.density.starts[[0, -1]])
                if not first < start < stop:
                    continue
                ends = (first, start) if is_above else (start, stop)
                shorter = best.cut(*ends)
                if mass - float(shorter.density.mass.sum()) > MOST_LEFT_OUT * mass:
                    break
                if (less_harm := shorter.probability) < harm - BETTER:
                    best, harm = shorter, less_harm
        return best

    def cut(self, first: int, stop: int) -> "Overshoot":
        """The same where values are drawn between two grid points only."""
        density = self.density.between(first, stop)
        last = self.all_histograms[-1]
        begin, end = self.density.starts[[0, -1]].tolist()
        low, high = self.leaves
        # Of the cell in which it is cut only a part is left.
        starts = last.starts[:-1]
        stops = last.starts[1:]
        cells = last.cells_of(np.array([first, stop - 1])).clip(0, len(starts) - 1)
        if first > begin:
            low = min(int(stops[cells[0]]) - first, int(density.widths[0]))
        if stop < end:
            high = min(stop - int(starts[cells[1]]), int(density.widths[-1]))
        return replace(self, density=density, leaves=(max(low, 1), max(high, 1)))

    @property
    def _has_few_values(self) -> bool:
        return int(self.density.widths.sum()) <= FEW_VALUES

    def _above(
        self, density: Density, ends: Ends, histogram: ColumnHistogram, direction: int
    ) -> float:
        """How probable harm is above the records, if all is seen so that above is up."""
        stops, probabilities = _stops(ends, direction)
        first = int(density.starts[0])
        total = max(float(density.mass.sum()), 1e-9)
        held = np.append(0.0, np.cumsum(density.mass)) / total
        widths = np.where(stops > first, stops - first, np.maximum(np.abs(stops), 1))
        beyond, far = (
            1 - np.interp(stops + np.floor(part * widths), density.starts, held)
            for part in (BEYOND, FAR)
        )
        is_harm = (beyond > MANY) | (far * total > 1)
        if not self._has_few_values:
            places = np.maximum(stops + np.floor(BEYOND * widths), direction * ends.origin)
            probabilities = probabilities * _explained_by_noise(
                histogram, places, int(density.starts[-1])
            )
        return float(probabilities[is_harm].sum())


def _within_leaf(density: Density, leaf: int, noise: float) -> float:
    """How probable harm is if records end anywhere in the last cell, which has so many points."""
    width = int(density.widths.sum())
    leaf = min(leaf, width - 1)
    if leaf < 2:
        return 0.0
    stop = int(density.starts[-1])
    ends = stop - leaf + (np.arange(PLACES) + 0.5) / PLACES * leaf
    ranges = ends - int(density.starts[0])
    total = max(float(density.mass.sum()), 1e-9)
    held = np.append(0.0, np.cumsum(density.mass)) / total
    beyond, far = (
        1 - np.interp(ends + part * ranges, density.starts, held) for part in (BEYOND, FAR)
    )
    is_harm = (beyond > MANY) | (far * total > 1)
    return float(is_harm.mean()) * _drop(density, leaf, noise)


def _drop(density: Density, leaf: int, noise: float) -> float:
    """How far the last cell speaks of an end within it: 1 where records lie evenly before it, less
    the clearer it is that they thin out, and that the cell holds what such a tail leaves there.

    Records that end within the cell leave fewer there. Those that thin out steadily, as incomes and
    populations do, go on beyond it. A cell after a gap holds something else, such as a code for
    missing values: that lies anywhere in it.
    """
    start, stop = density.starts[[0, -1]].tolist()
    before = stop - leaf - start
    width = min(leaf, before // 2)
    if width < 1:
        return 1.0
    held = np.append(0.0, np.cumsum(density.mass))
    cuts = stop - leaf - width * np.array([2, 1, 0])
    further, near, last = np.diff(np.append(np.interp(cuts, density.starts, held), held[-1]))
    if near <= 0:
        return 1.0
    # Numbers thin out by the same part in each stretch of that width, or not at all.
    rate = max(float(np.log(max(further, near) / near)), SLOWEST)
    at_end = near * np.exp(-rate / 2)
    expected = at_end * -np.expm1(-rate * leaf / width) / rate
    normal = NormalDist()
    is_lower = normal.cdf((expected - last) / sqrt(2 * noise**2 + expected))
    is_thinning = max(2 * normal.cdf((further - near) / sqrt(2 * noise**2)) - 1, 0.0)
    evenly = near * leaf / width
    is_apart = 0.0
    if evenly < GAP * last:
        is_apart = normal.cdf((last - evenly) / sqrt(2 * noise**2 + evenly) - BEYOND_NOISE)
    return 1 - is_thinning * (1 - is_lower) * (1 - is_apart)


def _stops(ends: Ends, direction: int) -> tuple[Ints, Floats]:
    """Points after the last record, upwards, and their probabilities.

    Records that end in the last cell that stands out do so as probably at each place in it.
    """
    probabilities = ends.posterior.probabilities
    n_pieces = min(ends.leaf, PIECES)
    inside = -np.floor(ends.leaf * np.arange(n_pieces) / n_pieces)
    distances = np.append(inside, np.floor(ends.posterior.distances[1:]))
    weights = np.append(np.full(n_pieces, probabilities[0] / n_pieces), probabilities[1:])
    return (direction * ends.origin + distances).astype(np.int64), weights


def _expected_beyond(
    stop: int, ends: Ends, histogram: ColumnHistogram, direction: int, excess: Counted | None
) -> float:
    """How many records are to be expected from a point on, if all is seen so that they end above:
    as many as are counted up to each place where they may, and never fewer than none.

    What was measured since counts as well, by its precision, and is believed where it is far more.
    """
    places, probabilities = _stops(ends, direction)
    held = np.append(0.0, np.cumsum(histogram.counts))
    counted = np.interp(places, histogram.starts, held) - np.interp(stop, histogram.starts, held)
    surely = 0.0
    if excess is not None:
        surely = excess.n_records - SURE * sqrt(excess.variance)
        cells = np.arange(len(held))
        n_cells = np.interp(places, histogram.starts, cells) - np.interp(
            stop, histogram.starts, cells
        )
        variances = histogram.stddev**2 * np.maximum(n_cells, 1.0)
        share = excess.variance / (variances + excess.variance)
        counted = share * counted + (1 - share) * excess.n_records
    return float(
        probabilities @ np.where(places > stop, np.maximum(counted, max(surely, 0.0)), 0.0)
    )


def _explained_by_noise(histogram: ColumnHistogram, places: Floats, stop: int) -> Floats:
    """How far noise explains what was counted from each place on, up to where values are drawn: 1
    if it does.
    """
    sums = np.append(0.0, np.cumsum(histogram.counts))
    last = int(np.searchsorted(histogram.starts, stop).clip(0, len(histogram.counts)))
    chance = np.ones(len(places))
    for index, first in enumerate(np.searchsorted(histogram.starts, places).tolist()):
        if first < last:
            run = sums[first + 1 : last + 1] - sums[first]
            clearest = float((run / np.sqrt(np.arange(1, len(run) + 1))).max()) / histogram.stddev
            chance[index] = min(2 * np.exp(-(max(clearest, 0.0) ** 2) / 2), 1.0)
    return chance
