"""Conditional draws and constraints of the exact engines against the full joint table."""

from itertools import combinations

import numpy as np
import pytest
from helpers.homes import home
from scipy.stats import chi2

from synthdp.core import Constraint, Domain, LinearMeasurement, ModelTooLargeError, ParameterError
from synthdp.inference import (
    DirectEngine,
    FitStatus,
    GraphicalModelEngine,
    JunctionTree,
    MarkovRandomField,
    check_possible,
    complete_records,
)

DOMAIN = Domain(("a", "b", "c", "d", "e"), (3, 2, 4, 2, 3))
CLIQUES = [("a", "b"), ("b", "c"), ("a", "d")]
STATUS = FitStatus(ended="optimal", n_iterations=0, loss=0.0)


def field(seed, cliques=CLIQUES):
    generator = np.random.default_rng(seed)
    potentials = {
        clique: generator.normal(size=DOMAIN.project(clique).shape) * 1.5 for clique in cliques
    }
    tree = JunctionTree.covering(DOMAIN, cliques)
    return MarkovRandomField(tree=tree, log_potentials=potentials, total=1000.0, status=STATUS)


def joint_of(model):
    values = model.marginal(DOMAIN.attributes).values
    return values / values.sum()


def assert_drawn_from(columns, expected, n_rows):
    """Chi-squared test that flakes less than once in 1e9 runs."""
    counts = np.zeros(DOMAIN.shape)
    np.add.at(counts, tuple(columns), 1)
    assert not counts[expected == 0].any()
    possible = expected > 0
    statistic = ((counts - n_rows * expected)[possible] ** 2 / (n_rows * expected[possible])).sum()
    assert statistic < chi2.isf(1e-10, possible.sum() - 1)


@pytest.mark.parametrize(
    "given", [("a",), ("c",), ("e",), ("a", "c"), ("b", "e"), ("a", "b", "c", "d")]
)
def test_completion_draws_from_the_conditional_distribution(given):
    n_rows = 200_000
    model = field(1)
    joint = joint_of(model)
    evidence = {name: np.full(n_rows, DOMAIN[name] - 1) for name in given}
    columns = model.complete(evidence, seed=3)
    mask = np.zeros(DOMAIN.shape)
    mask[
        tuple(DOMAIN[name] - 1 if name in given else slice(None) for name in DOMAIN.attributes)
    ] = 1
    expected = joint * mask / (joint * mask).sum()
    assert_drawn_from(columns, np.where(expected * n_rows > 1e-9, expected, 0), n_rows)


def test_completion_of_drawn_evidence_gives_the_joint_back():
    model, n_rows = field(2), 300_000
    rows = model.sample(n_rows, seed=0, rounding=False)
    given = {name: rows[DOMAIN.index(name)] for name in ("b", "d")}
    columns = model.complete(given, seed=1)
    assert_drawn_from(columns, joint_of(model), n_rows)
    for name, codes in given.items():
        np.testing.assert_array_equal(columns[DOMAIN.index(name)], codes)


def test_completion_in_several_batches_is_the_same_as_in_one(monkeypatch):
    model = field(3)
    given = {"a": np.arange(30) % 3, "c": np.arange(30) % 4}
    assert len(model.complete(given, seed=0)[0]) == 30
    monkeypatch.setattr(home(complete_records), "_BATCH_CELLS", 64)
    columns = model.complete(given, seed=0)
    assert [len(column) for column in columns] == [30] * 5
    np.testing.assert_array_equal(columns[2], given["c"])
    assert [len(column) for column in model.complete({"a": np.empty(0, int)}, seed=0)] == [0] * 5


def test_completion_refuses_what_is_impossible():
    model = field(4)
    potentials = dict(model.log_potentials) | {("a",): np.array([0.0, -np.inf, 0.0])}
    strict = MarkovRandomField(
        tree=model.tree, log_potentials=potentials, total=10.0, status=STATUS
    )
    with pytest.raises(
        ParameterError, match=r"^given: a record contradicts the constraint on \('a',\);"
    ):
        strict.complete({"a": np.array([0, 1])}, seed=0)
    with pytest.raises(ParameterError, match="at least one"):
        model.complete({})
    with pytest.raises(ParameterError, match="'z'"):
        model.complete({"z": np.array([0])})


def test_a_slice_is_drawn_from_the_conditional_distribution():
    model, n_rows = field(5), 200_000
    wanted = {"a": np.array([True, False, True]), "c": np.array([False, True, True, False])}
    columns = model.sample_where(wanted, n_rows, seed=0)
    inside = (
        joint_of(model)
        * wanted["a"][:, None, None, None, None]
        * wanted["c"][None, None, :, None, None]
    )
    assert_drawn_from(columns, inside / inside.sum(), n_rows)


def measured(seed, cliques, stddev=5.0):
    generator = np.random.default_rng(seed)
    joint = joint_of(field(seed)) * 1000
    measurements = []
    for clique in cliques:
        summed = tuple(axis for axis, name in enumerate(DOMAIN.attributes) if name not in clique)
        values = joint.sum(axis=summed)
        measurements.append(
            LinearMeasurement(clique, values + generator.normal(0, stddev, values.shape), stddev)
        )
    return measurements


