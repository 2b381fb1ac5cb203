"""Columns that are learnt, of random types with odd values, and questions about them."""

import math
import struct
from dataclasses import dataclass

import numpy as np
import polars as pl
from helpers.random_columns import ENDS, FLOATS, random_column

from synthdp.core import MAX_POINT, Grid
from synthdp.schema import OpenSchema

TEXTS, DATES = ["String", "Categorical", "Enum"], ["Date", "us", "ns"]
DTYPES = [*ENDS, "Float32", "Float64", "Float64", "Decimal", *TEXTS, "Boolean", *DATES]
RESOLUTIONS = ["year", "quarter", "month", "week", "day", "hour", "minute", "second"]


@dataclass
class Asked:
    """A column in a table, how it is declared, and grids of it with starts of cells."""

    frame: pl.DataFrame
    schema: OpenSchema
    questions: list


def asked(rng, dtypes=DTYPES, n_grids=None, n_rows=60):
    """A random column and random questions about it: of all grids, or of some."""
    dtype = rng.choice(dtypes)
    field = {"name": "x", "type": _type(rng, dtype), "synthdp": {"derive": True}}
    if field["type"] in ("date", "datetime"):
        field["synthdp"]["resolution"] = rng.choice(
            RESOLUTIONS[: 5 if field["type"] == "date" else None]
        )
    if rng.random() < 0.4:
        field["missingValues"] = rng.choice(
            [["", "a", "e\u0301"], [""], ["n/a", "True"], ["-1e301", "7.5"]]
        )
        if field["type"] not in ("string", "boolean"):
            field["missingValues"] = ["", "n/a"]
    series = _numbers(rng, n_rows) if dtype == "Float64" else random_column(rng, dtype, "x", n_rows)
    return Asked(
        series.to_frame(),
        OpenSchema.from_dict({"fields": [field]}),
        list(_questions(rng, field, n_grids)),
    )


def _type(rng, dtype):
    if dtype in TEXTS:
        return "string"
    if dtype == "Boolean":
        return rng.choice(["string", "boolean", "number"])
    if dtype in DATES:
        return rng.choice(["date", "datetime"])
    return rng.choice(["integer", "number"] + (["string"] if dtype != "Decimal" else []))


def _numbers(rng, n_rows):
    def number():
        kind = rng.randrange(4)
        if kind == 0:
            return rng.choice(FLOATS)
        if kind == 1:
            (found,) = struct.unpack("<d", rng.randbytes(8))
            return found
        return (
            round(rng.gauss(0, 10.0 ** rng.randrange(-3, 16)), rng.randrange(17))
            if kind == 2
            else rng.gauss(0, 9)
        )

    return pl.Series(
        "x", [None if rng.random() < 0.1 else number() for _ in range(n_rows)], dtype=pl.Float64
    )


def _questions(rng, field, n_grids):
    nowhere = np.empty(0, dtype=np.int64)
    if field["type"] == "string":
        return [(Grid(column="x"), nowhere)]
    reading = (Grid(column="x", of="reading"), np.arange(1, 15))
    if field["type"] == "boolean":
        return [(Grid(column="x"), nowhere), reading]
    scales = [0, rng.choice([-300, -4, -1, 1, 2, 9, 14, 300])] if field["type"] == "number" else [0]
    grids = [
        Grid(column="x", of=of, decimals=scale) for of in ("values", "steps") for scale in scales
    ]
    grids += [Grid(column="x", of="decimals")] if field["type"] == "number" else []
    grids = grids if n_grids is None else rng.sample(grids, min(n_grids, len(grids)))
    spread = [math.copysign(10 ** rng.uniform(0, 18), rng.random() - 0.5) for _ in range(9)]
    starts = np.unique(
        np.array([*map(int, spread), -MAX_POINT, -1024, -1, 0, 1, 2, 16, MAX_POINT], dtype=np.int64)
    )
    return [
        reading,
        *((grid, given) for grid in grids for given in (starts, np.arange(-2, 20), nowhere)),
    ]


def levels_in_engines(column, found):
    """What an engine has of counts by values of memory: whole numbers of more than 63 bits are no
    levels there.
    """
    if not column.frame["x"].dtype.is_integer():
        return found
    return {value: n_rows for value, n_rows in found.items() if abs(int(value)) < 2**63}
