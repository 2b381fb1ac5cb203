"""Conversion between (epsilon, delta) and the ledger's currency, by zCDP [BS16, CKS20] or Gaussian DP [DRS19]."""

from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from functools import partial
from math import exp, inf, log, log1p, nextafter, sqrt
from numbers import Real
from sys import float_info

from synthdp.errors import ParameterError, PrivacyError

LARGEST_EPSILON = 1e9
"""Far beyond any protection; larger numbers are taken for mistakes."""

SMALLEST_RHO = 2.0**-70
"""Budgets below this cannot be split into measurements whose noise fits into 64-bit counts."""


class Accounting(Enum):
    """Which theorem turns epsilon and delta into a budget of rho.

    Both add up rho, also over events that are chosen in view of earlier answers: in zCDP
    [Whitehouse 2023, Feldman-Zrnic 2021], and in Gaussian DP, where rho is mu^2 / 2 [Smith-Thakurta
    2022, arXiv:2210.17520]. Gaussian DP is tighter, and holds for Gaussian noise only.
    """

    ZCDP = "zcdp"
    GDP = "gdp"

    @property
    def theorem(self) -> str:
        """What the guarantee stands on."""
        return {
            Accounting.ZCDP: (
                "zCDP of Gaussian, Laplace and exponential mechanisms, composed by a privacy filter; "
                "epsilon and delta by [CKS20]"
            ),
            Accounting.GDP: (
                "Gaussian DP of Gaussian noise, rounded afterwards, composed by a privacy filter "
                "[Smith-Thakurta 2022]; epsilon and delta by [DRS19]"
            ),
        }[self]

    def rho(self, *, epsilon: float, delta: float) -> Fraction:
        """The budget for (epsilon, delta)."""
        convert = gdp_rho if self is Accounting.GDP else zcdp_rho
        return convert(epsilon=epsilon, delta=delta)


def check_budget(*, epsilon: float, delta: float) -> None:
    """Raise `ParameterError` unless epsilon is above 0 and at most 1e9, and 0 < delta < 1."""
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ParameterError(f"{name} is {value!r}; give a number")
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise ParameterError(f"epsilon is {epsilon}; give a finite number above 0 and at most 1e9, for instance 1")
    if not 0 < delta < 1:
        raise ParameterError(
            f"delta is {delta}; give a number above 0 and far below 1 / (number of records), for instance 1e-9"
        )


def zcdp_log_delta(*, rho: float, epsilon: float) -> float:
    """Natural logarithm of the smallest proven delta for which rho-zCDP gives (epsilon, delta)-DP.

    Evaluates ``inf over alpha > 1 of exp((alpha-1)(alpha rho - epsilon)) / (alpha-1) * (1-1/alpha)^alpha``
    [CKS20, Prop. 12] in terms of ``a = alpha - 1``, which stays accurate when alpha is near 1
    (``log(1 - 1/alpha) = -log(1 + 1/a)``). Any a > 0 gives a valid bound. Each term below has a
    relative error of a few units in the last place; the result is rounded up by more than that,
    so it never claims too much.
    """
    if not 0 <= rho < inf:
        raise ParameterError(f"rho is {rho}; give a finite number, 0 or above")
    if rho == 0:
        return -inf
    # The logarithm of the bound has derivative (2a + 1) rho - epsilon - log(1 + 1/a), increasing in a.
    low, high = 1e-18, min((epsilon + 1.0) / (2.0 * rho) + 1.0, 1e150)
    for _ in range(200):
        a = 0.5 * (low + high)
        if (2 * a + 1) * rho - epsilon - log1p(1 / a) < 0:
            low = a
        else:
            high = a
    terms = (high * (1 + high) * rho, -high * epsilon, -log(high), -(1 + high) * log1p(1 / high))
    bound = sum(terms) + 16 * float_info.epsilon * (1 + sum(map(abs, terms)))
    return bound if bound < 0 else 0.0  # also where numbers overflow and the bound is nan


def zcdp_delta(*, rho: float, epsilon: float) -> float:
    """Smallest proven delta for which rho-zCDP gives (epsilon, delta)-DP [CKS20], rounded up.

    >>> f"{zcdp_delta(rho=0.014973, epsilon=1.0):.2e}"
    '1.00e-09'
    """
    delta = exp(zcdp_log_delta(rho=rho, epsilon=epsilon))
    return nextafter(delta, 1.0) if rho > 0 else 0.0


