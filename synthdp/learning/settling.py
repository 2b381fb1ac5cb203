"""Where records end, once the bins of a learnt column were measured: released counts of them are
further evidence, for nothing.

A bin that is surely empty says that no record reaches it, and that no value is drawn there. Records
beyond a bound have a place of their own where the column was measured alone, so their number says
whether the bound cuts. Else they are counted in its outermost bin: one that holds more than
learning saw in it says so. Post-processing only.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, inf, log, pi, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.core.measurement import LinearMeasurement
from synthdp.learning.cells.density import Density
from synthdp.learning.cells.ends import Total
from synthdp.learning.column_histograms import ColumnHistogram, Counted, held_between
from synthdp.learning.filling import MOST_UNREAD, BeyondCount
from synthdp.learning.overshoot import LEFT_OUT, BoundsDoubt, Overshoot
from synthdp.learning.support import Ends
from synthdp.learning.unused_levels import bins_told_apart, empty_ends

ALIKE = 0.9
"""How probable it is that records lie about as densely in a bin as in the one before it: as many,
or twice as many, or none.
"""

PROBABLE_TWICE = 0.45
"""Harm is worth a word that is about as probable as not by either."""

SURELY = 2.0
"""An end cuts if what was counted beyond it is too many by so many standard deviations."""

TINY = 1e-300
"""A probability of nothing, of which there is a logarithm."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def bin_counts(
    name: str, edges: Ints, measurements: Sequence[LinearMeasurement], unread: float = 0.0
) -> list[Total]:
    """What all measurements together say of each bin of a column that one of them tells apart.

    The outermost bins count all records beyond them, so they reach to infinity.

    Parameters
    ----------
    name
        The column, whose first levels are the bins in their order.
    edges
        First grid points of the bins, then the end; shape ``(n_bins + 1,)``.
    measurements
        Noisy marginals over its levels.
    unread
        Which share of the records has a value that was not read: they have been filled in, and were
        not there when the column was learnt.
    """
    read = 1.0 - min(unread, MOST_UNREAD)
    counts, variances = bins_told_apart(name, len(edges) - 1, measurements)
    starts = [-inf, *edges[1:-1].tolist()]
    stops = [*edges[1:-1].tolist(), inf]
    return [
        Total(starts[level], stops[level], read * counts[level], read**2 * variances[level])
        for level in np.flatnonzero(np.isfinite(variances)).tolist()
    ]


def in_units(
    counts: Sequence[Total], beyond: BeyondCount | None, n_units: float
) -> tuple[list[Total], BeyondCount | None]:
    """What was measured of rows in numbers of units of privacy, for a column of which each unit was
    one record when it was learnt: as if all had as many rows.

    Parameters
    ----------
    counts, beyond
        As `doubt_of_bounds` takes them, of rows.
    n_units
        How many units were learnt of.
    """
    n_rows = sum(max(each.n_records, 0.0) for each in counts)
    part = min(n_units / n_rows, 1.0) if n_rows > 0 < n_units else 1.0
    scaled = [
        each._replace(n_records=part * each.n_records, variance=part**2 * each.variance)
        for each in counts
    ]
    if beyond is not None:
        beyond = BeyondCount(part * beyond.below, part * beyond.above, part * beyond.stddev)
    return scaled, beyond


def doubt_of_bounds(
    overshoot: Overshoot,
    edges: Ints,
    counts: Sequence[Total],
    beyond: BeyondCount | None = None,
) -> BoundsDoubt:
    """Whether the bounds of a column are worth a word once its bins were counted.

    Values where no record has any are, if they are probable by what was learnt and by what was
    measured. Records beyond the bounds are, if either tells of many: bounds lie where noise makes
    counts large, so that learning sees too many records between them, and an outermost bin has
    fewer to spare.

    Parameters
    ----------
    overshoot
        As it was learnt.
    edges, counts
        As `bin_counts` takes and gives them.
    beyond
        How many records were measured beyond the bounds; None if they were not told apart.
    """
    after = settled(overshoot, edges, counts, beyond)
    drawn = _drawn(after, overshoot, edges, counts)
    is_probable = min(overshoot.probability, drawn.probability) > PROBABLE_TWICE
    if beyond is not None:
        # What was counted there needs no guess.
        total = max(float(after.density.mass.sum()), 1.0)
        left_out = sum(beyond.clear(SURELY)) / total if cuts_off_many(beyond, total) else 0.0
        return BoundsDoubt(is_probable or left_out > LEFT_OUT, left_out)
    leaves_out_many = overshoot.leaves_out_many or after.leaves_out_many
    return BoundsDoubt(is_probable or leaves_out_many, max(overshoot.left_out, after.left_out))


