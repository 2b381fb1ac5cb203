"""Marginals of a calibrated junction tree, inside one clique or across several, sharing work.

Within a clique a marginal is a sum, taken one attribute at a time (the one with most levels
first) so that sums to related marginals share their first, expensive steps.

Across cliques, every attribute belongs to the topmost clique that holds it. A clique hands its
parent ``P(queried attributes below | separator)``; these conditional tables depend on the clique
and the queried attributes below it only, so that many queries share them. Before anything is
multiplied, a clique is summed to its separators and queried attributes: no table is larger than
a clique or than (queried attributes x separator).
"""

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple, final

import numpy as np

from synthdp.cliques import Clique
from synthdp.inference.arithmetic import Array
from synthdp.inference.junction_tree import JunctionTree


class _Table(NamedTuple):
    values: Array
    names: Clique


@final
class TreeMarginals:
    """Answers marginals of one calibrated tree; intermediate tables live as long as the object.

    Parameters
    ----------
    tree
        The junction tree.
    beliefs
        Marginal of each tree clique.
    """

    def __init__(self, tree: JunctionTree, beliefs: Sequence[Array]) -> None:
        self._tree = tree
        self._beliefs = beliefs
        self._members = [frozenset(clique) for clique in tree.cliques]
        self._separators = [frozenset(separator) for separator in tree.separators]
        # Parents come before children, so the first clique with an attribute is its topmost.
        self._tops = {name: i for i in range(len(tree.cliques) - 1, -1, -1) for name in tree.cliques[i]}
        self._sums: dict[tuple[int, frozenset[str]], Array] = {}
        self._conditionals: dict[tuple[int, frozenset[str]], _Table] = {}

    def marginal(self, clique: Clique) -> Array:
        """The marginal of any clique with distinct attributes, axes in the order of ``clique``."""
        query = frozenset(clique)
        position = self._tree.position_of(clique)
        if position is not None:
            table = _Table(self._sum(position, query), self._ordered(position, query))
        else:
            root = self._root_of(query)
            self._prepare(root, query)
            table = self._joint(root, query, frozenset())
        return _reordered(table, clique)

    def _root_of(self, query: frozenset[str]) -> int:
        """The lowest clique that has the topmost cliques of all queried attributes at or below it."""
        nodes = {self._tops[name] for name in query}
        while len(nodes) > 1:
            deepest = max(nodes)  # children come after their parents
            nodes.remove(deepest)
            nodes.add(self._tree.parents[deepest])
        return nodes.pop()

    def _prepare(self, root: int, query: frozenset[str]) -> None:
        """Make the conditional tables that a query needs from the leaves up, so that nothing recurses deeply."""
        below: dict[int, set[str]] = {}
        for name in query:
            node = self._tops[name]
            while node != root:
                below.setdefault(node, set()).add(name)
                node = self._tree.parents[node]
        for node in sorted(below, reverse=True):
            self._conditional(node, frozenset(below[node]))

    def _joint(self, node: int, query: frozenset[str], given: frozenset[str]) -> _Table:
        """Marginal of the queried attributes (all at or below ``node``) and those of ``given`` (in it)."""
        below: dict[int, set[str]] = {}
        for name in query - self._members[node]:
            below.setdefault(self._child_towards(node, self._tops[name]), set()).add(name)
        separators = [self._separators[child] for child in below]
        wanted = (query & self._members[node]) | given
        kept = wanted.union(*separators)
        table = _Table(self._sum(node, kept), self._ordered(node, kept))
        for i, (child, names) in enumerate(below.items()):
            later = wanted.union(query, *separators[i + 1 :])
            table = _contracted(table, self._conditional(child, frozenset(names)), later)
        return table

    def _conditional(self, node: int, query: frozenset[str]) -> _Table:
        """The queried attributes below, given the separator to the parent; 0 where that is impossible."""
        key = (node, query)
        if key not in self._conditionals:
            separator = self._separators[node]
            joint = self._joint(node, query, separator)
            shares = self._sum(node, separator)
            shape = [self._tree.domain[name] if name in separator else 1 for name in joint.names]
            inside = tuple(name for name in joint.names if name in separator)
            divisor = _reordered(_Table(shares, self._ordered(node, separator)), inside).reshape(shape)
            values = np.divide(joint.values, divisor, out=np.zeros_like(joint.values), where=divisor > 0)
            self._conditionals[key] = _Table(values, joint.names)
        return self._conditionals[key]

    def _child_towards(self, node: int, descendant: int) -> int:
        while self._tree.parents[descendant] != node:
            descendant = self._tree.parents[descendant]
        return descendant

    def _sum(self, position: int, names: frozenset[str]) -> Array:
        """Marginal of some attributes of one clique, axes in the clique's order."""
        clique = self._tree.cliques[position]
        if len(names) == len(clique):
            return self._beliefs[position]
        key = (position, names)
        if key not in self._sums:
            last = min((name for name in clique if name not in names), key=self._tree.domain.__getitem__)
            larger = self._sum(position, names | {last})
            axis = [name for name in clique if name in names or name == last].index(last)
            self._sums[key] = np.add.reduce(larger, axis=axis)
        return self._sums[key]

    def _ordered(self, position: int, names: Iterable[str]) -> Clique:
        kept = frozenset(names)
        return tuple(name for name in self._tree.cliques[position] if name in kept)


def _reordered(table: _Table, names: Clique) -> Array:
    return np.transpose(table.values, [table.names.index(name) for name in names])


def _contracted(left: _Table, right: _Table, kept: frozenset[str]) -> _Table:
    """The product of two tables, summed over attributes that are not kept, by matrix products.

    Attributes that are not kept are in both tables.
    """
    shared = [name for name in left.names if name in right.names]
    batch = tuple(name for name in shared if name in kept)
    summed = tuple(name for name in shared if name not in kept)
    rows = tuple(name for name in left.names if name not in shared)
    columns = tuple(name for name in right.names if name not in shared)
    sizes = dict(zip(left.names + right.names, left.values.shape + right.values.shape, strict=True))
    n_batch, n_summed, n_rows, n_columns = (prod(sizes[n] for n in part) for part in (batch, summed, rows, columns))
    first = _reordered(left, batch + rows + summed).reshape(n_batch, n_rows, n_summed)
    second = _reordered(right, batch + summed + columns).reshape(n_batch, n_summed, n_columns)
    names = batch + rows + columns
    return _Table(np.matmul(first, second).reshape([sizes[name] for name in names]), names)
