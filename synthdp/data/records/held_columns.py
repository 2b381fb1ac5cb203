"""Held columns: the values of one open column, kept until its domain is known, in the least form
that suffices.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, NoReturn, Self, TypeAlias, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.core.grid import INFINITE, READ, UNREAD, Grid
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.records.row_groups import RowGroups
from synthdp.data.records.row_pieces import RowPieces
from synthdp.data.records.vocabulary import NO_KEY, Vocabulary
from synthdp.schema.axes.axis import Axis
from synthdp.schema.axes.points import are_unread, decimals_of, exponents_of, steps_of
from synthdp.schema.columns.column import Column, code_dtype
from synthdp.schema.columns.reading import (
    are_infinite,
    canonical_text,
    distinct,
    is_missing,
    plain_text,
    texts_of,
)
from synthdp.schema.open_column import OpenColumn
from synthdp.schema.words.texts import is_writable

RawKey: TypeAlias = str | float | tuple[()]
"""What tells values of a string column apart: a text, a whole float (two texts), or () for foreign
objects.
"""

FOREIGN: RawKey = ()
"""Key of every object that is neither text nor number nor truth value: no level can be one."""


@final
class HeldFrequencies(Sensitive):
    """Values of a column that occur and are not missing, and how often each does.

    Parameters
    ----------
    listed
        Texts by code point, or grid points, ascending; never in the order of the rows. Texts that
        no file can hold are left out.
    n_rows
        Above 0; int64, one each, and behind them that of missing values.
    """

    __slots__ = ("_listed", "_n_missing", "_n_rows")

    def __init__(self, listed: list[str] | NDArray[np.int64], n_rows: NDArray[np.int64]) -> None:
        self._listed, self._n_rows, self._n_missing = listed, n_rows[:-1], int(n_rows[-1])

    def missing(self) -> int:
        """How often a value is missing."""
        return self._n_missing

    def counts(self) -> list[NDArray[np.int64]]:
        """How often each value occurs, in one block."""
        return [self._n_rows]

    def values(self, places: NDArray[np.int64]) -> list[str] | NDArray[np.int64]:
        """The values at some places."""
        listed = self._listed
        if isinstance(listed, list):
            return [listed[place] for place in places.tolist()]
        return listed[places]


class HeldColumn(ABC):
    """The values of one open column; ``rows`` has a number for each row."""

    def __init__(self, column: OpenColumn, rows: RowPieces) -> None:
        self.column = column
        self.rows = rows

    def of_rows(self, rows: NDArray[np.integer[Any]]) -> Self:
        """The values of some rows, in their order; which may be taken is for the caller to say."""
        some = copy(self)
        numbers = self.rows.joined()
        some.rows = RowPieces(numbers.dtype)
        some.rows.add(numbers[rows])
        return some

    def _counts(
        self, places: NDArray[np.integer[Any]], n_places: int, groups: RowGroups | None = None
    ) -> NDArray[np.int64]:
        """How many rows are at each place, where each has one or, if it is negative, none; or how
        much groups of rows weigh there.
        """
        if groups is not None:
            return groups.counts(places, n_places)
        return np.bincount(places[places >= 0], minlength=n_places).astype(np.int64)

    @abstractmethod
    def add(self, values: pd.Series) -> None:
        """Hold the values of a chunk of rows; total, as encoding is."""

    def histogram(
        self, grid: Grid, starts: NDArray[np.int64], groups: RowGroups | None = None
    ) -> NDArray[np.int64]:
        """Counts of cells, of rows or of groups of them; see `HeldSource`."""
        cells, n_cells = self._cells(grid, starts), len(starts) + 2
        return self._counts(cells, n_cells) if groups is None else groups.shares(cells, n_cells)

    @abstractmethod
    def _cells(self, grid: Grid, starts: NDArray[np.int64]) -> NDArray[np.integer[Any]]:
        """The cell that each row is in: missing, below the first start, from each start to the
        next, at or above the last; without starts missing, the rest. Negative for none.
        """

    @abstractmethod
    def frequencies(self, grid: Grid, groups: RowGroups | None = None) -> HeldFrequencies:
        """Counts of values, of rows or of groups of them; see `HeldSource`."""

    @abstractmethod
    def codes(self, column: Column) -> NDArray[Any]:
        """The codes that a closed column gives the values."""

    def _refuse(self, problem: str) -> NoReturn:
        raise ParameterError(f"column {self.column.name!r} of type {self.column.type!r}: {problem}")

    def _check_plain(self, grid: Grid) -> None:
        if grid.of != "values" or grid.decimals:
            self._refuse(
                "its values have no decimals and no exponents; give a grid of 'values' without decimals"
            )


@final
class HeldTexts(HeldColumn):
    """A string column: its distinct texts, and for each row the number of its text."""

    def __init__(self, column: OpenColumn) -> None:
        self._vocabulary: Vocabulary[RawKey] = Vocabulary(_raw_key, unreadable=FOREIGN)
        self._missing = frozenset(map(plain_text, column.missing_values))
        super().__init__(column, self._vocabulary.rows)

    def add(self, values: pd.Series) -> None:
        """Hold the values of a chunk of rows."""
        self._vocabulary.add(values)

    def _is_missing(self, key: RawKey) -> bool:
        return not self._missing.isdisjoint(map(plain_text, texts_of(key)))

    def _cells(self, grid: Grid, starts: NDArray[np.int64]) -> NDArray[np.integer[Any]]:
        self._check_plain(grid)
        if len(starts):
            self._refuse("texts have no order to be counted in; give no starts")
        numbers = self.rows.joined()
        keys = self._vocabulary.keys
        # The extra entry answers for -1, the number of rows without a key.
        # NO_KEY is the last.
        missing = np.append(np.fromiter(map(self._is_missing, keys), np.bool_, len(keys)), True)
        return np.asarray(1 - missing[numbers])

    def frequencies(self, grid: Grid, groups: RowGroups | None = None) -> HeldFrequencies:
        """Counts of texts, without white space around them, by code point.

        Texts that no UTF-8 file can hold, and foreign objects, are left out: they are no levels.
        """
        self._check_plain(grid)
        numbers = self.rows.joined()
        keys = self._vocabulary.keys
        text_of: dict[int, str] = {}
        missing = [NO_KEY]
        # Categories of a categorical dtype may belong to no row; to release them would need no
        # noise, and would be a leak.
        for number in np.unique(numbers[numbers != NO_KEY]).tolist():
            text = canonical_text(keys[number])
            if self._is_missing(keys[number]):
                missing.append(number)
            elif text is not None and is_writable(text):
                text_of[number] = text
        # By code point: the order in which texts came is the order of the records.
        texts = sorted({*text_of.values()})
        place_of = {text: place for place, text in enumerate(texts)}
        # Several keys may be one text. The last entry answers for `NO_KEY`.
        places = np.full(len(keys) + 1, -1)
        places[[*text_of]] = [place_of[text] for text in text_of.values()]
        places[missing] = len(texts)
        return HeldFrequencies(texts, self._counts(places[numbers], len(texts) + 1, groups))

    def codes(self, column: Column) -> NDArray[Any]:
        """The codes that a closed column gives the values."""
        values = np.empty(len(self._vocabulary.keys), dtype=object)
        values[:] = self._vocabulary.keys
        codes = np.append(
            column.encode(pd.Series(values, dtype=object)),
            np.array([column.missing_code], column.dtype),
        )
        return np.asarray(codes[self.rows.joined()])


def _raw_key(value: object) -> RawKey | None:
    """A value up to what no string column tells apart; None if it is missing whatever the column
    is.
    """
    if type(value) is str:
        return value
    if is_missing(value):
        return None
    texts = list(texts_of(value))
    if len(texts) > 1:
        return float(value)  # type: ignore[arg-type]
    return texts[0] if texts else FOREIGN


class _HeldPoints(HeldColumn):
    """A column whose values lie on a grid."""

    @abstractmethod
    def _points(self, grid: Grid) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The points of all values that are not missing, and which those are."""

    def _cells(self, grid: Grid, starts: NDArray[np.int64]) -> NDArray[np.integer[Any]]:
        points, present = self._points(grid)
        cells = np.zeros(len(present), dtype=np.intp)
        # Cell 0 is for missing values. Each row is in one cell, whatever its value.
        cells[present] = 1 + np.searchsorted(starts, points, side="right")
        return cells

    def frequencies(self, grid: Grid, groups: RowGroups | None = None) -> HeldFrequencies:
        """Counts of grid points, ascending."""
        points, present = self._points(grid)
        # Ascending by value, never by first occurrence.
        values, of_values = np.unique(points, return_inverse=True)
        places = np.full(len(present), len(values))
        places[present] = of_values
        return HeldFrequencies(values, self._counts(places, len(values) + 1, groups))


