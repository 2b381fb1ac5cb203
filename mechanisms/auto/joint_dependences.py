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
"""Least L1 norm of what is called strong, as a share of the records: a total variation distance of
a tenth.
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
    widest = max(map(len, workload.weights))
    target = workload.shared
    # Only triples and wider ones say that more than pairs matter; the pairs of a wide table do not.
    if workload.are_named or (widest < 3 and not target) or len(target) > 1:
        return JointSets([], frozenset())
    candidates = _candidates(domain, workload, target)
    # Smallest first: they have least noise, and limits then leave out the fewest.
    candidates.sort(key=lambda clique: (len(clique), domain.size(clique)))
    scored = []
    n_cells = 0
    for clique in candidates[:_MAX_SETS]:
        n_cells += domain.size(clique)
        if n_cells > _ALL_CELLS:
            break
        scored.append(clique)
    return JointSets(scored, frozenset(clique for clique in scored if target <= set(clique)))


def _candidates(domain: Domain, workload: Workload, target: frozenset[str]) -> list[Clique]:
    """Sets of three and four columns that vary, all of whose pairs are in the workload; those of
    four hold the target.
    """
    varying = [
        name for name in domain.attributes if domain[name] > 1 and name in workload.importance
    ]
    pairs = {pair for clique in workload.weights for pair in combinations(clique, 2)}
    candidates: list[Clique] = []
    for size in (3, 4):
        if comb(len(varying), size) > 8 * _MAX_SETS:  # most would be left out
            break
        for clique in combinations(varying, size):
            # Triples without the target are scored as well: they explain sets of four around them.
            may_be_scored = size == 3 or target <= set(clique)
            is_wanted = all(pair in pairs for pair in combinations(clique, 2))
            if may_be_scored and is_wanted and domain.size(clique) <= MAX_CELLS:
                candidates.append(clique)
    return candidates


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
        stddev_of_one = error_stddev(1, rho=rho, unit=unit)
        most = (_MAX_NOISE_SHARE * self._total / stddev_of_one) ** 2
        self.scored: Sequence[Clique] = sets.scored[: int(most)]
        """The sets that are scored; none if noise would hide them."""
        if not self._wanted.intersection(self.scored):
            self.scored = []
        self.cost = rho if self.scored else Fraction(0)
        """What the scores will cost: where nothing would be seen, nothing is paid."""
        n_groups = _MANY_GROUPS if len(self.scored) <= _FEW_SETS else _FEW_GROUPS
        self._coarsening = merged_to(table.domain, shares, n_groups)
        self._merging = self._coarsening or Coarsening({})
        self._domain = self._merging.domain(table.domain)
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
        residuals: dict[Clique, float] = {}
        for clique in sorted(self.scored, key=len):
            # Residuals are orthogonal: what a triple inside of four columns has is not theirs.
            parts = combinations(clique, len(clique) - 1)
            inside = sum(residuals.get(part, 0.0) ** 2 for part in parts)
            whole = max(noisy[clique], 0.0) ** 2
            square = whole - inside - self._by_chance(clique)
            # The noise of a square is twice the number's, times the number.
            spread = 2.0 * self.stddev * sqrt(whole + inside)
            # Only what is strong is taken off wider sets: a difference of noises would make others
            # look strong or weak by chance.
            if square - _CLEAR * spread >= (_STRONG * self._total) ** 2:
                residuals[clique] = sqrt(square)
        strongest = sorted(
            self._wanted.intersection(residuals),
            key=lambda clique: (-residuals[clique], clique),
        )
        return strongest[:_MOST_MEASURED]

    def _by_chance(self, clique: Clique) -> float:
        """About the squared L1 norm that chance makes of what pairs do not say."""
        sizes = [self._domain[name] for name in clique]
        beyond_columns = prod(sizes) - 1 - sum(size - 1 for size in sizes)
        of_pairs = sum((a - 1) * (b - 1) for a, b in combinations(sizes, 2))
        degrees_of_freedom = max(beyond_columns - of_pairs, 0)
        # The mean of |x|, squared, of a standard normal x is 2 / pi.
        return 2.0 / np.pi * self._total * degrees_of_freedom

    def merged(self, model: Model, cliques: Sequence[Clique]) -> dict[Clique, FloatArray]:
        """What a model says of some marginals, over groups of levels."""
        tables = {}
        for clique, marginal in zip(cliques, model.marginals(cliques), strict=True):
            tables[clique] = self._merging.apply(clique, marginal.values)
        return tables

    def expected(self, model: Model) -> list[FloatArray]:
        """Counts of all sets such that pairs, and triples that were measured, are as in the model,
        and else as even as can be.
        """
        measured = [frozenset(measurement.clique) for measurement in self._table.released]

        def is_measured(clique: Clique) -> bool:
            return any(other >= set(clique) for other in measured)

        from_model: set[Clique] = set()
        for clique in self.scored:
            from_model.update(combinations(clique, 2))
            from_model.update(filter(is_measured, combinations(clique, 3)))
            # Inside of a measured set whatever the columns depend on has been seen.
            if is_measured(clique):
                from_model.add(clique)
        tables = self.merged(model, sorted(from_model))

        by_shape: dict[tuple[int, ...], list[Clique]] = {}
        for clique in self.scored:
            if clique not in tables:
                shape = self._domain.project(clique).shape
                by_shape.setdefault(shape, []).append(clique)
        for shape, cliques in by_shape.items():
            tables |= dict(zip(cliques, _fitted(shape, cliques, tables), strict=True))
        return [tables[clique] for clique in self.scored]


class _Fitting(NamedTuple):
    """A step of the fitting: some axes of some tables are scaled to given sums."""

    rows: list[int]
    """Which tables."""
    target: FloatArray
    """The sums that they are to have, with axes of length 1 where they are summed over."""
    summed: tuple[int, ...]
    """The axes that are summed over."""


def _fitted(
    shape: tuple[int, ...], cliques: Sequence[Clique], tables: Mapping[Clique, FloatArray]
) -> Iterable[FloatArray]:
    """Tables of one shape, fitted to smaller ones together (iterative proportional fitting)."""
    # All tables of a shape at once: hundreds of them in a few operations on arrays.
    cells = np.ones((len(cliques), *shape))
    steps = _fitting_steps(len(shape), cliques, tables)
    for _ in range(_ROUNDS):
        for step in steps:
            sums = cells[step.rows].sum(axis=step.summed, keepdims=True)
            factors = np.divide(step.target, sums, out=np.zeros_like(sums), where=sums > 0)
            cells[step.rows] *= factors
    return list(cells)


def _fitting_steps(
    n_axes: int, cliques: Sequence[Clique], tables: Mapping[Clique, FloatArray]
) -> list[_Fitting]:
    """A step for each pair of axes, and for each triple of four, of which tables are known."""
    steps = []
    for size in range(2, min(n_axes, 4)):
        for axes in combinations(range(n_axes), size):
            parts = [tuple(clique[axis] for axis in axes) for clique in cliques]
            rows = [row for row, part in enumerate(parts) if part in tables]
            if not rows:
                continue
            target = np.stack([np.maximum(tables[parts[row]], 0.0) for row in rows])
            # The first axis of all tables together is that of the tables.
            summed = tuple(axis + 1 for axis in range(n_axes) if axis not in axes)
            steps.append(_Fitting(rows, np.expand_dims(target, summed), summed))
    return steps
