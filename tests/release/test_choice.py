"""Private choice among models of one release: what it takes, what it costs, and what it tells."""

from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations
from typing import final

import numpy as np
import pytest
from helpers import audited_runs
from helpers.chosen_runs import LEVELS, SCHEMA, people
from helpers.cli_runs import invoke
from helpers.homes import home
from helpers.non_interference import differences, of_call, replayed
from helpers.stopped_runs import stops

import synthdp
from synthdp import privacy
from synthdp.core import Domain, ParameterError, PrivacyError, all_k_way
from synthdp.data import CodedSource, CodedTable
from synthdp.inference import (
    AdaptiveDescent,
    Engine,
    GraphicalModelEngine,
    MixtureEngine,
    MixtureModel,
)
from synthdp.release import ENGINES, candidates_of, chosen_place, labelled
from synthdp.report import choice_line

N = 1500
RUN = {"epsilon": 20.0, "delta": 1e-6, "mechanism": "mst", "quality_share": 0}
WRONG = {"engine": "columns", "choose": ["graphical-model"]}
"""A default that is far off, as all columns hang together, beside one that is right."""


@cache
def of_a_wrong_default():
    """Read by several tests."""
    return released(**WRONG)


def released(frame=None, **options):
    return synthdp.synthesize(people(N) if frame is None else frame, SCHEMA, **(RUN | options))


def scores_of(synthesis):
    return [each for each in synthesis.certificate["events"] if each["event"] == "scores"][
        -2 * len(synthesis.certificate["choice"]["candidates"]) :
    ]


# ---- what it takes


def test_a_default_that_is_wrong_is_left_and_one_that_is_right_stays():
    wrong = of_a_wrong_default().certificate
    assert wrong["choice"]["default"] == "columns"
    assert wrong["choice"]["chosen"] == wrong["engine"]["name"] == "graphical-model"
    right = released(engine="graphical-model", choose="columns").certificate
    assert right["choice"]["chosen"] == right["engine"]["name"] == "graphical-model"


def test_errors_are_those_of_the_tables_that_models_draw():
    real, synthesis = people(N), of_a_wrong_default()
    choice = synthesis.certificate["choice"]
    assert [each["engine"] for each in choice["candidates"]] == ["columns", "graphical-model"]
    for each in choice["candidates"]:
        drawn = synthesis.refit(each["engine"]).sample(seed=0)
        means = [
            np.mean([_distance(real, drawn, columns) for columns in combinations(LEVELS, k)])
            for k in (2, 3)
        ]
        assert abs(each["error"] - np.mean(means)) < 7 * choice["stddev"]


def _distance(real, drawn, columns):
    shares = [frame[list(columns)].value_counts(normalize=True) for frame in (real, drawn)]
    return float(shares[0].subtract(shares[1], fill_value=0).abs().sum() / 2)


@pytest.mark.parametrize("n_others", [1, 3])
def test_a_worse_model_is_taken_as_seldom_as_is_stated(n_others):
    """Models of the same error: noise alone prefers one in at most 2.3 % for each."""
    noise = np.random.default_rng(0).normal(0.1, 0.01, (20_000, n_others + 1))
    taken = np.mean([chosen_place(each, 0.01) > 0 for each in noise.tolist()])
    assert 0.015 < taken < 0.0228 * n_others + 0.005


def test_models_that_draw_the_same_table_are_one_candidate():
    synthesis = released(engine="graphical-model", choose=["auto", "direct", "columns"])
    names = [each["engine"] for each in synthesis.certificate["choice"]["candidates"]]
    assert names[0] == "graphical-model"
    assert "auto" not in names
    assert "columns" in names
    alone = released(engine="graphical-model", choose=["auto"], quality_share=0.1).certificate
    assert alone["choice"]["candidates"] == [{"engine": "graphical-model", "error": None}]
    assert "no other model" in choice_line(alone)
    # Nothing is asked, and quality has what that would have cost.
    asked = [each["rho"] for each in alone["events"] if each["event"] == "scores"]
    assert sum(asked) == pytest.approx(0.12 * alone["accounting"]["rho_budget"])
    assert alone["accounting"]["rho_left"] == 0


def test_an_engine_that_cannot_fit_is_left_out():
    synthesis = released(choose=[GraphicalModelEngine(max_cells=2), "columns"])
    choice = synthesis.certificate["choice"]
    assert choice["left_out"] == ["graphical-model(max_cells=2)"]
    assert choice["chosen"] == "auto"


def test_a_small_grid_of_parameters_is_a_choice():
    grid = [MixtureEngine(n_components=n) for n in (1, 20)]
    synthesis = released(engine="columns", choose=grid)
    chosen = synthesis.certificate["choice"]
    assert chosen["chosen"] == "mixture-of-products(n_components=20)"
    errors = {each["engine"]: each["error"] for each in chosen["candidates"]}
    assert errors["mixture-of-products(n_components=1)"] > 2 * errors[chosen["chosen"]]


