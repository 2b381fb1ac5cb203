"""The default mechanism: it finds what depends, spends as it says, tells what it did, and keeps to its
limits.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from helpers.private_tables import private_table

from synthdp.core import Constraint, Domain, Workload
from synthdp.data import CodedSource, CodedTable
from synthdp.inference import GraphicalModelEngine, JunctionTree, LayeredConsistencyEngine
from synthdp.mechanisms import Auto, Independent, Task
from synthdp.privacy import (
    Accounting,
    Adjacency,
    MarginalEvent,
    PrivacyLedger,
    PrivateTable,
    ScoresEvent,
)

N_ROWS = 20_000


def planted(n_rows=N_ROWS):
    """x2 is the parity of x0 and x1, x4 follows x3; no other pair depends."""
    rng = np.random.default_rng(0)
    x0, x1, x3, x5 = (rng.integers(0, 2, n_rows) for _ in range(4))
    flip = rng.random((2, n_rows)) < 0.05
    columns = (x0, x1, (x0 + x1 + flip[0]) % 2, x3, (x3 + flip[1]) % 2, x5)
    return tuple(column.astype(np.uint8) for column in columns)


def private(columns, shape=None, *, epsilon=2.0, **arguments):
    shape = shape or (2,) * len(columns)
    return private_table(
        shape,
        len(columns[0]),
        rows=columns,
        epsilon=epsilon,
        accounting=Accounting.GDP,
        **arguments,
    )


def release(table, workload=None, *, engine=None, constraints=(), mechanism=None):
    return (mechanism or Auto()).release(
        table,
        Task(
            workload=workload or Workload.default(table.domain),
            engine=engine or LayeredConsistencyEngine(),
            constraints=constraints,
        ),
    )


def joint_of(columns, chosen, shape):
    table = np.zeros(shape)
    np.add.at(table, tuple(columns[i] for i in chosen), 1)
    return table


@pytest.mark.parametrize(
    "engine", [LayeredConsistencyEngine(), GraphicalModelEngine()], ids=lambda e: e.name
)
def test_finds_a_dependent_pair_and_a_triple_that_no_pair_shows(engine):
    columns = planted()
    table = private(columns)
    model = release(table, engine=engine)
    measured = [set(measurement.clique) for measurement in table.released]
    assert any({"x3", "x4"} <= clique for clique in measured)
    assert any({"x0", "x1", "x2"} <= clique for clique in measured)
    for names, chosen in (
        (("x0", "x1", "x2"), (0, 1, 2)),
        (("x3", "x4"), (3, 4)),
        (("x4", "x5"), (4, 5)),
    ):
        truth = joint_of(columns, chosen, (2,) * len(chosen))
        assert np.abs(model.marginal(names).values - truth).sum() < 0.05 * N_ROWS
    rows = model.sample(5000, seed=0)
    assert np.mean((rows[0] + rows[1] + rows[2]) % 2) == pytest.approx(0.05, abs=0.03)


def test_spends_its_shares_on_columns_scores_and_two_batches():
    table = private(planted())
    shares = {
        "one_way_share": 0.25,
        "score_share": 0.125,
        "first_share": 0.5,
        "joint_share": 0.0625,
    }
    model = release(table, mechanism=Auto(**shares))
    budget, events = table.ledger.budget, table.ledger.events
    looks = [i for i, event in enumerate(events) if isinstance(event, ScoresEvent)]
    assert [events[i].rho for i in looks] == [budget / 8, budget / 16, budget / 8]
    ends = [-1, *looks, len(events)]
    parts = [events[start + 1 : end] for start, end in pairwise(ends)]
    assert all(isinstance(event, MarginalEvent) for part in parts for event in part)
    spent = [sum(event.rho for event in part) for part in parts]
    assert spent[0] == budget / 4
    assert spent[1] == budget * 7 / 32
    assert spent[2] + spent[3] == budget * 7 / 32
    joint = model.findings["joint_dependences"]
    assert joint["looked_at"] == 20 + 15 == events[looks[1]].n_candidates
    assert [list(event.clique) for event in parts[2]] == joint["measured"]
    parts, looks = [parts[0], parts[1], parts[3]], [looks[0], looks[2]]
    assert all(event.is_gaussian for event in events)
    assert len(parts[0]) == 6
    rounds = model.findings["rounds"]
    assert [found["looked_at"] for found in rounds] == [15, 15 + 20]
    assert [found["measured"] for found in rounds] == [len(part) for part in parts[1:]]
    for found, i in zip(rounds, looks, strict=True):
        assert events[i].n_candidates == found["looked_at"]
        assert found["stddev_records"] == round(float(events[i].sigma_squared) ** 0.5, 3)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("epsilon", [1e-7, 1e-4, 1e-2, 1.0])
def test_a_budget_is_spent_to_the_last_bit(adjacency, epsilon):
    for n_rows in (50, 5000):
        table = private(planted(n_rows), epsilon=epsilon, adjacency=adjacency)
        release(table)
        assert table.ledger.remaining == 0
        assert all(event.is_gaussian for event in table.ledger.events)


def test_without_a_clear_look_all_goes_to_columns_as_independent_splits_it():
    shape = (2, 9, 1, 30)
    columns = tuple(
        np.random.default_rng(1).integers(0, size, 200).astype(np.uint8) for size in shape
    )
    spent = []
    for mechanism in (Auto(), Independent()):
        table = private(columns, shape, epsilon=0.01)
        model = release(table, mechanism=mechanism)
        found: dict[tuple[str, ...], Fraction] = {}
        for event in table.ledger.events:
            assert isinstance(event, MarginalEvent)
            found[event.clique] = found.get(event.clique, Fraction(0)) + event.rho
        spent.append(found)
        if isinstance(mechanism, Auto):
            assert model.findings["rounds"] == []
    assert spent[0] == spent[1]
    assert all(len(clique) == 1 for clique in spent[0])


def test_the_share_of_noise_decides_whether_to_score():
    looks = []
    for max_noise_share in (1e-6, 0.25):
        table = private(planted())
        release(table, mechanism=Auto(max_noise_share=max_noise_share))
        looks.append(sum(isinstance(event, ScoresEvent) for event in table.ledger.events))
    assert looks == [0, 3]


def test_one_look_is_left_out_if_triples_would_hide_all():
    """15 pairs are seen through noise that 35 marginals are not: the noise grows as the root of
    their number.
    """
    table = private(planted())
    budget = float(table.ledger.budget)
    noise = [(n / (2 * 0.03 * budget)) ** 0.5 / N_ROWS for n in (15, 35)]
    model = release(table, mechanism=Auto(max_noise_share=sum(noise) / 2))
    (found,) = model.findings["rounds"]
    assert found["looked_at"] == 15
    assert sum(isinstance(event, ScoresEvent) for event in table.ledger.events) == 1
    assert table.ledger.remaining == 0


WORKLOADS = {
    "columns": lambda domain: Workload.all_k_way(domain, 1),
    "pairs": lambda domain: Workload.all_k_way(domain, 2),
    "a target": lambda domain: Workload.default(domain, target="x4"),
    "four columns": lambda domain: Workload.from_cliques(domain, [("x0", "x1", "x2", "x3")]),
    "one pair": lambda domain: Workload.from_cliques(domain, [("x3", "x4")]),
}


@pytest.mark.parametrize("kind", WORKLOADS)
def test_looks_at_what_the_workload_asks_for(kind):
    columns = planted()
    table = private(columns)
    workload = WORKLOADS[kind](table.domain)
    model = release(table, workload)
    assert table.ledger.remaining == 0
    wide = {m.clique for m in table.released if len(m.clique) > 1}
    asked = {frozenset(clique) for clique in workload.downward_closure() if len(clique) > 1}
    n_pairs = sum(len(clique) == 2 for clique in asked)
    assert [found["looked_at"] for found in model.findings["rounds"]] == (
        [n_pairs, len(asked)] if asked else []
    )
    assert bool(wide) == bool(asked)
    for names, chosen in {("x3", "x4"): (3, 4), ("x0", "x1", "x2"): (0, 1, 2)}.items():
        if frozenset(names) in asked:
            assert any(set(names) <= set(clique) for clique in wide)
            truth = joint_of(columns, chosen, (2,) * len(chosen))
            assert np.abs(model.marginal(names).values - truth).sum() < 0.05 * N_ROWS
    for i in range(6):  # whatever the workload, every column is measured
        truth = joint_of(columns, (i,), (2,))
        assert np.abs(model.marginal((f"x{i}",)).values - truth).sum() < 0.05 * N_ROWS


@pytest.mark.parametrize("n_levels", [1, 7])
def test_a_table_of_one_column(n_levels):
    column = np.random.default_rng(2).integers(0, n_levels, 3000).astype(np.uint8)
    table = private((column,), (n_levels,))
    model = release(table)
    assert table.ledger.remaining == 0
    assert (
        np.abs(model.marginal(("x0",)).values - np.bincount(column, minlength=n_levels)).sum() < 300
    )


@pytest.mark.parametrize("n_rows", [0, 1])
def test_a_table_of_nobody(n_rows):
    table = private(tuple(column[:n_rows] for column in planted(10)))
    release(table).sample(10, seed=0)
    assert table.ledger.remaining == 0


def test_constraints_hold_in_every_row():
    columns = planted()
    shape = (2, 2, 2, 2, 2, 3)
    parity = Constraint(("x0", "x1", "x2"), np.indices((2, 2, 2)).sum(axis=0) % 2 == 0)
    never = Constraint(("x5", "x3"), np.array([[True, True], [True, False], [False, True]]))
    table = private(columns, shape)
    model = release(table, constraints=[parity, never])
    rows = model.sample(3000, seed=1)
    assert parity.holds(table.domain, rows).all()
    assert never.holds(table.domain, rows).all()
    assert table.ledger.remaining == 0


def test_the_tree_of_a_graphical_model_stays_within_its_limit():
    rng = np.random.default_rng(3)
    base = rng.integers(0, 4, N_ROWS)
    # Every value goes with every other: in empty cells noise alone would decide how long the fit
    # takes.
    others = rng.integers(0, 4, (6, N_ROWS))
    columns = tuple(
        np.where(rng.random(N_ROWS) < 0.6, base, other).astype(np.uint8) for other in others
    )
    beside = Constraint(("x0", "x5"), np.ones((4, 4), dtype=bool))
    cells = []
    for max_cells in (200, 1000):
        table = private(columns, (4,) * 6)
        mechanism = Auto(max_cells=max_cells)
        release(table, engine=GraphicalModelEngine(), constraints=[beside], mechanism=mechanism)
        measured = [measurement.clique for measurement in table.released]
        cells.append(JunctionTree.covering(table.domain, [*measured, beside.clique]).n_cells())
        assert cells[-1] <= max_cells
    assert cells[0] > 6 * 4
    assert cells[1] > 200


def test_looks_at_no_more_than_its_limit():
    table = private(planted())
    model = release(table, mechanism=Auto(max_candidates=20))
    assert [found["looked_at"] for found in model.findings["rounds"]] == [15, 20]


@pytest.mark.parametrize(
    ("shape", "workload"),
    [
        ((1200, 1100, 2), {"k": 3}),
        ((2,) * 14, {"k": 14}),
        ((1500, 2, 3), {"marginals": [{"columns": ["x0", "x1", "x2"]}]}),
    ],
)
def test_what_is_too_large_to_look_at_or_to_plan_for_is_left_out_before_it_costs(shape, workload):
    generator = np.random.default_rng(0)
    domain = Domain(tuple(f"x{i}" for i in range(len(shape))), shape)
    columns = tuple(generator.integers(0, size, 2000).astype(np.uint16) for size in shape)
    ledger = PrivacyLedger(
        epsilon=10.0, delta=1e-6, adjacency=Adjacency.ADD_REMOVE, accounting=Accounting.GDP
    )
    table = PrivateTable(CodedSource(CodedTable(domain, columns)), ledger)
    wanted = Workload.from_dict(domain, workload)
    engine = LayeredConsistencyEngine()
    model = Auto().release(table, Task(workload=wanted, engine=engine))
    assert table.ledger.remaining == 0
    assert len(model.sample(10, seed=0)) == len(shape)
