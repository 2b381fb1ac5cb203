"""Copies of a journal: whichever becomes a release, with a budget no two do that differ, and
without one it is said.
"""

import shutil
from pathlib import Path

import pytest
from helpers.homes import home
from helpers.stopped_runs import RUN, SCHEMA, StopError, answers, frame, stops

import synthdp
from synthdp.core import DataFileError, PrivacyError
from synthdp.release import Budget, Journal

PEOPLE = frame()[["u", "v", "w"]]


def run(path, budget=None, **options):
    settings = {"mechanism": "gaussian", "workload": "2-way"} | RUN | options
    return synthdp.synthesize(PEOPLE, SCHEMA, journal=path, budget=budget, **settings)


def copied(path, name="copy"):
    return Path(shutil.copy(path, path.with_name(name)))


def kinds(budget):
    return [entry["kind"] for entry in budget.show()["entries"]]


def test_a_copy_that_went_on_and_was_refused_makes_no_second_release(path, budget):
    assert stops(lambda: run(path, budget), 1)
    copy = copied(path)
    assert stops(lambda: run(copy, budget), 1)
    run(path, budget)
    with pytest.raises(PrivacyError, match="has ended with other answers"):
        run(copy, budget)
    with pytest.raises(PrivacyError, match="has ended with other answers"):
        synthdp.from_journal(copy)
    found = synthdp.from_journal(path)
    assert (found.certificate["complete"], kinds(budget)) == (True, ["run", "end"])


@pytest.mark.parametrize("failure", [PrivacyError, KeyboardInterrupt])
def test_what_a_copy_holds_of_a_run_that_has_ended_is_handed_to_nobody(path, budget, failure):
    """Neither by the refusal at its end nor by an interrupt."""
    assert stops(lambda: run(path, budget), 1)
    copy, handed = copied(path), []
    keep = Journal.keep

    def keeping(self, question, answer):
        keep(self, question, answer)
        if self.path == str(copy) and kinds(budget) == ["run"]:
            run(path, budget)
            if failure is KeyboardInterrupt:
                raise failure

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "keep", keeping)
        with pytest.raises(failure):
            run(copy, budget, rescue=handed.append)
    assert (handed, kinds(budget)) == ([], ["run", "end"])


