"""Pairs of attributes with an order: expected along a line where measurements say so."""

import tracemalloc

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from synthdp.core import Constraint, Domain, LinearMeasurement
from synthdp.inference import (
    CORRELATIONS,
    LayeredConsistencyEngine,
    NoisyTables,
    cut_gaussians,
    gaussian_prior,
)

PAIR = ("a", "b")
ORDERED = Domain(PAIR, (20, 24), ordered=frozenset(PAIR))
TOTAL = 10_000.0


def shares(rng, size):
    return rng.dirichlet(np.full(size, 3.0))


def truth(correlation, *, seed=0, domain=ORDERED):
    rng = np.random.default_rng(seed)
    return TOTAL * cut_gaussians(*(shares(rng, size) for size in domain.shape), correlation)


def noisy(table, stddev, *, seed=1, domain=ORDERED):
    rng = np.random.default_rng(seed)
    one_way = [
        LinearMeasurement(
            (name,), table.sum(axis=1 - axis) + rng.normal(0, stddev, domain[name]), stddev
        )
        for axis, name in enumerate(PAIR)
    ]
    pair = LinearMeasurement(PAIR, table + rng.normal(0, stddev, table.shape), stddev)
    return [*one_way, pair]


def prior(table, stddev, domain=ORDERED, *, seed=1):
    """What is expected of a pair, and what would be if it were independent."""
    independent = np.multiply.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    tables = NoisyTables(
        domain, noisy(table, stddev, seed=seed, domain=domain), [PAIR], total=TOTAL, max_whole=6
    )
    estimates = [*tables.estimates(PAIR).values()]
    return gaussian_prior(domain, PAIR, independent, estimates), independent


@pytest.mark.parametrize("correlation", [0.0, 0.6, -0.95])
def test_gaussians_are_cut_as_their_distribution_function_says(correlation):
    own, other = np.array([0.2, 0.5, 0.3]), np.array([0.1, 0.15, 0.35, 0.4])
    limits = [
        norm.ppf(np.append(0.0, np.cumsum(each)).clip(1e-9, 1 - 1e-9)) for each in (own, other)
    ]
    joint = multivariate_normal([0, 0], [[1, correlation], [correlation, 1]])
    below = np.array([[joint.cdf([x, y]) for y in limits[1]] for x in limits[0]])
    expected = np.diff(np.diff(below, axis=0), axis=1)
    table = cut_gaussians(own, other, correlation)
    np.testing.assert_allclose(table, expected, atol=0.012)
    np.testing.assert_allclose(table.sum(axis=1), own, atol=1e-12)


@pytest.mark.parametrize("correlation", [0.5, 0.9, -0.9, 0.999])
def test_what_noise_hides_cell_by_cell_is_expected_along_a_line(correlation):
    table = truth(correlation)
    expected, independent = prior(table, 20.0)
    apart = [np.abs(each - table).sum() / TOTAL / 2 for each in (expected, independent)]
    assert apart[0] < 0.3 * apart[1]
    assert (expected > 0).all()
    assert expected.sum() == pytest.approx(TOTAL)


@pytest.mark.parametrize("straying", [0.0, 0.05])
def test_records_near_a_line_and_further_out_are_told_apart(straying):
    near, far, strays = (truth(correlation) for correlation in (0.998, 0.7, 0.0))
    table = 0.7 * near + (0.3 - straying) * far + straying * strays
    expected, independent = prior(table, 20.0)
    apart = [np.abs(each - table).sum() / TOTAL / 2 for each in (expected, independent)]
    assert apart[0] < 0.05
    assert apart[1] > 0.6


def test_no_single_correlation_comes_nearer_to_what_was_measured():
    table = 0.5 * truth(0.99) + 0.5 * truth(0.4)
    (*_, fine) = noisy(table, 20.0)
    tables = NoisyTables(ORDERED, [fine], [PAIR], total=TOTAL, max_whole=6)
    estimates = [*tables.estimates(PAIR).values()]
    ways = table.sum(axis=1), table.sum(axis=0)
    independent = np.multiply.outer(*ways) / table.sum()

    def distance(each):
        return float(np.square((each - fine.values) / 20.0).sum())

    least = distance(gaussian_prior(ORDERED, PAIR, independent, estimates))
    for correlation in CORRELATIONS:
        line = TOTAL * cut_gaussians(ways[0] / TOTAL, ways[1] / TOTAL, correlation)
        for part in np.linspace(0.0, 0.999, 30):
            assert least <= distance(part * line + (1.0 - part) * independent) + 1e-6
    assert least < 1.15 * table.size


