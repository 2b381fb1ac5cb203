"""Learning the domain of a column of numbers or dates: bounds, bins, and where in a bin its records
lie.

1. Where are they? A histogram over fixed cells, powers of two or decades, shows the bounds; if it
   shows nothing, it is asked again.
2. How do they lie? A histogram over finer cells, most where the most records are. What lies beyond
   them is counted with them. A cell that still holds a large part of all records is looked into
   again.
3. Which single values hold many (0, 40 hours, 99999)? Histograms over finer and finer cells of
   those that may hold one, unless the cells are single values already. Where cells lie follows
   from counts that were released, so no threshold is needed.

What follows is free: `refining` puts the histograms together and takes out what may be noise,
`bins` puts edges at quantiles, and the density decides where in a bin values are drawn.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, inf, log, sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.learning.cells.density import Density
from synthdp.learning.cells.significance import significance
from synthdp.learning.column_histograms import ColumnHistogram, are_single
from synthdp.learning.heavy_values import SAME, heavy_values, may_hold_heavy_values
from synthdp.learning.learnt import Learnt
from synthdp.learning.lone_values import hidden_share, is_alone, with_neighbours
from synthdp.learning.overshoot import Overshoot
from synthdp.learning.refining import density_of
from synthdp.learning.search_grid import SearchGrid
from synthdp.learning.shared_cells import in_records
from synthdp.learning.support import support_of
from synthdp.privacy.values.private_values import PrivateValues

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FINE_CELLS = 512
"""Cells that a histogram adds to the one before."""

FEWEST_CELLS = 48
"""But no more than there are records for in each, beyond one standard deviation of its noise; so
many at least.
"""

NEGLIGIBLE = 0.001
"""Outer pieces of the density that hold less than this part of it are left out."""

CROWDED = 16
"""A cell of many values is looked into again if it holds more than this part of all records."""

FEW_POINTS = 3
"""Where the first histogram finds no more values than that, what lies beyond them is counted before
all else.
"""

LOOKING, ZOOM, SPIKES = Fraction(1, 5), Fraction(1, 20), Fraction(2, 5)
"""Shares of a column's budget for the first histogram, for each finer histogram, and for histograms
of cells that may hold heavy values less these.
"""

FIRST_BETWEEN_BOUNDS = Fraction(1, 10)
"""Share of a column's budget for the first histogram where bounds are declared."""

DESCENT, MAX_DESCENTS = Fraction(1, 2), 4
"""The last of these shares between declared bounds, and most such histograms: each sees cells up to
512 times finer.
"""

MAX_LOOKS, MAX_ZOOMS = 3, 2
"""Most histograms of the first cells; and most finer histograms, each of which makes cells up to
512 times finer.
"""

NOTHING_BESIDE = 2.0
"""Standard deviations up to which the cells that are not crowded may hold nothing together."""


def learn_density(
    values: PrivateValues, axis: SearchGrid, *, rho: Fraction, seeks_values: bool
) -> Learnt:
    """Spend at most ``rho`` on where the records of a column lie.

    Parameters
    ----------
    values
        The records behind the kernel.
    axis
        The column's grid.
    rho
        All that may be spent.
    seeks_values
        Whether single values that hold many records are looked for.
    """
    asking = _Asking(values, axis, rho)
    first = asking.first_histogram()
    first, held, starts, check = asking.finer_cells(first)
    histograms = [held, *asking.finer_histograms(held, starts, seeks_values=seeks_values)]
    descents = asking.descending_histograms(histograms[1:]) if seeks_values else []
    # A false one between declared bounds does little harm; others would be taken for the bounds, if
    # the cells that were followed may hold nothing.
    n_chances = len(histograms[1].counts) if descents and not axis.has_bounds else 1
    same = inf if axis.has_bounds else SAME
    spikes = heavy_values([*histograms[1:], *descents], n_chances, same)
    if axis.has_bounds:
        histograms += descents
    # The first histogram is not counted: its cells are too wide to say what a point holds.
    noisiest = max(histogram.stddev for histogram in [*histograms[1:], *descents])
    density, uncertainty, overshoot = _between_bounds(axis, first, histograms, spikes)
    # Bounds that were found may have shut out all but one value. With declared bounds that cannot
    # be.
    hidden, lone = 0.0, None
    if not axis.has_bounds and int(density.widths.sum()) == 1:
        finest = [*check, histograms[1]]
        if not is_alone(density, first, finest):
            lone = int(density.starts[0])
            hidden = hidden_share(density, first, finest)
            density = with_neighbours(axis, density, first, histograms[1])
    all_histograms = [first, *check, *histograms[1:]]
    # Every histogram counts the missing once more, for nothing; together they say it best.
    weights = np.array([histogram.stddev**-2 for histogram in all_histograms])
    missing, infinite, clipped = (
        float(weights @ counts / weights.sum())
        for counts in (
            [histogram.missing for histogram in all_histograms],
            [histogram.infinite for histogram in all_histograms],
            [histogram.clipped for histogram in all_histograms],
        )
    )
    present, present_stddev = first.present
    return Learnt(
        density=density.simplified(),
        missing=missing,
        missing_stddev=float(weights.sum() ** -0.5),
        present=present,
        present_stddev=present_stddev,
        stands_out=first.stands_out,
        stddev=noisiest,
        hidden=hidden,
        uncertainty=uncertainty,
        overshoot=overshoot,
        infinite=infinite,
        clipped=clipped,
        lone=lone,
    )


