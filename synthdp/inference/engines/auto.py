"""Choosing an engine by the size of its model: exact while that fits, approximate beyond."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, final

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.measurement import LinearMeasurement
from synthdp.inference.engine import Engine, FitProblem
from synthdp.inference.engines.graphical_model import GraphicalModelEngine
from synthdp.inference.engines.layered_consistency import LayeredConsistencyEngine
from synthdp.inference.model import Model
from synthdp.inference.trees.junction_tree import JunctionTree, fit_bytes


@final
@dataclass(frozen=True, kw_only=True)
class AutoEngine(Engine):
    """The graphical model while its junction tree is small enough, else layered consistency.

    The graphical model finds the exact maximum-likelihood solution but grows with the junction
    tree, which explodes on dense sets of cliques; layered consistency grows with the measured
    marginals only. The choice and its reason are in ``model.choice`` and in the certificate.
    """

    name: ClassVar[str] = "auto"
    takes_merged: ClassVar[bool] = True
    max_cells: int = 10_000_000
    """Largest junction tree that the graphical model may use; a fit needs about 32 bytes a cell."""
    is_rough: bool = False
    """Whether models only steer a selection, so that engines may stop sooner."""

    def choose(
        self,
        domain: Domain,
        measurements: Sequence[LinearMeasurement],
        constraints: Sequence[Constraint] = (),
    ) -> tuple[Engine, str]:
        """The engine for these measurements, and why."""
        approximate = LayeredConsistencyEngine()
        # The graphical model would have to be fitted over one common merging; layered consistency
        # takes each measurement as it is.
        if any(measurement.groups for measurement in measurements):
            return approximate, f"{approximate.name}: levels are merged in some of the measurements"
        cliques = [*(m.clique for m in measurements), *(c.clique for c in constraints)]
        # Columns of one level add cliques and no cells.
        n_cells = JunctionTree.covering(domain, map(domain.varying, cliques)).n_cells()
        size = f"the junction tree has {n_cells} cells, about {max(fit_bytes(n_cells) / 1e6, 1):.0f} MB in a fit"
        if n_cells <= self.max_cells:
            exact = GraphicalModelEngine(max_cells=self.max_cells)
            return exact, f"{exact.name}: {size}, at most {self.max_cells} are allowed"
        return (
            approximate,
            f"{approximate.name}: {size}, more than the {self.max_cells} that are allowed",
        )

    def can_hold(self, domain: Domain, cliques: Sequence[Clique], *, max_cells: int) -> bool:
        """Whether the junction tree of these cliques is that small."""
        return GraphicalModelEngine().can_hold(domain, cliques, max_cells=max_cells)

    def rough(self) -> "AutoEngine":
        """The same choice between engines with looser stopping rules."""
        return replace(self, is_rough=True)

    def fit(self, problem: FitProblem) -> Model:
        """Fit with the engine of choice."""
        engine, reason = self.choose(problem.domain, problem.measurements, problem.constraints)
        engine = engine.rough() if self.is_rough else engine
        model = engine.fit(problem)
        model.choice = reason
        return model
