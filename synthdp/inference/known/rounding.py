"""Controlled rounding: whole numbers for known marginals, which agree wherever two overlap."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.known_marginal import KnownMarginal
from synthdp.inference.arrays import Array, CodeColumn, IntArray
from synthdp.inference.known.consistency import incidence, known_parts
from synthdp.inference.known.order import order_of
from synthdp.inference.known.partitions import JointTypes, implied, joined, of_groups

_WHOLE = 1e-6
"""Expected counts that are so close to a whole number are that number."""
_MAX_SLACK = 4
"""Cells may be off by so much more than one where nothing less is possible."""
_SECONDS = 30.0
"""What the search for whole numbers may take; it ends at once for marginals of a junction tree."""


def rounded(
    domain: Domain,
    known: Sequence[KnownMarginal],
    rules: Sequence[Constraint],
    n_rows: int,
    generator: np.random.Generator,
) -> list[IntArray]:
    """Whole counts of each known marginal for so many rows, each within one of its share.

    Published counts of exactly so many records stay as they are. Which cells are rounded up is
    drawn, in proportion to what is left of them.

    Parameters
    ----------
    domain
        All attributes.
    known, rules
        Marginals that some table has, and what rows keep to, as `implied_rules` says of these.
    n_rows
        Number of rows.
    generator
        Source of (seeded, not private) randomness.

    Raises
    ------
    ParameterError
        If no such numbers were found.
    """
    counts: dict[int, IntArray] = {}
    for part, own_rules in known_parts(domain, known, rules).parts:
        expected = [marginal.shares * n_rows for marginal in part]
        if all(np.abs(table - np.rint(table)).max() < _WHOLE for table in expected):
            whole = [np.rint(table).astype(np.int64) for table in expected]
        else:
            whole = _searched(domain, part, own_rules, expected, n_rows, generator)
        counts |= {id(marginal): table for marginal, table in zip(part, whole, strict=True)}
    return [counts[id(marginal)] for marginal in known]


def _searched(
    domain: Domain,
    part: Sequence[KnownMarginal],
    rules: Sequence[Constraint],
    expected: Sequence[Array],
    n_rows: int,
    generator: np.random.Generator,
) -> list[IntArray]:
    is_tree = not rules and order_of(domain, part) is not None
    flat = np.concatenate([table.ravel() for table in expected])
    # Log odds of being rounded up, and noise that makes the choice a draw.
    rest = np.clip(flat - np.floor(flat + _WHOLE), _WHOLE, 1 - _WHOLE)
    prices = np.log1p(-rest) - np.log(rest) + generator.gumbel(size=rest.size) / 2
    for slack in range(_MAX_SLACK + 1):
        least = np.maximum(np.floor(flat + _WHOLE) - slack, 0)
        most = np.ceil(flat - _WHOLE) + slack * (flat > 0)
        if is_tree:
            rounded = _agreeing(part, least, most, prices, n_rows)
        else:
            rounded = _with_rows(domain, part, rules, least, most, prices, n_rows)
        if rounded is not None:
            ends = np.cumsum([table.size for table in expected])[:-1]
            pieces = np.split(rounded, ends)
            return [
                piece.reshape(table.shape) for piece, table in zip(pieces, expected, strict=True)
            ]
    names = ", ".join(marginal.name for marginal in part)
    raise ParameterError(
        f"{names}: no {n_rows} rows come close to all of them at once; ask for another number of rows"
    )


def _agreeing(
    part: Sequence[KnownMarginal], least: Array, most: Array, prices: Array, n_rows: int
) -> IntArray | None:
    """Whole numbers between limits that sum to the rows and agree where marginals overlap."""
    starts = np.cumsum([0, *(marginal.values.size for marginal in part)])
    rows: list[sparse.csr_matrix] = []
    sums: list[Array] = []
    for number in range(len(part)):
        # Each marginal by itself sums to the number of rows.
        ones = np.zeros(starts[-1])
        ones[starts[number] : starts[number + 1]] = 1.0
        rows.append(sparse.csr_matrix(ones))
        sums.append(np.array([float(n_rows)]))
    for (i, one), (j, other) in combinations(enumerate(part), 2):
        shared = [name for name in one.clique if name in other.clique]
        if not shared:
            continue
        # They agree on the coarsest groups that both have: one may know towns, the other regions.
        partitions = {name: joined(one.groups(name), other.groups(name)) for name in shared}
        size = implied(one, partitions).size
        matrix = sparse.lil_matrix((size, starts[-1]))
        # Sums of the one minus sums of the other are 0, an equation for each cell of what they
        # share.
        for sign, number, marginal in ((1.0, i, one), (-1.0, j, other)):
            cells: NDArray[np.int64] = np.arange(size).reshape(implied(one, partitions).shape)
            for axis, name in enumerate(shared):
                groups = of_groups(marginal.groups(name), partitions[name])
                cells = np.take(cells, groups, axis=axis)
            order = [shared.index(name) for name in marginal.clique if name in shared]
            cells = np.transpose(cells, order)
            shape = [
                length if name in shared else 1
                for name, length in zip(marginal.clique, marginal.values.shape, strict=True)
            ]
            cells = np.broadcast_to(cells.reshape(shape), marginal.values.shape).ravel()
            matrix[cells, starts[number] + np.arange(cells.size)] = sign
        rows.append(matrix.tocsr())
        sums.append(np.zeros(size))
    return _solved(prices, sparse.vstack(rows, format="csr"), np.concatenate(sums), least, most)


def _with_rows(
    domain: Domain,
    part: Sequence[KnownMarginal],
    rules: Sequence[Constraint],
    least: Array,
    most: Array,
    prices: Array,
    n_rows: int,
) -> IntArray | None:
    """Whole numbers between limits that are the counts of so many rows."""
    types = JointTypes(domain, part, rules)
    kept = np.flatnonzero(types.possible())
    matrix = incidence(types, kept)
    n_cells = prices.size
    # Unknowns are the rounded cells, and how many rows there are of each type.
    equal = sparse.hstack([sparse.identity(n_cells), -matrix])
    all_rows = sparse.csr_matrix(np.repeat([0.0, 1.0], [n_cells, kept.size]))
    solution = _solved(
        np.concatenate([prices, np.zeros(kept.size)]),
        sparse.vstack([equal, all_rows], format="csr"),
        np.append(np.zeros(n_cells), n_rows),
        np.concatenate([least, np.zeros(kept.size)]),
        np.concatenate([most, np.full(kept.size, np.inf)]),
    )
    return None if solution is None else solution[:n_cells]


def _solved(
    prices: Array, matrix: sparse.csr_matrix, sums: Array, least: Array, most: Array
) -> IntArray | None:
    """The cheapest whole numbers between limits with some sums; None if there are none."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    programme = milp(
        prices,
        constraints=LinearConstraint(matrix, sums, sums),
        bounds=Bounds(least, np.maximum(most, least)),
        integrality=np.ones(prices.size),
        options={"time_limit": _SECONDS, "mip_rel_gap": 0.05},
    )
    if programme.x is None:
        return None
    solution: IntArray = np.rint(programme.x).astype(np.int64)
    return solution


def counts_of(domain: Domain, known: KnownMarginal, columns: Sequence[CodeColumn]) -> IntArray:
    """How many rows fall into each cell of a known marginal."""
    cells = known_cells(domain, known, columns)
    counts = np.bincount(cells, minlength=known.values.size)
    return counts.reshape(known.values.shape)


def known_cells(domain: Domain, known: KnownMarginal, columns: Sequence[CodeColumn]) -> IntArray:
    """For each row the number of its cell in a known marginal."""
    cells = np.zeros(len(columns[0]), dtype=np.int64)
    for name, size in zip(known.clique, known.values.shape, strict=True):
        cells = cells * size + known.groups(name)[columns[domain.index(name)]]
    return cells
