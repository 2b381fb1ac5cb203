"""At which resolution to score marginals and to measure them: nested mergings of the columns'
levels.

A column with many levels can be seen at a few, at most 4, 8 or 16 groups of its levels, or at all
of them. Groups hold levels that are declared side by side, about as many records each as can be;
levels with many records stand alone. So do special ones, such as "missing", beside these groups.
Noise on a marginal grows with its number of cells, and so does what chance makes of it: few records
in many cells look dependent, whatever they depend on.

Levels in an order are much like their neighbours, so K groups show ``1 - 1/K`` of a squared
dependence. Names have nothing in common with the next name: if each goes with other things by a
random amount, groups of three show a third. So they are merged to no fewer groups than show as much.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from math import pi, prod
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, subsets
from synthdp.core.domain import Domain
from synthdp.core.measurement import Coarsening

FloatArray = NDArray[np.float64]
Groups: TypeAlias = Mapping[str, Sequence[NDArray[np.int64]]]
"""For some columns ways to merge levels: the group of each level, the most usual way first."""

# 3, 6 and 12 did alike. 8 and 16 alone erred 17 % more on rank correlations; a further 2 erred 7 %
# less on them and took twice the time (docs/auto.md).
_MOST_GROUPS = (4, 8, 16)
"""Groups of levels that a column has at most, from coarse to fine; beyond, all levels."""
# Merging all columns from 9 levels on cost 6 % on Adult at epsilon 0.1 and 2 % on flights, and
# gained nothing elsewhere.
_LEAST_LEVELS = 24
"""A column of fewer levels, in no order, is not merged: mostly they are names of things, and
neighbours have nothing in common.
"""
# Rank correlations of raw Adult err 23, 9 and 9 % less at epsilon .3, 1 and 3, of diamonds 14 and
# 20 % at .3 and 1; triples 0 to 4 % less. At .1, and with 6 or 12 levels, no difference is beyond
# noise (16 to 20 releases of Adult, 5 to 11 of others).
_LEAST_ORDERED = 9
"""One in an order is merged from here on: gains have few levels, nearly all of them rare, and in a
table of all of them noise hides who has any.
"""
# With 4 groups those of Adult err up to 8 % less still, within noise, but pairs of inspections
# (linked tables) 25 % more at epsilon 10 and 31 % less at 1; with 8 6 % more and 27 % less.
_LEAST_GROUPS = 8
"""Groups that are left of such a column: four say too little of twenty levels."""
_MOST_MERGED = 1024
"""Levels that are merged one by one; of more, those of equal shares go together first."""
# With 0 large pairs are left out (6 % more error on Adult at epsilon 3), with 0.7 too many are
# measured.
_RARE = 0.4
"""How far rare levels count less than others in sums of noise: 0 not at all, 1 as for the first bit
of budget.
"""

_IN_ORDER = 0.6
"""Rank correlation of the shares of neighbours from which levels are taken to be in an order that
nobody declared, such as bins of ages: three standard deviations of what 24 shuffled levels have.
"""
_BY_FREQUENCY = 0.6
"""Share of the most frequent level's records that the first level has in a list by frequency, which
is an order of names: .8 to 1 in lists of states, airports and postal codes, .4 and less in bins of
ages, weights and hours.
"""

# 0.07 and 0.15 were within half a per cent of it; 0.3 erred 1.5 % more.
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
    """Resolutions of all columns, numbered from coarse to fine; the last one merges nothing.

    Parameters
    ----------
    domain
        The columns.
    shares
        For each about what share of the records each level has, above 0.
    can_merge
        Whether there are resolutions other than the last.
    given
        Mergings to keep to, so that what was measured over them before is of the same cells. Those
        that do not lie within each other are left out.
    noise
        For each column the standard deviation of what was measured of a level's share; 0 where it
        is missing.
    """

    def __init__(
        self,
        domain: Domain,
        shares: Mapping[str, FloatArray],
        *,
        can_merge: bool = True,
        given: Groups = MappingProxyType({}),
        noise: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self.names = frozenset(
            name
            for name in domain.attributes
            if name not in domain.ordered and are_unlike(shares[name], noise.get(name, 0.0))
        )
        """Columns whose levels have nothing in common with those beside them."""
        self.merged_names = {name for name in self.names if shares[name].size >= _LEAST_LEVELS}
        """Those of them that are merged as names are."""
        kept = {
            name: _kept_of_names(ways, shares[name])
            if name in self.names
            else _kept(ways, domain.special.get(name, ()))
            for name, ways in given.items()
            if shares[name].size >= _least_levels(domain, name)
        }
        groups = _nested_groups(domain, shares, _MOST_GROUPS if can_merge else (), kept, self.names)
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
            # What levels count as is a fit to two limits (`_counted`), and can be larger for the
            # merged levels than for all. Parts would then have negative dimensions.
            less.update({name: min(size, more[name]) for name, size in less.items()})
        self._alike = {
            name: _last_alike([shares[name].size for shares in merged])
            for name in domain.attributes
        }
        self._of: dict[Clique, list[int]] = {}
        # The square of the sum of the roots: for n equal levels it is n. It comes from the mean
        # absolute deviation of a count of probability p, sqrt(2 N p / pi), summed over cells.
        self._spread = [
            {n: float(np.square(np.sqrt(own).sum())) for n, own in shares.items()}
            for shares in merged
        ]
        # 1 - 1/K of a squared dependence is what K groups show of one that is spread evenly. 1 -
        # K^-1.5 and 1 - K^-2 were within 1 %, 1 - K^-0.5 erred 3 % more.
        self._shown = [
            {
                name: shown_of_names(shares[name], own)
                if name in self.names
                else _share_of_groups(int(own.max()) + 1)
                for name, own in group.items()
            }
            for group in groups
        ]

    def __len__(self) -> int:
        return len(self.coarsenings)

    def finest(self, clique: Clique, resolution: int) -> int:
        """The number of the finest resolution at which a marginal has the same cells as at a given
        one.
        """
        # The finest at which no column of the clique has changed yet.
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
            # A subset whose columns are not merged is seen whole, even in a coarse table.
            if number <= self.finest(part, resolved.resolution)
        ]

    def split(self, clique: Clique, shown: Iterable[float]) -> dict[ResolvedClique, float]:
        """What each resolution adds to coarser ones, from what each shows of a residual in all,
        coarse to fine.
        """
        parts, before = {}, 0.0
        for number, now in zip(self.of(clique), shown, strict=True):
            # Estimates may say that a finer table shows less, which true tables never do.
            parts[ResolvedClique(clique, number)] = max(now - before, 0.0)
            before = max(now, before)
        return parts

    def by_chance(self, clique: Clique, resolution: int, total: float) -> float:
        """Squared L1 norm, in squared records, of the residual that chance makes of so many
        independent records.

        It is at most about twice their number, where there are more cells than records.
        """
        spread = self._spread[resolution]
        square = 2.0 / pi * total * prod(max(spread[name] - 1.0, 0.0) for name in clique)
        # An L1 distance between two tables of N records is below 2 N; a harmonic cap has no corner
        # for the plan to stand in.
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
        """The share of a squared dependence that a resolution is expected to show: all of it, but
        for merged columns.
        """
        return prod(self._shown[resolution].get(name, 1.0) for name in clique)

    def cells(self, clique: Clique, resolution: int) -> float:
        """What a marginal's cells count as in sums of noise."""
        return prod(self.sizes[resolution][name] for name in clique)

    def dimensions(self, clique: Clique, resolution: int) -> float:
        """What those of its residual count as."""
        return prod(self.sizes[resolution][name] - 1.0 for name in clique)


