"""JSON read strictly: depth, repeated keys, and one line of what is wrong."""

import json
import subprocess
import sys

import pytest
from helpers.homes import home

from synthdp.core import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_MEMORY,
    DataFileError,
    SchemaError,
    load_json,
    memory_of,
    parse_json,
)

json_files = home(load_json)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a": ', "}")])
def test_what_nests_deeper_than_anybody_needs_is_refused(opening, closing):
    inner = "[]" if opening == "[" else "{}"
    assert parse_json(opening * (MAX_DEPTH - 1) + inner + closing * (MAX_DEPTH - 1), "it")
    for depth in (MAX_DEPTH, 500, 200_000):
        with pytest.raises(
            SchemaError,
            match=r"^it: it nests more than 50 objects and lists in each other; correct it$",
        ):
            parse_json(opening * depth + inner + closing * depth, "it")


@pytest.mark.parametrize("text", ["{", "", "[1,]", "nul", "1" * 5000, '"\\ud8"'])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(SchemaError, match=r"^it: it is not valid JSON.*; correct it$"):
        parse_json(text, "it")


def test_keys_that_repeat_are_named_with_their_line():
    with pytest.raises(SchemaError, match="'b' stands twice in one object, again in line 3"):
        parse_json('{"a": {"a": 1},\n "b": "\\"{[",\n "b": 2}', "it")


def test_a_long_text_beside_a_repeated_key_takes_no_stack():
    with pytest.raises(SchemaError, match="stands twice"):
        parse_json(json.dumps("\n" * 300_000).join(('{"x": ', ', "x": 1}')), "it")


def test_files_that_are_too_large_are_not_read(tmp_path, monkeypatch):
    path = tmp_path / "schema.json"
    path.write_text('{"a": 2}'.ljust(100))
    monkeypatch.setattr(json_files, "MAX_BYTES", 100)
    assert json_files.load_json(path, "schema") == {"a": 2}
    path.write_text('{"a": 2}'.ljust(101))
    with pytest.raises(DataFileError, match="it is larger than"):
        json_files.load_json(path, "schema")


# --- memory ---------------------------------------------------------------------------------------

WIDE = "\U0001f600"
"""One such character, and each of a text takes four bytes."""
DEEP = MAX_DEPTH - 2

READER = """
import resource, sys
from pathlib import Path
from synthdp.core import SynthdpError
from synthdp.core import load_json

pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + 200 * 10**6
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    load_json(sys.argv[1], "file")
    print("read", end="")
except SynthdpError as error:
    print("too much" if "more values" in str(error) else "twice" if "stands twice" in str(error) else error, end="")
except MemoryError:
    print("took too much memory", end="")
"""


def listed(n, *each):
    return "[" + ",".join(each[i % len(each)] for i in range(n)) + "]"


def keyed(n, value):
    return "{" + ",".join(f'"{i:x}":{value}' for i in range(n)) + "}"


DENSE = {
    "lists in each other": lambda n: listed(n // DEEP, "[" * DEEP + "]" * DEEP),
    "keys that differ": lambda n: keyed(n, 0),
    "a key that repeats behind them": lambda n: keyed(n, 0)[:-1] + ',"0":1}',
    "texts": lambda n: listed(n, '"\u0153"'),
    "lists": lambda n: listed(n, "[]"),
    "objects": lambda n: listed(n, "{}"),
    "objects with a key": lambda n: listed(n, '{"":0}'),
    "objects in each other": lambda n: listed(n // DEEP, '{"":' * DEEP + "0" + "}" * DEEP),
    "objects with keys": lambda n: keyed(n, '{"":{}}'),
    "numbers": lambda n: listed(n, "1.5"),
}
"""Values that take much memory for their length."""


def outcomes(folder, texts):
    """What comes of reading each text in a process of its own that may take 200 MB more than it
    has.
    """
    paths = [folder / str(number) for number, _ in enumerate(texts)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-P", "-c", READER]
    return [
        subprocess.run([*command, path], stdout=subprocess.PIPE, check=True, text=True).stdout
        for path in paths
    ]


def padded(text):
    """The same after a text of one wide character and so many others that the file is as long as
    one may be.
    """
    start = f'["{WIDE}'
    return start + " " * (MAX_BYTES - len(start.encode()) - len(text.encode()) - 4) + f'",{text}]'


def most_of(make, around):
    """How many values of a kind are just read, in a text that ``around`` makes of theirs."""
    n = 10_000
    small, large = (memory_of(around(make(many))) for many in (n, 2 * n))
    return int(n + (MAX_MEMORY - small) * 0.98 / (large - small) * n)


def in_memory_of(folder, name):
    """The most values of a kind that are read, alone and with as long a text as may be, and a few
    more.
    """
    expected, make, texts = "twice" if "repeats" in name else "read", DENSE[name], []
    for around in (str, padded):
        n = most_of(make, around)
        texts += [around(make(n)), around(make(n + n // 20))]
    assert outcomes(folder, texts) == [expected, "too much"] * 2


LIMITED = pytest.mark.skipif(
    sys.platform != "linux", reason="limits of memory are measured as Linux counts it"
)


@LIMITED
@pytest.mark.parametrize("name", [*DENSE][:1])
def test_no_values_take_more_memory_than_they_may(tmp_path, name):
    in_memory_of(tmp_path, name)


@LIMITED
@pytest.mark.slow
@pytest.mark.parametrize("name", [*DENSE][1:])
def test_no_values_of_any_kind_take_more_memory_than_they_may(tmp_path, name):
    in_memory_of(tmp_path, name)


def test_a_column_of_a_million_levels_is_read(tmp_path):
    path = tmp_path / "levels.json"
    path.write_text(listed(1 << 20, '"0"'))
    assert len(json_files.load_json(path, "schema")) == 1 << 20
