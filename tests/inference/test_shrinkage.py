"""Empirical-Bayes shrinkage of noisy tables against simulation, and where it must not do harm."""

from itertools import combinations

import numpy as np
import pytest
from helpers.seldom import often
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracles.inference import marginal_of, noisy

from synthdp.core import Coarsening, Domain, LinearMeasurement
from synthdp.inference import (
    LocalConsistencyEngine,
    deviation,
    expected_shares,
    on_simplex,
    one_way_shares,
    posterior,
    raked,
    shares_of_groups,
    shrunk,
)


def product(shares):
    table = np.ones(())
    for share in shares:
        table = np.multiply.outer(table, share)
    return table


def one_way_sums(shape):
    """The matrix that takes a flat table to its one-way marginals."""
    codes = np.indices(shape).reshape(len(shape), -1)
    return np.vstack(
        [codes[axis] == level for axis, size in enumerate(shape) for level in range(size)]
    ).astype(float)


def factor_of(variance, posterior_variance, prior):
    """How many times the prior a cell was taken to vary by, told from its posterior variance."""
    return 1.0 / ((1.0 / posterior_variance - 1.0 / variance) * prior)


@pytest.mark.parametrize(
    "shares",
    often(
        [[0.5, 0.3, 0.2], [0.8, 0.1, 0.06, 0.04]],
        seldom=[[[0.9, 0.1], [0.7, 0.3]], [[0.6, 0.4], [0.8, 0.15, 0.05], [0.5, 0.5]]],
    ),
    ids=["3x4", "2x2", "2x3x2"],
)
def test_the_factor_is_right_for_tables_drawn_from_the_prior(shares):
    """Deviations are Gaussian, of a variance in proportion to the prior, given that they leave
    one-way sums alone.
    """
    rng = np.random.default_rng(0)
    prior = 10_000 * product([np.array(share) for share in shares])
    known, factor, stddev, n_draws = one_way_sums(prior.shape), 30.0, 5.0, 4000
    spread = np.diag(factor * prior.ravel())
    given_sums = (
        spread - spread @ known.T @ np.linalg.pinv(known @ spread @ known.T) @ known @ spread
    )
    deviations = rng.multivariate_normal(
        np.zeros(prior.size), given_sums, size=n_draws, method="svd"
    )
    variance = np.full(prior.shape, stddev**2)
    found = []
    for draw in deviations:
        counts = prior + draw.reshape(prior.shape) + rng.normal(0, stddev, prior.shape)
        mean, left = shrunk(counts, variance, prior)
        np.testing.assert_allclose(
            (counts - prior) * left, (mean - prior) * variance, rtol=1e-9, atol=1e-9
        )
        factors = factor_of(variance, left, prior)
        np.testing.assert_allclose(factors, factors.flat[0], rtol=1e-6)
        found.append(factors.flat[0])
    assert np.mean(found) == pytest.approx(factor, rel=0.1)


def test_one_way_deviations_are_no_sign_of_dependence():
    rng = np.random.default_rng(1)
    prior = 1000 * product([np.array([0.5, 0.3, 0.2]), np.array([0.6, 0.4])])
    variance = np.full(prior.shape, 100.0)
    tilted = prior + np.add.outer(rng.normal(0, 300, 3), rng.normal(0, 300, 2))
    assert np.allclose(shrunk(tilted, variance, prior)[1], shrunk(prior, variance, prior)[1])
    twisted = prior + np.outer([100, 0, -100], [1, -1])
    factors = [
        factor_of(variance, shrunk(counts, variance, prior)[1], prior)
        for counts in (prior, twisted)
    ]
    assert (factors[1] > 10 * factors[0]).all()