def test_an_interrupted_run_hands_out_what_it_paid_for_and_no_other_copy_may_differ(path, budget):
    assert stops(lambda: run(path, budget), 1)
    copy, handed = copied(path), []
    with pytest.MonkeyPatch.context() as patch:
        keep = Journal.keep

        def interrupted(self, question, answer):
            keep(self, question, answer)
            raise KeyboardInterrupt

        patch.setattr(Journal, "keep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(path, budget, rescue=handed.append)
    assert len(handed) == 1
    assert kinds(budget) == ["run", "rescued"]
    with pytest.raises(PrivacyError, match="other answers became a release already"):
        run(copy, budget)
    run(path, budget)
    assert kinds(budget) == ["run", "rescued", "end"]


def test_a_rescued_journal_may_go_on_and_another_copy_may_not(path, budget):
    assert stops(lambda: run(path, budget), 2)
    copy = copied(path)
    assert stops(lambda: run(copy, budget), 1)
    first = synthdp.from_journal(path)
    assert (len(first.measurements), kinds(budget)) == (2, ["run", "rescued"])
    assert first.certificate["run"]["is_charged_to_budget"]
    assert not any("another copy" in line for line in first.certificate["not_covered"])
    assert len(synthdp.from_journal(path).measurements) == 2
    assert kinds(budget) == ["run", "rescued"], "the same answers again are the same release"
    synthdp.from_journal(copy)  # it goes on from what became a release
    with pytest.raises(PrivacyError, match="other answers became a release already"):
        run(path, budget)
    whole = run(copy, budget)
    for one, other in zip(first.measurements, whole.measurements[:2], strict=True):
        assert one.values.tolist() == other.values.tolist()
    assert kinds(budget) == ["run", "rescued", "rescued", "end"]


def test_a_budget_that_is_not_there_is_asked_for_and_another_is_none(path, budget, tmp_path):
    run(path, budget)
    moved = tmp_path / "elsewhere"
    Path(budget.path).rename(moved)
    with pytest.raises(
        PrivacyError, match=r"is charged to budget '.*budget', which cannot be read there.*--budget"
    ):
        synthdp.from_journal(path)
    Budget.create(budget.path, epsilon=3.0, delta=1e-5, population="people")
    with pytest.raises(PrivacyError, match="but another one"):
        synthdp.from_journal(path)
    with pytest.raises(PrivacyError, match="but another one"):
        synthdp.from_journal(path, budget=budget)
    assert synthdp.from_journal(path, budget=moved).certificate["run"]["is_charged_to_budget"]
    stated = synthdp.from_journal(path, unchecked=True).certificate
    assert not stated["run"]["is_charged_to_budget"]
    assert "both together are (2, 2e-06)-differentially private" in stated["not_covered"][-1]


def test_a_budget_that_lost_the_charge_or_never_had_it_knows_nothing(path, budget):
    before = Path(budget.path).read_bytes()
    run(path, budget)
    Path(budget.path).write_bytes(before)
    with pytest.raises(PrivacyError, match="was not charged to it"):
        synthdp.from_journal(path)
    alone = path.with_name("alone")
    run(alone)
    with pytest.raises(PrivacyError, match="was not charged to it"):
        synthdp.from_journal(alone, budget=budget)


def test_without_a_budget_the_certificate_says_what_two_copies_mean(path):
    assert stops(lambda: run(path), 1)
    copy = copied(path)
    assert stops(lambda: run(copy), 1)
    releases = [run(path), synthdp.from_journal(copy), synthdp.from_journal(path)]
    assert len({release.certificate["run"]["id"] for release in releases}) == 1, (
        "readers see that it is one run"
    )
    for release in releases:
        assert (
            "and both together are (2, 2e-06)-differentially private"
            in release.certificate["not_covered"][-1]
        )


def test_a_run_that_was_never_stopped_says_nothing_of_copies(path):
    stated = run(path).certificate
    assert not any("copy" in line for line in stated["not_covered"])
    assert stated["run"].keys() == {"id", "released", "is_charged_to_budget"}


def test_nothing_is_claimed_of_a_journal_of_which_nothing_can_be_made(path, budget):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "get", lambda *_: (_ for _ in ()).throw(StopError))
        with pytest.raises(StopError):
            run(path, budget)
    with pytest.raises(DataFileError, match="it holds no marginal yet"):
        synthdp.from_journal(path)
    assert kinds(budget) == ["run"]


def test_the_days_on_which_it_went_on_are_kept_and_no_answer_is_lost(path, monkeypatch):
    days = iter(
        ["2026-01-01T23:59:59+00:00", "2026-01-02T00:00:00+00:00", "2026-03-04T05:06:07+00:00"]
    )
    moments = {}
    monkeypatch.setattr(home(Journal), "now", lambda: moments["now"])
    for _ in range(2):
        moments["now"] = next(days)
        assert stops(lambda: run(path), 1)
    moments["now"] = next(days)
    whole = run(path)
    assert whole.certificate["run"]["released"] == "2026-01-01T23:59:59+00:00"
    assert whole.certificate["run"]["resumed"] == ["2026-01-02", "2026-03-04"]
    assert run(path).certificate["run"]["resumed"] == ["2026-01-02", "2026-03-04"]
    assert synthdp.from_journal(path).certificate["run"]["resumed"] == ["2026-01-02", "2026-03-04"]
    assert len(answers(path)) == len(whole.certificate["events"])
    assert (
        "each answer protects the records as they were when it was given"
        in whole.certificate["run"]["meaning"]
    )
