"""Drawing a table from a calibrated junction tree, clique by clique from the root."""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from synthdp.inference.arrays import Array, Column, compact
from synthdp.inference.drawing import draw_values
from synthdp.inference.trees.junction_tree import JunctionTree


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
        # Levels are looked up by value: dividing a million values is slower.
        for name, levels in zip(new, np.unravel_index(np.arange(prod(shape)), shape), strict=True):
            drawn[name] = compact(levels, tree.domain[name])[values] if len(new) > 1 else values
    return tuple(drawn[name] for name in tree.domain.attributes)


def _groups(tree: JunctionTree, given: Sequence[str], drawn: dict[str, Column], n_rows: int) -> NDArray[np.integer]:
    """For each row the number of its combination of given values (0 if nothing is given)."""
    groups = np.zeros(n_rows, dtype=np.min_scalar_type(tree.domain.size(tuple(given))))
    for name in given:
        groups *= tree.domain[name]
        groups += drawn[name]
    return groups
