"""The direct engine: the full probability vector, fitted by entropic mirror descent.

It is the graphical model over a tree of a single clique that holds every attribute: the same
fit, with nothing factored. It serves small domains, and as an oracle for the other engines.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, final

from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import ModelTooLargeError
from synthdp.inference.estimator import Estimator, Model, check_problem
from synthdp.inference.graphical_model import MarkovRandomField, fit_potentials
from synthdp.inference.junction_tree import JunctionTree
from synthdp.inference.mirror_descent import MirrorDescent, Progress
from synthdp.measurement import LinearMeasurement


@final
@dataclass(frozen=True, kw_only=True)
class DirectEstimator(Estimator):
    """Maximum-likelihood distribution over all cells of the domain.

    Parameters
    ----------
    driver
        The optimiser and its stopping rule.
    max_cells
        Refuse domains with more cells than this; a fit needs about 32 bytes a cell, and for the
        driver's memory 16 bytes for each measured cell and remembered iterate.
    """

    name: ClassVar[str] = "direct"
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
        check_problem(domain, measurements, constraints)
        self.check_domain(domain)
        tree = JunctionTree(domain, (domain.attributes,), (-1,))
        return fit_potentials(
            tree,
            measurements,
            constraints=constraints,
            driver=self.driver,
            warm_start=warm_start,
            progress=progress,
        )
