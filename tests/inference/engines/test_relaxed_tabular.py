"""The mixture engines: derivatives, what they recover, how near to the optimum they end, and their
samples.
"""

import json
import sys
from dataclasses import replace
from functools import reduce
from itertools import combinations

import numpy as np
import pytest
from helpers.fit_problems import DOMAIN, mixture_of
from helpers.homes import home
from helpers.quick_engines import each_of
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.inference import (
    clique_sets,
    domains,
    marginal_of,
    noisy,
    random_cliques,
    random_domain,
)

from synthdp.core import (
    Constraint,
    Domain,
    FitWarning,
    LinearMeasurement,
    MissingExtraError,
    ModelTooLargeError,
    ParameterError,
)
from synthdp.inference import (
    AdaptiveDescent,
    ArrayBackend,
    FitStatus,
    GraphicalModelEngine,
    MarginalLoss,
    MixtureEngine,
    MixtureModel,
    ProductComponents,
    RelaxedTabularEngine,
    SoftmaxForm,
    TableForm,
    repaired,
)
from synthdp.inference.engines.mixture_fit import _Objective, _target
from synthdp.inference.possible_cells import possible_cells

product_components = home(ProductComponents)

ENGINES = [MixtureEngine, RelaxedTabularEngine]
NUMPY = ArrayBackend("numpy")
STATUS = FitStatus(ended="optimal", n_iterations=0, loss=0.0)
ALLOWED = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]], dtype=bool)


engine = each_of(ENGINES)


def random_components(rng, domain, n_components):
    levels = [rng.dirichlet(np.ones(size), n_components).T for size in domain.shape]
    return np.vstack(levels), rng.dirichlet(np.ones(n_components))


def joint_of(domain, levels, weights):
    """The whole table of a mixture, component by component."""
    ends = np.cumsum(domain.shape)[:-1]
    tables = [
        weight * reduce(np.multiply.outer, np.split(column, ends))
        for column, weight in zip(levels.T, weights, strict=True)
    ]
    return np.sum(tables, axis=0)


# --- marginals and derivatives ---


def drawn_components(data, n_components):
    domain = data.draw(domains())
    cliques = list(dict.fromkeys(data.draw(clique_sets(domain, longest=5))))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    return rng, domain, cliques, *random_components(rng, domain, n_components)


@settings(max_examples=examples(75), deadline=None)
@given(st.data())
def test_marginals_are_those_of_the_whole_table(data):
    rng, domain, cliques, levels, weights = drawn_components(data, 5)
    cliques = [tuple(rng.permutation(clique).tolist()) for clique in cliques]
    flat = ProductComponents(domain, cliques, NUMPY).marginals(levels, weights)
    table = joint_of(domain, levels, weights)
    expected = [marginal_of(table, domain, clique).ravel() for clique in cliques]
    np.testing.assert_allclose(flat, np.concatenate(expected), atol=1e-12)


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_derivatives_by_components_are_right(data):
    rng, domain, cliques, levels, weights = drawn_components(data, 3)
    products = ProductComponents(domain, cliques, NUMPY)
    by_cell = rng.normal(size=products.marginals(levels, weights).size)
    slopes = products.gradient(levels, weights, by_cell)
    for part, (values, slope) in enumerate(zip((levels, weights), slopes, strict=True)):
        direction = rng.normal(size=values.shape)
        ends = []
        for sign in (1, -1):
            moved = [levels, weights]
            moved[part] = values + sign * 1e-5 * direction
            ends.append(by_cell @ products.marginals(*moved))
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(
            np.sum(slope * direction), rel=1e-6, abs=1e-7
        )


def test_memory_for_temporary_tables_does_not_change_results(monkeypatch):
    rng = np.random.default_rng(0)
    levels, weights = random_components(rng, DOMAIN, 50)
    cliques = [("a", "b", "c"), ("a", "d"), ("a",), ("b", "c", "d")]
    whole = ProductComponents(DOMAIN, cliques, NUMPY)
    by_cell = rng.normal(size=whole.marginals(levels, weights).size)
    monkeypatch.setattr(product_components, "_MAX_NUMBERS", 100)
    parts = ProductComponents(DOMAIN, cliques, NUMPY)
    np.testing.assert_allclose(
        parts.marginals(levels, weights), whole.marginals(levels, weights), atol=1e-14
    )
    for left, right in zip(
        parts.gradient(levels, weights, by_cell),
        whole.gradient(levels, weights, by_cell),
        strict=True,
    ):
        np.testing.assert_allclose(left, right, atol=1e-13)


