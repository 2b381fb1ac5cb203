"""Drawing a table from a calibrated junction tree, clique by clique from the root."""

from collections.abc import Sequence
from math import prod

import numpy as np

from synthdp.inference.arrays import Array, Column, cell_numbers, compact
from synthdp.inference.trees.junction_tree import JunctionTree
from synthdp.inference.value_drawing import draw_values


def sample_tree(
    tree: JunctionTree,
    beliefs: Sequence[Array],
    n_rows: int,
    *,
    generator: np.random.Generator,
    rounding: bool,
) -> tuple[Column, ...]:
    """Draw codes for each attribute of the tree's domain, each of shape ``(n_rows,)``."""
    drawn: dict[str, Column] = {}
    for position, clique in enumerate(tree.cliques):
        given = tree.separators[position]
        new = tuple(name for name in clique if name not in given)
        order = [clique.index(name) for name in given + new]
        shape = tree.domain.project(new).shape
        table = np.transpose(beliefs[position], order).reshape(-1, prod(shape))
        # The smallest type that holds the groups makes sorting them faster.
        narrow = np.min_scalar_type(tree.domain.size(given))
        groups = cell_numbers(
            tree.domain, given, (drawn[name] for name in given), n_rows, dtype=narrow
        )
        values = draw_values(table, groups, generator=generator, rounding=rounding)
        # Levels are looked up by value: dividing a million values is slower.
        for name, levels in zip(new, np.unravel_index(np.arange(prod(shape)), shape), strict=True):
            drawn[name] = compact(levels, tree.domain[name])[values] if len(new) > 1 else values
    return tuple(drawn[name] for name in tree.domain.attributes)
