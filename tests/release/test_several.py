"""Several mechanisms in one release: what each measures, what it costs, and which model is taken."""

from dataclasses import dataclass
from typing import final

import numpy as np
import pandas as pd
import pytest
from helpers import audited_runs
from helpers.chosen_runs import LEVELS, SCHEMA, people
from helpers.cli_runs import invoke
from helpers.homes import home
from helpers.non_interference import differences, of_call, replayed
from helpers.stopped_runs import stops

import synthdp
from synthdp.core import ParameterError, PrivacyError
from synthdp.inference import MixtureEngine
from synthdp.mechanisms import MST, Auto, Gaussian, Independent, Mechanism, Several, TablePart
from synthdp.privacy import Accounting, PrivacyLedger, ScoresEvent
from synthdp.release import chosen_model

N = 1000
RUN = {"epsilon": 20.0, "delta": 1e-6, "quality_share": 0, "mechanism": "independent, gaussian"}


def released(frame=None, **options):
    return synthdp.synthesize(people(N) if frame is None else frame, SCHEMA, **(RUN | options))


@pytest.fixture
def takes_the_first(monkeypatch):
    """Of all models the one by what the first mechanism measured is taken, whatever its error."""
    monkeypatch.setattr(home(chosen_model), "chosen_place", lambda *_: 1)


# ---- what each measures


def test_all_that_was_measured_is_fitted_and_held_against_the_parts():
    synthesis = released()
    found = synthesis.certificate["findings"]["mechanisms"]
    assert [each["mechanism"] for each in found] == ["independent", "gaussian"]
    assert sum(each["n_measurements"] for each in found) == len(synthesis.measurements)
    choice = synthesis.certificate["choice"]
    assert choice["chosen"] == choice["default"] == "auto"
    errors = {each["engine"]: each["error"] for each in choice["candidates"]}
    assert errors["independent alone"] > errors["auto"] + 0.2


def test_each_has_an_equal_part_of_the_budget():
    synthesis = released(quality_share=0.1)
    first, second = (
        each["n_measurements"] for each in synthesis.certificate["findings"]["mechanisms"]
    )
    events = synthesis.certificate["events"]
    costs = [event["rho"] for event in events if event["event"] == "marginal"]
    # Before them all columns were looked at.
    looks, costs = costs[: -first - second], costs[-first - second :]
    budget = synthesis.certificate["accounting"]["rho_budget"]
    # A tenth measures quality, a fiftieth chooses, and the look is no part of either.
    part = (0.88 * budget - sum(looks)) / 2
    for spent in (costs[:first], costs[first:]):
        assert sum(spent) == pytest.approx(part)
    assert synthesis.certificate["accounting"]["rho_left"] == 0


def test_what_was_measured_of_a_column_before_is_known_to_the_next():
    seen = []

    class Watching(MST):
        def release(self, table, task):
            model = super().release(table, task)
            assert isinstance(table, TablePart)
            seen.extend(table.released)
            return model

    synthesis = released(mechanism=[Independent(), Watching()])
    n_first = synthesis.certificate["findings"]["mechanisms"][0]["n_measurements"]
    first, own = synthesis.measurements[:n_first], synthesis.measurements[n_first:]
    assert [each.clique for each in seen] == [each.clique for each in own]
    before = {each.clique: each for each in first}
    assert len([each for each in own if each.clique in before]) == len(LEVELS)
    for joined, alone in zip(seen, own, strict=True):
        if alone.clique not in before:
            assert np.array_equal(joined.values, alone.values)
            assert joined.stddev == alone.stddev
            continue
        weights = np.array([1 / alone.stddev**2, 1 / before[alone.clique].stddev ** 2])
        both = np.array([alone.values, before[alone.clique].values])
        assert joined.values == pytest.approx(weights @ both / weights.sum())
        assert joined.stddev == pytest.approx(1 / np.sqrt(weights.sum()))


def test_a_grid_of_parameters_is_a_choice():
    synthesis = released(mechanism=[MST(), MST(rare_threshold=50)])
    choice = synthesis.certificate["choice"]
    names = {each["engine"] for each in choice["candidates"]} | set(choice["left_out"])
    assert names <= {"auto", "mst alone", "mst(rare_threshold=50) alone"}
    assert "mst(rare_threshold=50) alone" in names
    stated = synthesis.certificate["mechanism"]["parameters"]["mechanisms"]
    assert [each["parameters"]["rare_threshold"] for each in stated] == [3, 50]


@pytest.mark.usefixtures("takes_the_first")
def test_a_model_by_one_of_them_is_a_release_of_its_measurements(tmp_path):
    synthesis = released(quality_share=0.1)
    assert synthesis.certificate["choice"]["chosen"] == "independent alone"
    assert {len(each.clique) for each in synthesis.measurements} == {1}
    synthesis.save(tmp_path / "it.synthdp")
    again = synthdp.load(tmp_path / "it.synthdp")
    assert again.sample(seed=0).equals(synthesis.sample(seed=0))
    for table in (synthesis.sample(seed=0), again.replicates(2, seed=0)[0]):
        assert (table["a"] == table["b"]).mean() < 0.4  # of the records three quarters
    assert synthesis.quality["pairs"]["error"] > 0.2


def test_what_fits_all_of_it_is_quick_unless_all_are_meant_for_another():
    assert Several(mechanisms=(Independent(), MST())).default_engine == "auto"
    assert Several(mechanisms=(Auto(), MST())).default_engine == "layered-consistency"


