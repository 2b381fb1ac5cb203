"""Rows that nearly have the marginals of overlapping tables: a network of conditionals.

Each attribute is drawn given the earlier ones that it shares a table with. Its distribution is
log-linear, one factor a table: what the table that says most of it says, times what each of the
others adds, to the power of one over their number, as they repeat each other. Iterative
proportional fitting on some rows, drawn attribute by attribute, then brings them to agree. A table
of all combinations of given attributes, as a junction tree has, is not needed.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array, IntArray
from synthdp.inference.compiled import Compiled
from synthdp.inference.jobs import each
from synthdp.inference.regions.region_tables import ROUNDING, RegionTables

_ROUNDS = 5
"""Rounds of proportional fitting of a conditional: rows are moved afterwards to what is left to
mend.
"""
_PILOT_ROWS = 20_000
"""Rows that conditionals are fitted on."""
_BLOCK_ROWS = 1 << 14
"""Rows drawn at once, from a seed of their own: their codes and cells stay in a processor's cache.
"""

Floats = NDArray[np.float32]
Records = NDArray[np.int32]


class Scopes(NamedTuple):
    """Sets of earlier attributes, and which cell of them a row is in.

    Attributes of all sets lie end to end, those of set ``i`` from ``first[i]`` to ``first[i + 1]``.
    """

    starts: IntArray
    """Where the cells of each set start."""
    first: IntArray
    members: IntArray
    """Numbers of the attributes."""
    strides: IntArray
    """By how many cells one level more moves a row."""


class _Conditional(NamedTuple):
    """An attribute's own shares, and by what factor each cell of some sets of earlier attributes
    changes them.
    """

    attribute: int
    shares: Floats
    scopes: Scopes
    factors: Floats
    """One row for each cell of each scope, scope after scope, shape ``(n_cells, size)``."""


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
        self._shape = regions.domain.shape
        self._conditionals: list[_Conditional] = []
        # Attribute by attribute: each conditional is fitted on rows that were drawn from those
        # before it, so errors of early ones are seen by later ones.
        pilot = np.empty((len(self._shape), _PILOT_ROWS), dtype=np.int32)
        for name, scopes in _ordered_scopes(regions).items():
            conditional, wanted = _joined(regions, name, scopes)
            # With one scope the conditional is exact as it is.
            if len(scopes) > 1:
                cells = _cells(conditional, pilot)
                fit(cells, conditional.shares, conditional.factors, wanted, _ROUNDS)
            self._conditionals.append(conditional)
            _draw_one(conditional, pilot, generator)

    def draw(self, n_rows: int, *, generator: np.random.Generator, n_jobs: int = 1) -> Records:
        """Codes, shape ``(n_attributes, n_rows)``; rows are independent of each other, and the same
        whatever the number of threads.
        """
        records = np.empty((len(self._shape), n_rows), dtype=np.int32)
        starts = range(0, n_rows, _BLOCK_ROWS)
        seeds = generator.integers(1 << 62, size=len(starts)).tolist()
        each(partial(self._draw_block, records), zip(starts, seeds, strict=True), n_jobs=n_jobs)
        return records

    def _draw_block(self, records: Records, block: tuple[int, int]) -> None:
        start, seed = block
        generator = np.random.default_rng(seed)
        drawn = np.empty((len(records), min(_BLOCK_ROWS, records.shape[1] - start)), dtype=np.int32)
        for conditional in self._conditionals:
            _draw_one(conditional, drawn, generator)
        records[:, start : start + drawn.shape[1]] = drawn


def _draw_one(conditional: _Conditional, records: Records, generator: np.random.Generator) -> None:
    """Draw an attribute's codes, given those of earlier ones; in place."""
    cells = _cells(conditional, records)
    uniform = generator.random((records.shape[1],))
    codes = records[conditional.attribute]
    draw_attribute(cells, conditional.shares, conditional.factors, uniform, codes)


