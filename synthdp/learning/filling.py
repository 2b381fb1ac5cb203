"""Values that were not read: noisy counts say how many, and levels take their place in these
counts. Mechanisms and engines see levels only.

Rows are counted with a place for unread values in each column (`synthdp.schema.columns.column`). So
a noisy marginal says how many records have an unread value, beside each combination of the other
columns. What is made of it here is post-processing of what was released:

- a place that all measurements together leave nothing for but noise is cut off, which changes no
  other cell;
- what else is there goes to the levels of the column, given the rest of the cell, as far as that
  tells more than noise, else as the column's levels are in the whole marginal.

Values beyond the bounds have places as well. They are told apart in marginals of one column and
counted with the outermost bins in all others, so nothing that was asked before has another answer.
What stands clear of noise there is given to the outermost bin, and said; the rest is cut off. A
record is in one cell of a marginal, be it of a place, so the sensitivity is what it is without.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import NamedTuple, TypeAlias, final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.measurement import Coarsening, FloatArray, LinearMeasurement
from synthdp.learning.beyond_doubt import share_unread
from synthdp.privacy.private_table import MAX_CELLS
from synthdp.schema.schema import Schema

CLEAR = 3.0
"""Standard deviations by which unread values must stand out to be filled in; below that they are
taken for none.
"""

MOST_UNREAD = 0.9
"""Noise of filled counts is taken for no more than if so large a share had been filled."""

MOST_TIMES, FEW_CELLS = 4, 1024
"""Unread values are told apart in a marginal if that makes it so many times larger at most, or so
many cells.
"""


class Cells(NamedTuple):
    """Of each cell of the rest what was read of a column, what was not, and its levels' shares."""

    read: FloatArray
    unread: FloatArray
    shares: FloatArray


Bend: TypeAlias = Callable[[str, LinearMeasurement, Cells], FloatArray]
"""From a column, a measurement with places, and the cells of that, to other shares."""


@final
@dataclass(frozen=True)
class UnreadCount:
    """A noisy number of records of which a value was not read, its standard deviation, and the
    number of all.
    """

    count: float
    stddev: float
    total: float
    beyond: "BeyondCount | None" = None
    """How many lie beyond the bounds, of a column of which that was counted."""

    @property
    def share(self) -> float:
        """Which share of the records that is, 0 to 1."""
        return min(max(self.count / self.total, 0.0), 1.0) if self.total > 0 else 0.0


@final
@dataclass(frozen=True)
class BeyondCount:
    """Noisy numbers of records below and above the bounds of a column, and the standard deviation
    of either.
    """

    below: float
    above: float
    stddev: float

    def __add__(self, other: "BeyondCount") -> "BeyondCount":
        """Both, weighted by precision."""
        weights = self.stddev**-2, other.stddev**-2
        below, above = (
            (weights[0] * one + weights[1] * another) / sum(weights)
            for one, another in ((self.below, other.below), (self.above, other.above))
        )
        return BeyondCount(below, above, sum(weights) ** -0.5)

    def clear(self, limit: float) -> tuple[float, float]:
        """The numbers that stand clear of noise by so many standard deviations; else 0."""
        below, above = (
            count if count > limit * self.stddev else 0.0 for count in (self.below, self.above)
        )
        return below, above


class _Inner(NamedTuple):
    """A measurement without places beyond bounds."""

    measurement: LinearMeasurement
    beyond: BeyondCount | None
    """What it says of them, if it tells them apart."""
    outermost: tuple[int, int]
    """The cells that they belong to."""


