"""Excel files: typed cells in and out, each by itself, and every way that a workbook can be no
table.
"""

import datetime as dt
import gc
import io
import math
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import DataFileError, MissingExtraError
from synthdp.data import check_kind, open_table, read_coded, write_excel, write_frame
from synthdp.schema import USUAL, Dialect, Schema, is_missing

xlsxwriter = pytest.importorskip("xlsxwriter")
pytest.importorskip("python_calamine")

MOMENT = dt.datetime(2020, 1, 31, 23, 59, 7)  # noqa: DTZ001 (Excel knows no zones)
SCHEMA = Schema.from_dict(
    {
        "fields": [
            {"name": "code", "type": "string", "constraints": {"enum": ["01", "1", "=1+1"]}},
            {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 50}},
            {
                "name": "pay",
                "type": "number",
                "constraints": {"minimum": 0, "maximum": 9},
                "synthdp": {"bins": 9},
            },
            {"name": "in", "type": "boolean", "trueValues": ["ja"], "falseValues": ["nein"]},
            {
                "name": "born",
                "type": "date",
                "constraints": {"minimum": "2020-01-01", "maximum": "2020-01-31"},
            },
            {
                "name": "at",
                "type": "datetime",
                "constraints": {"minimum": "2020-01-31", "maximum": "2020-02-01"},
            }
            | {"synthdp": {"resolution": "hour"}},
        ]
    }
)


def book(path, *sheets):
    """An Excel file of sheets, each a list of rows."""
    made = xlsxwriter.Workbook(
        path, {"default_date_format": "dd.mm.yyyy", "nan_inf_to_errors": True}
    )
    for number, rows in enumerate(sheets):
        sheet = made.add_worksheet(f"S{number}")
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                if cell is not None:
                    (sheet.write_string if isinstance(cell, str) else sheet.write)(
                        row, column, cell
                    )
    made.close()
    return path


def rows_of(path, sheet=None):
    with open_table(path, Dialect(sheet=sheet)) as table:
        return [
            list(table.names),
            *(row for chunk in table.chunks() for row in chunk.to_numpy().tolist()),
        ]


def test_cells_are_read_by_their_types(tmp_path):
    rows = [
        ["at", "age", "code", "born", "in", "pay"],
        [MOMENT, 7, "01", dt.date(2020, 1, 31), True, 1.5],
        [dt.date(2020, 1, 31), "7", 1, "2020-01-01", "ja", "8.5"],
        [],
        [None, 99.9, "=1+1", None, "true", math.nan],  # written as #NUM!
        ["2020-01-31 01:00", True, "x", 43861, 0, "8,5"],
    ]
    codes = dict(
        zip(SCHEMA.names, read_coded(book(tmp_path / "t.xlsx", rows), SCHEMA).columns, strict=True)
    )
    assert {name: column.tolist() for name, column in codes.items()} == {
        "code": [0, 1, 2, 3],
        "age": [7, 7, 51, 1],  # 99.9 is no whole number
        "pay": [1, 8, 9, 9],
        "in": [1, 1, 2, 2],
        "born": [30, 0, 31, 31],
        "at": [23, 0, 25, 1],
    }


def test_a_cell_with_a_number_is_no_truth_value_where_texts_are_declared(tmp_path):
    path = book(tmp_path / "t.xlsx", [["in"], [0], [1]])
    plain = Schema.from_dict({"fields": [{"name": "in", "type": "boolean"}]})
    assert read_coded(path, plain).columns[0].tolist() == [0, 1]


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(-1e300, 1e300, allow_subnormal=False),
    st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=4),
    st.dates(dt.date(1900, 3, 1)),
    st.datetimes(dt.datetime(1900, 3, 1), dt.datetime(9999, 12, 31)).map(  # noqa: DTZ001
        lambda each: each.replace(microsecond=1000)
    ),
    st.sampled_from(["01", "=1+1", "#N/A", "http://x", " 7", "1e5", "true", "2020-01-31"]),
)


