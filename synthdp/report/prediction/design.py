"""Design matrices: tables as numbers that models take, made in one way of the real and the
synthetic table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from synthdp.report.metrics.columns import level_texts
from synthdp.report.metrics.read_table import ReadTable

FloatArray = NDArray[np.float64]

MIN_LEVEL_ROWS = 20
"""Levels that fewer rows have share one indicator: coefficients of fewer are noise."""

MAX_LEVELS = 200
"""Only the most frequent levels of a column have an indicator of their own; trees take at most 255.
"""

MAX_ROWS, MAX_VALUES = 30_000, 1_000_000
"""Models are fitted to at most so many rows, and to fewer of wide tables: fits grow with the square
of the columns.
"""


def affordable_rows(table: ReadTable) -> int:
    """How many rows of a table models are fitted to at most."""
    return min(MAX_ROWS, MAX_VALUES // len(table.domain))


@final
@dataclass(frozen=True)
class Indicators:
    """A column of levels as indicators: its most frequent level has none."""

    name: str
    """The column."""
    terms: tuple[str, ...]
    """What each indicator stands for."""
    places: NDArray[np.intp]
    """For each code the place of its indicator; -1 for none."""

    @classmethod
    def from_table(cls, table: ReadTable, name: str) -> Self:
        """The indicators of one column, by how often a table has its levels."""
        counts = table.counts((name,))
        order = np.argsort(-counts, kind="stable")
        # Levels of few rows would have coefficients that are all noise; together they are one term.
        frequent = [code for code in order[: MAX_LEVELS + 1] if counts[code] >= MIN_LEVEL_ROWS]
        if not frequent:
            frequent = [order[0]]
        texts = level_texts(table.schema[name])
        places = np.full(len(counts), len(frequent) - 1)
        places[frequent] = np.arange(len(frequent)) - 1
        terms = [f"{name} = {texts[code]}" for code in frequent[1:]]
        rest = int(counts.sum() - counts[frequent].sum())
        return cls(name, (*terms, f"{name}: other levels") if rest else tuple(terms), places)

    def matrix(self, codes: NDArray[Any]) -> csr_array:
        """One row a code, one column an indicator."""
        places = self.places[codes]
        there = (places >= 0) & (places < len(self.terms))
        rows = np.concatenate([[0], np.cumsum(there)])
        return csr_array(
            (np.ones(int(rows[-1])), places[there], rows), shape=(len(codes), len(self.terms))
        )


@final
@dataclass(frozen=True)
class Scaled:
    """A column of numbers, less the mean and divided by the standard deviation of one table; the
    mean where missing.
    """

    name: str
    mean: float
    spread: float
    may_be_missing: bool

    @classmethod
    def from_table(cls, table: ReadTable, name: str) -> Self:
        """The scale of one column."""
        numbers = table.numbers[name]
        present = numbers[~np.isnan(numbers)]
        mean, spread = (float(present.mean()), float(present.std())) if present.size else (0.0, 0.0)
        # The scale is the real training rows' for all tables: scaling each by itself would hide
        # that they differ.
        return cls(name, mean, spread or 1.0, present.size < numbers.size)

    @property
    def terms(self) -> tuple[str, ...]:
        """The number, and whether it is missing."""
        return (self.name, f"{self.name} is missing") if self.may_be_missing else (self.name,)

    def matrix(self, numbers: FloatArray) -> csr_array:
        """One row a number, one column a term."""
        missing = np.isnan(numbers)
        scaled = np.where(missing, 0.0, (numbers - self.mean) / self.spread)
        return csr_array(np.column_stack([scaled, missing])[:, : len(self.terms)])


@final
@dataclass(frozen=True)
class Design:
    """How rows become numbers: an intercept, then the terms of some columns."""

    parts: tuple[Indicators | Scaled, ...]
    """The columns."""

    @classmethod
    def from_table(cls, table: ReadTable, names: Sequence[str], *, numbers: bool = True) -> Self:
        """By the levels and the scale of one table; with ``numbers`` off, numbers are indicators of
        their bins.
        """
        return cls(
            tuple(
                Scaled.from_table(table, name)
                if numbers and name in table.numbers
                else Indicators.from_table(table, name)
                for name in names
            )
        )

    @property
    def terms(self) -> tuple[str, ...]:
        """What each column of the matrix stands for."""
        return ("intercept", *(term for part in self.parts for term in part.terms))

    def matrix(self, table: ReadTable) -> csr_array:
        """The rows of a table, shape ``(n_rows, n_terms)``."""
        blocks = [csr_array(np.ones((table.n_rows, 1)))]
        for part in self.parts:
            values = table.numbers[part.name] if isinstance(part, Scaled) else table[part.name]
            blocks.append(part.matrix(values))
        return csr_array(hstack(blocks, format="csr"))


def predictors(table: ReadTable, target: str) -> list[str]:
    """All attributes but the target, and what belongs to the same date."""
    source = table.schema[target].source
    return [column.name for column in table.schema.columns if column.source != source]
