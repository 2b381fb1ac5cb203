r"""Exact Gaussian noise on integers: a real Gaussian number, rounded to the nearest integer;
vectorised.

Rounding is post-processing. For an integer count c, ``round(c + G) = c + round(G)``: adding this
noise is the Gaussian mechanism followed by rounding, and every theorem on the Gaussian mechanism
holds for it, of zCDP [BS16] as of Gaussian DP [DRS19], at every sigma.

X = round(G) has ``F(k) = P(|X| <= k) = erf((k + 1/2) / (sigma sqrt 2))``. Everything below decides
as infinitely many fair bits and real arithmetic would (see `synthdp.privacy.noise.exact`); floating
point answers only where a proven bound on its error says that it must be right, and uses only
operations that IEEE 754 rounds correctly: ``+ - * /`` and the square root, no function of libm.

Up to sigma = 8,192: inversion of F, with a random sign. A table brackets F within 2^-40
(`_table_of_erf` has the proof). The first 16 bits of a draw (a sign, then 15 bits of the uniform
number) already say the answer wherever no bracket meets the cell of numbers that begin with them;
often it is looked up. The other draws extend the *same* prefix to 63 bits, and those that then lie
within a bracket, or beyond the table, extend it further and are decided by `erf_bounds` in
integers: nothing is drawn anew, and the distribution stays exact.

Above: a cell first, then a place in it. With B = 2^b, G / B is Gaussian with parameter sigma / B,
so the table draws j = round(G / B) exactly, for the b that brings sigma / B to 64 .. 128. Given j,
``G = B (j - 1/2 + v)`` for a v in [0, 1) of density proportional to ``exp(-gamma(v))``,

    gamma(v) = ((j - 1/2 + v)^2 - max(|j| - 1/2, 0)^2) / (2 (sigma / B)^2)  >=  0.

So v is uniform, and kept with probability ``exp(-gamma(v))``, else drawn anew for the same j. Then
``X = floor(G + 1/2) = B j - B/2 + floor(B v + 1/2)`` takes the first b + 1 bits of v. Whether v is
kept: as ``1 - gamma <= exp(-gamma) <= 1 - gamma + gamma^2 / 2``, 16 bits of a second uniform number
mostly decide; else both numbers get more bits (`_is_kept`). That is once in some 20,000 draws.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import count
from math import isqrt, pi, sqrt
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.privacy.noise.exact import Bounds, erf_bounds, exp_bounds, invert
from synthdp.privacy.noise.laplace import IntArray
from synthdp.privacy.noise.randomness import Randomness

GAUSSIAN = "Gaussian, rounded to the nearest integer"
"""The noise in words, for the certificate."""

MAX_SIGMA_SQUARED = 1 << 100
"""Sigma up to 2^50: ten bits below `MAX_COUNT`, so that the limits of int64 are never seen in
practice.
"""

MAX_COUNT = 1 << 60
"""Largest count and largest noisy count: with noise of up to 2^62 + 2^43, sums stay within int64."""

MAX_TABLE_SIGMA_SQUARED = 1 << 26
"""Sigma up to 8,192: beyond, searching a longer table takes longer than drawing a place in a cell."""

_CELL_SIGMA = 64
"""Least sigma / B: 16 bits then decide all but about 1 / (6 * 64^2) of the draws, and the table is
small.
"""

_BLOCK = 1 << 16
"""Draws at a time: they stay in the processor's cache."""
_FEW, _OFTEN = 1 << 12, 40
"""Most draws at once, and times, for which single first words are decided; beyond, all 2^16 are."""
_UNDECIDED = np.iinfo(np.int32).max
"""Marks what 16 bits do not decide; no magnitude in a table is as large."""

_MARGIN = 2.0**-40
"""Taken off either side of what floating point says; `_table_of_erf` errs by 2^-43, gamma by 2^-41."""

_MAX_Z = 5.25
"""The tables end here: ``1 - erf(5.25) < 2^-42`` is within the margin, and exact arithmetic decides
what is beyond.
"""


