"""Runs that stop over their input: a budget has back what they did not spend, and no answer is had
for nothing.
"""

import json
import shutil
import traceback
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke
from helpers.stopped_runs import StopError, answers, stops

import synthdp
from synthdp.core import BudgetExceededError, ParameterError, PrivacyError, UnreadColumnError
from synthdp.release import Budget, ChainedFile, Journal, Release

N_ROWS = 2000
FIELDS = [
    {"name": "town", "type": "string", "constraints": {"enum": ["A", "B"], "required": True}},
    {"name": "alive", "type": "boolean", "constraints": {"required": True}},
]
WRONG = {"fields": FIELDS}
RIGHT = {"fields": [FIELDS[0], FIELDS[1] | {"trueValues": ["ja"], "falseValues": ["nein"]}]}
PEOPLE = pd.DataFrame(
    {"town": np.resize(["A", "B"], N_ROWS), "alive": np.resize(["ja", "ja", "nein"], N_ROWS)}
)
RUN = {"epsilon": 2.0, "delta": 1e-6}

pytestmark = pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")


def run(path, budget=None, *, schema=WRONG, mechanism="mst", **more):
    more = {"budget": budget} | more
    return synthdp.synthesize(PEOPLE, schema, journal=path, mechanism=mechanism, **RUN | more)


def stopped(path, budget=None, **more):
    with pytest.raises(UnreadColumnError) as caught:
        run(path, budget, **more)
    return caught.value


def kinds(budget):
    return [entry["kind"] for entry in budget.show()["entries"]]


def spent(budget):
    return budget.show()["spent"]["rho"]


def paid(path):
    """What the answers in a journal cost, by themselves."""
    kept = synthdp.from_journal(path, unchecked=True)
    return kept.certificate["accounting"]["rho_spent"]


@pytest.mark.parametrize("mechanism", ["auto", "mst", "clique-tree"])
def test_a_budget_has_back_what_a_run_that_stopped_did_not_spend(mechanism, path, budget):
    stopped(path, budget, mechanism=mechanism)
    assert kinds(budget) == ["run", "returned"]
    assert spent(budget) == pytest.approx(paid(path), rel=1e-9)
    assert spent(budget) < 0.5 * float(Fraction(budget.show()["entries"][0]["rho"]))
    assert budget.show()["unfinished_runs"] == []
    assert len(budget.show()["stopped_runs"]) == 1
    run(path.with_name("new"), budget, mechanism=mechanism, schema=RIGHT)  # nothing was left else
    assert kinds(budget) == ["run", "returned", "run", "end"]


def test_a_run_that_looked_first_gives_back_all_but_the_look(path, budget):
    stopped(path, budget, mechanism="independent")
    whole, back = (Fraction(each["rho"]) for each in budget.show()["entries"])
    assert back == whole * Fraction(99, 100)


def test_it_goes_on_anyway_and_is_charged_for_the_rest_once(path, budget):
    stopped(path, budget)
    first = len(answers(path))
    found = run(path, budget, anyway=True)
    assert kinds(budget) == ["run", "returned", "again", "end"]
    assert len(answers(path)) > first
    assert spent(budget) == pytest.approx(found.certificate["accounting"]["rho_spent"], rel=1e-9)


def test_the_same_command_stops_again_and_pays_nothing(path, budget):
    stopped(path, budget)
    before, lines = spent(budget), path.read_bytes()
    stopped(path, budget)
    assert (spent(budget), path.read_bytes()) == (before, lines)
    assert kinds(budget) == ["run", "returned"]


def test_the_same_command_says_why_it_stopped_when_others_have_spent_the_rest(path, budget):
    stopped(path, budget)
    budget.add(rho=budget.show()["left"]["rho"] * 0.99, note="another release")
    assert "column 'alive'" in str(stopped(path, budget))
    assert kinds(budget) == ["run", "returned", "other"]


def test_a_run_that_would_stop_no_more_pays_before_it_asks(path, budget, monkeypatch):
    """Another version may take what this one stopped over: no answer is made that is not paid for."""
    stopped(path, budget)
    n_answers = len(answers(path))
    budget.add(rho=budget.show()["left"]["rho"] * 0.99, note="another release")
    monkeypatch.setattr(Release, "_stop_unread", lambda *_: None)
    with pytest.raises(BudgetExceededError, match="about epsilon"):
        run(path, budget)
    assert len(answers(path)) == n_answers
    assert kinds(budget) == ["run", "returned", "other"]


