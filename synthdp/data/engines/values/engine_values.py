"""Values of single columns of a table in an engine, for the kernel to learn a domain from: counts
come here, no value.

A column is grouped once by what stands for its values, and that is kept in the engine. Of it come
here how many rows lie in public cells; how many values occur how often, a line for each number of
rows; and then those values alone whose counts passed with their noise.
"""

from collections.abc import Mapping
from functools import partial
from typing import final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError, SourceError
from synthdp.core.grid import READ, UNREAD, Grid
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.engines.engine_frame import EngineColumn, EngineFrame, Total
from synthdp.data.engines.engines import BEHIND_IBIS
from synthdp.data.engines.keeping import LazyRows, forget_with, kept
from synthdp.data.engines.values.edges import N_EDGES, most_edges, with_n_edges
from synthdp.data.engines.values.engine_frequencies import N_ROWS, WHAT, EngineFrequencies
from synthdp.data.engines.values.grid_points import (
    MISSING,
    UNBOUNDED,
    UNREADABLE,
    VALUE,
    Form,
    form_of,
    in_place_of_missing,
    is_infinite,
    is_missing,
    is_unread,
    points_of,
    spelling_of,
    standing_for,
)
from synthdp.data.engines.values.spellings import with_composed, with_utc
from synthdp.data.records.held_columns import HeldColumn, held_column
from synthdp.schema.asked_grids import TRIED, grids_asked
from synthdp.schema.open_column import OpenColumn

_CELL = "cell"


