"""Row hashes: one keyed number a row, worked out by each engine in its own way from that row alone."""

from collections.abc import Callable, Sequence
from typing import Any

import narwhals as nw

from synthdp.sources.engine_frame import EngineColumn, EngineFrame
from synthdp.table.asking import asked

HASHED = "hashed"
"""What the column of hashes is called."""


def with_hashes(frame: EngineFrame, columns: Sequence[EngineColumn], key: int) -> nw.LazyFrame[Any]:
    """The rows of a table with a hash of some columns, and of a key, in a further column `HASHED`.

    Rows that agree in these columns have one hash. That two others share theirs is a matter of chance, and
    nothing that is promised of a guarantee depends on it. Raises `SourceError` if the engine has no hash.
    """
    native = nw.to_native(frame.rows)
    way = _WAYS[frame.engine]
    return asked(frame.engine, "hashing rows", lambda: nw.from_native(way(native, columns, key)))


def _by_polars(rows: Any, columns: Sequence[EngineColumn], key: int) -> Any:
    import polars as pl

    return rows.with_columns(pl.struct([each.alias for each in columns]).hash(key).alias(HASHED))


def _by_duckdb(rows: Any, columns: Sequence[EngineColumn], key: int) -> Any:
    return rows.project(f"*, hash({', '.join([str(key), *(each.alias for each in columns)])}) AS {HASHED}")


def _by_ibis(rows: Any, columns: Sequence[EngineColumn], key: int) -> Any:
    import ibis

    text: Any = ibis.literal(str(key))
    for each in columns:
        hashed = rows[each.alias].cast("string").hash().cast("string")
        text = text + ibis.literal(",") + hashed.fill_null("-")
    return rows.mutate(**{HASHED: text.hash()})


def _by_spark(rows: Any, columns: Sequence[EngineColumn], key: int) -> Any:
    from pyspark.sql import functions

    return rows.withColumn(HASHED, functions.xxhash64(functions.lit(key), *[each.alias for each in columns]))


_WAYS: dict[str, Callable[[Any, Sequence[EngineColumn], int], Any]] = {
    "polars": _by_polars,
    "duckdb": _by_duckdb,
    "ibis": _by_ibis,
    "pyspark": _by_spark,
    "pyspark_connect": _by_spark,
}
