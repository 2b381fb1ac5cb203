"""Held values: the same codes as the codec's, counts by hand, and one record more changes one cell
by one.
"""

import copy
import datetime as dt
import functools
import io
import math
import pickle
import unicodedata
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.odd_values import FRAME_COLUMNS, ODD_VALUES, objects
from helpers.seldom import examples
from helpers.values import counted, listed
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import MAX_POINT, Grid, ParameterError, PrivacyError, SchemaError
from synthdp.data import HeldTableReader, encode, held_rows, open_table
from synthdp.schema import (
    OpenSchema,
    Schema,
    decimal_points,
    decimals_of,
    exponents_of,
    integer_points,
)

NOWHERE = np.empty(0, dtype=np.int64)
FLOATS = st.floats(allow_nan=False)

# --- grids ------------------------------------------------------------------------------------


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1), st.integers(-4, 6))
def test_a_number_on_the_grid_is_its_own_point(points, decimals):
    numbers = np.array([float(Fraction(point) / Fraction(10) ** decimals) for point in points])
    assert decimal_points(numbers, decimals).tolist() == points


@given(
    st.lists(FLOATS.filter(lambda number: abs(number) > 1e-200), min_size=1), st.integers(-20, 300)
)
def test_points_are_floors_or_the_nearest_within_a_hair(numbers, decimals):
    for number, point in zip(
        numbers, decimal_points(np.array(numbers), decimals).tolist(), strict=True
    ):
        if math.isinf(number):
            assert point == math.copysign(MAX_POINT, number)
            continue
        exact = Fraction(number) * Fraction(10) ** decimals
        if abs(exact) >= MAX_POINT:
            assert abs(point) >= MAX_POINT * (1 - 1e-9)
        else:
            assert -2e-9 * abs(exact) <= exact - point < 1 + 2e-9 * abs(exact)


@given(st.lists(FLOATS, min_size=1))
def test_integers_are_floors(numbers):
    for number, point in zip(numbers, integer_points(np.array(numbers)).tolist(), strict=True):
        inside = abs(number) < MAX_POINT
        assert point == (math.floor(number) if inside else math.copysign(MAX_POINT, number))


def written_decimals(number):
    if math.isinf(number) or abs(number) >= 2**53:
        return 0
    for digits in range(13):
        meant = round(number, digits)
        if abs(meant) < 1e12 / 10**digits and abs(meant - number) <= 2**-50 * abs(number):
            return digits
    shortest = Decimal(repr(number)).normalize()
    decimals = max(-int(shortest.as_tuple().exponent), 0)
    return (
        16 if decimals > 15 or (decimals and abs(shortest).scaleb(decimals) >= 2**51) else decimals
    )


@settings(max_examples=examples(120))
@given(
    st.lists(
        FLOATS | st.decimals(-(10**6), 10**6, places=5).map(float) | st.floats(1, 1e4), min_size=1
    )
)
def test_decimals_are_those_of_the_shortest_text_if_it_has_few_digits(numbers):
    assert decimals_of(np.array(numbers)).tolist() == [
        written_decimals(number) for number in numbers
    ]


def test_decimals_are_those_that_sums_and_changes_of_units_were_meant_to_have():
    knots = np.array([8, 9, 18, 11]) * 1.15078  # the last but one is 20.714039999999997
    assert decimals_of(knots).tolist() == [5, 5, 5, 5]
    tenths = np.cumsum(np.full(10, 0.1))  # the last is 0.9999999999999999
    assert decimals_of(tenths).tolist() == [1] * 9 + [0]
    assert decimals_of(np.array([1 / 3, 1.00000000000001, 2 / 7 * 1e6])).tolist() == [16, 14, 16]


@given(st.lists(FLOATS, min_size=1))
def test_exponents_bracket_the_number(numbers):
    for number, exponent in zip(numbers, exponents_of(np.array(numbers)).tolist(), strict=True):
        if abs(number) >= 2.0**-1022 and not math.isinf(number):
            assert Fraction(2) ** exponent <= abs(Fraction(number)) < Fraction(2) ** (exponent + 1)
        else:
            assert exponent == (1023 if math.isinf(number) else max(-1024, exponent))
            assert math.isinf(number) or exponent <= -1023


@pytest.mark.parametrize(
    "wrong",
    [{"of": "rows"}, {"decimals": 1.0}, {"decimals": True}, {"decimals": 301}, {"decimals": "2"}],
)
def test_a_wrong_grid_is_refused(wrong):
    with pytest.raises(ParameterError, match="grid of 'x'"):
        Grid(column="x", **wrong)


