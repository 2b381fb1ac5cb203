"""Truth values in ordinary spellings: what is read without being told, and what a declaration
leaves of it.
"""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from synthdp.core import SchemaError
from synthdp.schema import Schema

TRUE, FALSE, MISSING = 1, 0, 2

PAIRS = [
    ("yes", "no"),
    ("Yes", "No"),
    ("YES", "NO"),
    ("y", "n"),
    ("Y", "N"),
    ("t", "f"),
    ("T", "F"),
    ("true", "false"),
    ("True", "False"),
    ("TRUE", "FALSE"),
    ("tRuE", "fAlSe"),
    ("on", "off"),
    ("On", "OFF"),
    ("1", "0"),
    ("1.0", "0.0"),
    ("1.00", "0.00"),
    (" yes ", "\tno"),
    (1, 0),
    (1.0, 0.0),
    (True, False),
    (np.True_, np.False_),
    (np.int8(1), np.float32(0)),
    (Decimal(1), Decimal("0.0")),
]
NEITHER = [
    "maybe",
    "ja",
    "2",
    "-1",
    "10",
    "",
    " ",
    "yes no",
    "ye",
    "nan",
    2,
    -1.0,
    0.5,
    None,
    np.nan,
    pd.NA,
    b"yes",
    ["yes"],
]


def column_of(**properties):
    return Schema.from_dict({"fields": [{"name": "smoker", "type": "boolean"} | properties]})[
        "smoker"
    ]


def codes_of(values, **properties):
    return column_of(**properties).encode(pd.Series(values, dtype=object)).tolist()


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_usual_spellings_are_read_without_being_told(pair):
    assert codes_of([*pair, None, pair[0]]) == [TRUE, FALSE, MISSING, TRUE]


@pytest.mark.parametrize("value", NEITHER, ids=repr)
def test_all_else_is_missing(value):
    assert codes_of([value]) == [MISSING]


@pytest.mark.parametrize(
    "dtype", ["bool", "boolean", "int64", "Int8", "UInt8", "float64", "Float32", "category"]
)
def test_typed_columns_are_read(dtype):
    values = pd.Series([1, 0, 1]).astype(dtype)
    assert column_of().encode(values).tolist() == [TRUE, FALSE, TRUE]


@pytest.mark.parametrize("dtype", ["boolean", "Int64", "float64"])
def test_gaps_in_typed_columns_stay_gaps(dtype):
    values = pd.Series([1, None, 0]).astype(dtype)
    assert column_of().encode(values).tolist() == [TRUE, MISSING, FALSE]


def test_what_is_written_does_not_depend_on_what_was_read():
    column = column_of()
    written = {
        tuple(
            column.decode_text(
                column.encode(pd.Series(pair, dtype=object)), np.random.default_rng(0)
            ).tolist()
        )
        for pair in PAIRS
    }
    assert written == {("true", "false")}


DECLARED = {
    "both": (
        {"trueValues": ["ja"], "falseValues": ["nein"]},
        {"ja": TRUE, "nein": FALSE},
        ("ja", "nein"),
    ),
    "as they are spelt": (
        {"trueValues": ["Y"], "falseValues": ["N"]},
        {"Y": TRUE, "N": FALSE},
        ("Y", "N"),
    ),
    "numbers": (
        {"trueValues": ["1"], "falseValues": ["0"]},
        {"1": TRUE, "0": FALSE, 1: TRUE, 0.0: FALSE},
        ("1", "0"),
    ),
    "codes": (
        {"trueValues": ["1"], "falseValues": ["2"]},
        {"1": TRUE, "2": FALSE, 2: FALSE},
        ("1", "2"),
    ),
    "only true": (
        {"trueValues": ["ja"]},
        {"ja": TRUE, "no": FALSE, "No": FALSE, "F": FALSE, 0: FALSE},
        ("ja", "false"),
    ),
    "only false": (
        {"falseValues": ["nein", "n"]},
        {"nein": FALSE, "n": FALSE, "Yes": TRUE},
        ("true", "nein"),
    ),
    "true is 0": ({"trueValues": ["0"]}, {"0": TRUE, 0: TRUE, "no": FALSE}, ("0", "false")),
    "missing is n": (
        {"missingValues": ["", "N"]},
        {"y": TRUE, "no": FALSE, "N": MISSING, "n": MISSING},
        ("true", "false"),
    ),
    "missing is 0": (
        {"missingValues": ["0"]},
        {"1": TRUE, 0: MISSING, "0": MISSING, "0.0": MISSING},
        ("true", "false"),
    ),
}
KNOWN = ["yes", "no", "Y", "n", "true", "False", "on", "1", "0", 1, 0]


@pytest.mark.parametrize("case", DECLARED)
def test_what_is_declared_counts_and_is_written(case):
    properties, expected, written = DECLARED[case]
    column = column_of(**properties)
    assert codes_of(list(expected), **properties) == list(expected.values())
    codes = np.array([TRUE, FALSE])
    texts = column.decode_text(codes, np.random.default_rng(0))
    assert tuple(texts.tolist()) == written
    assert column.encode(pd.Series(texts)).tolist() == codes.tolist()
    again = Schema.from_dict(
        {"fields": [column.field()], "missingValues": list(column.missing_values)}
    )["smoker"]
    assert again == column


def test_nothing_else_counts_where_both_are_declared():
    declared = {"trueValues": ["ja"], "falseValues": ["nein"]}
    assert set(codes_of([*KNOWN, "JA", "Nein"], **declared)) == {MISSING}
    assert codes_of([True, False], **declared) == [TRUE, FALSE]


@pytest.mark.parametrize(
    "properties",
    [
        {"trueValues": ["false"]},
        {"falseValues": ["true"]},
        {"missingValues": ["", "FALSE", "false"]},
    ],
)
def test_what_would_be_written_cannot_mean_something_else(properties):
    with pytest.raises(
        SchemaError,
        match=r"'smoker'.*is declared to mean something else; declare (true|false)Values",
    ):
        column_of(**properties)
