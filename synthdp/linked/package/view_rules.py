"""Rules of a view: those of the package by the view's names, and what order and numbers of children
say.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from synthdp.linked.package.limits import limits_of
from synthdp.linked.package.linked_table import LinkedTable, refuse_package
from synthdp.linked.package.package import Package
from synthdp.linked.package.qualified import OTHER, qualified_rule, tables_in
from synthdp.schema.columns.column import Column
from synthdp.schema.rules.rules import names_in


def check_rules(package: Package) -> None:
    """Raise `SchemaError` if a rule of the package names columns that no row has together."""
    tables = {table.name: table for table in package.tables}
    for rule in package.rules:
        named = tables_in(rule)
        if unknown := sorted(named - tables.keys()):
            refuse_package(
                f"a rule names columns of {unknown[0]!r}, which is no protected table; write table.column"
            )
        lowest = [
            name for name in named if named <= {name, *(t.name for t in package.ancestors(name))}
        ]
        if not lowest:
            refuse_package(
                f"a rule is on {', '.join(sorted(named))}, of which none hangs on all others; split it"
            )
        _check_beside(names_in(rule), tables[lowest[0]])


def _check_beside(names: Collection[str], table: LinkedTable) -> None:
    """Refuse a rule on rows beside which none of its table's rows can keep to: rows beside are drawn
    before, and roots have none.
    """
    beside = sorted(name for name in names if name.startswith(OTHER))
    if not beside:
        return
    of_others = [name for name in beside if name.removeprefix(OTHER).split(".")[0] != table.name]
    if of_others or table.parent is None:
        refuse_package(
            f"a rule names {(of_others or beside)[0]!r}, but only rows of one parent stand beside each other; name "
            f"columns of {table.name!r} and of tables above it without {OTHER.strip()!r}"
        )
    if not any(name.startswith(f"{table.name}.") for name in names):
        refuse_package(
            f"a rule names {beside[0]!r} and no column of the row itself, which is drawn after that; "
            f"name a column of {table.name!r} beside it"
        )


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
