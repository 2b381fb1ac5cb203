"""What dtypes say: the kinds of columns, for whoever takes the dtypes of a table for public."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from synthdp.core.imports import import_named
from synthdp.schema.words.texts import is_in_json, label_of, refuse

Dtype = Any
"""A dtype of pandas or numpy."""

_PYTHON_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    Decimal: "number",
    timedelta: "number",
    str: "categorical",
    date: "date",
    datetime: "datetime",
    time: "time",
}
"""Kinds that types of Python name."""

_LETTERS = dict.fromkeys("iu", "integer") | dict.fromkeys("fm", "number")
_LETTERS |= {"b": "boolean", "M": "datetime", "O": "categorical"}
"""Kinds by numpy's letters for dtypes."""

_ARROW_TEXTS = ("string", "large_string", "string_view")

_CLOCK = ((pd.offsets.Hour, "hour"), (pd.offsets.Minute, "minute"), (pd.offsets.Tick, "second"))
"""Resolutions of periods that are shorter than a day."""


def kinds_of(dtypes: Mapping[str, Dtype]) -> dict[str, dict[str, Any]]:
    """The kinds of columns that the dtypes of a table say, for `OpenSchema.from_kinds`.

    A numpy column of whole numbers or truth values has no way to say "missing", so it is
    ``required``. The categories of a categorical dtype are *not* taken for levels: most programs
    read them off the data.

    Raises
    ------
    SchemaError
        If a dtype says no kind; it names the column.

    >>> kinds_of({"age": np.dtype("int8"), "size": pd.CategoricalDtype(["S", "M"])})
    {'age': {'type': 'integer', 'constraints': {'required': True}}, 'size': {'type': 'categorical'}}
    """
    always = {
        # (Floats have NaN, objects None, and pandas' own types a mask.)
        name: isinstance(dtype, np.dtype) and dtype.kind in "biu"
        for name, dtype in dtypes.items()
    }
    required: dict[str, Any] = {"constraints": {"required": True}}
    return {
        str(name): _kind_of(str(name), dtype) | (required if always[name] else {})
        for name, dtype in dtypes.items()
    }


