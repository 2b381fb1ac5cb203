"""Rows of any kind, from a file, in memory or in an engine, as a release takes them."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pandas as pd

from synthdp.sources.engine_frame import EngineFrame
from synthdp.sources.engine_table import EngineTable
from synthdp.table.files.table_file import TableFile
from synthdp.table.records.held_table import HeldTable
from synthdp.table.records.loading import held_frame, held_rows
from synthdp.table.schema.open_schema import OpenSchema

Given: TypeAlias = TableFile | pd.DataFrame | EngineFrame
"""A table that was opened, of which no row has been read."""

Rows: TypeAlias = HeldTable | EngineTable
"""Rows until their domain is known. All have a unit of privacy, values to learn from, and counts by a closed schema."""


def engine_frame(data: Any) -> EngineFrame | None:
    """What was given as a table in an engine; None if it is none. Raises as `EngineFrame.of`."""
    import narwhals as nw

    lazy = not isinstance(data, pd.DataFrame) and nw.dependencies.is_into_lazyframe(data)
    return EngineFrame.of(data) if lazy else None


def header_of(given: Given) -> Sequence[str]:
    """The names of its columns."""
    return given.names if isinstance(given, TableFile) else list(given.columns)


def rows_of(
    given: Given,
    schema: OpenSchema,
    *,
    unit: str | None = None,
    max_rows: int = 1,
    progress: Callable[[float], object] | None = None,
) -> Callable[[], Rows]:
    """What gives the rows when it is called; before that nothing is read, and all is checked that needs no row.

    Parameters are those of `held_rows`; raises as `EngineTable.of`, and when called as `held_rows`.
    """
    if isinstance(given, EngineFrame):
        table = EngineTable.of(given, schema, unit=unit, max_rows=max_rows)
        return lambda: table
    if isinstance(given, pd.DataFrame):
        return lambda: held_frame(given, schema, unit=unit, max_rows=max_rows)
    return lambda: held_rows(given, schema, unit=unit, max_rows=max_rows, progress=progress)
