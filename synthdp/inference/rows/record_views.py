"""How moves of one block of attributes change the wanted marginals, all of them at once.

The tables of all marginals lie end to end in one vector. For a block they are turned so that each
row holds one combination of a table's other attributes, and the row's cells are the values of the
attributes in the block; tables with the same attributes of the block are stacked to one. So what a
record sees in all of them is a sum of rows, and no loop goes over the marginals.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array, IntArray
from synthdp.inference.rows.record_blocks import Block

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ROW = np.int32
"""Rows of stacked tables: there are fewer of them than cells of all tables, which fit into memory."""
_MAX_DENSE = 2048
"""Up to so many of them a product of matrices is quicker than one that knows which of their entries
are 0.
"""


@final
class StackedViews:
    """The marginals that have the same attributes in common with a block, stacked.

    Parameters
    ----------
    domain
        All attributes.
    block
        The attributes that move.
    inner
        Those of them that the marginals have.
    cliques
        The marginals' attributes, wanted ones before constraints.
    starts
        Where each of their tables starts in the vector of all cells.
    n_wanted
        How many of the marginals are wanted ones.
    """

    def __init__(
        self,
        domain: Domain,
        block: Block,
        inner: Clique,
        *,
        cliques: Sequence[Clique],
        starts: Sequence[int],
        n_wanted: int,
    ) -> None:
        self.n_wanted = n_wanted
        levels = [block.values[:, block.names.index(name)] for name in inner]
        self.inner = np.ravel_multi_index(levels, domain.project(inner).shape)
        """For each value of the block the cell of a row, shape ``(n_values,)``."""
        self._is_inner = np.array_equal(self.inner, np.arange(domain.size(inner)))
        outers = [tuple(name for name in clique if name not in inner) for clique in cliques]
        sizes = [domain.size(outer) for outer in outers]
        self._first_rows = np.cumsum([0, *sizes[:-1]], dtype=_ROW)[:, None]
        self._n_wanted_rows = sum(sizes[:n_wanted])
        turned = [
            _turned(domain, *table, inner) for table in zip(cliques, outers, starts, strict=True)
        ]
        self._cells = np.concatenate(turned)
        # Marginals of fewer attributes are filled up with one that counts for nothing.
        n_axes = max(map(len, outers))
        self._attributes = np.zeros((n_axes, len(cliques)), dtype=np.int64)
        self._strides = np.zeros((n_axes, len(cliques), 1), dtype=_ROW)
        for i, outer in enumerate(outers):
            for axis, name in enumerate(reversed(outer)):
                self._attributes[axis, i] = domain.index(name)
                self._strides[axis, i] = domain.size(outer[len(outer) - axis :])

    def rows_of(self, records: NDArray[np.int32], stretch: Sequence[slice]) -> NDArray[np.int32]:
        """For each marginal and each record of a stretch its row, shape ``(n_marginals,
        n_records)``.
        """
        parts = []
        for part in stretch:
            rows = np.repeat(self._first_rows, part.stop - part.start, axis=1)
            for attributes, strides in zip(self._attributes, self._strides, strict=True):
                codes = records[attributes, part]
                rows += codes if (strides == 1).all() else codes * strides
            parts.append(rows)
        return np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]

    def table(self, surplus: Array) -> Array:
        """The stacked tables: rows by cells."""
        return np.asarray(surplus.take(self._cells))

    def add(self, surplus: Array, change: Array) -> None:
        """Add to the wanted tables what moves change."""
        touched = np.flatnonzero(change)
        surplus[self._cells.ravel()[touched]] += change[touched]

    def moves(
        self, table: Array, rows: NDArray[np.int32], before: IntArray, after: IntArray
    ) -> "Moves":
        """Moves of records with given rows, from some values of the block to others."""
        start = rows[: self.n_wanted] * np.int64(table.shape[1])
        return Moves(
            table[: self._n_wanted_rows].ravel(),
            start + self.inner[before],
            start + self.inner[after],
        )

    def seen(self, table: Array, rows: NDArray[np.int32], values: IntArray) -> Array:
        """For each record the sum over all marginals of its cell, if it has some value of the
        block.
        """
        cells = np.multiply(rows, table.shape[1], dtype=np.int64)
        cells += self.inner[values]
        return np.asarray(np.add.reduce(table.ravel().take(cells), axis=0))

    def seen_everywhere(self, table: Array, rows: NDArray[np.int32]) -> Array:
        """For each record and each value of the block the sum over all marginals, shape
        ``(n_records, n_values)``.
        """
        sums = _chosen(rows, len(table)) @ table
        return np.asarray(sums if self._is_inner else sums[:, self.inner])

    def together(self, rows: NDArray[np.int32]) -> Array:
        """For each two records how many wanted marginals have them in one row, shape ``(n_records,
        n_records)``.
        """
        chosen = _chosen(rows[: self.n_wanted], self._n_wanted_rows)
        if self._n_wanted_rows > _MAX_DENSE:
            return np.asarray((chosen @ chosen.T).toarray())
        filled = chosen.toarray()
        return np.asarray(filled @ filled.T)


class Moves(NamedTuple):
    """Moves as wanted marginals see them: their surplus, and for each marginal and move the cells
    left and reached.
    """

    surplus: Array
    left: IntArray
    reached: IntArray

    def only(self, kept: NDArray[np.bool_]) -> "Moves":
        """Some of the moves."""
        return Moves(self.surplus, self.left[:, kept], self.reached[:, kept])

    def change(self) -> Array:
        """What the moves add to each cell."""
        n_cells = self.surplus.size
        gained = np.bincount(self.reached.ravel(), minlength=n_cells)
        return np.asarray(
            gained - np.bincount(self.left.ravel(), minlength=n_cells), dtype=np.float64
        )

    def collisions(self) -> IntArray:
        """For each move how many others leave the same cell or arrive at the same one.

        All together they gain nothing if there are twice as many of them as one move alone gains;
        with a chance of gain / collisions each, they gain most.
        """
        here = (
            np.bincount(self.left.ravel())[self.left]
            + np.bincount(self.reached.ravel())[self.reached]
            - 2
        )
        return np.asarray(here.sum(axis=0))


def views_of(
    domain: Domain, blocks: Sequence[Block], cliques: Sequence[Clique], *, n_wanted: int
) -> list[list[StackedViews]]:
    """How each block sees the marginals that it changes, wanted ones first; nothing if it changes
    no wanted one.
    """
    starts = np.cumsum([0, *map(domain.size, cliques)]).tolist()
    with_name: dict[str, list[int]] = {name: [] for name in domain.attributes}
    for position, clique in enumerate(cliques):
        for name in clique:
            with_name[name].append(position)
    views: list[list[StackedViews]] = []
    for block in blocks:
        groups: dict[Clique, list[int]] = {}
        for position in sorted({position for name in block.names for position in with_name[name]}):
            inner = tuple(name for name in block.names if name in cliques[position])
            groups.setdefault(inner, []).append(position)
        is_wanted = any(positions[0] < n_wanted for positions in groups.values())
        views.append([])
        for inner, positions in groups.items() if is_wanted else ():
            tables = [cliques[i] for i in positions]
            first = [starts[i] for i in positions]
            count = sum(i < n_wanted for i in positions)
            views[-1].append(
                StackedViews(domain, block, inner, cliques=tables, starts=first, n_wanted=count)
            )
    return views


def _chosen(rows: NDArray[np.int32], n_rows: int) -> "csr_array":
    """Rows of a stacked table that each record is in, as a matrix of zeros and ones."""
    from scipy.sparse import csr_array  # no run that moves no records waits for its import

    ends = (
        np.arange(0, rows.size + 1, len(rows), dtype=_ROW)
        if len(rows)
        else np.zeros(rows.shape[1] + 1, dtype=_ROW)
    )
    return csr_array((np.ones(rows.size), rows.T.ravel(), ends), shape=(rows.shape[1], n_rows))


def _turned(domain: Domain, clique: Clique, outer: Clique, start: int, inner: Clique) -> IntArray:
    """Numbers of a table's cells, its outer attributes by its inner ones."""
    cells = np.arange(start, start + domain.size(clique)).reshape([domain[name] for name in clique])
    return np.transpose(cells, [clique.index(name) for name in outer + inner]).reshape(
        -1, domain.size(inner)
    )