@final
class HeldNumbers(_HeldPoints):
    """A column of numbers or dates: floats on the scale that values are read on, NaN where missing."""

    def __init__(self, column: OpenColumn, axis: Axis) -> None:
        super().__init__(column, RowPieces(np.float64))
        self._axis = axis

    def add(self, values: pd.Series) -> None:
        """Hold the values of a chunk of rows."""
        self.rows.add(self._axis.read_numbers(values))

    def _points(self, grid: Grid) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        if grid.of == "steps":
            plain = replace(grid, of="values", has_infinite=False)
            points, is_number = self._points(plain)
            return steps_of(points, self.column.round_steps), is_number
        numbers = self.rows.joined()
        is_number = ~np.isnan(numbers)
        if grid.of == "reading":
            return is_number[is_number | are_unread(numbers)].astype(
                np.int64
            ), is_number | are_unread(numbers)
        present = numbers[is_number]
        if self._axis.most_decimals is not None and grid.of != "values":
            return (decimals_of if grid.of == "decimals" else exponents_of)(present), is_number
        if self._axis.most_decimals is None:
            self._check_plain(grid)
        points = self._axis.grid_points(present, grid.decimals)
        if grid.has_infinite and (is_infinite := are_infinite(numbers)).any():
            # Still one point a record, or none: the cell of infinite ones is apart from all others.
            all_points = np.full(len(numbers), INFINITE)
            all_points[is_number] = points
            is_number = is_number | is_infinite
            points = all_points[is_number]
        return points, is_number

    def codes(self, column: Column) -> NDArray[Any]:
        """The codes that a closed column, or a part of a date, gives the values."""
        return column.codes_of_numbers(self.rows.joined())


