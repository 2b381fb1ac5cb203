"""How far ordered rows are from the row before: the gap times of recurrent events.

Bins of years' length do not say whether somebody comes back every week, so gaps have levels of
their own: some of one unit each, and further ones the longer the larger they are, as noise lets
nobody tell a year from a year and a day.
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, log2
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from synthdp.schema.axes.axis import Axis

_SINGLE, _A_DOUBLING = 32, 4
"""Gaps below so many units that are levels of their own, and levels of others until they are twice as
long.
"""

_MOST_LEVELS = 100
"""Of more levels than that the first ones are one."""

_MOST_BINS = 100
"""Bins of the column of order up to which gaps are asked for: they are drawn given two bins each."""


@final
@dataclass(frozen=True)
class Gaps:
    """Levels of gaps along a column by which rows are ordered."""

    name: str
    """The attribute that says them."""
    axis: Axis
    """The column; its units are its grid points."""

    @classmethod
    def along(cls, axis: Axis, name: str) -> Self | None:
        """The gaps of a column; None if its bins say them or are too many, or round values are
        likelier than others, which say more of where rows are.
        """
        says_them = axis.n_values <= axis.n_levels or axis.is_heaped
        return None if says_them or axis.n_levels > _MOST_BINS else cls(name, axis)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where levels begin, in units, then the end of all; shape ``(size + 1,)``."""
        first, end = self.axis.drawn_starts[[0, -1]].tolist()
        n_levels = _A_DOUBLING * log2(max((end - first) / _SINGLE, 1.0))
        far = _SINGLE * 2.0 ** (np.arange(1, ceil(n_levels)) / _A_DOUBLING)
        starts = np.ceil(np.append(np.arange(_SINGLE + 1), far))
        starts = np.unique(starts[starts < end - first]).astype(np.int64)
        return np.concatenate([[0], starts[1:][1 - _MOST_LEVELS :], [end - first]])

    @property
    def size(self) -> int:
        """How many levels there are."""
        return len(self.starts) - 1

    def codes(self, numbers: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[Any]:
        """Levels of the gaps before some rows, by the values of all rows on the column's scale, of
        which the one before each is that of the row before it.
        """
        # Total: what is missing, or beyond the bounds, stands at one of them.
        low, high = self.axis.at(self.axis.drawn_starts[[0, -1]] - np.array([0, 1]))
        within = np.clip(np.nan_to_num(numbers[[rows, rows - 1]]), low, high)
        own, before = self.axis.grid_points(within, self.axis.decimals or 0)
        levels = np.searchsorted(self.starts[1:-1], own - before, side="right")
        return np.asarray(levels, dtype=np.min_scalar_type(self.size))
