"""``--verbose``: the log on stderr, a line each, of a run and of a draw."""

import json
import logging
from pathlib import Path
from threading import Lock

import pytest
from helpers.cli_runs import CANARY, invoke, lay_out, run_arguments
from helpers.homes import home

from synthdp.core import LOGGER, event_in_words
from synthdp.inference import Compiled


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)


def test_verbose_tells_stages_and_charges_and_more_verbose_the_steps():
    quiet = invoke(*run_arguments("--mechanism", "independent", "--save", "m.synthdp", epsilon="2"))
    loud = invoke(*run_arguments("--mechanism", "independent", "--force", "-v", epsilon="2"))
    louder = invoke(*run_arguments("--mechanism", "independent", "--force", "-vv", epsilon="2"))
    assert (quiet.code, loud.code, louder.code) == (0, 0, 0)
    assert len(quiet.said) == 1
    events = json.loads(Path("out.csv.privacy.json").read_text())["events"]
    charged = [line for line in loud.lines if line.startswith("synthdp: charged ")]
    said = [
        f"{event['event']} {what}: {noise}, rho {event['rho']:.4g}"
        for event in events
        for what, noise in [event_in_words(event)]
    ]
    assert [line.split(";")[0] for line in charged] == [
        f"synthdp: charged {words}" for words in said
    ]
    for stage in ("reading", "measuring columns", "sampling", "writing"):
        assert loud.lines.count(f"synthdp: {stage}") == 1
    assert not any(" of " in line and "%" not in line for line in loud.lines[1:-1])
    assert any(line.startswith("synthdp: measuring columns: 1 of ") for line in louder.lines)
    assert not any(
        "reading: " in line for line in louder.lines
    )  # its steps tell how long the table is
    assert CANARY not in louder.err
    sampled = invoke("sample", "m.synthdp", "-o", "more.csv", "--rows", "3", "--verbose")
    assert sampled.lines[:2] == ["synthdp: sampling", "synthdp: writing"]


def test_a_run_leaves_no_handler_and_no_level_behind():
    before = (LOGGER.level, list(LOGGER.handlers))
    assert invoke(*run_arguments("-vv")).code == 0
    assert invoke(*run_arguments("-v", schema="none.json")).code != 0
    assert (LOGGER.level, list(LOGGER.handlers)) == before
    assert logging.getLogger().level == logging.WARNING


def test_json_makes_an_object_of_every_line_on_stderr():
    outcome = invoke(
        *run_arguments("--mechanism", "independent", "-v", "--log-format", "json", epsilon="20")
    )
    lines = [json.loads(line) for line in outcome.lines]
    assert outcome.code == 0
    assert all(list(line)[:3] == ["time", "level", "message"] for line in lines)
    assert {tuple(line)[3:]: line["level"] for line in lines if len(line) > 3} == {
        ("code",): "caution"
    }
    assert {line["code"] for line in lines if line["level"] == "caution"} >= {"C12"}
    assert not any("[C" in line["message"] for line in lines)
    assert {line["level"] for line in lines} == {"info", "quality", "caution"}
    assert any(line["message"].startswith("charged marginal town") for line in lines)
    assert any("details in out.csv.privacy.json" in line["message"] for line in lines)
    assert not any(line["message"].startswith(("synthdp", "caution")) for line in lines)
    assert CANARY not in outcome.err


def test_json_says_with_the_code_how_a_run_failed():
    outcome = invoke(*run_arguments("--log-format", "json", schema="none.json"))
    (line,) = (json.loads(line) for line in outcome.lines)
    assert (line["level"], line["exit_code"]) == ("error", outcome.code)
    assert (line["code"], "[E" in line["message"]) == ("E18", False)
    assert line["message"].startswith("schema 'none.json'")


def test_json_and_a_table_on_stdout_do_not_go_together():
    outcome = invoke(*run_arguments("--log-format", "json", output="-"))
    assert outcome.code == 2
    assert "--log-format json does not go with -o -" in outcome.err


WRONG_OPTIONS = {
    "one that is not known": ("run", "in.csv", "--log-format", "json", "--epsilonn", "1"),
    "one before it": ("run", "in.csv", "--epsilonn", "1", "--log-format", "json"),
    "none at all": ("run", "--log-format=json"),
    "a value that is none": ("run", "in.csv", "--log-format=json", "--epsilon", "x"),
    "it twice": ("run", "--log-format", "text", "--log-format", "json"),
    "a command without it": ("budget", "show", "b", "--log-format", "json"),
    "no command": ("--log-format", "json"),
    "no such command": ("rum", "--log-format", "json"),
}


@pytest.mark.parametrize("words", WRONG_OPTIONS.values(), ids=WRONG_OPTIONS)
def test_json_says_wrong_options_too(words):
    outcome = invoke(*words)
    (line,) = (json.loads(line) for line in outcome.lines)
    assert (outcome.code, line["exit_code"], line["level"]) == (2, 2, "error")
    assert line["message"]


@pytest.mark.parametrize(
    "words", [("run", "--log-format", "jsonn"), ("run", "--log-format"), ("show", "--", "json")]
)
def test_who_does_not_ask_for_json_gets_text(words):
    assert invoke(*words).lines[0].startswith("synthdp: ")


def compile_two(*_):
    """Functions of no file, whose machine code is kept nowhere, so that each run compiles them."""
    for factor in (2, 3):
        assert Compiled(eval(f"lambda number: {factor} * number"))(7) == factor * 7


@pytest.fixture
def _compiling_for_the_first_time(monkeypatch):
    """A run that compiles as the first one on a machine does, and logs nothing else of its own."""
    monkeypatch.setattr(home(Compiled), "FIRST_TIME", Lock())
    monkeypatch.setattr("synthdp.cli.commands.run.log", compile_two)


COMPILING = "compiling loops for the first time on this machine: some seconds, once"


@pytest.mark.usefixtures("_compiling_for_the_first_time")
@pytest.mark.parametrize("verbosity", [(), ("-v",)])
def test_who_waits_for_the_compiler_is_told_once_without_a_terminal_too(verbosity):
    outcome = invoke(*run_arguments("--mechanism", "independent", *verbosity))
    assert outcome.lines.count(f"synthdp: {COMPILING}") == 1
    assert outcome.err.count("compiling") == 1


@pytest.mark.usefixtures("_compiling_for_the_first_time")
def test_machines_are_told_of_the_compiler_in_a_line_of_their_own():
    outcome = invoke(*run_arguments("--mechanism", "independent", "--log-format", "json"))
    lines = [json.loads(line) for line in outcome.lines]
    (said,) = (line for line in lines if "compiling" in line["message"])
    assert (said["level"], said["message"]) == ("info", COMPILING)


@pytest.mark.usefixtures("_compiling_for_the_first_time")
def test_a_certificate_on_stderr_stays_one_that_can_be_parsed():
    outcome = invoke(*run_arguments("--mechanism", "independent", output="-"))
    assert json.loads(outcome.err)["complete"] is True