@pytest.mark.parametrize(
    "engine", [GraphicalModelEngine(), DirectEngine()], ids=lambda engine: engine.name
)
@pytest.mark.parametrize("seed", range(8))
def test_forbidden_combinations_have_probability_0_and_the_fit_is_the_best_without_them(
    engine, seed
):
    generator = np.random.default_rng(seed)
    constraints = [
        Constraint(("c", "a"), generator.random((4, 3)) < 0.7),
        Constraint(("a", "b"), generator.random((3, 2)) < 0.8),
        Constraint.determines("c", "d", [0, 1, 1, 0], 2),
    ]
    measurements = measured(seed, CLIQUES)
    try:
        check_possible(DOMAIN, constraints)
    except ParameterError:
        pytest.skip("these constraints contradict each other")
    model = engine.estimate(DOMAIN, measurements, constraints=constraints)
    joint = model.marginal(DOMAIN.attributes).values
    columns = model.sample(2000, seed=0)
    allowed = np.ones(DOMAIN.shape, dtype=bool)
    for constraint in constraints:
        shown = constraint.canonical(DOMAIN)
        shape = [DOMAIN[name] if name in shown.clique else 1 for name in DOMAIN.attributes]
        allowed &= shown.allowed.reshape(shape)
        assert constraint.holds(DOMAIN, columns).all()
    assert not joint[~allowed].any()
    # Frank-Wolfe gap over the allowed cells: how much any allowed distribution could still gain.
    gradient, loss = np.zeros(DOMAIN.shape), 0.0
    for measurement in measurements:
        residual = (
            model.marginal(measurement.clique).values - measurement.values
        ) / measurement.variance
        shape = [DOMAIN[name] if name in measurement.clique else 1 for name in DOMAIN.attributes]
        gradient = gradient + residual.reshape(shape)
        loss += 0.5 * float((residual**2 * measurement.variance).sum())
    gap = float((gradient * joint).sum() - model.total * gradient[allowed].min())
    assert gap <= 0.1 * loss + 0.02 * 60


def test_constraints_that_do_not_fit_or_contradict_are_refused():
    measurements = measured(0, CLIQUES)
    with pytest.raises(ParameterError, match="the domain asks for"):
        GraphicalModelEngine().estimate(
            DOMAIN, measurements, constraints=[Constraint(("a",), np.ones(2, bool))]
        )
    first = Constraint(("b",), np.array([True, False]))
    second = Constraint(("b", "e"), np.array([[False] * 3, [True] * 3]))
    with pytest.raises(ParameterError, match="impossible"):
        check_possible(DOMAIN, [first, second])
    with pytest.raises(ParameterError, match="impossible"):
        DirectEngine().estimate(DOMAIN, measurements, constraints=[first, second])
    with pytest.raises(ParameterError, match="nothing is allowed"):
        Constraint(("a",), np.zeros(3, bool))
    with pytest.raises(ParameterError, match="each once"):
        Constraint(("a", "a"), np.ones((3, 3), bool))


def test_constraints_on_attributes_of_one_level_alone_leave_all_rows():
    check_possible(Domain(("a", "b"), (1, 1)), [Constraint(("a",), np.ones(1, bool))])
    check_possible(Domain(("a", "b"), (1, 3)), [Constraint(("a",), np.ones(1, bool))])


def test_constraints_whose_junction_tree_is_too_large_are_refused_before_it_is_built():
    domain = Domain(tuple("abcdef"), (40,) * 6)
    pairs = [
        Constraint(pair, np.ones((40, 40), bool)) for pair in combinations(domain.attributes, 2)
    ]
    with pytest.raises(ModelTooLargeError, match=r"^constraints: .* 4096000000 cells"):
        check_possible(domain, pairs)
    check_possible(domain, pairs[:5])


def test_a_constrained_model_may_start_the_next_fit():
    measurements = measured(1, CLIQUES)
    constraint = Constraint(("a", "b"), np.array([[True, False], [True, True], [True, True]]))
    engine = GraphicalModelEngine()
    model = engine.estimate(DOMAIN, measurements, constraints=[constraint])
    again = engine.estimate(DOMAIN, measurements, constraints=[constraint], warm_start=model)
    assert again.status.n_iterations <= model.status.n_iterations
    freed = engine.estimate(DOMAIN, measurements, warm_start=model)
    assert freed.marginal(("a", "b")).values[0, 1] > 1


def test_many_marginals_at_once_equal_the_joint_s():
    model = field(6)
    joint = joint_of(model) * model.total
    cliques = [
        (),
        ("e",),
        ("d", "c"),
        ("c", "d", "e"),
        ("e", "b", "a"),
        ("d", "b"),
        DOMAIN.attributes,
        ("c", "a", "d"),
    ]
    for clique, factor in zip(cliques, model.marginals(cliques), strict=True):
        summed = tuple(axis for axis, name in enumerate(DOMAIN.attributes) if name not in clique)
        kept = [name for name in DOMAIN.attributes if name in clique]
        expected = np.transpose(joint.sum(axis=summed), [kept.index(name) for name in clique])
        np.testing.assert_allclose(factor.values, expected, rtol=1e-10, atol=1e-10)
