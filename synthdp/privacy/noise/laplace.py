"""Exact discrete Laplace noise [CKS20], and the exact coin flips it is made of."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from synthdp.privacy.noise.exact import bernoulli_exp, exp_bounds, float_exp
from synthdp.privacy.noise.randomness import Randomness

IntArray = NDArray[np.int64]

_EXP_MINUS_ONE = float(float_exp(np.ones(1))[0])


def discrete_laplace(scale: int, size: int, randomness: Randomness) -> IntArray:
    """Up to ``size`` draws with ``P(x) ~ exp(-|x| / scale)`` [CKS20, Alg. 2]; rejected ones are
    left out.
    """
    remainder = _uniform_below(scale, size, randomness)
    keep = bernoulli_exp_many(
        float_exp(remainder / scale), lambda i: Fraction(int(remainder[i]), scale), randomness
    )
    remainder = remainder[keep]
    quotient = np.zeros(remainder.size, dtype=np.int64)
    running = np.arange(remainder.size)
    while running.size:
        more = bernoulli_exp_many(
            np.full(running.size, _EXP_MINUS_ONE), lambda _: Fraction(1), randomness
        )
        running = running[more]
        quotient[running] += 1
    magnitude = remainder + scale * quotient
    negative = randomness.words(magnitude.size, np.uint8) >> 7 == 1
    # A negative 0 is rejected, or 0 would be twice as likely as it should.
    signed: IntArray = np.where(negative, -magnitude, magnitude)[~(negative & (magnitude == 0))]
    return signed


def _uniform_below(bound: int, size: int, randomness: Randomness) -> IntArray:
    """Uniform integers in ``0 .. bound - 1``, by rejection of the bits above."""
    n_bits = max((bound - 1).bit_length(), 1)
    drawn: list[IntArray] = []
    while sum(part.size for part in drawn) < size:
        # At least half of the words are below the bound, as it has its highest bit.
        part = (randomness.words(2 * size, np.uint64) >> np.uint64(64 - n_bits)).astype(np.int64)
        drawn.append(part[part < bound])
    return np.concatenate(drawn)[:size] if drawn else np.empty(0, dtype=np.int64)


def bernoulli_exp_many(
    close: NDArray[np.float64], exact: Callable[[int], Fraction], randomness: Randomness
) -> NDArray[np.bool_]:
    """True with probability exp(-exact(i)) each, for rational numbers of which `float_exp` gives
    ``close``.

    Floating point decides where the first 64 bits of the uniform number are farther from ``close``
    than 2^-40: that errs by less than 2^-42, and rounding of its argument and of the bits by less
    than 2^-50 more.
    """
    words = randomness.words(close.size, np.uint64)
    gap = words.astype(np.float64) * 2.0**-64 - close
    answer = gap < 0
    # From the same bits: to decide the close ones with fresh ones would change the distribution.
    for i in np.flatnonzero(np.abs(gap) < 2.0**-40):
        answer[i] = _bernoulli_from_word(exact(int(i)), int(words[i]), randomness)
    return answer


def _bernoulli_from_word(x: Fraction, word: int, randomness: Randomness) -> bool:
    """Bernoulli(exp(-x)) whose uniform number starts with the 64 bits of ``word``."""
    lower, upper = exp_bounds(x, 64)
    if lower <= word < upper:
        return bernoulli_exp(x, randomness, prefix=word, bits=64)
    return word < lower
