"""Exact belief propagation on a junction tree [Lauritzen & Spiegelhalter 1988; Hugin]."""

from collections.abc import Sequence
from math import log, prod
from typing import NamedTuple, final

import numpy as np

from synthdp.core.errors import ParameterError
from synthdp.inference.arrays import Array, Axes
from synthdp.inference.graphical.arithmetic import (
    Arithmetic,
    LinearArithmetic,
    LogArithmetic,
    UnderflowDetected,
)
from synthdp.inference.trees.junction_tree import JunctionTree


class _Edge(NamedTuple):
    """How a clique exchanges messages with its parent: axes to sum out, shapes to broadcast to."""

    parent: int
    summed_up: Axes
    shape_in_parent: tuple[int, ...]
    summed_down: Axes
    shape_in_child: tuple[int, ...]
    log_summed: float


@final
class BeliefPropagation:
    """Belief propagation over one tree; all index work is done once, at construction.

    Parameters
    ----------
    tree
        The junction tree.
    """

    def __init__(self, tree: JunctionTree) -> None:
        self.tree = tree
        # A fit runs hundreds of passes over one tree: shapes, axes and orders of products are
        # settled here once, so that a pass is nothing but arithmetic.
        self._shapes = [tree.domain.project(clique).shape for clique in tree.cliques]
        self._edges = [_edge(tree, child) for child in range(1, len(tree.cliques))]
        self._orders: dict[tuple[tuple[int, ...], ...], list[tuple[int, int]]] = {}

    def beliefs(self, log_potentials: Sequence[Sequence[Array]]) -> list[Array]:
        """Clique marginals of the distribution ``exp(sum of log potentials) / Z``, each summing to
        1.

        Parameters
        ----------
        log_potentials
            For each clique of the tree any number of arrays that broadcast to its shape;
            -inf marks impossible cells.

        Raises
        ------
        ParameterError
            If no cell of the joint table is possible, or a potential is nan or +inf.
        """
        try:
            # Plain numbers first, at several times the speed; whether they did is known at the end
            # of the way up, before anything is returned.
            return self.run(log_potentials, LinearArithmetic())
        except UnderflowDetected:
            return self.run(log_potentials, LogArithmetic())

    def largest(self, log_potentials: Sequence[Sequence[Array]]) -> float:
        """The largest sum of log potentials of any cell of the joint table; see `beliefs`."""
        tables = [np.zeros(shape) for shape in self._shapes]
        for table, potentials in zip(tables, log_potentials, strict=True):
            for potential in potentials:
                np.add(table, potential, out=table)
        # The same pass with the maximum in place of the sum, in logarithms: nothing can underflow.
        for child in range(len(tables) - 1, 0, -1):  # children before parents
            edge = self._edges[child - 1]
            # Children come after their parents in the numbering of a tree, so counting down meets
            # each clique when all below it is done.
            tables[edge.parent] += np.max(tables[child], axis=edge.summed_up).reshape(
                edge.shape_in_parent
            )
        return float(tables[0].max())

    def run(self, log_potentials: Sequence[Sequence[Array]], arithmetic: Arithmetic) -> list[Array]:
        """`beliefs` in a given arithmetic; raises `UnderflowDetected` where it does not do."""
        factors = self._start(log_potentials, arithmetic)
        tables: list[Array] = [np.empty(0)] * len(factors)
        collected = []
        drops = [0.0] * len(tables)
        for child in range(len(tables) - 1, 0, -1):  # children before parents
            edge = self._edges[child - 1]
            tables[child] = self._product(factors[child], self._shapes[child], arithmetic)
            # Hugin: the message up is kept, and divided out of the message down, so that nothing is
            # counted twice.
            message = arithmetic.summed(tables[child], edge.summed_up)
            collected.append(message)
            size = _log_size(message, arithmetic, edge.log_summed, drops, child, edge.parent)
            factors[edge.parent].append(
                # Each message is scaled to a largest cell of 1. The factor is lost on purpose: what
                # is wanted is normalised at the root.
                arithmetic.scaled(message, size).reshape(edge.shape_in_parent)
            )
        tables[0] = self._product(factors[0], self._shapes[0], arithmetic)
        total = arithmetic.summed(tables[0], tuple(range(tables[0].ndim)))
        # At the root the sum over all cells is the normaliser, up to the scales that were dropped.
        size = _log_size(total, arithmetic, log(tables[0].size), drops, 0, 0)
        tables[0] = arithmetic.scaled(tables[0], size)
        for child in range(1, len(tables)):  # parents before children
            edge = self._edges[child - 1]
            wanted = arithmetic.summed(tables[edge.parent], edge.summed_down)
            # Messages were collected from the last child to the first, and are used from the first
            # to the last: the list is a stack.
            correction = arithmetic.quotient(wanted, collected.pop()).reshape(edge.shape_in_child)
            arithmetic.multiply(tables[child], correction)
        return [arithmetic.to_linear(table) for table in tables]

    def _start(
        self, log_potentials: Sequence[Sequence[Array]], arithmetic: Arithmetic
    ) -> list[list[Array]]:
        """The factors of each clique, with cells of at most 1."""
        factors = []
        for potentials in log_potentials:
            mine = []
            for potential in potentials:
                largest = float(np.maximum.reduce(potential, axis=None))
                # -inf means that no cell is possible, anything else that a potential is broken: two
                # errors with two ways out.
                if not np.isfinite(largest):
                    raise _impossible() if largest == -np.inf else _not_finite()
                mine.append(arithmetic.from_log(potential - largest))
            factors.append(mine)
        return factors

    def _product(
        self, factors: Sequence[Array], shape: tuple[int, ...], arithmetic: Arithmetic
    ) -> Array:
        """The product of a clique's factors, in an order that keeps what is on the way to it small."""
        # A copy of a large table that has but one factor would double the time of its clique.
        if len(factors) == 1 and factors[0].shape == shape:
            return factors[0]
        shapes = tuple(factor.shape for factor in factors)
        if shapes not in self._orders:
            # By shapes, as messages have the same ones in each pass.
            self._orders[shapes] = _order(shapes)
        waiting: list[Array] = list(factors)
        for i, j in self._orders[shapes]:
            waiting[i] = arithmetic.product(waiting[i], waiting.pop(j))
        if waiting and waiting[0].shape == shape:
            return waiting[0]
        ones = arithmetic.from_log(np.zeros(shape))
        return arithmetic.product(ones, waiting[0]) if waiting else ones


