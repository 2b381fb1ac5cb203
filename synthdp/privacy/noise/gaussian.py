r"""Exact Gaussian noise on integers, vectorised: the discrete Gaussian [CKS20] and the rounded one.

Discrete: ``P(X = x) = exp(-x^2 / (2 sigma^2)) / Z`` over all integers x, for a rational sigma^2.

Up to sigma = 10,000: inversion of the distribution of ``|X|`` (see `synthdp.privacy.noise.exact`),
with a random sign. The bounds on its distribution function are proven as follows.

- Weights. In fixed point of ``width`` bits, ``exp(-1/(2 sigma^2))`` is bracketed by `exp_bounds`.
  From it come ``r_k = exp(-(2k+1)/(2 sigma^2))`` and ``w_{k+1} = w_k r_k``, each product rounded
  down for the lower and up for the upper bracket. All true values lie in [0, 1] and multiplication
  of non-negative numbers is monotone, so the brackets hold by induction.
- Tail. The ratios r_k fall, hence ``w_K + w_{K+1} + .. <= w_K / (1 - r_K)``. The table stops at the
  first K >= 1 for which twice that upper bound is below one unit of the last bit asked for, and the
  normaliser's upper bound includes it. So ``Z_lower <= Z <= Z_upper``.
- Distribution function. ``F(k) = (w_0 + 2 w_1 + .. + 2 w_k) / Z`` is bracketed by the quotient of
  the lower partial sum and Z_upper, rounded down, and of the upper partial sum and Z_lower,
  rounded up.

If a uniform number falls beyond the last entry, no finite table decides it and the general path
draws more bits and builds a longer one; that happens less than once in 2^60 draws.

Most draws never need 64 bits: a table over the first 16 bits (a sign, then 15 bits of the uniform
number) already knows the answer wherever no step of F falls inside the cell. The other cells
extend the *same* prefix, so nothing is redrawn and the distribution stays exact.

Rounded: X is a real Gaussian number of variance sigma^2, rounded to the nearest integer, so
``P(|X| <= k) = erf((k + 1/2) / (sigma sqrt 2))``, drawn by the same inversion. Its 63-bit table
comes from floating-point erf, whose error is below 2^-50, with a margin of 2^-40 on either side;
within the margin, and beyond the end of the table, `erf_bounds` decides in integers.

Above sigma = 10,000 (discrete): rejection from the discrete Laplace distribution [CKS20, Alg. 3]. Each
``Bernoulli(exp(-gamma))`` is decided in floating point only if the uniform number keeps a distance
of 2^-40 from the computed exp(-gamma), whose error is below 2^-48; else exactly, in integers.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from fractions import Fraction
from functools import lru_cache, partial
from math import erf
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.errors import ParameterError
from synthdp.privacy.noise.exact import Bounds, erf_bounds, exp_bounds, invert
from synthdp.privacy.noise.laplace import IntArray, bernoulli_exp_many, discrete_laplace
from synthdp.privacy.noise.randomness import Randomness


class Noise(Enum):
    """Which Gaussian noise, on integers, an event has."""

    DISCRETE = "discrete Gaussian"
    ROUNDED = "Gaussian, rounded to the nearest integer"

    def variance(self, sigma_squared: Fraction) -> float:
        """Upper bound on the variance for a parameter ``sigma_squared``, tight from sigma = 1 on [CKS20]."""
        return float(sigma_squared) + (1 / 12 if self is Noise.ROUNDED else 0.0)


TABLE_MAX_SIGMA_SQUARED = 10**8
MAX_SIGMA_SQUARED = {Noise.DISCRETE: 2**80, Noise.ROUNDED: 10**10}
"""Beyond, counts would not fit into int64, or a table into memory."""
_BLOCK = 1 << 16
_UNDECIDED = np.iinfo(np.int32).max


def gaussian_noise(noise: Noise, *, sigma_squared: Fraction, size: int, randomness: Randomness) -> IntArray:
    """Independent Gaussian noise on integers, int64, shape ``(size,)``.

    Raises
    ------
    ParameterError
        If ``sigma_squared`` is not above 0, or above `MAX_SIGMA_SQUARED` for this noise.
    """
    if not 0 < sigma_squared <= MAX_SIGMA_SQUARED[noise]:
        most = f"{float(MAX_SIGMA_SQUARED[noise]):.3g}"
        raise ParameterError(f"sigma^2 is {float(sigma_squared):.3g}; it must be above 0 and at most {most}")
    tabled = noise is Noise.ROUNDED or sigma_squared <= TABLE_MAX_SIGMA_SQUARED
    draw = partial(_from_table, noise) if tabled else _by_rejection
    blocks = [draw(Fraction(sigma_squared), min(_BLOCK, size - start), randomness) for start in range(0, size, _BLOCK)]
    return np.concatenate(blocks) if blocks else np.empty(0, dtype=np.int64)


@lru_cache(maxsize=4)
def magnitude_bounds(sigma_squared: Fraction, bits: int) -> Bounds:
    """Bounds on ``2^bits P(|X| <= k)`` for k = 0, 1, .. (the module's text has the proof)."""
    width = bits + 2 * int(4 + sigma_squared).bit_length() + 48
    one = 1 << width
    step_lower, step_upper = exp_bounds(1 / (2 * sigma_squared), width)
    square_lower, square_upper = step_lower**2 >> width, (step_upper**2 >> width) + 1
    lower, upper, ratio_lower, ratio_upper = one, one, step_lower, step_upper
    below, above = [one], [one]
    while True:
        lower, upper = lower * ratio_lower >> width, (upper * ratio_upper >> width) + 1
        ratio_lower, ratio_upper = ratio_lower * square_lower >> width, (ratio_upper * square_upper >> width) + 1
        tail = -(-(2 * upper << width) // (one - ratio_upper)) if ratio_upper < one else one << bits
        if tail < one >> bits:
            break
        below.append(below[-1] + 2 * lower)
        above.append(above[-1] + 2 * upper)
    least, most = below[-1], above[-1] + tail
    floors = [(partial << bits) // most for partial in below]
    ceilings = [min(-(-(partial << bits) // least), 1 << bits) for partial in above]
    return floors, ceilings


@final
class _RoundedBounds(Sequence[int]):
    """Bounds on ``2^bits P(|X| <= k)`` of the rounded Gaussian, worked out only where they are looked at."""

    def __init__(self, sigma_squared: Fraction, bits: int, *, upper: bool) -> None:
        self._sigma_squared = sigma_squared
        self._bits = bits
        self._side = int(upper)
        # Beyond z = (k + 1/2) / (sigma sqrt 2) with z^2 > bits, no bit of the distribution function is below 1.
        self._length = int((2 * sigma_squared * (bits + 1)) ** 0.5) + 2

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, k: int) -> int:  # type: ignore[override]  # nobody slices it
        if not 0 <= k < self._length:
            raise IndexError(k)
        return erf_bounds(Fraction((2 * k + 1) ** 2, 8) / self._sigma_squared, self._bits)[self._side]


def _bounds(noise: Noise, sigma_squared: Fraction, bits: int) -> Bounds:
    if noise is Noise.DISCRETE:
        return magnitude_bounds(sigma_squared, bits)
    return _RoundedBounds(sigma_squared, bits, upper=False), _RoundedBounds(sigma_squared, bits, upper=True)


class _Table(NamedTuple):
    """The distribution function of ``|X|`` to 63 bits, and the answers that 16 bits decide."""

    lower: NDArray[np.uint64]
    upper: NDArray[np.uint64]
    first_word: NDArray[np.int32]


@lru_cache(maxsize=8)
def _table(noise: Noise, sigma_squared: Fraction) -> _Table:
    if noise is Noise.ROUNDED:
        lower, upper = _rounded_table(sigma_squared)
    else:
        lower, upper = (np.array(side, dtype=np.uint64) for side in magnitude_bounds(sigma_squared, 63))
    cells = np.arange(1 << 15, dtype=np.uint64) << np.uint64(48)
    first = np.searchsorted(lower, cells, side="right")
    last = np.searchsorted(lower, cells | np.uint64((1 << 48) - 1), side="right")
    known = (first == last) & (first < len(lower)) & _is_past(upper, first, cells)
    magnitude = np.where(known, first, _UNDECIDED).astype(np.int32)
    return _Table(lower, upper, np.concatenate([magnitude, np.where(known, -magnitude, _UNDECIDED)]).astype(np.int32))


def _rounded_table(sigma_squared: Fraction) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Bounds on ``2^63 P(|X| <= k)`` of the rounded Gaussian, as far as floating point tells it from 1."""
    scale = float(2 * sigma_squared) ** -0.5
    arguments = (np.arange(int(6 / scale) + 2) + 0.5) * scale
    values = np.fromiter(map(erf, arguments), dtype=np.float64, count=arguments.size)
    floors, ceilings = np.clip(values - 2.0**-40, 0.0, 1.0), np.clip(values + 2.0**-40, 0.0, 1.0)
    return (floors * 2.0**63).astype(np.uint64), np.ceil(ceilings * 2.0**63).astype(np.uint64)


def _is_past(upper: NDArray[np.uint64], index: NDArray[np.intp], prefix: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether the uniform number is certainly at or above ``F(index - 1)``."""
    at_or_above: NDArray[np.bool_] = (prefix >= upper[index - 1]) | (index == 0)
    return at_or_above


def _from_table(noise: Noise, sigma_squared: Fraction, size: int, randomness: Randomness) -> IntArray:
    table = _table(noise, sigma_squared)
    words = randomness.words(size, np.uint16)
    draws: IntArray = table.first_word[words].astype(np.int64)
    open_cells = np.flatnonzero(draws == _UNDECIDED)
    if open_cells.size:
        finer = partial(_bounds, noise, sigma_squared)
        draws[open_cells] = _finish(finer, table, words[open_cells].astype(np.uint64), randomness)
    return draws


def _finish(
    finer: Callable[[int], Bounds], table: _Table, words: NDArray[np.uint64], randomness: Randomness
) -> IntArray:
    """Decide the draws of which the first word (sign and 15 bits) is known, with 48 bits more."""
    more = randomness.words(words.size, np.uint64) >> np.uint64(16)
    prefix = (words & np.uint64(0x7FFF)) << np.uint64(48) | more
    magnitude = np.searchsorted(table.lower, prefix, side="right")
    decided = (magnitude < len(table.lower)) & _is_past(table.upper, magnitude, prefix)
    for position in np.flatnonzero(~decided):
        magnitude[position] = invert(finer, randomness, prefix=int(prefix[position]), bits=63)
    return np.where(words >> np.uint64(15), -magnitude, magnitude).astype(np.int64)


def _by_rejection(sigma_squared: Fraction, size: int, randomness: Randomness) -> IntArray:
    """[CKS20, Alg. 3] for large sigma: discrete Laplace of scale t = floor(sigma) + 1, then accept."""
    scale = int(np.floor(np.sqrt(float(sigma_squared)))) + 1
    offset = sigma_squared / scale

    def exponent(proposals: IntArray, i: int) -> Fraction:
        return (abs(int(proposals[i])) - offset) ** 2 / (2 * sigma_squared)

    accepted: list[IntArray] = []
    n_missing = size
    while n_missing > 0:
        proposals = discrete_laplace(scale, 2 * n_missing, randomness)
        gamma = (np.abs(proposals) - float(offset)) ** 2 / (2 * float(sigma_squared))
        keep = bernoulli_exp_many(gamma, partial(exponent, proposals), randomness)
        accepted.append(proposals[keep][:n_missing])
        n_missing -= accepted[-1].size
    return np.concatenate(accepted) if accepted else np.empty(0, dtype=np.int64)
