"""`synthdp run --save-schema`: what was learnt is kept for later releases; and the cautions of a
run.
"""

import json
from pathlib import Path

import pytest
from helpers.cli_runs import (
    CANARY,
    HEADER,
    ROWS,
    assert_one_line,
    invoke,
    lay_out,
    names_in,
    run_arguments,
)
from helpers.failing_runs import failing
from helpers.kinds_runs import KINDS, freeze, kinds_arguments, lay_out_kinds

import synthdp
from synthdp.cli.shared import outputs
from synthdp.core import grouped, with_caution_code
from synthdp.privacy import PrivacyLedger

INPUTS = ["in.csv", "kinds.json"]
OUTPUTS = ["out.csv", "out.csv.privacy.json"]
GOOD = HEADER + "A,30,01\nB,41,02\nC,52,01\nA,7,02\n" * 500
"""Every column of this has something to be found, with room to spare."""
NOTHING = f"{HEADER}{CANARY},30,01\n"
"""Of this nothing can be found."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    lay_out_kinds(tmp_path, table=GOOD)
    monkeypatch.chdir(tmp_path)
    freeze(monkeypatch, 5)  # what is found is not a matter of luck then
    return tmp_path


@pytest.fixture
def unpaid(monkeypatch):
    """Nothing may be paid for."""
    monkeypatch.setattr(PrivacyLedger, "charge", lambda *_: pytest.fail("something was paid for"))


def run(*more, **named):
    return invoke(
        *kinds_arguments("--mechanism", "independent", *more, **{"epsilon": "5", **named})
    )


def certificate_of(name):
    return json.loads(Path(f"{name}.privacy.json").read_text())


def test_the_schema_that_was_learnt_serves_later_releases(place):
    outcome = run("--save-schema", "learnt.json", "--save", "m.synthdp")
    assert (outcome.code, outcome.out, outcome.notes) == (0, b"", [])
    assert names_in(place) == sorted([*INPUTS, *OUTPUTS, "learnt.json", "m.synthdp"])
    first = certificate_of("out.csv")
    assert {column["domain"] for column in first["schema"]["columns"]} == {"derived"}
    schema = synthdp.Schema.load("learnt.json")
    assert schema == synthdp.load("m.synthdp").schema
    assert schema.fingerprint == first["schema"]["sha256"]
    again = run(known=("-s", "learnt.json"), output="again.csv")
    assert (again.code, again.notes) == (0, [])
    later = certificate_of("again.csv")
    assert later["schema"]["sha256"] == first["schema"]["sha256"]
    assert "domain" not in later
    assert not [event for event in later["events"] if "column" in event]
    assert f"sha256 {schema.fingerprint}" in invoke("show", "learnt.json").out.decode()


def test_a_schema_that_leaves_out_columns_compares_the_tables_of_its_release(place):
    lay_out_kinds(place, table=GOOD, kinds=KINDS | {"code": "ignore"})
    assert run("--save-schema", "learnt.json").code == 0
    learnt = json.loads(Path("learnt.json").read_text())
    assert learnt["synthdp"]["ignore"] == ["code"]
    outcome = invoke("report", "in.csv", "out.csv", "-s", "learnt.json", "-o", "report.html")
    assert outcome.code == 0
    for schema in ("learnt.json", learnt):
        compared = synthdp.evaluate("in.csv", "out.csv", schema)
        assert set(compared.columns["column"]) == {"town", "age"}


def test_a_schema_of_which_nothing_is_open_is_saved_as_it_was_used(place):
    lay_out(place, table=HEADER.replace("town,age", "age,town") + "30,A,01\n" * 50)
    assert invoke(*run_arguments("--save-schema", "used.json")).code == 0
    used = synthdp.Schema.load("used.json")
    assert used.names == ("age", "town", "code")  # in the order of the table
    assert used.fingerprint == certificate_of("out.csv")["schema"]["sha256"]


def test_what_was_ignored_stays_so(place):
    rows = "".join(f"A,{CANARY}{i},3,01\n" for i in range(1800))
    lay_out_kinds(place, KINDS | {"note": "ignore"}, table=f"town,note,age,code\n{rows}")
    assert run("--save-schema", "learnt.json").code == 0
    again = run(known=("-s", "learnt.json"), output="again.csv")
    assert (again.code, again.notes) == (0, [])
    assert Path("again.csv").read_text().startswith("town,age,code\n")


def test_it_holds_nothing_of_persons(place):
    rows = "".join(f"A,{CANARY}{i % 900},3,01\n" for i in range(1800))
    lay_out_kinds(place, table=f"town,person,age,code\n{rows}")
    persons = ("--unit", "person", "--max-rows-per-unit", "2")
    assert run(*persons, "--save-schema", "learnt.json").code == 0
    text = Path("learnt.json").read_text()
    assert CANARY not in text
    assert "person" not in text
    assert run(*persons, known=("-s", "learnt.json"), output="again.csv").code == 0


REFUSED = {
    "it exists": (("--save-schema", "old.json"), 1, "'old.json': it exists; pass --force"),
    "standard output": (("--save-schema", "-"), 2, "--save-schema is '-'"),
    "the kinds file": (
        ("--save-schema", "kinds.json", "--force"),
        2,
        "'kinds.json' is named twice",
    ),
    "the output": (("--save-schema", "out.csv", "--force"), 2, "'out.csv' is named twice"),
    "the model": (("--save", "m", "--save-schema", "./m"), 2, "'./m' is named twice"),
    "no folder": (("--save-schema", "none/learnt.json"), 1, "its directory does not exist"),
}


@pytest.mark.parametrize(("options", "code", "fragment"), REFUSED.values(), ids=REFUSED)
@pytest.mark.usefixtures("unpaid")
def test_what_cannot_be_written_is_refused_before_anything_is_paid(options, code, fragment, place):
    (place / "old.json").write_text("old")
    outcome = run(*options)
    assert_one_line(outcome, code)
    assert fragment in outcome.err
    assert (names_in(place), (place / "old.json").read_text()) == (
        sorted([*INPUTS, "old.json"]),
        "old",
    )


def test_force_replaces_it(place):
    (place / "old.json").write_text("old")
    assert run("--save-schema", "old.json", "--force").code == 0
    assert synthdp.Schema.load("old.json").names == tuple(KINDS)


def test_it_is_there_before_the_table(place, monkeypatch):
    monkeypatch.setattr(outputs, "write_rows", failing(None, KeyboardInterrupt()))
    outcome = run("--save-schema", "learnt.json")
    assert_one_line(outcome, 130)
    assert names_in(place) == sorted([*INPUTS, "learnt.json", "out.csv.rescued.synthdp"])
    assert synthdp.Schema.load("learnt.json") == synthdp.load("out.csv.rescued.synthdp").schema


def test_help_says_that_it_is_paid_for():
    assert "that is paid for" in " ".join(invoke("run", "--help-all").out.decode().split())


# ---- cautions


def test_what_was_not_found_is_said_after_success_what_is_alike_in_one_line(place):
    lay_out_kinds(place, table=NOTHING)
    outcome = run("--rows", "3")
    cautions = certificate_of("out.csv")["cautions"]
    assert {
        name for name in KINDS if any(f"column {name!r}" in caution for caution in cautions)
    } == set(KINDS)
    assert (outcome.code, outcome.out) == (0, b"")
    assert outcome.notes == [
        f"synthdp: caution: {with_caution_code(caution)}" for caution in grouped(cautions)
    ]
    assert len(outcome.notes) < len(cautions)
    assert [name for name in KINDS if repr(name) not in outcome.err] == []
    assert CANARY not in outcome.err


def test_for_machines_cautions_are_in_the_json(place):
    lay_out_kinds(place, table=NOTHING)
    outcome = run("--rows", "3", "--json", "--save", "m.synthdp")
    assert (outcome.code, outcome.notes) == (0, [])
    cautions = certificate_of("out.csv")["cautions"]
    assert json.loads(outcome.out)["cautions"] == cautions != []
    sampled = invoke("sample", "m.synthdp", "-o", "more.csv", "--json", "--rows", "3")
    assert json.loads(sampled.out)["cautions"] == cautions
    statement = run("--rows", "3", output="-")
    assert len(statement.lines) == 1  # the certificate, for whoever parses it
    assert json.loads(statement.err)["cautions"] == cautions


def test_parameters_that_protect_nobody_are_said_and_certified(place):
    """In what the certificate says, too, and not in a run that is as it should be."""
    lay_out_kinds(place, table=GOOD + ROWS)
    outcome = run(epsilon="1000", delta="0.01")
    assert outcome.code == 0
    cautions = certificate_of("out.csv")["cautions"]
    assert [text.split(",")[0] for text in cautions] == ["epsilon is 1000", "delta is 0.01"]
    assert outcome.said[1:] == [f"synthdp: caution: {with_caution_code(text)}" for text in cautions]
    quiet = run("--force", epsilon="9", delta="1e-5")
    assert (quiet.code, len(quiet.said)) == (0, 1)
