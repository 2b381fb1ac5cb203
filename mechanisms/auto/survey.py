"""A survey of a table: what is asked of it, what was found out so far, and what to measure next."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate, combinations, groupby
from math import sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.measurement import estimate_total
from synthdp.core.workload import MAX_DEFAULT_CELLS, MIN_USE, Workload
from synthdp.inference.estimator import Estimator
from synthdp.inference.model import Model
from synthdp.inference.shrinkage import one_way_shares
from synthdp.mechanisms.auto.batch_plan import BatchPlan
from synthdp.mechanisms.auto.considered import AGAIN, PAIRS, considered, hidden, too_large
from synthdp.mechanisms.auto.expected_loss import ExpectedLoss
from synthdp.mechanisms.auto.residual_errors import expected_parts, first_errors, later_errors
from synthdp.mechanisms.auto.resolutions import Question, Resolutions
from synthdp.mechanisms.shared.allocation import L1_OF_NOISE, measurement_shares
from synthdp.mechanisms.shared.looks import independent_counts, look_at, noise_of_look
from synthdp.privacy.private_table import PrivateTable

FloatArray = NDArray[np.float64]

_MAX_WANTED = 6
"""Columns of a marginal of the workload up to which it is planned for itself; wider ones as all of
their pairs.
"""
_MAX_LOOKED, _MAX_AGAIN = 1 << 28, 1 << 25
"""Cells of all marginals of the first look, which are counted part by part, and of the second: 256
MB.
"""
_PART = 1 << 24
"""Cells of what is looked at together: 128 MB."""
_PAIRS = 1.0
"""What all pairs inside of wider marginals matter together, beside those."""
_FEW_PAIRS = 780
"""Pairs of 40 columns, the most for which triples are in the default workload: tables of more pairs
are wide.
"""
_DEPENDENT = 0.5
"""What pairs of wide tables matter together by how much they depend, beside what the workload says."""
_MOST_LOOK, _CLEAR_ENOUGH = 0.1, 0.02
"""In wide tables a look may cost so much of the budget, as long as its noise is above this share of
the records.
"""
_MAX_PAIRS = 2000
"""Pairs that are looked at again; on tables of more than 64 columns they are not all."""
_WIDER_GUESS = 0.3
"""What a triple's own residual is taken to be before any look, as a part of its weakest pair's."""
_ONLY_COLUMNS = (
    "only single columns were measured: noise would hide how columns depend on each other, so that in the synthetic "
    "table they are independent; more epsilon or records, or fewer columns, would show more"
)
_NARROWED = (
    f"workload: marginals of more than {_MAX_WANTED} columns were planned for as all pairs of their columns; "
    "ask for narrower ones to have them measured whole"
)


@final
class Survey:
    """Looks and measurements of one release.

    Parameters
    ----------
    table
        What is asked; its ledger says how much may be spent.
    workload
        What matters.
    engine, constraints, max_cells
        What a batch has to leave possible: models of at most so many cells.
    clarity
        Most noise of a look, as a share of the records.
    """

    def __init__(
        self,
        table: PrivateTable,
        workload: Workload,
        engine: Estimator,
        constraints: Sequence[Constraint],
        *,
        clarity: float,
        max_cells: int,
    ) -> None:
        self._table, self._engine, self._clarity, self._max_cells = (
            table,
            engine,
            clarity,
            max_cells,
        )
        self._budget = table.ledger.remaining
        self._constrained = [constraint.clique for constraint in constraints]
        self._uses = workload.relative_weights((name,) for name in table.domain.attributes)
        wanted = _narrowed(workload)
        self._wanted = dict.fromkeys(self._uses, MIN_USE * max(wanted.values())) | wanted
        closure = sorted(Workload(wanted).downward_closure(), key=table.domain.size)
        asked = [clique for clique in closure if len(clique) == 2]
        self.pairs: list[Clique] = self._in_order(self._within(asked, _MAX_LOOKED))
        """All pairs of columns that some marginal of the workload holds, but for those too large to
        look at.
        """
        self._cautions = too_large(asked[len(self.pairs) :])
        if any(len(clique) > _MAX_WANTED for clique in workload.weights):
            self._cautions.append(_NARROWED)
        self._n_too_large = len(asked) - len(self.pairs)
        self._wider = [clique for clique in closure if len(clique) > 2]
        self._weigh_pairs()
        self._rounds: list[dict[str, object]] = []

    def _within(self, candidates: Iterable[Clique], most_cells: int) -> list[Clique]:
        """The first candidates, as long as none is too large to be looked at, nor all together."""
        size = self._table.domain.size
        kept = [clique for clique in candidates if size(clique) <= MAX_DEFAULT_CELLS]
        return [
            clique
            for clique, sum_ in zip(kept, accumulate(map(size, kept)), strict=True)
            if sum_ <= most_cells
        ]

    def _in_order(self, cliques: Iterable[Clique]) -> list[Clique]:
        """In the order of the columns: marginals side by side share columns, and are counted
        together.
        """
        return sorted(cliques, key=lambda clique: tuple(map(self._table.domain.index, clique)))

    def _weigh_pairs(self) -> None:
        """Let the pairs inside of wider marginals matter by themselves as well, by how much is
        asked of them.
        """
        wider = {clique: weight for clique, weight in self._wanted.items() if len(clique) > 2}
        inside = _summed(
            (pair, weight) for clique, weight in wider.items() for pair in combinations(clique, 2)
        )
        total = sum(inside.values())
        for pair, weight in inside.items():
            self._wanted[pair] = (
                self._wanted.get(pair, 0.0) + _PAIRS * sum(wider.values()) * weight / total
            )

    @property
    def _width(self) -> float:
        """0 for tables of up to 40 columns, towards 1 for very many: the part of all pairs that is
        beyond theirs.
        """
        return max(1.0 - _FEW_PAIRS / max(len(self.pairs), 1), 0.0)

    def _weigh_dependent(self) -> None:
        """Let the pairs of a wide table matter by how much they depend as well.

        A column's error is in the pairs with all others, a dependence in few of them: in the mean
        over all pairs of many columns there is hardly anything but columns.
        """
        strengths = {pair: self._wanted[pair] * sqrt(self._strengths[pair]) for pair in self.pairs}
        extra = _DEPENDENT * self._width * sum(self._wanted[pair] for pair in self.pairs)
        total = sum(strengths.values())
        for pair, strength in strengths.items() if total > 0 else ():
            self._wanted[pair] += extra * strength / total

    def measure_columns(self, rho: Fraction) -> None:
        """Measure all columns, with the split of least expected L1 error."""
        for clique, share in measurement_shares(self._table.domain, self._uses).items():
            self._table.measure(clique, rho=rho * share)

    @property
    def _total(self) -> float:
        return estimate_total(self._table.released)

    def first_cost(self, rho: Fraction) -> Fraction:
        """What the first look may cost: ``rho``, or for wide tables more while that makes it
        clearer.
        """
        if not self.pairs:
            return rho
        noise = noise_of_look(len(self.pairs), rho=rho, unit=self._table.ledger.unit) / self._total
        times = min(
            len(self.pairs) / _FEW_PAIRS,
            (noise / _CLEAR_ENOUGH) ** 2,
            _MOST_LOOK * float(self._budget / rho),
        )
        return min(rho * Fraction(max(times, 1.0)), self._table.ledger.remaining / 2)

    def is_clear(self, candidates: Sequence[Clique], rho: Fraction) -> bool:
        """Whether a look at some candidates would show anything."""
        if not candidates:
            return False
        noise = noise_of_look(len(candidates), rho=rho, unit=self._table.ledger.unit)
        return noise <= self._clarity * self._total

    def measure_only_columns(self) -> None:
        """Measure the columns with all that is left, and say so."""
        self.measure_columns(self._table.ledger.remaining)
        if self.pairs:
            self._cautions.append(_ONLY_COLUMNS)

    def first_look(self, rho: Fraction) -> dict[Question, float]:
        """Squared errors of independence, by part: what is wrong with columns, and how much pairs
        depend.
        """
        total = self._total
        shares = one_way_shares(self._table.domain, self._table.released, total=total)
        self._resolutions = Resolutions(
            self._table.domain, shares, can_merge=self._engine.takes_merged
        )
        looks, stddev = self._look(self.pairs, partial(independent_counts, self._table), rho)
        columns = self._column_errors(total)
        errors, self._strengths = first_errors(
            looks, stddev, columns, self._resolutions, total=total
        )
        self._weigh_dependent()
        return errors

    def _look(
        self,
        candidates: Sequence[Clique],
        estimates: Callable[[list[Clique]], Iterable[FloatArray]],
        rho: Fraction,
    ) -> tuple[dict[Question, float], float]:
        """Errors of some estimates, each at the finest resolution that shows more than chance, and
        their noise.
        """
        total, numbers = self._total, dict[int, list[Clique]]()
        for clique in candidates:
            numbers.setdefault(self._resolutions.clear(clique, total), []).append(clique)
        looks: dict[Question, float] = {}
        for number, cliques in numbers.items():
            coarsening = self._resolutions.coarsenings[number]
            for some in self._parts(cliques):
                part, found = (
                    rho * len(some) / len(candidates),
                    zip(some, estimates(some), strict=True),
                )
                merged = [
                    coarsening.apply(clique, each) if coarsening else each for clique, each in found
                ]
                look = look_at(self._table, some, merged, rho=part, coarsening=coarsening)
                looks |= {Question(clique, number): error for clique, error in look.errors.items()}
        self._tell(candidates, look.stddev)
        return dict(sorted(looks.items(), key=lambda item: len(item[0].clique))), look.stddev

    def _tell(self, candidates: Sequence[Clique], stddev: float) -> None:
        """Keep what a look considered, and say so if much of a wide table is hidden from the first
        one.
        """
        total, n_asked = self._total, len(self.pairs) + self._n_too_large
        if self._rounds:
            rule, n_asked = (
                AGAIN.format(n_pairs=min(len(self.pairs), _MAX_PAIRS)),
                n_asked + len(self._wider),
            )
        else:
            rule = PAIRS.format(n_cells=MAX_DEFAULT_CELLS)
            self._cautions += hidden(len(candidates), stddev, total) if self._width else []
        self._rounds.append(
            considered(candidates, rule=rule, n_asked=n_asked, stddev=stddev, total=total)
        )

    def _parts(self, cliques: Sequence[Clique]) -> Iterator[list[Clique]]:
        """Runs of cliques of up to `_PART` cells together, or of one: tables of more are not in
        memory at once.
        """
        ends = accumulate(map(self._table.domain.size, cliques))
        for _, run in groupby(
            zip(cliques, ends, strict=True), key=lambda item: (item[1] - 1) // _PART
        ):
            yield [clique for clique, _ in run]

    def _column_errors(self, total: float) -> dict[Question, float]:
        resolutions, errors = self._resolutions, dict[Question, float]()
        for measurement in self._table.released:
            clique = measurement.clique
            cells = resolutions.cells(clique, len(resolutions) - 1)
            square = L1_OF_NOISE**2 * cells * float(measurement.variance.mean())
            noise = (
                min(square * resolutions.dimensions(clique, n), total**2)
                for n in resolutions.of(clique)
            )
            errors |= resolutions.split(clique, noise)
        return errors

    def promising(self, most: int) -> list[Clique]:
        """Marginals to look at again: the pairs that depend most, and where there is room wider
        ones whose pairs do.
        """
        total, strengths = self._total, self._strengths
        strongest = sorted(self.pairs, key=lambda pair: -strengths[pair])[:_MAX_PAIRS]
        pairs = self._in_order(self._within(strongest, _MAX_AGAIN))
        inside = {c: [strengths.get(pair, 0.0) for pair in combinations(c, 2)] for c in self._wider}
        likely = sorted(self._wider, key=lambda clique: -sum(inside[clique]))
        wider = self._within(likely, _MAX_AGAIN)[: max(most - len(pairs), 0)]
        self._guesses: dict[Question, float] = {}
        for clique in wider:
            own = _WIDER_GUESS**2 * min(inside[clique])
            self._guesses |= expected_parts(clique, own, self._resolutions, total=total)
        return [*pairs, *sorted(wider, key=len)]

    def second_look(
        self,
        model: Model,
        candidates: Sequence[Clique],
        left: Mapping[Question, float],
        rho: Fraction,
        *,
        doubt: float,
    ) -> dict[Question, float]:
        """Squared errors of a model, by part; ``left`` is what they are expected to be."""
        looks, stddev = self._look(
            candidates, lambda some: (each.values for each in model.marginals(some)), rho
        )
        return later_errors(
            looks, stddev, {**self._guesses, **left}, self._resolutions, doubt=doubt
        )

    def measure_batch(
        self, errors: Mapping[Question, float], rho: Fraction
    ) -> dict[Question, float]:
        """Plan a batch and measure it; the squared error that each part should be left with."""
        table = self._table
        loss = ExpectedLoss(
            self._resolutions,
            self._wanted,
            errors,
            l2_squared=table.ledger.unit.marginal_l2_squared,
        )
        plan = BatchPlan(table.domain, loss, self._is_allowed)
        batch = plan.split(rho)
        for (clique, number), part in batch.items():
            table.measure(clique, rho=part, coarsening=self._resolutions.coarsenings[number])
        merged = sum(number < len(self._resolutions) - 1 for _, number in batch)
        self._rounds[-1] |= {"measured": len(batch), "over_merged_levels": merged}
        return plan.left()

    def _is_allowed(self, cliques: Sequence[Clique]) -> bool:
        measured = [measurement.clique for measurement in self._table.released]
        return self._engine.can_hold(
            self._table.domain, [*self._constrained, *measured, *cliques], max_cells=self._max_cells
        )

    def told(self, model: Model) -> Model:
        """The model, with what was looked at and measured among its findings, and what was left out
        as cautions.
        """
        model.findings["rounds"] = self._rounds
        model.cautions += self._cautions
        return model


def _narrowed(workload: Workload) -> dict[Clique, float]:
    """The workload with very wide marginals replaced by their pairs, each with its part of the
    weight.
    """
    parts = {
        clique: [clique] if len(clique) <= _MAX_WANTED else list(combinations(clique, 2))
        for clique in workload.weights
    }
    return _summed(
        (part, workload.weights[whole] / len(found))
        for whole, found in parts.items()
        for part in found
    )


def _summed(weights: Iterable[tuple[Clique, float]]) -> dict[Clique, float]:
    """For each clique the sum of its weights."""
    sums: dict[Clique, float] = {}
    for clique, weight in weights:
        sums[clique] = sums.get(clique, 0.0) + weight
    return sums
