"""Parquet files: typed tables, read in batches and written whole, by pyarrow."""

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, final

import pandas as pd

from synthdp.errors import DataFileError
from synthdp.table.files.formats import import_pyarrow
from synthdp.table.files.table_file import BATCH_ROWS, TableFile

_BUFFER_BYTES = 2**18
"""How much of each column is read at a time."""


@final
class ParquetFile(TableFile):
    """A Parquet file; needs pyarrow. Columns of lists, structures or times of day are read as missing."""

    def __init__(self, path: str | PathLike[str]) -> None:
        super().__init__(path)
        self._pyarrow = pyarrow = import_pyarrow()
        self._n_read = 0
        with self._expected_failures():
            with Path(path).open("rb"):
                pass  # the operating system explains better than pyarrow why a path cannot be opened
            self._failures: tuple[type[Exception], ...] = (pyarrow.ArrowException, OSError, ValueError, TypeError)
            try:
                # without these it would read all row groups ahead
                file = pyarrow.parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES)
                self._file: Any = self._open.enter_context(file)
            except self._failures:
                self._refuse("it is not a Parquet file; check its ending")
        self.names = tuple(self._file.schema_arrow.names)
        try:
            self._check_names()
        except DataFileError:
            self.close()
            raise

    @property
    def declared(self) -> pd.DataFrame:
        """A table without rows that has the types of the file's columns."""
        declared: pd.DataFrame = self._file.schema_arrow.empty_table().to_pandas()
        return declared

    def chunks(self) -> Iterator[pd.DataFrame]:
        """The rows in chunks of at most `BATCH_ROWS`, typed as in the file; a gap makes no floats of integers."""
        try:
            for batch in self._file.iter_batches(batch_size=BATCH_ROWS):
                batch.validate(full=True)
                columns = [self._readable(column) for column in batch.columns]
                table = self._pyarrow.Table.from_arrays(columns, names=list(self.names))
                frame = table.to_pandas(date_as_object=False, ignore_metadata=True, integer_object_nulls=True)
                self._n_read += len(frame)
                yield frame
        except MemoryError:  # Arrow's is one of its own failures, too
            raise
        except self._failures:
            self._refuse("it is damaged; make it again")

    def _readable(self, column: Any) -> Any:
        """A column in a type that becomes pandas whatever its values: others raise for some of them."""
        types = self._pyarrow.types
        if isinstance(column.type, self._pyarrow.BaseExtensionType):
            return self._readable(column.storage)
        if types.is_dictionary(column.type) and not types.is_string(column.type.value_type):
            return self._readable(column.dictionary_decode())
        if types.is_timestamp(column.type) and column.type.tz is not None:
            return column.cast(self._pyarrow.timestamp(column.type.unit))  # stays in UTC
        if types.is_nested(column.type) or types.is_time(column.type):
            return self._pyarrow.nulls(len(column))
        return column

    @property
    def fraction(self) -> float:
        """How much of the file was read."""
        return min(self._n_read / max(int(self._file.metadata.num_rows), 1), 1.0)


def write_parquet(frame: pd.DataFrame, stream: BinaryIO) -> None:
    """Write typed values to an open stream."""
    pyarrow = import_pyarrow()
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    pyarrow.parquet.write_table(table, stream)


def write_parquet_pieces(frames: Iterable[pd.DataFrame], empty: pd.DataFrame, stream: BinaryIO) -> None:
    """Write typed values to an open stream, in pieces that have the same columns; at least one.

    Texts may be categories, which are written much faster and are texts for whoever reads the file. ``empty`` is a
    table of no rows that has the types of the pieces, but for that.
    """
    pyarrow = import_pyarrow()
    as_read = pyarrow.Schema.from_pandas(empty, preserve_index=False).metadata  # what pandas is told of the types
    pieces = (pyarrow.Table.from_pandas(frame, preserve_index=False) for frame in frames)
    first = next(pieces).replace_schema_metadata(as_read)
    types = pyarrow.types
    # a dictionary of drawn floats, which are mostly different, takes longer than they do themselves, and more bytes
    few = [field.name for field in first.schema if not types.is_floating(field.type)]
    # least and greatest texts take a quarter of the time, and in rows of no order help nobody to skip any
    ordered = [field.name for field in first.schema if not types.is_dictionary(field.type)]
    options = {"use_dictionary": few, "write_statistics": ordered, "store_schema": False}
    with pyarrow.parquet.ParquetWriter(stream, first.schema, **options) as writer:
        writer.write_table(first)
        for piece in pieces:
            writer.write_table(piece.cast(first.schema))
