"""Values that a cell may hold, odd ones first, and columns of every dtype."""

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd


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


def objects(values):
    array = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        array[index] = value
    return pd.Series(array, dtype=object)