def cuts_off_many(beyond: BeyondCount, total: float) -> bool:
    """Whether bounds surely cut off so many of all records that they are worth a word.

    Each end by itself: clipping moves the records that are beyond it to its outermost bin, and no
    others.
    """
    return max(beyond.below, beyond.above) - SURELY * beyond.stddev > LEFT_OUT * total


def _drawn(
    overshoot: Overshoot, learnt: Overshoot, edges: Ints, counts: Sequence[Total]
) -> Overshoot:
    """What is known of a column's ends where bins that have nothing but noise are not drawn."""
    n_bins = len(edges) - 1
    sizes = np.zeros(n_bins)
    variances = np.full(n_bins, inf)  # of bins that were not counted
    for count in counts:
        code = int(np.searchsorted(edges[1:-1], count.start, side="right"))
        sizes[code] = count.n_records
        variances[code] = count.variance
    used = np.setdiff1d(np.arange(n_bins), empty_ends(sizes, variances))
    first = int(edges[used[0]])
    stop = int(edges[used[-1] + 1])
    # Where in a cell records end only learning says: bins are no finer than its cells.
    leaves = learnt.cut(first, stop).leaves
    return replace(overshoot, density=overshoot.density.between(first, stop), leaves=leaves)


class OtherValues(NamedTuple):
    """Records that have another value than one."""

    n_records: float
    """How many."""
    stddev: float
    """The standard deviation of that."""
    n_all: float
    """How many records there are in all, at least 1."""


def others_than(point: int, edges: Ints, counts: Sequence[Total]) -> OtherValues:
    """How many records have another value than one, by the bins of the others.

    Nothing is known if not all bins were counted: the standard deviation is infinite then.
    """
    if len(counts) < len(edges) - 1:
        return OtherValues(1.0, inf, 1.0)
    own = int(np.searchsorted(edges, point, side="right")) - 1
    others = [each for code, each in enumerate(counts) if code != own]
    n_others = sum(each.n_records for each in others)
    # Where others were few beyond doubt there is no bin of any.
    stddev = max(sqrt(sum(each.variance for each in others)), TINY)
    return OtherValues(n_others, stddev, max(n_others + counts[own].n_records, 1.0))


def settled(
    overshoot: Overshoot,
    edges: Ints,
    counts: Sequence[Total],
    beyond: BeyondCount | None = None,
) -> Overshoot:
    """What is known of a column's ends once its bins were counted; see `doubt_of_bounds`."""
    support = overshoot.support
    density = overshoot.density
    first, stop = density.starts[[0, -1]].tolist()
    total = max(float(density.mass.sum()), 1.0)
    mirrored = [histogram.mirrored() for histogram in overshoot.all_histograms]
    up = _bins(counts, edges, overshoot.all_histograms)
    down = _bins([*map(_mirrored, reversed(counts))], -edges[::-1], mirrored)
    below, above = None, None
    if beyond is not None:
        below, above = (Counted(count, beyond.stddev**2) for count in (beyond.below, beyond.above))
    return replace(
        overshoot,
        density=_measured(density, edges, counts),
        support=support._replace(
            above=_given(support.above, up, stop, total, direction=1, beyond=above),
            below=_given(support.below, down, -first, total, direction=-1, beyond=below),
        ),
        excess=(below or _excess(down, total), above or _excess(up, total)),
    )


def _mirrored(count: Total) -> Total:
    return count._replace(start=-count.stop, stop=-count.start)


class _Bin(NamedTuple):
    """What is known of a bin, all seen so that records end above."""

    start: int
    is_last: bool
    """Whether it counts the records beyond the bound, too."""
    measured: Counted
    learnt: Counted
    """How many lie in it, by learning alone."""
    alike: Counted
    """The same by the bin before it, if records lie about as densely in both."""

    def by_learning(self, total: float) -> float:
        """How probable it is that learning sees so many."""
        return ALIKE * _normal(self.learnt, self.alike) + (1 - ALIKE) / total

    def if_none(self) -> float:
        """How probable what was measured is if the bin is empty."""
        return _normal(self.measured, Counted(0.0, 0.0))

    def if_no_more(self, total: float) -> float:
        """The same if it holds what lies in it, given what learning saw."""
        inside = ALIKE * _normal(self.measured, self.alike) + (1 - ALIKE) / total
        return inside * _normal(self.learnt, self.measured) / self.by_learning(total)

    def if_more(self, total: float) -> float:
        """The same if it holds any number more."""
        return _any_number(self.excess(total), total)

    def excess(self, total: float) -> Counted:
        """How many records more were measured than lie in it."""
        # The mean of what learning and the bin before say, weighted by precision: what lies in it
        # if it is like that one.
        by_learnt = 1 / self.learnt.variance
        by_alike = 1 / self.alike.variance
        precision = by_learnt + by_alike
        mean = (self.learnt.n_records * by_learnt + self.alike.n_records * by_alike) / precision
        is_alike = ALIKE * _normal(self.learnt, self.alike) / self.by_learning(total)
        inside = max(is_alike * mean + (1 - is_alike) * self.learnt.n_records, 0.0)
        variance = is_alike / precision + (1 - is_alike) * self.learnt.variance
        return Counted(self.measured.n_records - inside, self.measured.variance + variance)