def plain_kinds(kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Kinds in which dtypes and types of Python are replaced by the kinds that they say.

    Raises `SchemaError`, naming the column, if one says none.

    >>> plain_kinds(
    ...     {
    ...         "age": int,
    ...         "moved": {"type": np.dtype("datetime64[s]"), "title": "Last move"},
    ...         "job": "ignore",
    ...     }
    ... )
    {'age': {'type': 'integer'}, 'moved': {'type': 'datetime', 'title': 'Last move'}, 'job': 'ignore'}
    """
    return {name: _plain_kind(str(name), kind) for name, kind in kinds.items()}


def as_mapping(kinds: Any) -> Any:
    """Kinds as a mapping if they are the dtypes of a data frame, or the schema of a table of Arrow;
    else themselves.
    """
    if isinstance(kinds, pd.Series):
        return kinds.to_dict()
    if _origin(kinds) == "pyarrow":
        return dict(zip(kinds.names, kinds.types, strict=True))
    return kinds


def _origin(thing: object) -> str:
    return type(thing).__module__.partition(".")[0]


def dtypes_in(kinds: Mapping[str, Any]) -> dict[str, Dtype]:
    """The dtypes that kinds name, types of Python and names of kinds aside."""
    labels = {str(name): label_of(kind) for name, kind in kinds.items()}
    return {
        name: as_dtype(label)
        for name, label in labels.items()
        if not is_in_json(label) and not _of_python(label)
    }


def _of_python(label: Any) -> str | None:
    return _PYTHON_TYPES.get(label) if isinstance(label, type) else None


def _plain_kind(name: str, kind: Any) -> Any:
    label = label_of(kind)
    if is_in_json(label):
        return kind
    python_type = _of_python(label)
    declared: dict[str, Any] = (
        {"type": python_type} if python_type else _kind_of(name, as_dtype(label))
    )
    if not isinstance(kind, Mapping):
        return declared
    own = kind.get("synthdp", {})
    if "synthdp" in declared and isinstance(own, Mapping):
        kind = {**kind, "synthdp": {**declared["synthdp"], **own}}
    return {**declared, **kind, "type": declared["type"]}


def as_dtype(label: Any) -> Dtype:
    """A dtype of pandas or numpy for one of numpy, pandas, Arrow or polars; anything else as it is."""
    if isinstance(label, type) and issubclass(label, np.generic):
        return np.dtype(label)
    if _origin(label) == "pyarrow":
        return pd.ArrowDtype(label)
    if _origin(label) == "polars":
        return _of_polars(label)
    return label


def _of_polars(label: Any) -> Dtype:
    """What Arrow calls a dtype of polars; an enumeration becomes ordered categories."""
    import polars  # it is there: the dtype came from it

    if isinstance(label, polars.Enum):
        return pd.CategoricalDtype(label.categories.to_list(), ordered=True)
    return pd.ArrowDtype(polars.Series(dtype=label).to_arrow().type)


def _kind_of(name: str, dtype: Dtype) -> dict[str, Any]:
    if (said := kind_of_dtype(dtype)) is None:
        way_out = 'convert the column, drop it, or give kinds and among them {column: "ignore"}'
        refuse(name, f"its dtype {dtype!s:.60} says no kind; {way_out}")
    return {"type": said} if isinstance(said, str) else said


def kind_of_dtype(dtype: Dtype) -> str | dict[str, Any] | None:
    """The kind that a dtype says, as text or with what else a field can declare; None if it says
    none.
    """
    if isinstance(dtype, pd.CategoricalDtype):
        inner = None if dtype.categories is None else kind_of_dtype(dtype.categories.dtype)
        is_moment = inner == "datetime" or isinstance(inner, dict)
        return inner if is_moment else "categorical"
    if isinstance(dtype, pd.PeriodDtype):
        return _of_periods(dtype.freq)
    if isinstance(dtype, pd.IntervalDtype | pd.StringDtype):
        return "categorical"
    if isinstance(dtype, pd.SparseDtype):
        return kind_of_dtype(dtype.subtype)
    if isinstance(dtype, pd.ArrowDtype):
        return _of_arrow(dtype.pyarrow_dtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return _zoned("datetime", dtype)
    plain = getattr(dtype, "numpy_dtype", dtype)
    return _LETTERS.get(plain.kind) if isinstance(plain, np.dtype) else None


def _of_periods(freq: Any) -> dict[str, Any]:
    """Dates by the unit of a frequency, if its periods are units of ours: weeks from Monday, years
    from January.
    """
    for clock, unit in _CLOCK:
        if isinstance(freq, clock) and not isinstance(freq, pd.offsets.Day):
            return {"type": "datetime", "synthdp": {"resolution": unit}}
    resolution = "day"
    if isinstance(freq, pd.offsets.Week) and freq.weekday == 6:
        resolution = "week"
    elif isinstance(freq, pd.offsets.YearEnd | pd.offsets.QuarterEnd | pd.offsets.MonthEnd):
        resolution = "month"
        if isinstance(freq, pd.offsets.YearEnd) and freq.month == 12:
            resolution = "year"
        elif isinstance(freq, pd.offsets.QuarterEnd) and freq.startingMonth % 3 == 0:
            resolution = "quarter"
    return {"type": "date", "synthdp": {"resolution": resolution}}


def _of_arrow(kind: Any) -> str | dict[str, Any] | None:
    from pyarrow import types  # it is there, if there is a type of it

    if types.is_decimal(kind):
        return {"type": "number", "synthdp": {"decimals": kind.scale}}
    if types.is_dictionary(kind) or str(kind) in _ARROW_TEXTS:
        return "categorical"
    if types.is_date(kind):
        return "date"
    if types.is_time(kind):
        return "time"
    if types.is_nested(kind):
        return None
    dtype = pd.ArrowDtype(kind)
    return _zoned(_LETTERS[dtype.kind], dtype) if dtype.kind in "biufmM" else None


def _zoned(kind: str, dtype: Any) -> str | dict[str, Any]:
    """A kind with the time zone of a dtype, if it has one."""
    if getattr(dtype, "tz", getattr(getattr(dtype, "pyarrow_dtype", None), "tz", None)) is None:
        return kind
    zone = import_named("synthdp.schema.words.zone_names:zone_name")(dtype)
    return kind if zone is None else {"type": kind, "synthdp": {"timezone": zone}}
