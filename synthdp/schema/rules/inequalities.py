"""Linear inequalities between columns, and what they leave of intervals: exact, in whole numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from synthdp.schema.rules.lines import Line
from synthdp.schema.words.grid_intervals import Ints

Mask = NDArray[np.bool_]

MAX_EXACT = 2**62
"""Sums up to here fit into 64 bits with room to spare; larger ones are worked out in Python's
integers.
"""


@final
@dataclass(frozen=True, eq=False)
class Intervals:
    """For each row and column an interval on the column's `Line`, and whether there is a value at
    all.
    """

    lows: dict[str, Ints]
    highs: dict[str, Ints]
    """For each column its limits, both included; shape ``(n_rows,)`` each. Of a value that is not
    on the line, such as one that somebody gave, ``lows`` is the place above and ``highs`` the
    one below.
    """
    known: Mapping[str, Mask]
    """For each column in which rows it is not missing."""
    fixed: frozenset[str] = frozenset()
    """Columns whose values somebody gave: they are not narrowed."""

    @property
    def free(self) -> list[str]:
        """The columns of the first row whose value was not given."""
        return [name for name, known in self.known.items() if name not in self.fixed and known[0]]

    def rows(self, which: NDArray[Any]) -> Self:
        """Some of the rows, copied."""
        lows, highs, known = (
            {name: values[which] for name, values in part.items()}
            for part in (self.lows, self.highs, self.known)
        )
        return type(self)(lows, highs, known, self.fixed)

    def put(self, rows: NDArray[Any], others: Self) -> None:
        """Replace the intervals of some rows."""
        for name in self.lows.keys() - self.fixed:
            self.lows[name][rows] = others.lows[name]
            self.highs[name][rows] = others.highs[name]


@final
@dataclass(frozen=True)
class Inequality:
    """``sum of factors * columns + constant <= 0``, in places on the columns' lines."""

    names: tuple[str, ...]
    factors: tuple[int, ...]
    """The columns and what each is multiplied by, not 0."""
    constant: int
    """What is added."""
    is_wide: bool = False
    """Whether the sum may leave 64 bits."""

    @classmethod
    def from_factors(
        cls, names: Sequence[str], factors: Sequence[int], constant: int, lines: Mapping[str, Line]
    ) -> Self:
        """The inequality between columns on their lines."""
        reach = sum(
            abs(f) * max(map(abs, lines[n].ends)) for n, f in zip(names, factors, strict=True)
        )
        # Where sums may leave 64 bits Python's own integers take over: slower, and never wrong.
        return cls(tuple(names), tuple(factors), constant, 2 * (reach + abs(constant)) >= MAX_EXACT)

    def least(self, lows: Mapping[str, Ints], highs: Mapping[str, Ints]) -> list[NDArray[Any]]:
        """The least that each term can be."""
        ends = [
            (lows if factor > 0 else highs)[name]
            for name, factor in zip(self.names, self.factors, strict=True)
        ]
        kind = object if self.is_wide else np.int64
        return [factor * end.astype(kind) for factor, end in zip(self.factors, ends, strict=True)]

    def applies(self, rows: Intervals) -> Mask:
        """In which rows no value is missing: elsewhere nothing is compared."""
        known: Mask = np.logical_and.reduce([rows.known[name] for name in self.names])
        return known

    def can_hold(self, rows: Intervals) -> Mask:
        """In which rows some values of the intervals keep to it; where they are points: whether
        these do.
        """
        total = sum(self.least(rows.lows, rows.highs)) + self.constant
        return np.asarray(total <= 0, dtype=np.bool_) | ~self.applies(rows)

    def tighten(self, rows: Intervals, lines: Mapping[str, Line]) -> bool:
        """Narrow the intervals to what can keep to it, and tell whether that changed any.

        An interval of which nothing is left ends just before it begins.
        """
        least = self.least(rows.lows, rows.highs)
        # How much the terms may exceed their least together; each may have all of it if the others
        # stay at theirs.
        room = -(sum(least) + self.constant)
        applies = self.applies(rows)
        changed = False
        for name, factor, part in zip(self.names, self.factors, least, strict=True):
            if name in rows.fixed:
                continue
            low = rows.lows[name]
            high = rows.highs[name]
            line = lines[name]
            if factor > 0:
                # One below the interval says that nothing is left, and stays a number like others.
                end = np.clip((room + part) // factor, low - 1, high).astype(np.int64)
                end = np.where(applies & (end < high), np.maximum(line.floor(end), low - 1), high)
                changed |= bool((end != high).any())
                rows.highs[name] = end
            else:
                end = np.clip(-((room + part) // -factor), low, high + 1).astype(np.int64)
                end = np.where(applies & (end > low), np.minimum(line.ceil(end), high + 1), low)
                changed |= bool((end != low).any())
                rows.lows[name] = end
        return changed


def tighten(
    inequalities: Sequence[Inequality],
    rows: Intervals,
    lines: Mapping[str, Line],
    *,
    rounds: int | None = None,
) -> Mask:
    """Narrow intervals until nothing changes, or for long enough, and tell which rows may keep to
    all inequalities.
    """
    # Chains of inequalities pass a bound on by one column a round; circles may go on for ever by
    # smaller and smaller steps, hence the limit.
    for _ in range(2 * len(lines) + 2 if rounds is None else rounds):
        changed = [inequality.tighten(rows, lines) for inequality in inequalities]
        if not any(changed):
            break
    possible = can_hold(inequalities, rows)
    for name in rows.lows.keys() - rows.fixed:
        possible &= rows.lows[name] <= rows.highs[name]
    return possible


def can_hold(inequalities: Sequence[Inequality], rows: Intervals) -> Mask:
    """Which rows may keep to each inequality by itself; where the intervals are points, whether
    they do.
    """
    possible: Mask = np.logical_and.reduce(
        [inequality.can_hold(rows) for inequality in inequalities]
    )
    return possible
