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
    # No piece is smaller than a grid point.
    n_pieces = np.minimum(widths, PIECES)
    bins = np.repeat(np.arange(len(widths)), n_pieces)
    first_pieces = np.cumsum(n_pieces) - n_pieces
    piece_in_bin = np.arange(len(bins)) - first_pieces[bins]
    width = widths[bins]
    cuts = np.append(starts[bins] + piece_in_bin * width // n_pieces[bins], starts[-1])

    # The distribution function at both ends of each piece, from its slopes (densities) at both ends
    # of the bin; places and slopes are in widths of the bin.
    edge_densities = _edge_densities(widths.astype(np.float64), mass / widths)
    at_low_edge = edge_densities[:-1][bins] * width
    at_high_edge = edge_densities[1:][bins] * width
    begin = (cuts[:-1] - starts[bins]) / width
    end = (cuts[1:] - starts[bins]) / width
    up_to_begin = _hermite(begin, mass[bins], at_low_edge, at_high_edge)
    up_to_end = _hermite(end, mass[bins], at_low_edge, at_high_edge)
    # Monotone but for rounding.
    return cuts, np.maximum(up_to_end - up_to_begin, 0.0)


def _hermite(place: Floats, total: Floats, slope_at_0: Floats, slope_at_1: Floats) -> Floats:
    """The cubic from 0 at place 0 to a total at place 1 whose slopes there are given."""
    rise = place * place * (3.0 - 2.0 * place)
    from_0 = place * (1.0 - place) ** 2
    from_1 = place * place * (place - 1.0)
    return total * rise + slope_at_0 * from_0 + slope_at_1 * from_1


def _edge_densities(widths: Floats, heights: Floats) -> NDArray[np.float64]:
    """The density at each edge of bins of some widths and mean densities; shape ``(n_bins + 1,)``."""
    left = heights[:-1]
    right = heights[1:]
    left_weight = 2.0 * widths[1:] + widths[:-1]
    right_weight = widths[1:] + 2.0 * widths[:-1]
    # Weighted harmonic means: 0 beside an empty bin, and never so steep that mass would be
    # negative. By products, for 1 over next to nothing is infinite.
    product = (left_weight + right_weight) * left * right
    sums = left_weight * right + right_weight * left
    inner = np.divide(product, sums, out=np.zeros_like(product), where=sums > 0)
    first = _end_density(widths[:2], heights[:2])
    last = _end_density(widths[:-3:-1], heights[:-3:-1])
    return np.concatenate([[first], inner, [last]])


def _end_density(widths: Floats, heights: Floats) -> float:
    """The density at an end, on the parabola through its bin and the one beside it.

    At least 0 and at most three times that of the bin: then the cubic does not turn back.
    """
    outer, inner = widths.tolist()
    density = ((2.0 * outer + inner) * heights[0] - outer * heights[1]) / (outer + inner)
    return float(np.clip(density, 0.0, 3.0 * heights[0]))
