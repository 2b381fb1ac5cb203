r"""Exact sampling by inversion: certified bounds on a distribution function, and random bits.

To draw from ``P(X = k) = w_k / Z`` one finds the first k whose ``F(k) = (w_0 + .. + w_k) / Z``
exceeds a uniform number u. Here u is a string of fair bits that is drawn only as far as it is
needed, and F is bracketed by integers:

    lower[k]  <=  2^bits F(k)  <=  upper[k].

After ``bits`` bits, u lies in ``[prefix, prefix + 1) / 2^bits``. If ``prefix < lower[k]`` then
``u < F(k)``, because both are integers; if ``prefix >= upper[k]`` then ``u >= F(k)``. When each k
falls on one side, X is decided whatever the later bits are; otherwise more bits are drawn and
the bounds are refined to match. The answer is the one that infinitely many bits and real
arithmetic would give, so the distribution is exact. Floating point, where it saves time, only ever
answers when a proven bound on its error says that it must be right; it uses operations that
IEEE 754 rounds correctly and no function of libm.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import factorial, isqrt

import numpy as np
from numpy.typing import NDArray

from synthdp.privacy.noise.randomness import Randomness

Bounds = tuple[Sequence[int], Sequence[int]]

_MAX_EXPONENT = 64.0
"""Beyond, exp(-x) is below 2^-92 and as good as that of 64."""


def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    r"""Integers with ``lower <= 2^bits exp(-x) <= upper`` for ``x >= 0``.

    exp(-x) is ``exp(-y)^(2^s)`` with ``y = x / 2^s < 1/16``, in fixed point of ``width`` bits.
    Flooring y moves exp(-y) by less than one unit. In the Taylor series of exp(-y), term k is
    floored from term k-1, so its error is at most 1 + y/k of the former error, below 2 units,
    and term 0 has none; the series alternates and falls, so what is cut off is smaller than its
    first term, below 2 units. With n terms the sum is therefore within 2(n - 1) + 1 + 2 units.
    Squarings are rounded outwards.

    >>> exp_bounds(Fraction(1), 20)  # 2^20 / e = 385749.4
    (385749, 385750)
    """
    if x > bits:
        return 0, 1
    squarings = max(0, int(x).bit_length() + 4)
    # Squaring doubles the width of a bracket, of some hundred units at first.
    width = bits + squarings + 40
    y = (x.numerator << width) // (x.denominator << squarings)
    term, total, n_terms = 1 << width, 0, 0
    # Integers: a term that is floored to 0 ends the series, and the bound counts the rest.
    while term:
        total += -term if n_terms % 2 else term
        n_terms += 1
        term = term * y // (n_terms << width)
    lower, upper = total - 2 * n_terms - 2, min(total + 2 * n_terms + 2, 1 << width)
    for _ in range(squarings):
        lower, upper = lower * lower >> width, (upper * upper >> width) + 1
    return lower >> (width - bits), min((upper >> (width - bits)) + 1, 1 << bits)


def float_exp(x: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""exp(-x) for ``x >= 0`` in floating point, with a relative error below 2^-42 up to x = 64;
    shape of ``x``.

    Beyond 64 it is the value there.

    exp(-y) for ``y = x / 256 <= 1/4`` by 13 terms of the Taylor series, then squared eight times.
    What is left out is below ``y^13 / 13! < 2^-58``. The steps of Horner's rule are at most 1; each
    errs by at most 2^-53, the rounding of its coefficient included, and by a quarter of the former
    step's error. So the sum, at least 3/4, is right within 2^-52 + 2^-58, or 2^-51.5 of itself.
    Squaring doubles this and adds 2^-53: after eight times it is below ``2^8 (2^-51.5 + 2^-53) <
    2^-42``.

    >>> float_exp(np.array([0.0, 1.0])).round(6).tolist()
    [1.0, 0.367879]
    """
    y = np.minimum(x, _MAX_EXPONENT) / 256
    power = np.zeros_like(y)
    for n in range(12, -1, -1):
        power *= y
        power += (-1) ** n / factorial(n)
    for _ in range(8):
        power *= power
    return power


