"""Which rows are kept of persons with too many, and whose a row is."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from synthdp.data import UnitRows


def kept_rows(
    ids: Iterable[pd.Series],
    *,
    max_rows: int,
    missing_values: Iterable[str] = ("",),
    key: str | None = None,
) -> np.ndarray:
    """Which rows are kept, given the id column in chunks."""
    rows = UnitRows(max_rows=max_rows, missing_values=missing_values, key=key)
    for chunk in ids:
        rows.add(chunk)
    return rows.kept()


def person_of(row: pd.Series) -> str | bytes | None:
    """Whose a single row is, given its id column; None if it has no id."""
    rows = UnitRows(max_rows=1)
    rows.add(row)
    keys = rows._ids.keys
    return keys[rows._ids.rows.joined()[0]] if rows.kept()[0] else None
