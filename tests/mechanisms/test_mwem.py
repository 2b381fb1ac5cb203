"""MWEM with and without a graphical model: what it selects, what it keeps, what it refuses."""

from fractions import Fraction

import numpy as np
import pytest

from synthdp.core import Domain, ModelTooLargeError, ParameterError, Workload
from synthdp.data import CodedSource, CodedTable
from synthdp.inference import DirectEngine, GraphicalModelEngine, JunctionTree
from synthdp.mechanisms import MWEM, MWEMPGM, Task
from synthdp.privacy import Adjacency, PrivacyLedger, PrivateTable

ENGINES = {MWEM: DirectEngine(), MWEMPGM: GraphicalModelEngine()}


@pytest.fixture(params=ENGINES, ids=lambda mechanism: mechanism.name)
def mechanism(request):
    return request.param


def private_table(columns, shape, *, epsilon=1.0, adjacency=Adjacency.ADD_REMOVE):
    domain = Domain(tuple(f"x{i}" for i in range(len(shape))), shape)
    ledger = PrivacyLedger(epsilon=epsilon, delta=1e-6, adjacency=adjacency)
    return PrivateTable(CodedSource(CodedTable(domain, tuple(columns))), ledger)


def planted(n_rows=20_000):
    """Column 3 follows column 0, everything else is uniform: only one pair differs from the start."""
    generator = np.random.default_rng(0)
    columns = [generator.integers(0, 4, n_rows) for _ in range(5)]
    columns[3] = (columns[0] + (generator.random(n_rows) < 0.1)) % 4
    return columns


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_first_round_measures_the_one_pair_that_is_not_uniform(mechanism, adjacency):
    columns = planted()
    table = private_table(columns, (4,) * 5, adjacency=adjacency)
    workload = Workload.all_k_way(table.domain, 2)
    model = mechanism(rounds=1).release(table, Task(workload=workload, engine=ENGINES[mechanism]))
    assert [measurement.clique for measurement in table.released] == [(), ("x0", "x3")]
    truth = np.zeros((4, 4))
    np.add.at(truth, (columns[0], columns[3]), 1)
    assert np.abs(model.marginal(("x0", "x3")).values - truth).sum() < 0.02 * truth.sum()
    others = model.marginal(("x1", "x2")).values
    np.testing.assert_allclose(others, others.mean(), rtol=1e-6)


def test_what_is_measured_is_not_worst_again(mechanism):
    columns = planted()
    columns[4] = (columns[1] + (columns[4] > 2)) % 4
    table = private_table(columns, (4,) * 5)
    workload = Workload.all_k_way(table.domain, 2)
    mechanism(rounds=2).release(table, Task(workload=workload, engine=ENGINES[mechanism]))
    assert {measurement.clique for measurement in table.released} == {
        (),
        ("x0", "x3"),
        ("x1", "x4"),
    }


def test_rounds_share_the_budget_evenly_and_selection_takes_its_share(mechanism):
    table = private_table(planted(500), (4,) * 5)
    workload = Workload.all_k_way(table.domain, 2)
    mechanism(rounds=4, selection_share=0.25, total_share=0.125).release(
        table, Task(workload=workload, engine=ENGINES[mechanism])
    )
    shares = [float(event.rho / table.ledger.budget) for event in table.ledger.events]
    each = (1 - 0.125) / 4
    assert shares == pytest.approx([0.125] + [0.25 * each, 0.75 * each] * 4, rel=1e-6)
    assert Fraction(99, 100) * table.ledger.budget <= table.ledger.spent <= table.ledger.budget


def test_by_default_there_is_a_round_for_each_attribute(mechanism):
    table = private_table(planted(500), (4,) * 5)
    workload = Workload.all_k_way(table.domain, 2)
    mechanism().release(table, Task(workload=workload, engine=ENGINES[mechanism]))
    assert len(table.released) == 1 + 5


def test_a_large_marginal_waits_until_it_is_worth_its_noise(mechanism):
    """The same dependence, in a pair of many cells: the penalty for noise lets the small pair go
    first.
    """
    generator = np.random.default_rng(0)
    a, c = generator.integers(0, 2, 2000), generator.integers(0, 60, 2000)
    columns = (a, a.copy(), c, (c + 30 * generator.integers(0, 2, 2000)) % 60)
    table = private_table(columns, (2, 2, 60, 60), epsilon=0.5)
    workload = Workload.from_cliques(table.domain, [("x0", "x1"), ("x2", "x3")])
    mechanism(rounds=1).release(table, Task(workload=workload, engine=ENGINES[mechanism]))
    assert table.released[-1].clique == ("x0", "x1")


def test_mwem_leaves_it_to_the_direct_engine_to_refuse_a_large_domain():
    table = private_table([np.zeros(10, dtype=int)] * 30, (2,) * 30)
    with pytest.raises(ModelTooLargeError, match="direct"):
        MWEM().release(table, Task(workload=Workload.default(table.domain), engine=DirectEngine()))


def test_mwem_pgm_keeps_its_junction_tree_small():
    generator = np.random.default_rng(0)
    columns = [generator.integers(0, 6, 3000) for _ in range(8)]
    table = private_table(columns, (6,) * 8, epsilon=100.0)
    workload = Workload.all_k_way(table.domain, 2)
    engine = GraphicalModelEngine()
    MWEMPGM(rounds=20, max_cells=600).release(table, Task(workload=workload, engine=engine))
    cliques = [measurement.clique for measurement in table.released]
    assert len(set(cliques)) > 8
    assert JunctionTree.covering(table.domain, cliques).n_cells() <= 600


def test_mwem_pgm_refuses_a_tree_without_cells():
    with pytest.raises(ParameterError, match="max_cells"):
        MWEMPGM(max_cells=0)


def test_marginals_with_more_noise_than_a_score_takes_stop_no_run(mechanism):
    """They did in the first round that met one, after others were paid for."""
    table = private_table([np.zeros(9, np.int64)] * 2, (300, 300), epsilon=1e-7)
    workload = Workload.all_k_way(table.domain, 2)
    task = Task(workload=workload, engine=ENGINES[mechanism])
    model = mechanism(rounds=2, selection_share=0.9999).release(table, task)
    assert model.domain == table.domain
    assert table.ledger.remaining < table.ledger.budget
