"""A look for columns that depend all together and not two by two: the parity of three columns is
right in every pair and every triple of a model, and wrong in the four columns.

No score of pairs leads to such sets, so all small ones are scored, each over two or four groups of
its columns' levels: that shows what is strong, and makes them all alike, so that they are
estimated and counted together. What stands out clearly is measured, and nothing else changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, prod, sqrt
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.measurement import Coarsening, estimate_total
from synthdp.core.workload import Workload
from synthdp.inference.model import Model
from synthdp.mechanisms.auto.batch_plan import MAX_CELLS
from synthdp.mechanisms.auto.level_groups import merged_to
from synthdp.mechanisms.shared.noisy_errors import error_stddev, release_errors
from synthdp.privacy.private_table import PrivateTable

FloatArray = NDArray[np.float64]

_MAX_SETS = 400
"""Sets that are scored, smallest first: up to ten columns all of three and four columns are. More
would take longer than a fifth of a release.
"""
_ALL_CELLS = 1 << 23
"""Cells of all sets together, over all levels: they are counted before levels are merged."""
_FEW_SETS, _MANY_GROUPS, _FEW_GROUPS = 120, 4, 2
"""Up to so many sets are scored over four groups a column, more over two."""
_MAX_NOISE_SHARE = 0.06
"""Standard deviation of a score's noise, in shares of records, above which fewer are scored."""
_CLEAR = 4.0
"""Standard deviations of its noise by which a score has to exceed what is expected."""
_STRONG = 0.2
"""Least L1 norm of what is called strong, as a share of the records: a total variation distance of a
tenth.
"""
_ROUNDS = 8
"""Of iterative proportional fitting; what is left then is far below what counts as strong."""
_MOST_MEASURED = 10
"""Sets that are measured, strongest first."""


class JointSets(NamedTuple):
    """Sets of columns to be scored."""

    scored: Sequence[Clique]
    wanted: frozenset[Clique]
    """Those of them that may be measured; the others tell what explains these."""


def joint_sets(domain: Domain, workload: Workload) -> JointSets:
    """Sets of three and four columns of which the workload holds all pairs, smallest first.

    There are none where people name their marginals, or want pairs only. Where all marginals hold
    one column, which is to be predicted, only sets with that column are wanted.
    """
    cliques = list(workload.weights)
    target = frozenset.intersection(*map(frozenset, cliques)) if len(cliques) > 1 else frozenset()
    widest = max(map(len, cliques))
    varying = [
        name for name in domain.attributes if domain[name] > 1 and name in workload.importance
    ]
    # Only triples and wider ones say that more than pairs matter; the pairs of a wide table do not.
    if workload.are_named or (widest < 3 and not target) or len(target) > 1:
        return JointSets([], frozenset())
    pairs = {pair for clique in cliques for pair in combinations(clique, 2)}
    sets: list[Clique] = []
    for size in (3, 4):
        if comb(len(varying), size) > 8 * _MAX_SETS:  # most would be left out
            break
        sets += [
            each
            for each in combinations(varying, size)
            if domain.size(each) <= MAX_CELLS
            and (target <= set(each) or size == 3)
            and all(pair in pairs for pair in combinations(each, 2))
        ]
    # Smallest first: they have least noise, and limits then leave out the fewest.
    sets.sort(key=lambda each: (len(each), domain.size(each)))
    kept, n_cells = [], 0
    for each in sets[:_MAX_SETS]:
        n_cells += domain.size(each)
        if n_cells > _ALL_CELLS:
            break
        kept.append(each)
    return JointSets(kept, frozenset(each for each in kept if target <= set(each)))


