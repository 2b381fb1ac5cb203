"""Many marginals of rows, with the least increments: covering tables, and levels that most rows
have.

Where most rows of a column have one level, only the other rows are counted together with other
columns. What the dominant level has is what is left of the marginal without the column: counts are
exact either way.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from synthdp.data.counting.covering import TABLE_CELLS, Axes, cover, marginals
from synthdp.data.counting.joint import JointCounter

Counts: TypeAlias = dict[Axes, NDArray[np.integer[Any]]]

MANY_ROWS = 2**18
"""For fewer rows no level is counted apart: planning would take longer than counting."""

MAX_TABLE_CELLS = 2**21
"""Most cells of a covering table of many rows (8 MiB): a wider one covers more, but lies in memory
and not in cache.
"""

MIN_MARGINALS = 8
"""Rows without a column's dominant level are picked for as many marginals that have the column, or
more.
"""

_SAMPLED = 2**15
"""Rows that tell whether a column has a dominant level: counts are right whatever they say."""


def counts_of_all(rows: JointCounter, wanted: Sequence[Axes]) -> Counts:
    """Exact counts of many marginals of some rows, by their axes.

    Which tables are counted may depend on the rows; the counts that are returned are those of any
    other way.

    >>> rows = JointCounter({0: np.array([0, 1, 1]), 1: np.array([2, 0, 0])}, (2, 3), 3)
    >>> [counts.tolist() for counts in counts_of_all(rows, [(0,), (1, 0)]).values()]
    [[1, 2], [[0, 2], [0, 0], [1, 0]]]
    """
    # The idea: where most rows have one level, only those that have another are counted; the rest
    # follows by subtraction from the marginal without the column.
    left = dict.fromkeys(wanted)
    minorities: list[tuple[int, int, Counts]] = []
    for axis, level in _dominant(rows, left) if rows.n_rows >= MANY_ROWS else ():
        having = [axes for axes in left if axis in axes]
        if len(having) >= MIN_MARGINALS:
            minorities.append(
                (axis, level, _covered(_without_level(rows, axis, level, having), having))
            )
            left = dict.fromkeys(
                axes if axis not in axes else _without(axes, axis) for axes in left
            )
    counts = _covered(rows, list(left))
    # A later one's marginals are parts of an earlier one's.
    for axis, level, counted in reversed(minorities):
        for axes, minority in counted.items():
            everybody = counts[_without(axes, axis)]
            counts[axes] = minority.astype(everybody.dtype, copy=False)
            by_level = np.moveaxis(counts[axes], axes.index(axis), 0)
            # The dominant level was left out of the count, so its cells are 0 until here.
            by_level[level] = everybody - by_level.sum(axis=0, dtype=everybody.dtype)
    return {axes: counts[axes] for axes in wanted}


def _covered(rows: JointCounter, wanted: Sequence[Axes]) -> Counts:
    """Counts by covering tables; wider ones where there are so many rows that a table costs little
    beside them.
    """
    most = min(max(rows.n_rows // 8, TABLE_CELLS), MAX_TABLE_CELLS)
    counts: Counts = {}
    for table, indices in cover(wanted, rows.shape, most):
        inner = [wanted[index] for index in indices]
        for axes, summed in zip(inner, marginals(rows.count(table), table, inner), strict=True):
            # A copy: the table it was summed from is let go.
            counts[axes] = np.array(summed, order="C")
    return counts


def _dominant(rows: JointCounter, wanted: Iterable[Axes]) -> Iterator[tuple[int, int]]:
    """Attributes of which at least half of the rows have one level, as far as some rows tell, and
    that level.
    """
    levels = []
    for axis in sorted(set(chain.from_iterable(wanted))):
        counts = np.bincount(rows.columns[axis][:: max(rows.n_rows // _SAMPLED, 1)])
        levels.append((counts.max() / counts.sum(), axis, int(counts.argmax())))
    return ((axis, level) for share, axis, level in sorted(levels, reverse=True) if share >= 0.5)


def _without_level(
    rows: JointCounter, axis: int, level: int, wanted: Sequence[Axes]
) -> JointCounter:
    """The rows in which an attribute has another level, with the columns that are wanted."""
    others = np.flatnonzero(rows.columns[axis] != level)
    columns = {
        other: rows.columns[other][others] for other in sorted(set(chain.from_iterable(wanted)))
    }
    return JointCounter(columns, rows.shape, len(others))


def _without(axes: Axes, axis: int) -> Axes:
    return tuple(other for other in axes if other != axis)
