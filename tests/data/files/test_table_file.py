"""Reading files: CSV and Parquet, in chunks, and every way that a file can be broken."""

import csv
import gzip
import io
import os
import sys

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import DataFileError, MissingExtraError, SchemaError
from synthdp.data import checked_block, open_table, read_coded, write_frame
from synthdp.schema import Schema

csvblocks_module = home(checked_block)

SCHEMA = Schema.from_dict(
    {
        "fields": [
            {
                "name": "city",
                "type": "string",
                "constraints": {"enum": ["Rome, IT", 'the "Hague"', "a\nb", "Ulm"]},
            },
            {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 50}},
        ]
    }
)


def write(path, content):
    path.write_bytes(content)
    return path


def codes_of(path, schema=SCHEMA):
    return [column.tolist() for column in read_coded(path, schema).columns]


GOOD = {
    "plain": (b"city,age\nUlm,3\nUlm,\n", [[3, 3], [3, 51]]),
    "other order": (b"age,city\n3,Ulm\n", [[3], [3]]),
    "no last newline": (b"city,age\nUlm,3", [[3], [3]]),
    "windows": (b"city,age\r\nUlm,3\r\n,7\r\n", [[3, 4], [3, 7]]),
    "old mac": (b"city,age\rUlm,3\r,7", [[3, 4], [3, 7]]),
    "byte-order mark": (b"\xef\xbb\xbfcity,age\nUlm,3\n", [[3], [3]]),
    "byte-order mark as a value": (b"city,age\n\xef\xbb\xbf,3\nUlm,4\n", [[4, 3], [3, 4]]),
    "quoted header": (b'"city","age"\nUlm,3\n', [[3], [3]]),
    "quotes": (
        b'city,age\n"Rome, IT","3"\n"the ""Hague""",4\n"a\nb",5\n"",6\n',
        [[0, 1, 2, 4], [3, 4, 5, 6]],
    ),
    "quotes and windows": (b'city,age\r\n"Rome, IT",3\r\n"a\nb",5\r\n', [[0, 2], [3, 5]]),
    "blank lines": (b"\n\ncity,age\n\nUlm,3\n\n  \n", [[3], [3]]),
    "blank lines and quotes": (b'city,age\n\n"a\nb",3\n\n', [[2], [3]]),
    "no rows": (b"city,age\n", [[], []]),
    "no rows, no newline": (b"city,age", [[], []]),
    "leading blanks": (b"city,age\n Ulm, 3\n", [[3], [3]]),
    "unknown values": ("city,age\nKöln,n/a\nnan,NULL\n".encode(), [[4, 4], [51, 51]]),
}


@pytest.mark.parametrize("case", GOOD)
@pytest.mark.parametrize("block_bytes", [1, 5, 2**23])
@pytest.mark.parametrize("packed", [False, True])
def test_csv_files_are_read_whatever_the_blocks(case, block_bytes, packed, tmp_path, monkeypatch):
    monkeypatch.setattr(csvblocks_module, "BLOCK_BYTES", block_bytes)
    content, expected = GOOD[case]
    path = write(
        tmp_path / ("t.csv.gz" if packed else "t.csv"),
        gzip.compress(content) if packed else content,
    )
    assert codes_of(path) == expected
    table = read_coded(path, SCHEMA)
    assert [column.dtype for column in table.columns] == [np.uint8, np.uint8]
    assert table.domain == SCHEMA.domain


