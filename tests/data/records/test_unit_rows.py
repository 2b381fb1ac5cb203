"""Rows per person: at most k are kept, uniformly, and what is kept of one depends on nobody else."""

import datetime as dt
import math
from collections import Counter
from decimal import Decimal
from itertools import combinations
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from helpers.odd_values import ODD_VALUES, objects
from helpers.seldom import examples
from helpers.unit_rows import kept_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import Grid, ParameterError, SchemaError
from synthdp.data import HeldTableReader, UnitRows, held_rows
from synthdp.schema import OpenSchema

KEY = "0123456789abcdef"
IDS = st.lists(st.sampled_from(["a", "b", "c", "d", "é", "", None, "e"]), max_size=40)


def kept(ids, k=2, key=KEY, **settings_):
    return kept_rows([objects(ids)], max_rows=k, key=key, **settings_)


@given(IDS, st.integers(1, 5), st.integers(1, 4))
def test_of_each_person_at_most_k_rows_and_of_nobody_none(ids, k, n_chunks):
    frame = objects(ids)
    chunks = [frame.iloc[rows] for rows in np.array_split(np.arange(len(ids)), n_chunks)]
    rows = kept_rows(chunks, max_rows=k, key=KEY)
    assert rows.dtype == np.bool_
    assert rows.tolist() == kept(ids, k).tolist()
    counts = Counter(name for name, row in zip(ids, rows, strict=True) if row)
    assert counts == {name: min(k, n) for name, n in Counter(ids).items() if name}


@settings(max_examples=examples(100))
@given(IDS, st.integers(1, 3), st.text("xyz", min_size=16, max_size=16))
def test_a_person_more_changes_nothing_for_the_others(ids, k, key):
    rows = kept(ids, k, key)
    for gone in set(ids):
        others = [name != gone for name in ids]
        left = kept([name for name in ids if name != gone], k, key)
        assert left.tolist() == rows[others].tolist()


def test_a_shared_generator_would_not_be_stable():
    """The test above can fail: draws in the order of the rows shift when a person is gone."""

    def shifting(ids):
        draws = np.random.default_rng(0).random(len(ids))
        best = pd.Series(draws).groupby(pd.Series(ids)).idxmin()
        return np.isin(np.arange(len(ids)), best)

    ids = ["a", "b", "b", "a", "b", "a"] * 5
    others = np.array([name != "a" for name in ids])
    assert (
        shifting(ids)[others].tolist() != shifting([name for name in ids if name != "a"]).tolist()
    )


def kept_eligible(rows, k, kept_of=UnitRows.kept):
    """Which rows are kept of those that are the first copy of their person's, by their own number."""
    units = UnitRows(max_rows=k, key=KEY)
    units.add(objects([person for person, _ in rows]))
    first = np.array([rows.index(row) == place for place, row in enumerate(rows)], np.bool_)
    return kept_of(units, first)


def others_moved(rows, k, **kept_of):
    """Whether some row is kept or not as another person is there or not, or too many are."""
    whole = kept_eligible(rows, k, **kept_of)
    for gone in {person for person, _ in rows}:
        left = kept_eligible([row for row in rows if row[0] != gone], k, **kept_of)
        if whole[[person != gone for person, _ in rows]].tolist() != left.tolist():
            return True
        if whole[[person == gone for person, _ in rows]].sum() > k:
            return True
    return False


ROWS_WITH_COPIES = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 4)), max_size=30)


@settings(max_examples=examples(100))
@given(ROWS_WITH_COPIES, st.integers(1, 3))
def test_a_person_more_changes_nothing_for_the_eligible_rows_of_others(rows, k):
    assert not others_moved(rows, k)
    eligible = {place for place, row in enumerate(rows) if rows.index(row) == place}
    assert {*np.flatnonzero(kept_eligible(rows, k)).tolist()} <= eligible


def by_one_stream(units, eligible):
    """Priorities of one stream for the rows of all persons: a person more shifts them."""
    owners = np.where(eligible, units.ids.rows.joined(), -1)
    draws = np.random.default_rng(0).random(int(eligible.sum()))
    priorities = pd.Series(np.nan, index=range(len(owners)))
    priorities[eligible] = draws
    ranks = priorities.groupby(owners).rank()
    return (eligible & (ranks <= units._max_rows)).to_numpy()


