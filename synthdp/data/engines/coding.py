"""The codes of all rows, worked out once and kept where the rows are, in few bytes; then counted.

Those of polars, which runs in this process, are counted as those of a file.
"""

import json
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from synthdp.core.errors import SourceError
from synthdp.data.codes.coded_table import CodedTable
from synthdp.data.engines.codes import code_of, lookup_of
from synthdp.data.engines.comparisons import CodesByValue
from synthdp.data.engines.engine_frame import AROUND, GIVEN, EngineFrame
from synthdp.data.engines.engine_source import EngineSource
from synthdp.data.engines.engines import KEEP_TABLES, Engine, unnested
from synthdp.data.engines.keeping import forget_with, kept
from synthdp.data.records.coded_source import CodedSource
from synthdp.data.records.placed_source import PlacedSource, source_of
from synthdp.schema.columns.column import code_dtype
from synthdp.schema.schema import Schema

WHAT = "counting rows"
"""What is said to fail."""


def coded_source(frame: EngineFrame, schema: Schema) -> CodedSource | PlacedSource | EngineSource:
    """Exact counts of a table in an engine by a closed schema.

    Raises
    ------
    SchemaError
        As `code_of`.
    SourceError
        If the engine fails.
    """
    names = [f"code_{i}" for i in range(len(schema.columns))]
    # Its memory is ours: codes come here once, and are counted as those of a file are.
    if frame.engine == "polars":
        return _in_memory(frame, schema, names)
    if frame.engine in KEEP_TABLES:
        given, codes, joins = frame.asked(WHAT, lambda: _looked_up(frame, schema, names))

        def select(name: str) -> str:
            return f"SELECT {codes} FROM {name} AS given {joins}"

        rows, forget = kept(
            frame, lambda: given, WHAT, select=select, types=dict.fromkeys(names, "int32")
        )
    else:
        small = [nw.col(name).cast(nw.Int32) for name in names]
        rows, forget = kept(frame, lambda: _coded(frame, schema, names).select(small), WHAT)
    source = EngineSource(frame.with_rows(rows), schema.domain, names)
    forget_with(source, forget)
    return source


def _coded(frame: EngineFrame, schema: Schema, names: Sequence[str]) -> nw.LazyFrame[Any]:
    columns = zip(schema.columns, names, strict=True)
    return frame.rows.select(
        code_of(column, frame.columns[column.source]).alias(name) for column, name in columns
    )


def _in_memory(
    frame: EngineFrame, schema: Schema, names: Sequence[str]
) -> CodedSource | PlacedSource:
    narrow = {np.uint8: nw.UInt8, np.uint16: nw.UInt16, np.uint32: nw.UInt32, np.uint64: nw.UInt64}
    types = [narrow[code_dtype(size).type] for size in schema.domain.shape]
    casts = [nw.col(name).cast(dtype) for name, dtype in zip(names, types, strict=True)]
    codes = frame.collected(lambda: _coded(frame, schema, names).select(casts), WHAT)
    columns = frame.asked(WHAT, lambda: tuple(codes[name].to_numpy() for name in names))
    # A null became a float or an object: a row without a code.
    if any(column.dtype.kind != "u" for column in columns):
        raise SourceError(f"{frame.engine}: it gave no code for a row; do not count by this engine")
    return source_of(CodedTable(schema.domain, columns), schema)


_TYPES: dict[Engine, dict[int, str]] = {
    "duckdb": {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER", 8: "UBIGINT"},
    "postgres": {1: "SMALLINT", 2: "INTEGER", 4: "BIGINT", 8: "BIGINT"},
}
"""Types of codes by their bytes."""

_STRIPPED = f"regexp_replace({{}}, '{AROUND}', '', 'g')"
"""A text without white space around it."""


def _looked_up(
    frame: EngineFrame, schema: Schema, names: Sequence[str]
) -> tuple[nw.LazyFrame[Any], str, str]:
    """A query, codes in terms of its columns, and joins with public values by which DuckDB finds
    them.

    Most texts are levels as they stand. Only the others are stripped of white space, which takes
    longer than all else.
    """
    chosen = []
    codes = []
    joins = []
    way = {"duckdb": _joined, "postgres": _in_json}[frame.engine]
    for number, (column, name, size) in enumerate(
        zip(schema.columns, names, schema.domain.shape, strict=True)
    ):
        held = frame.columns[column.source]
        code = f"given.{name}"
        lookup = lookup_of(column, held)
        is_text = held.family == "text"
        if lookup is None or not lookup.codes:
            # Numbers and dates are worked out by comparisons with public edges; only texts are
            # looked up.
            chosen.append(code_of(column, held).alias(name))
        else:
            chosen.append((nw.col(held.alias + GIVEN) if is_text else lookup.values).alias(name))
            looked_up, joined = way(f"known_{number}", code, lookup.codes, is_text=is_text)
            joins.append(joined)
            looked_up = f"coalesce({looked_up}, {lookup.unknown})"
            code = f"CASE WHEN {code} IS NULL THEN {int(column.missing_code)} ELSE {looked_up} END"
        codes.append(f"CAST({code} AS {_TYPES[frame.engine][code_dtype(size).itemsize]}) AS {name}")
    return frame.rows.select(chosen), ", ".join(codes), " ".join(joins)


def _joined(name: str, given: str, codes: CodesByValue, *, is_text: bool) -> tuple[str, str]:
    """A code by joins with public values: whole numbers, or texts that are compared by their bytes."""
    # Or unsigned ones of 128 bits would be cast, and fail.
    given = given if is_text else f"TRY_CAST({given} AS BIGINT)"
    words = [value.encode().hex() if is_text else str(int(value)) for value in codes]
    word, code = map(unnested, (words, map(str, codes.values())))
    word = f"decode(unhex({word}))" if is_text else f"CAST({word} AS BIGINT)"
    join = f"LEFT JOIN (SELECT {word} AS word, CAST({code} AS INTEGER) AS code) AS {name}"
    if is_text:
        keys = [given, f"CASE WHEN {name}_0.code IS NULL THEN {_STRIPPED.format(given)} END"]
    else:
        keys = [given]
    joins = (f"{join}_{turn} ON {key} = {name}_{turn}.word" for turn, key in enumerate(keys))
    return ", ".join(f"{name}_{turn}.code" for turn in range(len(keys))), " ".join(joins)


def _in_json(_name: str, given: str, codes: CodesByValue, *, is_text: bool) -> tuple[str, str]:
    """A code by the keys of a constant, which Postgres searches by halving, by their bytes."""
    quoted = (
        json.dumps({str(value): code for value, code in codes.items()})
        .replace("\\", "\\\\")
        .replace("'", "''")
    )
    keys = [given, _STRIPPED.format(given)] if is_text else [f"CAST({given} AS TEXT)"]
    return ", ".join(f"CAST(CAST(E'{quoted}' AS JSONB) ->> {key} AS INTEGER)" for key in keys), ""
