"""Errors of drawn rows over bins that nobody chose: levels, and equal parts of public bounds."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

BINS = 16
MOST_SETS = 1000
"""Of larger numbers of sets of columns, so many are drawn with a fixed seed."""


class PublicBins:
    """The records in public bins, against which rows are held.

    Parameters
    ----------
    frame
        The records.
    columns
        ``{"levels": [...]}``, or ``{"type": ..., "minimum": ..., "maximum": ...}`` of each column.
    """

    def __init__(self, frame: pd.DataFrame, columns: Mapping[str, Mapping[str, Any]]) -> None:
        self._columns = columns
        self._real = self._codes(frame)

    def errors(self, drawn: pd.DataFrame) -> dict[str, float]:
        """Mean total variation distance over sets of two, three and four columns; NaN without."""
        codes = self._codes(drawn)
        return {f"{size}-way": self._mean_error(codes, size) for size in (2, 3, 4)}

    def _mean_error(self, codes: NDArray[np.int64], size: int) -> float:
        sets = _sets(len(self._columns), size)
        if not sets:
            return math.nan
        return float(np.mean([self._error(codes, each) for each in sets]))

    def _error(self, codes: NDArray[np.int64], columns: Sequence[int]) -> float:
        shape = tuple(self._n_cells(column) for column in columns)
        counts = [
            np.bincount(np.ravel_multi_index(each[list(columns)], shape), minlength=np.prod(shape))
            / each.shape[1]
            for each in (self._real, codes)
        ]
        return float(np.abs(counts[0] - counts[1]).sum() / 2.0)

    def _n_cells(self, position: int) -> int:
        """Bins or levels, and a place for values that are neither."""
        column = list(self._columns.values())[position]
        return len(column.get("levels", range(BINS))) + 1

    def _codes(self, frame: pd.DataFrame) -> NDArray[np.int64]:
        """Codes with shape (columns, rows)."""
        return np.stack([_code(frame[name], column) for name, column in self._columns.items()])


def _code(values: pd.Series, column: Mapping[str, Any]) -> NDArray[np.int64]:
    if "levels" in column:
        codes = {level: code for code, level in enumerate(column["levels"])}
        return values.astype(str).map(codes).fillna(len(codes)).to_numpy(np.int64)
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(np.float64)
    low, high = column["minimum"], column["maximum"]
    places = np.floor((np.nan_to_num(numbers) - low) / (high - low) * BINS).astype(np.int64)
    return np.where(np.isnan(numbers), BINS, np.clip(places, 0, BINS - 1))


def _sets(n_columns: int, size: int) -> list[tuple[int, ...]]:
    n_sets = math.comb(n_columns, size)
    every = combinations(range(n_columns), size)
    if n_sets <= MOST_SETS:
        return list(every)
    chosen = set(np.random.default_rng(size).choice(n_sets, MOST_SETS, replace=False).tolist())
    return [each for i, each in enumerate(islice(every, n_sets)) if i in chosen]