@final
class JointScores:
    """The scores of some sets against what a model says of smaller ones.

    Parameters
    ----------
    table
        The table; some of its marginals are measured.
    sets
        What to score.
    shares
        For each column about what share of the records each level has.
    rho
        What the scores may cost.
    """

    def __init__(
        self,
        table: PrivateTable,
        sets: JointSets,
        *,
        shares: Mapping[str, FloatArray],
        rho: Fraction,
    ) -> None:
        self._table = table
        self._shares = shares
        self._total = estimate_total(table.released)
        self._wanted = sets.wanted
        self._rho = rho
        unit = table.ledger.unit
        # The noise of k scores grows with sqrt(k): as many are scored as it allows, smallest first.
        most = (_MAX_NOISE_SHARE * self._total / error_stddev(1, rho=rho, unit=unit)) ** 2
        self.scored: Sequence[Clique] = sets.scored[: int(most)]
        """The sets that are scored; none if noise would hide them."""
        if not self._wanted.intersection(self.scored):
            self.scored = []
        self.cost = rho if self.scored else Fraction(0)
        """What the scores will cost: where nothing would be seen, nothing is paid."""
        n_groups = _MANY_GROUPS if len(self.scored) <= _FEW_SETS else _FEW_GROUPS
        self._coarsening = merged_to(table.domain, shares, n_groups)
        self.stddev = error_stddev(max(len(self.scored), 1), rho=rho, unit=unit)
        """Standard deviation of the noise of each score, in records."""

    def strong(self, model: Model) -> list[Clique]:
        """The wanted sets that depend clearly beyond their subsets and beyond what is measured,
        strongest first.
        """
        expected = self.expected(model)
        noisy = release_errors(
            self._table, self.scored, expected, rho=self._rho, coarsening=self._coarsening
        ).errors
        own: dict[Clique, float] = {}
        for clique in sorted(self.scored, key=len):
            # Residuals are orthogonal: what a triple inside of four columns has is not theirs.
            inside = sum(own.get(part, 0.0) ** 2 for part in combinations(clique, len(clique) - 1))
            whole = max(noisy[clique], 0.0) ** 2
            square = whole - inside - self._by_chance(clique)
            # The noise of a square is twice the number's, times the number.
            spread = 2.0 * self.stddev * sqrt(whole + inside)
            # Only what is strong is taken off wider sets: a difference of noises would make others
            # look strong or weak by chance.
            if square - _CLEAR * spread >= (_STRONG * self._total) ** 2:
                own[clique] = sqrt(square)
        strongest = sorted(
            self._wanted.intersection(own), key=lambda clique: (-own[clique], clique)
        )
        return strongest[:_MOST_MEASURED]

    def _by_chance(self, clique: Clique) -> float:
        """About the squared L1 norm that chance makes of what pairs do not say."""
        sizes = [self._domain[name] for name in clique]
        all_of_it = prod(sizes) - 1 - sum(each - 1 for each in sizes)
        pairs = sum((a - 1) * (b - 1) for a, b in combinations(sizes, 2))
        return 2.0 / np.pi * self._total * max(all_of_it - pairs, 0)

    @property
    def _domain(self) -> Domain:
        domain = self._table.domain
        return self._coarsening.domain(domain) if self._coarsening else domain

    def merged(self, model: Model, cliques: Sequence[Clique]) -> dict[Clique, FloatArray]:
        """What a model says of some marginals, over groups of levels."""
        tables = (factor.values for factor in model.marginals(cliques))
        merging = self._coarsening or Coarsening({})
        return {
            clique: merging.apply(clique, table)
            for clique, table in zip(cliques, tables, strict=True)
        }

    def expected(self, model: Model) -> list[FloatArray]:
        """Counts of all sets such that pairs, and triples that were measured, are as in the model,
        and else as even as can be.
        """
        measured = [frozenset(measurement.clique) for measurement in self._table.released]
        known = {
            part
            for clique in self.scored
            for size in (2, 3)
            for part in combinations(clique, size)
            if size == 2 or any(other >= set(part) for other in measured)
        }
        # Sets inside of a measured one are expected as the model has them: whatever they depend on
        # has been seen.
        known |= {
            clique for clique in self.scored if any(other >= set(clique) for other in measured)
        }
        tables = self.merged(model, sorted(known))
        by_shape: dict[tuple[int, ...], list[Clique]] = {}
        for clique in self.scored:
            if clique not in tables:
                by_shape.setdefault(self._domain.project(clique).shape, []).append(clique)
        for shape, some in by_shape.items():
            tables |= dict(zip(some, _fitted(shape, some, tables), strict=True))
        return [tables[clique] for clique in self.scored]


def _fitted(
    shape: tuple[int, ...], cliques: Sequence[Clique], tables: Mapping[Clique, FloatArray]
) -> Iterable[FloatArray]:
    """Tables of one shape, fitted to smaller ones together (iterative proportional fitting)."""
    # All tables of a shape at once: hundreds of them in a few operations on arrays.
    cells = np.ones((len(cliques), *shape))
    steps = []
    for size in (2, 3):
        for axes in combinations(range(len(shape)), size):
            parts = [tuple(clique[axis] for axis in axes) for clique in cliques]
            rows = [row for row, part in enumerate(parts) if size < len(shape) and part in tables]
            if rows:
                wanted = np.stack([np.maximum(tables[parts[row]], 0.0) for row in rows])
                summed = tuple(axis + 1 for axis in range(len(shape)) if axis not in axes)
                steps.append((rows, np.expand_dims(wanted, summed), summed))
    for _ in range(_ROUNDS):
        for rows, wanted, summed in steps:
            sums = cells[rows].sum(axis=summed, keepdims=True)
            cells[rows] *= np.divide(wanted, sums, out=np.zeros_like(sums), where=sums > 0)
    return list(cells)
