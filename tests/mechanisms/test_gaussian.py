"""The mechanism without selection."""

import numpy as np
import pytest

from synthdp.core import Domain, Workload
from synthdp.data import CodedSource, CodedTable
from synthdp.inference import GraphicalModelEngine, LocalConsistencyEngine
from synthdp.mechanisms import Gaussian, Task, best_linear_estimates
from synthdp.privacy import Adjacency, MarginalEvent, PrivacyLedger, PrivateTable


def released(shape, *, workload, epsilon=1.0, engine=None, n_rows=2000):
    generator = np.random.default_rng(0)
    domain = Domain(tuple(f"x{i}" for i in range(len(shape))), shape)
    columns = tuple(generator.integers(0, size, n_rows) for size in shape)
    ledger = PrivacyLedger(epsilon=epsilon, delta=1e-6, adjacency=Adjacency.ADD_REMOVE)
    source = CodedSource(CodedTable(domain, columns))
    table = PrivateTable(source, ledger)
    wanted = Workload.from_cliques(domain, workload)
    model = Gaussian().release(
        table, Task(workload=wanted, engine=engine or GraphicalModelEngine())
    )
    return model, table, source


def test_spends_all_of_the_budget_on_marginals_and_holds_the_workload():
    workload = [("x0", "x1"), ("x1", "x2"), ("x0", "x3")]
    _, table, _ = released((3, 2, 4, 5), workload=workload)
    assert table.ledger.remaining == 0
    assert all(isinstance(event, MarginalEvent) for event in table.ledger.events)
    for clique in workload:
        assert any(set(clique) <= set(measurement.clique) for measurement in table.released)


def test_columns_that_the_workload_leaves_out_are_measured_a_little():
    _, table, _ = released((3, 4, 5), workload=[("x0", "x1")])
    shares = {event.clique: float(event.rho / table.ledger.budget) for event in table.ledger.events}
    assert shares.keys() == {("x0", "x1"), ("x2",)}
    assert 0.01 < shares["x2",] < 0.2


def test_findings_hold_the_noise_of_the_unbiased_estimates():
    workload = [("x0", "x1"), ("x2", "x1"), ("x0", "x2")]
    errors = []
    for _ in range(60):
        model, table, source = released(
            (3, 2, 4),
            workload=workload,
            epsilon=3.0,
            n_rows=300,
            engine=LocalConsistencyEngine(),
        )
        found = model.findings["unbiased_estimates"]
        cliques = [tuple(entry["columns"]) for entry in found]
        assert cliques == [("x0", "x1"), ("x1", "x2"), ("x0", "x2")]
        for entry, estimate in zip(
            found, best_linear_estimates(table.domain, table.released, cliques), strict=True
        ):
            assert estimate.stddev == entry["stddev_records"]
            errors.append(
                (estimate.values - source.counts(estimate.clique)).ravel() / estimate.stddev
            )
    errors = np.concatenate(errors)
    # A simulation of this mean with normal noise has standard deviation 0.042; the limit is 7 of
    # these.
    assert np.mean(np.square(errors)) == pytest.approx(1.0, abs=0.3)