def test_one_way_tables_stay_and_impossible_cells_are_certain():
    counts, variance = np.array([5.0, -3.0, 8.0]), np.array([4.0, 1.0, 9.0])
    mean, left = shrunk(counts, variance, np.array([4.0, 4.0, 4.0]))
    assert (mean == counts).all()
    assert (left == variance).all()
    prior = np.array([[6.0, 0.0], [0.0, 4.0], [5.0, 5.0]])
    mean, left = shrunk(np.full((3, 2), 7.0), np.full((3, 2), 2.0), prior)
    assert (mean[prior == 0] == 0).all()
    assert (left[prior == 0] == 0).all()
    assert (left[prior > 0] > 0).all()
    assert (left <= 2.0).all()


def test_the_scale_of_noise_alone_is_off_by_its_standard_error():
    """``factor`` is cut off at 0, so what it exceeds by one standard error counts: one draw in six."""
    rng = np.random.default_rng(2)
    prior = 5000 * product([np.array([0.5, 0.3, 0.2])] * 3)
    variance = np.full(prior.shape, 100.0)
    draws = [
        deviation(prior + rng.normal(0, 10.0, prior.shape), variance, prior) for _ in range(1500)
    ]
    assert {found.freedom for found in draws} == {27 - 1 - 3 * 2}
    assert len({found.error for found in draws}) == 1
    # Squares of 20 degrees of freedom: 15.5 % exceed by one standard error; 1500 draws tell it to
    # 0.9 %.
    assert np.mean([found.factor > found.error for found in draws]) == pytest.approx(
        0.155, abs=0.065
    )
    assert all(found.cautious(2.0) == found.factor + 2 * found.error for found in draws)


def test_columns_and_pairs_of_one_level_tell_nothing_of_their_scale():
    for shape in ((7,), (1, 7), (1, 1, 4), (1,), (1, 1)):
        counts, ones = np.full(shape, 50.0), np.ones(shape)
        assert deviation(counts, ones, 3 * ones) == (0.0, 0.0, 0)
    assert deviation(np.ones((2, 2)), np.ones((2, 2)), np.full((2, 2), 9.0)).freedom == 1


def test_the_posterior_is_that_of_a_gaussian_prior():
    """Two Gaussians that are multiplied, cell by cell; all of a wide prior's weight is on the
    counts.
    """
    rng = np.random.default_rng(4)
    prior, counts, variance = (rng.uniform(1, 100, (3, 4)) for _ in range(3))
    prior[0, 0] = 0.0
    mean, left = posterior(counts, variance, prior, 2.5)
    possible = prior > 0
    precision = 1 / variance[possible] + 1 / (2.5 * prior[possible])
    np.testing.assert_allclose(left[possible], 1 / precision)
    weighed = counts[possible] / variance[possible] + prior[possible] / (2.5 * prior[possible])
    np.testing.assert_allclose(mean[possible], weighed / precision)
    assert (mean[0, 0], left[0, 0]) == (0.0, 0.0)
    np.testing.assert_allclose(
        posterior(counts, variance, prior, 1e12)[0][possible], counts[possible], rtol=1e-6
    )
    drawn, left = posterior(counts, variance, prior, 0.0)
    np.testing.assert_allclose(drawn[possible], prior[possible], atol=0.011)
    assert (left[possible] > 0).all()


@given(arrays(np.float64, st.integers(1, 8), elements=st.floats(-5, 5)))
def test_the_closest_distribution(values):
    """The optimality conditions: the same step for all that stay above 0, and no larger one for the
    others.
    """
    nearest = on_simplex(values)
    assert (nearest >= 0).all()
    assert nearest.sum() == pytest.approx(1.0)
    steps = values - nearest
    threshold = steps[nearest > 0].max()
    np.testing.assert_allclose(steps[nearest > 0], threshold, atol=1e-9)
    assert (values[nearest == 0] <= threshold + 1e-9).all()


