"""Totality: whatever a cell holds gets a code, by itself, without an error, a warning or a log
line.
"""

import datetime as dt
import logging

import pandas as pd
import pytest
from helpers.odd_values import COLUMNS, FRAME_COLUMNS, ODD_VALUES, objects
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.schema import NumberColumn

INTEGER = next(column for column in COLUMNS if type(column).__name__ == "IntegerColumn")
MOMENT = next(column for column in COLUMNS if getattr(column, "type", "") == "datetime")


@pytest.mark.parametrize(
    "column", COLUMNS, ids=lambda column: f"{type(column).__name__}-{column.required}"
)
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


@settings(deadline=None, max_examples=examples(75))
@given(st.sampled_from(COLUMNS), st.lists(ANYTHING, max_size=8))
def test_any_python_object_gets_a_code(column, values):
    codes = column.encode(objects(values))
    assert all(codes < column.size)
    assert codes.tolist() == [int(column.encode(objects([value]))[0]) for value in values]


@pytest.mark.parametrize("series", FRAME_COLUMNS, ids=lambda series: str(series.dtype))
@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__name__)
def test_every_dtype_gets_codes(column, series):
    assert all(column.encode(series) < column.size)
    assert len(column.encode(series.iloc[:0])) == 0


@pytest.mark.parametrize(
    "dtype", ["int64[pyarrow]", "string[pyarrow]", "timestamp[us][pyarrow]", "date32[day][pyarrow]"]
)
def test_arrow_dtypes_get_codes(dtype):
    pytest.importorskip("pyarrow")
    value = (
        dt.date(2010, 1, 1)
        if "date" in dtype
        else dt.datetime.fromisoformat("2010-01-01")
        if "time" in dtype
        else 1
    )
    series = pd.Series([str(value) if "string" in dtype else value, None], dtype=dtype)
    for column in COLUMNS:
        assert all(column.encode(series) < column.size)
    if "int" in dtype or "string" in dtype:
        assert INTEGER.encode(series).tolist() == [1, 6]
    else:
        assert MOMENT.encode(series).tolist()[1] == 32


def test_an_underscore_makes_no_number():
    column = NumberColumn(name="x", minimum=0, maximum=2000)
    codes = column.encode(pd.Series(["1_000", "1000", " 1e3 "], dtype=object)).tolist()
    assert codes[0] == column.missing_code
    assert codes[1] == codes[2] != column.missing_code