def test_no_question_goes_on_after_a_payment_that_failed(path):
    def refuse():
        raise BudgetExceededError("all is spent")

    with Journal(path, {}) as journal:
        journal.before_new(refuse)
        for _ in range(2):
            with pytest.raises(BudgetExceededError):
                journal.get(("counts",), 1)
        journal.before_new(lambda: None)
        assert journal.get(("counts",), 1) is None


def test_a_budget_of_a_backup_is_charged_again_by_the_same_command(path, budget):
    backup = Path(budget.path).read_bytes()
    stopped(path, budget)
    Path(budget.path).write_bytes(backup)
    stopped(path, budget)
    assert kinds(budget) == ["run", "returned"]


@pytest.mark.parametrize("name", ["stop", "give_back"])
def test_a_kill_leaves_the_larger_charge_and_the_next_run_has_it_back(name, path, budget):
    with pytest.MonkeyPatch.context() as patch:
        method = getattr(Journal if name == "stop" else Budget, name)

        def killed(self, *arguments, **more):
            if name == "stop":
                method(self, *arguments, **more)
            raise StopError

        patch.setattr(Journal if name == "stop" else Budget, name, killed)
        with pytest.raises(StopError):
            run(path, budget)
    assert kinds(budget) == ["run"]
    stopped(path, budget)
    assert kinds(budget) == ["run", "returned"]


class FullError(synthdp.core.errors.DataFileError):
    """As of a disk that is full."""


def full(*_, **__):
    raise FullError("budget: the disk is full")


@pytest.mark.parametrize("mechanism", ["mst", "independent"])
def test_why_a_run_stopped_is_not_said_while_its_budget_cannot_note_it(
    mechanism, path, budget, monkeypatch
):
    """Copies of a journal could each say it by other noise, for one charge."""
    with monkeypatch.context() as patch:
        for name in ("give_back", "rescue"):
            patch.setattr(Budget, name, full)
        handed_over = []
        with pytest.raises(FullError) as caught:
            run(path, budget, mechanism=mechanism, rescue=handed_over.append)
    said = "".join(traceback.format_exception(caught.value))
    assert not [word for word in ("alive", "could not be read", "of its budget") if word in said]
    assert handed_over == []
    assert kinds(budget) == ["run"]
    assert "column 'alive'" in str(stopped(path, budget, mechanism=mechanism))
    assert kinds(budget) == ["run", "returned"]


def test_a_command_whose_budget_cannot_note_it_says_nothing_of_its_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("in.csv", index=False)
    Budget.create("people.budget", epsilon=5.0, delta=1e-5, population="people")
    with monkeypatch.context() as patch:
        for name in ("give_back", "rescue", "end"):
            patch.setattr(Budget, name, full)
        first = shell(tmp_path, WRONG, "--budget", "people.budget")
        # A run that comes to its end fails in the same words.
        right = shell(tmp_path, RIGHT, "--budget", "people.budget", "--journal", "other")
    said = first.out.decode() + first.err
    assert not [word for word in ("alive", "could not be read", "--anyway") if word in said], said
    assert not list(tmp_path.glob("*.rescued.*"))
    assert (first.code, "the disk is full" in first.err) == (1, True)
    assert "could not be read" in shell(tmp_path, WRONG, "--budget", "people.budget").err
    assert "the disk is full" in right.err


def test_a_journal_that_cannot_note_it_keeps_the_charge_and_the_budget_notes_it(
    path, budget, monkeypatch
):
    monkeypatch.setattr(Journal, "stop", full)
    assert "column 'alive'" in str(stopped(path, budget))
    assert kinds(budget) == ["run", "rescued"]


