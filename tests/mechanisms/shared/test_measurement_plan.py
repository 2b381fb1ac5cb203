"""The split of a budget: optimal by its own conditions, by other splits, and next to
ResidualPlanner's bound.
"""

from fractions import Fraction
from itertools import combinations
from math import prod, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import Domain, LinearMeasurement
from synthdp.mechanisms import (
    ExpectedError,
    best_linear_estimates,
    measurement_shares,
    planned_shares,
    wider_cliques,
)


@st.composite
def workloads(draw):
    domain = Domain(
        tuple("abcde"),
        tuple(draw(st.lists(st.sampled_from([1, 2, 2, 3, 6]), min_size=5, max_size=5))),
    )
    cliques = [clique for k in (1, 2, 3) for clique in combinations("abcde", k)]
    chosen = draw(st.lists(st.sampled_from(cliques), min_size=1, max_size=12, unique=True))
    weights = draw(st.lists(st.floats(0.01, 100), min_size=len(chosen), max_size=len(chosen)))
    return domain, dict(zip(chosen, weights, strict=True))


def expected_error(domain, weights, shares):
    """Of best linear estimates, from their own standard deviations."""
    measured = [
        LinearMeasurement(c, np.zeros(domain.project(c).shape), 1 / sqrt(s))
        for c, s in shares.items()
    ]
    estimates = best_linear_estimates(domain, measured, list(weights))
    return sum(weights[e.clique] * domain.size(e.clique) * e.stddev for e in estimates)


def residual_planner_error(domain, weights):
    """The least of any Gaussian noise: residuals measured one by one, at cost p_A / variance
    [2305.08175, thm 3].

    For given weights of the variances the best ones are in closed form, by Cauchy-Schwarz; the
    weights of the square roots are then found again from the variances, until they agree.
    """
    parts = sorted(
        {
            part
            for clique in weights
            for k in range(len(clique) + 1)
            for part in combinations(clique, k)
        }
    )
    cost = np.array([prod(1 - 1 / domain[name] for name in part) for part in parts])
    # What a residual's variance adds to that of a cell of a marginal.
    spread = np.array(
        [
            [(set(p) <= set(c)) * (domain.size(p) / domain.size(c)) ** 2 for p in parts]
            for c in weights
        ]
    )
    amounts = np.array([weight * domain.size(clique) for clique, weight in weights.items()])
    variance = np.ones(len(parts))
    for _ in range(300):
        stddev = np.sqrt(spread @ (cost * variance))
        use = np.sqrt(spread.T @ (amounts / stddev))
        variance = cost @ use / use
    return float(amounts @ stddev)


@settings(max_examples=40, deadline=None)
@given(workloads())
def test_beats_other_splits_and_keeps_to_the_bound(problem):
    domain, weights = problem
    shares = planned_shares(domain, weights)
    assert sum(shares.values()) == 1
    assert min(shares.values()) > 0
    planned = expected_error(domain, weights, shares)
    equal = dict.fromkeys(weights, Fraction(1, len(weights)))
    for other in (equal, measurement_shares(domain, weights)):
        assert planned <= expected_error(domain, weights, other) * 1.03
    assert planned >= residual_planner_error(domain, weights) * (1 - 1e-6)


@settings(max_examples=40, deadline=None)
@given(workloads())
def test_prices_are_derivatives_and_equal_where_money_is_spent(problem):
    domain, weights = problem
    amounts = {clique: weight * domain.size(clique) for clique, weight in weights.items()}
    error = ExpectedError(domain, amounts, wider_cliques(domain, amounts))
    shares = np.random.default_rng(0).uniform(0.1, 1, len(error.subsets.cliques))
    value, prices = error.at(shares)
    assert value == pytest.approx(
        expected_error(domain, weights, dict(zip(error.subsets.cliques, shares, strict=True)))
    )
    for position in range(len(shares)):
        step = 1e-6 * (np.arange(len(shares)) == position)
        slope = (error.at(shares + step)[0] - error.at(shares - step)[0]) / 2e-6
        assert -slope == pytest.approx(prices[position], rel=1e-4, abs=1e-6 * value)
    best = error.minimised(shares / shares.sum())
    value, prices = error.at(best)
    # Karush-Kuhn-Tucker: no price is above the average, which is half the error, by more than the
    # tolerance.
    assert prices @ best == pytest.approx(value / 2)
    assert prices.max() <= value * (0.5 + 2e-3)


def test_one_marginal_is_measured_itself_at_the_bound():
    domain = Domain(tuple("abc"), (4, 3, 5))
    assert planned_shares(domain, {("a", "c"): 3.0}) == {("a", "c"): 1}
    assert residual_planner_error(domain, {("a", "c"): 1.0}) == pytest.approx(20)


def test_the_bound_of_all_binary_pairs_is_that_of_the_closed_form():
    """All residuals of a size alike: variance 1 / cost by Lagrange, and errors all equal."""
    d, domain = 5, Domain.from_sizes(dict.fromkeys("abcde", 2))
    weights = dict.fromkeys(combinations("abcde", 2), 1.0)
    pairs = d * (d - 1) // 2
    # One cell of a pair: (v_0 + v_1 + v_1 + v_2) / 16 with 1/2 and 1/4 for p_A, sizes squared 4,
    # 16.
    uses = np.array([pairs / 16, d * (d - 1) / 8, pairs / 4])
    costs = np.array([1.0, d / 2, pairs / 4])
    total_variance = np.sum(np.sqrt(uses * costs)) ** 2
    assert residual_planner_error(domain, weights) == pytest.approx(
        4 * sqrt(pairs * total_variance)
    )


def test_wider_marginals_make_up_for_most_of_what_binary_attributes_lose():
    domain = Domain(tuple("abcdefghij"), (2,) * 10)
    weights = dict.fromkeys(combinations(domain.attributes, 3), 1.0)
    shares = planned_shares(domain, weights)
    bound = residual_planner_error(domain, weights)
    assert expected_error(domain, weights, measurement_shares(domain, weights)) > 1.25 * bound
    assert expected_error(domain, weights, shares) < 1.2 * bound
    assert len(shares) < len(weights)


@settings(max_examples=40, deadline=None)
@given(workloads())
def test_wider_cliques_cover_all_others_with_enough(problem):
    domain, weights = problem
    wide = wider_cliques(domain, weights)
    for clique, share in weights.items():
        covering = [
            s / domain.size(w) * domain.size(clique)
            for w, s in wide.items()
            if set(clique) <= set(w)
        ]
        assert max(covering) >= share * (1 - 1e-9)
    assert sum(wide.values()) <= sum(weights.values()) * (1 + 1e-9)


def test_weights_of_next_to_nothing_still_get_noise_that_fits():
    domain = Domain(tuple("ab"), (3, 4))
    shares = planned_shares(domain, {("a",): 1e-300, ("b",): 1e9})
    assert shares["a",] > 1e-4