def up_to_a_total(units, eligible):
    """As it should be, but no more than five rows of all persons together."""
    rows = UnitRows.kept(units, eligible)
    return rows & (np.cumsum(rows) <= 5)


def by_place_in_table(units, eligible):
    """Which rows a person keeps hangs on where in the table they stand."""
    places = np.arange(len(eligible))
    return UnitRows.kept(units, eligible & (places % 3 > 0))


@pytest.mark.parametrize("broken", [by_one_stream, up_to_a_total, by_place_in_table])
def test_a_choice_of_eligible_rows_that_depends_on_others_is_found(broken):
    """The test above can fail."""
    rng = np.random.default_rng(3)
    tables = [
        [("abcd"[person], int(number)) for person, number in rng.integers(0, 4, (24, 2))]
        for _ in range(20)
    ]
    assert any(others_moved(rows, 2, kept_of=broken) for rows in tables)
    assert not any(others_moved(rows, 2) for rows in tables)


def test_every_sample_of_a_persons_rows_is_as_likely():
    n, k, runs = 5, 2, 6000
    ids = pd.Series([f"{person}" for person in range(runs) for _ in range(n)])
    rows = kept_rows([ids], max_rows=k).reshape(runs, n)  # every person is a run of its own
    seen = Counter(tuple(np.flatnonzero(row)) for row in rows)
    samples = list(combinations(range(n), k))
    expected = runs / len(samples)
    chi_squared = sum((seen[sample] - expected) ** 2 / expected for sample in samples)
    assert sum(seen.values()) == runs
    assert chi_squared < 63.0  # 9 degrees of freedom: passed by chance less often than 1e-9
    biased = {sample: expected * (1.3 if 0 in sample else 0.8) for sample in samples}
    assert sum((biased[sample] - expected) ** 2 / expected for sample in samples) > 63.0


def test_keys_decide_and_are_random_by_default():
    ids = ["a"] * 64
    assert kept(ids).tolist() == kept(ids).tolist()
    assert kept(ids, key="f" * 16).tolist() != kept(ids).tolist()
    assert len({tuple(kept(ids, 32, key=None)) for _ in range(5)}) == 5  # 64 choose 32 samples


def test_spellings_of_one_id_are_one_person():
    assert kept(["12", " 12", 12, 12.0, np.int64(12), "12 ", np.float32(12)], 1).sum() == 1
    assert kept(["e\u0301", "é"], 1).sum() == 1
    assert kept(["12", "12.5", 12.5, "012", "1 2", True, "True", "A", "a"], 1).sum() == 7
    typed = [
        pd.Series([1, 2]),
        pd.Series([1.0, math.nan]),
        pd.Series(["2"]),
        pd.Series([2], dtype="Int64"),
    ]
    assert kept_rows(typed, max_rows=1).sum() == 2


def test_ids_of_other_types_are_their_text():
    same = UUID(int=1)
    assert (
        kept(
            [same, UUID(int=1), str(same), UUID(int=2), dt.date(2020, 1, 1), Decimal(7), "7"], 1
        ).sum()
        == 4
    )


def test_rows_without_an_id_are_left_out():
    assert kept([None, math.nan, pd.NA, pd.NaT, "", "  ", [1], object()]).sum() == 0
    assert kept(["?", "a", " ?"], missing_values=("?",)).tolist() == [False, True, False]


def test_odd_ids_neither_raise_nor_make_people_one():
    rows = kept(["a", *ODD_VALUES, "\ud800", "\ud800", "\ud801"], 1)
    assert rows[0]
    assert rows[-3:].sum() == 2
    assert kept([]).tolist() == []


def test_colliding_hashes_do_not_make_two_people_one(monkeypatch):
    monkeypatch.setattr(
        pd.util, "hash_array", lambda texts, **_: np.zeros(len(texts), dtype=np.uint64)
    )
    rows = kept(["a", "b"] * 10, 3)
    assert (rows[::2].sum(), rows[1::2].sum()) == (3, 3)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "2", None])
def test_a_wrong_number_of_rows_is_refused(wrong):
    with pytest.raises(ParameterError, match="max_rows"):
        UnitRows(max_rows=wrong)


@pytest.mark.parametrize("key", ["", "short", "é" * 16])
def test_a_wrong_key_is_refused(key):
    with pytest.raises(ParameterError, match="key"):
        UnitRows(max_rows=1, key=key)


