"""An engine that is given more than measurements: marginals that are known from elsewhere."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Self, final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.measurement import Coarsening, LinearMeasurement
from synthdp.inference.engine import Engine, FitProblem
from synthdp.inference.model import Model

_ROOM = 2**20
"""Cells of a model that is to hold some of what is known, as it cannot hold all: fitted in seconds."""


@final
class InformedEngine(Engine):
    """Fits measurements, and marginals that are known from released values or public ones, as if
    all were measured.

    Parameters
    ----------
    engine
        What fits.
    known
        Marginals, in the units of the measurements, and how far each may be off.
    constraints
        What released values rule out.
    """

    def __init__(
        self,
        engine: Engine,
        known: Sequence[LinearMeasurement],
        constraints: Sequence[Constraint] = (),
    ) -> None:
        self._engine, self._measured = engine, tuple(known)
        self._constraints = tuple(constraints)
        self.name, self.takes_merged = engine.name, engine.takes_merged  # type: ignore[misc]

    @property
    def known(self) -> Sequence[LinearMeasurement]:
        """What is known."""
        return self._measured

    def check_domain(self, domain: Domain) -> None:
        """As the engine does."""
        self._engine.check_domain(domain)

    def can_hold(self, domain: Domain, cliques: Sequence[Clique], *, max_cells: int) -> bool:
        """Whether a model of these cliques, and of what is known, has at most so many cells."""
        # What is known of ancestors is in every fit, so it counts towards the size of the model.
        known = [measurement.clique for measurement in self._measured]
        return self._engine.can_hold(domain, [*known, *cliques], max_cells=max_cells)

    def over_merged(self, domain: Domain, coarsening: Coarsening) -> Self:
        """The engine for merged levels, with what is known of them."""
        known = []
        for measurement in self._measured:
            merging = coarsening.restricted(measurement.clique)
            known.append(measurement if merging is None else measurement.coarsened(merging))
        # A group of levels is possible if one of its levels is.
        constraints = [
            Constraint(
                each.clique, coarsening.apply(each.clique, each.allowed.astype(np.int64)) > 0
            )
            for each in self._constraints
        ]
        return type(self)(self._engine.over_merged(domain, coarsening), known, constraints)

    def rough(self) -> Engine:
        """The same with a looser stopping rule."""
        return type(self)(self._engine.rough(), self._measured, self._constraints)

    def checked(self, problem: FitProblem) -> FitProblem:
        """The problem with what is known beside what was measured."""
        measurements = [*problem.measurements, *self._held(problem)]
        constraints = [*problem.constraints, *self._constraints]
        return self._engine.checked(
            replace(problem, measurements=measurements, constraints=constraints)
        )

    def _held(self, problem: FitProblem) -> Sequence[LinearMeasurement]:
        """What is known; where the engine would refuse all of it, what there is room for beside what
        was measured, the first ones first.
        """
        domain = problem.domain
        cliques = [each.clique for each in problem.measurements]
        cliques += [each.clique for each in (*problem.constraints, *self._constraints)]
        known = [each.clique for each in self._measured]
        if not self._engine.refuses(domain, [*cliques, *known]):
            return self._measured
        held = []
        for each in self._measured:
            with_it = [*cliques, each.clique]
            if len(each.clique) == 1 or self._engine.can_hold(domain, with_it, max_cells=_ROOM):
                cliques = with_it
                held.append(each)
        return held

    def fit(self, problem: FitProblem) -> Model:
        """Fit a model to all of them."""
        return self._engine.fit(problem)