def test_other_engines_fit_all_of_it():
    choice = released(choose=[MixtureEngine(n_components=1)]).certificate["choice"]
    names = [each["engine"] for each in choice["candidates"]]
    assert names[0] == "auto"
    assert names[-1] == "mixture-of-products(n_components=1)"


# ---- what it costs


@pytest.mark.parametrize(
    ("options", "sensitivity"),
    [
        ({"accounting": "zcdp"}, 1),
        ({"adjacency": "replace-one"}, 2),
        ({"unit": "person", "max_rows_per_unit": 3}, 3),
    ],
)
def test_all_of_it_is_charged_by_its_sensitivity(options, sensitivity):
    frame = people(300).assign(person=np.arange(300) // 2)
    certificate = released(
        frame if "unit" in options else frame.drop(columns="person"), **options
    ).certificate
    accounted = certificate["accounting"]
    assert accounted["rho_left"] == 0
    assert sum(event["rho"] for event in certificate["events"]) == pytest.approx(
        accounted["rho_budget"]
    )
    scores = [event for event in certificate["events"] if event["event"] == "scores"]
    assert {event["sensitivity"] for event in scores} == {sensitivity}
    assert sum(event["rho"] for event in scores) == pytest.approx(0.02 * accounted["rho_budget"])


def test_all_are_gaussian_or_none_is():
    assert Several(mechanisms=(Independent(), Gaussian())).is_gaussian
    mixed = Several(mechanisms=(Gaussian(), MST()))
    assert not mixed.is_gaussian
    assert mixed.default_accounting is Accounting.ZCDP
    with pytest.raises(ParameterError, match="give 'zcdp'"):
        released(mechanism="gaussian,mst", accounting="gdp")


def test_nothing_is_asked_without_an_event():
    asked, paid = audited_runs.asked_and_paid(released)
    assert asked == paid > 0


@pytest.mark.parametrize("forgotten", ["scores", "marginal"])
def test_a_part_that_is_not_paid_for_is_found(monkeypatch, forgotten):
    charge = PrivacyLedger.charge

    def forget(self, event):
        if isinstance(event, ScoresEvent) != (forgotten == "scores"):
            charge(self, event)

    monkeypatch.setattr(PrivacyLedger, "charge", forget)
    try:
        asked, paid = audited_runs.asked_and_paid(released)
    except ParameterError:
        return  # nothing was measured, as far as the run knows
    assert asked > paid


def test_what_is_left_over_goes_to_the_next():
    seen = []

    @final
    @dataclass(frozen=True, kw_only=True)
    class Modest(Mechanism):
        """Spends half of what it may."""

        name = "modest"
        reference = "none"
        times: int = 1

        def release(self, table, task):
            seen.append(table.ledger.remaining)
            table.measure(("a",), rho=seen[-1] / 2)
            return task.fit(table.domain)(table.released)

    released(mechanism=[Modest(), Modest(times=2), Independent()])
    first, second = seen
    # A third of all, then half of what is left of it.
    assert second == (3 * first - first / 2) / 2


# ---- what it tells


@pytest.mark.usefixtures("one_run")
def test_a_replay_tells_nothing_of_the_records(tmp_path):
    def run(place, table):
        return of_call(
            lambda: released(table, quality_share=0.01, journal=place / "journal"), place
        )

    tables = {"given": people(200), "none": people(0), "one": people(1)}
    assert differences(replayed(tmp_path, "journal", run, tables)) == []


def test_a_run_that_goes_on_releases_the_same(tmp_path):
    path = tmp_path / "run.journal"

    def run(**more):
        return released(**more, journal=path)

    assert stops(run, 5)  # the second one has begun
    choice = run().certificate["choice"]
    with pytest.warns(synthdp.CautionWarning, match="all answers were there"):
        assert run().certificate["choice"] == choice
    with pytest.raises((ParameterError, PrivacyError), match="journal"):
        run(mechanism="gaussian, independent")
    assert any(
        "without a choice" in each for each in synthdp.from_journal(path).certificate["cautions"]
    )


# ---- what is refused, and the shell


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mechanism": ["mst"]}, "give 2 to 6"),
        ({"mechanism": ["mst"] * 7}, "give 2 to 6"),
        ({"mechanism": "mst, mst"}, "name each once"),
        ({"mechanism": "mst, nonsense"}, "'nonsense' is unknown"),
        ({"mechanism": ["mst", ["aim", "gaussian"]]}, "give one list"),
        ({"engine": "graphical-model"}, "may be too large"),
        ({"unit": "a", "max_rows_per_unit": 2, "order": "c", "quality_share": 0.01}, "name one"),
    ],
)
def test_what_does_not_go_together_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        released(**options)


def test_published_totals_go_with_several():
    known = pd.DataFrame({"c": [0, 1], "count": [333, 667]})
    synthesis = released(known=[known])
    assert synthesis.certificate["accounting"]["rho_left"] == 0
    assert (synthesis.sample(1000, seed=0)["c"] == 0).sum() == pytest.approx(333, abs=2)


def test_the_shell_takes_names_with_commas(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people(N).to_csv("in.csv", index=False)
    synthdp.Schema.from_dict(SCHEMA).save("schema.json")
    outcome = invoke(
        *("run", "in.csv", "-s", "schema.json", "-o", "out.csv", "--epsilon", "20"),
        *("--delta", "1e-6", "--mechanism", "independent,gaussian"),
    )
    assert outcome.code == 0, outcome.err
    assert "synthdp: chosen: auto: auto " in outcome.err
    assert "independent alone" in outcome.err
    shown = invoke("show", "out.csv.privacy.json").out.decode()
    assert ", independent, gaussian, auto" in shown
