"""The accountant against 60-digit arithmetic, and always on the safe side."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, inf, log, nan

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.erf import erf_digits, erfcx_digits, gdp_log_delta_digits
from oracles.privacy import log_delta_infimum, log_delta_on_grid, naive_epsilon

from synthdp.errors import ParameterError, PrivacyError
from synthdp.privacy.accounting import (
    Accounting,
    check_budget,
    gdp_log_delta,
    gdp_rho,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_log_delta,
    zcdp_rho,
)

EPSILONS = st.floats(-6, 6).map(lambda x: 10.0**x)
DELTAS = st.one_of(st.floats(-300, -0.001).map(lambda x: 10.0**x), st.sampled_from([0.5, 0.9, 0.999, 0.999999]))
RHOS = st.floats(-12, 6).map(lambda x: 10.0**x)


@pytest.mark.parametrize(
    ("epsilon", "delta", "rho", "digits"),
    [
        (1, 1e-9, 0.014973, 6),
        (10, 1e-9, 1.091, 3),
        (1, 1e-6, 0.02436, 5),
        (1, 1e-5, 0.03056, 5),
        (0.1, 1e-5, 0.000433, 6),
    ],
)
def test_known_values(epsilon, delta, rho, digits):
    assert round(float(zcdp_rho(epsilon=epsilon, delta=delta)), digits) == rho


@pytest.mark.parametrize(("rho", "epsilon"), [(0.014973, 1.0), (1.091, 10.0), (0.5, 0.1), (1e-4, 0.05), (30.0, 50.0)])
def test_brute_force_over_alpha_finds_nothing_better(rho, epsilon):
    assert zcdp_log_delta(rho=rho, epsilon=epsilon) == pytest.approx(log_delta_on_grid(rho, epsilon), rel=1e-9)


@settings(max_examples=300, deadline=None)
@given(rho=RHOS, epsilon=EPSILONS)
def test_log_delta_is_above_the_infimum_and_close_to_it(rho, epsilon):
    claimed, true = zcdp_log_delta(rho=rho, epsilon=epsilon), min(log_delta_infimum(rho, epsilon), Decimal(0))
    assert Decimal(claimed) >= true
    assert claimed - float(true) <= 1e-12 * (1 + epsilon / rho + abs(float(true)))


@settings(max_examples=200, deadline=None)
@given(epsilon=EPSILONS, delta=DELTAS)
def test_rho_never_claims_too_much_and_wastes_nothing(epsilon, delta):
    rho = zcdp_rho(epsilon=epsilon, delta=delta)
    assert log_delta_infimum(rho, epsilon) <= Decimal(delta).ln()
    if delta < 0.9:
        assert log_delta_infimum(rho * (1 + Fraction(1, 10**7)), epsilon) > Decimal(delta).ln()


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1e-6, 1e-300), (1e6, 1e-300), (1e-6, 0.999999), (1e6, 0.999999), (1, 0.999999)]
)
def test_extreme_budgets_stay_on_the_safe_side(epsilon, delta):
    rho = zcdp_rho(epsilon=epsilon, delta=delta)
    assert log_delta_infimum(rho, epsilon) <= Decimal(delta).ln()
    assert log_delta_infimum(rho * (1 + Fraction(1, 10**5)), epsilon) > Decimal(delta).ln()


@settings(max_examples=100, deadline=None)
@given(epsilon=EPSILONS, delta=DELTAS)
def test_round_trip_over_rho(epsilon, delta):
    rho = float(zcdp_rho(epsilon=epsilon, delta=delta))
    back = zcdp_epsilon(rho=rho, delta=delta)
    assert back <= epsilon * (1 + 1e-9) + (0 if delta < 0.9 else 1e-6)  # a delta near 1 is hardly a condition
    assert log_delta_infimum(rho, back) <= Decimal(delta).ln()
    assert zcdp_delta(rho=rho, epsilon=epsilon) <= delta * (1 + 1e-12)


@settings(max_examples=100, deadline=None)
@given(rho=st.floats(1e-8, 100), delta=st.floats(1e-30, 1e-2))
def test_better_than_the_older_conversion(rho, delta):
    assert zcdp_epsilon(rho=rho, delta=delta) < naive_epsilon(rho, delta)


@settings(max_examples=100, deadline=None)
@given(rho=RHOS, epsilon=EPSILONS)
def test_delta_is_rounded_up_and_never_zero(rho, epsilon):
    delta = zcdp_delta(rho=rho, epsilon=epsilon)
    assert 0 < delta <= 1
    assert Decimal(delta) >= min(log_delta_infimum(rho, epsilon).exp(), Decimal(1)) * (1 - Decimal("1e-25"))


def test_nothing_spent_is_perfectly_private():
    assert zcdp_log_delta(rho=0, epsilon=1.0) == -inf
    assert zcdp_delta(rho=0.0, epsilon=1.0) == 0.0
    assert zcdp_epsilon(rho=0.0, delta=1e-9) < 1e-20


def test_absurd_budgets_end_and_promise_nothing():
    assert zcdp_delta(rho=1e308, epsilon=1.0) == 1.0
    assert zcdp_delta(rho=1.0, epsilon=inf) == 1.0
    assert zcdp_epsilon(rho=1e308, delta=1e-9) >= 1e308


def test_more_budget_for_more_epsilon_and_delta():
    by_epsilon = [zcdp_rho(epsilon=x, delta=1e-9) for x in (0.01, 0.1, 1, 10, 100)]
    by_delta = [zcdp_rho(epsilon=1, delta=x) for x in (1e-300, 1e-12, 1e-9, 1e-3, 0.5)]
    assert by_epsilon == sorted(by_epsilon)
    assert by_delta == sorted(by_delta)


def test_a_conversion_that_takes_the_wrong_alpha_would_be_noticed():
    """Power: a bound below the infimum by one part in a million does not pass the comparison above."""
    rho, epsilon = 0.014973, 1.0
    too_low = zcdp_log_delta(rho=rho, epsilon=epsilon) * (1 + 1e-6)
    assert Decimal(too_low) < log_delta_infimum(rho, epsilon)
    assert exp(too_low) > 0
    assert log(exp(too_low)) == pytest.approx(too_low)


# Gaussian DP


@pytest.mark.parametrize("z", ["0.001", "0.5", "2.9", "3", "3.1", "5", "12"])
def test_the_oracles_two_ways_to_erfc_agree(z):
    with localcontext() as context:
        context.prec = 200
        z = Decimal(z)
        assert abs(erfcx_digits(z, 60) * (-z * z).exp() - (1 - erf_digits(z * z, 150))) < Decimal("1e-62")
        assert abs(erfcx_digits(-z, 60) * (-z * z).exp() - (1 + erf_digits(z * z, 150))) < Decimal("1e-60")


@pytest.mark.parametrize(
    ("epsilon", "delta", "rho", "digits"),
    [(1, 1e-9, 0.016557, 6), (0.1, 1e-5, 0.000529, 6), (1, 1e-5, 0.035926, 6)],
)
def test_gdp_known_values(epsilon, delta, rho, digits):
    assert round(float(gdp_rho(epsilon=epsilon, delta=delta)), digits) == rho


@pytest.mark.parametrize(("rho", "epsilon"), [(0.016557, 1.0), (0.5, 0.1), (0.5, 3.0), (2.0, 0.01), (8.0, 20.0)])
def test_gdp_delta_is_the_hockey_stick_of_two_gaussians(rho, epsilon):
    """Integrated numerically from its definition: ``max(0, p(x) - e^epsilon q(x))``, no formula in between."""
    mu, x = (2 * rho) ** 0.5, np.linspace(-40, 60, 4_000_001)
    excess = np.exp(-0.5 * (x - mu) ** 2) - np.exp(epsilon - 0.5 * x**2)
    delta = np.maximum(excess, 0).sum() * (x[1] - x[0]) / np.sqrt(2 * np.pi)
    assert gdp_log_delta(rho=rho, epsilon=epsilon) == pytest.approx(log(delta), rel=1e-5)


@settings(max_examples=200, deadline=None)
@given(rho=RHOS, epsilon=st.floats(-6, 9).map(lambda x: 10.0**x))
@example(rho=9.5e7, epsilon=9.6e7)  # epsilon/mu and mu/2 nearly cancel
@example(rho=1e9 - 1e5, epsilon=1e9)
@example(rho=1e-12, epsilon=1e6)
def test_gdp_log_delta_is_never_below_the_true_one(rho, epsilon):
    true = gdp_log_delta_digits(rho, epsilon) if epsilon / rho < 1e15 else None
    claimed = gdp_log_delta(rho=rho, epsilon=epsilon)
    assert claimed <= 0
    if true is None:
        assert claimed < -1e6
        return
    assert Decimal(claimed) >= true
    if epsilon > 1e-4 and float(true) < -1e-11:
        assert claimed - float(true) <= 1e-6 * (1 + abs(float(true)))


@settings(max_examples=150, deadline=None)
@given(epsilon=st.floats(-3, 9).map(lambda x: 10.0**x), delta=DELTAS)
@example(epsilon=959910125.6775048, delta=3.525798689909724e-06)
@example(epsilon=187090706.71134964, delta=0.07587498729989794)
def test_gdp_rho_never_claims_too_much_and_wastes_nothing(epsilon, delta):
    rho, target = gdp_rho(epsilon=epsilon, delta=delta), Decimal(delta).ln()
    assert gdp_log_delta_digits(rho, epsilon) <= target
    assert gdp_log_delta_digits(rho * (1 + Fraction(1, 10**6)), epsilon) > target


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-6, 1e-300), (1e-6, 0.999999), (1e9, 1e-300), (1e9, 0.999999)])
def test_gdp_extreme_budgets_stay_on_the_safe_side(epsilon, delta):
    rho = gdp_rho(epsilon=epsilon, delta=delta)
    assert gdp_log_delta_digits(rho, epsilon) <= Decimal(delta).ln()
    assert gdp_log_delta_digits(rho * (1 + Fraction(1, 10**3)), epsilon) > Decimal(delta).ln()


def test_gdp_ends_of_the_range():
    assert gdp_log_delta(rho=0, epsilon=1.0) == -inf
    assert gdp_log_delta(rho=1e308, epsilon=1.0) == 0.0
    assert gdp_log_delta(rho=1e-300, epsilon=1.0) < -1e290
    with pytest.raises(PrivacyError, match="nothing to be measured"):
        gdp_rho(epsilon=1e-12, delta=1e-12)
    for delta in (1 - 1e-16, 1 - 1e-12):
        assert gdp_log_delta_digits(gdp_rho(epsilon=1.0, delta=delta), 1.0) <= Decimal(delta).ln()


@settings(max_examples=100, deadline=None)
@given(epsilon=st.floats(0.01, 100), delta=st.floats(-30, -3).map(lambda x: 10.0**x))
def test_gdp_is_worth_more_than_zcdp(epsilon, delta):
    """Between 1 and 2 times as much: a mistake in the formula would fall outside."""
    worth = gdp_rho(epsilon=epsilon, delta=delta) / zcdp_rho(epsilon=epsilon, delta=delta)
    assert 1 < worth < 2


def test_accounting_names_its_theorem():
    assert Accounting.ZCDP.rho(epsilon=2.0, delta=1e-7) == zcdp_rho(epsilon=2.0, delta=1e-7)
    assert Accounting.GDP.rho(epsilon=2.0, delta=1e-7) == gdp_rho(epsilon=2.0, delta=1e-7)
    assert "DRS19" in Accounting.GDP.theorem
    assert "CKS20" in Accounting.ZCDP.theorem


@pytest.mark.parametrize("epsilon", [0, 0.0, -0.0, -1, inf, -inf, nan])
def test_bad_epsilon(epsilon):
    for call in (check_budget, zcdp_rho, gdp_rho):
        with pytest.raises(ParameterError, match="epsilon"):
            call(epsilon=epsilon, delta=1e-9)


@pytest.mark.parametrize("delta", [0, 0.0, -1e-9, 1, 1.5, inf, nan])
def test_bad_delta(delta):
    for call in (check_budget, zcdp_rho, gdp_rho):
        with pytest.raises(ParameterError, match="delta"):
            call(epsilon=1.0, delta=delta)
    with pytest.raises(ParameterError, match="delta"):
        zcdp_epsilon(rho=1.0, delta=delta)


@pytest.mark.parametrize("rho", [-1.0, -1e-300, inf, nan])
def test_bad_rho(rho):
    with pytest.raises(ParameterError, match="rho"):
        zcdp_delta(rho=rho, epsilon=1.0)
    with pytest.raises(ParameterError, match="rho"):
        gdp_log_delta(rho=rho, epsilon=1.0)
    with pytest.raises(ParameterError, match="rho"):
        zcdp_epsilon(rho=rho, delta=1e-9)
