"""The generative-network engine: its gradient, how near it comes to the best fit, and what it keeps
to.
"""

import json
import sys

import numpy as np
import pytest
from helpers.fit_problems import DOMAIN, SMALL_PROBLEMS, measured
from oracles.inference import least_loss, marginal_of, noisy, whitened

from synthdp.core import (
    Coarsening,
    Constraint,
    Domain,
    LinearMeasurement,
    MissingExtraError,
    ModelTooLargeError,
    ParameterError,
    estimate_total,
)
from synthdp.inference import (
    AdaptiveDescent,
    ArrayBackend,
    GenerativeNetworkEngine,
    GraphicalModelEngine,
    MixtureEngine,
    MixtureModel,
    NetworkForm,
)

# Fits the noise as the exact engines do, so that losses can be compared.
CLOSE = AdaptiveDescent(learning_rate=0.003, stop_at_noise=False)


def small(**options):
    return GenerativeNetworkEngine(**({"n_components": 60, "hidden": (32, 32)} | options))


# --- the network --------------------------------------------------------------------------------


def form(**options):
    defaults = {"n_components": 5, "n_inputs": 3, "hidden": (4, 6), "seed": 1, "reproduce": False}
    return NetworkForm(DOMAIN, ArrayBackend("numpy"), **(defaults | options))


def random_components(rng, n_components=5):
    levels = np.concatenate([rng.dirichlet(np.ones(size), n_components).T for size in DOMAIN.shape])
    return levels, rng.dirichlet(np.ones(n_components))


@pytest.mark.parametrize("hidden", [(4,), (4, 6), (3, 3, 3)])
def test_the_derivatives_are_those_of_finite_differences(hidden):
    rng = np.random.default_rng(0)
    network = form(hidden=hidden)
    parameters = network.parameters(random_components(rng))
    slopes = rng.normal(size=(sum(DOMAIN.shape), 5))
    _, pullback = network.linearised(parameters)
    gradient = pullback((slopes, np.zeros(5)))
    direction = rng.normal(size=parameters.size) * (gradient != 0)

    def value(step):
        return float((network.components(parameters + step * direction)[0] * slopes).sum())

    assert value(1e-5) - value(-1e-5) == pytest.approx(2e-5 * gradient @ direction, rel=1e-6)
    assert np.count_nonzero(gradient) > 0.3 * gradient.size
    assert (gradient[-5 * (sum(DOMAIN.shape) + 1) :] == 0).all()  # offset and weights stay


def test_a_network_starts_at_given_components_or_around_their_mean():
    rng = np.random.default_rng(2)
    given = random_components(rng)
    network = form(reproduce=True)
    levels, weights = network.components(network.parameters(given))
    np.testing.assert_allclose(levels, given[0], atol=1e-4)
    np.testing.assert_allclose(weights, given[1])
    network = form(n_components=2000)
    same = tuple(np.repeat(part[..., :1], 2000, axis=-1) for part in given)
    levels, _ = network.components(network.parameters(same))
    assert np.corrcoef(np.log(levels).mean(axis=1), np.log(same[0][:, 0]))[0, 1] > 0.9
    assert levels[0].std() > 0.005


# --- the fit ----------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", ["tree", "cycle", "nested", "axes in another order"])
@pytest.mark.filterwarnings("ignore::synthdp.core.errors.FitWarning")
def test_the_loss_falls_to_near_the_least(joint, problem):
    measurements = measured(joint, SMALL_PROBLEMS[problem], stddev=5.0)
    model = small(driver=CLOSE).estimate(DOMAIN, measurements)
    assert isinstance(model, MixtureModel)
    assert (model.status.ended, model.status.caution) == ("stalled", "")
    exact = GraphicalModelEngine().estimate(DOMAIN, measurements)
    start = small(driver=AdaptiveDescent(learning_rate=1e-9, max_iterations=1)).estimate(
        DOMAIN, measurements
    )
    assert exact.status.loss * 0.999 <= model.status.loss <= 1.1 * exact.status.loss + 0.1
    assert model.status.loss < 0.2 * start.status.loss
    matrix, target = whitened(DOMAIN, measurements)
    residual = matrix @ model.marginal(DOMAIN.attributes).values.ravel() - target
    if problem != "nested":
        assert model.status.loss == pytest.approx(0.5 * residual @ residual, rel=1e-6)
        assert model.status.loss >= 0.999 * least_loss(matrix, target, estimate_total(measurements))


