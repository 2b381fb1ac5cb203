"""All checks of a schema together: what they leave of intervals, and whether they leave anything."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NoReturn, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.constraint import Constraint
from synthdp.core.errors import SchemaError
from synthdp.schema.axes.axis import Axis
from synthdp.schema.columns.column import Column
from synthdp.schema.rules.checks import inequalities_of, possible_bins, treelike
from synthdp.schema.rules.combinations import AllowedTable, allowed_at_all
from synthdp.schema.rules.expressions import Relation
from synthdp.schema.rules.inequalities import Inequality, Intervals, Mask, can_hold, tighten
from synthdp.schema.rules.lines import Line
from synthdp.schema.rules.rules import Rule
from synthdp.schema.rules.search import (
    BLAME_STEPS,
    MAX_STEPS,
    Places,
    Search,
    UndecidedError,
    rows_of,
)
from synthdp.schema.rules.simplex import point_between

Numbers = Mapping[str, NDArray[np.float64]]


@final
@dataclass(frozen=True)
class Blame:
    """Contradicting checks, as few as a greedy search leaves; perhaps together with other rules.

    Or all of them, where a search came to no end (``is_undecided``).
    """

    relations: tuple[Relation, ...]
    with_rules: bool = False
    is_undecided: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """The checks as they were written."""
        return tuple(dict.fromkeys(relation.text for relation in self.relations))

    @property
    def line(self) -> str:
        """The checks in a line."""
        return " and ".join(map(repr, self.texts))


@final
@dataclass(frozen=True, eq=False)
class System:
    """All checks of a schema, over the columns that they name."""

    columns: Mapping[str, Axis]
    """The columns by name."""
    relations: tuple[Relation, ...]
    """What the checks state, at least one."""
    constraints: tuple[Constraint, ...] = ()
    """What other rules allow of combinations of codes."""

    @cached_property
    def lines(self) -> dict[str, Line]:
        """The columns on their lines."""
        return {name: Line(column) for name, column in self.columns.items()}

    @cached_property
    def inequalities(self) -> tuple[Inequality, ...]:
        """What the relations say."""
        return self._inequalities_of(self.relations)

    def _inequalities_of(self, relations: Sequence[Relation]) -> tuple[Inequality, ...]:
        by_relation = (inequalities_of(relation, self.lines) for relation in relations)
        return tuple(chain.from_iterable(by_relation))

    @cached_property
    def totals(self) -> dict[str, Inequality]:
        """For each total half of an equation that it follows from; totals of totals behind these.

        Totals that follow from each other in a circle are not among them.
        """
        equations = {
            relation.total: relation
            for relation in reversed(self.relations)
            if relation.total is not None
        }
        ready: dict[str, Inequality] = {}
        # Totals of totals: each round takes those whose parts are ready, so circles are left over.
        for _ in equations:
            waiting = equations.keys() - ready.keys()
            for name in sorted(waiting):
                parts = equations[name].factors.keys() - {name}
                if not parts & waiting:
                    ready[name] = inequalities_of(equations[name], self.lines)[0]
        return ready

    @property
    def order(self) -> list[str]:
        """The columns in the order in which they are drawn: totals last."""
        return [name for name in self.columns if name not in self.totals] + list(self.totals)

    def everything(self, known: Mapping[str, Mask], given: Numbers) -> Intervals:
        """For each row all that the columns can be, but for given values."""
        n_rows = len(next(iter(known.values())))
        # Ends that the schema declares: wide intervals cost nothing, and whatever narrows them is a
        # deduction.
        lows = {name: np.full(n_rows, line.ends[0]) for name, line in self.lines.items()}
        highs = {name: np.full(n_rows, line.ends[1]) for name, line in self.lines.items()}
        for name, numbers in given.items():
            lows[name], highs[name] = self.lines[name].around(numbers)
        return Intervals(lows, highs, known, frozenset(given))

    def tighten(self, rows: Intervals) -> Mask:
        """Narrow intervals, and tell which rows may keep to all checks; see `inequalities.tighten`."""
        return tighten(self.inequalities, rows, self.lines)

    def can_hold(self, rows: Intervals) -> Mask:
        """Which rows may keep to each check by itself; where the intervals are points, whether they
        do.
        """
        return can_hold(self.inequalities, rows)

    def point_near(
        self, row: Intervals, near: Places, tables: Sequence[AllowedTable] = ()
    ) -> Places | None:
        """Places of the free columns in one row that keep to everything; None if none are found.

        Parameters
        ----------
        row
            What the columns can be.
        near
            Where to begin, for each free column.
        tables
            What other rules allow of free columns.
        """
        try:
            return self._searched(row, near, tables)
        except UndecidedError:
            return None

    def _searched(
        self,
        row: Intervals,
        near: Places,
        tables: Sequence[AllowedTable],
        relations: Sequence[Relation] | None = None,
        steps: int = MAX_STEPS,
    ) -> Places | None:
        """The same, but raises `UndecidedError` where it is not clear that there are none."""
        kept = self.inequalities if relations is None else self._inequalities_of(relations)
        return Search(kept, self.lines, tables, steps).point_near(row, near)

    def _is_hopeless(
        self,
        row: Intervals,
        near: Places,
        tables: Sequence[AllowedTable],
        relations: Sequence[Relation],
    ) -> bool:
        """Whether it is soon clear that nothing keeps to these."""
        try:
            return self._searched(row, near, tables, relations, BLAME_STEPS) is None
        except UndecidedError:
            return False

    def blamed(
        self, row: Intervals, near: Places, tables: Sequence[AllowedTable] = ()
    ) -> Blame | None:
        """The checks because of which `point_near` finds nothing, as few as a short search leaves;
        None if it finds a point.
        """
        try:
            if self._searched(row, near, tables) is not None:
                return None
        except UndecidedError:
            return Blame(self.relations, with_rules=bool(tables), is_undecided=True)
        # If the checks alone contradict each other, the tables of other rules need not be blamed.
        rules = () if self._is_hopeless(row, near, (), self.relations) else tables
        # Greedy: each check is left out once, and stays out if the rest is hopeless without it. The
        # set that remains is minimal, if not the smallest.
        left = list(self.relations)
        for relation in self.relations:
            others = [other for other in left if other is not relation]
            if self._is_hopeless(row, near, rules, others):
                left = others
        return Blame(tuple(left), with_rules=bool(rules))

    def blamed_for(self, known: Collection[str]) -> Blame | None:
        """The checks because of which no row has values of just these columns; None if there is
        one.
        """
        return self.blamed(self._of(known), self._middle, allowed_at_all(self.constraints, known))

    @property
    def is_possible(self) -> bool:
        """Whether there is a row of which nothing is missing."""
        tables = allowed_at_all(self.constraints, self.columns)
        return self.point_near(self._of(self.columns), self._middle, tables) is not None

    def _of(self, known: Collection[str]) -> Intervals:
        """All that a row can be that has values of just these columns."""
        return self.everything({name: np.array([name in known]) for name in self.columns}, {})

    @property
    def _middle(self) -> Places:
        """A place in the middle of each column."""
        middle = {}
        for name, line in self.lines.items():
            between = sum(line.ends) // 2
            middle[name] = int(line.floor(np.array([between]))[0])
        return middle

    def check_possible(self, learnt: Collection[str] = ()) -> None:
        """Raise `SchemaError` if checks, other rules and bounds together leave no row of which
        nothing is missing.

        Bounds of the columns in ``learnt`` are as wide as can be, and no reason to name.
        """
        # A minimal set of checks that already contradict each other: a message that named all
        # checks would help nobody.
        blame = self.blamed_for(self.columns)
        if blame is None:
            return
        named = dict.fromkeys(name for relation in blame.relations for name in relation.factors)
        bounds = [
            f"{name!r} from {_bounds(self.columns[name])}" for name in named if name not in learnt
        ]
        is_one = len(blame.texts) == 1
        it = "it" if is_one else "them"
        # The search is bounded, so that a schema cannot make it run for ever; then the sentence
        # must claim no more than that.
        if blame.is_undecided:
            problem = f": no row that keeps to {it} was found in a long search"
        elif blame.with_rules:
            problem = f": no row that keeps to the other rules keeps to {it}"
        elif not bounds or self._contradict(blame.relations):
            problem = " contradicts itself" if is_one else " contradict each other"
        else:
            problem = f": no values within the bounds keep to {it}, {', '.join(bounds)}"
        checks = " and ".join(f"the check {text!r}" for text in blame.texts)
        raise SchemaError(f"schema: constraints: {checks}{problem}; remove or correct one")

    def _contradict(self, relations: Sequence[Relation]) -> bool:
        """Whether relations leave nothing whatever the bounds are."""
        names = list(self.columns)
        inequalities = System(self.columns, tuple(relations)).inequalities
        rows = list(rows_of(inequalities, names, self._of(names), self.lines))
        no_bounds = [None] * len(names)
        return point_between(rows, no_bounds, no_bounds, [0] * len(names)) is None

    def check_given(self, given: Numbers, rows: NDArray[np.intp]) -> None:
        """Raise `SchemaError` if a row of given values cannot be completed so that the checks hold.

        What only a search shows is an error when rows are drawn.

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
        impossible = np.flatnonzero(~self.tighten(self.everything(known, given)))
        if impossible.size:
            row = self.everything(known, given).rows(impossible[:1])
            refuse_given(int(rows[impossible[0]]), self.blamed(row, self._middle))


