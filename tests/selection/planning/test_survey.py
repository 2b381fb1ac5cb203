"""A survey: what it sees of a table with little noise, what it looks at next, and what it may measure."""

from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from helpers.private_tables import private_table
from hypothesis import given
from hypothesis import strategies as st

from synthdp.constraint import Constraint
from synthdp.inference.engines.graphical_model import GraphicalModelEstimator
from synthdp.inference.engines.layered_consistency import LayeredConsistencyEstimator
from synthdp.inference.trees.junction_tree import JunctionTree
from synthdp.selection.allocation import measurement_shares
from synthdp.selection.planning.survey import Survey, _counted
from synthdp.workload import Workload

N_ROWS = 20_000


def chain():
    """x1 follows x0, x3 follows x2 less closely, x4 stands alone."""
    rng = np.random.default_rng(0)
    x0, x2, x4 = rng.integers(0, 3, N_ROWS), rng.integers(0, 4, N_ROWS), rng.integers(0, 5, N_ROWS)
    x1 = np.where(rng.random(N_ROWS) < 0.9, x0, rng.integers(0, 3, N_ROWS))
    x3 = np.where(rng.random(N_ROWS) < 0.3, x2, rng.integers(0, 4, N_ROWS))
    rows = tuple(column.astype(np.uint8) for column in (x0, x1, x2, x3, x4))
    return (3, 3, 4, 4, 5), rows


def survey_of(table, workload=None, *, engine=None, constraints=(), clarity=0.25, max_cells=10**6):
    workload = workload or Workload.default(table.domain)
    return Survey(
        table, workload, engine or LayeredConsistencyEstimator(), constraints, clarity=clarity, max_cells=max_cells
    )


def precise(**arguments):
    shape, rows = chain()
    table = private_table(shape, N_ROWS, rows=rows, epsilon=1e7)
    survey = survey_of(table, **arguments)
    survey.measure_columns(Fraction(1))
    return table, survey, rows


def distance(rows, i, j, shape):
    joint = np.zeros((shape[i], shape[j]))
    np.add.at(joint, (rows[i], rows[j]), 1)
    return np.abs(joint - np.outer(joint.sum(1), joint.sum(0)) / N_ROWS).sum()


def test_the_first_look_sees_what_depends():
    table, survey, rows = precise()
    errors = survey.first_look(Fraction(10**5))
    for i, j in combinations(range(5), 2):
        truth, found = distance(rows, i, j, chain()[0]), sqrt(errors[f"x{i}", f"x{j}"])
        assert found == pytest.approx(truth, rel=0.15)
    shares = measurement_shares(table.domain, {(name,): 1.0 for name in table.domain.attributes})
    for name, size in zip(table.domain.attributes, table.domain.shape, strict=True):
        residual = size * sqrt(1 - 1 / size) * sqrt(2 / np.pi / (2 * shares[name,]))
        assert sqrt(errors[name,]) == pytest.approx(residual, rel=0.15)  # levels are not quite equal


def test_wider_marginals_are_those_of_the_strongest_pairs():
    _, survey, _ = precise()
    errors = survey.first_look(Fraction(10**5))
    assert survey.promising(errors, most=10) == []
    triples = survey.promising(errors, most=13)
    assert {frozenset(triple) for triple in triples} == {frozenset(("x0", "x1", other)) for other in ("x2", "x3", "x4")}
    assert len(survey.promising(errors, most=10**6)) == 10
    strengths = {pair: errors[pair] for pair in survey.pairs}
    model = LayeredConsistencyEstimator().estimate(survey._table.domain, survey._table.released)
    wider = survey.promising(errors, most=13)
    seen = survey.second_look(model, wider, errors, Fraction(10**5), doubt=0.5)
    assert {c for c in seen if len(c) == 2} == set(strengths)
    # The model knows columns only, so it errs on pairs by what the first look saw.
    assert sqrt(seen["x0", "x1"]) == pytest.approx(sqrt(strengths["x0", "x1"]), rel=0.15)


def test_a_look_is_clear_if_its_noise_is_small_beside_the_records():
    _, survey, _ = precise(clarity=0.1)
    pairs = survey.pairs
    limit = Fraction(len(pairs)) / (2 * Fraction(N_ROWS // 10) ** 2)
    assert survey.is_clear(pairs, limit * Fraction(102, 100))
    assert not survey.is_clear(pairs, limit * Fraction(98, 100))
    assert not survey.is_clear([], Fraction(10**6))


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 10)])
def test_a_batch_spends_its_share_and_is_told(rho):
    table, survey, _ = precise()
    errors = survey.first_look(Fraction(10**5))
    spent, n_released = table.ledger.spent, len(table.released)
    left = survey.measure_batch(errors, rho)
    assert table.ledger.spent - spent == rho
    assert left["x0", "x1"] < 0.5 * errors["x0", "x1"]
    model = survey.told(LayeredConsistencyEstimator().estimate(table.domain, table.released))
    (found,) = model.findings["rounds"]
    assert found["looked_at"] == 10
    assert found["measured"] == len(table.released) - n_released
    assert found["stddev_records"] == round(sqrt(10 / 2e5), 3)


def test_a_batch_leaves_room_for_constraints_and_for_what_was_measured():
    ring = Constraint(("x0", "x4"), np.eye(3, 5, dtype=bool) | True)
    table, survey, _ = precise(engine=GraphicalModelEstimator(), constraints=[ring], max_cells=60)
    errors = survey.first_look(Fraction(10**5))
    survey.measure_batch(errors, Fraction(1, 10))
    measured = [measurement.clique for measurement in table.released]
    assert any(len(clique) > 1 for clique in measured)
    assert JunctionTree.covering(table.domain, [*measured, ring.clique]).n_cells() <= 60


def test_columns_that_no_marginal_asks_for_are_measured_a_little():
    shape, rows = chain()
    table = private_table(shape, N_ROWS, rows=rows, epsilon=1e3)
    survey = survey_of(table, Workload.of(table.domain, [("x0", "x1")]))
    assert survey.pairs == [("x0", "x1")]
    survey.measure_columns(Fraction(1))
    assert {measurement.clique for measurement in table.released} == {(name,) for name in table.domain.attributes}
    errors = survey.first_look(Fraction(1))
    survey.measure_batch(errors, Fraction(1))
    assert ("x0", "x1") in {measurement.clique for measurement in table.released}


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=30))
def test_rare_levels_count_less_and_equal_ones_in_full(weights):
    shares = np.array(weights) / sum(weights)
    assert 1.0 <= _counted(shares) <= shares.size * (1 + 1e-9)
    assert _counted(np.full(shares.size, 1 / shares.size)) == pytest.approx(shares.size)
    rarer = np.append(shares, 1e-9)
    assert _counted(rarer / rarer.sum()) < _counted(np.append(shares, shares.max()) / (1 + shares.max()))
