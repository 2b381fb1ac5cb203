"""MWEM: multiplicative weights, fed by the exponential mechanism with what the model gets most
wrong [HLM12].
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from synthdp.core.reporting import steps
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.mechanism import Mechanism, check_counts, check_shares
from synthdp.mechanisms.shared.task import Task
from synthdp.mechanisms.shared.worst_marginal import measure_worst
from synthdp.privacy.private_table import PrivateTable


@final
@dataclass(frozen=True, kw_only=True)
class MWEM(Mechanism):
    """A fixed number of rounds over the workload's marginals, from a uniform start.

    1. MEASURE the number of records, and start from the uniform distribution.
    2. Each round, SELECT a marginal of the workload by the exponential mechanism, by how much
       further from the truth the model is than a measurement would be; MEASURE it; GENERATE
       from all measurements so far.

    It was made for the engine ``direct``, which holds every cell of the domain and is a fit by
    multiplicative weights; that engine refuses domains too large for it. Any other engine does
    as well, but nothing here keeps a junction tree small: with ``graphical-model`` rather use
    ``mwem-pgm``.
    """

    name: ClassVar[str] = "mwem"
    reference: ClassVar[str] = "Hardt, Ligett, McSherry 2012, arXiv:1012.4763"
    measures_whole_workload: ClassVar[bool] = True
    rounds: int | None = None
    """Number of rounds, at least 1; None: one an attribute."""
    selection_share: float = 0.5
    """Share of each round's budget for its selection, between 0 and 1; the paper's is a half."""
    total_share: float = 0.01
    """Share of the budget for the number of records, between 0 and 1; the paper takes it for
    public.
    """

    def __post_init__(self) -> None:
        check_counts(self, "rounds")
        check_shares(self, "selection_share", "total_share")

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        self.check(table.domain, task.workload)
        ledger = table.ledger
        rounds = self.rounds or len(table.domain)
        fit = task.rough_fit(table.domain, reports=False)
        # The paper knows the number of records. Here it is private, so it is measured first: the
        # marginal of no columns.
        table.measure((), rho=ledger.remaining * Fraction(self.total_share))
        model = fit(table.released)
        for done in steps(task.report, "selecting and measuring", range(rounds)):
            measure_worst(
                table,
                model,
                task.workload.cliques,
                workload=task.workload,
                # What is left by the rounds that are left: the last round gets exactly the rest,
                # with no rounding error.
                rho=ledger.remaining / (rounds - done),
                selection_share=self.selection_share,
            )
            # Models in between choose the next marginal, for which a rough fit is as good; the last
            # is what is released.
            if done == rounds - 1:
                fit = task.fit(table.domain)
            model = fit(table.released, warm_start=model)
        return model
