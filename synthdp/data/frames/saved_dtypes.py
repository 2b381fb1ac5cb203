"""Dtypes as JSON values, for saved forms: what has no such value is left out, and such a column is
of its schema's.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pandas as pd
from pandas.api.types import pandas_dtype

from synthdp.schema.words.dtypes import kind_of_dtype

_NAME = re.compile(r"\w+(\[[\w-]+(, ?[\w+-][\w/+:-]*)?\])?", re.ASCII)
"""Names of dtypes, with a unit or storage, and a time zone."""


def dtypes_as_json(dtypes: Mapping[str, Any]) -> dict[str, Any]:
    """Dtypes by the names of columns as JSON values: a name, or categories and whether they are
    ordered.

    >>> sizes = pd.Index(["S", "M"], dtype=object)
    >>> dtypes_as_json(
    ...     {
    ...         "size": pd.CategoricalDtype(sizes, ordered=True),
    ...         "seen": pd.DatetimeTZDtype("s", "UTC"),
    ...     }
    ... )
    {'size': {'categories': ['S', 'M'], 'dtype': 'object', 'ordered': True}, 'seen': 'datetime64[s, UTC]'}
    """
    content = {name: _as_json(dtype) for name, dtype in dtypes.items()}
    return {name: each for name, each in content.items() if each is not None}


def _as_json(dtype: Any) -> Any:
    """A dtype as `_read` reads it; None if that would be another one."""
    content: Any = str(dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        content = {"categories": [] if dtype.categories is None else dtype.categories.tolist()}
        content |= {
            "dtype": str(getattr(dtype.categories, "dtype", "object")),
            "ordered": bool(dtype.ordered),
        }
        if not all(type(each) in (str, int, float, bool) for each in content["categories"]):
            return None
    elif isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA:
        content = f"string[{dtype.storage}]"
    elif isinstance(dtype, pd.ArrowDtype):
        content = {"arrow": str(dtype.pyarrow_dtype)}
    try:
        return content if _read(content) == dtype else None
    except (
        TypeError,
        ValueError,
        NotImplementedError,
    ):  # no text says it, such as some types of Arrow
        return None


def dtypes_from_json(content: Mapping[str, Any]) -> dict[str, Any]:
    """The dtypes that `dtypes_as_json` wrote, without those of Arrow where that is not installed.

    Raises `LookupError`, `TypeError` or `ValueError` if one is none that is drawn.
    """
    dtypes = {}
    for name, each in content.items():
        with suppress(ImportError):
            dtypes[name] = _read(each)
    return dtypes


def _read(content: Any) -> Any:
    if isinstance(content, Mapping) and "arrow" in content:
        return pd.ArrowDtype(_arrow(content["arrow"]))
    if isinstance(content, Mapping):
        categories = pd.Index(list(content["categories"]), dtype=_named(content["dtype"]))
        return pd.CategoricalDtype(categories, ordered=content["ordered"] is True)
    dtype = _named(content)
    if kind_of_dtype(dtype) is None:
        raise ValueError("no dtype of a column that is drawn")
    return dtype


def _named(content: Any) -> Any:
    """A dtype of pandas by its name; of time zones only names are read, never files."""
    if not isinstance(content, str) or _NAME.fullmatch(content) is None or "dateutil" in content:
        raise ValueError("no name of a dtype")
    return pandas_dtype(content)


def _arrow(name: str) -> Any:
    """A type of Arrow by its text."""
    import pyarrow as pa

    if parts := re.fullmatch(r"decimal128\((\d{1,2}), (\d{1,2})\)", name):
        return pa.decimal128(*map(int, parts.groups()))
    if parts := re.fullmatch(r"timestamp\[(\w+), tz=(.+)\]", name):
        return pa.timestamp(*parts.groups())
    return pa.type_for_alias(name)
