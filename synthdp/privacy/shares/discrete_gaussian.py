r"""Exact discrete Gaussian noise [CKS20, Alg. 3], and how near a sum of shares of it is to one.

``P(x)`` is in proportion to ``exp(-x^2 / (2 s))`` on the integers, for a variance parameter s.

**A sum of shares.** Let X and Y be independent with parameters s and t. Completing the square,

    P(X + Y = z) = C exp(-z^2 / (2 (s + t))) S(z s / (s + t)),
    S(c) = sum over integers x of exp(-(x - c)^2 / (2 v)),   v = s t / (s + t).

By Poisson summation ``S(c) = sqrt(2 pi v) (1 + 2 sum over m >= 1 of exp(-2 pi^2 v m^2) cos(2 pi m
c))``: it differs from a constant by a factor within ``1 -+ eta``, with ``eta = 2 sum exp(-2 pi^2 v
m^2)``. So the sum and a discrete Gaussian of parameter s + t, both normalised, differ at each z by
a factor of at most ``(1 + eta) / (1 - eta)``. A further share keeps the factor that was there, for
it averages, and adds its own: after k shares of parameter s the factors are those of ``v = s j / (j
+ 1)`` for j = 1 .. k - 1, and the logarithm of their product is at most `closeness`. It is the tau
of [KLS21, Prop. 14], with a smaller constant.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from synthdp.privacy.noise.exact import exp_bounds, float_exp
from synthdp.privacy.noise.laplace import bernoulli_exp_many, discrete_laplace
from synthdp.privacy.noise.randomness import Randomness

DISCRETE_GAUSSIAN = "discrete Gaussian"
"""The noise in words, for the certificate."""

MIN_SIGMA_SQUARED = Fraction(1)
"""Least parameter of a share: its sum is then within a thousandth of a discrete Gaussian, which is
charged; from 4 on, within 2^-54 a site.
"""

_PI_SQUARED = Fraction(98696044, 10**7)
"""A lower bound: pi^2 is 9.8696044011.."""

_BITS = 256
"""Of the bound: what is below 2^-200 is as good as nothing, and is not left out."""


def discrete_gaussian(
    *, sigma_squared: Fraction, size: int, randomness: Randomness
) -> NDArray[np.int64]:
    """Independent draws, int64, shape ``(size,)``; ``sigma_squared`` is at least 1 and at most 2^80.

    A discrete Laplace draw y of scale ``t = floor(sigma) + 1`` is kept with probability
    ``exp(-(|y| - s / t)^2 / (2 s))``, else drawn anew.
    """
    scale = isqrt(int(sigma_squared)) + 1
    shift = sigma_squared / scale
    drawn: list[NDArray[np.int64]] = []
    n_drawn = 0
    while n_drawn < size:
        # Rather more than are kept, so that few rounds are needed; all of a round are independent.
        tried = discrete_laplace(scale, 2 * (size - n_drawn) + 16, randomness)
        kept = tried[_are_kept(tried, shift, sigma_squared, randomness)]
        drawn.append(kept)
        n_drawn += kept.size
    return np.concatenate(drawn)[:size] if drawn else np.empty(0, dtype=np.int64)


def _are_kept(
    tried: NDArray[np.int64], shift: Fraction, sigma_squared: Fraction, randomness: Randomness
) -> NDArray[np.bool_]:
    magnitudes: Sequence[int] = np.abs(tried).tolist()
    # In floating point only to decide what is far from the edge: `bernoulli_exp_many` has the margin.
    close = np.square(np.abs(tried) - float(shift)) / (2 * float(sigma_squared))
    return bernoulli_exp_many(
        float_exp(close),
        lambda i: (magnitudes[i] - shift) ** 2 / (2 * sigma_squared),
        randomness,
    )


def closeness(sigma_squared: Fraction, n_shares: int) -> Fraction:
    """An upper bound on the logarithm of the factor by which a sum of shares differs from a
    discrete Gaussian, at each integer; 0 of one share.

    ``log((1 + eta) / (1 - eta)) <= 2 eta / (1 - eta) <= 5 q`` for ``q = exp(-2 pi^2 v)``, as ``eta
    <= 2 q / (1 - q)`` and q < 2^-14 for a share of `MIN_SIGMA_SQUARED`.

    Raises
    ------
    ValueError
        If the shares are smaller.

    >>> 0 < closeness(Fraction(4), 20) < 2**-50
    True
    """
    if sigma_squared < MIN_SIGMA_SQUARED:
        raise ValueError("shares are too small for the bound")
    bound = Fraction(0)
    for j in range(1, n_shares):
        decay = 2 * _PI_SQUARED * sigma_squared * Fraction(j, j + 1)
        bound += 5 * Fraction(exp_bounds(decay, _BITS)[1], 1 << _BITS)
    return bound
