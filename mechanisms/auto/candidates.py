"""Which marginals may be scored and measured, and how much the error of each matters."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from math import sqrt
from typing import final

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.workload import MAX_DEFAULT_CELLS, MIN_USE, Workload

MAX_COLUMNS = 6
"""Columns of a marginal of the workload up to which it is planned for itself; wider ones as all of
their pairs, since each subset of its columns is a part of the plan.
"""
_MAX_FIRST_CELLS = 1 << 28
"""Cells of all pairs that are scored first: they are counted part by part, so this bounds time."""
_MAX_SECOND_CELLS = 1 << 25
"""Cells of all marginals that are scored again: 256 MB of the model's estimates at once."""
_MAX_PAIRS_AGAIN = 2000
"""Pairs that are scored again; tables of more than 64 columns have more."""
_PAIRS_SHARE = 1.0
"""Weight of all pairs inside of wider marginals, as a share of the weight of those."""
_NARROW_PAIRS = 780
"""Pairs of 40 columns, the most for which triples are in the default workload: tables of more
pairs are wide.
"""
_DEPENDENT_SHARE = 0.5
"""Weight of the pairs of a very wide table by how much they depend, as a share of what the workload
gives to all pairs.
"""


@final
class Candidates:
    """The marginals that a workload is about, in a form that can be planned for.

    Parameters
    ----------
    domain
        The columns.
    workload
        What matters.
    known
        Sets of columns of which all is public: they are neither scored nor planned for.

    Attributes
    ----------
    pairs
        All pairs of columns inside of the workload's marginals, but for those too large to score;
        in the order of the columns, so that pairs side by side share columns and are counted
        together.
    too_large
        The pairs that are not scored, smallest first.
    wider
        All subsets of three columns and more of the workload's marginals, smallest first.
    weights
        For each marginal how much its error matters.
    column_weights
        For each column how much its error matters relative to that of the others.
    is_narrowed
        Whether the workload holds marginals of more than `MAX_COLUMNS` columns.
    """

    def __init__(
        self, domain: Domain, workload: Workload, known: Collection[frozenset[str]] = ()
    ) -> None:
        self._domain = domain
        self.column_weights = workload.relative_weights((name,) for name in domain.attributes)
        # It becomes a caution: whoever lists a marginal of seven columns gets its pairs.
        self.is_narrowed = any(len(clique) > MAX_COLUMNS for clique in workload.weights)
        planned = _narrowed(workload)
        # Columns that nobody asks for are drawn all the same, so each matters a little.
        # A twentieth of the largest weight: it takes little budget from what was asked for.
        columns = dict.fromkeys(self.column_weights, MIN_USE * max(planned.values()))
        self.weights: Mapping[Clique, float] = _with_inner_pairs(columns | planned)
        # Smallest first, so that a limit on cells leaves out the fewest.
        inner = Workload(planned).downward_closure()
        subsets = sorted((each for each in inner if frozenset(each) not in known), key=domain.size)
        pairs = [clique for clique in subsets if len(clique) == 2]
        affordable = self._affordable(pairs, _MAX_FIRST_CELLS)
        self.pairs: Sequence[Clique] = self._in_column_order(affordable)
        self.too_large: Sequence[Clique] = pairs[len(affordable) :]
        self.wider: Sequence[Clique] = [clique for clique in subsets if len(clique) > 2]

    @property
    def wide_share(self) -> float:
        """Share of the pairs that are beyond those of 40 columns: 0 for narrow tables, towards 1."""
        # Continuous at 40 columns: a table of 41 is planned for nearly as one of 40.
        return max(1.0 - _NARROW_PAIRS / max(len(self.pairs), 1), 0.0)

    @property
    def times_narrow(self) -> float:
        """How many times as many pairs there are as 40 columns have."""
        return len(self.pairs) / _NARROW_PAIRS

    @property
    def n_pairs_again(self) -> int:
        """How many pairs are scored again, as far as their cells allow."""
        return min(len(self.pairs), _MAX_PAIRS_AGAIN)

    def weights_by(self, strengths: Mapping[Clique, float]) -> dict[Clique, float]:
        """The weights, where pairs of a wide table matter by how much they depend as well.

        A column's error is in its pairs with all others, a dependence in few of them: in the mean
        over all pairs of many columns there is hardly anything but columns.

        Parameters
        ----------
        strengths
            For each pair the squared L1 distance from independence, in squared records.
        """
        weights = dict(self.weights)
        # By distance, not by squared distance: with weights by the square all pairs together had 16
        # to 19 % more error (250 columns, 100,000 rows).
        by_strength = {pair: weights[pair] * sqrt(strengths[pair]) for pair in self.pairs}
        total = sum(by_strength.values())
        if total > 0:
            # Half of what pairs have anyway. Without it planted pairs of 250 columns had 23 to 40 %
            # more error and all pairs 1 to 3 % less; with twice as much 5 to 6 % less and 1 to 3 %
            # more.
            extra = _DEPENDENT_SHARE * self.wide_share * sum(weights[pair] for pair in self.pairs)
            for pair, strength in by_strength.items():
                weights[pair] += extra * strength / total
        return weights

    def strongest(self, strengths: Mapping[Clique, float], most: int) -> list[Clique]:
        """What to score again: the pairs that depend most, and where there is room wider marginals
        whose pairs do.

        Parameters
        ----------
        strengths
            As in `weights_by`.
        most
            Most marginals in all; pairs may be more.
        """
        strongest = sorted(self.pairs, key=lambda pair: -strengths[pair])[: self.n_pairs_again]
        # Side by side in the order of columns, pairs share a column with the next one, and the
        # counter sums them from the same wider table.
        pairs = self._in_column_order(self._affordable(strongest, _MAX_SECOND_CELLS))
        # A triple is worth scoring where its pairs depend. Parities, no two columns of which
        # depend, are missed here on purpose: there is no telling them from the many triples that
        # are nothing. Who knows of one names it in the workload.
        likely = sorted(self.wider, key=lambda clique: -sum(_inside(strengths, clique)))
        wider = self._affordable(likely, _MAX_SECOND_CELLS)[: max(most - len(pairs), 0)]
        return [*pairs, *sorted(wider, key=len)]

    def _affordable(self, candidates: Iterable[Clique], max_cells: int) -> list[Clique]:
        """The first candidates of at most `MAX_DEFAULT_CELLS` each and so many cells together."""
        affordable: list[Clique] = []
        n_cells = 0
        for clique in candidates:
            size = self._domain.size(clique)
            # Passed over, not counted: a pair of two columns with very many levels must not use up
            # the cells of all others.
            if size > MAX_DEFAULT_CELLS:
                continue
            n_cells += size
            # It ends here even if smaller ones follow, as those that come later in the order matter
            # less.
            if n_cells > max_cells:
                break
            affordable.append(clique)
        return affordable

    def _in_column_order(self, cliques: Collection[Clique]) -> list[Clique]:
        return sorted(cliques, key=lambda clique: tuple(map(self._domain.index, clique)))


