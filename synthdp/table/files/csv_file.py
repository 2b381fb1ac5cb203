"""Reading tables from files, in chunks that are encoded and dropped: memory is bounded by the codes."""

import gzip
import io
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from os import PathLike, fstat
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Self, cast, final

import pandas as pd

from synthdp.errors import DataFileError
from synthdp.table.files.csv_blocks import CsvStructureError, checked_block, header_names, whole_records
from synthdp.table.files.formats import STANDARD_STREAM, Format, file_format, import_pyarrow
from synthdp.table.files.writing import reason

BATCH_ROWS = 100_000
"""Rows of a Parquet file that are read at a time: about as many as a block of CSV holds."""


class TableFile(ABC):
    """A table in a file, opened for reading once: column names first, then chunks of rows.

    Use it as a context manager; `open_table` makes one.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path
        self._open = ExitStack()

    names: tuple[str, ...]
    """Column names in the order of the file."""

    @abstractmethod
    def chunks(self) -> Iterator[pd.DataFrame]:
        """The rows in chunks, once. Raises `DataFileError` if the file is damaged."""

    @property
    @abstractmethod
    def fraction(self) -> float:
        """How much of the file was read, 0 to 1; 0 if that cannot be known."""

    @property
    def declared(self) -> pd.DataFrame | None:
        """A table without rows that has the types which the file declares; None if it declares none."""
        return None

    def close(self) -> None:
        """Close the file."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _refuse(self, problem: str) -> NoReturn:
        raise DataFileError(f"{str(self._path)!r}: {problem}") from None

    @contextmanager
    def _expected_failures(self) -> Iterator[None]:
        """Turn what reading a damaged file raises into `DataFileError`."""
        try:
            yield
        except CsvStructureError as error:
            self._refuse(str(error))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            self._refuse("it is damaged or not a gzip file; make it again")
        except (OSError, ValueError) as error:
            self._refuse(f"it cannot be read: {reason(error)}; check the path and the file")

    def _check_names(self) -> None:
        if len(set(self.names)) != len(self.names):
            # without a header this is the first record: do not repeat it
            self._refuse("two columns have the same name; give every column its own name in the first line")


@final
class CsvFile(TableFile):
    """A CSV file (RFC 4180, UTF-8, with a header), plain or gzipped, or standard input.

    Chunks hold texts only.
    """

    def __init__(self, path: str | PathLike[str], *, packed: bool) -> None:
        super().__init__(path)
        self._raw: BinaryIO | None = None
        try:
            with self._expected_failures():
                self._blocks = whole_records(self._opened(packed))
                header = next(self._blocks, b"")
                if not header.strip():
                    self._refuse("it is empty; its first line must hold the column names")
                self.names = header_names(header)
                if len(self.names) == 1 and any(mark in self.names[0] for mark in ";\t|"):
                    self._refuse("its columns are not separated by commas; save it as comma-separated UTF-8 CSV")
            self._check_names()
        except BaseException:
            self.close()
            raise

    def _opened(self, packed: bool) -> BinaryIO:
        if str(self._path) == STANDARD_STREAM:
            return sys.stdin.buffer
        self._raw = Path(self._path).open("rb")  # noqa: SIM115 (closed by `close`)
        self._open.callback(self._raw.close)
        return cast("BinaryIO", gzip.GzipFile(fileobj=self._raw)) if packed else self._raw

    def chunks(self) -> Iterator[pd.DataFrame]:
        """The rows in chunks of about `csv_blocks.BLOCK_BYTES`, as texts."""
        while True:
            with self._expected_failures():
                block = next(self._blocks, None)
                if block is None:
                    return
                frame = _parse(checked_block(block, len(self.names)), self.names)
            yield frame

    @property
    def fraction(self) -> float:
        """How much of the file was read; 0 for standard input."""
        if self._raw is None:
            return 0.0
        return min(self._raw.tell() / max(fstat(self._raw.fileno()).st_size, 1), 1.0)


def _parse(block: bytes, names: tuple[str, ...]) -> pd.DataFrame:
    """A checked block as a table of texts."""
    # our own header line, lest pandas take a byte-order mark in the first value for the file's
    numbers = ",".join(map(str, range(len(names)))).encode() + b"\n"
    frame = pd.read_csv(
        io.BytesIO(numbers + block),
        dtype=object,
        engine="c",
        index_col=False,
        keep_default_na=False,
        low_memory=False,
        na_filter=False,
        skip_blank_lines=False,
    )
    frame.columns = pd.Index(names, dtype=object)
    return frame


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
                self._file: Any = self._open.enter_context(pyarrow.parquet.ParquetFile(path))
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


def open_table(path: str | PathLike[str]) -> TableFile:
    """Open a table by the ending of its name: CSV, gzipped CSV or Parquet; ``-`` is CSV from standard input.

    Raises
    ------
    DataFileError
        If the file cannot be opened, is empty, or is not what its ending says.
    MissingExtraError
        If it is Parquet and pyarrow is not installed.
    """
    kind = file_format(path)
    return ParquetFile(path) if kind is Format.PARQUET else CsvFile(path, packed=kind is Format.CSV_GZ)
