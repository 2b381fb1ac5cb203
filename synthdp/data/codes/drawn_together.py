"""Values that lie together inside of their bins.

Values are drawn from the bins of a row column by column, which blurs what two columns have in
common within a bin. Here the values of each bin are dealt out to its rows again, in the order that
another column says: as of two Gaussians whose correlation explains the bins. Each bin keeps its
values, so that neither bins nor marginals change. Post-processing of rows that are drawn.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.inference.gaussian_pairs import (
    CORRELATIONS,
    PARTS,
    cut_gaussians,
    normal_scores,
    scores_inside,
)
from synthdp.schema.axes.axis import Axis, CodeColumn
from synthdp.schema.words.grid_intervals import Ints

LEAST = 0.6
"""Correlation of two columns' bins from which on their values are drawn together."""
FEWEST = 500
"""Rows of which fewer do not say which columns go with each other."""
PILOT_ROWS, PILOT_VALUES = 1 << 15, 1 << 22
"""Rows that are looked at for it, and values of them, at most: a thousand columns take 34 MB."""

STRAYING = (0.0, 0.01, 0.03, 0.1, 0.3)
"""Parts of the rows that follow no correlation, as noise has put them in the tables: these are
tried.
"""
FAINT = 0.15
"""Correlation inside of bins, in their mean, below which values stay as they are."""
ROUNDS = 2
"""Times that columns are dealt out: of two with coarse bins the first one follows values that lie
anyhow (six bins, a correlation of .97: .21 too low before, .013 after one round, .001 after two).
"""

Floats = NDArray[np.float64]


class _Binned(NamedTuple):
    """Rows of a column."""

    axis: Axis
    bins: Ints
    """The bin of each row, -1 where the value is missing."""
    points: Ints
    """A grid point in it."""

    def counts(self, rows: slice = slice(None)) -> Ints:
        """Rows in each bin."""
        bins = self.bins[rows]
        return np.bincount(bins[bins >= 0], minlength=self.axis.n_levels)


def drawn_together(
    codes: Mapping[str, CodeColumn],
    points: Mapping[str, Ints],
    axes: Mapping[str, Axis],
    rng: np.random.Generator,
) -> dict[str, Ints]:
    """Grid points of columns, dealt out to the rows of each bin so that columns go with each other.

    Parameters
    ----------
    codes
        Level codes of the columns, shape ``(n_rows,)`` each.
    points
        Grid points that were drawn for each row from its bin.
    axes
        The columns.
    rng
        Deals out what the other column leaves open.
    """
    columns = {}
    for name, axis in axes.items():
        bins = np.where(axis.is_missing(codes[name]), -1, codes[name].astype(np.int64))
        columns[name] = _Binned(axis, bins, points[name])
    for name, leader, correlation in ROUNDS * _followed(columns):
        dealt = _dealt(columns[name], columns[leader], correlation, rng)
        columns[name] = columns[name]._replace(points=dealt)
    return {name: column.points for name, column in columns.items()}


