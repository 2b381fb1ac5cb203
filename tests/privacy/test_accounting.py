"""The accountant against 60-digit arithmetic, and always on the safe side."""

import math
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import count
from math import inf, nan

import mpmath
import numpy as np
import pytest
from helpers.homes import home
from helpers.seldom import examples, often
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.accounting import gdp_delta, zcdp_delta
from oracles.erf import erf_digits, erfcx_digits, gdp_log_delta_digits
from oracles.privacy import log_delta_infimum, log_delta_on_grid, naive_epsilon

from synthdp.core import ParameterError, PrivacyError
from synthdp.privacy import Accounting, check_budget, gdp_rho, zcdp_rho
from synthdp.release import THEOREMS

accounting = home(Accounting)

CONVERSIONS = pytest.mark.parametrize(
    ("convert", "delta_of"), [(zcdp_rho, zcdp_delta), (gdp_rho, gdp_delta)]
)
EPSILONS = st.floats(-6, 9).map(lambda x: 10.0**x)
DELTAS = st.one_of(
    st.floats(-300, -0.001).map(lambda x: 10.0**x),
    st.sampled_from([0.5, 0.9, 0.999, 0.999999, 5e-324, 1 - 2**-53]),
)
MORE = 1 + Fraction(1, 10**9)


@pytest.fixture(autouse=True)
def _nothing_is_remembered():
    """Some tests change what the conversions stand on."""
    accounting._largest_gdp_rho.cache_clear()
    yield
    accounting._largest_gdp_rho.cache_clear()


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
def test_zcdp_known_values(epsilon, delta, rho, digits):
    assert round(float(zcdp_rho(epsilon=epsilon, delta=delta)), digits) == rho


@pytest.mark.parametrize(
    ("epsilon", "delta", "rho", "digits"),
    [(1, 1e-9, 0.016557, 6), (0.1, 1e-5, 0.000529, 6), (1, 1e-5, 0.035926, 6)],
)
def test_gdp_known_values(epsilon, delta, rho, digits):
    assert round(float(gdp_rho(epsilon=epsilon, delta=delta)), digits) == rho


# Never too much, and nothing wasted


@CONVERSIONS
@pytest.mark.parametrize(
    "epsilon", often(1e-6, 0.1, 1.0, 17.0, 1e9, seldom=(1e-3, 4.0, 100.0, 1e6))
)
@pytest.mark.parametrize(
    "delta",
    often(5e-324, 1e-100, 1e-9, 1e-3, 1 - 2**-53, seldom=(1e-300, 1e-30, 1e-15, 1e-6, 0.05, 0.5)),
)
def test_rho_against_mpmath(convert, delta_of, epsilon, delta):
    rho = convert(epsilon=epsilon, delta=delta)
    assert Fraction(float(rho)) == rho
    with mpmath.workdps(80):
        assert delta_of(rho, epsilon) <= delta < delta_of(rho * MORE, epsilon)


def assert_largest(rho, log_delta_of, epsilon, delta):
    """The budget has no larger delta, by sixty digits, and a little more of it has."""
    assert log_delta_of(rho, epsilon) <= Decimal(delta).ln() < log_delta_of(rho * MORE, epsilon)


@settings(max_examples=30, deadline=None)
@given(epsilon=EPSILONS, delta=DELTAS)
def test_zcdp_rho_against_sixty_digits(epsilon, delta):
    assert_largest(zcdp_rho(epsilon=epsilon, delta=delta), log_delta_infimum, epsilon, delta)


@settings(max_examples=30, deadline=None)
@given(epsilon=EPSILONS, delta=DELTAS)
@example(
    epsilon=959910125.6775048, delta=3.525798689909724e-06
)  # epsilon / mu and mu / 2 nearly cancel
@example(epsilon=187090706.71134964, delta=0.07587498729989794)
def test_gdp_rho_against_sixty_digits(epsilon, delta):
    assert_largest(gdp_rho(epsilon=epsilon, delta=delta), gdp_log_delta_digits, epsilon, delta)