def test_what_a_run_spent_that_went_on_once_is_not_given_back(path, budget):
    """Killed after it had gone on anyway, and started without that: there are more answers."""
    stopped(path, budget)
    assert stops(lambda: run(path, budget, anyway=True), 1)
    stopped(path, budget)
    assert kinds(budget) == ["run", "returned", "again"]
    with pytest.raises(BudgetExceededError):
        run(path.with_name("other"), budget, schema=RIGHT, epsilon=2.5)


def test_nothing_is_asked_that_no_budget_pays_for(path, budget, monkeypatch):
    """Neither by a run that does not name it, nor by another copy, nor by a rescue."""
    stopped(path, budget)
    copy = Path(shutil.copy(path, path.with_name("copy")))
    with pytest.raises(PrivacyError, match=r"its run is charged to budget '.*'.*--budget"):
        run(copy, anyway=True)
    other = Budget.create(path.with_name("other"), epsilon=3.0, delta=1e-5, population="people")
    with pytest.raises(PrivacyError, match=r"its run is charged to budget '.*budget'"):
        run(copy, other, anyway=True)
    assert kinds(other) == []  # it is refused before it is charged
    monkeypatch.setattr(Journal, "check_charged", lambda *_: None)  # an earlier version knew none
    run(copy, anyway=True)
    with pytest.raises(PrivacyError, match="gave back what it had not spent"):
        synthdp.from_journal(copy, budget=budget)
    assert synthdp.from_journal(path).measurements
    assert kinds(budget) == ["run", "returned"]


def test_what_one_copy_said_of_its_input_no_other_copy_says_by_other_noise(path, budget):
    """Killed after it had gone on anyway, a run says why it stops, and gives nothing back."""
    assert stops(lambda: run(path, budget), 1)
    copy = Path(shutil.copy(path, path.with_name("copy")))
    assert stops(lambda: run(path, budget, anyway=True), 2)
    for _ in range(2):
        stopped(path, budget)
        with pytest.raises(PrivacyError, match="other answers became a release already"):
            run(copy, budget)
    assert kinds(budget) == ["run", "rescued"]
    run(path, budget, anyway=True)
    assert kinds(budget) == ["run", "rescued", "end"]


def test_of_two_copies_that_stop_at_once_one_says_why(path, budget, monkeypatch):
    assert stops(lambda: run(path, budget), 1)
    copy = Path(shutil.copy(path, path.with_name("copy")))
    stop = Journal.stop

    def overtaken(journal):
        monkeypatch.setattr(Journal, "stop", stop)
        stopped(path, budget)
        return stop(journal)

    monkeypatch.setattr(Journal, "stop", overtaken)
    with pytest.raises(PrivacyError, match="other answers became a release already") as caught:
        run(copy, budget)
    assert "could not be read" not in "".join(traceback.format_exception(caught.value))
    assert kinds(budget) == ["run", "returned"]


def test_a_copy_that_goes_on_where_another_one_stopped_is_refused(path, budget):
    assert stops(lambda: run(path, budget), 1)
    copy = Path(shutil.copy(path, path.with_name("copy")))
    stopped(path, budget)
    with pytest.raises(PrivacyError, match="other answers became a release already"):
        run(copy, budget, anyway=True)
    assert kinds(budget) == ["run", "returned"]


def test_what_a_journal_holds_is_not_released_without_the_budget_that_may_have_it_back(
    path, budget, monkeypatch
):
    """A run that was killed when all was asked, while a copy of it stopped and gave back the rest."""
    stopped(path, budget)
    copy = Path(shutil.copy(path, path.with_name("copy")))
    with monkeypatch.context() as patch:
        patch.setattr(Budget, "end", lambda *_: None)  # as if killed before
        run(path, budget, anyway=True)
    stopped(copy, budget)
    handed_over = []
    with pytest.raises(PrivacyError, match="its run is charged to budget"):
        run(path, anyway=True, rescue=handed_over.append)
    assert handed_over == []
    run(path, budget, anyway=True)
    assert kinds(budget) == ["run", "returned", "again", "returned", "again", "end"]


def test_a_copy_that_is_under_way_when_another_one_stops_does_not_end(path, budget, monkeypatch):
    assert stops(lambda: run(path, budget), 1)
    copy = Path(shutil.copy(path, path.with_name("copy")))
    keep = Journal.keep

    def keeping(self, question, answer):
        keep(self, question, answer)
        if self.path == str(copy) and kinds(budget) == ["run"]:
            stopped(path, budget)

    monkeypatch.setattr(Journal, "keep", keeping)
    with pytest.raises(PrivacyError, match="other answers became a release already"):
        run(copy, budget, anyway=True)


