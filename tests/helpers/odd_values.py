"""Values that a cell may hold, odd ones first, columns of every dtype, and columns of a schema that
read them.
"""

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pandas as pd

from synthdp.schema import (
    BooleanColumn,
    CategoricalColumn,
    DateColumn,
    GeopointColumn,
    IntegerColumn,
    Merged,
    Notation,
    NumberColumn,
    PartColumn,
    TimeColumn,
)


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
    None, math.nan, math.inf, -math.inf, pd.NA, pd.NaT, np.datetime64("NaT", "s"), np.float32("nan"), 10**400,
    -(10**400),
    2**64, -(2**64), True, False, np.True_, 1, 1.0, 0, "1", "1.0", "True", "", " ", "\0", "\ud800", "1e400", "-1e400",
    "nan", "inf", "\uff11", "1_0", "9" * 5000, "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "10000-01-01",
    b"1", Decimal("1e999"), Decimal("nan"), Decimal("snan"), Fraction(10**400), Fraction(-1, 3), 1j, [], {}, [1], {1},
    (), object(), dt.date(9999, 12, 31), dt.date.min, LAST, FIRST,
    dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=23))), dt.time(1), dt.timedelta(1),
    pd.Timestamp.max, pd.Timestamp("2020-01-01", tz="Europe/Berlin"), pd.Timedelta(1), pd.Period("2020-01"),
    pd.Interval(0, 1), np.timedelta64(5, "s"), np.datetime64("2020-01-01"), np.datetime64(2**62, "Y"), np.array([1, 2]),
    np.float16(1), np.longdouble("1e4000"), np.int8(-1), np.str_("1"), np.complex128(1), str, math, Hostile(),
]  # fmt: skip

# Values of one type each, near each other: what a table of them, a cast or a comparison would take
# for the same.
LONE = "\ud800"
OFFSET = dt.timezone(dt.timedelta(microseconds=500_000))
NEAR_VALUES = {
    "texts": [
        LONE, repr(LONE), "\udc80", "'\\udc80'", "a", "a\0b", "a\0c", "a\0", "\0", "", " ", "é", "e\u0301", " a", "A",
        "1", "1.0", "01", "True", "true", "nan", "NaN", "None", "<NA>", "1e+22", "1" + 22 * "0", "2020-01-01",
        "\ufeffa", "\U0001f600", "\ud83d", "\ude00", "x" * 300, "x" * 299 + "y", "a\r\nb", "a\nb", '"', ",",
    ],
    "integers": [0, 1, 2, -1, 20200101, 2**53, 2**53 + 1, 2**53 - 1, 2**63 - 1, 2**63, -(2**63), 2**64 - 1],
    "large integers": [10**22, 10**22 + 1, 2**64, 2**100, -(10**400), 10**400, 1, 0],
    "floats": [0.0, -0.0, 1.0, 1.5, 1e22, 2.0**53, 2.0**63, 5e-324, 1e308, math.inf, -math.inf, math.nan],
    "numbers": [10**22, 1e22, 1, 1.0, 2**53, 2.0**53, 2**53 + 1, 0, -0.0, 0.5],
    "truth values": [True, False],
    "truth values and floats": [True, False, 1.0, 0.0, "True", "1.0", None],
    "mixed": [True, 1, 1.0, "1", "True", "1.0", Decimal(1), Fraction(1), np.int8(1), np.float16(1), np.str_("1"), b"1"],
    "dates": [dt.date.min, dt.date.max, dt.date(1969, 12, 31), dt.date(2020, 1, 1), dt.date(2010, 2, 28)],
    "moments": [
        FIRST, LAST, dt.datetime.fromisoformat("2010-01-01T12:30:15.999999"),
        dt.datetime.fromisoformat("1969-12-31T23:59:59.5"), dt.datetime.fromisoformat("2020-01-01"),
        pd.Timestamp.max, pd.Timestamp.min, pd.Timestamp("2010-01-01 12:30:15.999999999"), np.datetime64("1677-09-21"),
        pd.Timestamp(np.datetime64("12000-05-06T07:08:09", "s")), np.datetime64("-5000-01-01", "s"),
    ],
    "moments with zones": [
        FIRST.replace(tzinfo=dt.UTC), LAST.replace(tzinfo=dt.UTC), dt.datetime(2010, 1, 1, tzinfo=OFFSET),
        dt.datetime(2010, 1, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=14))),
        pd.Timestamp("2010-03-28 02:30", tz="UTC"), pd.Timestamp("2010-10-31 00:30Z").tz_convert("Europe/Berlin"),
        pd.Timestamp("2010-10-31 01:30", tz="UTC"),
    ],
    "moments of one zone": [dt.datetime(2010, 1, 1, tzinfo=OFFSET), dt.datetime(1960, 1, 1, tzinfo=OFFSET)],
    "times": [dt.time(0), dt.time(1), dt.time(23, 59, 59, 999_999), dt.time(1, tzinfo=dt.UTC)],
    "points": [
        (1, 1), [1, 1.0], (1, 0), {"lon": 1, "lat": 1}, {"lat": 1, "lon": 1.5}, "1, 1", "1,1 ", "[1, 1]", "1, 1, 1",
        '{"lon": 1, "lat": 1}', "[" * 9000, (math.nan, 1), (181, 1), (1,), ("1", Decimal(1)), np.array([1, 1]), "0, 0",
        np.array([[1, 1]]), {"lon": [1], "lat": 1}, (None, None), (True, 1), "[0, 0]", "[NaN, 1]", (0.0, -0.0),
    ],
    "durations": [dt.timedelta(0), dt.timedelta(1), pd.Timedelta.max, np.timedelta64(2**60, "s")],
    "decimals": [Decimal(0), Decimal(1), Decimal("1.0"), Decimal("1.5"), Decimal("1e22")],
    "bytes": [b"", b"a", b" a", b"a\0", b"a\0b", b"\xff", b"1", bytes(16), bytes(range(16)), b"\xed\xa0\x80"],
    "identifiers": [UUID(int=0), UUID(int=1), str(UUID(int=1)), UUID(int=1).bytes],
    "periods": [pd.Period("2020-01"), pd.Period("2020-02"), pd.NaT],
    "complex numbers": [1j, 1 + 0j, complex("nan")],
    "no values": [None, math.nan, pd.NA, pd.NaT, np.float32("nan"), np.datetime64("NaT", "s"),
                  np.timedelta64("NaT", "s")],
}  # fmt: skip

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


