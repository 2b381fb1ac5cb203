"""Learning how many decimals a column of numbers has."""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.core.grid import MAX_DECIMALS, Grid
from synthdp.learning.cells.density import Density
from synthdp.learning.cells.significance import ASTRONOMIC
from synthdp.learning.cells.stretches import PROBABLE, standing_out
from synthdp.privacy.values.private_values import PrivateValues
from synthdp.schema.axes.points import decimal_points

MAX_LEARNT_DECIMALS = 16
"""The class of numbers with more decimals, or more digits, than every float can hold."""

FEW = 0.05
"""Decimals are rounded away that no more than this part of the numbers has, further ones included:
altitudes that were feet once have two decimals in one row of twenty, and one in another.
"""

CLEAR = 2.0
"""Standard deviations by which numbers with decimals must show to be worth a word, at the clearest
number of decimals from one on.
"""

FEWER = 0.2
"""Fewer decimals than are written are worth a word if more than this part of the numbers has them
beyond what chance gives.
"""

USUAL = 4
"""Numbers that people write have so many decimals at most."""

SEEN = 6
"""Nobody compares further decimals."""

MISTAKEN = 5e-4
"""Probability of taking noise for decimals that no number has; for which are most frequent less
evidence will do.
"""

LIKELY_EXPONENT = 20
"""Numbers are taken to lie below 2^21 if nothing stands out: on its grid lie thousandths as well."""

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
    at_most: tuple[float, ...] = ()
    stddev: float = 0.0
    """Parts of the numbers that have so many decimals or fewer, from 0 on, and the standard
    deviation of the noise of the first one; empty where all are whole.
    """

    def fewer(self, density: Density, heaping: Mapping[str, float]) -> float:
        """The part of the numbers that has fewer decimals than are written where values are drawn by
        a density on this grid, beyond doubt and what chance gives; 0 if that is few.

        ``heaping`` has the shares of values that are drawn as multiples of a step.
        """
        n_fewer = min(self.decimals, SEEN, len(self.at_most))
        if n_fewer < 1:
            return 0.0
        at_most = np.array(self.at_most[:n_fewer])
        excess = at_most - _at_most_by_chance(density, heaping, self.decimals)[:n_fewer]
        noise = self.stddev * np.sqrt(np.arange(1, n_fewer + 1))
        excess[excess < np.maximum(FEWER, PROBABLE * noise)] = 0.0
        return float(at_most[np.argmax(excess)]) if excess.any() else 0.0


def learn_decimals(values: PrivateValues, column: str, *, rho: Fraction) -> Decimals:
    """Spend at most ``rho`` on the decimals that a grid for the column should have (negative: tens,
    hundreds).

    Measured numbers have all decimals that floats have. For them the grid follows from how
    large they are: it divides the largest octave into about 2^48 parts.
    """
    starts = np.arange(MAX_LEARNT_DECIMALS + 1)
    histogram = values.histogram(Grid(column=column, of="decimals"), starts, rho=rho / 2)
    standing = _decimals(histogram.counts, histogram.stddev)
    if standing == 0:
        return Decimals(0, None, fractions=_fractions(histogram.counts, histogram.stddev))
    exponents = np.arange(-MAX_EXPONENT, MAX_EXPONENT)
    sizes = values.histogram(Grid(column=column, of="exponents"), exponents, rho=rho / 2)
    plain = np.flatnonzero(standing_out(sizes.counts, sizes.stddev, false_alarm=ASTRONOMIC))
    largest = int(exponents[plain[-1]]) if plain.size else None
    if largest == exponents[0]:
        largest = None  # nothing but 0
    scale = LIKELY_EXPONENT if largest is None else largest
    fitting = min(max(floor((POINT_BITS - 1 - scale) * log10(2)), -MAX_SCALE), MAX_SCALE)
    decimals = (
        fitting if standing is None or standing >= MAX_LEARNT_DECIMALS else min(standing, fitting)
    )
    if standing is None:
        return Decimals(decimals, largest, is_known=False)
    total = max(float(histogram.counts.sum()), 1.0)
    at_most = tuple((np.cumsum(histogram.counts) / total).tolist())
    return Decimals(decimals, largest, at_most=at_most, stddev=histogram.stddev / total)


def _fractions(counts: NDArray[np.float64], stddev: float) -> float:
    """The part of the numbers that has decimals by noisy counts; 0 if noise alone says so, or that
    is few.
    """
    sums = np.cumsum(counts[1 : USUAL + 1])
    evidence = sums / np.sqrt(np.arange(1, USUAL + 1))
    n_fractions = float(sums[np.argmax(evidence)])
    fractions = n_fractions / max(float(counts[0]) + n_fractions, 1.0)
    return fractions if evidence.max() > CLEAR * stddev and fractions > FEW else 0.0


def _at_most_by_chance(
    density: Density, heaping: Mapping[str, float], decimals: int
) -> NDArray[np.float64]:
    """Parts of the values drawn by a density that have so many decimals or fewer, from 0 on, where
    they are written with so many.
    """
    is_single = density.widths == 1
    mass = density.mass / max(float(density.mass.sum()), 1e-9)
    steps = [(float(step), share) for step, share in heaping.items()]
    steps.append((10.0**-decimals, 1 - sum(heaping.values())))
    by_chance: NDArray[np.float64] = np.zeros(decimals)
    for step, share in steps:  # of its multiples so many are those of a decimal
        by_chance += share * np.minimum(step * 10.0 ** np.arange(decimals), 1.0)
    by_chance *= float(mass[~is_single].sum())
    for point, part in zip(
        density.starts[:-1][is_single].tolist(), mass[is_single].tolist(), strict=True
    ):
        needed = decimals
        while needed > 0 and point % 10 ** (decimals - needed + 1) == 0:
            needed -= 1
        by_chance[needed:] += part
    return by_chance


def _decimals(counts: NDArray[np.float64], stddev: float) -> int | None:
    """The decimals that all numbers but a few have, by noisy counts; None if nothing stands out."""
    standing = np.where(standing_out(counts, stddev, false_alarm=MISTAKEN), counts, 0.0)
    at_least = np.cumsum(standing[::-1])[::-1]
    if (many := np.flatnonzero(at_least > max(FEW * counts.sum(), 0.0))).size:
        return int(many[-1])
    likeliest = int(np.argmax(counts))
    return likeliest if standing_out(counts, stddev)[likeliest] else None


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
    while (
        decimals < most and low < high and decimal_points(ends, decimals).sum() < 1
    ):  # of these, none or one
        decimals += 1
    return decimals