@settings(deadline=None, max_examples=10)
@given(cells=st.lists(CELLS, min_size=1, max_size=20))
def test_every_cell_is_read_by_itself(cells, tmp_path_factory):
    sheets = [
        [["a", "b"], *([cell, 1] for cell in cells)],
        *([["a", "b"], [cell, 1]] for cell in cells),
    ]
    path = book(tmp_path_factory.mktemp("x") / "t.xlsx", *sheets)
    together = rows_of(path, "S0")[1:]
    alone = [rows_of(path, f"S{number}")[1] for number in range(1, len(sheets))]
    assert [(type(row[0]), row) for row in together] == [(type(row[0]), row) for row in alone]
    for cell, (read, _) in zip(cells, together, strict=True):
        if isinstance(cell, float):  # Excel has 15 digits
            assert math.isclose(read, cell, rel_tol=1e-15)
        else:
            assert read == (
                pd.Timestamp(cell)
                if isinstance(cell, dt.date) and type(read) is dt.datetime
                else cell
            )


TYPED = pd.DataFrame(
    {
        "text": ["01", "=1+1", "http://x.y", "\x01\ud7ff", None],
        "int": pd.array([1, 2, 3, 2**53, None], dtype="Int64"),
        "float": [0.1, -1e300, 5e-324, 3.0, np.nan],
        "truth": pd.array([True, False, True, False, None], dtype="boolean"),
        "day": np.array(
            ["2020-01-31", "1899-12-31", "9999-12-31", "1900-03-01", "NaT"], dtype="datetime64[s]"
        ),
        "moment": np.array(
            [MOMENT, MOMENT, MOMENT, "1800-01-01T01:00:00", "NaT"], dtype="datetime64[s]"
        ),
        "category": pd.Categorical([1.5, 2.5, 1.5, 2.5, None]),
    }
)


def test_what_is_written_is_read_with_its_types(tmp_path):
    write_frame(TYPED, tmp_path / "t.xlsx", force=False)
    header, *rows = rows_of(tmp_path / "t.xlsx")
    assert header == list(TYPED.columns)
    day = dt.date(2020, 1, 31)
    assert rows == [
        ["01", 1, 0.1, True, day, MOMENT, 1.5],
        ["=1+1", 2, -1e300, False, "1899-12-31", MOMENT, 2.5],
        ["http://x.y", 3, 5e-324, True, dt.date(9999, 12, 31), MOMENT, 1.5],
        ["\x01\ud7ff", 2**53, 3.0, False, dt.date(1900, 3, 1), "1800-01-01T01:00:00", 2.5],
    ]
    assert [type(cell) for cell in rows[0]] == [
        str,
        float,
        float,
        bool,
        dt.date,
        dt.datetime,
        float,
    ]


