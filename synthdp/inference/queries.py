"""Marginals of a calibrated junction tree, inside one clique or across several."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from synthdp.cliques import Clique
from synthdp.inference.arithmetic import Array
from synthdp.inference.junction_tree import JunctionTree


def tree_marginal(tree: JunctionTree, beliefs: Sequence[Array], clique: Clique) -> Array:
    """The marginal of any clique, axes in the order of ``clique``.

    Within one tree clique it is a sum. Across cliques, the smallest subtree that covers the query
    is contracted from its leaves: each subtree hands its parent a table over their separator and
    the queried attributes below, so nothing larger than that is ever made.

    Parameters
    ----------
    tree
        The junction tree.
    beliefs
        Marginal of each tree clique.
    clique
        Attributes, each once.
    """
    position = tree.position_of(clique)
    if position is not None:
        return _contract([(beliefs[position], tree.cliques[position])], clique)
    members = _covering_subtree(tree, set(clique))
    root = min(members)
    return _contract([_subtree_table(tree, beliefs, members, root, -1, frozenset(clique))], clique)


def _covering_subtree(tree: JunctionTree, query: set[str]) -> set[int]:
    """Positions of the smallest subtree whose cliques contain the query."""
    kept = set(range(len(tree.cliques)))
    neighbours = [set(joined) for joined in tree.neighbours]
    leaves = [i for i in kept if len(neighbours[i]) == 1]
    while leaves:
        leaf = leaves.pop()
        if len(neighbours[leaf]) != 1:
            continue
        (inner,) = neighbours[leaf]
        if query & set(tree.cliques[leaf]) <= set(tree.cliques[inner]):
            kept.discard(leaf)
            neighbours[leaf].clear()
            neighbours[inner].discard(leaf)
            leaves.append(inner)
    return kept


def _subtree_table(
    tree: JunctionTree, beliefs: Sequence[Array], members: set[int], node: int, parent: int, query: frozenset[str]
) -> tuple[Array, Clique]:
    """Joint of the separator to the parent and the queried attributes below; given the separator if not the root."""
    here = tree.cliques[node]
    separator = frozenset(here) & frozenset(tree.cliques[parent]) if parent >= 0 else frozenset()
    table, names = beliefs[node], here
    for child in sorted(tree.neighbours[node] & members - {parent}):
        below, below_names = _subtree_table(tree, beliefs, members, child, node, query)
        later = [set(here) & set(tree.cliques[k]) for k in tree.neighbours[node] & members if k > child]
        wanted = query | separator | frozenset().union(*later)
        kept = tuple(name for name in dict.fromkeys(names + below_names) if name in wanted)
        table, names = _contract([(table, names), (below, below_names)], kept), kept
    kept = tuple(name for name in names if name in query or name in separator)
    table = _contract([(table, names)], kept)
    if parent < 0:
        return table, kept
    shared = _contract([(table, kept)], tuple(name for name in kept if name in separator))
    shape = [table.shape[axis] if name in separator else 1 for axis, name in enumerate(kept)]
    divisor = shared.reshape(shape)
    return np.divide(table, divisor, out=np.zeros_like(table), where=divisor > 0), kept


def _contract(operands: Sequence[tuple[Array, Clique]], kept: Clique) -> Array:
    """Multiply tables and sum out all attributes but ``kept``."""
    axes = {name: axis for axis, name in enumerate(dict.fromkeys(name for _, names in operands for name in names))}
    arguments: list[Any] = []
    for table, names in operands:
        arguments += [table, [axes[name] for name in names]]
    return np.asarray(np.einsum(*arguments, [axes[name] for name in kept], optimize=len(operands) > 1))
