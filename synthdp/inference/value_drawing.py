"""Drawing values for groups of rows: by randomised rounding, or independently of each other.

Each clique draws the attributes that its parent does not have, given those that it has. All rows
with the same given values form a group. Randomised rounding gives every cell of a group the floor
of its expected number of rows and spreads the remainder by systematic sampling (one uniform offset
a group along the running sum): each count is within one of what is expected in its group, right on
average, and 0 where the weight is 0. Sums over many groups add up such errors, like the square root
of the number of groups: far below what independent draws would give as long as groups have more
than a few rows. Which rows of a group get which value is a fresh random permutation: without it,
columns that follow each other would be falsely correlated.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthdp.inference.arrays import Array, CodeColumn, IntArray, compact, stable_order

_CHUNK_CELLS = 1 << 18
"""Weights held at once: 2 MB, which stay in a processor's cache."""

_SPARE_BITS = 8
"""More random bits than number the rows: even of a single group fewer than one row in 256 shares
them with another.
"""


def draw_values(
    table: Array, groups: NDArray[np.integer], *, generator: np.random.Generator, rounding: bool
) -> NDArray[Any]:
    """Draw a value for each row, given the group that the row is in.

    Parameters
    ----------
    table
        Non-negative weights of shape ``(n_groups, n_values)``, normalised here by group.
    groups
        Group of each row, shape ``(n_rows,)``.
    generator
        Source of (seeded, not private) randomness.
    rounding
        Randomised rounding if true, independent draws if not.

    Returns
    -------
    Values ``0 .. n_values - 1``, shape ``(n_rows,)``, in the smallest type that holds them. Beyond
    that, memory is about 30 bytes a row, whatever the size of the table.
    """
    n_groups, n_values = table.shape
    return draw_by_group(
        lambda rows: table[groups[rows]],
        groups,
        n_groups,
        n_values,
        generator=generator,
        draw=round_counts if rounding else draw_counts,
    )


