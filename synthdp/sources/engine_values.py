"""Values of single columns of a table in an engine, for the kernel to learn a domain from."""

from collections.abc import Mapping
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.errors import ParameterError
from synthdp.grid import Grid
from synthdp.sources.engine_frame import EngineFrame
from synthdp.table.frames.containers import opened
from synthdp.table.frames.plain import plain_column
from synthdp.table.records.held_columns import Frequencies, HeldColumn, held_column
from synthdp.table.schema.open_column import OpenColumn
from synthdp.table.sensitive import Sensitive


@final
class EngineValues(Sensitive):
    """Exact counts of the values of single open columns. Only the privacy kernel may ask it.

    The distinct values of a column and how often each occurs come here once, by one group-by, when the column is
    first asked for, and stay in this object: the kernel adds its noise to the count of every value before
    any is let go. So a column that is learnt takes memory for its distinct values, whoever holds the rows.
    """

    __slots__ = ("_columns", "_frame", "_held")

    def __init__(self, frame: EngineFrame, columns: Mapping[str, OpenColumn]) -> None:
        self._frame = frame
        self._columns = dict(columns)
        self._held: dict[str, HeldColumn] = {}

    def histogram(self, grid: Grid, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of records in public cells of one column's grid points; as `HeldSource.histogram`.

        Raises `ParameterError` as that does, and `SourceError` if the engine fails.
        """
        return self._column(grid).histogram(grid, np.asarray(starts, dtype=np.int64))

    def frequencies(self, grid: Grid) -> Frequencies:
        """All values of one column and how often each occurs; as `HeldSource.frequencies`; raises as `histogram`."""
        return self._column(grid).frequencies(grid)

    def _column(self, grid: Grid) -> HeldColumn:
        if grid.column not in self._columns:
            raise ParameterError(f"grid: there is no open column {grid.column!r}; name one that the schema leaves open")
        if grid.column not in self._held:
            self._held[grid.column] = self._read(self._columns[grid.column])
        return self._held[grid.column]

    def _read(self, column: OpenColumn) -> HeldColumn:
        """The distinct values of a column, each with the number of its rows."""
        held = self._frame.columns[column.name]
        found = self._frame.grouped([held.alias], "counting values")
        values = opened(found.select(held.alias).to_native()).frame[held.alias]
        distinct = held_column(column)
        distinct.add(plain_column(values, column.type))
        distinct.weights = self._frame.whole_numbers(found, "n_rows")
        return distinct
