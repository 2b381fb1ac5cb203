"""Columns on lines of whole numbers, on which their values are compared and added exactly.

Numbers lie on the line as multiples of ``10**-decimals``, dates as seconds since 1970. Only what a
column can be written as lies on it, and of a column that is narrowed (see `Axis.kept`) only
what is kept.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from synthdp.schema.axes.axis import Axis
from synthdp.schema.axes.points import NEAR
from synthdp.schema.words.grid_intervals import Ints


@final
@dataclass(frozen=True, eq=False)
class Line:
    """A column on its line."""

    column: Axis

    @cached_property
    def bins(self) -> tuple[Ints, Ints]:
        """The lowest and the highest place that is drawn of each bin."""
        starts = self.column.drawn_starts
        firsts = starts[:-1]
        lasts = starts[1:] - 1
        if self._kept is not None:
            first = self._kept_above(firsts)
            last = self._kept_below(lasts)
            holds_any = first <= last  # bins of which nothing is kept stay whole
            firsts = np.where(holds_any, first, firsts)
            lasts = np.where(holds_any, last, lasts)
        return self.places(firsts), self.places(lasts)

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest place that is drawn at all."""
        if self._kept is None:
            return int(self.bins[0][0]), int(self.bins[1][-1])
        first, last = self.places(np.array([self._kept[0], self._kept[-1] - 1])).tolist()
        return first, last

    def places(self, points: Ints) -> Ints:
        """Where grid points of the column lie on the line."""
        return self.column.places_of(points)

    def floor(self, places: Ints) -> Ints:
        """The last place at or below each that is drawn, for places between the ends; below others
        some place.
        """
        return np.minimum(self.places(self._kept_below(self.points(places))), places)

    def ceil(self, places: Ints) -> Ints:
        """The first place at or above each that is drawn, for places between the ends; above others
        some place.
        """
        return np.maximum(self.places(self._kept_above(self.points(places - 1) + 1)), places)

    def points(self, places: Ints) -> Ints:
        """The last grid point at or below each place."""
        return self.column.points_of(places)

    def codes(self, places: Ints) -> NDArray[np.integer[Any]]:
        """The bin that each place lies in."""
        codes = np.searchsorted(self.column.drawn_starts[1:-1], self.points(places), side="right")
        return codes.astype(self.column.dtype)

    def around(self, numbers: NDArray[np.float64]) -> tuple[Ints, Ints]:
        """The whole numbers on the line at or above, and at or below, what `read_numbers` gives;
        any for NaN.
        """
        unit = self.column.unit
        scaled = np.nan_to_num(numbers * float(1 / unit) if unit <= 1 else numbers / float(unit))
        # 0.1 + 0.2 lies a rounding error above 0.3: what is that near is the whole number.
        nearest = np.rint(scaled)
        is_near = np.abs(scaled - nearest) <= NEAR * np.abs(scaled)
        above, below = (
            np.where(is_near, nearest, side(scaled)).astype(np.int64)
            for side in (np.ceil, np.floor)
        )
        return above, below

    def draw(self, lows: Ints, highs: Ints, rng: np.random.Generator) -> Ints:
        """A place between each two, which are drawn and lie in one bin, by the column's shape."""
        return self.places(self.column.draw_between(self.points(lows), self.points(highs), rng))

    @property
    def _kept(self) -> Ints | None:
        kept = self.column.kept
        return kept if kept is not None and kept.size else None

    def _kept_below(self, points: Ints) -> Ints:
        if self._kept is None:
            return points
        # Kept spans are begin, end, begin, end, ..: with an odd number of them at or below, a point
        # lies inside of one.
        span = np.searchsorted(self._kept, points, side="right")
        return np.where(span % 2 == 1, points, self._kept[np.maximum(span - 1, 0)] - 1)

    def _kept_above(self, points: Ints) -> Ints:
        if self._kept is None:
            return points
        span = np.searchsorted(self._kept, points, side="right")
        return np.where(span % 2 == 1, points, self._kept[np.minimum(span, len(self._kept) - 1)])
