"""Keeping a junction tree small while cliques are added to it one by one."""

from collections.abc import Sequence
from math import inf

from synthdp.cliques import Clique
from synthdp.inference.tree_growth import TreeGrowth


def small_growths(growth: TreeGrowth, candidates: Sequence[Clique], *, max_cells: float) -> list[Clique]:
    """The candidates with which a junction tree stays within a limit, or does not grow.

    Parameters
    ----------
    growth
        The tree so far.
    candidates
        Cliques of which one will be added, at least one.
    max_cells
        Most cells of the tree. Where every candidate passes it, those are given that pass it least.

    >>> from synthdp.domain import Domain
    >>> growth = TreeGrowth(Domain(("a", "b", "c"), (2, 3, 4)))
    >>> small_growths(growth, [("a", "b"), ("b", "c"), ("a", "b", "c")], max_cells=14)
    [('a', 'b'), ('b', 'c')]
    >>> small_growths(growth, [("b", "c"), ("a", "b", "c")], max_cells=1)
    [('b', 'c')]
    """
    limit = max(max_cells, growth.n_cells())
    sizes = growth.n_cells_with(candidates, max_cells=limit)
    if not (sizes < inf).any():
        sizes = growth.n_cells_with(candidates)
        limit = sizes.min()
    return [clique for clique, size in zip(candidates, sizes, strict=True) if size <= limit]
