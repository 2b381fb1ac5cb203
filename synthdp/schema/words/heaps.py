"""Heaps: round grid points that are drawn more often than those beside them, such as multiples of
100.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from synthdp.schema.words.grid_intervals import Floats, GridIntervals, Ints

LEAST_SHARE = 1e-12
"""Points of no step have at least this share, for intervals that hold no others."""


@final
@dataclass(frozen=True, eq=False)
class Heaps:
    """How much likelier round grid points are: the class of a point is the largest step that
    divides it.

    0, which every step divides, is of no step: what is special about it is no rounding.
    """

    steps: Ints
    """Grid points above 1, increasing, each of which divides the next; shape ``(n,)``."""
    weights: Floats
    """Of each point by its class, that of no step first; above 0, shape ``(n + 1,)``."""

    @classmethod
    def of_shares(cls, steps: Sequence[int], shares: Sequence[float]) -> Self:
        """The weights with which a wide range of points has these shares of multiples of each step,
        not of the next.

        >>> Heaps.of_shares([10, 100], [0.5, 0.4]).weights.round(3).tolist()
        [0.111, 5.556, 40.0]
        """
        # An interval without any multiple of a step still needs a point to draw.
        parts = np.maximum([1 - sum(shares), *shares], LEAST_SHARE)
        return cls(np.array(steps, dtype=np.int64), parts / densities(steps))

    def sizes(self, cuts: Ints) -> Floats:
        """What the points between two cuts weigh together; shape ``(n_cuts - 1,)``."""
        return np.asarray(self.weights @ counts_of_classes(self.steps, cuts[:-1], cuts[1:]))


def counts_of_classes(steps: Ints, firsts: Ints, stops: Ints) -> Ints:
    """How many points of each class, that of no step first, lie in intervals; shape ``(n_steps + 1,
    n_runs)``.

    >>> counts_of_classes(np.array([5, 10]), np.array([-5, 0, 1]), np.array([0, 1, 21])).tolist()
    [[4, 1, 16], [1, 0, 2], [0, 0, 2]]
    """
    below = (np.stack([firsts, stops]) - 1)[:, None] // steps[:, None]
    # 0 is a multiple of everything, and as likely as any other value: it would be a heap that
    # nobody rounded to.
    multiples = below[1] - below[0] - ((firsts <= 0) & (stops > 0))
    counts = np.concatenate([(stops - firsts)[None], multiples])
    # Multiples of a step are multiples of the finer ones as well, and are counted there no longer.
    counts[:-1] -= multiples
    return np.asarray(counts)


def densities(steps: Sequence[int]) -> Floats:
    """Shares of all whole numbers that are a multiple of no step, and of each step but not of the
    next.

    >>> densities([5, 10]).tolist()
    [0.8, 0.1, 0.1]
    """
    multiples = np.array([1.0, *(1 / step for step in steps), 0.0])
    return np.asarray(multiples[:-1] - multiples[1:])


@final
@dataclass(frozen=True, eq=False)
class HeapedIntervals:
    """Intervals of grid points in groups, each in parts of points of one class that are equally
    likely.
    """

    intervals: GridIntervals
    """The parts; their points count, from anywhere, those of their class."""
    steps: Ints
    """The step of each part."""
    ratios: Ints
    """How many times that the next step is; 0 where each multiple counts."""

    @classmethod
    def from_groups(
        cls, heaps: Heaps, groups: Ints, firsts: Ints, lengths: Ints, mass: Floats
    ) -> Self:
        """Intervals by group, in the order of the groups; 0 lies in no interval, but for one of its
        own.
        """
        counts = counts_of_classes(heaps.steps, firsts, firsts + lengths).T
        # Classes without a point in an interval make no part of it.
        interval, kind = np.nonzero(counts)
        steps = np.append(np.int64(1), heaps.steps)
        ratios = np.append(steps[1:] // steps[:-1], np.int64(0))
        step = steps[kind]
        ratio = ratios[kind]
        multiples_below = (firsts[interval] - 1) // step
        first = np.where(
            ratio > 0,
            multiples_below - multiples_below // np.maximum(ratio, 1),
            multiples_below + 1,
        )
        is_single = lengths[interval] == 1
        step[is_single] = 1
        ratio[is_single] = 0
        first[is_single] = firsts[interval][is_single]
        number = counts[interval, kind]
        weighs = heaps.weights[kind] * number
        shares = weighs / np.bincount(interval, weighs)[interval]
        return cls(
            GridIntervals.from_groups(groups[interval], first, number, mass[interval] * shares),
            step,
            ratio,
        )

    def draw(self, groups: NDArray[np.integer[Any]], rng: np.random.Generator) -> Ints:
        """A grid point from each group; ``groups`` are positions in the groups' order."""
        parts = self.intervals.picked(groups, rng)
        numbers = self.intervals.points_in(parts, rng)
        ratios = self.ratios[parts]
        # The n-th multiple of a step that is none of the next: every ratio-th one is left out, so
        # it lies further along by those.
        skipped = np.where(ratios > 0, numbers // np.maximum(ratios - 1, 1) + 1, 0)
        return self.steps[parts] * (numbers + skipped)
