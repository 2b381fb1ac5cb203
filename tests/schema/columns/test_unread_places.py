"""What cannot be read goes to a place of its own, and never to a level; one place a value, whatever
the others are.
"""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthdp import Schema
from synthdp.schema import NOT_READ, are_infinite

FIELDS = {
    "texts": {"type": "string", "constraints": {"enum": ["dead", "alive"]}},
    "whole levels": {"type": "integer", "constraints": {"enum": [1, 2, 7]}},
    "levels": {"type": "number", "constraints": {"enum": [0.5, 1.5]}},
    "truth": {"type": "boolean"},
    "own truth": {"type": "boolean", "trueValues": ["ja"], "falseValues": ["nein"]},
    "whole": {
        "type": "integer",
        "constraints": {"minimum": 0, "maximum": 99},
        "synthdp": {"bins": 10},
    },
    "year": {"type": "year", "constraints": {"minimum": 1990, "maximum": 1999}},
    "number": {
        "type": "number",
        "constraints": {"minimum": 0, "maximum": 1},
        "synthdp": {"bins": 4},
    },
    "german": {"type": "number", "decimalChar": ",", "constraints": {"minimum": 0, "maximum": 1}},
    "date": {
        "type": "date",
        "constraints": {"minimum": "2000-01-01", "maximum": "2001-12-31"},
        "synthdp": {"parts": ["weekday", "month"]},
    },
    "our date": {
        "type": "date",
        "format": "%d.%m.%Y",
        "constraints": {"minimum": "01.01.2000", "maximum": "31.12.2001"},
    },
    "moment": {
        "type": "datetime",
        "constraints": {"minimum": "2000-01-01", "maximum": "2001-12-31"},
    },
}
READ = {
    "texts": ["dead", " alive"], "whole levels": ["1", 7], "levels": ["0.5", 1.5], "truth": ["yes", 0],
    "own truth": ["ja", "nein "], "whole": ["5", 1e9], "year": ["1993", 1], "number": ["0.3", -4], "german": ["0,3", 1],
    "date": ["2000-05-06", "1900-01-01"], "our date": ["06.05.2000"], "moment": ["2000-05-06T07:08", "3000-01-01"],
}  # fmt: skip
JUNK = [
    "unknown",
    "ALIVE!",
    "-",
    "1;2",
    "dead alive",
    "zzz",
    object(),
    [1],
    {"a": 1},
    b"dead",
    1j,
    ("x",),
]
MISSING = ["", "  ", None, np.nan, pd.NA, pd.NaT, "n/a", " n/a"]


def schema_of(kind, *, required, **more):
    field = {"name": "x", "missingValues": ["", "n/a"], **FIELDS[kind], **more}
    field["constraints"] = field.get("constraints", {}) | ({"required": True} if required else {})
    return Schema.from_dict({"fields": [field]})


def encoded(column, values):
    box = np.empty(len(values), dtype=object)
    box[:] = values
    return column.encode(pd.Series(box, dtype=object)).tolist()


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize("kind", FIELDS)
def test_junk_goes_to_the_place_and_what_is_missing_to_its_own_level(kind, required):
    declared = schema_of(kind, required=required)
    for plain, column in zip(declared.columns, declared.with_unread_places().columns, strict=True):
        assert column.size == plain.size + 1
        assert column.unread_code == plain.size
        assert encoded(column, JUNK) == [column.unread_code] * len(JUNK)
        none = column.unread_code if required else column.n_levels
        assert encoded(column, MISSING) == [none] * len(MISSING)
        assert encoded(column, READ[kind]) == encoded(plain, READ[kind])
        assert max(encoded(column, READ[kind])) < column.n_levels
        assert column.labels[-1] == NOT_READ
        assert column.without_unread_place() == plain


@pytest.mark.parametrize("kind", FIELDS)
@given(
    values=st.lists(
        st.sampled_from([*JUNK, *MISSING, "dead", "1", "0.5", "ja", "2000-05-06", 7, 0.3]),
        max_size=12,
    )
)
def test_a_value_has_the_same_code_in_any_company(kind, values):
    for column in schema_of(kind, required=False).with_unread_places().columns:
        assert encoded(column, values) == [encoded(column, [value])[0] for value in values]


@pytest.mark.parametrize("kind", FIELDS)
@given(text=st.text(max_size=8))
def test_a_text_that_is_no_value_of_the_column_is_never_a_level(kind, text):
    for column in schema_of(kind, required=True).with_unread_places().columns:
        (code,) = encoded(column, [text])
        known = column.knows(pd.Series([text], dtype=object))[0]
        clipped = kind in ("whole", "year", "number", "german", "date", "our date", "moment")
        assert code == column.unread_code or known or clipped
        assert not known or code < column.n_levels


@pytest.mark.parametrize("required", [True, False])
def test_other_stands_for_what_is_unread_and_needs_no_place(required):
    (column,) = (
        schema_of("texts", required=required, synthdp={"other": "else"})
        .with_unread_places()
        .columns
    )
    assert not column.has_unread_place
    assert encoded(column, ["dead", "ALIVE", [1]]) == [0, 2, 2]
    assert encoded(column, [None, "n/a"]) == [2 if required else 3] * 2


def test_typed_columns_have_no_unread_numbers_but_unread_types():
    (column,) = schema_of("whole", required=False).with_unread_places().columns
    numbers = pd.Series([1.0, np.nan, -np.nan, -np.inf])
    assert column.encode(numbers).tolist() == [0, 10, 10, 10]
    moments = pd.Series(np.array(["2020-01-01", "NaT"], dtype="datetime64[s]"))
    assert column.encode(moments).tolist() == [11, 10]


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("required", [True, False])
def test_infinite_numbers_are_missing_however_they_are_held(kind, required):
    bounds = {"minimum": 0, "maximum": 9, "required": required}
    field = {"name": "x", "type": kind, "constraints": bounds}
    (column,) = Schema.from_dict({"fields": [field]}).with_unread_places().columns
    values = [np.inf, -np.inf, "inf", "-Infinity", "1e999", Decimal("inf"), np.float32("inf")]
    for held in (pd.Series(values, dtype=object), pd.Series(values[:2]), pd.Series(values[2:5])):
        assert set(column.encode(held).tolist()) == {column.missing_code}
        assert are_infinite(column.read_numbers(held)).all()
    others = pd.Series([None, "", "?", np.nan, 3], dtype=object)
    assert not are_infinite(column.read_numbers(others)).any()
    plain = Schema.from_dict({"fields": [field], "missingValues": ["", "inf"]}).columns[0]
    assert are_infinite(plain.read_numbers(pd.Series(values))).tolist() == [
        str(value) in ("-inf", "-Infinity", "1e999", "Infinity") for value in values
    ]


def test_the_place_is_no_part_of_what_a_schema_says():
    declared = schema_of("date", required=True)
    placed = declared.with_unread_places()
    assert placed.to_dict() == declared.to_dict()
    assert placed.fingerprint == declared.fingerprint
    assert placed.without_unread_places() == declared
    assert placed.domain.shape == tuple(size + 1 for size in declared.domain.shape)
