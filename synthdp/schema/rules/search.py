"""Exact search for a row that satisfies all checks: it finds one or proves that there is none.

Inequalities narrow the intervals of the columns; the simplex method gives a point of what is left.
Where that lies between two values of a column, or in bins that other rules forbid, the interval is
cut there and both sides are searched in turn (branch and bound).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd
from typing import final

import numpy as np

from synthdp.schema.rules.combinations import AllowedTable
from synthdp.schema.rules.inequalities import Inequality, Intervals, tighten
from synthdp.schema.rules.lines import Line
from synthdp.schema.rules.simplex import Row, point_between

MAX_STEPS = 256
"""Most intervals that are searched; what people write takes one to ten."""

BLAME_STEPS = 32
"""The same where it is only looked for the checks that are at fault."""

_ROUNDS = 3
"""Narrowing brings little more after so many rounds that the simplex method does not find."""

Places = dict[str, int]


class UndecidedError(Exception):
    """The steps were not enough."""


@final
@dataclass(frozen=True, eq=False)
class Search:
    """What a row has to keep to."""

    inequalities: Sequence[Inequality]
    """What checks say."""
    lines: Mapping[str, Line]
    """The columns."""
    tables: Sequence[AllowedTable] = ()
    """What other rules allow of columns that are free in the row."""
    steps: int = MAX_STEPS
    """Most intervals that are searched."""

    def point_near(self, row: Intervals, near: Mapping[str, int]) -> Places | None:
        """The places of all columns that are free and known in a row that keeps to everything; None
        if there is none.

        Parameters
        ----------
        row
            One row.
        near
            Where to begin; columns stay there if they can.

        Raises
        ------
        UndecidedError
            If neither is clear after all steps.
        """
        if not all(allowed.any() for _, allowed in self.tables):
            return None
        # Depth first, the most likely part last: mostly the first leaf is the answer.
        waiting = [row]
        for _ in range(self.steps):
            if not waiting:
                return None
            box = waiting.pop().rows(np.arange(1))
            # Bounds first: they rule out most parts at a fraction of the simplex's time.
            if not tighten(self.inequalities, box, self.lines, rounds=_ROUNDS).all():
                continue
            # A rational point of the relaxation; if there is none, no whole one is either.
            point = self._point(box, near)
            if point is None:
                continue
            cuts = self._cuts(box, point)
            if cuts is None:
                return {name: int(place) for name, place in point.items()}
            waiting += cuts
        raise UndecidedError

    def _point(self, box: Intervals, near: Mapping[str, int]) -> dict[str, Fraction] | None:
        """A point of the intervals that keeps to the inequalities, its columns not always on their
        values.
        """
        names = box.free
        ends = [(int(box.lows[name][0]), int(box.highs[name][0])) for name in names]
        # Starting from what was drawn, the point stays where it can, so values keep the shape of
        # their columns.
        begin = [
            min(max(near[name], low), high) for name, (low, high) in zip(names, ends, strict=True)
        ]
        rows = list(rows_of(self.inequalities, names, box, self.lines))
        point = point_between(rows, [low for low, _ in ends], [high for _, high in ends], begin)
        return None if point is None else dict(zip(names, point, strict=True))

    def _cuts(self, box: Intervals, point: Mapping[str, Fraction]) -> list[Intervals] | None:
        """Parts of intervals without a point, the most likely one last; None if the point is a row
        as it should be.
        """
        for name, place in point.items():
            below = int(self.lines[name].floor(np.array([floor(place)]))[0])
            if below != place:
                above = int(self.lines[name].ceil(np.array([ceil(place)]))[0])
                parts = [(int(box.lows[name][0]), below), (above, int(box.highs[name][0]))]
                # The nearer whole number is tried first, so it comes last on the stack.
                return _between(box, name, parts if above - place < place - below else parts[::-1])
        # Only now: whether a combination of bins is allowed is a question of whole points.
        for names, allowed in self.tables:
            codes = {
                name: int(self.lines[name].codes(np.array([int(point[name])]))[0]) for name in names
            }
            if not allowed[tuple(codes.values())]:
                return self._other_bins(box, codes)
        return None

    def _other_bins(self, box: Intervals, codes: Mapping[str, int]) -> list[Intervals]:
        """Intervals cut at the bins that may not be together; none if all lie in these bins."""
        for name, code in codes.items():
            low = int(box.lows[name][0])
            high = int(box.highs[name][0])
            line = self.lines[name]
            first = max(low, int(line.bins[0][code]))
            last = min(high, int(line.bins[1][code]))
            if low < first or last < high:
                parts = [(first, last)]
                if low < first:
                    parts += [(low, int(line.floor(np.array([first - 1]))[0]))]
                if last < high:
                    parts += [(int(line.ceil(np.array([last + 1]))[0]), high)]
                return _between(box, name, parts)
        return []


def rows_of(
    inequalities: Sequence[Inequality],
    names: Sequence[str],
    box: Intervals,
    lines: Mapping[str, Line],
) -> Iterator[Row]:
    """Inequalities between free columns, their bounds lowered to what sums of places can be."""
    position = {name: i for i, name in enumerate(names)}
    for inequality in inequalities:
        if not inequality.applies(box)[0]:
            continue
        terms = dict(zip(inequality.names, inequality.least(box.lows, box.highs), strict=True))
        most = -inequality.constant - sum(
            int(term[0]) for name, term in terms.items() if name not in position
        )
        factors = {
            name: f
            for name, f in zip(inequality.names, inequality.factors, strict=True)
            if name in position
        }
        if factors:
            step = gcd(*(factor * lines[name].column.step for name, factor in factors.items()))
            # Sums of whole places are multiples of the greatest common divisor, so the bound may be
            # lowered to one: cuts that a solver would find one by one.
            yield {position[name]: factor for name, factor in factors.items()}, most // step * step


def _between(box: Intervals, name: str, parts: Sequence[tuple[int, int]]) -> list[Intervals]:
    """Copies of a row's intervals with other ends of one column."""
    cut = []
    for low, high in parts:
        if low <= high:
            part = box.rows(np.arange(1))
            part.lows[name][:], part.highs[name][:] = low, high
            cut.append(part)
    return cut