def test_what_is_standard_is_quick_and_differs():
    names = [engine.name for engine in candidates_of("standard")]
    assert len(set(names)) == len(names)
    assert set(names) <= {*ENGINES, "columns"}
    assert "graphical-model(max_cells=16384)" in map(labelled, candidates_of("standard"))


def test_errors_are_shares_of_one_number_of_records():
    """A model that believes in twice as many records as there are draws the same distribution: its
    error is the same, in the same unit, with the same noise.
    """
    choice = released(engine="graphical-model", choose=[_Doubled(), "columns"]).certificate[
        "choice"
    ]
    errors = {each["engine"]: each["error"] for each in choice["candidates"]}
    tolerance = 0.02 + 7 * choice["stddev"]
    assert abs(errors["doubled"] - errors["graphical-model"]) < tolerance
    assert errors["columns"] > errors["graphical-model"] + tolerance


@final
@dataclass(frozen=True, kw_only=True)
class _Doubled(Engine):
    """Fits what was measured as the graphical model does, of twice as many records."""

    name = "doubled"

    def fit(self, problem):
        twice = [
            replace(each, values=2 * each.values, stddev=2 * each.stddev)
            for each in problem.measurements
        ]
        return GraphicalModelEngine().fit(replace(problem, measurements=twice))


@pytest.mark.parametrize("error", [FloatingPointError, MemoryError, np.linalg.LinAlgError])
@pytest.mark.parametrize("step", ["fit", "sample"])
def test_an_engine_that_fails_costs_nobody_the_release(monkeypatch, step, error):
    def fail(*_args, **_options):
        raise error

    if step == "fit":
        monkeypatch.setattr(MixtureEngine, "fit", fail)
    else:
        monkeypatch.setattr(MixtureModel, "sample", fail)
    synthesis = released(engine="graphical-model", choose=["mixture-of-products"])
    assert synthesis.certificate["choice"]["left_out"] == ["mixture-of-products"]
    assert len(synthesis.sample(seed=0)) > 0


# ---- what it costs


