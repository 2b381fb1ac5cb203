"""Rows out of an engine, for what needs rows and no counts: sorted there, and read batch by batch."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pandas as pd

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.data.engines.engine_frame import EngineFrame
from synthdp.data.engines.engines import BEHIND_IBIS, Engine
from synthdp.data.frames.containers import opened
from synthdp.data.frames.partitioned_frame import PartitionedFrame

ROWS_AT_ONCE = 2**16
"""Rows of a batch: some megabytes."""

_OF_KEYS = ("integer", "text", "boolean", "date")
"""Families of types whose values come here as they are. Others are rounded or cut off by some
engine, so that two keys could become one, and two units of privacy with them.
"""


def streamed(
    frame: EngineFrame, names: Sequence[str], *, used: Sequence[str], keys: Collection[str]
) -> PartitionedFrame:
    """Some columns of all rows of a table in an engine, read in this process.

    Why they are sorted, by all columns that are used. Which rows of a family are kept depends on
    their order, and an engine gives rows in whatever order it likes: where a row stands could
    depend on rows of others. Of two sorted rows the order depends on these two alone, and rows that
    are equal in all of them may change places.

    Parameters
    ----------
    frame
        The table.
    names
        The columns that are read; those that are not used are missing where their type is not
        known.
    used
        Those of them that anything depends on.
    keys
        Those of these that are compared with others, as keys.

    Raises
    ------
    ParameterError
        If the engine is none of which it is known that it sorts texts by their bytes.
    SchemaError
        If a column is of a type that is not read, or a key of one whose values may be rounded.
    """
    if frame.engine in BEHIND_IBIS:
        raise ParameterError(
            "data is in an engine behind Ibis of which nobody knows how it sorts texts, so that rows of one family "
            "have no order; give tables of polars, DuckDB, Postgres or Spark, or files"
        )
    for name in used:
        column = frame.columns[name]
        is_cut_off = column.family not in _OF_KEYS or (
            # Postgres has infinite dates, and some before the year 1: they become the last and
            # first.
            column.family == "date" and frame.engine == "postgres"
        )
        if column.family == "other" or (name in keys and is_cut_off):
            what = "a key" if name in keys else "a column"
            raise SchemaError(
                f"column {name!r} is {what} of type {column.dtype} in {frame.engine}, which is not read row by row; "
                "give a view that casts it to a text or an integer"
            )
    read = [name for name in names if name in used or frame.columns[name].family != "other"]
    aliases = {name: frame.columns[name].alias for name in read}

    def batches() -> Iterator[pd.DataFrame]:
        rows = frame.rows.select(aliases.values())
        ordered = rows.sort([aliases[name] for name in used], nulls_last=True) if used else rows
        for batch in _BATCHES.get(frame.engine, _of_ibis)(ordered.to_native()):
            yield opened(batch).frame.set_axis(read, axis="columns").reindex(columns=list(names))

    empty = pd.DataFrame({name: pd.Series(dtype=object) for name in names})
    return PartitionedFrame(frame.engine, empty, names=tuple(names), partitions=batches)


def _of_polars(rows: Any) -> Iterator[Any]:
    # Sorted it is in memory in any case.
    yield from rows.collect(engine="streaming").iter_slices(ROWS_AT_ONCE)


def _of_duckdb(rows: Any) -> Iterator[Any]:
    from pyarrow import Table

    # `to_arrow_reader` is its name since DuckDB 1.5
    reader = getattr(rows, "to_arrow_reader", None) or rows.fetch_record_batch
    yield from (Table.from_batches([batch]) for batch in reader(ROWS_AT_ONCE))


def _of_ibis(rows: Any) -> Iterator[Any]:
    from pyarrow import Table

    batches = rows.to_pyarrow_batches(chunk_size=ROWS_AT_ONCE)
    yield from (Table.from_batches([batch]) for batch in batches)


def _of_spark(rows: Any) -> Iterator[pd.DataFrame]:
    names = rows.columns
    each = rows.toLocalIterator()
    while batch := list(islice(each, ROWS_AT_ONCE)):
        # Objects of Python: a guess of types by pandas would depend on other rows.
        yield pd.DataFrame([tuple(row) for row in batch], columns=names, dtype=object)


_BATCHES: Mapping[Engine, Callable[[Any], Iterator[Any]]] = {
    "polars": _of_polars,
    "duckdb": _of_duckdb,
    "pyspark": _of_spark,
}
"""How batches come out of an engine; out of Postgres by Ibis."""
