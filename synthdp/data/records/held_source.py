"""Exact counts of the values of open columns, of which each row is a record."""

from collections.abc import Mapping
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.core.grid import Grid
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.records.held_columns import HeldColumn, HeldFrequencies
from synthdp.data.records.row_groups import RowGroups


@final
class HeldSource(Sensitive):
    """Exact counts of the values of single open columns. Only the privacy kernel may ask it.

    A record has one value in a column, or none: it is in one cell of a histogram, and counted
    for at most one value. It shows nothing else: no rows, no length, no text; it is not pickled
    or copied.
    """

    __slots__ = ("_columns",)

    is_by_unit: ClassVar[bool] = False

    def __init__(self, columns: Mapping[str, HeldColumn]) -> None:
        self._columns = dict(columns)

    def histogram(self, grid: Grid, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of records in public cells of one column's grid points.

        Parameters
        ----------
        grid
            The column, and which integer stands for a value.
        starts
            First points of the cells, increasing; shape ``(n,)``. None for a column of texts.

        Returns
        -------
        numpy.ndarray
            Counts of: missing, below ``starts[0]``, from each start to the next, at or above the
            last; without starts: missing, the rest. int64, shape ``(n + 2,)``.

        Raises
        ------
        ParameterError
            If the column is not open, or its values do not lie on such a grid.
        """
        return self._column(grid).histogram(grid, np.asarray(starts, dtype=np.int64))

    def most_values(self, grid: Grid) -> int:  # noqa: ARG002
        """1: a record has one value in a column, or none."""
        return 1

    def frequencies(self, grid: Grid, groups: RowGroups | None = None) -> HeldFrequencies:
        """All values that occur in one column and are not missing, and how often each does; or how
        much groups of rows weigh there, if these are given.

        Raises
        ------
        ParameterError
            If the column is not open, or its values do not lie on such a grid.
        """
        return self._column(grid).frequencies(grid, groups)

    def _column(self, grid: Grid) -> HeldColumn:
        if grid.column not in self._columns:
            raise ParameterError(
                f"grid: there is no open column {grid.column!r}; name one that the schema leaves open"
            )
        return self._columns[grid.column]
