"""Arrays of level codes: their types, and numbering the cells and rows that they make up."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import DTypeLike, NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
Axes = tuple[int, ...]
CodeColumn = NDArray[np.integer]
"""Codes of one attribute of any integer type, shape ``(n_rows,)``."""
Column = NDArray[np.unsignedinteger]
Codes = tuple[Column, ...]

MAX_KEYS = 1 << 63
"""Row keys stay below this; the next attribute's levels are added to them as 64-bit numbers without
a sign.
"""


def compact(column: CodeColumn, size: int) -> Column:
    """The column in the smallest unsigned type that holds ``size`` levels."""
    return column.astype(np.min_scalar_type(size - 1))


def stable_order(groups: CodeColumn, n_groups: int) -> IntArray:
    """Positions that sort ``groups`` and keep ties in order: radix sort, 16 bits at a time."""
    # numpy sorts 16-bit integers by radix in linear time, and others by comparisons.
    order = np.argsort(groups.astype(np.uint16, copy=False), kind="stable")
    shift = 16
    while n_groups >> shift:
        digits = (groups >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
        shift += 16
    return order


def cell_numbers(
    domain: Domain,
    clique: Clique,
    columns: Iterable[CodeColumn],
    n_rows: int,
    *,
    dtype: DTypeLike = np.int64,
) -> NDArray[np.int64]:
    """For each row the number of its cell in the flat marginal of a clique, shape ``(n_rows,)``.

    Parameters
    ----------
    domain
        Sizes of the attributes.
    clique
        The attributes; the last one's levels are next to each other.
    columns
        For each attribute of the clique the codes, shape ``(n_rows,)``.
    n_rows
        Number of rows, which an empty clique does not tell.
    dtype
        An integer type that holds the number of cells.
    """
    cells = np.zeros(n_rows, dtype=dtype)
    for name, column in zip(clique, columns, strict=True):
        # In place: one array of numbers, whatever the number of attributes.
        cells *= domain[name]
        cells += column
    return cells


def cell_counts(
    domain: Domain, clique: Clique, columns: Sequence[CodeColumn], weights: Array | None = None
) -> Array:
    """The marginal of a clique of weighted rows (weight 1 if None), axes in the order of the
    clique.

    Parameters
    ----------
    domain
        All attributes.
    clique
        Distinct attributes.
    columns
        For each attribute of the domain the codes, shape ``(n_rows,)``.
    weights
        Shape ``(n_rows,)``.
    """
    part = domain.project(clique)
    cells = cell_numbers(
        part, clique, (columns[domain.index(name)] for name in clique), len(columns[0])
    )
    counts = np.bincount(cells, weights, minlength=part.size())
    return np.asarray(counts.reshape(part.shape), dtype=np.float64)


def row_keys(
    domain: Domain, clique: Clique, columns: Iterable[CodeColumn], n_rows: int
) -> tuple[NDArray[np.uint64], int]:
    """Numbers that are equal where rows are, and sort like them; and what they are below.

    Where the clique has fewer than 2^63 cells, they are those of `cell_numbers`, which see for the
    parameters.
    """
    keys = np.zeros(n_rows, dtype=np.uint64)
    n_keys = 1
    for name, column in zip(clique, columns, strict=True):
        size = domain[name]
        if n_keys * size > MAX_KEYS:
            # Renumbering keeps the order, and there are no more numbers than rows.
            # There are never more distinct keys than rows, so any number of attributes fits into 64
            # bits.
            used, positions = np.unique(keys, return_inverse=True)
            keys = positions.astype(np.uint64)
            n_keys = len(used)
        keys = keys * np.uint64(size) + column.astype(np.uint64)
        n_keys *= size
    return keys, n_keys


def distinct_rows(domain: Domain, columns: Sequence[CodeColumn]) -> tuple[Codes, IntArray]:
    """The distinct rows in lexicographic order, and how often each occurs."""
    keys, _ = row_keys(domain, domain.attributes, columns, len(columns[0]))
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    kept = tuple(
        compact(column[first], size) for column, size in zip(columns, domain.shape, strict=True)
    )
    return kept, counts.astype(np.int64)