@final
class HeldLevels(_HeldPoints):
    """A column of declared levels of which only "missing" is open: codes with "missing" and unread
    values apart.

    Of truth values it is held as well how they are spelt, as further such codes.
    """

    def __init__(self, column: OpenColumn) -> None:
        self._reader = column.template.with_unread_place()
        self._dtype = code_dtype(self._reader.size * max(len(self._reader.spellings), 1))
        super().__init__(column, RowPieces(self._dtype))

    def add(self, values: pd.Series) -> None:
        """Hold the values of a chunk of rows."""
        reader = self._reader
        unique, positions = distinct(values)
        codes = reader.codes_of(unique).astype(self._dtype)
        # Two facts in one integer, so that a row is still one number.
        codes += (reader.spellings_of(unique) * reader.size).astype(self._dtype)
        self.rows.add(codes if positions is None else codes[positions])

    def _points(self, grid: Grid) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        reader = self._reader
        spellings, codes = np.divmod(self.rows.joined(), reader.size)
        is_level = codes < reader.n_levels
        if grid.of == "reading":
            is_there = is_level | ((codes == reader.unread_code) & reader.has_unread_place)
            return np.where(is_level, READ + spellings.astype(np.int64), UNREAD)[is_there], is_there
        self._check_plain(grid)
        return codes[is_level].astype(np.int64), is_level

    def codes(self, column: Column) -> NDArray[Any]:
        """The codes that a closed column gives the values."""
        reader = self._reader
        levels = np.arange(reader.size)
        levels[reader.missing_code] = column.missing_code
        levels[reader.unread_code] = column.unread_code
        return np.asarray(levels.astype(column.dtype)[self.rows.joined() % reader.size])


def held_column(column: OpenColumn) -> HeldColumn:
    """The way of holding an open column that suits it."""
    if "levels" in column.open_parts:
        return HeldTexts(column)
    axis = column.template.axis
    return HeldLevels(column) if axis is None else HeldNumbers(column, axis)


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

    def histogram(
        self, grid: Grid, starts: NDArray[np.int64], groups: RowGroups | None = None
    ) -> NDArray[np.int64]:
        """Number of records in public cells of one column's grid points.

        Parameters
        ----------
        grid
            The column, and which integer stands for a value.
        starts
            First points of the cells, increasing; shape ``(n,)``. None for a column of texts.
        groups
            Groups of rows, if their shares of each cell are wanted in place of rows.

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
        return self._column(grid).histogram(grid, np.asarray(starts, dtype=np.int64), groups)

    shared_histogram = histogram  # a record is one row

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