def test_the_same_table_gives_the_same_bytes(tmp_path):
    write_frame(TYPED, tmp_path / "t.xlsx", force=False)
    write_frame(TYPED, tmp_path / "u.xlsx", force=False)
    assert (tmp_path / "t.xlsx").read_bytes() == (tmp_path / "u.xlsx").read_bytes()
    with zipfile.ZipFile(tmp_path / "t.xlsx") as packed:  # whenever that is
        assert {entry.date_time[0] for entry in packed.infolist()} == {1980}
        dates = re.findall(rb"\d{4}-\d\d-\d\d", packed.read("docProps/core.xml"))
    assert set(dates) == {b"1980-01-01"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk without room")
def test_a_disk_without_room_is_complained_of_once(monkeypatch):
    later = []
    monkeypatch.setattr(sys, "unraisablehook", later.append)
    with (
        pytest.raises((OSError, xlsxwriter.exceptions.FileCreateError)),
        Path("/dev/full").open("wb", buffering=0) as full,
    ):
        write_excel(pd.DataFrame({"x": [1]}), full)
    gc.collect()
    assert later == []


def test_long_texts_are_cut_as_a_cell_must_be(tmp_path):
    write_frame(pd.DataFrame({"a": ["x" * 40_000]}), tmp_path / "t.xlsx", force=False)
    assert rows_of(tmp_path / "t.xlsx") == [["a"], ["x" * 32_767]]


def test_sheets(tmp_path):
    path = book(tmp_path / "t.xlsx", [["a"], ["x"]], [["b", None, 2020], ["y", None, 7]])
    with pytest.raises(
        DataFileError, match=r"it has 2 sheets; name one: --sheet NAME, in a schema"
    ):
        rows_of(path)
    with pytest.raises(DataFileError, match="it has no sheet 'S9'"):
        rows_of(path, "S9")
    assert rows_of(path, "S0") == [["a"], ["x"]]
    assert rows_of(path, "S1") == [["b", "", "2020"], ["y", None, 7]]
    write_frame(
        pd.DataFrame({"a": [1]}), tmp_path / "u.xlsx", force=False, dialect=Dialect(sheet="People")
    )
    assert rows_of(tmp_path / "u.xlsx", "People") == [["a"], [1]]


SECRET = "SeCrEt"
BROKEN = {
    "empty": ([], "it is empty"),
    "typed header": ([["a", MOMENT], [SECRET, 1]], "does not hold texts only"),
    "same names": ([["a", "a"], [SECRET, 1]], "same name"),
    "beside the header": ([["a"], [1], [2, SECRET]], "a value beside the named columns"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_sheets_that_are_no_tables_are_refused_without_values(case, tmp_path):
    rows, expected = BROKEN[case]
    with pytest.raises(DataFileError, match=expected) as caught:
        rows_of(book(tmp_path / "t.xlsx", rows))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\x03\x04SeCrEt"])
def test_files_that_are_no_workbooks(content, tmp_path):
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(DataFileError, match="it is no Excel file") as caught:
        rows_of(tmp_path / "t.xlsx")
    assert "\n" not in str(caught.value)


def test_a_damaged_sheet(tmp_path):
    whole = io.BytesIO()
    book(whole, [["a"], [SECRET]])
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(tmp_path / "t.xlsx", "w") as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, content[: len(content) // 2] if "sheet1" in name else content)
    with pytest.raises(DataFileError, match=r"no Excel file|empty") as caught:
        rows_of(tmp_path / "t.xlsx")
    assert SECRET not in str(caught.value)


def test_more_rows_than_a_sheet_holds_are_refused_beforehand(tmp_path):
    check_kind("t.xlsx", 2**20 - 1)
    check_kind("t.csv", 2**20)
    with pytest.raises(DataFileError, match="at most 1048575 rows"):
        check_kind("t.xlsx", 2**20)
    with pytest.raises(DataFileError, match="16384 columns"):
        write_frame(pd.DataFrame([range(2**14 + 1)]), tmp_path / "t.xlsx", force=False)
    assert not list(tmp_path.iterdir())


def test_progress_ends_at_one(tmp_path):
    seen = []
    read_coded(
        book(tmp_path / "t.xlsx", [["age"], *([n] for n in range(9))]),
        Schema((SCHEMA["age"],)),
        progress=seen.append,
    )
    assert seen == [1.0, 1.0]


def test_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    book_there = tmp_path / "t.xlsx"
    book_there.touch()
    for use in (
        lambda: open_table(book_there, USUAL),
        lambda: check_kind("u.xlsx", None),
        lambda: write_frame(pd.DataFrame({"a": [1]}), tmp_path / "u.xlsx", force=False),
    ):
        with pytest.raises(MissingExtraError, match="synthdp\\[excel\\]"):
            use()
    assert not (tmp_path / "u.xlsx").exists()


def test_nothing_is_what_is_not_there(tmp_path):
    (_, row) = rows_of(book(tmp_path / "t.xlsx", [["a", "b"], [None, "x"]]))
    assert is_missing(row[0])


@pytest.mark.parametrize("number", [987654321098, 7e17, -7e17, 1e300, -1e300])
@pytest.mark.parametrize("pattern", ["[h]:mm", "[h]:mm:ss", "d.m.yyyy", "hh:mm", "0.00"])
def test_a_cell_that_no_date_can_be_made_of_ends_nothing(number, pattern, tmp_path, capfd):
    """Nor does it change cells beside it; and nothing is told of it, which a panic of the library
    would.
    """
    made = xlsxwriter.Workbook(tmp_path / "t.xlsx")
    sheet, times = made.add_worksheet(), made.add_format({"num_format": "[h]:mm"})
    sheet.write_row(0, 0, ["x", "y", "z"])
    for row, value in enumerate([1, number, 2], 1):
        sheet.write(row, 0, value, made.add_format({"num_format": pattern}))
        sheet.write(row, 1, row / 2, times)
        sheet.write(row, 2, 10**12)
    made.close()
    (*_, first, odd, last) = rows_of(tmp_path / "t.xlsx")
    assert [row[1:] for row in (first, odd, last)] == [
        [dt.timedelta(days=n / 2), 10.0**12] for n in (1, 2, 3)
    ]
    assert type(first[0]) is type(last[0])
    assert pattern != "0.00" or odd[0] == number
    assert capfd.readouterr().err == ""
