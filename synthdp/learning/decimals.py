"""Learning how many decimals a column of numbers has, and by which unit of time moments are kept."""

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, log10, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import SchemaError
from synthdp.core.grid import MAX_DECIMALS, Grid
from synthdp.learning.cells.significance import ASTRONOMIC
from synthdp.learning.cells.stretches import standing_out
from synthdp.privacy.values.private_values import PrivateValues
from synthdp.schema.axes.points import decimal_points
from synthdp.schema.columns.calendar import RESOLUTIONS
from synthdp.schema.open_column import OpenColumn

MAX_LEARNT_DECIMALS = 16
"""The class of numbers with more decimals, or more digits, than every float can hold."""

FEW = 0.05
"""Decimals are rounded away that no more than this part of the numbers has, further ones included:
altitudes that were feet once have two decimals in one row of twenty, and one in another.
"""

CLEAR = 1.5
"""Standard deviations by which numbers with decimals must show to be worth a word."""

BY_CHANCE, FEWER = 0.1, 0.15
"""So many numbers of a grid have fewer decimals than it; so many more are worth a word, which shows
by `SURELY` standard deviations.
"""

SURELY = 3.0

USUAL = 4
"""Numbers that people write have so many decimals at most."""

FRACTIONS = [*range(1, USUAL + 1), MAX_LEARNT_DECIMALS]
"""The decimals of numbers that are not whole: those, and as of thirds."""

MISTAKEN = 5e-4
"""Probability of taking noise for decimals that no number has; for which are most frequent less
evidence will do.
"""

LIKELY_EXPONENT = 20
"""Numbers are taken to lie below 2^21 if nothing stands out: on its grid lie thousandths as well.
"""

MAX_EXPONENT = 1024
"""Floats lie below two to this power."""

MAX_SCALE = 290
"""Decimals of the finest grid, and zeros before the point of the coarsest."""

POINT_BITS = 48
"""Grid points stay within two to this power."""

PARTS = 200
"""Least number of different values that a range is written in if the decimals of its numbers are
not known.
"""

DIGITS = 15
"""Digits that every number of so many has as a float."""


class Decimals(NamedTuple):
    """How fine a grid should be."""

    decimals: int
    """Decimals of the grid; negative for tens, hundreds, ..."""
    largest: int | None
    """The exponent of two of the largest numbers, if that was asked and told from noise."""
    is_known: bool = True
    """Whether the records' decimals were told from noise. If not, the grid has room for all that
    are likely, which is more than anybody writes: see `decimals_for`.
    """
    fractions: float = 0.0
    """Of numbers that are taken to be whole, the part that rather has decimals than not, though
    noise may say so; 0 if that is few.
    """
    fewer: float = 0.0
    """Which part of the numbers has fewer decimals than the grid, by as many as people see, if far
    more do than by chance; else 0.
    """
    points_each: int = 1
    """Of moments, how many points before their resolution was learnt are one of the grid."""


def learn_decimals(values: PrivateValues, column: str, *, rho: Fraction) -> Decimals:
    """Spend at most ``rho`` on the decimals that a grid for the column should have (negative: tens,
    hundreds).

    Measured numbers have all decimals that floats have. For them the grid follows from how
    large they are: it divides the largest octave into about 2^48 parts. Where numbers may be whole
    or not, that is asked again instead.
    """
    counts, stddev = _counts_of_decimals(values, column, rho / 2)
    standing = _decimals(counts, stddev)
    is_asked_again = False
    if standing == 0:
        standing, fractions = _decimals_of_fractions(counts, stddev)
        is_asked_again = fractions > 0
        if is_asked_again:
            counts = (counts + _counts_of_decimals(values, column, rho / 2)[0]) / 2
            stddev /= sqrt(2)
            standing, fractions = _decimals_of_fractions(counts, stddev)
        if standing == 0:
            return Decimals(0, None, fractions=fractions)
    largest = None if is_asked_again else _largest(values, column, rho / 2)
    scale = LIKELY_EXPONENT if largest is None else largest
    fitting = min(max(floor((POINT_BITS - 1 - scale) * log10(2)), -MAX_SCALE), MAX_SCALE)
    decimals = (
        fitting if standing is None or standing >= MAX_LEARNT_DECIMALS else min(standing, fitting)
    )
    fewer = 0.0
    if decimals == standing:
        # Of further decimals nobody sees whether there are as many.
        n_coarse = min(decimals, USUAL)
        coarse = float(counts[:n_coarse].sum())
        total = float(counts.sum())
        fewer = coarse / total if total > 0 else 0.0
        beyond = coarse - (BY_CHANCE + FEWER) * total
        fewer = min(fewer, 1.0) if beyond > SURELY * stddev * sqrt(n_coarse) else 0.0
    return Decimals(decimals, largest, standing is not None, fewer=fewer)


