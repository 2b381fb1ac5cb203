"""Values for level codes that keep to all checks, in every row.

Values are drawn from their bins, and totals added up; where that breaks a check, or leaves the bin
of a total, they are drawn again. So they are distributed as the bins' shapes say, given that the
checks hold. What is left after some rounds is drawn column by column, each from what the checks
leave of its bin. And where the bins themselves break a check, from what the checks leave of the
whole column, as near to the bin as that is: engines prevent this as far as they know, but not
all checks are small enough for them. The few rows that are then left are searched for one at a
time, exactly.
"""

from collections.abc import Callable, Mapping
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.schema.axes.axis import Axis, CodeColumn
from synthdp.schema.rules.combinations import allowed_beside
from synthdp.schema.rules.inequalities import Intervals, Mask
from synthdp.schema.rules.search import Places
from synthdp.schema.rules.system import Numbers, System, refuse_given
from synthdp.schema.words.grid_intervals import Ints

RowNumbers = NDArray[np.intp]
Draw = Callable[[str, RowNumbers], Ints]
"""Draws a grid point of a column for some rows, from the bins that their codes say."""

MAX_ROUNDS = 16
"""How often values are drawn anew: where half of all draws keep to the checks, one row in 65,536 is
left.
"""

MAX_TRIES = 4
"""How often rows are drawn column by column; for comparisons of two columns each, one time is
enough.
"""

MAX_ANSWERS = 64
"""Rows of which the same is asked are searched for so often, then some of these answers are taken.
"""

CHUNK = 2**16
"""Rows that are worked on at a time: few enough for the processor's cache."""


def drawn_values(
    system: System,
    codes: Mapping[str, CodeColumn],
    draw: Draw,
    rng: np.random.Generator,
    given: Numbers,
) -> tuple[dict[str, Ints], dict[str, CodeColumn]]:
    """Values that keep to all checks.

    Parameters
    ----------
    system
        The checks.
    codes
        Of all attributes, shape ``(n_rows,)`` each.
    draw
        Draws freely.
    rng
        Draws what ``draw`` does not.
    given
        Values of some columns that stay as they are, as `read_numbers` gives them; they pass
        `System.check_given`.

    Returns
    -------
    points
        Grid points of each column, shape ``(n_rows,)``; any where a value is missing or given.
    codes
        The codes of all attributes, some values missing that would break a check. In place of the
        rare rows for which no values were found others stand.

    Raises
    ------
    SchemaError
        If a given record cannot be completed.
    ParameterError
        If no values were found for any row.
    """
    n_rows = len(next(iter(codes.values())))
    points = {name: np.zeros(n_rows, np.int64) for name in system.columns}
    is_drawn = np.zeros(n_rows, np.bool_)
    codes = {name: column.copy() if name in points else column for name, column in codes.items()}
    given = {name: numbers for name, numbers in given.items() if name in system.columns}
    # Chunk by chunk, and in each from the cheapest way to the dearest, which only sees the rows
    # that are left.
    for begin in range(0, n_rows, CHUNK):
        chunk = _Chunk(
            system, codes, draw, rng, given, np.arange(begin, min(begin + CHUNK, n_rows))
        )
        chunk.settle()
        is_drawn[chunk.rows] = chunk.is_drawn
        for name, line in system.lines.items():
            points[name][chunk.rows] = line.points(chunk.values.lows[name])
            codes[name][chunk.rows[~chunk.values.known[name]]] = system.columns[name].size - 1
    rows = np.arange(n_rows)
    if not is_drawn.all():
        if not is_drawn.any():
            raise ParameterError(
                "constraints: for a row that was drawn no values keep to all rules; relax one of them"
            )
        # A row for which nothing was found is replaced by another whole row, so every row keeps to
        # the rules.
        rows[~is_drawn] = rng.choice(rows[is_drawn], size=int((~is_drawn).sum()))
    return {name: drawn[rows] for name, drawn in points.items()}, {
        name: column[rows] for name, column in codes.items()
    }


