"""One table of odd values, in memory, in partitions and in engines."""

from collections import deque
from datetime import date
from decimal import Decimal
from importlib.util import find_spec

import narwhals as nw
import pandas as pd
import polars as pl

from synthdp.data import opened


def _at(*parts):
    """A moment without a time zone, of year, month, day, and so on to microseconds."""
    return pd.Timestamp(*parts).to_pydatetime()


ODD = pl.DataFrame(
    {
        "number": [1.0, float("nan"), None, -0.0, float("inf"), -1.0, 0.3, 0.7, float("-inf"), 99.0],
        "narrow": [1.0, float("nan"), None, -0.0, float("inf"), -1.0, 0.3, 0.7, 0.1, 99.0],
        "whole": [1, 2**53 + 1, None, -5, 2**62, 0, 7, 8, -(2**63), 99],
        "wide": [1, 2**53 + 1, None, -5, 2**62, 0, 700, 850, -(2**63), 99],
        "word": [" a", "b\u00a0", None, "e\u0301", "A", "\x1cc\n", "", "z z", "é", "n/a"],
        "digit": [1, 2, None, 9007199254740993, 9007199254740992, 1, 2, -1, 0, 3],
        "day": [
            date(2020, 1, 1), date(1, 1, 1), None, date(9999, 12, 31), date(1969, 12, 31), date(2020, 2, 29),
            date(2020, 3, 1), date(2021, 1, 3), date(1900, 1, 1), date(2021, 12, 31),
        ],
        "moment": [
            _at(2020, 1, 1, 23, 59, 59, 999999), _at(1950, 1, 1), None, _at(2020, 6, 1, 12),
            _at(2020, 6, 1, 11, 59, 59, 999999), _at(2021, 1, 3, 5), _at(2261, 1, 1),
            _at(2020, 3, 29, 2, 30), _at(1900, 1, 1, 0, 0, 0, 5), _at(2021, 12, 31, 23, 59, 59),
        ],
        "flag": [True, False, None, True, True, False, False, True, None, True],
        "said": ["ja", "nein", None, " ja ", "JA", "", "vielleicht", "nein", "ja", "n/a"],
        "price": [Decimal("1.25"), Decimal("0.30"), None, Decimal("0.29"), *[Decimal(-3)] * 4, Decimal(2), Decimal(99)],
    },
    schema_overrides={"price": pl.Decimal(15, 2), "narrow": pl.Float32},
).with_columns(zoned=pl.col("moment").dt.replace_time_zone("Europe/Berlin", non_existent="null"))  # fmt: skip
"""Nothing, NaN, -0.0, infinity, integers that no float holds, accents in both spellings, moments at
every edge.
"""

SCHEMA = {
    "missingValues": ["", "n/a"],
    "fields": [
        {"name": "number", "type": "number", "constraints": {"minimum": -1, "maximum": 1.3}, "missingValues": ["99"],
         "synthdp": {"edges": [-1, 0, 0.3, 0.7, 1.3]}},
        {"name": "narrow", "type": "number", "constraints": {"minimum": -1, "maximum": 1.3}, "missingValues": ["99"],
         "synthdp": {"edges": [-1, 0, 0.1, 0.3, 0.7, 1.3]}},
        {"name": "whole", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}, "missingValues": ["", "99"]},
        {"name": "wide", "type": "integer", "constraints": {"minimum": 0, "maximum": 999}, "synthdp": {"bins": 20}},
        {"name": "word", "type": "string", "constraints": {"enum": ["a", "b", "é", "A", "c", "rest"]},
         "synthdp": {"other": "rest"}},
        {"name": "digit", "type": "string", "constraints": {"enum": ["1", "2", "9007199254740993"]},
         "missingValues": ["-1"]},
        {"name": "day", "type": "date", "constraints": {"minimum": "1969-01-01", "maximum": "2021-12-31"},
         "missingValues": ["1900-01-01"], "synthdp": {"bins": 20, "parts": ["weekday", "month"]}},
        {"name": "moment", "type": "datetime", "constraints": {"minimum": "1969-01-01", "maximum": "2021-12-31"},
         "missingValues": ["1900-01-01"], "synthdp": {"resolution": "hour", "bins": 5, "parts": ["weekday", "hour"]}},
        {"name": "flag", "type": "boolean"},
        {"name": "said", "type": "boolean", "trueValues": ["ja"], "falseValues": ["nein"]},
        {"name": "price", "type": "number", "constraints": {"minimum": 0, "maximum": 2}, "missingValues": ["99"],
         "synthdp": {"edges": [0, 0.3, 1.25, 2]}},
        {"name": "zoned", "type": "datetime", "constraints": {"minimum": "1969-01-01", "maximum": "2021-12-31"},
         "synthdp": {"resolution": "hour", "bins": 7}},
    ],
}  # fmt: skip
"""A schema of which each column has values inside, outside and on the edges of its levels."""


