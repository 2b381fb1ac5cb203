"""Marginals of a mixture of product distributions, and their gradients, many at a time.

A mixture of K products over attributes a, b, ... is a matrix ``levels`` with one column a
component and one row a level (all levels of all attributes, one below the other), and K weights.
Its marginal of a and b is ``levels[a] diag(weights) levels[b]^T``: a matrix product. All measured
cliques that share an attribute a are one product, ``levels[a]`` against the rows of all their
other attributes. A clique of three or more attributes is split into two groups; the rows of a
group are the products of its attributes' rows (a Khatri-Rao product), made for some components
at a time so that memory stays bounded.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.inference.products.array_backend import ArrayBackend, DeviceArray

_MAX_NUMBERS = 1 << 23  # of the temporary tables of one matrix product: 64 MiB
_Member = tuple[Clique, Clique]


class _Product(NamedTuple):
    """The cliques ``left + right`` for several ``rights``, and where their cells are in the flat
    vector.
    """

    left: Clique
    rights: tuple[Clique, ...]
    cells: DeviceArray
    n_rows: int


@final
class ProductComponents:
    """Marginals of given cliques as a function of a mixture's components and weights.

    Parameters
    ----------
    domain
        All attributes; their levels are the rows of ``levels``.
    cliques
        Distinct cliques; their cells are laid end to end in flat vectors.
    backend
        Where the arrays live.
    """

    def __init__(self, domain: Domain, cliques: Sequence[Clique], backend: ArrayBackend) -> None:
        self.rows = attribute_rows(domain)
        self._domain = domain
        self._backend = backend
        self._n_cells = sum(domain.size(clique) for clique in cliques)
        starts = dict(
            zip(cliques, np.cumsum([0, *map(domain.size, cliques)]).tolist(), strict=False)
        )
        self._products = [
            # Cliques that share a half share one product, so a small library call serves many of
            # them.
            self._product(left, members, starts)
            for left, members in _shared_splits(cliques)
        ]
        self._chunk = max(
            1, _MAX_NUMBERS // max((2 * product.n_rows for product in self._products), default=1)
        )

    def marginals(self, levels: DeviceArray, weights: DeviceArray) -> DeviceArray:
        """All cells of all cliques, shape ``(n_cells,)``.

        Parameters
        ----------
        levels
            Shape ``(n_levels of all attributes, n_components)``.
        weights
            Shape ``(n_components,)``.
        """
        flat = self._backend.zeros((self._n_cells,))
        for start in range(0, len(weights), self._chunk):
            part = levels[:, start : start + self._chunk]
            shares = weights[start : start + self._chunk]
            for product in self._products:
                # Components are the summed axis of one matrix product: marginals of a mixture are
                # sums of outer products.
                left = self._joined(part, product.left) * shares
                flat[product.cells] += left @ self._stacked(part, product.rights).T
        return flat

    def gradient(
        self, levels: DeviceArray, weights: DeviceArray, by_cell: DeviceArray
    ) -> tuple[DeviceArray, DeviceArray]:
        """Derivatives by ``levels`` and by ``weights`` of a function whose derivative by the
        marginals is given.
        """
        by_levels = self._backend.zeros(tuple(levels.shape))
        by_weights = self._backend.zeros(tuple(weights.shape))
        for start in range(0, len(weights), self._chunk):
            here = slice(start, start + self._chunk)
            part = levels[:, here]
            shares = weights[here]
            for product in self._products:
                table = by_cell[product.cells]
                left = self._joined(part, product.left)
                pulled = table @ self._stacked(part, product.rights)
                by_weights[here] += (left * pulled).sum(0)
                self._spread(by_levels[:, here], part, product.left, pulled * shares)
                self._unstack(by_levels[:, here], part, product.rights, table.T @ (left * shares))
        return by_levels, by_weights

    def _product(
        self, left: Clique, members: Sequence[_Member], starts: dict[Clique, int]
    ) -> _Product:
        tables = []
        for clique, right in members:
            shape = tuple(self._domain[name] for name in clique)
            positions = starts[clique] + np.arange(self._domain.size(clique)).reshape(shape)
            order = [clique.index(name) for name in left + right]
            tables.append(np.transpose(positions, order).reshape(self._domain.size(left), -1))
        cells: NDArray[np.int64] = np.concatenate(tables, axis=1).astype(np.int64)
        return _Product(
            left, tuple(right for _, right in members), self._backend.array(cells), sum(cells.shape)
        )

    def _joined(self, part: DeviceArray, group: Clique) -> DeviceArray:
        """Rows for all combinations of levels of a group; a row of ones for the empty one."""
        if not group:
            return part[:1] * 0 + 1
        table = part[self.rows[group[0]]]
        for name in group[1:]:
            table = (table[:, None] * part[self.rows[name]][None]).reshape(-1, part.shape[1])
        return table

    def _stacked(self, part: DeviceArray, groups: Sequence[Clique]) -> DeviceArray:
        tables = [self._joined(part, group) for group in groups]
        return self._backend.xp.concatenate(tables, 0) if len(tables) > 1 else tables[0]

    def _unstack(
        self, target: DeviceArray, part: DeviceArray, groups: Sequence[Clique], by_row: DeviceArray
    ) -> None:
        start = 0
        for group in groups:
            end = start + self._domain.size(group)
            self._spread(target, part, group, by_row[start:end])
            start = end

    def _spread(
        self, target: DeviceArray, part: DeviceArray, group: Clique, by_row: DeviceArray
    ) -> None:
        """Add to ``target`` the derivatives by each attribute of a group, given those by its joined
        rows.
        """
        while group:
            name = group[0]
            group = group[1:]
            if not group:
                target[self.rows[name]] += by_row
                return
            rest = self._joined(part, group)
            by_row = by_row.reshape(self._domain[name], -1, part.shape[1])
            target[self.rows[name]] += (by_row * rest[None]).sum(1)
            # The product rule, attribute by attribute from the left: what is left over is the
            # derivative of the rest.
            by_row = (by_row * part[self.rows[name]][:, None]).sum(0)


def attribute_rows(domain: Domain) -> dict[str, slice]:
    """Which rows of ``levels`` belong to each attribute."""
    ends = np.cumsum([0, *domain.shape]).tolist()
    return {
        name: slice(start, end)
        for name, start, end in zip(domain.attributes, ends[:-1], ends[1:], strict=True)
    }


def _shared_splits(cliques: Sequence[Clique]) -> list[tuple[Clique, list[_Member]]]:
    """Groups of attributes, and for each the cliques of which it is a larger half, with their other
    half.

    Greedily, the half that most of the remaining cliques contain goes first.
    """
    # Cliques are small, so that all halves of all of them can be listed.
    halves = {
        clique: [frozenset(half) for half in combinations(clique, (len(clique) + 1) // 2)]
        for clique in cliques
    }
    counts = Counter(half for candidates in halves.values() for half in candidates)
    containing: dict[frozenset[str], list[Clique]] = {half: [] for half in counts}
    for clique, candidates in halves.items():
        for half in candidates:
            containing[half].append(clique)
    splits = []
    while halves:
        # A large left factor that many cliques share means few and large matrix products, which is
        # what libraries are quick at.
        shared, _ = counts.most_common(1)[0]
        members = [clique for clique in containing[shared] if clique in halves]
        left = tuple(name for name in members[0] if name in shared)
        splits.append(
            (
                left,
                [
                    (clique, tuple(name for name in clique if name not in shared))
                    for clique in members
                ],
            )
        )
        for clique in members:
            counts.subtract(halves.pop(clique))
    return splits
