"""Rows of any kind, from a file, in memory, in partitions or in an engine, as a release takes them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeAlias

import pandas as pd

from synthdp.data.asking.chunked_table import ChunkedTable
from synthdp.data.engines.engine_frame import EngineFrame
from synthdp.data.engines.tables.engine_table import EngineTable
from synthdp.data.files.tables import open_table
from synthdp.data.frames.containers import opened
from synthdp.data.frames.partitioned_frame import partitioned
from synthdp.data.records.held_table import HeldTable
from synthdp.data.records.loading import held_rows
from synthdp.schema.dialect import USUAL, Dialect
from synthdp.schema.open_schema import OpenSchema

Here: TypeAlias = ChunkedTable | pd.DataFrame
"""A table that was opened and is read in this process, of which no row has been read."""

Given: TypeAlias = Here | EngineFrame
"""A table that was opened, wherever it is."""

Rows: TypeAlias = HeldTable | EngineTable
"""Rows until their domain is known. All have a unit of privacy, values to learn from, and counts by
a closed schema.
"""


def engine_frame(data: Any) -> EngineFrame | None:
    """What was given as a table in an engine; None if it is none. Raises as `EngineFrame.of`."""
    import narwhals as nw

    if isinstance(data, str | PathLike | pd.DataFrame) or partitioned(data) is not None:
        return None
    return EngineFrame.of(data) if nw.dependencies.is_into_lazyframe(data) else None


@contextmanager
def opened_here(data: object, dialect: Dialect = USUAL, *, name: str = "data") -> Iterator[Here]:
    """A table that is read in this process, to the end of the block: the path of a file, a frame,
    or one in partitions.

    ``name`` is what messages call it. Raises as `open_table`, `PartitionedFrame` and
    `containers.opened`.
    """
    if isinstance(data, str | PathLike):
        with open_table(data, dialect) as table:
            yield table
    else:
        found = partitioned(data)
        yield opened(data, name).frame if found is None else found


def whole_frame(data: object, *, name: str = "data") -> pd.DataFrame:
    """All rows of such a table, at once; raises as `opened_here`, and as reading them does."""
    with opened_here(data, name=name) as table:
        return table.whole() if isinstance(table, ChunkedTable) else table


def header_of(given: Given) -> Sequence[str]:
    """The names of its columns."""
    return given.names if isinstance(given, ChunkedTable) else list(given.columns)


def rows_of(
    given: Given,
    schema: OpenSchema,
    *,
    unit: str | None = None,
    max_rows: int = 1,
    progress: Callable[[float], object] | None = None,
) -> Callable[[], Rows]:
    """What gives the rows when it is called; before that nothing is read, and all is checked that
    needs no row.

    Parameters are those of `held_rows`; raises as `EngineTable.of`, and when called as `held_rows`.
    """
    if isinstance(given, EngineFrame):
        table = EngineTable.of(given, schema, unit=unit, max_rows=max_rows)
        return table.prepared
    return lambda: held_rows(given, schema, unit=unit, max_rows=max_rows, progress=progress)
