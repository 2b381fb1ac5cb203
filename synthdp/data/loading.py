"""Reading records into codes: from files and partitions in chunks that are encoded and dropped, or
from a frame.
"""

from collections.abc import Callable, Iterator
from os import PathLike

import pandas as pd

from synthdp.data.asking.chunked_table import ChunkedTable
from synthdp.data.codes.coded_table import CodedTable
from synthdp.data.openers import opener
from synthdp.data.records.codec import encode
from synthdp.data.records.held_table import HeldTable, HeldTableReader
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema


def read_coded(
    path: str | PathLike[str], schema: Schema, *, progress: Callable[[float], object] | None = None
) -> CodedTable:
    """Read and encode a table file; columns come in the order of the schema.

    Parameters
    ----------
    path
        CSV, Parquet or Excel by its ending, or ``-`` for CSV from standard input; written as the
        schema's dialect says. A header without rows is a table like any other.
    schema
        Its names must be the header's, in any order; checked before any row is read.
    progress
        Called after every chunk with the fraction of the file that was read, 0 to 1, and
        with 1 at the end.

    Raises
    ------
    DataFileError
        If the file cannot be read: missing, damaged, empty, ragged, or not in the declared
        encoding.
    SchemaError
        If the header does not hold the schema's names.
    """
    with opener("file")(path, schema.dialect) as table:
        schema.check_header(table.names)
        return CodedTable.concatenate(
            schema.domain, [encode(chunk, schema) for chunk in chunks_of(table, progress)]
        )


def held_rows(
    table: ChunkedTable | pd.DataFrame,
    schema: OpenSchema,
    *,
    unit: str | None = None,
    max_rows: int = 1,
    progress: Callable[[float], object] | None = None,
) -> HeldTable:
    """Read the rows of an open table, once, and hold them until their domain is known.

    ``unit`` names the column of the ids of persons, of each of whom at most ``max_rows`` rows are
    kept (`ParameterError` if below 1); see
    `synthdp.data.records.held_table.HeldTableReader`. All else is as in `read_coded`; of
    partitions `SourceError` is raised as by `PartitionedFrame.chunks`.
    """
    reader = HeldTableReader(schema, unit=unit, max_rows=max_rows)
    schema.check_header(
        table.names if isinstance(table, ChunkedTable) else table.columns, unit=unit
    )
    for chunk in chunks_of(table, progress):
        reader.add(chunk)
        del chunk  # or it would be there until the next one is
    return reader.finish()


def chunks_of(
    table: ChunkedTable | pd.DataFrame, progress: Callable[[float], object] | None = None
) -> Iterator[pd.DataFrame]:
    """The chunks of a table; progress is reported after each one, if it may be, and at the end.

    A data frame is one chunk. Raises `DataFileError` if a file was changed meanwhile.
    """
    if isinstance(table, pd.DataFrame):
        yield table
        return
    for chunk in table.coded_chunks():
        yield chunk
        del chunk  # as in `held_rows`
        if progress is not None and table.fraction is not None:
            progress(table.fraction)
    table.check_unchanged()
    if progress is not None:
        progress(1.0)
