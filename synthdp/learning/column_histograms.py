"""Released histograms of one column, from coarse cells to fine ones, and what lies beyond
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.learning.cells.density import shares_of_cells, split_evenly
from synthdp.learning.cells.significance import ASTRONOMIC
from synthdp.learning.cells.stretches import occupied_cells, standing_out
from synthdp.learning.cells.tails import tail_masses
from synthdp.learning.search_grid import SINGLE, SearchGrid
from synthdp.privacy.values.private_values import PrivateValues

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ROOT_REACH = 2
"""Cells of powers of two, or decades, that a tail may go beyond those that stand out."""

BEYOND, BEYOND_SHARE = 3.0, 0.01
"""Standard deviations by which records beyond the cells of a histogram must show, and the part of
all that they must be.
"""

SURROUNDING_STEP, SURROUNDING_DISTANCES = 32, (1, 2, 3, 4, 5, 6, 7, 9, 12, 16, 24, 32, 64, 128)
"""The cells beside a held stretch end so many steps away; a step is such a part of its width, or
one point. Where few values are held, as marks from 1 to 5, those beside them get cells of their
own: with two in a cell nobody could tell which of them has records.
"""

OTHER_SIDE = 5.0
"""The same where 0 is the outermost value that is held: beyond it most columns have none."""


class Counted(NamedTuple):
    """A noisy number of records, and its variance."""

    n_records: float
    variance: float


@final
@dataclass(frozen=True, eq=False)
class ColumnHistogram:
    """A released histogram: cells from each start to the next, the last start being the end."""

    starts: Ints
    """First grid points of the cells, then the end; shape ``(n_cells + 1,)``."""
    counts: Floats
    """Noisy counts; shape ``(n_cells,)``."""
    stddev: float
    """Standard deviation of the noise of each count, in records."""
    missing: float
    """Noisy count of the records without a value."""
    below: float = 0.0
    above: float = 0.0
    """Noisy counts of the records beyond the cells; 0 where none can be."""
    infinite: float = 0.0
    """Noisy count of the records with an infinite number, a cell of its own."""
    clipped: float = 0.0
    """Noisy count of the records beyond declared bounds, of two cells; 0 where none are."""
    most_cells: int = 1
    """In how many cells a record counts at most; see `shared_cells`."""
    factor: float = 1.0
    factor_error: float = 0.0
    """By what all counts were divided as a record counts in several cells, and the standard
    deviation of that, as a part of it.
    """

    @classmethod
    def measured(
        cls,
        values: PrivateValues,
        axis: SearchGrid,
        starts: Ints,
        *,
        rho: Fraction,
        shared: bool = False,
    ) -> "ColumnHistogram":
        """Ask for a histogram; what lies beyond the axis is counted with its outermost points.

        ``shared`` is as in `PrivateValues.histogram`.
        """
        # At the ends of the axis "below" and "above" are cells of their own by the kernel's
        # convention; they are put back as the outermost cells.
        to_the_first = starts[0] == axis.coarse_edges[0]
        to_the_last = starts[-1] == axis.coarse_edges[-1]
        if axis.has_bounds and to_the_first and to_the_last:
            return cls._between_bounds(values, axis, starts, rho, shared)
        # One question a cell: an end that is asked for apart would bring noise of its own into the
        # outermost cell.
        asked = starts[int(to_the_first) : len(starts) - int(to_the_last)]
        has_infinite = axis.grid.has_infinite
        histogram = values.histogram(axis.grid, axis.asked(asked), rho=rho, shared=shared)
        counts = histogram.counts
        below = histogram.below
        above = 0.0
        infinite = 0.0
        if has_infinite:
            counts, infinite = counts[:-1], float(counts[-1])
            if not asked.size:  # the cell before that of infinite ones is all others
                counts = np.array([below])
                below = 0.0
        if not to_the_last:
            counts, above = counts[:-1], float(counts[-1])
        if to_the_first and asked.size:
            counts = np.insert(counts, 0, below)
            below = 0.0
        return cls(
            starts,
            counts,
            histogram.stddev,
            histogram.missing,
            below,
            above,
            infinite,
            most_cells=histogram.most_cells,
        )

    @classmethod
    def _between_bounds(
        cls,
        values: PrivateValues,
        axis: SearchGrid,
        starts: Ints,
        rho: Fraction,
        shared: bool,
    ) -> "ColumnHistogram":
        """Cells from one declared bound to the other, and what lies beyond the bounds in cells of
        its own: in the outermost cells it is counted only if it stands clear of its noise.

        Each record is in one cell, as it is without these, so the sensitivity is the same.
        """
        histogram = values.histogram(axis.grid, axis.asked(starts), rho=rho, shared=shared)
        counts = histogram.counts
        below = histogram.below
        infinite = 0.0
        if axis.grid.has_infinite:
            counts, infinite = counts[:-1], float(counts[-1])
        counts, above = counts[:-1].copy(), float(counts[-1])
        for cell, beyond in ((0, below), (-1, above)):
            counts[cell] += beyond if beyond > BEYOND * histogram.stddev else 0.0
        clipped = below + above
        return cls(
            starts,
            counts,
            histogram.stddev,
            histogram.missing,
            infinite=infinite,
            clipped=clipped,
            most_cells=histogram.most_cells,
        )

    def joined(self, other: "ColumnHistogram") -> "ColumnHistogram":
        """What two histograms of the same cells say together."""
        # Inverse variances: two histograms of the same cells have independent noise.
        weight = other.stddev**2 / (self.stddev**2 + other.stddev**2)

        def mean(one: float, two: float) -> float:
            return weight * one + (1 - weight) * two

        return replace(
            self,
            counts=weight * self.counts + (1 - weight) * other.counts,
            stddev=(self.stddev**-2 + other.stddev**-2) ** -0.5,
            missing=mean(self.missing, other.missing),
            below=mean(self.below, other.below),
            above=mean(self.above, other.above),
            infinite=mean(self.infinite, other.infinite),
            clipped=mean(self.clipped, other.clipped),
        )

    @property
    def widths(self) -> Ints:
        """Number of grid points of each cell."""
        return np.diff(self.starts)

    @property
    def present(self) -> tuple[float, float]:
        """Noisy count of records with a value in the cells, and the standard deviation of its
        noise.
        """
        return float(self.counts.sum()), self.stddev * sqrt(len(self.counts))

    @property
    def stands_out(self) -> bool:
        """Whether any record was clearly above noise, where noise could lead anywhere."""
        return bool(standing_out(self.counts, self.stddev, false_alarm=ASTRONOMIC).any())

    def cells_of(self, points: Ints) -> NDArray[np.intp]:
        """The cell that each point lies in."""
        return np.searchsorted(self.starts, points, side="right") - 1

    def held(self, begin: float, stop: float) -> Counted:
        """How many records lie from one grid point up to another, and the variance of that.

        A cell that they cut is taken to hold its records anywhere in it, and so is what lies beyond
        all cells.
        """
        overlap = np.minimum(self.starts[1:], stop) - np.maximum(self.starts[:-1], begin)
        parts = np.clip(overlap / self.widths, 0.0, 1.0)
        count = float(parts @ self.counts)
        cut = float(parts * (1 - parts) @ np.square(np.maximum(self.counts, 0.0)))
        variance = self.stddev**2 * float(np.square(parts).sum()) + cut
        for beyond, is_there in (
            (self.below, begin < self.starts[0]),
            (self.above, stop > self.starts[-1]),
        ):
            if is_there:
                count = count + beyond
                variance = variance + self.stddev**2 + beyond**2
        return Counted(count, variance)

    def between(self, first: int, stop: int) -> "ColumnHistogram":
        """The cells ``first .. stop - 1``."""
        return ColumnHistogram(
            self.starts[first : stop + 1], self.counts[first:stop], self.stddev, self.missing
        )

    def occupied_cells(self, axis: SearchGrid) -> tuple[int, int]:
        """First and last cell that hold records, where they may be anywhere; all cells between
        declared bounds.
        """
        if axis.has_bounds:
            return 0, len(self.counts) - 1
        # Where noise alone would decide, a cell near the likely value is taken rather than one at
        # 1e300.
        likely, zero = (
            self.cells_of(np.array([axis.likely, 0])).clip(0, len(self.counts) - 1).tolist()
        )
        plain, (first, last) = (
            occupied_cells(
                self.counts,
                self.stddev,
                reach=reach,
                likely=likely,
                false_alarm=ASTRONOMIC,
                most_tails=1,
            )
            for reach in (0, ROOT_REACH)
        )
        # Most columns of numbers have one sign; dates have no zero of their own.
        if not axis.is_calendar:  # a probable tail does not reach over 0
            first = max(first, min(plain[0], zero))
            last = min(last, max(plain[1], zero))
            if 0 <= self.starts[first] <= SINGLE:  # single values hold few records each
                first = zero
        return first, last

    def tails_beyond(self, closer: "ColumnHistogram") -> tuple[Floats, Floats]:
        """Records below and above the cells of a finer histogram, which counted them: in the
        nearest cells of this one.

        None unless they are there beyond doubt, and more than a small part of all records.

        Parameters
        ----------
        closer
            A histogram of a stretch of these cells.

        Returns
        -------
        below, above
            Records of each cell, the nearest first.
        """
        first, stop = np.searchsorted(self.starts, closer.starts[[0, -1]]).tolist()
        # Both: beyond noise, and enough of them to be worth a wider range for all others.
        least = max(BEYOND * closer.stddev, BEYOND_SHARE * float(closer.counts.sum()))
        width = int(closer.starts[-1] - closer.starts[0])
        zero = int(self.cells_of(np.zeros(1, dtype=np.int64))[0])
        down = self.starts[first] - self.starts[: first + 1][::-1]
        up = self.starts[stop:] - self.starts[stop]
        sides = (
            (self.counts[:first][::-1], down, closer.below, first - zero),
            (self.counts[stop:], up, closer.above, zero - stop + 1),
        )
        tails = []
        for counts, edges, rest, to_zero in sides:
            ends_at_zero = to_zero == 0
            is_clear = counts.size and rest > max(
                least, OTHER_SIDE * closer.stddev if ends_at_zero else 0.0
            )
            zero_there = to_zero if 0 <= to_zero <= counts.size else None
            if is_clear:
                masses = tail_masses(
                    counts, edges, self.stddev, rest, width=width, to_zero=zero_there
                )
            else:
                masses = None
            tails.append(np.zeros(0) if masses is None else masses)
        return tails[0], tails[1]

    def cut(self, begin: int, stop: int) -> "ColumnHistogram":
        """The cells in ``begin .. stop - 1``, the outermost cut there, with what is counted in
        them.
        """
        inside = self.starts[(self.starts > begin) & (self.starts < stop)]
        starts = np.concatenate([[begin], inside, [stop]]).astype(np.int64)
        return replace(self, starts=starts, counts=self.counts[self.cells_of(starts[:-1])])

    def without(self, points: Ints, heights: Floats) -> "ColumnHistogram":
        """The same without so many records at some points."""
        counts = self.counts.copy()
        np.subtract.at(counts, self.cells_of(points), heights)
        return replace(self, counts=counts)

    def mirrored(self) -> "ColumnHistogram":
        """The same with each grid point at minus its place."""
        return ColumnHistogram(
            -self.starts[::-1],
            self.counts[::-1],
            self.stddev,
            self.missing,
            self.above,
            self.below,
            factor_error=self.factor_error,
        )

    def with_surroundings(self, starts: Ints, *, over_zero: bool) -> tuple[int, int, Ints]:
        """Starts of finer cells with those of cells beside them, wider ones further away.

        Few records beyond an octave need not lie far away: without such cells they would be spread
        over the next.

        Parameters
        ----------
        starts
            First grid points of finer cells, then the end.
        over_zero
            Whether the cells beside may lie on the other side of 0, where most columns have no
            records.

        Returns
        -------
        low, high
            First and last of the cells of this histogram that they divide now.
        starts
            First grid points, then the end.
        """
        begin = int(starts[0])
        stop = int(starts[-1])
        step = max((stop - begin) // SURROUNDING_STEP, 1)
        distances = [step * number for number in SURROUNDING_DISTANCES]
        lowest = int(self.starts[0])
        end = int(self.starts[-1])
        if not over_zero:
            lowest = lowest if begin < 0 else max(lowest, 0)
            end = end if stop > 1 else min(end, 1)
        below = np.unique(
            np.array([max(begin - each, lowest) for each in distances], dtype=np.int64)
        )
        above = np.unique(np.array([min(stop + each, end) for each in distances], dtype=np.int64))
        first, last = self.cells_of(np.array([below[0], above[-1] - 1])).tolist()
        roots = self.starts[first : last + 2]
        beside = roots[(roots < begin) | (roots > stop)]
        return first, last, np.unique(np.concatenate([below, beside, starts, above]))

    def finer(self, mass: Floats, cells: int) -> Ints:
        """Starts of finer cells, most where the mass is, then the end."""
        shares = shares_of_cells(mass.tolist(), self.widths.tolist(), cells)
        starts = [
            start
            for begin, width, pieces in zip(
                self.starts.tolist(), self.widths.tolist(), shares, strict=False
            )
            for start in split_evenly(begin, begin + width, pieces)
        ]
        return np.array([*starts, int(self.starts[-1])], dtype=np.int64)


def held_between(histograms: Sequence[ColumnHistogram], begin: float, stop: float) -> Counted:
    """How many records lie from one grid point up to another by the histogram that tells it best,
    and the variance of that; a histogram that does not reach so far tells nothing.
    """
    reaching = [each for each in histograms if each.starts[0] <= begin and stop <= each.starts[-1]]
    answers = [each.held(begin, stop) for each in reaching or histograms[:1]]
    return min(answers, key=lambda answer: answer.variance)


def are_single(starts: Ints) -> bool:
    """Whether each cell is one value."""
    return bool((np.diff(starts) == 1).all())
