"""Bounds that were learnt from noisy answers and leave no values for a check: they are widened
until they do.

Nothing that noise can do should end a run that was paid for, and no row should break a check.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from synthdp.schema.columns.column import Column
from synthdp.schema.rules.checks import with_exact_decimals
from synthdp.schema.rules.rules import parsed_rules
from synthdp.schema.rules.system import system_of

MAX_ROUNDS = 40
"""Each round quadruples how far bounds are moved beyond those of the columns that a check names."""

Limits = Mapping[str, tuple[Any, Any]]
"""The lowest and the highest bound that columns can have, as values."""


def reconciled(columns: Sequence[Column], rules: object, learnt: Limits) -> tuple[Column, ...]:
    """The columns, learnt ones with bounds so wide that checks can hold.

    Parameters
    ----------
    columns
        All columns of a schema.
    rules
        Its rules.
    learnt
        The columns whose bounds may be moved, and how far.

    Raises
    ------
    SchemaError
        If no bounds were found, or a rule does not fit the columns.
    """
    by_name: dict[str, Any] = {column.name: column for column in columns}
    for spread in range(MAX_ROUNDS):
        exact = with_exact_decimals(list(by_name.values()), rules)
        system = system_of(parsed_rules(rules, exact), exact)
        blame = system.blamed_for(system.columns) if system is not None else None
        if blame is None:
            break
        blamed = {name for relation in blame.relations for name in relation.factors}
        for name in blamed & learnt.keys():
            # As wide as all of them together, and then further: nobody knows by how much.
            others = [by_name[other].axis for other in blamed]
            by_name[name] = by_name[name].axis.widened(others, 4**spread - 1, learnt[name])
    return tuple(by_name.values())
