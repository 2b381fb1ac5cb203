"""Secure sums: tables of several sites as one release, of which only noisy sums are told."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

import synthdp
from synthdp.core import ParameterError
from synthdp.privacy import Accounting
from synthdp.release import SCHEMA_FILE, securely_combined

FIELDS = [
    {
        "name": name,
        "type": "integer",
        "constraints": {"enum": list(range(20)), "required": True},
    }
    for name in "ab"
]
SCHEMA = {"fields": FIELDS}
BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def table(n_rows, seed):
    return pd.DataFrame(
        np.random.default_rng(seed).integers(0, 20, (n_rows, 2)), columns=["a", "b"]
    )


@pytest.fixture(scope="module")
def plan():
    return synthdp.plan_measurements(SCHEMA, **BUDGET, accounting="zcdp")


def exact(frame, clique):
    counts = np.zeros((20,) * len(clique))
    np.add.at(counts, tuple(frame[name] for name in clique), 1)
    return counts


@pytest.mark.parametrize(("n_sites", "colluding"), [(2, 0), (5, 0), (20, 0), (5, 1)])
def test_its_noise_is_that_of_one_table(plan, n_sites, colluding):
    tables = [table(200, seed) for seed in range(n_sites)]
    release = securely_combined(tables, plan, colluding=colluding, engine="direct")
    whole = pd.concat(tables, ignore_index=True)
    one = synthdp.measure(whole, plan)
    for measured, alone in zip(release.measurements, one.measurements, strict=True):
        factor = np.sqrt(n_sites / (n_sites - colluding))
        assert np.max(measured.stddev) == pytest.approx(np.max(alone.stddev) * factor, rel=0.02)
        score = np.square(measured.values - exact(whole, measured.clique)) / measured.variance
        assert abs(score.sum() - score.size) < 6.5 * np.sqrt(2 * score.size)


def test_the_certificate_says_what_is_assumed_and_what_was_paid(plan):
    release = securely_combined([table(300, 0), table(500, 1), table(90, 2)], plan, colluding=1)
    certificate = release.certificate
    validator = Draft202012Validator(json.loads(SCHEMA_FILE.read_text()))
    assert list(validator.iter_errors(certificate)) == []
    assert certificate["guarantee"] == "(1, 1e-06)-differential privacy"
    assert certificate["sites"]["colluding"] == 1
    assert any("at most 1 of them" in line for line in certificate["not_covered"])
    spent = certificate["accounting"]["rho_spent"]
    budget = float(Accounting.ZCDP.rho(**BUDGET))
    assert budget * (1 - 1e-8) <= spent <= budget
    assert {each["rho_spent"] for each in certificate["sites"]["each"]} == {spent}
    assert all("shares of 2 sites" in event["mechanism"] for event in certificate["events"])
    assert len(release.sample(seed=1)) == pytest.approx(890, abs=400)


def test_values_that_cannot_be_read_are_filled_in(plan):
    odd = table(300, 0).astype(object)
    odd.loc[:200, "a"] = "?"
    release = securely_combined([odd, table(500, 1)], plan, colluding=0)
    assert {m.clique for m in release.measurements} == {m.clique for m in plan.marginals}


def test_what_cannot_be_is_refused(plan):
    both = [table(9, 0), table(9, 1)]
    gdp = synthdp.plan_measurements(SCHEMA, **BUDGET)
    for arguments, settings in (
        ((both[:1], plan), {"colluding": 0}),
        ((both, plan), {"colluding": 2}),
        ((both, plan), {"colluding": -1}),
        ((both, plan), {"colluding": True}),
        ((both, gdp), {"colluding": 0}),
    ):
        with pytest.raises(ParameterError) as caught:
            securely_combined(*arguments, **settings)
        assert len(str(caught.value).splitlines()) == 1


def test_questions_depend_on_no_record(plan):
    asked = [
        securely_combined([frame, table(9, 1)], plan, colluding=0).certificate["events"]
        for frame in (table(0, 0), table(700, 3))
    ]
    assert all(one == other for one, other in pairwise(asked))
