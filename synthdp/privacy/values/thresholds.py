"""Thresholds for partition selection: how many records must share a value before it may be released.

Let one unit hold all records of some values: at most k records in all, ``c_1 + .. + c_m <= k`` for
its m values. A value with c records is released if ``c + X >= T`` for Gaussian noise X, that is
with probability ``g(c) = P(X >= T - c)``, and any of them with at most ``g(c_1) + .. + g(c_m)``.

As long as T > k, g is convex on 0 .. k, because the probabilities of X = T - c grow as T - c falls to 0.
So the sum is largest, for a given m, with all but one of the c_j equal to 1, where it is
``(m - 1) g(1) + g(k - m + 1)``; this is convex in m, hence largest at m = 1 or m = k. Any
T > k with ``max(g(k), k g(1)) <= delta`` therefore keeps the probability at or below delta.
"""

from fractions import Fraction
from math import ceil, erfc, sqrt
from statistics import NormalDist

from synthdp.errors import ParameterError
from synthdp.privacy.noise.gaussian import Noise

SMALLEST_DELTA = 1e-280
"""Below, floating point cannot tell tails of the normal distribution."""

_SLACK = 1 + 1e-9
"""More than the error of `tail_bound`: erfc is right to 1e-15, its argument x to 4e-16, hence the tail to 1e-15 x^2."""


def tail_bound(noise: Noise, sigma_squared: Fraction, m: int) -> float:
    """Upper bound on ``P(X >= m)`` for Gaussian noise X on integers and m >= 1.

    The rounded Gaussian reaches m where the real one reaches m - 1/2. For the discrete one
    ``P(X >= m) <= P(N >= m - 1)`` with N real and of the same sigma [CKS20, Prop. 25].

    >>> f"{tail_bound(Noise.ROUNDED, Fraction(100), 31):.5f}"
    '0.00114'
    """
    reach = m - (0.5 if noise is Noise.ROUNDED else 1.0)
    return 0.5 * erfc(reach / sqrt(2 * float(sigma_squared))) * _SLACK


def partition_threshold(noise: Noise, *, sigma_squared: Fraction, max_rows: int, delta: Fraction) -> int:
    """A noisy count at which a value may be released; see the top of this module.

    It is the smallest that `tail_bound` proves, or less than ``sigma / 1000`` above it.

    Parameters
    ----------
    noise, sigma_squared
        The noise on each count.
    max_rows
        Most records of one unit.
    delta
        Probability, above 0, that a unit's own value is released.

    Raises
    ------
    ParameterError
        If delta is not between `SMALLEST_DELTA` and 1.

    >>> partition_threshold(Noise.ROUNDED, sigma_squared=Fraction(100), max_rows=1, delta=Fraction(1, 10**9))
    62
    """
    if not SMALLEST_DELTA <= delta < 1 or float(delta) == 1.0:
        raise ParameterError(f"delta of a threshold is {float(delta)}; give at least {SMALLEST_DELTA} and less than 1")

    def fails(threshold: int) -> bool:
        alone = tail_bound(noise, sigma_squared, threshold - max_rows)
        apart = max_rows * tail_bound(noise, sigma_squared, threshold - 1)
        return max(alone, apart) > float(delta) * (1 - 1e-15)

    sigma = sqrt(float(sigma_squared))
    guess = max_rows + sigma * max(-NormalDist().inv_cdf(float(delta)), 0.0)
    threshold = max(ceil(guess) - 2, max_rows + 1)
    while fails(threshold):
        threshold += max(1, int(sigma / 1000))
    return threshold