def test_one_way_shares_weigh_measurements_by_their_precision():
    domain = Domain(("a", "b", "c"), (2, 3, 4))
    measurements = [
        LinearMeasurement(("a",), np.array([900.0, 100.0]), 1.0),
        LinearMeasurement(("a", "b"), np.array([[300.0, 200.0, 0.0], [0.0, 500.0, 0.0]]), 1.0),
    ]
    shares = one_way_shares(domain, measurements, total=1000.0)
    np.testing.assert_allclose(shares["a"], [0.8, 0.2], atol=1e-3)  # (3 * 0.9 + 0.5) / 4
    np.testing.assert_allclose(shares["b"], [0.3, 0.7, 0.0], atol=1e-3)
    np.testing.assert_allclose(shares["c"], 0.25)
    assert all((share > 0).all() and share.sum() == pytest.approx(1.0) for share in shares.values())


def test_what_is_expected_is_independence_but_for_smaller_tables():
    rng = np.random.default_rng(2)
    shares = {name: rng.dirichlet(np.ones(3)) for name in "abc"}
    everywhere = np.ones((3, 3, 3), dtype=bool)
    independent = product(shares.values())
    np.testing.assert_allclose(
        expected_shares(("a", "b", "c"), everywhere, shares, {}), independent
    )
    pair = rng.dirichlet(np.ones(9)).reshape(3, 3)
    smaller = {("a", "c"): 500 * pair, ("a",): np.array([1.0, 0.0, 0.0]), ("a", "d"): np.eye(3)}
    expected = expected_shares(("a", "b", "c"), everywhere, shares, smaller)
    np.testing.assert_allclose(expected, np.einsum("ac,b->abc", pair, shares["b"]), atol=1e-3)
    never = everywhere.copy()
    never[0, 1] = False
    assert (expected_shares(("a", "b", "c"), never, shares, smaller)[0, 1] == 0).all()


def errors_without_and_with(domain, table, cliques, stddevs, *, judged):
    """Mean total variation on some cliques over 30 draws of the noise."""
    errors = np.zeros(2)
    for seed in range(30):
        measurements = noisy(np.random.default_rng(seed), table, domain, cliques, stddevs)
        for i, shrinkage in enumerate((False, True)):
            model = LocalConsistencyEngine(shrinkage=shrinkage).estimate(domain, measurements)
            errors[i] += sum(
                np.abs(model.marginal(c).values - marginal_of(table, domain, c)).sum()
                for c in judged
            )
    return errors / (60 * table.sum())


@pytest.mark.parametrize("stddev", [20.0, 300.0, 1000.0])
def test_strong_dependence_of_two_levels_survives(stddev):
    """Shrinkage has nothing to win there: a pair has one number to it, and it is far from 0."""
    domain = Domain(tuple("abcdef"), (2,) * 6)
    chance = product([np.array([0.97, 0.03])] * 6) + product([np.array([0.4, 0.6])] * 6) * 0.5
    table = 20_000 * chance / chance.sum()
    pairs = list(combinations(domain.attributes, 2))
    without, shrinking = errors_without_and_with(
        domain, table, pairs, [stddev] * len(pairs), judged=pairs
    )
    assert shrinking <= 1.05 * without


def test_noisy_tables_do_not_overrule_precise_ones_inside_them():
    domain = Domain(("a", "b", "c", "d"), (4, 4, 8, 8))
    rng = np.random.default_rng(3)
    pair = rng.dirichlet(np.full(16, 0.3)).reshape(4, 4)
    table = 20_000 * np.einsum(
        "ab,c,d->abcd", pair, rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(8))
    )
    cliques = [("a", "b"), ("a", "b", "c"), ("a", "b", "d")]
    without, shrinking = errors_without_and_with(
        domain, table, cliques, [10.0, 200.0, 200.0], judged=cliques[:1]
    )
    assert shrinking <= 1.05 * without
    without, shrinking = errors_without_and_with(
        domain, table, cliques, [10.0, 200.0, 200.0], judged=cliques[1:]
    )
    assert shrinking <= 0.7 * without


