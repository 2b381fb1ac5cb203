"""Which cliques to measure, of any number of columns, how finely, and how a budget is split among
them.

The split minimises the expected error of the workload (`ExpectedLoss`), which is convex. Which
cliques it is split among, and at which resolution each is measured, is found by column generation:
at the best split all that is measured has the same return on the last bit of budget, so anything
that returns more is added, and the budget split anew. The best one of all subsets of columns cannot
be found by trying them; it is grown from pairs, column by column, at each resolution.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.mechanisms.auto.expected_loss import ExpectedLoss
from synthdp.mechanisms.auto.resolutions import Question

FloatArray = NDArray[np.float64]

_MAX_ROUNDS, _ADDED = 24, 15
"""Rounds of adding, and cliques added in each; more of them found no less error."""
_COLUMNS_FOR_ONE = 4
"""In wide tables one clique is added for so many columns: there is more to be found."""
_WORTH = 1.3
"""A clique is added if it returns so many times what the others do; at 1.05 there were twice as
many.
"""
_SEEDS = 150
"""Pairs that cliques are grown from in a round, those of largest return; in wide tables as many as
columns.
"""
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
        self,
        domain: Domain,
        loss: ExpectedLoss,
        is_allowed: Callable[[Sequence[Clique]], bool] = lambda _: True,
    ) -> None:
        self._loss, self._is_allowed = loss, is_allowed
        self._columns = [Question((name,), len(loss.resolutions) - 1) for name in domain.attributes]
        self._growths = [_Growth(domain, loss, number) for number in range(len(loss.resolutions))]
        self._n_added = max(_ADDED, len(domain) // _COLUMNS_FOR_ONE)
        self._precision = self._gains = np.zeros(len(loss.parts))
        self._average = 0.0

    def split(self, budget: Fraction) -> dict[Question, Fraction]:
        """What to measure, and each with how much, which sums to the budget exactly."""
        amount = float(budget)
        shares = self._minimised(dict.fromkeys(self._columns, 1.0), amount, _FIRST)
        dropped = set[Question]()
        for _ in range(_MAX_ROUNDS):
            added = self._allowed(shares, self._better(shares, dropped))
            if not added:
                break
            shares |= dict.fromkeys(added, 0.5 * amount / (len(shares) + len(added)))
            shares = self._minimised(shares, amount, _NEXT)
            dropped |= {
                question for question, share in shares.items() if share <= _NEGLIGIBLE * amount
            }
            shares = {
                question: share
                for question, share in shares.items()
                if share > _NEGLIGIBLE * amount
            }
        shares = self._minimised(shares, amount, _LAST)
        useful = {
            question: share
            for question, share in shares.items()
            if self._is_useful(question, share)
        }
        shares = self._minimised(useful or shares, amount, _LAST)
        parts = {question: Fraction(share) for question, share in shares.items() if share > 0}
        total = sum(parts.values())
        return {question: budget * part / total for question, part in parts.items()}

    def left(self) -> dict[Question, float]:
        """The squared error that each part of a residual is left with after the split."""
        return dict(zip(self._loss.parts, self._loss.left(self._precision).tolist(), strict=True))

    def _better(self, shares: Container[Question], dropped: Container[Question]) -> list[Question]:
        """What returns more than what is measured, the best cliques first, each at its best
        resolution.

        The first bit of budget returns most at coarse ones, and soon no more. Where the best one
        was dropped for that, all others that return enough are tried: or it would be added and
        dropped in turns.
        """
        found: dict[Clique, list[tuple[float, Question]]] = {}
        for growth in self._growths:
            for question, value in growth.best(self._gains, _WORTH * self._average).items():
                found.setdefault(question.clique, []).append((value, question))
        added: list[tuple[float, list[Question]]] = []
        for values in found.values():
            value, best = max(values)
            others = [each for _, each in values if each not in shares and each not in dropped]
            if best not in shares:
                added.append((value, others if best in dropped and others else [best]))
        added.sort(key=lambda each: (-each[0], each[1]))
        return [question for _, questions in added[: self._n_added] for question in questions]

    def _allowed(self, shares: Iterable[Question], added: Iterable[Question]) -> list[Question]:
        kept: list[Question] = []
        for question in added:
            if self._is_allowed([other.clique for other in (*shares, *kept, question)]):
                kept.append(question)
        return kept

    def _minimised(
        self, shares: Mapping[Question, float], budget: float, n_updates: int
    ) -> dict[Question, float]:
        """A better split among the same marginals.

        ``share * sqrt(return)``, made to sum to the budget, minimises an upper bound of the error
        that is tight at the present split, so no update makes it worse.
        """
        owners, members = self._loss.told_by(list(shares))
        sizes = np.array([self._loss.resolutions.cells(*question) for question in shares])
        ratios = self._loss.n_cells[members] / sizes[owners]
        split = np.array(list(shares.values()))
        split *= budget / split.sum()
        for update in range(n_updates + 1):
            precision = np.bincount(members, split[owners] * ratios, self._precision.size).astype(
                np.float64
            )
            _, gains = self._loss.after(precision)
            returns = np.bincount(owners, gains[members] * ratios, minlength=len(shares))
            average = float(returns @ split) / budget
            if update == n_updates or average <= 0 or returns[split > 0].max() <= _EVEN * average:
                break
            split *= np.sqrt(returns / average)
            split *= budget / split.sum()
        self._precision, self._gains, self._average = precision, gains, average
        return dict(zip(shares, split.tolist(), strict=True))

    def _is_useful(self, question: Question, share: float) -> bool:
        """Whether a measurement alone would take a good part off the squared error of some part of
        a residual.
        """
        _, members = self._loss.told_by([question])
        alone = np.zeros_like(self._precision)
        alone[members] = (
            share * self._loss.n_cells[members] / self._loss.resolutions.cells(*question)
        )
        before, after = (
            self._loss.left(np.zeros_like(alone))[members],
            self._loss.left(alone)[members],
        )
        return bool((after <= (1.0 - _USEFUL) * before).any())


@final
class _Growth:
    """Cliques of large return at one resolution, grown column by column."""

    def __init__(self, domain: Domain, loss: ExpectedLoss, resolution: int) -> None:
        self._names, self._loss, self._resolution = domain.attributes, loss, resolution
        self._levels = np.array(domain.shape, dtype=np.float64)
        self._sizes = np.array(
            [loss.resolutions.sizes[resolution][name] for name in domain.attributes]
        )
        index = {name: i for i, name in enumerate(domain.attributes)}
        self._of_length: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        finest = np.array(
            [loss.resolutions.finest((name,), resolution) for name in domain.attributes]
        )
        for length in (1, 2, 3):
            found = [(i, part) for i, part in enumerate(loss.parts) if len(part.clique) == length]
            positions = np.array([i for i, _ in found], dtype=np.int64)
            numbers = np.array([part.resolution for _, part in found], dtype=np.int64)
            members = [index[name] for _, part in found for name in part.clique]
            columns = np.array(members, dtype=np.int64).reshape(-1, length)
            is_seen = numbers <= finest[columns].min(axis=1)
            self._of_length[length] = (positions[is_seen], columns[is_seen])

    def best(self, gains: FloatArray, enough: float) -> dict[Question, float]:
        """What returns more than enough, with its return.

        Parameters
        ----------
        gains
            By how much more precision of each part of a residual lowers the error.
        """
        amounts = gains * self._loss.n_cells
        n, cubes = len(self._names), self._of_length[3][1].size > 0
        single, pair = np.zeros(n), np.zeros((n, n))
        triple = np.zeros((n, n, n)) if cubes else None
        positions, columns = self._of_length[1]
        np.add.at(single, columns[:, 0], amounts[positions])
        positions, (left, right) = self._of_length[2][0], self._of_length[2][1].T
        np.add.at(pair, (left, right), amounts[positions])
        pair += pair.T
        if triple is not None:
            positions, sides = self._of_length[3][0], self._of_length[3][1].T
            for i, j, k in permutations(range(3)):
                np.add.at(triple, (sides[i], sides[j], sides[k]), amounts[positions])
        upper = np.triu_indices(n, 1)
        cells = (self._sizes[:, None] * self._sizes)[upper]
        values = (pair + single[:, None] + single)[upper] / cells
        values[(self._levels[:, None] * self._levels)[upper] > _MAX_CELLS] = 0.0
        seeds = np.argsort(-values, kind="stable")[
            : min(max(_SEEDS, n), int(np.count_nonzero(values)))
        ]
        found: dict[tuple[int, ...], float] = {
            (i,): float(single[i] / self._sizes[i]) for i in range(n)
        }
        found |= dict(self._grown(np.transpose(upper)[seeds], single, pair, triple))
        cliques = {
            tuple(self._names[i] for i in columns): value
            for columns, value in found.items()
            if value > enough
        }
        finest = self._loss.resolutions.finest
        return {Question(c, finest(c, self._resolution)): value for c, value in cliques.items()}

    def _grown(
        self,
        columns: NDArray[np.int64],
        single: FloatArray,
        pair: FloatArray,
        triple: FloatArray | None,
    ) -> Iterator[tuple[tuple[int, ...], float]]:
        """The best clique on the way from each of some pairs to many columns, and what it returns."""
        cells, levels = self._sizes[columns].prod(axis=1), self._levels[columns].prod(axis=1)
        amounts = single[columns].sum(axis=1) + pair[columns[:, 0], columns[:, 1]]
        more = single + pair[columns].sum(axis=1)
        more += 0.0 if triple is None else triple[columns[:, 0], columns[:, 1]]
        best, lengths = amounts / cells, np.full(len(columns), 2)
        while len(columns):
            values = (amounts[:, None] + more) / (cells[:, None] * self._sizes)
            values[levels[:, None] * self._levels > _MAX_CELLS] = 0.0
            np.put_along_axis(values, columns, 0.0, axis=1)
            added, rows = np.argmax(values, axis=1), np.arange(len(columns))
            reached = values[rows, added]
            grows = (reached > _PATIENCE * best) & (columns.shape[1] < _MAX_COLUMNS)
            for i in np.flatnonzero(~grows):
                yield tuple(sorted(columns[i, : lengths[i]].tolist())), float(best[i])
            amounts, cells, levels = (
                amounts + more[rows, added],
                cells * self._sizes[added],
                levels * self._levels[added],
            )
            more += pair[added]
            more += 0.0 if triple is None else sum(triple[column, added] for column in columns.T)
            columns = np.column_stack([columns, added])
            lengths = np.where(reached > best * (1 + 1e-9), columns.shape[1], lengths)
            best = np.maximum(best, reached)
            columns, amounts, cells, levels, more, best, lengths = (
                array[grows] for array in (columns, amounts, cells, levels, more, best, lengths)
            )
