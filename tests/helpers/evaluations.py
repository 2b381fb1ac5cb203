"""A small table of every kind of column, and tables read by schemas, for tests of metrics."""

import numpy as np
import pandas as pd
from helpers.fields import ranged

from synthdp import Schema
from synthdp.report import ReadTable, read_table

SCHEMA = {
    "fields": [
        {"name": "town", "type": "string", "constraints": {"enum": ["A", "B", "C"]}},
        {"name": "job", "type": "string", "constraints": {"enum": ["x", "y"], "required": True}},
        ranged("age", 0, 99, bins=10),
        ranged("pay", 0, 1000, kind="number", bins=8),
        ranged("born", "2000-01-01", "2003-12-31", kind="date", bins=32),
    ],
    "missingValues": [""],
    "synthdp": {
        "constraints": [{"check": "age <= pay"}, {"forbid": {"town": ["C"], "job": ["x"]}}]
    },
}


def people(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Rows in which all columns go together."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n_rows)
    town = np.array(["A", "B", "C"], dtype=object)[np.clip(np.rint(hidden + 1), 0, 2).astype(int)]
    town[rng.random(n_rows) < 0.1] = None
    pay = np.round(np.clip(500 + 150 * hidden + 60 * rng.normal(size=n_rows), 0, 1000), 1)
    return pd.DataFrame(
        {
            "town": town,
            "job": np.where(hidden + rng.normal(size=n_rows) > 0, "x", "y"),
            "age": np.clip(np.rint(40 + 12 * hidden + 8 * rng.normal(size=n_rows)), 0, 99).astype(
                int
            ),
            "pay": np.where(rng.random(n_rows) < 0.05, np.nan, pay),
            "born": pd.Timestamp("2000-01-01")
            + pd.to_timedelta(rng.integers(0, 1400, n_rows), "D"),
        }
    )


def read(frame: pd.DataFrame, schema: object = SCHEMA) -> ReadTable:
    """A table as metrics read it; ``schema`` may be sizes of columns."""
    return read_table(frame, Schema.from_dict(schema), "table")
