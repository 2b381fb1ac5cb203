"""erf, erfcx and what follows from them in `decimal`, by other formulas than the kernel's."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import ceil

from oracles.privacy import DIGITS, to_decimal


@lru_cache
def decimal_pi(digits: int) -> Decimal:
    """By Gauss and Legendre: the arithmetic-geometric mean of 1 and 1/sqrt 2."""
    with localcontext() as context:
        context.prec = digits + 10
        a, b, t, power = Decimal(1), 1 / Decimal(2).sqrt(), Decimal(1) / 4, 1
        while abs(a - b) > Decimal(10) ** -(digits + 5):
            a, b, t, power = (a + b) / 2, (a * b).sqrt(), t - power * ((a - b) / 2) ** 2, 2 * power
        return (a + b) ** 2 / (4 * t)


def erf_digits(square: Decimal, digits: int, sign: int = 1) -> Decimal:
    """``erf(z)`` for ``z = +-sqrt(square)`` to ``digits`` decimals, by the alternating Taylor
    series.
    """
    with localcontext() as context:
        context.prec = digits + ceil(square) + 20  # terms grow up to exp(square) < 10^square
        z = square.sqrt()
        power, total, n = z, Decimal(0), 0
        while abs(power) > Decimal(10) ** -(digits + 10) or n < square:
            total += power / (2 * n + 1)
            n += 1
            power *= -square / n
        return sign * total * 2 / decimal_pi(context.prec).sqrt()


def erfcx_digits(z: Decimal, digits: int) -> Decimal:
    """``exp(z^2) erfc(z)``: by the series of erf, or from z = 3 by Laplace's continued fraction."""
    with localcontext() as context:
        context.prec = digits + 40
        if z <= -3:
            return 2 * (z * z).exp() - erfcx_digits(-z, digits)
        if z < 3:
            return (z * z).exp() * (1 - erf_digits(z * z, digits + 40, -1 if z < 0 else 1))
        tail = z
        for n in range(20 + ceil((Decimal("1.2") * digits / z) ** 2), 0, -1):
            tail = z + Decimal(n) / 2 / tail
        return 1 / (decimal_pi(digits + 40).sqrt() * tail)


def gdp_log_delta_digits(
    rho: float | Fraction, epsilon: float | Fraction, digits: int = 60
) -> Decimal:
    """Logarithm of ``Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2)`` for ``mu^2 = 2
    rho``.
    """
    with localcontext() as context:
        context.prec = digits + 40
        mu, e = (2 * to_decimal(Fraction(rho))).sqrt(), to_decimal(Fraction(epsilon))
        a, b = (e / mu - mu / 2) / Decimal(2).sqrt(), (e / mu + mu / 2) / Decimal(2).sqrt()
        return ((erfcx_digits(a, digits) - erfcx_digits(b, digits)) / 2).ln() - a * a


class RoundedCdf(Sequence):
    """``P(|X| <= k)`` of a Gaussian rounded to the nearest integer, to `DIGITS` digits, worked out
    where asked for.
    """

    def __init__(self, sigma_squared: Fraction) -> None:
        self.sigma_squared = Fraction(sigma_squared)

    def __len__(self) -> int:
        return 2 + int(
            (2 * float(self.sigma_squared) * DIGITS * 2.4) ** 0.5
        )  # beyond, 1 - F < 10^-DIGITS

    def __getitem__(self, k: int) -> Decimal:
        return _rounded_cdf(self.sigma_squared, k)


@lru_cache(maxsize=10**5)
def _rounded_cdf(sigma_squared: Fraction, k: int) -> Decimal:
    with localcontext() as context:
        context.prec = DIGITS + 20
        square = to_decimal(Fraction(2 * k + 1) ** 2 / (8 * sigma_squared))
        return Decimal(1) if square > 2.31 * DIGITS else erf_digits(square, DIGITS + 10)
