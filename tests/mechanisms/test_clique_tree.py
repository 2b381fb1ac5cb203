"""The one-shot clique tree: what it finds in planted tables, and how small it stays."""

from itertools import combinations

import numpy as np
import pytest
from helpers.homes import home

from synthdp.core import Domain, Workload
from synthdp.data import CodedSource, CodedTable
from synthdp.inference import GraphicalModelEngine, JunctionTree, TreeGrowth
from synthdp.mechanisms import CliqueTree, Task
from synthdp.privacy import Adjacency, PrivacyLedger, PrivateTable

clique_tree = home(CliqueTree)


def released(shape, rows, mechanism):
    domain = Domain(tuple(f"x{i}" for i in range(len(shape))), shape)
    ledger = PrivacyLedger(epsilon=1.0, delta=1e-6, adjacency=Adjacency.ADD_REMOVE)
    table = PrivateTable(CodedSource(CodedTable(domain, rows)), ledger)
    model = mechanism.release(
        table, Task(workload=Workload.default(domain), engine=GraphicalModelEngine())
    )
    assert ledger.spent == ledger.budget
    return model, [m.clique for m in table.released]


def test_finds_a_planted_tree_and_a_planted_triple():
    generator = np.random.default_rng(0)
    a, b, u, v = (generator.integers(0, 2, 20_000) for _ in range(4))
    c = a ^ b  # every pair of the three is independent
    w = np.where(generator.random(20_000) < 0.9, u, 1 - u)
    rows = (a, u, b, w, c, v)
    model, measured = released((2,) * 6, rows, CliqueTree())
    assert ("x0", "x2", "x4") in measured
    assert any({"x1", "x3"} <= set(clique) for clique in measured)
    joint = np.zeros((2, 2, 2))
    np.add.at(joint, (a, b, c), 1)
    assert np.abs(model.marginal(("x0", "x2", "x4")).values - joint).sum() < 0.05 * len(a)


def test_keeps_the_tree_small_and_measures_no_pair_twice():
    generator = np.random.default_rng(1)
    hidden = generator.integers(0, 4, 20_000)
    rows = tuple(
        np.where(generator.random(20_000) < 0.7, hidden, generator.integers(0, 4, 20_000))
        for _ in range(8)
    )
    _, measured = released((4,) * 8, rows, CliqueTree(max_cells=300))
    domain = Domain(tuple(f"x{i}" for i in range(8)), (4,) * 8)
    assert JunctionTree.covering(domain, measured).n_cells() <= 300
    pairs = [pair for clique in measured for pair in combinations(clique, 2)]
    assert len(pairs) == len(set(pairs)) >= 7


@pytest.mark.parametrize(("most", "n_refused"), [(1, 5), (3, 15)])
def test_planning_ends_when_many_cliques_did_not_fit(most, n_refused, monkeypatch):
    generator, sizes, grown = np.random.default_rng(1), [], TreeGrowth.n_cells_with
    hidden = generator.integers(0, 4, 20_000)
    rows = tuple(
        np.where(generator.random(20_000) < 0.7, hidden, generator.integers(0, 4, 20_000))
        for _ in range(8)
    )

    def asked(growth, candidates, **limits):
        sizes.extend(grown(growth, candidates, **limits))
        return np.array(sizes[-1:])

    monkeypatch.setattr(clique_tree, "_MAX_REFUSED", most)
    monkeypatch.setattr(TreeGrowth, "n_cells_with", asked)
    _, measured = released((4,) * 8, rows, CliqueTree(max_cells=300))
    assert np.isinf(sizes).sum() == n_refused  # of each of the five penalties for size
    assert any(len(clique) > 1 for clique in measured)
