"""``synthdp budget``, and runs with a journal and a budget: what a person sees, and what a failure
leaves behind.
"""

import errno
import json
from pathlib import Path

import pytest
from helpers.cli_runs import (
    CREATE_BUDGET,
    assert_one_line,
    invoke,
    lay_out,
    names_in,
    run_arguments,
)
from helpers.failing_runs import failing
from helpers.homes import home

from synthdp.cli.shared import outputs
from synthdp.data import HeldTableReader
from synthdp.release import Journal

held_table = home(HeldTableReader)

RUN = run_arguments("--mechanism", "independent", "--budget", "b")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert invoke(*CREATE_BUDGET).code == 0


def shown():
    return json.loads(invoke("budget", "show", "b", "--json").out)


def test_a_run_is_charged_and_says_where_its_journal_is():
    outcome = invoke(*RUN, "--budget-note", "yearly table")
    assert outcome.code == 0
    ended = "out.csv.journal.ended"
    assert outcome.notes[-1].startswith(
        f"synthdp: journal {ended}: it holds the whole run; --journal {ended} gives"
    )
    text = invoke("budget", "show", "b").out.decode()
    for part in (
        "Budget of people of a town",
        "1, delta 1e-06 (zcdp",
        "yearly table",
        "Left: about epsilon 1.",
    ):
        assert part in text
    head = shown()["head"]
    assert head in text
    assert head in invoke("budget", "verify", "b", "--head", head).out.decode()
    assert_one_line(invoke("budget", "verify", "b", "--head", "0" * 64), 1)
    first = Path(ended).read_bytes()
    again = invoke(*RUN, "--force", "--journal", ended)
    assert "nothing was asked of the records: all answers were there" in again.err
    assert Path(ended).read_bytes() == first
    assert len(shown()["entries"]) == 2


def test_how_costs_add_up_is_told_until_it_is_settled():
    open_text = "settled by the first run. After one by auto or privmrf, in Gaussian DP"
    assert open_text in invoke(*CREATE_BUDGET[:2], "open", *CREATE_BUDGET[3:]).err
    assert open_text in invoke("budget", "show", "open").out.decode()
    assert (
        open_text
        not in invoke(*CREATE_BUDGET[:2], "chosen", *CREATE_BUDGET[3:], "--accounting", "zcdp").err
    )
    assert open_text not in invoke("budget", "show", "chosen").out.decode()
    assert invoke(*run_arguments("--budget", "open")).code == 0
    assert open_text not in invoke("budget", "show", "open").out.decode()
    assert_one_line(
        invoke(*run_arguments("--mechanism", "mst", "--budget", "open", output="other.csv")), 3
    )


def test_a_run_that_would_overspend_is_refused_and_leaves_nothing():
    before = names_in(Path())
    outcome = invoke(*run_arguments("--budget", "b", epsilon="2.1"))
    assert_one_line(outcome, 3)
    assert "about epsilon 1.9" in outcome.err
    assert names_in(Path()) == before


@pytest.mark.parametrize(
    "failure", [KeyboardInterrupt, OSError(errno.EIO, "x"), RuntimeError("x")], ids=repr
)
@pytest.mark.parametrize("step", ["answer", "writing"])
def test_a_run_that_failed_says_how_to_go_on_and_the_same_command_does(step, failure):
    owner, name, after = {
        "answer": (Journal, "get", 1),
        "writing": (outputs, "write_both", 0),
    }[step]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, failing(getattr(owner, name), failure, after=after))
        outcome = invoke(*RUN)
    assert outcome.code in (1, 130)
    assert (
        "what was paid for is in out.csv.journal: the same command goes on and pays nothing twice"
        in outcome.err
    )
    if step != "writing":
        assert (
            "Paid and not finished: run the same command again"
            in invoke("budget", "show", "b").out.decode()
        )
    assert invoke(*RUN).code == 0
    assert [entry["kind"] for entry in shown()["entries"]] == ["run", "end"]


@pytest.mark.parametrize(
    "failure", [KeyboardInterrupt, OSError(errno.EIO, "x"), RuntimeError("x")], ids=repr
)
def test_a_run_that_failed_while_it_read_has_paid_nothing_and_leaves_nothing(failure):
    before = names_in(Path())
    with pytest.MonkeyPatch.context() as patch:
        finish = held_table.HeldTableReader.finish
        patch.setattr(held_table.HeldTableReader, "finish", failing(finish, failure, after=0))
        outcome = invoke(*RUN)
    assert outcome.code in (1, 130)
    assert "paid" not in outcome.err
    assert shown()["entries"] == []
    assert names_in(Path()) == before


def test_a_journal_alone_needs_no_budget_and_another_command_is_refused():
    assert invoke(*run_arguments("--journal", "j", "--mechanism", "independent")).code == 0
    outcome = invoke(
        *run_arguments("--journal", "j", "--mechanism", "independent", "--force", epsilon="2")
    )
    assert_one_line(outcome, 2)
    assert "epsilon 1.0 (now 2.0)" in outcome.err


