"""PrivBayes: the network that it chooses, families that are worth their noise, and what it refuses."""

from itertools import product

import numpy as np
import pytest

from synthdp.core import Domain, LinearMeasurement, Workload
from synthdp.data import CodedSource, CodedTable
from synthdp.inference import GraphicalModelEngine, JunctionTree
from synthdp.mechanisms import PrivBayes, Task, independent_families, with_most_parents
from synthdp.privacy import Adjacency, PrivacyLedger, PrivateTable


def release(columns, shape, *, mechanism=None, epsilon=1.0):
    """The model and the private table after a release."""
    domain = Domain(tuple(f"x{i}" for i in range(len(shape))), shape)
    ledger = PrivacyLedger(epsilon=epsilon, delta=1e-6, adjacency=Adjacency.ADD_REMOVE)
    table = PrivateTable(CodedSource(CodedTable(domain, tuple(columns))), ledger)
    model = (mechanism or PrivBayes()).release(
        table, Task(workload=Workload.default(domain), engine=GraphicalModelEngine())
    )
    return model, table


def families(table):
    return [measurement.clique for measurement in table.released if len(measurement.clique) > 1]


def coins(n_columns, n_rows=20_000):
    generator = np.random.default_rng(0)
    return [generator.integers(0, 2, n_rows) for _ in range(n_columns)]


def test_finds_a_child_of_two_parents_that_no_pair_shows():
    """The exclusive or of two coins: each pair is independent, only the family of three is not."""
    a, b, c = coins(3)
    columns = (a, c, b, a ^ b)
    model, table = release(columns, (2,) * 4, mechanism=PrivBayes(degree=2))
    assert any({"x0", "x2", "x3"} <= set(family) for family in families(table))
    truth = np.zeros((2, 2, 2))
    np.add.at(truth, (a, b, a ^ b), 1)
    assert np.abs(model.marginal(("x0", "x2", "x3")).values - truth).sum() < 0.05 * truth.sum()


def test_degree_one_finds_a_planted_chain():
    generator = np.random.default_rng(1)
    columns = [generator.integers(0, 3, 20_000)]
    for _ in range(4):
        columns.append((columns[-1] + (generator.random(20_000) < 0.1)) % 3)
    _, table = release(columns, (3,) * 5, mechanism=PrivBayes(degree=1))
    assert {frozenset(family) for family in families(table)} == {
        frozenset({f"x{i}", f"x{i + 1}"}) for i in range(4)
    }


def test_every_family_adds_one_column_to_earlier_ones():
    generator = np.random.default_rng(2)
    columns = [generator.integers(0, 3, 5000) for _ in range(7)]
    _, table = release(columns, (3,) * 7, epsilon=10.0)
    first, *others = families(table)
    placed = set(first)
    for *parents, child in others:
        assert set(parents) <= placed
        assert child not in placed
        assert len(parents) <= 3
        placed.add(child)
    assert placed == set(table.domain.attributes)


def test_an_empty_table_gets_no_families_and_its_budget_goes_to_columns():
    _, table = release([np.zeros(0, dtype=int)] * 3, (50, 50, 50), epsilon=0.1)
    assert [measurement.clique for measurement in table.released] == [("x0",), ("x1",), ("x2",)] * 2
    assert table.ledger.remaining == 0


@pytest.mark.parametrize("theta", [2.0, 20.0])
def test_families_are_theta_useful(theta):
    generator = np.random.default_rng(3)
    columns = [generator.integers(0, 5, 20_000) for _ in range(6)]
    _, table = release(columns, (5,) * 6, mechanism=PrivBayes(theta=theta))
    found = [measurement for measurement in table.released if len(measurement.clique) > 1]
    assert found
    for measurement in found:
        noise = np.sqrt(2 / np.pi) * float(np.max(measurement.stddev))
        # 5 %: the number of records is an estimate, and discrete noise is a little off its
        # parameter
        assert 20_000 / measurement.values.size > 0.95 * theta * noise


def test_keeps_its_junction_tree_small():
    generator = np.random.default_rng(4)
    columns = [generator.integers(0, 4, 50_000) for _ in range(9)]
    _, table = release(columns, (4,) * 9, mechanism=PrivBayes(max_cells=700), epsilon=100.0)
    assert len(families(table)) == 8
    assert JunctionTree.covering(table.domain, families(table)).n_cells() <= 700


def test_few_candidates_allow_one_parent_only():
    _, table = release(coins(6), (2,) * 6, mechanism=PrivBayes(max_candidates=1))
    assert {len(family) for family in families(table)} == {2}


def test_estimates_of_families_are_products_of_parents_and_child():
    domain = Domain(("a", "b", "c"), (2, 3, 2))
    generator = np.random.default_rng(5)
    joint = generator.integers(1, 100, (2, 3)).astype(float)
    child = np.array([0.25, 0.75]) * joint.sum()
    measurements = [
        LinearMeasurement(("a", "b"), joint, 1.0),
        LinearMeasurement(("c",), child, 1.0),
    ]
    model = GraphicalModelEngine().estimate(domain, measurements)
    (estimate,) = independent_families(model, [("a", "b", "c")]).values()
    for a, b, c in product(range(2), range(3), range(2)):
        assert estimate[a, b, c] == pytest.approx(joint[a, b] * (0.25, 0.75)[c], rel=0.01)


def test_of_nested_sets_of_parents_the_largest_stays():
    kept = with_most_parents([("a", "z"), ("b", "z"), ("c", "z"), ("a", "b", "z"), ("a", "y")])
    assert kept == [("c", "z"), ("a", "b", "z"), ("a", "y")]
