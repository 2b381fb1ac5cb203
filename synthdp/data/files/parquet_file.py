"""Parquet files: typed tables, read in batches and written whole, by pyarrow."""

from collections.abc import Iterable, Iterator
from io import SEEK_END, FileIO
from itertools import islice, repeat
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np
import pandas as pd

from synthdp.core.errors import DataFileError
from synthdp.data.files.formats import import_pyarrow
from synthdp.data.files.table_file import BATCH_ROWS, TableFile
from synthdp.schema.columns.arrow_values import is_numbers_in_one, times_of
from synthdp.schema.dialect import USUAL, Dialect
from synthdp.schema.words.with_columns import with_columns

_BUFFER_BYTES = 2**18
"""How much of each column is read at a time."""


@final
class ParquetFile(TableFile):
    """A Parquet file; needs pyarrow. Columns of lists or structures are read as missing, but for
    those of numbers.

    No value ends the reading. Parquet checks none: texts may be no UTF-8, times of day beyond any
    day. What cannot be unpacked is damaged, whatever its values are.
    """

    def __init__(self, path: str | PathLike[str], dialect: Dialect = USUAL) -> None:  # noqa: ARG002
        super().__init__(path)
        self._pyarrow: Any = import_pyarrow()
        pyarrow = self._pyarrow
        self._n_read = 0
        with self._expected_failures():
            with Path(path).open("rb"):
                pass  # the operating system explains better than pyarrow why a path cannot be opened
            self._failures: tuple[type[Exception], ...] = (
                pyarrow.ArrowException,
                OSError,
                ValueError,
                TypeError,
            )
            try:
                # without these it would read all row groups ahead
                file = pyarrow.parquet.ParquetFile(
                    path, pre_buffer=False, buffer_size=_BUFFER_BYTES
                )
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
        empty = self._file.schema_arrow.empty_table()
        declared: pd.DataFrame = empty.to_pandas(types_mapper=self._as_declared)
        return declared

    def _as_declared(self, kind: Any) -> Any:
        """The dtype of times of day, for which pandas has none of its own; None for other types."""
        return pd.ArrowDtype(kind) if self._pyarrow.types.is_time(kind) else None

    def chunks(self) -> Iterator[pd.DataFrame]:
        """The rows in chunks of at most `BATCH_ROWS`, typed as in the file; a gap makes no floats
        of integers.
        """
        try:
            for batch in self._batches():
                columns = {name: self._readable(column) for name, column in batch.items()}
                odd = {
                    name: column
                    for name, column in columns.items()
                    if isinstance(column, pd.Series)
                }
                columns |= {name: self._pyarrow.nulls(len(column)) for name, column in odd.items()}
                table = self._pyarrow.Table.from_pydict(columns)
                frame = table.to_pandas(
                    date_as_object=False, ignore_metadata=True, integer_object_nulls=True
                )
                frame = with_columns(frame, odd)
                self._n_read += len(frame)
                yield frame
        except MemoryError:  # Arrow's is one of its own failures, too
            raise
        except self._failures:
            self._refuse("it is damaged; make it again")

    def _batches(self) -> Iterator[dict[str, Any]]:
        """The columns of some rows after the other.

        Arrow reads a column as a dictionary if the file says that it was one, and then ends at a
        text that is no UTF-8; as a column of texts it reads the same values, so that is
        asked for then.
        """
        n_done = 0
        try:
            for batch in self._file.iter_batches(batch_size=BATCH_ROWS):
                yield dict(zip(self.names, batch.columns, strict=True))
                n_done += 1
            return
        except self._pyarrow.ArrowInvalid:
            types = self._pyarrow.types
            kinds = zip(self.names, self._file.schema_arrow.types, strict=True)
            coded = [name for name, kind in kinds if types.is_dictionary(kind)]
            if not coded:
                raise
        # Read again as plain texts, side by side with the columns that are read as before. What was
        # already handed on is passed over, so that no row comes twice.
        others = [name for name in self.names if name not in coded]
        stream = self._open.enter_context(_WithoutSchema(self._path))
        plain = self._open.enter_context(
            self._pyarrow.parquet.ParquetFile(stream, pre_buffer=False)
        )
        pieces = zip(
            self._file.iter_batches(batch_size=BATCH_ROWS, columns=others)
            if others
            else repeat(None),
            plain.iter_batches(batch_size=BATCH_ROWS, columns=coded),
            strict=False,
        )
        for batches in islice(pieces, n_done, None):
            columns = {
                name: batch.column(name)
                for batch in batches
                if batch is not None
                for name in batch.schema.names
            }
            yield {name: columns[name] for name in self.names}

    def _readable(self, column: Any) -> Any:
        """A column in a type that becomes pandas whatever its values: others raise for some of
        them.

        Texts that are not all UTF-8 are a series of objects. Raises `ArrowInvalid` if its parts do
        not fit together.
        """
        types = self._pyarrow.types
        column.validate()
        if isinstance(column.type, self._pyarrow.BaseExtensionType):
            return self._readable(column.storage)
        if types.is_dictionary(column.type):
            self._check_indices(column)
            if not types.is_string(column.type.value_type):
                return self._readable(column.dictionary_decode())
        if types.is_timestamp(column.type) and column.type.tz is not None:
            return column.cast(self._pyarrow.timestamp(column.type.unit))  # stays in UTC
        if types.is_time(column.type):
            return pd.Series(times_of(column), dtype=object)
        if is_numbers_in_one(column.type):
            return pd.Series(np.fromiter(column.to_pylist(), dtype=object), dtype=object)
        if types.is_nested(column.type):
            return self._pyarrow.nulls(len(column))
        return column if self._is_utf8(column) else _texts(column)

    def _check_indices(self, column: Any) -> None:
        """Raise `ArrowInvalid` if a dictionary has no entry of some number."""
        ends = self._pyarrow.compute.min_max(column.indices).as_py()
        if ends["min"] is not None and not 0 <= ends["min"] <= ends["max"] < len(column.dictionary):
            raise self._pyarrow.ArrowInvalid("indices")

    def _is_utf8(self, column: Any) -> bool:
        """Whether the texts of a column are texts; True if it holds none."""
        types = self._pyarrow.types
        kind = column.type
        if not any(
            is_text(kind)
            for is_text in (types.is_string, types.is_large_string, types.is_dictionary)
        ):
            return True
        try:
            column.validate(full=True)
        except self._pyarrow.ArrowInvalid:
            return False
        return True

    @property
    def fraction(self) -> float:
        """How much of the file was read."""
        return min(self._n_read / max(int(self._file.metadata.num_rows), 1), 1.0)


