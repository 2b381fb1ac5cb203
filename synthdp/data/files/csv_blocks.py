"""CSV as blocks of whole records, with the checks that a parser leaves out.

Other readers fill up short records without a word, or quote values in errors. So each block of
bytes is checked here, in a few passes of numpy, before pandas splits it into fields: RFC 4180
quoting, as many fields in every record as in the header, no NUL, no bytes that are no text. All of
that is done on UTF-8: a file in another encoding is transcoded first, by `csv_text`.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

BLOCK_BYTES = 2**23
"""How much is read at a time (8 MiB): what checks a block and parses it takes several times as
much.
"""

MAX_RECORD_BYTES = 2**26
"""A record longer than this (64 MiB, eight blocks) is taken for a quote that is never closed."""

_BOM = b"\xef\xbb\xbf"
_LF, _CR = b"\n\r"


class CsvStructureError(Exception):
    """What is wrong with the structure of a CSV file, and the way out; never with a value or a row
    number.
    """


@final
@dataclass(frozen=True, kw_only=True)
class CsvMarks:
    """What a CSV file is written with: one ASCII byte between fields, one around them or none, and
    its encoding.
    """

    delimiter: bytes = b","
    quote: bytes = b'"'
    encoding: str = "utf-8"

    @cached_property
    def reading(self) -> dict[str, Any]:
        """The same, as arguments of the csv module and of pandas."""
        quoting = csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE
        return {
            "delimiter": self.delimiter.decode(),
            "quotechar": self.quote.decode() or '"',
            "quoting": quoting,
        }

    def are_quoted(self, block: bytes) -> bool:
        """Whether anything in a block is in quotes."""
        return bool(self.quote) and self.quote in block


COMMAS = CsvMarks()
"""The marks of RFC 4180."""


def whole_records(stream: BinaryIO, marks: CsvMarks = COMMAS) -> Iterator[bytes]:
    """A stream cut into a header record, and then blocks of whole records, every one ending in a
    line feed.
    """
    # The header is cut off alone: names are needed before the first block is checked, because they
    # say how many fields a record has.
    cut = _first_end
    rest = b""
    while chunk := stream.read(BLOCK_BYTES):
        rest = (
            (rest + chunk).removeprefix(_BOM).lstrip(b"\r\n") if cut is _first_end else rest + chunk
        )
        while end := cut(rest, marks):
            yield _with_line_feeds(rest[:end], marks)
            rest = rest[end:]
            if cut is _last_end:
                break
            cut = _last_end
        # Whole records were cut off above, so what is left is the beginning of one.
        if len(rest) > MAX_RECORD_BYTES:
            raise CsvStructureError(
                "a record does not end; close every quote and end lines with a line feed"
            )
    # Doubled quotes inside a field count twice: in a complete record the number is even.
    if marks.are_quoted(rest) and rest.count(marks.quote) % 2:
        raise CsvStructureError(
            "a quoted field is not closed at the end of the file; restore the end of the file"
        )
    if rest.strip() or (rest and cut is _last_end):
        rest = _with_line_feeds(rest + b"\n", marks)
        if cut is _first_end:  # lines may end in carriage returns only
            end = _first_end(rest, marks)
            yield rest[:end]
            rest = rest[end:]
        if rest:
            yield rest


def _ends(block: bytes, marks: CsvMarks) -> NDArray[np.intp]:
    """Positions just after the line feeds that are outside of quotes."""
    characters = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(characters == _LF)
    if marks.are_quoted(block):
        quotes = np.flatnonzero(characters == ord(marks.quote))
        # A line feed with an even number of quotes before it is outside of all of them. Doubled
        # quotes close and open again with nothing between them, so they need no care.
        ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
    return ends + 1


def _first_end(block: bytes, marks: CsvMarks) -> int:
    ends = _ends(block, marks)
    return int(ends[0]) if len(ends) else 0


def _last_end(block: bytes, marks: CsvMarks) -> int:
    if not marks.are_quoted(block):
        # Without quotes every line feed ends a record, and the last is found in one pass from the
        # end.
        return block.rfind(b"\n") + 1
    ends = _ends(block, marks)
    return int(ends[-1]) if len(ends) else 0


def _outside_quotes(characters: NDArray[np.uint8], marks: CsvMarks) -> NDArray[np.bool_]:
    # the sum wraps around at 256, which does not change whether it is odd
    return np.equal(np.cumsum(characters == ord(marks.quote), dtype=np.uint8) % 2, 0)


def _with_line_feeds(block: bytes, marks: CsvMarks) -> bytes:
    """The block with every line end, outside of quotes, as one line feed."""
    if b"\r" not in block:
        return block
    if not marks.are_quoted(block):
        return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    characters = np.frombuffer(block, np.uint8).copy()
    returns = (characters == _CR) & _outside_quotes(characters, marks)
    # A carriage return before a line feed goes; one alone (files of old Macs) becomes a line feed.
    # Those in quotes are part of a value and stay.
    before_feed = returns & (np.append(characters[1:], np.uint8(0)) == _LF)
    characters[returns] = _LF
    return bytes(characters[~before_feed])


def header_names(record: bytes, marks: CsvMarks = COMMAS) -> tuple[str, ...]:
    """The column names in the header record."""
    check_text(record, marks)
    try:
        return tuple(
            next(csv.reader(io.StringIO(record.decode(), newline=""), strict=True, **marks.reading))
        )
    except csv.Error:
        raise CsvStructureError(
            "the header's quoting is broken; write the file with a CSV library"
        ) from None


def check_text(block: bytes, marks: CsvMarks) -> None:
    """Raise `CsvStructureError` unless the block is text, as UTF-8."""
    is_usual = marks.encoding == "utf-8"
    way_out = "save it as UTF-8, or " + (
        "declare its encoding: --encoding" if is_usual else "correct its encoding"
    )
    if is_usual:
        way_out += ', in a schema "dialect": {"encoding": ..}'
    if b"\0" in block:
        raise CsvStructureError(
            f"it holds NUL bytes, so it is no {marks.encoding.upper()} text; {way_out}"
        )
    try:
        block.decode()
    except UnicodeDecodeError:
        raise CsvStructureError(f"it is not {marks.encoding.upper()} text; {way_out}") from None


def checked_block(block: bytes, n_fields: int, marks: CsvMarks = COMMAS) -> bytes:
    """The block without blank lines, every record ending in a line feed; raises
    `CsvStructureError` if it is not ``n_fields`` wide throughout.
    """
    check_text(block, marks)
    characters = np.frombuffer(block, np.uint8)
    separators = (characters == ord(marks.delimiter)) | (characters == _LF)
    if marks.are_quoted(block):
        _check_quotes(characters, marks)
        separators &= _outside_quotes(characters, marks)
    positions = np.flatnonzero(separators)
    is_end = characters[positions] == _LF
    ends = positions[is_end]
    # Between two line ends lie as many separators as the record has fields, its line end counted.
    n_separators = np.diff(np.flatnonzero(is_end), prepend=-1)
    starts = np.append(0, ends[:-1] + 1)
    ragged = n_separators != n_fields
    suspects = (
        # In a table of one column an empty line could be an empty field or a blank line. It is
        # taken for a blank line, as pandas does by default; an empty field has quotes.
        np.flatnonzero(starts == ends)
        if n_fields == 1
        else np.flatnonzero(ragged & (n_separators == 1))
    )
    # Lines of white space are blank, too. The loop is over suspects only, of which a sound file has
    # few.
    blank = [line for line in suspects if not block[starts[line] : ends[line]].strip()]
    if np.count_nonzero(ragged) > (len(blank) if n_fields > 1 else 0):
        raise CsvStructureError(
            "not every record has as many fields as the header; "
            f"give every record one field a column, with fields that hold {marks.delimiter.decode()!r} in quotes"
        )
    if not blank:
        return block
    keep = np.ones(len(block), dtype=np.bool_)
    for line in blank:
        keep[starts[line] : ends[line] + 1] = False
    return bytes(characters[keep])


def _check_quotes(characters: NDArray[np.uint8], marks: CsvMarks) -> None:
    """Quotes open at the start of a field, close at its end, and are doubled inside (RFC 4180)."""
    quotes = np.flatnonzero(characters == ord(marks.quote))
    # The block has whole records, so quotes alternate.
    opening = quotes[::2]
    closing = quotes[1::2]
    before = characters[opening - 1]  # at the very start this is the last character, a line feed
    after = characters[closing + 1]
    neighbours = np.concatenate([before, after])
    if not np.isin(neighbours, (ord(marks.delimiter), _LF, ord(marks.quote))).all():
        way_out = "write the file with a CSV library, or declare another quote, or none: --quote ''"
        raise CsvStructureError(f"a quote stands inside an unquoted field; {way_out}")


def frame_of(block: bytes, names: Sequence[str], marks: CsvMarks = COMMAS) -> pd.DataFrame:
    r"""The fields of a checked block, all of them texts.

    >>> frame_of(b'a,1\n"b",007\n', ["x", "y"]).to_numpy().tolist()
    [['a', '1'], ['b', '007']]
    """
    columns = pd.Index(names, dtype=object)
    if not block:
        return pd.DataFrame(columns=columns, dtype=object)
    frame = pd.read_csv(
        # pandas would take a mark of byte order in the first field for one of the whole file.
        io.BytesIO(b"\n" + block),
        skiprows=1,
        header=None,
        names=range(len(names)),
        index_col=False,
        dtype=object,
        na_filter=False,
        skip_blank_lines=False,
        lineterminator="\n",
        engine="c",
        low_memory=False,
        **marks.reading,
    )
    frame.columns = columns
    return frame
