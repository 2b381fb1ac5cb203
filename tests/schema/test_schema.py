"""Schemas: what is read, what is refused and how that is said, and drafts."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from synthdp.core import DataFileError, SchemaError
from synthdp.schema import Schema, draft_from_header

LEVELS = {"enum": ["a", "b"]}
BOUNDS = {"minimum": 0, "maximum": 100}
DATES = {"minimum": "2020-01-01", "maximum": "2020-12-31"}


def field(kind="string", constraints=LEVELS, own=None, **properties):
    made = {"name": "income", "type": kind, "constraints": constraints} | properties
    return made | ({"synthdp": own} if own is not None else {})


def schema_of(*fields, **properties):
    return Schema.from_dict({"fields": list(fields)} | properties)


CONTRADICTIONS = {
    "unknown type": (field("geojson"), "'geojson'.*string, boolean"),
    "null type": (field(None), "type is not filled in"),
    "empty enum": (field(constraints={"enum": []}), "enum is empty"),
    "no enum": (field(constraints={}), "enum is missing"),
    "enum no list": (field(constraints={"enum": "ab"}), "list of levels"),
    "repeated level": (field(constraints={"enum": ["a", "b", "a"]}), "'a' twice"),
    "repeated number": (field("number", {"enum": [1, 1.0]}), "twice"),
    "number in string enum": (field(constraints={"enum": ["a", 1]}), "1 is not a text"),
    "text in integer enum": (field("integer", {"enum": [1, "2"]}), "a level is '2'; give a number"),
    "fraction in integer enum": (field("integer", {"enum": [1, 2.5]}), "2.5 is not a whole number"),
    "true in integer enum": (
        field("integer", {"enum": [1, True]}),
        "a level is True; give a number",
    ),
    "level is missing value": (
        field(constraints={"enum": ["a", ""]}),
        "both a level and in missingValues",
    ),
    "number is missing value": (
        field("integer", {"enum": [1, -9]}, missingValues=["-9.0"]),
        "both a level",
    ),
    "surrogate": (field(constraints={"enum": ["\ud800"]}), "surrogate"),
    "NUL": (field(constraints={"enum": ["\0"]}), "NUL"),
    "unknown own key": (field(own={"othr": "x"}), "synthdp.othr.*did you mean 'other'"),
    "own is no object": (field(own=3), "synthdp is 3"),
    "other on integer": (field("integer", BOUNDS, {"other": 3}), "synthdp.other"),
    "other on boolean": (field("boolean", {}, {"other": "x"}), "synthdp.other"),
    "other of wrong type": (field(own={"other": 3}), "3 is not a text"),
    "bins on string": (field(own={"bins": 3}), "synthdp.bins"),
    "no bounds": (field("integer", {}), "minimum is not filled in"),
    "null bound": (field("number", {"minimum": 0, "maximum": None}), "maximum is not filled in"),
    "text bound": (field("number", {"minimum": "0", "maximum": 1}), "minimum is '0'"),
    "true bound": (field("integer", {"minimum": True, "maximum": 1}), "minimum is True"),
    "NaN bound": (field("number", {"minimum": float("nan"), "maximum": 1}), "finite"),
    "infinite bound": (field("number", {"minimum": 0, "maximum": float("inf")}), "finite"),
    "huge bound": (field("number", {"minimum": 0, "maximum": 1e301}), "within 1e\\+300"),
    "huge integer bound": (field("integer", {"minimum": 0, "maximum": 2**60}), "within 2\\*\\*53"),
    "unfloatable bound": (field("integer", {"minimum": 0, "maximum": 10**400}), "2\\*\\*53|finite"),
    "fractional integer bound": (
        field("integer", {"minimum": 0.5, "maximum": 3}),
        "minimum is 0.5",
    ),
    "bounds exchanged": (field("integer", {"minimum": 5, "maximum": 3}), "minimum 5 is above"),
    "one bin": (field("integer", BOUNDS, {"bins": 1}), "one bin keeps nothing"),
    "one number bin": (field("number", BOUNDS, {"bins": 1}), "one bin keeps nothing"),
    "no bins": (field("integer", BOUNDS, {"bins": 0}), "bins is 0"),
    "fractional bins": (field("integer", BOUNDS, {"bins": 2.5}), "bins is 2.5"),
    "true bins": (field("integer", BOUNDS, {"bins": True}), "bins is True"),
    "too many bins": (field("integer", BOUNDS, {"bins": 102}), "101 integers"),
    "absurd bins": (field("number", BOUNDS, {"bins": 10**9}), "at most"),
    "bins of one number": (field("number", {"minimum": 1, "maximum": 1}, {"bins": 2}), "1 numbers"),
    "bins finer than floats": (
        field("number", {"minimum": 1, "maximum": 1 + 2**-52}, {"bins": 9}),
        "use fewer",
    ),
    "bins and edges": (field("integer", {}, {"bins": 5, "edges": [0, 1, 2]}), "keep one"),
    "two edges": (field("integer", {}, {"edges": [0, 5]}), "at least 3"),
    "edges no list": (field("integer", {}, {"edges": 5}), "list of increasing"),
    "edges equal": (field("integer", {}, {"edges": [0, 5, 5, 9]}), "not increasing"),
    "edges decreasing": (field("number", {}, {"edges": [0, 5, 4]}), "not increasing"),
    "text edge": (field("number", {}, {"edges": [0, "5", 8]}), "'5'"),
    "edges and bounds": (field("integer", BOUNDS, {"edges": [0, 5, 99]}), "make them equal"),
    "decimals no integer": (field("number", BOUNDS, {"decimals": 0.5}), "whole number"),
    "decimals too many": (field("number", BOUNDS, {"decimals": 20}), "at most 13"),
    "decimals too few": (field("number", BOUNDS, {"decimals": 0, "bins": 500}), "hold no value"),
    "decimals on integer": (field("integer", BOUNDS, {"decimals": 1}), "synthdp.decimals"),
    "missing between bounds": (field("integer", BOUNDS, missingValues=["99"]), "'99' lies between"),
    "missing date": (field("date", DATES, missingValues=["2020-02-02"]), "lies between"),
    "decimal word": (field("number", BOUNDS, decimalChar="comma"), "decimalChar"),
    "thousands": (field("integer", BOUNDS, groupChar="."), "groupChar"),
    "no date": (
        field("date", {"minimum": "2020-13-01", "maximum": "2021-01-01"}),
        "'2020-13-01' is not a date",
    ),
    "number as date": (field("date", {"minimum": 2020, "maximum": 2021}), "2020 is not a date"),
    "no date bounds": (field("datetime", {"minimum": "2020-01-01"}), "maximum is not filled in"),
    "dates exchanged": (field("date", {"minimum": "2021-01-01", "maximum": "2020-01-01"}), "above"),
    "hours of a date": (field("date", DATES, {"resolution": "hour"}), "resolution is 'hour'"),
    "no resolution": (field("date", DATES, {"resolution": "decade"}), "'decade'"),
    "too many date bins": (field("date", DATES, {"resolution": "month", "bins": 13}), "12 months"),
    "any format": (field("date", DATES, format="any"), "'any'"),
    "number as format": (field("date", DATES, format=3), "format 3"),
    "format without year": (field("date", DATES, format="%m-%d"), "which day"),
    "moments of a format that repeats": (field("datetime", DATES, format="%Y-%Y"), "which second"),
    "format of two digits": (
        field("date", DATES | {"minimum": "1930-01-01"}, format="%d.%m.%y"),
        "which day",
    ),
    "format that repeats": (field("date", DATES, format="%Y-%Y"), "which day"),
    "format of nothing": (field("date", DATES, format="%%"), "which day"),
    "true and false": (field("boolean", {}, trueValues=["1"], falseValues=["1"]), "'1' is in two"),
    "true and missing": (field("boolean", {}, trueValues=[""]), "'' is in two"),
    "no true values": (field("boolean", {}, trueValues=[]), "trueValues is empty"),
    "true value no text": (field("boolean", {}, trueValues=[1]), "trueValues"),
    "required no flag": (field(constraints=LEVELS | {"required": "yes"}), "required is 'yes'"),
    "constraints no object": (field(constraints=[1]), "constraints is"),
    "title no text": (field(title=3), "title is 3"),
    "no missing values": (field(missingValues=[]), "missingValues is empty"),
    "missing values no texts": (field(missingValues=[1]), "missingValues"),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_contradictions_are_refused_in_one_line_naming_the_column(case):
    bad, expected = CONTRADICTIONS[case]
    with pytest.raises(SchemaError) as caught:
        schema_of({"name": "fine", "type": "boolean"}, bad)
    message = str(caught.value)
    assert "'income'" in message
    assert "\n" not in message
    assert re.search(expected, message), message


@pytest.mark.parametrize(
    "mapping",
    [
        [],
        "fields",
        {},
        {"fields": []},
        {"fields": 3},
        {"fields": "ab"},
        {"fields": [3]},
        {"fields": [{"type": "boolean"}]},
        {"fields": [{"name": "", "type": "boolean"}]},
        {"fields": [{"name": 3, "type": "boolean"}]},
        {"fields": [{"name": "\ud800", "type": "boolean"}]},
        {"fields": [{"name": "a", "type": "boolean"}] * 2},
        {"fields": [], "missingValues": "x"},
        {"a": 0},
        {"a": 2, "b": True},
        {"a": 2.0},
    ],
)
def test_what_is_no_schema_is_refused(mapping):
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict(mapping)
    assert "\n" not in str(caught.value)


def test_what_changes_no_meaning_is_ignored():
    plain = schema_of(field())
    rich = schema_of(
        field(
            rdfType="x",
            example="b",
            constraints=LEVELS | {"pattern": "a|b", "unique": False, "minLength": 1},
        ),
        synthdp={"note": "x"},
    )
    assert rich == plain
    assert rich.fingerprint == plain.fingerprint


def test_categories_of_version_2():
    with_labels = field(constraints={}, categories=[{"value": "a", "label": "A"}, {"value": "b"}])
    assert (
        schema_of(with_labels)
        == schema_of(field(constraints={}, categories=["a", "b"]))
        == schema_of(field())
    )


@pytest.mark.parametrize(
    ("made", "size"),
    [
        (field(), 3),
        (field(constraints={"enum": ["a"], "required": True}), 1),
        (field(own={"other": "b"}), 3),
        (field(own={"other": "c"}), 4),
        (field("boolean", {}), 3),
        (field("integer", {"minimum": 3, "maximum": 3, "required": True}), 1),
        (field("integer", {"minimum": 1, "maximum": 64}), 65),
        (field("integer", {"minimum": 0, "maximum": 64}), 33),
        (field("integer", {"minimum": 17.0, "maximum": 18}), 3),
        (field("integer", {"enum": [5, 3]}), 3),
        (field("integer", {}, {"edges": [0, 1, 99]}), 3),
        (field("year", {"minimum": 1990, "maximum": 1999}, {"bins": 5}), 6),
        (field("number", BOUNDS), 33),
        (field("number", BOUNDS, {"decimals": 1}), 33),
        (field("number", {"minimum": 1, "maximum": 5, "required": True}, {"decimals": 0}), 5),
        (field("number", {"minimum": 0.1, "maximum": 0.1, "required": True}), 1),
        (
            field(
                "number", {"minimum": 0.125, "maximum": 0.125, "required": True}, {"decimals": 1}
            ),
            1,
        ),
        (field("date", DATES), 33),
        (field("date", DATES, {"resolution": "quarter"}), 5),
        (field("date", DATES, {"resolution": "month"}, format="%m/%Y"), 13),
        (field("date", {"minimum": "31/12/2020", "maximum": "2021-01-02"}, format="%d/%m/%Y"), 4),
        (
            field(
                "datetime", {"minimum": "2020-01-01T00:00:00Z", "maximum": "2020-01-01T00:00:09Z"}
            ),
            11,
        ),
    ],
)
def test_sizes_and_what_is_written_is_read_back(made, size, tmp_path):
    schema = schema_of(made)
    assert schema.domain.shape == (size,)
    assert Schema.from_dict(schema.to_dict()) == schema
    schema.save(tmp_path / "s.json")
    assert Schema.load(tmp_path / "s.json").fingerprint == schema.fingerprint


def test_private_pgm_domain():
    schema = Schema.from_dict({"a": 2, "b": 100})
    assert schema.domain.shape == (2, 100)
    assert schema["b"].encode(pd.Series([0, 99, 100])).tolist() == [0, 99, 99]
    assert Schema.from_dict(schema.to_dict()) == schema


def test_reordered_follows_the_header():
    schema = Schema.from_dict({"a": 2, "b": 3})
    assert schema.reordered(["b", "a"]).domain.shape == (3, 2)


def test_reordered_names_the_difference():
    schema = Schema.from_dict({"a": 2, "b": 3})
    with pytest.raises(
        SchemaError, match="the schema has 'b', the table has not; the table has 'c', the schema"
    ):
        schema.reordered(["a", "c"])


def test_a_header_that_may_be_a_record_is_not_repeated():
    schema = Schema.from_dict({"age": 2, "sex": 3, "pay": 3})
    with pytest.raises(SchemaError) as caught:
        schema.reordered(["secret", "49", "pay"])
    assert "secret" not in str(caught.value)
    assert "49" not in str(caught.value)


def test_one_missing_column_by_name():
    with pytest.raises(SchemaError, match="no column 'z'"):
        Schema.from_dict({"a": 2})["z"]


def test_save_does_not_replace(tmp_path):
    path = tmp_path / "s.json"
    Schema.from_dict({"a": 2}).save(path)
    with pytest.raises(DataFileError, match="--force"):
        Schema.from_dict({"a": 3}).save(path)
    assert Schema.load(path).domain.shape == (2,)
    Schema.from_dict({"a": 3}).save(path, force=True)
    assert Schema.load(path).domain.shape == (3,)


@pytest.mark.parametrize(
    "content", [b"{", b"", b"[" * 100_000, b"3", b"null", b"\xff\xfe", b'{"fields": null}']
)
def test_files_that_are_no_schema(content, tmp_path):
    path = tmp_path / "s.json"
    path.write_bytes(content)
    with pytest.raises(SchemaError) as caught:
        Schema.load(path)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    for path in (tmp_path, tmp_path / "none.json", "a\0b"):
        with pytest.raises(DataFileError) as caught:
            Schema.load(path)
        assert "\n" not in str(caught.value)


def test_byte_order_mark_and_any_unicode(tmp_path):
    text = json.dumps(
        {
            "fields": [
                {"name": "größe\n→", "type": "string", "constraints": {"enum": ["🦊", 'a,"b\n']}}
            ]
        }
    )
    (tmp_path / "s.json").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert Schema.load(tmp_path / "s.json").names == ("größe\n→",)


def test_draft_holds_no_value():
    frame = pd.DataFrame(
        {
            "s": ["SECRET"],
            "i": [424242],
            "f": [424242.5],
            "b": [True],
            "d": pd.to_datetime(["2042-04-02"]),
            "c": pd.Categorical(["SECRET"]),
            "n": pd.array([424242], dtype="Int64"),
            "o": np.array([object()]),
        }
    )
    draft = Schema.draft(frame)
    text = json.dumps(draft)
    assert "SECRET" not in text
    assert "4242" not in text
    assert "2042" not in text
    types = [made["type"] for made in draft["fields"]]
    assert types == [
        "string",
        "integer",
        "number",
        "boolean",
        "datetime",
        "string",
        "integer",
        "string",
    ]
    assert draft == Schema.draft(frame.iloc[:0])
    with pytest.raises(SchemaError, match=r"'s': constraints\.enum is empty; list the levels"):
        Schema.from_dict(draft)
    draft["fields"][0]["constraints"]["enum"] = ["x"]
    with pytest.raises(SchemaError, match=r"'i': constraints\.minimum is not filled in"):
        Schema.from_dict(draft)


def test_draft_from_header():
    with pytest.raises(SchemaError, match="'a': the type is not filled in"):
        Schema.from_dict(draft_from_header(["a", "b"]))


def test_a_domain_knows_levels_that_are_no_neighbours_of_others():
    bounds = {"minimum": 0, "maximum": 9}
    fields = [
        {"name": "age", "type": "integer", "constraints": bounds},
        {"name": "pay", "type": "integer", "constraints": bounds | {"required": True}},
        {
            "name": "job",
            "type": "string",
            "constraints": {"enum": ["a", "rest", "z"]},
            "synthdp": {"other": "rest"},
        },
    ]
    schema = Schema.from_dict({"fields": fields})
    assert schema.domain.special == {"age": (10,), "job": (1, 3)}
    assert schema.domain.ordered == {"age", "pay"}