def _counts_of_decimals(
    values: PrivateValues, column: str, rho: Fraction
) -> tuple[NDArray[np.float64], float]:
    """Noisy counts of numbers by how many decimals they have, and the noise of each."""
    starts = np.arange(MAX_LEARNT_DECIMALS + 1)
    histogram = values.histogram(Grid(column=column, of="decimals"), starts, rho=rho)
    return histogram.counts, histogram.stddev


def _largest(values: PrivateValues, column: str, rho: Fraction) -> int | None:
    """The exponent of two of the largest numbers; None if noise hides it, or all are 0."""
    exponents = np.arange(-MAX_EXPONENT, MAX_EXPONENT)
    sizes = values.histogram(Grid(column=column, of="exponents"), exponents, rho=rho)
    plain = np.flatnonzero(standing_out(sizes.counts, sizes.stddev, false_alarm=ASTRONOMIC))
    return int(exponents[plain[-1]]) if plain.size and plain[-1] else None


def _decimals_of_fractions(counts: NDArray[np.float64], stddev: float) -> tuple[int, float]:
    """The decimals that most numbers have which are not whole, where all of these together stand
    out and are not few; else 0, and which part of the numbers they rather are, though noise may say
    so.
    """
    standing = _decimals(counts, stddev)
    if standing is not None and standing in FRACTIONS:
        return standing, 0.0
    *written, measured = counts[FRACTIONS].tolist()
    n_fractions = sum(written) + measured
    noise = stddev * sqrt(len(FRACTIONS))
    share = n_fractions / max(float(counts[0]) + n_fractions, float(counts[0]))
    if share <= FEW or n_fractions <= CLEAR * noise:
        return 0, 0.0
    if standing_out(np.array([n_fractions]), noise, false_alarm=MISTAKEN)[0]:
        likeliest = 1 + written.index(max(written))
        return likeliest if sum(written) >= measured else MAX_LEARNT_DECIMALS, 0.0
    return 0, share


def learn_resolution(
    values: PrivateValues, column: OpenColumn, *, rho: Fraction
) -> tuple[OpenColumn, int]:
    """Spend ``rho`` on the longest of minute, hour and day that all but a few moments begin: the
    column by it, and how many of the units before it has; as it was, and 1, if none stands out.
    """
    steps = (1, *column.round_steps)
    cells = np.arange(len(steps) + 1)
    histogram = values.histogram(Grid(column=column.name, of="steps"), cells, rho=rho)
    # As decimals: from coarse to fine, point 0 first, which begins all of them.
    finest = _decimals(histogram.counts[::-1], histogram.stddev)
    n_longer = 0 if finest is None else min(len(steps) - finest, len(steps) - 1)
    resolution = RESOLUTIONS[RESOLUTIONS.index(column.resolution) - n_longer]
    own = dict(column.declared.get("synthdp") or {}) | {"resolution": resolution}
    with suppress(SchemaError):  # parts of a date may need a finer one
        return replace(column, declared=dict(column.declared) | {"synthdp": own}), steps[n_longer]
    return column, 1


def _decimals(counts: NDArray[np.float64], stddev: float) -> int | None:
    """The decimals that all numbers but a few have, by noisy counts; None if nothing stands out."""
    standing = np.where(standing_out(counts, stddev, false_alarm=MISTAKEN), counts, 0.0)
    at_least = np.cumsum(standing[::-1])[::-1]
    if (many := np.flatnonzero(at_least > max(FEW * counts.sum(), 0.0))).size:
        return int(many[-1])
    likeliest = int(np.argmax(counts))
    # Between what people write and what floats have there is next to nothing but noise.
    is_usual = likeliest <= USUAL or likeliest >= MAX_LEARNT_DECIMALS
    return likeliest if is_usual and standing_out(counts, stddev)[likeliest] else None


def decimals_for(width: float) -> int:
    """Decimals for numbers of which only the range is known: few, for people write few.

    >>> [decimals_for(width) for width in (0.8, 26.0, 190.0, 1e5)]
    [3, 1, 1, 0]
    """
    return max(ceil(log10(PARTS / width)), 0) if width > 0 else 0


def decimals_between(low: float, high: float, decimals: int) -> int:
    """The given number of decimals, or the nearest that floats can hold and that puts two values
    between the bounds.

    Noise may suggest any number of decimals.

    >>> [decimals_between(2.25, 2.75, decimals) for decimals in (-3, 2, 99)]
    [1, 2, 14]
    """
    largest = max(abs(low), abs(high))
    most = min(DIGITS - ceil(log10(largest)), MAX_DECIMALS) if largest > 0 else DIGITS
    decimals = min(decimals, most)
    ends = np.array([-low, high])
    # Of these, none or one.
    while decimals < most and low < high and decimal_points(ends, decimals).sum() < 1:
        decimals += 1
    return decimals
