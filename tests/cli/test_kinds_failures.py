"""Runs with kinds that end early: what was learnt or measured is rescued once, usable, and says
what it cost.
"""

import errno
import json
import os
import tempfile
import warnings
from pathlib import Path

import pytest
from helpers.cli_runs import CANARY, HEADER, assert_one_line, invoke, names_in, rescued_path
from helpers.failing_runs import failing, full
from helpers.homes import home
from helpers.kinds_runs import KINDS, freeze, kinds_arguments, lay_out_kinds

import synthdp
from synthdp.cli import STOPPED
from synthdp.cli.commands import run
from synthdp.cli.shared import outputs
from synthdp.core import SchemaError, load_json, with_caution_code
from synthdp.data import CodedSource, HeldSource, HeldTable, rows_of
from synthdp.privacy import PrivacyLedger, PrivateTable, PrivateValues
from synthdp.release import Release
from synthdp.schema import OpenColumn, OpenSchema

json_files = home(load_json)
release = home(Release)
rows = home(rows_of)

INPUTS = ["in.csv", "kinds.json"]
LEARNT = "out.csv.rescued.schema.json"


def run_arguments(*more, **named):
    """Arguments of ``synthdp run`` with a mechanism whose steps, and when they come, are known."""
    return kinds_arguments("--mechanism", "mst", *more, **named)


@pytest.fixture
def place(work):
    lay_out_kinds(work)
    return work


def assert_learnt(outcome, path, charged, *, n_open):
    """The schema that was rescued declares all but ``n_open`` columns, and a run goes on from
    there.
    """
    assert (
        f"; what was paid for is kept: the columns learnt so far are declared in the schema {path}\n"
        in outcome.err
    )
    content = json.loads(Path(path).read_text())
    certificate = content["synthdp"]["certificate"]
    assert certificate["accounting"]["rho_spent"] == float(sum(charged))
    assert len(certificate["events"]) == len(charged)
    assert certificate["is_private"] is True
    schema = OpenSchema.load(path)
    assert (schema.names, len(schema.open_columns)) == (tuple(KINDS), n_open)
    again = kinds_arguments("--force", known=("-s", path), output="again.csv")
    going_on = invoke(*again)
    certificate = json.loads(Path("again.csv.privacy.json").read_text())
    assert (going_on.code, going_on.notes) == (
        0,
        [f"synthdp: caution: {with_caution_code(text)}" for text in certificate["cautions"]],
    )
    derived = certificate.get("domain", {}).get("derived", {})
    assert list(derived) == [column.name for column in schema.open_columns]


BEFORE_PAYING = {
    "reading the kinds": ((run, "load_json"), 0),
    "reading": ((rows, "held_rows"), 0),
    "before the first question": ((PrivateValues, "frequent"), 0),
    "paying": ((PrivacyLedger, "charge"), 0),
}


@pytest.mark.parametrize(("target", "after"), BEFORE_PAYING.values(), ids=BEFORE_PAYING)
def test_ctrl_c_before_anything_is_paid_leaves_nothing(target, after, place, monkeypatch):
    monkeypatch.setattr(*target, failing(getattr(*target), KeyboardInterrupt(CANARY), after=after))
    outcome = invoke(*run_arguments("--save", "m.synthdp"))
    assert_one_line(outcome, 130)
    assert outcome.err == "synthdp: interrupted\n"
    assert names_in(place) == INPUTS


LEARNING = {
    "counting for the first question": ((HeldSource, "frequencies"), {}, 3),
    "closing the first column": (
        (OpenColumn, "resolved"),
        {"after": 3},
        3,
    ),  # each was closed once when it was read
    "after the first column": ((PrivateValues, "histogram"), {"after": 1}, 2),
    "within the second column": ((PrivateValues, "histogram"), {"after": 2}, 2),
    "before the third column": (
        (PrivateValues, "frequent"),
        {"on": lambda _, grid: grid.column == "code"},
        1,
    ),
    "closing the schema": ((OpenSchema, "resolved"), {}, 0),
    "encoding": ((HeldTable, "encode"), {}, 0),
    "before the first measurement": ((PrivateTable, "measure"), {}, 0),
    "reading the workload again": ((release.Workload, "parse"), {"after": 1}, 0),
}
FAILURES = {
    "Ctrl-C": (KeyboardInterrupt, 130, "interrupted"),
    "memory": (MemoryError, 1, "out of memory"),
    "unforeseen": (RuntimeError, 1, "internal error (RuntimeError)"),
}


