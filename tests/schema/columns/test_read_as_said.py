"""Values are read as their column says, or not at all; and what is written is read as what it was."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from synthdp.core import SchemaError
from synthdp.schema import OpenSchema, Schema, as_strftime, nearest_strftime

BOUNDS = {
    "integer": {"minimum": 0, "maximum": 99_999},
    "number": {"minimum": 0, "maximum": 99_999},
    "year": {"minimum": 1900, "maximum": 2100},
    "date": {"minimum": "2000-01-01", "maximum": "2029-12-31"},
    "datetime": {"minimum": "2000-01-01", "maximum": "2029-12-31"},
}


def column_of(kind, **properties):
    constraints = BOUNDS.get(kind, {}) | properties.pop("constraints", {})
    return Schema.from_dict(
        {"fields": [{"name": "x", "type": kind, "constraints": constraints} | properties]}
    ).columns[0]


def is_read(column, *values):
    return (~np.isnan(column.read_numbers(pd.Series(values, dtype=object)))).tolist()


def written(column, *values):
    """What comes out for a column whose bins are single values."""
    return column.decode_text(
        column.encode(pd.Series(values, dtype=object)), np.random.default_rng(0)
    ).tolist()


UNREAD = {
    "integer": ["23.37", 23.37, np.float32(0.5), "04109", "007", " 01", "+07", "12.000", "1.234", "1_000"],
    "year": ["2020.5", "02020", 2020.25],
    "number": ["04109", "00.5", "-01", "1.234,56", "1_000"],
    "date": [
        "2020-W18", "2020-W18-3", "20210110", 20210110, 20210110.0, "2020-01-05T10:00:00", "2020-01-05 23:59",
        dt.datetime.fromisoformat("2020-01-05T10:00"), pd.Timestamp("2020-01-05 10:00"),
        np.datetime64("2020-01-05T10:00"),
        "2020-01-05T00:00:00+02:00", "05.01.2020", "2020-1-5", "2020-01",
    ],
    "datetime": [
        "2020-W18", "20210110", "20210110T1000", 20210110, "2020-01-05T10:00:00+02:00", "2020-01-05 10:00:00-0500",
        "2020-01-05x10:00:00", "2020-01-05T10",
    ],
}  # fmt: skip
READ = {
    "integer": ["23", "23.0", 23.0, "23.00", "0", "-0", "1e3", np.int8(5), True],
    "year": ["2020", 2020.0],
    "number": ["0.5", "-0.5", "0", "4109", "1.234", "0e1"],
    "date": ["2020-01-05", "2020-01-05 00:00:00", "2020-01-05T00:00Z", dt.date(2020, 1, 5), pd.Timestamp("2020-01-05")],
    "datetime": [
        "2020-01-05", "2020-01-05T10:00", "2020-01-05 10:00:30", "2020-01-05T10:00:30.25Z", "2020-01-05T10:00+00:00",
        pd.Timestamp("2020-01-05 10:00", tz="Europe/Berlin"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", UNREAD)
def test_what_a_column_does_not_say_is_not_read(kind):
    assert is_read(column_of(kind), *UNREAD[kind]) == [False] * len(UNREAD[kind])


@pytest.mark.parametrize("kind", READ)
def test_what_it_says_is_read(kind):
    assert is_read(column_of(kind), *READ[kind]) == [True] * len(READ[kind])


@pytest.mark.parametrize("dtype", ["float64", "Float64", "float32"])
def test_fractions_in_typed_columns_are_no_whole_numbers(dtype):
    values = pd.Series([1.0, 1.5, 2.0**53], dtype=dtype)
    assert (~np.isnan(column_of("integer").read_numbers(values))).tolist() == [True, False, True]


def test_times_of_day_in_typed_columns_are_no_dates():
    values = pd.Series(
        np.array(
            ["2020-01-05", "2020-01-05T00:00:01", "1969-12-31T23:59:59.5"], dtype="datetime64[ms]"
        )
    )
    assert (~np.isnan(column_of("date").read_numbers(values))).tolist() == [True, False, False]


EDGES = [0, 7, 8, 4109, 4110, 12345, 12346]


def test_zeros_in_front_come_out_where_their_width_is_declared():
    column = column_of(
        "integer", constraints={"maximum": 12346}, synthdp={"width": 5, "edges": EDGES}
    )
    assert is_read(column, "04109", "4109", "0004109", "00000004109") == [True, True, False, False]
    assert written(column, "04109", "00007") == ["04109", "00007"]
    assert Schema.from_dict({"fields": [column.field()]}).columns[0] == column


def test_zeros_in_front_of_negative_numbers():
    column = column_of("integer", constraints={"minimum": -3, "maximum": 3}, synthdp={"width": 3})
    assert written(column, "-003", "-3", "003") == ["-003", "-003", "003"]


def test_a_width_is_a_number_of_digits():
    for width in (0, -1, 16, True, "5", 2.5):
        with pytest.raises(
            SchemaError, match=r"synthdp.width is .*; give a whole number from 1 to 15"
        ):
            column_of("integer", synthdp={"width": width})
    with pytest.raises(SchemaError, match=r"'synthdp.width' is not known for this kind of column"):
        column_of("number", synthdp={"width": 5})


def test_learnt_columns_keep_their_width():
    open_column = OpenSchema.from_kinds(
        {"zip": {"type": "integer", "synthdp": {"width": 5}}}
    ).columns[0]
    assert open_column.resolved(minimum=0, maximum=50, bins=51).field()["synthdp"]["width"] == 5


def test_offsets_are_read_by_a_format_that_has_them_and_written_in_utc():
    column = column_of(
        "datetime",
        format="%Y-%m-%dT%H:%M:%S%z",
        constraints={"minimum": "2020-01-05T08:00:00Z", "maximum": "2020-01-05T08:00:30Z"},
    )
    assert written(column, "2020-01-05T10:00:07+02:00", "2020-01-05T08:00:09Z") == [
        "2020-01-05T08:00:07+0000",
        "2020-01-05T08:00:09+0000",
    ]


def test_limits_of_rules_need_not_be_values():
    bins = column_of("integer", synthdp={"edges": [0, 18, 65, 100]}, constraints={"maximum": 100})
    assert bins.bins_between(None, 17.5).tolist() == [True, False, False]
    days = column_of("date", constraints={"minimum": "2020-01-01", "maximum": "2020-01-03"})
    assert days.bins_between(None, "2020-01-02T12:00:00").tolist() == [True, True, False]


FORMATS = {
    "dd.mm.yyyy": "%d.%m.%Y",
    "DD.MM.YYYY": "%d.%m.%Y",
    "TT.MM.JJJJ": "%d.%m.%Y",
    "MM/DD/YYYY": "%m/%d/%Y",
    "yyyymmdd": "%Y%m%d",
    "dd.mm.yy": "%d.%m.%y",
    "mm/yyyy": "%m/%Y",
    "DD-MON-YYYY": "%d-%b-%Y",
    "yyyy-mm-dd HH:mm": "%Y-%m-%d %H:%M",
    "yyyy-MM-dd'T'HH:mm:ss": "%Y-%m-%dT%H:%M:%S",
    "YYYY-MM-DDTHH:MM:SS": "%Y-%m-%dT%H:%M:%S",
    "YYYY-MM-DD HH24:MI:SS": "%Y-%m-%d %H:%M:%S",
    "HH:mm dd.mm.yyyy": "%H:%M %d.%m.%Y",
    "yyyy-'W'ww": "%G-W%V",
}


@pytest.mark.parametrize("pattern", FORMATS)
def test_formats_of_people_are_understood_and_saved_as_those_of_strftime(pattern):
    assert as_strftime(pattern) == FORMATS[pattern]
    kind = "datetime" if "H" in pattern else "date"
    assert column_of(kind, format=pattern).field()["format"] == FORMATS[pattern]
    (field,) = OpenSchema.from_kinds({"x": {"type": kind, "format": pattern}}).to_dict()["fields"]
    assert field["format"] == FORMATS[pattern]


@pytest.mark.parametrize(("pattern", "nearest"), [("d.m.yyyy", "%d.%m.%Y"), ("M/d/yy", "%m/%d/%y")])
def test_formats_without_zeros_are_answered_with_those_that_have_them(pattern, nearest):
    assert (as_strftime(pattern), nearest_strftime(pattern)) == (None, nearest)
    for make in (lambda: column_of("date", format=pattern), lambda: open_date(pattern)):
        with pytest.raises(
            SchemaError,
            match=f"write '{nearest}', which reads dates with and without zeros in front",
        ):
            make()


@pytest.mark.parametrize(
    "pattern", ["any", "some day", "date", "iso8601", "ISO", "%", "T", "'", "", "dd mm", "é"]
)
def test_other_formats_are_refused(pattern):
    with pytest.raises(SchemaError):
        column_of("date", format=pattern)
    with pytest.raises(SchemaError):
        open_date(pattern)


def open_date(pattern):
    return OpenSchema.from_kinds({"x": {"type": "date", "format": pattern}})


@pytest.mark.parametrize("pattern", ["%G-W%V", "%V/%G", "yyyy-'W'ww", "%G-W%V-%u"])
def test_weeks_of_iso_8601_come_out_as_they_came_in(pattern):
    column = column_of("date", format=pattern)
    weeks = pd.date_range("2019-12-30", "2023-01-02", freq="W-MON").to_series()
    texts = weeks.dt.strftime(column.format)
    numbers = column.read_numbers(texts)
    assert (numbers == weeks.astype("datetime64[s]").astype(np.int64)).all()
    codes = column.encode(texts)
    drawn = column.decode_text(codes, np.random.default_rng(0))
    assert (column.encode(pd.Series(drawn)) == codes).all()
    assert column.field()["synthdp"]["resolution"] == ("day" if "%u" in pattern else "week")
    assert np.isnan(column.read_numbers(pd.Series(["2020-W54", "2020-05-01", "2020-W18 1"]))).all()


@pytest.mark.parametrize("least", [1e-300, 1e-310, 5e-324])
def test_bins_as_narrow_as_the_smallest_floats_are_read_too(least):
    edges = {"synthdp": {"edges": [0, least, 0.5, 1]}}
    column = column_of("number", constraints={"minimum": 0, "maximum": 1}, **edges)
    assert column.decimals == column.most_decimals
    with np.errstate(all="raise"):
        codes = column.encode(pd.Series([0.0, 0.25, 0.5]))
    assert codes.tolist() == [0, 1, 2]
