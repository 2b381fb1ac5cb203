"""AIM: an adaptive and iterative mechanism that measures what its model gets wrong [2201.12677]."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import ClassVar, final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.workload import Workload
from synthdp.inference.model import Model
from synthdp.inference.trees.tree_growth import TreeGrowth, small_growths
from synthdp.mechanisms.shared.error_bounds import Choice, error_bounds
from synthdp.mechanisms.shared.mechanism import Mechanism, check_counts, check_shares
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.scores import MarginalL1Error


@final
@dataclass(frozen=True, kw_only=True)
class AIM(Mechanism):
    """Adaptive rounds: select the candidate that the model gets most wrong, measure it, fit again.

    1. MEASURE all one-way marginals.
    2. Each round, SELECT by the exponential mechanism among all subsets of the workload's
       marginals that keep the junction tree small, by ``use (L1 error of the model - expected L1
       error of a measurement)``, MEASURE it, and GENERATE.
    3. When a measurement changed the model by less than its noise would, the noise of later
       rounds is halved (annealing). The last round spends what is left.

    ``findings`` of the model hold bounds on the error of each marginal of the workload.
    """

    name: ClassVar[str] = "aim"
    reference: ClassVar[str] = "McKenna, Mullins, Sheldon, Miklau 2022, arXiv:2201.12677"
    max_cells: int = 1 << 17
    """Most cells of the junction tree, 8 bytes each in the model; early rounds may use a share in
    proportion to the budget spent. The paper's 80 MB are 10 million.
    """
    rounds_per_attribute: int = 16
    """Rounds to plan for; annealing makes them fewer."""
    selection_share: float = 0.1
    """Share of each round's budget for its selection, between 0 and 1."""

    def __post_init__(self) -> None:
        check_counts(self, "max_cells", "rounds_per_attribute")
        check_shares(self, "selection_share")

    def share_of_columns(self, domain: Domain) -> float:  # noqa: ARG002
        """One round an attribute, of as many as are planned for."""
        return 1 / self.rounds_per_attribute

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        domain = table.domain
        ledger = table.ledger
        budget = ledger.remaining
        share = Fraction(self.selection_share)
        # T = 16 d rounds in the paper, all of equal cost until the model has learnt what rounds of
        # that cost can show.
        rho = budget / (self.rounds_per_attribute * len(domain))
        for column in task.engine.unknown((name,) for name in domain.attributes):
            table.measure(column, rho=rho * (1 - share))
        fit = task.rough_fit(domain)
        growth = TreeGrowth(domain, (constraint.clique for constraint in task.constraints))
        candidates = task.workload.downward_closure()
        model = fit(table.released)
        is_last = False
        while not is_last:
            task.report(
                "selecting and measuring", round(100 * float(1 - ledger.remaining / budget)), 100
            )
            # Fewer than two rounds' worth is spent in one: a remainder that is too small for a
            # round would be lost.
            is_last = ledger.remaining < 2 * rho
            rho = ledger.remaining if is_last else rho
            # The model may grow in step with the budget that is spent, so that early rounds do not
            # use up the room of later and better informed ones.
            limit = self.max_cells * float(1 - (ledger.remaining - rho) / budget)
            choice = self._choose(
                table, model, task.workload, small_growths(growth, candidates, max_cells=limit), rho
            )
            table.measure(choice.clique, rho=ledger.remaining if is_last else rho * (1 - share))
            growth = growth.with_clique(choice.clique)
            model = fit(table.released, warm_start=model)
            change = np.abs(
                model.marginal(choice.clique).values - choice.estimates[choice.clique]
            ).sum()
            # The measurement showed no more than noise. Half the noise and twice epsilon, as the
            # paper has it, is four times the rho of both.
            if change <= choice.penalty(choice.clique):
                rho = 4 * rho
        model.findings["error_bounds"] = error_bounds(
            model, task.workload, table.released, choice, ledger.unit.marginal_l1
        )
        return model

    def _choose(
        self,
        table: PrivateTable,
        model: Model,
        workload: Workload,
        candidates: Sequence[Clique],
        rho: Fraction,
    ) -> Choice:
        """Select what to measure in a round that may cost ``rho``."""
        share = Fraction(self.selection_share)
        choice = Choice(
            estimates=dict(
                zip(candidates, (f.values for f in model.marginals(candidates)), strict=True)
            ),
            weights=workload.relative_weights(candidates),
            sigma=sqrt(table.ledger.unit.sigma_squared(rho * (1 - share))),
            # The exponential mechanism with epsilon is epsilon^2 / 8-zCDP [Cesar & Rogers 2021];
            # here solved for epsilon.
            epsilon=sqrt(8 * float(rho * share)),
        )
        penalties = {clique: choice.penalty(clique) for clique in candidates}
        score = MarginalL1Error(choice.estimates, weights=choice.weights, penalties=penalties)
        clique = table.select(candidates, score=score, rho=rho * share)
        return replace(choice, clique=clique)
