"""Prediction quality: what a release says of a model of its rows, against the records themselves."""

import numpy as np
import pandas as pd
import pytest
from helpers import audited_runs
from helpers.cli_runs import invoke

import synthdp
from synthdp.data import CodedSource, CodedTable, DerivedColumn
from synthdp.privacy import PrivacyLedger, PrivacyUnit
from synthdp.release import Predictor, Release, RunSettings, area, area_gradient

N = 3000
SCHEMA = {
    "fields": [
        {"name": "a", "type": "integer", "constraints": {"enum": [0, 1, 2], "required": True}},
        {"name": "b", "type": "integer", "constraints": {"enum": [0, 1, 2, 3], "required": True}},
        {"name": "sick", "type": "string", "constraints": {"enum": ["no", "yes"]}},
        {
            "name": "age",
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": 99},
            "synthdp": {"bins": 10},
        },
    ]
}
RUN = {"epsilon": 20.0, "delta": 1e-6, "target": "sick", "quality_share": 0.2}


def people(n=N):
    """Of which some are sick, more often the old ones; of some nobody knows, and of some it says
    nothing that can be read.
    """
    rng = np.random.default_rng(5)
    a, b, age = rng.integers(3, size=n), rng.integers(4, size=n), rng.integers(100, size=n)
    chance = 1 / (1 + np.exp(-(a - 1 + 0.5 * b + 0.05 * age - 4.5)))
    sick = np.where(rng.random(n) < chance, "yes", "no")
    sick = np.where(rng.random(n) < 0.05, "", np.where(rng.random(n) < 0.03, "?", sick))
    return pd.DataFrame({"a": a, "b": b, "sick": sick, "age": age})


def codes_of(synthesis, frame):
    schema = synthesis.schema
    return tuple(np.asarray(schema[name].encode(frame[name]), np.int64) for name in schema.names)


def predictor_of(synthesis, target="sick"):
    """The model that a release says it has measured, fitted anew to the rows that it names."""
    drawn = synthesis.sample(**synthesis.quality["table"])
    return Predictor.fitted(
        synthesis.schema, codes_of(synthesis, drawn), target, counted=synthesis.schema.domain
    )


def truth_of(synthesis, frame, predictor):
    """Score and label of every record with a value, and the chances of their bins."""
    frame = frame[frame["sick"].isin(["no", "yes"])]
    table = CodedTable(synthesis.schema.domain, codes_of(synthesis, frame))
    return predictor.score.codes(table).astype(int), frame["sick"] == "yes"


def brute_force_area(scores, labels):
    """The share of pairs of a sick and a healthy person that are in the right order."""
    sick, healthy = scores[labels][:, None], scores[~labels][None, :]
    return float((sick > healthy).mean() + (sick == healthy).mean() / 2)


def close(value, true, stddev):
    """Within seven standard deviations, which one run in 10^11 is not, and some for noise to the
    second order.
    """
    return abs(value - true) < 7 * stddev + 1e-3


def test_what_is_stated_is_true_of_the_records():
    synthesis = synthdp.synthesize(people(), SCHEMA, **RUN)
    said = synthesis.quality["prediction"]
    predictor = predictor_of(synthesis)
    scores, labels = truth_of(synthesis, people(), predictor)
    is_it = labels if said["positive"] == "sick is yes" else ~labels
    auc, accuracy, calibration = said["auc"], said["accuracy"], said["calibration"]
    assert close(auc["value"], brute_force_area(scores, is_it), auc["stddev"])
    right = (scores >= predictor.first_above) == is_it
    assert close(accuracy["value"], right.mean(), accuracy["stddev"])
    chances = predictor.chances[scores]
    difference = calibration["share"] - calibration["predicted"]
    assert close(difference, is_it.mean() - chances.mean(), calibration["stddev"])
    for place, each in enumerate(calibration["bins"]):
        if each["share"] is not None:
            there = is_it[scores == place]
            assert close(each["share"], there.mean(), each["stddev"])
    assert auc["value"] > 0.7  # it learnt something
    assert len(calibration["bins"]) <= 20


def test_errors_scatter_as_is_stated():
    """Squared scores of sixty releases: their mean is 1, and half and twice the noise are rejected."""
    frame, scores = people(), []
    for _ in range(60):
        synthesis = synthdp.synthesize(
            frame, SCHEMA, **RUN | {"epsilon": 3.0}, mechanism="independent"
        )
        said = synthesis.quality["prediction"]["accuracy"]
        predictor = predictor_of(synthesis)
        bins, labels = truth_of(synthesis, frame, predictor)
        is_it = labels if synthesis.quality["prediction"]["positive"].endswith("yes") else ~labels
        true = ((bins >= predictor.first_above) == is_it).mean()
        scores.append((said["value"] - true) / said["stddev"])
    # the 1e-10 quantiles of a chi-squared variable with 60 degrees of freedom over 60
    assert 0.18 < np.mean(np.square(scores)) < 2.45


def test_the_gradient_is_that_of_differences():
    rng = np.random.default_rng(0)
    counts = rng.uniform(20, 90, (6, 2))
    steps = []
    for cell in np.ndindex(counts.shape):
        moved = counts.copy()
        moved[cell] += 1e-4
        steps.append((area(*moved.T) - area(*counts.T)) / 1e-4)
    assert area_gradient(*counts.T) == pytest.approx(np.linalg.norm(steps), rel=1e-4)