# --- the same codes as the codec's --------------------------------------------------------------

KNOWN = {"missingValues": ["", "NA", " n/a"]}
TEXT = {"type": "string", "synthdp": {"derive": True}} | KNOWN
DATES = {"minimum": "2000-01-01", "maximum": "2020-12-31"}
CLOSINGS = {
    "text": (TEXT, {"levels": ["1", "True", "a", "b"], "required": False}),
    "text required": (TEXT, {"levels": ["1", "1.0", "a", "é"], "required": True}),
    "text without a level": (TEXT, {"required": False}),
    "text merged": (TEXT, {"levels": ["a"], "merged": {"levels": ["1", "b"], "weights": [1, 2]}}),
    "text with spaces": (
        TEXT | {"synthdp": {"derive": True, "other": " else "}},
        {"levels": ["a", "else", "other"]},
    ),
    "enum": (
        {"type": "string", "constraints": {"enum": ["1", "a"]}, "synthdp": {"derive": True}},
        {"required": True},
    ),
    "enum, other": (
        {
            "type": "string",
            "constraints": {"enum": ["1", "a"]},
            "synthdp": {"derive": True, "other": "a"},
        }
        | KNOWN,
        {"required": True},
    ),
    "enum, missing": (
        {"type": "integer", "constraints": {"enum": [1, 3]}, "synthdp": {"derive": True}} | KNOWN,
        {"required": False},
    ),
    "boolean": ({"type": "boolean", "synthdp": {"derive": True}}, {"required": True}),
    "boolean, missing": (
        {"type": "boolean", "synthdp": {"derive": ["missing"]}} | KNOWN,
        {"required": False},
    ),
    "integer": (
        {"type": "integer", "synthdp": {"derive": True}} | KNOWN,
        {"minimum": 0, "maximum": 5},
    ),
    "integer required": (
        {
            "type": "integer",
            "synthdp": {"derive": ["bins", "missing"]},
            "constraints": {"minimum": 0, "maximum": 9},
        }
        | {"missingValues": ["", "-1"]},
        {"edges": [0, 1, 2, 9], "required": True},
    ),
    "number": (
        {"type": "number", "synthdp": {"derive": True}},
        {"edges": [-1.5, 0.0, 1.0], "decimals": 1},
    ),
    "year": (
        {"type": "year", "synthdp": {"derive": True}},
        {"edges": [1999, 2005, 2010], "required": True},
    ),
    "date": ({"type": "date", "synthdp": {"derive": True}} | KNOWN, DATES),
    "date with parts": (
        {
            "type": "date",
            "format": "%d/%m/%Y",
            "synthdp": {"derive": True, "parts": ["weekday", "month"]},
        },
        {"edges": ["2000-01-01", "2005-01-01", "2020-12-31"], "required": True},
    ),
    "datetime": (
        {"type": "datetime", "synthdp": {"derive": True, "resolution": "hour", "parts": ["hour"]}},
        DATES,
    ),
    "declared": ({"type": "integer", "constraints": {"minimum": 0, "maximum": 5}}, None),
    "declared date": (
        {"type": "date", "constraints": DATES, "synthdp": {"bins": 9, "parts": ["weekday"]}},
        None,
    ),
}
DIRTY = [
    None, math.nan, "", " ", "NA", " NA ", "n/a", " n/a", "1", " 1", "1.0", 1, 1.0, True, "True", "a", "a ", "b",
    "else", " else ", "other", "é", "e\u0301", "3", "-1", -1, "0.29", "1e400", "?", "2010-05-05", "05/05/2010",
    "31/12/2030", "2010-05-05T13", dt.date(2010, 5, 5), dt.datetime.fromisoformat("2010-05-05T13+05:00"), "2005",
    2005.5,
]  # fmt: skip


@functools.cache
def opened(name):
    field, found = CLOSINGS[name]
    schema = OpenSchema.from_dict({"fields": [{"name": "x"} | field]})
    return schema, schema.resolved(
        {} if found is None else {"x": schema.open_columns[0].resolved(**found)}
    )


def held(schema, frame, n_chunks=1):
    reader = HeldTableReader(schema)
    for rows in np.array_split(np.arange(len(frame)), n_chunks):
        reader.add(frame.iloc[rows])
    return reader.finish()