@pytest.mark.filterwarnings("ignore::synthdp.core.errors.FitWarning")
def test_the_loss_falls_as_iterations_are_added_and_a_fit_cut_short_says_so(joint):
    measurements = measured(joint, SMALL_PROBLEMS["cycle"], stddev=1.0)
    losses, seen = [], []
    for limit in (1, 10, 100, 500):
        driver = AdaptiveDescent(learning_rate=0.003, max_iterations=limit)
        model = small(driver=driver).estimate(
            DOMAIN, measurements, progress=lambda *done: seen.append(done)
        )
        assert model.status.n_iterations <= limit
        losses.append(model.status.loss)
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.05 * losses[0]
    assert seen[:2] == [(1, 1), (1, 10)]
    cut = small(driver=AdaptiveDescent(learning_rate=0.003, max_iterations=3)).estimate(
        DOMAIN, measurements
    )
    assert cut.status.ended == "stopped"
    assert "(generative-network) was stopped after 3 iterations" in cut.status.caution


@pytest.mark.parametrize("problem", SMALL_PROBLEMS)
def test_an_expressible_distribution_is_recovered_as_noise_vanishes(joint, problem):
    model = small(driver=CLOSE).estimate(
        DOMAIN, measured(joint, SMALL_PROBLEMS[problem], stddev=1e-3)
    )
    for clique in SMALL_PROBLEMS[problem]:
        np.testing.assert_allclose(
            model.marginal(clique).values, marginal_of(joint, DOMAIN, clique), atol=5.0
        )
    whole = model.marginal(DOMAIN.attributes)
    assert (whole.values >= 0).all()
    for clique in [(), ("a",), ("one",), ("b", "a"), ("d", "c", "a")]:
        np.testing.assert_allclose(
            model.marginal(clique).values, whole.project(clique).values, atol=1e-9 * model.total
        )


def test_attributes_that_are_not_measured_are_uniform_and_independent(joint):
    fit = small().estimate
    model = fit(DOMAIN, measured(joint, [("a", "b")]))
    for again in (model, fit(DOMAIN, measured(joint, [("a", "b")], seed=1), warm_start=model)):
        expected = again.marginal(("a", "b")).values[:, :, None] / 4
        np.testing.assert_allclose(
            again.marginal(("a", "b", "c")).values, np.repeat(expected, 4, axis=2), rtol=1e-6
        )


def test_noise_of_each_cell_is_weighed():
    domain, stddev = Domain(("a",), (3,)), np.array([1.0, 2.0, 3.0])
    measurement = LinearMeasurement(("a",), np.array([30.0, 20.0, 50.0]), stddev)
    total = LinearMeasurement((), np.array(114.0), 1e-3)
    model = small(driver=CLOSE).estimate(domain, [measurement, total])
    expected = measurement.values + (model.total - 100.0) * stddev**2 / np.sum(stddev**2)
    np.testing.assert_allclose(model.marginal(("a",)).values, expected, atol=0.2)


def test_one_component_is_a_product():
    domain = Domain(("a", "b"), (2, 2))
    joint = np.array([[400.0, 100.0], [100.0, 400.0]])
    measurements = noisy(np.random.default_rng(0), joint, domain, [("a", "b")], [1.0])
    values = small(n_components=1).estimate(domain, measurements).marginal(("a", "b")).values
    np.testing.assert_allclose(values, 250.0, rtol=0.1)


def test_the_seed_decides_and_nothing_else(joint):
    measurements = measured(joint, SMALL_PROBLEMS["cycle"])
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - it must not be touched
    first, again, other = (small(seed=seed).estimate(DOMAIN, measurements) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.levels, again.levels)
    assert not np.array_equal(first.levels, other.levels)
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002


