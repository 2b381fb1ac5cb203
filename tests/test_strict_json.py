"""JSON read strictly: depth, repeated keys, and one line of what is wrong."""

import json

import pytest

from synthdp.errors import DataFileError, SchemaError
from synthdp.strict_json import MAX_DEPTH, parse_json
from synthdp.table.files import json_files


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a": ', "}")])
def test_what_nests_deeper_than_anybody_needs_is_refused(opening, closing):
    inner = "[]" if opening == "[" else "{}"
    assert parse_json(opening * (MAX_DEPTH - 1) + inner + closing * (MAX_DEPTH - 1), "it")
    for depth in (MAX_DEPTH, 500, 200_000):
        with pytest.raises(
            SchemaError, match=r"^it: it nests more than 50 objects and lists in each other; correct it$"
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
    monkeypatch.setattr(json_files, "MAX_JSON_BYTES", 100)
    assert json_files.load_json(path, "schema") == {"a": 2}
    path.write_text('{"a": 2}'.ljust(101))
    with pytest.raises(DataFileError, match="it is larger than"):
        json_files.load_json(path, "schema")