@final
class Filling:
    """What is asked with places for unread values, and its answers without.

    Parameters
    ----------
    schema
        As it was declared.
    placed
        The domain that is counted: of some attributes it has one code more, the last one, of others
        two more before that, for what is below and above the bounds.
    """

    def __init__(self, schema: Schema, placed: Domain) -> None:
        self.domain = schema.domain
        self.placed = placed
        more = {column.name: placed[column.name] - column.size for column in schema.columns}
        self.levels = {
            column.name: column.size for column in schema.columns if more[column.name] in (1, 3)
        }
        """Numbers of levels of the columns that have a place."""
        self._outermost = {
            column.name: (0, column.n_levels - 1)
            for column in schema.columns
            if more[column.name] == 3
        }
        self._beyond: dict[str, BeyondCount] = {}
        self.nearest = {
            column.name: 0 if column.required else column.missing_code for column in schema.columns
        }
        """With which level a place is counted where it is not told apart."""
        self._sizes = dict(zip(self.domain.attributes, self.domain.shape, strict=True))
        self._counts = dict.fromkeys(self.levels, (0.0, 0.0))
        self._missing_codes = {
            column.name: column.missing_code
            for column in schema.columns
            if column.name in self.levels and not column.required
        }
        self._missing = dict.fromkeys(self._missing_codes, (0.0, 0.0))
        self._total = (0.0, 0.0)

    @property
    def unread(self) -> dict[str, UnreadCount]:
        """What all measurements so far say of unread values, of each column that has a place and
        was measured.
        """
        return {name: self._unread(name) for name, (_, weight) in self._counts.items() if weight}

    @property
    def shares(self) -> dict[str, float]:
        """Which share of the records has an unread value, of columns where it stands clear of
        noise.
        """
        return {name: share for name in self.levels if (share := self.share(name))}

    def _unread(self, name: str) -> UnreadCount:
        total, precision = self._total
        weighted, weight = self._counts[name]
        beyond = self._beyond.get(name)
        return UnreadCount(weighted / weight, 1 / sqrt(weight), total / precision, beyond)

    def question(self, clique: Clique, coarsening: Coarsening | None) -> Coarsening | None:
        """How levels are merged where a marginal is to be measured: places are not, unless cells
        would be too many.
        """
        apart = self.apart(clique, coarsening)
        return self.with_places(coarsening, clique, apart, has_ends=len(clique) == 1)

    def answered(self, measurement: LinearMeasurement) -> LinearMeasurement:
        """A measurement over the placed domain as one over the declared one; what it says of unread
        values is kept.
        """
        inner = self._inner(measurement)
        # Of all records, those beyond bounds included.
        variance = float(np.max(measurement.stddev)) ** 2
        weight = 1 / (variance * max(measurement.values.size, 1))
        total, weights = self._total
        self._total = total + measurement.total[0] * weight, weights + weight
        self._learn(inner.measurement, self._apart_in(inner.measurement), variance)
        if inner.beyond is not None:
            (name,) = measurement.clique
            known = self._beyond.get(name)
            self._beyond[name] = inner.beyond if known is None else known + inner.beyond
        return self.filled(measurement)

    def filled(self, measurement: LinearMeasurement, bend: Bend | None = None) -> LinearMeasurement:
        """What `answered` makes of a measurement, by all that is known now."""
        inner = self._inner(measurement)
        filled = self._filled(inner.measurement, bend)
        if inner.beyond is None:
            return filled
        (name,) = measurement.clique
        is_clear = [count > 0 for count in self._beyond[name].clear(CLEAR)]
        if not any(is_clear):  # noise alone would cost the outermost bins precision
            return filled
        values = np.array(filled.values)
        variances = np.array(filled.variance)
        counts = (inner.beyond.below, inner.beyond.above)
        for cell, count, is_there in zip(inner.outermost, counts, is_clear, strict=True):
            if is_there:
                values[cell] += count
                variances[cell] += inner.beyond.stddev**2
        return LinearMeasurement(filled.clique, values, np.sqrt(variances), filled.coarsening)

    def _inner(self, measurement: LinearMeasurement) -> _Inner:
        """A measurement over the domain in which unread values alone have places."""
        beyond: BeyondCount | None = None
        outermost = 0, 0
        if self._outermost.keys().isdisjoint(measurement.clique):
            return _Inner(measurement, beyond, outermost)
        values = measurement.values
        groups = dict(measurement.groups)
        for axis, name in enumerate(measurement.clique):
            if name not in self._outermost:
                continue
            n_levels = self.levels[name]
            group = groups.pop(name, np.arange(n_levels + 3))
            ends = group[n_levels:-1]
            inside = np.delete(group, [n_levels, n_levels + 1])
            if not np.isin(ends, inside).any():
                low, high = np.take(values, ends, axis=axis)
                beyond = BeyondCount(float(low), float(high), float(np.max(measurement.stddev)))
                values = np.delete(values, ends, axis=axis)
                inside = np.unique(inside, return_inverse=True)[1]
                first, last = self._outermost[name]
                outermost = int(inside[first]), int(inside[last])
            if not np.array_equal(inside, np.arange(n_levels + 1)):
                groups[name] = inside
        stddev = float(np.max(measurement.stddev))
        merging = Coarsening(groups) if groups else None
        inner = LinearMeasurement(measurement.clique, values, stddev, merging)
        return _Inner(inner, beyond, outermost)

    def _filled(self, measurement: LinearMeasurement, bend: Bend | None) -> LinearMeasurement:
        apart = self._apart_in(measurement)
        values = measurement.values
        stddev = float(np.max(measurement.stddev))
        scale = 1.0
        groups = dict(measurement.groups)
        for axis, name in enumerate(measurement.clique):
            if name not in self.levels:
                continue
            # By all measurements so far, not by this one: its own noise would be filled in.
            share = self.share(name)
            counts = np.moveaxis(values, axis, -1)
            merged = groups.get(name)
            if name in apart:
                counts, unread = counts[..., :-1], counts[..., -1:]
                if share:
                    shares = _given_rest(counts, stddev)
                    if bend is not None:
                        shares = bend(name, measurement, Cells(counts, unread, shares))
                    # Unread records are given to the levels in the shares that read ones have
                    # beside the same values of other columns.
                    counts = counts + unread * shares
            elif share and merged is not None:
                counts = np.array(counts)
                # The place was counted with its nearest level, which has that many too many.
                counts[..., merged[-1]] -= share * counts.sum(axis=-1)
                counts /= max(1.0 - share, 1.0 - MOST_UNREAD)
            values = np.moveaxis(counts, -1, axis)
            # Filled counts are divided by what was read, and their noise with them.
            scale /= 1.0 - min(share, MOST_UNREAD)
            if merged is not None:
                groups[name] = merged[:-1]
                if np.array_equal(groups[name], np.arange(self.levels[name])):
                    del groups[name]
        merging = Coarsening(groups) if groups else None
        return LinearMeasurement(measurement.clique, values, stddev * scale, merging)

    def _learn(self, measurement: LinearMeasurement, apart: Sequence[str], variance: float) -> None:
        # Each measurement says the number of unread records anew; weights are by precision.
        for name in apart:
            unread = np.take(measurement.values, -1, axis=measurement.clique.index(name))
            weight = 1 / (variance * unread.size)
            weighted, weights = self._counts[name]
            self._counts[name] = weighted + float(unread.sum()) * weight, weights + weight
        for name in measurement.clique:
            self._learn_missing(measurement, name, variance)

    def _learn_missing(self, measurement: LinearMeasurement, name: str, variance: float) -> None:
        """Keep what a measurement says of missing values, unless it has them together with others."""
        if name not in self._missing_codes:
            return
        code = self._missing_codes[name]
        groups = measurement.groups.get(name)
        if groups is not None:
            code = int(groups[code])
            if np.count_nonzero(groups == code) > 1:
                return
        missing = np.take(measurement.values, code, axis=measurement.clique.index(name))
        weight = 1 / (variance * missing.size)
        weighted, weights = self._missing[name]
        self._missing[name] = weighted + float(missing.sum()) * weight, weights + weight

    def not_read(self, names: Iterable[str]) -> dict[str, float]:
        """Of some columns those of which nearly all values that are there could not be read, beyond
        the doubt of noise, each with the share.
        """
        shares = {name: self._share_not_read(name) for name in names if name in self.levels}
        return {name: share for name, share in shares.items() if share}

    def _share_not_read(self, name: str) -> float:
        if not self._counts[name][1]:
            return 0.0
        unread = self._unread(name)
        missing, missing_variance = 0.0, 0.0
        if name in self._missing:
            weighted, weight = self._missing[name]
            if not weight:
                return 0.0
            missing = weighted / weight
            missing_variance = 1 / weight
        # All are missing, unread, or read: so of the last there are as many as the others leave.
        # The number of all is known better than the sum of a column's many noisy levels.
        read = unread.total - missing - unread.count
        noise = sqrt(4 * unread.stddev**2 + missing_variance + 1 / self._total[1])
        return share_unread(unread.count, read, noise)

    def share(self, name: str) -> float:
        """Which share of the records has an unread value, as far as that stands clear of noise;
        else 0.
        """
        if not self._counts[name][1]:
            return 0.0
        unread = self._unread(name)
        # Below three standard deviations they are taken for none: filling in noise would do harm in
        # every cell.
        return 0.0 if unread.count <= CLEAR * unread.stddev else unread.share

    def _apart_in(self, measurement: LinearMeasurement) -> list[str]:
        return [
            name
            for name in measurement.clique
            if name in self.levels and self._is_apart(name, measurement)
        ]

    def _is_apart(self, name: str, measurement: LinearMeasurement) -> bool:
        groups = measurement.groups.get(name)
        return groups is None or np.count_nonzero(groups == groups[-1]) == 1

    def apart(self, clique: Clique, coarsening: Coarsening | None) -> list[str]:
        """Of a marginal's attributes those of which unread values are told apart; it follows from
        the domain only.
        """
        groups = {} if coarsening is None else coarsening.groups
        sizes = {
            name: int(groups[name].max()) + 1 if name in groups else self._sizes[name]
            for name in clique
        }
        n_cells = prod(sizes.values())
        most = min(max(MOST_TIMES * n_cells, FEW_CELLS), MAX_CELLS)
        names = []
        for name in sorted(
            # Large columns first: one more code costs them least.
            (name for name in clique if name in self.levels),
            key=lambda name: -sizes[name],
        ):
            n_cells = n_cells // sizes[name] * (sizes[name] + 1)
            if n_cells > most:
                break
            names.append(name)
        return names

    def with_places(
        self,
        coarsening: Coarsening | None,
        names: Sequence[str],
        apart: Sequence[str],
        *,
        has_ends: bool = False,
    ) -> Coarsening | None:
        """A merging of levels that has places as well: by themselves, or else with a level; those
        beyond bounds with the outermost levels, unless ``has_ends``.
        """
        groups = {} if coarsening is None else dict(coarsening.groups)
        own = set(apart)
        # In an order that is the same in a run that goes on.
        for name in dict.fromkeys([*names, *groups]):
            if name not in self.levels:
                continue
            is_merged = name in names and name not in own
            outermost = self._outermost.get(name)
            if name not in groups and not is_merged and (outermost is None or has_ends):
                continue
            group = groups.get(name, np.arange(self.levels[name]))
            n_groups = int(group.max()) + 1
            places: list[int] = []
            if outermost is not None:
                places = [n_groups, n_groups + 1] if has_ends else group[[*outermost]].tolist()
                n_groups += 2 * has_ends
            places.append(int(group[self.nearest[name]]) if is_merged else n_groups)
            groups[name] = np.append(group, places)
        return Coarsening(groups) if groups else None


