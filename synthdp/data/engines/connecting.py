"""Connecting: a table in a database by the address of the database, read only."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from synthdp.core.errors import MissingExtraError, ParameterError, SourceError
from synthdp.data.asking.asking import asked
from synthdp.data.engines.engine_frame import EngineFrame

SCHEMES = ("duckdb", "postgres", "postgresql")
"""How addresses begin."""


TRY = "try the address, the user and the password with psql"


@contextmanager
def open_source(address: str, table: str) -> Iterator[EngineFrame]:
    """A table in a database, to the end of the block; the address is never repeated, it may hold a
    password.

    Parameters
    ----------
    address
        ``duckdb:///people.db`` (four slashes before an absolute path), or
        ``postgres://user@host/database``. What the latter does not say, passwords above all, the
        client library takes from its environment and ``.pgpass``.
    table
        The name of a table or view, with that of its schema before a dot if it needs one.

    Raises
    ------
    ParameterError
        If the address is none of these.
    MissingExtraError
        If the library of the database is not installed.
    SourceError
        If the database is not reached, or has no such table.
    """
    scheme = address.partition(":")[0]
    if "://" not in address or scheme not in SCHEMES:
        raise ParameterError(
            "source (--source) is no known address; give duckdb:///FILE or postgres://USER@HOST/DATABASE"
        )
    way = _duckdb if scheme == "duckdb" else _postgres
    with way(address, table) as frame:
        yield frame


def files_of(address: str | None) -> tuple[str, ...]:
    """The files that a database of an address lies in, as far as it is one in files: nothing may
    replace them.
    """
    path = None if address is None or address.partition(":")[0] != "duckdb" else _path_in(address)
    return () if path is None else (str(path), f"{path}.wal")


def _path_in(address: str) -> Path | None:
    """The file that the address of a DuckDB database names; None if it names none."""
    host, _, path = address.partition("://")[2].partition("/")
    return None if host or not path else Path(unquote(path))


@contextmanager
def _duckdb(address: str, table: str) -> Iterator[EngineFrame]:
    try:
        import duckdb
        import pyarrow  # noqa: F401 (its tables are what answers come in)
    except ImportError:
        raise _missing("duckdb") from None
    path = _path_in(address)
    if path is None:
        raise ParameterError(
            "source (--source): a DuckDB file has three slashes before its path, or four if that is absolute"
        )
    if not path.is_file():
        raise SourceError(f"duckdb: there is no file {str(path)!r}; correct the address")
    connection = asked(
        "duckdb", f"opening {str(path)!r}", lambda: duckdb.connect(str(path), read_only=True)
    )
    with closing(connection):
        # It would be drawn among the rows on standard output.
        connection.execute("SET enable_progress_bar = false")
        relation = asked("duckdb", f"finding the table {table!r}", lambda: connection.table(table))
        yield replace(EngineFrame.from_native(relation), stop=connection.interrupt)


@contextmanager
def _postgres(address: str, table: str) -> Iterator[EngineFrame]:
    """Within one transaction that sees the table as it was at its beginning, and cannot write.

    Except that it makes a temporary table of codes: all else is done after a savepoint, behind
    which it may only read.
    """
    try:
        import ibis.backends.postgres  # it needs more than ibis does
        import psycopg
    except ImportError:
        raise _missing("postgres") from None
    connection = asked("postgres", "connecting", lambda: psycopg.connect(address), way_out=TRY)

    def begin() -> None:
        connection.rollback()  # what Ibis may have begun
        try:
            connection.execute("SET TRANSACTION READ WRITE")
        except psycopg.Error:  # a standby
            connection.rollback()
        only_read()
        connection.execute("SELECT 1")  # from now on the table is as it is

    def only_read() -> None:
        connection.execute("SAVEPOINT synthdp")
        connection.execute("SET TRANSACTION READ ONLY")

    @contextmanager
    def writing() -> Iterator[None]:
        connection.execute("RELEASE SAVEPOINT synthdp")  # and with it what was set after it
        try:
            yield
        finally:
            only_read()

    with closing(connection):
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        schema, _, name = table.rpartition(".")
        backend = asked("postgres", "connecting", lambda: ibis.postgres.from_connection(connection))
        asked("postgres", "beginning a transaction", begin)
        rows = asked(
            "postgres",
            f"finding the table {table!r}",
            lambda: backend.table(name, database=schema or None),
        )
        yield replace(EngineFrame.from_native(rows), writing=writing)


def _missing(extra: str) -> MissingExtraError:
    return MissingExtraError(
        f"source (--source): {extra} is not installed; run: pip install 'synthdp[{extra}]'"
    )
