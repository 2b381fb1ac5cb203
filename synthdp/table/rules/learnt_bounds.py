"""Bounds that were learnt from noisy answers and leave no values for a check: they are widened until they do.

Nothing that noise can do should end a run that was paid for, and no row should break a check.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from math import ceil, floor
from typing import Any, TypeVar

import numpy as np

from synthdp.errors import SchemaError
from synthdp.table.columns.binned import BinnedColumn
from synthdp.table.columns.dates import DateColumn
from synthdp.table.columns.numeric import IntegerColumn, NumberColumn
from synthdp.table.rules.expressions import Relation
from synthdp.table.rules.system import System

MAX_ROUNDS = 100
"""Each round doubles how far bounds are moved beyond those of the columns that a check names."""

_Kind = TypeVar("_Kind")


def reconciled(columns: Sequence[_Kind], relations: Sequence[Relation], learnt: Collection[str]) -> tuple[_Kind, ...]:
    """The columns, learnt ones with bounds so wide that checks can hold.

    Parameters
    ----------
    columns
        All columns of a schema; checks that name any without bins and bounds are left out.
    relations
        What its checks state.
    learnt
        Names of columns whose bounds may be moved.
    """
    by_name: dict[str, Any] = {column.name: column for column in columns if isinstance(column, BinnedColumn)}
    settled = [relation for relation in relations if relation.factors.keys() <= by_name.keys()]
    named = {name for relation in settled for name in relation.factors}
    for spread in range(MAX_ROUNDS if settled else 0):
        system = System({name: by_name[name] for name in named}, tuple(settled))
        broken = system.broken({name: np.ones(1, np.bool_) for name in named}, {})
        if broken is None:
            break
        together = {name: by_name[name] for relation in broken.relations for name in relation.factors}
        for name in together.keys() & set(learnt):
            by_name[name] = _widened(by_name[name], list(together.values()), 2**spread - 1)
    return tuple(by_name.get(column.name, column) for column in columns)  # type: ignore[attr-defined]


def _widened(column: BinnedColumn, others: Sequence[Any], spread: int) -> BinnedColumn:
    """A column from the lowest bound of some others to the highest, and some units more; as it is if it cannot be."""
    assert isinstance(column, IntegerColumn | NumberColumn | DateColumn)
    low, high = min(other.minimum for other in others), max(other.maximum for other in others)
    try:
        more: Any = timedelta(days=spread) if isinstance(column, DateColumn) else spread
        low, high = low - more, high + more
        if isinstance(column, IntegerColumn):
            low, high = floor(low), ceil(high)
        changed: dict[str, Any] = {"minimum": low, "maximum": high}
        if column.edges is not None:
            changed["edges"] = (low, *column.edges[1:-1], high)
        elif column.bins == 1 and low < high:
            changed["bins"] = 2
        if column.shape is not None:
            changed["shape"] = replace(column.shape, starts=(low, *column.shape.starts[1:]))
        return replace(column, **changed)
    except (SchemaError, OverflowError):
        return column
