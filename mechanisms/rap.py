"""RAP: rounds that each measure the marginals that a relaxed table gets most wrong [2103.06641]."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar, final

from synthdp.core.cliques import Clique
from synthdp.core.workload import Workload
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.columns import measurable_subsets, measure_columns
from synthdp.mechanisms.shared.mechanism import Mechanism, check_counts, check_shares
from synthdp.mechanisms.shared.task import Task
from synthdp.mechanisms.shared.worst_marginal import improvement_score
from synthdp.privacy.private_table import PrivateTable


@final
@dataclass(frozen=True, kw_only=True)
class RAP(Mechanism):
    """Relaxed adaptive projection: few rounds of many marginals each, on a table of reals.

    1. MEASURE all one-way marginals.
    2. Each round, SELECT the worst k of the subsets of the workload's marginals that no round has
       measured, by ``use (L1 error of the model - expected L1 error of a measurement)``; MEASURE
       them; GENERATE from all measurements so far, from the last round's table on.

    The k are selected one after the other by the exponential mechanism. That has a standard
    deviation of ``pi / sqrt(6) sqrt(k / (2 rho))`` records, Gaussian noise on the errors of all m
    candidates at once one of ``sqrt(m / (2 rho))``: it would be cheaper only for ``k > 0.61 m``.

    Differences from the paper: step 1, subsets, and the score, which there is the error alone.
    """

    name: ClassVar[str] = "rap"
    reference: ClassVar[str] = "Aydore et al. 2021, arXiv:2103.06641"
    default_engine: ClassVar[str] = "relaxed-tabular"
    rounds: int = 8
    """Number of rounds, at least 1; fewer if there is nothing left to measure."""
    marginals_per_round: int = 8
    """k, at least 1."""
    one_way_share: float = 0.1
    """Share of the budget for step 1, between 0 and 1."""
    selection_share: float = 0.1
    """Share of each round's budget for its selection, between 0 and 1."""
    max_cells: int = 1 << 17
    """Larger subsets are not measured, unless they are of one column."""

    def __post_init__(self) -> None:
        check_counts(self, "rounds", "marginals_per_round", "max_cells")
        check_shares(self, "one_way_share", "selection_share")

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        domain = table.domain
        ledger = table.ledger
        measure_columns(table, task.engine, rho=ledger.remaining * Fraction(self.one_way_share))
        fit = task.rough_fit(domain, reports=False)
        model = fit(table.released)
        candidates = measurable_subsets(
            task.workload, domain, task.engine, max_cells=self.max_cells
        )
        # No round with nothing left to measure.
        rounds = min(self.rounds, ceil(len(candidates) / self.marginals_per_round))
        for done in range(rounds):
            task.report("selecting and measuring", done, rounds)
            worst, rho = self._worst(
                table, model, candidates, task.workload, ledger.remaining / (rounds - done)
            )
            for clique in worst:
                table.measure(clique, rho=rho)
            candidates = [clique for clique in candidates if clique not in worst]
            if done == rounds - 1:
                fit = task.fit(domain)
            model = fit(table.released, warm_start=model)
        return model

    def _worst(
        self,
        table: PrivateTable,
        model: Model,
        candidates: Sequence[Clique],
        workload: Workload,
        rho: Fraction,
    ) -> tuple[list[Clique], Fraction]:
        """What to measure in a round that may cost ``rho``, and the cost of each measurement."""
        k = self.marginals_per_round
        if len(candidates) <= k:
            return list(candidates), rho / len(candidates)
        for_selection = rho * Fraction(self.selection_share)
        for_each = (rho - for_selection) / k
        score = improvement_score(table, model, candidates, workload=workload, rho=for_each)
        worst: list[Clique] = []
        for _ in range(k):
            left = [clique for clique in candidates if clique not in worst]
            # Peeling: k exponential mechanisms one after the other cost what one-shot Gumbel noise
            # would, k epsilon^2 / 8.
            worst.append(table.select(left, score=score, rho=for_selection / k))
        return worst, for_each
