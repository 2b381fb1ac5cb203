"""Limits of schemas: a hundred bytes could ask for more memory than there is."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from synthdp.table.columns.column import refuse

MAX_ALL_LEVELS = 2**21
"""Most levels of all columns together; with a million bins each, two columns have so many."""

MAX_FORMAT = 200
"""Characters of a format of dates, which is tried on a thousand of them; dates in words need fifty."""


class _Sized(Protocol):
    """A column, open or not."""

    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int: ...


_Columns = TypeVar("_Columns", bound=_Sized)


def within_levels(columns: Iterable[_Columns]) -> tuple[_Columns, ...]:
    """The columns, made one by one; raises `SchemaError` at one with which their levels are too many."""
    kept, n_levels = list[_Columns](), 0
    for column in columns:
        kept.append(column)
        n_levels += column.size
        if n_levels > MAX_ALL_LEVELS:
            refuse(column.name, f"with it there are more than {MAX_ALL_LEVELS:,} levels in all; use fewer bins")
    return tuple(kept)


def check_format(column: str, pattern: object) -> None:
    """Raise `SchemaError` if the format of a field is longer than any that is meant."""
    if isinstance(pattern, str) and len(pattern) > MAX_FORMAT:
        refuse(column, f"the format has {len(pattern):,} characters; write one of up to {MAX_FORMAT}")
