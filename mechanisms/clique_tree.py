"""Clique tree: a bounded tree over the most dependent columns, planned and measured in one shot."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, inf, sqrt
from typing import ClassVar, final

import numpy as np

from synthdp.core.cliques import Clique, all_k_way
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.reporting import steps
from synthdp.core.workload import Workload
from synthdp.inference.model import Model
from synthdp.inference.trees.tree_growth import TreeGrowth
from synthdp.mechanisms.shared.allocation import (
    L1_OF_NOISE,
    Demand,
    demands_filled,
    measurement_shares,
    predicted_error,
)
from synthdp.mechanisms.shared.mechanism import Mechanism, check_parts
from synthdp.mechanisms.shared.noisy_errors import independent_counts, release_errors
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.private_table import PrivateTable

_SIZE_PENALTIES = (-0.25, 0.0, 0.25, 0.5, 0.75)
"""Cliques are tried in the order of gain / cells^penalty; which is best depends on how full the
tree gets.
"""

_MAX_CANDIDATES_WITH_TRIPLES = 2000
"""Triples are scored up to 23 columns: the noise of each error grows with the square root of how
many there are.
"""

_MIN_ERROR = 1e-3
"""In records: a candidate whose error is all noise still gets a place in the order, the last."""

_MAX_REFUSED = 1000
"""Cliques that did not fit into the tree, after which none is tried that comes later in the order:
it gains less. To refuse one takes 30 milliseconds with 500 columns, of which thousands were
refused; with 200 some 700 are.
"""


@final
@dataclass(frozen=True, kw_only=True)
class CliqueTree(Mechanism):
    """One round of scores of all pairs (and triples), one plan, one round of measurements, one fit.

    1. MEASURE all one-way marginals.
    2. SELECT: release the noisy L1 errors, against independence, of all pairs, and of all triples
       while these are few. Grow a junction tree greedily over the cliques that gain most from a
       share of the budget; no pair of columns is measured twice. Several penalties for size are
       tried; the plan with the least predicted error is kept.
    3. MEASURE the planned cliques, each with the rho that `water_filled` gives it, and GENERATE.
    """

    name: ClassVar[str] = "clique-tree"
    reference: ClassVar[str] = "synthdp; after the one-shot clique tree (SWIFT) of dpsynth"
    is_gaussian: ClassVar[bool] = True
    max_cells: int = 1 << 15
    """Most cells of the junction tree, 8 bytes each in the model, for each 100 pairs of columns."""
    one_way_share: float = 0.15
    selection_share: float = 0.08
    """Shares of the budget for steps 1 and 2, each above 0 and together below 1."""

    def __post_init__(self) -> None:
        check_parts(self, self.one_way_share, self.selection_share)
        if self.max_cells < 1:
            raise ParameterError(
                f"clique-tree: max_cells is {self.max_cells}; give 1 or more, for instance 32768"
            )

    def share_of_columns(self, domain: Domain) -> float:
        """That of the columns; all of it where no pair is small enough."""
        pairs = all_k_way(domain.attributes, 2)
        is_split = any(domain.size(pair) <= self.max_cells for pair in pairs)
        return self.one_way_share if is_split else 1.0

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        domain = table.domain
        budget = table.ledger.remaining
        pairs = [
            pair for pair in all_k_way(domain.attributes, 2) if domain.size(pair) <= self.max_cells
        ]
        columns = measurement_shares(
            domain, dict.fromkeys(task.engine.unknown((name,) for name in domain.attributes), 1.0)
        )
        # Without a pair that is small enough the columns are all there is to measure.
        share = Fraction(self.one_way_share) if pairs else Fraction(1)
        for clique, part in steps(task.report, "measuring columns", columns.items()):
            table.measure(clique, rho=budget * share * part)
        if pairs:
            task.report("selecting cliques", 0, 1)
            demands = self._demands(
                table, pairs, task.workload, budget * Fraction(self.selection_share)
            )
            start = TreeGrowth(domain, (constraint.clique for constraint in task.constraints))
            left = table.ledger.remaining
            # How much a clique's size should count against it depends on the table, so a few
            # penalties are tried and the plan with the least predicted error is taken: free, since
            # all of it follows from the noisy scores.
            plans = [
                self._grown(start, demands, float(left), penalty) for penalty in _SIZE_PENALTIES
            ]
            plan = min(plans, key=lambda plan: predicted_error(plan, demands))
            plan = {clique: plan[clique] for clique in task.engine.unknown(plan)}
            total = sum(map(Fraction, plan.values()))
            for percent, (clique, rho) in zip(
                np.linspace(0, 99, len(plan)), plan.items(), strict=True
            ):
                task.report("measuring cliques", int(percent), 100)
                table.measure(clique, rho=left * Fraction(rho) / total)
            task.report("measuring cliques", 100, 100)
        return task.rough_fit(domain)(table.released)

    def _demands(
        self, table: PrivateTable, pairs: list[Clique], workload: Workload, rho: Fraction
    ) -> dict[Clique, Demand]:
        """What each candidate would gain from a measurement, by its noisy error, less one standard
        deviation.
        """
        domain = table.domain
        n_columns = len(domain)
        # Noise grows with the square root of the number of candidates, and triples outnumber pairs
        # (d - 2) / 3 to one.
        with_triples = comb(n_columns, 2) + comb(n_columns, 3) <= _MAX_CANDIDATES_WITH_TRIPLES
        triples = all_k_way(domain.attributes, 3) if with_triples and n_columns > 2 else []
        candidates = [
            *pairs,
            *(triple for triple in triples if domain.size(triple) <= self.max_cells),
        ]
        scores = release_errors(table, candidates, independent_counts(table, candidates), rho=rho)
        weights = workload.relative_weights(candidates)
        unit = L1_OF_NOISE * sqrt(table.ledger.unit.marginal_l2_squared)
        return {
            c: Demand(
                weight=weights[c],
                # A standard deviation less: the largest of many noisy errors are the luckiest, and
                # would be believed too much.
                error=max(error - scores.stddev, _MIN_ERROR),
                unit=unit * domain.size(c),
            )
            for c, error in scores.errors.items()
        }

    def _grown(
        self, growth: TreeGrowth, demands: Mapping[Clique, Demand], budget: float, penalty: float
    ) -> dict[Clique, float]:
        """Add cliques, best first, that are worth their share and fit into the tree, and split the
        budget.
        """
        domain = growth.domain
        # Wide tables have more pairs to hold, and rules may need more than the limit.
        limit = max(self.max_cells * max(comb(len(domain), 2) / 100, 1.0), growth.n_cells())
        covered = set[Clique]()
        chosen = dict[Clique, Demand]()
        price = 0.0
        shares = np.zeros(0)
        n_refused = 0
        for clique in sorted(
            demands, key=lambda c: -demands[c].first_return / domain.size(c) ** penalty
        ):
            if n_refused == _MAX_REFUSED:
                break
            inside = set(combinations(clique, 2))
            # Below the price it would get no share; a pair that a chosen triple holds is measured
            # by that.
            if demands[clique].first_return <= price or inside & covered:
                continue
            # After many refusals in a row the tree is full, and what comes later returns less
            # anyway.
            if growth.n_cells_with([clique], max_cells=limit)[0] == inf:
                n_refused += 1
                continue
            growth = growth.with_clique(clique)
            covered |= inside
            chosen[clique] = demands[clique]
            shares, price = demands_filled(chosen.values(), budget)
        return {clique: float(rho) for clique, rho in zip(chosen, shares, strict=True) if rho > 0}