def draw_by_group(
    weights: Callable[[IntArray], Array],
    groups: NDArray[np.integer],
    n_groups: int,
    n_values: int,
    *,
    generator: np.random.Generator,
    draw: Callable[..., IntArray],
) -> NDArray[Any]:
    """Draw a value for each row as `draw_values` does, from weights that are asked for a few groups
    at a time.

    Parameters
    ----------
    weights
        Given positions of rows, each of another group, the weights of values in each, not
        normalised.
    draw
        `round_counts` or `draw_counts`.
    """
    # Rows of a group in random order: values are dealt out in blocks, and without it neighbours
    # would share them, which is a dependence that the model has not.
    rows, in_order = _shuffled(groups, n_groups, generator)
    starts = np.flatnonzero(np.append(groups.size > 0, in_order[1:] != in_order[:-1]))
    ends = np.append(starts[1:], groups.size)
    levels = compact(np.arange(n_values), n_values)
    drawn = np.empty(groups.size, dtype=levels.dtype)
    # Groups are drawn in chunks that stay in a cache, so memory does not grow with the table.
    step = max(_CHUNK_CELLS // n_values, 1)
    for first in range(0, starts.size, step):
        start = starts[first : first + step]
        end = ends[first : first + step]
        counts = draw(_reachable(weights(rows[start])), end - start, generator=generator)
        # Each value as often as it was counted, group after group: no number of a row is drawn.
        drawn[start[0] : end[-1]] = np.repeat(np.tile(levels, start.size), counts.ravel())
    values = np.empty_like(drawn)
    values[rows] = drawn
    return values


def _shuffled(
    groups: NDArray[np.integer], n_groups: int, generator: np.random.Generator
) -> tuple[IntArray, NDArray[np.integer]]:
    """Positions of all rows, group after group and in each in random order, and the group of each.

    Group, random bits and position together are one number, and the numbers are sorted: that is
    quicker than to permute and then to sort by group. Rows that are alike in their random bits stay
    in order.
    """
    row_bits = groups.size.bit_length()
    group_bits = n_groups.bit_length()
    # Many rows or groups leave too few random bits: then a permutation and a stable sort, which
    # take longer.
    if 2 * row_bits + _SPARE_BITS + group_bits > 64:
        rows = generator.permutation(groups.size)
        rows = rows[stable_order(groups[rows], n_groups)]
        return rows, groups[rows]
    keys = generator.integers(1 << 64, size=groups.size, dtype=np.uint64)
    keys >>= np.uint64(row_bits + group_bits)
    keys <<= np.uint64(row_bits)
    keys |= np.arange(groups.size, dtype=np.uint64)
    keys |= groups.astype(np.uint64) << np.uint64(64 - group_bits)
    # One sort of plain integers does three things at once, and numpy sorts these quickest.
    keys.sort()
    in_order = keys >> np.uint64(64 - group_bits)
    keys &= np.uint64((1 << row_bits) - 1)
    return keys.view(np.int64), in_order


def draw_each(weights: Array, *, generator: np.random.Generator) -> IntArray:
    """Draw a value for each row, independently and by the row's own weights.

    Parameters
    ----------
    weights
        At least 0, shape ``(n_rows, n_values)``; not normalised.
    generator
        Source of (seeded, not private) randomness.

    Returns
    -------
    Values ``0 .. n_values - 1``, shape ``(n_rows,)``; -1 for rows without any weight.
    """
    running = np.cumsum(weights, axis=1)
    totals = running[:, -1]
    targets = generator.random(len(running)) * totals
    values = np.add.reduce(running <= targets[:, None], axis=1)
    # A target that rounding puts at the total itself would be one beyond the last value.
    return np.where(totals > 0, np.minimum(values, weights.shape[1] - 1), -1)


def order_of_alike(columns: Sequence[CodeColumn], weights: Array) -> IntArray:
    """Positions of rows in an order in which neighbours have much in common.

    Systematic sampling along it keeps close not only the rows, but also what many of them share. It
    is lexicographic, the attribute of largest entropy first, and runs to and fro, so that
    neighbours differ by one step where an earlier attribute changes (serpentine sorting [Chromy
    1979]).

    Parameters
    ----------
    columns
        For each attribute the codes, shape ``(n_rows,)``.
    weights
        Weight of each row, at least 0, some above.
    """

    def entropy(column: CodeColumn) -> float:
        shares = np.bincount(column, weights) / weights.sum()
        return -float(np.dot(shares, np.log(shares, out=np.zeros_like(shares), where=shares > 0)))

    keys: list[CodeColumn] = []
    backwards = np.zeros(len(weights), dtype=np.bool_)
    # The column of largest entropy first: systematic sampling is most even along what is sorted
    # first. It halves a small table's error.
    for column in sorted(columns, key=entropy, reverse=True):
        keys.append(np.where(backwards, column.max() - column, column))
        # Every other block runs backwards, so that at its border only the outer column changes.
        backwards ^= keys[-1] % 2 == 1
    return np.asarray(np.lexsort(keys[::-1]))


def _reachable(table: Array) -> Array:
    """Weights where no group is without any: none is reached but up to rounding error; its rows are
    spread evenly.
    """
    possible = table.any(axis=1, keepdims=True)
    return table if possible.all() else np.where(possible, table, 1.0)


def round_counts(table: Array, totals: IntArray, *, generator: np.random.Generator) -> IntArray:
    """Integer counts within one of their expectation, unbiased, whose rows sum to ``totals``.

    Parameters
    ----------
    table
        Weights of shape ``(n_groups, n_values)``, in each row some above 0.
    totals
        Shape ``(n_groups,)``.
    """
    # One random offset a group, and all values are cut at whole numbers of the running sum: each
    # count is within one of its expectation, and unbiased.
    offsets = generator.random(len(totals))[:, None]
    running = np.cumsum(table, axis=1)
    running /= running[:, -1:]  # exactly 1 from the last possible value on
    running *= totals[:, None]
    running += offsets
    # The offset is below 1, but a sum of floats may reach one too many.
    counts = np.minimum(running.astype(np.int64), totals[:, None])
    return np.diff(counts, axis=1, prepend=0)


def draw_counts(table: Array, totals: IntArray, *, generator: np.random.Generator) -> IntArray:
    """Multinomial counts; parameters as in `round_counts`."""
    # The last value gets what rounding error leaves over, so it must not be an impossible one.
    order = np.argsort(table, axis=1)
    shares = np.take_along_axis(table / table.sum(axis=1, keepdims=True), order, axis=1)
    counts = np.empty(table.shape, dtype=np.int64)
    np.put_along_axis(counts, order, generator.multinomial(totals, shares), axis=1)
    return counts