SECRET = "SeCrEt"
BROKEN = {
    "empty": (b"", "empty"),
    "only blank lines": (b"\n\r\n", "empty"),
    "short record": (b"city,age\nUlm,3\nSeCrEt\n", "as many fields"),
    "long record": (b"city,age\nUlm,3\nSeCrEt,4,5\n", "as many fields"),
    "short and long": (b"city,age\nSeCrEt\nUlm,3,4\n", "as many fields"),
    "all long": (b"city,age\nSeCrEt,3,4\nUlm,3,4\n", "as many fields"),
    "trailing comma": (b"city,age\nSeCrEt,3,\n", "as many fields"),
    "short last record": (b"city,age\nUlm,3\nSeCrEt", "as many fields"),
    "short quoted record": (b'city,age\n"SeCrEt,3"\n', "as many fields"),
    "not UTF-8": (b"city,age\nSeCrEt\xe9,3\n", "UTF-8"),
    "not UTF-8 in the header": (b"city\xe9,age\n", "UTF-8"),
    "UTF-16": ("city,age\nSeCrEt,3\n".encode("utf-16"), "UTF-8|NUL"),
    "NUL": (b"city,age\nSeCrEt\0,3\n", "NUL"),
    "open quote": (b'city,age\n"SeCrEt,3\nUlm,4\n', "not closed"),
    "stray quotes": (b'city,age\nSeC"r"Et,3\n', "quote stands inside"),
    "text after a quote": (b'city,age\n"Sec"rEt,3\n', "quote stands inside"),
    "same names": (b"SeCrEt,SeCrEt\n1,2\n", "same name"),
    "broken header": (b'"ci"ty,age\n', "header"),
    "packed under a plain name": (gzip.compress(b"city,age\n", mtime=0), "UTF-8|NUL"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_csv_files_are_refused_in_one_line_without_values(case, tmp_path):
    content, expected = BROKEN[case]
    with pytest.raises(DataFileError, match=expected) as caught:
        read_coded(write(tmp_path / "t.csv", content), SCHEMA)
    message = str(caught.value)
    assert "t.csv" in message
    assert "\n" not in message
    assert SECRET.lower() not in message.lower()
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b"city,age\n" * 9, mtime=0)[:-9], b"\x1f\x8b\x08" + b"\xff" * 40],
)
def test_broken_gzip_files(content, tmp_path):
    with pytest.raises(DataFileError, match="damaged or not a gzip file"):
        read_coded(write(tmp_path / "t.csv.gz", content), SCHEMA)


def test_a_record_that_does_not_end(tmp_path, monkeypatch):
    monkeypatch.setattr(csvblocks_module, "MAX_RECORD_BYTES", 100)
    monkeypatch.setattr(csvblocks_module, "BLOCK_BYTES", 10)
    with pytest.raises(DataFileError, match="does not end"):
        read_coded(write(tmp_path / "t.csv", b'city,age\n"' + b"Ulm,3\n" * 30), SCHEMA)


@pytest.mark.parametrize(
    "name", ["none.csv", "none.csv.gz", "none.parquet", "t.xlsx", "t", "none/t.csv", "a\0.csv"]
)
def test_paths_that_cannot_be_read(name, tmp_path):
    (tmp_path / "t.xlsx").touch()
    with pytest.raises(DataFileError) as caught:
        read_coded(tmp_path / name, SCHEMA)
    assert "\n" not in str(caught.value)


def header(path):
    with open_table(path) as table:
        return table.names


@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz", "d.parquet"])
def test_directories_are_no_tables(name, tmp_path):
    (tmp_path / name).mkdir()
    with pytest.raises(DataFileError, match="directory"):
        header(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_denied(tmp_path):
    path = write(tmp_path / "t.csv", b"city,age\n")
    path.chmod(0)
    with pytest.raises(DataFileError, match="permission denied"):
        header(path)


def test_the_header_is_checked_before_rows(tmp_path):
    path = write(tmp_path / "t.csv", b"city,years\n" + b"\xff,\0,,\n")
    with pytest.raises(SchemaError, match="'age'"):
        read_coded(path, SCHEMA)


def test_a_file_without_a_header_is_not_repeated(tmp_path):
    with pytest.raises(SchemaError) as caught:
        read_coded(write(tmp_path / "t.csv", b"SeCrEt,49\nUlm,3\n"), SCHEMA)
    assert SECRET not in str(caught.value)
    assert "49" not in str(caught.value)


class Pipe(io.TextIOWrapper):
    def __init__(self, content):
        super().__init__(io.BytesIO(content), encoding="utf-8")


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Pipe(b"city,age\nUlm,3\n"))
    with open_table("-") as table:
        assert table.names == ("city", "age")
        assert [chunk.to_numpy().tolist() for chunk in table.chunks()] == [[["Ulm", "3"]]]
        assert table.fraction == 0
    assert not sys.stdin.buffer.closed


def test_progress_ends_at_one(tmp_path, monkeypatch):
    monkeypatch.setattr(csvblocks_module, "BLOCK_BYTES", 2**12)
    seen = []
    path = write(tmp_path / "t.csv", b"city,age\n" + b"Ulm,3\n" * 5000)
    read_coded(path, SCHEMA, progress=seen.append)
    assert len(seen) > 3
    assert seen == sorted(seen)
    assert 0 < seen[0] < 1 == seen[-1]


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
ROWS = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), max_size=6)
)


