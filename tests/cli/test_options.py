"""Options as people type them: near misses, numbers of rows, and slips in JSON files."""

import argparse
import json
from pathlib import Path

import pandas as pd
import pytest

from synthdp.cli import command_line_parser, describe
from synthdp.core import DataFileError, ParameterError, SchemaError, Workload, load_json
from synthdp.report import quality_line
from synthdp.schema import Schema
from tests.helpers.cli_runs import SCHEMA, assert_one_line, invoke, run_arguments


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "in.csv", "--eps", "1"), "unknown option --eps; did you mean --epsilon?"),
        (("run", "in.csv", "--epsilom=1"), "unknown option --epsilom; did you mean --epsilon?"),
        (
            ("run", "in.csv", "--d", "1"),
            "unknown option --d; did you mean --delta or --domain-share or ",
        ),
        (("run", "in.csv", "-output", "out.csv"), "unknown option -output; did you mean --output?"),
        (("run", "in.csv", "--public"), "unknown option --public (see synthdp run --help)"),
        (("sample", "m.synthdp", "--row", "3"), "unknown option --row; did you mean --rows?"),
        (
            ("schema", "check", "schema.json", "--row=3"),
            "unknown option --row; did you mean --rows?",
        ),
        (("--verison",), "unknown option --verison; did you mean --version?"),
    ],
    ids=str,
)
def test_near_misses_of_options_are_named(arguments, said):
    outcome = invoke(*arguments)
    assert_one_line(outcome, 2)
    assert said in outcome.err


@pytest.mark.parametrize("name", ["--mech", "--work", "--m", "--forc"])
def test_no_option_may_be_abbreviated(name, place):
    outcome = invoke(*run_arguments(name, "mst"))
    assert_one_line(outcome, 2)
    assert f"unknown option {name}; did you mean " in outcome.err
    assert not (place / "out.csv").exists()


def _commands(words, parser):
    """Each command and its parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _commands((*words, name), inner)
    if words:
        yield pytest.param(words, parser, id=" ".join(words))


@pytest.mark.parametrize(("words", "parser"), list(_commands((), command_line_parser())))
def test_an_option_of_one_value_is_given_once(words, parser, capsys):
    repeated = (argparse._AppendAction, argparse._SubParsersAction)
    for action in parser._actions:
        if action.nargs is not None or isinstance(action, repeated) or not action.option_strings:
            continue
        value = str(next(iter(action.choices))) if action.choices else "1"
        first, last = action.option_strings[0], action.option_strings[-1]
        with pytest.raises(SystemExit) as ended:
            command_line_parser().parse_args([*words, first, value, last, value])
        assert ended.value.code == 2
        said = f"{last} is given twice; it takes one value, leave one out"
        assert said in capsys.readouterr().err


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("rows", "n_rows"), [("1e2", 100), ("1_00", 100), ("2.5E1", 25), ("20.0", 20), ("0", 0)]
)
def test_numbers_of_rows_as_people_write_them(rows, n_rows):
    assert invoke(*run_arguments("--rows", rows, "--mechanism", "independent")).code == 0
    assert len(pd.read_csv("out.csv")) == n_rows


@pytest.mark.parametrize(
    "rows",
    [
        "1.5",
        "1e-1",
        "15e-1",
        "1e999999999",
        "1__0",
        "_1",
        "nan",
        "inf",
        "1 000",
        "",
        "\N{ARABIC-INDIC DIGIT ONE}",
    ],
)
def test_numbers_of_rows_are_whole(rows):
    outcome = invoke(*run_arguments("--rows", rows))
    assert_one_line(outcome, 2)
    assert "argument --rows: " in outcome.err
    assert "is no whole number; write it as 1000000, 1_000_000 or 1e6" in outcome.err


def test_slips_in_json_files_have_a_line_and_a_column(tmp_path):
    path = tmp_path / "slip.json"
    path.write_text('{\n  "k": 3,\n  "target" "age"\n}')
    with pytest.raises(SchemaError, match="not valid JSON in line 3, column 12;"):
        load_json(path, "schema")
    with pytest.raises(ParameterError, match="not valid JSON in line 3, column 12;"):
        Workload.parse(Schema.from_dict(SCHEMA).domain, path)
    with pytest.raises(DataFileError, match="not valid JSON in line 3, column 12;"):
        describe(str(path))


@pytest.mark.parametrize(
    ("pattern", "resolution", "text"),
    [
        ("%Y-%m-%d %H:%M", "minute", "2020-03-01 12:34"),
        ("%d.%m.%Y %Hh", "hour", "01.03.2020 12h"),
        ("%Y-%m-%d %I:%M %p", "minute", "2020-03-01 12:34 PM"),
        ("%Y-%m-%d %I:%M", "day", "2020-03-01 12:00"),
        ("%Y%m%d", "day", "20200301"),
        ("%Y-%m-%dT%H:%M:%S", "second", "2020-03-01T12:34:56"),
        ("default", "second", "2020-03-01T12:34:56"),
    ],
)
def test_a_format_gives_datetimes_their_resolution(pattern, resolution, text):
    bounds = {"minimum": "2020-01-01", "maximum": "2020-12-31T23:59:59", "required": True}
    field = {"name": "seen", "type": "datetime", "format": pattern, "constraints": bounds}
    (column,) = Schema.from_dict({"fields": [field]}).columns
    assert column.resolution == resolution
    assert column.knows(pd.Series([text])).all()
    again = Schema.from_dict({"fields": [json.loads(json.dumps(column.field()))]})
    assert again.columns == (column,)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "bounds", [{"minimum": "2020-01-01 00:00", "maximum": "2020-12-31 23:59"}, None]
)
def test_a_format_without_seconds_is_written_without_seconds(bounds):
    pattern = "%Y-%m-%d %H:%M"
    field = {"name": "seen", "type": "datetime", "format": pattern}
    field |= {"constraints": bounds} if bounds else {"synthdp": {"derive": True}}
    Path("schema.json").write_text(json.dumps({"fields": [field]}))
    moments = pd.Series(pd.date_range("2020-02-01", "2020-11-30", 3000).strftime(pattern))
    moments.to_frame("seen").to_csv("in.csv", index=False)
    outcome = invoke(*run_arguments("--rows", "50", epsilon="20"))
    assert (outcome.code, outcome.notes) == (0, [])
    written = pd.read_csv("out.csv", dtype=str, keep_default_na=False)["seen"]
    assert written.str.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d|").all()
    assert written.str.endswith(":00").mean() < 0.5
    assert invoke(*run_arguments("--rows", "50", output="out.parquet")).code == 0
    assert (pd.read_parquet("out.parquet")["seen"].dropna().dt.second == 0).all()


@pytest.mark.usefixtures("place")
def test_a_run_without_a_terminal_says_in_a_line_what_was_written_and_in_one_how_good_it_is():
    outcome = invoke(*run_arguments("--save", "m.synthdp"))
    said = "(1, 1e-06)-differential privacy; details in"
    written, quality = outcome.lines
    assert written == f"out.csv: {said} out.csv.privacy.json"
    certificate = json.loads(Path("out.csv.privacy.json").read_text())
    assert quality == f"synthdp: quality: {quality_line(certificate['quality'])}"
    outcome = invoke("sample", "m.synthdp", "-o", "more.csv", "--rows", "3")
    assert outcome.err == f"more.csv: {said} more.csv.privacy.json\n"
