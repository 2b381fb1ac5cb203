"""The local-consistency engine: pseudo-marginals instead of a distribution [APPGM, 2109.06153].

Where cliques overlap so much that no junction tree fits into memory, one can still ask that the
marginals agree wherever two cliques overlap. Tables that do make up the local polytope, which
contains the true marginals. On it the loss is a quadratic programme with closed-form steps
(`local_polytope`), solved to optimality; the paper's convex belief propagation goes to the same
optimum step by step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import ModelTooLargeError, ParameterError
from synthdp.inference.arithmetic import Array
from synthdp.inference.estimator import Estimator, Model, check_problem
from synthdp.inference.local_polytope import DualNewton, LocalPolytope
from synthdp.inference.loss import MarginalLoss
from synthdp.inference.mirror_descent import FitStatus, Progress
from synthdp.inference.pseudo_marginals import PseudoMarginalModel
from synthdp.inference.region_graph import RegionGraph
from synthdp.inference.repair import possible_cells
from synthdp.measurement import LinearMeasurement, combined_measurements, estimate_total

_LEAST_SHARE = 1e-3
_PRIOR_LOSS = 0.01
_LEAST_SPREAD = 1e-4


@final
@dataclass(frozen=True, kw_only=True)
class LocalConsistencyEstimator(Estimator):
    """Locally consistent pseudo-marginals of least loss over the region graph of the cliques.

    Regions are the measured cliques, those of constraints, and attributes that are in none of
    them. On decomposable sets of cliques the result is the graphical model's.

    Parameters
    ----------
    newton
        The optimiser and its stopping rule.
    shrinkage
        False: least loss (maximum likelihood). True: noisy counts are first drawn to independence,
        the more the noisier they are (see `shrunk`). The loss is then not the least, but marginals
        are usually nearer to the truth. Either is post-processing.
    max_cells
        Refuse region graphs with more cells than this; a fit needs about 100 bytes a cell.
    """

    name: ClassVar[str] = "local-consistency"
    newton: DualNewton = field(default_factory=DualNewton)
    shrinkage: bool = False
    max_cells: int = 50_000_000

    def estimate(
        self,
        domain: Domain,
        measurements: Sequence[LinearMeasurement],
        *,
        constraints: Sequence[Constraint] = (),
        warm_start: Model | None = None,
        progress: Progress | None = None,
    ) -> PseudoMarginalModel:
        """Fit the model; see `Estimator.estimate`."""
        check_problem(domain, measurements, constraints)
        possible = possible_cells(constraints, domain)
        graph = RegionGraph.covering(domain, [*(measurement.clique for measurement in measurements), *possible])
        if graph.n_cells() > self.max_cells:
            raise ModelTooLargeError(
                f"{self.name}: the regions have {graph.n_cells()} cells, at most {self.max_cells} are allowed; "
                "measure fewer or smaller cliques, use fewer bins, or raise max_cells"
            )
        total = estimate_total(measurements)
        polytope = LocalPolytope(graph)
        masks = possible_masks(graph, possible)
        target, variance = _targets(graph, measurements, masks, total=total, shrinkage=self.shrinkage)
        # In units of a typical stddev, so that rounding error has a known size.
        unit = float(np.sqrt(np.median(variance[variance > 0])))
        start = polytope.join(_known_messages(domain, warm_start)) * unit
        solution = self.newton.project(
            polytope, target / unit, variance / unit**2, total=total / unit, start=start, progress=progress
        )
        tables = [table * (unit / total) for table in polytope.tables(solution.cells)]
        shares = dict(zip(graph.regions, tables, strict=True))
        loss = _loss(domain, measurements, shares, total)
        return PseudoMarginalModel(
            domain=domain,
            tables=shares,
            messages=polytope.split(solution.messages / unit),
            constraints=constraints,
            total=total,
            status=FitStatus(converged=solution.converged, n_iterations=solution.n_iterations, loss=loss),
        )


def _loss(
    domain: Domain, measurements: Sequence[LinearMeasurement], tables: Mapping[Clique, Array], total: float
) -> float:
    loss = MarginalLoss(domain, measurements)
    marginals = [total * tables.get(clique, np.ones(())) for clique in loss.cliques]
    return loss.of_residual(loss.residual(loss.flatten(marginals)))


def _known_messages(domain: Domain, warm_start: Model | None) -> Mapping[tuple[Clique, Clique], Array]:
    if not isinstance(warm_start, PseudoMarginalModel):
        return {}
    if warm_start.domain != domain:
        raise ParameterError("warm_start: it is over another domain; give a model over the same attributes and sizes")
    return warm_start.messages


def possible_masks(graph: RegionGraph, possible: Mapping[Clique, NDArray[np.bool_]]) -> list[NDArray[np.bool_]]:
    """For each region the cells that constraints allow, in it and in regions that it meets.

    Raises
    ------
    ParameterError
        If constraints contradict each other so far that a region has no possible cell.
    """
    masks = []
    for region in graph.regions:
        mask = np.ones(graph.domain.project(region).shape, dtype=np.bool_)
        for clique, allowed in possible.items():
            if set(clique) <= set(region):
                mask &= allowed.reshape([graph.domain[name] if name in clique else 1 for name in region])
        masks.append(mask)
    changed = bool(possible)
    while changed:
        changed = False
        for joint in graph.joints:
            supports = [_support(masks[i], graph.regions[i], joint.clique) for i in joint.regions]
            shared = np.logical_and.reduce([np.ravel(support) for support in supports])
            if not shared.any():
                raise ParameterError("constraints: together they leave no possible row; loosen them")
            for i, support in zip(joint.regions, supports, strict=True):
                if shared.sum() < support.sum():
                    masks[i] &= shared.reshape(support.shape)
                    changed = True
    return masks


def _support(mask: NDArray[np.bool_], region: Clique, clique: Clique) -> NDArray[np.bool_]:
    """Which cells of a part of a region are possible, shaped to broadcast to the region."""
    summed = tuple(axis for axis, name in enumerate(region) if name not in clique)
    return np.asarray(mask.any(axis=summed, keepdims=True))


def _targets(
    graph: RegionGraph,
    measurements: Sequence[LinearMeasurement],
    masks: Sequence[NDArray[np.bool_]],
    *,
    total: float,
    shrinkage: bool,
) -> tuple[Array, Array]:
    """Wanted counts and their variances, regions end to end; impossible cells have variance 0.

    Regions that nobody measured are drawn to independence, so weakly that all they could add to
    the loss is a hundredth: the chi-squared distance stands in for relative entropy.
    """
    measured = {measurement.clique: measurement for measurement in combined_measurements(graph.domain, measurements)}
    shares = _one_way_shares(graph.domain, list(measured.values()))
    targets, variances = [], []
    for region, mask in zip(graph.regions, masks, strict=True):
        prior = np.where(mask, _product([shares[name] for name in region]), 0.0)
        prior *= total / prior.sum()
        if region not in measured:
            target, variance = prior, 0.5 * total / _PRIOR_LOSS * prior
        else:
            target, variance = measured[region].values, measured[region].variance
            if shrinkage and len(region) > 1:
                target, variance = shrunk(target, variance, prior)
        targets.append(target.ravel())
        variances.append(np.where(mask, variance, 0.0).ravel())
    return np.concatenate(targets), np.concatenate(variances)


def shrunk(counts: Array, variance: Array, prior: Array) -> tuple[Array, Array]:
    """Empirical Bayes: posterior mean and variance of counts around a prior table [Efron & Morris 1975].

    The true counts are taken to deviate from the prior with variances in proportion to it. How
    much is estimated: what the squared deviations of the noisy counts exceed the noise by.
    """
    excess = float(np.sum(np.square(counts - prior) - variance)) / float(prior.sum())
    spread = np.maximum(max(excess, 0.0) * prior, _LEAST_SPREAD * variance)
    return (counts * spread + prior * variance) / (variance + spread), variance * spread / (variance + spread)


def _one_way_shares(domain: Domain, measurements: Sequence[LinearMeasurement]) -> dict[str, Array]:
    """A rough distribution of each attribute, above 0 everywhere."""
    shares = {}
    for name, size in zip(domain.attributes, domain.shape, strict=True):
        weights = np.full(size, 1e-300)
        for measurement in measurements:
            if name in measurement.clique:
                axis = measurement.clique.index(name)
                summed = tuple(other for other in range(measurement.values.ndim) if other != axis)
                counts, variance = measurement.values.sum(axis=summed), measurement.variance.sum(axis=summed)
                weights += np.maximum(counts, 0.0) / variance.mean()
        shares[name] = weights / weights.sum() + _LEAST_SHARE / size
    return shares


def _product(factors: Sequence[Array]) -> Array:
    product = np.ones(())
    for factor in factors:
        product = np.multiply.outer(product, factor)
    return product
