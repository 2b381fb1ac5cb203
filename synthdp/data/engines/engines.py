"""What each engine is asked in its own words: names of columns, texts to be compared by their
bytes, hashes of rows.
"""

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import narwhals as nw

from synthdp.core.errors import SourceError
from synthdp.data.asking.asking import asked

Engine: TypeAlias = Literal["polars", "duckdb", "postgres", "sqlite", "ibis", "pyspark"]
"""What holds a table; ``ibis`` is any further engine that Ibis compiles for."""

BEHIND_IBIS: tuple[Engine, ...] = ("sqlite", "ibis")
"""Engines that are asked through Ibis, with nothing but what it has for all of them."""

HAVE_TIMES: tuple[Engine, ...] = ("polars", "duckdb", "postgres")
"""Engines that have a type for times of day."""

KEEP_TABLES: tuple[Engine, ...] = ("duckdb", "postgres")
"""Engines that keep codes in a temporary table, and find them by joins."""

WHITE_SPACE = "".join(filter(str.isspace, map(chr, range(0x3001))))
"""What Python strips off a text."""

HASHED = "hashed"
"""What the column of hashes is called."""


_SESSION = {
    "standard_conforming_strings": ("on", "words of a schema may be SQL; set it on"),
    "server_encoding": (
        "UTF8",
        "texts are compared in UTF8; give a view without texts, or read the table as a file",
    ),
    "client_encoding": ("UTF8", "texts are compared in UTF8; set it to that"),
}
"""What a session with Postgres must have set, encodings where there are texts, and what is wrong
else.
"""


_KNOWN: tuple[Engine, ...] = ("postgres", "sqlite")
"""Engines behind Ibis that have rules of their own here, but for DuckDB, which is asked itself."""


