"""Completing partial records: exact conditional draws from a calibrated junction tree.

All records have the same given attributes. Messages are collected towards the root for a batch of
records at once, one row of each table a distinct record; then the cliques are drawn from the root
down, each record its own missing values.
"""

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.errors import ParameterError
from synthdp.inference.arrays import Array, CodeColumn
from synthdp.inference.drawing import draw_each
from synthdp.inference.trees.junction_tree import JunctionTree

_BATCH_CELLS = 1 << 22
"""Cells of the tables of a batch of records, one table a record: 32 MB."""


def complete_records(
    tree: JunctionTree, beliefs: Sequence[Array], given: Mapping[str, CodeColumn], *, generator: np.random.Generator
) -> dict[str, CodeColumn]:
    """Draw the attributes that are not given, for each record from its own conditional distribution.

    Parameters
    ----------
    tree, beliefs
        A calibrated junction tree.
    given
        Codes of the given attributes, each of shape ``(n_rows,)``.
    generator
        Source of (seeded, not private) randomness.

    Returns
    -------
    Codes of all attributes, each of shape ``(n_rows,)``.

    Raises
    ------
    ParameterError
        If a record has probability 0 under the model.
    """
    completer = _Completer(tree, beliefs, frozenset(given))
    n_rows = len(next(iter(given.values())))
    batch = max(1, _BATCH_CELLS // completer.cells_per_row)
    parts = [
        completer.complete(
            {name: codes[start : start + batch].astype(np.intp) for name, codes in given.items()}, generator
        )
        for start in range(0, max(n_rows, 1), batch)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in tree.domain.attributes}


class _Completer:
    """Conditional tables ``P(clique | separator)``, with the given attributes as leading axes."""

    def __init__(self, tree: JunctionTree, beliefs: Sequence[Array], given: frozenset[str]) -> None:
        self._tree = tree
        self._given = [tuple(name for name in clique if name in given) for clique in tree.cliques]
        self._free = [tuple(name for name in clique if name not in given) for clique in tree.cliques]
        self._free_separators = [tuple(name for name in part if name not in given) for part in tree.separators]
        self._tables = [self._conditional(i, belief) for i, belief in enumerate(beliefs)]
        self.cells_per_row = sum(tree.domain.size(free) for free in self._free)

    def complete(self, given: Mapping[str, NDArray[np.intp]], generator: np.random.Generator) -> dict[str, CodeColumn]:
        """Complete one batch of records."""
        tables = [
            table[tuple(given[name] for name in names)] if names else table[None]
            for table, names in zip(self._tables, self._given, strict=True)
        ]
        for child in range(len(tables) - 1, 0, -1):
            parent = self._tree.parents[child]
            message = self._message(tables[child], child)
            tables[parent] = tables[parent] * self._broadcast(message, self._free_separators[child], parent)
        n_rows = len(next(iter(given.values())))
        known: dict[str, CodeColumn] = dict(given)
        for i, table in enumerate(tables):
            self._draw(i, np.broadcast_to(table, (n_rows, *table.shape[1:])), known, generator)
        return known

    def _conditional(self, i: int, belief: Array) -> Array:
        clique, separator = self._tree.cliques[i], self._tree.separators[i]
        summed = tuple(axis for axis, name in enumerate(clique) if name not in separator)
        shares = belief.sum(axis=summed, keepdims=True) if self._tree.parents[i] >= 0 else np.ones(())
        table = np.divide(belief, shares, out=np.zeros_like(belief), where=shares > 0)
        return np.transpose(table, [clique.index(name) for name in self._given[i] + self._free[i]])

    def _message(self, table: Array, child: int) -> Array:
        """Probability of what is given in and below a clique, for each value of its free separator."""
        kept = self._free_separators[child]
        summed = tuple(axis + 1 for axis, name in enumerate(self._free[child]) if name not in kept)
        return np.asarray(table.sum(axis=summed))

    def _broadcast(self, message: Array, names: Clique, parent: int) -> Array:
        sizes = [self._tree.domain[name] if name in names else 1 for name in self._free[parent]]
        return message.reshape([message.shape[0], *sizes])

    def _draw(self, i: int, table: Array, known: dict[str, CodeColumn], generator: np.random.Generator) -> None:
        """Draw the attributes of a clique that are still unknown, given those that are known."""
        free = self._free[i]
        done = [name for name in free if name in known]
        new = [name for name in free if name not in known]
        shape = self._tree.domain.project(new).shape
        rows = np.arange(len(table))
        ordered = np.transpose(table, [0, *(free.index(name) + 1 for name in done + new)])
        weights = ordered[(rows, *(known[name] for name in done))].reshape(len(rows), prod(shape))
        values = draw_each(weights, generator=generator) if new else np.where(weights[:, 0] > 0, 0, -1)
        if values.min(initial=0) < 0:
            raise ParameterError("given: a record has probability 0 under the model; leave out what is impossible")
        known.update(zip(new, np.unravel_index(values, shape) if new else (), strict=True))
