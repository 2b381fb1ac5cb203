"""Checks: relations between the values of numbers, or of dates, held against the columns of a
schema.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm, prod

import numpy as np

from synthdp.core.constraint import Constraint
from synthdp.schema.axes.points import decimals_of
from synthdp.schema.columns.column import Column
from synthdp.schema.rules.expressions import Relation, refuse_check
from synthdp.schema.rules.inequalities import Inequality, Mask
from synthdp.schema.rules.lines import Line
from synthdp.schema.rules.rules import relations_of_check, rules_in

Columns = Mapping[str, Column]

MAX_PAIR_CELLS, MAX_CELLS = 2**18, 2**14
"""Engines get the bins that a check allows in tables of two columns, and of more, of at most so
many cells.

All else is left to drawing. In larger tables engines spend more on obeying than it gains: with sums
of three columns of 32 bins, 2^15 cells, 1,000,000 rows took 52 processor seconds and not 22, for 3
% less error of pairs.
"""


def relations_in(rules: object, columns: Sequence[Column]) -> tuple[Relation, ...]:
    """What the checks among the rules of a schema state; raises `SchemaError` if one does not fit
    the columns.
    """
    by_name = {column.name: column for column in columns}
    relations: list[Relation] = []
    for rule in rules_in(rules):
        relations += relations_of_check(rule.value)
    for relation in relations:
        check_kinds(relation, by_name)
    return tuple(relations)


_DISTANCE = "what lies between two dates is declared by synthdp.relative_to of the later one"
"""The way out for whoever adds days to a date."""


def check_kinds(relation: Relation, columns: Columns) -> None:
    """Raise `SchemaError` unless a relation compares numbers with numbers, or a date with a date."""
    axes = []
    for name in relation.factors:
        if name not in columns:
            way_out = "name columns of the schema, in backticks unless they are plain words"
            refuse_check(relation.text, f"there is no column {name!r}; {way_out}")
        column = columns[name]
        if column.axis is None:
            kind = column.field()["type"]
            refuse_check(
                relation.text,
                f"{name!r} is a {kind} column; compare numbers or dates, or list levels in forbid",
            )
        axes.append(column.axis)
    _check_total(relation, columns)
    # Sorted, so that a message does not depend on the order in which a check names its columns.
    first, *others = sorted(axes, key=lambda axis: axis.noun)
    for other in others:
        if other.noun != first.noun:
            problem = f"{first.name!r} is a {first.noun} and {other.name!r} a {other.noun}"
            refuse_check(relation.text, f"{problem}; compare like with like, or {_DISTANCE}")
    # Dates have no zero of their own: only their difference means anything, and it is compared with
    # 0 here.
    is_comparison = sorted(relation.factors.values()) == [-1, 1] and not relation.constant
    if not (first.can_be_added or is_comparison):
        way_out = (
            f"compare one {first.noun} with another; limits of a single one are constraints.minimum and maximum, "
            f"and {_DISTANCE}"
        )
        problem = f"{first.noun}s cannot be added, multiplied or compared with numbers"
        refuse_check(relation.text, f"{problem}; {way_out}")


def _check_total(relation: Relation, columns: Columns) -> None:
    """Refuse a total of whole numbers only whose parts have decimals."""
    if relation.total is None:
        return
    axis = columns[relation.total].axis
    if axis is None or not axis.is_whole:
        return
    parts = [name for name in relation.factors if name != relation.total]
    values = (*relation.factors.values(), relation.constant)
    has_fractions = any(value.denominator > 1 for value in values)
    has_numbers = any(_most_decimals(columns[name]) is not None for name in parts)
    if has_fractions or has_numbers:
        problem = (
            f"{relation.total!r} has whole numbers only, and what it is the sum of has decimals"
        )
        refuse_check(relation.text, f"{problem}; make it a number, or its parts integers")


def inequalities_of(relation: Relation, lines: Mapping[str, Line]) -> tuple[Inequality, ...]:
    """What a relation says of places on the lines of its columns: one inequality, or two for an
    equation.
    """
    scaled = {name: factor * lines[name].column.unit for name, factor in relation.factors.items()}
    # Whole factors, so that places are compared exactly and no float decides about a rule.
    denominators = [value.denominator for value in (*scaled.values(), relation.constant)]
    common = lcm(*denominators)
    factors = [int(value * common) for value in scaled.values()]
    # Among whole numbers "below 0" is "at most -1".
    constant = int(relation.constant * common) + (relation.sign == "<")
    names = tuple(scaled)
    below = Inequality.from_factors(names, factors, constant, lines)
    if relation.sign != "=":
        return (below,)
    negated = [-factor for factor in factors]
    return below, Inequality.from_factors(names, negated, -constant, lines)


def possible_bins(relation: Relation, lines: Mapping[str, Line]) -> Constraint | None:
    """Which bins of the columns hold values that keep to a relation; None if that is too large a
    table, or all do.
    """
    columns = {name: lines[name].column for name in relation.factors}
    n_cells = prod(column.size for column in columns.values())
    if n_cells > (MAX_PAIR_CELLS if len(columns) == 2 else MAX_CELLS):
        return None
    shape = tuple(column.n_levels for column in columns.values())
    allowed: Mask = np.ones(shape, dtype=np.bool_)
    lows = {name: lines[name].bins[0] for name in columns}
    highs = {name: lines[name].bins[1] for name in columns}
    for inequality in inequalities_of(relation, lines):
        # A bin is possible if its most favourable values keep to the check.
        least = inequality.least(lows, highs)
        total = sum(np.ix_(*least)) + inequality.constant
        allowed &= np.asarray(total <= 0, dtype=np.bool_)
    if allowed.all():
        return None
    missing = [(0, column.size - column.n_levels) for column in columns.values()]
    return Constraint(tuple(columns), np.pad(allowed, missing, constant_values=True))


def treelike(constraints: Sequence[Constraint], given: Sequence[Constraint]) -> list[Constraint]:
    """Those of some constraints that close no circle with each other and the given ones: engines
    bear these easily.

    What is left out still holds in every row: values are drawn so.
    """
    part_of: dict[str, str] = {}

    def root(name: str) -> str:
        while (above := part_of.setdefault(name, name)) != name:
            name = above
        return name

    def join(names: Sequence[str]) -> None:
        first = root(names[0])
        for name in names[1:]:
            part_of[root(name)] = first

    for constraint in given:
        join(constraint.clique)
    kept: list[Constraint] = []
    # Large ones first, as small ones may lie inside of them.
    for constraint in sorted(constraints, key=lambda each: -len(each.clique)):
        is_inside = any(set(constraint.clique) <= set(other.clique) for other in (*kept, *given))
        roots = {root(name) for name in constraint.clique}
        closes_no_circle = len(roots) == len(constraint.clique)
        if is_inside or closes_no_circle:
            join(constraint.clique)
            kept.append(constraint)
    return kept


def with_exact_decimals(columns: Sequence[Column], rules: object) -> tuple[Column, ...]:
    """The columns, with decimals such that values are what the checks among rules compare, and
    totals the exact sums of their parts.

    A total gets as many as its parts need; where floats cannot hold so many, its parts get fewer. A
    column of one value gets as many as that has. Raises `SchemaError` if bins of a part would be
    left without a value, or a check does not fit the columns.
    """
    relations = relations_in(rules, columns)
    by_name = {column.name: column for column in columns}
    compared = {name for relation in relations for name in relation.factors}
    for name in compared:
        by_name[name] = _with_decimals_of_its_value(by_name[name])
    # The parts of a total may be totals: once for each level of these at most.
    for relation in [*relations] * len(relations):
        total = by_name[relation.total].axis if relation.total is not None else None
        if total is None or (most := total.most_decimals) is None:
            continue
        needed = {name: _decimals(value) for name, value in _units(relation, by_name).items()}
        for name, decimals in needed.items():
            part = by_name[name].axis
            if decimals > most and part is not None and part.most_decimals is not None:
                by_name[name] = part.with_decimals((part.decimals or 0) - (decimals - most))
        needed_most = max(_decimals(relation.constant), *needed.values())
        by_name[total.name] = total.with_decimals(max(total.decimals or 0, min(needed_most, most)))
    return tuple(by_name.get(column.name, column) for column in columns)


def _with_decimals_of_its_value(column: Column) -> Column:
    """A column of one number with the decimals that this has; others as they are."""
    axis = column.axis
    most = _most_decimals(column)
    if axis is None or most is None:
        return column
    low, high = axis.bounds
    if low != high:
        return column
    needed = int(decimals_of(np.array([low], np.float64))[0])
    exact: Column = axis.with_decimals(min(max(axis.decimals or 0, needed), most))
    return exact


def _units(relation: Relation, columns: Columns) -> dict[str, Fraction]:
    """By how much each part of a total can change it."""
    units = {}
    for name, factor in relation.factors.items():
        axis = columns[name].axis
        assert axis is not None
        units[name] = factor * axis.unit
    return {name: unit for name, unit in units.items() if name != relation.total}


def _most_decimals(column: Column) -> int | None:
    return None if column.axis is None else column.axis.most_decimals


def _decimals(number: Fraction) -> int:
    """How many decimals a number has, which has finitely many."""
    decimals = 0
    while (number * Fraction(10) ** decimals).denominator > 1:
        decimals += 1
    return decimals