def _nested_groups(
    domain: Domain,
    shares: Mapping[str, FloatArray],
    numbers: Sequence[int],
    kept: Mapping[str, Mapping[int, NDArray[np.int64]]],
    names: Collection[str],
) -> list[dict[str, NDArray[np.int64]]]:
    """For each resolution, coarse to fine, the group of each level of the columns that it merges.

    Parameters
    ----------
    domain, shares
        As `Resolutions` takes them.
    numbers
        Most groups of a column at each resolution, coarse to fine.
    kept
        Mergings that are given, by column and number of groups.
    names
        Columns whose levels have nothing in common with those beside them.
    """
    groups: list[dict[str, NDArray[np.int64]]] = [{}]
    # From fine to coarse, each merged from the one before: resolutions are nested, or what one
    # shows beyond another would not be defined.
    for most in reversed(numbers):
        finer = groups[0]
        coarser = {}
        for name in domain.attributes:
            n_levels = shares[name].size
            if n_levels < _least_levels(domain, name):
                continue
            special = domain.special.get(name, ())
            given = kept.get(name, {})
            has_few = n_levels < _LEAST_LEVELS and most not in given
            n_groups = max(most, _LEAST_GROUPS) if has_few else most
            if n_groups in given or n_levels - len(special) > n_groups:
                least = _share_of_groups(most) if name in names else 0.0
                merged = _merged(shares[name], n_groups, finer.get(name), special, given, least)
                if merged[-1] + 1 < n_levels:
                    coarser[name] = merged
        # A table whose columns all have few levels has one resolution, and plans of it are as fast
        # as before there were any.
        if any(name not in finer or own.max() < finer[name].max() for name, own in coarser.items()):
            groups.insert(0, coarser)
    return groups