@pytest.mark.parametrize("form", ["softmax", "equal weights", "table"])
def test_the_objectives_gradient_is_right_by_every_parameter(form, joint):
    forms = {
        "softmax": SoftmaxForm(DOMAIN, NUMPY, learn_weights=True),
        "equal weights": SoftmaxForm(DOMAIN, NUMPY, learn_weights=False),
        "table": TableForm(DOMAIN, NUMPY, box=True),
    }
    rng = np.random.default_rng(2)
    measurements = noisy(
        rng, joint, DOMAIN, [("a", "b"), ("b", "c", "d"), (), ("c",)], [3.0, 5.0, 10.0, 4.0]
    )
    loss = MarginalLoss(DOMAIN, measurements)
    allowed = possible_cells(DOMAIN, [Constraint(("a", "c"), ALLOWED)])
    target = _target(loss, DOMAIN, allowed)
    objective = _Objective(
        target, ProductComponents(DOMAIN, target.cliques, NUMPY), forms[form], NUMPY, 1000.0
    )
    parameters = forms[form].parameters(random_components(rng, DOMAIN, 4))
    _, gradient = objective(parameters)
    for position in np.ndindex(parameters.shape):
        step = np.zeros_like(parameters)
        step[position] = 1e-5
        slope = (objective(parameters + step)[0] - objective(parameters - step)[0]) / 2e-5
        if form == "equal weights" and position[0] == len(parameters) - 1:
            slope = 0.0
        assert gradient[position] == pytest.approx(slope, rel=1e-5, abs=1e-3), position


def test_the_projection_is_the_nearest_point_of_the_simplex():
    rng = np.random.default_rng(3)
    domain = Domain(("a", "b"), (5, 1))
    table = rng.normal(size=(6, 40))
    projected = TableForm(domain, NUMPY, box=False).project(table)
    for block in (slice(0, 5), slice(5, 6)):
        near, far = projected[block], table[block]
        np.testing.assert_allclose(near.sum(0), 1.0)
        assert (near >= 0).all()
        # nearest: no vertex lies on the far side (the variational inequality of a projection)
        assert ((far - near) * near).sum(0) == pytest.approx((far - near).max(0), abs=1e-12)


# --- fits ---

SMALL = {
    "tree": [("a", "b"), ("b", "c")],
    "cycle": [("a", "b"), ("b", "c"), ("c", "a")],
    "3-way": [("a", "b", "c"), ("b", "c", "d")],
    "nested": [("a",), ("b", "a"), ("a", "b", "c"), ("c",)],
    "repeats": [("a", "b"), ("b", "a"), ("a", "b"), ("c",)],
    "empty clique": [(), ("a", "b"), ()],
    "only the empty clique": [()],
    "one level": [("one",), ("a", "one", "b")],
    "everything": [("a", "b", "one", "c", "d")],
}


@pytest.mark.parametrize("problem", SMALL)
def test_an_expressible_distribution_is_recovered_as_noise_vanishes(engine, joint, problem):
    cliques = SMALL[problem]
    measurements = noisy(np.random.default_rng(0), joint, DOMAIN, cliques, [1e-4] * len(cliques))
    model = engine().estimate(DOMAIN, measurements)
    for clique in cliques:
        np.testing.assert_allclose(
            model.marginal(clique).values, marginal_of(joint, DOMAIN, clique), atol=0.5
        )


@pytest.mark.parametrize("seed", range(6))
def test_random_small_problems_end_near_the_least_loss(engine, seed):
    """Within a fiftieth of the least loss plus what a thirtieth of the noise would add."""
    rng = np.random.default_rng(seed)
    domain = random_domain(rng)
    cliques = random_cliques(rng, domain)
    joint = 1000 * rng.dirichlet(np.full(domain.size(), 0.3)).reshape(domain.shape)
    measurements = noisy(rng, joint, domain, cliques, 10 ** rng.uniform(0, 1, len(cliques)))
    exact = GraphicalModelEngine().estimate(domain, measurements)
    driver = replace(engine().driver, stop_at_noise=False)
    model = engine(driver=driver).estimate(domain, measurements)
    n_cells = sum(measurement.values.size for measurement in measurements)
    assert (model.status.ended, model.status.caution) == ("stalled", "")
    assert model.status.loss <= 1.02 * exact.status.loss + n_cells / 30


