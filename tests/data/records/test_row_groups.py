"""Groups of rows that are counted as one: by sets of values, group by group."""

from collections import Counter
from math import isqrt

import numpy as np
import pandas as pd
import pytest

from synthdp.core import Grid
from synthdp.data import HeldTableReader, RowGroups
from synthdp.schema import OpenSchema

WEIGHTS = np.array([1000, 300, 70, 9, 2], np.int64)


def weighed(groups, places, weights):
    """How much the groups weigh at each place, by a plain loop."""
    sets = {}
    for group, place in zip(groups.tolist(), places.tolist(), strict=True):
        if place >= 0:
            sets.setdefault(group, set()).add(place)
    counts = Counter()
    for own in sets.values():
        counts.update(dict.fromkeys(own, int(weights[len(own) - 1])))
    return counts


def test_groups_weigh_by_how_many_places_they_are_at():
    rng = np.random.default_rng(3)
    for _ in range(300):
        n_rows, n_places = int(rng.integers(0, 30)), int(rng.integers(1, 6))
        groups = rng.integers(0, 9, n_rows).astype(rng.choice([np.int64, np.int32, np.uint16]))
        places = rng.integers(-1, n_places, n_rows)
        counts = RowGroups(groups, WEIGHTS).counts(places, n_places)
        assert counts.dtype == np.int64
        expected = weighed(groups, places, WEIGHTS)
        assert counts.tolist() == [expected[place] for place in range(n_places)]


def test_many_groups_and_many_places_are_told_apart():
    n_groups = n_places = 70_000  # their product is beyond 32 bits
    groups = np.repeat(np.arange(n_groups, dtype=np.int32), 2)
    places = np.arange(2 * n_groups, dtype=np.int32) * 3 % n_places
    counts = RowGroups(groups, WEIGHTS).counts(places, n_places)
    expected = weighed(groups, places, WEIGHTS)
    assert counts.tolist() == [expected[place] for place in range(n_places)]


def test_a_group_of_more_values_than_there_are_weights_for_is_never_counted():
    """Any weight for it would be too large for what is charged."""
    groups, places = np.zeros(6, np.int64), np.arange(6)
    with pytest.raises(IndexError):
        RowGroups(groups, WEIGHTS).counts(places, 6)
    assert RowGroups(groups[:5], WEIGHTS).counts(places[:5], 6).tolist() == [2, 2, 2, 2, 2, 0]


KINDS = {
    "text": ({"type": "string"}, ["b", " b", None, "a", "", "b", "c", None], 2),
    "number": ({"type": "number"}, ["1", 1.0, None, 3, "x", 1, 2, None], 2),
    "truth": ({"type": "boolean"}, [True, "true", None, False, "?", True, None, None], 1),
}


@pytest.mark.parametrize(("field", "values", "n_others"), KINDS.values(), ids=KINDS)
def test_all_kinds_of_columns_count_groups(field, values, n_others):
    """Of two groups the first has one value in three rows, and a row without; the second others."""
    own = {"name": "x", **field, "synthdp": {"derive": True}}
    reader = HeldTableReader(OpenSchema.from_dict({"fields": [own]}))
    reader.add(pd.DataFrame({"x": pd.Series(values, dtype=object)}))
    groups = RowGroups(np.array([0, 0, 0, 1, 1, 0, 1, 1]), WEIGHTS)
    found = reader.finish().source.frequencies(Grid(column="x"), groups)
    (counts,) = found.counts()
    of_others = int(WEIGHTS[n_others])  # and "missing" is one more value
    assert sorted(counts.tolist()) == [*[of_others] * n_others, 300]
    assert found.missing() == 300 + of_others


def shared(groups, cells, weight):
    """How much the groups weigh in each cell, in proportion to their rows, and the squares of each
    group, by a plain loop and whole numbers.
    """
    rows = {}
    for group, cell in zip(groups.tolist(), cells.tolist(), strict=True):
        if cell >= 0:
            rows.setdefault(group, Counter())[cell] += 1
    counts, squares = Counter(), []
    for own in rows.values():
        norm = sum(n**2 for n in own.values())
        weights = {cell: isqrt((weight * n) ** 2 // norm) for cell, n in own.items()}
        counts.update(weights)
        squares.append(sum(each**2 for each in weights.values()))
    return counts, squares


@pytest.mark.parametrize("weight", [1, 7, 1024, 1 << 20])
def test_groups_share_their_weight_among_cells_by_their_rows(weight):
    rng = np.random.default_rng(weight)
    for _ in range(200):
        n_rows, n_cells = int(rng.integers(0, 60)), int(rng.integers(1, 6))
        groups = rng.integers(0, rng.integers(1, 9), n_rows).astype(
            rng.choice([np.int64, np.int32])
        )
        cells = rng.integers(-1, n_cells, n_rows)
        counts = RowGroups(groups, np.array([weight, 1], np.int64)).shares(cells, n_cells)
        assert counts.dtype == np.int64
        expected, squares = shared(groups, cells, weight)
        assert counts.tolist() == [expected[cell] for cell in range(n_cells)]
        assert max(squares, default=0) <= weight**2


def test_a_group_of_one_cell_has_all_of_its_weight_there_and_of_none_nothing():
    groups = RowGroups(np.array([0, 0, 0, 1, 2, 2]), np.array([1024], np.int64))
    assert groups.shares(np.array([2, 2, 2, -1, 0, 1]), 3).tolist() == [724, 724, 1024]


def test_many_groups_and_many_cells_are_told_apart():
    n = 70_000  # squared it is beyond 32 bits
    groups, cells = np.repeat(np.arange(n, dtype=np.int32), 2), np.arange(2 * n) * 3 % n
    counts = RowGroups(groups, np.array([1024], np.int64)).shares(cells.astype(np.int32), n)
    expected, _ = shared(groups, cells, 1024)
    assert counts.tolist() == [expected[cell] for cell in range(n)]


@pytest.mark.parametrize(
    ("field", "values", "starts", "expected"),
    [
        # Of the first group three rows have a value and one has none; of the second one has 2.
        ({"type": "integer"}, [1, 1, 9, None, 2], [0, 5], [418, 0, 836 + 1024, 418]),
        ({"type": "string"}, ["a", "b", "a", None, ""], [], [323 + 1024, 971]),
        ({"type": "boolean"}, [True, True, False, "?", None], [0, 1], [418 + 1024, 0, 418, 836]),
    ],
    ids=["number", "text", "truth"],
)
def test_all_kinds_of_columns_share_groups_out(field, values, starts, expected):
    own = {"name": "x", **field, "synthdp": {"derive": True}}
    reader = HeldTableReader(OpenSchema.from_dict({"fields": [own]}))
    reader.add(pd.DataFrame({"x": pd.Series(values, dtype=object)}))
    groups = RowGroups(np.array([0, 0, 0, 0, 1]), np.array([1024], np.int64))
    source, starts = reader.finish().source, np.array(starts, np.int64)
    counts = source.histogram(Grid(column="x"), starts, groups)
    assert counts.tolist() == expected
    plain = source.histogram(Grid(column="x"), starts)
    assert source.shared_histogram(Grid(column="x"), starts).tolist() == plain.tolist()