def _followed(columns: Mapping[str, _Binned]) -> list[tuple[str, str, float]]:
    """Columns of which another one says something inside of their bins, that one, and how it goes
    with them.
    """
    names = [*columns]
    if len(names) < 2 or len(columns[names[0]].bins) < FEWEST:
        return []
    n_pilot = max(min(PILOT_ROWS, PILOT_VALUES // len(names)), FEWEST)
    scores = np.array([_bin_scores(columns[name], n_pilot) for name in names])
    lengths = np.sqrt(np.einsum("ij,ij->i", scores, scores))
    cosines = scores @ scores.T / np.maximum(np.outer(lengths, lengths), 1e-12)
    np.fill_diagonal(cosines, 0.0)
    followed = []
    for name, own in zip(names, cosines, strict=True):
        best = int(np.argmax(np.abs(own)))
        has_room = int(np.diff(columns[name].axis.drawn_starts).max()) > 1
        if has_room and abs(own[best]) > LEAST:
            pair = columns[name], columns[names[best]]
            correlation = _correlation(*pair, is_falling=bool(own[best] < 0))
            counts = pair[0].counts()
            inside = (correlation * _spreads_inside(counts)) ** 2
            inside = np.sqrt(inside / (1 - correlation**2 + inside))
            if inside @ counts > FAINT * counts.sum():
                followed.append((name, names[best], correlation))
    return followed


def _bin_scores(column: _Binned, n_rows: int) -> Floats:
    """The normal score of the bin of each of the first rows, 0 where the value is missing."""
    counts = column.counts(slice(n_rows))
    middles = (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1)
    scores = np.append(normal_scores(middles), 0.0)
    return np.asarray(scores[column.bins[:n_rows]])


def _correlation(one: _Binned, other: _Binned, *, is_falling: bool) -> float:
    """The correlation of two Gaussians, cut into bins, that makes these rows likeliest: the
    polychoric one [Olsson 1979], but that some rows may stray.
    """
    own = one.bins[:PILOT_ROWS]
    others = other.bins[:PILOT_ROWS]
    known = (own >= 0) & (others >= 0)
    shape = one.axis.n_levels, other.axis.n_levels
    cells = own[known] * shape[1] + others[known]
    table = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    table = table[:: -1 if is_falling else 1]
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    rows, columns = (table.sum(axis=axis) / table.sum() for axis in (1, 0))
    alone = np.multiply.outer(rows, columns)
    likelihoods = []
    for correlation in CORRELATIONS:
        along = cut_gaussians(rows, columns, float(correlation))
        chances = [(1 - part) * along + part * alone for part in STRAYING]
        likelihoods.append(max((table * np.log(np.maximum(c, 1e-12))).sum() for c in chances))
    best = float(CORRELATIONS[int(np.argmax(likelihoods))])
    return -best if is_falling else best


def _dealt(column: _Binned, leader: _Binned, correlation: float, rng: np.random.Generator) -> Ints:
    """A column's grid points, those of each bin in the order that its leader says."""
    known = np.flatnonzero(column.bins >= 0)
    bins = column.bins[known]
    leads = leader.bins[known] >= 0
    said = np.zeros(len(known))
    said[leads] = _normal_ranks(leader.points[known[leads]])
    # What the leader says, in standard deviations among the rows of a bin.
    n_said = np.maximum(np.bincount(bins[leads], minlength=column.axis.n_levels), 1)
    said -= np.where(leads, (np.bincount(bins, said, len(n_said)) / n_said)[bins], 0.0)
    spreads = np.sqrt(np.maximum(np.bincount(bins, said**2, len(n_said)) / n_said, 1e-12))
    # Within a bin Gaussians correlate by so much less as it is narrower than what the leader says.
    share = np.clip(correlation * _spreads_inside(column.counts()) / spreads, -1.0, 1.0)
    drawn = rng.standard_normal(len(known))
    led = (share / spreads)[bins] * said + np.sqrt(1.0 - share**2)[bins] * drawn
    # One key of bin and order within it: scores are within +- 10.
    order = np.argsort(20.0 * bins + np.where(leads, led, drawn).clip(-9.9, 9.9))
    dealt = column.points.copy()
    # Bins are in the order of their points: all points in order are those of the first bin first.
    dealt[known[order]] = np.sort(column.points[known])
    return dealt


def _normal_ranks(points: Ints) -> Floats:
    scores = np.empty(len(points))
    scores[np.argsort(points)] = normal_scores((np.arange(len(points)) + 0.5) / len(points))
    return scores


def _spreads_inside(counts: Ints) -> Floats:
    """Standard deviations of a Gaussian inside of bins with so many rows."""
    # The spread of equal parts lacks what lies within a part.
    factor = np.sqrt(PARTS**2 / (PARTS**2 - 1))
    return np.asarray(scores_inside(counts / counts.sum()).std(axis=1) * factor)
