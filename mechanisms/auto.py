"""Auto: a few rounds of noisy errors and batches of measurements; docs/auto.md has all of it in detail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar, final

from synthdp.cliques import Clique
from synthdp.constraint import Constraint
from synthdp.errors import ParameterError
from synthdp.inference.estimator import Estimator
from synthdp.inference.model import Model
from synthdp.inference.shrinkage import without_noisy_interactions
from synthdp.inference.trees.tree_growth import TreeGrowth
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.private_table import PrivateTable
from synthdp.reporting import Report
from synthdp.selection.allocation import Demand, measurement_shares
from synthdp.selection.batch_selection import grown_batch, noisy_demands
from synthdp.selection.mechanism import Mechanism
from synthdp.selection.rough_fit import rough_fit
from synthdp.workload import Workload


@final
@dataclass(frozen=True, kw_only=True)
class Auto(Mechanism):
    """The default recipe: where is the model wrong, and what is it worth to measure it how well?

    1. MEASURE all one-way marginals, with closed-form shares of the budget.
    2. A few rounds: release the model's errors on all candidates at once, with Gaussian noise;
       SELECT the batch of cliques, and how precisely to measure each, that promises to take off
       most of the error that the workload cares for, as long as the junction tree stays small;
       MEASURE the batch, and GENERATE.

    The first round looks at columns and pairs only, which costs less than to look at all
    candidates. All noise is Gaussian, so that Gaussian DP accounts for it. Fits stop early and see
    measurements without interactions that are mostly noise: what follows the noise errs no less.

    Parameters
    ----------
    one_way_share
        Share of the budget for step 1.
    scoring_shares
        For each round the share of the budget for its errors.
    round_weights
        For each round the part, in proportion, that its measurements have of what is left.
    caution
        Standard deviations of noise that are taken off each error before it is believed.
    doubt
        Part of its own noise that a measured marginal is taken to be wrong by at least.
    max_cells
        Most cells of the junction tree, 8 bytes each in the model; earlier rounds may use a part
        in proportion to the square root of the budget.
    max_candidates
        Candidates of later rounds: all marginals of up to two columns, and the larger ones whose
        pairs depended most in the first round, as long as there is room.

    Raises
    ------
    ParameterError
        If a parameter is out of range.
    """

    name: ClassVar[str] = "auto"
    reference: ClassVar[str] = "synthdp's own: docs/auto.md"
    is_gaussian: ClassVar[bool] = True
    default_accounting: ClassVar[Accounting] = Accounting.GDP
    one_way_share: float = 0.08
    scoring_shares: tuple[float, ...] = (0.02, 0.03, 0.03, 0.03)
    round_weights: tuple[float, ...] = (1.0, 2.0, 3.0, 4.0)
    caution: float = 1.5
    doubt: float = 0.9
    max_cells: int = 1 << 19
    max_candidates: int = 600

    def __post_init__(self) -> None:
        shares = (self.one_way_share, *self.scoring_shares)
        if not (min(shares) > 0 and sum(shares) < 1):
            raise ParameterError(f"auto: shares are {shares}; give numbers above 0 whose sum is below 1")
        if len(self.scoring_shares) != len(self.round_weights) or not min(self.round_weights, default=0) > 0:
            raise ParameterError("auto: give at least one round, with one scoring share and a weight above 0 for each")
        if not (self.caution >= 0 and self.doubt >= 0 and self.max_cells >= 1 and self.max_candidates >= 1):
            raise ParameterError("auto: caution and doubt are at least 0, max_cells and max_candidates at least 1")

    def release(
        self,
        table: PrivateTable,
        *,
        workload: Workload,
        engine: Estimator,
        constraints: Sequence[Constraint] = (),
        report: Report,
    ) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        domain, budget = table.domain, table.ledger.remaining
        columns = workload.relative_weights((name,) for name in domain.attributes)
        shares, closure = measurement_shares(domain, columns), workload.downward_closure()
        for clique, share in shares.items():
            table.measure(clique, rho=budget * Fraction(self.one_way_share) * share)
        fit = rough_fit(engine, domain, constraints, report)
        model, rest = fit(table.released), table.ledger.remaining - budget * sum(map(Fraction, self.scoring_shares))
        growth = TreeGrowth(domain, (constraint.clique for constraint in constraints))
        candidates = [clique for clique in closure if len(clique) <= 2]
        weights = [Fraction(weight) / sum(map(Fraction, self.round_weights)) for weight in self.round_weights]
        for number, (scoring, weight) in enumerate(zip(self.scoring_shares, weights, strict=True)):
            report("selecting and measuring", number, len(weights))
            rho = budget * Fraction(scoring)
            demands = noisy_demands(table, model, workload, candidates, rho=rho, caution=self.caution, doubt=self.doubt)
            if number == 0:
                candidates = self._promising(closure, demands)
            most = self.max_cells * float(sum(weights[: number + 1])) ** 0.5
            growth, batch = grown_batch(growth, demands, max_cells=most, rho=rest * weight)
            for clique, rho in batch.items():
                table.measure(clique, rho=rho)
            model = fit(without_noisy_interactions(domain, table.released), warm_start=model)
        return model

    def _promising(self, closure: Sequence[Clique], demands: Mapping[Clique, Demand]) -> list[Clique]:
        """Small candidates, and the larger ones whose pairs depend most, as long as there is room."""
        small = [clique for clique in closure if len(clique) <= 2]
        strength = {pair: demand.error for pair, demand in demands.items()}
        large = sorted(
            (clique for clique in closure if len(clique) > 2),
            key=lambda clique: -sum(strength.get(pair, 0.0) for pair in combinations(clique, 2)),
        )
        return small + large[: max(self.max_candidates - len(small), 0)]
