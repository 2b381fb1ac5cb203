"""What ``--json`` prints has the form that is published, whichever command prints it."""

import json
from pathlib import Path

import jsonschema
import pytest
from helpers.cli_runs import invoke, lay_out, run_arguments


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)


@pytest.fixture
def schema():
    return json.loads(invoke("certificate", "--schema", "result").out)


def checked(outcome, schema):
    """The result of a command, one line that fits the schema and holds nothing unknown."""
    (line,) = outcome.out.decode().splitlines()
    result = json.loads(line)
    jsonschema.validate(result, schema)
    assert set(result) <= set(schema["properties"])
    assert len(result["caution_codes"]) == len(result["cautions"])
    return result


def test_every_command_that_writes_prints_one_form(schema):
    run = invoke(*run_arguments("--json", "--save", "it.synthdp", "--force", epsilon="20"))
    assert "C12" in checked(run, schema)["caution_codes"]
    drawn = invoke("sample", "it.synthdp", "-o", "more.csv", "--rows", "5", "--json")
    assert checked(drawn, schema)["output"] == "more.csv"
    refitted = invoke("refit", "it.synthdp", "-o", "new.synthdp", "--engine", "direct", "--json")
    assert checked(refitted, schema)["engine"]["name"] == "direct"


def test_criteria_and_a_choice_are_in_it_as_the_certificate_has_them(schema):
    asked = ("--accept", "columns within 99 %", "--choose", "columns", "--json")
    result = checked(invoke(*run_arguments(*asked, epsilon="20")), schema)
    certificate = json.loads(Path("out.csv.privacy.json").read_text("utf-8"))
    for name in ("acceptance", "choice"):
        assert result[name] == certificate[name]


def test_a_replay_says_so_and_has_its_code(schema):
    arguments = run_arguments("--journal", "j", "--json", "--force")
    assert checked(invoke(*arguments), schema)["replayed"] is False
    again = checked(invoke(*arguments), schema)
    assert (again["replayed"], again["caution_codes"][0]) == (True, "C15")


def test_schema_refuses_a_result_without_guarantee(schema):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"output": "a.csv"}, schema)
