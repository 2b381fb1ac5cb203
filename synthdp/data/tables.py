"""Tables in files of any kind: opened for reading, and written, by the ending of the name."""

from collections.abc import Iterable
from os import PathLike
from typing import BinaryIO

import pandas as pd

from synthdp.core.files.writing import write_atomically
from synthdp.data.files.formats import FileKind, Format, check_extras, file_kind, is_set
from synthdp.data.files.table_file import TableFile
from synthdp.data.openers import opener, writer
from synthdp.schema.dialect import USUAL, Dialect


def open_table(path: str | PathLike[str], dialect: Dialect = USUAL) -> TableFile:
    """Open a table by the ending of its name: CSV, Parquet or Excel; ``-`` is CSV from standard
    input.

    Parameters
    ----------
    path
        The file; or a folder, or a pattern such as ``part-*.csv``, whose files are one table
        (`file_set`).
    dialect
        How it is written: marks and encoding of CSV, the sheet of an Excel file.

    Raises
    ------
    DataFileError
        If the file cannot be opened, is empty, or is not what its ending says; or several are not
        one table.
    MissingExtraError
        If a library is not installed that its kind needs.
    """
    table: TableFile
    if is_set(path):
        table = opener("set of files")(path, lambda part: open_table(part, dialect))
    else:
        table = opener(file_kind(path).format.value)(path, dialect)
    return table


def check_kind(path: str | PathLike[str], n_rows: int | None) -> None:
    """Refuse to write a table beforehand, if its kind of file cannot be written or holds fewer
    rows.

    Raises `DataFileError` or `MissingExtraError`.
    """
    check_extras(path)
    if file_kind(path).format is Format.EXCEL:
        writer("size of Excel")(n_rows or 0, 0)


def write_frame(
    frame: pd.DataFrame, path: str | PathLike[str], *, force: bool, dialect: Dialect = USUAL
) -> None:
    """Write a table as CSV, Parquet or Excel, by the ending of ``path``.

    Parameters
    ----------
    frame
        For CSV the texts that `decode` gives with ``text=True``, for the others the typed
        values; `formats.is_text` tells which. The same frame gives the same bytes.
    path, force
        As in `writing.write_atomically`.
    dialect
        Marks and encoding of a CSV file; a ``.tsv`` file has tabs in any dialect.

    Raises
    ------
    DataFileError
        If the ending is not known, the file exists and ``force`` is not set, or cannot be written.
    MissingExtraError
        If a library is not installed that the kind of file needs.
    """
    check_extras(path)
    with write_atomically(path, force=force) as stream:
        write_rows(frame, stream, file_kind(path), dialect)


def write_rows(
    frame: pd.DataFrame, stream: BinaryIO, kind: FileKind, dialect: Dialect = USUAL
) -> None:
    """Write a table to an open stream; see `write_frame`."""
    if kind.format is Format.PARQUET:
        writer("Parquet")(frame, stream)
    elif kind.format is Format.EXCEL:
        writer("Excel")(frame, stream, dialect.sheet)
    else:
        writer("CSV")([frame], stream, kind, dialect)


def write_pieces(
    frames: Iterable[pd.DataFrame],
    empty: pd.DataFrame,
    stream: BinaryIO,
    kind: FileKind,
    dialect: Dialect = USUAL,
) -> None:
    """Write a long table to an open stream, piece by piece, as CSV or Parquet.

    Parameters
    ----------
    frames
        Pieces of the table, at least one: texts for CSV; typed for Parquet, where categories stand
        for texts.
    empty
        The table without rows, and with texts.
    stream, kind, dialect
        As in `write_rows`.
    """
    if kind.format is Format.PARQUET:
        writer("Parquet in pieces")(frames, empty, stream)
    else:
        writer("CSV")(frames, stream, kind, dialect)
