"""Many rows like those of a smaller table: a network of conditionals, learnt from it and drawn from
in turn.

Each attribute is drawn given the earlier ones that it shares a clique with. Its distribution is
log-linear, one factor a clique, and is fitted by iterative proportional fitting: averaged over the
rows of the table, it has the table's marginals. A table of all combinations of given attributes,
as a junction tree has, is not needed: only those that occur are looked at.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.domain import Domain
from synthdp.inference.arrays import (
    Array,
    CodeColumn,
    Column,
    IntArray,
    cell_counts,
    cell_numbers,
    row_keys,
)
from synthdp.inference.drawing import draw_by_group, round_counts
from synthdp.inference.regions.region_tables import ROUNDING, RegionTables

_ROUNDS = 5
"""Rounds of proportional fitting of a conditional: its rows are moved afterwards to what is left to
mend.
"""


class _Conditional(NamedTuple):
    """An attribute's own shares, and for sets of earlier attributes by what factor each value
    changes them.
    """

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
        columns = tuple(records)
        scopes = _ordered_scopes(regions)
        self._conditionals = [
            _fitted(domain, columns, name, given) for name, given in scopes.items()
        ]

    def draw(self, n_rows: int, *, generator: np.random.Generator) -> tuple[Column, ...]:
        """Codes of each attribute, each of shape ``(n_rows,)``; groups of equal given values are
        rounded.
        """
        drawn: dict[str, Column] = {}
        for conditional in self._conditionals:
            given = self._domain.canonical(
                {name for scope in conditional.factors for name in scope}
            )
            groups, n_groups = row_keys(
                self._domain, given, (drawn[name] for name in given), n_rows
            )

            def weights(rows: IntArray, conditional: _Conditional = conditional) -> Array:
                cells = (
                    cell_numbers(
                        self._domain, scope, (drawn[name][rows] for name in scope), rows.size
                    )
                    for scope in conditional.factors
                )
                return conditional.weights(cells, rows.size)

            drawn[conditional.name] = draw_by_group(
                weights,
                groups,
                n_groups,
                self._domain[conditional.name],
                generator=generator,
                draw=round_counts,
            )
        return tuple(drawn[name] for name in self._domain.attributes)


def _ordered_scopes(regions: RegionTables) -> dict[str, list[Clique]]:
    """The attributes in order, and for each the largest sets of earlier ones that it shares a
    region with.
    """
    domain = regions.domain
    scopes: dict[str, list[Clique]] = {}
    while len(scopes) < len(domain):
        best: tuple[float, str, list[Clique]] | None = None
        for name in (name for name in domain.attributes if name not in scopes):
            homes = {tuple(a for a in r if a in scopes): r for r in regions.tables if name in r}
            given = [scope for scope in maximal_cliques(homes) if scope]
            new = frozenset([name])
            gain = sum(regions.information(frozenset(scope), new, homes[scope]) for scope in given)
            if best is None or gain > best[0] + ROUNDING:
                best = (gain, name, given)
        assert best is not None  # some attribute is not in the order yet
        scopes[best[1]] = best[2]
    return scopes


def _fitted(
    domain: Domain, columns: Sequence[CodeColumn], name: str, given: Sequence[Clique]
) -> _Conditional:
    """The conditional of one attribute that has the columns' marginals with each set of given ones."""
    n_rows, size = len(columns[0]), domain[name]
    by_name = dict(zip(domain.attributes, columns, strict=True))
    shares = cell_counts(domain, (name,), columns) / n_rows
    attributes = domain.canonical({other for scope in given for other in scope})
    groups, _ = row_keys(domain, attributes, (by_name[other] for other in attributes), n_rows)
    _, first, counts = np.unique(groups, return_index=True, return_counts=True)
    cells = [
        cell_numbers(domain, scope, (by_name[other][first] for other in scope), first.size)
        for scope in given
    ]
    sums = [
        _GroupSums(position, domain.size(scope))
        for position, scope in zip(cells, given, strict=True)
    ]
    wanted = [
        cell_counts(domain, (*scope, name), columns).reshape(-1, size) / n_rows for scope in given
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
