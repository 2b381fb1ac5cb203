"""Which cliques to measure, of any number of columns, and how a budget is split among them.

The split minimises the expected error of the workload (`ExpectedLoss`), which is convex. Which cliques it is
split among is found by column generation: at the best split all measured cliques have the same return on
the last bit of budget, so any that returns more is added, and the budget split anew. The best one of all
subsets of columns cannot be found by trying them; it is grown from pairs, column by column.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import prod
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.domain import Domain
from synthdp.selection.planning.expected_loss import ExpectedLoss

FloatArray = NDArray[np.float64]

_MAX_ROUNDS, _ADDED = 8, 15
"""Rounds of adding, and cliques added in each; more of them found no less error."""
_WORTH = 1.3
"""A clique is added if it returns so many times what the others do; at 1.05 there were twice as many."""
_SEEDS = 150
"""Pairs that cliques are grown from in a round, those of largest return."""
_PATIENCE = 0.7
"""A clique goes on growing while its return is above this part of the best one on the way."""
_MAX_COLUMNS, _MAX_CELLS = 6, 100_000
"""Largest cliques: of so many columns and cells."""
_FIRST, _NEXT, _LAST = 50, 15, 100
"""Updates of the split at the start, after a round, and at the end."""
_EVEN = 1.02
"""The split is even enough when no return is further above the average."""
_NEGLIGIBLE = 1e-4
"""Of the budget: what gets less is dropped."""
_USEFUL = 0.15
"""What a measurement has to take off the squared error of some residual to be worth making."""


@final
class BatchPlan:
    """The search for a batch of cliques.

    Parameters
    ----------
    domain
        The columns.
    loss
        What is to be minimised.
    is_allowed
        Whether a model over some cliques can be fitted; it is asked as cliques are added.
    """

    def __init__(
        self, domain: Domain, loss: ExpectedLoss, is_allowed: Callable[[Sequence[Clique]], bool] = lambda _: True
    ) -> None:
        self._domain, self._loss, self._is_allowed = domain, loss, is_allowed
        self._growth = _Growth(domain, loss)
        self._precision = self._gains = np.zeros(len(loss.residuals))
        self._average = 0.0

    def split(self, budget: Fraction) -> dict[Clique, Fraction]:
        """Cliques and what each is measured with, which sums to the budget exactly."""
        amount = float(budget)
        shares = self._minimised({(name,): 1.0 for name in self._domain.attributes}, amount, _FIRST)
        for _ in range(_MAX_ROUNDS):
            better = self._growth.best(self._gains, _WORTH * self._average)
            added = [clique for clique in better if clique not in shares][:_ADDED]
            added = self._allowed(shares, added)
            if not added:
                break
            shares |= dict.fromkeys(added, 0.5 * amount / (len(shares) + len(added)))
            shares = self._minimised(shares, amount, _NEXT)
            shares = {clique: share for clique, share in shares.items() if share > _NEGLIGIBLE * amount}
        shares = self._minimised(shares, amount, _LAST)
        useful = {clique: share for clique, share in shares.items() if self._is_useful(clique, share)}
        shares = self._minimised(useful or shares, amount, _LAST)
        parts = {clique: Fraction(share) for clique, share in shares.items() if share > 0}
        total = sum(parts.values())
        return {clique: budget * part / total for clique, part in parts.items()}

    def left(self) -> dict[Clique, float]:
        """The squared error that each residual is left with after the split."""
        return dict(zip(self._loss.residuals, self._loss.left(self._precision).tolist(), strict=True))

    def _allowed(self, shares: Mapping[Clique, float], added: Iterable[Clique]) -> list[Clique]:
        kept: list[Clique] = []
        for clique in added:
            if self._is_allowed([*shares, *kept, clique]):
                kept.append(clique)
        return kept

    def _minimised(self, shares: Mapping[Clique, float], budget: float, n_updates: int) -> dict[Clique, float]:
        """A better split among the same cliques.

        ``share * sqrt(return)``, made to sum to the budget, minimises an upper bound of the error that is
        tight at the present split, so no update makes it worse.
        """
        cliques = list(shares)
        owners, members = self._loss.told_by(cliques)
        sizes = np.array([prod(self._loss.sizes[name] for name in clique) for clique in cliques])
        ratios = self._loss.n_cells[members] / sizes[owners]
        split = np.array(list(shares.values()))
        split *= budget / split.sum()
        for update in range(n_updates + 1):
            precision = np.bincount(members, split[owners] * ratios, self._precision.size).astype(np.float64)
            _, gains = self._loss.after(precision)
            returns = np.bincount(owners, gains[members] * ratios, minlength=len(cliques))
            average = float(returns @ split) / budget
            if update == n_updates or average <= 0 or returns[split > 0].max() <= _EVEN * average:
                break
            split *= np.sqrt(returns / average)
            split *= budget / split.sum()
        self._precision, self._gains, self._average = precision, gains, average
        return dict(zip(cliques, split.tolist(), strict=True))

    def _is_useful(self, clique: Clique, share: float) -> bool:
        """Whether a clique alone would take a good part off the squared error of some residual."""
        _, members = self._loss.told_by([clique])
        alone = np.zeros_like(self._precision)
        alone[members] = share * self._loss.n_cells[members] / prod(self._loss.sizes[name] for name in clique)
        before, after = self._loss.left(np.zeros_like(alone))[members], self._loss.left(alone)[members]
        return bool((after <= (1.0 - _USEFUL) * before)[before > 0].any())


class _Grown(NamedTuple):
    """What a clique returns for each bit of budget."""

    value: float
    columns: tuple[int, ...]


@final
class _Growth:
    """Cliques of large return, grown column by column."""

    def __init__(self, domain: Domain, loss: ExpectedLoss) -> None:
        self._names = domain.attributes
        self._levels = np.array(domain.shape, dtype=np.float64)
        self._sizes = np.array([loss.sizes[name] for name in domain.attributes])
        self._n_cells = loss.n_cells
        index = {name: i for i, name in enumerate(domain.attributes)}
        self._of_length: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        for length in (1, 2, 3):
            found = [(i, [index[name] for name in c]) for i, c in enumerate(loss.residuals) if len(c) == length]
            positions = np.array([i for i, _ in found], dtype=np.int64)
            columns = np.array([members for _, members in found], dtype=np.int64).reshape(-1, length)
            self._of_length[length] = (positions, columns)

    def best(self, gains: FloatArray, enough: float) -> list[Clique]:
        """Cliques that return more than enough, the best ones first.

        Parameters
        ----------
        gains
            By how much more precision of each residual lowers the error.
        """
        amounts = gains * self._n_cells
        n, cubes = len(self._names), self._of_length[3][1].size > 0
        single, pair = np.zeros(n), np.zeros((n, n))
        triple = np.zeros((n, n, n)) if cubes else None
        positions, columns = self._of_length[1]
        single[columns[:, 0]] = amounts[positions]
        positions, (left, right) = self._of_length[2][0], self._of_length[2][1].T
        pair[left, right] = pair[right, left] = amounts[positions]
        if triple is not None:
            positions, sides = self._of_length[3][0], self._of_length[3][1].T
            for i, j, k in permutations(range(3)):
                triple[sides[i], sides[j], sides[k]] = amounts[positions]
        upper = np.triu_indices(n, 1)
        cells = (self._sizes[:, None] * self._sizes)[upper]
        values = (pair + single[:, None] + single)[upper] / cells
        values[(self._levels[:, None] * self._levels)[upper] > _MAX_CELLS] = 0.0
        found: dict[tuple[int, ...], float] = {(i,): float(single[i] / self._sizes[i]) for i in range(n)}
        for seed in np.argsort(-values, kind="stable")[:_SEEDS]:
            start = _Grown(float(values[seed]), (int(upper[0][seed]), int(upper[1][seed])))
            grown = self._grown(start, single, pair, triple)
            found[grown.columns] = grown.value
        best = sorted((columns for columns, value in found.items() if value > enough), key=lambda c: (-found[c], c))
        return [tuple(self._names[i] for i in columns) for columns in best]

    def _grown(self, start: _Grown, single: FloatArray, pair: FloatArray, triple: FloatArray | None) -> _Grown:
        """The best clique on the way from a pair to many columns."""
        columns, best = list(start.columns), start
        cells = float(np.prod(self._sizes[columns]))
        amount = start.value * cells
        while len(columns) < _MAX_COLUMNS:
            more = single + pair[:, columns].sum(axis=1)
            if triple is not None:
                more = more + sum(triple[:, i, j] for i, j in combinations(columns, 2))
            values = (amount + more) / (cells * self._sizes)
            values[columns] = 0.0
            values[np.prod(self._levels[columns]) * self._levels > _MAX_CELLS] = 0.0
            column = int(np.argmax(values))
            if values[column] <= _PATIENCE * best.value:
                break
            amount, cells = amount + float(more[column]), cells * float(self._sizes[column])
            columns.append(column)
            if values[column] > best.value * (1 + 1e-9):
                best = _Grown(float(values[column]), tuple(sorted(columns)))
        return best
