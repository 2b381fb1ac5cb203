"""Totality: whatever a cell holds gets a code, by itself, without an error, a warning or a log line."""

import datetime as dt
import logging
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.table import (
    BooleanColumn,
    CategoricalColumn,
    DateColumn,
    IntegerColumn,
    NumberColumn,
)
from synthdp.table.levels import Merged
from synthdp.table.parts import PartColumn


class Hostile:
    """An object whose every method raises."""

    def __getattribute__(self, name):
        raise RuntimeError("SECRET")

    def __eq__(self, other):
        raise RuntimeError("SECRET")

    def __hash__(self):
        raise RuntimeError("SECRET")

    def __bool__(self):
        raise RuntimeError("SECRET")


FIRST = dt.datetime.fromisoformat("0001-01-01")
LAST = dt.datetime.fromisoformat("9999-12-31T23:59:59.999999")

ODD_VALUES = [
    None, math.nan, math.inf, -math.inf, pd.NA, pd.NaT, np.datetime64("NaT"), np.float32("nan"), 10**400, -(10**400),
    2**64, -(2**64), True, False, np.True_, 1, 1.0, 0, "1", "1.0", "True", "", " ", "\0", "\ud800", "1e400", "-1e400",
    "nan", "inf", "\uff11", "1_0", "9" * 5000, "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "10000-01-01",
    b"1", Decimal("1e999"), Decimal("nan"), Decimal("snan"), Fraction(10**400), Fraction(-1, 3), 1j, [], {}, [1], {1},
    (), object(), dt.date(9999, 12, 31), dt.date.min, LAST, FIRST,
    dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=23))), dt.time(1), dt.timedelta(1),
    pd.Timestamp.max, pd.Timestamp("2020-01-01", tz="Europe/Berlin"), pd.Timedelta(1), pd.Period("2020-01"),
    pd.Interval(0, 1), np.timedelta64(5, "s"), np.datetime64("2020-01-01"), np.datetime64(2**62, "Y"), np.array([1, 2]),
    np.float16(1), np.longdouble("1e4000"), np.int8(-1), np.str_("1"), np.complex128(1), str, math, Hostile(),
]  # fmt: skip

DATED = DateColumn(name="x", type="datetime", minimum=dt.date(2000, 1, 1), maximum=dt.date(2020, 1, 1), required=True)

TOTAL = [
    CategoricalColumn(name="x", levels=("1", "True", "a")),
    CategoricalColumn(name="x", levels=("1", "a"), other="else", required=True),
    CategoricalColumn(name="x", levels=(1, 3), type="integer"),
    CategoricalColumn(name="x", levels=(1.0, 2.5), type="number", other=7),
    BooleanColumn(name="x"),
    BooleanColumn(name="x", true_values=("yes",), false_values=("no",), required=True),
    IntegerColumn(name="x", minimum=0, maximum=5),
    IntegerColumn(name="x", minimum=0, maximum=5, required=True),
    NumberColumn(name="x", minimum=-1, maximum=1),
    DateColumn(name="x", minimum=dt.date(2000, 1, 1), maximum=dt.date(2020, 1, 1)),
    DateColumn(name="x", minimum=dt.date(2000, 1, 1), maximum=dt.date(2020, 1, 1), format="%d/%m/%Y", required=True),
    DateColumn(name="x", type="datetime", minimum=FIRST, maximum=LAST),
    DateColumn(name="x", edges=(dt.date(2000, 1, 1), dt.date(2010, 1, 1), dt.date(2020, 1, 1)), required=True),
    CategoricalColumn(name="x", levels=("1",), merged=Merged(levels=("a", "True"), weights=(1, 1))),
    CategoricalColumn(name="x", levels=(1,), type="integer", other=0, merged=Merged(levels=(2, 3), weights=(1, 1))),
    PartColumn.of(DATED, "weekday"),
    PartColumn.of(DATED, "hour"),
]


def objects(values):
    array = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        array[index] = value
    return pd.Series(array, dtype=object)


