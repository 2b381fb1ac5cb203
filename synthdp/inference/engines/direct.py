"""The direct engine: the graphical model's fit with every cell of the domain in one clique.

It answers any marginal without a junction tree, which is what MWEM was made for, and is the
reference for the other engines on small domains.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, final

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError
from synthdp.core.measurement import LinearMeasurement
from synthdp.inference.engines.graphical_model import fit_potentials
from synthdp.inference.estimator import Estimator, checked_problem
from synthdp.inference.graphical.markov_random_field import MarkovRandomField
from synthdp.inference.model import Model, Progress
from synthdp.inference.optimisers.dual_newton import DualNewton
from synthdp.inference.optimisers.mirror_descent import MirrorDescent
from synthdp.inference.trees.junction_tree import JunctionTree


@final
@dataclass(frozen=True, kw_only=True)
class DirectEstimator(Estimator):
    """Maximum-likelihood distribution over all cells of the domain.

    Parameters
    ----------
    newton
        The optimiser where the measured cliques are those of a junction tree.
    driver
        The optimiser for all others, and its stopping rule.
    max_cells
        Refuse domains with more cells than this; a fit needs about 32 bytes a cell, and for the
        driver's memory 16 bytes for each measured cell and remembered iterate.
    """

    name: ClassVar[str] = "direct"
    newton: DualNewton = field(default_factory=DualNewton)
    driver: MirrorDescent = field(default_factory=MirrorDescent)
    max_cells: int = 10_000_000

    def check_domain(self, domain: Domain) -> None:
        """Raise `ModelTooLargeError` if the domain has more than ``max_cells`` cells."""
        if domain.size() > self.max_cells:
            raise ModelTooLargeError(
                f"direct: the domain has {domain.size()} cells, at most {self.max_cells} are allowed; "
                "use engine='graphical-model', which needs only the measured cliques"
            )

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
        measurements, constraints = checked_problem(domain, measurements, constraints)
        self.check_domain(domain)
        tree = JunctionTree.covering(domain, [domain.varying(domain.attributes)])
        return fit_potentials(
            tree,
            measurements,
            constraints=constraints,
            newton=self.newton,
            driver=self.driver,
            engine=self.name,
            warm_start=warm_start,
            progress=progress,
        )