def adult_like(seed, *, stddev, n_rows=20_000):
    """All attributes depend on a hidden one; noisy 2-way marginals on a dense graph, and the true
    ones.
    """
    rng = np.random.default_rng(seed)
    domain = Domain(tuple("abcdefgh"), (2, 5, 7, 9, 12, 3, 6, 15))
    hidden = rng.integers(0, 6, n_rows)
    columns = [
        (rng.dirichlet(np.full(n, 0.3), 6).cumsum(1)[hidden] < rng.random((n_rows, 1))).sum(1)
        for n in domain.shape
    ]
    columns = [np.minimum(column, n - 1) for column, n in zip(columns, domain.shape, strict=True)]
    pairs = list(combinations(domain.attributes, 2))
    cliques = [pairs[i] for i in rng.choice(len(pairs), 12, replace=False)]
    measurements, exact = [], []
    for clique in cliques:
        shape = domain.project(clique).shape
        index = np.ravel_multi_index([columns[domain.index(name)] for name in clique], shape)
        exact.append(np.bincount(index, minlength=np.prod(shape)).reshape(shape).astype(float))
        measurements.append(
            LinearMeasurement(clique, exact[-1] + stddev * rng.normal(size=shape), stddev)
        )
    return domain, measurements, exact


def mean_error(model, measurements, exact):
    pairs = zip(measurements, exact, strict=True)
    return np.mean([np.abs(model.marginal(m.clique).values - truth).sum() for m, truth in pairs])


@pytest.mark.parametrize("stddev", [5.0, 50.0])
def test_losses_and_errors_are_near_the_graphical_models_on_dense_graphs(engine, stddev):
    """Fitted to the end: at most a fifth above its loss. By default: an error at most 10 % above
    its own.
    """
    domain, measurements, truth = adult_like(1, stddev=stddev)
    exact = GraphicalModelEngine().estimate(domain, measurements)
    to_the_end = engine(driver=replace(engine().driver, stop_at_noise=False), n_components=200)
    assert to_the_end.estimate(domain, measurements).status.loss <= 1.2 * exact.status.loss
    model = engine(n_components=200).estimate(domain, measurements)
    assert mean_error(model, measurements, truth) <= 1.1 * mean_error(exact, measurements, truth)


def test_attributes_that_are_not_measured_are_uniform_and_independent(engine, joint):
    measurements = noisy(np.random.default_rng(1), joint, DOMAIN, [("a", "b")], [5.0])
    model = engine().estimate(DOMAIN, measurements)
    expected = model.marginal(("a", "b")).values[:, :, None] / 4
    np.testing.assert_allclose(
        model.marginal(("a", "b", "c")).values, np.repeat(expected, 4, axis=2), rtol=1e-6
    )
    np.testing.assert_allclose(model.marginal(("c", "d")).values, model.total / 8, rtol=1e-6)


def test_precise_cells_weigh_more(engine):
    domain = Domain(("a",), (3,))
    total = LinearMeasurement((), np.array(90.0), 1e-3)
    stddev = np.array([0.01, 0.01, 50.0])
    model = engine().estimate(
        domain, [total, LinearMeasurement(("a",), np.array([20.0, 30.0, 0.0]), stddev)]
    )
    np.testing.assert_allclose(
        model.marginal(("a",)).values[:2] / model.total, [20 / 90, 30 / 90], atol=0.01
    )


@pytest.mark.parametrize("size", [1, 5])
def test_one_attribute_is_enough(engine, size):
    domain = Domain(("a",), (size,))
    model = engine().estimate(domain, [LinearMeasurement(("a",), np.arange(5.0, 5.0 + size), 1e-3)])
    np.testing.assert_allclose(model.marginal(("a",)).values, np.arange(5.0, 5.0 + size), atol=0.01)


