"""Stopped after any answer and started again, every mechanism goes on: same answers, one charge, fresh
noise.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.homes import home
from helpers.stopped_runs import (
    FIELDS,
    KINDS,
    RUN,
    SCHEMA,
    StopError,
    answers,
    frame,
    lines,
    of_the_release,
    stops,
)
from helpers.values import Untouchable

import synthdp
from synthdp.core import CautionWarning, DataFileError, ParameterError, PrivacyError
from synthdp.data import CodedSource, HeldTableReader, held_rows, opened
from synthdp.release import MECHANISMS, Budget, Journal, Persistence, Release, RunSettings
from synthdp.schema import OpenSchema, Schema

held_table = home(HeldTableReader)


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
def test_every_mechanism_goes_on_after_any_answer(mechanism, path, monkeypatch):
    def run():
        return synthdp.synthesize(
            frame()[["u", "v", "w"]], SCHEMA, mechanism=mechanism, journal=path, **RUN
        )

    has_ended = False
    for n_answers in (1, 3):  # those of earlier stops not counted
        if has_ended := not stops(
            run, n_answers
        ):  # the mechanism asks less, so it went on to its end
            break
        before = lines(path)
    whole = run()
    assert lines(path)[: len(before)] == before, "nothing that was there has changed"
    assert len(whole.certificate["events"]) == len(answers(path)), "each answer is paid for, once"
    monkeypatch.setattr(CodedSource, "counts_of", None)
    with pytest.warns(
        CautionWarning, match=r"journal '.*': nothing was asked of the records: .*; remove"
    ):
        again = run()
    assert of_the_release(again.certificate) == of_the_release(whole.certificate), (
        "but for when it was replayed"
    )
    assert ("replayed" in again.certificate["run"], "replayed" in whole.certificate["run"]) == (
        True,
        has_ended,
    )
    assert again.sample(50, seed=1).equals(whole.sample(50, seed=1))


@pytest.mark.parametrize("unit", [None, "person"])
def test_learning_a_domain_goes_on_after_any_answer(path, unit, monkeypatch):
    people = frame(300)
    persons = {"unit": unit, "max_rows_per_unit": 2} if unit else {}
    if unit:
        people = people.assign(person=(np.arange(300) // 2).astype(str))

    def run():
        return synthdp.synthesize(
            people, kinds=KINDS, mechanism="independent", journal=path, **RUN, **persons
        )

    for n_answers in (2, 4):
        assert stops(run, n_answers)
    before = lines(path)
    whole = run()
    assert lines(path)[: len(before)] == before
    asked = [entry["asked"] for entry in answers(path)]
    partitions = [question for question in asked if question.startswith("partition selection")]
    # The values of numbers are found by histograms, those of others against a threshold.
    levels = [name for name, kind in KINDS.items() if kind not in ("date", "integer", "number")]
    assert partitions == [f"partition selection of {name}" for name in levels]
    assert len(whole.certificate["events"]) == len(answers(path))
    monkeypatch.setattr(CodedSource, "counts_of", None)
    untouchable = Untouchable()
    if unit:
        untouchable.is_by_unit, untouchable.most_values = True, lambda _grid: 2
    monkeypatch.setattr(held_table.HeldTable, "source", property(lambda _self: untouchable))
    again = run()
    assert again.schema.to_dict() == whole.schema.to_dict()
    assert of_the_release(again.certificate) == of_the_release(whole.certificate)


@pytest.mark.fresh_noise
def test_what_is_new_after_a_resumption_differs_from_resumption_to_resumption(path):
    def run():
        synthdp.synthesize(
            frame()[["u", "v", "w"]],
            SCHEMA,
            mechanism="gaussian",
            workload="2-way",
            journal=path,
            **RUN,
        )

    assert stops(run, 1)
    kept, found = path.read_bytes(), []
    for _ in range(2):
        path.write_bytes(kept)
        run()
        found.append([entry["numbers"] for entry in answers(path)])
    assert found[0][0] == found[1][0]
    assert found[0][1:] != found[1][1:]


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 1.1},
        {"delta": 1e-7},
        {"mechanism": "independent"},
        {"engine": "gum"},
        {"workload": "1-way"},
        {"target": "u"},
        {"adjacency": "replace-one"},
        {"accounting": "zcdp"},
        {"domain_share": 0.3},
        {"schema": {"fields": FIELDS[::-1]}},
        {
            "schema": {
                "fields": [
                    *FIELDS[:2],
                    FIELDS[2] | {"synthdp": {"derive": ["levels"]}, "constraints": {}},
                ]
            }
        },
    ],
    ids="-".join,
)
def test_a_run_that_is_another_is_refused_before_anything_is_read(path, change, monkeypatch):
    first = {"schema": SCHEMA, "mechanism": "gaussian", "accounting": "gdp"} | RUN
    people = frame()[["u", "v", "w"]]
    synthdp.synthesize(people, journal=path, **first)
    monkeypatch.setattr(held_table.HeldTableReader, "add", None)
    changed = first | change
    if "fields" in change.get("schema", {}) and change["schema"]["fields"][0] == FIELDS[2]:
        people = people[["w", "v", "u"]]
    (name,) = change
    with pytest.raises(ParameterError, match=f"of another run: .*{name}"):
        synthdp.synthesize(people, journal=path, **changed)


def test_noise_that_is_not_private_makes_another_run(path):
    from oracles.privacy import Seeded

    schema = OpenSchema.from_schema(Schema.from_dict(SCHEMA))
    settings = RUN | {"mechanism": "independent", "adjacency": "add-remove"}
    with Release(schema=schema, randomness=Seeded(1), settings=RunSettings(**settings)).kept(
        Persistence(journal=path)
    ):
        pass
    with (
        pytest.raises(ParameterError, match="randomness"),
        Release(schema=schema, settings=RunSettings(**settings)).kept(Persistence(journal=path)),
    ):
        pass


def test_a_run_that_asks_for_less_than_its_journal_holds_is_refused(path):
    run = {"schema": SCHEMA, "mechanism": "independent", "journal": path} | RUN
    synthdp.synthesize(frame()[["u", "v", "w"]], **run)
    with Journal(path, answers_settings(path)) as journal:
        journal._file.append(journal._file.entry(1))
    with pytest.raises(PrivacyError, match=r"holds \d answers more"):
        synthdp.synthesize(frame()[["u", "v", "w"]], **run)


def answers_settings(path):
    return json.loads(lines(path)[0])["entry"]["settings"]


# --- with a budget --------------------------------------------------------------------------------


@pytest.fixture
def budget(tmp_path):
    return Budget.create(tmp_path / "budget", epsilon=1.0, delta=1e-6, population="people")


def charged(budget, path, **options):
    run = (
        {"schema": SCHEMA, "mechanism": "independent", "journal": path, "budget": budget}
        | RUN
        | options
    )
    return synthdp.synthesize(frame()[["u", "v", "w"]], **run)


def kinds(budget):
    return [entry["kind"] for entry in budget.show()["entries"]]


def assert_goes_on(budget, path, monkeypatch, *, after):
    """A run that is stopped by what was patched is charged once, and goes on to its end."""
    with pytest.raises(after):
        charged(budget, path)
    monkeypatch.undo()
    charged(budget, path)
    assert kinds(budget) == ["run", "end"]


def test_a_run_is_charged_once_however_often_it_is_stopped(budget, path):
    for _ in range(2):
        assert stops(lambda: charged(budget, path), 1)
        assert kinds(budget) == ["run"]
        assert len(budget.show()["unfinished_runs"]) == 1
    charged(budget, path, budget_note="not read any more")
    assert kinds(budget) == ["run", "end"]
    assert budget.show()["unfinished_runs"] == []
    charged(budget.path, path)
    assert kinds(budget) == ["run", "end"]
    with pytest.raises(PrivacyError, match=r"costs rho .* but only 0 is left"):
        charged(budget, path.with_name("another"))
    assert not path.with_name("another").exists()


def test_it_is_charged_when_all_rows_were_read_and_before_the_first_question(
    budget, path, monkeypatch
):
    def fails(_self, _frame):
        raise StopError

    def answered(_self, _question, _n_numbers):
        assert kinds(budget) == ["run"]
        raise StopError

    monkeypatch.setattr(held_table.HeldTableReader, "add", fails)
    with pytest.raises(StopError):
        charged(budget, path)
    assert kinds(budget) == []
    assert not path.exists()
    monkeypatch.undo()
    monkeypatch.setattr(Journal, "get", answered)
    assert_goes_on(budget, path, monkeypatch, after=StopError)


def test_what_a_budget_cannot_pay_is_refused_before_a_row_is_read(budget, path, monkeypatch):
    charged(budget, path)
    monkeypatch.setattr(held_table.HeldTableReader, "add", None)
    with pytest.raises(PrivacyError, match=r"costs rho .* but only 0 is left"):
        charged(budget, path.with_name("another"))


def test_a_charge_that_fails_on_the_disk_asks_nothing(budget, path, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    Journal(path, {}).close()
    path.unlink()
    monkeypatch.setattr(Journal, "get", None)
    append = Budget._append

    def failing(*arguments):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("os.fsync", full)
            append(*arguments)

    monkeypatch.setattr(Budget, "_append", failing)
    with pytest.raises(DataFileError, match=r"budget .* it cannot be written: no space"):
        charged(budget, path)
    assert kinds(budget) == []
    monkeypatch.undo()
    charged(budget, path)


def test_an_older_copy_of_a_journal_whose_run_has_ended_is_refused(budget, path):
    assert stops(lambda: charged(budget, path), 1)
    older = path.read_bytes()
    charged(budget, path)
    path.write_bytes(older)
    with pytest.raises(
        PrivacyError, match="has ended with other answers, so this is an older copy"
    ):
        charged(budget, path)
    assert path.read_bytes() == older, "what was paid for stays, though the run is refused"


def test_an_interrupt_after_the_charge_leaves_the_journal_that_is_charged(
    budget, path, monkeypatch
):
    append = Budget._append

    def interrupted(*arguments):
        append(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(Budget, "_append", interrupted)
    assert_goes_on(budget, path, monkeypatch, after=KeyboardInterrupt)


def test_a_note_without_a_budget_is_refused_for_nothing_would_be_charged(path):
    with pytest.raises(ParameterError, match="budget_note is given without budget"):
        charged(None, path, budget_note="teaching")
    assert not path.exists()


def meanwhile(monkeypatch, something):
    """Do something once, after the next answer was kept."""
    keep = Journal.keep

    def keeping(self, question, answer):
        keep(self, question, answer)
        monkeypatch.setattr(Journal, "keep", keep)
        something()

    monkeypatch.setattr(Journal, "keep", keeping)


def test_two_copies_of_a_journal_that_go_on_at_once_are_noticed(budget, path, monkeypatch):
    assert stops(lambda: charged(budget, path), 1)
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    meanwhile(monkeypatch, lambda: charged(budget, path))
    with pytest.raises(PrivacyError, match=r"'.*copy' has ended with other answers"):
        charged(budget, copy)
    assert kinds(budget) == ["run", "end"]


def test_a_charge_that_is_gone_when_the_run_ends_is_noticed(budget, path, monkeypatch):
    before = Path(budget.path).read_bytes()
    meanwhile(monkeypatch, lambda: Path(budget.path).write_bytes(before))
    with pytest.raises(PrivacyError, match=r"the charge for the run of journal .* is gone"):
        charged(budget, path)
    charged(budget, path)
    assert kinds(budget) == ["run", "end"]


def test_a_budget_needs_a_journal(budget):
    with pytest.raises(ParameterError, match="budget is given without journal"):
        charged(budget, None)


def test_a_run_whose_journal_is_closed_asks_nothing_more(path):
    """Its answers would be kept nowhere; what was kept can still be asked."""
    release = Release(schema=SCHEMA, settings=RunSettings(mechanism="independent", **RUN))
    rows = held_rows(opened(frame()[["u", "v", "w"]]).frame, OpenSchema.from_dict(SCHEMA))
    with release.kept(Persistence(journal=path)):
        released = release.of(rows)
    assert release.run.identity.run == released.certificate["run"]["id"]
    spent = release.ledger.spent
    with pytest.raises(ParameterError, match=r"closed, .* make a new Release"):
        release.of(rows)
    assert release.ledger.spent == spent
