"""What the columns of drawn tables can be asked: which there are, which are numbers, and their
levels.
"""

from collections.abc import Sequence

import pandas as pd

from synthdp.core.errors import ParameterError
from synthdp.schema.schema import Schema

_MAX_NAMED = 8
"""Names or levels that an error lists; it is one line."""


def check_columns(schema: Schema, names: Sequence[str]) -> None:
    """Raise `ParameterError` unless there are columns, and the release has a model of each."""
    if not names:
        raise ParameterError("columns: there is none; name at least one")
    modelled = [column.name for column in schema.table_columns]
    for name in names:
        if name not in modelled:
            raise ParameterError(
                f"columns: there is no column {name!r} in the model; it has {_listed(modelled)}"
            )


def is_number(values: pd.Series) -> bool:
    """Whether a column holds numbers, truth values or dates."""
    kinds = pd.api.types
    return bool(kinds.is_numeric_dtype(values.dtype) or kinds.is_datetime64_any_dtype(values.dtype))


def check_number(values: pd.Series, *, is_binary: bool = False) -> None:
    """Raise `ParameterError` unless a column can be calculated with; ``is_binary``: and holds
    nothing but 0 and 1.
    """
    if not is_number(values):
        raise ParameterError(
            f"column {values.name!r} holds texts; name one of numbers, or one of its values"
        )
    if is_binary and not set(pd.unique(values.dropna())) <= {0, 1}:
        raise ParameterError(
            f"column {values.name!r} has other values than 0 and 1; say with event= which is meant"
        )


def levels_in(tables: Sequence[pd.DataFrame], name: str) -> list[object]:
    """All values of a column of texts in some tables, in order."""
    return sorted(set().union(*(pd.unique(table[name].dropna()) for table in tables)), key=str)


def check_level(schema: Schema, tables: Sequence[pd.DataFrame], name: str, value: object) -> None:
    """Raise `ParameterError` unless a column can have a value, compared as texts."""
    levels = [
        str(level)
        for level in schema[name].labels
        if not isinstance(level, pd.Interval) and pd.notna(level)
    ]
    if str(value) in levels or any(
        (table[name].astype(str) == str(value)).any() for table in tables
    ):
        return
    ways = f"it has {_listed(levels)}" if levels else "it has bins of many; use combine"
    raise ParameterError(f"column {name!r} has no value {value!r}; {ways}")


def _listed(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > _MAX_NAMED else ""
    return ", ".join(map(repr, names[:_MAX_NAMED])) + more
