"""Rows that public constraints leave possible: whether there is any, and how to draw them."""

from collections.abc import Callable, Sequence

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError
from synthdp.inference.arrays import Array
from synthdp.inference.graphical.contradictions import added, log_masks
from synthdp.inference.graphical.markov_random_field import MarkovRandomField
from synthdp.inference.model import FitStatus
from synthdp.inference.possible_cells import possible_cells
from synthdp.inference.trees.junction_tree import JunctionTree

MAX_CELLS = 50_000_000
"""Cells of the junction tree of all constraints, as many as the graphical model takes: 1.6 GB at 32
bytes each.
"""
_MIN_SHARE = 1e-12
"""Weight of a level that a model rules out, beside its heaviest one: constraints may leave no
other.
"""


def check_possible(domain: Domain, constraints: Sequence[Constraint]) -> None:
    """Check that some row satisfies all constraints.

    Raises
    ------
    ParameterError
        If none does, or a constraint does not fit the domain.
    ModelTooLargeError
        If the junction tree of the constraints is too large to tell.
    """
    # Constraints on attributes of one level alone leave all rows.
    if possible_cells(domain, constraints):
        possible_rows(domain, constraints, lambda name: np.ones(domain[name])).marginal(())


def possible_rows(
    domain: Domain, constraints: Sequence[Constraint], one_way: Callable[[str], Array]
) -> MarkovRandomField:
    """The distribution of the constrained attributes that are independent but for the constraints.

    Parameters
    ----------
    domain
        All attributes.
    constraints
        What is possible, at least one.
    one_way
        Weights of an attribute's levels, at least 0.

    Raises
    ------
    ParameterError
        If a constraint does not fit the domain.
    ModelTooLargeError
        If the junction tree of the constraints has more than `MAX_CELLS` cells.
    """
    allowed = possible_cells(domain, constraints)
    involved = domain.project(domain.canonical(name for clique in allowed for name in clique))
    tree = JunctionTree.covering(involved, allowed)
    if tree.n_cells() > MAX_CELLS:
        raise ModelTooLargeError(
            f"constraints: their junction tree has {tree.n_cells()} cells, at most {MAX_CELLS} are allowed; "
            "declare fewer or smaller ones"
        )
    potentials: dict[Clique, Array] = {}
    for name in involved.attributes:
        weights = np.asarray(one_way(name))
        # 1e-300: a model may rule out all of an attribute's levels.
        least = _MIN_SHARE * max(float(weights.max()), 1e-300)
        potentials[(name,)] = np.log(np.maximum(weights, least))
    potentials = added(potentials, log_masks(allowed))
    status = FitStatus(ended="optimal", n_iterations=0, loss=0.0)
    return MarkovRandomField(tree=tree, log_potentials=potentials, total=1.0, status=status)
