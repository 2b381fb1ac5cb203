"""The local-consistency engine: pseudo-marginals instead of a distribution [APPGM, 2109.06153].

Where cliques overlap so much that no junction tree fits into memory, one can still ask that the
marginals agree wherever two cliques overlap. Tables that do make up the local polytope, which
contains the true marginals. On it the loss is a quadratic programme with closed-form steps
(`local_polytope`), solved to optimality; the paper's convex belief propagation goes to the same
optimum step by step. The local polytope takes off less noise than the true marginals' own would;
an estimated prior makes up for that, and for more (`shrinkage`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError
from synthdp.core.measurement import LinearMeasurement, combined_measurements, estimate_total
from synthdp.inference.arrays import Array
from synthdp.inference.engine import Engine, FitProblem, check_warm_start, concluded
from synthdp.inference.loss import MarginalLoss
from synthdp.inference.model import FitStatus, Model
from synthdp.inference.models.pseudo_marginals import PseudoMarginalModel
from synthdp.inference.optimisers.dual_newton import DualNewton, Solution
from synthdp.inference.possible_cells import possible_cells
from synthdp.inference.projection import projected
from synthdp.inference.regions.local_polytope import LocalPolytope
from synthdp.inference.regions.region_graph import RegionGraph
from synthdp.inference.regions.region_masks import possible_masks
from synthdp.inference.shrinkage import expected_shares, one_way_shares, shrunk, unmeasured_variance

_PROVEN = 1e-4
"""By what share of itself and of the noise's own half a cell a loss may be above a bound of the
least one.
"""
_LOOSENED, _MAX_LOOSENED = 30.0, 10
"""What the variance of regions that nobody measured grows by, and how often."""


@final
@dataclass(frozen=True, kw_only=True)
class LocalConsistencyEngine(Engine):
    """Locally consistent pseudo-marginals that fit noisy ones best, over the region graph of the
    cliques.

    Regions are the measured cliques, those of constraints that are in none of them, and attributes
    that are in neither.
    """

    name: ClassVar[str] = "local-consistency"
    newton: DualNewton = field(default_factory=DualNewton)
    """The optimiser and its stopping rule."""
    shrinkage: bool = True
    """True: the posterior mode under an estimated prior, independence but for smaller measured
    cliques (`shrinkage`). The noisier the counts, the more they are drawn to it; marginals are
    usually nearer to the truth than those of least loss, and dependence that is lost in noise
    is not made up. False: least loss (maximum likelihood); on decomposable sets of cliques this
    is the graphical model's. Either is post-processing.
    """
    max_cells: int = 50_000_000
    """Refuse region graphs with more cells than this; a fit needs about 100 bytes a cell."""

    def fit(self, problem: FitProblem) -> PseudoMarginalModel:
        """Fit the model."""
        domain = problem.domain
        measurements = problem.measurements
        possible = possible_cells(domain, problem.constraints)
        cliques = [measurement.clique for measurement in measurements]
        # Within a measured clique a region of its own would only draw that one to a prior.
        cliques += [
            clique for clique in possible if not any(set(clique) <= set(other) for other in cliques)
        ]
        # What regions share is a region as well, so cells grow with the measured marginals and not
        # with a junction tree.
        graph = RegionGraph.covering(domain, cliques)
        if graph.n_cells() > self.max_cells:
            raise ModelTooLargeError(
                f"{self.name}: the regions have {graph.n_cells()} cells, at most {self.max_cells} are allowed; "
                "measure fewer or smaller cliques, use fewer bins, or raise max_cells"
            )
        total = estimate_total(measurements)
        polytope = LocalPolytope(graph)
        masks = possible_masks(graph, possible)
        loss = MarginalLoss(domain, measurements)
        target, variance = _targets(
            graph, measurements, masks, total=total, shrinkage=self.shrinkage
        )
        start = polytope.join(earlier_messages(domain, problem.warm_start))
        measured = np.concatenate(
            [np.full(domain.size(region), region in loss.cliques) for region in graph.regions]
        )
        solve = partial(
            self.newton.project, polytope, target, total=total, progress=problem.progress
        )
        solution = solve(variance, start=start)
        # The least loss is only a question where priors of unmeasured regions may have cost some.
        if not self.shrinkage and measured.any() and not measured.all():
            solution = _of_least_loss(solve, solution, polytope, target, variance, measured)
        tables = polytope.tables(solution.cells)
        # Nothing sensible can be said, and dividing by 0 would say nan.
        if not all(table.sum() > 0.0 for table in tables):
            # Beside counts of -1e18 rounding leaves nothing of a small total: no table can be
            # estimated.
            tables = [mask.astype(np.float64) for mask in masks]
            solution = solution._replace(ended="stopped")
        tables = [table / table.sum() for table in tables]
        shares = dict(zip(graph.regions, tables, strict=True))
        fitted = [total * shares.get(clique, np.ones(())) for clique in loss.cliques]
        status = FitStatus(
            ended=solution.ended,
            n_iterations=solution.n_iterations,
            loss=loss.of_tables(fitted),
        )
        messages = polytope.split(solution.messages)
        return PseudoMarginalModel.fitted(
            problem, shares, messages, total=total, status=concluded(self.name, status)
        )


def _of_least_loss(
    solve: Callable[..., Solution],
    solution: Solution,
    polytope: LocalPolytope,
    target: Array,
    variance: Array,
    measured: NDArray[np.bool_],
) -> Solution:
    """The solution, or one that regions which nobody measured draw less, whose loss is proven to be
    the least.

    Such regions are drawn to a prior so that they are no tables at random. Where that costs loss,
    their variance grows; if it still does in the end, the solution says that it stalled.
    """
    if solution.ended != "optimal":
        return solution
    is_least = _is_least(polytope, solution, target, variance, measured)
    for _ in range(_MAX_LOOSENED):
        if is_least:
            return solution
        # Thirty times looser at each try, from where the last one ended.
        variance = np.where(measured, variance, _LOOSENED * variance)
        looser = solve(variance, start=solution.messages)
        if looser.ended != "optimal":
            break
        solution = looser._replace(n_iterations=solution.n_iterations + looser.n_iterations)
        is_least = _is_least(polytope, solution, target, variance, measured)
    return solution if is_least else solution._replace(ended="stalled")


def _is_least(
    polytope: LocalPolytope,
    solution: Solution,
    target: Array,
    variance: Array,
    measured: NDArray[np.bool_],
) -> bool:
    """Whether the loss of the measured regions is proven to be within a small part of the least.

    By weak duality: no consistent tables lose less than regions do one by one where each cell is
    paid its field. The measured ones are at that minimum; any other region would have all records
    in the cell of its largest field, and what that pays more than its own table is the gap.
    """
    # The Lagrangian of the problem without the unmeasured regions' terms: what the multipliers pay
    # for each of their cells.
    field = np.where(variance > 0, polytope.field(solution.messages), -np.inf)
    unmeasured = polytope.tables(np.where(measured, 0.0, solution.cells))
    gap = 0.0
    for table, paid in zip(unmeasured, polytope.tables(field), strict=True):
        gap += float(np.sum(table[table > 0] * (paid.max() - paid[table > 0])))
    is_determined = measured & (variance > 0)
    reached = 0.5 * float(
        np.sum(np.square(solution.cells - target)[is_determined] / variance[is_determined])
    )
    return gap <= _PROVEN * (reached + 0.5 * int(is_determined.sum()))


def earlier_messages(
    domain: Domain, warm_start: Model | None
) -> Mapping[tuple[Clique, Clique], Array]:
    """Lagrange multipliers to start from: those of an earlier fit of pseudo-marginals, if any."""
    earlier = check_warm_start(warm_start, PseudoMarginalModel, domain)
    return earlier.messages if earlier else {}


def _targets(
    graph: RegionGraph,
    measurements: Sequence[LinearMeasurement],
    masks: Sequence[NDArray[np.bool_]],
    *,
    total: float,
    shrinkage: bool,
) -> tuple[Array, Array]:
    """Wanted counts and their variances, regions end to end; impossible cells have variance 0.

    Regions that nobody measured are drawn to their prior, so weakly that all they could add to
    the loss is a hundredth (`unmeasured_variance`).
    """
    measured = {
        measurement.clique: measurement
        for measurement in combined_measurements(graph.domain, measurements)
    }
    noisy = projected(list(measured.values()), total)
    shares = one_way_shares(graph.domain, list(measured.values()), total=total)
    possible = dict(zip(graph.regions, masks, strict=True))
    targets: dict[Clique, Array] = {}
    variances: dict[Clique, Array] = {}
    # Small ones first, so that each prior is made of what was already drawn to its own.
    for region in sorted(graph.regions, key=len):  # priors are made of smaller tables
        if shrinkage:
            of_clique = {clique: targets[clique] for clique in targets if clique in measured}
        else:
            of_clique = {}
        prior = total * expected_shares(region, possible[region], shares, of_clique)
        if region not in measured:
            target = prior
            variance = unmeasured_variance(prior, total)
        else:
            target = noisy[region]
            variance = measured[region].variance
            if shrinkage:
                target, variance = shrunk(target, variance, prior)
        targets[region], variances[region] = target, np.where(possible[region], variance, 0.0)
    return _flat(graph, targets), _flat(graph, variances)


def _flat(graph: RegionGraph, tables: Mapping[Clique, Array]) -> Array:
    return np.concatenate([tables[region].ravel() for region in graph.regions])
