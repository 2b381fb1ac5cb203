"""What is learnt of a table with persons, at noise that does not grow with their rows."""

import re
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.flows import Frozen
from helpers.homes import home
from helpers.values import book

import synthdp
from synthdp.core import LinearMeasurement
from synthdp.data import HeldTableReader
from synthdp.learning import learn_columns, min_mass
from synthdp.privacy import PrivateValues
from synthdp.release import learn_domain
from synthdp.report import certificate_text
from synthdp.schema import OpenSchema

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
    # Persons are shared out among finer cells of days, in units of weight as well.
    of_days = [each for each in learnt.certificate["events"] if each.get("column") == "day"]
    assert {each["sensitivity_l2_squared"] for each in of_days} == {1, 1024**2}
    sigmas = [float(each) for each in re.findall(r"cells of day.*sigma ([0-9.e+]+)", text)]
    assert len(sigmas) == len(of_days)
    assert max(sigmas) < 1_000


def test_rows_of_persons_that_are_measured_are_rows(learnt, visits):
    assert len(learnt.sample(seed=0)) == pytest.approx(len(visits), rel=0.1)


@pytest.mark.parametrize("is_by_unit", [True, False])
def test_bins_hold_so_many_persons_that_their_rows_are_seen(is_by_unit, monkeypatch):
    """What is learnt of them is measured with noise of all their rows, of which each has some."""
    asked = {}

    def learning(_schema, _values, **settings):
        asked.update(settings)
        return iter(())

    monkeypatch.setattr(home(learn_domain), "learn_columns", learning)
    ledger = book(max_rows=16)
    source = SimpleNamespace(is_by_unit=is_by_unit)
    schema = OpenSchema.from_kinds(KINDS)
    rho = ledger.budget / 4
    kept = SimpleNamespace(memory=None)
    told = {"randomness": None, "kept": kept, "observer": None, "report": lambda *_: None}
    assert list(learn_domain(schema, source, ledger, rho=rho, **told)) == []
    of_rows = min_mass(ledger.unit, rho=ledger.budget - rho, n_columns=2)
    assert asked["min_mass"] == pytest.approx(of_rows / (4 if is_by_unit else 1))
    assert asked["is_by_unit"] == is_by_unit


def test_rows_that_are_measured_are_held_against_persons_that_were_learnt():
    """Bins of rows hold more than learning saw of persons: no bound cuts for that."""
    n_persons, schema = 3_000, OpenSchema.from_kinds({"hour": "integer"})
    for seed in range(6):
        rng = np.random.default_rng(seed)
        hours = rng.integers(8, 20, n_persons * 20)
        frame = pd.DataFrame({"who": np.repeat(np.arange(n_persons), 20), "hour": hours})
        reader = HeldTableReader(schema, unit="who", max_rows=20, key=f"{seed:016}")
        reader.add(frame)
        table, ledger = reader.finish(), book(max_rows=20, epsilon=3.0)
        (learnt,) = learn_columns(
            schema,
            PrivateValues(table.source, ledger, randomness=Frozen(seed)),
            rho=ledger.budget / 8,
            delta=Fraction(0),
            min_mass=60,
            is_by_unit=True,
            report=lambda *_: None,
        )
        closed = schema.resolved({"hour": learnt.column})
        counts = np.bincount(table.encode(closed).columns[0], minlength=learnt.column.size)
        for part, is_cut in ((0.0, False), (0.5, True)):
            rows = counts.astype(float)
            rows[learnt.column.n_levels - 1] += part * len(hours)
            told = [LinearMeasurement(("hour",), rows + rng.normal(0, 100, len(rows)), 100.0)]
            said = learnt.cautioned(closed, told)
            assert ("may lie beyond" in said) == is_cut, said
