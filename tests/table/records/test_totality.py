"""Totality: whatever a cell holds gets a code, by itself, without an error, a warning or a log line."""

import datetime as dt
import logging

import pandas as pd
import pytest
from helpers.odd_values import FIRST, FRAME_COLUMNS, LAST, ODD_VALUES, objects
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.table.columns.boolean import BooleanColumn
from synthdp.table.columns.categorical import CategoricalColumn, Merged
from synthdp.table.columns.date_parts import PartColumn
from synthdp.table.columns.dates import DateColumn
from synthdp.table.columns.numeric import IntegerColumn, NumberColumn

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
