"""Values beyond the bounds have codes of their own where all places are counted: one place a value,
and nothing else is read otherwise.
"""

from datetime import date, time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthdp import Schema
from synthdp.schema import ABOVE, BELOW, NOT_READ


def bounded(kind, minimum, maximum, **own):
    field = {
        "name": "x",
        "type": kind,
        "constraints": {"minimum": minimum, "maximum": maximum},
        "synthdp": own,
    }
    return Schema.from_dict({"fields": [field]})["x"]


COLUMNS = {
    "integer": bounded("integer", 0, 99, bins=10),
    "one value": bounded("integer", 7, 7),
    "year": bounded("year", 1990, 1999),
    "number": bounded("number", 0, 1, bins=4, decimals=2),
    "date": bounded("date", "2000-01-01", "2001-12-31", bins=4),
    "month": bounded("date", "2000-01-15", "2001-12-10", resolution="month"),
    "moment": bounded("datetime", "2000-01-01", "2001-12-31", resolution="day", bins=3),
    "time": bounded("time", "06:00:00", "21:59:59", resolution="minute", bins=4),
}
BELOW_INSIDE_ABOVE = {
    "integer": ([-1, "-1e9", -0.0 - 1], [0, "99", 99.0], [100, "1e9"]),
    "one value": ([6], [7], [8]),
    "year": ([1989], [1990, 1999], [2000]),
    "number": ([-0.001, "-3"], [0, 1, 0.5, 1.004], [1.01, 1e300]),
    "date": (["1999-12-31"], ["2000-01-01", date(2001, 12, 31)], [date(2002, 1, 1)]),
    "month": (["1999-12-31"], ["2000-01-01", "2001-12-31"], ["2002-01-01"]),
    "moment": (["1999-12-31T23:59:59"], ["2001-12-31T23:59:59"], ["2002-01-01T00:00"]),
    "time": ([time(5, 59, 59)], ["06:00:00", time(21, 59, 59)], ["22:00:00"]),
}
NEITHER = ["", None, np.nan, np.inf, -np.inf, "unknown", object()]


def codes(column, values):
    box = np.empty(len(values), dtype=object)
    box[:] = values
    return column.encode(pd.Series(box, dtype=object)).tolist()


@pytest.mark.parametrize("name", COLUMNS)
def test_values_beyond_the_bounds_have_places_and_no_other_value_has(name):
    column, placed = COLUMNS[name], COLUMNS[name].with_all_places()
    below, inside, above = BELOW_INSIDE_ABOVE[name]
    assert codes(placed, below) == [placed.end_codes[0]] * len(below)
    assert codes(placed, above) == [placed.end_codes[1]] * len(above)
    assert codes(placed, inside) == codes(column, inside)
    without = column.with_unread_place()
    renumbered = {without.unread_code: placed.unread_code}
    assert codes(placed, NEITHER) == [
        renumbered.get(code, code) for code in codes(without, NEITHER)
    ]
    assert placed.labels[[*placed.end_codes]].tolist() == [BELOW, ABOVE]
    assert (placed.labels[-1], len(placed.labels)) == (NOT_READ, placed.size)


@pytest.mark.parametrize("name", COLUMNS)
def test_codes_with_all_places_become_those_with_fewer(name):
    column = COLUMNS[name]
    placed = column.with_all_places()
    below, inside, above = BELOW_INSIDE_ABOVE[name]
    values = [*below, *inside, *above, *NEITHER]
    found = np.array(codes(placed, values))
    for fewer in (column, column.with_unread_place(), placed):
        assert fewer.recoded(found).tolist() == codes(fewer, values)
        assert fewer.recoded(found).max() < fewer.size
    assert placed.without_unread_place() == column


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60))
def test_each_number_is_in_one_place_whatever_it_is(value):
    for name in ("integer", "number"):
        column = COLUMNS[name]
        placed = column.with_all_places()
        (code,) = codes(placed, [value])
        low, high = column.ends
        number = float(value)
        is_read = name == "number" or number.is_integer()
        if abs(number) <= 1.7e308 and is_read:
            assert (code == placed.end_codes[0]) == (number < low)
            assert (code == placed.end_codes[1]) == (number >= high)
