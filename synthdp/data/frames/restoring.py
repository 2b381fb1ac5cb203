"""Restoring: what was drawn, in the dtypes of the table that was given, as far as they can hold it.

All of it is post-processing of released values. Numbers and moments beyond what a dtype can hold
are clipped to its ends. If it cannot hold a value at all (a missing one among numpy's integers, the
level ``other`` among intervals), the column gets the next of the family that can: nullable
integers, categories.
"""

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from synthdp.data.frames.arrow_types import arrow_column
from synthdp.data.frames.plain import plain_column
from synthdp.data.frames.scalars import durations, moments, numbers
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.reading import canonical_text
from synthdp.schema.words.with_columns import with_columns


def released_dtypes(dtypes: Mapping[str, Any], columns: Iterable[Column]) -> dict[str, Any]:
    """Dtypes that hold no more than a released schema does: of categories its levels only, in their
    order.

    Parameters
    ----------
    dtypes
        Dtypes of pandas by the names of columns. They may hold categories that are not released.
    columns
        The columns of the released schema; dtypes of others are left out.
    """
    by_name = {column.name: column for column in columns if column.name in dtypes}
    return {name: _released(dtypes[name], column) for name, column in by_name.items()}


def _released(dtype: Any, column: Column) -> Any:
    if not isinstance(dtype, pd.CategoricalDtype | pd.IntervalDtype):
        return dtype
    levels = list(column.level_texts)
    if not levels:
        return object if dtype.categories is None else dtype.categories.dtype
    if isinstance(dtype, pd.IntervalDtype):
        spans = {level: _interval(level, dtype) for level in levels}
        by_text = dict(
            sorted(((text, span) for text, span in spans.items() if span), key=lambda pair: pair[1])
        )
        return _levels_as(by_text, levels, ordered=True)
    return _levels_as(_objects_of(dtype.categories), levels, ordered=bool(dtype.ordered))


def _objects_of(categories: pd.Index | None) -> dict[str | None, Any]:
    """Categories by the texts that they are read as; texts stand for themselves, as do objects of
    any kind.

    Of two objects that are read as one level, such as 1 and "1", one may be there because of a
    single record, and by one text among numbers these are no longer all numbers: neither is public
    with the dtype.
    """
    each = [] if categories is None else list(categories)
    are_objects = categories is None or categories.dtype == object
    texts = _texts_of(each)
    return {
        text: text if are_objects or isinstance(category, str) else category
        for text, category in zip(texts, each, strict=True)
    }


def _levels_as(
    objects: Mapping[Any, Any], levels: list[str], *, ordered: bool
) -> pd.CategoricalDtype:
    """Levels as categories: the objects that their texts stand for, else the texts.

    Ordered ones keep their order. Others are in that of numbers, or of the schema, because in the
    order of a dtype may lie who came first. What is no object of the dtype comes last.
    """
    are_numbers = all(isinstance(each, Real) for each in objects.values())
    # Numbers have an order that everybody knows, so it tells nothing about the table.
    if are_numbers and not ordered:
        objects = dict(sorted(objects.items(), key=lambda pair: pair[1]))
    ranks = {text: rank for rank, text in enumerate(objects)}
    if ordered or are_numbers:
        levels = sorted(levels, key=lambda level: ranks.get(level, len(ranks)))
    categories = [objects.get(level, level) for level in levels]
    is_mixed = any(level not in objects for level in levels) and any(
        level in objects for level in levels
    )
    index = pd.Index(categories, dtype=object if is_mixed else None)
    return pd.CategoricalDtype(
        index if index.is_unique else pd.Index(levels, dtype=object), ordered=ordered
    )


def _texts_of(categories: list[Any]) -> list[str | None]:
    """The texts that categories are read as."""
    objects = np.fromiter(categories, dtype=object)
    return list(map(canonical_text, plain_column(pd.Series(objects, dtype=object), "string")))


def _interval(text: str, dtype: pd.IntervalDtype) -> pd.Interval | None:
    """The interval that a text says, None if it says none."""
    subtype: Any = dtype.subtype
    is_moment = getattr(subtype, "kind", "O") == "M"
    try:
        left, right = text[1:-1].split(", ")
        if not is_moment:
            left, right = (np.dtype(subtype).type(end).item() for end in (left, right))
        # The level is the text of an interval; only what is written back as the same text was one
        # of the dtype.
        span = pd.Interval(
            *(map(pd.Timestamp, (left, right)) if is_moment else (left, right)), closed=dtype.closed
        )
    except (TypeError, ValueError):
        return None
    return span if str(span) == text else None


def restored(frame: pd.DataFrame, dtypes: Mapping[str, Any]) -> pd.DataFrame:
    """A decoded table with dtypes as `released_dtypes` gives them; columns without one stay as they
    are.
    """
    return with_columns(
        frame, {name: _column(frame[name], dtype) for name, dtype in dtypes.items()}
    )


def _column(values: pd.Series, dtype: Any) -> pd.Series:
    """Released values of a column in a dtype."""
    if isinstance(dtype, pd.CategoricalDtype):
        return _categories(values, dtype)
    if isinstance(dtype, pd.ArrowDtype):
        return arrow_column(values, dtype)
    if isinstance(dtype, pd.SparseDtype):
        # Missing values have made another type necessary: then the column stays dense.
        dense = _column(values, dtype.subtype)
        return dense.astype(dtype) if dense.dtype == dtype.subtype else dense
    if isinstance(dtype, pd.PeriodDtype):
        # Seconds reach further than nanoseconds, which end in 2262; only periods of nanoseconds
        # need these.
        unit = "ns" if isinstance(dtype.freq, pd.offsets.Nano) else "s"
        return pd.Series(pd.PeriodIndex(moments(values, unit), freq=dtype.freq))
    if isinstance(dtype, pd.DatetimeTZDtype):
        return moments(values, dtype.unit).dt.tz_localize("UTC").dt.tz_convert(dtype.tz)
    kind = getattr(getattr(dtype, "numpy_dtype", dtype), "kind", "O")
    if kind in "mM":
        return (moments if kind == "M" else durations)(values, np.datetime_data(dtype)[0])
    return numbers(values, dtype) if kind in "biuf" else texts(values, dtype)


def texts(values: pd.Series, dtype: Any) -> pd.Series:
    """Texts in a dtype for texts, or objects; None where missing."""
    objects = values.astype(object).where(values.notna().to_numpy(), None)
    return objects.astype(dtype)


def _categories(values: pd.Series, dtype: pd.CategoricalDtype) -> pd.Series:
    """Texts of levels as the categories that they stand for; NA where missing."""
    categories = list(dtype.categories)
    positions: dict[Any, int] = {
        text: position for position, text in enumerate(_texts_of(categories))
    }
    positions |= {
        each: position for position, each in enumerate(categories) if isinstance(each, str)
    }
    codes = np.fromiter((positions.get(value, -1) for value in values), np.intp, len(values))
    return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype))