@pytest.mark.parametrize("column", TOTAL, ids=lambda column: f"{type(column).__name__}-{column.required}")
def test_odd_values_never_raise_and_are_read_by_themselves(column, caplog):
    with caplog.at_level(logging.DEBUG):
        together = column.encode(objects(ODD_VALUES))
        alone = [int(column.encode(objects([value]))[0]) for value in ODD_VALUES]
        backwards = column.encode(objects(ODD_VALUES[::-1]))[::-1]
    assert together.tolist() == alone == backwards.tolist()
    assert together.dtype == column.dtype
    assert max(alone) < column.size
    assert not caplog.records


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates() | st.datetimes()
    | st.datetimes(timezones=st.timezones()) | st.times() | st.timedeltas() | st.decimals() | st.fractions()
    | st.complex_numbers() | st.uuids(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=1), inner, max_size=1),
    max_leaves=3,
)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(TOTAL), st.lists(ANYTHING, max_size=8))
def test_any_python_object_gets_a_code(column, values):
    codes = column.encode(objects(values))
    assert all(codes < column.size)
    assert codes.tolist() == [int(column.encode(objects([value]))[0]) for value in values]


FRAME_COLUMNS = [
    pd.Series([2**64 - 1, 0], dtype=np.uint64),
    pd.Series([1e308, np.nan]),
    pd.Series([1, 2], dtype="complex128"),
    pd.Series([1, None], dtype="Int64"),
    pd.Series([True, None], dtype="boolean"),
    pd.Series([1.5, None], dtype="Float32"),
    pd.Series([True, False]),
    pd.Series(["1", None], dtype="string"),
    pd.Series(pd.to_datetime(["2010-01-01", None])),
    pd.Series(pd.to_datetime(["2010-01-01", None], utc=True)),
    pd.Series(np.array(["0001-01-01", "NaT"], dtype="datetime64[s]")),
    pd.Series(pd.to_timedelta([1, None])),
    pd.Series(pd.period_range("2010", periods=2, freq="Y")),
    pd.Series(pd.interval_range(0, 2)),
    pd.Series([1, None], dtype="category"),
    pd.Series(["1", None], dtype="category"),
    pd.Series([1, "1"], dtype="category"),
    pd.Series(pd.Categorical(pd.to_datetime(["2010-01-01", None]))),
    pd.Series([0.0, 1.0], dtype="Sparse[float64]"),
    pd.Series([None, None], dtype="category"),
]


@pytest.mark.parametrize("series", FRAME_COLUMNS, ids=lambda series: str(series.dtype))
@pytest.mark.parametrize("column", TOTAL, ids=lambda column: type(column).__name__)
def test_every_dtype_gets_codes(column, series):
    assert all(column.encode(series) < column.size)
    assert len(column.encode(series.iloc[:0])) == 0


@pytest.mark.parametrize(
    "dtype", ["int64[pyarrow]", "string[pyarrow]", "timestamp[us][pyarrow]", "date32[day][pyarrow]"]
)
def test_arrow_dtypes_get_codes(dtype):
    pytest.importorskip("pyarrow")
    value = (
        dt.date(2010, 1, 1) if "date" in dtype else dt.datetime.fromisoformat("2010-01-01") if "time" in dtype else 1
    )
    series = pd.Series([str(value) if "string" in dtype else value, None], dtype=dtype)
    for column in TOTAL:
        assert all(column.encode(series) < column.size)
    if "int" in dtype or "string" in dtype:
        assert TOTAL[6].encode(series).tolist() == [1, 6]
    else:
        assert TOTAL[11].encode(series).tolist()[1] == 32


def test_an_underscore_makes_no_number():
    column = NumberColumn(name="x", minimum=0, maximum=2000)
    codes = column.encode(pd.Series(["1_000", "1000", " 1e3 "], dtype=object)).tolist()
    assert codes[0] == column.missing_code
    assert codes[1] == codes[2] != column.missing_code
