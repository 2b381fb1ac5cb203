"""What rules that are no checks allow of a few columns, in one row or in any."""

from collections.abc import Collection, Mapping, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from synthdp.core.constraint import Constraint

AllowedTable = tuple[tuple[str, ...], NDArray[np.bool_]]
"""Columns, and which combinations of their codes are allowed."""

MAX_CELLS = 2**22
"""Larger tables are not joined: what they say of columns that they share is left out then."""


def allowed_beside(
    constraints: Sequence[Constraint], codes: Mapping[str, int]
) -> list[AllowedTable]:
    """What constraints allow of all other columns in a row in which some columns have these codes."""
    tables = []
    for constraint in constraints:
        index = tuple(codes.get(name, slice(None)) for name in constraint.clique)
        others = tuple(name for name in constraint.clique if name not in codes)
        tables.append((others, constraint.allowed[index]))
    return tables


def allowed_at_all(constraints: Sequence[Constraint], names: Collection[str]) -> list[AllowedTable]:
    """What constraints allow of some columns in a row in which the others are whatever all
    constraints allow.
    """
    tables: list[AllowedTable] = [(each.clique, each.allowed) for each in constraints]
    constrained = {name for clique, _ in tables for name in clique}
    # One column after the other is eliminated, of all tables that name it together.
    for name in sorted(constrained - set(names)):
        with_it = [table for table in tables if name in table[0]]
        tables = [table for table in tables if name not in table[0]]
        sizes: dict[str, int] = {}
        for clique, allowed in with_it:
            sizes |= zip(clique, allowed.shape, strict=True)
        if np.prod(list(sizes.values()), dtype=np.float64) <= MAX_CELLS:
            expanded = [_expanded(table, list(sizes)) for table in with_it]
            with_it = [(tuple(sizes), reduce(np.logical_and, expanded))]
        for clique, allowed in with_it:
            others = tuple(other for other in clique if other != name)
            tables.append((others, np.asarray(allowed.any(axis=clique.index(name)))))
    return tables


def _expanded(table: AllowedTable, names: Sequence[str]) -> NDArray[np.bool_]:
    """A table with an axis for each of some columns, of length 1 for those that it does not name."""
    clique, allowed = table
    order = [clique.index(name) for name in names if name in clique]
    absent = [axis for axis, name in enumerate(names) if name not in clique]
    return np.expand_dims(np.transpose(allowed, order), absent)