def test_one_component_is_the_product_of_one_way_marginals(engine, joint):
    cliques = [("a",), ("b",), ("c",)]
    model = engine(n_components=1).estimate(
        DOMAIN, noisy(np.random.default_rng(0), joint, DOMAIN, cliques, [1e-3] * 3)
    )
    expected = (
        np.multiply.outer(marginal_of(joint, DOMAIN, ("a",)), marginal_of(joint, DOMAIN, ("c",)))
        / joint.sum()
    )
    np.testing.assert_allclose(model.marginal(("a", "c")).values, expected, atol=0.5)


def test_fits_depend_on_nothing_but_the_seed(engine, joint):
    measurements = noisy(
        np.random.default_rng(1), joint, DOMAIN, [("a", "b"), ("b", "c")], [5.0, 5.0]
    )
    first, again = (engine(n_components=20).estimate(DOMAIN, measurements) for _ in range(2))
    other = engine(n_components=20, seed=1).estimate(DOMAIN, measurements)
    np.testing.assert_array_equal(first.levels, again.levels)
    assert not np.array_equal(first.levels, other.levels)


def test_the_box_gives_proper_models_and_owns_up_to_their_loss(joint):
    measurements = noisy(
        np.random.default_rng(1), joint, DOMAIN, [("a", "b"), ("b", "c")], [5.0, 5.0]
    )
    model = RelaxedTabularEngine(box=True).estimate(DOMAIN, measurements)
    loss = MarginalLoss(DOMAIN, measurements)
    flat = loss.flatten([model.marginal(clique).values for clique in loss.cliques])
    assert model.status.loss == pytest.approx(loss.of_residual(loss.residual(flat)))
    assert model.marginal(DOMAIN.attributes).total() == pytest.approx(model.total)


def test_a_table_of_zeros_becomes_uniform():
    form = TableForm(DOMAIN, NUMPY, box=True)
    levels, _ = form.proper(form.components(np.zeros((12, 2))))
    np.testing.assert_allclose(levels[:3], 1 / 3)


def test_warm_starts_begin_near_the_end(engine, joint):
    rng = np.random.default_rng(4)
    before = noisy(rng, joint, DOMAIN, [("a", "b"), ("b", "c")], [3.0, 3.0])
    measurements = [*before, *noisy(rng, joint, DOMAIN, [("a", "d")], [3.0])]
    driver = replace(engine().driver, stop_at_noise=False)
    cold = engine(driver=driver).estimate(DOMAIN, measurements)
    again = engine(driver=driver).estimate(DOMAIN, measurements, warm_start=cold)
    assert again.status.loss <= cold.status.loss * (1 + 1e-9)
    assert again.status.n_iterations <= cold.status.n_iterations
    grown = engine(driver=driver).estimate(
        DOMAIN, measurements, warm_start=engine(driver=driver).estimate(DOMAIN, before)
    )
    assert grown.status.loss <= 1.1 * cold.status.loss + 0.1


def test_warm_starts_that_do_not_fit_are_refused(engine, joint):
    measurements = noisy(np.random.default_rng(4), joint, DOMAIN, [("a",)], [3.0])
    model = engine(n_components=3).estimate(DOMAIN, measurements)
    with pytest.raises(ParameterError, match=r"warm_start: it has 3 components, this engine 4"):
        engine(n_components=4).estimate(DOMAIN, measurements, warm_start=model)
    other = Domain(("a",), (3,))
    with pytest.raises(ParameterError, match=r"warm_start: .* another domain"):
        engine(n_components=3).estimate(other, measurements, warm_start=model)
    exact = GraphicalModelEngine().estimate(DOMAIN, measurements)
    assert (
        engine(n_components=3).estimate(DOMAIN, measurements, warm_start=exact).status.ended
        == "stalled"
    )


def test_progress_and_status_are_honest(engine, joint):
    measurements = noisy(
        np.random.default_rng(4), joint, DOMAIN, [("a", "b"), ("c", "b")], [1e-3, 1e-3]
    )
    seen = []
    driver = replace(engine().driver, max_iterations=7)
    with pytest.warns(FitWarning, match="was stopped after 7 iterations"):
        model = engine(driver=driver).estimate(
            DOMAIN, measurements, progress=lambda *done: seen.append(done)
        )
    assert seen == [(done, 7) for done in range(1, 8)]
    assert model.status.n_iterations == 7
    assert model.status.ended == "stopped"


