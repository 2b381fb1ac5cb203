"""Between the bytes of a CSV file and UTF-8: unpacking and transcoding, and the way back."""

import codecs
import csv
import gzip
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, cast, final

import pandas as pd

from synthdp.core.errors import DataFileError
from synthdp.data.files.csv_blocks import CsvMarks
from synthdp.data.files.formats import FileKind, Packing, import_zstd
from synthdp.schema.dialect import Dialect

_NO_TEXT = "\udcff"
"""Stands for bytes that are no text: it becomes the byte 0xFF, which no UTF-8 has, so that checks
find it.
"""

_UTF8 = ("utf-8", "utf-8-sig")

_MARKED = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
"""Encodings that begin with a byte-order mark, and what follows it: a pipe would get none of some
of them.
"""


def marks_of(dialect: Dialect, kind: FileKind) -> CsvMarks:
    """What a file of some kind is written with in a dialect."""
    delimiter = kind.delimiter if dialect.delimiter is None else dialect.delimiter
    encoding = codecs.lookup(dialect.encoding).name
    return CsvMarks(
        delimiter=delimiter.encode(),
        quote=dialect.quote.encode(),
        encoding="utf-8" if encoding in _UTF8 else dialect.encoding,
    )


def unpacked(raw: BinaryIO, packing: Packing) -> BinaryIO:
    """A stream of what a compressed one holds."""
    if packing is Packing.ZSTD:
        return cast("BinaryIO", import_zstd().CompressedInputStream(raw, "zstd"))
    return cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packing is Packing.GZIP else raw


def as_utf8(stream: BinaryIO, encoding: str) -> BinaryIO:
    """A stream of the same text in UTF-8; what is UTF-8 already is passed on."""
    return stream if encoding == "utf-8" else cast("BinaryIO", _Transcoded(stream, encoding))


@final
class _Transcoded:
    """Reads text in some encoding as UTF-8, bytes that are none as 0xFF.

    In the encodings that a dialect admits a character is recognised by its own bytes, whatever
    comes before it: how a record is read does not depend on others.
    """

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        # Errors of codecs quote the bytes that they fail at, which are someone's data.
        codecs.register_error("synthdp.no-text", lambda error: (_NO_TEXT, error.end))  # type: ignore[attr-defined]
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("synthdp.no-text")

    def read(self, size: int) -> bytes:
        """About ``size`` bytes; none at the end."""
        try:
            while chunk := self._stream.read(size):
                if text := self._decoder.decode(chunk):  # a chunk may end inside a character
                    return text.encode(errors="surrogateescape")
            return self._decoder.decode(b"", final=True).encode(errors="surrogateescape")
        except UnicodeError:  # UTF-16 without a byte-order mark: nothing can be read
            self._stream, self._decoder = io.BytesIO(), codecs.getincrementaldecoder("utf-8")()
            return _NO_TEXT.encode(errors="surrogateescape")


@contextmanager
def _packed(stream: BinaryIO, packing: Packing) -> Iterator[BinaryIO]:
    """A stream that compresses what is written to it; ``stream`` stays open."""
    if packing is Packing.ZSTD:
        with import_zstd().CompressedOutputStream(_StaysOpen(stream), "zstd") as packed:
            yield cast("BinaryIO", packed)
    elif packing is Packing.GZIP:
        # no name and no time in the header: the same table gives the same file
        sink = _StaysOpen(stream)
        try:
            with gzip.GzipFile(
                filename="", mode="wb", fileobj=sink, mtime=0, compresslevel=6
            ) as packed:
                yield cast("BinaryIO", packed)
        except BaseException:
            sink.is_full = True  # after a failure a gzip file writes once more when it is forgotten
            raise
    else:
        yield stream


@final
class _StaysOpen(io.RawIOBase):
    """A stream that is not closed with this one, which is all that pyarrow sees of it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.is_full = False
        """Whether what is written now is dropped."""

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        return len(content) if self.is_full else self._stream.write(content)


@final
class _LineFeeds:
    """Ends records in a line feed, with fields quoted as if they ended in both characters.

    Before Python 3.13 the csv module leaves a carriage return unquoted where it is not part
    of the line end, and every reader then takes it for one.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._write = stream.write

    def write(self, record: str) -> int:
        return self._write(record[:-2] + "\n")


def write_csv(
    frames: Iterable[pd.DataFrame], stream: BinaryIO, kind: FileKind, dialect: Dialect
) -> None:
    """Write texts to an open stream, in pieces that have the same columns; at least one.

    What is called ``.tsv`` is separated by tabs, whatever the dialect says of the file that was
    read.

    Raises
    ------
    DataFileError
        If a text has a character that the encoding has not, or holds a delimiter and there are no
        quotes.
    """
    delimiter = kind.delimiter if kind.delimiter != "," else dialect.delimiter or ","
    marked = _MARKED.get(codecs.lookup(dialect.encoding).name)
    with _packed(stream, kind.packing) as packed:
        text = io.TextIOWrapper(packed, encoding=marked or dialect.encoding, newline="")
        try:
            text.write("\ufeff" if marked else "")
            # the standard library's writer takes 0.6 of the time of DataFrame.to_csv on texts
            writer = csv.writer(
                # The writer ends lines by both characters, so that it quotes either of them inside
                # fields, and `_LineFeeds` takes one away.
                _LineFeeds(text),
                delimiter=delimiter,
                quotechar=dialect.quote or None,
                quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
                lineterminator="\r\n",
            )
            for number, frame in enumerate(frames):
                if not number:
                    writer.writerow(frame.columns)
                writer.writerows(
                    zip(*(frame[name].tolist() for name in frame.columns), strict=True)
                )
            text.flush()
        except UnicodeEncodeError:
            raise DataFileError(
                f"the table holds characters that {dialect.encoding} has not; {_OTHERS}"
            ) from None
        except csv.Error:
            raise DataFileError(
                f"the table holds texts that cannot be written without quotes; {_OTHERS}"
            ) from None
        finally:
            with suppress(OSError, ValueError):  # the stream is not ours to close
                # Else the wrapper, when it is collected, would close the stream below it.
                text.detach()


_OTHERS = "give another --encoding or --quote for the output"