def test_one_correlation_is_not_taken_for_several():
    for seed in range(20):
        table = truth(0.9)
        expected, independent = prior(table, 20.0, seed=seed)
        own, other = (independent.sum(axis=axis) / TOTAL for axis in (1, 0))
        changes = [TOTAL * cut_gaussians(own, other, each) - independent for each in CORRELATIONS]
        apart = expected - independent
        left = [
            np.abs(apart - change * (apart * change).sum() / np.square(change).sum()).sum()
            for change in changes
        ]
        assert min(left) < 1e-6 * TOTAL


def test_a_fit_goes_on_where_several_cannot_be_found(monkeypatch):
    def endless(*_):
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr("scipy.optimize.nnls", endless)
    expected, independent = prior(truth(0.9), 20.0)
    apart = [np.abs(each - truth(0.9)).sum() for each in (expected, independent)]
    assert apart[0] < 0.3 * apart[1]


def test_a_large_table_is_looked_at_in_little_memory():
    """As many bytes a cell as the engine says a fit needs, twice."""
    domain = Domain(PAIR, (300, 300), ordered=frozenset(PAIR))
    table = truth(0.9, domain=domain)
    prior(table, 1.0, domain)  # scipy's modules are loaded
    tracemalloc.start()
    expected, independent = prior(table, 1.0, domain)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 250 * table.size
    assert np.abs(expected - table).sum() < 0.1 * np.abs(independent - table).sum()


def test_independent_attributes_stay_so():
    for seed in range(200):
        expected, independent = prior(truth(0.0), 20.0, seed=seed)
        assert expected is independent


def test_what_goes_along_no_line_stays_independent():
    """A ring: no correlation says anything of it."""
    x, y = np.meshgrid(np.linspace(-1, 1, 20), np.linspace(-1, 1, 24), indexing="ij")
    table = np.exp(-(((x**2 + y**2) - 0.6) ** 2) / 0.02)
    expected, independent = prior(TOTAL * table / table.sum(), 5.0)
    assert expected is independent


@pytest.mark.parametrize("ordered", [(), ("a",)])
def test_levels_without_an_order_stay_independent(ordered):
    expected, independent = prior(
        truth(0.9), 20.0, Domain(PAIR, (20, 24), ordered=frozenset(ordered))
    )
    assert expected is independent


def test_levels_that_have_no_place_stay_independent():
    """The records of the last level, such as "missing", follow no line."""
    domain = Domain(PAIR, (21, 24), special={"a": (20,)}, ordered=frozenset(PAIR))
    inner = truth(0.95)
    table = np.vstack([0.8 * inner, 0.2 * inner.sum(axis=0)])
    expected, independent = prior(table, 20.0, domain)
    np.testing.assert_allclose(expected[20], independent[20])
    assert (
        np.abs(expected[:20] - table[:20]).sum() < 0.3 * np.abs(independent[:20] - table[:20]).sum()
    )


def errors(table, measurements, domains, **more):
    models = [
        LayeredConsistencyEngine().estimate(domain, measurements, **more) for domain in domains
    ]
    return [np.abs(model.marginal(PAIR).values - table).sum() / TOTAL / 2 for model in models]


def test_the_layered_engine_comes_closer_where_attributes_have_an_order():
    table = truth(0.97)
    unordered = Domain(PAIR, ORDERED.shape)
    ratios = []
    for seed in range(5):
        near, far = errors(table, noisy(table, 20.0, seed=seed), [ORDERED, unordered])
        ratios.append(near / far)
    assert np.mean(ratios) < 0.6


def test_what_cannot_be_is_left_to_the_constraint(monkeypatch):
    """A line knows of no constraint, so none is looked for."""
    looked = "synthdp.inference.engines.layered_consistency.gaussian_prior"
    monkeypatch.setattr(looked, lambda *_: pytest.fail("a line is looked for"))
    table = np.triu(truth(0.9)) + 1e-9
    table *= TOTAL / table.sum()
    triangle = Constraint(PAIR, np.triu(np.ones((20, 24), dtype=bool)))
    (off,) = errors(table, noisy(table, 20.0), [ORDERED], constraints=[triangle])
    assert off < 0.2
    with pytest.raises(pytest.fail.Exception, match="looked for"):
        errors(table, noisy(table, 20.0), [ORDERED])
