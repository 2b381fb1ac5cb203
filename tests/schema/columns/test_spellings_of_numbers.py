"""Numbers as people and programs write them: read right where that is declared, missing where it is
not.
"""

import io
import math

import numpy as np
import pandas as pd
import pytest

from synthdp.core import SchemaError
from synthdp.data import decode, encode, held_rows, open_table
from synthdp.schema import OpenSchema, Schema

COMMA = {"groupChar": ","}
GERMAN = {"decimalChar": ",", "groupChar": "."}
FRENCH = {"decimalChar": ",", "groupChar": " "}
SWISS = {"groupChar": "'"}
NOT_BARE = {"bareNumber": False}
PLAIN = {}
WRONG = math.nan

SPELLINGS = [
    (
        PLAIN,
        {
            "1234.56": 1234.56,
            "-1e3": -1000,
            " 7 ": 7,
            7: 7,
            7.5: 7.5,
            True: 1,
            None: WRONG,
            "x": WRONG,
        },
    ),
    (
        PLAIN,
        {
            "1,234.56": WRONG,
            "1,5": WRONG,
            "$5": WRONG,
            "5 %": WRONG,
            "1 234": WRONG,
            "1'234": WRONG,
        },
    ),
    (
        COMMA,
        {
            "1,234.56": 1234.56,
            "999.99": 999.99,
            "12,345,678": 12345678,
            "-1,234": -1234,
            "12,34,567.5": 1234567.5,
        },
    ),
    (
        COMMA,
        {
            "1,23": WRONG,
            "1234,567": WRONG,
            ",123": WRONG,
            "1,,234": WRONG,
            "1.234,5": WRONG,
            "1,234,": WRONG,
        },
    ),
    (
        {"decimalChar": ","},
        {"1234,56": 1234.56, ",5": 0.5, "5,": 5, "12": 12, "-3,5e2": -350, "1.5": WRONG, 1.5: 1.5},
    ),
    (
        GERMAN,
        {
            "1.234,56": 1234.56,
            "1.234": 1234,
            "-0,5": -0.5,
            "1,234.56": WRONG,
            "1.5": WRONG,
            1.5: 1.5,
        },
    ),
    (
        FRENCH,
        {
            "1 234,56": 1234.56,
            "1\N{NO-BREAK SPACE}234": 1234,
            "12\N{NARROW NO-BREAK SPACE}345,6": 12345.6,
        },
    ),
    (
        FRENCH,
        {"1\N{THIN SPACE}234": 1234, "\N{MINUS SIGN}1 234": -1234, "12 34": WRONG, "1.234": WRONG},
    ),
    (SWISS, {"1'234.50": 1234.5, "1\N{RIGHT SINGLE QUOTATION MARK}234": 1234, "1,234": WRONG}),
    (
        NOT_BARE,
        {
            "$5.50": 5.5,
            "5.50 EUR": 5.5,
            "95%": 95,
            "~ 7": 7,
            "Rs.500": 500,
            "No. 5": 5,
            ".5 m": 0.5,
            "5.- CHF": 5,
        },
    ),
    (
        NOT_BARE,
        {
            "-$5": -5,
            "$-5": -5,
            "- EUR 5": -5,
            "5-": -5,
            "($5.50)": -5.5,
            "\N{MINUS SIGN}5 %": -5,
            "5.-": 5,
        },
    ),
    (
        NOT_BARE,
        {
            "3-5": WRONG,
            "5 1/2": WRONG,
            "5 m2": WRONG,
            "co-pay 5": WRONG,
            "n/a": WRONG,
            "$": WRONG,
            "(-5)": WRONG,
        },
    ),
    (NOT_BARE, {"$1,234.56": WRONG, "2020-01-05": WRONG, 5: 5}),
    (NOT_BARE | COMMA, {"$1,234.56": 1234.56, "US$ 1,234,567": 1234567, "-$1,234.50": -1234.5}),
    (
        NOT_BARE | GERMAN,
        {"1.234,56 \N{EURO SIGN}": 1234.56, "EUR 5,-": 5, "5,50 %": 5.5, "\N{EN DASH}5": -5},
    ),
]
CASES = [(given, text, number) for given, numbers in SPELLINGS for text, number in numbers.items()]


def column_of(kind="number", *, levels=None, **properties):
    constraints = {"minimum": -(10**8), "maximum": 10**8} if levels is None else {"enum": levels}
    field = {"name": "income", "type": kind, "constraints": constraints} | properties
    return Schema.from_dict({"fields": [field]})["income"]


def read(value, given, kind="number"):
    return column_of(kind, **given).read_numbers(pd.Series([value], dtype=object))[0]


@pytest.mark.parametrize(("given", "value", "number"), CASES, ids=repr)
def test_a_number_is_read_as_declared_or_is_missing(given, value, number):
    assert np.array_equal(read(value, given), number, equal_nan=True)


