"""Columns whose levels are bins: what integers, numbers and dates have in common.

Every such column is read on a scale of floats on which its bins are half-open intervals,
and written from a grid of integers (the integers themselves, multiples of ``10**-decimals``,
days, months, ...), of which each bin holds a run. A value is drawn uniformly from the run of
its bin, so what is written always reads back as the bin that it came from.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.table.columns import MAX_LEVELS, Column, refuse
from synthdp.table.reading import Values

DEFAULT_BINS = 32
"""Bins of a column that has more than `MAX_SINGLE_LEVELS` values and names no bins."""

MAX_SINGLE_LEVELS = 64
"""A column of at most this many values has one level for each, if it names no bins."""


def default_bins(n_values: int) -> int:
    """Number of bins of a column of ``n_values`` values that names none.

    >>> default_bins(64), default_bins(65)
    (64, 32)
    """
    return n_values if n_values <= MAX_SINGLE_LEVELS else DEFAULT_BINS


def check_bins(column: str, bins: object, n_values: int | None, things: str) -> int:
    """The number of bins if it is a possible one; ``n_values`` is how many values there are to bin."""
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        refuse(column, f"synthdp.bins is {bins!r}; give a whole number of at least 2")
    if bins == 1 and n_values != 1:
        refuse(column, "synthdp.bins is 1, and one bin keeps nothing of the column; give at least 2 bins")
    if n_values is not None and bins > n_values:
        refuse(column, f"synthdp.bins is {bins}, but there are {n_values} {things} between the bounds; use fewer bins")
    if bins > MAX_LEVELS:
        refuse(column, f"synthdp.bins is {bins}; use at most {MAX_LEVELS}")
    return bins


def even_starts(first: int, last: int, bins: int) -> NDArray[np.int64]:
    """First integer of each of ``bins`` runs of ``first .. last``, as even as possible, then ``last + 1``.

    >>> even_starts(0, 9, 3).tolist()
    [0, 3, 6, 10]
    """
    n = last - first + 1
    return np.array([first + i * n // bins for i in range(bins + 1)], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class BinnedColumn(Column):
    """A column of ordered values in bins; see the top of this module."""

    @cached_property
    @abstractmethod
    def _inner_edges(self) -> NDArray[np.float64]:
        """Where one bin ends and the next begins, on the scale that values are read on."""

    @cached_property
    @abstractmethod
    def _starts(self) -> NDArray[np.int64]:
        """First grid point of each bin, then the last grid point of all plus 1."""

    @abstractmethod
    def _read(self, values: Values) -> NDArray[np.float64]:
        """Values on the scale of the edges; NaN where unreadable."""

    @property
    @abstractmethod
    def _bounds(self) -> tuple[Any, Any]:
        """Lowest and highest value, on the same scale."""

    @abstractmethod
    def _at(self, points: NDArray[np.int64]) -> NDArray[Any]:
        """The values at grid points, within the bounds."""

    @abstractmethod
    def _texts(self, values: NDArray[Any]) -> Sequence[str]:
        """Values as a CSV file holds them."""

    @cached_property
    def _missing_numbers(self) -> NDArray[np.float64]:
        numbers = self._read(np.array(self.missing_values, dtype=object))
        return numbers[~np.isnan(numbers)]

    def _check_missing_outside(self, low: float, high: float) -> None:
        """Refuse a missing value between the bounds: what is written could not be told from it."""
        texts = np.array(self.missing_values, dtype=object)
        for text, number in zip(self.missing_values, self._read(texts), strict=True):
            if low <= number <= high:
                refuse(self.name, f"the missing value {text!r} lies between the bounds; move a bound or remove it")

    @property
    def n_levels(self) -> int:
        """Number of bins."""
        return len(self._inner_edges) + 1

    @property
    @abstractmethod
    def _outer_edges(self) -> Sequence[Any]:
        """Where each bin begins, then the upper bound, as values."""

    @property
    def labels(self) -> pd.Index:
        """For each code its one value or the interval of its bin (the last one closed), or NA for "missing"."""
        if np.diff(self._starts).max() <= 1:
            return super().labels
        edges = list(pairwise(self._outer_edges))
        intervals = [pd.Interval(*edge, closed="left") for edge in edges[:-1]]
        missing = [] if self.required else [None]
        labels = [*intervals, pd.Interval(*edges[-1], closed="both"), *missing]
        return pd.Index(labels, dtype=object, name=self.name)

    def bins_between(self, low: object, high: object) -> NDArray[np.bool_]:
        """Which bins lie between two values (None: no limit), both included; shape ``(n_levels,)``.

        Raises `SchemaError` if a value is unreadable or a bin lies across a limit.
        """
        limits = self._read(np.array([low, high], dtype=object))
        if any(np.isnan(limit) for limit, given in zip(limits, (low, high), strict=True) if given is not None):
            refuse(self.name, f"a limit between {low!r} and {high!r} is not a value of the column; correct it")
        first, last = np.where(np.isnan(limits), [-np.inf, np.inf], limits)
        lows, highs = (self._at(points).astype(np.float64) for points in (self._starts[:-1], self._starts[1:] - 1))
        inside: NDArray[np.bool_] = (lows >= first) & (highs <= last)
        if not (inside | (highs < first) | (lows > last)).all():
            refuse(self.name, f"a rule cuts a bin in two between {low!r} and {high!r}; add edges there")
        return inside

    def _codes_of(self, values: Values) -> NDArray[np.int64]:
        numbers = self._read(values)
        codes = np.searchsorted(self._inner_edges, numbers, side="right")
        missing = np.isnan(numbers)
        if len(self._missing_numbers):
            missing |= np.isin(numbers, self._missing_numbers)
        codes[missing] = self.missing_code
        return codes

    def _has(self, value: object) -> bool:
        box = np.empty(1, dtype=object)
        box[0] = value
        low, high = self._bounds
        return bool(low <= self._read(box)[0] <= high)

    def _draw(self, codes: NDArray[np.integer[Any]], rng: np.random.Generator) -> NDArray[np.int64]:
        """A grid point for each code, uniform in its bin; any point where the value is missing."""
        bins = codes if self.required else np.minimum(codes, self.n_levels - 1)
        lows = self._starts[:-1]
        lengths = np.maximum(np.diff(self._starts), 1)
        points: NDArray[np.int64] = lows[bins]
        if lengths.max() > 1:
            points += rng.integers(lengths[bins])
        return points

    def _is_missing(self, codes: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        return np.asarray(codes == self.n_levels)

    def decode_text(self, codes: NDArray[np.integer[Any]], rng: np.random.Generator) -> NDArray[np.object_]:
        """The values that `decode` gives for the same generator, as texts."""
        positions, points = pd.factorize(self._draw(codes, rng))
        texts = [*self._texts(self._at(points)), self._missing_text]
        positions[self._is_missing(codes)] = len(texts) - 1
        return self._gathered(texts, positions)