def gaussian_noise(*, sigma_squared: Fraction, size: int, randomness: Randomness) -> IntArray:
    """Independent Gaussian noise, rounded to whole numbers; int64, shape ``(size,)``.

    Exact between -2^61 and 2^61. Beyond, which happens with a probability below 2^-1,000,000, it is
    some number of the right sign beyond 2^61 and below 2^62 + 2^43: `add_noise` makes them equal.

    Raises
    ------
    ParameterError
        If ``sigma_squared`` is not above 0, or above `MAX_SIGMA_SQUARED`.
    """
    if not 0 < sigma_squared <= MAX_SIGMA_SQUARED:
        limit = f"it must be above 0 and at most {float(MAX_SIGMA_SQUARED):.3g}"
        raise ParameterError(f"sigma^2 is {float(sigma_squared):.3g}; {limit}")
    draw = _from_table if sigma_squared <= MAX_TABLE_SIGMA_SQUARED else _from_cells
    blocks = [
        draw(Fraction(sigma_squared), min(_BLOCK, size - start), randomness)
        for start in range(0, size, _BLOCK)
    ]
    return np.concatenate(blocks) if blocks else np.empty(0, dtype=np.int64)


def add_noise(counts: IntArray, noise: IntArray) -> IntArray:
    """``counts + noise`` within -2^60 .. 2^60, for counts within these limits; int64.

    Cutting off is a function of the exact sum alone, hence post-processing: where the noise is
    beyond 2^61, the sum is beyond 2^60 on the same side, whatever the count and the exact noise
    are.
    """
    answer: IntArray = np.clip(counts + noise, -MAX_COUNT, MAX_COUNT)
    return answer


def stddev_of_noise(sigma_squared: Fraction) -> float:
    """Upper bound on the standard deviation of the noise, tight from sigma = 1 on: ``sqrt(sigma^2 +
    1/12)``.

    By the Fourier series of ``X - G``, the variance is that and two alternating series in
    ``exp(-2 (pi n sigma)^2)``, n = 1, 2, .., whose terms fall and begin below 0.
    """
    return sqrt(float(sigma_squared) + 1 / 12)


@final
class _CdfBounds(Sequence[int]):
    """Bounds on ``2^bits P(|X| <= k)``, worked out only where they are looked at."""

    def __init__(self, sigma_squared: Fraction, bits: int, *, upper: bool) -> None:
        self._sigma_squared = sigma_squared
        self._bits = bits
        self._side = int(upper)
        # Beyond z = (k + 1/2) / (sigma sqrt 2) with z^2 > bits, no bit of the distribution function
        # is below 1.
        self._length = isqrt(int(2 * sigma_squared * (bits + 1))) + 2

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, k: int) -> int:  # type: ignore[override]  # nobody slices it
        if not 0 <= k < self._length:
            raise IndexError(k)
        return erf_bounds(Fraction((2 * k + 1) ** 2, 8) / self._sigma_squared, self._bits)[
            self._side
        ]


def _cdf_bounds(sigma_squared: Fraction, bits: int) -> Bounds:
    return _CdfBounds(sigma_squared, bits, upper=False), _CdfBounds(sigma_squared, bits, upper=True)


class _Table(NamedTuple):
    """Bounds on ``2^63 P(|X| <= k)``."""

    lower: NDArray[np.uint64]
    upper: NDArray[np.uint64]

    def of_words(self, words: NDArray[np.uint16]) -> NDArray[np.int32]:
        """What the draws that begin with some words are; `_UNDECIDED` where more bits say so."""
        cells = (words & np.uint16(0x7FFF)).astype(np.uint64) << np.uint64(48)
        first = np.searchsorted(self.lower, cells, side="right")
        last = np.searchsorted(self.lower, cells | np.uint64((1 << 48) - 1), side="right")
        known = (first == last) & (first < len(self.lower)) & _is_past(self.upper, first, cells)
        return np.where(known, np.where(words >> 15, -first, first), _UNDECIDED).astype(np.int32)