@pytest.mark.parametrize(
    "setting", [{"n_components": 0}, {"device": "abacus"}], ids=["components", "device"]
)
def test_settings_out_of_range_are_refused(engine, setting):
    with pytest.raises(ParameterError, match=next(iter(setting))):
        engine(**setting)


@pytest.mark.parametrize(
    "name", ["learning_rate", "tolerance", "window", "max_iterations", "halvings"]
)
def test_drivers_out_of_range_are_refused(name):
    with pytest.raises(ParameterError, match=name):
        AdaptiveDescent(**{"learning_rate": 0.1, name: -1})


def test_problems_that_are_too_large_are_refused_with_number_and_way_out(engine):
    domain = Domain(tuple("abcdef"), (100,) * 6)
    limit = engine(n_components=2, max_cells=1200)
    limit.check_domain(domain)
    with pytest.raises(
        ModelTooLargeError, match=r"1300 cells, at most 1200 .* use fewer n_components"
    ):
        limit.estimate(domain, [LinearMeasurement(("a",), np.ones(100), 1.0)])
    with pytest.raises(ModelTooLargeError, match="1800 cells"):
        engine(n_components=3, max_cells=1200).check_domain(domain)


# --- the model ---


def a_model(seed=0, *, constraints=(), n_components=6):
    levels, weights = random_components(np.random.default_rng(seed), DOMAIN, n_components)
    return mixture_of(DOMAIN, levels, weights, total=500.0, constraints=constraints)


def test_marginals_of_any_size_in_any_order():
    model = a_model()
    whole = 500 * joint_of(DOMAIN, model.levels, model.weights)
    for clique in [
        (),
        ("one",),
        ("c", "a"),
        ("d", "b", "a"),
        ("d", "one", "c", "a"),
        ("c", "one", "a", "d", "b"),
    ]:
        np.testing.assert_allclose(
            model.marginal(clique).values, marginal_of(whole, DOMAIN, clique), atol=1e-10
        )
    for clique in [("a", "a"), ("a", "nowhere")]:
        with pytest.raises(ParameterError, match=r"repeats|not in the domain"):
            model.marginal(clique)


def test_large_marginals_need_little_more_than_themselves():
    domain = Domain(tuple("abcdef"), (10,) * 6)
    levels, weights = random_components(np.random.default_rng(1), domain, 100)
    model = MixtureModel(domain=domain, levels=levels, weights=weights, total=1.0, status=STATUS)
    values = model.marginal(tuple("fedcba")).values
    assert values.shape == (10,) * 6
    assert values.sum() == pytest.approx(1.0)


def test_rounded_samples_are_nearer_to_the_model_than_chance():
    model = a_model()
    errors = {}
    for rounding in (True, False):
        codes = [model.sample(20_000, seed=seed, rounding=rounding) for seed in range(5)]
        for clique in (("c",), ("a", "c")):
            expected = model.marginal(clique).values / model.total
            shape = expected.shape
            drawn = [
                np.bincount(
                    np.ravel_multi_index([c[DOMAIN.index(name)] for name in clique], shape),
                    minlength=expected.size,
                )
                for c in codes
            ]
            errors[clique, rounding] = np.abs(np.array(drawn) / 20_000 - expected.ravel()).max()
    assert errors[("c",), True] <= 7 / 20_000  # one a component, and one for its size
    assert errors[("a", "c"), True] < 0.02
    assert errors[("a", "c"), False] < 0.02


@pytest.mark.parametrize("rounding", [True, False])
def test_samples_are_codes_and_depend_on_nothing_but_the_seed(rounding):
    model = a_model(constraints=[Constraint(("a", "c"), ALLOWED)])
    codes = model.sample(500, seed=3, rounding=rounding)
    for column, size in zip(codes, DOMAIN.shape, strict=True):
        assert column.shape == (500,)
        assert column.dtype == np.uint8
        assert column.max() < size
    assert all(map(np.array_equal, codes, model.sample(500, seed=3, rounding=rounding)))
    assert not all(map(np.array_equal, codes, model.sample(500, seed=4, rounding=rounding)))
    for n_rows in (0, 1):
        assert [column.shape for column in model.sample(n_rows, rounding=rounding)] == [
            (n_rows,)
        ] * 5
    with pytest.raises(ParameterError, match="n_rows is -1"):
        model.sample(-1)


