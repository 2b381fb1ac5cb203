"""Periods, durations and intervals are read, each by itself, in whatever type of column they stand."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from helpers.odd_values import FRAME_COLUMNS, NEAR_VALUES, ODD_VALUES, objects

from synthdp.data import HeldTableReader, encode, plain, plain_column
from synthdp.schema import OpenSchema, Schema

pa = pytest.importorskip("pyarrow")

KINDS = ("string", "number", "integer", "date", "datetime", "year", "boolean")

DURATIONS = [dt.timedelta(0), dt.timedelta(days=1, microseconds=1), dt.timedelta(-1), None]
SPANS = {
    "quarters": pd.Series(pd.PeriodIndex(["2010Q1", "2011Q4", None], freq="Q")),
    "weeks": pd.Series(pd.PeriodIndex(["2010-01-06", "1969-12-31", None], freq="W-WED")),
    "hours": pd.Series(pd.PeriodIndex(["2010-01-06 07:30", None], freq="h")),
    "durations": pd.Series(DURATIONS, dtype="timedelta64[us]"),
    "long durations": pd.Series(np.array([2**62, -(2**62), 0, -(2**63)], dtype="timedelta64[s]")),
    "durations of Arrow": pd.Series(pd.array(DURATIONS, dtype=pd.ArrowDtype(pa.duration("us")))),
    "dictionary of Arrow": pd.Series(
        pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(DURATIONS, pa.duration("us")).dictionary_encode()]))
    ),
    "sparse durations": pd.Series(pd.arrays.SparseArray(pd.Series(DURATIONS[:3], dtype="timedelta64[us]"))),
    "intervals": pd.Series(pd.arrays.IntervalArray.from_tuples([(0, 1), (0.5, 2.0), None])),
    "intervals of moments": pd.Series(pd.interval_range(pd.Timestamp("2020-01-01"), periods=2)),
    "zeros of either sign": pd.Series(pd.arrays.IntervalArray.from_tuples([(0.0, 1.0), (-0.0, 1.0), (0.0, 1.0)])),
    "cut": pd.Series(pd.cut([1, 5, 1], [0, 3, 9])),
    "categories of periods": pd.Series(pd.Categorical(pd.PeriodIndex(["2010-02", None, "2010-03"], freq="M"))),
    "objects": objects([pd.Period("2010Q1"), pd.Interval(0, 1), *DURATIONS, "2010-01-01", 5,
                        np.timedelta64("NaT", "s")]),
    "spans of years": objects([np.timedelta64(3, "Y"), np.timedelta64(3, "M"), pd.Timedelta.max, dt.timedelta.max]),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", SPANS)
def test_what_a_value_says_does_not_depend_on_its_company(case, kind):
    series = SPANS[case]
    together = plain_column(series, kind).tolist()
    for rows in ([row] for row in range(len(series))):
        assert repr(plain_column(series.iloc[rows], kind).tolist()) == repr(
            [together[row] for row in rows]
        )
    assert repr(plain_column(series.iloc[::-1], kind).tolist()) == repr(together[::-1])


@pytest.mark.parametrize("case", SPANS)
def test_a_value_says_the_same_in_a_typed_column_and_as_an_object(case):
    """Of any type of column the codes are those of the same values as objects of Python."""
    schema = Schema.from_dict(
        {"fields": [{"name": kind, **field} for kind, field in FIELDS.items()]}
    )
    series = SPANS[case]
    loose = objects(list(series))
    codes, alone = (
        encode(pd.DataFrame(dict.fromkeys(FIELDS, each)), schema).columns
        for each in (series, loose)
    )
    for typed, single, name in zip(codes, alone, schema.names, strict=True):
        assert typed.tolist() == single.tolist(), name


FIELDS = {
    "string": {
        "type": "string",
        "constraints": {"enum": ["(0, 1]", "(0, 3]", "2010Q1", "0 days 00:00:00"]},
    },
    "number": {"type": "number", "constraints": {"minimum": -1e6, "maximum": 1e6}},
    "integer": {"type": "integer", "constraints": {"minimum": -100, "maximum": 100}},
    "date": {"type": "date", "constraints": {"minimum": "1960-01-01", "maximum": "2020-12-31"}},
    "datetime": {
        "type": "datetime",
        "constraints": {"minimum": "1960-01-01", "maximum": "2020-12-31"},
    },
    "year": {"type": "year", "constraints": {"minimum": 1960, "maximum": 2020}},
}

READ = [
    ("quarters", "date", ["2010-01-01", "2011-10-01", None]),
    ("weeks", "date", ["2009-12-31", "1969-12-25", None]),
    ("hours", "datetime", ["2010-01-06T07:00:00", None]),
    ("quarters", "year", [2010.0, 2011.0, None]),
    ("durations", "number", [0.0, 86400.000001, -86400.0, None]),
    ("durations of Arrow", "integer", [0.0, 86400.000001, -86400.0, None]),
    ("sparse durations", "number", [0.0, 86400.000001, -86400.0]),
    ("intervals", "string", ["(0.0, 1.0]", "(0.5, 2.0]", None]),
    ("cut", "string", ["(0, 3]", "(3, 9]", "(0, 3]"]),
    ("categories of periods", "date", ["2010-02-01", None, "2010-03-01"]),
]


@pytest.mark.parametrize(("case", "kind", "expected"), READ)
def test_periods_are_their_start_durations_their_seconds_intervals_their_text(case, kind, expected):
    found = plain_column(SPANS[case], kind)
    if kind in ("date", "datetime"):
        expected = [pd.NaT if text is None else pd.Timestamp(text) for text in expected]
    assert [None if pd.isna(value) else value for value in found] == [
        None if pd.isna(x) else x for x in expected
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_no_value_raises_and_other_values_stay_as_they_are(kind):
    series = objects(ODD_VALUES)
    made = plain_column(series, kind)
    spans = (pd.Period, pd.Interval, dt.timedelta, np.timedelta64)
    for value, found in zip(series, made, strict=True):
        assert found is value or type(value) in (*spans, pd.Timedelta)
    for column in FRAME_COLUMNS:
        assert len(plain_column(column, kind)) == len(column)


def test_a_table_without_spans_is_not_even_copied():
    frame = pd.DataFrame({"a": ["x", "y"], "b": [1, 2], "c": pd.to_datetime(["2010-01-01", None])})
    assert plain(frame, {"a": "string", "b": "number", "c": "date"}) is frame
    spans = pd.DataFrame({"a": pd.interval_range(0, 2), "b": pd.to_timedelta([1, 2], unit="s")})
    before = spans.copy(deep=True)
    assert plain(spans, {"a": "string", "b": "number"}).dtypes["b"] == np.float64
    pd.testing.assert_frame_equal(spans, before)


@pytest.mark.parametrize("group", ["durations", "periods"])
def test_open_columns_are_read_like_closed_ones(group):
    values = objects([*NEAR_VALUES[group], None])
    for kind in ("categorical", "number", "date"):
        reader = HeldTableReader(OpenSchema.from_kinds({"x": kind}))
        reader.add(pd.DataFrame({"x": values}))
        held = reader.finish()
        column = OpenSchema.from_kinds({"x": kind}).open_columns[0]
        closed = column.resolved(**CLOSED[kind])
        assert (
            held.encode(Schema((closed,))).columns[0].tolist()
            == encode(pd.DataFrame({"x": values}), Schema((closed,))).columns[0].tolist()
        )


CLOSED = {
    "categorical": {"levels": ["1 days 00:00:00", "2020-01"]},
    "number": {"minimum": 0, "maximum": 1e5, "bins": 4, "decimals": 0},
    "date": {"minimum": "2019-01-01", "maximum": "2021-01-01", "bins": 24},
}


@pytest.mark.parametrize("width", ["float32", "int8", "uint16", "uint64"])
@pytest.mark.parametrize("n_rows", [1, 2, 3, 8])
def test_intervals_of_any_width_are_read(width, n_rows):
    ends = np.arange(n_rows + 1, dtype=width)
    intervals = pd.Series(pd.arrays.IntervalArray.from_breaks(ends))
    assert plain_column(intervals, "string").tolist() == list(map(str, intervals))


NARROW = [
    80.7,
    71.0,
    -0.1,
    1e-3,
    0.333,
    123456.78,
    1e-30,
    0.0,
    3.4e38,
    np.inf,
    np.nan,
    16777217.0,
    5e-324,
]


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "Float32", "float[pyarrow]", "halffloat[pyarrow]"]
)
def test_narrow_floats_are_the_numbers_that_they_are_written_as(dtype):
    floats = np.float16 if "16" in dtype or "half" in dtype else np.float32
    with np.errstate(over="ignore"):
        numbers = np.array(NARROW).astype(floats)
        series = pd.Series(numbers).astype(dtype)
    made = plain_column(series, "number").to_numpy(np.float64)
    with np.errstate(over="ignore"):  # which infinity is to numpy, now and then
        assert np.array_equal(made.astype(floats), numbers, equal_nan=True)  # nothing is lost
    written = np.array([float(str(number)) for number in numbers])
    usual = (np.abs(written) > 1e-8) & (np.abs(written) < 1e8)
    assert np.array_equal(made[usual], written[usual])
    for position in range(len(numbers)):  # each by itself
        alone = plain_column(series.iloc[[position]], "number").to_numpy(np.float64)
        assert alone.view(np.int64) == made[[position]].view(np.int64)


def test_every_narrow_float_of_two_decimals_is_read_right():
    numbers = np.arange(-99_999, 100_000) / 100
    assert np.array_equal(
        plain_column(pd.Series(numbers.astype(np.float32)), "number").to_numpy(), numbers
    )
