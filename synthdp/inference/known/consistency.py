"""Whether known marginals can hold at once, with each other and with public constraints."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy import sparse

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError, ParameterError
from synthdp.core.known_marginal import KnownMarginal
from synthdp.inference.arrays import Array, IntArray
from synthdp.inference.known.order import order_of
from synthdp.inference.known.partitions import (
    JointTypes,
    components,
    implied,
    joined,
    merged_axes,
)

MAX_TYPES = 200_000
"""Combinations of groups that are looked at together: a linear programme of so many takes seconds."""

_MAX_DIFFERENCE = 1e-6
"""Shares that differ by more contradict each other: published ones have at least six digits."""


def check_known(
    domain: Domain, known: Sequence[KnownMarginal], constraints: Sequence[Constraint] = ()
) -> None:
    """Ask whether some table has all known marginals and keeps to the constraints.

    Raises
    ------
    ParameterError
        If none does; it names the marginals, and an attribute that they share.
    ModelTooLargeError
        If marginals go in a circle, or hang together with constraints, over too many cells to tell.
    """
    for marginal in known:
        marginal.check_fits(domain)
    for one, other in combinations(known, 2):
        _check_pair(one, other)
    for marginal in known:
        for constraint in constraints:
            _check_constraint(marginal, constraint)
    for part, rules in known_parts(known, constraints):
        _check_part(domain, part, rules)


def known_parts(
    known: Sequence[KnownMarginal], constraints: Sequence[Constraint]
) -> list[tuple[list[KnownMarginal], list[Constraint]]]:
    """Known marginals that hang together by attributes and constraints, and these constraints."""
    attributes = {name for marginal in known for name in marginal.clique}
    # A constraint that names one known attribute only, or none, leaves room for whatever is known.
    close = [each for each in constraints if set(each.clique) <= attributes]
    cliques = [*(marginal.clique for marginal in known), *(each.clique for each in close)]
    parts = []
    for members in components(cliques):
        part = [known[i] for i in members if i < len(known)]
        rules = [close[i - len(known)] for i in members if i >= len(known)]
        parts.append((part, rules))
    return parts


def incidence(types: JointTypes, kept: IntArray) -> sparse.csr_matrix:
    """Which of some types fall into which cells of all known marginals, one row a cell."""
    blocks = []
    for marginal in types.known:
        cells = types.cells(marginal)[kept]
        ones = (np.ones(cells.size), (cells, np.arange(cells.size)))
        blocks.append(sparse.csr_matrix(ones, shape=(marginal.values.size, cells.size)))
    return sparse.vstack(blocks, format="csr")


def _check_pair(one: KnownMarginal, other: KnownMarginal) -> None:
    if one.total is not None and other.total is not None and one.total != other.total:
        raise ParameterError(
            f"{one.name} and {other.name} contradict each other: their counts sum to {one.total} "
            f"and {other.total}; give counts of the same records, or shares"
        )
    shared = [name for name in one.clique if name in other.clique]
    if not shared:
        return
    partitions = {name: joined(one.groups(name), other.groups(name)) for name in shared}
    difference = np.abs(implied(one, partitions) - implied(other, partitions)).max()
    both_count = one.is_count and other.is_count
    if difference > (0.5 / one.values.sum() if both_count else _MAX_DIFFERENCE):
        raise ParameterError(
            f"{one.name} and {other.name} contradict each other in {', '.join(map(repr, shared))}: "
            f"a share differs by {difference:.2g}; correct one, or leave it out"
        )


def _check_constraint(marginal: KnownMarginal, constraint: Constraint) -> None:
    """Refuse records in cells in which a constraint allows no combination."""
    shared = [name for name in marginal.clique if name in constraint.clique]
    if not shared:
        return
    outside = tuple(i for i, name in enumerate(constraint.clique) if name not in shared)
    left = [name for name in constraint.clique if name in shared]
    order = [left.index(name) for name in shared]
    allowed: Array = np.transpose(constraint.allowed.any(axis=outside), order).astype(np.float64)
    possible = merged_axes(allowed, [marginal.groups(name) for name in shared]) > 0
    if (marginal.summed(shared)[~possible] > 0).any():
        raise ParameterError(
            f"{marginal.name} has records that a rule on {', '.join(map(repr, constraint.clique))} "
            "forbids; correct one of the two"
        )


def _check_part(domain: Domain, part: Sequence[KnownMarginal], rules: Sequence[Constraint]) -> None:
    """Refuse marginals that agree two by two, but are those of no table."""
    if not part or (not rules and order_of(domain, part) is not None):
        return  # as in a junction tree, agreeing two by two is enough
    names = ", ".join(marginal.name for marginal in part)
    types = JointTypes(domain, part, rules)
    if types.n_types > MAX_TYPES:
        raise ModelTooLargeError(
            f"{names} hang together over {types.n_types} combinations, at most {MAX_TYPES} are "
            "allowed; give fewer of them, or over coarser levels"
        )
    from scipy.optimize import linprog

    kept = np.flatnonzero(types.possible())
    matrix = incidence(types, kept)
    wanted = np.concatenate([marginal.shares.ravel() for marginal in part])
    # Scaled, so that the solver's tolerance is small beside each cell; of each cell a little may
    # be missing, as published shares are rounded.
    n_cells = wanted.size
    identity = sparse.identity(n_cells, format="csr")
    programme = linprog(
        np.concatenate([np.zeros(kept.size), np.ones(2 * n_cells)]),
        A_eq=sparse.hstack([matrix, identity, -identity], format="csr"),
        b_eq=wanted * n_cells,
        bounds=(0, None),
        method="highs",
    )
    if programme.status != 0 or programme.fun > n_cells * n_cells * _MAX_DIFFERENCE:
        beside = " and the rules" if rules else ""
        raise ParameterError(
            f"{names}{beside} contradict each other: no table has them all; correct or leave out one"
        )