def test_a_model_survives_being_saved():
    constraints = [Constraint(("c", "a"), ALLOWED.T), Constraint(("d",), np.array([True, False]))]
    model = a_model(constraints=constraints)
    state, arrays = model.to_state()
    loaded = MixtureModel.from_state(json.loads(json.dumps(state)), arrays, DOMAIN)
    assert (loaded.domain, loaded.total, loaded.status) == (model.domain, model.total, model.status)
    assert all(array.dtype == np.float64 for array in arrays.values())
    np.testing.assert_array_equal(
        loaded.marginal(("d", "a")).values, model.marginal(("d", "a")).values
    )
    assert all(map(np.array_equal, loaded.sample(300, seed=1), model.sample(300, seed=1)))


def test_tables_that_are_no_distributions_are_refused():
    levels, weights = random_components(np.random.default_rng(0), DOMAIN, 3)
    for wrong in [(levels[:-1], weights), (2 * levels, weights), (levels, 2 * weights)]:
        with pytest.raises(ParameterError, match="levels"):
            MixtureModel(domain=DOMAIN, levels=wrong[0], weights=wrong[1], total=1.0, status=STATUS)


# --- constraints ---


@pytest.mark.parametrize("measured", [True, False])
def test_every_row_keeps_to_constraints_and_the_mixture_nearly(engine, joint, measured):
    """The true table breaks them, so the measured marginals pull the other way."""
    constraints = [Constraint(("c", "a"), ALLOWED.T), Constraint.determines("a", "d", [0, 1, 1], 2)]
    cliques = [("a", "c"), ("a", "b"), ("d", "b")] if measured else [("b", "c"), ("a",)]
    measurements = noisy(np.random.default_rng(0), joint, DOMAIN, cliques, [20.0] * len(cliques))
    model = engine().estimate(DOMAIN, measurements, constraints=constraints)
    codes = model.sample(5000, seed=0)
    for constraint in constraints:
        assert constraint.holds(DOMAIN, codes).all()
        forbidden = model.marginal(constraint.clique).values[~constraint.allowed]
        assert forbidden.sum() <= 0.01 * model.total


def test_constrained_fits_stay_near_what_they_can_express(engine, joint):
    possible = joint * ALLOWED[:, None, None, :, None]
    cliques = [("a", "c"), ("a", "b"), ("c", "d")]
    measurements = noisy(np.random.default_rng(0), possible, DOMAIN, cliques, [2.0] * 3)
    model = engine().estimate(DOMAIN, measurements, constraints=[Constraint(("a", "c"), ALLOWED)])
    n_cells = sum(measurement.values.size for measurement in measurements)
    assert model.status.loss <= n_cells
    codes = model.sample(10_000, seed=0)
    for clique in cliques:
        index = [codes[DOMAIN.index(name)] for name in clique]
        shape = DOMAIN.project(clique).shape
        drawn = np.bincount(np.ravel_multi_index(index, shape), minlength=np.prod(shape)) / 10_000
        np.testing.assert_allclose(
            drawn, model.marginal(clique).values.ravel() / model.total, atol=0.02
        )


