"""Conversion between (epsilon, delta) and zero-concentrated differential privacy [BS16, CKS20]."""

from fractions import Fraction
from math import exp, inf, log, log1p, nextafter
from sys import float_info

from synthdp.errors import ParameterError, PrivacyError

LARGEST_EPSILON = 1e9
"""Far beyond any protection; larger numbers are taken for mistakes."""

SMALLEST_RHO = 2.0**-70
"""Budgets below this cannot be split into measurements whose noise fits into 64-bit counts."""


def check_budget(*, epsilon: float, delta: float) -> None:
    """Raise `ParameterError` unless epsilon is above 0 and at most 1e9, and 0 < delta < 1."""
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
    check_budget(epsilon=epsilon, delta=delta)
    target = log(delta)
    low, high = 0.0, 1.0
    while zcdp_log_delta(rho=high, epsilon=epsilon) <= target:
        high *= 2
    for _ in range(1100):
        rho = 0.5 * (low + high)
        if rho in (low, high):
            break
        if zcdp_log_delta(rho=rho, epsilon=epsilon) <= target:
            low = rho
        else:
            high = rho
    if low < SMALLEST_RHO:
        raise PrivacyError(f"epsilon {epsilon} with delta {delta} allows nothing to be measured; give more of either")
    return Fraction(low)