def refuse_given(record: int, blame: Blame | None) -> NoReturn:
    """Raise `SchemaError` about a given record."""
    checks = "a check" if blame is None else f"the check {blame.line}"
    raise SchemaError(f"given: record {record} (from 0) breaks {checks}; correct the record")


def _bounds(column: Axis) -> str:
    limits = column.field()["constraints"]
    return f"{limits['minimum']} to {limits['maximum']}"


def system_of(rules: Sequence[Rule], columns: Sequence[Column]) -> System | None:
    """All rules that compare values, and what the others allow; None if none does."""
    relations: list[Relation] = []
    constraints: list[Constraint] = []
    for rule in rules:
        relations += rule.relations
        # Constraints of a check are what engines are to know of it, and nothing besides.
        if not rule.relations:
            constraints += rule.constraints
    if not relations:
        return None
    named = {name for relation in relations for name in relation.factors}
    checked: dict[str, Axis] = {}
    for column in columns:
        if column.name in named and column.axis is not None:
            checked[column.name] = column.axis
    return System(checked, tuple(relations), tuple(constraints))


def checked_rules(
    rules: Sequence[Rule], columns: Sequence[Column], learnt: Collection[str] = ()
) -> tuple[Rule, ...]:
    """The rules, checks with what engines are to know of them.

    Raises `SchemaError` if no row can keep to the checks; it names what to change, which are never
    the bounds of ``learnt`` columns.
    """
    system = system_of(rules, columns)
    if system is None:
        return tuple(rules)
    system.check_possible(learnt)
    return tuple(_with_possible_bins(rules, system.lines))


def _with_possible_bins(rules: Sequence[Rule], lines: Mapping[str, Line]) -> Iterator[Rule]:
    """The rules, checks with what engines are to know of them."""
    bins: dict[Relation, Constraint | None] = {}
    given: list[Constraint] = []
    for rule in rules:
        given += rule.constraints
        for relation in rule.relations:
            bins[relation] = possible_bins(relation, lines)
    kept = treelike([constraint for constraint in bins.values() if constraint is not None], given)
    for rule in rules:
        of_rule = [bins[relation] for relation in rule.relations]
        borne = [each for each in of_rule if each is not None and each in kept]
        yield replace(rule, constraints=(*rule.constraints, *borne))
