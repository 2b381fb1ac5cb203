"""Released values in the dtypes of the table that was given: as far as these hold them, and nothing
unreleased.
"""

import numpy as np
import pandas as pd
import pytest

from synthdp.data import released_dtypes, restored
from synthdp.schema import CategoricalColumn, IntegerColumn, Merged

pa = pytest.importorskip("pyarrow")

TEXTS = pd.Series(["a", "b", None], dtype=object)
WHOLE = pd.Series([1, 300, -5])
GAPS = pd.Series([1, 300, None], dtype="Int64")
REAL = pd.Series([1.5, 1e300, np.nan])
TRUTHS = pd.Series([True, None], dtype="boolean")
MOMENTS = pd.Series(
    np.array(["2020-01-01", "9999-12-31T23:59:59", "0001-01-01", "NaT"], dtype="datetime64[s]")
)

CASES = [
    (TEXTS, np.dtype(object), None, ["a", "b", None]),
    (TEXTS, pd.StringDtype("python"), None, ["a", "b", None]),
    (TEXTS, pd.ArrowDtype(pa.large_string()), None, ["a", "b", None]),
    (TEXTS, pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())), None, ["a", "b", None]),
    (
        TEXTS,
        pd.ArrowDtype(pa.dictionary(pa.int8(), pa.int64())),
        "dictionary<values=string, ",
        ["a", "b", None],
    ),
    (WHOLE, np.dtype("int8"), None, [1, 127, -5]),
    (WHOLE, np.dtype("uint64"), None, [1, 300, 0]),
    (WHOLE, pd.ArrowDtype(pa.uint8()), None, [1, 255, 0]),
    (GAPS, np.dtype("int8"), "Int8", [1, 127, None]),
    (GAPS, np.dtype("uint32"), "UInt32", [1, 300, None]),
    (GAPS, pd.Int16Dtype(), None, [1, 300, None]),
    (GAPS, pd.ArrowDtype(pa.int8()), None, [1, 127, None]),
    (REAL, np.dtype("float32"), None, [1.5, float(np.finfo("float32").max), None]),
    (REAL, pd.Float64Dtype(), None, [1.5, 1e300, None]),
    (REAL, pd.SparseDtype(np.float64), None, [1.5, 1e300, None]),
    (REAL, np.dtype("timedelta64[us]"), None, None),
    (REAL, pd.ArrowDtype(pa.duration("ns")), None, None),
    (REAL, pd.ArrowDtype(pa.decimal128(10, 2)), None, None),
    (REAL, pd.ArrowDtype(pa.decimal128(38, 2)), None, None),
    (TRUTHS, np.dtype(bool), "boolean", [True, None]),
    (TRUTHS, pd.ArrowDtype(pa.bool_()), None, [True, None]),
    (MOMENTS, np.dtype("datetime64[ns]"), None, None),
    (MOMENTS, pd.DatetimeTZDtype("ns", "Pacific/Auckland"), None, None),
    (MOMENTS, pd.DatetimeTZDtype("s", "America/New_York"), None, None),
    (MOMENTS, pd.ArrowDtype(pa.timestamp("ns", "Europe/Berlin")), None, None),
    (MOMENTS, pd.ArrowDtype(pa.date32()), None, None),
    (MOMENTS, pd.PeriodDtype("M"), None, None),
    (MOMENTS, pd.PeriodDtype("ns"), None, None),
]


@pytest.mark.parametrize(
    ("values", "dtype", "name", "expected"), CASES, ids=[str(case[1]) for case in CASES]
)
def test_values_get_the_dtype_and_what_it_cannot_hold_is_clipped(values, dtype, name, expected):
    found = restored(pd.DataFrame({"x": values}), {"x": dtype})["x"]
    assert str(found.dtype).startswith(str(dtype) if name is None else name)
    assert found.isna().tolist() == values.isna().tolist()
    if expected is not None:
        assert [None if pd.isna(value) else value for value in found] == expected
    elif values is MOMENTS and not isinstance(dtype, pd.PeriodDtype):
        assert pd.Timestamp(found[0]).tz_localize(None) - pd.Timestamp("2020-01-01") < pd.Timedelta(
            "1D"
        )
        assert found.dropna().is_monotonic_increasing == values.dropna().is_monotonic_increasing
    elif values is REAL:
        assert str(found[0]) in ("1.50", "0 days 00:00:01.500000")


