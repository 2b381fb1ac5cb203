"""Tables in files, opened for reading: what CSV, Parquet and Excel files have in common."""

import gzip
import stat
import zlib
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import NoReturn

import pandas as pd

from synthdp.core.errors import DataFileError
from synthdp.core.files.closing import Closing
from synthdp.core.files.writing import reason
from synthdp.data.asking.chunked_table import ChunkedTable

BATCH_ROWS = 100_000
"""Rows of a typed file that are read at a time: about as many as a block of CSV holds."""


class TableFile(ChunkedTable, Closing):
    """A table in a file, opened for reading once: column names first, then chunks of rows.

    Use it as a context manager; `tables.open_table` makes one.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path
        self._open = ExitStack()
        self._state = _state(path)

    @abstractmethod
    def chunks(self) -> Iterator[pd.DataFrame]:
        """The rows in chunks, once. Raises `DataFileError` if the file is damaged."""

    @property
    @abstractmethod
    def fraction(self) -> float:
        """How much of the file was read, 0 to 1; 0 if that cannot be known."""

    def check_unchanged(self) -> None:
        """Raise `DataFileError` if the file was written to or replaced since it was opened; for
        after its last chunk.

        A file that shrinks at the end of a record would else be read as a shorter table, without a
        word.
        """
        if _state(self._path) != self._state:
            self._refuse("it was changed while it was read; give a copy that nobody writes to")

    def close(self) -> None:
        """Close the file."""
        self._open.close()

    def _refuse(self, problem: str) -> NoReturn:
        raise DataFileError(f"{str(self._path)!r}: {problem}") from None

    @contextmanager
    def _expected_failures(self) -> Iterator[None]:
        """Turn what reading a damaged file raises into `DataFileError`."""
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile):
            self._refuse("it is damaged or not a gzip file; make it again")
        except (OSError, ValueError) as error:
            # A library's own, such as Arrow's.
            if isinstance(error, OSError) and error.errno is None:
                self._refuse("it is damaged, or not compressed as its ending says; make it again")
            self._refuse(f"it cannot be read: {reason(error)}; check the path and the file")

    def _check_names(self) -> None:
        if len(set(self.names)) != len(self.names):
            # without a header this is the first record: do not repeat it
            self._refuse(
                "two columns have the same name; give every column its own name in the first line"
            )


def _state(path: str | PathLike[str]) -> tuple[int, ...] | None:
    """What tells that a file was changed; None of pipes, and of what cannot be opened either."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(status.st_mode):
        return (status.st_ino, status.st_size, status.st_mtime_ns)
    return None