def assert_same_codes(name, values, n_chunks=1):
    schema, closed = opened(name)
    frame = pd.DataFrame({"x": values})
    mine, codecs = held(schema, frame, n_chunks).encode(closed), encode(frame, closed)
    assert mine.domain == codecs.domain
    for got, expected in zip(mine.columns, codecs.columns, strict=True):
        assert got.dtype == expected.dtype
        assert got.tolist() == expected.tolist()


@settings(deadline=None, max_examples=examples(100))
@given(
    st.sampled_from(sorted(CLOSINGS)),
    st.lists(st.sampled_from(DIRTY) | st.text(max_size=2)),
    st.integers(1, 3),
)
def test_encoding_later_gives_the_codes_of_the_codec(name, values, n_chunks):
    assert_same_codes(name, objects(values), n_chunks)


@pytest.mark.parametrize("name", CLOSINGS)
def test_odd_values_and_every_dtype_get_the_codes_of_the_codec(name):
    assert_same_codes(name, objects(ODD_VALUES + DIRTY))
    for series in FRAME_COLUMNS:
        assert_same_codes(name, series)
        assert_same_codes(name, series.iloc[:0])
    assert_same_codes(name, pd.Series([1, 2, 1, 0, -1]))
    assert_same_codes(name, pd.Series([1.0, -0.0, math.nan, math.inf, 2.5]))


def test_a_schema_of_other_columns_is_refused():
    schema, closed = opened("integer")
    table = held(schema, pd.DataFrame({"x": ["1"]}))
    for name in ("text", "declared date", "number", "integer required"):
        if opened(name)[1].columns != closed.columns:
            with pytest.raises(ParameterError, match="not the one that the rows were read by"):
                table.encode(opened(name)[1])
    with pytest.raises(ParameterError, match="'y'"):
        table.encode(Schema.from_dict({"y": 3}))
    declared = held(opened("declared")[0], pd.DataFrame({"x": ["1"]}))
    assert declared.encode(opened("declared")[1]).columns[0].tolist() == [1]
    with pytest.raises(ParameterError, match="'x' is not the one that the rows were read by"):
        declared.encode(Schema.from_dict({"x": 6}))  # the same bounds, but no "missing"


def test_closed_and_open_columns_side_by_side_in_any_order():
    fields = [
        {"name": name} | CLOSINGS[kind][0]
        for name, kind in (("a", "declared date"), ("b", "text"), ("c", "year"))
    ]
    schema = OpenSchema.from_dict({"fields": fields})
    found = {column.name: column for column in schema.open_columns}
    closed = schema.resolved(
        {
            "b": found["b"].resolved(levels=["a"]),
            "c": found["c"].resolved(minimum=1990, maximum=2010),
        }
    )
    frame = pd.DataFrame({"c": ["2000", "x"], "a": ["2010-05-05", ""], "b": ["a", "z"]})
    got, expected = held(schema, frame, 2).encode(closed), encode(frame, closed)
    assert [codes.tolist() for codes in got.columns] == [
        codes.tolist() for codes in expected.columns
    ]
    reordered = schema.reordered(frame.columns)
    assert reordered.names == ("c", "a", "b")
    with pytest.raises(SchemaError, match="the table has not"):
        held(schema, frame[["a", "b"]])


class Guarded(pd.DataFrame):
    """A table that cannot be asked for its column "note"."""

    @property
    def _constructor(self):
        return pd.DataFrame

    def __getitem__(self, key):
        assert "note" not in (key if isinstance(key, list) else [key]), "an ignored column was read"
        return super().__getitem__(key)


@pytest.mark.parametrize("unit", [None, "id"])
@pytest.mark.parametrize("listed", [True, False])
def test_ignored_columns_are_not_touched(unit, listed):
    kinds = {
        "a": "categorical",
        "sex": {"type": "string", "constraints": {"enum": ["f", "m"], "required": True}},
    }
    columns = {
        "a": ["x", "y", "x"],
        "id": ["1", "1", "2"],
        "note": objects(["SECRET", [1], math.nan]),
        "sex": list("fmf"),
    }
    ignored = {"note": "ignore"} | ({"id": "ignore"} if listed or unit is None else {})
    schema = OpenSchema.from_kinds(kinds | ignored)
    guarded = Guarded(columns)
    with pytest.raises(AssertionError, match="was read"):
        guarded["note"]
    table = held_rows(guarded, schema, unit=unit, max_rows=3)
    plain = held_rows(pd.DataFrame(columns)[["a", "sex"]], OpenSchema.from_kinds(kinds))
    assert repr(table) == "<HeldTable of 2 columns>"
    # As persons, each of two rows counts for its level by 1 / sqrt(2).
    levels = {"x": 2, "y": 1} if unit is None else {"x": 1024 + 724, "y": 724}
    assert counted(table.source.frequencies(Grid(column="a"))) == levels
    closed = schema.resolved({"a": schema.open_columns[0].resolved(levels=["x"])})
    assert closed.names == ("a", "sex")
    codes, expected = table.encode(closed), plain.encode(closed)
    assert [each.tolist() for each in codes.columns] == [each.tolist() for each in expected.columns]
    for name in ignored:
        with pytest.raises(ParameterError, match="no open column"):
            table.source.frequencies(Grid(column=name))
    with pytest.raises(SchemaError, match="the schema has 'note', the table has not"):
        held_rows(pd.DataFrame(columns).drop(columns="note"), schema, unit=unit)