def test_a_warm_start_takes_fewer_iterations_and_any_mixture_will_do(joint):
    measurements = measured(joint, [("a", "b"), ("b", "c"), ("c", "d")], stddev=2.0)
    more = [*measurements, *measured(joint, [("a", "d")], seed=5, stddev=2.0)]
    cold = small().estimate(DOMAIN, more)
    for engine in (small(seed=7), MixtureEngine(n_components=60)):
        warm = small().estimate(DOMAIN, more, warm_start=engine.estimate(DOMAIN, measurements))
        assert warm.status.n_iterations < cold.status.n_iterations
        assert warm.status.loss < 1.2 * cold.status.loss
    again = small().estimate(DOMAIN, more, warm_start=cold)
    assert again.status.n_iterations < cold.status.n_iterations
    assert again.status.loss <= 1.001 * cold.status.loss
    other = small().estimate(
        Domain(("z",), (2,)), [LinearMeasurement(("z",), np.array([3.0, 4.0]), 1.0)]
    )
    with pytest.raises(ParameterError, match="warm_start"):
        small().estimate(DOMAIN, measurements, warm_start=other)


def test_rows_keep_to_constraints(joint):
    allowed = np.array([[True, False], [True, True], [False, True]])
    constraint = Constraint(("a", "b"), allowed)
    measurements = measured(joint * allowed.reshape(3, 2, 1, 1, 1), [("a", "b"), ("b", "c")])
    model = small().estimate(DOMAIN, measurements, constraints=[constraint])
    assert model.marginal(("a", "b")).values[~allowed].sum() < 0.01 * model.total
    assert constraint.holds(DOMAIN, model.sample(3000, seed=0)).all()


def test_a_model_survives_being_saved(joint):
    model = small().estimate(DOMAIN, measured(joint, SMALL_PROBLEMS["cycle"]))
    state, arrays = model.to_state()
    loaded = MixtureModel.from_state(json.loads(json.dumps(state)), arrays, DOMAIN)
    assert (loaded.total, loaded.status) == (model.total, model.status)
    assert all(map(np.array_equal, loaded.sample(300, seed=1), model.sample(300, seed=1)))


# --- torch ------------------------------------------------------------------------------------


def levels_on(device, joint):
    """What a short fit on a device ends with."""
    driver = AdaptiveDescent(learning_rate=0.003, max_iterations=30)
    fitted = small(driver=driver, device=device).estimate(
        DOMAIN, measured(joint, SMALL_PROBLEMS["cycle"])
    )
    return fitted.levels


def test_torch_agrees_with_numpy(joint):
    pytest.importorskip("torch")
    np.testing.assert_allclose(levels_on("numpy", joint), levels_on("torch", joint), rtol=1e-6)


def test_a_gpu_agrees_with_numpy(joint):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    np.testing.assert_allclose(levels_on("numpy", joint), levels_on("cuda", joint), rtol=1e-5)


@pytest.mark.parametrize("device", ["torch", "cuda"])
def test_without_torch_the_error_names_the_extra(joint, monkeypatch, device):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        MissingExtraError, match=r"torch is not installed.*pip install 'synthdp\[torch\]'"
    ):
        small(device=device).estimate(DOMAIN, measured(joint, [("a",)]))
    small().estimate(DOMAIN, measured(joint, [("a",)]))  # the default needs none


# --- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{"n_components": 0}, {"n_inputs": 0}, {"hidden": ()}, {"hidden": (8, 0)}, {"device": "tpu"}],
    ids=lambda options: next(iter(options)),
)
def test_numbers_out_of_range_are_refused(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        GenerativeNetworkEngine(**options)


def test_measurements_that_do_not_fit_are_refused():
    for measurement in [
        LinearMeasurement(("a",), np.zeros(4), 1.0),
        LinearMeasurement(("a",), np.zeros(2), 1.0, Coarsening({"a": np.array([0, 0, 1])})),
    ]:
        with pytest.raises(ParameterError):
            small().estimate(DOMAIN, [measurement])
    with pytest.raises(ParameterError, match="there is none"):
        small().estimate(DOMAIN, [])
    with pytest.raises(ModelTooLargeError, match=r"generative-network: .* at most 500 are allowed"):
        small(max_cells=500).estimate(DOMAIN, [LinearMeasurement(("a",), np.ones(3), 1.0)])
