"""Bounds by counts: exact probabilities of being wrong, and what the best guess proves."""

import numpy as np
import pytest
from scipy import stats

from synthdp.audit import (
    at_least,
    at_most,
    best_limits,
    equivalent_mu,
    gdp_delta,
    limits,
    zcdp_delta,
)
from synthdp.privacy import gdp_rho, zcdp_rho


@pytest.mark.parametrize(("hits", "n"), [(0, 9), (3, 9), (9, 9), (500, 1000)])
def test_limits_are_those_of_clopper_and_pearson(hits, n):
    known = stats.binomtest(hits, n).proportion_ci(0.96, "exact")
    assert (float(at_least(hits, n, 0.02)), float(at_most(hits, n, 0.02))) == pytest.approx(
        (known.low, known.high)
    )


@pytest.mark.parametrize(("p", "q"), [(0.4, 0.6), (0.02, 0.06), (0.94, 0.99), (0.3, 0.3)])
def test_bounds_are_wrong_no_more_often_than_both_limits(p, q):
    n, alpha, delta = 80, 0.05, 1e-2
    one, other = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    chances = stats.binom.pmf(one, n, p) * stats.binom.pmf(other, n, q)
    found = limits(one, other, n, delta=delta, alpha=alpha)
    mu = stats.norm.ppf(q) - stats.norm.ppf(p)
    epsilon = max(np.log((q - delta) / p), np.log((1 - p - delta) / (1 - q)), 0)
    assert chances[found.mu > mu + 1e-12].sum() <= 2 * alpha
    assert chances[found.epsilon > epsilon + 1e-12].sum() <= 2 * alpha
    assert chances[found.mu > 0].sum() > (0 if p == q else 0.05)  # they say something


def test_the_best_bound_grows_towards_the_truth():
    mu = equivalent_mu(1.0, 1e-2)
    found = [best_limits(mu, n, delta=1e-2, alpha=0.0125) for n in (100, 1000, 10_000, 10**8)]
    assert sorted(limit.mu for limit in found) == [limit.mu for limit in found]
    assert 0.995 * mu < found[-1].mu < mu
    assert 0.99 < found[-1].epsilon < 1


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-3), (1.0, 1e-2), (3.0, 1e-6)])
def test_budgets_worked_out_anew_are_the_ledgers(epsilon, delta):
    assert gdp_delta(float(gdp_rho(epsilon=epsilon, delta=delta)), epsilon) == pytest.approx(
        delta, rel=1e-6
    )
    assert zcdp_delta(float(zcdp_rho(epsilon=epsilon, delta=delta)), epsilon) == pytest.approx(
        delta, rel=1e-3
    )