def test_ignored_columns_of_a_file_may_hold_anything(tmp_path):
    (tmp_path / "in.csv").write_text(',note,age\n0,"long, ""text""\nof two lines",39\n1,,50\n')
    schema = OpenSchema.from_kinds({"": "ignore", "age": "integer", "note": "ignore"})
    with open_table(tmp_path / "in.csv") as file:
        table = held_rows(file, schema)
    assert counts_of(table, Grid(column="age"), [39, 40]) == [0, 0, 1, 1]


# --- counts by hand -----------------------------------------------------------------------------


def counts_of(table, grid, starts):
    return table.source.histogram(grid, np.array(starts, dtype=np.int64)).tolist()


def test_texts_are_counted_without_spaces_and_typed_values_as_texts():
    schema, _ = opened("text")
    values = [
        "b",
        " b",
        "e\u0301",
        "é",
        "10",
        "9",
        10,
        10.0,
        True,
        None,
        "",
        "NA ",
        "n/a",
        math.nan,
        [1],
        "\ud800",
        "a\0",
    ]
    table = held(schema, pd.DataFrame({"x": objects(values)}), 3)
    texts, counts = listed(table.source.frequencies(Grid(column="x")))
    assert dict(zip(texts, counts.tolist(), strict=True)) == {
        "10": 3,
        "9": 1,
        "True": 1,
        "b": 2,
        "é": 2,
    }
    assert texts == sorted(texts)
    assert counts.dtype == np.int64
    assert counts_of(table, Grid(column="x"), []) == [
        5,
        12,
    ]  # lists and what no file holds are not missing


@pytest.mark.parametrize(
    "missing_values", [[""], ["", "NA", "9.0"], ["e\N{COMBINING ACUTE ACCENT}"]], ids=str
)
def test_missing_texts_are_as_many_beside_the_others_as_in_a_histogram(missing_values):
    field = {"name": "x", "type": "string", "synthdp": {"derive": True}}
    schema = OpenSchema.from_dict({"fields": [field], "missingValues": missing_values})
    values = [
        "NA",
        " NA ",
        "",
        " ",
        None,
        math.nan,
        pd.NA,
        9,
        9.0,
        "9",
        "\N{LATIN SMALL LETTER E WITH ACUTE}",
    ]
    values += ["a", [1], b"NA", "\ud800"]
    source = held(schema, pd.DataFrame({"x": objects(values)})).source
    found = source.frequencies(Grid(column="x"))
    missing, present = source.histogram(Grid(column="x"), NOWHERE).tolist()
    assert found.missing() == missing > 3
    assert (
        sum(counted(found).values()) == present - 3
    )  # no level can be a list, bytes or half a character


def test_categories_without_rows_are_not_counted():
    schema, _ = opened("text")
    values = pd.Series(pd.Categorical(["a", None], categories=["z", "a", "q"]))
    assert listed(held(schema, pd.DataFrame({"x": values})).source.frequencies(Grid(column="x")))[
        0
    ] == ["a"]


def test_numbers_are_counted_in_cells():
    schema, _ = opened("number")
    values = ["0.29", "0.3", "-1", "x", "", None, "inf", "-inf", "1e400", "0.1234567", 12345]
    table = held(schema, pd.DataFrame({"x": objects(values)}))
    grid = Grid(column="x", decimals=2)
    assert counts_of(table, grid, [0, 29, 30]) == [6, 1, 1, 1, 2]  # infinite ones are not read
    assert counts_of(table, grid, []) == [6, 5]
    points, counts = listed(table.source.frequencies(grid))
    assert points.tolist() == [-100, 12, 29, 30, 1234500]
    assert counts.tolist() == [1, 1, 1, 1, 1]
    assert points.dtype == counts.dtype == np.int64
    assert counts_of(table, Grid(column="x", of="decimals"), [0, 1, 2, 3, 7]) == [
        6,
        0,
        2,
        1,
        1,
        0,
        1,
    ]
    assert counts_of(table, Grid(column="x", of="exponents"), [-1024, 0, 1023]) == [6, 0, 3, 2, 0]


