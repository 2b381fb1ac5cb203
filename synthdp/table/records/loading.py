"""Reading records into codes: from files in chunks that are encoded and dropped, or from a frame."""

from collections.abc import Callable, Iterator
from os import PathLike

import pandas as pd

from synthdp.table.files.table_file import TableFile
from synthdp.table.files.tables import open_table
from synthdp.table.records.codec import CodedTable, encode
from synthdp.table.records.held_table import HeldTable, HeldTableReader
from synthdp.table.schema.open_schema import OpenSchema
from synthdp.table.schema.schema import Schema


def read_coded(
    path: str | PathLike[str], schema: Schema, *, progress: Callable[[float], object] | None = None
) -> CodedTable:
    """Read and encode a table file; columns come in the order of the schema.

    Parameters
    ----------
    path
        CSV, Parquet or Excel by its ending, or ``-`` for CSV from standard input; written as the schema's
        dialect says. A header without rows is a table like any other.
    schema
        Its names must be the header's, in any order; checked before any row is read.
    progress
        Called after every chunk with the fraction of the file that was read, 0 to 1, and
        with 1 at the end.

    Raises
    ------
    DataFileError
        If the file cannot be read: missing, damaged, empty, ragged, or not in the declared encoding.
    SchemaError
        If the header does not hold the schema's names.
    """
    with open_table(path, schema.dialect) as table:
        schema.check_header(table.names)
        return CodedTable.concatenate(schema.domain, [encode(chunk, schema) for chunk in chunks_of(table, progress)])


def held_rows(
    table: TableFile,
    schema: OpenSchema,
    *,
    unit: str | None = None,
    max_rows: int = 1,
    progress: Callable[[float], object] | None = None,
) -> HeldTable:
    """Read the rows of an open table, once, and hold them until their domain is known.

    ``unit`` names the column of the ids of persons, of each of whom at most ``max_rows`` rows are
    kept (`ParameterError` if below 1); see `held.HeldTableReader`. All else is as in `read_coded`.
    """
    reader = HeldTableReader(schema, unit=unit, max_rows=max_rows)
    schema.check_header(table.names, unit=unit)
    for chunk in chunks_of(table, progress):
        reader.add(chunk)
    return reader.finish()


def held_frame(frame: pd.DataFrame, schema: OpenSchema, *, unit: str | None = None, max_rows: int = 1) -> HeldTable:
    """Hold the rows of a data frame until their domain is known; raises as `held_rows` does."""
    reader = HeldTableReader(schema, unit=unit, max_rows=max_rows)
    reader.add(frame)
    return reader.finish()


def chunks_of(table: TableFile, progress: Callable[[float], object] | None = None) -> Iterator[pd.DataFrame]:
    """The chunks of a table, with progress told after each was used, and at the end.

    Raises `DataFileError` if the file was changed meanwhile.
    """
    for chunk in table.coded_chunks():
        yield chunk
        if progress is not None:
            progress(table.fraction)
    table.check_unchanged()
    if progress is not None:
        progress(1.0)
