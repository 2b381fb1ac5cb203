"""RAP and GEM: what they find, what a round measures, and which engine they bring along."""

import sys
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import pi, sqrt

import numpy as np
import pandas as pd
import pytest
from helpers.private_tables import private_table

import synthdp
from synthdp.core import MissingExtraError, ParameterError, Workload, silent
from synthdp.inference import DirectEngine, GenerativeNetworkEngine, RelaxedTabularEngine
from synthdp.mechanisms import GEM, MST, RAP, Task
from synthdp.privacy import Adjacency, ScoresEvent, SelectionEvent
from synthdp.release import MECHANISMS, mechanism_named, registry

PAIR, TRIPLE = ("x0", "x2"), ("x1", "x3", "x4")
ENGINES = {
    "rap": RelaxedTabularEngine(n_components=60),
    "gem": GenerativeNetworkEngine(n_components=60, hidden=(32,)),
}


def released(mechanism, table, *, engine=None, workload=None, report=silent):
    workload = workload or Workload.default(table.domain)
    return mechanism.release(
        table, Task(workload=workload, engine=engine or DirectEngine(), report=report)
    )


def in_rounds(table):
    """What was measured after all one-way marginals."""
    return [measurement.clique for measurement in table.released[len(table.domain) :]]


def planted():
    """A pair that is nearly equal, and a parity of three of which no two depend on each other."""
    generator = np.random.default_rng(2)
    a, b, c = (generator.integers(0, size, 20_000) for size in (4, 2, 2))
    copy = (a + (generator.random(20_000) < 0.1)) % 4
    parity = (b + c + (generator.random(20_000) < 0.1)) % 2
    return (a, b, copy, c, parity)


@pytest.mark.parametrize(
    "mechanism",
    [RAP(rounds=2, marginals_per_round=1), GEM(rounds=2)],
    ids=lambda mechanism: mechanism.name,
)
def test_finds_planted_dependences_and_keeps_them(mechanism):
    rows = planted()
    table = private_table((4, 2, 4, 2, 2), 0, rows=rows)
    model = released(mechanism, table, engine=ENGINES[mechanism.name])
    found = in_rounds(table)
    assert len(found) == 2
    assert any(set(PAIR) <= set(clique) for clique in found)
    assert TRIPLE in found
    for clique in (PAIR, TRIPLE):
        fitted = model.marginal(clique).values
        truth = np.zeros(fitted.shape)
        np.add.at(truth, tuple(rows[int(name[1])] for name in clique), 1)
        assert np.abs(fitted - truth).sum() < 0.25 * len(
            rows[0]
        )  # independence is off by 0.8 and 1.3 of them


def test_rap_measures_nothing_twice_and_stops_selecting_when_all_is_wanted():
    table = private_table((2, 3, 2, 2), 300)
    steps = []
    released(RAP(rounds=9, marginals_per_round=4), table, report=lambda *step: steps.append(step))
    assert sorted(in_rounds(table)) == sorted(
        Workload.default(table.domain).downward_closure()
    )  # 14
    assert [step for step in steps if step[0] != "fitting"] == [
        ("selecting and measuring", i, 4) for i in range(4)
    ]
    selections = [event for event in table.ledger.events if isinstance(event, SelectionEvent)]
    assert [event.n_candidates for event in selections] == [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3]
    assert table.ledger.remaining < Fraction(1, 10**9) * table.ledger.budget


def test_rap_gives_each_round_the_same():
    table = private_table((2, 3, 2, 4), 300)
    released(RAP(rounds=3, marginals_per_round=2, one_way_share=0.25, selection_share=0.2), table)
    budget, stddevs = float(table.ledger.budget), [m.stddev for m in table.released]
    np.testing.assert_allclose(stddevs[:4], sqrt(1 / (2 * budget * 0.25 / 4) + 1 / 12))
    np.testing.assert_allclose(stddevs[4:], sqrt(1 / (2 * budget * 0.75 / 3 * 0.8 / 2) + 1 / 12))
    assert len(stddevs) == 4 + 6