@final
class _Asking:
    """What is asked of one column: ``left`` is left of its budget, and ``stretch`` is what was
    divided finely.
    """

    def __init__(self, values: PrivateValues, axis: SearchGrid, rho: Fraction) -> None:
        self._values = values
        self._axis = axis
        self._rho = rho
        self.left = Fraction(1)
        self._stddev = 0.0  # of a histogram for LOOKING
        self.stretch = int(axis.coarse_edges[0]), int(axis.coarse_edges[-1])

    def _histogram(
        self, starts: Ints, share: Fraction, coarser: ColumnHistogram | None = None
    ) -> ColumnHistogram:
        """A histogram, of all rows of a record where a coarser one is known: it says how many
        records these are.
        """
        # Before the question, so that what fails is paid for as in the ledger.
        self.left -= share
        histogram = ColumnHistogram.measured(
            self._values,
            self._axis,
            starts,
            rho=self._rho * share,
            shared=coarser is not None,
        )
        return histogram if coarser is None else in_records(histogram, coarser)

    def first_histogram(self) -> ColumnHistogram:
        """A histogram of public cells, again if it shows nothing."""
        share = FIRST_BETWEEN_BOUNDS if self._axis.has_bounds else LOOKING
        histogram = self._histogram(self._axis.coarse_edges, share)
        self._stddev = histogram.stddev * sqrt(share / LOOKING)
        # Three fifths of the budget at most.
        while (
            not histogram.stands_out
            and self.left > 1 - MAX_LOOKS * LOOKING
            and not self._axis.has_bounds
        ):
            histogram = histogram.joined(self._histogram(self._axis.coarse_edges, LOOKING))
        return histogram

    def finer_cells(
        self, first: ColumnHistogram
    ) -> tuple[ColumnHistogram, ColumnHistogram, Ints, list[ColumnHistogram]]:
        """The first histogram, more of it if needed; the part that holds records, finer cells of
        it, and a check if any.
        """
        # What is held by public cells is all that finer cells are spent on.
        low, high = first.occupied_cells(self._axis)
        mass = first.counts.copy()
        check = []
        # Numbers like 0 and 1 stand in the innermost public cells, which are single points. A
        # column of mostly zeros would be taken for that alone; so what lies beyond is counted by
        # itself first.
        if not self._axis.has_bounds and first.starts[high + 1] - first.starts[low] <= FEW_POINTS:
            check = [
                self._histogram(np.arange(first.starts[low], first.starts[high + 1] + 1), LOOKING)
            ]
            if self.left > LOOKING and any(tail.size for tail in first.tails_beyond(check[0])):
                first = first.joined(self._histogram(self._axis.coarse_edges, LOOKING))
                mass = first.counts.copy()
            below, above = first.tails_beyond(check[0])
            mass[low - below.size : low] = below[::-1]
            mass[high + 1 : high + 1 + above.size] = above
            low = low - below.size
            high = high + above.size
        held = first.between(low, high + 1)
        masses = mass[low : high + 1]
        # Cells of single points are as fine as can be.
        n_cells = self._resolved(float(masses[held.widths > 1].sum()))
        starts = held.finer(masses, n_cells)
        self.stretch = int(starts[0]), int(starts[-1])
        low, high, starts = first.with_surroundings(starts, over_zero=self._axis.is_calendar)
        return first, first.between(low, high + 1), starts, check

    def sees_single_values(self, starts: Ints) -> bool:
        """Whether each cell of the stretch that holds records is one value."""
        begin, stop = self.stretch
        return are_single(starts[(starts >= begin) & (starts <= stop)])

    def _resolved(self, total: float) -> int:
        """In how many cells so many records show, each as many as its noise: more of them would
        show less.
        """
        # What will be spent on these cells, so that they are as many as that can show.
        share = self.left - self._for_single_values
        stddev = self._stddev * sqrt(LOOKING / share)
        return int(min(max(total / stddev, FEWEST_CELLS), FINE_CELLS))

    @property
    def _for_single_values(self) -> Fraction:
        """What is kept for histograms of cells that may hold heavy values."""
        return DESCENT if self._axis.has_bounds else min(SPIKES, self.left / 2)

    def finer_histograms(
        self, held: ColumnHistogram, starts: Ints, *, seeks_values: bool
    ) -> list[ColumnHistogram]:
        """A histogram of finer cells than ``held`` has and, where bounds are open and single values
        are looked for, of those that hold many records.
        """
        if not seeks_values or self.left < 2 * LOOKING:
            return [self._histogram(starts, self.left, held)]
        histograms = [self._histogram(starts, self.left - self._for_single_values, held)]
        if self.sees_single_values(starts):
            return self._histograms_apart(histograms[0])
        for _ in range(0 if self._axis.has_bounds else MAX_ZOOMS):
            crowded = _crowded(histograms[-1])
            # No cell holds a sixteenth of the records beyond doubt: nothing to zoom into.
            if not crowded.any():
                break
            starts = histograms[-1].finer(
                np.where(crowded, histograms[-1].counts, 0.0), len(crowded) + FINE_CELLS
            )
            share = ZOOM
            if _are_all(crowded, histograms[-1]):
                # What was divided before was far wider than the records lie, such as 1024 to 2047
                # where they are years: their bounds and shape are seen only now. Where single
                # values are told apart, none is looked for afterwards.
                parts = np.diff(starts)[crowded[histograms[-1].cells_of(starts[:-1])]]
                share = self.left if parts.max() == 1 else max(self.left / 2, ZOOM)
            histograms.append(self._histogram(starts, share, histograms[-1]))
            if not self.left:
                break
        return histograms

    def _histograms_apart(self, histogram: ColumnHistogram) -> list[ColumnHistogram]:
        """A histogram that tells single values apart, and one of what lies apart from them: codes
        such as 99 stand in cells so wide that nothing says where in them.

        Where no such cell holds records, beyond doubt, the same cells are asked once more, so that
        all is known as if they had been asked once.
        """
        limit = significance(len(histogram.counts)) * histogram.stddev
        apart = (histogram.widths > 1) & (histogram.counts > limit)
        if not apart.any():
            again = self._histogram(histogram.starts, self.left, histogram)
            return [histogram.joined(again)]
        finer = histogram.finer(np.where(apart, histogram.counts, 0.0), len(apart) + FINE_CELLS)
        return [histogram, self._histogram(finer, self.left, histogram)]

    def descending_histograms(self, coarser: Sequence[ColumnHistogram]) -> list[ColumnHistogram]:
        """Histograms of cells that may hold heavy values, down to single values, with what is left."""
        histograms: list[ColumnHistogram] = []
        histogram = coarser[-1]
        for more in range(MAX_DESCENTS, 0, -1):
            # Where bounds are learnt, a cell that only a coarser one speaks for could become one.
            speaking = [*coarser, *histograms] if self._axis.has_bounds else [histogram]
            heavy = may_hold_heavy_values(speaking)
            if not self.left or not heavy.any():
                break
            width = int(histogram.widths[heavy].max())
            counts = np.where(heavy, histogram.counts, 0.0)
            starts = histogram.finer(counts, len(counts) + FINE_CELLS)
            parts = np.diff(starts)[heavy[histogram.cells_of(starts[:-1])]]
            left = int(parts.max())
            needed = 1 + (ceil(log(left) / log(width / left)) if 1 < left < width else 0)
            histogram = self._histogram(starts, self.left / min(needed, more), histogram)
            histograms.append(histogram)
        return histograms