@pytest.mark.parametrize(
    ("options", "sensitivity"),
    [
        ({"accounting": "zcdp"}, 1),
        ({"accounting": "gdp", "adjacency": "replace-one"}, 2),
        ({"accounting": "gdp", "unit": "person", "max_rows_per_unit": 3}, 3),
    ],
)
def test_all_of_it_is_charged_by_its_sensitivity(options, sensitivity):
    frame = people(300).assign(person=np.arange(300) // 2)
    synthesis = released(
        frame if "unit" in options else frame.drop(columns="person"),
        **WRONG | {"mechanism": "gaussian"},
        **options,
    )
    accounted, scores = synthesis.certificate["accounting"], scores_of(synthesis)
    assert accounted["rho_left"] == 0
    assert {event["sensitivity"] for event in scores} == {sensitivity}
    assert sum(event["rho"] for event in scores) == pytest.approx(0.02 * accounted["rho_budget"])


def test_nothing_is_asked_without_an_event():
    asked, paid = audited_runs.asked_and_paid(partial(released, **WRONG, mechanism="gaussian"))
    assert asked == paid > 0


def test_a_choice_that_is_not_paid_for_is_found(monkeypatch):
    charge = privacy.PrivacyLedger.charge

    def forget(self, event):
        if not isinstance(event, privacy.ScoresEvent):
            charge(self, event)

    monkeypatch.setattr(privacy.PrivacyLedger, "charge", forget)
    asked, paid = audited_runs.asked_and_paid(partial(released, **WRONG, mechanism="gaussian"))
    assert asked > paid


@pytest.mark.parametrize(
    ("adjacency", "claimed"),
    [(privacy.Adjacency.ADD_REMOVE, 1.0), (privacy.Adjacency.REPLACE_ONE, 2.0)],
)
def test_no_neighbour_moves_a_score_by_more_than_is_claimed(adjacency, claimed):
    """Brute force over all neighbours of small tables. The claim is reached, so that half of it is
    refuted: under replace-one a score moves by 2, not 1.
    """
    domain = Domain(("a", "b", "c"), (2, 3, 2))
    cliques = [*all_k_way(domain.attributes, 2), *all_k_way(domain.attributes, 3)]
    rows = list(np.ndindex(2, 3, 2))
    rng = np.random.default_rng(1)
    ledger = privacy.PrivacyLedger(epsilon=1, delta=1e-6, adjacency=adjacency)
    largest = 0.0
    for _ in range(4):
        table = [rows[place] for place in rng.integers(len(rows), size=5)]
        estimate = rng.uniform(0, 2, (2, 3, 2))
        score = privacy.MarginalL1Error(
            {clique: _summed(estimate, domain, clique) for clique in cliques}
        )
        before = _score(score, table, domain, cliques)
        without = [table[:place] + table[place + 1 :] for place in range(5)]
        others = [[*table, row] for row in rows] + without
        if adjacency is privacy.Adjacency.REPLACE_ONE:
            others = [[*rest, row] for rest in without for row in rows]
        moved = [abs(_score(score, other, domain, cliques) - before) for other in others]
        assert score.sensitivity(cliques, ledger.unit) == claimed
        assert max(moved) <= claimed * (1 + 1e-9)
        largest = max(largest, *moved)
    assert largest > 0.75 * claimed


def _summed(table, domain, clique):
    left_out = [axis for axis, name in enumerate(domain.attributes) if name not in clique]
    return table.sum(axis=tuple(left_out))


def _score(score, rows, domain, cliques):
    """The mean of the means over pairs and over triples, in records."""
    columns = np.array(rows).reshape(-1, 3).T
    counted = CodedSource(CodedTable(domain, tuple(column.astype(np.uint8) for column in columns)))
    errors = {
        clique: score.error(clique, counts) / 2**10
        for clique, counts in zip(cliques, counted.counts_of(cliques), strict=True)
    }
    by_size = [[error for clique, error in errors.items() if len(clique) == k] for k in (2, 3)]
    return np.mean([np.mean(each) for each in by_size])


OF_ENGINES = {"mechanism": "gaussian", "engine": "columns", "choose": "direct"}
OF_MECHANISMS = {"mechanism": "independent,gaussian"}
BOTH = pytest.mark.parametrize(
    "choice_of", [OF_ENGINES, OF_MECHANISMS], ids=["engines", "mechanisms"]
)


def audited(case, choice_of):
    """What the audit says of a choice, and of the same with a neighbour's answers."""
    found, choice = audited_runs.problems(
        case, "choice", asked="Scores", quality_share=0, **choice_of
    )
    assert len(choice["candidates"]) == 2
    return found


@BOTH
@pytest.mark.parametrize("case", audited_runs.PAIRS)
def test_the_audit_finds_nothing(case, choice_of):
    assert audited(case, choice_of) == []


@BOTH
@pytest.mark.parametrize("case", ["replace-one", "persons"])
def test_a_sensitivity_of_one_record_is_noticed_where_it_is_more(monkeypatch, case, choice_of):
    monkeypatch.setattr(privacy.PrivacyUnit, "marginal_l1", property(lambda _unit: 1))
    assert audited(case, choice_of)


# ---- what it tells


@pytest.mark.usefixtures("one_run")  # a hash in a certificate differs where a second does
def test_a_replay_tells_nothing_of_the_records(tmp_path):
    def run(place, table):
        return of_call(
            lambda: released(table, **WRONG, quality_share=0.01, journal=place / "journal"), place
        )

    tables = {"given": people(200), "none": people(0), "one": people(1)}
    assert differences(replayed(tmp_path, "journal", run, tables)) == []


@pytest.mark.usefixtures("one_run")
def test_a_choice_by_the_records_themselves_is_found(tmp_path, monkeypatch):
    """As the test before, where scores are exact and no answer of the journal."""

    def exact(self, candidates, *, score, rho):
        counts = self._source.counts_of(list(candidates))
        del rho
        return {
            clique: float(np.abs(table - score.estimates[clique]).sum())
            for clique, table in zip(candidates, counts, strict=True)
        }

    monkeypatch.setattr(home(privacy.PrivateTable).PrivateTable, "scores", exact)
    with pytest.raises(AssertionError):
        test_a_replay_tells_nothing_of_the_records(tmp_path)


def test_the_same_is_asked_where_noise_hides_how_many_records_there_are():
    options = WRONG | {"mechanism": "gaussian"}
    few, many = released(people(30), epsilon=0.02, **options), released(**options)
    events = [[each["event"] for each in run.certificate["events"]] for run in (few, many)]
    assert events[0] == events[1]
    choice = few.certificate["choice"]
    assert choice["chosen"] == choice["default"] == "columns"
    assert choice["stddev"] is None
    assert "noise hides" in choice_line(few.certificate)


def test_a_run_that_goes_on_chooses_the_same(tmp_path):
    path = tmp_path / "run.journal"

    def run(**more):
        return released(**WRONG | {"mechanism": "gaussian"} | more, journal=path)

    assert stops(run, 5)  # of four answers that it chooses by, one or two are there
    choice = run().certificate["choice"]
    assert choice["chosen"] == "graphical-model"
    with pytest.warns(synthdp.CautionWarning, match="all answers were there"):
        assert run().certificate["choice"] == choice
    with pytest.raises((ParameterError, PrivacyError), match="journal"):
        run(choose=["direct"])


# ---- what comes after


def test_quality_is_of_the_model_that_was_taken():
    synthesis = released(**WRONG, quality_share=0.1)
    drawn, quality = synthesis.sample(seed=0), synthesis.quality
    pairs = [_distance(people(N), drawn, columns) for columns in combinations(LEVELS, 2)]
    assert abs(quality["pairs"]["error"] - np.mean(pairs)) < 7 * quality["pairs"]["stddev"]
    assert np.mean(pairs) < 0.1


def test_a_model_of_columns_is_kept_replicated_and_replaced(tmp_path):
    synthesis = released(engine="columns")
    synthesis.save(tmp_path / "it.synthdp")
    again = synthdp.load(tmp_path / "it.synthdp")
    independent = (
        np.outer(*(again.marginal([name]).to_numpy() for name in "ab")) / again.model.total
    )
    assert np.abs(again.marginal(["a", "b"]).to_numpy() - independent.ravel()).max() < 1e-6 * N
    assert again.replicates(2, seed=0) is not None
    chosen = of_a_wrong_default().refit("columns").certificate
    assert "choice" not in chosen


def test_parameters_of_what_was_chosen_are_those_of_replicates(tmp_path):
    """With its default parameters the mixture follows what one component cannot."""
    assert (people(N)["a"] == people(N)["b"]).mean() > 0.7
    one = MixtureEngine(n_components=1)
    synthesis = released(engine=one, choose=[MixtureEngine(n_components=2, seed=3)])
    assert synthesis.certificate["engine"]["parameters"] == {"n_components": 2, "seed": 3}
    synthesis = released(engine=one)
    synthesis.save(tmp_path / "it.synthdp")
    for kept in (synthesis, synthdp.load(tmp_path / "it.synthdp")):
        table = kept.replicates(2, seed=0)[0]
        # Of the records three quarters have a = b; were columns independent, less than a third.
        assert (table["a"] == table["b"]).mean() < 0.4
    assert "parameters" not in released().certificate["engine"]


def test_parameters_that_no_certificate_holds_are_not_forgotten():
    engine = MixtureEngine(driver=AdaptiveDescent(learning_rate=0.2))
    with pytest.raises(ParameterError, match="give engine="):
        released(engine=engine).replicates(2)
    assert released(engine=engine).replicates(2, engine="direct", seed=0) is not None


def test_a_rescued_release_says_that_nothing_was_chosen(tmp_path):
    path = tmp_path / "run.journal"
    released(**WRONG, journal=path)
    assert any(
        "without a choice" in each for each in synthdp.from_journal(path).certificate["cautions"]
    )
    released(journal=tmp_path / "other.journal")
    other = synthdp.from_journal(tmp_path / "other.journal").certificate
    assert not any("without a choice" in each for each in other["cautions"])


def test_whoever_asks_which_engines_there_are_is_told_of_all_that_have_a_name():
    with pytest.raises(ParameterError) as refused:
        released(engine="nonsense")
    assert "columns" in str(refused.value)
    assert "columns" in invoke("refit", "--help-all").out.decode()


def test_the_shell_says_what_was_chosen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people(N).to_csv("in.csv", index=False)
    synthdp.Schema.from_dict(SCHEMA).save("schema.json")
    budget = ("--epsilon", "20", "--delta", "1e-6", "--mechanism", "mst", "--engine", "columns")
    arguments = ("run", "in.csv", "-s", "schema.json", "-o", "out.csv", *budget)
    outcome = invoke(*arguments, "--choose", "direct, graphical-model")
    assert outcome.code == 0, outcome.err
    assert "synthdp: chosen: direct: columns " in outcome.err.replace(
        "graphical-model: c", "direct: c"
    )
    shown = invoke("show", "out.csv.privacy.json")
    assert b"chosen model" in shown.out


@pytest.mark.parametrize(
    ("choose", "message"),
    [
        ([], "give 'standard'"),
        (7, "give 'standard'"),
        ("gum,nonsense", "'nonsense' is unknown"),
        (["gum"] * 13, "at most 12"),
        ([7], "give the name of an engine"),
    ],
)
def test_what_is_no_choice_is_refused(choose, message):
    with pytest.raises(ParameterError, match=message):
        released(choose=choose)


def test_a_package_and_an_order_have_no_choice():
    frame = people(100).assign(person=np.arange(100) // 2)
    with pytest.raises(ParameterError, match="choose does not go with order"):
        released(
            frame,
            unit="person",
            max_rows_per_unit=2,
            order="c",
            choose="standard",
            quality_share=0.01,
        )