@pytest.mark.parametrize(
    ("rho", "epsilon"), [(0.014973, 1.0), (1.091, 10.0), (0.5, 0.1), (1e-4, 0.05), (30.0, 50.0)]
)
def test_brute_force_over_alpha_finds_nothing_better(rho, epsilon):
    delta = math.exp(log_delta_on_grid(rho, epsilon))
    assert float(zcdp_rho(epsilon=epsilon, delta=delta)) == pytest.approx(rho, rel=1e-8)


@pytest.mark.parametrize(
    ("rho", "epsilon"), [(0.016557, 1.0), (0.5, 0.1), (0.5, 3.0), (2.0, 0.01), (8.0, 20.0)]
)
def test_gdp_delta_is_the_hockey_stick_of_two_gaussians(rho, epsilon):
    """Integrated numerically from its definition: ``max(0, p(x) - e^epsilon q(x))``, no formula in
    between.
    """
    mu, x = (2 * rho) ** 0.5, np.linspace(-40, 60, 4_000_001)
    excess = np.exp(-0.5 * (x - mu) ** 2) - np.exp(epsilon - 0.5 * x**2)
    delta = np.maximum(excess, 0).sum() * (x[1] - x[0]) / np.sqrt(2 * np.pi)
    assert float(gdp_rho(epsilon=epsilon, delta=delta)) == pytest.approx(rho, rel=1e-5)


@settings(max_examples=40, deadline=None)
@given(rho=st.floats(1e-8, 100), delta=st.floats(1e-30, 1e-2))
def test_better_than_the_older_conversion(rho, delta):
    assert zcdp_rho(epsilon=naive_epsilon(rho, delta), delta=delta) > rho


@settings(max_examples=40, deadline=None)
@given(epsilon=st.floats(0.01, 100), delta=st.floats(-30, -3).map(lambda x: 10.0**x))
def test_gdp_is_worth_more_than_zcdp(epsilon, delta):
    """Between 1 and 2 times as much: a mistake in the formula would fall outside."""
    worth = gdp_rho(epsilon=epsilon, delta=delta) / zcdp_rho(epsilon=epsilon, delta=delta)
    assert 1 < worth < 2


@pytest.mark.parametrize("convert", [zcdp_rho, gdp_rho])
def test_more_budget_for_more_epsilon_and_delta(convert):
    by_epsilon = [convert(epsilon=x, delta=1e-9) for x in (0.01, 0.1, 1, 10, 100)]
    by_delta = [convert(epsilon=1, delta=x) for x in (1e-300, 1e-12, 1e-9, 1e-3, 0.5)]
    assert by_epsilon == sorted(by_epsilon)
    assert by_delta == sorted(by_delta)


@CONVERSIONS
def test_a_conversion_off_by_one_part_in_a_million_would_be_noticed(convert, delta_of):
    rho = convert(epsilon=1.0, delta=1e-9)
    with mpmath.workdps(80):
        assert delta_of(rho * (1 + Fraction(1, 10**6)), 1.0) > 1e-9
        assert delta_of(rho * (1 - Fraction(1, 10**6)) * MORE, 1.0) < 1e-9


# Nothing is assumed


@CONVERSIONS
@pytest.mark.parametrize("wrong", [0.5, 0.97, 1.003, 1.5])
def test_wrong_floating_point_functions_never_give_too_much(convert, delta_of, wrong, monkeypatch):
    """They only suggest where to look: with logarithms that are far off the budget is still proven."""
    for name in ("log", "log1p"):
        function = getattr(math, name)
        monkeypatch.setattr(
            accounting, name, lambda x, function=function: wrong * function(x) + 0.01
        )
    for epsilon, delta in ((1.0, 1e-9), (0.01, 1e-30), (20.0, 0.3), (1e6, 1e-6)):
        try:
            rho = convert(epsilon=epsilon, delta=delta)
        except PrivacyError:  # the wrong place to look may prove nothing
            continue
        with mpmath.workdps(80):
            assert delta_of(rho, epsilon) <= delta