@final
class _Chunk:
    """Some rows on the way to their values, which ``found`` says they have."""

    def __init__(
        self,
        system: System,
        codes: Mapping[str, CodeColumn],
        draw: Draw,
        rng: np.random.Generator,
        given: Numbers,
        rows: RowNumbers,
    ) -> None:
        self._system = system
        self._draw = draw
        self._rng = rng
        self.rows = rows
        self.is_drawn = np.zeros(len(rows), np.bool_)
        self._codes = {name: column[rows] for name, column in codes.items()}
        known = {
            name: ~column.is_missing(self._codes[name]) for name, column in system.columns.items()
        }
        self._widest = system.everything(
            known, {name: numbers[rows] for name, numbers in given.items()}
        )
        self._bins = self._widest.rows(np.arange(len(rows)))
        for name in self._free:
            line = system.lines[name]
            bins = np.minimum(self._codes[name], line.column.n_levels - 1)
            # The bins that the model drew come first: values inside of them keep its marginals.
            self._bins.lows[name], self._bins.highs[name] = (ends[bins] for ends in line.bins)
        self.values = self._bins.rows(np.arange(len(rows)))

    @property
    def _free(self) -> list[str]:
        """Columns that are drawn, in order."""
        return [name for name in self._system.order if name not in self._widest.fixed]

    def settle(self) -> None:
        """Find values for as many rows as possible."""
        self._draw_freely(np.arange(len(self.rows)))
        left = np.flatnonzero(~self.is_drawn)
        if not left.size:
            return
        # Rows whose bins contradict a check need not be tried within them.
        inside = left[self._system.tighten(self._bins.rows(left))]
        for _ in range(MAX_ROUNDS - 1):
            inside = inside[~self.is_drawn[inside]]
            self._draw_freely(inside)
        # First within the drawn bins, then anywhere: leaving a bin costs accuracy, breaking a rule
        # is no choice.
        for rows, intervals in ((inside, self._bins), (left, self._widest)):
            for _ in range(MAX_TRIES):
                which = rows[~self.is_drawn[rows]]
                if which.size:
                    self._draw_one_by_one(which, intervals.rows(which))
        self._search(left[~self.is_drawn[left]])

    def _draw_freely(self, which: RowNumbers) -> None:
        """Draw all columns of some rows by themselves, add up totals, and keep what is as it should
        be.
        """
        if not which.size:
            return
        trial = self._bins.rows(which)
        for name in self._free:
            places = self._system.lines[name].places(self._draw(name, self.rows[which]))
            trial.lows[name] = trial.highs[name] = places
        is_right = np.ones(len(which), np.bool_)
        for name in self._free:
            if name in self._system.totals:
                total = self._added_up(name, trial)
                is_right &= (self._bins.lows[name][which] <= total) & (
                    total <= self._bins.highs[name][which]
                )
                trial.lows[name] = trial.highs[name] = total
        self._keep(which, trial, is_right & self._system.can_hold(trial))

    def _added_up(self, name: str, trial: Intervals) -> Ints:
        """A total where its parts are known, else what was drawn of it."""
        equation = self._system.totals[name]
        line = self._system.lines[name]
        terms = dict(zip(equation.names, equation.least(trial.lows, trial.highs), strict=True))
        factor = equation.factors[equation.names.index(name)]
        rest = sum(term for part, term in terms.items() if part != name) + equation.constant
        low, high = line.ends
        total = line.floor(np.clip(-rest // factor, low, high).astype(np.int64))
        return np.where(equation.applies(trial), total, trial.lows[name])

    def _draw_one_by_one(self, which: RowNumbers, intervals: Intervals) -> None:
        """Draw one column after the other from what the checks leave of intervals, as near to its
        bin as that is.
        """
        # Once before the first column, so that what is drawn is what the checks leave.
        for name in (None, *self._free):
            if name is not None:
                low = intervals.lows[name]
                high = intervals.highs[name]
                low, high = (
                    np.clip(ends[name][which], low, high)
                    for ends in (self._bins.lows, self._bins.highs)
                )
                drawn = self._system.lines[name].draw(low, high, self._rng)
                intervals.lows[name] = intervals.highs[name] = drawn
            possible = self._system.tighten(intervals)
            if not possible.all():
                which = which[possible]
                intervals = intervals.rows(possible)
        self._keep(which, intervals, self._keeps_rules(which, intervals))

    def _keeps_rules(self, which: RowNumbers, values: Intervals) -> Mask:
        """Whether the bins of values keep to the rules that are no checks."""
        codes = {name: column[which] for name, column in self._codes.items()}
        for name in self._free:
            codes[name] = np.where(
                values.known[name], self._system.lines[name].codes(values.lows[name]), codes[name]
            )
        keeps = np.ones(len(which), np.bool_)
        for constraint in self._system.constraints:
            keeps &= constraint.allowed[tuple(codes[name] for name in constraint.clique)]
        return keeps

    def _keep(self, which: RowNumbers, values: Intervals, is_right: Mask) -> None:
        self.values.put(which[is_right], values.rows(is_right))
        self.is_drawn[which[is_right]] = True

    def _search(self, which: RowNumbers) -> None:
        """Find values of rows one at a time, exactly; rows of which the same is asked share a few
        answers.
        """
        answers: dict[tuple[int, ...], list[tuple[Places, list[str]]]] = {}
        for row in which:
            alike = answers.setdefault(self._asked_of(row), [])
            answer = (
                self._answer(row)
                if len(alike) < MAX_ANSWERS
                # Searching exactly is the dearest way; of rows of which the same is asked 64
                # different answers do for all.
                else alike[self._rng.integers(MAX_ANSWERS)]
            )
            if answer is None:
                continue
            alike.append(answer)
            places, gone = answer
            for name, place in places.items():
                self.values.lows[name][row] = self.values.highs[name][row] = place
            for name in gone:
                self.values.known[name][row] = False
            self.is_drawn[row] = True

    def _asked_of(self, row: np.intp) -> tuple[int, ...]:
        """What a row must keep to: its given values, those that are missing, and its codes in other
        rules.
        """
        ends = (
            ends[name][row]
            for name in sorted(self._widest.fixed)
            for ends in (self._widest.lows, self._widest.highs)
        )
        others = {name for constraint in self._system.constraints for name in constraint.clique}
        codes = (self._codes[name][row] for name in sorted(others - self._system.columns.keys()))
        return tuple(
            map(int, (*ends, *(known[row] for known in self._widest.known.values()), *codes))
        )

    def _answer(self, row: np.intp) -> tuple[Places, list[str]] | None:
        """Places in one row, and columns of which the value has to be missing; None if there are
        none.

        Raises `SchemaError` if it is a given record.
        """
        lines = self._system.lines
        box = self._widest.rows(np.array([row]))
        gone = list[str]()
        near = {
            name: int(lines[name].places(self._draw(name, self.rows[[row]]))[0])
            for name in box.free
        }
        while True:
            codes = {
                name: int(column[row])
                for name, column in self._codes.items()
                if name not in box.free
            }
            codes |= {name: lines[name].column.size - 1 for name in gone}
            tables = allowed_beside(self._system.constraints, codes)
            if (places := self._system.point_near(box, near, tables)) is not None:
                return places, gone
            blame = self._system.blamed(box, near, tables)
            assert blame is not None
            named = [
                name
                for relation in blame.relations
                for name in relation.factors
                if name in box.free
            ]
            # A missing value compares with nothing: the last resort before a row is given up.
            optional = next((name for name in named if _may_be_missing(lines[name].column)), None)
            if optional is None:
                if box.fixed:
                    refuse_given(int(self.rows[row]), blame)
                return None
            box.known[optional][:] = False
            gone.append(optional)


def _may_be_missing(column: Axis) -> bool:
    """Whether a value may be left out: it can be missing, and nobody asked for it."""
    return not column.required and column.kept is None
