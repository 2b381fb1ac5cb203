"""Rows that nearly have the marginals of overlapping tables: a network of conditionals.

Each attribute is drawn given the earlier ones that it shares a table with. Its distribution is
log-linear, one factor a table: what the table that says most of it says, times what each of the
others adds, to the power of one over their number, as they repeat each other. Iterative
proportional fitting on some rows, drawn attribute by attribute, then brings them to agree. A table
of all combinations of given attributes, as a junction tree has, is not needed.
"""

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array, CodeColumn, Column, IntArray, cell_numbers, compact
from synthdp.inference.compiled import Compiled
from synthdp.inference.regions.region_tables import ROUNDING, RegionTables

_ROUNDS = 5
"""Rounds of proportional fitting of a conditional: rows are moved afterwards to what is left to mend."""
_PILOT_ROWS = 20_000
"""Rows that conditionals are fitted on."""
_BLOCK_ROWS = 1 << 15
"""Rows drawn at once: their codes and cells stay in a processor's cache."""

Floats = NDArray[np.float32]


class _Conditional(NamedTuple):
    """An attribute's own shares, and by what factor each cell of some sets of earlier attributes
    changes them.
    """

    name: str
    shares: Floats
    scopes: tuple[Clique, ...]
    factors: Floats
    """One row for each cell of each scope, scope after scope, shape ``(n_cells, size)``."""
    starts: IntArray
    """Where the rows of each scope start."""


@final
class RowNetwork:
    """Conditionals of all attributes, each given earlier ones.

    Parameters
    ----------
    regions
        Tables whose marginals drawn rows shall nearly have.
    generator
        Source of (seeded, not private) randomness for the rows that conditionals are fitted on.
    """

    def __init__(self, regions: RegionTables, *, generator: np.random.Generator) -> None:
        self._domain = regions.domain
        self._conditionals: list[_Conditional] = []
        pilot: dict[str, Column] = {}
        # Attribute by attribute: each conditional is fitted on rows that were drawn from those
        # before it, so errors of early ones are seen by later ones.
        for name, scopes in _ordered_scopes(regions).items():
            conditional, wanted = _joined(regions, name, scopes)
            # With one scope the conditional is exact as it is.
            if len(scopes) > 1:
                cells = _cells(self._domain, conditional, pilot, _PILOT_ROWS)
                fit(cells, conditional.shares, conditional.factors, wanted, _ROUNDS)
            self._conditionals.append(conditional)
            pilot[name] = self._drawn(conditional, pilot, _PILOT_ROWS, generator)

    def draw(self, n_rows: int, *, generator: np.random.Generator) -> tuple[Column, ...]:
        """Codes of each attribute, each of shape ``(n_rows,)``; rows are independent of each other."""
        blocks: list[dict[str, Column]] = []
        for start in range(0, max(n_rows, 1), _BLOCK_ROWS):
            drawn: dict[str, Column] = {}
            for conditional in self._conditionals:
                size = min(_BLOCK_ROWS, n_rows - start)
                drawn[conditional.name] = self._drawn(conditional, drawn, size, generator)
            blocks.append(drawn)
        return tuple(
            np.concatenate([block[name] for block in blocks]) for name in self._domain.attributes
        )

    def _drawn(
        self,
        conditional: _Conditional,
        given: dict[str, Column],
        n_rows: int,
        generator: np.random.Generator,
    ) -> Column:
        cells = _cells(self._domain, conditional, given, n_rows)
        codes = np.empty(n_rows, dtype=np.int32)
        draw(cells, conditional.shares, conditional.factors, generator.random(n_rows), codes)
        return compact(codes, conditional.shares.size)


def _cells(
    domain: Domain, conditional: _Conditional, given: dict[str, Column], n_rows: int
) -> IntArray:
    """For each row and scope the row of factors that it takes, shape ``(n_rows, n_scopes)``."""
    cells = np.empty((n_rows, len(conditional.scopes)), dtype=np.int64)
    for i, scope in enumerate(conditional.scopes):
        columns: list[CodeColumn] = [given[name] for name in scope]
        cells[:, i] = cell_numbers(domain, scope, columns, n_rows) + conditional.starts[i]
    return cells


def _ordered_scopes(regions: RegionTables) -> dict[str, list[Clique]]:
    """The attributes in order, and for each the largest sets of earlier ones that it shares a
    region with; the one that says most of it comes first.
    """
    domain = regions.domain
    scopes: dict[str, list[Clique]] = {}
    while len(scopes) < len(domain):
        best: tuple[float, str, list[Clique]] | None = None
        for name in (name for name in domain.attributes if name not in scopes):
            homes = {tuple(a for a in r if a in scopes): r for r in regions.tables if name in r}
            given = [scope for scope in maximal_cliques(homes) if scope]
            new = frozenset([name])
            gains = {
                scope: regions.information(frozenset(scope), new, homes[scope]) for scope in given
            }
            total = sum(gains.values())
            # The attribute that the placed ones say most of comes next; strong dependences are then
            # direct and not by way of others.
            if best is None or total > best[0] + ROUNDING:
                ranked = sorted(given, key=gains.__getitem__, reverse=True)
                best = (total, name, ranked)
        assert best is not None  # some attribute is not in the order yet
        scopes[best[1]] = best[2]
    return scopes


