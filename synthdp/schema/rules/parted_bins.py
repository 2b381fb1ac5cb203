"""Bins that nobody declared begin and end where conditions of rules do, so that no rule cuts one.

What begins at 18 years is then counted from there, whatever bins the records would have had.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from synthdp.core.errors import SchemaError
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
    conditions: dict[str, list[object]] = {name: [] for name in names}
    for rule in rules if isinstance(rules, Sequence) and not isinstance(rules, str) else ():
        for entry in conjunctions(rule):
            for name in conditions.keys() & entry.keys():
                conditions[name].append(entry[name])
    return tuple(_parted(column, conditions.get(column.name, ())) for column in columns)


def _parted(column: Column, conditions: Iterable[object]) -> Column:
    axis = column.axis
    if axis is None:
        return column
    points: set[int] = set()
    for condition in conditions:
        with suppress(SchemaError):  # said where rules are read
            for low, high in _ranges(column, condition):
                points |= {*axis.points_between(low, high)}
    parted: Column = axis.parted(sorted(points))
    return parted


def _ranges(column: Column, condition: object) -> list[tuple[object, object]]:
    """The ranges of values that meet a condition."""
    if isinstance(condition, Mapping):
        return [range_of(column, condition)]
    return [(level, level) for level in listed_levels(column, condition) if level is not None]