@pytest.mark.parametrize(
    ("name", "values"), [("number", [3, 1.5, 1, 9]), ("text", ["d", "c", "a", "x"])]
)
def test_values_are_given_by_their_places(name, values):
    found = held(opened(name)[0], pd.DataFrame({"x": objects(values)})).source.frequencies(
        Grid(column="x")
    )
    listed_ones = list(found.values(np.arange(len(*found.counts()))))
    assert list(found.values(np.array([2, 0]))) == [listed_ones[2], listed_ones[0]]


def test_missing_values_that_are_numbers_are_missing():
    table = held(
        opened("integer required")[0], pd.DataFrame({"x": objects(["-1", -1, -1.0, "-2", 5, 5.9])})
    )
    assert counts_of(table, Grid(column="x"), [-2, 5, 6]) == [4, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("resolution", "point"), [("day", 18262), ("month", 600), ("year", 50), ("week", 2609)]
)
def test_dates_are_counted_in_units_of_resolution(resolution, point):
    field = {"name": "x", "type": "date", "synthdp": {"derive": True, "resolution": resolution}}
    values = objects(["2020-01-01", dt.date(2020, 1, 1), "?", None])
    table = held(OpenSchema.from_dict({"fields": [field]}), pd.DataFrame({"x": values}))
    assert counts_of(table, Grid(column="x"), [point, point + 1]) == [2, 0, 2, 0]


def test_booleans_and_enumerated_levels_are_counted_by_code():
    table = held(
        opened("boolean, missing")[0], pd.DataFrame({"x": ["true", "false", "1", "?", "", "NA"]})
    )
    assert counts_of(table, Grid(column="x"), []) == [3, 3]
    assert [part.tolist() for part in listed(table.source.frequencies(Grid(column="x")))] == [
        [0, 1],
        [1, 2],
    ]


@pytest.mark.parametrize(
    ("name", "grid", "starts"),
    [
        ("text", {"of": "decimals"}, []), ("text", {"decimals": 1}, []), ("text", {}, [0]),
        ("boolean", {"decimals": 1}, []),
        ("date", {"of": "decimals"}, []), ("integer", {"decimals": 1}, []), ("integer", {"of": "exponents"}, []),
        ("integer", {"column": "y"}, []), ("declared", {}, []),
    ],
)  # fmt: skip
def test_grids_that_a_column_does_not_have_are_refused(name, grid, starts):
    source = held(opened(name)[0], pd.DataFrame({"x": ["1"]})).source
    with pytest.raises(ParameterError, match="column"):
        source.histogram(Grid(**({"column": "x"} | grid)), np.array(starts, dtype=np.int64))


# --- one record more ----------------------------------------------------------------------------

GRIDS = {
    "text": [({}, [])],
    "enum": [({}, []), ({}, [0, 1])],
    "boolean": [({}, []), ({}, [0, 1])],
    "integer": [({}, []), ({}, [-5, 0, 3]), ({}, [-MAX_POINT, MAX_POINT]), ({"of": "steps"}, range(27))],
    "number": [
        ({"decimals": 2}, [-5, 0, 3]), ({"decimals": -2}, [0]), ({"of": "decimals"}, range(17)), ({}, []),
        ({"of": "steps", "decimals": 2}, range(27)),
    ],
    "year": [({}, range(1990, 2020))],
    "date": [({}, []), ({}, [0, 14000, 15000])],
    "datetime": [({}, range(0, 500_000, 1000))],
}  # fmt: skip


