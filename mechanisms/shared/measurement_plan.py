"""Which marginals to measure, and with what shares of a budget, so that a whole workload is
answered best.

A budget buys precision of residuals (`residuals`), and the best linear estimates turn that into a
variance for each marginal of the workload. Expected L1 error as a function of the shares is convex,
and its minimum over a given set of measurements is found by multiplicative updates.

ResidualPlanner [2305.08175] measures residuals themselves, with correlated noise, and is optimal
among all ways to add Gaussian noise. Marginals with independent noise in each cell know more than
is needed of small cliques: little where attributes have many levels, a lot where they have two.
Wider marginals that hold many of the workload's at once make up for most of that [cf. PriView,
Qardaji, Yang & Li 2014].
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations, islice
from math import prod
from typing import NamedTuple, final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.measurement import FloatArray
from synthdp.mechanisms.shared.residuals import Subsets

MAX_PLANNED_CELLS = 1 << 20
"""Most cells of a marginal wider than the workload asks for: larger ones are mostly noise."""

MAX_TRIED = 256
"""Ways for each part of a clique to grow, at each step; a limit for tables with hundreds of
columns.
"""

MIN_WEIGHT = 1e-9
"""Of the largest weight: what matters less is planned for as if it mattered so much, so that shares
stay floats.
"""

TOLERANCE = 1e-3
"""Updates end when the error is proven to be within this part of the least: the plan's own choice
costs more.
"""

MAX_UPDATES = 1000
"""A bound on the time; workloads of 2 and 3 columns with random weights and sizes took 6 to 190."""

MIN_SHARE = 1e-3
"""Of an equal share. Less would do for marginals of next to no weight, but noise has to fit into 64
bits.
"""

MAX_ERROR_RATIO = 1.02
"""Fewer measurements are preferred as long as the error grows by no more than 2 %."""

MIN_USEFUL_SHARE = 0.1
"""Of an equal share. What says so little that others do not is not worth an entry in the
certificate.
"""


def planned_shares(domain: Domain, weights: Mapping[Clique, float]) -> dict[Clique, Fraction]:
    """Cliques to measure and their shares of a budget, summing to 1 exactly.

    Minimises ``sum of w n stddev``, the weighted expected L1 error of best linear estimates of
    marginals of n cells, to within about 2 % of the least that is possible with the cliques of the
    workload and those of `wider_cliques`. Columns of one level are in none of them: they ask for
    nothing.

    Parameters
    ----------
    domain
        Gives the numbers of cells.
    weights
        For each marginal of the workload, in the order of the domain, how much its error matters,
        above 0.

    >>> domain = Domain.from_sizes({"a": 9, "b": 9, "c": 2, "d": 2, "e": 2})
    >>> shares = planned_shares(domain, dict.fromkeys(combinations("abcde", 2), 1.0))
    >>> [clique for clique in shares if len(clique) != 2]
    [('c', 'd', 'e')]
    """
    # Columns of one level ask for nothing; as parts of cliques they would come in all combinations.
    # Weights of marginals that are the same but for columns of one level add up.
    asked: dict[Clique, float] = {}
    for clique, weight in weights.items():
        varying = domain.varying(clique)
        asked[varying] = asked.get(varying, 0.0) + weight
    weights = asked
    largest = max(weights.values())
    amounts = {
        # The expected L1 error of n cells is n times a standard deviation, so what matters is
        # weight times cells.
        clique: max(weight / largest, MIN_WEIGHT) * domain.size(clique)
        for clique, weight in weights.items()
    }
    # What `measurement_shares` would give, if no marginal said anything of another. Good enough to
    # see what bundling saves, and a start for the updates.
    guess = {clique: amount ** (2 / 3) for clique, amount in amounts.items()}
    wide = wider_cliques(domain, guess)
    error = ExpectedError(domain, amounts, wide)
    subsets = error.subsets
    shares = np.zeros(len(subsets.cliques))
    for clique, share in guess.items():
        # All of the workload stays a candidate, at a tenth: bundles were found by a greedy search,
        # and the updates correct it.
        shares[subsets.position[clique]] = MIN_USEFUL_SHARE * share  # updates keep what is 0 at 0
    for clique, share in wide.items():
        shares[subsets.position[clique]] = share
    candidates = (shares > 0).astype(np.float64)
    # Inside of another candidate: leaving such a one out leaves no marginal of the workload
    # unanswered.
    is_inner = subsets.summed_down(candidates, power=0) > 1
    shares = error.minimised(shares / shares.sum())
    equal = 1 / np.count_nonzero(candidates[~is_inner])
    # Updates take shares that are of no use to 0 slowly; without these cliques nothing is left
    # unknown.
    fewer = np.where(is_inner & (shares < MIN_USEFUL_SHARE * equal), 0.0, shares)
    # Fewer measurements make a shorter certificate and a quicker fit; what they cost is measured,
    # not guessed.
    fewer = error.minimised(fewer / fewer.sum())
    if error.at(fewer)[0] <= MAX_ERROR_RATIO * error.at(shares)[0]:
        shares = fewer
    # The noise of a measurement has to fit into 64 bits; with a share of 1e-12 it would not.
    shares[(shares > 0) & (shares < MIN_SHARE * equal)] = MIN_SHARE * equal
    parts = [
        (clique, Fraction(float(share)))
        for clique, share in zip(subsets.cliques, shares, strict=True)
        if share
    ]
    total = sum((part for _, part in parts), Fraction(0))
    return {clique: part / total for clique, part in parts}


def wider_cliques(domain: Domain, shares: Mapping[Clique, float]) -> dict[Clique, float]:
    """Cliques that together cover some others at less cost, and what they have to be measured with.

    One by one, cliques that are not covered yet grow by attributes for as long as that covers more
    for the money: measured with share s, a marginal says as much of one inside of it as measuring
    that with share ``s / (ratio of their sizes)``. Most do not grow, unless they hold attributes of
    two or three levels.

    Parameters
    ----------
    domain
        Gives the numbers of cells.
    shares
        What each clique would be measured with by itself, in the order of the domain.

    >>> domain = Domain.from_sizes({"a": 2, "b": 2, "c": 2, "d": 9})
    >>> wider_cliques(domain, dict.fromkeys(combinations("abcd", 2), 1.0))
    {('a', 'b', 'c'): 2.0, ('a', 'd'): 1.0, ('b', 'd'): 1.0, ('c', 'd'): 1.0}
    """
    left = _Uncovered(domain, shares)
    costs: dict[Clique, float] = {}
    for clique, share in shares.items():
        if clique in left.shares:
            bundle = None
            wider = _Bundle(clique, [clique], share, share)
            # Greedy: a bundle grows while that covers more for the money, by more than rounding.
            while bundle is None or wider.gain > bundle.gain * (1 + 1e-9):
                bundle = wider
                wider = max(left.grown(wider), key=lambda other: other.gain, default=wider)
            # Two bundles may grow to the same clique. The dearer demand answers the other one as
            # well.
            costs[bundle.clique] = max(bundle.cost, costs.get(bundle.clique, 0.0))
            left.remove(bundle.covered)
    return costs


class _Bundle(NamedTuple):
    """A clique, those that it covers, what it costs, and what they would cost one by one."""

    clique: Clique
    covered: list[Clique]
    cost: float
    saved: float

    @property
    def gain(self) -> float:
        return self.saved / self.cost


@final
class _Uncovered:
    """Cliques not covered yet, and how to find those that one attribute more would cover."""

    def __init__(self, domain: Domain, shares: Mapping[Clique, float]) -> None:
        self.shares = dict(shares)
        self._sizes = dict(zip(domain.attributes, domain.shape, strict=True))
        self._ranks = {name: rank for rank, name in enumerate(domain.attributes)}
        self._wider: dict[Clique, dict[str, Clique]] = {}
        for clique in shares:
            for i, name in enumerate(clique):
                self._wider.setdefault(clique[:i] + clique[i + 1 :], {})[name] = clique

    def remove(self, cliques: Iterable[Clique]) -> None:
        """These are covered now."""
        for clique in cliques:
            del self.shares[clique]
            for i, name in enumerate(clique):
                del self._wider[clique[:i] + clique[i + 1 :]][name]

    def grown(self, bundle: _Bundle) -> Iterator[_Bundle]:
        """The bundle with one attribute more, for each that covers something new."""
        new: dict[str, list[Clique]] = {}
        # All that one attribute more would cover: uncovered cliques that are a subset of the bundle
        # and that attribute.
        for k in range(len(bundle.clique) + 1):
            for part in combinations(bundle.clique, k):
                for name, clique in islice(self._wider.get(part, {}).items(), MAX_TRIED):
                    if name not in bundle.clique:
                        new.setdefault(name, []).append(clique)
        size = self._size(bundle.clique)
        for name, cliques in new.items():
            n_cells = size * self._sizes[name]
            if n_cells <= MAX_PLANNED_CELLS:
                costs = [self.shares[clique] * n_cells / self._size(clique) for clique in cliques]
                # A clique of more cells needs as many times the budget to answer the same as
                # before; and at least what the new ones ask for.
                cost = max(bundle.cost * self._sizes[name], *costs)
                saved = bundle.saved + sum(self.shares[clique] for clique in cliques)
                wider = tuple(sorted((*bundle.clique, name), key=self._ranks.__getitem__))
                yield _Bundle(wider, bundle.covered + cliques, cost, saved)

    def _size(self, clique: Clique) -> int:
        return prod(self._sizes[name] for name in clique)


@final
class ExpectedError:
    """The weighted expected L1 error of best linear estimates, as a function of shares of a budget.

    In units of ``sqrt(2 / pi)`` records, for a budget whose noise has variance 1 if one marginal
    gets it all.

    Parameters
    ----------
    domain
        Gives the numbers of levels.
    amounts
        For each marginal of the workload its weight times its number of cells.
    measured
        Other cliques that may be measured.
    """

    def __init__(
        self, domain: Domain, amounts: Mapping[Clique, float], measured: Iterable[Clique]
    ) -> None:
        self.subsets = Subsets(domain, [*amounts, *measured])
        self._wanted = np.array([self.subsets.position[clique] for clique in amounts])
        self._amounts = np.array(list(amounts.values()))
        used = np.zeros(len(self.subsets.cliques))
        # Residuals that no marginal of the workload holds would have an infinite price without
        # being asked for.
        used[self._wanted] = 1.0
        self._spreads = np.where(self.subsets.summed_down(used) > 0, self.subsets.spreads, 0.0)

    def at(self, shares: FloatArray) -> tuple[float, FloatArray]:
        """The error, and minus its derivatives by the shares.

        Parameters
        ----------
        shares
            For each clique of ``subsets`` its share of the budget; each of the workload's is inside
            of one with some.
        """
        subsets = self.subsets
        known = self._spreads > 0
        # Forward: shares to precisions of residuals, to variances of marginals, to the error.
        precision = subsets.summed_down(shares)
        noise = np.divide(self._spreads, precision, out=np.zeros_like(precision), where=known)
        stddev = np.sqrt(subsets.summed_up(noise, power=2)[self._wanted])
        # And backward by the chain rule, in the same two sums.
        blame = np.zeros_like(shares)
        blame[self._wanted] = self._amounts / (2 * stddev)
        blame = subsets.summed_down(blame, power=2)
        prices = subsets.summed_up(
            np.divide(blame * noise, precision, out=np.zeros_like(noise), where=known)
        )
        return float(self._amounts @ stddev), prices

    def minimised(self, shares: FloatArray) -> FloatArray:
        """Shares of least error among those that are 0 where the given ones are; both sum to 1.

        ``shares * sqrt(prices)``, made to sum to 1, minimises an upper bound of the error that is
        tight at ``shares``, so no update makes it worse. As the error is convex, and of degree
        -1/2, it is above the least by at most half of what the largest price exceeds the average
        one by.
        """
        for _ in range(MAX_UPDATES):
            error, prices = self.at(shares)
            # A proof, not a guess: see above for how far the error is above the least.
            if prices[shares > 0].max() - prices @ shares <= TOLERANCE * error:
                break
            shares = shares * np.sqrt(prices)
            shares /= shares.sum()
        return shares
