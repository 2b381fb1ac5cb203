"""Fits against an independent solver of the same quadratic programme over the simplex."""

import numpy as np
import pytest
from oracles_inference import least_loss, loss_and_gap, noisy, random_cliques, random_domain, whitened

from synthdp.domain import Domain
from synthdp.inference.direct import DirectEstimator
from synthdp.inference.graphical_model import GraphicalModelEstimator
from synthdp.inference.mirror_descent import MirrorDescent
from synthdp.measurement import LinearMeasurement, estimate_total

ENGINES = [GraphicalModelEstimator, DirectEstimator]
TIGHT = MirrorDescent(tolerance=1e-9, window=60, max_iterations=20_000)


def problem(seed, *, ratio):
    """Noisy marginals of a sparse table; two noise scales, ``ratio`` apart."""
    rng = np.random.default_rng(seed)
    domain = random_domain(rng)
    cliques = random_cliques(rng, domain)
    joint = 10 ** rng.uniform(1, 5) * rng.dirichlet(np.full(domain.size(), 0.3)).reshape(domain.shape)
    stddevs = 10 ** rng.uniform(-1, 2) * rng.choice([1.0, ratio], len(cliques))
    return domain, noisy(rng, joint, domain, cliques, stddevs)


def outcome(engine, domain, measurements):
    """Loss, gap and least loss of a fit, all per unit of noise a cell."""
    total = estimate_total(measurements)
    model = engine.estimate(domain, measurements)
    matrix, target = whitened(domain, measurements)
    counts = model.marginal(domain.attributes).values.ravel()
    assert counts.sum() == pytest.approx(total)
    loss, gap = loss_and_gap(matrix, target, counts)
    return model, loss, gap, least_loss(matrix, target, total), len(target)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.parametrize("ratio", [1.0, 10.0])
def test_tight_fits_reach_the_least_loss(engine, ratio):
    for seed in range(30):
        domain, measurements = problem(seed, ratio=ratio)
        model, loss, gap, least, n_cells = outcome(engine(driver=TIGHT), domain, measurements)
        assert model.status.converged
        assert loss <= least + 1e-3 * least + 1e-6 * n_cells, seed
        assert gap <= 0.1 * loss + 0.02 * n_cells, seed


def test_default_fits_end_near_the_least_loss_and_say_so():
    """The default stopping rule leaves at most 1 % of the noise's own share of the loss."""
    excesses = []
    for seed in range(100, 160):
        domain, measurements = problem(seed, ratio=1.0)
        model, loss, _, least, n_cells = outcome(GraphicalModelEstimator(), domain, measurements)
        assert model.status.converged
        excesses.append((loss - least) / (least + 0.01 * n_cells))
    assert max(excesses) < 0.01
    assert np.median(excesses) < 1e-4


def test_reported_loss_is_that_of_the_merged_measurements():
    """Repeats add a constant that no distribution can lower; without repeats the losses agree."""
    rng = np.random.default_rng(1)
    domain = Domain(("a", "b"), (3, 2))
    joint = rng.dirichlet(np.ones(6)).reshape(3, 2) * 100
    measurements = noisy(rng, joint, domain, [("a",), ("b", "a")], [3.0, 5.0])
    model, loss, *_ = outcome(GraphicalModelEstimator(), domain, measurements)
    assert model.status.loss == pytest.approx(loss)


def test_per_cell_noise_is_weighted_cell_by_cell():
    domain = Domain(("a",), (3,))
    stddev = np.array([1.0, 2.0, 3.0])
    measurement = LinearMeasurement(("a",), np.array([30.0, 20.0, 50.0]), stddev)
    total = LinearMeasurement((), np.array(114.0), 1e-3)
    model = GraphicalModelEstimator(driver=TIGHT).estimate(domain, [measurement, total])
    # Lagrange: what the total asks for beyond the sum is spread in proportion to the variances.
    expected = measurement.values + (model.total - 100.0) * stddev**2 / np.sum(stddev**2)
    np.testing.assert_allclose(model.marginal(("a",)).values, expected, atol=1e-3)


def test_negative_counts_are_projected_to_the_simplex():
    measurement = LinearMeasurement(("a",), np.array([60.0, -20.0, 40.0, 20.0]), 1.0)
    model = GraphicalModelEstimator(driver=TIGHT).estimate(Domain(("a",), (4,)), [measurement])
    threshold = 20.0 / 3
    expected = [60 - threshold, 0.0, 40 - threshold, 20 - threshold]
    np.testing.assert_allclose(model.marginal(("a",)).values, expected, atol=0.05)


@pytest.mark.parametrize("memory", [0, 1, 20])
def test_the_loss_falls_monotonically_whatever_the_memory(memory):
    domain, measurements = problem(4, ratio=5.0)
    losses = []
    for limit in range(40):
        driver = MirrorDescent(memory=memory, max_iterations=limit)
        losses.append(GraphicalModelEstimator(driver=driver).estimate(domain, measurements).status.loss)
    assert (np.diff(losses) <= 0).all()
    assert losses[-1] < losses[0]


def test_a_fit_that_is_cut_short_says_so():
    domain, measurements = problem(4, ratio=1.0)
    status = GraphicalModelEstimator(driver=MirrorDescent(max_iterations=3)).estimate(domain, measurements).status
    assert not status.converged
    assert status.n_iterations == 3


@pytest.mark.parametrize("stddev", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("total", [10.0, 1e7])
def test_any_scale_of_noise_and_of_counts(stddev, total):
    domain = Domain(("a", "b", "c"), (3, 2, 2))
    rng = np.random.default_rng(2)
    joint = total * rng.dirichlet(np.ones(12)).reshape(domain.shape)
    measurements = noisy(rng, joint, domain, [("a", "b"), ("b", "c"), ("b",)], [stddev] * 3)
    model, loss, _, least, n_cells = outcome(GraphicalModelEstimator(), domain, measurements)
    assert model.status.converged
    assert loss <= 1.01 * least + 1e-3 * n_cells


def test_evaluations_are_not_wasted_where_nothing_can_be_gained(monkeypatch):
    """At an optimum, or where no potential moves the model, halving the step is given up soon."""
    calls = []
    evaluate = MirrorDescent.minimise

    def counted(self, marginals, *rest, **options):
        return evaluate(self, lambda theta: calls.append(0) or marginals(theta), *rest, **options)

    monkeypatch.setattr(MirrorDescent, "minimise", counted)
    domain = Domain(("a", "b"), (2, 3))
    for values, clique in [(np.full((2, 3), 10.0), ("a", "b")), (np.array(60.0), ())]:
        for extra in ([], [LinearMeasurement((), np.array(90.0), 1.0)]):
            calls.clear()
            measurements = [LinearMeasurement(clique, values, 1.0), *extra]
            model = GraphicalModelEstimator().estimate(domain, measurements)
            assert model.status.converged
            np.testing.assert_allclose(model.marginal(("a", "b")).values, model.total / 6)
            assert len(calls) <= 10