@final
class EngineValues(Sensitive):
    """Exact counts of the values of single open columns. Only the privacy kernel may ask it.

    It holds no value: what stands for a column's values, and how often each occurs, is kept in the
    engine until nobody has this object any more.

    Parameters
    ----------
    frame
        The rows.
    columns
        The open columns, by their names.
    is_by_unit
        Whether these are one row of each person, and no more.
    """

    __slots__ = ("__weakref__", "_columns", "_frame", "_kept", "_total", "is_by_unit")

    def __init__(
        self, frame: EngineFrame, columns: Mapping[str, OpenColumn], *, is_by_unit: bool = False
    ) -> None:
        self._frame = frame
        self.is_by_unit = is_by_unit
        self._columns = dict(columns)
        self._kept: dict[str, LazyRows] = {}
        self._total = Total(frame.engine)

    def prepare(self) -> None:
        """Work out what stands for the values of all columns; what an engine cannot do, or read,
        fails here.

        To be called before anything is paid. An engine that nothing is known of is asked all kinds
        of questions as well, and its answers are dropped. Raises `SourceError` as `histogram` does.
        """
        for name, column in self._columns.items():
            # Whatever an engine cannot read fails here, before anything is paid.
            rows = self._rows(Grid(column=name))
            for grid in grids_asked(column) if self._frame.engine in BEHIND_IBIS else ():
                self._frame.collected(partial(self._cells, rows, grid, TRIED, 0, len(TRIED)), WHAT)

    def histogram(self, grid: Grid, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of records in public cells of one column's grid points; as `HeldSource.histogram`.

        Raises `ParameterError` as that does, and `SourceError` if the engine fails.
        """
        cells = self._column(grid).histogram(grid, starts)  # all 0
        starts = starts[:-1] if grid.has_infinite else starts  # the last cell is that of `INFINITE`
        rows = self._rows(grid)
        most = most_edges(self._frame.engine)
        for first in range(0, max(len(starts), 1), most):
            counted = self._frame.counted(
                partial(self._cells, rows, grid, starts, first, first + most), WHAT
            )
            if counted[_CELL].size and int(counted[_CELL].max()) >= cells.size:
                raise SourceError(
                    f"{self._frame.engine}: it counts in a cell that there is not; do not count by it"
                )
            # Several queries of some edges each; each record is counted by one of them.
            np.add.at(cells, counted[_CELL], counted[N_ROWS])
        self._total.check(int(cells.sum()))
        return cells

    def _cells(
        self, rows: LazyRows, grid: Grid, starts: NDArray[np.int64], first: int, stop: int
    ) -> LazyRows:
        """How many rows there are in each cell of some starts, as far as one query goes; before the
        first, missing, and after the last, where they have a cell, infinite ones.
        """
        if grid.of == "reading":
            read = READ + spelling_of(self._columns[grid.column], self._frame.columns[grid.column])
            how = nw.when(nw.col(MISSING) == 0).then(nw.lit(read)).otherwise(nw.lit(UNREAD))
            rows = rows.select(
                how.alias(VALUE), (nw.col(MISSING) % UNREADABLE).alias(MISSING), N_ROWS
            )
        is_missing_here, point = nw.col(MISSING) > 0, nw.col(VALUE)
        edges = starts[first:stop].tolist()
        if edges and grid.of != "reading":
            rows = self._points(rows, grid)
        # Many edges are asked for in several queries, each for its own stretch of points; the first
        # one also counts what is missing and what is below.
        if first:
            rows = rows.filter(~is_missing_here & (point >= edges[0]))
        for after in starts[stop : stop + 1].tolist():
            rows = rows.filter(is_missing_here | (point < after))
        if edges:
            rows = with_n_edges(self._frame.engine, rows, VALUE, edges)
        # Each row is in one cell: whether its number is infinite, its own value says.
        is_apart = (nw.col(MISSING) == UNBOUNDED) & nw.lit(grid.has_infinite)
        cell = (
            nw.when(is_apart)
            .then(nw.lit(len(starts) + 2))
            .when(is_missing_here)
            .then(nw.lit(0))
            .otherwise(1 + first + nw.col(N_EDGES) if edges else nw.lit(1))
        )
        return _summed(rows.select(cell.cast(nw.Int64).alias(_CELL), N_ROWS), _CELL)

    shared_histogram = histogram  # a record is one row

    def most_values(self, grid: Grid) -> int:  # noqa: ARG002
        """1: a record has one value in a column, or none."""
        return 1

    def frequencies(self, grid: Grid) -> EngineFrequencies:
        """All values of one column and how often each occurs; as `HeldSource.frequencies`; raises
        as `histogram`.
        """
        self._column(grid).frequencies(grid)
        rows = self._rows(grid)
        form = self._form(grid)
        held = self._frame.columns[grid.column]

        def values() -> LazyRows:
            cells = self._points(rows, grid).filter(nw.col(MISSING) == 0).select(VALUE, N_ROWS)
            if form == "text" and self._frame.engine != "postgres":  # which has none
                # No file can hold it.
                cells = cells.filter(~nw.col(VALUE).str.contains("\0", literal=True))
            return _of_63_bits(cells, held) if form == "raw" and held.family == "integer" else cells

        n_missing = int(self.histogram(grid, np.empty(0, dtype=np.int64))[0])
        return EngineFrequencies(self._frame, values, self._columns[grid.column], form, n_missing)

    def _column(self, grid: Grid) -> HeldColumn:
        """The column as it is held in memory, without rows: it refuses what cannot be asked."""
        if grid.column not in self._columns:
            raise ParameterError(
                f"grid: there is no open column {grid.column!r}; name one that the schema leaves open"
            )
        return held_column(self._columns[grid.column])

    def _form(self, grid: Grid) -> Form:
        return form_of(self._columns[grid.column], self._frame.columns[grid.column])

    def _rows(self, grid: Grid) -> LazyRows:
        """What stands for the values of a column, and how many rows have each, kept."""
        if grid.column not in self._kept:
            rows, forget = kept(
                self._frame, lambda: self._standing(self._columns[grid.column]), WHAT
            )
            forget_with(self, forget)
            self._kept[grid.column] = rows
        return self._kept[grid.column]

    def _standing(self, column: OpenColumn) -> LazyRows:
        held = self._frame.columns[column.name]
        engine = self._frame.engine
        form = form_of(column, held)
        # Grouped before anything is read: a value that a million rows share is read once.
        rows = self._frame.rows.select(held.alias).group_by(held.alias).agg(nw.len().alias(N_ROWS))
        if form == "text":
            rows = with_composed(engine, rows, held.alias)
        # Moments with a zone are compared in UTC: in the zone of a session one moment could be two
        # values.
        if form == "unit" and held.has_zone and engine != "polars":
            rows = with_utc(engine, rows, held.alias)
        missing = nw.col(MISSING) > 0
        gap = (
            nw.when(is_infinite(column, held))
            .then(nw.lit(UNBOUNDED))
            .when(is_unread(column, held))
            .then(nw.lit(UNREADABLE))
            .otherwise(nw.lit(1))
        )
        rows = rows.with_columns(
            nw.when(is_missing(column, held)).then(gap).otherwise(nw.lit(0)).alias(MISSING)
        )
        value = (
            nw.when(missing)
            .then(nw.lit(in_place_of_missing(form, held)))
            .otherwise(standing_for(column, held))
        )
        return _summed(rows.select(MISSING, value.alias(VALUE), N_ROWS), MISSING, VALUE)

    def _points(self, rows: LazyRows, grid: Grid) -> LazyRows:
        """The same of its points of a grid."""
        for point in points_of(self._columns[grid.column], grid, self._form(grid)):
            rows = _summed(rows.select(MISSING, point.alias(VALUE), N_ROWS), MISSING, VALUE)
        return rows


def _of_63_bits(rows: LazyRows, held: EngineColumn) -> LazyRows:
    """Those of whole numbers that can be levels, which are looked up in 63 bits and a sign."""
    most = 2**63 - 1
    held_ones = held.whole_numbers
    value = nw.col(VALUE)
    rows = rows.filter(value >= max(held_ones[0], -most), value <= min(held_ones[-1], most))
    return rows.with_columns(value.cast(nw.Int64))


def _summed(rows: LazyRows, *keys: str) -> LazyRows:
    """Rows that agree in some columns as one."""
    return rows.group_by(list(keys)).agg(nw.col(N_ROWS).sum().cast(nw.Int64))
