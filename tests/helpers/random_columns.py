"""Columns of random types with odd values, and fields that read them: what no one thinks of trying."""

import datetime as dt
from decimal import Decimal

import polars as pl

from synthdp.core import SchemaError
from synthdp.schema import OpenSchema

WORDS = [
    "a", "A", " a", "b\u00a0", "\x1cc\n", "", "é", "e\u0301", "\u212b", "ß", "SS", "a'b", 'a"b', "a\\b", "a%b", "a,b",
    "$1", "{x}", "1", "1.0", "01", "-1", "300", "1e22", "nan", "inf", "true", "True", "ja", "nein", "n/a", "\U0001f600",
    "9007199254740992", "9007199254740993", "x" * 300,
]  # fmt: skip
WHOLE = [
    0,
    1,
    2,
    7,
    9,
    99,
    -1,
    -5,
    127,
    128,
    255,
    2**31,
    2**53,
    2**53 + 1,
    2**62,
    2**63 - 1,
    2**64 - 1,
    -(2**63),
]
FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    0.3,
    0.7,
    1.5,
    7.0,
    80.7,
    99.0,
    1e22,
    2.0**53,
    5e-324,
    *map(float, ["nan", "inf", "-inf"]),
]
DAYS = [
    dt.date(*parts)
    for parts in (
        (1, 1, 1),
        (1582, 10, 10),
        (1969, 12, 31),
        (1970, 1, 1),
        (2020, 2, 29),
        (9999, 12, 31),
    )
]
SECONDS = [0, 1, 43_200, 86_399]
ENDS = {
    "Int8": (-(2**7), 2**7),
    "UInt8": (0, 2**8),
    "Int32": (-(2**31), 2**31),
    "Int64": (-(2**63), 2**63),
    "UInt64": (0, 2**64),
}
TYPES = [
    *ENDS,
    "Float32",
    "Float64",
    "Decimal",
    "String",
    "Categorical",
    "Enum",
    "Boolean",
    "Date",
    "us",
    "ns",
]


def random_table(rng, n_columns, n_rows=40):
    """A schema and a table of that many columns; the same of the same `random.Random`."""
    fields, columns = [], []
    while len(fields) < n_columns:
        dtype, name = rng.choice(TYPES), f"c{len(fields)}"
        field = {"name": name, **_field(rng, dtype)} | (
            {"missingValues": rng.sample(["", "99", "-1", "n/a"], 2)} if rng.random() < 0.4 else {}
        )
        try:
            OpenSchema.from_dict({"fields": [field]})
        except SchemaError:  # a missing value between bounds, or a level that means missing
            continue
        fields.append(field)
        columns.append(random_column(rng, dtype, name, n_rows))
    return {"fields": fields}, pl.DataFrame(columns)


def random_column(rng, dtype, name, n_rows):
    """A column of odd values and some missing ones."""
    values = [None if rng.random() < 0.1 else _value(rng, dtype) for _ in range(n_rows)]
    kinds = {
        "Decimal": pl.Decimal(15, 2),
        "Enum": pl.Enum(WORDS),
        "us": pl.Datetime("us"),
        "ns": pl.Datetime("ns"),
    }
    return pl.Series(name, values, dtype=kinds.get(dtype) or getattr(pl, dtype))


def _value(rng, dtype):
    if dtype in ENDS:
        first, end = ENDS[dtype]
        return rng.choice([number for number in WHOLE if first <= number < end])
    if dtype in ("Date", "us", "ns"):
        day = rng.choice(DAYS if dtype != "ns" else DAYS[2:5])
        second = dt.timedelta(seconds=rng.choice(SECONDS), microseconds=rng.choice([0, 1, 999_999]))
        return day if dtype == "Date" else dt.datetime.combine(day, dt.time()) + second
    pools = {
        "Float32": FLOATS,
        "Float64": FLOATS,
        "Decimal": [Decimal(x) / 100 for x in (0, 30, 99, 125, -300, 9900)],
        "Boolean": [True, False],
    }
    return rng.choice(pools.get(dtype, WORDS))


def _field(rng, dtype):
    if dtype in ("Date", "us", "ns"):
        kind = rng.choice(["date", "datetime"])
        bounds = {
            "minimum": rng.choice(["0001-01-01", "1969-01-01", "1582-10-06"]),
            "maximum": rng.choice(["2020-06-01", "9999-12-31"]),
        }
        return {
            "type": kind,
            "constraints": bounds,
            "synthdp": {
                "resolution": "day",
                "bins": rng.choice([2, 5, 20]),
                "parts": ["weekday", "month"],
            },
        }
    is_text = dtype in ("String", "Categorical", "Enum")
    kind = rng.choice(
        ["string", "boolean"] if is_text else ["string", "boolean", "integer", "number", "levels"]
    )
    if dtype == "Decimal" and kind in ("string", "boolean"):
        kind = "number"  # the others are refused
    if kind == "boolean":
        return {
            "type": kind,
            "trueValues": rng.choice([["ja"], ["1"], ["True"]]),
            "falseValues": rng.choice([["nein"], ["-1"]]),
        }
    if kind == "string":
        enum = rng.sample(
            [word for word in WORDS[:-1] if word.strip() == word != ""], rng.choice([1, 5, 20])
        )
        return {"type": kind, "constraints": {"enum": enum}} | (
            {"synthdp": {"other": enum[0]}} if rng.random() < 0.5 else {}
        )
    if kind == "levels":
        return {
            "type": rng.choice(["integer", "number"]),
            "constraints": {"enum": rng.sample([0, 1, 7, 99, -5, 300, 2**53], 4)},
        }
    if kind == "integer":
        return {
            "type": kind,
            "constraints": {
                "minimum": rng.choice([-5, 0, 1]),
                "maximum": rng.choice([3, 98, 2**40]),
            },
        }
    return {
        "type": kind,
        "synthdp": {"edges": sorted(rng.sample([-1, 0, 0.1, 0.3, 0.7, 1, 80.7, 1e12], 4))},
    }