def _bins(
    counts: Sequence[Total], edges: Ints, histograms: Sequence[ColumnHistogram]
) -> list[_Bin]:
    """All bins but the first, of which it is no question that records lie in it or before it; none
    if not all were measured.
    """
    if len(counts) < len(edges) - 1:
        return []
    widths = np.diff(edges).tolist()
    bins = []
    for number in range(1, len(counts)):
        start, stop = edges[number : number + 2].tolist()
        before = counts[number - 1]
        count = counts[number]
        wider = widths[number] / widths[number - 1]
        alike = max(before.n_records, 0.0) * wider
        each = _Bin(
            start=start,
            is_last=number == len(counts) - 1,
            measured=Counted(count.n_records, count.variance),
            learnt=held_between(histograms, start, stop),
            # As many again may be too many, or too few: twice as many, or none.
            alike=Counted(alike, alike**2 + wider**2 * before.variance),
        )
        bins.append(each)
    return bins


def _given(
    ends: Ends,
    bins: Sequence[_Bin],
    stop: int,
    total: float,
    *,
    direction: int,
    beyond: Counted | None,
) -> Ends:
    """How probable ends are given bins, all seen so that records end above.

    A bin beyond an end is empty, and another holds what lies in it; what lies beyond the bound is
    any number, if records end there, and counted in the last bin where it was not by itself.
    """
    posterior = ends.posterior
    places = direction * ends.origin + posterior.distances
    log_weights = np.log(np.maximum(posterior.probabilities, TINY))
    for each in bins:
        none = _log(each.if_none())
        no_more = _log(each.if_no_more(total))
        may_hold_more = each.is_last and beyond is None
        more = _log(each.if_more(total)) if may_hold_more else no_more
        log_weights += np.where(places <= each.start, none, np.where(places <= stop, no_more, more))
    if beyond is not None:
        none = _normal(beyond, Counted(0.0, 0.0))
        some = _any_number(beyond, total)
        log_weights += np.where(places <= stop, _log(none), _log(some))
    weights = np.exp(log_weights - log_weights.max())
    return ends._replace(posterior=replace(posterior, probabilities=weights / weights.sum()))


def _excess(bins: Sequence[_Bin], total: float) -> Counted | None:
    return bins[-1].excess(total) if bins else None


def _any_number(count: Counted, total: float) -> float:
    """How probable a count is of any number of records up to all, as a density."""
    return NormalDist().cdf(count.n_records / sqrt(count.variance)) / total


def _normal(count: Counted, other: Counted) -> float:
    """How probable two counts of the same records are, as a density."""
    variance = count.variance + other.variance
    return exp(-((count.n_records - other.n_records) ** 2) / (2 * variance)) / sqrt(
        2 * pi * variance
    )


def _log(probability: float) -> float:
    return log(max(probability, TINY))


def _measured(density: Density, edges: Ints, counts: Sequence[Total]) -> Density:
    """Where values are drawn: in each bin as many as were counted, and there as was learnt; as
    before if not all bins were.
    """
    n_bins = len(edges) - 1
    wanted = np.array([max(each.n_records, 0.0) for each in counts])
    if len(counts) < n_bins or not wanted.any():
        return density
    starts = np.union1d(density.starts, edges)
    mass = np.diff(np.interp(starts, density.starts, np.append(0.0, np.cumsum(density.mass))))
    bins = np.searchsorted(edges, starts[:-1], side="right") - 1
    learnt = np.bincount(bins, mass, n_bins)
    evenly = np.diff(starts) / np.diff(edges)[bins]
    shares = np.divide(mass, learnt[bins], out=evenly, where=learnt[bins] > 0)
    return Density(starts, wanted[bins] * shares)
