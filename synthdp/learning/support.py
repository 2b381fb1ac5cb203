"""Support: between which grid points a column has records, by all histograms, and by how much that
is uncertain.

What stands out is held for sure; beyond it records reach as far as they do with a probability of
one half, or, where noise could hide many, of nine tenths (`cells.ends`). So no noisy cell, however
wide, draws a range out, and none that stands out only together with its neighbours. Post-processing
only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.learning.cells.ends import (
    WIDE,
    EndPosterior,
    Total,
    interval_ends,
    tail_ends,
)
from synthdp.learning.cells.significance import significance
from synthdp.learning.cells.stretches import standing_out
from synthdp.learning.column_histograms import ColumnHistogram

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ROUNDS = 2
"""Each end is found given the other, which is found given that."""

MISTAKEN = 5e-4
"""Probability of taking noise for records at an end, in a column: wide tables have a hundred."""


class Support(NamedTuple):
    """Grid points between which records lie."""

    begin: int
    stop: int
    """The first grid point with records, and the one after the last."""
    median_error: float
    """By how many grid points one of them is wrong, or less, with a probability of one half."""
    below: "Ends"
    above: "Ends"
    """How probable it is that records begin, and end, at each place."""


class Ends(NamedTuple):
    """Where records may end, as far as noisy counts tell."""

    origin: int
    """A grid point that they surely reach."""
    posterior: EndPosterior
    """How probable it is that they end so far from it, up or down."""
    leaf: int
    """Grid points of the last cell up to the origin: records may end anywhere in it."""


def support_of(
    first: ColumnHistogram,
    histograms: Sequence[ColumnHistogram],
    spikes: dict[int, float],
    *,
    over_zero: bool,
) -> Support:
    """Where the records of a column with open bounds lie.

    Parameters
    ----------
    first
        Public cells over all that values can be.
    histograms
        From coarse to fine cells; the first are some of the public cells.
    spikes
        Noisy counts of single points that hold many records.
    over_zero
        Whether records lie on both sides of 0 as soon as on one.
    """
    # First by public cells and the first fine ones, then closer and closer as far as cells show.
    support = _Upwards.without_points(
        histograms[0], histograms[1], spikes, first, over_zero=over_zero
    ).support()
    for outer, inner in pairwise(histograms[1:]):
        support = _looked_closer(support, outer, inner, spikes)
    return support


def _looked_closer(
    support: Support, outer: ColumnHistogram, inner: ColumnHistogram, spikes: dict[int, float]
) -> Support:
    """The same, nearer to the records as far as finer cells of its outermost cells show them."""
    begin, stop, median_error, below, above = support
    for cell in set(outer.cells_of(np.array([begin, stop - 1])).tolist()):
        if not 0 <= cell < len(outer.counts):  # beyond all cells
            continue
        low, high = (int(each) for each in outer.starts[cell : cell + 2])
        # What was ruled out stays ruled out.
        low = max(low, begin)
        high = min(high, stop)
        finer = inner.cut(low, high)
        # Where nothing stands out among the finer cells they say less than the coarse one.
        if (
            len(finer.counts) > 1
            and standing_out(finer.counts, finer.stddev, false_alarm=MISTAKEN).any()
        ):
            closer = _Upwards.without_points(outer.cut(low, high), finer, spikes, None).support()
            if low == begin:
                begin = closer.begin
                below = closer.below
            if high == stop:
                stop = closer.stop
                above = closer.above
    return Support(begin, stop, median_error, below, above)


@final
@dataclass(frozen=True, eq=False)
class _Upwards:
    """Two histograms of a stretch, seen so that an end lies above: the other is seen in the mirror."""

    outer: ColumnHistogram
    inner: ColumnHistogram
    """Coarse and fine cells; of the fine ones without the single points."""
    points: Ints
    heights: Floats
    """Single points that hold many records, and their noisy counts."""
    first: ColumnHistogram | None
    """All public cells, if records may lie beyond the stretch."""
    over_zero: bool
    """Whether these lie on both sides of 0 as soon as on one."""

    @classmethod
    def without_points(
        cls,
        outer: ColumnHistogram,
        inner: ColumnHistogram,
        spikes: dict[int, float],
        first: ColumnHistogram | None,
        *,
        over_zero: bool = True,
    ) -> "_Upwards":
        """Histograms without the single points in them."""
        low, high = inner.starts[[0, -1]].tolist()
        points = np.array(sorted(p for p in spikes if low <= p < high), dtype=np.int64)
        heights = np.array([spikes[point] for point in points.tolist()])
        return cls(outer, inner.without(points, heights), points, heights, first, over_zero)

    def mirrored(self) -> "_Upwards":
        """The same with each grid point at minus its place."""
        first = None if self.first is None else self.first.mirrored()
        return _Upwards(
            self.outer.mirrored(),
            self.inner.mirrored(),
            -self.points[::-1] - 1,
            self.heights[::-1],
            first,
            self.over_zero,
        )

    def support(self) -> Support:
        """Where the records lie."""
        # Between the first and the last cell that stand out there are records for certain; how far
        # they reach beyond is a question of probability.
        held = np.flatnonzero(
            standing_out(self.inner.counts, self.inner.stddev, false_alarm=MISTAKEN)
        )
        if not held.size and not self.points.size:
            return self._anywhere()
        # One piece of code for both ends: the lower one is the upper one of the mirror image.
        mirror = self.mirrored()
        stop, high_leaf = self._last_occupied(held)
        # not what stands out in the mirror: pairs, fours, ... are others there
        end, low_leaf = mirror._last_occupied(len(self.inner.counts) - 1 - held[::-1])
        begin = -end
        lowest = int(self.inner.starts[0])
        # What an outer cell counts is shared by both ends, so each is found given the other, twice.
        for _ in range(ROUNDS):
            above = self._end_above(begin, stop, lowest)
            highest = stop + floor(above.end)
            below = mirror._end_above(-stop, -begin, -highest)
            lowest = begin - floor(below.end)
        median_errors = [ends.median_error(ends.end) for ends in (above, below)]
        low_ends = mirror._ends(-stop, -begin, -highest, below, low_leaf)
        return Support(
            lowest,
            highest,
            max(median_errors),
            low_ends._replace(origin=-low_ends.origin),
            self._ends(begin, stop, lowest, above, high_leaf),
        )

    def _ends(
        self, begin: int, stop: int, lowest: int, posterior: EndPosterior, leaf: int
    ) -> "Ends":
        """Where records may end above.

        Of cells that stand out only together it is not known which of them have records: the
        others are judged like those beyond. Bounds take them all, for of long tails they have.
        """
        first = stop - leaf
        n_cells = int(np.count_nonzero((self.inner.starts >= first) & (self.inner.starts < stop)))
        if n_cells < 2 or first <= begin:
            return Ends(stop, posterior, leaf)
        return Ends(first, self._end_above(begin, first, lowest, plain=leaf), 1)

    def _last_occupied(self, held: NDArray[np.intp]) -> tuple[int, int]:
        """The end of the last cells that stand out, and how many points they have: one cell, or the
        fewest that do so together.
        """
        inner = self.inner
        points = int(self.points[-1]) + 1 if self.points.size else int(inner.starts[0])
        if not held.size or points > inner.starts[held[-1]]:
            return points, 1
        last = int(held[-1])
        stop = int(inner.starts[last + 1])
        run = 1 + int(np.argmin(np.append(np.isin(np.arange(last), held)[::-1], False)))
        sums = np.cumsum(inner.counts[last - run + 1 : last + 1][::-1])
        limit = significance(2 * len(inner.counts), MISTAKEN) * inner.stddev
        clear = np.flatnonzero(sums > limit * np.sqrt(np.arange(1, run + 1)))
        first = last - int(clear[0]) if clear.size else last - run + 1
        return stop, stop - int(inner.starts[first])

    def _end_above(self, begin: int, stop: int, lowest: int, *, plain: int = 0) -> EndPosterior:
        """How far records reach beyond a stretch that holds some for sure, and others down to
        ``lowest``; in so many points beyond some stand out together.
        """
        inner = self.inner
        outer = self.outer
        cell = int(inner.cells_of(np.array([stop]))[0])
        edges = np.append(stop, inner.starts[cell + 1 :]) - stop
        # Of a cell that the lowest place divides, all records lie above that.
        is_held = (inner.starts[1:] > lowest) & (inner.starts[1:] <= stop)
        totals = []
        for start, end, count in zip(
            outer.starts[:-1].tolist(), outer.starts[1:].tolist(), outer.counts, strict=True
        ):
            if end <= stop:
                continue
            held = is_held & (inner.starts[:-1] >= start)
            points = (self.points >= max(start, lowest)) & (self.points < stop)
            # What the coarse cell counts and the fine ones that are surely held do not: it may lie
            # beyond. The noises add up.
            rest = float(count - inner.counts[held].sum() - self.heights[points].sum())
            variance = outer.stddev**2 + int(held.sum()) * inner.stddev**2
            # How many records fine cells hold is known up to a factor at most.
            variance += (inner.factor_error * (float(count) - rest)) ** 2
            totals.append(Total(max(start - stop, 0), end - stop, rest, variance))
        further, beyond, zero = self._beyond(stop)
        whole = (inner.starts[:-1] >= begin) & (inner.starts[1:] <= stop)
        return tail_ends(
            edges.astype(np.float64),
            inner.counts[cell:],
            inner.stddev,
            totals + beyond,
            n_records=max(outer.present[0], 1.0),
            width=float(max(stop - begin, 1)),
            is_wide=int(whole.sum()) >= WIDE,
            further=further,
            zero=zero,
            plain=float(plain),
        )

    def _beyond(self, place: int) -> tuple[list[float], list[Total], float | None]:
        """Distances of public edges beyond all fine cells, what is counted there, and the distance
        of 0.
        """
        first = self.first
        last = int(self.inner.starts[-1])
        # The fine cells reach to the end of the axis.
        if first is None or first.starts[-1] <= last:
            return [], [], None
        edges = [each - place for each in first.starts.tolist() if each > last]
        cells = zip(
            first.starts[:-1].tolist(), first.starts[1:].tolist(), first.counts, strict=True
        )
        totals = [
            Total(start - place, stop - place, float(count), first.stddev**2)
            for start, stop, count in cells
            if start >= last
        ]
        totals.append(Total(last - place, edges[-1], self.inner.above, self.inner.stddev**2))
        crosses = place <= 0 and not self.over_zero
        return [float(each) for each in edges], totals, -float(place) if crosses else None

    def _anywhere(self) -> Support:
        """Where the records lie if no fine cell stands out: evenly between two edges, and beyond
        all cells if many are there.
        """
        inner = self.inner
        outer = self.outer
        edges = inner.starts - inner.starts[0]
        cells = zip(
            (outer.starts[:-1] - inner.starts[0]).tolist(),
            (outer.starts[1:] - inner.starts[0]).tolist(),
            outer.counts,
            strict=True,
        )
        totals = [Total(low, high, float(count), outer.stddev**2) for low, high, count in cells]
        below, above = interval_ends(
            edges.astype(np.float64),
            inner.counts,
            inner.stddev,
            totals,
            n_records=max(outer.present[0], 1.0),
        )
        begin = int(inner.starts[-1] - below.end)
        stop = int(inner.starts[0] + above.end)
        median_error = max(ends.median_error(ends.end) for ends in (below, above))
        # Medians of two posteriors may cross where there are next to no records.
        if begin >= stop:
            begin, stop = min(begin, stop - 1), max(stop, begin + 1)
        width = float(stop - begin)
        low = Ends(int(inner.starts[-1]), below, 1)
        high = Ends(int(inner.starts[0]), above, 1)
        if (further := self._end_beyond(width)) is not None:
            high = Ends(int(inner.starts[-1]), further, 1)
            stop = high.origin + floor(further.end)
        if (lower := self.mirrored()._end_beyond(width)) is not None:
            low = Ends(int(inner.starts[0]), lower, 1)
            begin = low.origin - floor(lower.end)
        return Support(begin, stop, median_error, low, high)

    def _end_beyond(self, width: float) -> EndPosterior | None:
        """Where the records end if some of them lie beyond all fine cells."""
        last = int(self.inner.starts[-1])
        further, beyond, zero = self._beyond(last)
        if not further:
            return None
        ends = tail_ends(
            np.zeros(1),
            np.zeros(0),
            self.inner.stddev,
            beyond,
            n_records=max(self.outer.present[0], 1.0),
            width=width,
            further=further,
            zero=zero,
        )
        return ends if ends.end > 0 else None
