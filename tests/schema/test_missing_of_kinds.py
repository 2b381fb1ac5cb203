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
    # whether values are missing is learnt as without them: nobody said it of one column
    learns = {name: "missing" in column.open_parts for name, column in open_columns.items()}
    assert learns == {"age": True, "job": True, "years": False}


def test_a_misspelt_key_is_refused():
    with pytest.raises(SchemaError, match="missingValues"):
        schema_of_kinds({"synthdp": {"missing": ["-"]}, **KINDS})
