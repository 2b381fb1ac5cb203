"""What moves of records need to know: which attributes move together, and how marginals see a move."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.domain import Domain
from synthdp.inference.arrays import Array, IntArray

_MAX_VALUES = 2048
"""Combinations of a block: records are judged by all of them. Attributes of a larger one move one by one."""


class Block(NamedTuple):
    """Attributes that move together, the values they may take (one a row), and the number of each combination."""

    names: Clique
    values: IntArray
    number: IntArray


class View(NamedTuple):
    """A wanted marginal as seen by a block: outer axes, then those of the block, and where values fall in them."""

    position: int
    outer: Clique
    axes: list[int]
    inner: IntArray


class Moves(NamedTuple):
    """Moves as one marginal sees them.

    Its surplus, and for each record the first cell of its row in that table, and which cells of the
    row are left and reached.
    """

    table: Array
    start: IntArray
    before: IntArray
    after: IntArray

    def only(self, kept: NDArray[np.bool_]) -> "Moves":
        """Some of the moves."""
        return Moves(self.table, self.start[kept], self.before[kept], self.after[kept])

    def change(self) -> Array:
        """What the moves add to each cell."""
        gained = np.bincount(self.start + self.after, minlength=self.table.size)
        lost = np.bincount(self.start + self.before, minlength=self.table.size)
        return np.asarray((gained - lost).reshape(self.table.shape), dtype=np.float64)

    def collisions(self) -> IntArray:
        """For each move how many others leave the same cell or arrive at the same one.

        All together they gain nothing if there are twice as many of them as one move alone gains;
        with a chance of gain / collisions each, they gain most.
        """
        left, reached = self.start + self.before, self.start + self.after
        return np.asarray(np.bincount(left)[left] + np.bincount(reached)[reached] - 2)


def blocks_of(domain: Domain, possible: Mapping[Clique, NDArray[np.bool_]]) -> list[Block]:
    """Each attribute on its own, and those that constraints tie together."""
    blocks = []
    for name, size in zip(domain.attributes, domain.shape, strict=True):
        if size > 1:
            levels = np.arange(size)
            blocks.append(Block((name,), levels[:, None], levels))
    for clique, allowed in possible.items():
        values = np.argwhere(allowed)
        if len(clique) > 1 and len(values) <= _MAX_VALUES:
            number = np.zeros(allowed.size, dtype=np.int64)
            number[np.flatnonzero(allowed)] = np.arange(len(values))
            blocks.append(Block(clique, values, number))
    return blocks
