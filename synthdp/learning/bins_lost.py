"""Learnt bins that gave way to rules, which is said: nothing that was paid for is lost in silence."""

from collections.abc import Iterable, Mapping

import numpy as np

from synthdp.learning.budgets import is_declared
from synthdp.schema.columns.column import Column
from synthdp.schema.open_column import OpenColumn


def lost_bins(
    opened: Iterable[OpenColumn], learnt: Mapping[str, Column], closed: Iterable[Column]
) -> list[str]:
    """A caution for each column that lost bins which were learnt between declared bounds.

    Parameters
    ----------
    opened
        The columns as they were declared; those whose bounds were open are left out, as rules may
        widen these.
    learnt
        The columns as they were learnt, by their names.
    closed
        All columns as they are measured.
    """
    kept = {column.name: column for column in closed}
    names = [column.name for column in opened if is_declared(column)]
    return [
        f"column {name!r}: what was learnt of its bins leaves no row that keeps to the rules, so that it has bins of "
        "equal width; declare synthdp.edges, and decimals as the rules need them"
        for name in names
        if name in learnt and name in kept and _are_lost(learnt[name], kept[name])
    ]


def _are_lost(learnt: Column, kept: Column) -> bool:
    axis = learnt.axis
    if axis is None or "edges" not in learnt.field().get("synthdp", {}):
        return False
    if kept.axis is None:
        return True
    # A few edges may go where decimals that checks need leave a bin no value.
    n_kept = np.isin(axis.inner_edges, kept.axis.inner_edges).sum()
    return bool(2 * n_kept < axis.n_levels - 1)
