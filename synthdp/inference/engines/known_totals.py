"""Another engine under known marginals, which its models meet exactly."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, subsets
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.known_marginal import KnownMarginal
from synthdp.core.measurement import MIN_STDDEV, LinearMeasurement, estimate_total
from synthdp.inference.engine import Engine, FitProblem
from synthdp.inference.engines.refinement import estimate_refined
from synthdp.inference.graphical.markov_random_field import MarkovRandomField
from synthdp.inference.known.fitting import agreeing, projected_field
from synthdp.inference.model import Model
from synthdp.inference.models.known_totals import KnownTotalsModel

_RELATIVE_NOISE = 1e-3
"""Of the least noise of any measurement: known marginals are fitted so closely, and then met."""
_MAX_WIDTH = 6
"""Attributes of a known marginal whose parts are named one by one."""
_MAX_TREE_CELLS = 1 << 22
"""Of a known marginal over merged levels that a junction tree is made to hold."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class KnownTotalsEngine(Engine):
    """Fits under equality: first measurements are projected onto those that agree with what is
    known, then the other engine fits them beside the known marginals, and at last its model is
    projected onto the known marginals.

    The projection of a Markov random field is exact, by iterative proportional fitting over its
    tree; marginals of other models are raked one by one when they are asked for.
    """

    name: ClassVar[str] = "known-totals"
    refines: ClassVar[bool] = True
    inner: Engine
    """The other engine."""
    marginals: tuple[KnownMarginal, ...]
    """What is known; `check_known` has found that some table has it all."""

    @property
    def takes_merged(self) -> bool:  # type: ignore[override]
        """Whether the other engine does."""
        return self.inner.takes_merged

    @cached_property
    def total(self) -> int | None:
        """The number of records, if counts are known."""
        totals = [each.total for each in self.marginals if each.total is not None]
        return totals[0] if totals else None

    @cached_property
    def known_sets(self) -> frozenset[frozenset[str]]:
        """Sets of attributes whose marginals are known, level by level."""
        wholes = [each.whole[:_MAX_WIDTH] for each in self.marginals]
        return frozenset(map(frozenset, chain.from_iterable(map(subsets, wholes))))

    @property
    def known(self) -> Sequence[LinearMeasurement]:
        """All parts of known counts, and what the other engine knows: nothing need be paid for
        them.

        Of shares alone the number of records is not known, so that columns are still measured.
        """
        if self.total is None:
            return tuple(self.inner.known)
        total = np.array(float(self.total))
        own = {frozenset[str](): LinearMeasurement((), total, MIN_STDDEV)}
        # Shares beside counts are of as many records.
        for marginal in sorted(self.marginals, key=lambda each: each.total is None):
            for part in subsets(marginal.whole[:_MAX_WIDTH]):
                values = self.total * marginal.summed(part)
                own.setdefault(frozenset(part), LinearMeasurement(part, values, MIN_STDDEV))
        return (*self.inner.known, *own.values())

    def known_shares(self, clique: Clique) -> NDArray[np.float64] | None:
        """The shares of a marginal that is known level by level; of one column only if it is known
        of how many records.
        """
        if not clique:
            return None if self.total is None else np.array(1.0)
        if frozenset(clique) not in self.known_sets or (len(clique) == 1 and self.total is None):
            return None
        holding = (each for each in self.marginals if set(clique) <= set(each.whole))
        return next(holding).summed(clique)

    def check_domain(self, domain: Domain) -> None:
        """As the other engine does."""
        self.inner.check_domain(domain)

    def can_hold(self, domain: Domain, cliques: Sequence[Clique], *, max_cells: int) -> bool:
        """Whether the other engine can, the known marginals included."""
        known = [each.clique for each in self.marginals]
        return self.inner.can_hold(domain, [*cliques, *known], max_cells=max_cells)

    def rough(self) -> Engine:
        """The same over the other engine with its looser stopping rule."""
        return replace(self, inner=self.inner.rough())

    def checked(self, problem: FitProblem) -> FitProblem:
        """The problem itself: the other engine checks it."""
        return problem

    def fit(self, problem: FitProblem) -> Model:
        """Fit the other engine's model, and make it meet what is known."""
        domain = problem.domain
        for measurement in problem.measurements:
            measurement.check_fits(domain)
        total = (
            float(self.total) if self.total is not None else estimate_total(problem.measurements)
        )
        total = max(total, 1.0)
        # Of what is known level by level no measurement says more.
        left = [each for each in problem.measurements if self.known_shares(each.clique) is None]
        measured = agreeing(domain, left, self.marginals, total)
        earlier = problem.warm_start
        model = estimate_refined(
            self.inner,
            domain,
            [*measured, *self._as_measured(measured, total)],
            constraints=[*problem.constraints, *self._held(domain)],
            warm_start=earlier.inner if isinstance(earlier, KnownTotalsModel) else None,
            progress=problem.progress,
        )
        if isinstance(model, MarkovRandomField):
            model = projected_field(model, self.marginals)
        return KnownTotalsModel(inner=model, known=self.marginals, constraints=problem.constraints)

    def _as_measured(
        self, measured: Sequence[LinearMeasurement], total: float
    ) -> list[LinearMeasurement]:
        """The known marginals as the other engine can fit them."""
        scales = [float(np.min(each.stddev)) for each in measured]
        stddev = max(_RELATIVE_NOISE * min(scales, default=1.0), MIN_STDDEV)
        # What an engine without merged levels is not given, the last projection adds.
        unprojected = [
            each for each in self.marginals if each.coarsening is None or self.inner.takes_merged
        ]
        return [
            LinearMeasurement(each.clique, total * each.shares, stddev, each.coarsening)
            for each in unprojected
        ]

    def _held(self, domain: Domain) -> list[Constraint]:
        """Constraints that allow all, so that a tree holds what is known over merged levels."""
        if self.inner.takes_merged:
            return []
        return [
            Constraint(each.clique, np.ones(domain.project(each.clique).shape, dtype=np.bool_))
            for each in self.marginals
            if each.coarsening is not None
            and len(each.clique) > 1
            and domain.size(each.clique) <= _MAX_TREE_CELLS
        ]
