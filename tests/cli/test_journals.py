"""``synthdp journal``: what a person sees of a journal, and a release of it where its run cannot go
on.
"""

import json
from pathlib import Path

import pytest
from helpers import cli_runs

from synthdp.cli import Terminated
from synthdp.release import Journal

RUN = cli_runs.run_arguments("--mechanism", "independent", "--journal", "j")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    cli_runs.lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)


def test_it_is_shown_and_rescued_without_the_run():
    assert cli_runs.invoke(*RUN).code == 0
    journal, events = (
        Path("j").read_bytes(),
        json.loads(Path("out.csv.privacy.json").read_text())["events"],
    )
    text = cli_runs.invoke("journal", "show", "j").out.decode()
    for part in (
        "mechanism independent, engine",
        ", as here",
        f"{len(events)} answers, rho",
        "journal rescue j -o OUT",
    ):
        assert part in text
    content = json.loads(cli_runs.invoke("journal", "show", "j", "--json").out)
    assert (content["events"], content["learnt"]) == (events, [])
    Path("in.csv").unlink()
    outcome = cli_runs.invoke("journal", "rescue", "j", "-o", "model.synthdp")
    assert (outcome.code, outcome.out) == (0, b"")
    assert outcome.notes[0].startswith("model.synthdp: (1, 1e-06)-differential privacy; ")
    assert Path("j").read_bytes() == journal
    assert (
        json.loads(cli_runs.invoke("show", "model.synthdp", "--json").out)["certificate"]["events"]
        == events
    )
    assert cli_runs.invoke("sample", "model.synthdp", "-o", "more.csv", "--rows", "5").code == 0
    cli_runs.assert_one_line(cli_runs.invoke("journal", "rescue", "j", "-o", "model.synthdp"), 1)
    assert cli_runs.invoke("journal", "rescue", "j", "-o", "model.synthdp", "--force").code == 0


def test_of_a_run_that_was_stopped_while_it_learnt_a_schema_is_made():
    fields = [
        {"name": name, "type": "string", "synthdp": {"derive": ["levels"]}} for name in header()
    ]
    Path("schema.json").write_text(json.dumps({"fields": fields}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "note", stopping(Journal.note))
        assert cli_runs.invoke(*RUN).code == 143
    before = cli_runs.names_in(Path())
    cli_runs.assert_one_line(cli_runs.invoke("journal", "rescue", "j", "-o", "model.synthdp"), 2)
    assert cli_runs.names_in(Path()) == before
    outcome = cli_runs.invoke("journal", "rescue", "j", "-o", "learnt.json")
    assert "the columns learnt so far are declared in this schema" in outcome.err
    content = json.loads(Path("learnt.json").read_text())
    assert [
        field["constraints"]
        for field in content["fields"]
        if "derive" not in field.get("synthdp", {})
    ]
    assert content["synthdp"]["certificate"]["complete"] is False


def header():
    return Path("in.csv").read_text().splitlines()[0].split(",")


def stopping(note):
    def noted(self, content):
        note(self, content)
        raise Terminated

    return noted


@pytest.mark.parametrize(
    "command", [("show",), ("rescue", "-o", "x")], ids=lambda command: command[0]
)
def test_what_is_no_journal_is_refused(command):
    Path("dir").mkdir()
    cli_runs.invoke(*cli_runs.CREATE_BUDGET)
    for name in ("in.csv", "nothing", "b", "dir", "a\nb", "-"):
        cli_runs.assert_one_line(cli_runs.invoke("journal", command[0], name, *command[1:]), 1)
    assert not Path("x").exists()


def test_a_journal_that_a_run_holds_and_outputs_that_cannot_be_are_refused():
    assert cli_runs.invoke(*RUN).code == 0
    with Journal("j", json.loads(Path("j").read_bytes().splitlines()[0])["entry"]["settings"]):
        outcome = cli_runs.invoke("journal", "rescue", "j", "-o", "x")
        cli_runs.assert_one_line(outcome, 1)
        assert "another run holds it" in outcome.err
    for output in ("-", "j"):
        cli_runs.assert_one_line(cli_runs.invoke("journal", "rescue", "j", "-o", output), 2)
    cli_runs.assert_one_line(cli_runs.invoke("journal", "rescue", "j", "-o", "no/x"), 1)