def _crowded(histogram: ColumnHistogram) -> NDArray[np.bool_]:
    """Cells of many values that hold a large part of the records, beyond doubt."""
    # Significance over all cells, for the largest of many noises is taken for records too easily.
    least = max(
        float(histogram.counts.sum()) / CROWDED,
        significance(len(histogram.counts)) * histogram.stddev,
    )
    return (histogram.widths > 1) & (histogram.counts > least)


def _are_all(crowded: NDArray[np.bool_], histogram: ColumnHistogram) -> bool:
    """Whether some cells may hold all records, as far as noise tells."""
    beside = histogram.counts[~crowded]
    noise = histogram.stddev * sqrt(beside.size)
    return bool(beside.sum() + histogram.below + histogram.above <= NOTHING_BESIDE * noise)


def _between_bounds(
    axis: SearchGrid,
    first: ColumnHistogram,
    histograms: Sequence[ColumnHistogram],
    spikes: dict[int, float],
) -> tuple[Density, float, Overshoot | None]:
    """The density between the bounds that were found, by how many grid points these are uncertain,
    and how probable it is that they are too wide; declared ones stay.
    """
    if axis.has_bounds:
        return density_of(histograms, spikes), 0.0, None
    # Where noise alone would say, the public cell that was taken stays whole.
    if not first.stands_out:
        return density_of(histograms, spikes).without_thin_ends(NEGLIGIBLE), 0.0, None
    support = support_of(first, histograms, spikes, over_zero=axis.is_calendar)
    begin, stop, median_error = support[:3]
    closer = histograms[1]
    low = max(begin, int(closer.starts[0]))
    high = min(stop, int(closer.starts[-1]))
    held = {point: count for point, count in spikes.items() if low <= point < high}
    density = density_of([histogram.cut(low, high) for histogram in histograms], held)
    # Records beyond the fine cells are known by a count only: one piece with all of them, at least
    # one, or the bound would have no weight.
    if begin < low:
        density = density.with_pieces(np.array([begin, low]), np.array([max(closer.below, 1.0)]))
    if stop > high:
        density = density.with_pieces(np.array([high, stop]), np.array([max(closer.above, 1.0)]))
    density = density.without_thin_ends(NEGLIGIBLE)
    ends = (
        histograms[-1].cells_of(np.array([begin, stop - 1])).clip(0, len(histograms[-1].counts) - 1)
    )
    leaves = np.minimum(histograms[-1].widths[ends], density.widths[[0, -1]])
    # Beyond all fine cells nothing tells more than where the public cell lies.
    if begin < low:
        leaves[0] = density.widths[0]
    if stop > high:
        leaves[1] = density.widths[-1]
    # Within the cell of a bound nothing tells where it lies.
    leaf = int(leaves.max()) - 1  # single values are exact
    first_leaf, last_leaf = leaves.tolist()
    overshoot = Overshoot(
        density, support, histograms[1], (first_leaf, last_leaf), tuple(histograms[1:])
    ).drawn_in()
    return overshoot.density, max(median_error, leaf / 2), overshoot