def test_moments_in_a_zone_are_the_same_moments():
    zoned = restored(
        pd.DataFrame({"x": MOMENTS[:1]}), {"x": pd.DatetimeTZDtype("us", "Europe/Berlin")}
    )["x"]
    assert zoned[0] == pd.Timestamp("2020-01-01 01:00", tz="Europe/Berlin")


def released(dtype, levels, **more):
    column = CategoricalColumn(name="x", levels=tuple(levels), required=True, **more)
    return released_dtypes({"x": dtype, "gone": dtype}, [column])["x"]


def test_of_categories_only_released_levels_are_kept_in_their_order():
    sizes = pd.CategoricalDtype(["S", "M", "SECRET", "L"], ordered=True)
    dtype = released(sizes, ["L", "M"], other="other", merged=Merged(levels=("S",), weights=(1,)))
    assert dtype == pd.CategoricalDtype(["S", "M", "L", "other"], ordered=True)
    frame = restored(pd.DataFrame({"x": ["M", "other", "S"]}), {"x": dtype})
    assert frame["x"].max() == "other"
    assert frame["x"].tolist() == ["M", "other", "S"]


def test_the_order_of_categories_that_have_none_tells_nothing():
    """Many programs number categories as they come, so it may tell who came first."""
    for order in (["b", "SECRET", "a"], ["a", "b"]):
        assert released(pd.CategoricalDtype(order), ["a", "b"]).categories.tolist() == ["a", "b"]


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("order", [["10", "2"], [2, 10, "two"], [3, "2", 2.5, 10]])
@pytest.mark.parametrize("odd", ["x", " 2", " 10 ", "10", 10, 2, (), 2.0, None])
def test_a_category_that_was_not_released_changes_no_other(order, odd, ordered):
    order = pd.Index(order, dtype=object)
    if odd is None or odd in order:
        return
    one, other = (
        released(
            pd.CategoricalDtype(categories, ordered=ordered), ["10", "2"], other="other"
        ).categories
        for categories in (order, order.append(pd.Index([odd], dtype=object)))
    )
    assert list(map(repr, one)) == list(map(repr, other))


def test_levels_that_could_be_one_category_are_their_texts():
    """After the budget was spent nothing may fail."""
    dtype = released(pd.CategoricalDtype(["a ", "b"], ordered=True), ["a", "b"], other="a ")
    assert sorted(dtype.categories) == ["a", "a ", "b"]
    frame = restored(pd.DataFrame({"x": ["a ", "a", "b"]}), {"x": dtype})
    assert frame["x"].tolist() == ["a ", "a", "b"]


def test_numbers_and_intervals_that_are_categories_are_such_again():
    numbers = released(pd.CategoricalDtype([30, 9, 20]), ["30", "9"])
    assert numbers.categories.tolist() == [9, 30]
    cut = pd.cut([1, 5, 11], [0, 3, 9, 20]).dtype
    dtype = released(cut, ["(9, 20]", "(0, 3]"], other="other")
    assert dtype.categories.tolist() == [pd.Interval(0, 3), pd.Interval(9, 20), "other"]
    assert dtype.ordered
    frame = restored(pd.DataFrame({"x": ["(9, 20]", "other", None]}), {"x": dtype})
    assert frame["x"].tolist()[:2] == [pd.Interval(9, 20), "other"]
    assert frame["x"].isna().tolist() == [False, False, True]


@pytest.mark.parametrize(
    "intervals",
    [
        pd.arrays.IntervalArray.from_breaks([0, 10, 100]),
        pd.arrays.IntervalArray.from_breaks([0.5, 2.25, 1e22], closed="both"),
        pd.arrays.IntervalArray.from_breaks(pd.date_range("2020-01-01", periods=3, freq="36h")),
    ],
    ids=["integers", "floats", "moments"],
)
def test_intervals_come_back_as_ordered_categories(intervals):
    texts = sorted(map(str, intervals), reverse=True)
    dtype = released(intervals.dtype, texts, other="other")
    assert dtype.categories.tolist() == [*intervals, "other"]
    assert dtype.ordered


def test_dates_that_were_categories_are_dates():
    dtype = pd.CategoricalDtype(pd.date_range("2020-01-01", periods=2))
    column = IntegerColumn(name="x", minimum=0, maximum=1)
    assert released_dtypes({"x": dtype}, [column])["x"] == dtype.categories.dtype
