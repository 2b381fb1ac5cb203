"""The graphical-model engine: a Markov random field over a junction tree (Private-PGM) [MSM19].

Among all distributions that explain the measurements best it finds the one of maximum entropy,
which is the member of the exponential family whose potentials live on the measured cliques.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, final

import numpy as np

from synthdp.cliques import Clique
from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import ModelTooLargeError
from synthdp.inference.arrays import Array
from synthdp.inference.estimator import Estimator, check_problem, check_warm_start
from synthdp.inference.graphical.marginal_oracle import MarginalOracle
from synthdp.inference.graphical.markov_random_field import MarkovRandomField
from synthdp.inference.graphical.possible_rows import possible_cells
from synthdp.inference.loss import MarginalLoss
from synthdp.inference.model import Model, Progress
from synthdp.inference.optimisers.mirror_descent import MirrorDescent
from synthdp.inference.trees.junction_tree import JunctionTree, fit_bytes
from synthdp.measurement import LinearMeasurement, estimate_total


def fit_potentials(
    tree: JunctionTree,
    measurements: Sequence[LinearMeasurement],
    *,
    constraints: Sequence[Constraint],
    driver: MirrorDescent,
    warm_start: Model | None,
    progress: Progress | None,
) -> MarkovRandomField:
    """Maximum-likelihood potentials over a given tree, with forbidden combinations at probability 0."""
    loss = MarginalLoss(tree.domain, measurements)
    total = estimate_total(measurements)
    possible = possible_cells(tree.domain, constraints)
    masks = {clique: np.where(allowed, 0.0, -np.inf) for clique, allowed in possible.items()}
    oracle = MarginalOracle(tree, [*loss.cliques, *masks])

    def marginals(theta: Array) -> Array:
        tables = oracle.marginals([*loss.split(theta), *masks.values()])
        return total * loss.flatten(tables[: len(loss.cliques)])

    def least(by_cell: Array) -> float:
        return -oracle.largest([*loss.split(-by_cell), *masks.values()])

    known = _known_potentials(tree.domain, warm_start)
    start = [known.get(clique, np.zeros(shape)) for clique, shape in zip(loss.cliques, loss.shapes, strict=True)]
    theta, status = driver.minimise(marginals, loss, loss.flatten(start), total=total, least=least, progress=progress)
    potentials = {clique: table.copy() for clique, table in zip(loss.cliques, loss.split(theta), strict=True)}
    for clique, mask in masks.items():
        potentials[clique] = potentials[clique] + mask if clique in potentials else mask
    return MarkovRandomField(tree=tree, log_potentials=potentials, total=total, status=status)


def _known_potentials(domain: Domain, warm_start: Model | None) -> dict[Clique, Array]:
    """Potentials of an earlier fit, with 0 for impossible cells: a fit could not leave those."""
    earlier = check_warm_start(warm_start, MarkovRandomField, domain)
    known = earlier.log_potentials if earlier else {}
    return {clique: np.where(np.isfinite(table), table, 0.0) for clique, table in known.items()}


@final
@dataclass(frozen=True, kw_only=True)
class GraphicalModelEstimator(Estimator):
    """Maximum-likelihood Markov random field over the smallest junction tree found [MSM19].

    Parameters
    ----------
    driver
        The optimiser and its stopping rule.
    max_cells
        Refuse trees with more cells than this; a fit needs about 32 bytes a cell, and for the
        driver's memory 16 bytes for each measured cell and remembered iterate.
    """

    name: ClassVar[str] = "graphical-model"
    driver: MirrorDescent = field(default_factory=MirrorDescent)
    max_cells: int = 50_000_000

    def rough(self) -> "GraphicalModelEstimator":
        """The same engine with a looser stopping rule."""
        return replace(self, driver=replace(self.driver, tolerance=1e-2, window=10))

    def estimate(
        self,
        domain: Domain,
        measurements: Sequence[LinearMeasurement],
        *,
        constraints: Sequence[Constraint] = (),
        warm_start: Model | None = None,
        progress: Progress | None = None,
    ) -> MarkovRandomField:
        """Fit the model; see `Estimator.estimate`."""
        check_problem(domain, measurements, constraints)
        tree = JunctionTree.covering(domain, [*(m.clique for m in measurements), *(c.clique for c in constraints)])
        if tree.n_cells() > self.max_cells:
            raise ModelTooLargeError(
                f"graphical-model: the junction tree has {tree.n_cells()} cells, at most {self.max_cells} are allowed "
                f"(a fit would take about {fit_bytes(tree.n_cells()) / 1e6:.0f} MB); "
                "measure fewer or smaller cliques, use fewer bins, or raise max_cells"
            )
        return fit_potentials(
            tree,
            measurements,
            constraints=constraints,
            driver=self.driver,
            warm_start=warm_start,
            progress=progress,
        )
