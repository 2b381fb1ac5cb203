"""All checks of a schema together: what they leave of intervals, and whether they leave anything."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.constraint import Constraint
from synthdp.errors import SchemaError
from synthdp.table.columns.binned import BinnedColumn
from synthdp.table.rules.checks import inequalities_of
from synthdp.table.rules.expressions import Relation
from synthdp.table.rules.inequalities import Inequality, Intervals, Mask
from synthdp.table.rules.lines import Line

Numbers = Mapping[str, NDArray[np.float64]]


@final
@dataclass(frozen=True)
class Broken:
    """A row that cannot keep to a check, or to some checks together that have columns in common."""

    row: int
    relations: tuple[Relation, ...]

    @property
    def texts(self) -> str:
        """The checks in a line."""
        return " and ".join(map(repr, dict.fromkeys(relation.text for relation in self.relations)))


@final
@dataclass(frozen=True, eq=False)
class System:
    """All checks of a schema, over the columns that they name.

    Parameters
    ----------
    columns
        The columns by name.
    relations
        What the checks state, at least one.
    constraints
        What other rules allow of combinations of codes.
    """

    columns: Mapping[str, BinnedColumn]
    relations: tuple[Relation, ...]
    constraints: tuple[Constraint, ...] = ()

    @cached_property
    def lines(self) -> dict[str, Line]:
        """The columns on their lines."""
        return {name: Line(column) for name, column in self.columns.items()}

    @cached_property
    def inequalities(self) -> tuple[Inequality, ...]:
        """What the relations say."""
        return tuple(found for relation in self.relations for found in inequalities_of(relation, self.lines))

    @cached_property
    def totals(self) -> dict[str, Inequality]:
        """For each total half of an equation that it follows from; totals of totals behind these.

        Totals that follow from each other in a circle are not among them.
        """
        equations = {relation.total: relation for relation in reversed(self.relations) if relation.total is not None}
        found: dict[str, Inequality] = {}
        for _ in equations:
            waiting = equations.keys() - found.keys()
            for name in sorted(waiting):
                if not (equations[name].factors.keys() - {name}) & waiting:
                    found[name] = inequalities_of(equations[name], self.lines)[0]
        return found

    @property
    def order(self) -> list[str]:
        """The columns in the order in which they are drawn: totals last."""
        return [name for name in self.columns if name not in self.totals] + list(self.totals)

    def everything(self, known: Mapping[str, Mask], given: Numbers) -> Intervals:
        """For each row all that the columns can be, but for given values."""
        n_rows = len(next(iter(known.values())))
        lows = {name: np.full(n_rows, line.ends[0]) for name, line in self.lines.items()}
        highs = {name: np.full(n_rows, line.ends[1]) for name, line in self.lines.items()}
        for name, numbers in given.items():
            lows[name], highs[name] = self.lines[name].around(numbers)
        return Intervals(lows, highs, known, frozenset(given))

    def tighten(self, rows: Intervals) -> Mask:
        """Narrow intervals until nothing changes, or for long enough, and tell which rows may keep to all checks."""
        for _ in range(2 * len(self.columns) + 2):
            changed = [inequality.tighten(rows, self.lines) for inequality in self.inequalities]
            if not any(changed):
                break
        possible = self.can_hold(rows)
        for name in rows.lows.keys() - rows.fixed:
            possible &= rows.lows[name] <= rows.highs[name]
        return possible

    def can_hold(self, rows: Intervals) -> Mask:
        """Which rows may keep to each check by itself; where the intervals are points, whether they do."""
        possible: Mask = np.logical_and.reduce([inequality.can_hold(rows) for inequality in self.inequalities])
        return possible

    def broken(self, known: Mapping[str, Mask], given: Numbers) -> Broken | None:
        """The first row that cannot keep to the checks, and the first ones to blame; None if all rows can.

        Parameters
        ----------
        known
            For each column in which rows it has a value.
        given
            What some of these values are, as `read_numbers` gives them.
        """
        impossible = np.flatnonzero(~self.tighten(self.everything(known, given)))
        if not impossible.size:
            return None
        row = impossible[:1]
        present = {name: values[row] for name, values in known.items()}
        values = {name: numbers[row] for name, numbers in given.items()}
        for group in (*((relation,) for relation in self.relations), *self._connected()):
            part = System(self.columns, group)
            if not part.tighten(part.everything(present, values)).all():
                break
        return Broken(int(row[0]), group)

    def _connected(self) -> list[tuple[Relation, ...]]:
        """The relations in groups that have no column in common."""
        groups: list[tuple[Relation, ...]] = []
        for relation in self.relations:
            near = [group for group in groups if any(relation.factors.keys() & other.factors.keys() for other in group)]
            joined = tuple(other for group in near for other in group)
            groups = [group for group in groups if group not in near] + [(*joined, relation)]
        return groups

    def check_possible(self) -> None:
        """Raise `SchemaError` if checks and bounds together leave no row of which nothing is missing."""
        if broken := self.broken({name: np.ones(1, np.bool_) for name in self.columns}, {}):
            way_out = "correct a check, or a bound that it is held against"
            raise SchemaError(f"schema: constraints: no row can keep to {broken.texts} all together; {way_out}")

    def check_given(self, given: Numbers, rows: NDArray[np.intp]) -> None:
        """Raise `SchemaError` if a row of given values cannot be completed so that the checks hold.

        Parameters
        ----------
        given
            Values of some of the columns, as `read_numbers` gives them.
        rows
            What the message calls the rows, shape ``(n_rows,)``.
        """
        # where a column can be missing nothing needs to be compared with it
        known = {name: np.full(len(rows), column.required) for name, column in self.columns.items()}
        known |= {name: ~np.isnan(numbers) for name, numbers in given.items()}
        if broken := self.broken(known, given):
            raise SchemaError(
                f"given: record {rows[broken.row]} (from 0) breaks the check {broken.texts}; correct the record"
            )
