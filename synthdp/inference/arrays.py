"""Arrays of level codes: their types, and numbering the cells and rows that they make up."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.domain import Domain

Array = NDArray[np.float64]
Axes = tuple[int, ...]

Codes = tuple[NDArray[np.unsignedinteger], ...]

_MOST_KEYS = 1 << 63


def row_keys(domain: Domain, columns: Sequence[NDArray[np.integer]]) -> NDArray[np.uint64]:
    """Numbers that are equal where rows are, and sort like them."""
    keys, n_keys = np.zeros(len(columns[0]), dtype=np.uint64), 1
    for column, size in zip(columns, domain.shape, strict=True):
        if n_keys * size > _MOST_KEYS:
            # Renumbering keeps the order, and there are no more numbers than rows.
            used, positions = np.unique(keys, return_inverse=True)
            keys, n_keys = positions.astype(np.uint64), len(used)
        keys = keys * np.uint64(size) + column.astype(np.uint64)
        n_keys *= size
    return keys


IntArray = NDArray[np.int64]
Column = NDArray[np.unsignedinteger]


def stable_order(groups: NDArray[np.integer], n_groups: int) -> IntArray:
    """Positions that sort ``groups`` and keep ties in order: radix sort, 16 bits at a time."""
    order = np.argsort(groups.astype(np.uint16, copy=False), kind="stable")
    shift = 16
    while n_groups >> shift:
        digits = (groups >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
        shift += 16
    return order


def compact(column: NDArray[np.integer], size: int) -> Column:
    """The column in the smallest unsigned type that holds ``size`` levels."""
    return column.astype(np.min_scalar_type(size - 1))


def cell_numbers(domain: Domain, columns: Sequence[NDArray[np.integer]], clique: Clique) -> NDArray[np.int64]:
    """For each row the number of its cell in the flat marginal of a clique, shape ``(n_rows,)``."""
    cells = np.zeros(len(columns[0]), dtype=np.int64)
    for name in clique:
        cells *= domain[name]
        cells += columns[domain.index(name)]
    return cells


def distinct_rows(domain: Domain, columns: Sequence[NDArray[np.integer]]) -> tuple[Codes, NDArray[np.int64]]:
    """The distinct rows in lexicographic order, and how often each occurs."""
    _, first, counts = np.unique(row_keys(domain, columns), return_index=True, return_counts=True)
    kept = tuple(compact(column[first], size) for column, size in zip(columns, domain.shape, strict=True))
    return kept, counts.astype(np.int64)
