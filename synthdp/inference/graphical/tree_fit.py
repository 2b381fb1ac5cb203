"""Exact least squares where the measured cliques are those of a junction tree.

There locally consistent tables are the marginals of a distribution, so that the closest point of
the local polytope (`DualNewton`) is the maximum-likelihood solution, in a few steps, whatever the
scales of noise. The distribution of greatest entropy with these marginals is the tree's own.

Least squares sets many cells to 0 exactly, of which noise is the only reason; the potentials of
such tables keep all that constraints allow possible.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array
from synthdp.inference.graphical.contradictions import Possible, added, log_masks
from synthdp.inference.graphical.marginal_oracle import MarginalOracle
from synthdp.inference.loss import MarginalLoss
from synthdp.inference.model import FitStatus, Progress
from synthdp.inference.optimisers.dual_newton import DualNewton
from synthdp.inference.projection import projected
from synthdp.inference.regions.local_polytope import LocalPolytope
from synthdp.inference.regions.region_graph import RegionGraph
from synthdp.inference.regions.region_masks import possible_masks
from synthdp.inference.summation import marginal_inside
from synthdp.inference.trees.junction_tree import JunctionTree

_MIN_SHARE = 1e-9
"""Of a level in the trace: a level that the tables rule out is no more impossible than other cells
of 0.
"""
_TRACE = 1e-50
"""Its weight: of 25 attributes, all that a clique of the tree has room for, each cell still is a
number.
"""
_UNSEEN = 1e-4
"""By what share the model's loss may be above that of the tables found, for the fit to be called
optimal.
"""


def is_decomposable(tree: JunctionTree, cliques: Sequence[Clique]) -> bool:
    """Whether each clique of a tree that covers some measured ones is one of them, or an attribute
    on its own.
    """
    measured = set(cliques)
    return all(clique in measured or len(clique) == 1 for clique in tree.cliques)


class Relaxed(NamedTuple):
    """Tables of the measured cliques and single attributes that agree wherever two overlap, their
    loss, and steps.
    """

    tables: dict[Clique, Array]
    loss: float
    n_iterations: int


def relaxed(
    domain: Domain,
    loss: MarginalLoss,
    possible: Possible,
    *,
    total: float,
    newton: DualNewton,
    progress: Progress | None = None,
) -> Relaxed | None:
    """The consistent tables of least loss, a lower bound for all distributions; None if the search
    fails.

    Parameters
    ----------
    domain
        All attributes.
    loss
        The loss to minimise.
    possible
        For each clique that constraints speak of the possible cells; those inside no table are left
        out.
    total
        Number of records.
    newton
        The optimiser and its stopping rule.
    progress
        Called with (iterations done, iterations at most).

    Raises
    ------
    ParameterError
        If the constraints together rule out everything.
    """
    # Noisy tables contradict each other where they overlap. Their projection is closed form, and
    # the Newton method starts close to its end.
    noisy = projected(loss.measurements, total)
    variance_of = {measurement.clique: measurement.variance for measurement in loss.measurements}
    graph = RegionGraph.covering(domain, noisy)
    masks = dict(zip(graph.regions, possible_masks(graph, possible), strict=True))
    # An attribute that nobody measured is as good as measured to be even.
    targets = [
        # Joints are regions as well; the target of one that was not measured is even over what is
        # possible.
        np.ravel(noisy.get(region, total / mask.sum() * mask))
        for region, mask in masks.items()
    ]
    variances = [
        np.where(mask, variance_of.get(region, 1.0), 0.0).ravel() for region, mask in masks.items()
    ]
    polytope = LocalPolytope(graph)
    solution = newton.project(
        polytope,
        np.concatenate(targets),
        np.concatenate(variances),
        total=total,
        start=np.zeros(polytope.n_messages),
        progress=progress,
    )
    # Tables that do not agree belong to no distribution; better no start than a false one.
    if solution.ended != "optimal":
        return None
    tables = dict(zip(graph.regions, polytope.tables(solution.cells), strict=True))
    least = loss.of_tables([tables.get(clique, np.array(total)) for clique in loss.cliques])
    return Relaxed(tables, least, solution.n_iterations)


def fit_tree(
    tree: JunctionTree, loss: MarginalLoss, start: Relaxed | None, *, total: float
) -> tuple[list[Array], FitStatus] | None:
    """For each clique of a tree its table of least loss, summing to 1, and how the fit ended; None
    if it failed.

    Parameters
    ----------
    tree
        The tree, whose cliques are measured (`is_decomposable`) and hold those of all constraints.
    loss
        The loss to minimise.
    start
        What `relaxed` found.
    total
        Number of records.
    """
    # The relaxation was lost; the caller goes on by mirror descent.
    if start is None:
        return None
    tables = [start.tables[clique] / total for clique in tree.cliques]
    reached = loss.of_residual(_residual(tree, tables, loss, total)) + loss.of_repeats
    # Tables that agree up to rounding need not have the marginals that they are said to have.
    # Compared beside what noise alone leaves of a loss, half a unit a cell: a loss that is nearly 0
    # need not be met to a share of itself. The "not" lets nan fail.
    if not reached <= start.loss + _UNSEEN * (start.loss + 0.5 * loss.n_cells):
        return None
    return tables, FitStatus(ended="optimal", n_iterations=start.n_iterations, loss=reached)


def potentials_of(
    tree: JunctionTree, tables: Sequence[Array], possible: Possible
) -> dict[Clique, Array]:
    """Logarithms of potentials under which a tree's cliques have given marginals, open to all that
    constraints allow.

    A cell of 0 is an estimate as any other, and no proof that such records do not occur. Mixed into
    each table is a trace of independent attributes that keep to the constraints: too little to
    change what has a probability, and enough that all else is ranked by how many such cells it
    takes.

    Parameters
    ----------
    tree
        The junction tree.
    tables
        Marginal of each of its cliques, summing to 1; they agree where cliques overlap.
    possible
        What constraints allow; those that are in no clique of the tree are left out.
    """
    masks = log_masks(
        {c: allowed for c, allowed in possible.items() if tree.position_of(c) is not None}
    )
    shares = {}
    for name in tree.domain.attributes:
        home = tree.position_of((name,))
        assert home is not None  # a tree covers its domain
        # Independent columns with the fitted shares, so that the trace ranks what has no
        # probability by how usual its levels are.
        shared = marginal_inside(tables[home], tree.cliques[home], (name,))
        shares[name,] = np.log(np.maximum(shared, _MIN_SHARE))
    traces = MarginalOracle(tree, [*shares, *masks]).beliefs([*shares.values(), *masks.values()])
    potentials: dict[Clique, Array] = {}
    for clique, separator, table, trace in zip(
        tree.cliques, tree.separators, tables, traces, strict=True
    ):
        summed = tuple(axis for axis, name in enumerate(clique) if name not in separator)
        # Weight 1e-50: invisible beside any cell of a float's precision, and still a number after
        # the product of 25 of them.
        mixed = table + _TRACE * trace
        sums = mixed.sum(axis=summed, keepdims=True)
        # The masks say what is impossible, so that the constraint that does is known by name.
        conditional = np.divide(mixed, sums, out=np.zeros_like(mixed), where=sums > 0)
        # A tree's distribution is a product of conditionals: each clique given its separator.
        # Written so, no division by separators is left to be done later.
        potentials[clique] = np.log(np.maximum(conditional, np.finfo(np.float64).tiny))
    return added(potentials, masks)


def _residual(
    tree: JunctionTree, tables: Sequence[Array], loss: MarginalLoss, total: float
) -> Array:
    """What the tables' marginals have more than what was measured, shape ``(n_cells,)``."""
    residuals = []
    for clique in loss.cliques:
        home = tree.position_of(clique)
        assert home is not None  # the tree covers what was measured
        residuals.append(total * marginal_inside(tables[home], tree.cliques[home], clique))
    return loss.residual(loss.flatten(residuals))
