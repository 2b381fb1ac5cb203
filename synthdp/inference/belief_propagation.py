"""Exact belief propagation on a junction tree [Lauritzen & Spiegelhalter 1988; Hugin]."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple, final

import numpy as np

from synthdp.errors import ParameterError
from synthdp.inference.arithmetic import Arithmetic, Array, Axes, LinearArithmetic, LogArithmetic, UnderflowDetected
from synthdp.inference.junction_tree import JunctionTree


class Beliefs(NamedTuple):
    """The marginal of each clique of a tree, each summing to 1, and the logarithm of the normaliser."""

    tables: list[Array]
    log_partition: float


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
        self._shapes = [tree.domain.project(clique).shape for clique in tree.cliques]
        self._edges = [_edge(tree, child) for child in range(1, len(tree.cliques))]

    def beliefs(self, log_potentials: Sequence[Sequence[Array]]) -> Beliefs:
        """Clique marginals of the distribution ``exp(sum of log potentials) / Z``.

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
            return self._run(log_potentials, LinearArithmetic())
        except UnderflowDetected:
            return self._run(log_potentials, LogArithmetic())

    def _run(self, log_potentials: Sequence[Sequence[Array]], arithmetic: Arithmetic) -> Beliefs:
        tables, log_partition = self._start(log_potentials, arithmetic)
        collected, drops = [], [0.0] * len(tables)
        for child in range(len(tables) - 1, 0, -1):  # children before parents
            edge = self._edges[child - 1]
            message = arithmetic.summed(tables[child], edge.summed_up)
            collected.append(message)
            size = _log_size(message, arithmetic, edge.log_summed, drops, child, edge.parent)
            log_partition += size
            scaled = arithmetic.scaled(message, size).reshape(edge.shape_in_parent)
            tables[edge.parent] = arithmetic.product(tables[edge.parent], scaled)
        total = arithmetic.summed(tables[0], tuple(range(tables[0].ndim)))
        size = _log_size(total, arithmetic, log(tables[0].size), drops, 0, 0)
        tables[0] = arithmetic.scaled(tables[0], size)
        for child in range(1, len(tables)):  # parents before children
            edge = self._edges[child - 1]
            wanted = arithmetic.summed(tables[edge.parent], edge.summed_down)
            correction = arithmetic.quotient(wanted, collected.pop()).reshape(edge.shape_in_child)
            tables[child] = arithmetic.product(tables[child], correction)
        return Beliefs([arithmetic.to_linear(table) for table in tables], log_partition + size)

    def _start(self, log_potentials: Sequence[Sequence[Array]], arithmetic: Arithmetic) -> tuple[list[Array], float]:
        """One table a clique with cells of at most 1, and the logarithm of what was divided out."""
        tables, log_scale = [], 0.0
        for shape, potentials in zip(self._shapes, log_potentials, strict=True):
            table: Array | None = None
            for potential in potentials:
                largest = float(np.maximum.reduce(potential, axis=None))
                if not np.isfinite(largest):
                    raise _impossible() if largest == -np.inf else _not_finite()
                log_scale += largest
                factor = arithmetic.from_log(potential - largest)
                table = factor if table is None else arithmetic.product(table, factor)
            if table is None or table.shape != shape:
                ones = arithmetic.from_log(np.zeros(shape))
                table = ones if table is None else arithmetic.product(ones, table)
            tables.append(table)
        return tables, log_scale


def _log_size(
    message: Array, arithmetic: Arithmetic, log_summed: float, drops: list[float], child: int, parent: int
) -> float:
    """Logarithm of a message's largest cell; keeps book of how far it fell below the largest it could be."""
    size = arithmetic.log_largest(message)
    drop = drops[child] + log_summed - size
    if drop > arithmetic.deepest_drop:
        raise UnderflowDetected
    if size == -np.inf:
        raise _impossible()
    drops[parent] = max(drops[parent], drop)
    return size


def _edge(tree: JunctionTree, child: int) -> _Edge:
    parent = tree.parents[child]
    separator = set(tree.separators[child])
    above, below = tree.cliques[parent], tree.cliques[child]
    return _Edge(
        parent=parent,
        summed_up=tuple(axis for axis, name in enumerate(below) if name not in separator),
        shape_in_parent=tuple(tree.domain[name] if name in separator else 1 for name in above),
        summed_down=tuple(axis for axis, name in enumerate(above) if name not in separator),
        shape_in_child=tuple(tree.domain[name] if name in separator else 1 for name in below),
        log_summed=log(tree.domain.size(name for name in below if name not in separator)),
    )


def _impossible() -> ParameterError:
    return ParameterError("potentials: every cell of the joint table is impossible; loosen the constraints")


def _not_finite() -> ParameterError:
    return ParameterError("potentials: they hold nan or +inf; give finite numbers or -inf")