@pytest.mark.parametrize(
    ("more", "said", "code"),
    [
        (("--journal", "b", "--budget", "b"), "named twice", 2),
        (("--journal", "in.csv"), "named twice", 2),
        (("--journal", "out.csv.privacy.json"), "named twice", 2),
        (("--journal", "-"), "ordinary file", 1),
        (("--journal", "no/j"), "directory does not exist", 1),
        (("--journal", "notes"), "no journal that synthdp wrote", 1),
        (
            ("--budget", "none"),
            "budget 'none': there is no such file; `synthdp budget create` writes a new one",
            1,
        ),
        (
            ("--budget", "schema2.json"),
            "budget 'schema2.json': line 1 was changed or is damaged",
            1,
        ),
        (("--budget", "j"), "first line is no budget's", 1),
    ],
)
def test_wrong_files_are_one_clear_line(more, said, code):
    Path("notes").write_text("keep this")
    Path("schema2.json").write_text(Path("schema.json").read_text() + "\n")
    Journal("j", {}).close()
    outcome = invoke(*run_arguments(*more))
    assert_one_line(outcome, code)
    assert said in outcome.err
    assert Path("notes").read_text() == "keep this"


def test_with_the_table_on_standard_output_the_journal_must_be_named():
    outcome = invoke(*run_arguments("--budget", "b", output="-"))
    assert_one_line(outcome, 2)
    assert "name a file for the answers with --journal" in outcome.err
    outcome = invoke(
        *run_arguments("--budget", "b", "--journal", "j", "--mechanism", "independent", output="-")
    )
    assert (outcome.code, outcome.out[:4]) == (0, b"town")


def test_releases_of_other_systems_are_entered_by_hand():
    for kind in (("--epsilon", "0.5", "--delta", "1e-7"), ("--mu", "0.01"), ("--epsilon", "0.01")):
        outcome = invoke("budget", "add", "b", *kind, "--note", "table 7 of the report")
        assert (outcome.code, outcome.err) == (0, f"b: entered; head {shown()['head']}\n")
    assert invoke("budget", "show", "b").out.decode().count("  other system, ") == 3
    assert_one_line(invoke("budget", "add", "b", "--rho", "0.1", "--note", "x"), 3)
    assert_one_line(invoke("budget", "add", "b", "--mu", "9", "--note", "x"), 3)
    assert_one_line(invoke("budget", "add", "b", "--mu", "0", "--note", "x"), 2)
    assert_one_line(invoke("budget", "add", "b", "--mu", "1", "--rho", "1", "--note", "x"), 2)
    assert_one_line(invoke("budget", "add", "b", "--epsilon", "1"), 2)


def test_a_note_cannot_look_like_a_charge():
    assert (
        invoke(
            "budget", "add", "b", "--epsilon", "0.5", "--note", "x\n  2026  other system, epsilon 9"
        ).code
        == 0
    )
    found = invoke("budget", "show", "b").out.decode().splitlines()
    assert [line.count("other system") for line in found if line.startswith("  20")] == [2]


def test_a_note_without_a_budget_is_refused():
    outcome = invoke(*run_arguments("--mechanism", "independent", "--budget-note", "x"))
    assert_one_line(outcome, 2)
    assert "nothing would be charged" in outcome.err
    assert not Path("out.csv").exists()


def test_create_refuses_what_makes_no_budget():
    assert_one_line(invoke(*CREATE_BUDGET), 1)
    new = ("budget", "create", "new", "--epsilon=1", "--delta=1e-6", "--population", "x")
    for more in (
        ("--adjacency", "x"),
        ("--accounting", "x"),
        ("--adjacency", "replace-one", "--unit", "p"),
    ):
        assert_one_line(invoke(*new, *more), 2)
    assert_one_line(
        invoke("budget", "create", "-", "--epsilon=1", "--delta=1e-6", "--population", "x"), 1
    )
    assert not Path("new").exists()


def test_a_budget_that_is_cut_anywhere_within_a_line_does_not_verify():
    assert invoke("budget", "add", "b", "--epsilon", "0.5", "--note", "a table").code == 0
    assert invoke("budget", "add", "b", "--epsilon", "0.25", "--note", "another").code == 0
    whole = Path("b").read_bytes()
    ends = [place for place, byte in enumerate(whole, start=1) if byte == ord("\n")]
    assert invoke("budget", "verify", "b").code == 0
    for place in [
        *range(ends[0] + 1, len(whole), 7),
        *(end - 1 for end in ends[1:]),
        ends[-1] - 2,
        ends[-1] - 3,
    ]:
        Path("b").write_bytes(whole[:place])
        outcome = invoke("budget", "verify", "b")
        if place in ends:
            assert (outcome.code, "only --head HASH tells" in outcome.out.decode()) == (0, True)
            continue
        assert_one_line(outcome, 1)
        assert "the file was cut, or a run was killed as it wrote that" in outcome.err
        assert Path("b").read_bytes() == whole[:place], "to verify is to change nothing"
        assert invoke("budget", "show", "b").code == 0
    Path("b").write_bytes(
        whole[: ends[1]]
    )  # between lines only a hash that is kept elsewhere knows
    head = json.loads(whole.splitlines()[-1])["hash"]
    assert_one_line(invoke("budget", "verify", "b", "--head", head), 1)
    Path("b").write_bytes(whole[: ends[-1] - 9])
    assert invoke("budget", "add", "b", "--epsilon", "0.125", "--note", "in its place").code == 0
    assert invoke("budget", "verify", "b").code == 0