def learn_tree(values: PrivateValues, axis: SearchGrid, *, rho: Fraction, most: int) -> Learnt:
    """Spend at most ``rho`` on bins by PrivTree: a density whose pieces, at most ``most``, are the
    bins.

    The first histogram shows bounds and missing values. The tree shows no counts; its cells hold
    about equally many records, and the density says so.
    """
    asking = _Asking(values, axis, rho)
    first = asking.first_histogram()
    low, high = first.occupied_cells(axis)
    start = int(axis.coarse_edges[low])
    stop = int(axis.coarse_edges[high + 1])
    plain = replace(axis.grid, has_infinite=False)
    edges = values.split_tree(plain, start, stop, rho=rho * asking.left)
    # PrivTree does not know how many bins are wanted; joining neighbours is post-processing.
    edges = _fewer(edges, most)
    # Leaves are split until they hold about equally many records; no count is released.
    density = Density(edges, np.ones(len(edges) - 1))
    uncertainty = 0.0 if axis.has_bounds else float(density.widths[[0, -1]].max()) / 2
    present, present_stddev = first.present
    return Learnt(
        density=density,
        missing=first.missing,
        missing_stddev=first.stddev,
        present=present,
        present_stddev=present_stddev,
        stands_out=first.stands_out,
        stddev=first.stddev,
        uncertainty=uncertainty,
        infinite=first.infinite,
        clipped=first.clipped,
    )


def _fewer(edges: Ints, most: int) -> Ints:
    """Join neighbours until there are at most so many cells, about equally many of them in each."""
    if len(edges) - 1 <= most:
        return edges
    return edges[np.linspace(0, len(edges) - 1, most + 1).round().astype(np.int64)]