def _kept(
    ways: Sequence[NDArray[np.int64]], special: Sequence[int]
) -> dict[int, NDArray[np.int64]]:
    """For each number of groups that there is a resolution of one of some given ways to merge a
    column's levels; all of them lie within each other.
    """
    kept: dict[int, NDArray[np.int64]] = {}
    for groups in ways:
        n_groups = int(groups.max()) + 1 - len(special)
        slot = next((most for most in _MOST_GROUPS if n_groups <= most), None)
        if slot is None or slot in kept:
            continue
        if all(_is_nested(groups, other) for other in kept.values()):
            kept[slot] = groups
    return kept


def _kept_of_names(
    ways: Sequence[NDArray[np.int64]], shares: FloatArray
) -> dict[int, NDArray[np.int64]]:
    """The same of names: of the resolutions those that show about as much as the ways do."""
    chosen: list[NDArray[np.int64]] = []
    for groups in ways:
        if len(chosen) < len(_MOST_GROUPS) and all(_is_nested(groups, each) for each in chosen):
            chosen.append(groups)
    chosen.sort(key=lambda groups: int(groups.max()))
    shown = [shown_of_names(shares, groups) for groups in chosen]

    def distance(slots: Sequence[int]) -> float:
        pairs = zip(slots, shown, strict=True)
        return sum(abs(_share_of_groups(slot) - share) for slot, share in pairs)

    slots = min(combinations(_MOST_GROUPS, len(chosen)), key=distance)
    return dict(zip(slots, chosen, strict=True))


def _is_nested(left: NDArray[np.int64], right: NDArray[np.int64]) -> bool:
    """Whether each group of the way with more groups lies within one of the other's."""
    finer, coarser = (left, right) if left.max() >= right.max() else (right, left)
    n_both = np.unique(np.stack([finer, coarser]), axis=1).shape[1]
    return bool(n_both == int(finer.max()) + 1)


def _least_levels(domain: Domain, name: str) -> int:
    """The number of levels from which on a column is merged."""
    return _LEAST_ORDERED if name in domain.ordered else _LEAST_LEVELS


def are_unlike(shares: FloatArray, noise: float) -> bool:
    """Whether levels in no declared order are taken to have nothing in common with those beside
    them: their shares are no more alike than those of a shuffled column, or of a list by frequency.

    Where noise hides how many records a level has, it would hide what goes with it, so that only
    groups can show anything.

    Parameters
    ----------
    shares
        Of the levels, shape ``(n_levels,)``.
    noise
        The standard deviation of what was measured of a share.
    """
    # Equal shares have one rank: no order shows in them.
    ranks = np.unique(shares, return_inverse=True)[1].astype(np.float64)
    ranks -= ranks.mean()
    square = float(ranks @ ranks)
    alike = float(ranks[1:] @ ranks[:-1]) / square if square > 0 else 0.0
    is_in_order = alike >= _IN_ORDER and shares[0] < _BY_FREQUENCY * shares.max()
    return not is_in_order and noise * shares.size < 1.0


