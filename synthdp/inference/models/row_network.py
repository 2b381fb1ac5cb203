"""Many rows like those of a smaller table: a network of conditionals, learnt from it and drawn from in turn.

Each attribute is drawn given the earlier ones that it shares a clique with. Its distribution is
log-linear, one factor a clique, and is fitted by iterative proportional fitting: averaged over the
rows of the table, it has the table's marginals. A table of all combinations of given attributes,
as a junction tree has, is not needed: only those that occur are looked at.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique, maximal_cliques
from synthdp.domain import Domain
from synthdp.inference.arrays import Array, Column, IntArray
from synthdp.inference.drawing import draw_by_group, round_counts
from synthdp.inference.regions.region_tables import RegionTables

_ROUNDS = 5
_MOST_GROUPS = 1 << 62

_Columns = Mapping[str, NDArray[np.integer]]


class _Conditional(NamedTuple):
    """An attribute's own shares, and for sets of earlier attributes by what factor each value changes them."""

    name: str
    shares: Array
    factors: dict[Clique, Array]

    def weights(self, cells: Iterable[IntArray], n_rows: int) -> Array:
        """Weights of the values, given each row's cell in the marginal of each factor's attributes."""
        table = np.repeat(self.shares[None, :], n_rows, axis=0)
        for position, factor in zip(cells, self.factors.values(), strict=True):
            table *= factor[position]
        # Where no value goes with all that is given, the cells of some factor will be off.
        table[~table.any(axis=1)] = self.shares
        return table


@final
class RowNetwork:
    """Conditionals of all attributes, each given earlier ones.

    Parameters
    ----------
    domain
        The attributes.
    records
        The table to learn from, shape ``(n_attributes, n_records)``.
    regions
        Tables of the cliques whose marginals drawn rows shall have; they only say in which order
        to draw: an attribute that is known best by those before it comes next.
    """

    def __init__(self, domain: Domain, records: NDArray[np.integer], regions: RegionTables) -> None:
        self._domain = domain
        columns = dict(zip(domain.attributes, records, strict=True))
        scopes = _ordered_scopes(regions)
        self._conditionals = [_fitted(domain, columns, name, given) for name, given in scopes.items()]

    def draw(self, n_rows: int, *, generator: np.random.Generator) -> tuple[Column, ...]:
        """Codes of each attribute, each of shape ``(n_rows,)``; groups of equal given values are rounded."""
        drawn: dict[str, Column] = {}
        for conditional in self._conditionals:
            given = self._domain.canonical({name for scope in conditional.factors for name in scope})
            groups, n_groups = _numbered(self._domain, drawn, given, n_rows)

            def weights(rows: IntArray, conditional: _Conditional = conditional) -> Array:
                cells = (_cells(self._domain, drawn, scope, rows) for scope in conditional.factors)
                return conditional.weights(cells, rows.size)

            drawn[conditional.name] = draw_by_group(
                weights, groups, n_groups, self._domain[conditional.name], generator=generator, draw=round_counts
            )
        return tuple(drawn[name] for name in self._domain.attributes)


def _ordered_scopes(regions: RegionTables) -> dict[str, list[Clique]]:
    """The attributes in order, and for each the largest sets of earlier ones that it shares a region with."""
    domain = regions.domain
    scopes: dict[str, list[Clique]] = {}
    while len(scopes) < len(domain):
        best: tuple[float, str, list[Clique]] | None = None
        for name in (name for name in domain.attributes if name not in scopes):
            homes = {tuple(a for a in r if a in scopes): r for r in regions.tables if name in r}
            given = [scope for scope in maximal_cliques(homes) if scope]
            new = frozenset([name])
            gain = sum(regions.information(frozenset(scope), new, homes[scope]) for scope in given)
            if best is None or gain > best[0] + 1e-12:
                best = (gain, name, given)
        assert best is not None  # some attribute is not in the order yet
        scopes[best[1]] = best[2]
    return scopes


def _fitted(domain: Domain, columns: _Columns, name: str, given: Sequence[Clique]) -> _Conditional:
    """The conditional of one attribute that has the columns' marginals with each set of given ones."""
    n_rows, size = columns[name].size, domain[name]
    every = np.arange(n_rows)
    shares = np.bincount(columns[name], minlength=size) / n_rows
    attributes = domain.canonical({other for scope in given for other in scope})
    groups, _ = _numbered(domain, columns, attributes, n_rows)
    _, first, counts = np.unique(groups, return_index=True, return_counts=True)
    cells = [_cells(domain, columns, scope, first) for scope in given]
    sums = [_GroupSums(position, domain.size(scope)) for position, scope in zip(cells, given, strict=True)]
    wanted = [
        np.bincount(_cells(domain, columns, (*scope, name), every), minlength=domain.size((*scope, name))).reshape(
            -1, size
        )
        / n_rows
        for scope in given
    ]
    factors = [_ratio(table, table.sum(axis=1, keepdims=True) * shares) for table in wanted]
    conditional = _Conditional(name, shares, dict(zip(given, factors, strict=True)))
    for _ in range(_ROUNDS if len(given) > 1 else 0):
        table = conditional.weights(cells, first.size)
        table *= (counts / n_rows / table.sum(axis=1))[:, None]
        for i, position in enumerate(cells):
            change = _ratio(wanted[i], sums[i](table))
            factors[i] *= change  # in place: the conditional holds the same arrays
            table *= change[position]
    return conditional


@final
class _GroupSums:
    """Sums of the rows of a table by cell."""

    def __init__(self, cells: IntArray, n_cells: int) -> None:
        self._order = np.argsort(cells, kind="stable")
        in_order = cells[self._order]
        self._starts = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1]))
        self._present = in_order[self._starts]
        self._n_cells = n_cells

    def __call__(self, table: Array) -> Array:
        sums = np.zeros((self._n_cells, table.shape[1]))
        sums[self._present] = np.add.reduceat(table[self._order], self._starts, axis=0)
        return sums


def _ratio(wanted: Array, present: Array) -> Array:
    return np.divide(wanted, present, out=np.zeros_like(wanted), where=present > 0)


def _cells(domain: Domain, columns: _Columns, names: Sequence[str], rows: IntArray) -> IntArray:
    """For some rows the number of their cell in the flat marginal of some attributes."""
    cells = np.zeros(rows.size, dtype=np.int64)
    for name in names:
        cells *= domain[name]
        cells += columns[name][rows]
    return cells


def _numbered(domain: Domain, columns: _Columns, names: Clique, n_rows: int) -> tuple[IntArray, int]:
    """For each row a number of its combination of some values, and what such numbers are below."""
    groups, n_groups = np.zeros(n_rows, dtype=np.int64), 1
    for name in names:
        if n_groups * domain[name] > _MOST_GROUPS:
            found, groups = np.unique(groups, return_inverse=True)
            n_groups = found.size
        groups = groups * domain[name] + columns[name]
        n_groups *= domain[name]
    return groups, n_groups