@pytest.mark.parametrize(("kind", "code", "words"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize(("target", "when", "n_open"), LEARNING.values(), ids=LEARNING)
def test_what_was_learnt_is_kept(
    target, when, n_open, kind, code, words, place, charged, monkeypatch
):
    monkeypatch.delenv("SYNTHDP_DEBUG", raising=False)
    with monkeypatch.context() as patch:
        freeze(patch, 1)  # what is asked next depends on what was answered
        patch.setattr(*target, failing(getattr(*target), kind(CANARY), **when))
        outcome = invoke(*run_arguments("--save", "m.synthdp", epsilon="100"))
    assert_one_line(outcome, code)
    assert outcome.err.startswith(f"synthdp: {words}")
    assert names_in(place) == sorted([*INPUTS, LEARNT])
    paid = list(charged)
    assert_learnt(outcome, LEARNT, paid, n_open=n_open)


MEASURING = {
    "after a measurement": ((PrivateTable, "measure"), 1),
    "selecting": ((PrivateTable, "select"), 0),
    "sampling": ((outputs, "drawn_table"), 0),
    "writing": ((outputs, "write_rows"), 0),
    "writing the certificate": ((outputs, "_flush"), 1),
}


@pytest.mark.parametrize(("target", "after"), MEASURING.values(), ids=MEASURING)
def test_what_was_measured_is_kept(target, after, place, charged, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(*target, failing(getattr(*target), KeyboardInterrupt(), after=after))
        outcome = invoke(*run_arguments())
    assert_one_line(outcome, 130)
    assert names_in(place) == sorted([*INPUTS, "out.csv.rescued.synthdp"])
    assert rescued_path(outcome) == "out.csv.rescued.synthdp"
    certificate = synthdp.load("out.csv.rescued.synthdp").certificate
    assert certificate["accounting"]["rho_spent"] == float(sum(charged))
    assert len(certificate["events"]) == len(charged)
    assert certificate["domain"]["derived"].keys() == KINDS.keys()
    more = invoke("sample", "out.csv.rescued.synthdp", "-o", "more.csv", "--rows", "7")
    assert (more.code, STOPPED in more.err) == (0, not certificate["complete"])
    assert (place / "more.csv").read_text().startswith(HEADER)


def test_an_earlier_rescue_is_not_overwritten(place, monkeypatch):
    (place / LEARNT).write_text("from an earlier run")
    for expected in ("out.csv-2.rescued.schema.json", "out.csv-3.rescued.schema.json"):
        with monkeypatch.context() as patch:
            patch.setattr(PrivateTable, "measure", failing(None, KeyboardInterrupt()))
            outcome = invoke(*run_arguments("--force"))
        assert outcome.err.endswith(f"declared in the schema {expected}\n")
        assert OpenSchema.load(expected).is_open is False
    assert (place / LEARNT).read_text() == "from an earlier run"
    assert len(names_in(place)) == 5


def test_what_was_learnt_of_persons_is_kept_without_their_column(place, monkeypatch):
    rows = "".join(f"A,{CANARY}{i % 50},3,01\n" for i in range(300))
    lay_out_kinds(place, table=f"town,person,age,code\n{rows}")
    persons = ("--unit", "person", "--max-rows-per-unit", "2")
    with monkeypatch.context() as patch:
        patch.setattr(PrivateTable, "measure", failing(None, KeyboardInterrupt()))
        outcome = invoke(*run_arguments(*persons))
    assert_one_line(outcome, 130)
    assert CANARY not in (place / LEARNT).read_text()
    assert OpenSchema.load(LEARNT).names == tuple(KINDS)
    assert (
        json.loads((place / LEARNT).read_text())["synthdp"]["certificate"]["max_rows_per_unit"] == 2
    )
    assert invoke(*kinds_arguments(*persons, known=("-s", LEARNT))).code == 0
    assert_one_line(
        invoke(*kinds_arguments("--force", known=("-s", LEARNT))), 1
    )  # now 'person' is a column too many


def test_output_to_a_stream_is_rescued_where_it_runs(place, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(PrivateTable, "measure", failing(None, KeyboardInterrupt()))
        outcome = invoke(*run_arguments(output="-"))
    assert (outcome.code, outcome.out) == (130, b"")
    assert names_in(place) == sorted([*INPUTS, "synthdp.rescued.schema.json"])


def test_a_full_disk_keeps_what_was_learnt_elsewhere(place, spare, charged, monkeypatch):
    with monkeypatch.context() as patch:
        full(patch, lambda path: place in path.parents)
        patch.setattr(PrivateTable, "measure", failing(None, MemoryError(CANARY)))
        outcome = invoke(*run_arguments())
    assert_one_line(outcome, 1)
    assert names_in(place) == INPUTS
    assert names_in(spare) == ["synthdp.rescued.schema.json"]
    assert_learnt(outcome, str(spare / "synthdp.rescued.schema.json"), list(charged), n_open=0)


def test_a_disk_that_is_full_when_rows_are_written(place, spare, monkeypatch):
    with monkeypatch.context() as patch:
        full(patch, lambda path: place in path.parents)
        outcome = invoke(*run_arguments("--save", "m.synthdp"))
    assert_one_line(outcome, 1)
    assert "no space left on device" in outcome.err
    assert names_in(place) == INPUTS
    assert synthdp.load(rescued_path(outcome)).certificate["complete"] is True
    assert Path(rescued_path(outcome)).parent == spare


def test_nowhere_to_keep_what_was_learnt(place, spare, monkeypatch):
    refusal = failing(None, OSError(errno.ENOSPC, CANARY), on=lambda *_: True)
    monkeypatch.setattr(json_files, "write_atomically", refusal)
    monkeypatch.setattr(tempfile, "gettempdir", failing(None, FileNotFoundError(CANARY)))
    monkeypatch.setattr(PrivateTable, "measure", failing(None, KeyboardInterrupt()))
    outcome = invoke(*run_arguments())
    assert outcome.err == "synthdp: interrupted; what was paid for could not be kept anywhere\n"
    assert (names_in(place), names_in(spare)) == (INPUTS, [])


def test_a_folder_that_may_not_be_written_is_refused_before_anything_is_paid(
    place, charged, monkeypatch
):
    (place / "locked").mkdir()
    monkeypatch.setattr(
        os, "access", lambda path, _mode: Path(path) != place / "locked"
    )  # root may write anywhere
    outcome = invoke(*run_arguments(output="locked/out.csv"))
    assert_one_line(outcome, 1)
    assert "'locked/out.csv': its directory is not writable" in outcome.err
    assert (charged, names_in(place / "locked")) == ([], [])


@pytest.mark.parametrize(
    "target", [(PrivateValues, "histogram"), (PrivateTable, "measure"), (outputs, "write_rows")]
)
def test_messages_and_names_do_not_depend_on_values(target, tmp_path, monkeypatch):
    """Tables of one size with different values, stopped at one point: the same words, the same
    files.
    """
    seen = []
    rows = ["A,30,01\n", f"{CANARY},1e300,\n", ",,\n", "\u0661,-7.25,\x7f\n"]
    for number, row in enumerate(rows):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        lay_out_kinds(folder, table=HEADER + row * 60)
        with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            freeze(patch, 7)
            patch.setattr(*target, failing(getattr(*target), RuntimeError(row), after=0))
            outcome = invoke(*run_arguments())
        assert_one_line(outcome, 1)
        seen.append((outcome, names_in(folder), len(caught)))
    assert all(entry == seen[0] for entry in seen)


def test_the_rescued_schema_holds_no_more_than_was_released(place, monkeypatch):
    """A level of a single record is in no rescued file."""
    lay_out_kinds(place, table=HEADER + "A,30,01\n" * 300 + f"{CANARY},777777,{CANARY}\n")
    with monkeypatch.context() as patch:
        patch.setattr(PrivateTable, "measure", failing(None, KeyboardInterrupt()))
        assert invoke(*run_arguments()).code == 130
    assert CANARY not in (place / LEARNT).read_text()
    with pytest.raises(SchemaError, match="'fields'"):
        OpenSchema.from_dict(json.loads((place / LEARNT).read_text())["synthdp"])


def test_counting_for_the_model_fails(place, charged, monkeypatch):
    """The records are counted after the first measurement is charged: only what was learnt is there
    to keep.
    """
    with monkeypatch.context() as patch:
        patch.setattr(CodedSource, "counts_of", failing(None, MemoryError(CANARY)))
        outcome = invoke(*run_arguments())
    assert_one_line(outcome, 1)
    assert names_in(place) == sorted([*INPUTS, LEARNT])
    assert_learnt(outcome, LEARNT, list(charged), n_open=0)
