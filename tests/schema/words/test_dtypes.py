"""What dtypes say of a column's kind, and which say nothing."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from synthdp.core import SchemaError
from synthdp.schema import OpenSchema, dtypes_in, kinds_of, plain_kinds, start_of, unit_of

pa = pytest.importorskip("pyarrow")

REQUIRED = {"constraints": {"required": True}}


def dated(resolution, kind="date"):
    return {"type": kind, "synthdp": {"resolution": resolution}}


def zoned(name):
    return {"type": "datetime", "synthdp": {"timezone": name}}


SAID = [
    (np.dtype(bool), {"type": "boolean"} | REQUIRED),
    (np.dtype("uint16"), {"type": "integer"} | REQUIRED),
    (np.dtype("float32"), {"type": "number"}),
    (np.dtype(object), {"type": "categorical"}),
    (np.dtype("datetime64[ns]"), {"type": "datetime"}),
    (np.dtype("timedelta64[us]"), {"type": "number"}),
    (pd.DatetimeTZDtype("us", "Europe/Berlin"), zoned("Europe/Berlin")),
    (pd.DatetimeTZDtype("ns", dt.timezone(dt.timedelta(hours=-3, minutes=-30))), zoned("-03:30")),
    (pd.Int8Dtype(), {"type": "integer"}),
    (pd.Float64Dtype(), {"type": "number"}),
    (pd.BooleanDtype(), {"type": "boolean"}),
    (pd.StringDtype("python"), {"type": "categorical"}),
    (pd.SparseDtype(np.float64), {"type": "number"}),
    (pd.IntervalDtype("int64", "right"), {"type": "categorical"}),
    (pd.CategoricalDtype(["b", "a"], ordered=True), {"type": "categorical"}),
    (pd.CategoricalDtype([1, 2]), {"type": "categorical"}),
    (pd.CategoricalDtype(pd.interval_range(0, 3)), {"type": "categorical"}),
    (pd.CategoricalDtype(), {"type": "categorical"}),
    (pd.CategoricalDtype(pd.date_range("2010", periods=2)), {"type": "datetime"}),
    (pd.PeriodDtype("Y"), dated("year")),
    (pd.PeriodDtype("Y-MAR"), dated("month")),
    (pd.PeriodDtype("Q"), dated("quarter")),
    (pd.PeriodDtype("Q-JAN"), dated("month")),
    (pd.PeriodDtype("M"), dated("month")),
    (pd.PeriodDtype("W"), dated("week")),
    (pd.PeriodDtype("W-WED"), dated("day")),
    (pd.PeriodDtype("D"), dated("day")),
    (pd.PeriodDtype("h"), dated("hour", "datetime")),
    (pd.PeriodDtype("ms"), dated("second", "datetime")),
    (pd.ArrowDtype(pa.int16()), {"type": "integer"}),
    (pd.ArrowDtype(pa.bool_()), {"type": "boolean"}),
    (pd.ArrowDtype(pa.float32()), {"type": "number"}),
    (pd.ArrowDtype(pa.large_string()), {"type": "categorical"}),
    (pd.ArrowDtype(pa.date32()), {"type": "date"}),
    (pd.ArrowDtype(pa.timestamp("us", "UTC")), zoned("UTC")),
    (pd.ArrowDtype(pa.timestamp("us", "+02:00")), zoned("+02:00")),
    (pd.ArrowDtype(pa.timestamp("us")), {"type": "datetime"}),
    (pd.ArrowDtype(pa.duration("us")), {"type": "number"}),
    (pd.ArrowDtype(pa.decimal128(10, 2)), {"type": "number", "synthdp": {"decimals": 2}}),
    (pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())), {"type": "categorical"}),
    (pd.ArrowDtype(pa.time32("s")), {"type": "time"}),
    (pd.ArrowDtype(pa.time64("us")), {"type": "time"}),
]


@pytest.mark.parametrize(("dtype", "expected"), SAID, ids=[str(dtype) for dtype, _ in SAID])
def test_a_dtype_says_a_kind(dtype, expected):
    assert kinds_of({"it": dtype}) == {"it": expected}
    OpenSchema.from_kinds(kinds_of({"it": dtype}))


@pytest.mark.parametrize(
    "periods", ["Y", "Q", "M", "W", "D", "Y-MAR", "Q-JAN", "Q-MAR", "W-WED", "h"]
)
def test_periods_begin_with_a_unit_of_the_resolution_that_they_say(periods):
    """Otherwise the start of a period would be drawn as another one."""
    resolution = kinds_of({"it": pd.PeriodDtype(periods)})["it"]["synthdp"]["resolution"]
    starts = pd.period_range("2001-06-01", periods=20, freq=periods).asfreq("s", "start").asi8
    assert start_of(unit_of(starts, resolution), resolution).tolist() == starts.tolist()


NO_KIND = [
    np.dtype("complex128"),
    *map(pd.ArrowDtype, (pa.list_(pa.int8()), pa.binary())),
]


@pytest.mark.parametrize("dtype", NO_KIND, ids=str)
def test_a_dtype_that_says_no_kind_is_refused_with_the_way_out(dtype):
    with pytest.raises(
        SchemaError,
        match=r"column 'it': its dtype .* says no kind; convert the column, drop it, or",
    ):
        kinds_of({"it": dtype})


def test_types_and_dtypes_are_kinds_and_say_no_more_than_an_object_does():
    kinds = {
        "int": int, "float": float, "bool": bool, "str": str, "date": dt.date, "datetime": dt.datetime,
        "decimal": Decimal, "span": dt.timedelta, "numpy": np.int8, "arrow": pa.int8(), "pandas": pd.Int8Dtype(),
        "name": "year", "unknown": None,
        "more": {"type": pd.PeriodDtype("Q"), "title": "When", "synthdp": {"max_bins": 9}},
        "less": {"type": pd.PeriodDtype("Q"), "synthdp": {"resolution": "year"}},
    }  # fmt: skip
    types = [
        "integer",
        "number",
        "boolean",
        "categorical",
        "date",
        "datetime",
        "number",
        "number",
        *3 * ["integer"],
    ]
    expected = {name: {"type": kind} for name, kind in zip(kinds, types, strict=False)}
    expected |= {"name": "year", "unknown": None}
    expected["more"] = {
        "type": "date",
        "title": "When",
        "synthdp": {"resolution": "quarter", "max_bins": 9},
    }
    expected["less"] = {"type": "date", "synthdp": {"resolution": "year"}}
    assert plain_kinds(kinds) == expected
    assert list(dtypes_in(kinds)) == ["numpy", "arrow", "pandas", "more", "less"]


def test_dtypes_of_polars_are_those_of_its_tables():
    pl = pytest.importorskip("polars")
    kinds = {
        "a": pl.Int8,
        "b": pl.Enum(["lo", "hi"]),
        "c": pl.Datetime("us", "UTC"),
        "d": pl.Decimal(9, 3),
    }
    assert [kind["type"] for kind in plain_kinds(kinds).values()] == [
        "integer",
        "categorical",
        "datetime",
        "number",
    ]
    assert dtypes_in(kinds)["b"] == pd.CategoricalDtype(["lo", "hi"], ordered=True)
    assert dtypes_in(kinds)["a"] == pd.ArrowDtype(pa.int8())


def test_all_dtypes_of_a_table_are_kinds():
    frame = pd.DataFrame({"a": [1], "b": ["x"]})
    arrow = pa.schema([("a", pa.int64()), ("b", pa.string())])
    for kinds in (frame.dtypes, dict(frame.dtypes), arrow, {**frame.dtypes, "b": str}):
        assert OpenSchema.from_kinds(kinds) == OpenSchema.from_kinds(
            {"a": "integer", "b": "categorical"}
        )


def test_categories_are_never_taken_for_levels():
    """Most programs read them off the data."""
    schema = OpenSchema.from_kinds({"it": pd.CategoricalDtype(["SECRET", "a"])})
    assert "SECRET" not in repr(schema.to_dict())
    assert schema.open_columns[0].open_parts >= {"levels"}


def test_what_is_no_dtype_is_refused_by_name():
    for kind in (object(), dt.tzinfo, [1]):
        with pytest.raises(SchemaError, match="column 'it'"):
            OpenSchema.from_kinds({"it": kind})
