"""Drawing a table from a calibrated junction tree, clique by clique from the root.

Each clique draws the attributes that its parent does not have, given those that it has. All rows
with the same given values form a group. Randomised rounding gives every cell of a group the
floor of its expected number of rows and spreads the remainder by systematic sampling (one
uniform offset a group along the running sum): each count is within one of what is expected, and
right on average. Which rows of a group get which value is a fresh random permutation: without
it, columns that follow each other would be falsely correlated.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from synthdp.inference.arithmetic import Array
from synthdp.inference.junction_tree import JunctionTree

IntArray = NDArray[np.int64]
Column = NDArray[np.unsignedinteger]


def sample_tree(
    tree: JunctionTree, beliefs: Sequence[Array], n_rows: int, *, generator: np.random.Generator, rounding: bool
) -> tuple[Column, ...]:
    """Draw codes for each attribute of the tree's domain, each of shape ``(n_rows,)``."""
    drawn: dict[str, Column] = {}
    for position, clique in enumerate(tree.cliques):
        given = tree.separators[position]
        new = tuple(name for name in clique if name not in given)
        order = [clique.index(name) for name in given + new]
        shape = tree.domain.project(new).shape
        table = np.transpose(beliefs[position], order).reshape(-1, prod(shape))
        groups = _groups(tree, given, drawn, n_rows)
        values = draw_values(table, groups, generator=generator, rounding=rounding)
        columns = np.unravel_index(values, shape) if len(new) > 1 else (values,)
        drawn.update((name, compact(column, tree.domain[name])) for name, column in zip(new, columns, strict=True))
    return tuple(drawn[name] for name in tree.domain.attributes)


def draw_values(table: Array, groups: IntArray, *, generator: np.random.Generator, rounding: bool) -> IntArray:
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
    Values ``0 .. n_values - 1``, shape ``(n_rows,)``.
    """
    n_groups, n_values = table.shape
    totals = np.bincount(groups, minlength=n_groups)
    sums = table.sum(axis=1, keepdims=True)
    # A group of weight 0 is never reached up to rounding error; whoever gets there is spread evenly.
    shares = np.divide(table, sums, out=np.full_like(table, 1.0 / n_values), where=sums > 0)
    if rounding:
        counts = round_counts(shares * totals[:, None], totals, generator=generator)
    else:
        counts = generator.multinomial(totals, shares)
    shuffled = generator.permutation(groups.size)
    rows = shuffled[stable_order(groups[shuffled], n_groups)]
    values = np.empty(groups.size, dtype=np.int64)
    values[rows] = np.repeat(np.tile(np.arange(n_values), n_groups), counts.ravel())
    return values


def round_counts(expected: Array, totals: IntArray, *, generator: np.random.Generator) -> IntArray:
    """Integer counts within one of ``expected``, unbiased, whose rows sum to ``totals``.

    Parameters
    ----------
    expected
        Shape ``(n_groups, n_values)``, row sums equal to ``totals`` up to rounding error.
    totals
        Shape ``(n_groups,)``.
    """
    offsets = generator.random(len(totals))[:, None]
    running = np.floor(np.cumsum(expected, axis=1) + offsets).astype(np.int64)
    running = np.minimum(running, totals[:, None])
    running[:, -1] = totals
    return np.diff(running, axis=1, prepend=0)


def stable_order(groups: IntArray, n_groups: int) -> IntArray:
    """Positions that sort ``groups`` and keep ties in order: radix sort, 16 bits at a time."""
    order = np.argsort(groups.astype(np.uint16), kind="stable")
    shift = 16
    while n_groups >> shift:
        digits = (groups >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
        shift += 16
    return order


def compact(column: NDArray[np.integer], size: int) -> Column:
    """The column in the smallest unsigned type that holds ``size`` levels."""
    return column.astype(np.min_scalar_type(size - 1))


def _groups(tree: JunctionTree, given: Sequence[str], drawn: dict[str, Column], n_rows: int) -> IntArray:
    """For each row the number of its combination of given values (0 if nothing is given)."""
    groups = np.zeros(n_rows, dtype=np.int64)
    for name in given:
        groups *= tree.domain[name]
        groups += drawn[name]
    return groups