DATED = DateColumn(
    name="x",
    type="datetime",
    minimum=dt.date(2000, 1, 1),
    maximum=dt.date(2020, 1, 1),
    required=True,
)

COLUMNS = [
    CategoricalColumn(name="x", levels=("1", "True", "a")),
    CategoricalColumn(name="x", levels=("1", "a"), other="else", required=True),
    CategoricalColumn(
        name="x", levels=(repr(LONE), "é", "1e+22", "1" + 22 * "0", "False", "1.0"), other="else"
    ),
    CategoricalColumn(name="x", levels=(1, 3), type="integer"),
    CategoricalColumn(name="x", levels=(1.0, 2.5, 1e22), type="number", other=7),
    BooleanColumn(name="x"),
    BooleanColumn(name="x", true_values=("yes",), false_values=("no",), required=True),
    IntegerColumn(name="x", minimum=0, maximum=5),
    IntegerColumn(name="x", minimum=0, maximum=5, required=True),
    IntegerColumn(name="x", type="year", minimum=1900, maximum=2050, missing_values=("", "1")),
    NumberColumn(name="x", minimum=-1, maximum=1),
    NumberColumn(name="x", edges=(0, 0.75, 1, 2, 1e12)),
    NumberColumn(
        name="x", edges=(0, 0.75, 1, 2, 1e12), notation=Notation(decimal_char=",", group_char=".")
    ),
    IntegerColumn(name="x", minimum=0, maximum=5, notation=Notation(bare_number=False)),
    DateColumn(name="x", minimum=dt.date(2000, 1, 1), maximum=dt.date(2020, 1, 1)),
    DateColumn(
        name="x",
        minimum=dt.date(2000, 1, 1),
        maximum=dt.date(2020, 1, 1),
        format="%d/%m/%Y",
        required=True,
    ),
    DateColumn(name="x", minimum=dt.date(2000, 1, 1), maximum=dt.date(2020, 1, 1), format="%Y%m%d"),
    DateColumn(name="x", type="datetime", minimum=FIRST, maximum=LAST),
    DateColumn(
        name="x",
        type="datetime",
        edges=(
            dt.datetime.fromisoformat("2009-12-31T23:59:59"),
            dt.date(2010, 1, 1),
            dt.date(2010, 6, 1),
        ),
    ),
    DateColumn(
        name="x",
        edges=(dt.date(2000, 1, 1), dt.date(2010, 1, 1), dt.date(2020, 1, 1)),
        required=True,
    ),
    CategoricalColumn(name="x", levels=("1",), merged=Merged(levels=("a", "True"), weights=(1, 1))),
    CategoricalColumn(
        name="x", levels=(1,), type="integer", other=0, merged=Merged(levels=(2, 3), weights=(1, 1))
    ),
    TimeColumn(name="x", minimum=dt.time(0), maximum=dt.time(23, 59, 59), bins=24),
    TimeColumn(
        name="x", minimum=dt.time(1), maximum=dt.time(5), format="any", missing_values=("", "00:00")
    ),
    TimeColumn(name="x", edges=(dt.time(0), dt.time(1), dt.time(12)), format="%H%M", required=True),
    GeopointColumn(name="x", bbox=(-1, -1, 2, 2)),
    GeopointColumn(name="x", bbox=(0.5, 0, 2, 2), format="array", missing_values=("", "[0, 0]")),
    GeopointColumn(name="x", bbox=(-1, -1, 2, 2), format="object", required=True),
    PartColumn.from_date(DATED, "weekday"),
    PartColumn.from_date(DATED, "hour"),
]
"""Columns of every kind."""