def zcdp_epsilon(*, rho: float, delta: float) -> float:
    """Smallest proven epsilon for which rho-zCDP gives (epsilon, delta)-DP [CKS20], rounded up.

    >>> round(zcdp_epsilon(rho=0.014973, delta=1e-9), 4)
    1.0
    """
    check_budget(epsilon=1.0, delta=delta)
    target = log(delta)
    low, high = 0.0, 1.0
    while high < inf and zcdp_log_delta(rho=rho, epsilon=high) > target:
        high *= 2
    for _ in range(100):
        epsilon = 0.5 * (low + high)
        if zcdp_log_delta(rho=rho, epsilon=epsilon) > target:
            low = epsilon
        else:
            high = epsilon
    return high


def zcdp_rho(*, epsilon: float, delta: float) -> Fraction:
    """Largest rho, as an exact fraction, for which rho-zCDP proves (epsilon, delta)-DP [CKS20].

    Raises
    ------
    ParameterError
        If epsilon is not above 0 and at most 1e9, or delta not strictly between 0 and 1.
    PrivacyError
        If they are so small that noise would drown any count.

    >>> round(float(zcdp_rho(epsilon=1.0, delta=1e-9)), 6)
    0.014973
    """
    return _largest_rho(zcdp_log_delta, epsilon=epsilon, delta=delta)


def gdp_log_delta(*, rho: float, epsilon: float) -> float:
    """Natural logarithm of the delta for which mu-Gaussian DP gives (epsilon, delta)-DP, rounded up.

    ``delta = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2)`` for ``mu = sqrt(2 rho)``
    [DRS19, Cor. 1]. With ``a = (epsilon/mu - mu/2) / sqrt 2`` and ``b = (epsilon/mu + mu/2) / sqrt 2`` it
    is ``exp(-a^2) (erfcx(a) - erfcx(b)) / 2``, where nothing overflows. Rounding moves a and b by less
    than 1e-15 b (not a: the difference cancels), and so the logarithm by less than 4e-15 (1 + |a|) b, its
    derivative in a being below ``4 |a| + 2``; and either erfcx by less than 1e-13 of itself. More than
    that is added.
    """
    from scipy.special import erfcx

    if not 0 <= rho < inf:
        raise ParameterError(f"rho is {rho}; give a finite number, 0 or above")
    if rho == 0:
        return -inf
    mu = sqrt(2 * rho)
    a, b = (epsilon / mu - mu / 2) / sqrt(2), (epsilon / mu + mu / 2) / sqrt(2)
    if a < -5:  # delta is nearly 1, or epsilon enormous: claim nothing
        return 0.0
    if a > 1e6:
        return -a * a * (1 - 1e-12)  # erfcx(a) < 1
    first, second = float(erfcx(a)), float(erfcx(b))
    slack = 1e-14 * (1 + (1 + abs(a)) * b)
    return min(0.0, log((first - second + 3e-13 * first) / 2) - a * a + slack)


def gdp_rho(*, epsilon: float, delta: float) -> Fraction:
    """Largest rho = mu^2 / 2, as an exact fraction, for which mu-Gaussian DP proves (epsilon, delta)-DP [DRS19].

    Raises
    ------
    ParameterError
        If epsilon is not above 0 and at most 1e9, or delta not strictly between 0 and 1.
    PrivacyError
        If they are so small that noise would drown any count.

    >>> round(float(gdp_rho(epsilon=1.0, delta=1e-9)), 6)
    0.016557
    """
    return _largest_rho(gdp_log_delta, epsilon=epsilon, delta=delta)


def _largest_rho(log_delta: Callable[..., float], *, epsilon: float, delta: float) -> Fraction:
    check_budget(epsilon=epsilon, delta=delta)
    proven = partial(log_delta, epsilon=epsilon)
    target = log(delta)
    low, high = 0.0, 1.0
    while proven(rho=high) <= target:
        high *= 2
    for _ in range(1100):
        rho = 0.5 * (low + high)
        if rho in (low, high):
            break
        if proven(rho=rho) <= target:
            low = rho
        else:
            high = rho
    if low < SMALLEST_RHO:
        raise PrivacyError(f"epsilon {epsilon} with delta {delta} allows nothing to be measured; give more of either")
    return Fraction(low)