@final
class _WithoutSchema(FileIO):
    """A Parquet file that does not say what its columns were in Arrow: the key of that note is
    another one.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        super().__init__(path)
        n_bytes = self.seek(0, SEEK_END)
        self.seek(n_bytes - 8)
        self._start = n_bytes - 8 - int.from_bytes(super().read(4), "little")
        self.seek(self._start)
        self._footer = super().read(-1).replace(b"ARROW:schema", b"NO-ARROW-KEY", 1)
        self.seek(0)

    def read(self, size: int | None = -1, /) -> bytes:
        place = self.tell()
        content = super().read(size)
        if place + len(content) <= self._start:
            return content
        inside = max(place - self._start, 0)
        before = content[: max(self._start - place, 0)]
        return before + self._footer[inside : inside + len(content) - len(before)]


def _texts(column: Any) -> pd.Series:
    """Texts, each decoded by itself; bytes that are no UTF-8 stay bytes, which no column takes for
    a text.
    """
    dense = column.dictionary_decode() if hasattr(column, "dictionary") else column
    return pd.Series(
        np.fromiter(map(_text, dense.cast("large_binary").to_pylist()), dtype=object), dtype=object
    )


def _text(value: bytes | None) -> str | bytes | None:
    try:
        return value if value is None else value.decode()
    except UnicodeDecodeError:
        return value


def write_parquet(frame: pd.DataFrame, stream: BinaryIO) -> None:
    """Write typed values to an open stream."""
    pyarrow = import_pyarrow()
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    pyarrow.parquet.write_table(table, stream)


def write_parquet_pieces(
    frames: Iterable[pd.DataFrame], empty: pd.DataFrame, stream: BinaryIO
) -> None:
    """Write typed values to an open stream, in pieces that have the same columns; at least one.

    Texts may be categories, which are written much faster and are texts for whoever reads the file.
    ``empty`` is a table of no rows that has the types of the pieces, but for that.
    """
    pyarrow = import_pyarrow()
    # What the file tells pandas of the types.
    as_read = pyarrow.Schema.from_pandas(empty, preserve_index=False).metadata
    pieces = (pyarrow.Table.from_pandas(frame, preserve_index=False) for frame in frames)
    first = next(pieces).replace_schema_metadata(as_read)
    types = pyarrow.types
    # a dictionary of drawn floats, which are mostly different, takes longer than they do
    # themselves, and more bytes
    few = [field.name for field in first.schema if not types.is_floating(field.type)]
    # least and greatest texts take a quarter of the time, and in rows of no order help nobody to
    # skip any
    ordered = [field.name for field in first.schema if not types.is_dictionary(field.type)]
    options = {"use_dictionary": few, "write_statistics": ordered, "store_schema": False}
    with pyarrow.parquet.ParquetWriter(stream, first.schema, **options) as writer:
        writer.write_table(first)
        for piece in pieces:
            writer.write_table(piece.cast(first.schema))
