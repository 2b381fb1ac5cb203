"""Axes: the grid of integers that a column's values lie on, and where to begin looking for them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.grid import Grid
from synthdp.schema.axes.points import decimal_points
from synthdp.schema.columns.calendar import Resolution, start_of, unit_of
from synthdp.schema.columns.numeric import value_at
from synthdp.schema.open_column import FIRST_YEAR, LAST_YEAR, OpenColumn

OCTAVES = 61
"""Powers of two that grid points may reach on either side of 0: 2^61 leaves int64 room for a
difference.
"""

LIKELY_NUMBER, LIKELY_YEAR, LIKELY_SECOND = 10, 2000, 946_684_800
"""Where to look if nothing stands out: it must be somewhere, and public."""

MAX_POWER = 12
"""Of ten: the likely number times this power still fits a grid point; finer grids are for numbers
below 1000.
"""

YEARS_A_CELL = 10
"""Years of the cells in which dates are looked for first: a thousand cells cover all dates."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Axis:
    """The grid of one column of numbers or dates.

    Parameters
    ----------
    column
        The column.
    grid
        Which integer stands for a value.
    roots
        First grid points of the public cells in which values are looked for first, then the end.
    has_bounds
        Whether the outermost roots are declared bounds.
    likely
        A grid point that values are often near to: 10, or the year 2000.
    largest
        About the largest distance from 0 that values have, in grid points; None if that is not
        known.
    """

    column: OpenColumn
    grid: Grid
    roots: NDArray[np.int64]
    has_bounds: bool
    likely: int
    largest: int | None = None

    @classmethod
    def of(cls, column: OpenColumn, *, decimals: int = 0, exponent: int | None = None) -> "Axis":
        """The axis of a column.

        Parameters
        ----------
        column
            The column.
        decimals, exponent
            Of a number column: how fine its grid is, and the exponent of two of its largest values
            if it is known.
        """
        cells = _cells(column)
        grid = Grid(column=column.name, decimals=decimals if column.type == "number" else 0)
        limits = column.point_limits(grid)
        assert limits is not None  # columns of texts have no axis
        low, high = limits
        match column.bounds:
            case float(
                lowest
            ), float():  # values that are written lie at or above it, so none on the point below
                low = min(-int(decimal_points(np.array([-lowest]), grid.decimals)[0]), high)
        inside = cells[(cells > low) & (cells <= high)]
        roots = np.concatenate([[low], inside, [high + 1]]).astype(np.int64)
        likely = _likely_point(column, grid)
        largest = (
            None
            if exponent is None
            else int(min(2.0**exponent * 10.0**grid.decimals, float(octaves()[-1])))
        )
        return cls(
            column=column,
            grid=grid,
            roots=roots,
            has_bounds="bounds" not in column.open_parts,
            likely=likely,
            largest=largest,
        )

    @property
    def is_calendar(self) -> bool:
        """Whether the roots are decades, of equal length, rather than powers of two."""
        return self.column.resolution is not None or self.column.type == "year"

    def values(self, points: NDArray[np.int64] | list[int]) -> list[Any]:
        """The values at grid points, as a schema holds them: integers, floats, or dates by the
        field's format.
        """
        integers = np.asarray(points, dtype=np.int64)
        resolution = self.column.resolution
        if resolution is not None:
            moments: list[datetime] = (
                start_of(integers, resolution).astype("datetime64[s]").tolist()
            )
            pattern = self.column.declared.get("format") or "default"
            return [_written(moment, pattern.removeprefix("fmt:")) for moment in moments]
        if self.column.type == "number":
            return list(value_at(integers, self.grid.decimals).tolist())
        return list(integers.tolist())

    def length(self, points: float) -> str:
        """So many grid points as a reader would say it: a number of two digits, or days, months,
        ...
        """
        resolution = self.column.resolution
        size = float(f"{max(points, 1.0) * 10.0**-self.grid.decimals:.2g}")
        if resolution is None:
            return f"{size:g}"
        return f"{size:g} {resolution}" + ("" if size == 1 else "s")


def _likely_point(column: OpenColumn, grid: Grid) -> int:
    if column.resolution is not None:
        return int(unit_of(np.array([LIKELY_SECOND]), column.resolution)[0])
    if column.type == "year":
        return LIKELY_YEAR
    # Numbers with many decimals are measured ones, whose grid was fitted to them.
    return min(int(LIKELY_NUMBER * 10 ** min(max(grid.decimals, 0), MAX_POWER)), int(octaves()[-1]))


def _written(moment: datetime, pattern: str) -> str:
    return (
        moment.isoformat().removesuffix("T00:00:00")
        if pattern == "default"
        else moment.strftime(pattern)
    )


def _cells(column: OpenColumn) -> NDArray[np.int64]:
    if column.resolution is not None:
        return decades(column.resolution)
    return np.arange(0, LAST_YEAR, YEARS_A_CELL) if column.type == "year" else octaves()


def octaves() -> NDArray[np.int64]:
    """Where the cells of a logarithmic grid begin: ``.. -7, -3, -1, 0, 1, 2, 4 ..``.

    0 has a cell of its own, and so have 1 and -1; then come 2 and 3, 4 to 7, and the same below 0.
    """
    powers = 2 ** np.arange(OCTAVES, dtype=np.int64)
    return np.concatenate([1 - 2 * powers[::-1], [0], powers])


def decades(resolution: Resolution) -> NDArray[np.int64]:
    """The first unit of resolution of each decade of the years 1 to 9999."""
    years = np.array([FIRST_YEAR, *range(YEARS_A_CELL, LAST_YEAR, YEARS_A_CELL)]) - 1970
    seconds = years.astype("datetime64[Y]").astype("datetime64[s]").astype(np.int64)
    return np.unique(unit_of(seconds, resolution))
