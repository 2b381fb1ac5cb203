"""Making drawn rows keep to public constraints, for engines whose models do so only nearly."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import ModelTooLargeError
from synthdp.inference.arrays import Array, Column, IntArray
from synthdp.inference.graphical.markov_random_field import MarkovRandomField
from synthdp.inference.model import FitStatus
from synthdp.inference.trees.junction_tree import JunctionTree

_MOST_REDRAWS = 20
_MOST_CELLS = 50_000_000


def repaired(
    columns: Sequence[Column],
    *,
    constraints: Sequence[Constraint],
    domain: Domain,
    one_way: Callable[[str], Array],
    redraw: Callable[[IntArray], Sequence[Column]],
    generator: np.random.Generator,
    given: Sequence[str] = (),
) -> tuple[Column, ...]:
    """The same rows, but for impossible ones, which are drawn again until all are possible.

    An impossible row is redrawn a bounded number of times. If it still is impossible, its
    attributes that constraints speak of are drawn from the product of the model's one-way
    marginals, given that all constraints hold: exactly, over a junction tree of the constraints.

    Parameters
    ----------
    columns
        Codes of each attribute, each of shape ``(n_rows,)``; they are not changed.
    constraints
        What is possible.
    domain
        The attributes of the columns.
    one_way
        Weights of an attribute's levels, asked for only if needed.
    redraw
        New codes of each attribute for the rows at given positions.
    generator
        Source of (seeded, not private) randomness.
    given
        Attributes whose codes are kept (``redraw`` must keep them, too).

    Raises
    ------
    ParameterError
        If a row had to be repaired and no row at all is possible, or none with its given codes.
    ModelTooLargeError
        If the junction tree of the constraints is too large to be of use.
    """
    fixed = tuple(column.copy() for column in columns)
    for _ in range(_MOST_REDRAWS):
        rows = _impossible_rows(fixed, constraints, domain)
        if rows.size == 0:
            return fixed
        for column, values in zip(fixed, redraw(rows), strict=True):
            column[rows] = values
    rows = _impossible_rows(fixed, constraints, domain)
    if rows.size:
        fallback = _possible_rows(constraints, domain, one_way)
        seed = int(generator.integers(1 << 62))
        known = {name: fixed[domain.index(name)][rows] for name in fallback.domain.attributes if name in given}
        drawn = fallback.complete(known, seed=seed) if known else fallback.sample(rows.size, seed=seed)
        for name, values in zip(fallback.domain.attributes, drawn, strict=True):
            fixed[domain.index(name)][rows] = values
    return fixed


def possible_cells(constraints: Sequence[Constraint], domain: Domain) -> Mapping[Clique, NDArray[np.bool_]]:
    """For each constrained clique, axes in the order of the domain, what all constraints on it allow."""
    tables: dict[Clique, NDArray[np.bool_]] = {}
    for constraint in constraints:
        constraint.check_fits(domain)
        canonical = constraint.canonical(domain)
        earlier = tables.get(canonical.clique, True)
        tables[canonical.clique] = canonical.allowed & earlier
    return tables


def check_some_row_is_possible(constraints: Sequence[Constraint], domain: Domain) -> None:
    """Raise `ParameterError` if constraints contradict each other, `ModelTooLargeError` if that is hard to tell."""
    if constraints:
        _possible_rows(constraints, domain, lambda name: np.ones(domain[name])).marginal(())


def _impossible_rows(columns: Sequence[Column], constraints: Sequence[Constraint], domain: Domain) -> IntArray:
    possible = np.ones(len(columns[0]), dtype=np.bool_)
    for constraint in constraints:
        possible &= constraint.holds(domain, columns)
    return np.flatnonzero(~possible)


def _possible_rows(
    constraints: Sequence[Constraint], domain: Domain, one_way: Callable[[str], Array]
) -> MarkovRandomField:
    """Constrained attributes, independent but for the constraints."""
    allowed = possible_cells(constraints, domain)
    involved = domain.project(domain.canonical(name for clique in allowed for name in clique))
    tree = JunctionTree.covering(involved, allowed)
    if tree.n_cells() > _MOST_CELLS:
        raise ModelTooLargeError(
            f"constraints: their junction tree has {tree.n_cells()} cells, at most {_MOST_CELLS} are allowed; "
            "declare fewer or smaller ones"
        )
    potentials: dict[Clique, Array] = {}
    for name in involved.attributes:
        weights = np.asarray(one_way(name))
        # A level that the model rules out may be the only one that the constraints leave.
        potentials[(name,)] = np.log(np.maximum(weights, 1e-12 * max(float(weights.max()), 1e-300)))
    for clique, table in allowed.items():
        zeros = np.where(table, 0.0, -np.inf)
        potentials[clique] = potentials[clique] + zeros if clique in potentials else zeros
    status = FitStatus(converged=True, n_iterations=0, loss=0.0)
    return MarkovRandomField(tree=tree, log_potentials=potentials, total=1.0, status=status)