def shown_of_names(shares: FloatArray, groups: NDArray[np.int64]) -> float:
    """The share of a squared dependence that groups of levels show where each level deviates
    from the column by a random amount of its own.

    A group deviates by the mean of its levels, so the squares that are left are those of levels'
    shares in their groups.

    Parameters
    ----------
    shares
        Of the levels, above 0, shape ``(n_levels,)``.
    groups
        Of each level.
    """
    shares = shares / shares.sum()
    squares = np.square(shares)
    whole = 1.0 - float(squares.sum())
    if whole <= 0.0:
        return 1.0
    inside = np.bincount(groups, squares) / np.bincount(groups, shares)
    return float(np.clip(1.0 - (1.0 - inside.sum()) / whole, 0.0, 1.0))


def _share_of_groups(n_groups: int) -> float:
    """The share of a squared dependence that so many groups of levels in an order show."""
    return 1.0 - 1.0 / n_groups


def _merged(
    shares: FloatArray,
    most: int,
    finer: NDArray[np.int64] | None,
    special: Sequence[int],
    kept: Mapping[int, NDArray[np.int64]],
    least_shown: float,
) -> NDArray[np.int64]:
    """The group of each level where neighbours of ``finer`` are merged to so many, beside special
    levels, which stand alone, or to as few as show ``least_shown`` of names. What is ``kept`` for a
    number of groups is taken as it is, and no group of more lies across its borders.
    """
    if most in kept:
        return kept[most]
    coarser = [kept[number] for number in sorted(kept) if number < most][-1:]
    walls = np.diff(coarser[0]) != 0 if coarser else np.zeros(shares.size - 1, dtype=np.bool_)
    is_special = np.zeros(shares.size, dtype=np.bool_)
    is_special[list(special)] = True
    # Merging goes on from the finer resolution, so that groups are nested.
    groups = np.arange(shares.size) if finer is None else finer
    if groups[-1] + 1 > _MOST_MERGED:  # one by one would take long
        groups = _quantile_groups(shares, is_special, walls)
    shares = shares / shares.sum()
    sums = np.bincount(groups, shares)
    squares = np.bincount(groups, np.square(shares))
    # What may be lost of the sum of levels' shares in their groups.
    spare = (shown_of_names(shares, groups) - least_shown) * (1.0 - np.square(shares).sum())
    starts = np.arange(sums.size)
    stands_alone = np.bincount(groups, is_special) > 0
    n_alone = np.count_nonzero(stands_alone)
    borders = np.flatnonzero(np.diff(groups))  # between neighbouring groups
    is_wall = walls[borders]
    while sums.size > most + n_alone:
        # The lightest two neighbours go first, so that levels with many records stand alone for as
        # long as can be. It is quadratic in the levels, hence the bound above.
        is_apart = stands_alone[:-1] | stands_alone[1:] | is_wall
        pairs = np.where(is_apart, np.inf, sums[:-1] + sums[1:])
        lightest = int(np.argmin(pairs))
        if np.isinf(pairs[lightest]):
            break
        both = slice(lightest, lightest + 2)
        spare -= np.sum(squares[both] / sums[both]) - squares[both].sum() / sums[both].sum()
        if least_shown > 0 and spare < 0:
            break
        squares[lightest] += squares[lightest + 1]
        squares = np.delete(squares, lightest + 1)
        sums[lightest] += sums[lightest + 1]
        sums = np.delete(sums, lightest + 1)
        starts = np.delete(starts, lightest + 1)
        stands_alone = np.delete(stands_alone, lightest + 1)
        is_wall = np.delete(is_wall, lightest)
    # Starts of groups, in numbers of the groups before: the group of a level is the last one that
    # starts at or before it.
    return np.searchsorted(starts, groups, side="right") - 1


def _quantile_groups(
    shares: FloatArray, is_special: NDArray[np.bool_], walls: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Groups of about equal shares, at most `_MOST_MERGED` and those that must begin anew: at
    special levels, after them, and at walls.
    """
    places = np.cumsum(shares) / shares.sum() * _MOST_MERGED
    quantiles = np.minimum(places, _MOST_MERGED - 1).astype(np.int64)
    begins = np.diff(quantiles, prepend=-1) > 0
    begins |= is_special
    begins |= np.append(False, is_special[:-1])
    begins |= np.append(False, walls)
    return np.cumsum(begins) - 1


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
    # With equal shares 1 / n this is n, as it must be.
    first = np.sqrt(np.sum(np.sqrt(shares)) ** 3 / np.sum(shares**1.5))
    return max(float(first**_RARE * shares.size ** (1.0 - _RARE)), 1.0)