@pytest.mark.parametrize(
    ("target", "positive"), [("a", "a is "), ("age", "age above ["), ("sick", "sick is ")]
)
def test_any_column_can_be_the_target(target, positive):
    synthesis = synthdp.synthesize(people(), SCHEMA, **RUN | {"target": target})
    assert synthesis.quality["prediction"]["positive"].startswith(positive)
    assert synthesis.certificate["accounting"]["rho_left"] == 0


def test_one_marginal_is_paid_for_and_nothing_else():
    plain = synthdp.synthesize(people(), SCHEMA, **RUN | {"target": None}, mechanism="independent")
    told = synthdp.synthesize(people(), SCHEMA, **RUN, mechanism="independent")
    assert "prediction" not in plain.quality
    events, others = told.certificate["events"], plain.certificate["events"]
    assert len(events) == len(others) + 1
    assert events[-1]["columns"] == ["score of sick", "label of sick"]
    rho = told.certificate["accounting"]["rho_budget"]
    assert events[-1]["rho"] == pytest.approx(0.2 * rho * 3 / 13)
    assert told.certificate["accounting"]["rho_left"] == 0
    assert len(told.measurements) == len(plain.measurements)


def test_where_noise_hides_either_label_that_is_said():
    synthesis = synthdp.synthesize(
        people(200), SCHEMA, epsilon=1, delta=1e-6, target="sick", quality_share=0.0001
    )
    said = synthesis.quality["prediction"]
    assert said["left_out"].startswith(("noise hides", "the synthetic rows have too few"))


def test_what_cannot_derive_columns_says_so():
    class Counts:
        """Counts, of records that are elsewhere."""

        def __init__(self, table):
            self._source = CodedSource(table)
            self.domain = table.domain

        def counts_of(self, cliques):
            return self._source.counts_of(cliques)

    schema = synthdp.Schema.from_dict(SCHEMA)
    rng = np.random.default_rng(0)
    codes = tuple(rng.integers(size, size=500) for size in schema.domain.shape)
    run = Release(schema=schema, settings=RunSettings(**RUN))
    synthesis = run.of(Counts(CodedTable(schema.domain, codes)))
    assert "knows no derived columns" in synthesis.quality["prediction"]["left_out"]


def test_it_stands_in_the_line_of_a_run_and_in_show(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people().replace("?", "no").to_csv("in.csv", index=False)
    synthdp.Schema.from_dict(SCHEMA).save("schema.json")
    budget = ("--epsilon", "20", "--delta", "1e-6", "--save", "m.synthdp", "--target", "sick")
    outcome = invoke("run", "in.csv", "-s", "schema.json", *budget, "-o", "out.csv")
    assert outcome.code == 0
    (line,) = [each for each in outcome.err.splitlines() if each.startswith("synthdp: quality: ")]
    assert line.endswith(" for sick")
    assert "; AUC " in line
    shown = invoke("show", "m.synthdp", "--all").out
    assert "by a logistic regression on the levels of the other columns" in str(shown)


# ---- the audit


def problems(case):
    """What an audit says of a run with quality and prediction, and of its replay on a neighbour."""
    found, quality = audited_runs.problems(
        case,
        "quality",
        asked="score of c",
        mechanism="independent",
        engine="direct",
        target="c",
        quality_share=0.5,
    )
    assert "auc" in quality["prediction"] or "left_out" in quality["prediction"]
    return found


@pytest.mark.parametrize("case", audited_runs.PAIRS)
def test_the_audit_finds_nothing(case):
    assert problems(case) == []


def test_unpaid_prediction_is_noticed(monkeypatch):
    charge = PrivacyLedger.charge

    def unpaid(self, event):
        if "score of c" not in getattr(event, "clique", ()):
            charge(self, event)

    monkeypatch.setattr(PrivacyLedger, "charge", unpaid)
    assert problems("add-remove")


def test_unpaid_errors_are_noticed(monkeypatch):
    charge = PrivacyLedger.charge

    def unpaid(self, event):
        if not hasattr(event, "n_candidates"):
            charge(self, event)

    monkeypatch.setattr(PrivacyLedger, "charge", unpaid)
    assert problems("add-remove")


@pytest.mark.parametrize(
    ("case", "sensitivity"),
    [
        ("replace-one", "marginal_l1"),
        ("replace-one", "marginal_l2_squared"),
        ("persons", "marginal_l1"),
        ("persons", "marginal_l2_squared"),
    ],
)
def test_a_sensitivity_of_one_record_is_noticed_where_it_is_more(monkeypatch, case, sensitivity):
    monkeypatch.setattr(PrivacyUnit, sensitivity, property(lambda _unit: 1))
    assert problems(case)


def test_bins_chosen_from_the_records_are_noticed(monkeypatch):
    derived = CodedSource.derived

    def chosen(self, columns):
        score, label = columns
        plain = derived(self, [score, label])
        (counts,) = plain.counts_of([("score of c",)])
        # So that as many records lie on either side: public no more.
        edges = np.array([int(counts.sum()) - 100], np.int64)
        return derived(self, [DerivedColumn(score.name, score.weights, edges), label])

    monkeypatch.setattr(CodedSource, "derived", chosen)
    assert problems("add-remove")