def grouped(frame, *names):
    """How many rows a table in an engine has of each combination of some columns, in a column
    ``n_rows``.
    """
    counted = nw.len().alias("n_rows")
    aliases = [frame.columns[name].alias for name in names]
    rows = frame.rows
    return frame.collected(
        lambda: rows.group_by(aliases).agg(counted) if aliases else rows.select(counted), "counting"
    )


def in_polars(frame):
    return frame.lazy()


_CONNECTIONS = deque(maxlen=8)
"""Relations of DuckDB before 1.5 do not keep the connection that they need."""


def in_duckdb(frame, connection=None):
    import duckdb

    connection = duckdb.connect(config={"threads": 1}) if connection is None else connection
    _CONNECTIONS.append(connection)
    connection.register("given", frame.to_arrow())
    connection.execute("CREATE OR REPLACE TABLE people AS SELECT * FROM given")
    return connection.table("people")


def in_ibis(frame, name="duckdb"):
    import ibis

    backend = ibis.duckdb.connect(threads=1)
    backend.name = name
    in_duckdb(frame, backend.con)
    return backend.table("people")


def in_other(frame):
    """An engine behind Ibis that is taken for none of those which keep codes."""
    return in_ibis(frame, "other")


ALL = {
    "polars": (in_polars, []),
    "duckdb": (in_duckdb, ["duckdb"]),
    "ibis": (in_ibis, ["duckdb", "ibis"]),
    "other": (in_other, ["duckdb", "ibis"]),
}
ENGINES = {
    name: make for name, (make, needs) in ALL.items() if all(find_spec(module) for module in needs)
}
"""Engines that need no server, as far as they are installed."""

LEARNING = [name for name in ENGINES if name != "other"]
"""Those of them that learn levels of texts."""


def in_dask(frame):
    import dask.dataframe

    return dask.dataframe.from_pandas(opened(frame).frame, npartitions=3, sort=False)


def in_dask_row_by_row(frame):
    """Each row in a partition of its own, in the types that pandas guesses from that row alone."""
    import dask.dataframe

    rows = [pd.DataFrame([row]) for row in frame.rows(named=True)]
    single = [
        name for name, dtype in frame.schema.items() if dtype == pl.Float32
    ]  # which Python does not know
    rows = [row.astype(dict.fromkeys(single, "float32")) for row in rows]
    return dask.dataframe.from_map(lambda row: row, rows, meta=rows[0][:0])


def in_arrow_dataset(frame):
    from pyarrow.dataset import dataset

    return dataset([dataset(frame[:4].to_arrow()), dataset(frame[4:].to_arrow())])


IN_PARTITIONS = {"dataset of Arrow": in_arrow_dataset}
"""Tables of which one partition after the other is read, as far as their libraries are installed."""

if find_spec("dask"):
    IN_PARTITIONS |= {"Dask": in_dask, "Dask, row by row": in_dask_row_by_row}