def test_raking_to_what_the_start_rules_out_gives_the_start():
    start = np.array([[0.4, 0.6], [0.0, 0.0]])
    for wanted in (
        {(0,): np.array([0.0, 1.0])},
        {(0,): np.array([1.0, 0.0]), (1,): np.array([0.0, 0.0])},
    ):
        np.testing.assert_array_equal(raked(start, wanted, tolerance=1e-6, max_rounds=10), start)


def test_what_is_left_of_next_to_nothing_is_not_scaled_up():
    """Marginals that contradict each other press cells until a factor would overflow."""
    start = np.array([[1.0, 1e-320], [1e-320, 1e-320]])
    wanted = {(0,): np.array([0.5, 0.5]), (1,): np.array([0.5, 0.5])}
    with np.errstate(all="raise", under="ignore"):
        found = raked(start, wanted, tolerance=1e-6, max_rounds=10)
    assert np.isfinite(found).all()
    assert found.sum() == pytest.approx(1.0)


GROUPS = Coarsening({"a": np.array([0, 1, 1, 0]), "b": np.array([0, 0, 1])})


def test_shares_of_groups_are_the_prior_s_where_nothing_smaller_is_known():
    rng = np.random.default_rng(0)
    prior, counts = rng.uniform(1, 5, (4, 3)), rng.normal(0, 5, (2, 2))
    prior[2, :2] = prior[0] = prior[3] = 0.0
    shares = shares_of_groups(("a", "b"), GROUPS, counts, prior, {})
    sums = np.add.reduceat(prior[1:3].sum(axis=0), [0, 2])[[0, 0, 1]]
    np.testing.assert_allclose(shares[1:3], prior[1:3] / sums)
    assert (shares[[0, 3]] == 0).all()


def test_groups_of_which_noise_leaves_nothing_have_shares_all_the_same():
    rng = np.random.default_rng(1)
    prior, counts = rng.uniform(1, 5, (4, 3)), np.array([[30.0, -20.0], [0.0, 9.0]])
    wanted = {(0,): np.full(4, 0.25)}
    shares = shares_of_groups(("a", "b"), GROUPS, counts, prior, wanted)
    assert (shares > 0).all()
    np.testing.assert_allclose(GROUPS.apply(("a", "b"), shares), 1.0)


@pytest.mark.parametrize("impossible", [0.0, 0.4])
def test_shares_of_groups_agree_with_groups_and_smaller_tables(impossible):
    """Where some table has all of these counts, it is the nearest to the prior of those that do."""
    clique = ("a", "b")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        possible = (rng.random((4, 3)) >= impossible) | (
            np.add.outer(np.arange(4), np.arange(3)) % 3 == 0
        )
        prior, truth = (np.where(possible, rng.uniform(1, 5, (4, 3)), 0.0) for _ in range(2))
        counts = GROUPS.apply(clique, truth)
        wanted = {(0,): truth.sum(axis=1) / truth.sum(), (1,): truth.sum(axis=0) / truth.sum()}
        shares = shares_of_groups(clique, GROUPS, counts, prior, wanted)
        np.testing.assert_allclose(GROUPS.apply(clique, shares), counts > 0)
        found = shares * GROUPS.spread(clique, counts)
        for (axis,), target in wanted.items():
            np.testing.assert_allclose(
                found.sum(axis=1 - axis), target * truth.sum(), atol=0.02 * truth.sum()
            )
        # Nearest in relative entropy: the logarithm of what the prior is scaled by is a sum over
        # groups and levels.
        features = np.hstack(
            [
                np.kron(np.eye(4), np.ones((3, 1))),
                np.kron(np.ones((4, 1)), np.eye(3)),
                np.eye(4)[GROUPS.spread(clique, np.arange(4).reshape(2, 2)).ravel()],
            ]
        )[possible.ravel()]
        scaled = np.log(found[possible] / prior[possible])
        fit = features @ np.linalg.lstsq(features, scaled, rcond=None)[0]
        np.testing.assert_allclose(fit, scaled, atol=1e-6)