def _cells(conditional: _Conditional, records: Records) -> IntArray:
    """For each scope and row the row of factors that it takes, shape ``(n_scopes, n_rows)``."""
    cells = np.empty((conditional.scopes.starts.size, records.shape[1]), dtype=np.int64)
    locate(records, conditional.scopes, cells)
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
    none = np.empty((0, shares.size))
    conditional = _Conditional(
        regions.domain.index(name),
        shares.astype(np.float32),
        _located(regions.domain, scopes),
        np.concatenate([none, *factors]).astype(np.float32),
    )
    return conditional, np.concatenate([none, *wanted]).astype(np.float32)


def _located(domain: Domain, scopes: Sequence[Clique]) -> Scopes:
    """Where the cells of the scopes lie, one scope after the other; the last attribute's levels are
    next to each other.
    """
    members: list[int] = []
    strides: list[int] = []
    for scope in scopes:
        members += [domain.index(name) for name in scope]
        strides += [domain.size(scope[place + 1 :]) for place in range(len(scope))]
    sizes = [domain.size(scope) for scope in scopes]
    return Scopes(
        starts=np.cumsum([0, *sizes], dtype=np.int64)[:-1],
        first=np.cumsum([0, *map(len, scopes)], dtype=np.int64),
        members=np.array(members, dtype=np.int64),
        strides=np.array(strides, dtype=np.int64),
    )


def _ratio(wanted: Array, present: Array) -> Array:
    return np.divide(wanted, present, out=np.zeros_like(wanted), where=present > 0)


@Compiled
def locate(records: Records, scopes: Scopes, cells: IntArray) -> None:
    """Work out which cell of each scope each row is in, scope by scope: the compiler makes vectors
    of it.
    """
    n_rows = records.shape[1]
    for s in range(scopes.starts.size):
        for i in range(n_rows):
            cells[s, i] = scopes.starts[s]
        for m in range(scopes.first[s], scopes.first[s + 1]):
            member = scopes.members[m]
            stride = scopes.strides[m]
            for i in range(n_rows):
                cells[s, i] += stride * records[member, i]


@Compiled
def draw_attribute(  # noqa: C901
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
        The row of ``factors`` that each scope takes, shape ``(n_scopes, n_rows)``.
    shares, factors
        See `_Conditional`.
    uniform
        Numbers from 0 to 1, shape ``(n_rows,)``.
    codes
        Where the values go.
    """
    size = shares.size
    weights = np.empty(size, dtype=np.float32)
    for i in range(uniform.size):
        for v in range(size):
            weights[v] = shares[v]
        for s in range(cells.shape[0]):
            cell = np.uintp(cells[s, i])
            for v in range(size):
                weights[v] *= factors[cell, v]
        total = np.float32(0.0)
        for v in range(size):
            total += weights[v]
        if not total > 0.0:  # no value goes with all that is given: what says most of it decides
            for v in range(size):
                weights[v] = shares[v] * (factors[cells[0, i], v] if cells.shape[0] else 1.0)
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
        Rows of ``factors``, shape ``(n_scopes, n_rows)``.
    shares, factors
        See `_Conditional`; factors are changed in place.
    wanted
        Shares of values in each cell, shape as ``factors``.
    n_rounds
        Rounds over all scopes.
    """
    n_scopes, n_rows = cells.shape
    size = shares.size
    table = np.empty((n_rows, size), dtype=np.float32)
    for i in range(n_rows):
        total = np.float32(0.0)
        for v in range(size):
            table[i, v] = shares[v]
            for s in range(n_scopes):
                table[i, v] *= factors[cells[s, i], v]
            total += table[i, v]
        if total > 0.0:
            for v in range(size):
                table[i, v] /= total
    sums = np.empty(factors.shape, dtype=np.float32)
    counts = np.empty(factors.shape[0], dtype=np.float32)
    for _ in range(n_rounds):
        for s in range(n_scopes):
            for i in range(n_rows):
                sums[cells[s, i]] = 0.0
                counts[cells[s, i]] = 0.0
            for i in range(n_rows):
                cell = cells[s, i]
                counts[cell] += 1.0
                for v in range(size):
                    sums[cell, v] += table[i, v]
            # From here on sums are by how much the factors change; each cell is changed once.
            for i in range(n_rows):
                cell = cells[s, i]
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
                cell = cells[s, i]
                for v in range(size):
                    table[i, v] *= sums[cell, v]
