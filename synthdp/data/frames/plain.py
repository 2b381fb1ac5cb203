"""Plain values: what periods, durations and intervals say, as the dates, numbers and texts that
columns read.

As everywhere between a value and its code, each value is taken by itself: what stands in one row
never changes what is made of another, and none raises. What says such a thing is in
`synthdp.data.frames.spans`, which is loaded where a column holds some.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.imports import import_named
from synthdp.schema.words.with_columns import with_columns

SAID_BY = "synthdp.data.frames.spans:said_by"
"""What spans and narrow floats say; loaded where there are some."""

DURATIONS = (pd.Timedelta, timedelta, np.timedelta64)

SPANS = frozenset({pd.Period, pd.Interval, *DURATIONS})
"""Types of objects that are made plain; subclasses, whose methods may do anything, are not."""

_OF_SPANS = (pd.IntervalDtype, pd.PeriodDtype, pd.ArrowDtype)
"""Types of columns that may hold them; those of durations are of numpy's kind ``m``."""

NARROW: Mapping[str, type[np.floating[Any]]] = {
    "float16": np.float16,
    "halffloat[pyarrow]": np.float16,
    "float32": np.float32,
    "Float32": np.float32,
    "float[pyarrow]": np.float32,
}
"""Types of floats with fewer than 64 bits."""

_READ_AS = ("string", "number", "integer", "date", "datetime", "year")
"""Field types that read spans."""


def plain(frame: pd.DataFrame, types: Mapping[str, str]) -> pd.DataFrame:
    """A table in which periods, durations and intervals are values that their columns read.

    Parameters
    ----------
    frame
        The table; it is not changed, and returned as it is if it holds nothing of the kind.
    types
        Field types by the names of columns, all of them there; other columns are not read.

    >>> frame = pd.DataFrame(
    ...     {"stay": pd.to_timedelta(["90min", None]), "age": pd.interval_range(0, 2)}
    ... )
    >>> plain(frame, {"stay": "number", "age": "string"}).to_numpy().tolist()
    [[5400.0, '(0, 1]'], [nan, '(1, 2]']]
    """
    own = {name: frame[name] for name in types}
    made = {name: plain_column(column, types[name]) for name, column in own.items()}
    changed = {name: column for name, column in made.items() if column is not own[name]}
    return with_columns(frame, changed) if changed else frame


def plain_column(series: pd.Series, kind: str) -> pd.Series:
    """A column of some field type with its periods, durations and intervals made plain; itself if
    it has none.
    """
    dtype: Any = series.dtype
    if kind not in _READ_AS:
        return series
    if isinstance(dtype, pd.CategoricalDtype):
        categories = dtype.categories.to_series()
        made = plain_column(categories, kind)
        return series if made is categories else taken(made, series.cat.codes.to_numpy(), series)
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        # One pass over types, which is all that most columns of objects need.
        may_hold_some = not SPANS.isdisjoint(map(type, series.to_numpy()))
    else:
        may_hold_some = isinstance(dtype, _OF_SPANS) or getattr(dtype, "kind", "O") == "m"
        may_hold_some |= kind == "number" and str(dtype) in NARROW
    if not may_hold_some:
        return series
    said: pd.Series = import_named(SAID_BY)(series, kind)
    return said


def taken(values: pd.Series, positions: NDArray[Any], like: pd.Series) -> pd.Series:
    """The values at some positions, -1 for a missing one."""
    return pd.Series(
        values.array.take(positions, allow_fill=True), index=like.index, dtype=values.dtype
    )
