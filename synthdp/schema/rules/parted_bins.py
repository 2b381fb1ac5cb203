"""Bins that nobody declared begin and end where conditions of rules do, so that no rule cuts one.

What begins at 18 years is then counted from there, whatever bins the records would have had.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from synthdp.core.errors import SchemaError
from synthdp.schema.axes.axis import Axis
from synthdp.schema.columns.column import Column
from synthdp.schema.rules.conditions import listed_levels, range_of
from synthdp.schema.rules.rules import conjunctions


def parted_by_rules(
    columns: Sequence[Column], rules: object, names: Collection[str]
) -> tuple[Column, ...]:
    """The columns, of which some have further bins that begin and end where conditions of rules do.

    Parameters
    ----------
    columns, rules
        All columns, and rules, which need not fit them: nothing follows from a condition that
        cannot be read.
    names
        The columns whose bins nobody declared.
    """
    points = parting_points(columns, rules, names)
    return tuple(
        column if column.axis is None else column.axis.parted(points.get(column.name, ()))
        for column in columns
    )


def parting_points(
    columns: Sequence[Column], rules: object, names: Collection[str]
) -> dict[str, list[int]]:
    """The grid points within bounds at which conditions of rules begin, or have ended, of each of
    some columns; see `parted_by_rules`.
    """
    conditions: dict[str, list[object]] = {name: [] for name in names}
    for rule in rules if isinstance(rules, Sequence) and not isinstance(rules, str) else ():
        for entry in conjunctions(rule):
            for name in conditions.keys() & entry.keys():
                conditions[name].append(entry[name])
    return {
        column.name: _points(column, column.axis, conditions[column.name])
        for column in columns
        if column.name in conditions and column.axis is not None
    }


def _points(column: Column, axis: Axis, conditions: Iterable[object]) -> list[int]:
    points: set[int] = set()
    for condition in conditions:
        with suppress(SchemaError):  # said where rules are read
            for low, high in _ranges(column, condition):
                points |= {*axis.points_between(low, high)}
    first, end = axis.drawn_starts[[0, -1]].tolist()
    return sorted(point for point in points if first < point < end)


def _ranges(column: Column, condition: object) -> list[tuple[object, object]]:
    """The ranges of values that meet a condition."""
    if isinstance(condition, Mapping):
        return [range_of(column, condition)]
    return [(level, level) for level in listed_levels(column, condition) if level is not None]
