"""Thresholds for partition selection: how many records must share a value before it may be
released.

Let one unit hold all records of some values: at most k records in all, ``c_1 + .. + c_m <= k`` for
its m values. A value with c records is released if ``c + X >= T`` for Gaussian noise X, that is
with probability ``g(c) = P(X >= T - c)``, and any of them with at most ``g(c_1) + .. + g(c_m)``.

As long as T > k, g is convex on 0 .. k, because the probabilities of X = T - c grow as T - c falls
to 0. So the sum is largest, for a given m, with all but one of the c_j equal to 1, where it is ``(m
- 1) g(1) + g(k - m + 1)``; this is convex in m, hence largest at m = 1 or m = k. Any T > k with
``max(g(k), k g(1)) <= delta`` therefore keeps the probability at or below delta.
"""

from fractions import Fraction
from math import ceil, isqrt, sqrt
from statistics import NormalDist

from synthdp.core.errors import ParameterError
from synthdp.privacy.noise.exact import erf_bounds

MIN_DELTA = 1e-280
"""Far below any delta that is asked for; the first guess at a threshold is a floating-point number."""

_BITS = 64
"""Bits beyond those that tell a tail from 0: its bound is right to about one part in 2^60."""

_MAX_SQUARE = 1000
"""Beyond this z^2 a tail is below 2^-1442, which is below any delta for any number of rows."""


def tail_bound(sigma_squared: Fraction, m: int) -> Fraction:
    """Upper bound on ``P(X >= m)`` for rounded Gaussian noise X and m >= 1, by integer arithmetic.

    X reaches m where the real Gaussian reaches m - 1/2, hence with probability ``(1 - erf(z)) / 2``
    for ``z^2 = (m - 1/2)^2 / (2 sigma^2)``. That is above ``2^-(2 z^2 + 4)``, so bits are asked for
    accordingly.

    >>> f"{float(tail_bound(Fraction(100), 31)):.5f}"
    '0.00114'
    """
    square = Fraction((2 * m - 1) ** 2, 8) / sigma_squared
    if square > _MAX_SQUARE:
        return Fraction(1, 1 << 1442)
    bits = 2 * ceil(square) + _BITS
    lower, _ = erf_bounds(square, bits)
    return Fraction((1 << bits) - lower, 2 << bits)


def partition_threshold(*, sigma_squared: Fraction, max_rows: int, delta: Fraction) -> int:
    """A noisy count at which a value may be released; see the top of this module.

    It is the smallest that `tail_bound` proves, or less than ``sigma / 1000`` above it.

    Parameters
    ----------
    sigma_squared
        Variance of the Gaussian noise on each count, in records squared.
    max_rows
        Most records of one unit.
    delta
        Probability, above 0, that a unit's own value is released.

    Raises
    ------
    ParameterError
        If delta is not between `MIN_DELTA` and 1.

    >>> partition_threshold(sigma_squared=Fraction(100), max_rows=1, delta=Fraction(1, 10**9))
    62
    """
    if not MIN_DELTA <= delta < 1 or float(delta) == 1.0:
        raise ParameterError(
            f"delta of a threshold is {float(delta)}; give at least {MIN_DELTA} and less than 1"
        )

    def fails(threshold: int) -> bool:
        alone = tail_bound(sigma_squared, threshold - max_rows)
        return alone > delta or max_rows * tail_bound(sigma_squared, threshold - 1) > delta

    together, apart = (-NormalDist().inv_cdf(float(part)) for part in (delta, delta / max_rows))
    sigma = sqrt(sigma_squared)
    guess = ceil(0.5 + max(max_rows + sigma * together, 1 + sigma * apart))
    # Floating point only proposes where to begin; what is used has passed the exact bound. One
    # below the guess, so that rounding up of the guess costs nothing; above the most rows, where
    # the proof at the top begins.
    threshold = max(guess - 1, max_rows + 1)
    while fails(threshold):
        # Steps of a thousandth of sigma: one by one they would take long for large sigma, and the
        # loss is next to nothing.
        threshold += max(1, isqrt(int(sigma_squared)) // 1000)
    return threshold
