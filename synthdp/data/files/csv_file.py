"""CSV files for reading: plain, compressed, or standard input."""

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fstat
from pathlib import Path
from typing import BinaryIO, final

import pandas as pd

from synthdp.core.files.writing import STANDARD_STREAM
from synthdp.data.files.csv_blocks import (
    CsvStructureError,
    checked_block,
    frame_of,
    header_names,
    whole_records,
)
from synthdp.data.files.csv_text import as_utf8, marks_of, unpacked
from synthdp.data.files.formats import file_kind
from synthdp.data.files.table_file import TableFile
from synthdp.schema.dialect import USUAL, Dialect


@final
class CsvFile(TableFile):
    """A CSV file with a header, plain or compressed, or standard input.

    It is written as RFC 4180 says, in UTF-8, but for what its dialect and its ending say. Chunks
    hold texts only.
    """

    def __init__(self, path: str | PathLike[str], dialect: Dialect = USUAL) -> None:
        super().__init__(path)
        self._raw: BinaryIO | None = None
        kind = file_kind(path)
        self._marks = marks_of(dialect, kind)
        try:
            with self._expected_failures():
                stream = as_utf8(unpacked(self._opened(), kind.packing), self._marks.encoding)
                self._blocks = whole_records(stream, self._marks)
                header = next(self._blocks, b"")
                if not header.strip():
                    self._refuse("it is empty; its first line must hold the column names")
                self.names = header_names(header, self._marks)
                if len(self.names) == 1:
                    self._check_delimiter(self.names[0])
            self._check_names()
        except BaseException:
            self.close()
            raise

    def _check_delimiter(self, name: str) -> None:
        """Refuse an only name that looks like several: what separates them is declared, not
        guessed.
        """
        delimiter = self._marks.delimiter.decode()
        # A guess would depend on the rows where the header does not decide, and rows are private;
        # so it is declared.
        if other := next((mark for mark in ",;\t|" if mark in name and mark != delimiter), None):
            shown = "tab" if other == "\t" else other
            way_out = f"declare it: --delimiter {shlex.quote(shown)}"
            if other == ";":
                way_out += ", or --dialect excel-semicolon if Excel wrote it"
            way_out += f', in a schema "dialect": {{"delimiter": {json.dumps(shown)}}}'
            self._refuse(
                f"its header has no {delimiter!r}; if {other!r} separates the columns, {way_out}"
            )

    @contextmanager
    def _expected_failures(self) -> Iterator[None]:
        """As of any file; and what is no CSV becomes `DataFileError`, too."""
        with super()._expected_failures():
            try:
                yield
            except CsvStructureError as error:
                self._refuse(str(error))

    def _opened(self) -> BinaryIO:
        if str(self._path) == STANDARD_STREAM:
            return sys.stdin.buffer
        self._raw = Path(self._path).open("rb")  # noqa: SIM115 (closed by `close`)
        self._open.callback(self._raw.close)
        return self._raw

    def chunks(self) -> Iterator[pd.DataFrame]:
        """The rows in chunks of about `csv_blocks.BLOCK_BYTES`, as texts."""
        while True:
            with self._expected_failures():
                block = next(self._blocks, None)
                if block is None:
                    return
                checked = checked_block(block, len(self.names), self._marks)
                frame = frame_of(checked, self.names, self._marks)
            yield frame

    @property
    def fraction(self) -> float:
        """How much of the file was read; 0 for standard input."""
        if self._raw is None:
            return 0.0
        # Of the packed bytes: they are what the size of the file is about. A file that grows while
        # it is read is done at 1.
        return min(self._raw.tell() / max(fstat(self._raw.fileno()).st_size, 1), 1.0)
