"""Gaps of a shape: where a learnt density weighs nothing because noise hid the records there.

Once the bins were measured, one that holds clearly more than the shape has in it says that records
lie in its gaps. They are drawn as a tail that thins out from the density beside the gap, and
reaches as far as they need.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.schema.words.grid_intervals import Floats, Ints

STEEP = 2.0
"""Times as dense as a cell is the next one where the cell itself is taken for a part of the tail.
"""

CLEAR = 0.25
"""Part of a bin that the shape has no room for: less is left to the noise of both counts."""

PIECES = 8
"""Pieces in each of which a tail is even."""


def with_gaps_filled(
    starts: Ints, mass: Floats, cuts: Ints, weights: Floats
) -> tuple[Ints, Floats]:
    """A shape whose gaps hold what bins have more than it has in them.

    Parameters
    ----------
    starts
        First grid point of each bin, increasing, then the end; shape ``(n_bins + 1,)``.
    mass
        What each bin weighs, at least 0; shape ``(n_bins,)``.
    cuts
        First grid point of each piece of the shape, then the end; shape ``(n_pieces + 1,)``.
    weights
        What each piece weighs, at least 0, in any unit; shape ``(n_pieces,)``.

    Returns
    -------
    tuple
        First grid point of each finer piece, then the end, and what it weighs. Only weights within
        a bin can be compared.

    >>> starts, mass = np.array([0, 40, 80]), np.array([30.0, 40.0])
    >>> cuts, weights = with_gaps_filled(starts, mass, np.array([0, 32, 80]), np.array([0.0, 48.0]))
    >>> cuts[:3].tolist(), weights[:9].round(1).tolist()
    ([0, 4, 8], [1.4, 1.8, 2.2, 2.6, 2.9, 3.3, 3.7, 4.1, 8.0])
    """
    cells = np.union1d(starts, cuts)
    widths = np.diff(cells)
    bins = np.searchsorted(starts, cells[:-1], side="right") - 1
    pieces = np.searchsorted(cuts, cells[:-1], side="right") - 1
    learnt = weights[pieces] * widths / np.diff(cuts)[pieces]
    held = _as_measured(learnt, mass, bins, pieces)
    room = np.bincount(bins, held, len(mass))
    is_short = mass - room > CLEAR * mass
    tails = []
    for number in np.unique(bins[held <= 0]).tolist():
        if is_short[number]:
            own = np.flatnonzero(bins == number)
            tails += _tails(cells, held, own, float(mass[number] - room[number]))
    finer = np.unique(np.concatenate([cells, *(tail.cuts for tail in tails)]))
    cell = np.searchsorted(cells, finer[:-1], side="right") - 1
    filled = held[cell] * np.diff(finer) / widths[cell]
    for tail in tails:
        filled += tail.mass_between(finer)
    return finer, filled


class _Tail(NamedTuple):
    """Records that thin out from one end of a stretch, linearly."""

    begin: int
    stop: int
    """The stretch."""
    falls: bool
    """Whether most lie at its begin."""
    height: float
    """The density at that end, in any unit."""
    reach: float
    """Grid points to where it would be 0; what lies beyond the stretch is left out."""
    factor: float = 1.0
    """What the unit is worth."""

    @property
    def cuts(self) -> Ints:
        """First grid points of pieces in each of which it is taken for even."""
        steps = np.linspace(0.0, min(self.reach, self.stop - self.begin), PIECES + 1)
        places = self.begin + steps if self.falls else self.stop - steps
        return np.unique(np.round(places).astype(np.int64))

    def mass_between(self, cuts: Ints) -> Floats:
        """What it weighs between each two cuts."""
        place = np.clip(cuts, self.begin, self.stop)
        inside = np.minimum(place - self.begin if self.falls else self.stop - place, self.reach)
        area = np.abs(np.diff(inside - inside**2 / (2.0 * self.reach)))
        mass: NDArray[np.float64] = self.factor * self.height * area
        return mass


def _as_measured(learnt: Floats, mass: Floats, bins: Ints, pieces: Ints) -> Floats:
    """What each cell holds if each piece is as dense as the bins that lie wholly in it."""
    is_whole = np.bincount(bins)[bins] == 1
    n_pieces = int(pieces[-1]) + 1
    seen = np.bincount(pieces, np.where(is_whole, learnt, 0.0), n_pieces)
    measured = np.bincount(pieces, np.where(is_whole, mass[bins], 0.0), n_pieces)
    all_learnt = float(learnt.sum())
    ratio = float(mass.sum()) / all_learnt if all_learnt > 0 else 0.0
    factors = np.divide(measured, seen, out=np.full(n_pieces, ratio), where=seen > 0)
    held: NDArray[np.float64] = learnt * factors[pieces]
    return held


def _tails(cells: Ints, held: Floats, own: Ints, excess: float) -> list[_Tail]:
    """Tails into the gaps of a bin that weigh its excess together; ``own`` are its cells."""
    heights = _heights(held / np.diff(cells))
    gaps = own[held[own] <= 0].tolist()
    sides = []
    for gap in gaps:
        for falls, step in ((True, -1), (False, 1)):
            beside = gap + step
            height = float(heights[gap + step + 1])
            ends = [gap, gap + 1]
            # Where a cell is thin beside the next one, noise may have hidden records in it as well.
            if beside in own and heights[beside + step + 1] > STEEP * height > 0:
                height = float(heights[beside + step + 1])
                ends = [min(gap, beside), max(gap, beside) + 1]
            if height > 0:
                sides.append((int(cells[ends[0]]), int(cells[ends[1]]), falls, height))
    reach = np.inf
    if sides:
        reach = 2.0 * excess / sum(height for *_, height in sides)
    else:  # even, where nothing is known
        sides = [(int(cells[gap]), int(cells[gap + 1]), True, 1.0) for gap in gaps]
    tails = [_Tail(*side, reach) for side in sides]
    factor = excess / sum(float(tail.mass_between(cells).sum()) for tail in tails)
    return [tail._replace(factor=factor) for tail in tails]


def _heights(densities: Floats) -> Floats:
    """Densities of cells that say what lies beside them, between a 0 at either end: no more than
    the denser neighbour has, as a single value may hold many records, and say nothing.
    """
    padded = np.concatenate([[0.0], densities, [0.0]])
    padded[1:-1] = np.minimum(densities, np.maximum(padded[:-2], padded[2:]))
    return padded
