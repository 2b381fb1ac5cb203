"""Words for "missing" that a kinds file says once, of all columns."""

import pytest

from synthdp.core import SchemaError
from synthdp.schema import OpenSchema, schema_of_kinds

KINDS = {
    "age": {"type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
    "job": "categorical",
}


def test_they_hold_for_all_columns_that_list_none_of_their_own():
    own = {"type": "integer", "missingValues": ["", "none"]}
    kinds = {"synthdp": {"missingValues": ["", "-"]}, **KINDS, "years": own}
    open_columns = {
        each.name: each for each in OpenSchema.from_dict(schema_of_kinds(kinds)).open_columns
    }
    words = {name: column.missing_values for name, column in open_columns.items()}
    assert words == {"age": ("", "-"), "job": ("", "-"), "years": ("", "none")}
    # values are missing, then; but where nothing is said, that is learnt
    assert all("missing" not in column.open_parts for column in open_columns.values())
    for words in ({}, {"synthdp": {"missingValues": [""]}}):
        alone = OpenSchema.from_dict(schema_of_kinds(words | KINDS)).open_columns
        assert all("missing" in column.open_parts for column in alone)


def test_a_column_that_is_never_missing_stays_so():
    never = {"type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}}
    kinds = {
        "synthdp": {"missingValues": ["", "-"]},
        "rooms": never,
        "id": "id",
        "job": "categorical",
    }
    rooms, made_up, job = schema_of_kinds(kinds)["fields"]
    assert "missingValues" not in rooms
    assert "missingValues" not in made_up
    assert job["missingValues"] == ["", "-"]


def test_a_misspelt_key_is_refused():
    with pytest.raises(SchemaError, match="missingValues"):
        schema_of_kinds({"synthdp": {"missing": ["-"]}, **KINDS})
