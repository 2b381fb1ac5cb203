"""From noisy histograms to a density: what a histogram says that its noise cannot.

Post-processing only: nothing here sees a record, and nothing costs privacy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BELIEVED = 3.5
"""A cell, or a difference between two halves, is believed if it is this many standard deviations of
its noise.
"""


@final
@dataclass(frozen=True)
class Density:
    """Expected counts of records, even inside each piece of a grid of integers."""

    starts: Ints
    """First grid point of each piece, increasing, then the last grid point of all plus 1;
    shape ``(n + 1,)``.
    """
    mass: Floats
    """Expected number of records in each piece, at least 0; shape ``(n,)``."""

    @property
    def widths(self) -> Ints:
        """Number of grid points of each piece."""
        return np.diff(self.starts)

    def simplified(self) -> "Density":
        """The same with neighbours of equal density joined."""
        height = self.mass / self.widths
        # Pieces of one height were cut by cells, not by the records.
        same = np.isclose(height[1:], height[:-1], rtol=1e-9, atol=0)
        first = np.flatnonzero(np.append(True, ~same))
        return Density(
            np.append(self.starts[first], self.starts[-1]), np.add.reduceat(self.mass, first)
        )

    def on_coarser_grid(self, factor: int) -> "Density":
        """The same where so many grid points are one."""
        starts = self.starts // factor
        starts[-1] = -(-self.starts[-1] // factor)
        # Each piece has a point of its own.
        kept = np.flatnonzero(np.diff(starts, prepend=starts[0] - 1) > 0)
        return Density(starts[kept], np.add.reduceat(self.mass, kept[:-1]))

    def between(self, first: int, stop: int) -> "Density":
        """The same cut to ``first .. stop - 1``, which must lie in it."""
        starts = np.unique(
            np.concatenate(
                [[first, stop], self.starts[(self.starts > first) & (self.starts < stop)]]
            )
        )
        piece = np.searchsorted(self.starts, starts[:-1], side="right") - 1
        return Density(starts, self.mass[piece] * np.diff(starts) / self.widths[piece])

    def mirrored(self) -> "Density":
        """The same seen from the other end: what lies above lies below."""
        return Density(-self.starts[::-1], self.mass[::-1])

    def with_pieces(self, starts: Ints, mass: Floats) -> "Density":
        """The same with pieces next to it, from each start to the next."""
        if starts[0] == self.starts[-1]:
            return Density(
                np.concatenate([self.starts, starts[1:]]), np.concatenate([self.mass, mass])
            )
        return Density(
            np.concatenate([starts[:-1], self.starts]), np.concatenate([mass, self.mass])
        )

    def without_thin_ends(self, part: float) -> "Density":
        """The same without the outer pieces that together hold less than a part of the records at
        either end.
        """
        total = float(self.mass.sum())
        if total <= 0:
            return self
        shares = np.cumsum(self.mass) / total
        # A piece stays if it is not wholly within the first or the last thousandth.
        held = np.flatnonzero((shares > part) & (shares - self.mass / total < 1 - part))
        return self.between(int(self.starts[held[0]]), int(self.starts[held[-1] + 1]))


def split_evenly(start: int, stop: int, pieces: int) -> list[int]:
    """First points of runs of ``start .. stop - 1``, as even as possible, at most one a point.

    >>> split_evenly(0, 10, 3), split_evenly(5, 7, 9)
    ([0, 3, 6], [5, 6])
    """
    width = stop - start
    pieces = max(1, min(pieces, width))
    return [start + i * width // pieces for i in range(pieces)]


def smoothed(counts: Floats, widths: Floats, total: float, stddev: float) -> Floats:
    """Expected counts of cells whose sum is known, with differences that may be noise evened out.

    The cells are halved again and again. How the records of a stretch divide between its halves
    is taken from the noisy counts if that differs from an even density by more than `BELIEVED`
    standard deviations of its noise: Haar wavelets [Donoho-Johnstone 94]. If only something inside
    the halves differs by that much, they get what stands out there, and even shares of the rest.

    Parameters
    ----------
    counts
        Noisy counts of cells in their order, each with noise of standard deviation ``stddev``.
    widths
        Width of each cell.
    total
        Expected number of records in all cells together, at least 0.
    """
    # The total comes from elsewhere and is kept: smoothing only decides where the records lie.
    return _Halving(counts, widths, stddev).divided(max(total, 0.0))


@final
class _Halving:
    """Cells as a binary tree of stretches; a node is named by the cell at which it divides."""

    def __init__(self, counts: Floats, widths: Floats, stddev: float) -> None:
        self._sums = np.concatenate([[0.0], np.cumsum(counts)])
        self._spans = np.concatenate([[0.0], np.cumsum(widths)])
        self._stddev = stddev
        # Whether a node's own division is believed.
        self._is_plain = np.zeros(len(counts), dtype=np.bool_)
        self._is_uneven = np.zeros(len(counts), dtype=np.bool_)  # or any division in it
        self._outstanding = np.zeros(len(counts))  # what stands out in the first half of each node,
        self._outstanding_after = np.zeros(len(counts))  # and in the second
        self._look(0, len(counts))

    def _look(self, i: int, j: int) -> tuple[bool, float]:
        """Whether any division of the cells ``i .. j - 1`` is believed, and how many records stand
        out in them.
        """
        sums = self._sums
        stddev = self._stddev
        # Noise of a sum grows with the root of the cells.
        surely = sums[j] - sums[i] if sums[j] - sums[i] > BELIEVED * stddev * sqrt(j - i) else 0.0
        if j - i < 2:
            return False, surely
        # Halved by cells, compared with what halves of such widths have if the density is even.
        m = (i + j) // 2
        even = self._even(i, j)
        (left, before), (right, after) = self._look(i, m), self._look(m, j)
        surplus = (sums[m] - sums[i]) * (1 - even) - (sums[j] - sums[m]) * even
        noise = stddev * sqrt((m - i) * (1 - even) ** 2 + (j - m) * even**2)
        self._is_plain[m] = abs(surplus) > BELIEVED * noise
        # A peak inside of one half may cancel in the halves' difference; it still has to be divided
        # for.
        self._is_uneven[m] = left or right or self._is_plain[m]
        self._outstanding[m], self._outstanding_after[m] = before, after
        return bool(self._is_uneven[m]), surely if self._is_plain[m] and surely else before + after

    def _even(self, i: int, j: int) -> float:
        spans = self._spans
        return float((spans[(i + j) // 2] - spans[i]) / (spans[j] - spans[i]))

    def divided(self, total: float) -> Floats:
        """The records of all cells, given to each."""
        result = np.zeros(len(self._sums) - 1)
        widths = np.diff(self._spans)
        stretches = [(0, len(result), total)]
        while stretches:
            i, j, mass = stretches.pop()
            m = (i + j) // 2
            if j - i < 2 or not self._is_uneven[m]:
                result[i:j] = mass * widths[i:j] / (self._spans[j] - self._spans[i])
            else:
                left = min(max(self._left(i, j, mass), 0.0), mass)
                stretches += [(i, m, left), (m, j, mass - left)]
        return result

    def _left(self, i: int, j: int, mass: float) -> float:
        """How many of the records of a stretch its first half has."""
        m = (i + j) // 2
        sums = self._sums
        if self._is_plain[m]:
            # The noisy counts do not add up to the mass that is to be divided.
            gap = mass - (sums[j] - sums[i])  # spread over the cells, which all have the same noise
            return float(sums[m] - sums[i] + gap * (m - i) / (j - i))
        before = float(self._outstanding[m])
        after = float(self._outstanding_after[m])
        # More stands out than there is: in proportion.
        if before + after > mass:
            return mass * before / (before + after)
        return before + (mass - before - after) * self._even(i, j)


def shares_of_cells(mass: Sequence[float], widths: Sequence[int], cells: int) -> list[int]:
    """How many cells to look at each stretch with: in proportion to the root of its mass, 1 at
    least, none too fine.

    >>> shares_of_cells([900.0, 100.0], [1000, 2], 40)
    [38, 2]
    """
    roots = np.sqrt(np.maximum(np.asarray(mass, dtype=np.float64), 0.0))
    wide = np.asarray(widths, dtype=np.float64)
    given = np.minimum(np.ones(len(wide)), wide)
    # Stretches that are full give their cells to the others; each round fills one at least, so it
    # ends.
    for _ in range(len(wide)):
        open_ = given < wide
        if not open_.any() or not roots[open_].any():
            break
        room = cells - given[~open_].sum()
        wanted = np.maximum(room * roots * open_ / roots[open_].sum(), 1.0)
        full = open_ & (wanted >= wide)
        given = np.where(open_, np.minimum(wanted, wide), given)
        if not full.any():
            break
    return [int(number) for number in np.maximum(np.floor(given), 1)]
