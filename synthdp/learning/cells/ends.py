"""Where records end, by noisy counts: how probable each place is.

Records that lie beyond a place, if any, are taken to lie evenly up to their end. How many they are
is not known, so every end is weighed by all numbers that they can have: the counts of cells of all
looks are linear in that number and have Gaussian noise. Post-processing only.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi, sqrt
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.learning.cells.tails import CROSSING, FAR, FARTHER, NEAR_CELLS, NEAR_WIDTHS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NOTHING = 0.45
"""Probability, before any count is seen, that no records lie beyond those that stand out."""

FEW = 0.05
"""Up to such a part of all records all numbers beyond are about as probable, above it each in
inverse proportion to it.
"""

PIECES = 4
"""Places in a cell at which records may end."""

THINNING, WIDE = 2.0, 4
"""Long tails are improbable: beyond the width of what stands out by this power of the distance,
where that is so many cells and says how wide the records lie.
"""


HIDING, HIDDEN = 3.0, 0.1
"""Noise hides many records if so many standard deviations of it are more than this part of all."""

SURELY = 0.9
"""Then records are taken to reach beyond those that stand out only as far as they do with this
probability; else with one half.
"""


def hides_many(stddev: float, n_records: float) -> bool:
    """Whether the noise of a count could hide a large part of the records."""
    return HIDING * stddev > HIDDEN * n_records


class Total(NamedTuple):
    """A noisy count of the records between two distances, and the variance of its noise."""

    start: float
    stop: float
    n_records: float
    variance: float


@final
@dataclass(frozen=True, eq=False)
class EndPosterior:
    """Where records may end."""

    distances: Floats
    """From a place that records surely reach, increasing; shape ``(n,)``."""
    probabilities: Floats
    """Of each, given the noisy counts; shape ``(n,)``."""
    surely: float = 0.5
    """With which probability records are to reach the end that is taken."""

    @property
    def end(self) -> float:
        """The furthest place that the records reach with that probability."""
        # The probability that records reach at least so far.
        reached = np.cumsum(self.probabilities[::-1])[::-1]
        return float(self.distances[np.flatnonzero(reached >= self.surely - 1e-9)[-1]])

    def median_error(self, distance: float) -> float:
        """By how much a place is wrong, or less, with a probability of one half."""
        errors = np.abs(self.distances - distance)
        order = np.argsort(errors)
        cumulative = np.cumsum(self.probabilities[order])
        return float(errors[order][np.searchsorted(cumulative, 0.5 - 1e-9)])


def tail_ends(
    edges: Floats,
    counts: Floats,
    stddev: float,
    totals: Sequence[Total],
    *,
    n_records: float,
    width: float,
    is_wide: bool = False,
    further: Sequence[float] = (),
    zero: float | None = None,
    plain: float = 0.0,
) -> EndPosterior:
    """How probable it is that records end at each place beyond those that stand out.

    Parameters
    ----------
    edges
        Distances of the edges of the cells beyond, from 0; shape ``(n_cells + 1,)``.
    counts, stddev
        Noisy counts of these cells, and the standard deviation of their noise.
    totals
        What other noisy counts say.
    n_records
        About how many records there are in all.
    width
        Grid points of what stands out.
    is_wide
        Whether that says how wide records lie.
    further
        Edges of public cells beyond the last edge, of which only totals are known.
    zero
        Distance of 0 if records would have to cross it; None if not.
    plain
        The edge up to which cells stand out, if only together.

    >>> counts = np.array([474.0, 214.0, -38.0, 246.0, 9.0, -60.0])
    >>> tail_ends(np.arange(7.0), counts, 110.0, [], n_records=4000, width=3).end
    2.0

    Where noise could hide many records, they are taken to end sooner:

    >>> tail_ends(np.arange(7.0), counts, 110.0, [], n_records=2000, width=3).end
    1.0
    """
    places, cells, parts = _places(edges, further)
    shares = _Shares(np.diff(edges), counts, stddev, cells, parts)
    precision = shares.precision
    score = shares.score
    for each in totals:
        inside = np.clip(places, each.start, each.stop) - each.start
        precision = precision + inside**2 / each.variance
        score = score + inside * each.n_records / each.variance
    # From here on a number of records per place becomes one of all records up to it.
    lengths = np.maximum(places, 1e-9)
    evidence = _log_evidence(precision / lengths**2, score / lengths, n_records)
    # No records beyond: the ratio to itself.
    evidence[0] = 0.0
    # A prior that is even in the logarithm of the distance, since public cells are.
    steps = np.log1p(cells + parts)  # cells grow with the distance, and so do the steps
    prior = np.diff(steps) / max(float(steps[-1]), 1e-9)
    middles = (places[1:] + places[:-1]) / 2
    if is_wide:
        # Tails that are long beside what stands out are rarer the longer they are.
        prior = prior * (1 + middles / width) ** -THINNING
    log_prior = np.log((1 - NOTHING) * prior)
    nothing = log(NOTHING)
    if plain > 0:  # the cells up to there are judged, too, but they hold some
        index = int(np.searchsorted(places[1:], plain).clip(0, len(log_prior) - 1))
        log_prior[index] = np.logaddexp(log_prior[index], nothing)
        nothing = float(log_prior[0])
    if len(further):
        last = float(edges[-1])
        near = max(last + NEAR_WIDTHS * max(last, width), further[:NEAR_CELLS][-1])
        octaves = np.log2(places[1:] / near)
        log_prior -= np.where(octaves > 1e-9, FAR + FARTHER * octaves, 0.0)
    if zero is not None:
        log_prior -= np.where(middles > zero, CROSSING, 0.0)
    posterior = _normalized(evidence + np.append(nothing, log_prior))
    surely = SURELY if hides_many(stddev, n_records) else 0.5
    return EndPosterior(places, posterior, surely)


def interval_ends(
    edges: Floats, counts: Floats, stddev: float, totals: Sequence[Total], *, n_records: float
) -> tuple[EndPosterior, EndPosterior]:
    """Where records may begin, as distances from the last edge down, and where they may end, from
    the first up.

    For cells of which none stands out: the records lie evenly between two edges.
    """
    # All pairs of edges: of 512 cells they are 131,000, which is nothing for arrays.
    begins, ends = np.triu_indices(len(edges), 1)
    widths = np.diff(edges)
    squares = np.append(0.0, np.cumsum(widths**2)) / stddev**2
    products = np.append(0.0, np.cumsum(widths * counts)) / stddev**2
    precision = squares[ends] - squares[begins]
    score = products[ends] - products[begins]
    for each in totals:
        low = np.maximum(edges[begins], each.start)
        inside = np.maximum(np.minimum(edges[ends], each.stop) - low, 0.0)
        precision = precision + inside**2 / each.variance
        score = score + inside * each.n_records / each.variance
    # Edges are grid points: beyond 2**53 floats of two of them may be the same.
    lengths = np.maximum(edges[ends] - edges[begins], 1.0)
    evidence = _log_evidence(precision / lengths**2, score / lengths, n_records)
    # Of many long stretches and few short ones each width has its share.
    posterior = _normalized(evidence - np.log(ends - begins))
    starting: Floats = np.bincount(begins, posterior, len(edges)).astype(np.float64)
    ending: Floats = np.bincount(ends, posterior, len(edges)).astype(np.float64)
    return (
        EndPosterior((edges[-1] - edges)[::-1], starting[::-1]),
        EndPosterior(edges - edges[0], ending),
    )


def _places(edges: Floats, further: Sequence[float]) -> tuple[Floats, Ints, Floats]:
    """Distances at which records may end: how many cells lie before each, and what part of the
    next.
    """
    ends = [*edges.tolist(), *further]
    places = [0.0]
    cells = [0]
    parts = [0.0]
    for index, (start, stop) in enumerate(itertools.pairwise(ends)):
        n_pieces = max(int(min(stop - start, PIECES)), 1)
        for piece in range(1, n_pieces):
            places.append(start + (stop - start) * piece / n_pieces)
            cells.append(index)
            parts.append(piece / n_pieces)
        places.append(stop)
        cells.append(index + 1)
        parts.append(0.0)
    return np.array(places), np.array(cells), np.array(parts)


@final
class _Shares:
    """What cells say of each place, if one record lies on each point before it."""

    def __init__(
        self, widths: Floats, counts: Floats, stddev: float, cells: Ints, parts: Floats
    ) -> None:
        n_cells = len(counts)
        squares = np.append(0.0, np.cumsum(widths**2))
        products = np.append(0.0, np.cumsum(widths * counts))
        whole = np.minimum(cells, n_cells)
        in_part = np.where(cells < n_cells, parts, 0.0) * np.append(widths, 0.0)[whole]
        self.precision: Floats = (squares[whole] + in_part**2) / stddev**2
        self.score: Floats = (products[whole] + in_part * np.append(counts, 0.0)[whole]) / stddev**2


def _log_evidence(precision: Floats, score: Floats, n_records: float) -> Floats:
    """Log ratio of the probability of the counts to that without any records, over all numbers of
    them.

    A number q has the likelihood ``exp(score q - precision q^2 / 2)``. It is integrated over 0 to
    all records; the prior, which is flat beside that, is taken at the likeliest number.
    """
    few = FEW * n_records
    root = np.sqrt(np.maximum(precision, 1e-300))
    peak = score / root
    room = n_records * root - peak  # standard deviations from the likeliest number to the largest
    inside = np.maximum(_normal_cdf(room) - _normal_cdf(-peak), 1e-300)
    # The Gaussian integral over 0 to all records, in logarithms: its parts exceed any float.
    integral = np.log(sqrt(2 * pi) / root) + np.square(peak) / 2 + np.log(inside)
    # Far in the tail the normal distribution function has no digits left; there the integrand is an
    # exponential.
    falling = -np.log(np.maximum(-score, 1e-300))  # where the likelihood is largest at none,
    rising = n_records * score - precision * n_records**2 / 2  # and where at all of them
    rising = rising - np.log(np.maximum(score - precision * n_records, 1e-300))
    integral = np.where(peak < -5, falling, np.where(room < -5, rising, integral))
    likeliest = np.clip(np.maximum(score / np.maximum(precision, 1e-300), 1 / root), 0, n_records)
    result: Floats = integral - np.log((likeliest + few) * log(1 + n_records / few))
    return result


def _normal_cdf(x: Floats) -> Floats:
    """Of the standard normal distribution, to 4 digits."""
    # tanh of a cubic: no import of scipy for four digits.
    bounded = np.clip(x, -8.0, 8.0)
    result: Floats = 0.5 * (1 + np.tanh(sqrt(2 / pi) * (bounded + 0.044715 * bounded**3)))
    return result


def _normalized(log_weights: Floats) -> Floats:
    weights: Floats = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    return weights
