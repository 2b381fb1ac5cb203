"""Files that only grow: what was on the disk stays, what a kill cut short is dropped, anything else
is refused.
"""

import errno
import json
import os
import subprocess
import sys
import tracemalloc
from hashlib import sha256

import pytest
from helpers.homes import home

from synthdp.core import DataFileError
from synthdp.release import ChainedFile, open_locked

chained_file = home(ChainedFile)

ENTRIES = [{"format": "test"}, {"n": 1, "text": "é\ud800"}, {"n": 2}]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    ChainedFile.create(path, ENTRIES[0], what="test")
    with opened(path) as file:
        for entry in ENTRIES[1:]:
            file.append(entry)
    return path


def opened(path, **options):
    return ChainedFile(path, what="test", **({"patience": 0} | options))


def entries(path):
    with opened(path, is_writable=False) as file:
        return [file.entry(i) for i in range(len(file))]


def test_entries_come_back_and_are_chained(path):
    assert entries(path) == ENTRIES
    lines, previous = path.read_bytes().splitlines(), ""
    for line, entry in zip(lines, ENTRIES, strict=True):
        parsed = json.loads(line)
        assert parsed["entry"] == entry
        raw = json.dumps(entry, separators=(",", ":"))
        assert parsed["hash"] == (previous := sha256((previous + raw).encode()).hexdigest())


def test_an_end_that_was_cut_short_is_dropped_and_written_over(path):
    whole = path.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for length in [*range(0, last, 9), whole.index(b"\n"), *range(last - 1, len(whole))]:
        path.write_bytes(whole[:length])
        n_left = whole[:length].count(b"\n") + (
            length == len(whole) - 1
        )  # an entry that lacks its line feed only
        n_left += any(length == end for end in (whole.index(b"\n"), last - 1))
        if n_left == 0:
            with pytest.raises(DataFileError, match="no test that synthdp wrote"):
                opened(path)
            continue
        assert entries(path) == ENTRIES[:n_left]
        with opened(path):
            assert whole.startswith(path.read_bytes())
            assert path.read_bytes().endswith((b"}", b"}\n")), (
                "what was cut short is gone before anything is asked"
            )
        if length > last:
            with opened(path) as file:
                file.append({"n": 3})
            assert entries(path) == [*ENTRIES[:n_left], {"n": 3}]


def test_every_changed_byte_is_noticed(path):
    whole = path.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 7
        path.write_bytes(changed)
        with pytest.raises(DataFileError, match=r"changed or is damaged|no test that"):
            opened(path)


def test_lines_that_are_swapped_or_left_out_are_noticed(path):
    first, second, third = path.read_bytes().splitlines(keepends=True)
    for lines in (
        [first, third],
        [first, third, second],
        [second, third],
        [first, second, second, third],
        [b"\n"],
    ):
        path.write_bytes(b"".join(lines))
        with pytest.raises(DataFileError, match=r"line \d was changed or is damaged"):
            opened(path)


@pytest.mark.parametrize(
    "raw",
    [
        "[" * 100_000,
        '{"a":1,"a":2}',
        "[]",
        "1",
        '"text"',
        "",
        "nonsense",
        '{"a":' * 5000,
        "1" * 10_000,
        '{"a":"\xff"}',
    ],
    ids=range(10),
)
def test_forged_entries_are_one_clear_error(path, raw):
    raw = raw.encode("latin-1")
    with opened(path) as file:
        digest = sha256(file.head.encode() + raw).hexdigest().encode()
    path.write_bytes(path.read_bytes() + b'{"hash":"' + digest + b'","entry":' + raw + b"}\n")
    with opened(path) as file, pytest.raises(DataFileError, match="line 4 is no test entry"):
        file.entry(3)


def test_entries_that_are_little_each_may_not_be_much_together(path, monkeypatch):
    monkeypatch.setattr(chained_file, "MAX_MEMORY", 20_000)
    with opened(path) as file:
        for _ in range(3):
            file.append({"n": [[]] * 60})
        assert len(file.entry(4)["n"]) == 60
        with pytest.raises(
            DataFileError, match="its first 5 lines hold more than is read from one file"
        ):
            list(file.entries())


@pytest.mark.parametrize("content", [b"\0", b"[", b'{"hash":"'])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_huge_line_takes_little_memory(path, content, end):
    with path.open("ab") as stream:
        stream.write(content)
        stream.truncate(stream.tell() + (24 << 20))
        stream.seek(0, os.SEEK_END)
        stream.write(end)
    tracemalloc.start()
    try:
        if end:
            with pytest.raises(DataFileError, match="line 4"):
                opened(path)
        else:
            assert entries(path) == ENTRIES
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


# --- writing --------------------------------------------------------------------------------------


