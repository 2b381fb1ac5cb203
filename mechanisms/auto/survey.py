"""The dependences of one table as far as noise shows them: scores of independence and of a model,
and the batches of measurements that follow from them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import sqrt
from types import MappingProxyType
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, subsets
from synthdp.core.constraint import Constraint
from synthdp.core.many_cliques import blocks_of
from synthdp.core.measurement import estimate_total
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.inference.shrinkage import one_way_shares
from synthdp.mechanisms.auto.batch_plan import BatchPlan
from synthdp.mechanisms.auto.candidates import Candidates, weakest_pair
from synthdp.mechanisms.auto.expected_loss import ExpectedLoss
from synthdp.mechanisms.auto.findings import Findings
from synthdp.mechanisms.auto.named_marginals import Floor
from synthdp.mechanisms.auto.residual_errors import (
    column_errors,
    expected_parts,
    first_errors,
    later_errors,
)
from synthdp.mechanisms.auto.resolutions import Groups, Resolutions, ResolvedClique
from synthdp.mechanisms.shared.noisy_errors import error_stddev, independent_counts, release_errors
from synthdp.privacy.private_table import PrivateTable

FloatArray = NDArray[np.float64]

SquaredErrors = Mapping[ResolvedClique, float]
"""Squared L1 error, in squared records, of each part of a residual: what one resolution of a clique
shows beyond coarser ones and beyond smaller cliques.
"""

_MAX_CELLS_AT_ONCE = 1 << 24
"""Cells of the marginals that are scored by one question: 128 MB."""
# No table says what it should be, as it stands in for scores that are not there yet; the scores
# then outweigh it.
_WIDER_STRENGTH = 0.3
"""The dependence of a triple beyond its pairs before it is scored, as a share of its weakest
pair's.
"""
_MAX_FIRST_SHARE = 0.1
"""Most of the budget that scoring all pairs of a wide table may cost."""
_LOW_NOISE_SHARE = 0.02
"""Noise of a score, as a share of the records, below which more budget for scores is wasted."""


class Dependences(NamedTuple):
    """What scoring independence says."""

    errors: SquaredErrors
    """Of the model in which all columns are independent, as they were measured."""
    strengths: Mapping[Clique, float]
    """For each pair the squared L1 distance from independence, without what chance makes of it."""


@final
class Survey:
    """Scores and batches of measurements of one table whose columns are measured.

    Parameters
    ----------
    table
        The table; its ledger says how much may be spent.
    candidates
        What may be scored.
    engine, constraints, max_cells
        Which batches are possible: those that leave models of at most so many cells.
    findings
        Where each round is noted.
    groups
        Mergings of columns' levels by which an earlier release measured: resolutions keep to them.
    """

    def __init__(
        self,
        table: PrivateTable,
        candidates: Candidates,
        *,
        engine: Engine,
        constraints: Sequence[Constraint],
        max_cells: int,
        findings: Findings,
        groups: Groups = MappingProxyType({}),
    ) -> None:
        self._table = table
        self._candidates = candidates
        self._engine = engine
        self._constrained = [constraint.clique for constraint in constraints]
        self._max_cells = max_cells
        self._findings = findings
        # Once, from the columns as they were measured first: resolutions that moved between batches
        # would make parts of one plan mean other things in the next.
        self.shares = one_way_shares(table.domain, table.released, total=self._total)
        """About what share of the records each level of a column has."""
        self.resolutions = Resolutions(
            table.domain,
            self.shares,
            can_merge=engine.takes_merged,
            given=groups,
            noise={
                clique[0]: sqrt(variance) / self._total
                for clique, variance in self._variances.items()
                if len(clique) == 1
            },
        )
        """What marginals are scored and measured at."""

    @property
    def _total(self) -> float:
        """Estimated number of records."""
        return estimate_total(self._table.released)

    def score_independence(self, rho: Fraction) -> Dependences:
        """Score all pairs against independence, for ``rho``."""
        total = self._total
        # A pair's score holds the errors of its two columns as well; they are taken off before a
        # dependence is believed.
        columns = self.column_errors()
        expected = partial(independent_counts, self._table)
        scores, stddev = self.score_pairs(expected, rho)
        return Dependences(*first_errors(scores, stddev, columns, self.resolutions, total=total))

    def score_pairs(
        self, estimates: Callable[[list[Clique]], Iterable[FloatArray]], rho: Fraction
    ) -> tuple[dict[ResolvedClique, float], float]:
        """Noisy errors of some estimates of all pairs, for ``rho``, and the standard deviation of
        their noise.
        """
        return self._score(self._candidates.pairs, estimates, rho)

    def guess_wider(
        self, scored: Sequence[Clique], strengths: Mapping[Clique, float]
    ) -> SquaredErrors:
        """Expected squared errors of wider marginals by how much their pairs depend, before any of
        them is scored.
        """
        guesses: dict[ResolvedClique, float] = {}
        for clique in scored:
            if len(clique) > 2:
                # The weakest pair, because a triple with two unrelated columns is mostly its strong
                # pair.
                square = _WIDER_STRENGTH**2 * weakest_pair(strengths, clique)
                guesses |= expected_parts(clique, square, self.resolutions, total=self._total)
        return guesses

    def score_model(
        self,
        model: Model,
        scored: Sequence[Clique],
        expected: SquaredErrors,
        rho: Fraction,
        *,
        relative_model_error: float,
    ) -> SquaredErrors:
        """Score some marginals against a model, for ``rho``, and weigh that against its expected
        errors.

        Parameters
        ----------
        model
            Fitted to all that was measured.
        scored
            The marginals, pairs first.
        expected
            The squared errors that the model is expected to have.
        relative_model_error
            Standard deviation of the expected errors, as a share of them.
        """
        scores, stddev = self._score(
            scored, lambda some: (factor.values for factor in model.marginals(some)), rho
        )
        return later_errors(
            scores, stddev, expected, self.resolutions, relative_model_error=relative_model_error
        )

    def is_allowed(self, cliques: Sequence[Clique]) -> bool:
        """Whether the engine can hold a model of some cliques beside what is measured."""
        measured = [measurement.clique for measurement in self._table.released]
        return self._engine.can_hold(
            self._table.domain, [*self._constrained, *measured, *cliques], max_cells=self._max_cells
        )

    def after_floors(
        self, floors: Sequence[Floor], errors: SquaredErrors, weights: Mapping[Clique, float]
    ) -> SquaredErrors:
        """The squared errors that are left once floors are measured.

        Of wider named marginals nothing is known beforehand: they may err by all records. Those
        that were measured over merged levels are left out: a plan over finer ones would believe
        that the rest is noise.
        """
        finest = len(self.resolutions) - 1
        # Merged floors have groups of their own, by medians, which are none of the resolutions
        # here.
        whole = [floor for floor in floors if floor.coarsening is None]
        if not whole:
            return errors
        unknown: dict[ResolvedClique, float] = {}
        for floor in whole:
            for part in subsets(floor.clique):
                if len(part) > 2:
                    # As wrong as can be: the floor is then all that is known of it.
                    square = self._total**2
                    unknown |= expected_parts(part, square, self.resolutions, total=self._total)
        loss = self.loss({**errors, **unknown}, weights)
        measured = [ResolvedClique(floor.clique, finest) for floor in whole]
        precision = loss.precision_of(measured, [float(floor.rho) for floor in whole])
        return loss.left_by_part(precision)

    def measure_batch(
        self, errors: SquaredErrors, weights: Mapping[Clique, float], rho: Fraction
    ) -> SquaredErrors:
        """Plan a batch of measurements that lowers the weighted errors most, and measure it.

        Returns the squared errors that the plan expects of a model fitted to the batch.
        """
        table = self._table
        # The plan sees released values only, so it is free; the batch that it returns is charged
        # measurement by measurement.
        plan = BatchPlan(table.domain, self.loss(errors, weights), self.is_allowed)
        batch = self._unknown(plan.split(rho))
        for (clique, resolution), share in batch.items():
            table.measure(clique, rho=share, coarsening=self.resolutions.coarsenings[resolution])
        finest = len(self.resolutions) - 1
        # For the certificate: coarse tables are what users least expect.
        n_merged = sum(resolution < finest for _, resolution in batch)
        self._findings.measured(len(batch), n_merged)
        return plan.left()

    def _unknown(self, batch: Mapping[ResolvedClique, Fraction]) -> dict[ResolvedClique, Fraction]:
        """A batch without what is public anyway; its part of the budget goes to the others."""
        known = self._engine.known_sets
        asked = {each: rho for each, rho in batch.items() if frozenset(each.clique) not in known}
        kept = sum(asked.values(), Fraction(0))
        whole = sum(batch.values(), Fraction(0))
        return {each: rho * whole / kept for each, rho in asked.items()}

    def loss(self, errors: SquaredErrors, weights: Mapping[Clique, float]) -> ExpectedLoss:
        """The expected error of a weighted workload, as a function of the precision of each part."""
        l2_squared = self._table.ledger.unit.marginal_l2_squared
        return ExpectedLoss(self.resolutions, weights, errors, l2_squared=l2_squared)

    def _score(
        self,
        cliques: Sequence[Clique],
        estimates: Callable[[list[Clique]], Iterable[FloatArray]],
        rho: Fraction,
    ) -> tuple[dict[ResolvedClique, float], float]:
        """Noisy errors of some estimates, each at the finest resolution that shows more than
        chance, and the standard deviation of their noise.
        """
        total = self._total
        by_resolution: dict[int, list[Clique]] = {}
        for clique in cliques:
            # Scores of tables of too many cells would say how few records there are to a cell. All
            # scores have the same noise, whatever the resolution, so the finest that is not
            # dominated by chance shows most.
            resolution = self.resolutions.finest_informative(clique, total)
            by_resolution.setdefault(resolution, []).append(clique)
        errors: dict[ResolvedClique, float] = {}
        # One question to the kernel is over one merging; the budget is split by numbers of pairs,
        # which makes the noise of all errors equal, as in one question.
        for resolution, some in by_resolution.items():
            coarsening = self.resolutions.coarsenings[resolution]
            # Estimates of a block are in memory at once; all pairs of 500 columns have 2^28 cells.
            for block in blocks_of(self._table.domain, some, max_cells=_MAX_CELLS_AT_ONCE):
                expected = estimates(block)
                if coarsening is not None:
                    pairs = zip(block, expected, strict=True)
                    # Merged before they are compared: the L1 distance of merged tables, not the
                    # merged distance.
                    expected = [coarsening.apply(clique, values) for clique, values in pairs]
                # Each question has its part of the budget, so that all errors have equal noise.
                share = rho * len(block) / len(cliques)
                noisy = release_errors(
                    self._table, block, list(expected), rho=share, coarsening=coarsening
                )
                for clique, error in noisy.errors.items():
                    errors[ResolvedClique(clique, resolution)] = error
        stddev = error_stddev(len(cliques), rho=rho, unit=self._table.ledger.unit)
        self._findings.scored(cliques, stddev=stddev, total=total)
        # A residual is told apart from those of smaller cliques, so these come first.
        return dict(sorted(errors.items(), key=lambda item: len(item[0].clique))), stddev

    def column_errors(
        self, variances: Mapping[Clique, float] | None = None
    ) -> dict[ResolvedClique, float]:
        """Squared errors of the columns, see `residual_errors.column_errors`.

        Parameters
        ----------
        variances
            Of the count of a level, by column; by default those of the measurements.
        """
        known = self._variances if variances is None else variances
        return column_errors(known, self.resolutions, total=self._total)

    @property
    def _variances(self) -> dict[Clique, float]:
        """Of the count of a cell, by measured marginal."""
        return {m.clique: float(m.variance.mean()) for m in self._table.released}


def first_score_rho(
    table: PrivateTable,
    candidates: Candidates,
    rho: Fraction,
    *,
    budget: Fraction,
    reserved: Fraction,
) -> Fraction:
    """What scoring all pairs may cost: ``rho``, or in wide tables more, as long as that shows more.

    The table's columns are measured by then. What scores cost beyond ``rho`` is at most a tenth of
    the mechanism's ``budget``, and half of what is left besides ``reserved``.
    """
    if not candidates.pairs:
        return rho
    # Noise of k scores released at once grows with sqrt(k): of 500 columns 124,750 pairs at 3 % of
    # epsilon 1 have a noise of 11,200 records.
    stddev = error_stddev(len(candidates.pairs), rho=rho, unit=table.ledger.unit)
    noise_share = stddev / estimate_total(table.released)
    times = min(
        candidates.times_narrow,
        (noise_share / _LOW_NOISE_SHARE) ** 2,
        _MAX_FIRST_SHARE * float(budget / rho),
    )
    # Three caps in one: as many times as there are more pairs, no more than brings the noise to 2 %
    # of the records, and a tenth of the budget. At 250 columns and epsilon 0.3 and 1, .45 and .32
    # in place of .13 and .11 of the planted pairs were found, for 0.7 to 2.5 % more error of all
    # pairs.
    wanted = rho * Fraction(max(times, 1.0))
    # However the shares are set, the other half of what is not reserved is for measurements.
    spare = (table.ledger.remaining - reserved) / 2
    return min(wanted, max(rho, spare))


def is_informative(
    table: PrivateTable, scored: Sequence[Clique], rho: Fraction, *, max_noise_share: float
) -> bool:
    """Whether scores of some marginals would show anything: their noise is a small share of the
    records.
    """
    if not scored:
        return False
    stddev = error_stddev(len(scored), rho=rho, unit=table.ledger.unit)
    # The number of records is itself an estimate, from the measured columns: nothing here looks at
    # the table.
    return stddev <= max_noise_share * estimate_total(table.released)
