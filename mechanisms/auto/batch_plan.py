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
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.mechanisms.auto.expected_loss import ExpectedLoss
from synthdp.mechanisms.auto.resolutions import ResolvedClique

FloatArray = NDArray[np.float64]

_MAX_ROUNDS = 24
"""Rounds of adding cliques; more of them found no less error."""
_N_ADDED = 15
"""Cliques added in a round; more of them found no less error."""
_COLUMNS_PER_ADDED = 4
"""In wide tables one clique is added in a round for so many columns: there is more to be found."""
_MIN_RETURN_RATIO = 1.3
"""A clique is added if it returns so many times what the others do; at 1.05 there were twice as
many, for no less error.
"""
_N_SEEDS = 150
"""Pairs that cliques are grown from in a round, those of largest return; in wide tables as many as
columns.
"""
_GROWTH_PATIENCE = 0.7
"""A clique goes on growing while its return is above this share of the best one on the way: the
third column of a dependent triple may return less than the fourth.
"""
_MAX_COLUMNS = 6
"""Columns of a clique; wider ones are mostly noise, and have 2^columns residuals each."""
MAX_CELLS = 100_000
"""Cells of a clique, for the same reason."""
_MAX_GROWN = 3
"""Columns up to which residuals lead from a pair to a clique; each wider one is tried by itself."""
_FIRST_UPDATES, _UPDATES, _LAST_UPDATES = 50, 15, 100
"""Updates of the split at the start, after a round, and at the end."""
_EVEN = 1.02
"""The split is even enough when no return is further above the average: what is left to gain is
less than the error of the plan's own figures.
"""
_NEGLIGIBLE = 1e-4
"""Share of the budget below which a clique is dropped."""
_MIN_GAIN = 0.15
"""Share of the squared error of some residual that a measurement alone has to take off to be worth
an entry in the certificate.
"""


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
        self._loss = loss
        self._is_allowed = is_allowed
        finest = len(loss.resolutions) - 1
        self._columns = [ResolvedClique((name,), finest) for name in domain.attributes]
        self._growths = [_Growth(domain, loss, number) for number in range(len(loss.resolutions))]
        self._n_added = max(_N_ADDED, len(domain) // _COLUMNS_PER_ADDED)
        # What the last split left: the precision of each part of a residual, by how much more of it
        # lowers the error, and the average return of what is measured.
        self._precision = np.zeros(len(loss.parts))
        self._gains = np.zeros(len(loss.parts))
        self._average = 0.0
        # Growth leads to no clique that errs only as a whole; those are tried by themselves.
        wide_cliques = [part.clique for part in loss.parts if len(part.clique) > _MAX_GROWN]
        self._wide: list[ResolvedClique] = []
        for clique in dict.fromkeys(wide_cliques):
            if domain.size(clique) <= MAX_CELLS:
                numbers = loss.resolutions.of(clique)
                self._wide += [ResolvedClique(clique, number) for number in numbers]
        n_cells = np.array([loss.resolutions.cells(*each) for each in self._wide])
        self._wide_parts = (*loss.parts_measured_by(self._wide), n_cells)

    # The problem is convex in the shares of given cliques, so the updates below find its minimum
    # from any start. Column generation makes it one over all cliques: a clique that is absent is
    # one whose share is 0, and it belongs in the plan only if its return at 0 is above that of the
    # others.
    def split(self, budget: Fraction) -> dict[ResolvedClique, Fraction]:
        """What to measure, and each with how much, which sums to the budget exactly."""
        amount = float(budget)
        # Columns are inside of everything, so beginning with them leaves no residual of a single
        # column at no precision, where its return would be that of nothing measured at all.
        shares = self._minimised(dict.fromkeys(self._columns, 1.0), amount, _FIRST_UPDATES)
        # What was dropped stays in mind. A strong pair returns most at its coarsest resolution;
        # less than a ten-thousandth of the budget shows all that is to be seen there, so it was
        # dropped as negligible and added again in the next round, until the rounds were over and
        # its finer resolutions had never been tried. Of 250 columns with planted pairs four fifths
        # were lost that way.
        dropped = set[ResolvedClique]()
        for _ in range(_MAX_ROUNDS):
            added = self._allowed(shares, self._better(shares, dropped))
            # Nothing returns more than 1.3 times what is measured: the plan is as good as it gets.
            if not added:
                break
            # Updates multiply shares, so what starts at 0 stays there. New cliques begin at half of
            # an equal share; where they end does not depend on it.
            shares |= dict.fromkeys(added, 0.5 * amount / (len(shares) + len(added)))
            shares = self._minimised(shares, amount, _UPDATES)
            # Multiplicative updates take useless shares towards 0 but never to it.
            negligible = {each for each, share in shares.items() if share <= _NEGLIGIBLE * amount}
            dropped |= negligible
            shares = {each: share for each, share in shares.items() if each not in negligible}
        shares = self._minimised(shares, amount, _LAST_UPDATES)
        # Many small measurements each of which takes little off would make the certificate and the
        # fit long. What is left over after dropping them goes to the others.
        useful = {
            clique: share for clique, share in shares.items() if self._is_useful(clique, share)
        }
        # With next to no budget no measurement is useful; then all are kept, since the budget has
        # to go somewhere.
        shares = self._minimised(useful or shares, amount, _LAST_UPDATES)
        # Floats become exact fractions and are scaled once more, so that they sum to the budget
        # exactly and the ledger is left with nothing.
        parts = {clique: Fraction(share) for clique, share in shares.items() if share > 0}
        total = sum(parts.values())
        return {clique: budget * part / total for clique, part in parts.items()}

    def left(self) -> dict[ResolvedClique, float]:
        """The squared error that each part of a residual is left with after the split."""
        return self._loss.left_by_part(self._precision)

    def _better(
        self, shares: Container[ResolvedClique], dropped: Container[ResolvedClique]
    ) -> list[ResolvedClique]:
        """Cliques that return more than what is measured, best first, each at its best resolution.

        The first bit of budget returns most at coarse resolutions, and soon no more. Where the best
        one was dropped for that, all others that return enough are tried: or it would be added and
        dropped in turns.
        """
        min_return = _MIN_RETURN_RATIO * self._average
        # A clique is added at one resolution, its best: two of them side by side compete for the
        # same parts, and the next round may still add the other.
        by_clique: dict[Clique, list[tuple[float, ResolvedClique]]] = {}
        returns = dict(self._returns_of_wide())
        # One growth for each resolution: sizes, and so returns, differ between them.
        for growth in self._growths:
            returns |= growth.best(self._gains, min_return)
        for resolved, value in returns.items():
            if value > min_return:
                by_clique.setdefault(resolved.clique, []).append((value, resolved))
        additions: list[tuple[float, list[ResolvedClique]]] = []
        for choices in by_clique.values():
            value, best = max(choices)
            # It is measured already at its best resolution; that it still returns more only says
            # that the updates are not done.
            if best in shares:
                continue
            others = [each for _, each in choices if each not in shares and each not in dropped]
            additions.append((value, others if best in dropped and others else [best]))
        # Ties are broken by the cliques' own order, so that the same noise gives the same plan.
        additions.sort(key=lambda addition: (-addition[0], addition[1]))
        better: list[ResolvedClique] = []
        for _, resolutions in additions[: self._n_added]:
            better += resolutions
        return better

    def _returns_of_wide(self) -> Iterator[tuple[ResolvedClique, float]]:
        """What each wide clique that errs by itself returns: no pair or triple leads to it."""
        owners, members, sizes = self._wide_parts
        # Precision of a part by rho spent on a clique is the part's cells over the clique's, so the
        # return of a clique is the sum of its parts' returns times their cells, over its own cells.
        amounts = self._gains[members] * self._loss.n_cells[members]
        returns = np.bincount(owners, amounts, len(self._wide)) / sizes
        yield from zip(self._wide, returns.tolist(), strict=True)

    def _allowed(
        self, shares: Iterable[ResolvedClique], added: Iterable[ResolvedClique]
    ) -> list[ResolvedClique]:
        """Those that a model can hold beside what is measured and those allowed before them."""
        # They are asked one after the other, each together with those before: two cliques that fit
        # a junction tree one by one may not fit it together.
        kept: list[ResolvedClique] = []
        for clique in added:
            if self._is_allowed([other.clique for other in (*shares, *kept, clique)]):
                kept.append(clique)
        return kept

    def _minimised(
        self, shares: Mapping[ResolvedClique, float], budget: float, n_updates: int
    ) -> dict[ResolvedClique, float]:
        """A better split among the same marginals.

        ``share * sqrt(return)``, made to sum to the budget, minimises an upper bound of the error
        that is tight at the present split, so no update makes it worse.
        """
        owners, members = self._loss.parts_measured_by(list(shares))
        sizes = np.array([self._loss.resolutions.cells(*clique) for clique in shares])
        # A table of n cells, summed down to m, has the noise of n / m cells in each sum.
        ratios = self._loss.n_cells[members] / sizes[owners]
        split = np.array(list(shares.values()))
        split *= budget / split.sum()
        for update in range(n_updates + 1):
            amounts = split[owners] * ratios
            precision = np.bincount(members, amounts, self._precision.size).astype(np.float64)
            _, gains = self._loss.after(precision)
            returns = np.bincount(owners, gains[members] * ratios, minlength=len(shares))
            # By the conditions of Karush, Kuhn and Tucker all shares above 0 return the same at the
            # optimum; how far the largest return is from the average says how much is left to gain.
            average = float(returns @ split) / budget
            if update == n_updates or average <= 0 or returns[split > 0].max() <= _EVEN * average:
                break
            split *= np.sqrt(returns / average)
            split *= budget / split.sum()
        # What the last update worked out is what the search for better cliques asks for: it is not
        # evaluated again.
        self._precision = precision
        self._gains = gains
        self._average = average
        return dict(zip(shares, split.tolist(), strict=True))

    def _is_useful(self, clique: ResolvedClique, share: float) -> bool:
        """Whether a measurement alone would take a good part off the squared error of some part of
        a residual.
        """
        _, members = self._loss.parts_measured_by([clique])
        # Alone, that is without what other measurements say of the same part: a measurement that is
        # useful only beside others is one too many.
        alone = self._loss.precision_of([clique], [share])
        before = self._loss.left(np.zeros_like(alone))[members]
        after = self._loss.left(alone)[members]
        return bool((after <= (1.0 - _MIN_GAIN) * before).any())


class _GainTables(NamedTuple):
    """What residuals of one, two and three columns return together, in any order of the columns;
    shapes ``(n,)``, ``(n, n)`` and ``(n, n, n)``.
    """

    single: FloatArray
    pair: FloatArray
    triple: FloatArray | None
    """None where there are no residuals of three columns."""


@final
class _Growth:
    """Cliques of large return at one resolution, grown column by column."""

    def __init__(self, domain: Domain, loss: ExpectedLoss, resolution: int) -> None:
        self._names = domain.attributes
        self._loss = loss
        self._resolution = resolution
        self._levels = np.array(domain.shape, dtype=np.float64)
        sizes = loss.resolutions.sizes[resolution]
        self._sizes = np.array([sizes[name] for name in self._names])
        finest = np.array([loss.resolutions.finest((name,), resolution) for name in self._names])
        index = {name: i for i, name in enumerate(self._names)}
        self._of_length: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        for length in range(1, _MAX_GROWN + 1):
            parts = [(i, part) for i, part in enumerate(loss.parts) if len(part.clique) == length]
            # Residuals of one, two and three columns are kept as index arrays: the search below
            # works on whole matrices, as a table of 250 columns has 31,000 pairs.
            positions = np.array([i for i, _ in parts], dtype=np.int64)
            numbers = np.array([part.resolution for _, part in parts], dtype=np.int64)
            members = [index[name] for _, part in parts for name in part.clique]
            columns = np.array(members, dtype=np.int64).reshape(-1, length)
            # A part is seen by a clique at this resolution only if it is not finer than the
            # resolution of any of its columns.
            is_seen = numbers <= finest[columns].min(axis=1)
            self._of_length[length] = (positions[is_seen], columns[is_seen])

    def best(self, gains: FloatArray, enough: float) -> dict[ResolvedClique, float]:
        """What returns more than enough, with its return.

        Parameters
        ----------
        gains
            By how much more precision of each part of a residual lowers the error.
        """
        tables = self._gain_tables(gains)
        returns: dict[tuple[int, ...], float] = {}
        for i, amount in enumerate(tables.single):
            returns[(i,)] = float(amount / self._sizes[i])
        returns |= dict(self._grown(self._seeds(tables), tables))
        # Of small columns several resolutions are the same table; one name for it, or plans would
        # hold it twice.
        finest = self._loss.resolutions.finest
        best: dict[ResolvedClique, float] = {}
        for columns, value in returns.items():
            if value > enough:
                clique = tuple(self._names[i] for i in columns)
                best[ResolvedClique(clique, finest(clique, self._resolution))] = value
        return best

    # The return of a clique is the sum of these tables over all its subsets, divided by its own
    # cells. So growing a clique by a column adds the terms that hold the column, and nothing has to
    # be summed again.
    def _gain_tables(self, gains: FloatArray) -> _GainTables:
        """Gains times cells of all residuals that are seen at this resolution."""
        amounts = gains * self._loss.n_cells
        n = len(self._names)
        single = np.zeros(n)
        positions, columns = self._of_length[1]
        np.add.at(single, columns[:, 0], amounts[positions])
        pair = np.zeros((n, n))
        positions, columns = self._of_length[2]
        np.add.at(pair, (columns[:, 0], columns[:, 1]), amounts[positions])
        pair += pair.T
        positions, columns = self._of_length[3]
        # Without residuals of three columns (the first plan, and wide tables) the cube of n^3
        # numbers is not made.
        if not columns.size:
            return _GainTables(single, pair, None)
        triple = np.zeros((n, n, n))
        # All orders are filled, so that a lookup need not sort its columns.
        for i, j, k in permutations(range(3)):
            np.add.at(triple, (columns[:, i], columns[:, j], columns[:, k]), amounts[positions])
        return _GainTables(single, pair, triple)

    def _seeds(self, tables: _GainTables) -> NDArray[np.int64]:
        """Pairs of largest return, best first, from which cliques are grown; shape ``(n_seeds,
        2)``.
        """
        n = len(self._names)
        upper = np.triu_indices(n, 1)
        cells = (self._sizes[:, None] * self._sizes)[upper]
        # All pairs at once: each has its own residual and those of its two columns.
        amounts = tables.pair + tables.single[:, None] + tables.single
        returns = amounts[upper] / cells
        # The bound is on true cells, since that is what is counted and fitted; returns are by what
        # cells count as.
        true_cells = (self._levels[:, None] * self._levels)[upper]
        returns[true_cells > MAX_CELLS] = 0.0
        n_seeds = min(max(_N_SEEDS, n), int(np.count_nonzero(returns)))
        # Stable, so that equal returns come in the order of the columns.
        best = np.argsort(-returns, kind="stable")[:n_seeds]
        return np.transpose(upper)[best]

    def _grown(
        self, columns: NDArray[np.int64], tables: _GainTables
    ) -> Iterator[tuple[tuple[int, ...], float]]:
        """The best clique between each of some pairs and many columns, and what it returns."""
        single, pair, triple = tables
        # All seeds grow in lockstep, one row each; rows that stop leave the arrays.
        cells = self._sizes[columns].prod(axis=1)
        levels = self._levels[columns].prod(axis=1)
        amounts = single[columns].sum(axis=1) + pair[columns[:, 0], columns[:, 1]]
        # What each further column would add: its own residual, and those with the columns that are
        # there. Residuals of four columns and more are not in it (`_MAX_GROWN`).
        more = single + pair[columns].sum(axis=1)
        if triple is not None:
            more += triple[columns[:, 0], columns[:, 1]]
        best = amounts / cells
        lengths = np.full(len(columns), 2)
        while len(columns):
            values = (amounts[:, None] + more) / (cells[:, None] * self._sizes)
            values[levels[:, None] * self._levels > MAX_CELLS] = 0.0
            # A column is in a clique once.
            np.put_along_axis(values, columns, 0.0, axis=1)
            added = np.argmax(values, axis=1)
            rows = np.arange(len(columns))
            reached = values[rows, added]
            # It goes on through a dip: of three columns that depend only all together, the first
            # step adds nothing but cells.
            grows = (reached > _GROWTH_PATIENCE * best) & (columns.shape[1] < _MAX_COLUMNS)
            for i in np.flatnonzero(~grows):
                # Not where it stopped, but the best clique on the way.
                yield tuple(sorted(columns[i, : lengths[i]].tolist())), float(best[i])
            amounts = amounts + more[rows, added]
            cells = cells * self._sizes[added]
            levels = levels * self._levels[added]
            # Incremental: what the new column has with each further one.
            more += pair[added]
            if triple is not None:
                more += sum(triple[column, added] for column in columns.T)
            columns = np.column_stack([columns, added])
            # By more than rounding, or a column of next to no return would be taken along.
            lengths = np.where(reached > best * (1 + 1e-9), columns.shape[1], lengths)
            best = np.maximum(best, reached)
            columns, amounts, cells, levels, more, best, lengths = (
                array[grows] for array in (columns, amounts, cells, levels, more, best, lengths)
            )