WIDE = {
    "exp(-a^2)": ("exp_bounds", lambda _n, _x, bits: bits > 128),
    "exp in erfcx": ("exp_bounds", lambda _n, _x, bits: bits == 128),
    "erf": ("erf_bounds", lambda *_: True),
    "erfcx": ("_erfcx_bounds", lambda *_: True),
    "erfcx(a)": ("_erfcx_bounds", lambda n, *_: n % 2 == 0),
    "erfcx(b)": ("_erfcx_bounds", lambda n, *_: n % 2 == 1),
    "log delta": ("_log_bounds", lambda n, *_: n == 0),
    "log(1 / delta)": ("_log_bounds", lambda n, *_: n == 1),
    "log(1 + a)": ("_log_bounds", lambda n, *_: n == 2),
    "log a": ("_log_bounds", lambda n, *_: n == 3),
}


def widened(bounds, by, when):
    """Brackets of which both ends are further out, by a part of the upper one, of some of the
    calls.
    """
    calls = count()

    def wide(*arguments):
        lower, upper = bounds(*arguments)
        extra = int(upper * by) + 1 if isinstance(upper, int) else abs(upper) * by
        return (lower - extra, upper + extra) if when(next(calls), *arguments) else (lower, upper)

    return wide


@CONVERSIONS
@pytest.mark.parametrize("case", WIDE)
@pytest.mark.parametrize(
    ("epsilon", "delta"), often((1.0, 1e-9), (1e6, 1e-6), seldom=((0.1, 0.05), (0.3, 0.7)))
)
def test_every_bracket_is_used_by_its_safe_end(
    convert, delta_of, epsilon, delta, case, monkeypatch
):
    """A bracket that is far too wide may waste budget; by its wrong end it would give too much."""
    name, when = WIDE[case]
    for by in (Fraction(1, 10**6), Fraction(1, 100)):
        with monkeypatch.context() as patch:
            patch.setattr(accounting, name, widened(getattr(accounting, name), by, when))
            accounting._largest_gdp_rho.cache_clear()
            rho = convert(epsilon=epsilon, delta=delta)
        with mpmath.workdps(80):
            assert delta_of(rho, epsilon) <= delta


@CONVERSIONS
def test_the_bracket_of_pi_is_used_by_its_safe_end(convert, delta_of, monkeypatch):
    lower, upper = accounting._INVERSE_ROOT_PI
    monkeypatch.setattr(
        accounting, "_INVERSE_ROOT_PI", (lower * Fraction(99, 100), upper * Fraction(101, 100))
    )
    for epsilon, delta in ((1.0, 1e-9), (1e6, 1e-6)):
        with mpmath.workdps(80):
            assert delta_of(convert(epsilon=epsilon, delta=delta), epsilon) <= delta


@settings(max_examples=examples(100), deadline=None)
@given(x=st.floats(-300, 300).map(lambda x: Fraction(10.0**x)), near=st.fractions(0, 1))
@example(x=Fraction(1), near=Fraction(0))
@example(x=Fraction(1, 2**1074), near=Fraction(0))
def test_brackets_of_logarithms_are_right_and_narrow(x, near):
    for value in (x, 1 + x, 1 + near):
        lower, upper = accounting._log_bounds(value)
        with mpmath.workdps(
            420
        ):  # of a number that differs from 1 in its 300th decimal, 120 are left
            true = mpmath.log(mpmath.mpf(value.numerator) / value.denominator)
            assert as_mpf(lower) <= true <= as_mpf(upper)
        assert upper - lower <= Fraction(1, 10**24)


