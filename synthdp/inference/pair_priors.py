"""What is expected of two attributes with an order before their cells are looked at.

Numbers that go with each other do so along a line, and far from it there is nothing. One
correlation of two Gaussians, cut into levels, says that of a whole table [Pearson 1900], also where
noise hides each of its cells; some records may stray from it. Post-processing of released values.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array
from synthdp.inference.gaussian_pairs import CORRELATIONS, cut_gaussians
from synthdp.inference.noisy_tables import LinearEstimate

_STEP = 4
"""Of so many correlations one is tried first, and then those beside the best of them."""
_LEAST_STRAYING = 0.001
"""Part of the records, at least, that follow no correlation, so that no cell is impossible."""
_STANDING_OUT = 4.0
"""Standard deviations of the noise by which attributes must go with each other to be looked at."""
_CLEAR = 20.0
"""By how much the squared distance to what was measured must fall, in units of its noise: if there
is nothing, chance makes it fall by 20 once in 20,000 pairs.

With such priors two-way errors fall by 2 to 18 % and three-way errors by 1 to 15 % (diamonds,
houses, flights, marriages; epsilon .3 to 3), those of rank correlations by 3 to 38 %.
"""


def gaussian_prior(
    domain: Domain, pair: Clique, independent: Array, estimates: Sequence[LinearEstimate]
) -> Array:
    """What is expected of a pair: two Gaussians, of which some records stray, if both attributes
    have an order and what was measured says so; else that they are independent.

    Parameters
    ----------
    domain
        Says which attributes have an order, and which of their levels stand outside of it.
    pair
        The two attributes, in the order of the domain.
    independent
        Expected counts if they are independent, above 0; shape ``(n_own, n_other)``.
    estimates
        What measurements say of the pair, over all its levels and over merged ones.
    """
    if not estimates or not domain.ordered.issuperset(pair):
        return independent
    inner = np.ix_(*(_in_order(domain, name) for name in pair))
    block = independent[inner]
    if min(block.shape) < 2:
        return independent
    ways = block.sum(axis=1) / block.sum(), block.sum(axis=0) / block.sum()
    fit = _Fit(pair, independent, estimates)
    # The sum of products of ranks says in one number whether there is anything to be found.
    products = np.zeros_like(independent)
    products[inner] = np.multiply.outer(*map(_ranks, ways))
    evidence = fit.evidence(products)
    if abs(evidence) < _STANDING_OUT:
        return independent

    def tried(number: int) -> "_Change":
        correlation = np.sign(evidence) * CORRELATIONS[number]
        change = np.zeros_like(independent)
        change[inner] = block.sum() * cut_gaussians(*ways, correlation) - block
        return fit.of(change)

    numbers = range(len(CORRELATIONS))
    rough = max(numbers[::_STEP], key=lambda number: tried(number).gain)
    near = numbers[max(rough - _STEP + 1, 0) : rough + _STEP]
    best = max(map(tried, near), key=lambda change: change.gain)
    return independent + best.table if best.gain > _CLEAR else independent


class _Change(NamedTuple):
    """What a table may differ by from independence."""

    gain: float
    """By how much the squared distance to what was measured falls, in units of its noise."""
    table: Array


class _Fit:
    """How near tables of a pair come to what was measured, beside that of independent attributes."""

    def __init__(
        self, pair: Clique, independent: Array, estimates: Sequence[LinearEstimate]
    ) -> None:
        self._pair, self._estimates = pair, estimates
        self._apart = [each.counts - each.coarsening.apply(pair, independent) for each in estimates]

    def of(self, change: Array) -> _Change:
        """So large a part of a change as comes nearest: the rest of the records strays."""
        said = room = 0.0
        for each, apart in zip(self._estimates, self._apart, strict=True):
            merged = each.coarsening.apply(self._pair, change)
            said += float(np.sum(apart * merged / each.variance))
            room += float(np.sum(merged**2 / each.variance))
        part = min(max(said / max(room, 1e-12), 0.0), 1.0 - _LEAST_STRAYING)
        return _Change(2.0 * part * said - part**2 * room, part * change)

    def evidence(self, scores: Array) -> float:
        """Of the sums of cells times some scores the one that stands out most, in standard
        deviations of the noise.
        """
        sums = []
        for each, apart in zip(self._estimates, self._apart, strict=True):
            n_cells = each.coarsening.apply(self._pair, np.ones_like(scores))
            means = each.coarsening.apply(self._pair, scores) / n_cells
            noise = np.sqrt(np.sum(means**2 * each.variance))
            sums.append(float(np.sum(means * apart) / max(noise, 1e-12)))
        return max(sums, key=abs)


def _in_order(domain: Domain, name: str) -> NDArray[np.int64]:
    """The levels of an attribute but for those that have no place among the others."""
    return np.setdiff1d(np.arange(domain[name]), domain.special.get(name, ()))


def _ranks(shares: Array) -> Array:
    """Mean rank of each level, from -1/2 to 1/2."""
    return np.asarray(np.cumsum(shares) - shares / 2.0 - 0.5)
