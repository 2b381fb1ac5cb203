"""What is expected of two attributes with an order before their cells are looked at.

Numbers that go with each other do so along a line, and far from it there is nothing. A correlation
of two Gaussians, cut into levels, says that of a whole table [Pearson 1900], also where noise hides
each of its cells. Few tables follow one correlation: some records lie near the line, others further
out, and a few stray from it. So it is a mixture of correlations, the nearest one to what was
measured (non-negative least squares [Lawson & Hanson 1974]). Post-processing of released values.
"""

from collections.abc import Sequence

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array
from synthdp.inference.gaussian_pairs import CORRELATIONS, cut_gaussians
from synthdp.inference.noisy_tables import LinearEstimate
from synthdp.inference.rank_dependence import levels_in_order, ranks

_LEAST_STRAYING = 0.001
"""Part of the records, at least, that follow no correlation, so that no cell is impossible."""
_STANDING_OUT = 4.0
"""Standard deviations of the noise by which attributes must go with each other to be looked at."""
_CLEAR = 20.0
"""By how much the squared distance to what was measured must fall, in units of its noise: if there
is nothing, chance makes it fall by 20 once in 20,000 pairs.

With one correlation two-way errors fall by 2 to 18 % and three-way errors by 1 to 15 % (diamonds,
houses, flights, marriages; epsilon .3 to 3), those of rank correlations by 3 to 38 %. With several
those of diamonds fall by 3, 2 and 35 % more at epsilon 1, of flights rank correlations by 10 %.
"""
_SEVERAL = 12.0
"""By how much further several correlations must make it fall than one: without it houses at epsilon
.3 are .3 % further off.
"""
_MANY_CELLS = 1 << 15
"""Cells of a table of which all correlations are tried, half of those, and of larger ones a fourth:
what lies between neighbours is a mixture of them, and each takes 16 bytes a cell.
"""
_MIN_SQUARE = 1e-12
"""Of the largest square length: differences between neighbours that are smaller are rounding."""
_SUM_WEIGHT = 100.0
"""Of the parts' sum beside what was measured: they are parts of all records."""


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
    inner = np.ix_(*(levels_in_order(domain, name) for name in pair))
    block = independent[inner]
    if min(block.shape) < 2:
        return independent
    ways = block.sum(axis=1) / block.sum(), block.sum(axis=0) / block.sum()
    fit = _Fit(pair, independent, estimates)
    # The sum of products of ranks says in one number whether there is anything to be found.
    products = np.zeros_like(independent)
    products[inner] = np.multiply.outer(*map(ranks, ways))
    evidence = fit.evidence(products)
    if abs(evidence) < _STANDING_OUT:
        return independent

    correlations = np.sign(evidence) * _tried(independent.size)
    changes = np.zeros((*independent.shape, correlations.size))
    for number, correlation in enumerate(correlations.tolist()):
        changes[..., number][inner] = block.sum() * cut_gaussians(*ways, correlation) - block
    parts, gain = fit.parts(changes)
    return independent + changes @ parts if gain > _CLEAR else independent


def _tried(n_cells: int) -> Array:
    """The correlations that are tried of a table of so many cells, each of which takes memory."""
    step = next((step for step in (1, 2) if n_cells * step <= _MANY_CELLS), 4)
    return CORRELATIONS[::step]


class _Fit:
    """How near tables of a pair come to what was measured, beside that of independent ones."""

    def __init__(
        self, pair: Clique, independent: Array, estimates: Sequence[LinearEstimate]
    ) -> None:
        self._pair, self._estimates = pair, estimates
        self._apart = [each.counts - each.coarsening.apply(pair, independent) for each in estimates]

    def parts(self, changes: Array) -> tuple[Array, float]:
        """Which parts of some changes come nearest, together less than one, for the rest of the
        records strays: of one change, or of several where those come clearly nearer. And by how
        much the squared distance to what was measured falls, in units of its noise.

        Parameters
        ----------
        changes
            What tables may differ by from independence; shape ``(n_own, n_other, n_changes)``.
        """
        from scipy.optimize import nnls  # a tenth of a second, for those who have such attributes

        n_changes = changes.shape[-1]
        products = np.zeros((n_changes, n_changes))
        said = np.zeros(n_changes)
        for each, apart in zip(self._estimates, self._apart, strict=True):
            noise = np.sqrt(each.variance)
            merged = each.coarsening.apply(self._pair, changes) / noise[..., None]
            merged = merged.reshape(-1, n_changes)
            products += merged.T @ merged
            said += merged.T @ (apart / noise).ravel()
        # Of as many rows as changes, at the same distances from each other as the tables.
        squares, directions = np.linalg.eigh(products)
        lengths = np.sqrt(np.maximum(squares, _MIN_SQUARE * max(float(squares[-1]), 1e-12)))
        rows = lengths[:, None] * directions.T
        aim = directions.T @ said / lengths
        # Those that stray are one part more, which changes nothing, and all together are everybody.
        everybody = _SUM_WEIGHT * float(lengths[-1])
        rows = np.pad(rows, ((0, 1), (0, 1)))
        rows[-1] = everybody
        try:
            parts = nnls(rows, np.append(aim, everybody))[0][:-1]
        except RuntimeError:  # rounding can keep it from ending: then one correlation has to do
            parts = np.zeros(n_changes)
        parts *= min((1.0 - _LEAST_STRAYING) / max(float(parts.sum()), 1e-12), 1.0)
        gain = float(2.0 * parts @ said - parts @ products @ parts)
        room = np.diag(products)
        alone = np.clip(said / np.maximum(room, 1e-12), 0.0, 1.0 - _LEAST_STRAYING)
        gains = 2.0 * alone * said - alone**2 * room
        best = int(np.argmax(gains))
        if gain > gains[best] + _SEVERAL:
            return parts, gain
        return np.where(np.arange(n_changes) == best, alone, 0.0), float(gains[best])

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
