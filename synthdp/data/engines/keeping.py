"""What is worked out of a table once and kept where the rows are, until it is no longer needed.

In DuckDB and Postgres it is a temporary table, which may spill to the disk and is dropped in the
end; in Spark a data frame that is persisted; in polars, which runs in this process, one that is in
memory. All questions then see the rows of one moment. Other engines are only read, by Ibis: each
question works it out anew.
"""

import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from logging import INFO
from typing import Any, TypeAlias

import narwhals as nw

from synthdp.core.event_log import log
from synthdp.data.engines.engine_frame import EngineFrame, collected
from synthdp.data.engines.engines import Engine, new_name

LazyRows: TypeAlias = nw.LazyFrame[Any]

_Kept: TypeAlias = tuple[LazyRows, Callable[[], object]]
"""What is kept, and what forgets it."""

Select: TypeAlias = Callable[[str], str]
"""A query in SQL about what is called so."""


def kept(
    frame: EngineFrame,
    rows: Callable[[], LazyRows],
    what: str,
    *,
    select: Select = "SELECT * FROM {} AS given".format,
    types: Mapping[str, str] | None = None,
) -> _Kept:
    """Rows of a table that is in an engine, kept there if it keeps any; and what forgets them, at
    most once.

    Parameters
    ----------
    frame
        The table.
    rows
        Gives what is kept of it.
    what
        What is said to fail.
    said
        For DuckDB and Postgres: what else is done with the rows, which are a table to it.
    types
        The types of what that gives, as Ibis calls them; those of the rows by default.

    Raises
    ------
    SourceError
        If the engine fails.
    """
    return frame.asked(what, lambda: _WAYS[frame.engine](frame, rows(), select, types))


def forget_with(owner: object, forget: Callable[[], object]) -> None:
    """Drop what is kept when its owner is garbage-collected; the rest ends with the connection."""
    # At the end of the process connections may be closed already, and the engine drops temporary
    # tables by itself.
    weakref.finalize(owner, quietly, forget).atexit = False


def quietly(forget: Callable[[], object]) -> None:
    """Forget it if that is still possible: the connection may be closed, the session stopped."""
    with suppress(Exception):
        forget()


def _in_polars(
    _frame: EngineFrame, rows: LazyRows, _select: Select, _types: Mapping[str, str] | None
) -> _Kept:
    return collected(rows).lazy(), lambda: None


def _in_duckdb(
    _frame: EngineFrame, rows: LazyRows, select: Select, _types: Mapping[str, str] | None
) -> _Kept:
    view = new_name()
    table = new_name()
    given = nw.to_native(rows)
    given.query(view, f"CREATE TEMP TABLE {table} AS {select(view)}")
    frame = nw.from_native(given.query(view, f"SELECT * FROM {table}"))
    return frame, lambda: given.query(view, f"DROP TABLE IF EXISTS {table}")


def _in_postgres(
    frame: EngineFrame, rows: LazyRows, select: Select, types: Mapping[str, str] | None
) -> _Kept:
    """In a temporary table; where none can be made, the query that would fill it is a part of all
    others.
    """
    from psycopg import Error

    given = nw.to_native(rows)
    backend = given.get_backend()
    table = new_name()
    is_kept = False
    query = select(f"({backend.compile(given)})")
    connection = backend.con
    with (
        # Whoever may not make temporary tables still gets a release, only more slowly.
        suppress(Error),
        frame.writing(),
        connection.transaction(),
    ):  # its user has no right to, or it is a standby
        # Empty first: whether a table may be made is known without working out the rows.
        connection.execute(f"CREATE TEMP TABLE {table} AS {query} WITH NO DATA")
        is_kept = True

    def forget() -> None:
        # What may only read drops nothing before the transaction ends.
        if is_kept and not connection.lock.locked():
            with connection.transaction():
                connection.execute(f"DROP TABLE IF EXISTS {table}")

    if not is_kept:
        log(
            INFO,
            "postgres: it makes no temporary table for its user; all is worked out in every query",
        )
    else:
        try:
            with connection.transaction():
                connection.execute(f"INSERT INTO {table} {query}")
        except BaseException:
            quietly(forget)
            raise
    schema = given.schema() if types is None else types
    return nw.from_native(
        backend.sql(f"SELECT * FROM {table}" if is_kept else query, schema=schema)
    ), forget


def _in_spark(
    _frame: EngineFrame, rows: LazyRows, _select: Select, _types: Mapping[str, str] | None
) -> _Kept:
    persisted = nw.to_native(rows).persist()
    return nw.from_native(persisted), persisted.unpersist


def _nowhere(
    _frame: EngineFrame, rows: LazyRows, _select: Select, _types: Mapping[str, str] | None
) -> _Kept:
    return rows, lambda: None


_WAYS: Mapping[Engine, Callable[[EngineFrame, LazyRows, Select, Mapping[str, str] | None], _Kept]] = {
    "polars": _in_polars, "duckdb": _in_duckdb, "postgres": _in_postgres, "pyspark": _in_spark,
    "sqlite": _nowhere, "ibis": _nowhere,
}  # fmt: skip
