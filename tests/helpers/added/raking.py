"""Iterative proportional fitting over all cells of a small domain."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError, ParameterError
from synthdp.core.measurement import estimate_total
from synthdp.inference.engine import Engine, FitProblem
from synthdp.inference.graphical.markov_random_field import MarkovRandomField
from synthdp.inference.model import FitStatus
from synthdp.inference.possible_cells import possible_cells
from synthdp.inference.trees.junction_tree import JunctionTree


@final
@dataclass(frozen=True, kw_only=True)
class RakingEngine(Engine):
    """Iterative proportional fitting over all cells of a small domain."""

    name: ClassVar[str] = "raking"
    rounds: int = 50
    """How often all marginals are met, one after another."""
    max_cells: int = 1_000_000
    """Most cells of a domain that is taken."""

    def check_domain(self, domain: Domain) -> None:
        """Raise `ModelTooLargeError` if the domain has too many cells."""
        if (n_cells := domain.size()) > self.max_cells:
            raise ModelTooLargeError(f"raking: the domain has {n_cells} cells; use engine='auto'")

    def fit(self, problem: FitProblem) -> MarkovRandomField:
        """Fit the model; rounds are cheap enough to begin anew, so a warm start is not used."""
        domain = problem.domain
        measurements = problem.measurements
        constraints = problem.constraints
        self.check_domain(domain)
        total = estimate_total(measurements)
        cells = np.full(domain.shape, total / domain.size())
        for constraint in constraints:
            cells *= _spread(constraint.allowed, constraint.clique, domain)
        if not cells.any():
            raise ParameterError(
                "constraints: together they rule out everything; allow some combination"
            )
        for done in range(self.rounds):
            for measurement in measurements:
                # Not 0, however negative the noise: a cell at 0 could never come back.
                wanted = np.maximum(
                    _spread(measurement.values, measurement.clique, domain), 1e-9 * total
                )
                found = cells.sum(
                    axis=tuple(np.flatnonzero(np.equal(wanted.shape, 1))), keepdims=True
                )
                cells *= np.divide(wanted, found, out=np.zeros_like(found), where=found > 0)
                cells *= total / cells.sum()
            if problem.progress is not None:
                problem.progress(done + 1, self.rounds)
        # What a constraint rules out is said in a table of its own, so that messages can name it.
        potentials = {domain.attributes: np.log(np.maximum(cells, np.finfo(float).tiny))}
        for clique, allowed in possible_cells(domain, constraints).items():
            potentials[clique] = potentials.get(clique, 0.0) + np.where(allowed, 0.0, -np.inf)
        status = FitStatus(ended="stalled", n_iterations=self.rounds, loss=float("nan"))
        tree = JunctionTree.covering(domain, potentials)
        return MarkovRandomField(tree=tree, log_potentials=potentials, total=total, status=status)


def _spread(values: np.ndarray, clique: Clique, domain: Domain) -> np.ndarray:
    """The values of a clique with an axis for every attribute of the domain, of length 1 for those of others."""
    order = [clique.index(name) for name in domain.canonical(clique)]
    shape = [domain[name] if name in clique else 1 for name in domain.attributes]
    return np.transpose(values, order).reshape(shape)
