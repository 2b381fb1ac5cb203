"""Thresholds for partition selection: how many records must share a value before it may be
released.

Let one unit hold all records of some values: at most k records in all, ``c_1 + .. + c_m <= k`` for
its m values. A value with c records is released if ``c + X >= T`` for Gaussian noise X, that is
with probability ``g(c) = P(X >= T - c)``, and any of them with at most ``g(c_1) + .. + g(c_m)``.

As long as T > k, g is convex on 0 .. k, because the probabilities of X = T - c grow as T - c falls
to 0. So the sum is largest, for a given m, with all but one of the c_j equal to 1, where it is ``(m
- 1) g(1) + g(k - m + 1)``; this is convex in m, hence largest at m = 1 or m = k. Any T > k with
``max(g(k), k g(1)) <= delta`` therefore keeps the probability at or below delta.

Or let a record have several values, and count less for each the more it has: of m values, at most
M, each gets the weight ``w_m = floor(W / sqrt(m))`` [Gopi20, weighted Gaussian]. Squares of the
weights of a record sum to ``W^2`` at most, so one record with W of weight at a single value is what
noise is for. Its values pass with at most ``m P(X >= T - w_m)``; any ``T > W`` for which that is at
most delta for each m from 1 to M keeps the probability at or below delta.
"""

from fractions import Fraction
from math import ceil, isqrt, sqrt
from statistics import NormalDist

from synthdp.core.errors import ParameterError
from synthdp.privacy.noise.exact import erf_bounds

MIN_DELTA = 1e-280
"""Far below any delta that is asked for; the first guess at a threshold is a floating-point number."""

WEIGHT = 1 << 10
"""Units of weight W of a record that may have several values: what is lost by rounding the weight
of each of m values down is below the part ``sqrt(m) / W`` of it.
"""

MAX_VALUES = 1 << 10
"""Most values of a record: with more, weights would be worth nothing, and their list long."""

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


def value_weights(most_values: int) -> tuple[int, ...]:
    """The weights of each value of records that have 1, 2, .. ``most_values`` of them, in units of
    which the first one, of a single value, has all.

    Raises
    ------
    ParameterError
        If there are not 1 to `MAX_VALUES` of them.

    >>> value_weights(1), value_weights(4)
    ((1,), (1024, 724, 591, 512))
    """
    if not 1 <= most_values <= MAX_VALUES:
        raise ParameterError(f"most_values is {most_values}; give 1 to {MAX_VALUES}")
    if most_values == 1:
        return (1,)
    return tuple(isqrt(WEIGHT**2 // n_values) for n_values in range(1, most_values + 1))


def partition_threshold(
    *, sigma_squared: Fraction, max_rows: int, delta: Fraction, most_values: int = 1
) -> int:
    """A noisy count at which a value may be released; see the top of this module.

    It is the smallest that `tail_bound` proves, or less than ``sigma / 1000`` above it.

    Parameters
    ----------
    sigma_squared
        Variance of the Gaussian noise on each count, in units of `value_weights`, squared.
    max_rows
        Most records of one unit.
    delta
        Probability, above 0, that a unit's own value is released.
    most_values
        Most values of one record, which counts by `value_weights` for each. Where they can be
        several, a unit is one record.

    Raises
    ------
    ParameterError
        If delta is not between `MIN_DELTA` and 1, or units of several records have several values
        each.

    >>> partition_threshold(sigma_squared=Fraction(100), max_rows=1, delta=Fraction(1, 10**9))
    62
    """
    if not MIN_DELTA <= delta < 1 or float(delta) == 1.0:
        raise ParameterError(
            f"delta of a threshold is {float(delta)}; give at least {MIN_DELTA} and less than 1"
        )
    if most_values > 1 and max_rows > 1:
        raise ParameterError(
            f"max_rows is {max_rows} and most_values {most_values}; one of them must be 1"
        )
    # The worst that a unit can have: so many values alone, and what is counted for each.
    worst = list(enumerate(value_weights(most_values), start=1))
    if max_rows > 1:
        worst = [(1, max_rows), (max_rows, 1)]

    def fails(threshold: int) -> bool:
        return any(
            n_values * tail_bound(sigma_squared, threshold - count) > delta
            for n_values, count in worst
        )

    sigma = sqrt(sigma_squared)
    guess = 0.5 + max(
        count - sigma * NormalDist().inv_cdf(float(delta / n_values)) for n_values, count in worst
    )
    # Floating point only proposes where to begin; what is used has passed the exact bound. One
    # below the guess, so that rounding up of the guess costs nothing; above all counts of one unit,
    # where the proof at the top begins.
    threshold = max(ceil(guess) - 1, max(count for _, count in worst) + 1)
    while fails(threshold):
        # Steps of a thousandth of sigma: one by one they would take long for large sigma, and the
        # loss is next to nothing.
        threshold += max(1, isqrt(int(sigma_squared)) // 1000)
    return threshold
