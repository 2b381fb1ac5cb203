"""Writing files: whole or not at all, never over another one unasked, and the same bytes each time."""

import csv
import errno
import gzip
import io
import os
import stat
import sys

import pandas as pd
import pytest
from helpers.homes import home
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import DataFileError, check_writable, write_atomically, written
from synthdp.data import file_kind, is_text, write_frame, write_rows

writing_module = home(write_atomically)

FRAME = pd.DataFrame({"a": ["1", ""], 'b,"': ["x,y", 'q"\nz']}, dtype=object)
CSV_BYTES = b'a,"b,"""\n1,"x,y"\n,"q""\nz"\n'


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_with_the_usual_permissions(tmp_path):
    old = os.umask(0o027)
    try:
        with write_atomically(tmp_path / "t", force=False) as stream:
            stream.write(b"x")
            assert not (tmp_path / "t").exists()
    finally:
        os.umask(old)
    assert (tmp_path / "t").read_bytes() == b"x"
    assert stat.S_IMODE((tmp_path / "t").stat().st_mode) == 0o640
    assert names_in(tmp_path) == ["t"]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), DataFileError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (RuntimeError("x"), RuntimeError),
    ],
)
def test_failures_leave_nothing_behind(failure, raised, force, tmp_path):
    if force:
        (tmp_path / "t").write_bytes(b"old")

    def interrupted():
        with write_atomically(tmp_path / "t", force=force) as stream:
            stream.write(b"half")
            raise failure

    with pytest.raises(raised) as caught:
        interrupted()
    assert names_in(tmp_path) == (["t"] if force else [])
    assert not force or (tmp_path / "t").read_bytes() == b"old"
    if raised is DataFileError:
        assert "no space left" in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["fsync", "replace", "link"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_failures_at_the_end_leave_nothing_behind(name, number, tmp_path, monkeypatch):
    def fail(*_arguments, **_options):
        raise OSError(number, os.strerror(number))

    (tmp_path / "t").write_bytes(b"old")
    monkeypatch.setattr(writing_module.os, name, fail)
    if name != "fsync":
        monkeypatch.setattr(writing_module.Path, "replace", fail)
    target = tmp_path / ("u" if name == "link" else "t")
    with pytest.raises(DataFileError), write_atomically(target, force=name != "link") as stream:
        stream.write(b"new")
    assert names_in(tmp_path) == ["t"]
    assert (tmp_path / "t").read_bytes() == b"old"


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path):
    def run():
        with write_atomically(tmp_path / "t", force=False) as stream:
            stream.write(b"new")
            (tmp_path / "t").write_bytes(b"theirs")

    with pytest.raises(DataFileError, match="--force"):
        run()
    assert (tmp_path / "t").read_bytes() == b"theirs"
    assert names_in(tmp_path) == ["t"]


@pytest.mark.parametrize("meanwhile", [False, True])
def test_file_systems_without_hard_links(meanwhile, tmp_path, monkeypatch):
    def fail(*_arguments):
        raise OSError(errno.EPERM, "Operation not permitted")

    def run():
        with write_atomically(tmp_path / "t", force=False) as stream:
            stream.write(b"new")
            if meanwhile:
                (tmp_path / "t").write_bytes(b"theirs")

    monkeypatch.setattr(writing_module.os, "link", fail)
    if meanwhile:
        with pytest.raises(DataFileError, match="--force"):
            run()
    else:
        run()
    assert (tmp_path / "t").read_bytes() == (b"theirs" if meanwhile else b"new")
    assert names_in(tmp_path) == ["t"]


def test_a_link_keeps_pointing(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with write_atomically(tmp_path / "link", force=True) as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_what_cannot_be_written_is_known_beforehand(tmp_path):
    (tmp_path / "old").touch()
    os.mkfifo(tmp_path / "pipe")
    cases = {
        "old": "--force",
        ".": "is a directory",
        "none/t": "does not exist",
        "old/t": "not a directory",
        "pipe": "not an ordinary file",
        "a\0b": "not valid",
    }
    for name, expected in cases.items():
        with pytest.raises(DataFileError, match=expected) as caught:
            check_writable(tmp_path / name, force=False)
        assert "\n" not in str(caught.value)
    check_writable(tmp_path / "old", force=True)
    check_writable(tmp_path / "new", force=False)
    check_writable("-", force=False)
    with pytest.raises(DataFileError, match="not an ordinary file"):
        check_writable("/dev/null", force=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_is_not_writable(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataFileError, match="not writable"):
        check_writable(tmp_path / "t", force=False)


def test_csv(tmp_path):
    write_frame(FRAME, tmp_path / "t.csv", force=False)
    assert (tmp_path / "t.csv").read_bytes() == CSV_BYTES
    assert FRAME.to_csv(index=False).encode() == CSV_BYTES


def test_packed_csv_is_the_same_every_time(tmp_path):
    for name in ("one.csv.gz", "two.csv.gz"):
        write_frame(FRAME, tmp_path / name, force=False)
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.csv.gz").read_bytes()) == CSV_BYTES


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": [True, False], "c": ["x", "y"]})
    write_frame(frame, tmp_path / "t.parquet", force=False)
    read = pd.read_parquet(tmp_path / "t.parquet")
    assert read.dtypes.tolist() == frame.dtypes.tolist()
    assert read.equals(frame)


def test_standard_output(monkeypatch):
    pipe = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", pipe)
    write_frame(FRAME, "-", force=False)
    assert pipe.buffer.getvalue() == CSV_BYTES


def test_a_full_disk_while_writing_csv(tmp_path, monkeypatch):
    class Full(io.RawIOBase):
        def writable(self):
            return True

        def write(self, _data):
            raise OSError(errno.ENOSPC, "No space left on device")

    real = writing_module.Path.open

    def opened(self, mode, *arguments):
        real(self, mode, *arguments).close()
        return Full()

    monkeypatch.setattr(writing_module.Path, "open", opened)
    for ending in (".csv", ".csv.gz"):
        with pytest.raises(DataFileError, match="no space left"):
            write_frame(FRAME, tmp_path / f"t{ending}", force=False)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("name", ["t", "t.txt", "t.xls", "t.parquet.gz", "csv"])
def test_unknown_endings(name, tmp_path):
    for use in (is_text, lambda path: write_frame(FRAME, path, force=False)):
        with pytest.raises(DataFileError, match=r"\.csv.*\.parquet"):
            use(tmp_path / name)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["", "a"])),
        max_size=5,
    )
)
def test_quoting_is_understood_by_the_csv_module(rows):
    frame = pd.DataFrame(rows, columns=["a", "b"], dtype=object)
    stream = io.BytesIO()
    write_rows(frame, stream, file_kind("t.csv"))
    read = list(csv.reader(io.StringIO(stream.getvalue().decode(), newline="")))
    assert read == [["a", "b"], *map(list, rows)]


def test_a_text_is_not_made_where_it_cannot_be_written(tmp_path):
    made = []
    assert written(lambda: "text", None, force=False) == "text"
    assert written(lambda: "a\ud800", tmp_path / "new", force=False) == "a\ud800"
    assert (tmp_path / "new").read_text(encoding="utf-8") == "a?"
    with pytest.raises(DataFileError, match="exists"):
        written(lambda: made.append("again") or "again", tmp_path / "new", force=False)
    assert made == []
