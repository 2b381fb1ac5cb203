"""Search grids: the integers that a column's values lie on, and where to begin looking for them."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.grid import INFINITE, Grid
from synthdp.schema.axes.axis import Axis
from synthdp.schema.axes.cells import octaves
from synthdp.schema.axes.points import NEAR, decimal_points
from synthdp.schema.open_column import OpenColumn

SINGLE = 8
"""Points from 0 up to there are counted one by one from the beginning on: marks, ratings and
numbers of children lie there, and octaves would not tell where among them they end.
"""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class SearchGrid:
    """The grid of one column of numbers or dates."""

    column: OpenColumn
    """The column."""
    order: Axis
    """What it offers as one whose values have an order."""
    grid: Grid
    """The integer for each value."""
    coarse_edges: NDArray[np.int64]
    """First grid points of the public cells in which values are looked for first, then the end."""
    has_bounds: bool
    """Whether the outermost coarse_edges are declared bounds."""
    likely: int
    """A grid point that values are often near to: 10, or the year 2000."""
    points_each: int = 1
    """How many points of a moment, before its resolution was learnt, are one of these."""
    largest: int | None = None
    """About the largest distance from 0 that values have, in grid points; None if that is not
    known.
    """

    @classmethod
    def from_column(
        cls, column: OpenColumn, *, decimals: int = 0, exponent: int | None = None
    ) -> "SearchGrid":
        """The grid of a column.

        Parameters
        ----------
        column
            The column.
        decimals, exponent
            Of a number column: how fine its grid is, and the exponent of two of its largest values
            if it is known.
        """
        order = column.template.axis
        assert order is not None  # columns of texts have no axis
        cells = order.cells
        if not order.has_even_cells:
            cells = np.union1d(cells, np.arange(SINGLE))
        grid = Grid(
            column=column.name,
            decimals=decimals if column.has_decimals else 0,
            has_infinite=order.can_be_added,  # numbers, and no moments
        )
        limits = column.point_limits(grid)
        assert limits is not None
        low, high = limits
        match column.bounds:
            case float(
                lowest
            ), float():  # values that are written lie at or above it, so none on the point below
                low = min(-int(decimal_points(np.array([-lowest]), grid.decimals)[0]), high)
        inside = cells[(cells > low) & (cells <= high)]
        has_bounds = "bounds" not in column.open_parts
        # Declared bounds are often top codes, values that many records have.
        ends = [low, low + 1, high, high + 1] if has_bounds else [low, high + 1]
        coarse_edges = np.union1d(inside, ends).astype(np.int64)
        likely = order.likely_point(grid.decimals)
        if exponent is None:
            largest = None
        else:
            largest = int(min(2.0**exponent * 10.0**grid.decimals, float(octaves()[-1])))
        return cls(
            column=column,
            order=order,
            grid=grid,
            coarse_edges=coarse_edges,
            has_bounds=has_bounds,
            likely=likely,
            largest=largest,
        )

    @property
    def is_calendar(self) -> bool:
        """Whether the coarse_edges are decades, of equal length, rather than powers of two."""
        return self.order.has_even_cells

    def asked(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where cells begin, as they are counted: then infinite numbers, where these have a cell."""
        starts = starts * self.points_each
        return np.append(starts, INFINITE) if self.grid.has_infinite else starts

    def values(self, points: NDArray[np.int64] | list[int]) -> list[Any]:
        """The values at grid points, as a schema holds them: integers, floats, or dates by the
        field's format.
        """
        integers = np.asarray(points, dtype=np.int64)
        return self.order.written_points(integers, self.grid.decimals)

    def edges(self, points: NDArray[np.int64] | list[int]) -> list[Any]:
        """Where bins begin whose first grid points these are, as a schema holds them.

        That is the value of the point, but for numbers of more decimals than the grid has: on a
        grid so fine each is as near to a point as to be taken for it, 8/3 for 2.6666666666667, from
        half a point below on.
        """
        integers = np.asarray(points, dtype=np.int64)
        values = self.values(integers)
        if not self.column.has_decimals or self.grid.decimals <= 0:
            return values
        halves = self.order.written_points(10 * integers - 5, self.grid.decimals + 1)
        are_near = np.abs(integers) * NEAR >= 0.5
        return [
            half if is_near else value
            for value, half, is_near in zip(values, halves, are_near.tolist(), strict=True)
        ]

    def length(self, points: float) -> str:
        """So many grid points as a reader would say it: a number of two digits, or days, months,
        ...
        """
        resolution = self.column.resolution
        size = float(f"{max(points, 1.0) * 10.0**-self.grid.decimals:.2g}")
        if resolution is None:
            return f"{size:g}"
        return f"{size:g} {resolution}" + ("" if size == 1 else "s")
