"""Empty cells of a table, and what fills them."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from synthdp.schema.columns.reading import canonical_text, distinct, is_missing, objects_of

Mask = NDArray[np.bool_]

_LARGEST = 2.0**63
"""Whole numbers from there on fit into no column of integers: a level ``other`` stands for those as
well.
"""


def empty_cells(values: pd.Series, *, blank: bool = True) -> Mask:
    """Which cells hold no value: None, NaN or NaT, and if ``blank`` texts of nothing but white
    space.

    >>> empty_cells(pd.Series(["a", " ", None], dtype=object)).tolist()
    [False, True, True]
    """
    if isinstance(values.dtype, np.dtype) and values.dtype != object:
        return np.asarray(values.isna())
    unique, positions = distinct(values)
    empty = np.array(
        [is_missing(each) or (blank and _is_blank(each)) for each in objects_of(unique)],
        dtype=np.bool_,
    )
    return empty if positions is None else empty[positions]


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def filled_cells(given: pd.Series, drawn: pd.Series, is_given: Mask) -> pd.Series:
    """A column of the given values where they are known and of drawn ones elsewhere, in a dtype
    that holds both.

    Parameters
    ----------
    given, drawn
        As many values each; their indices do not matter.
    is_given
        Which of the given values count, shape ``(n_rows,)``.

    >>> filled_cells(pd.Series([4.0, None]), pd.Series([1, 2]), np.array([True, False])).tolist()
    [4, 2]
    """
    stated = given[is_given]
    if isinstance(given.dtype, pd.CategoricalDtype):
        stated = stated.astype(given.cat.categories.dtype)
    zone = next(filter(None, (getattr(each.dtype, "tz", None) for each in (drawn, given))), None)
    if zone is not None and given.dtype.kind == drawn.dtype.kind == "M":
        stated, drawn = (_in_zone(each, zone) for each in (stated, drawn))
    stated = _whole_numbers(stated, drawn.dtype)
    if is_given.all():
        return pd.Series(stated.array)
    places = np.concatenate([np.flatnonzero(is_given), np.flatnonzero(~is_given)])
    both = pd.concat([stated, drawn[~is_given]]) if len(stated) else drawn
    return pd.Series(both.array[np.argsort(places)])


def given_cells(given: pd.Series, made: pd.Series, *, text: bool) -> pd.Series:
    """Values that somebody gave, as they are or as texts, and others where cells are empty."""
    is_given = ~empty_cells(given)
    if text:
        texts = [
            value if isinstance(value, str) else canonical_text(value) or "" for value in given
        ]
        given = pd.Series(texts, dtype=object)
    return filled_cells(given, made, is_given)


def _in_zone(moments: pd.Series, zone: Any) -> pd.Series:
    """Moments in a time zone, those without one being in UTC."""
    has_zone = isinstance(moments.dtype, pd.DatetimeTZDtype)
    return (moments if has_zone else moments.dt.tz_localize("UTC")).dt.tz_convert(zone)


def _whole_numbers(values: pd.Series, dtype: Any) -> pd.Series:
    """Floats in a dtype of numbers if all are whole, as pandas makes floats of integers beside
    empty cells.
    """
    if values.dtype != np.float64 or not is_numeric_dtype(dtype):
        return values
    present = values.dropna()
    is_whole = (present == present.round()) & (present.abs() < _LARGEST)
    return values.astype(dtype) if is_whole.all() else values
