"""Derived columns: functions of one row, whatever other rows there are."""

import numpy as np
import pytest
from helpers.homes import home

from synthdp.core import Domain, ParameterError
from synthdp.data import CodedSource, CodedTable, DerivedColumn, PlacedSource

DECLARED, PLACED = Domain(("a", "b", "c"), (2, 3, 4)), Domain(("a", "b", "c"), (3, 4, 4))
PAIR = ("score", "label")


def columns():
    rng = np.random.default_rng(1)
    weights = {
        name: rng.integers(-(2**40), 2**40, PLACED[name]).astype(np.int64) for name in ("a", "b")
    }
    score = DerivedColumn("score", weights, np.array([-(2**39), 0, 2**38], np.int64))
    label = DerivedColumn("label", {"c": np.array([0, 1, 1, 2], np.int64)}, np.array([1, 2]))
    return [score, label]


def rows(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(rng.integers(size, size=n_rows) for size in PLACED.shape)


def by_hand(column, row):
    """The level of one row, in Python's own whole numbers."""
    value = sum(int(weights[row[PLACED.index(name)]]) for name, weights in column.weights.items())
    return sum(value >= int(edge) for edge in column.edges)


def sources(codes):
    """Every kind of source of the same rows."""
    table = CodedTable(PLACED, codes)
    return [CodedSource(table), PlacedSource(table, DECLARED)]


@pytest.mark.parametrize("n_rows", [0, 1, 7, 60])
def test_counts_are_those_of_rows_worked_out_by_hand(n_rows, monkeypatch):
    monkeypatch.setattr(home(DerivedColumn), "BLOCK_ROWS", 3)
    codes = rows(n_rows)
    expected = np.zeros((4, 3), np.int64)
    for row in zip(*(each.tolist() for each in codes), strict=True):
        expected[tuple(by_hand(column, row) for column in columns())] += 1
    for source in sources(codes):
        (counts,) = source.derived(columns()).counts_of([PAIR])
        assert counts.dtype == np.int64
        assert counts.tolist() == expected.tolist()


def test_a_row_has_its_level_in_any_company():
    """The same row, alone, first, last or among others, in any block: one level."""
    codes = rows(50)
    for column in columns():
        together = column.codes(CodedTable(PLACED, codes)).tolist()
        alone = [
            int(
                column.codes(CodedTable(PLACED, tuple(each[place : place + 1] for each in codes)))[
                    0
                ]
            )
            for place in range(50)
        ]
        assert together == alone
        shuffled = np.random.default_rng(2).permutation(50)
        moved = column.codes(CodedTable(PLACED, tuple(each[shuffled] for each in codes)))
        assert moved.tolist() == [alone[place] for place in shuffled]


@pytest.mark.parametrize("place", range(0, 40, 3))
def test_neighbours_differ_by_no_more_than_a_record_in_any_marginal(place):
    """Squared L2: 1 if a record comes or goes, 2 at most if it is another."""
    codes = rows(40)
    less = tuple(np.delete(each, place) for each in codes)
    other = tuple(each.copy() for each in codes)
    for each, size in zip(other, PLACED.shape, strict=True):
        each[place] = (each[place] + 1) % size
    for neighbour, most in ((less, 1), (other, 2)):
        for one, two in zip(sources(codes), sources(neighbour), strict=True):
            pairs = zip(
                one.derived(columns()).counts_of([PAIR, ("score",), ()]),
                two.derived(columns()).counts_of([PAIR, ("score",), ()]),
                strict=True,
            )
            for counts, counts_ in pairs:
                assert ((counts - counts_) ** 2).sum() <= most


@pytest.mark.parametrize(
    ("weights", "edges"),
    [
        ({"a": np.zeros(2, np.int64)}, np.array([1])),  # no weight for the unread place
        ({"a": np.zeros(3)}, np.array([1])),  # floats: a sum may depend on its company
        ({"a": np.zeros(3, np.int64)}, np.array([2, 1])),
        ({"a": np.zeros(3, np.int64)}, np.array([0.5])),
        ({"a": np.full(3, 2**62)}, np.array([1])),
    ],
)
def test_what_is_no_function_of_every_row_is_refused_before_any_is_read(weights, edges):
    for source in sources(rows(0)):
        with pytest.raises(ParameterError, match="derived column 'x': give a 64-bit integer"):
            source.derived([DerivedColumn("x", weights, edges)])


def test_what_counts_them_shows_no_more_than_another_source():
    source = sources(rows(5))[1].derived(columns())
    assert repr(source) == "<CodedSource>"
    assert source.domain == Domain(("score", "label"), (4, 3))