@lru_cache(maxsize=8)
def _table(sigma_squared: Fraction) -> _Table:
    # The square root of what is next to nothing may be anything large: z ends at _MAX_Z.
    scale = 1 / sqrt(max(float(2 * sigma_squared), 1e-300))
    values = _erf((np.arange(int(_MAX_Z / scale) + 2, dtype=np.float64) + 0.5) * scale)
    lower = (np.clip(values - _MARGIN, 0.0, 1.0) * 2.0**63).astype(np.uint64)
    upper = np.ceil(np.clip(values + _MARGIN, 0.0, 1.0) * 2.0**63).astype(np.uint64)
    return _Table(lower, upper)


@lru_cache(maxsize=8)
def _of_all_words(sigma_squared: Fraction) -> NDArray[np.int32]:
    """What all words say: for many draws a look-up is faster."""
    return _table(sigma_squared).of_words(np.arange(1 << 16).astype(np.uint16))


_times_asked = lru_cache(maxsize=8)(lambda _sigma_squared: count())
"""How often there were draws, by sigma squared."""


def _erf(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """erf, for z >= 0, within 2^-43 (beyond 5.25, its value there)."""
    anchors, slopes, values = _table_of_erf()
    z = np.minimum(z, _MAX_Z)
    nearest = (z * 16).astype(np.intp)  # the anchor below
    return values[nearest] + _rise(slopes[nearest], anchors[nearest], z - anchors[nearest])


@lru_cache(maxsize=1)
def _table_of_erf() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    r"""``a``, ``erf'(a)`` and ``erf(a)`` for a = 0, 1/16, 2/16, .. 5.25.

    ``erf(a + d) = erf(a) + d (b_0 + b_1 / 2 + b_2 / 3 + ..)``, the Taylor series, has ``b_0 =
    erf'(a) = 2 exp(-a^2) / sqrt(pi)`` and ``b_(n+1) = -2 (a d b_n + d^2 b_(n-1)) / (n + 1)``. With
    a <= 5.25 and 0 <= d <= 1/16, ``2 a d < 0.66`` and ``2 d^2 < 0.01``, so that ``|b_n| <= 1.13 /
    n!`` by induction for n <= 33 (0.66 + 0.01 n <= 1), and smaller later. What is left out from
    b_16 on is below 2^-50.

    Rounding: the slopes come from `exp_bounds`. Each b_n is below 2 and made of ten operations,
    errs by less than 2^-49, and reaches the sum times d / (n + 1); a rise errs by less than 2^-50.
    The values are sums of up to 84 of them, each addition errs by up to 2^-54: erf(a) is right
    within 2^-43.5. A table's argument, off by less than 2^-51 of itself, moves erf by less than
    2^-51.
    """
    anchors = np.arange(int(_MAX_Z * 16) + 1) / 16
    decay = [exp_bounds(Fraction(i * i, 256), 100)[0] / 2**100 for i in range(anchors.size)]
    slopes = np.array(decay) * (2 / sqrt(pi))
    rises = _rise(slopes[:-1], anchors[:-1], np.full(anchors.size - 1, 1 / 16))
    return anchors, slopes, np.concatenate([[0.0], np.cumsum(rises)])


def _rise(
    slope: NDArray[np.float64], anchor: NDArray[np.float64], d: NDArray[np.float64]
) -> NDArray[np.float64]:
    """``erf(anchor + d) - erf(anchor)`` by 16 terms of the Taylor series (see `_table_of_erf`)."""
    before, term, total = np.zeros_like(slope), slope, slope
    for n in range(1, 16):
        before, term = term, -2 * (anchor * d * term + d * d * before) / n
        total = total + term / (n + 1)
    return d * total


def _is_past(
    upper: NDArray[np.uint64], index: NDArray[np.intp], prefix: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Whether the uniform number is certainly at or above ``F(index - 1)``."""
    at_or_above: NDArray[np.bool_] = (prefix >= upper[index - 1]) | (index == 0)
    return at_or_above


def _from_table(sigma_squared: Fraction, size: int, randomness: Randomness) -> IntArray:
    table = _table(sigma_squared)
    words = randomness.words(size, np.uint16)
    looks_up = size > _FEW or next(_times_asked(sigma_squared)) >= _OFTEN
    known = _of_all_words(sigma_squared)[words] if looks_up else table.of_words(words)
    draws: IntArray = known.astype(np.int64)
    unsettled = np.flatnonzero(draws == _UNDECIDED)
    if unsettled.size:
        finer = partial(_cdf_bounds, sigma_squared)
        draws[unsettled] = _finish(finer, table, words[unsettled].astype(np.uint64), randomness)
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


def _from_cells(sigma_squared: Fraction, size: int, randomness: Randomness) -> IntArray:
    """Large sigma: a cell of 2^shift integers, then a place in it (the module's text has the
    proof).
    """
    # Powers of two: places in a cell are then bits, and need no rejection of their own.
    shift = (isqrt(int(sigma_squared)) // _CELL_SIGMA).bit_length() - 1
    cell_variance = sigma_squared / 4**shift
    farthest = 1 << (62 - shift)
    cells = np.clip(_from_table(cell_variance, size, randomness), -farthest, farthest)
    places = np.empty(size, dtype=np.uint64)
    missing = np.arange(size)
    while missing.size:
        drawn = randomness.words(missing.size, np.uint64)
        places[missing] = drawn
        # Place and acceptance are drawn anew together, as rejection demands; the cell stays.
        missing = missing[~_are_kept(cell_variance, cells[missing], drawn, randomness)]
    rounded = ((places >> np.uint64(63 - shift)) + np.uint64(1)) >> np.uint64(1)
    draws: IntArray = (cells << shift) - (1 << (shift - 1)) + rounded.astype(np.int64)
    return draws


def _are_kept(
    cell_variance: Fraction, cells: IntArray, places: NDArray[np.uint64], randomness: Randomness
) -> NDArray[np.bool_]:
    """True with probability ``exp(-gamma(v))`` for each v that begins with the 64 bits of
    ``places``.

    With the position ``y = j - 1/2 + v``, gamma errs by less than ``y^2 2^-50 / variance``, which
    is below 2^-41 up to 16 standard deviations; whatever is beyond is left to exact arithmetic.
    """
    words = randomness.words(cells.size, np.uint16)
    variance = float(cell_variance)
    position = cells + (places * 2.0**-64 - 0.5)
    nearest = np.maximum(np.abs(cells) - 0.5, 0.0)
    gamma = (position * position - nearest * nearest) / (2 * variance)
    u = words * 2.0**-16  # the uniform number is at most 2^-16 more
    # exp(-g) lies between 1 - g and 1 - g + g^2 / 2; between these, exact arithmetic decides.
    kept: NDArray[np.bool_] = u < 1 - 2.0**-16 - _MARGIN - gamma
    dropped = u > 1 + _MARGIN - gamma + gamma * gamma / 2
    for i in np.flatnonzero(~(kept | dropped) | (np.abs(cells) > 16 * sqrt(variance))):
        kept[i] = _is_kept(cell_variance, int(cells[i]), int(places[i]), int(words[i]), randomness)
    return kept


def _is_kept(
    cell_variance: Fraction, cell: int, place: int, word: int, randomness: Randomness
) -> bool:
    """Whether ``u < exp(-gamma(v))``, for u that begins with 16 bits and v with 64, and as many
    more as it takes.

    gamma(v) has no minimum inside of an interval of numbers v that begin with the same bits, so
    that it is largest and smallest at the ends.
    """
    nearest = max(2 * abs(cell) - 1, 0)
    bits, place_bits = 16, 64
    while True:
        ends = [2 * cell - 1 + Fraction(place + end, 1 << (place_bits - 1)) for end in (0, 1)]
        gammas = [(end * end - nearest * nearest) / (8 * cell_variance) for end in ends]
        if word < exp_bounds(max(gammas), bits)[0]:
            return True
        if word >= exp_bounds(min(gammas), bits)[1]:
            return False
        word, bits = word << 64 | randomness.integer(64), bits + 64
        place, place_bits = place << 64 | randomness.integer(64), place_bits + 64
