"""The points between the bounds of a column: whole numbers, or decimals on a grid."""

import numpy as np
from numpy.typing import NDArray

from synthdp.core.grid import MAX_POINT

EXPONENTS = (-1024, 1023)
"""Lowest and highest exponent of a number; smaller numbers, and 0, have the lowest."""

MAX_SHOWN_DECIMALS = 16
"""Stands for more decimals than 15, and for numbers of more digits than every float can hold."""

STEPS = tuple(factor * 10**power for power in range(13) for factor in (1, 5))[1:]
"""What round points are multiples of: 5, 10, 50, 100, ..., each of which divides the next."""

NEAR = 1e-9
"""A number this close to a grid point, relative to the number, lies on it: 0.29 is 29 hundredths.
"""

EXACT = 2.0**51
"""Below it, rounding a product gives the grid point that was meant."""


SLIP = 2.0**-50
"""Part of a number by which sums miss what was meant: 0.1 + 0.2 is 0.30000000000000004."""

MEANT = 1e12
"""Only numbers of up to twelve digits are taken to be meant: so near one lies 1 of 500 floats."""


LARGEST = 1.7e308
"""Numbers further from 0 are missing, infinity among them: it says that there is no value."""

MAX_NUMBER = 1e300
"""Largest bound of a number column, so that differences stay finite."""


def are_unread(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of some numbers that `Axis.read_numbers` gave stand for values that could not be read."""
    return np.isnan(numbers) & np.signbit(numbers)


def integer_points(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """The integer at or below each number; the numbers are not NaN, but may be infinite.

    >>> integer_points(np.array([1.9, -0.5, np.inf])).tolist() == [1, -1, MAX_POINT]
    True
    """
    return np.clip(np.floor(numbers), -MAX_POINT, MAX_POINT).astype(np.int64)


def decimal_points(numbers: NDArray[np.float64], decimals: int) -> NDArray[np.int64]:
    """The multiple of ``10**-decimals`` that each number lies on, else the one below; none is NaN.

    >>> 0.29 * 100, decimal_points(np.array([0.29, 0.2999]), 2).tolist()
    (28.999999999999996, [29, 29])
    """
    with np.errstate(over="ignore", under="ignore"):
        # 10.0**n is exact for n up to 22, so each way rounds once only; a negative power would not
        # be exact.
        scaled = numbers * 10.0**decimals if decimals >= 0 else numbers / 10.0**-decimals
        nearest = np.rint(scaled)
        gap = np.abs(
            np.subtract(scaled, nearest, out=np.zeros_like(scaled), where=np.isfinite(scaled))
        )
        # 0.29 is read as 28.999999999999996 hundredths; taken for the point below it would become
        # 0.28 when it is written again.
        return integer_points(np.where(gap <= NEAR * np.abs(scaled), nearest, scaled))


def decimals_of(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many decimals each number is written with: 0 to 15 for up to 15 digits, 16 for all
    others; none is NaN. What a sum misses is no digit.

    >>> decimals_of(np.array([3.0, 0.25, 1e-7, 0.1 + 0.2, 1 / 3, 1e300])).tolist()
    [0, 2, 7, 1, 16, 0]
    """
    n_decimals = np.full(len(numbers), MAX_SHOWN_DECIMALS, dtype=np.int64)
    sizes = np.abs(numbers)
    is_whole = (sizes >= 2.0**53) | (sizes == np.floor(sizes))  # floats from 2**53 on are whole
    n_decimals[is_whole] = 0
    rest = np.flatnonzero(~is_whole)
    # The fewest decimals that give back the float; both sides of the division are exact.
    for decimals in range(MAX_SHOWN_DECIMALS):
        scaled = sizes[rest] * 10.0**decimals
        near = np.floor(scaled + 0.5) / 10.0**decimals
        same = (scaled < EXACT) & (near == sizes[rest])
        with np.errstate(under="ignore"):  # of the smallest floats: no answer may depend on them
            same |= (scaled < MEANT) & (np.abs(near - sizes[rest]) <= SLIP * sizes[rest])
        n_decimals[rest[same]] = decimals
        rest = rest[~same]
    return n_decimals


def steps_of(points: NDArray[np.int64], steps: tuple[int, ...] = STEPS) -> NDArray[np.int64]:
    """How many of some steps, each a divisor of the next, divide each point; one more for 0.

    >>> steps_of(np.array([7, -5, 40, 1500, 0])).tolist() == [0, 1, 2, 5, len(STEPS) + 1]
    True
    """
    n_steps = np.zeros(len(points), dtype=np.int64)
    rest = np.arange(len(points))
    # Each step divides the next, so what one does not divide no later one does.
    for step in steps:
        rest = rest[points[rest] % step == 0]
        n_steps[rest] += 1
    n_steps[points == 0] += 1
    return n_steps


def exponents_of(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """The exponent e with ``2**e <= |x| < 2**(e + 1)`` of each number, within `EXPONENTS`; none is
    NaN.

    >>> exponents_of(np.array([1.0, -7.9, 0.25, 0.0, np.inf])).tolist()
    [0, 2, -2, -1024, 1023]
    """
    _, exponents = np.frexp(numbers)
    # frexp has its fraction between a half and one, hence the one less.
    clipped = np.clip(exponents.astype(np.int64) - 1, *EXPONENTS)
    clipped[numbers == 0] = EXPONENTS[0]
    clipped[np.isinf(numbers)] = EXPONENTS[1]
    return clipped
