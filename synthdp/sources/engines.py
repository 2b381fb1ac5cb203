"""What each engine is told in its own words: names of columns, texts to be compared by their bytes, hashes of rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import narwhals as nw

from synthdp.table.asking import asked

Engine: TypeAlias = Literal["polars", "duckdb", "postgres", "ibis", "pyspark"]
"""What holds a table; ``ibis`` is any further engine that Ibis compiles for."""

KEEP_TABLES: tuple[Engine, ...] = ("duckdb", "postgres")
"""Engines that keep codes in a temporary table, and find them by joins."""

HASHED = "hashed"
"""What the column of hashes is called."""


def behind_ibis(table: Any) -> tuple[Engine, Any]:
    """The engine of a table of Ibis, and the table as it is asked for: a relation, if it is in DuckDB."""
    backend = table.get_backend()
    if backend.name != "duckdb":
        return "postgres" if backend.name == "postgres" else "ibis", table
    table.limit(0).to_pyarrow()  # makes tables in memory known to DuckDB
    return "duckdb", backend.con.sql(backend.compile(table))


def renamed(engine: Engine, native: Any, names: Mapping[str, str], *, texts: set[str]) -> Any:
    """A table whose columns are called otherwise.

    Parameters
    ----------
    engine, native
        The table, as the engine's own library holds it.
    names
        For each column what it will be called, in letters that need no quotes.
    texts
        Columns of texts. Engines that have collations are told to compare them by their bytes, whatever these say;
        Spark by a cast of `EngineColumn.prepared`.
    """
    if engine == "pyspark":  # to which a dot in a name is more than a letter
        return native.toDF(*names.values())
    if engine not in KEEP_TABLES:
        return nw.to_native(nw.from_native(native).select(nw.col(name).alias(names[name]) for name in names))
    quoted = {name: '"{}"'.format(name.replace('"', '""')) for name in names}
    by_bytes = {name: f'CAST({quoted[name]} AS TEXT) COLLATE "C"' for name in texts}
    chosen = ", ".join(f"{by_bytes.get(name, quoted[name])} AS {alias}" for name, alias in names.items())
    if engine == "duckdb":
        return native.project(chosen)
    backend, types = native.get_backend(), native.schema()
    query = f"SELECT {chosen} FROM ({backend.compile(native)}) AS given"
    return backend.sql(query, schema={alias: types[name] for name, alias in names.items()})


def with_hashes(engine: Engine, rows: nw.LazyFrame[Any], names: Sequence[str], key: int) -> nw.LazyFrame[Any]:
    """The rows of a table with a hash of some columns, and of a key, in a further column `HASHED`.

    Rows that agree in these columns have one hash. That two others share theirs is a matter of chance, and
    nothing that is promised of a guarantee depends on it. Raises `SourceError` if the engine has no hash.
    """
    native = nw.to_native(rows)
    return asked(engine, "hashing rows", lambda: nw.from_native(_HASHES[engine](native, names, key)))


def _by_polars(rows: Any, names: Sequence[str], key: int) -> Any:
    import polars as pl

    return rows.with_columns(pl.struct(names).hash(key).alias(HASHED))


def _by_duckdb(rows: Any, names: Sequence[str], key: int) -> Any:
    return rows.project(f"*, hash({', '.join([str(key), *names])}) AS {HASHED}")


def _by_ibis(rows: Any, names: Sequence[str], key: int) -> Any:
    import ibis

    text: Any = ibis.literal(str(key))
    for name in names:
        text = text + ibis.literal(",") + rows[name].cast("string").hash().cast("string").fill_null("-")
    return rows.mutate(**{HASHED: text.hash()})


def _by_spark(rows: Any, names: Sequence[str], key: int) -> Any:
    from pyspark.sql import functions

    return rows.withColumn(HASHED, functions.xxhash64(functions.lit(key), *names))


_HASHES: Mapping[Engine, Callable[[Any, Sequence[str], int], Any]] = {
    "polars": _by_polars, "duckdb": _by_duckdb, "postgres": _by_ibis, "ibis": _by_ibis, "pyspark": _by_spark,
}  # fmt: skip
"""How rows are hashed."""