@settings(deadline=None, max_examples=examples(75))
@given(st.sampled_from(sorted(GRIDS)), st.lists(st.sampled_from(DIRTY)), st.data())
def test_one_record_more_changes_one_cell_by_one(name, values, data):
    place = data.draw(st.integers(0, len(values)))
    odd = st.integers(0, len(ODD_VALUES) - 1).map(
        ODD_VALUES.__getitem__
    )  # some of them cannot be hashed
    new = data.draw(
        st.sampled_from(DIRTY) | odd | st.text() | st.floats() | st.dates() | st.integers()
    )
    schema, _ = opened(name)
    tables = [
        held(schema, pd.DataFrame({"x": objects(rows)}))
        for rows in (values, [*values[:place], new, *values[place:]])
    ]
    assert repr(tables[0]) == repr(tables[1])
    sizes = [({"of": "exponents"}, range(-1024, 1024))] if name == "number" else []
    for settings_, starts in GRIDS[name] + sizes:
        grid = Grid(column="x", **settings_)
        less, more = (np.array(counts_of(table, grid, starts)) for table in tables)
        assert sorted((more - less).tolist())[-2:] == [0, 1][-len(more) :]
        assert (more - less).sum() == 1
        assert more.sum() == len(values) + 1  # every record is in exactly one cell
        few, many = (
            dict(zip(*map(list, listed(table.source.frequencies(grid))), strict=True))
            for table in tables
        )
        changes = Counter(many)
        changes.subtract(few)
        assert sorted(change for change in changes.values() if change) in ([], [1])
        assert list(many) == sorted(many)
        assert sum(many.values()) <= more.sum() - more[0]


def test_the_order_of_rows_does_not_show():
    values = [value for value in DIRTY if not isinstance(value, dt.date)]
    for name, grids in GRIDS.items():
        forward, backward = (
            held(opened(name)[0], pd.DataFrame({"x": objects(v)})) for v in (values, values[::-1])
        )
        for settings_, starts in grids:
            grid = Grid(column="x", **settings_)
            assert counts_of(forward, grid, starts) == counts_of(backward, grid, starts)
            assert str(listed(forward.source.frequencies(grid))) == str(
                listed(backward.source.frequencies(grid))
            )


# --- what it shows --------------------------------------------------------------------------------


def test_a_held_table_shows_nothing():
    schema, _ = opened("text")
    reader = HeldTableReader(schema)
    reader.add(pd.DataFrame({"x": ["SECRET"]}))
    table = reader.finish()
    assert [repr(thing) for thing in (reader, table, table.source)] == [
        "<HeldTableReader>", "<HeldTable of 1 columns>", "<HeldSource>",
    ]  # fmt: skip
    for thing in (table, table.source):
        assert "SECRET" not in str(thing)
        assert not hasattr(thing, "__len__")
        assert not hasattr(thing, "__iter__")
        assert not hasattr(thing, "__dict__")
        for copying in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(PrivacyError, match="sensitive rows"):
                copying(thing)


# --- files ----------------------------------------------------------------------------------------


def test_a_file_is_read_once_in_any_order_of_columns(tmp_path, monkeypatch):
    schema = OpenSchema.from_kinds({"job": "categorical", "age": "integer"})
    text = "age,job\n39,baker\n50, baker\n,\n"
    (tmp_path / "in.csv").write_text(text)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    for path in (tmp_path / "in.csv", "-"):
        shares = []
        with open_table(path) as file:
            table = held_rows(file, schema, progress=shares.append)
        assert shares[-1] == 1.0
        assert counts_of(table, Grid(column="age"), [39, 40]) == [1, 0, 1, 1]
        assert listed(table.source.frequencies(Grid(column="job")))[0] == ["baker"]
    (tmp_path / "other.csv").write_text("age\n1\n")
    with open_table(tmp_path / "other.csv") as file, pytest.raises(SchemaError, match="'job'"):
        held_rows(file, schema)


def test_a_hundred_thousand_texts_take_little():
    rng = np.random.default_rng(0)
    levels = np.array([f"level {number}" for number in range(100_000)], dtype=object)
    rows = rng.integers(0, len(levels), 300_000)
    schema = OpenSchema.from_kinds({"x": "categorical"})
    table = held_rows(pd.DataFrame({"x": levels[rows]}), schema)
    texts, counts = listed(table.source.frequencies(Grid(column="x")))
    expected = Counter(levels[rows].tolist())
    assert texts == sorted(expected)
    assert counts.tolist() == [expected[text] for text in texts]
    closed = schema.resolved({"x": schema.open_columns[0].resolved(levels=texts[:500])})
    codes = table.encode(closed).columns[0]
    assert (unicodedata.normalize("NFC", closed["x"].labels[codes[0]]) == levels[rows[0]]) or codes[
        0
    ] == 500
    assert np.array_equal(codes, encode(pd.DataFrame({"x": levels[rows]}), closed).columns[0])