def weakest_pair(strengths: Mapping[Clique, float], clique: Clique) -> float:
    """The least strength of a pair inside of a wider marginal; pairs that were not scored count as
    independent.
    """
    return min(_inside(strengths, clique))


def _inside(strengths: Mapping[Clique, float], clique: Clique) -> list[float]:
    return [strengths.get(pair, 0.0) for pair in combinations(clique, 2)]


def _narrowed(workload: Workload) -> dict[Clique, float]:
    """The workload with very wide marginals replaced by their pairs, each with its part of the
    weight.
    """
    weights: dict[Clique, float] = {}
    for whole, weight in workload.weights.items():
        parts: list[Clique] = [whole]
        if len(whole) > MAX_COLUMNS:
            # A marginal of seven columns has 127 residuals, and of twenty a million: a plan by
            # subsets ends at six.
            parts = list(combinations(whole, 2))
        for part in parts:
            # The parts together weigh what the whole did.
            weights[part] = weights.get(part, 0.0) + weight / len(parts)
    return weights


def _with_inner_pairs(weights: Mapping[Clique, float]) -> dict[Clique, float]:
    """The weights, where pairs inside of wider marginals matter by themselves as well, by how much
    is asked of them.
    """
    wider = {clique: weight for clique, weight in weights.items() if len(clique) > 2}
    inside: dict[Clique, float] = {}
    for clique, weight in wider.items():
        for pair in combinations(clique, 2):
            inside[pair] = inside.get(pair, 0.0) + weight
    # Pairs as a whole weigh as much as the wider marginals as a whole, whatever the number of
    # either. With weight 0 pairs had a twentieth more error on Adult at epsilon 10; with 1.5
    # triples had 1.5 % more.
    total = sum(inside.values())
    all_weights = dict(weights)
    for part, weight in inside.items():
        share = _PAIRS_SHARE * sum(wider.values()) * weight / total
        all_weights[part] = all_weights.get(part, 0.0) + share
    return all_weights