# --- in a held table ------------------------------------------------------------------------------

KINDS = {"person": "categorical", "x": "integer", "y": "categorical", "z": {"type": "boolean"}}
CLOSED = {"name": "c", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}


def counted(frame, k, key=KEY):
    schema = OpenSchema.from_dict(
        {"fields": [*OpenSchema.from_kinds(KINDS).to_dict()["fields"], CLOSED]}
    )
    reader = HeldTableReader(schema, unit="person", max_rows=k, key=key)
    for rows in np.array_split(np.arange(len(frame)), 3):
        reader.add(frame.iloc[rows])
    table, schema = reader.finish(), schema.without("person")
    found = {"x": {"minimum": 0, "maximum": 9}, "y": {"levels": ["u"]}, "z": {}}
    closed = schema.resolved(
        {column.name: column.resolved(**found[column.name]) for column in schema.open_columns}
    )
    return table, table.encode(closed)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9)), max_size=30), st.integers(1, 3)
)
def test_a_person_more_adds_at_most_k_rows_to_a_held_table(rows, k):
    frame = pd.DataFrame(rows, columns=["person", "x"], dtype=object)
    frame = frame.assign(y=frame["x"].map(str), z=frame["x"] > 4, c=frame["x"])
    frame["x"] = frame["x"].astype(object)
    more, codes = counted(frame, k)
    less, fewer = counted(frame[frame["person"] != "a"], k)
    expected = min(k, sum(person == "a" for person, _ in rows))
    starts = np.arange(10)
    difference = more.source.histogram(Grid(column="x"), starts) - less.source.histogram(
        Grid(column="x"), starts
    )
    assert difference.min() >= 0
    assert difference.sum() == min(expected, 1)  # a person is one record, whatever rows are kept
    assert len(codes.columns[0]) - len(fewer.columns[0]) == expected
    # all columns keep the same rows
    assert codes.columns[0].tolist() == codes.columns[3].tolist()
    assert (codes.columns[0] > 4).tolist() == codes.columns[2].tolist()


def test_the_unit_must_be_in_the_header_and_is_no_column_of_the_model():
    schema = OpenSchema.from_kinds({"x": "integer"})
    frame = pd.DataFrame({"x": ["1", "2"], "person": ["a", "a"]})
    table = held_rows(frame, schema, unit="person", max_rows=1)
    assert table.source.histogram(Grid(column="x"), np.empty(0, dtype=np.int64)).tolist() == [0, 1]
    assert repr(table) == "<HeldTable of 1 columns>"
    with pytest.raises(ParameterError, match="no open column 'person'"):
        table.source.frequencies(Grid(column="person"))
    with pytest.raises(SchemaError, match="'id': the table has no such column"):
        held_rows(frame[["x"]], schema, unit="id")
    with pytest.raises(SchemaError, match="the table has 'person', the schema has not"):
        held_rows(frame, schema)
    with pytest.raises(ParameterError, match="max_rows"):
        held_rows(frame, schema, unit="person", max_rows=0)
    assert repr(UnitRows(max_rows=3)) == "<UnitRows of at most 3 a person>"


def test_a_million_rows_take_little():
    ids = pd.Series(np.random.default_rng(0).integers(0, 100_000, 10**6))
    rows = kept_rows([ids], max_rows=3)
    counts = np.bincount(ids)
    assert np.array_equal(np.bincount(ids[rows], minlength=len(counts)), np.minimum(counts, 3))


def test_rows_of_a_person_have_an_order_of_which_the_first_are_kept():
    numbers = np.random.default_rng(0).integers(0, 300, 2_000)
    ids = pd.Series(numbers).astype(str).mask(numbers == 7)
    units = UnitRows(max_rows=3, key="0123456789abcdef")
    units.add(ids)
    ranks = units.ranks()
    assert (units.kept() == (ranks < 3)).all()
    assert (ranks[numbers == 7] > 2_000).all()
    for number in range(300):
        own = ranks[numbers == number]
        assert number == 7 or sorted(own) == [*range(len(own))]
    even = np.arange(2_000) % 2 == 0
    assert (units.ranks(even)[~even] > 2_000).all()
    assert (units.kept(even) == (units.ranks(even) < 3)).all()
