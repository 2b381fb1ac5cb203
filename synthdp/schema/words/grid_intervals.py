"""Intervals of grid points: cut out of a column's bins and pieces, weighed, and drawn from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
RowNumbers = NDArray[np.intp]

MAX_SCALED = 2**32
"""Random floats are multiples of 2**-53: stretched to this limit, 2**21 of them fall on each whole
number.
"""


def cut_at(starts: Ints, *others: Ints) -> Ints:
    """All starts within the first array's span, each once: the last entry of ``starts`` ends the
    last interval.

    >>> cut_at(np.array([0, 5, 10]), np.array([-3, 7, 12])).tolist()
    [0, 5, 7, 10]
    """
    cuts = np.unique(np.concatenate([starts, *others]))
    inside: Ints = cuts[(cuts >= starts[0]) & (cuts <= starts[-1])]
    return inside


def lengths_of(cuts: Ints) -> Floats:
    """How many grid points lie between two cuts."""
    return np.diff(cuts).astype(np.float64)


def masses(
    cuts: Ints,
    starts: Ints,
    weights: Sequence[float] | Floats,
    sizes: Callable[[Ints], Floats] = lengths_of,
) -> Floats:
    """What each interval between two ``cuts`` weighs, each of which lies in one piece of a shape.

    Parameters
    ----------
    cuts
        First grid point of each interval, then the end of the last one; shape ``(n + 1,)``.
    starts
        First grid point of each piece, then the end of the last one (the same), not decreasing;
        shape ``(m + 1,)``.
    weights
        Of each piece, shape ``(m,)``; it lies evenly on the piece's grid points.
    sizes
        What the grid points between two cuts weigh where they do not all weigh the same.
    """
    # The last piece that starts at or before a cut: of pieces without a point, which start
    # together, the last one has the points.
    piece = np.searchsorted(starts, cuts[:-1], side="right") - 1
    share = sizes(cuts) / sizes(starts)[piece]
    return np.asarray(weights, dtype=np.float64)[piece] * share


def joined_spans(spans: Sequence[tuple[int, int]]) -> Ints:
    """Spans of grid points, each from its first one up to its stop, as increasing bounds: first,
    stop, first, stop, ..

    >>> joined_spans([(8, 9), (0, 3), (2, 5), (7, 7)]).tolist()
    [0, 5, 8, 9]
    """
    firsts, stops = (
        np.array(sorted(span for span in spans if span[0] < span[1]), np.int64).reshape(-1, 2).T
    )
    if not firsts.size:
        return firsts
    # A long span may reach beyond later ones.
    stops = np.maximum.accumulate(stops)
    is_apart = firsts[1:] > stops[:-1]
    return np.column_stack(
        [firsts[np.append(True, is_apart)], stops[np.append(is_apart, True)]]
    ).ravel()


def lie_in(points: Ints, bounds: Ints) -> NDArray[np.bool_]:
    """Whether each point lies in one of the spans with these bounds; see `joined_spans`."""
    # Bounds alternate between first and stop, so an odd number of them at or below a point means
    # inside.
    return np.asarray(np.searchsorted(bounds, points, side="right") % 2 == 1)


def shares_of_groups(groups: Ints, lengths: Ints, mass: Floats) -> Floats:
    """What part of its group each interval weighs, the intervals of a group side by side; one that
    weighs nothing is even.
    """
    _, begins, sizes = np.unique(groups, return_index=True, return_counts=True)
    group = np.repeat(np.arange(len(sizes)), sizes)
    # the heaviest interval of each group weighs 1, so that sums neither overflow nor vanish
    heaviest = np.maximum.reduceat(mass, begins)[group]
    relative = np.where(heaviest > 0, mass, lengths) / np.where(
        heaviest > 0, heaviest, np.maximum.reduceat(lengths, begins)[group]
    )
    return np.asarray(relative / np.add.reduceat(relative, begins)[group])


def below(limits: Ints, which: NDArray[np.integer[Any]], rng: np.random.Generator) -> Ints:
    """For each of ``which`` a whole number from 0 up to its limit, which is left out, each equally
    likely.

    Limits are above 0. Up to `MAX_SCALED` a random float is stretched, twice as fast as whole
    numbers are drawn of many limits; how often two numbers come then differs by less than one part
    in 2**20.

    >>> below(np.array([1, 3]), np.array([0, 1, 1, 1, 1]), np.random.default_rng(0)).tolist()
    [0, 0, 0, 0, 2]
    """
    if limits.max(initial=1) > MAX_SCALED:
        return np.asarray(rng.integers(limits[which]))
    scaled = rng.random(len(which))
    # Below the limit, for the random float is at most 1 - 2**-53.
    scaled *= limits.astype(np.float64)[which]
    return scaled.astype(np.int64)


@final
@dataclass(frozen=True, eq=False)
class GridIntervals:
    """Intervals of grid points in groups: a point is drawn from a group, by what its intervals
    weigh.
    """

    keys: Ints
    """The groups, increasing; shape ``(n_groups,)``."""
    firsts: Ints
    lengths: Ints
    """First grid point and number of points of each interval, the intervals of a group side by
    side.
    """
    ends: Floats
    """For each interval where it ends on a line on which group ``i`` takes from ``i`` to ``i +
    1``.
    """
    last: Ints
    """For each group its last interval that can be drawn."""

    @classmethod
    def from_groups(cls, groups: Ints, firsts: Ints, lengths: Ints, mass: Floats) -> Self:
        """Intervals by group; a group that weighs nothing at all is even over its points."""
        # Stable: within a group intervals stay in the order of the grid, which `draw_between`
        # needs.
        order = np.argsort(groups, kind="stable")
        firsts = firsts[order]
        lengths = lengths[order]
        mass = mass[order]
        keys, begins, sizes = np.unique(groups[order], return_index=True, return_counts=True)
        group = np.repeat(np.arange(len(keys)), sizes)
        shares = shares_of_groups(groups[order], lengths, mass)
        summed = np.cumsum(shares)
        before = np.append(0.0, summed)[begins]
        # One running sum for all groups, brought back to each group's own unit: drawing from any
        # group is then one binary search.
        ends = group + np.clip(summed - before[group], 0.0, 1.0)
        drawn = np.where(shares > 0, np.arange(len(shares)), -1)
        return cls(keys, firsts, lengths, ends, np.maximum.reduceat(drawn, begins))

    def draw(self, groups: NDArray[np.integer[Any]], rng: np.random.Generator) -> Ints:
        """A grid point from each group; ``groups`` are positions in ``keys``."""
        return self.points_in(self.picked(groups, rng), rng)

    def picked(self, groups: NDArray[np.integer[Any]], rng: np.random.Generator) -> RowNumbers:
        """An interval of each group."""
        intervals = np.searchsorted(self.ends, groups + rng.random(len(groups)), side="right")
        # Rounding may pass the end of the group, never its beginning.
        return np.asarray(np.minimum(intervals, self.last[groups]))

    def points_in(self, intervals: NDArray[np.integer[Any]], rng: np.random.Generator) -> Ints:
        """A grid point from each of some intervals."""
        points: Ints = self.firsts[intervals]
        if self.lengths.max(initial=1) > 1:
            points += below(self.lengths, intervals, rng)
        return points

    def draw_between(self, lows: Ints, highs: Ints, rng: np.random.Generator) -> Ints:
        """A grid point between each two, both included and in intervals, by what lies between them
        weighs; else evenly.

        The groups must lie one after the other on the grid, as bins do.
        """
        # A uniform number between both ends on the line of weights is a point by weight.
        (first, left), (last, right) = self._on_line(lows, 0), self._on_line(highs, 1)
        intervals = np.searchsorted(
            self.ends, left + (right - left) * rng.random(len(lows)), side="right"
        )
        intervals = np.clip(intervals, first, last)
        weighs = right > left
        begins = np.where(weighs, np.maximum(lows, self.firsts[intervals]), lows)
        stops = np.where(
            weighs,
            np.minimum(highs + 1, self.firsts[intervals] + self.lengths[intervals]),
            highs + 1,
        )
        points: Ints = rng.integers(begins, stops)
        # Where nothing weighs, between intervals perhaps.
        intervals = np.searchsorted(self.firsts, points, side="right") - 1
        return np.asarray(np.minimum(points, self.firsts[intervals] + self.lengths[intervals] - 1))

    def share_between(self, lows: Ints, highs: Ints) -> Floats:
        """What share of its group lies between each two points of one, both included; as for
        `draw_between`.
        """
        return self._on_line(highs, 1)[1] - self._on_line(lows, 0)[1]

    def _on_line(self, points: Ints, further: int) -> tuple[RowNumbers, Floats]:
        """The interval of each point, and where what lies so many points further is on the line of
        `ends`: in that interval, or just behind it.
        """
        intervals = np.searchsorted(self.firsts, points, side="right") - 1
        begins = np.append(0.0, self.ends)[intervals]
        ends = self.ends[intervals]
        share = (points + further - self.firsts[intervals]) / self.lengths[intervals]
        return intervals, np.asarray(begins + share * (ends - begins))