class Failing:
    """A stream of which no write succeeds, or only the first half of one."""

    def __init__(self, stream, code, *, is_half):
        self._stream, self._code, self._is_half = stream, code, is_half

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def write(self, content):
        if not self._is_half:
            raise OSError(self._code, os.strerror(self._code))
        self._is_half = False
        return self._stream.write(content[:40])


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO])
@pytest.mark.parametrize("step", ["fsync", "write", "half"])
def test_a_write_that_fails_leaves_the_file_as_it_was(path, monkeypatch, step, code):
    before = path.read_bytes()
    file = opened(path)
    if step in ("write", "half"):
        file._stream = Failing(file._stream, code, is_half=step == "half")
    else:

        def fail(_descriptor):
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(DataFileError, match="it cannot be written: "):
        file.append({"n": 3})
    monkeypatch.undo()
    assert path.read_bytes() == before
    with opened(path) as again:
        again.append({"n": 3})
    assert entries(path) == [*ENTRIES, {"n": 3}]


def test_an_interrupt_while_writing_leaves_the_file_as_it_was(path, monkeypatch):
    def interrupted(_descriptor):
        monkeypatch.undo()
        raise KeyboardInterrupt

    with opened(path) as file:
        monkeypatch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            file.append({"n": 3})
    assert entries(path) == ENTRIES


def test_it_is_flushed_to_the_disk_before_it_counts(path, monkeypatch):
    flushed, fsync = [], os.fsync

    def seen(descriptor):
        flushed.append(path.read_bytes().count(b"\n"))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", seen)
    with opened(path) as file:
        file.append({"n": 3})
    assert flushed == [3, 4], "what a killed process had left, and what is new"


def test_a_file_that_was_replaced_meanwhile_is_not_written_to(path, tmp_path):
    with opened(path) as file:
        path.rename(tmp_path / "elsewhere")
        path.write_bytes(b"something else\n")
        with pytest.raises(DataFileError, match="it was replaced meanwhile"):
            file.append({"n": 3})
    assert path.read_bytes() == b"something else\n"


# --- opening --------------------------------------------------------------------------------------


def test_what_is_no_such_file_is_refused_and_left_alone(tmp_path, path):
    other = tmp_path / "notes.txt"
    for content in (b"", b"notes without a line feed", b"notes\n", b'{"hash":"', b"\0" * 5000):
        other.write_bytes(content)
        with pytest.raises(DataFileError, match=r"no test that synthdp wrote|line 1 was changed"):
            opened(other)
        assert other.read_bytes() == content
    os.mkfifo(tmp_path / "pipe")
    for name, problem in (
        ("pipe", "not an ordinary file"),
        (".", "not an ordinary"),
        ("none", "cannot be opened: no"),
    ):
        with pytest.raises(DataFileError, match=problem):
            opened(tmp_path / name)
    with pytest.raises(DataFileError, match="the path is not valid"):
        opened("a\0b")
    for place, problem in (
        (path, "exists"),
        ("-", "an ordinary file"),
        (tmp_path / "no" / "x", "directory does not"),
    ):
        with pytest.raises(DataFileError, match=problem):
            ChainedFile.create(place, {}, what="test")


@pytest.mark.parametrize("call", ["open", "lock"])
def test_a_file_that_cannot_be_opened_or_locked_is_one_clear_error(path, monkeypatch, call):
    locks = home(open_locked)

    def refused(*_arguments):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(locks, "FileIO" if call == "open" else "_ask_for_lock", refused)
    with pytest.raises(DataFileError, match="it cannot be opened: read-only file system"):
        opened(path)
    monkeypatch.undo()
    opened(path).close()


def test_one_at_a_time_holds_it_but_many_may_read(path):
    with opened(path), pytest.raises(DataFileError, match="another run holds it"):
        opened(path)
    with opened(path):
        asked = subprocess.run(
            [sys.executable, "-P", "-c", ASK, path], capture_output=True, text=True, check=True
        )
        assert "another run holds it" in asked.stdout
        with pytest.raises(
            DataFileError, match="another run holds it"
        ):  # and that did not take the lock away
            opened(path, is_writable=False)
        asked = subprocess.run(
            [sys.executable, "-P", "-c", ASK, path], capture_output=True, text=True, check=True
        )
        assert "another run holds it" in asked.stdout
    asked = subprocess.run(
        [sys.executable, "-P", "-c", ASK, path], capture_output=True, text=True, check=True
    )
    assert asked.stdout == "3\n"


ASK = """
import sys
from synthdp.release import ChainedFile
try:
    print(len(ChainedFile(sys.argv[1], what="test", patience=0.01)))
except Exception as error:
    print(error)
"""