def _given_rest(counts: FloatArray, stddev: float) -> FloatArray:
    """Shares of the levels of the last axis given the others, drawn to those of all cells as far as
    noise hides them.

    >>> _given_rest(np.array([[900.0, 100.0], [3.0, 4.0], [200.0, 800.0]]), 5.0).round(2).tolist()
    [[0.9, 0.1], [0.55, 0.45], [0.2, 0.8]]
    """
    n_levels = counts.shape[-1]
    common = common_shares(counts, stddev)
    sums = counts.sum(axis=-1, keepdims=True)
    deviation = counts - sums * common
    # positive-part James-Stein: what noise alone would make of the deviation is taken off it
    spread = np.square(deviation).sum(axis=-1, keepdims=True)
    # What the squared deviation is expected to be if there is nothing but noise.
    by_noise = (n_levels - 1) * stddev**2
    kept = np.maximum(
        0.0, 1.0 - np.divide(by_noise, spread, out=np.ones_like(spread), where=spread > 0)
    )
    shares = np.maximum(sums * common + kept * deviation, 0.0)
    norm = shares.sum(axis=-1, keepdims=True)
    is_clear = (sums > CLEAR * stddev * sqrt(n_levels)) & (norm > 0)
    result: FloatArray = np.where(
        is_clear, np.divide(shares, norm, out=np.zeros_like(shares), where=norm > 0), common
    )
    return result


def common_shares(counts: FloatArray, stddev: float) -> FloatArray:
    """Shares of the levels of the last axis in all cells; even where noise hides them."""
    n_levels = counts.shape[-1]
    pooled = counts.reshape(-1, n_levels)
    common = np.maximum(pooled.sum(axis=0), 0.0)
    is_clear = common.sum() > CLEAR * stddev * sqrt(max(pooled.size, 1))
    return common / common.sum() if is_clear else np.full(n_levels, 1 / n_levels)
