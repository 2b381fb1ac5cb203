"""The default recipe: it finds what depends, splits its budget as it says, and keeps to its tree."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from synthdp.mechanisms.auto import Auto

from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.inference.engines.graphical_model import GraphicalModelEstimator
from synthdp.inference.trees.tree_growth import TreeGrowth
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.events import MarginalEvent, ScoresEvent
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.unit import Adjacency
from synthdp.reporting import silent
from synthdp.selection.allocation import Demand
from synthdp.selection.batch_selection import grown_batch, noisy_demands
from synthdp.table.records.codec import CodedTable
from synthdp.table.records.coded_source import CodedSource
from synthdp.workload import Workload

N_ROWS = 20_000


def planted(seed=0):
    """x2 is the parity of x0 and x1, x4 follows x3; no other pair depends."""
    generator = np.random.default_rng(seed)
    x0, x1, x3, x5 = (generator.integers(0, 2, N_ROWS) for _ in range(4))
    flip = generator.random((2, N_ROWS)) < 0.05
    columns = (x0, x1, (x0 + x1 + flip[0]) % 2, x3, (x3 + flip[1]) % 2, x5)
    domain = Domain(tuple(f"x{i}" for i in range(6)), (2,) * 6)
    return domain, tuple(column.astype(np.uint8) for column in columns)


def private(domain, columns, *, epsilon=2.0, adjacency=Adjacency.ADD_REMOVE):
    ledger = PrivacyLedger(epsilon=epsilon, delta=1e-6, adjacency=adjacency, accounting=Accounting.GDP)
    return PrivateTable(CodedSource(CodedTable(domain, columns)), ledger)


def release(table, **parameters):
    workload = Workload.default(table.domain)
    return Auto(**parameters).release(table, workload=workload, engine=GraphicalModelEstimator(), report=silent)


def test_finds_a_dependent_pair_and_a_triple_that_no_pair_shows():
    domain, columns = planted()
    table = private(domain, columns)
    model = release(table)
    measured = [set(measurement.clique) for measurement in table.released]
    assert any({"x3", "x4"} <= clique for clique in measured)
    assert any({"x0", "x1", "x2"} <= clique for clique in measured)
    truth = np.zeros((2, 2, 2))
    np.add.at(truth, columns[:3], 1)
    assert np.abs(model.marginal(("x0", "x1", "x2")).values - truth).sum() < 0.03 * N_ROWS


def test_splits_the_budget_as_its_parameters_say():
    domain, columns = planted()
    table = private(domain, columns)
    release(table, one_way_share=0.25, scoring_shares=(0.125, 0.125), round_weights=(1.0, 3.0))
    budget, events = table.ledger.budget, table.ledger.events
    looks = [i for i, event in enumerate(events) if isinstance(event, ScoresEvent)]
    assert [events[i].rho for i in looks] == [budget / 8] * 2
    parts = [events[: looks[0]], events[looks[0] + 1 : looks[1]], events[looks[1] + 1 :]]
    assert all(isinstance(event, MarginalEvent) for part in parts for event in part)
    assert [sum(event.rho for event in part) for part in parts] == [budget / 4, budget / 8, budget * 3 / 8]
    assert all(event.is_gaussian for event in events)


def test_the_tree_stays_within_its_limit():
    generator = np.random.default_rng(3)
    base = generator.integers(0, 4, N_ROWS)
    columns = tuple(((base + generator.integers(0, 2, N_ROWS)) % 4).astype(np.uint8) for _ in range(7))
    table = private(Domain(tuple(f"x{i}" for i in range(7)), (4,) * 7), columns)
    release(table, max_cells=300)
    assert TreeGrowth(table.domain, [m.clique for m in table.released]).n_cells() <= 300


@pytest.mark.parametrize("adjacency", Adjacency)
def test_demands_are_the_errors_less_the_caution_and_doubt_keeps_the_measured(adjacency):
    domain, columns = planted()
    table = private(domain, columns, epsilon=1e6, adjacency=adjacency)
    workload, pairs = Workload.default(domain), list(combinations(domain.attributes, 2))
    for name in domain.attributes:
        table.measure((name,), rho=0.5)
    model = GraphicalModelEstimator().estimate(domain, table.released)
    arguments = {"rho": Fraction(10**5), "caution": 1.0, "doubt": 0.5}
    demands = noisy_demands(table, model, workload, [*pairs, ("x0",)], **arguments)
    joint = np.zeros((2, 2))
    np.add.at(joint, columns[3:5], 1)
    error = np.abs(joint - model.marginal(("x3", "x4")).values).sum()
    assert demands["x3", "x4"].error == pytest.approx(error, abs=4.0)
    sigma = adjacency.marginal_l2_squared**0.5
    assert demands[("x0",)].error >= 0.5 * np.sqrt(2 / np.pi) * 2 * sigma * 0.99
    assert demands["x3", "x4"].unit == pytest.approx(4 * sigma * np.sqrt(2 / np.pi))


def test_a_batch_spends_exactly_its_budget_and_counts_what_is_inside_once():
    domain = Domain(("a", "b", "c"), (2, 3, 4))
    pair, triple = Demand(weight=1, error=900.0, unit=6.0), Demand(weight=1.5, error=901.0, unit=24.0)
    growth, batch = grown_batch(
        TreeGrowth(domain), {("a", "b"): pair, ("a", "b", "c"): triple}, max_cells=1000, rho=Fraction(1, 50)
    )
    assert set(batch) == {("a", "b")}  # the triple adds an error of 42 at right angles only
    assert sum(batch.values()) == Fraction(1, 50)
    assert growth.tree.position_of(("a", "b")) is not None


def test_without_any_demand_the_columns_are_measured_once_more():
    domain = Domain(("a", "b"), (2, 30))
    _, batch = grown_batch(TreeGrowth(domain), {}, max_cells=1000, rho=Fraction(1, 7))
    assert set(batch) == {("a",), ("b",)}
    assert sum(batch.values()) == Fraction(1, 7)
    assert batch[("b",)] > batch[("a",)]


@pytest.mark.parametrize(
    "arguments",
    [
        {"one_way_share": 0.0},
        {"one_way_share": 0.95},
        {"scoring_shares": (0.1,)},
        {"scoring_shares": (), "round_weights": ()},
        {"round_weights": (1.0, 2.0, 3.0, 0.0)},
        {"caution": -1.0},
        {"doubt": float("nan")},
        {"max_cells": 0},
        {"max_candidates": 0},
    ],
)
def test_refuses_parameters_out_of_range(arguments):
    with pytest.raises(ParameterError, match="auto: "):
        Auto(**arguments)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("epsilon", [1e-7, 1e-4, 1e-2])
def test_a_tiny_budget_is_spent_to_the_last_bit(adjacency, epsilon):
    domain, columns = planted()
    table = private(domain, tuple(column[:50] for column in columns), epsilon=epsilon, adjacency=adjacency)
    release(table, max_cells=200)
    assert table.ledger.remaining == 0
