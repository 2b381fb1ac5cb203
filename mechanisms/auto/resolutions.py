"""At which resolution to score marginals and to measure them: nested mergings of the columns'
levels.

A column with many levels can be seen at a few, at most 4, 8 or 16 groups of its levels, or at all
of them. Groups hold levels that are declared side by side, about as many records each as can be;
levels with many records stand alone. Noise on a marginal grows with its number of cells, and so
does what chance makes of it: few records in many cells look dependent, whatever they depend on.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from math import pi, prod
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, subsets
from synthdp.core.domain import Domain
from synthdp.core.measurement import Coarsening

FloatArray = NDArray[np.float64]

_MOST_GROUPS = (4, 8, 16)
"""Groups of levels that a column has at most, from coarse to fine; beyond, all levels."""
_LEAST_LEVELS = 24
"""A column of fewer levels is not merged: mostly they are names of things, and neighbours have
nothing in common.
"""
_MOST_MERGED = 1024
"""Levels that are merged one by one; of more, those of equal shares go together first."""
_RARE = 0.4
"""How far rare levels count less than others in sums of noise: 0 not at all, 1 as for the first bit
of budget.
"""

_BLUR = 0.1
"""Most L1 distance from independence that chance may make of a marginal, as a share of the records,
where its resolution is called informative.
"""


class ResolvedClique(NamedTuple):
    """A clique, and the number of the resolution at which its marginal is scored or measured."""

    clique: Clique
    resolution: int


@final
class Resolutions:
    """Resolutions of all columns, numbered from coarse to fine; at the last one all levels are told
    apart.

    Parameters
    ----------
    domain
        The columns.
    shares
        For each about what share of the records each level has, above 0.
    can_merge
        Whether there are resolutions other than the last.
    """

    def __init__(
        self, domain: Domain, shares: Mapping[str, FloatArray], *, can_merge: bool = True
    ) -> None:
        groups: list[dict[str, NDArray[np.int64]]] = [{}]
        for most in reversed(_MOST_GROUPS if can_merge else ()):
            finer = groups[0]
            wanted = {
                name: _merged(shares[name], most, finer.get(name)) for name in domain.attributes
            }
            coarser = {name: group for name, group in wanted.items() if group is not None}
            if coarser:
                groups.insert(0, coarser)
        self.coarsenings = [Coarsening(group) if group else None for group in groups]
        """What each resolution merges; None for the last."""
        merged: list[dict[str, FloatArray]] = [
            {
                n: np.bincount(group[n], own).astype(np.float64) if n in group else own
                for n, own in shares.items()
            }
            for group in groups
        ]
        self.sizes = [{name: _counted(own) for name, own in shares.items()} for shares in merged]
        """For each resolution what the groups of each column count as in sums of noise."""
        for more, less in zip(self.sizes[:0:-1], self.sizes[-2::-1], strict=True):
            less.update({name: min(size, more[name]) for name, size in less.items()})
        self._alike = {
            name: _last_alike([shares[name].size for shares in merged])
            for name in domain.attributes
        }
        self._of: dict[Clique, list[int]] = {}
        self._spread = [
            {n: float(np.square(np.sqrt(own).sum())) for n, own in shares.items()}
            for shares in merged
        ]
        self._shown = [
            {name: 1.0 - 1.0 / own.size if name in group else 1.0 for name, own in shares.items()}
            for group, shares in zip(groups, merged, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.coarsenings)

    def finest(self, clique: Clique, resolution: int) -> int:
        """The number of the finest resolution at which a marginal has the same cells as at a given
        one.
        """
        return min(self._alike[name][resolution] for name in clique)

    def of(self, clique: Clique) -> list[int]:
        """The resolutions at which a marginal's cells differ, coarse to fine."""
        if clique not in self._of:
            self._of[clique] = [
                number for number in range(len(self)) if self.finest(clique, number) == number
            ]
        return self._of[clique]

    def parts_of(self, resolved: ResolvedClique) -> list[ResolvedClique]:
        """The parts of residuals inside of a marginal that are seen at its resolution."""
        return [
            ResolvedClique(part, number)
            for part in subsets(resolved.clique)
            for number in self.of(part)
            if number <= self.finest(part, resolved.resolution)
        ]

    def split(self, clique: Clique, shown: Iterable[float]) -> dict[ResolvedClique, float]:
        """What each resolution shows of a residual beyond coarser ones, by what each shows in all,
        coarse to fine.
        """
        parts, before = {}, 0.0
        for number, now in zip(self.of(clique), shown, strict=True):
            parts[ResolvedClique(clique, number)] = max(now - before, 0.0)
            before = max(now, before)
        return parts

    def by_chance(self, clique: Clique, resolution: int, total: float) -> float:
        """Squared L1 norm, in squared records, of the residual that chance makes of so many
        independent records.

        It is at most about twice their number, where there are more cells than records.
        """
        square = (
            2.0
            / pi
            * total
            * prod(max(self._spread[resolution][name] - 1.0, 0.0) for name in clique)
        )
        return square / (1.0 + square / (2.0 * total) ** 2)

    def finest_informative(self, clique: Clique, total: float) -> int:
        """The finest resolution at which little of a marginal is due to chance, or the coarsest
        there is.
        """
        limit = (_BLUR * total) ** 2
        numbers = self.of(clique)
        return max(
            (n for n in numbers if self.by_chance(clique, n, total) <= limit), default=numbers[0]
        )

    def shown_share(self, clique: Clique, resolution: int) -> float:
        """The share of a squared dependence that a resolution is expected to show."""
        return prod(self._shown[resolution][name] for name in clique)

    def cells(self, clique: Clique, resolution: int) -> float:
        """What a marginal's cells count as in sums of noise."""
        return prod(self.sizes[resolution][name] for name in clique)

    def dimensions(self, clique: Clique, resolution: int) -> float:
        """What those of its residual count as."""
        return prod(self.sizes[resolution][name] - 1.0 for name in clique)