def test_a_budget_without_enough_left_refuses_the_rest(path, budget):
    stopped(path, budget)
    budget.add(rho=budget.show()["left"]["rho"] * 0.9, note="another release")
    with pytest.raises(BudgetExceededError, match="about epsilon"):
        run(path, budget, anyway=True)
    assert kinds(budget) == ["run", "returned", "other"]


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry | {"rho": "1000"},
        lambda entry: entry | {"own_delta": "1/10"},
        lambda entry: entry | {"run": "of nobody"},
        lambda entry: entry | {"kind": "again"},
        lambda entry: entry | {"currency": "gdp"},
        lambda entry: {"kind": "returned", "run": entry["run"]},
    ],
)
def test_what_a_budget_file_cannot_hold_is_refused(change, path, budget, tmp_path):
    stopped(path, budget)
    lines = [json.loads(each)["entry"] for each in Path(budget.path).read_text().splitlines()]
    forged = tmp_path / "forged"
    ChainedFile.create(forged, lines[0], what="budget")
    with ChainedFile(forged, what="budget", patience=0) as file:
        for entry in [*lines[1:-1], change(lines[-1])]:
            file.append(entry)
    with pytest.raises(synthdp.SynthdpError, match="line 3 is no entry"):
        Budget(forged)


def test_a_corrected_run_over_a_named_journal_is_told_what_to_do(path):
    stopped(path)
    with pytest.raises(
        ParameterError, match=r"that run stopped.*name another journal for this one"
    ):
        run(path, schema=RIGHT)


def shell(place, schema, *more):
    (place / "schema.json").write_text(json.dumps(schema))
    return invoke(
        "run", "in.csv", "-s", "schema.json", "-o", "out.csv", "--epsilon", "2", "--delta", "1e-6",
        "--mechanism", "mst", "--seed", "1", *more,
    )  # fmt: skip


def test_a_corrected_command_makes_its_own_way(tmp_path, monkeypatch):
    """The journal beside the output was of the run that stopped, and refused each other one."""
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("in.csv", index=False)
    budget = Budget.create("people.budget", epsilon=2.5, delta=1e-5, population="people")
    first = shell(tmp_path, WRONG, "--budget", "people.budget")
    assert first.code == 1
    assert "--anyway goes on and pays nothing twice" in first.err
    assert "this journal becomes out.csv.journal.stopped" in first.err
    assert "the budget has back what was not spent" in first.err
    shown = invoke("budget", "show", "people.budget").out.decode()
    assert "gave back" in shown
    assert "the same command with --anyway goes on" in shown
    second = shell(tmp_path, RIGHT, "--budget", "people.budget")
    assert second.code == 0, second.err
    assert Path("out.csv.journal.stopped").exists()
    assert not Path("out.csv.journal").exists()
    assert kinds(budget) == ["run", "returned", "run", "end"]
    anyway = shell(tmp_path, WRONG, "--budget", "people.budget", "--anyway", "--force",
                   "--journal", "out.csv.journal.stopped")  # fmt: skip
    assert anyway.code == 3, "too little is left for both"


def test_a_rescue_goes_once_all_of_it_is_in_the_release_of_its_run(tmp_path, monkeypatch):
    """One of another run was paid for by itself, and stays."""
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("in.csv", index=False)
    alone = shell(tmp_path, WRONG)
    assert "pays anew; one with --journal would go on" in alone.err
    assert Path("out.csv.rescued.synthdp").exists()
    assert shell(tmp_path, WRONG, "--journal", "j").code == 1
    own = "out.csv-2.rescued.synthdp"
    assert invoke("journal", "rescue", "j", "-o", own).code == 0
    assert Path(own).exists()
    went_on = shell(tmp_path, WRONG, "--journal", "j", "--anyway")
    assert went_on.code == 0, went_on.err
    assert not Path(own).exists()
    assert Path("out.csv.rescued.synthdp").exists()
