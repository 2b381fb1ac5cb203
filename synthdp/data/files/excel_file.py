"""Excel files (.xlsx): a sheet of typed cells, read by python-calamine and written by XlsxWriter."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time
from io import BytesIO
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np
import pandas as pd

from synthdp.core.errors import DataFileError
from synthdp.data.files.excel_numbers import readable
from synthdp.data.files.formats import import_calamine, import_xlsxwriter
from synthdp.data.files.table_file import BATCH_ROWS, TableFile
from synthdp.schema.dialect import USUAL, Dialect

MAX_ROWS, MAX_COLUMNS, MAX_CHARACTERS = 2**20 - 1, 2**14, 2**15 - 1
"""What a sheet holds below its header, and a cell of text [Excel's specifications and limits]."""

_FIRST_DAY = date(1900, 3, 1)
"""Before it Excel has no dates, or other ones: it takes 1900 for a leap year."""

_CREATED = datetime(1980, 1, 1)  # noqa: DTZ001 (no zone is meant)
"""When all files say that they were made: the same table gives the same file."""


@final
class ExcelFile(TableFile):
    """A sheet of an Excel file, column names in its first row; needs python-calamine.

    Each cell is read by itself and has its own type: a text, a number, a truth value, a date or a
    moment. Of a formula it is the value that was saved with it; an error such as #N/A is no value.
    Empty rows are left out. Dates and durations that are too large for Excel to show are as many
    days as Python holds.
    """

    def __init__(self, path: str | PathLike[str], dialect: Dialect = USUAL) -> None:
        super().__init__(path)
        calamine = import_calamine()
        self._n_read = 0
        with self._expected_failures(), Path(path).open("rb") as stream:
            try:
                book = calamine.CalamineWorkbook.from_filelike(stream)
                name = self._sheet_of(book, dialect.sheet)
                stream.seek(0)
                if (tame := readable(stream, name)) is not stream:
                    book = calamine.CalamineWorkbook.from_filelike(tame)
                self._sheet: Any = book.get_sheet_by_name(name)
                # Older versions fail at none.
                rows = self._sheet.iter_rows() if self._sheet.height else iter(())
                self._rows = filter(any_cell, rows)
                self.names = self._names(next(iter(self._next_rows(1)), []))
            except calamine.CalamineError:
                self._refuse(
                    "it is no Excel file (.xlsx), or protected by a password; save it anew"
                )
        self._check_names()

    def _sheet_of(self, book: Any, sheet: str | None) -> str:
        """The name of the sheet to be read."""
        worksheet = import_calamine().SheetTypeEnum.WorkSheet
        names = [each.name for each in book.sheets_metadata if each.typ == worksheet]
        if sheet is None and len(names) != 1:
            way_out = 'name one: --sheet NAME, in a schema "dialect": {"sheetName": ..}'
            self._refuse(f"it has {len(names)} sheets; {way_out}")
        if sheet is not None and sheet not in names:
            self._refuse(f"it has no sheet {sheet!r}; correct the name (--sheet)")
        return names[0] if sheet is None else sheet

    def _next_rows(self, most: int) -> list[Sequence[object]]:
        """The next rows; the library raises, naming the value, for a cell that `readable` did not
        see.
        """
        try:
            return list(islice(self._rows, most))
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException:  # and what Rust panics with is no Exception
            self._refuse("it is no Excel file (.xlsx) as Excel writes them; save it anew")

    def _names(self, cells: Sequence[object]) -> tuple[str, ...]:
        """The column names in a row: texts, or whole numbers such as years."""
        n_used = max((number for number, cell in enumerate(cells, 1) if cell != ""), default=0)
        if not n_used:
            self._refuse("it is empty; the first row of the sheet must hold the column names")
        names = []
        for cell in cells[:n_used]:
            is_number = isinstance(cell, float) and cell.is_integer()
            if not isinstance(cell, str) and not is_number:
                self._refuse(
                    "the first row of the sheet does not hold texts only; write the column names there"
                )
            names.append(str(int(cell)) if is_number else str(cell))  # type: ignore[call-overload]
        return tuple(names)

    def chunks(self) -> Iterator[pd.DataFrame]:
        """The rows in chunks of at most `BATCH_ROWS`, as objects of Python; None where a cell is
        empty.
        """
        n_names = len(self.names)
        while rows := self._next_rows(BATCH_ROWS):
            if any(any_cell(row[n_names:]) for row in rows):
                self._refuse(
                    "a row has a value beside the named columns; remove it, or name its column"
                )
            self._n_read += len(rows)
            cells = np.empty((len(rows), n_names), dtype=object)
            for number, row in enumerate(rows):
                cells[number] = [None if cell == "" else cell for cell in row[:n_names]]
            # without a type pandas would make another one of columns that hold texts only: of some
            # for others
            yield pd.DataFrame(cells, columns=pd.Index(self.names, dtype=object), dtype=object)

    @property
    def fraction(self) -> float:
        """How much of the sheet was read."""
        return min(self._n_read / max(int(self._sheet.height) - 1, 1), 1.0)


def any_cell(row: Sequence[object]) -> bool:
    """Whether any cell of a row holds something."""
    return any(cell != "" for cell in row)


def check_fits(n_rows: int, n_columns: int) -> None:
    """Raise `DataFileError` if a sheet cannot hold a table."""
    if n_rows > MAX_ROWS or n_columns > MAX_COLUMNS:
        limits = f"{MAX_ROWS} rows and {MAX_COLUMNS} columns"
        raise DataFileError(
            f"an Excel sheet holds at most {limits}; write CSV or Parquet, or fewer --rows"
        )


def write_excel(frame: pd.DataFrame, stream: BinaryIO, sheet: str | None = None) -> None:
    """Write typed values to an open stream, as the only sheet of an Excel file; the same values
    give the same bytes.

    Raises `DataFileError` if a sheet cannot hold them.
    """
    check_fits(*frame.shape)
    # An archive that cannot be written to its end complains once more when it is collected.
    packed = BytesIO()
    # Rows wait in a temporary file.
    book = import_xlsxwriter().Workbook(packed, {"constant_memory": True})
    book.set_properties({"created": _CREATED})
    target = book.add_worksheet(sheet or "Sheet1")
    day, moment, clock = (
        book.add_format({"num_format": pattern})
        for pattern in ("yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "hh:mm:ss")
    )

    def write_json(row: int, column: int, value: object) -> None:
        """Points: a cell holds one text or number."""
        target.write_string(row, column, json.dumps(value))

    write: dict[type, Callable[..., object]] = {
        # a text stays one, whatever it looks like: no formula, no link
        str: lambda row, column, text: target.write_string(row, column, text[:MAX_CHARACTERS]),
        bool: target.write_boolean,
        date: lambda row, column, value: target.write_datetime(row, column, value, day),
        datetime: lambda row, column, value: target.write_datetime(row, column, value, moment),
        time: lambda row, column, value: target.write_datetime(row, column, value, clock),
        tuple: write_json,
        dict: write_json,
    }
    columns = [_cells(frame[name]) for name in frame.columns]
    for number, row in enumerate(chain([map(str, frame.columns)], zip(*columns, strict=True))):
        for column, value in enumerate(row):
            if value is not None:
                write.get(type(value), target.write_number)(number, column, value)
    book.close()
    stream.write(packed.getbuffer())


def _cells(values: pd.Series) -> list[Any]:
    """Values as cells hold them: None where missing, dates where no moment has a time of day."""
    if isinstance(values.dtype, pd.DatetimeTZDtype):  # no cell knows zones, but texts do
        return [None if value is pd.NaT else value.isoformat() for value in values]
    if values.dtype.kind == "M":
        whole = bool((values.dropna() == values.dropna().dt.normalize()).all())
        return [
            None if value is pd.NaT else _dated(value.to_pydatetime(), whole) for value in values
        ]
    return [
        None if is_missing else value
        for value, is_missing in zip(values.tolist(), values.isna(), strict=True)
    ]


def _dated(moment: datetime, whole: bool) -> date | str:
    """A moment as a cell holds it: a text where Excel has no such date."""
    value = moment.date() if whole else moment
    return value if moment.date() >= _FIRST_DAY else value.isoformat()
