"""MWEM+PGM: MWEM's rounds with a graphical model, whose junction tree is kept small [MSM19]."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from synthdp.core.reporting import steps
from synthdp.inference.model import Model
from synthdp.inference.trees.tree_growth import TreeGrowth, small_growths
from synthdp.mechanisms.shared.mechanism import Mechanism, check_counts, check_shares
from synthdp.mechanisms.shared.task import Task
from synthdp.mechanisms.shared.worst_marginal import measure_worst
from synthdp.privacy.private_table import PrivateTable


@final
@dataclass(frozen=True, kw_only=True)
class MWEMPGM(Mechanism):
    """MWEM for domains of any size: only marginals that keep the junction tree small may be
    measured.

    1. MEASURE the number of records, and start from the uniform distribution.
    2. Each round, SELECT a marginal of the workload that keeps the junction tree small, by the
       exponential mechanism, by how much further from the truth the model is than a measurement
       would be; MEASURE it; GENERATE from all measurements so far.
    """

    name: ClassVar[str] = "mwem-pgm"
    reference: ClassVar[str] = "McKenna, Sheldon, Miklau 2019, arXiv:1901.09136"
    rounds: int | None = None
    """Number of rounds, at least 1; None: one an attribute."""
    selection_share: float = 0.1
    """Share of each round's budget for its selection, between 0 and 1."""
    total_share: float = 0.01
    """Share of the budget for the number of records, between 0 and 1."""
    max_cells: int = 1 << 17
    """Most cells of the junction tree, 8 bytes each in the model; early rounds may use a share in
    proportion to the rounds done. Where no marginal keeps to it, the one that comes nearest
    is measured.
    """

    def __post_init__(self) -> None:
        check_counts(self, "rounds", "max_cells")
        check_shares(self, "selection_share", "total_share")

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        domain = table.domain
        ledger = table.ledger
        rounds = self.rounds or len(domain)
        growth = TreeGrowth(domain, (constraint.clique for constraint in task.constraints))
        fit = task.rough_fit(domain, reports=False)
        # A hundredth is plenty: one count of all records has little noise, and all others are
        # shares of it.
        table.measure((), rho=ledger.remaining * Fraction(self.total_share))
        model = fit(table.released)
        # Later rounds may use more cells: a clique that fills the tree in the first round would
        # leave no room for any other.
        for done in steps(task.report, "selecting and measuring", range(rounds)):
            clique = measure_worst(
                table,
                model,
                small_growths(
                    growth, task.workload.cliques, max_cells=self.max_cells * (done + 1) / rounds
                ),
                workload=task.workload,
                rho=ledger.remaining / (rounds - done),
                selection_share=self.selection_share,
            )
            growth = growth.with_clique(clique)
            # Only the last model is released; those before it only say where the worst error is.
            if done == rounds - 1:
                fit = task.fit(domain)
            model = fit(table.released, warm_start=model)
        return model
