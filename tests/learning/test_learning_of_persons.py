"""What is learnt of a table with persons, at noise that does not grow with their rows."""

import re

import numpy as np
import pandas as pd
import pytest

import synthdp
from synthdp.report import certificate_text

N_PERSONS, N_ROWS, MOST = 2_000, 10, 40
WARDS = [f"ward {n}" for n in range(8)]
KINDS = {"ward": "categorical", "day": "integer"}


@pytest.fixture(scope="module")
def visits():
    rng = np.random.default_rng(0)
    n = N_PERSONS * N_ROWS
    return pd.DataFrame(
        {
            "who": np.repeat(np.arange(N_PERSONS), N_ROWS),
            "ward": rng.choice(WARDS, n),
            "day": rng.integers(1, 366, n),
        }
    )


@pytest.fixture(scope="module")
def learnt(visits):
    return synthdp.synthesize(
        visits, kinds=KINDS, epsilon=1, delta=1e-9, unit="who", max_rows_per_unit=MOST
    )


def test_levels_and_bounds_are_found_that_noise_of_all_rows_would_hide(learnt):
    fields = {field["name"]: field for field in learnt.schema.to_dict()["fields"]}
    # By rows a level needs 5,700 of them, and each has 2,500.
    assert fields["ward"]["constraints"]["enum"] == WARDS
    limits = fields["day"]["constraints"]
    assert -40 < limits["minimum"] < 30
    assert 340 < limits["maximum"] < 420


def test_events_say_that_persons_were_counted(learnt):
    events = learnt.certificate["events"]
    of_learning = [each for each in events if each["event"] in ("histogram", "partition selection")]
    assert len(of_learning) > 3
    assert all(each["record"] == "unit" for each in of_learning)
    squared = {each["sensitivity_l2_squared"] for each in of_learning}
    assert squared == {1, 1024**2}
    marginals = [each for each in events if each["event"] == "marginal"]
    assert {each["sensitivity_l2_squared"] for each in marginals} == {MOST**2}
    assert not any("record" in each for each in marginals)
    spent = sum(each["rho"] for each in events)
    assert spent == pytest.approx(learnt.certificate["accounting"]["rho_spent"])


def test_texts_say_it_in_persons(learnt):
    (partition,) = [
        each for each in learnt.certificate["events"] if each["event"] == "partition selection"
    ]
    threshold = partition["threshold"] / partition["units_of_weight"]
    assert 100 < threshold < 300
    text = certificate_text(learnt.certificate)
    assert f"threshold {threshold:.1f} units" in text
    assert re.search(rf"ward, by unit +sigma {partition['sigma'] / 1024:.4g}, threshold", text)
    assert "cells of day, by unit" in text
    assert str(partition["threshold"]) not in text


def test_rows_of_persons_that_are_measured_are_rows(learnt, visits):
    assert len(learnt.sample(seed=0)) == pytest.approx(len(visits), rel=0.1)
