"""Cells of an Excel file that its reader fails at, made such that it does not.

A date or a duration is a number of days with a format. Excel shows signs of a hash where it is too
large; the library that reads the file ends at it, in some versions with a report on standard error,
so that nobody can catch it there. So does it at names of errors that it does not know. The text of
the sheet is searched before, for such cells only.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import BinaryIO
from xml.etree.ElementTree import fromstring
from xml.parsers.expat import ParserCreate
from zipfile import ZipFile

from synthdp.data.files.formats import import_calamine

MOST_DAYS = 999_999_999
"""What durations of Python hold; of dates it is none."""

_ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")
"""Errors that cells hold; what is called otherwise is none that the library knows."""

_SUSPECT = re.compile(
    rb"v>(?:#(?!(?:DIV/0!|N/A|NAME\?|NULL!|NUM!|REF!|VALUE!)<)|[-+]?(?:\d{10}|999999999\.|[\d.]*[eE](?!-)|[iI][nN]))"
)
"""How such a cell begins, and a few others; all begin alike, for then it is found three times as
fast.
"""

_BLOCK = 2**20
_OVERLAP = 64
"""Longer than what says of a number that it is large."""

_TIMES = ("date", "datetime", "time", "timedelta")


def readable(stream: BinaryIO, sheet: str) -> BinaryIO:
    """An Excel file in which every cell of a sheet can be read: the stream itself, or another if
    some could not.

    Dates and durations of more than `MOST_DAYS` are that many, errors that are not known are
    ``#N/A``. Each cell is taken by itself. What is no workbook is left to whoever reads it to
    complain of.
    """
    try:
        with ZipFile(stream) as book:
            part = _part_of(book, sheet)
            if not _has_suspects(book, part):
                return stream
            content = book.read(part)
            tame = _tamed(content, lambda styles: _are_times(book, part, sheet, styles))
            return stream if tame == content else _with_part(book, part, tame)
    except Exception:
        return stream
    finally:
        stream.seek(0)


def _part_of(book: ZipFile, sheet: str) -> str:
    """The file in a workbook that holds a sheet."""
    workbook = fromstring(book.read("xl/workbook.xml"))
    name = next(
        each
        for each in workbook.iter()
        if each.tag.endswith("}sheet") and each.get("name") == sheet
    )
    relation = next(value for key, value in name.items() if key.endswith("}id"))
    targets = {
        each.get("Id"): each.get("Target", "")
        for each in fromstring(book.read("xl/_rels/workbook.xml.rels"))
    }
    target = targets[relation]
    return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"


def _has_suspects(book: ZipFile, part: str) -> bool:
    with book.open(part) as stream:
        rest = b""
        while block := stream.read(_BLOCK):
            # Nearly all files have no such cell, and a search for one pattern takes far less time
            # than parsing.
            if _SUSPECT.search(rest + block):
                return True
            # A suspect that lies across two blocks is found in the end of the first, kept, and the
            # start of the second.
            rest = block[-_OVERLAP:]
    return False


def _tamed(content: bytes, are_times: Callable[[set[str]], set[str]]) -> bytes:
    """The text of a sheet with other values in cells that cannot be read."""
    errors, large = _suspects(content)
    # A large number without a format of dates is just a number, and stays.
    times = are_times({style for _, _, style in large.values()})
    changes = {place: (end, b"#N/A") for place, end in errors.items()}
    for place, (end, number, style) in large.items():
        if style in times:
            changes[place] = end, str(MOST_DAYS if number > 0 else -MOST_DAYS).encode()
    return b"".join(_spliced(content, changes))


def _spliced(content: bytes, changes: Mapping[int, tuple[int, bytes]]) -> Iterator[bytes]:
    last = 0
    for place, (end, text) in sorted(changes.items()):
        yield content[last:place]
        yield text
        last = end
    yield content[last:]


def _suspects(content: bytes) -> tuple[dict[int, int], dict[int, tuple[int, float, str]]]:
    """Where the texts of unknown errors begin and end, and of large numbers with a format; with
    number and format.
    """
    errors: dict[int, int] = {}
    large: dict[int, tuple[int, float, str]] = {}
    parser = ParserCreate(namespace_separator="}")
    cell: dict[str, str] = {}
    start = -1
    texts: list[str] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        nonlocal cell, start
        if name.endswith("}c"):
            cell = attributes
        elif name.endswith("}v"):
            # The parser says where the tag begins; the text begins after it.
            start = content.index(b">", parser.CurrentByteIndex) + 1
            texts.clear()

    def add(text: str) -> None:
        if start >= 0:
            texts.append(text)

    def end(name: str) -> None:
        nonlocal start
        if not name.endswith("}v"):
            return
        text = "".join(texts)
        place = start
        start = -1
        kind = cell.get("t", "n")
        # "e" marks errors, "n" (which may be left out) numbers; "s" is the number of a cell's
        # style.
        if kind == "e" and text not in _ERRORS:
            errors[place] = parser.CurrentByteIndex
        elif kind == "n" and "s" in cell and text and abs(number := float(text)) > MOST_DAYS:
            large[place] = parser.CurrentByteIndex, number, cell["s"]

    parser.StartElementHandler = begin
    parser.CharacterDataHandler = add
    parser.EndElementHandler = end
    parser.Parse(content, True)
    return errors, large


def _are_times(book: ZipFile, part: str, sheet: str, styles: set[str]) -> set[str]:
    """Which formats are those of dates or durations: the library is asked, by a sheet of one day in
    each of them.
    """
    if not styles:
        return set()
    listed = sorted(styles)
    # Which formats are dates is known to the library alone, and it has no function that says so: a
    # sheet with the number 1 in each format does.
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" s="{style}"><v>1</v></c></row>'
        for n, style in enumerate(listed, 1)
    )
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    probe = f'<worksheet xmlns="{space}"><sheetData>{rows}</sheetData></worksheet>'.encode()
    values = (
        import_calamine()
        .CalamineWorkbook.from_filelike(_with_part(book, part, probe))
        .get_sheet_by_name(sheet)
    )
    days = (row[0] for row in values.to_python())
    return {style for style, day in zip(listed, days, strict=True) if type(day).__name__ in _TIMES}


def _with_part(book: ZipFile, part: str, content: bytes) -> BinaryIO:
    """The same workbook with other content of one part; other sheets are left out."""
    stream = BytesIO()
    with ZipFile(stream, "w") as copy:
        for name in book.namelist():
            if name == part:
                copy.writestr(name, content)
            elif not name.startswith("xl/worksheets/"):
                copy.writestr(name, book.read(name))
    stream.seek(0)
    return stream
