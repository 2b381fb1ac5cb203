"""How columns are read: an example of what fits is one, and what is not read is said, before any
data is opened.
"""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke
from helpers.odd_values import COLUMNS

from synthdp.schema import OpenSchema, PartColumn

OWN = [column for column in COLUMNS if not isinstance(column, PartColumn)]


@pytest.mark.parametrize("column", OWN, ids=repr)
def test_an_example_fits_and_is_written_as_it_says(column):
    found = column.reading
    example = pd.Series([found.fits], dtype=object)
    assert column.knows(example).all()
    back = pd.Series([found.written], dtype=object)
    assert column.encode(back).tolist() == column.encode(example).tolist()


KINDS = {
    "job": ("categorical", "any text", "become 'other'"),
    "alive": ("boolean", "true", "written as most of them are"),
    "age": (
        "integer",
        "1234",
        "fractions are not read, nor zeros in front, as in 007: declare synthdp.width",
    ),
    "zip": ({"type": "integer", "synthdp": {"width": 5}}, "01234", "whole numbers have 5 digits"),
    "pay": ("number", "1234.5", "thousands are marked by groupChar only"),
    "rent": (
        {"type": "number", "decimalChar": ",", "groupChar": "."},
        "1234,5",
        "'.' between thousands is not written",
    ),
    "since": ("year", "2019", "fractions are not read"),
    "born": ("date", "2019-12-31", "other ways of writing need a format"),
    "moved": (
        {"type": "date", "format": "dd.mm.yyyy"},
        "31.12.2019",
        "with a time of day use type 'datetime', also where midnight is not in UTC",
    ),
    "month": ({"type": "date", "synthdp": {"resolution": "month"}}, "2019-12-31", "kept by month"),
    "seen": (
        "datetime",
        "2019-12-31T23:59:58",
        "offsets from UTC are read by a format with %z only",
    ),
}


@pytest.fixture
def kinds_file(tmp_path):
    path = tmp_path / "kinds.json"
    path.write_text(json.dumps({name: kind for name, (kind, _, _) in KINDS.items()}))
    return path


@pytest.mark.parametrize("options", [(), ("--all",)], ids=["short", "all"])
def test_check_says_of_each_column_how_it_is_read_with_an_example(kinds_file, options):
    text = invoke("schema", "check", kinds_file, *options).out.decode()
    lines = {line.split("  ")[0]: line for line in text.splitlines()}
    joined = " ".join(text.split())
    for name, (_, example, note) in KINDS.items():
        assert example in lines[name]
        assert note in joined


def test_check_says_of_which_columns_values_beyond_bounds_are_clipped(tmp_path):
    """Not of those that have none until a run has learnt them."""
    bounded = {
        "pay": {"type": "number", "constraints": {"minimum": 0, "maximum": 5000}},
        "born": {"type": "date", "constraints": {"minimum": "1900-01-01"}},
        "age": {
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": 99, "required": True},
            "synthdp": {"bins": 10},
        },
        "since": "year",
        "job": "categorical",
    }
    path = tmp_path / "kinds.json"
    path.write_text(json.dumps(bounded))
    text = invoke("schema", "check", path, "--all").out.decode()
    (said,) = (line for line in text.splitlines() if "clipped to them" in line)
    assert said.startswith("'pay', 'born', 'age': ")
    assert "a caution says so if they are many" in said


def test_fractions_are_said_to_be_lost_only_where_decimals_are_declared(tmp_path):
    """Of all columns of numbers it was said that they are, also where decimals are learnt."""
    path = tmp_path / "kinds.json"
    whole = {"type": "number", "synthdp": {"decimals": 0}}
    path.write_text(json.dumps({"pay": "number", "pence": whole}))
    text = invoke("schema", "check", path, "--all").out.decode()
    notes = {line.split(":")[0]: line for line in text.splitlines() if line.startswith("'")}
    assert "as many decimals are written as are told from noise" in notes["'pay'"]
    assert "fractions are rounded, and not written" not in notes["'pay'"]
    assert "fractions are rounded, and not written" in notes["'pence'"]


def test_check_says_that_typed_files_get_the_declared_types(kinds_file):
    text = invoke("schema", "check", kinds_file, "--all").out.decode()
    assert "Parquet files and data frames get the types that columns are read as" in text


def test_check_says_it_to_machines(kinds_file):
    reading = json.loads(invoke("schema", "check", kinds_file, "--json").out)["reading"]
    assert [each["name"] for each in reading] == list(KINDS)
    for each in reading:
        _, example, note = KINDS[each["name"]]
        assert each["fits"] == example
        assert note in each["note"]
        assert each["missing_values"] == [""]
    (month,) = [each for each in reading if each["name"] == "month"]
    assert month["written"] == "2019-12-01"


def test_a_format_of_people_is_shown_as_that_of_strftime(kinds_file):
    assert "dates by the format %d.%m.%Y" in invoke("schema", "check", kinds_file).out.decode()


def test_a_wide_schema_is_cut_unless_all_is_asked_for(tmp_path):
    path = tmp_path / "kinds.json"
    path.write_text(json.dumps({f"column {number:03d}": "integer" for number in range(300)}))
    short, whole = (
        invoke("schema", "check", path).out.decode(),
        invoke("schema", "check", path, "--all").out.decode(),
    )
    assert "... and 288 more; --all shows them" in short
    assert len(short.splitlines()) < 30
    assert "column 299" in whole


def test_a_draft_says_how_columns_will_be_read(tmp_path):
    (tmp_path / "in.csv").write_text("a,b\n1,SECRET\n")
    drafted = invoke("schema", "draft", tmp_path / "in.csv", "-o", tmp_path / "draft.json")
    for kind, example in (("date", "2019-12-31"), ("integer", "1234"), ("boolean", "true")):
        assert any(
            line.startswith(f"of type {kind}") and example in line
            for line in drafted.err.splitlines()
        )
    pd.DataFrame(
        {"when": np.array(["2020-01-01"], dtype="datetime64[ns]"), "pay": [1.5]}
    ).to_parquet(tmp_path / "in.parquet")
    drafted = invoke("schema", "draft", tmp_path / "in.parquet", "-o", tmp_path / "typed.json")
    assert any(
        line.startswith("when ") and "2019-12-31T23:59:58" in line
        for line in drafted.err.splitlines()
    )
    assert any(line.startswith("pay ") and "1234.5" in line for line in drafted.err.splitlines())
    assert "SECRET" not in drafted.err + drafted.out.decode()


def test_learnt_schemas_say_it_too():
    schema = OpenSchema.from_kinds({"born": {"type": "date", "format": "MM/DD/YYYY"}})
    assert schema.columns[0].template.reading.fits == "12/31/2019"