def _joined(
    regions: RegionTables, name: str, scopes: Sequence[Clique]
) -> tuple[_Conditional, Floats]:
    """The conditional before it is fitted, and the shares of values that each cell shall have."""
    home = regions.home((name,))
    assert home is not None  # each attribute is in some region
    shares = regions.marginal(home, (name,))
    factors: list[Array] = []
    wanted: list[Array] = []
    for i, scope in enumerate(scopes):
        inside = regions.home((*scope, name))
        assert inside is not None  # scopes come from regions
        table = regions.marginal(inside, (*scope, name)).reshape(-1, shares.size)
        within = _ratio(table, table.sum(axis=1, keepdims=True))
        wanted.append(within)
        # The strongest scope in full, the others by a root: in full all of them would count what
        # they have in common several times over. The fit corrects the rest.
        factors.append(_ratio(within, shares) ** (1.0 if i == 0 else 1.0 / len(scopes)))
    starts = np.cumsum([0, *map(len, factors)])[:-1]
    none = np.empty((0, shares.size))
    conditional = _Conditional(
        name,
        shares.astype(np.float32),
        tuple(scopes),
        np.concatenate([none, *factors]).astype(np.float32),
        starts.astype(np.int64),
    )
    return conditional, np.concatenate([none, *wanted]).astype(np.float32)


def _ratio(wanted: Array, present: Array) -> Array:
    return np.divide(wanted, present, out=np.zeros_like(wanted), where=present > 0)


@Compiled
def draw(  # noqa: C901
    cells: IntArray,
    shares: Floats,
    factors: Floats,
    uniform: NDArray[np.float64],
    codes: NDArray[np.int32],
) -> None:
    """Draw a value for each row, by the attribute's shares times a row of factors for each scope.

    Parameters
    ----------
    cells
        Rows of ``factors``, shape ``(n_rows, n_scopes)``.
    shares, factors
        See `_Conditional`.
    uniform
        Numbers from 0 to 1, shape ``(n_rows,)``.
    codes
        Where the values go.
    """
    size = shares.size
    weights = np.empty(size, dtype=np.float32)
    for i in range(cells.shape[0]):
        weights[:] = shares
        for s in range(cells.shape[1]):
            factor = factors[cells[i, s]]
            for v in range(size):
                weights[v] *= factor[v]
        total = np.float32(0.0)
        for v in range(size):
            total += weights[v]
        if not total > 0.0:  # no value goes with all that is given: what says most of it decides
            for v in range(size):
                weights[v] = shares[v] * (factors[cells[i, 0], v] if cells.shape[1] else 1.0)
                total += weights[v]
        if not total > 0.0:
            total = np.float32(0.0)
            for v in range(size):
                weights[v] = shares[v]
                total += weights[v]
        rest = uniform[i] * total
        value = 0
        for v in range(size):
            if weights[v] > 0.0:
                value = v
                rest -= weights[v]
                if rest < 0.0:
                    break
        codes[i] = value


@Compiled
def fit(cells: IntArray, shares: Floats, factors: Floats, wanted: Floats, n_rounds: int) -> None:  # noqa: C901
    """Change factors until rows have, in the mean of each cell of a scope, the wanted shares.

    Parameters
    ----------
    cells
        Rows of ``factors``, shape ``(n_rows, n_scopes)``.
    shares, factors
        See `_Conditional`; factors are changed in place.
    wanted
        Shares of values in each cell, shape as ``factors``.
    n_rounds
        Rounds over all scopes.
    """
    n_rows, n_scopes = cells.shape
    size = shares.size
    table = np.empty((n_rows, size), dtype=np.float32)
    for i in range(n_rows):
        total = np.float32(0.0)
        for v in range(size):
            table[i, v] = shares[v]
            for s in range(n_scopes):
                table[i, v] *= factors[cells[i, s], v]
            total += table[i, v]
        if total > 0.0:
            for v in range(size):
                table[i, v] /= total
    sums = np.empty(factors.shape, dtype=np.float32)
    counts = np.empty(factors.shape[0], dtype=np.float32)
    for _ in range(n_rounds):
        for s in range(n_scopes):
            for i in range(n_rows):
                sums[cells[i, s]] = 0.0
                counts[cells[i, s]] = 0.0
            for i in range(n_rows):
                cell = cells[i, s]
                counts[cell] += 1.0
                for v in range(size):
                    sums[cell, v] += table[i, v]
            # From here on sums are by how much the factors change; each cell is changed once.
            for i in range(n_rows):
                cell = cells[i, s]
                if counts[cell] > 0.0:
                    for v in range(size):
                        present = sums[cell, v]
                        change = np.float32(0.0)
                        if present > 0.0:
                            change = wanted[cell, v] * counts[cell] / present
                        factors[cell, v] *= change
                        sums[cell, v] = change
                    counts[cell] = 0.0
            for i in range(n_rows):
                cell = cells[i, s]
                for v in range(size):
                    table[i, v] *= sums[cell, v]
