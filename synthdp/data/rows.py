"""Rows of any kind, from a file, in memory, in partitions or in an engine, as a release takes them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, final

import pandas as pd

from synthdp.core.imports import import_named
from synthdp.data.asking.chunked_table import ChunkedTable
from synthdp.data.loading import held_rows
from synthdp.data.openers import opener
from synthdp.schema.columns.column import Column
from synthdp.schema.dialect import USUAL, Dialect
from synthdp.schema.open_schema import OpenSchema

if TYPE_CHECKING:
    from synthdp.data.engines.engine_frame import EngineFrame
    from synthdp.data.engines.tables.engine_table import EngineTable
    from synthdp.data.frames.form import TableForm
    from synthdp.data.records.held_table import HeldTable

Here: TypeAlias = ChunkedTable | pd.DataFrame
"""A table that was opened and is read in this process, of which no row has been read."""

OpenedTable: TypeAlias = "Here | EngineFrame"
"""A table that was opened, wherever it is."""


@final
class GivenTable:
    """A table of any kind as a door is given it, before any row of it is read.

    Parameters
    ----------
    data
        The path of a file, or a table in memory, in partitions or in an engine.

    Raises `ParameterError` if it is none of them, and as the library of a table that cannot say its
    columns.
    """

    def __init__(self, data: Any) -> None:
        self._data = data
        self._given: OpenedTable | None = None
        self._dtypes: Mapping[str, Any] | None = None
        self._container: Any = None
        if not isinstance(data, str | PathLike):
            elsewhere = partitioned(data)
            elsewhere = engine_frame(data) if elsewhere is None else elsewhere
            table = opener("frame")(data if elsewhere is None else elsewhere.empty)
            self._given = table.frame if elsewhere is None else elsewhere
            self._dtypes = table.dtypes
            self._container = table.container

    @property
    def dtypes(self) -> Mapping[str, Any] | None:
        """The dtypes of its columns; None of a file."""
        return self._dtypes

    @property
    def learns_bins(self) -> bool:
        """Whether bins of declared bounds can be learnt of it: any engine behind Ibis counts
        declared columns, but it need not be able to say which values there are.
        """
        return getattr(self._given, "engine", None) not in ("sqlite", "ibis")

    def opened(self, dialect: Dialect) -> AbstractContextManager[OpenedTable]:
        """The table, open to the end of the block; raises as `open_table`."""
        return (
            opener("file")(self._data, dialect) if self._given is None else nullcontext(self._given)
        )

    def form(self, dtypes: Mapping[str, Any], columns: Iterable[Column]) -> "TableForm":
        """What is drawn looks like this table, as far as its dtypes are public; see `form_of`."""
        form: TableForm = opener("form")(self._container, dtypes, columns)
        return form


def partitioned(data: Any) -> Any:
    """What was given as a `PartitionedFrame`; None if it is in no partitions."""
    return None if isinstance(data, str | PathLike | pd.DataFrame) else opener("partitions")(data)


def engine_frame(data: Any) -> "EngineFrame | None":
    """What was given as a table in an engine; None if it is none. Raises as
    `EngineFrame.from_native`.
    """
    import narwhals as nw

    if isinstance(data, str | PathLike | pd.DataFrame) or partitioned(data) is not None:
        return None
    if not nw.dependencies.is_into_lazyframe(data):
        return None
    frame: EngineFrame = opener("engine").from_native(data)
    return frame


@contextmanager
def opened_here(data: object, dialect: Dialect = USUAL, *, name: str = "data") -> Iterator[Here]:
    """A table that is read in this process, to the end of the block: the path of a file, a frame,
    or one in partitions.

    ``name`` is what messages call it. Raises as `open_table`, `PartitionedFrame` and
    `containers.opened`.
    """
    if isinstance(data, str | PathLike):
        with opener("file")(data, dialect) as table:
            yield table
    else:
        parts = partitioned(data)
        yield opener("frame")(data, name).frame if parts is None else parts


def streamed_rows(
    frame: "EngineFrame", names: Sequence[str], *, used: Sequence[str], keys: Collection[str]
) -> ChunkedTable:
    """Rows of a table in an engine, sorted there and read in this process; see
    `synthdp.data.engines.streaming.streamed`, which raises as this does.
    """
    table: ChunkedTable = opener("rows out of an engine")(frame, names, used=used, keys=keys)
    return table


def opened_source(address: str, table: str) -> "AbstractContextManager[EngineFrame]":
    """A table in a database, to the end of the block; see `connecting.open_source`."""
    frame: AbstractContextManager[EngineFrame] = opener("database")(address, table)
    return frame


def files_of(address: str | None) -> tuple[str, ...]:
    """The files that the database of an address lies in, as far as it is one in files."""
    return () if address is None else tuple(opener("files of a database")(address))


def whole_frame(data: object, dialect: Dialect = USUAL, *, name: str = "data") -> pd.DataFrame:
    """All rows of such a table, at once; raises as `opened_here`, and as reading them does."""
    with opened_here(data, dialect, name=name) as table:
        return table.whole() if isinstance(table, ChunkedTable) else table


def header_of(given: OpenedTable) -> Sequence[str]:
    """The names of its columns."""
    return given.names if isinstance(given, ChunkedTable) else list(given.columns)


def zones_of(given: OpenedTable) -> dict[str, str]:
    """The time zones of its columns of moments, as far as it is a file whose types name them: they
    are public, as its header is.
    """
    declared = given.declared if isinstance(given, ChunkedTable) else None
    if declared is None:
        return {}
    zone_name = import_named("synthdp.schema.words.zone_names:zone_name")
    names = {name: zone_name(dtype) for name, dtype in declared.dtypes.items()}
    return {str(name): zone for name, zone in names.items() if zone is not None}


def rows_of(
    given: OpenedTable,
    schema: OpenSchema,
    *,
    unit: str | None = None,
    max_rows: int = 1,
    progress: Callable[[float], object] | None = None,
) -> "Callable[[], HeldTable | EngineTable]":
    """What gives the rows when it is called; before that nothing is read, and all is checked that
    needs no row.

    Parameters are those of `held_rows`; raises as `EngineTable.from_frame`, and when called as
    `held_rows`.
    """
    if isinstance(given, ChunkedTable | pd.DataFrame):
        return lambda: held_rows(given, schema, unit=unit, max_rows=max_rows, progress=progress)
    table: EngineTable = opener("rows in an engine").from_frame(
        given, schema, unit=unit, max_rows=max_rows
    )
    return table.prepared