@settings(max_examples=examples(100), deadline=None)
@given(z=st.one_of(st.floats(0, 6), st.floats(-3, 12).map(lambda x: 10.0**x)))
@example(z=2.0)
@example(z=2 - 2**-52)
@example(z=0.0)
def test_brackets_of_erfcx_are_right_and_narrow(z):
    lower, upper = accounting._erfcx_bounds(Fraction(z) ** 2)
    with mpmath.workdps(120):
        exact = mpmath.mpf(z)
        if z < 1e4:
            true = mpmath.exp(exact**2) * mpmath.erfc(exact)
        else:  # its asymptotic series, of which four terms are right to z^-8
            s = 1 / (2 * exact**2)
            true = (1 - s + 3 * s**2 - 15 * s**3) / (exact * mpmath.sqrt(mpmath.pi))
        assert as_mpf(lower) <= true * (1 + mpmath.mpf("1e-30"))
        assert true * (1 - mpmath.mpf("1e-30")) <= as_mpf(upper)
        if z < 1e4:
            assert as_mpf(lower) <= true <= as_mpf(upper)
    assert upper - lower <= upper * Fraction(1, 10**19)


def test_the_bracket_of_pi():
    lower, upper = accounting._INVERSE_ROOT_PI
    with mpmath.workdps(60):
        assert as_mpf(lower) < 1 / mpmath.sqrt(mpmath.pi) < as_mpf(upper)
    assert upper - lower < Fraction(1, 10**35)


def as_mpf(x):
    return mpmath.mpf(x.numerator) / x.denominator


@pytest.mark.parametrize("z", ["0.001", "0.5", "2.9", "3", "3.1", "5", "12"])
def test_the_oracles_two_ways_to_erfc_agree(z):
    with localcontext() as context:
        context.prec = 200
        z = Decimal(z)
        assert abs(erfcx_digits(z, 60) * (-z * z).exp() - (1 - erf_digits(z * z, 150))) < Decimal(
            "1e-62"
        )
        assert abs(erfcx_digits(-z, 60) * (-z * z).exp() - (1 + erf_digits(z * z, 150))) < Decimal(
            "1e-60"
        )


def test_the_kernel_needs_no_scipy():
    code = (
        "import sys\n"
        "from synthdp.privacy.accounting import gdp_rho, zcdp_rho\n"
        "from synthdp.privacy.private_table import PrivateTable\n"
        "from synthdp.privacy.values.private_values import PrivateValues\n"
        "gdp_rho(epsilon=1.0, delta=1e-9), zcdp_rho(epsilon=1.0, delta=1e-9)\n"
        "sys.exit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0


# What is refused


def test_budgets_that_allow_nothing_are_refused():
    for convert in (zcdp_rho, gdp_rho):
        with pytest.raises(PrivacyError, match="nothing to be measured"):
            convert(epsilon=1e-12, delta=1e-12)
        with pytest.raises(PrivacyError, match="nothing to be measured"):
            convert(epsilon=1e-300, delta=5e-324)


def test_accounting_names_its_theorem():
    assert Accounting.ZCDP.rho(epsilon=2.0, delta=1e-7) == zcdp_rho(epsilon=2.0, delta=1e-7)
    assert Accounting.GDP.rho(epsilon=2.0, delta=1e-7) == gdp_rho(epsilon=2.0, delta=1e-7)
    assert "DRS19" in THEOREMS[Accounting.GDP]
    assert "CKS20" in THEOREMS[Accounting.ZCDP]


@pytest.mark.parametrize("epsilon", [0, 0.0, -0.0, -1, inf, -inf, nan, 1.1e9, True, "1"])
def test_bad_epsilon(epsilon):
    for call in (check_budget, zcdp_rho, gdp_rho):
        with pytest.raises(ParameterError, match="epsilon"):
            call(epsilon=epsilon, delta=1e-9)


@pytest.mark.parametrize("delta", [0, 0.0, -1e-9, 1, 1.5, inf, nan, True, "1"])
def test_bad_delta(delta):
    for call in (check_budget, zcdp_rho, gdp_rho):
        with pytest.raises(ParameterError, match="delta"):
            call(epsilon=1.0, delta=delta)
