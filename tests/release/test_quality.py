"""Quality that is measured under the budget: what it says, what it costs, and of which table it is."""

from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke
from helpers.homes import home
from helpers.stopped_runs import stops

import synthdp
from synthdp.core import Domain, ParameterError, PrivacyError
from synthdp.release import mean_stddev, sampled_sets

N = 4000
LEVELS = {"a": 3, "b": 4, "c": 2, "d": 5}
SCHEMA = {
    "fields": [
        {"name": name, "type": "integer", "constraints": {"enum": list(range(n)), "required": True}}
        for name, n in LEVELS.items()
    ]
}
RUN = {"epsilon": 20.0, "delta": 1e-6}


def people(n=N):
    """Columns of which some hang together."""
    rng = np.random.default_rng(3)
    a, c = rng.integers(3, size=n), rng.integers(2, size=n)
    b = np.where(rng.random(n) < 0.5, a, rng.integers(4, size=n))
    d = np.where(rng.random(n) < 0.7, 2 * c + (a > 1), rng.integers(5, size=n))
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d})


def distance(real, synthetic, columns):
    """Total variation distance, by counting levels as texts."""
    shares = [
        frame[list(columns)].astype(str).value_counts(normalize=True) for frame in (real, synthetic)
    ]
    return float(shares[0].subtract(shares[1], fill_value=0).abs().sum() / 2)


def close(measured, true):
    """Within seven standard deviations, which one run in 10^11 is not."""
    return abs(measured["error"] - true) < 7 * measured["stddev"]


# ---- what it says


@pytest.mark.parametrize("mechanism", ["independent", "auto", "mst"])
def test_errors_are_those_of_the_table_that_is_named(mechanism):
    real = people()
    synthesis = synthdp.synthesize(real, SCHEMA, **RUN, mechanism=mechanism)
    quality = synthesis.quality
    synthetic = synthesis.sample(**quality["table"])
    assert len(synthetic) == quality["table"]["n_rows"]
    for name, measured in quality["columns"]["each"].items():
        assert close(measured, distance(real, synthetic, [name]))
    for k, kind in ((1, "columns"), (2, "pairs"), (3, "triples")):
        errors = [distance(real, synthetic, each) for each in combinations(LEVELS, k)]
        assert close(quality[kind], np.mean(errors))
    for pair in [*quality["pairs"]["clear"], quality["worst_pair"]]:
        assert close(pair, distance(real, synthetic, pair["columns"]))
    if mechanism == "independent":  # its two worst pairs stand far out
        errors = {each: distance(real, synthetic, each) for each in combinations(LEVELS, 2)}
        worst = errors[tuple(quality["worst_pair"]["columns"])]
        assert worst == pytest.approx(max(errors.values()), abs=0.05)
        assert quality["pairs"]["clear"][0]["columns"] == quality["worst_pair"]["columns"]
        assert quality["worst_pair"]["error"] > 0.2


@pytest.mark.slow
def test_errors_scatter_as_is_stated():
    """Sixty means of each kind: their squared scores, which have mean 1, and rejects half and twice
    the noise.
    """
    real, scores = people(500), []
    for _ in range(60):
        synthesis = synthdp.synthesize(real, SCHEMA, epsilon=2, delta=1e-6, mechanism="independent")
        quality = synthesis.quality
        synthetic = synthesis.sample(seed=0)
        errors = [distance(real, synthetic, each) for each in combinations(LEVELS, 2)]
        scores.append((quality["pairs"]["error"] - np.mean(errors)) / quality["pairs"]["stddev"])
    # the 1e-10 quantiles of a chi-squared variable with 60 degrees of freedom over 60
    assert 0.18 < np.mean(np.square(scores)) < 2.45


def test_the_noise_is_that_of_the_budget():
    quality_share = 0.1
    synthesis = synthdp.synthesize(
        people(), SCHEMA, **RUN, mechanism="independent", quality_share=quality_share
    )
    accounting = synthesis.certificate["accounting"]
    rho = 0.3 * quality_share * accounting["rho_budget"]  # three tenths for each kind
    n_rows = synthesis.model.total
    for kind in ("columns", "pairs", "triples"):
        stddev = sqrt(1 / (2 * rho)) / (2 * n_rows)
        assert synthesis.quality[kind]["stddev"] == pytest.approx(stddev, rel=1e-9)
    assert synthesis.quality["columns"]["each"]["a"]["stddev"] == pytest.approx(2 * stddev)