@pytest.mark.parametrize("stddev", [3.0, 30.0])
def test_functional_dependencies_do_not_drive_fits_into_poor_minima(engine, stddev):
    rng = np.random.default_rng(0)
    domain = Domain(("fine", "coarse", "other"), (24, 8, 10))
    constraint = Constraint.determines("fine", "coarse", np.arange(24) // 3, 8)
    joint = (
        20_000
        * rng.dirichlet(np.full(domain.size(), 0.2)).reshape(domain.shape)
        * constraint.allowed[..., None]
    )
    cliques = [("fine", "other"), ("coarse", "other"), ("coarse", "fine")]
    measurements = noisy(rng, joint, domain, cliques, [stddev] * 3)
    model = engine().estimate(domain, measurements, constraints=[constraint])
    assert model.status.loss <= 0.5 * sum(measurement.values.size for measurement in measurements)
    assert (
        model.marginal(("fine", "coarse")).values[~constraint.allowed].sum() <= 1e-3 * model.total
    )
    assert constraint.holds(domain, model.sample(5000, seed=0)).all()


def test_models_that_rule_out_all_possible_rows_are_repaired_by_the_fallback():
    levels = np.ones((3, 1))
    domain = Domain(("a", "b"), (2, 1))
    levels = np.array([[1.0], [0.0], [1.0]])
    never = Constraint(("a",), np.array([False, True]))
    model = MixtureModel(
        domain=domain,
        levels=levels,
        weights=np.ones(1),
        total=1.0,
        status=STATUS,
        constraints=[never],
    )
    assert model.sample(50, seed=0)[0].tolist() == [1] * 50


def test_the_fallback_draws_one_way_marginals_given_the_constraints():
    domain = Domain(("a", "b", "free"), (3, 4, 2))
    constraint = Constraint(("b", "a"), ALLOWED.T)
    shares = {"a": np.array([0.5, 0.3, 0.2]), "b": np.array([0.1, 0.2, 0.3, 0.4])}
    columns = (
        np.full(40_000, 2, np.uint8),
        np.zeros(40_000, np.uint8),
        np.tile(np.uint8([0, 1]), 20_000),
    )
    before = [column.copy() for column in columns]
    fixed = repaired(
        columns,
        constraints=[constraint],
        domain=domain,
        one_way=shares.__getitem__,
        redraw=lambda rows: [column[rows] for column in columns],  # as impossible as before
        generator=np.random.default_rng(0),
    )
    assert all(map(np.array_equal, columns, before))
    np.testing.assert_array_equal(fixed[2], columns[2])
    expected = np.outer(shares["a"], shares["b"]) * ALLOWED
    drawn = np.bincount(fixed[0] * 4 + fixed[1], minlength=12).reshape(3, 4) / 40_000
    np.testing.assert_allclose(drawn, expected / expected.sum(), atol=1e-3)


def test_contradicting_constraints_are_refused(engine):
    nothing = [Constraint(("a",), np.array([1, 0, 0])), Constraint(("a",), np.array([0, 1, 0]))]
    with pytest.raises(ParameterError, match="impossible; loosen the constraints"):
        engine().estimate(DOMAIN, [LinearMeasurement(("b",), np.ones(2), 1.0)], constraints=nothing)
    with pytest.raises(ParameterError, match="impossible; loosen the constraints"):
        a_model(constraints=nothing).sample(10, seed=0)


def test_constraints_that_do_not_fit_are_refused(engine):
    with pytest.raises(ParameterError, match="constraint"):
        engine().estimate(
            DOMAIN,
            [LinearMeasurement(("b",), np.ones(2), 1.0)],
            constraints=[Constraint(("b",), np.ones(3))],
        )


# --- devices ---


@pytest.mark.parametrize("device", ["torch", "cuda"])
def test_devices_agree(engine, joint, device):
    torch = pytest.importorskip("torch")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no such device")
    constraints = [Constraint(("a", "c"), ALLOWED)]
    cliques = [("a", "b", "c"), ("c", "d"), (), ("one",)]
    measurements = noisy(np.random.default_rng(0), joint, DOMAIN, cliques, [5.0] * 4)
    driver = replace(engine().driver, max_iterations=30)
    models = [
        engine(device=place, driver=driver).estimate(DOMAIN, measurements, constraints=constraints)
        for place in ("numpy", device)
    ]
    np.testing.assert_allclose(models[0].levels, models[1].levels, atol=1e-6)
    assert models[0].status.loss == pytest.approx(models[1].status.loss, rel=1e-6)


def test_a_missing_torch_is_reported_with_the_way_out(engine, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'synthdp\[torch\]'"):
        engine(device="torch").estimate(DOMAIN, [LinearMeasurement(("b",), np.ones(2), 1.0)])


def test_a_missing_gpu_is_reported(engine):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(ParameterError, match="finds no such device"):
        engine(device="cuda").estimate(DOMAIN, [LinearMeasurement(("b",), np.ones(2), 1.0)])
