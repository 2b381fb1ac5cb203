"""The codes of all rows, worked out once and kept where the rows are, in few bytes; then counted.

In DuckDB they are a temporary table, which may spill to the disk and is dropped when the counts are no longer needed;
in Spark a data frame that is persisted; in polars, which runs in this process, columns of codes as of a file. All
scans then see the rows of one moment. Databases behind Ibis are only read: each query works codes out anew.
"""

import secrets
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import narwhals as nw
import numpy as np

from synthdp.errors import SourceError
from synthdp.sources.codes import code_of, lookup_of
from synthdp.sources.comparisons import Lookup
from synthdp.sources.engine_frame import AROUND, GIVEN, EngineFrame, collected
from synthdp.sources.engine_source import EngineSource
from synthdp.table.asking import asked
from synthdp.table.columns.column import Column, code_dtype
from synthdp.table.records.codec import CodedTable
from synthdp.table.records.coded_source import CodedSource
from synthdp.table.schema.schema import Schema

WHAT = "counting rows"
"""What is said to fail."""


def coded_source(frame: EngineFrame, schema: Schema) -> CodedSource | EngineSource:
    """Exact counts of a table in an engine by a closed schema.

    Raises
    ------
    SchemaError
        As `code_of`.
    SourceError
        If the engine fails.
    """
    names = [f"code_{i}" for i in range(len(schema.columns))]
    if frame.engine == "polars":
        return _in_memory(frame, schema, names)
    way = _KEPT.get(frame.engine)
    if way is None:
        return EngineSource(frame.with_rows(_coded(frame, schema, names)), schema.domain, names)
    rows, forget = asked(frame.engine, WHAT, lambda: way(frame, schema, names))
    source = EngineSource(frame.with_rows(rows), schema.domain, names)
    weakref.finalize(source, forget).atexit = False  # what is left at the end ends with the connection
    return source


def _coded(frame: EngineFrame, schema: Schema, names: Sequence[str]) -> nw.LazyFrame[Any]:
    columns = zip(schema.columns, names, strict=True)
    return frame.rows.select(code_of(column, frame.columns[column.source]).alias(name) for column, name in columns)


def _in_memory(frame: EngineFrame, schema: Schema, names: Sequence[str]) -> CodedSource:
    narrow = {np.uint8: nw.UInt8, np.uint16: nw.UInt16, np.uint32: nw.UInt32, np.uint64: nw.UInt64}
    types = [narrow[code_dtype(size).type] for size in schema.domain.shape]
    casts = [nw.col(name).cast(dtype) for name, dtype in zip(names, types, strict=True)]
    codes = asked(frame.engine, WHAT, lambda: collected(_coded(frame, schema, names).select(casts)))
    columns = asked(frame.engine, WHAT, lambda: tuple(codes[name].to_numpy() for name in names))
    if any(column.dtype.kind != "u" for column in columns):
        raise SourceError(f"{frame.engine}: it gave no code for a row; do not count by this engine")
    return CodedSource(CodedTable(schema.domain, columns))


_Kept = tuple[nw.LazyFrame[Any], Callable[[], object]]
"""The codes, and what forgets them."""


def _in_duckdb(frame: EngineFrame, schema: Schema, names: Sequence[str]) -> _Kept:
    """Codes in a temporary table; what is looked up is joined with public values, as DuckDB does it fastest."""
    view, table = (f"synthdp_{secrets.token_hex(16)}" for _ in range(2))  # names that nobody has
    chosen, codes, joins = [], [], []
    for number, (column, name, size) in enumerate(zip(schema.columns, names, schema.domain.shape, strict=True)):
        held = frame.columns[column.source]
        lookup, code = lookup_of(column, held), f"{view}.{name}"
        if lookup is None or not lookup.codes:
            chosen.append(code_of(column, held).alias(name))
        else:
            is_text = held.family == "text"
            chosen.append((nw.col(held.alias + GIVEN) if is_text else lookup.values).alias(name))
            code, joined = _joined(f"known_{number}", code, column, lookup, is_text=is_text)
            joins.append(joined)
        codes.append(f"CAST({code} AS {_UNSIGNED[code_dtype(size).itemsize]}) AS {name}")
    given = nw.to_native(frame.rows.select(chosen))
    given.query(view, f"CREATE TEMP TABLE {table} AS SELECT {', '.join(codes)} FROM {view} {' '.join(joins)}")

    def forget() -> None:
        with suppress(Exception):  # the connection may be closed
            given.query(view, f"DROP TABLE IF EXISTS {table}")

    return nw.from_native(given.query(view, f"SELECT * FROM {table}")), forget


_UNSIGNED = {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER", 8: "UBIGINT"}
"""DuckDB's types by their bytes."""


def _joined(name: str, given: str, column: Column, lookup: Lookup, *, is_text: bool) -> tuple[str, str]:
    """A code, and the joins with public values that find it; texts as their bytes: no collation takes two for one.

    Most texts are levels as they stand. Only the others are stripped of white space, which takes longer than all else.
    """
    words = [value.encode().hex() if is_text else str(int(value)) for value in lookup.codes]
    word, code = (f"unnest(string_split('{','.join(each)}', ','))" for each in (words, map(str, lookup.codes.values())))
    word = f"unhex({word})" if is_text else f"CAST({word} AS BIGINT)"
    known = f"LEFT JOIN (SELECT {word} AS word, CAST({code} AS INTEGER) AS code) AS {name}"
    stripped = f"encode(regexp_replace({given}, '{AROUND}', '', 'g'))"
    keys = [f"encode({given})", f"CASE WHEN {name}_0.code IS NULL THEN {stripped} END"] if is_text else [given]
    joins = (f"{known}_{turn} ON {key} = {name}_{turn}.word" for turn, key in enumerate(keys))
    found = ", ".join(f"{name}_{turn}.code" for turn in range(len(keys)))
    code = f"CASE WHEN {given} IS NULL THEN {int(column.missing_code)} ELSE coalesce({found}, {lookup.unknown}) END"
    return code, " ".join(joins)


def _in_spark(frame: EngineFrame, schema: Schema, names: Sequence[str]) -> _Kept:
    coded = nw.to_native(_coded(frame, schema, names).select(nw.col(name).cast(nw.Int32) for name in names)).persist()

    def forget() -> None:
        with suppress(Exception):  # the session may be stopped
            coded.unpersist()

    return nw.from_native(coded), forget


_KEPT: dict[str, Callable[[EngineFrame, Schema, Sequence[str]], _Kept]] = {
    "duckdb": _in_duckdb,
    "pyspark": _in_spark,
    "pyspark_connect": _in_spark,
}
