"""Values of open columns of which each unit of privacy is one record, however many rows it has: a
person, or the root of a family of linked rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.grid import Grid
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.records.held_columns import HeldColumn, HeldFrequencies, HeldSource
from synthdp.data.records.row_groups import RowGroups
from synthdp.data.records.unit_rows import UnitRows
from synthdp.privacy.values.records import MOST_ROWS
from synthdp.privacy.values.thresholds import value_weights


@final
@dataclass(frozen=True, eq=False, repr=False)
class UnitSample(Sensitive):
    """The rows of each unit by which its columns are learnt.

    Sensitivity: which rows these are is drawn by `UnitRows`, a function of the unit's own rows,
    their order, its id and a random key. So with a unit more one record is more, and no other one
    changes.
    """

    one: NDArray[np.intp]
    """Places of one row of each unit."""
    some: NDArray[np.intp]
    """Places of some rows of each, that one among them."""
    units: NDArray[np.integer[Any]]
    """The unit of each of the latter."""
    most: int
    """How many rows of a unit these are, at most."""

    @classmethod
    def drawn(cls, rows: UnitRows, *, max_rows: int) -> Self:
        """Places among all rows, of at most ``max_rows`` or `MOST_ROWS` of a unit."""
        most = min(max_rows, MOST_ROWS)
        ranks = rows.ranks()
        one, some = (np.flatnonzero(ranks < each) for each in (1, most))
        return cls(one=one, some=some, units=rows.ids.rows.joined()[some], most=most)

    def among(self, kept: NDArray[np.bool_]) -> Self:
        """The same places among rows that are kept, which these are."""
        places = np.cumsum(kept) - 1
        return replace(self, one=places[self.one], some=places[self.some])


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UnitValues(Sensitive):
    """Exact counts of the values of single open columns. Only the privacy kernel may ask it.

    A unit is in one cell of a histogram, or in none, by one of its rows; or in the cells of some
    rows. Levels are counted by some rows, whose different values share its weight.
    """

    is_by_unit: ClassVar[bool] = True

    one: HeldSource
    """One row of each unit."""
    some: HeldSource
    """Some rows of each unit, whose values share its weight."""
    groups: RowGroups
    """Of which unit each of these is."""
    n_values: Mapping[str, int]
    """For how many values of each column a unit is counted, at most."""

    @classmethod
    def of(cls, columns: Mapping[str, HeldColumn], sample: UnitSample) -> Self:
        """Those of a sample of rows: several of a unit count but where a tree counts whole records."""
        n_values = {
            name: 1 if each.column.binning == "privtree" else sample.most
            for name, each in columns.items()
        }
        one, some = (
            HeldSource(
                {name: columns[name].of_rows(rows) for name, n in n_values.items() if n >= least}
            )
            for rows, least in ((sample.one, 1), (sample.some, 2))
        )
        weights = np.array(value_weights(sample.most), dtype=np.int64)
        groups = RowGroups(sample.units, weights)
        return cls(one=one, some=some, groups=groups, n_values=n_values)

    def histogram(self, grid: Grid, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """As that of a `HeldSource`, of units."""
        return self.one.histogram(grid, starts)

    def shared_histogram(self, grid: Grid, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """As that of a `HeldSource`, of units that share themselves out among the cells of some
        rows.
        """
        if self.most_values(grid) == 1:
            return self.one.histogram(grid, starts)
        return self.some.histogram(grid, starts, self.groups)

    def most_values(self, grid: Grid) -> int:
        """For how many values a unit is counted, at most."""
        return self.n_values.get(grid.column, 1)

    def frequencies(self, grid: Grid) -> HeldFrequencies:
        """As those of a `HeldSource`; weighted where a unit may have several values."""
        if self.most_values(grid) == 1:
            return self.one.frequencies(grid)
        return self.some.frequencies(grid, self.groups)