@settings(deadline=None, max_examples=examples(100))
@given(rows=ROWS, data=st.data())
def test_what_the_csv_module_writes_is_read_as_it_was(rows, data, tmp_path_factory):
    names = [f"c{index}" for index in range(len(rows[0]) if rows else 2)]
    text = io.StringIO(newline="")
    # before Python 3.13 the csv module leaves a carriage return unquoted where lines end in a line
    # feed
    dialects = [("\r\n", csv.QUOTE_MINIMAL), ("\r\n", csv.QUOTE_ALL), ("\n", csv.QUOTE_ALL)]
    end, quoting = data.draw(st.sampled_from(dialects))
    csv.writer(text, lineterminator=end, quoting=quoting).writerows([names, *rows])
    path = write(tmp_path_factory.mktemp("csv") / "t.csv", text.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvblocks_module, "BLOCK_BYTES", data.draw(st.integers(1, 50)))
        with open_table(path) as table:
            read = [row for chunk in table.chunks() for row in chunk.to_numpy().tolist()]
    assert read == rows


def parquet(path, frame):
    pytest.importorskip("pyarrow")
    frame.to_parquet(path)
    return path


def test_parquet_files(tmp_path):
    frame = pd.DataFrame(
        {"age": [3.0, None, 1e300], "city": pd.Categorical(["Ulm", "Köln", None])}, index=[5, 6, 7]
    )
    path = parquet(tmp_path / "t.parquet", frame[["age", "city"]].reset_index(drop=True))
    assert codes_of(path) == [[3, 4, 4], [3, 51, 50]]
    assert header(path) == ("age", "city")
    assert codes_of(parquet(tmp_path / "e.pq", frame.iloc[:0].reset_index(drop=True))) == [[], []]


def test_odd_parquet_types(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    columns = [
        pa.array([2**31 - 1, None], pa.date32()),
        pa.array([2**50, None], pa.timestamp("s")),
        pa.array([[1], None], pa.list_(pa.int64())),
        pa.array([{"a": 1}, None]),
        pa.array([b"\xff", None]),
        pa.array([1, None], pa.time64("ns")),
        pa.array([1, None], pa.decimal128(5)),
        pa.array([None, None], pa.null()),
        pa.array([2**62, None], pa.timestamp("ms", tz="Europe/Berlin")),
        pa.array([2**62, None], pa.duration("ms")),
        pa.array([[1], None], pa.list_(pa.time64("ns"))),
        pa.array([1, None]).dictionary_encode(),
    ]
    for column in columns:
        pq.write_table(pa.table({"age": column, "city": column}), tmp_path / "t.parquet")
        assert all(len(codes) == 2 for codes in codes_of(tmp_path / "t.parquet"))


def test_parquet_times_are_read_in_utc(tmp_path):
    pytest.importorskip("pyarrow")
    field = {
        "name": "at",
        "type": "datetime",
        "constraints": {"minimum": "2020-01-01", "maximum": "2020-01-02"},
    }
    schema = Schema.from_dict({"fields": [field | {"synthdp": {"resolution": "hour"}}]})
    moments = pd.Series(pd.to_datetime(["2020-01-01 05:00+02:00", None], utc=True)).dt.tz_convert(
        "Asia/Tokyo"
    )
    assert codes_of(parquet(tmp_path / "t.parquet", moments.to_frame("at")), schema) == [[3, 25]]


def test_parquet_texts_that_are_not_utf8(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    text = pa.array([b"SeCrEt\xff", b"3"]).view(pa.string())
    pq.write_table(pa.table({"age": text, "city": text}), tmp_path / "t.parquet")
    odd, plain = zip(*codes_of(tmp_path / "t.parquet"), strict=True)
    assert plain[1] == 3
    assert odd != plain


def test_broken_parquet_files(tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(DataFileError, match="not a Parquet file") as caught:
        read_coded(write(tmp_path / "t.parquet", b"PAR1 SeCrEt"), SCHEMA)
    assert "\n" not in str(caught.value)
    frame = pd.DataFrame({"age": range(50_000), "city": list(map(str, range(50_000)))})
    content = bytearray(parquet(tmp_path / "t.parquet", frame).read_bytes())
    content[100:90_000] = b"\xff" * 89_900
    with pytest.raises(DataFileError, match="damaged"):
        read_coded(write(tmp_path / "t.parquet", bytes(content)), SCHEMA)


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match="synthdp\\[parquet\\]"):
        read_coded(write(tmp_path / "t.parquet", b""), SCHEMA)
    with pytest.raises(MissingExtraError, match="synthdp\\[parquet\\]"):
        write_frame(pd.DataFrame({"a": [1]}), tmp_path / "u.parquet", force=False)
    assert not (tmp_path / "u.parquet").exists()
