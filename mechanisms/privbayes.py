"""PrivBayes: a Bayesian network of low degree, chosen and measured family by family [Zhang et al.
2017].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, prod, sqrt
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.inference.model import Model
from synthdp.inference.trees.tree_growth import TreeGrowth, small_growths
from synthdp.mechanisms.shared.allocation import L1_OF_NOISE
from synthdp.mechanisms.shared.columns import measure_columns
from synthdp.mechanisms.shared.mechanism import Mechanism, check_counts, check_shares
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.scores import MarginalL1Error


@final
@dataclass(frozen=True, kw_only=True)
class PrivBayes(Mechanism):
    """A network of columns, each below the few earlier ones that it depends on most.

    1. MEASURE all one-way marginals.
    2. For one column after another SELECT, by the exponential mechanism, which column comes next
       and which earlier ones are its parents, by the L1 distance of the family's marginal from
       independence of child and parents (twice the paper's score R). MEASURE the family and
       GENERATE, which tells the next round how parents depend on each other.
    3. What is left, where no family was worth its noise, improves the one-way marginals.

    Candidates are theta-useful families that keep the junction tree small and could not have one
    more parent. The workload does not matter here.
    """

    name: ClassVar[str] = "privbayes"
    reference: ClassVar[str] = (
        "Zhang, Cormode, Procopiuc, Srivastava, Xiao 2017, doi:10.1145/3134428"
    )
    degree: int = 3
    """Most parents of a column; fewer where there were more than ``max_candidates`` families."""
    theta: float = 4.0
    """Cells must hold at least ``theta`` times the expected noise on average, above 0."""
    one_way_share: float = 0.2
    """Share of the budget for step 1, between 0 and 1."""
    selection_share: float = 0.25
    """Share of each round's budget for its selection, between 0 and 1."""
    max_cells: int = 1 << 17
    """Most cells of the junction tree, 8 bytes each in the model; early rounds may use a share in
    proportion to the rounds done, a family an equal share.
    """
    max_candidates: int = 4000
    """Most families to choose from, if of several parents: with 100 columns most get one."""

    def __post_init__(self) -> None:
        check_counts(self, "degree", "max_cells", "max_candidates")
        if not self.theta > 0:
            raise ParameterError(
                f"privbayes: theta is {self.theta}; give a number above 0, for instance 4"
            )
        check_shares(self, "one_way_share", "selection_share")

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        domain = table.domain
        ledger = table.ledger
        most = len(domain) - 1
        measure_columns(table, task.engine, rho=ledger.remaining * Fraction(self.one_way_share))
        fit = task.rough_fit(domain, reports=False)
        model = fit(table.released)
        growth = TreeGrowth(domain, (rule.clique for rule in task.constraints))
        placed = frozenset[str]()
        for done in range(most):
            task.report("choosing and measuring", round(100 * done / most), 100)
            rho = ledger.remaining / (most - done)
            for_selection = rho * Fraction(self.selection_share)
            sigma = sqrt(ledger.unit.sigma_squared(rho - for_selection))
            # Two limits: cells whose counts stand out of the noise, and a fair part of what the
            # model may hold.
            useful = min(model.total / (self.theta * L1_OF_NOISE * sigma), self.max_cells / most)
            # No family is useful any more; what is left goes to the columns, those that are placed
            # included.
            if not (families := self._families(domain, placed, useful)):
                break
            families = small_growths(growth, families, max_cells=self.max_cells * (done + 1) / most)
            estimates = independent_families(model, with_most_parents(families))
            family = table.select(
                # The score is how far a family is from a child that is independent of its parents,
                # as released marginals have these: one record moves it by 1.
                list(estimates),
                score=MarginalL1Error(estimates),
                rho=for_selection,
            )
            table.measure(family, rho=rho - for_selection)
            growth = growth.with_clique(family)
            placed = placed.union(family)
            model = fit(table.released, warm_start=model)
        if len(placed) < len(domain):
            measure_columns(table, task.engine, rho=ledger.remaining)
        return task.fit(domain)(table.released, warm_start=model)

    def _families(self, domain: Domain, placed: frozenset[str], max_cells: float) -> list[Clique]:
        """Parents that are placed already, and then one child that is not; at first all pairs."""
        sizes = dict(zip(domain.attributes, domain.shape, strict=True))
        if not placed:
            return [(a, b) for a, b in combinations(sizes, 2) if sizes[a] * sizes[b] <= max_cells]
        earlier = [n for n in sizes if n in placed]
        children = [n for n in sizes if n not in placed]
        families: list[Clique] = []
        for degree in range(1, self.degree + 1):
            if (
                degree > 1
                and len(families) + comb(len(earlier), degree) * len(children) > self.max_candidates
            ):
                break
            for parents in combinations(earlier, degree):
                n_cells = prod(sizes[name] for name in parents)
                families += [
                    (*parents, child) for child in children if n_cells * sizes[child] <= max_cells
                ]
        return families


def with_most_parents(families: Sequence[Clique]) -> list[Clique]:
    """The families of which no other one is the same with one parent more; the child comes last."""
    smaller = {
        (*fewer, child)
        for *parents, child in families
        for fewer in combinations(parents, len(parents) - 1)
    }
    return [family for family in families if family not in smaller]


def independent_families(
    model: Model, families: Sequence[Clique]
) -> dict[Clique, NDArray[np.float64]]:
    """Expected counts of families, were the child, which comes last, independent of its parents."""
    parts = list(dict.fromkeys(part for family in families for part in (family[:-1], family[-1:])))
    counts = dict(zip(parts, (factor.values for factor in model.marginals(parts)), strict=True))
    return {
        family: np.multiply.outer(counts[family[:-1]], counts[family[-1:]] / model.total)
        for family in families
    }
