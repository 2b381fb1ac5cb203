"""MST: one-way marginals and a maximum spanning tree of two-way marginals [2108.04978]."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, all_k_way
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.measurement import Coarsening, LinearMeasurement, estimate_total
from synthdp.core.reporting import steps
from synthdp.inference.engines.refinement import estimate_refined
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.mechanism import Mechanism, check_parts
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.private_table import MAX_CELLS, PrivateTable
from synthdp.privacy.scores import MarginalL1Error


@final
@dataclass(frozen=True, kw_only=True)
class MST(Mechanism):
    """The winner of NIST's 2018 challenge: a tree of the most dependent pairs of columns.

    1. MEASURE all one-way marginals. Levels that the noise drowns are merged: pairs with them
       would be noise as well.
    2. SELECT d - 1 pairs that form a spanning tree, each by the exponential mechanism among the
       pairs that join two components, by how far the pair is from independence, weighted by its
       use for the workload. Pairs of more than 2^27 cells, too many to count, are left out.
    3. MEASURE those pairs over the merged levels, and GENERATE.
    """

    name: ClassVar[str] = "mst"
    reference: ClassVar[str] = "McKenna, Miklau, Sheldon 2021, arXiv:2108.04978"
    one_way_share: float = 1 / 3
    selection_share: float = 1 / 3
    """Shares of the budget for steps 1 and 2, each above 0 and together below 1; the rest is
    for step 3.
    """
    rare_threshold: float = 3.0
    """Levels whose noisy count is below this many standard deviations of the noise are merged
    into one; 0 merges only levels with negative counts.
    """

    def __post_init__(self) -> None:
        check_parts(self, self.one_way_share, self.selection_share)
        if not self.rare_threshold >= 0:
            raise ParameterError(
                f"mst: rare_threshold is {self.rare_threshold}; give 0 or more, for instance 3"
            )

    def share_of_columns(self, domain: Domain) -> float:
        """That of the columns; all of it where no pair is small enough."""
        pairs = all_k_way(domain.attributes, 2)
        return self.one_way_share if any(domain.size(pair) <= MAX_CELLS for pair in pairs) else 1.0

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        attributes = table.domain.attributes
        budget = table.ledger.remaining
        candidates = [
            pair for pair in all_k_way(attributes, 2) if table.domain.size(pair) <= MAX_CELLS
        ]
        # A table of one column, or of columns so large that no pair is measured, spends all of it
        # on columns.
        rho = budget * Fraction(self.one_way_share) if candidates else budget
        columns = task.engine.unknown((name,) for name in attributes)
        for column in steps(task.report, "measuring columns", columns):
            table.measure(column, rho=rho / len(columns))
        coarsening = merged_rare_levels(table.released, self.rare_threshold, task.constraints)
        if candidates:
            rho = budget * Fraction(self.selection_share)
            pairs = self._select(table, task, candidates, rho, coarsening)
            # What is left, not a third of the budget: where pairs are missing the forest has fewer
            # edges than the tree that selection paid for.
            pairs = task.engine.unknown(pairs)
            rho = table.ledger.remaining / max(len(pairs), 1)
            for pair in steps(task.report, "measuring pairs", pairs):
                table.measure(pair, rho=rho, coarsening=coarsening)
        fitting = partial(task.report, "fitting")
        return estimate_refined(
            task.engine,
            table.domain,
            table.released,
            constraints=task.constraints,
            progress=fitting,
        )

    @staticmethod
    def _select(
        table: PrivateTable,
        task: Task,
        pairs: Sequence[Clique],
        rho: Fraction,
        coarsening: Coarsening,
    ) -> list[Clique]:
        """A spanning tree (or forest, where pairs are missing) of pairs, one exponential mechanism
        an edge.
        """
        estimates = independent_pairs(pairs, table.released, coarsening)
        score = MarginalL1Error(
            estimates, coarsening, weights=task.workload.relative_weights(pairs)
        )
        component = {name: name for name in table.domain.attributes}
        n_edges = len(table.domain) - 1
        tree: list[Clique] = []
        # Kruskal's algorithm, each edge chosen privately among those that close no circle. It ends
        # early where too large pairs leave the columns in several parts.
        while joining := [(a, b) for a, b in pairs if component[a] != component[b]]:
            task.report("selecting pairs", len(tree), n_edges)
            a, b = table.select(joining, score=score, rho=rho / n_edges)
            tree.append((a, b))
            # Few columns, so components are relabelled rather than kept as a forest of pointers.
            old = component[b]
            new = component[a]
            component = {name: new if root == old else root for name, root in component.items()}
        return tree


def independent_pairs(
    pairs: Sequence[Clique], one_way: Sequence[LinearMeasurement], coarsening: Coarsening
) -> dict[Clique, NDArray[np.float64]]:
    """Expected counts of pairs over merged levels, were the columns independent."""
    total = estimate_total(one_way)
    shares = {}
    for measurement in one_way:
        counts = np.maximum(coarsening.apply(measurement.clique, measurement.values), 0.0)
        shares[measurement.clique[0]] = (
            counts / counts.sum() if counts.any() else np.full(counts.size, 1 / counts.size)
        )
    return {(a, b): total * np.outer(shares[a], shares[b]) for a, b in pairs}


def merged_rare_levels(
    one_way: Sequence[LinearMeasurement], threshold: float, constraints: Sequence[Constraint] = ()
) -> Coarsening:
    """Merge the levels of each attribute whose noisy count is below ``threshold`` standard
    deviations.

    Levels that a constraint treats differently stay apart. A single rare level stays as it is:
    merging it with nothing would change nothing.
    """
    groups = {}
    for measurement in one_way:
        (name,) = measurement.clique
        # A level whose noisy count is below three standard deviations cannot be distinguished from
        # an empty one, and its pairs with other columns are noise.
        rare = measurement.values < threshold * np.sqrt(measurement.variance)
        alike = _constraint_classes(name, rare.size, constraints)
        # Every kept level is a class of its own; rare levels of one class share a number.
        # Numbers of kept levels are below the size, those of merged ones above, so no two collide.
        labels = np.where(rare, rare.size + alike, np.arange(rare.size))
        kept, numbers = np.unique(labels, return_inverse=True)
        if kept.size < rare.size:
            groups[name] = numbers
    return Coarsening(groups)


def _constraint_classes(
    name: str, size: int, constraints: Sequence[Constraint]
) -> NDArray[np.intp]:
    """For each level a number, equal for levels that all constraints treat alike."""
    patterns = [
        np.moveaxis(constraint.allowed, constraint.clique.index(name), 0).reshape(size, -1)
        for constraint in constraints
        if name in constraint.clique
    ]
    if not patterns:
        return np.zeros(size, dtype=np.intp)
    # Levels with equal rows of all constraints' masks are treated alike. Merging a level that a
    # rule forbids with one that it allows would forbid both or neither.
    return np.unique(np.hstack(patterns), axis=0, return_inverse=True)[1].reshape(size)
