"""Rules of a view: those of the package by the view's names, and what order and numbers of children
say.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from synthdp.linked.package.limits import limits_of
from synthdp.linked.package.linked_table import LinkedTable
from synthdp.linked.package.package import Package
from synthdp.linked.package.qualified import OTHER, qualified_rule, tables_in
from synthdp.schema.columns.column import Column
from synthdp.schema.rules.rules import names_in


def rules_of(
    package: Package, table: LinkedTable, order: Column | None, *, is_later: bool
) -> Iterator[Mapping[str, Any]]:
    """Rules of the table itself, those of the package whose lowest table it is, order, least
    children, and limits.

    ``order`` is the column that orders rows of one parent, if they can be several; ``is_later``
    says whether the view is of later rows.
    """
    if table.schema is not None:
        for own in table.schema.rules:
            yield qualified_rule(
                own.text, {name: f"{table.name}.{name}" for name in table.schema.names}
            )
    ancestors = {each.name for each in package.ancestors(table.name)}
    for rule in package.rules:
        named = tables_in(rule)
        names_sibling = any(name.startswith(OTHER) for name in names_in(rule))
        if (
            table.name in named
            and named <= ancestors | {table.name}
            and (is_later or not names_sibling)
        ):
            yield rule
    if order is not None:
        yield from _ordered(order, f"{table.name}.{order.name}")
    for child in package.children(table.name):
        if child.min_children:
            yield {"forbid": {child.count: {"maximum": child.min_children - 1}}}
        for limits in limits_of(child):
            for number in limits.impossible(child.max_children):
                yield {"forbid": {child.count: {"minimum": number, "maximum": number}}}


def _ordered(column: Column, name: str) -> Iterator[Mapping[str, Any]]:
    """Rules by which no row comes before the one that it stands behind."""
    if column.axis is not None:
        yield order_check(name)
        return
    levels = [label.item() if isinstance(label, np.generic) else label for label in column.labels]
    for place, level in enumerate(levels[:-1]):
        yield {"forbid": {name: [level], OTHER + name: levels[place + 1 :]}}


def order_check(name: str) -> Mapping[str, Any]:
    """The rule on the values of the column of order."""
    return {"check": f"`{OTHER}{name}` <= `{name}`"}
