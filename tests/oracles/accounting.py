"""What rho-zCDP and mu-Gaussian DP guarantee, in mpmath's many digits, from the published formulae."""

from fractions import Fraction

import mpmath


def _exact(x: Fraction | float) -> mpmath.mpf:
    x = Fraction(x)
    return mpmath.mpf(x.numerator) / x.denominator


def zcdp_delta(rho: Fraction | float, epsilon: float) -> mpmath.mpf:
    """``inf over alpha`` of [CKS20, Prop. 12], by bisection of the derivative of its logarithm over
    log(alpha - 1).
    """
    r, e = _exact(rho), _exact(epsilon)
    low, high = mpmath.mpf(-200), mpmath.mpf(200)
    for _ in range(mpmath.mp.prec + 10):
        middle = (low + high) / 2
        a = mpmath.exp(middle)
        low, high = (middle, high) if (2 * a + 1) * r - e < mpmath.log1p(1 / a) else (low, middle)
    alpha = 1 + mpmath.exp(low)
    return mpmath.exp((alpha - 1) * (alpha * r - e)) / (alpha - 1) * (1 - 1 / alpha) ** alpha


def gdp_delta(rho: Fraction | float, epsilon: float) -> mpmath.mpf:
    """``Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2)`` for ``mu^2 = 2 rho`` [DRS19,
    Cor. 1].
    """
    with mpmath.extradps(40):  # the difference cancels
        mu, e = mpmath.sqrt(2 * _exact(rho)), _exact(epsilon)
        upper, lower = (
            mpmath.erfc((e / mu + sign * mu / 2) / mpmath.sqrt(2)) / 2 for sign in (-1, 1)
        )
        return upper - mpmath.exp(e) * lower