def test_the_same_is_read_from_texts_of_any_kind_and_from_files(tmp_path):
    texts = ["1.234,56", "-7,5", "x", "", "99"]
    schema = Schema.from_dict({"fields": [column_of(**GERMAN).field()]})
    path = tmp_path / "table.csv"
    path.write_text("income\n" + "".join(f'"{text}"\n' for text in texts), encoding="utf-8")
    with open_table(path) as table:
        frames = [pd.concat(table.chunks())]
    frames += [
        pd.DataFrame({"income": pd.Series(texts, dtype=dtype)})
        for dtype in (object, "str", "string", "category")
    ]
    expected = column_of().encode(pd.Series([1234.56, -7.5, None, None, 99])).tolist()
    assert [encode(frame, schema).columns[0].tolist() for frame in frames] == [expected] * 5


@pytest.mark.parametrize(
    "given", [{"decimalChar": ","}, GERMAN, NOT_BARE | FRENCH, COMMA, SWISS], ids=repr
)
@pytest.mark.parametrize(
    "own", [{"edges": [-1.5, 0, 2.25, 1e6], "decimals": 2}, {"bins": 64}, {"decimals": 0}], ids=repr
)
def test_what_is_written_reads_back(given, own):
    constraints = {} if "edges" in own else {"constraints": {"minimum": -1000, "maximum": 10**6}}
    schema = Schema.from_dict(
        {"fields": [{"name": "income", "type": "number", "synthdp": own} | constraints | given]}
    )
    codes = np.repeat(np.arange(schema["income"].size), 20)
    texts = decode([codes], schema, np.random.default_rng(0), text=True)
    assert encode(texts, schema).columns[0].tolist() == codes.tolist()
    written = "".join(texts["income"])
    assert given.get("decimalChar", ".") in written or not schema["income"].decimals
    assert not set(written) - set("0123456789-" + given.get("decimalChar", "."))
    again = Schema.from_dict(schema.to_dict())
    assert again == schema
    assert again.fingerprint == schema.fingerprint


def test_levels_that_are_numbers_are_read_and_written_alike():
    column = column_of("number", levels=[0.5, 1, 1500], **GERMAN)
    assert column.encode(
        pd.Series(["0,5", "1", "1,0", "1.500", "1500", 0.5, "0.5", "x"], dtype=object)
    ).tolist() == [
        *(0, 1, 1, 2, 2, 0),
        *(3, 3),
    ]
    assert column.decode_text(np.arange(4), np.random.default_rng(0)).tolist() == [
        "0,5",
        "1,0",
        "1500,0",
        "",
    ]


def test_integers_have_groups_and_signs_of_currencies_too():
    numbers = {"1,234": 1234, "$5": 5, "1.0": 1, "-12,345,678": -12345678}
    assert [read(text, COMMA | NOT_BARE, "integer") for text in numbers] == list(numbers.values())


def test_missing_values_are_numbers_in_the_same_notation():
    column = column_of(missingValues=["", "-9.999.999.999,0"], **GERMAN)
    assert np.isnan(
        column.read_numbers(
            pd.Series(["-9.999.999.999,0", "-9999999999", -9999999999], dtype=object)
        )
    ).all()
    with pytest.raises(SchemaError, match=r"the missing value '9,5' lies between the bounds"):
        column_of(missingValues=["9,5"], **GERMAN)


def test_open_columns_are_read_as_declared_and_closed_alike():
    public = OpenSchema.from_kinds({"income": {"type": "number"} | GERMAN})
    (column,) = public.open_columns
    closed = column.resolved(minimum=0, maximum=10_000, decimals=1, required=False)
    assert closed.field()["decimalChar"] == ","
    rows = held_rows(pd.DataFrame({"income": ["1.234,5", "0,5", "1.5"]}), public)
    coded = rows.encode(public.resolved({"income": closed}))
    assert coded.columns[0].tolist() == closed.encode(pd.Series([1234.5, 0.5, None])).tolist()


REFUSED = {
    "two marks": ("number", {"decimalChar": ", "}, "decimalChar is ', '; give one character"),
    "no mark": ("number", {"decimalChar": ""}, "decimalChar is ''; give one character"),
    "a digit": ("number", {"groupChar": "0"}, "groupChar is '0'; give one character"),
    "a letter": ("number", {"decimalChar": "e"}, "decimalChar is 'e'; give one character"),
    "a sign": ("number", {"groupChar": "-"}, "groupChar is '-'; give one character"),
    "the same": ("number", {"groupChar": "."}, r"both '\.'; give two"),
    "no text": ("number", {"groupChar": 1}, "groupChar is 1; give a text"),
    "no flag": ("number", {"bareNumber": "no"}, "bareNumber is 'no'; give true or false"),
    "a year": ("year", COMMA, "groupChar is for columns of type 'integer' or 'number'"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("levels", [None, [1, 2]])
def test_what_is_no_notation_is_refused(case, levels):
    kind, properties, expected = REFUSED[case]
    with pytest.raises(SchemaError, match=f"column 'income': .*{expected}"):
        column_of(kind, levels=levels, **properties)


class OddText(str):
    def strip(self, *_):
        raise RuntimeError


@pytest.mark.parametrize(
    "value",
    [OddText("1,5"), b"1,5", ["1,5"], {}, object(), io.StringIO("1,5"), "1" * 10_000, "9" * 400],
)
def test_no_value_is_an_error(value):
    assert read(value, GERMAN | NOT_BARE) is not None
