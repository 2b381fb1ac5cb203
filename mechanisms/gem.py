"""GEM: rounds that each measure what a generative network gets most wrong [2106.07153]."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from synthdp.core.reporting import steps
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.columns import measurable_subsets, measure_columns
from synthdp.mechanisms.shared.mechanism import Mechanism, check_counts, check_shares
from synthdp.mechanisms.shared.task import Task
from synthdp.mechanisms.shared.worst_marginal import measure_worst
from synthdp.privacy.private_table import PrivateTable

MAX_ROUNDS = 64
"""Rounds by default, at most. With 66 columns of 1,000 rows 132 took four minutes, and each had so
small a part of the budget that most measured noise.
"""


@final
@dataclass(frozen=True, kw_only=True)
class GEM(Mechanism):
    """Generative networks with the exponential mechanism: many rounds of one marginal each.

    1. MEASURE all one-way marginals.
    2. Each round, SELECT one of the subsets of the workload's marginals by the exponential
       mechanism, by how much further from the truth the model is than a measurement would be;
       MEASURE it; GENERATE from all measurements so far, from the last round's components on,
       and in the end from a fresh start.

    Unlike AIM it needs no small junction tree. Differences from the paper: step 1, subsets, and
    the score, which there is the error alone.
    """

    name: ClassVar[str] = "gem"
    reference: ClassVar[str] = "Liu, Vietri, Wu 2021, arXiv:2106.07153"
    default_engine: ClassVar[str] = "generative-network"
    rounds: int | None = None
    """Number of rounds, at least 1; None: two for each column of two levels or more, at most 64."""
    one_way_share: float = 0.1
    """Share of the budget for step 1, between 0 and 1."""
    selection_share: float = 0.1
    """Share of each round's budget for its selection, between 0 and 1."""
    max_cells: int = 1 << 17
    """Larger subsets are not measured, unless they are of one column."""

    def __post_init__(self) -> None:
        check_counts(self, "rounds", "max_cells")
        check_shares(self, "one_way_share", "selection_share")

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        domain = table.domain
        ledger = table.ledger
        # With few columns there are few marginals worth a round. Each round is a fit and scores all
        # candidates, which grow with the square of the columns: so their number has an end.
        n_varying = len(domain.varying(domain.attributes))
        rounds = self.rounds or min(2 * max(n_varying, 1), MAX_ROUNDS)
        measure_columns(table, task.engine, rho=ledger.remaining * Fraction(self.one_way_share))
        fit = task.rough_fit(domain, reports=False)
        model: Model | None = None
        candidates = measurable_subsets(
            task.workload, domain, task.engine, max_cells=self.max_cells
        )
        # Of nothing that is left to measure, as where all is published, there are no rounds.
        rounds = rounds if candidates else 0
        for done in steps(task.report, "selecting and measuring", range(rounds)):
            model = fit(table.released, warm_start=model)
            measure_worst(
                table,
                model,
                candidates,
                workload=task.workload,
                rho=ledger.remaining / (rounds - done),
                selection_share=self.selection_share,
            )
        # A network that goes on from what fitted fewer measurements keeps some of it: on Adult at
        # epsilon 1 a model of the same measurements was off by 0.127, from a fresh start by 0.095.
        return task.fit(domain)(table.released)