def _merged(
    shares: FloatArray, most: int, finer: NDArray[np.int64] | None
) -> NDArray[np.int64] | None:
    """The group of each level where neighbours of ``finer`` are merged to so many; None if there
    are few levels.
    """
    if shares.size < _LEAST_LEVELS:
        return None
    groups = np.arange(shares.size) if finer is None else finer
    if groups[-1] + 1 > _MOST_MERGED:  # one by one would take long
        quantiles = np.minimum(
            np.cumsum(shares) / shares.sum() * _MOST_MERGED, _MOST_MERGED - 1
        ).astype(np.int64)
        groups = np.unique(quantiles, return_inverse=True)[1]
    sums = np.bincount(groups, shares)
    starts = np.arange(sums.size)
    while sums.size > most:
        lightest = int(np.argmin(sums[:-1] + sums[1:]))
        sums[lightest] += sums[lightest + 1]
        sums, starts = np.delete(sums, lightest + 1), np.delete(starts, lightest + 1)
    return np.searchsorted(starts, groups, side="right") - 1


def _last_alike(sizes: Sequence[int]) -> list[int]:
    """For each place of a sequence that never falls the last place of the same number."""
    return [bisect_right(sizes, size) - 1 for size in sizes]


def _counted(shares: FloatArray) -> float:
    """What a column's levels count as in sums of noise, above 1: rare ones count less, as shrinkage
    keeps them down.

    Where a count varies by its share and is drawn to its prior, the first bit of budget takes off
    as much error as that of ``sqrt((sum of sqrt(share))^3 / sum of share^1.5)`` equal levels would;
    with much, all count.
    """
    first = np.sqrt(np.sum(np.sqrt(shares)) ** 3 / np.sum(shares**1.5))
    return max(float(first**_RARE * shares.size ** (1.0 - _RARE)), 1.0)
