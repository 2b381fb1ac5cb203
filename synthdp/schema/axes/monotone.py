"""Densities that follow their neighbours: monotone interpolation between the bins of a histogram."""

import numpy as np
from numpy.typing import NDArray

from synthdp.schema.words.grid_intervals import Floats, Ints

PIECES = 8
"""Pieces that a bin is divided into, in each of which the density is even: more would differ by
less than a hundredth of the bin.
"""


def followed(starts: Ints, mass: Floats) -> tuple[Ints, Floats]:
    """A finer histogram whose density goes on from bin to bin, and that has the same mass in each.

    The distribution function is interpolated by monotone cubic polynomials [Fritsch-Carlson 80], so
    no piece weighs less than nothing.

    Parameters
    ----------
    starts
        First grid point of each bin, increasing, then the end; shape ``(n_bins + 1,)``.
    mass
        What each bin weighs, at least 0; shape ``(n_bins,)``, three or more.

    >>> starts, mass = followed(np.array([0, 8, 16, 24]), np.array([8.0, 4.0, 2.0]))
    >>> starts.tolist()[:4], mass.round(2).tolist()[7:9]
    ([0, 1, 2, 3], [0.72, 0.65])
    """
    widths = np.diff(starts)
    pieces = np.minimum(widths, PIECES)
    bins = np.repeat(np.arange(len(widths)), pieces)
    number = np.arange(len(bins)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    cuts = np.append(starts[bins] + number * widths[bins] // pieces[bins], starts[-1])
    heights = mass / widths
    slopes = _slopes(widths.astype(np.float64), heights)
    begin = (cuts[:-1] - starts[bins]) / widths[bins]
    end = (cuts[1:] - starts[bins]) / widths[bins]
    # Up to a place in the bin, as a part of what the bin has at its ends: cubic Hermite splines.
    below, above = slopes[:-1][bins] * widths[bins], slopes[1:][bins] * widths[bins]
    total = mass[bins]
    weights = _hermite(end, total, below, above) - _hermite(begin, total, below, above)
    return cuts, np.maximum(weights, 0.0)


def _hermite(place: Floats, total: Floats, below: Floats, above: Floats) -> Floats:
    """The cubic from 0 to a total whose slopes at 0 and 1 are given."""
    rise = place * place * (3.0 - 2.0 * place)
    from_below = place * (1.0 - place) ** 2
    from_above = place * place * (place - 1.0)
    return total * rise + below * from_below + above * from_above


def _slopes(widths: Floats, heights: Floats) -> NDArray[np.float64]:
    """The density where bins meet, and at both ends."""
    left, right = heights[:-1], heights[1:]
    # Weighted harmonic means: 0 beside an empty bin, and never so steep that mass would be negative.
    first, second = 2.0 * widths[1:] + widths[:-1], widths[1:] + 2.0 * widths[:-1]
    is_open = (left > 0) & (right > 0)
    inverse = first / np.where(is_open, left, 1.0) + second / np.where(is_open, right, 1.0)
    inner = np.where(is_open, (first + second) / inverse, 0.0)
    ends = _end(widths[:2], heights[:2]), _end(widths[:-3:-1], heights[:-3:-1])
    return np.concatenate([ends[:1], inner, ends[1:]])


def _end(widths: Floats, heights: Floats) -> float:
    """The density at an end, from its bin and the one beside it."""
    outer, inner = widths.tolist()
    slope = ((2.0 * outer + inner) * heights[0] - outer * heights[1]) / (outer + inner)
    return float(np.clip(slope, 0.0, 3.0 * heights[0]))