def test_of_500_columns_a_sample_is_measured_that_anybody_can_tell():
    domain = Domain([f"x{number}" for number in range(500)], (2,) * 500)
    sets, n_all = sampled_sets(domain)
    assert n_all == {"columns": 500, "pairs": 124_750, "triples": 20_708_500}
    n_measured = {kind: len(set(cliques)) for kind, cliques in sets.items()}
    assert n_measured == {"columns": 500, "pairs": 500, "triples": 500}
    assert sets == sampled_sets(domain)[0]


def test_what_is_said_of_a_sample_is_true_of_it(monkeypatch):
    monkeypatch.setattr(home(mean_stddev), "MAX_MARGINALS", 4)
    synthesis = synthdp.synthesize(people(), SCHEMA, **RUN, mechanism="independent")
    pairs, synthetic = synthesis.quality["pairs"], synthesis.sample(seed=0)
    assert (pairs["n_marginals"], pairs["n_all"]) == (4, 6)
    sample = sampled_sets(synthesis.schema.domain)[0]["pairs"]
    assert close(pairs, np.mean([distance(people(), synthetic, each) for each in sample]))


# ---- what it costs


@pytest.mark.parametrize("accounting", ["zcdp", "gdp"])
@pytest.mark.parametrize("columns", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_all_of_the_budget_is_spent_and_quality_has_its_share(columns, accounting):
    fields = [field for field in SCHEMA["fields"] if field["name"] in columns]
    synthesis = synthdp.synthesize(
        people()[columns],
        {"fields": fields},
        **RUN,
        mechanism="independent",
        accounting=accounting,
        quality_share=0.25,
    )
    certificate = synthesis.certificate
    assert certificate["accounting"]["rho_left"] == 0
    asked = [event["rho"] for event in certificate["events"] if event["event"] == "scores"]
    assert len(asked) == {1: 1, 2: 3, 3: 4}[len(columns)]
    assert sum(asked) == pytest.approx(0.25 * certificate["accounting"]["rho_budget"])


def test_without_a_share_nothing_is_asked():
    synthesis = synthdp.synthesize(
        people(), SCHEMA, **RUN, mechanism="independent", quality_share=0
    )
    assert synthesis.quality is None
    # each column is looked at, and measured
    assert len(synthesis.certificate["events"]) == 2 * len(LEVELS)
    assert synthesis.certificate["accounting"]["rho_left"] == 0


@pytest.mark.parametrize(
    ("options", "sensitivity"),
    [
        ({}, 1),
        ({"adjacency": "replace-one"}, 2),
        ({"unit": "person", "max_rows_per_unit": 3}, 3),
    ],
)
def test_one_unit_moves_an_error_by_the_sensitivity_that_is_charged(options, sensitivity):
    frame = people(300).assign(person=np.arange(300) // 2)
    given = frame if "unit" in options else frame.drop(columns="person")
    synthesis = synthdp.synthesize(given, SCHEMA, **RUN, mechanism="independent", **options)
    scores = [each for each in synthesis.certificate["events"] if each["event"] == "scores"]
    assert {event["sensitivity"] for event in scores} == {sensitivity}


def test_a_part_of_the_budget_can_pay_for_no_more_than_its_model():
    """What is reserved for quality no mechanism can spend."""
    from synthdp.privacy import Adjacency, PrivacyLedger

    ledger = PrivacyLedger(epsilon=1, delta=1e-6, adjacency=Adjacency.ADD_REMOVE)
    synthesis = synthdp.synthesize(
        people(), SCHEMA, epsilon=1, delta=1e-6, mechanism="mst", quality_share=0.5
    )
    events = synthesis.certificate["events"]
    of_the_model = [event["rho"] for event in events if event["event"] != "scores"]
    assert sum(map(Fraction, of_the_model)) <= ledger.budget / 2 * (1 + Fraction(1, 10**12))


# ---- where noise says nothing


def test_the_same_is_asked_where_noise_hides_how_many_records_there_are():
    few = synthdp.synthesize(people(3), SCHEMA, epsilon=0.01, delta=1e-6, mechanism="independent")
    many = synthdp.synthesize(people(), SCHEMA, **RUN, mechanism="independent")
    assert few.quality is None
    assert [event["event"] for event in few.certificate["events"]] == [
        event["event"] for event in many.certificate["events"]
    ]


# ---- of which table it is


def test_a_refit_draws_other_rows_and_says_nothing_of_them():
    synthesis = synthdp.synthesize(people(), SCHEMA, **RUN, mechanism="mst")
    assert synthesis.quality is not None
    again = synthesis.refit("graphical-model")
    assert again.quality is None
    assert again.certificate["events"] == synthesis.certificate["events"]


def test_the_rows_are_those_that_are_drawn_anew(tmp_path):
    synthesis = synthdp.synthesize(people(), SCHEMA, **RUN, mechanism="mst")
    kept = synthesis.sample(seed=0)
    synthesis.save(tmp_path / "m.synthdp")
    drawn = synthdp.load(tmp_path / "m.synthdp").sample(seed=0)
    pd.testing.assert_frame_equal(kept, drawn)
    assert synthesis.sample(seed=1).to_dict() != kept.to_dict()


def test_a_table_too_large_to_be_kept_is_drawn_again_and_is_the_same(monkeypatch):
    monkeypatch.setattr(home(mean_stddev), "MAX_KEPT_BYTES", 0)
    synthesis = synthdp.synthesize(people(), SCHEMA, **RUN, mechanism="independent")
    table = synthesis.quality["table"]
    assert synthesis.drawn_before(table["n_rows"], table["seed"]) is None
    synthetic = synthesis.sample(**table)
    errors = [distance(people(), synthetic, each) for each in combinations(LEVELS, 2)]
    assert close(synthesis.quality["pairs"], np.mean(errors))


def test_a_run_that_goes_on_measures_the_same(tmp_path):
    path = tmp_path / "run.journal"

    def run(**more):
        return synthdp.synthesize(
            people(), SCHEMA, **RUN, mechanism="independent", journal=path, **more
        )

    assert stops(run, len(LEVELS) + 2)  # columns and pairs were asked
    synthesis = run()
    assert synthesis.quality["triples"]["error"] < 1
    with pytest.warns(synthdp.CautionWarning, match="all answers were there"):
        assert run().quality == synthesis.quality
    with pytest.raises((ParameterError, PrivacyError), match="journal"):
        run(quality_share=0.02)


def test_a_package_and_an_order_have_none():
    frame = people(100).assign(person=np.arange(100) // 2)
    with pytest.raises(ParameterError, match="quality_share does not go with order"):
        synthdp.synthesize(
            frame,
            SCHEMA,
            **RUN,
            unit="person",
            max_rows_per_unit=2,
            order="d",
            quality_share=0.1,
        )


@pytest.mark.parametrize("share", [-0.1, 0.51, float("nan"), True, "a"])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ParameterError, match=r"^quality_share is .*; give a number from 0 "):
        synthdp.synthesize(people(9), SCHEMA, **RUN, quality_share=share)


def test_the_table_that_is_written_is_the_one_that_is_measured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people().to_csv("in.csv", index=False)
    synthdp.Schema.from_dict(SCHEMA).save("schema.json")
    budget = ("--epsilon", "20", "--delta", "1e-6", "--save", "m.synthdp")
    for options, n_rows, seed in (
        (("--rows", "50", "--seed", "7"), 50, 7),
        (("--force",), None, 0),
    ):
        outcome = invoke("run", "in.csv", "-s", "schema.json", *budget, "-o", "out.csv", *options)
        assert outcome.code == 0
        measured = synthdp.load("m.synthdp").quality
        written = pd.read_csv("out.csv")
        assert measured["table"] == {"n_rows": len(written), "seed": seed}
        assert n_rows is None or len(written) == n_rows
        assert close(
            measured["pairs"],
            np.mean([distance(people(), written, each) for each in combinations(LEVELS, 2)]),
        )
        monkeypatch.chdir(tmp_path)
        for name in ("out.csv", "m.synthdp", "out.csv.privacy.json"):
            (tmp_path / name).unlink()
