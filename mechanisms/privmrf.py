"""PrivMRF: a Markov random field over a graph of dependent columns, refined where it errs [Cai et
al. 2021].
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import ClassVar, final

from synthdp.core.cliques import Clique, all_k_way
from synthdp.core.errors import ParameterError
from synthdp.core.measurement import estimate_total
from synthdp.core.reporting import steps
from synthdp.inference.model import Model
from synthdp.inference.trees.tree_growth import TreeGrowth
from synthdp.mechanisms.shared.allocation import L1_OF_NOISE, measurement_shares
from synthdp.mechanisms.shared.attribute_graph import grown_attribute_graph, noisy_dependences
from synthdp.mechanisms.shared.inner_networks import first_marginals
from synthdp.mechanisms.shared.mechanism import Mechanism, check_counts, check_parts
from synthdp.mechanisms.shared.refinement import Refinement
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.private_table import PrivateTable


@final
@dataclass(frozen=True, kw_only=True)
class PrivMRF(Mechanism):
    """A graph of columns that depend on each other, marginals inside its cliques, and more where
    the model errs.

    1. MEASURE all one-way marginals. SELECT the edges of a graph by the noisy dependence of all
       pairs (the score R), as long as its cliques stay small (`grown_attribute_graph`).
    2. MEASURE up to one marginal a column inside the cliques (`first_marginals`), and GENERATE.
    3. A few rounds: SELECT the marginals inside the cliques, theta-useful or of one column, that
       have the largest noisy L1 errors (`Refinement`); MEASURE them, with the noise of step 2;
       GENERATE.

    All noise is Gaussian and accounted for by Gaussian DP, as in the paper. Otherwise than there,
    half of the budget of step 1 goes to one-way marginals, which are fitted as well, and pairs are
    compared with their product, at a quarter of R's sensitivity; the graph is kept triangulated
    while it grows; a marginal of steps 2 and 3 is measured once; and columns have no hierarchies of
    levels. The workload does not matter here.
    """

    name: ClassVar[str] = "privmrf"
    reference: ClassVar[str] = "Cai, Lei, Wei, Xiao 2021, doi:10.14778/3476249.3476272"
    is_gaussian: ClassVar[bool] = True
    default_accounting: ClassVar[Accounting] = Accounting.GDP
    one_way_share: float = 0.05
    graph_share: float = 0.05
    scoring_share: float = 0.1
    """Shares of the budget for one-way marginals, pairs (the paper's .1 together) and the errors
    of step 3, each above 0 and together below 1; the rest is for what steps 2 and 3 measure.
    """
    theta: float = 6.0
    """Cells must hold at least ``theta`` times the expected noise on average, above 0."""
    refined_per_column: float = 0.8
    """Marginals that step 3 measures for each column, above 0."""
    rounds: int = 8
    """Most rounds of step 3; there are never more than half as many as columns."""
    max_attributes: int = 6
    """Most columns of a marginal."""
    max_scored: int = 400
    """Most marginals to score in a round; which ones is left to chance."""
    max_cells: int = 1 << 19
    max_clique_cells: int = 1 << 17
    """Most cells of the graph's cliques, of all together and of one."""
    size_penalty: float = 0.5
    """What ``max_cells`` cells cost the graph, as a total variation distance; at least 0."""

    def __post_init__(self) -> None:
        check_parts(self, self.one_way_share, self.graph_share, self.scoring_share)
        if not (
            self.theta > 0 and 0 < self.refined_per_column < inf and 0 <= self.size_penalty < inf
        ):
            raise ParameterError(
                "privmrf: theta and refined_per_column are above 0, size_penalty is at least 0"
            )
        check_counts(
            self, "max_attributes", "rounds", "max_scored", "max_cells", "max_clique_cells"
        )

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        domain = table.domain
        ledger = table.ledger
        budget = table.ledger.remaining
        planned = int(self.refined_per_column * len(domain))
        scoring = budget * Fraction(self.scoring_share)
        cliques, dependences = self._graph(table, task)
        rest = ledger.remaining - scoring
        limits = {"max_attributes": self.max_attributes}
        useful = self._useful_cells(table, rest / (len(domain) + planned))
        # How many marginals there are decides what each costs, and what each costs decides which
        # are useful. So it is settled twice: first for as many as there are columns, then for those
        # that were found.
        first = first_marginals(domain, cliques, dependences, max_cells=useful, **limits)
        useful = self._useful_cells(table, rest / (len(first) + planned))
        candidates = map(domain.canonical, task.engine.known_sets)
        known = [clique for clique in candidates if task.engine.known_shares(clique) is not None]
        refinement = Refinement(
            domain, cliques, max_cells=useful, measured=[*first, *known], **limits
        )
        first = task.engine.unknown(first)
        # A small graph may hold fewer marginals than were planned; the scores' share then goes to
        # the measurements.
        n_refined = min(planned, len(refinement.chances))
        rho = (rest if n_refined else ledger.remaining) / max(len(first) + n_refined, 1)
        for clique in first:
            task.report(
                "measuring marginals", round(100 * float(1 - ledger.remaining / budget)), 100
            )
            table.measure(clique, rho=rho)
        fit = task.rough_fit(domain)
        model = fit(table.released)
        rounds = min(self.rounds, max(len(domain) // 2, 1), n_refined)
        for number in range(rounds):
            task.report(
                "measuring marginals", round(100 * float(1 - ledger.remaining / budget)), 100
            )
            # As even as can be, the first rounds taking the remainder.
            n_new = n_refined // rounds + (number < n_refined % rounds)
            refinement.measure_worst(
                table, model, n_new, n_scored=self.max_scored, scoring=scoring / rounds, rho=rho
            )
            model = fit(table.released, warm_start=model)
        return model

    def _graph(
        self, table: PrivateTable, task: Task
    ) -> tuple[tuple[Clique, ...], dict[Clique, float]]:
        """Measure the columns, score pairs; the cliques of the graph, and how strongly pairs
        depend.
        """
        domain = table.domain
        budget = table.ledger.remaining
        columns = task.engine.unknown((name,) for name in domain.attributes)
        shares = measurement_shares(domain, dict.fromkeys(columns, 1.0))
        for clique, share in steps(task.report, "measuring columns", shares.items()):
            table.measure(clique, rho=budget * Fraction(self.one_way_share) * share)
        start = TreeGrowth(domain, (constraint.clique for constraint in task.constraints))
        # A column of one level depends on nothing.
        varying = [name for name in domain.attributes if domain[name] > 1]
        pairs = [
            pair for pair in all_k_way(varying, 2) if domain.size(pair) <= self.max_clique_cells
        ]
        if not pairs:
            return start.cliques, {}
        task.report("growing the graph", 0, 1)
        dependences = noisy_dependences(table, pairs, rho=budget * Fraction(self.graph_share))
        limits = {"max_cells": self.max_cells, "max_clique_cells": self.max_clique_cells}
        graph = grown_attribute_graph(start, dependences, **limits, size_penalty=self.size_penalty)
        return graph.cliques, dependences

    def _useful_cells(self, table: PrivateTable, rho: Fraction) -> float:
        """Most cells of a marginal that is theta-useful when it costs ``rho``."""
        sigma = sqrt(table.ledger.unit.sigma_squared(rho))
        # theta-usefulness [Zhang et al. 2017]: the mean count of a cell is at least theta times the
        # mean noise on it.
        return estimate_total(table.released) / (self.theta * L1_OF_NOISE * sigma)
