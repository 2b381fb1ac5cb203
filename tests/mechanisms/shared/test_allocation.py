"""Closed-form splits of a budget: what they promise, against random splits and the conditions of an
optimum.
"""

from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthdp.core import Domain, all_k_way
from synthdp.mechanisms import Demand, measurement_shares, predicted_error, water_filled

POSITIVE = st.floats(1e-3, 1e3)
DEMANDS = st.lists(
    st.builds(Demand, weight=POSITIVE, error=POSITIVE, unit=POSITIVE), min_size=1, max_size=8
)
SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def weighted_cliques(draw):
    """A domain and weights of some of its marginals of one or two attributes."""
    sizes = draw(st.lists(st.integers(1, 50), min_size=1, max_size=5))
    domain = Domain(tuple("abcde"[: len(sizes)]), tuple(sizes))
    candidates = [*all_k_way(domain.attributes, 1), *combinations(domain.attributes, 2)]
    cliques = draw(st.lists(st.sampled_from(candidates), min_size=1, unique=True))
    return domain, {clique: draw(POSITIVE) for clique in cliques}


def random_splits(n_parts, seed):
    """Splits of 1: even ones, lopsided ones, and ones with parts of next to nothing."""
    generator = np.random.default_rng(seed)
    for concentration in (0.1, 1.0, 10.0):
        yield from np.maximum(generator.dirichlet([concentration] * n_parts, size=10), 1e-12)


@given(weighted_cliques(), SEEDS)
def test_shares_sum_to_one_exactly_and_no_other_split_has_less_error(problem, seed):
    domain, weights = problem
    shares = measurement_shares(domain, weights)
    assert list(shares) == list(weights)
    assert sum(shares.values()) == 1
    assert all(isinstance(share, Fraction) and share > 0 for share in shares.values())
    amounts = np.array([weight * domain.size(clique) for clique, weight in weights.items()])
    least = (amounts / np.sqrt(np.array(list(map(float, shares.values()))))).sum()
    assert np.isclose(
        least, (amounts ** (2 / 3)).sum() ** 1.5, rtol=1e-9
    )  # by Hoelder's inequality
    for split in random_splits(len(amounts), seed):
        assert (amounts / np.sqrt(split / split.sum())).sum() >= least * (1 - 1e-9)


def error_left(demands, shares):
    return sum(
        demand.weight * demand.error_after(float(rho))
        for demand, rho in zip(demands, shares, strict=True)
    )


@given(DEMANDS, POSITIVE)
def test_parts_that_get_something_have_the_same_return_and_no_other_has_more(demands, budget):
    shares, price = water_filled(
        [d.weight * d.error for d in demands], [d.half for d in demands], budget
    )
    assert shares.shape == (len(demands),)
    assert shares.min() >= 0
    assert np.isclose(shares.sum(), budget, rtol=1e-12)
    for demand, rho in zip(demands, shares, strict=True):
        # minus the derivative of weight * error / sqrt(1 + rho / half)
        slope = demand.weight * demand.error / (2 * demand.half) * (1 + rho / demand.half) ** -1.5
        if rho > 0:
            assert np.isclose(slope, price, rtol=1e-6)
        else:
            assert demand.first_return <= price * (1 + 1e-6)
            assert np.isclose(slope, demand.first_return)


def test_a_budget_that_rounding_swallows_goes_to_the_best_part():
    shares, price = water_filled([1.0, 2.0], [1e30, 1e30], 1e-12)
    assert shares.tolist() == [0.0, 1e-12]
    assert np.isclose(price, 1e-30)


@given(DEMANDS, POSITIVE, SEEDS)
def test_no_other_split_takes_off_more_error(demands, budget, seed):
    shares, _ = water_filled(
        [d.weight * d.error for d in demands], [d.half for d in demands], budget
    )
    least = error_left(demands, shares)
    for split in random_splits(len(demands), seed):
        assert error_left(demands, budget * split / split.sum()) >= least * (1 - 1e-9)


@given(st.builds(Demand, weight=POSITIVE, error=POSITIVE, unit=POSITIVE))
def test_a_demand_follows_from_noise_and_error(demand):
    assert demand.error_after(0.0) == demand.error
    assert np.isclose(demand.error_after(demand.half) ** 2, demand.error**2 / 2)
    # With much budget, the error is that of the measurement.
    much = 1e8 * demand.half
    assert np.isclose(demand.error_after(much), demand.unit / sqrt(2 * much), rtol=1e-6)
    step = 1e-6 * demand.half
    slope = demand.weight * (demand.error - demand.error_after(step)) / step
    assert np.isclose(slope, demand.first_return, rtol=1e-3)


def demand(error):
    return Demand(weight=1.0, error=error, unit=2.0)


def test_predicted_error_of_pairs_is_the_sum_of_what_is_left():
    demands = {("a", "b"): demand(8.0), ("a", "c"): demand(5.0)}
    assert predicted_error({}, demands) == 13.0
    plan = {("a", "b"): demands["a", "b"].half}
    assert predicted_error(plan, demands) == pytest.approx(8 / sqrt(2) + 5)


def test_predicted_error_of_a_triple_joins_its_pairs_errors_and_its_own():
    pairs = {pair: demand(2.0) for pair in combinations("abc", 2)}
    demands = pairs | {("a", "b", "c"): Demand(weight=3.0, error=4.0, unit=8.0)}
    assert predicted_error({}, demands) == pytest.approx(3 * 4)  # 4 = hypot(2, 2, 2, own 2)
    half = demands["a", "b", "c"].half
    # Measured as a whole: its own part shrinks by sqrt 2, a pair's as if measured with half a
    # quarter of it.
    left = 2 / sqrt(1 + half / 4 / pairs["a", "b"].half)
    expected = 3 * sqrt(3 * left**2 + 2.0)
    assert predicted_error({("a", "b", "c"): half}, demands) == pytest.approx(expected)
