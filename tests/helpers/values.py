"""Sources of single columns' values, for the tests of private values."""

from bisect import bisect_right
from collections import Counter

import numpy as np
import pytest
from hypothesis import strategies as st
from oracles.privacy import Seeded

from synthdp.core import Grid
from synthdp.privacy import Accounting, Adjacency, PrivacyLedger, PrivateValues

GRID = Grid(column="x")
NO_STARTS = np.empty(0, dtype=np.int64)
STARTS = np.array([-3, 0, 4])
EITHER = pytest.mark.parametrize("accounting", Accounting)
UNITS = [(Adjacency.ADD_REMOVE, 1), (Adjacency.ADD_REMOVE, 3), (Adjacency.REPLACE_ONE, 1)]
units = pytest.mark.parametrize(("adjacency", "max_rows"), UNITS)

CUTS = st.sets(st.integers(-7, 7), max_size=6).map(
    lambda cuts: np.array(sorted(cuts), dtype=np.int64)
)


class Listed:
    """Values with their counts, in blocks of four, and the places that were asked for."""

    def __init__(self, values, counts, missing=0) -> None:
        self.listed, self.exact, self.asked = list(values), [int(count) for count in counts], []
        self.n_missing = missing

    def missing(self):
        return self.n_missing

    def counts(self):
        return [
            np.array(self.exact[i : i + 4], dtype=np.int64) for i in range(0, len(self.exact), 4)
        ]

    def values(self, places):
        self.asked += places.tolist()
        return [self.listed[place] for place in places.tolist()]


def listed(frequencies):
    """All values of a source, in its own order, and their counts."""
    counts = np.concatenate([NO_STARTS, *frequencies.counts()])
    return frequencies.values(np.arange(len(counts))), counts


def counted(frequencies):
    """All values of a source by their counts."""
    values, counts = listed(frequencies)
    found = dict(
        zip(values if isinstance(values, list) else values.tolist(), counts.tolist(), strict=True)
    )
    assert len(found) == len(values)
    return found


class OneValue:
    """A source of which each record has one value, or none."""

    is_by_unit = False

    def most_values(self, _grid):
        return 1


class Rows(OneValue):
    """Exact counts of one column, by a plain loop; None is missing. Values come in order of
    occurrence.
    """

    def __init__(self, values) -> None:
        self.values = list(values)

    def histogram(self, grid, starts):
        assert grid.column == "x"
        counts = np.zeros(len(starts) + 2 if len(starts) else 2, dtype=np.int64)
        for value in self.values:
            counts[
                0 if value is None else 1 + (bisect_right(starts, value) if len(starts) else 0)
            ] += 1
        return counts

    def frequencies(self, grid):
        assert grid.column == "x"
        counts = Counter(value for value in self.values if value is not None)
        return Listed(counts, counts.values(), self.values.count(None))


class Counts(OneValue):
    """Values with counts as given, and no missing ones."""

    def __init__(self, values, counts) -> None:
        self.values, self.counts = values, counts

    def histogram(self, _grid, starts):
        assert not len(starts)
        return np.array([0, sum(self.counts)], dtype=np.int64)

    def frequencies(self, _grid):
        return Listed(self.values, self.counts)


class Untouchable(OneValue):
    """A source that nobody may ask."""

    def histogram(self, _grid, _starts):
        raise AssertionError("the records were touched")

    def frequencies(self, _grid):
        raise AssertionError("the records were touched")


class Silent(Seeded):
    """Bits that are all 0, so that there is no noise at all."""

    def __init__(self) -> None:
        super().__init__(0)

    def random_bytes(self, n_bytes):
        return bytes(n_bytes)


def book(accounting=Accounting.ZCDP, adjacency=Adjacency.ADD_REMOVE, max_rows=1, **changes):
    budget = {"epsilon": 1000.0, "delta": 0.2, "failure_delta": 0.1} | changes
    unit = (
        {}
        if adjacency is Adjacency.REPLACE_ONE
        else {"max_rows_per_unit": max_rows, "unit_column": "person"}
    )
    return PrivacyLedger(adjacency=adjacency, accounting=accounting, **unit, **budget)


def private(source, ledger=None, randomness=None):
    return PrivateValues(source, book() if ledger is None else ledger, randomness=randomness)
