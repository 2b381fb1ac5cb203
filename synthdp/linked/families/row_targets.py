"""What rows of a view that are moved together should have, given what is known of them."""

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.measurement import FloatArray
from synthdp.inference.arrays import cell_counts
from synthdp.inference.shrinkage import raked
from synthdp.linked.package.qualified import OTHER
from synthdp.linked.package.view import LinkedView

LevelMasks = Mapping[str, NDArray[np.bool_]]
Group = tuple[NDArray[np.intp], LevelMasks]
"""Places of rows, and for attributes which levels these may have."""

_TOLERANCE, _MAX_ROUNDS = 1e-6, 20
_HARDLY = 1e-9
"""Expected rows that are none."""


@final
class RowTargets:
    """Shares of the cells of marginals that some rows of a view should have.

    What is released of own columns beside known ones says how they are distributed given these; so
    do one-way tables of own columns, which those of several are brought to agree with.

    Parameters
    ----------
    view
        The view.
    domain
        The attributes of its model.
    records
        Codes of the rows in the order of the domain, and then the number of the group of each,
        shape ``(n_attributes + 1, n_rows)``.
    fixed
        The attributes that are known.
    groups
        The groups.
    known
        Shares of the levels of own columns that a population has where these rows are; None if they
        are no such population.
    """

    def __init__(
        self,
        view: LinkedView,
        domain: Domain,
        records: NDArray[np.int32],
        fixed: Clique,
        groups: Sequence[Group],
        known: Mapping[str, FloatArray] | None,
    ) -> None:
        self._view = view
        self._domain = domain
        self._records = records
        self._fixed = fixed
        self._known = known
        self._possible = self._beside(groups)

    def of(self, tables: Mapping[Clique, FloatArray]) -> dict[Clique, FloatArray]:
        """The shares, of expected rows of the whole view as `ExpectedRows` has them."""
        position = self._view.position
        targets: dict[Clique, FloatArray] = {}
        implied: dict[str, list[FloatArray]] = {name: [] for name in self._view.drawn}
        for clique, rows in tables.items():
            shares = rows
            if position in self._fixed:
                shares = np.take(rows, self._codes(position)[0], axis=-1)
            shares = self._kept(clique, np.maximum(shares, 0.0))
            if not shares.any():
                continue
            outer = [name for name in clique if name in self._fixed]
            if outer:
                # What was released of a column beside its ancestors is used as a conditional: the
                # ancestors that were drawn are as they are.
                axes = [clique.index(name) for name in outer]
                shares = _given(shares, axes, self._present(outer))
                for axis, name in enumerate(clique):
                    if name in implied:
                        implied[name].append(_one_way(shares, axis))
            targets[clique] = shares / shares.sum()
        means: dict[str, FloatArray] = {
            name: np.mean(ways, axis=0) for name, ways in implied.items() if ways
        }
        means.update(self._known or {})
        return {
            clique: self._agreeing(clique, shares, means)
            if self._known is not None or not {*self._fixed}.intersection(clique)
            else shares
            for clique, shares in targets.items()
        }

    def _beside(self, groups: Sequence[Group]) -> dict[str, NDArray[np.bool_]]:
        """Of own columns that groups limit, which levels rows may have beside each level of the
        sibling's; shape ``(size, size)``.

        What was released beside the others is then left out: rows that it is asked of, and that may
        not have it, would be moved to any other cells.
        """
        possible: dict[str, NDArray[np.bool_]] = {}
        group_of = self._records[-1]
        for number, (_, wanted) in enumerate(groups):
            for name, levels in wanted.items():
                if OTHER + name in self._domain.attributes:
                    size = self._domain[name]
                    table = possible.setdefault(name, np.zeros((size, size), np.bool_))
                    table[self._codes(OTHER + name)[group_of == number]] |= levels
        # What a group does not limit may be anything.
        for name, table in possible.items():
            free = [number for number, (_, wanted) in enumerate(groups) if name not in wanted]
            table[self._codes(OTHER + name)[np.isin(group_of, free)]] = True
        return possible

    def _kept(self, clique: Clique, shares: FloatArray) -> FloatArray:
        """The cells of a marginal that rows may be in; others as 0."""
        for name, levels in self._possible.items():
            if {name, OTHER + name} <= {*clique}:
                axes = [clique.index(OTHER + name), clique.index(name)]
                table = levels if axes[0] < axes[1] else levels.T
                others = tuple(axis for axis in range(shares.ndim) if axis not in axes)
                # Where nothing possible was released all that is possible is alike.
                shares = (shares + _HARDLY) * np.expand_dims(table, others)
        return shares

    def _agreeing(
        self, clique: Clique, shares: FloatArray, means: Mapping[str, FloatArray]
    ) -> FloatArray:
        """Shares of the cells of a marginal that agree with those of own columns, and with what is
        known of the rows; as they are where a column has none.
        """
        if not set(clique) <= means.keys() | {*self._fixed}:
            return shares
        ways: dict[tuple[int, ...], FloatArray] = {
            (axis,): means[name] for axis, name in enumerate(clique) if name in means
        }
        if outer := tuple(axis for axis, name in enumerate(clique) if name in self._fixed):
            ways[outer] = self._present([clique[axis] for axis in outer])
        return raked(shares, ways, tolerance=_TOLERANCE, max_rounds=_MAX_ROUNDS)

    def _present(self, names: Sequence[str]) -> FloatArray:
        """Shares of the rows in the cells of some attributes."""
        counts = cell_counts(self._domain, tuple(names), tuple(self._records[:-1]))
        return np.asarray(counts / self._records.shape[1])

    def _codes(self, name: str) -> NDArray[np.int32]:
        return np.asarray(self._records[self._domain.index(name)])


def shares_by_number(
    by_number: Mapping[str, FloatArray], numbers: NDArray[np.int32]
) -> dict[str, FloatArray]:
    """Shares of the levels of own columns in families of as many rows as these have.

    Parameters
    ----------
    by_number
        Of each own column the expected rows by number of rows of the parent, and level.
    numbers
        How many rows the parent of each has, shape ``(n_rows,)``.
    """
    shares = {}
    for name, rows in by_number.items():
        present = np.bincount(numbers, minlength=len(rows)) / len(numbers)
        shares[name] = _one_way(_given(rows, [0], present), 1)
    return shares


def _given(shares: FloatArray, axes: Sequence[int], present: FloatArray) -> FloatArray:
    """Shares with another marginal on some axes, whose order is that of the axes; even where they
    have none.
    """
    inner = tuple(axis for axis in range(shares.ndim) if axis not in axes)
    sums = shares.sum(axis=inner, keepdims=True)
    even = np.full_like(shares, sums.size / shares.size)
    return np.asarray(
        np.divide(shares, sums, out=even, where=sums > 0) * present.reshape(sums.shape)
    )


def _one_way(shares: FloatArray, axis: int) -> FloatArray:
    return np.asarray(
        shares.sum(axis=tuple(other for other in range(shares.ndim) if other != axis))
    )