def _order(shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Which pair to multiply next, until one is left; the result takes the place of the first:
    smallest first.
    """
    waiting = list(shapes)
    order = []
    # Factors of one shape make none that is larger, and of many children most messages are alike:
    # they need no search, which takes the cube of their number.
    for j in range(len(waiting) - 1, 0, -1):
        i = waiting.index(waiting[j])
        if i < j:
            waiting.pop(j)
            order.append((i, j))
    while len(waiting) > 1:
        pairs = [(i, j) for j in range(len(waiting)) for i in range(j)]
        # Greedy by the size of the product. Axes are all there, with length 1 where a factor has
        # none, so sizes are products of maxima.
        i, j = min(pairs, key=lambda pair: prod(map(max, waiting[pair[0]], waiting[pair[1]])))
        waiting[i] = tuple(map(max, waiting[i], waiting.pop(j)))
        order.append((i, j))
    return order


def _log_size(
    message: Array,
    arithmetic: Arithmetic,
    log_summed: float,
    drops: list[float],
    child: int,
    parent: int,
) -> float:
    """Logarithm of a message's largest cell; notes how far it fell below the largest it could be."""
    size = arithmetic.log_largest(message)
    # A sum over n cells of at most 1 could be n. How far it falls short is what rounding errors of
    # cells that underflowed may be blown up by.
    drop = drops[child] + log_summed - size
    if drop > arithmetic.deepest_drop:
        raise UnderflowDetected
    if size == -np.inf:
        raise _impossible()
    # Along one way from a leaf to the root the factors multiply; of several ways the worst counts.
    drops[parent] = max(drops[parent], drop)
    return size


def _edge(tree: JunctionTree, child: int) -> _Edge:
    parent = tree.parents[child]
    separator = set(tree.separators[child])
    above = tree.cliques[parent]
    below = tree.cliques[child]
    return _Edge(
        parent=parent,
        summed_up=tuple(axis for axis, name in enumerate(below) if name not in separator),
        shape_in_parent=tuple(tree.domain[name] if name in separator else 1 for name in above),
        summed_down=tuple(axis for axis, name in enumerate(above) if name not in separator),
        shape_in_child=tuple(tree.domain[name] if name in separator else 1 for name in below),
        log_summed=log(tree.domain.size(name for name in below if name not in separator)),
    )


def _impossible() -> ParameterError:
    return ParameterError(
        "potentials: every cell of the joint table is impossible; loosen the constraints"
    )


def _not_finite() -> ParameterError:
    return ParameterError("potentials: they hold nan or +inf; give finite numbers or -inf")