def cumulative_bounds(weights: Sequence[tuple[int, int]], bits: int) -> Bounds:
    """Bounds on ``2^bits F`` from bounds on finitely many weights, at least one of them above 0."""
    below = list(accumulate(low for low, _ in weights))
    above = list(accumulate(high for _, high in weights))
    least, most = below[-1], above[-1]
    lower = [(partial << bits) // most for partial in below]
    upper = [min(-(-(partial << bits) // least), 1 << bits) for partial in above]
    # F is exactly 1 at the last index, so every uniform number is decided in the end.
    lower[-1] = upper[-1] = 1 << bits
    return lower, upper


def invert(
    bounds: Callable[[int], Bounds], randomness: Randomness, *, prefix: int = 0, bits: int = 0
) -> int:
    """Draw an index from the distribution that ``bounds(bits)`` describes ever more finely.

    ``prefix`` holds the first ``bits`` bits of the uniform number, if some are drawn already.
    """
    while True:
        prefix = prefix << 64 | randomness.integer(64)
        bits += 64
        lower, upper = bounds(bits)
        # The first k with prefix < lower[k]: u is below F(k) for certain.
        index = bisect_right(lower, prefix)
        if index < len(lower) and (index == 0 or prefix >= upper[index - 1]):
            return index


def bernoulli_exp(x: Fraction, randomness: Randomness, *, prefix: int = 0, bits: int = 0) -> bool:
    """True with probability exp(-x), for ``x >= 0``."""

    def bounds(n_bits: int) -> Bounds:
        lower, upper = exp_bounds(x, n_bits)
        return (lower, 1 << n_bits), (upper, 1 << n_bits)

    return invert(bounds, randomness, prefix=prefix, bits=bits) == 0


def exponential_mechanism(gaps: Sequence[int], per_unit: Fraction, randomness: Randomness) -> int:
    """Draw index i with probability proportional to ``exp(-gaps[i] per_unit)``; all gaps are >= 0,
    one is 0.

    The first 64 bits of the uniform number mostly decide in floating point already. `float_exp`
    gives each of the n weights, at most 1, within 2^-42, rounding of its argument moves it by less
    than 2^-50, and adding up moves a sum, at most n, by less than n^2 2^-53. So no sum errs by more
    than n 2^-41 + n^2 2^-53, nor the uniform number times the last of them by more than that and n
    2^-52. Within twice these bounds of a step, exact arithmetic decides from the same bits.
    """

    def bounds(bits: int) -> Bounds:
        spare = bits + 32
        return cumulative_bounds([exp_bounds(gap * per_unit, spare) for gap in gaps], bits)

    prefix = randomness.integer(64)
    scale = float(per_unit)
    sums = np.cumsum(
        float_exp(np.array([min(gap * scale, _MAX_EXPONENT) for gap in gaps]))
    ).tolist()
    point = prefix * 2.0**-64 * sums[-1]
    margin = len(gaps) * 2.0**-38 + len(gaps) ** 2 * 2.0**-50
    index = bisect_right(sums, point)
    if (
        index < len(sums)
        and sums[index] - point > margin
        and (index == 0 or point - sums[index - 1] > margin)
    ):
        return index
    return invert(bounds, randomness, prefix=prefix, bits=64)


def erf_bounds(square: Fraction, bits: int) -> tuple[int, int]:
    r"""Integers with ``lower <= 2^bits erf(z) <= upper`` for ``z = sqrt(square) > 0``.

    ``erf(z) = 2 sqrt(square / pi) exp(-square) sum over n >= 0 of (2 square)^n / (1 3 .. (2n +
    1))``: all terms are positive, so lower brackets round down and upper ones up throughout. Terms
    shrink by ``2 square / (2n + 3)``; the sum ends when that is below 1/2 and the upper term at
    most two units, after which all others together are below two units more. Beyond ``square >
    bits``, ``1 - erf(z) <= exp(-square) < 2^-bits``.

    >>> erf_bounds(Fraction(1), 20)  # 2^20 erf(1) = 883635.8
    (883635, 883636)
    """
    if square > bits:
        return (1 << bits) - 1, 1 << bits
    # Terms, and with them brackets, grow up to exp(square) fold first.
    width = bits + 2 * int(square) + 64
    low = high = below = above = 1 << width
    twice_low = (2 * square.numerator << width) // square.denominator
    twice_high = twice_low + 1
    odd = 3
    while high > 2 or 2 * twice_high > odd << width:
        low = (low * twice_low >> width) // odd
        high = (high * twice_high >> width) // odd + 1
        below, above, odd = below + low, above + high, odd + 2
    above += 2
    decay = exp_bounds(square, width)
    pi_low, pi_high = _pi_bounds(width)
    root_low = isqrt((4 * square.numerator << 3 * width) // (square.denominator * pi_high))
    root_high = isqrt(-(-(4 * square.numerator << 3 * width) // (square.denominator * pi_low))) + 1
    shift = 3 * width - bits
    upper = -(-(above * decay[1] * root_high) >> shift)
    return below * decay[0] * root_low >> shift, min(upper, 1 << bits)


@lru_cache(maxsize=8)
def _pi_bounds(width: int) -> tuple[int, int]:
    """Integers that bracket ``2^width pi``, by Machin's formula ``16 arctan(1/5) - 4
    arctan(1/239)``.
    """

    def arctan(n: int) -> tuple[int, int]:
        # Alternating and falling; each of the floored terms is off by less than 2 units, and so is
        # the rest.
        power, total, k = (1 << width + 16) // n, 0, 0
        while power:
            total += (-power if k % 2 else power) // (2 * k + 1)
            power, k = power // (n * n), k + 1
        return total - 2 * k - 4, total + 2 * k + 4

    fifth, small = arctan(5), arctan(239)
    return (16 * fifth[0] - 4 * small[1]) >> 16, ((16 * fifth[1] - 4 * small[0]) >> 16) + 1