@pytest.mark.parametrize(("n_candidates", "k"), [(100, 61), (100, 60), (14, 4), (500, 1)])
def test_selecting_k_by_peeling_is_as_noisy_as_rap_says(n_candidates, k):
    rho = Fraction(1, 70)
    peeled = SelectionEvent.costing(
        rho / k, score="", n_candidates=n_candidates, sensitivity=Fraction(1)
    )
    at_once = ScoresEvent.costing(
        rho,
        score="",
        n_candidates=n_candidates,
        sensitivity=Adjacency.ADD_REMOVE.marginal_l1,
    )
    gumbel = (
        pi / sqrt(6) * 2 / float(peeled.epsilon)
    )  # the exponential mechanism is Gumbel noise and a maximum
    assert gumbel == pytest.approx(pi / sqrt(6) * sqrt(k / (2 * rho)))
    assert (gumbel**2 < at_once.sigma_squared) == (k <= 60)


@pytest.mark.parametrize(
    "mechanism", [RAP(max_cells=6), GEM(max_cells=6)], ids=lambda mechanism: mechanism.name
)
def test_leaves_out_marginals_of_too_many_cells(mechanism):
    table = private_table((9, 3, 2, 4), 5000)
    released(mechanism, table)
    assert set(in_rounds(table)) <= {("x0",), ("x1",), ("x2",), ("x3",), ("x1", "x2")}


@pytest.mark.parametrize("mechanism", [RAP(), GEM()], ids=lambda mechanism: mechanism.name)
def test_measures_subsets_of_the_workload_only(mechanism):
    table = private_table((3, 2, 3, 4), 5000)
    workload = Workload.from_cliques(table.domain, [("x0", "x2"), ("x3",)])
    released(mechanism, table, workload=workload)
    assert set(in_rounds(table)) <= {("x0",), ("x2",), ("x3",), ("x0", "x2")}


@pytest.mark.parametrize(
    ("mechanism", "arguments"),
    [
        (RAP, {"marginals_per_round": 0}),
        *product(
            (RAP, GEM),
            (
                {"rounds": 0},
                {"max_cells": 0},
                {"one_way_share": 0.0},
                {"one_way_share": 1.0},
                {"selection_share": float("nan")},
                {"selection_share": -0.1},
            ),
        ),
    ],
    ids=str,
)
def test_refuses_parameters_out_of_range(mechanism, arguments):
    (name,) = arguments
    with pytest.raises(
        ParameterError, match=f"{mechanism.name}: {name} is {arguments[name]}; give a"
    ):
        mechanism(**arguments)


# --- the engine that a mechanism is meant for ------------------------------------------------------

SCHEMA = {
    "fields": [
        {"name": name, "type": "string", "constraints": {"enum": ["u", "v"], "required": True}}
        for name in ("a", "b")
    ]
}


def synthesized(mechanism, **options):
    frame = pd.DataFrame({"a": ["u", "v"] * 50, "b": ["u", "u", "v", "v"] * 25})
    return synthdp.synthesize(frame, SCHEMA, epsilon=1, delta=1e-6, mechanism=mechanism, **options)


@pytest.mark.parametrize(
    ("mechanism", "engine"),
    [
        (RAP(rounds=1), "relaxed-tabular"),
        (MST(), "auto"),
        ("rap", "relaxed-tabular"),
    ],
    ids=str,
)
def test_each_mechanism_brings_its_engine_unless_another_is_asked_for(mechanism, engine):
    assert synthesized(mechanism).certificate["engine"]["name"] == engine
    assert synthesized(mechanism, engine="direct").certificate["engine"]["name"] == "direct"
    assert synthesized(mechanism, engine=DirectEngine()).certificate["engine"]["name"] == "direct"


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_engine_that_a_mechanism_is_meant_for_exists(name):
    assert mechanism_named(name).default_engine in registry.ENGINES


def test_gem_is_meant_for_the_network():
    assert GEM.default_engine == GenerativeNetworkEngine.name


def test_gem_needs_torch_only_if_its_engine_is_to_run_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    mechanism = GEM(rounds=1)
    with pytest.raises(MissingExtraError, match="torch is not installed"):
        released(
            mechanism, private_table((2, 3), 100), engine=replace(ENGINES["gem"], device="torch")
        )
    released(mechanism, private_table((2, 3), 100), engine=ENGINES["gem"])
