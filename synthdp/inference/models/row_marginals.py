"""Marginals of weighted rows as linear functions of the weights."""

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array, cell_numbers


@final
class RowMarginals:
    """Weights of rows, and marginals of given cliques, as functions of potentials on these cliques.

    Parameters
    ----------
    domain
        All attributes.
    columns
        For each attribute the codes of the rows, shape ``(n_rows,)``.
    base
        Weight of each row before reweighting, above 0.
    cliques
        Distinct cliques in the order of the domain. Each maximal one costs 8 bytes a row.
    """

    def __init__(
        self,
        domain: Domain,
        columns: Sequence[NDArray[np.integer]],
        base: Array,
        cliques: Sequence[Clique],
    ) -> None:
        homes = maximal_cliques(cliques)
        self._log_base = np.log(base)
        self._shapes = [domain.project(home).shape for home in homes]
        self._cells: list[NDArray[np.integer]] = []
        for home in homes:
            of_home = (columns[domain.index(name)] for name in home)
            self._cells.append(cell_numbers(domain, home, of_home, base.size))
        # A clique inside a larger one is a sum of its table; one pass over the rows serves both.
        self._homes: list[int] = []
        self._summed: list[tuple[int, ...]] = []
        self._spread: list[tuple[int, ...]] = []
        for clique in cliques:
            position = next(i for i, home in enumerate(homes) if set(clique) <= set(home))
            home = homes[position]
            self._homes.append(position)
            self._summed.append(tuple(axis for axis, name in enumerate(home) if name not in clique))
            self._spread.append(tuple(domain[name] if name in clique else 1 for name in home))

    def by_row(self, tables: Sequence[Array]) -> Array:
        """For each row the sum over all cliques of the table's entry in its cell, shape
        ``(n_rows,)``.
        """
        joined = [np.zeros(shape) for shape in self._shapes]
        for position, shape, table in zip(self._homes, self._spread, tables, strict=True):
            joined[position] += table.reshape(shape)
        sums = np.zeros(len(self._log_base))
        for home, cells in zip(joined, self._cells, strict=True):
            sums += home.ravel()[cells]
        return sums

    def weights(self, log_potentials: Sequence[Array]) -> Array:
        """Weight of each row, shape ``(n_rows,)``; they add up to 1."""
        logs = self._log_base + self.by_row(log_potentials)
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def marginals(self, weights: Array) -> list[Array]:
        """Sums of the weights of the rows in each cell of each clique."""
        tables = []
        for cells, shape in zip(self._cells, self._shapes, strict=True):
            sums = np.bincount(cells, weights, minlength=int(np.prod(shape)))
            tables.append(sums.reshape(shape))
        homes = zip(self._homes, self._summed, strict=True)
        return [tables[home].sum(axis=summed) for home, summed in homes]