def behind_ibis(table: Any) -> tuple[Engine, Any]:
    """The engine of a table of Ibis, and the table as it is asked for: a relation, if it is in
    DuckDB.
    """
    backend = table.get_backend()
    has_texts = any(dtype.is_string() for dtype in table.schema().values())
    for name, (wanted, problem) in _SESSION.items() if backend.name == "postgres" else ():
        if (said := backend.con.info.parameter_status(name)) != wanted and (
            has_texts or wanted == "on"
        ):
            raise SourceError(f"postgres: {name} is {said}: {problem}")
    if backend.name != "duckdb":
        return next((engine for engine in _KNOWN if engine == backend.name), "ibis"), table
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
        Columns of texts. Engines that have collations are told to compare them by their bytes,
        whatever these say; Spark by a cast of `EngineColumn.prepared`.
    """
    if engine == "pyspark":  # to which a dot in a name is more than a letter
        return native.toDF(*names.values())
    if engine == "sqlite":
        return native.select(**{alias: _of_one_type(native[name]) for name, alias in names.items()})
    if engine not in KEEP_TABLES:
        return nw.to_native(
            nw.from_native(native).select(nw.col(name).alias(names[name]) for name in names)
        )
    quoted = {name: '"{}"'.format(name.replace('"', '""')) for name in names}
    columns = quoted | {name: f'CAST({quoted[name]} AS TEXT) COLLATE "C"' for name in texts}
    if engine == "duckdb":
        kinds = dict(zip(native.columns, map(str, native.types), strict=True))
        # comparing them casts them to microseconds, which fails at one that is too far away
        coarse = {name for name in names if kinds[name] in ("TIMESTAMP_S", "TIMESTAMP_MS")}
        columns |= {name: f"TRY_CAST({quoted[name]} AS TIMESTAMP)" for name in coarse}
        return native.project(
            ", ".join(f"{columns[name]} AS {alias}" for name, alias in names.items())
        )
    backend = native.get_backend()
    types = native.schema()
    held = [_as_python_has_it(columns[name], types[name]) for name in names]
    chosen = ", ".join(
        f"{said} AS {alias}" for (said, _), alias in zip(held, names.values(), strict=True)
    )
    # OFFSET keeps Postgres from putting what is chosen into each comparison with it, anew
    query = f"SELECT {chosen} FROM ({backend.compile(native)}) AS given OFFSET 0"
    return backend.sql(
        query, schema=dict(zip(names.values(), (dtype for _, dtype in held), strict=True))
    )


_NO_FLOATS = """WHEN abs({0}) < 2.5e-324 THEN 0 WHEN {0} <> 'NaN' AND {0} > 1.7976931348623157e308 THEN 'Infinity'
    WHEN {0} < -1.7976931348623157e308 THEN '-Infinity'"""
"""What Postgres fails to cast to floats, and what it is when it is read as a text."""


def _as_python_has_it(sql: str, dtype: Any) -> tuple[str, Any]:
    """A column of Postgres and its type, so that no row is an error when it is read: one would end
    the release.

    Decimals become floats, moments are in UTC and none is before the year 1 or after 9999, which
    Python has not.
    """
    if dtype.is_decimal():
        cast = f"CAST({sql} AS DOUBLE PRECISION)"
        return (
            cast if dtype.precision else f"CASE {_NO_FLOATS.format(sql)} ELSE {cast} END",
            "float64",
        )
    if not dtype.is_date() and not dtype.is_timestamp():
        return sql, dtype
    sql = f"({sql} AT TIME ZONE 'UTC')" if dtype.is_timestamp() and dtype.timezone else sql
    clipped = f"least(greatest({sql}, '0001-01-01'), '9999-12-31 23:59:59.999999')"
    return (
        f"CASE WHEN {sql} IS NOT NULL THEN {clipped} END",
        "date" if dtype.is_date() else "timestamp",
    )


_STORED = {"text": ("text",), "integer": ("integer",), "number": ("integer", "real")}
"""What SQLite has stored where a value is one of its column's type: it lets anything stand
anywhere.
"""


def _of_one_type(column: Any) -> Any:
    """A column of SQLite, null where what is stored is of another type; texts without white space
    around them.

    SQLite's own trim takes texts as they are: what Ibis has for it fails at bytes that are no
    UTF-8.
    """
    import ibis

    dtype = column.type()
    kinds = {"integer": dtype.is_integer() or dtype.is_boolean(), "number": dtype.is_numeric()}
    kind = next((kind for kind, is_of in kinds.items() if is_of), "text")
    if (
        kind == "text"
        and not dtype.is_string()
        and not dtype.is_date()
        and not dtype.is_timestamp()
    ):
        return column
    values = _trim(column) if dtype.is_string() else column
    return ibis.ifelse(column.typeof().isin(_STORED[kind]), values, ibis.null(dtype))


def _trim(column: Any) -> Any:
    import ibis

    signature = (("string", "string"), "string")
    trim = ibis.udf.scalar.builtin(
        lambda _text, _characters: None, name="trim", signature=signature
    )
    return trim(column, WHITE_SPACE)


def new_name() -> str:
    """What a table or a view is called, as nobody else calls any."""
    return f"synthdp_{secrets.token_hex(16)}"


def unnested(words: Iterable[str]) -> str:
    """A column of public words, in which there are no commas or quotes, in the SQL of DuckDB."""
    return f"unnest(string_split('{','.join(words)}', ','))"


def with_hashes(
    engine: Engine, rows: nw.LazyFrame[Any], names: Sequence[str], key: int
) -> nw.LazyFrame[Any]:
    """The rows of a table with a hash of some columns, and of a key, in a further column `HASHED`.

    Rows that agree in these columns have one hash. That two others share theirs is a matter of
    chance, and nothing that is promised of a guarantee depends on it. Raises `SourceError` if the
    engine has no hash.
    """
    return asked(
        engine,
        "hashing rows",
        lambda: nw.from_native(_HASHES[engine](nw.to_native(rows), names, key)),
    )


def _by_polars(rows: Any, names: Sequence[str], key: int) -> Any:
    import polars as pl

    return rows.with_columns(pl.struct(names).hash(key).alias(HASHED))


def _by_duckdb(rows: Any, names: Sequence[str], key: int) -> Any:
    return rows.project(f"*, hash({', '.join([str(key), *names])}) AS {HASHED}")


def _by_ibis(rows: Any, names: Sequence[str], key: int) -> Any:
    import ibis

    text: Any = ibis.literal(str(key))
    for name in names:
        text = (
            text
            + ibis.literal(",")
            + rows[name].cast("string").hash().cast("string").fill_null("-")
        )
    return rows.mutate(**{HASHED: text.hash()})


def _by_spark(rows: Any, names: Sequence[str], key: int) -> Any:
    from pyspark.sql import functions

    return rows.withColumn(HASHED, functions.xxhash64(functions.lit(key), *names))


_HASHES: Mapping[Engine, Callable[[Any, Sequence[str], int], Any]] = {
    "polars": _by_polars, "duckdb": _by_duckdb, "postgres": _by_ibis, "sqlite": _by_ibis, "ibis": _by_ibis,
    "pyspark": _by_spark,
}  # fmt: skip
"""How rows are hashed."""
