"""Relative columns: the model holds how far a column of a table is from another one of its row.

A stay ends some days after it begins. Two columns of dates say so only if both are measured day by
day; one of dates and one of days say it at once. A value becomes its distance when a table is read,
and is made of the other column's value when one is drawn: between the two it is a number like any
other, with bounds and bins of its own. The distance of a row is a function of two of its values,
and of nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.axes.axis import Axis
from synthdp.schema.axes.points import LARGEST, are_unread
from synthdp.schema.columns.binned import BinnedColumn
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.described import Reading
from synthdp.schema.words.grid_intervals import Ints

_UNREAD = "unread"
"""What stands for a distance of which one end could not be read: no number."""

_DIGITS = 9
"""Decimals to which distances of numbers are rounded: 0.3 - 0.1 is to be 0.2."""

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, kw_only=True)
class RelativeColumn:
    """A column whose model is its distance from another column, or its ratio to it."""

    own: BinnedColumn
    """Reads and writes its values; its bounds are the widest that the type has."""
    other: BinnedColumn
    """Reads those of the other column."""
    is_ratio: bool
    """Whether a distance is the one divided by the other, rather than the difference."""
    declared: Mapping[str, Any] = field(hash=False)
    """Its field in the schema, without what is said of the distance."""
    settings: Mapping[str, Any] = field(hash=False)
    """What stands there under ``synthdp`` beside that."""

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.own.name

    @property
    def axis(self) -> Axis:
        """The order of its values."""
        return self.own

    @property
    def unit(self) -> str:
        """What distances count, in the plural."""
        if self.is_ratio:
            return f"times {self.other.name!r}"
        resolution = self.axis.resolution
        if resolution:
            return f"{resolution}s after {self.other.name!r}"
        return f"more than {self.other.name!r}"

    def distances(self, own: pd.Series, other: pd.Series) -> pd.Series:
        """How far the values of a column are from the other's, row by row.

        Total, as all reading is. A distance is missing where one of the two is, and unread where
        one is, or where the ratio is infinite.
        """
        # Division by 0 and what overflows become an infinity or NaN, which is unread below; a
        # warning would tell that there is such a row.
        mine = self.axis.read_numbers(own)
        others = self.other.read_numbers(other)
        with np.errstate(all="ignore"):
            if self.is_ratio:
                distances = mine / others
            elif self.axis.resolution is None:
                distances = np.round(mine - others, _DIGITS)
            else:
                is_known = np.isfinite(mine) & np.isfinite(others)
                ends = [self._units(np.where(is_known, each, 0.0)) for each in (mine, others)]
                distances = np.where(is_known, ends[0] - ends[1], np.nan)
            is_number = np.isfinite(mine) & np.isfinite(others) & (np.abs(distances) <= LARGEST)
        is_unread = are_unread(mine) | are_unread(others)
        is_unread |= np.isfinite(mine) & np.isfinite(others) & ~is_number
        numbers = np.where(is_number, distances, np.nan)
        if not is_unread.any():
            return pd.Series(numbers, index=own.index)
        values = numbers.astype(object)
        values[is_unread] = _UNREAD
        return pd.Series(values, index=own.index, dtype=object)

    def numbers(self, distances: Floats, others: Floats) -> Floats:
        """The values at some distances from the other column's, on its scale; NaN where either is.

        They are the nearest ones that the column can hold.
        """
        if self.is_ratio:
            return np.clip(distances * others, -LARGEST, LARGEST)
        if self.axis.resolution is None:
            return np.clip(distances + others, -LARGEST, LARGEST)
        is_known = ~(np.isnan(distances) | np.isnan(others))
        units = self._units(np.where(is_known, others, 0.0))
        units += np.where(is_known, distances, 0.0).astype(np.int64)
        return np.where(is_known, self.axis.at(units).astype(np.float64), np.nan)

    def writer(self, modelled: Column, *, may_be_missing: bool) -> "RelativeColumn":
        """What writes values, where the model has learnt how many decimals they have and whether
        any is missing.

        Parameters
        ----------
        modelled
            The column of distances.
        may_be_missing
            Whether the other column may be.
        """
        own = self.own
        distance = modelled.axis
        assert distance is not None
        most = self.axis.most_decimals
        if most is not None and not self.is_ratio and distance.decimals is not None:
            plain = own.with_missing(("",), required=False)
            own = plain.with_decimals(min(distance.decimals, most))
        required = modelled.required and not may_be_missing
        own = own.with_missing(self.own.missing_values, required=required)
        return replace(self, own=own)

    def points(self, numbers: Floats) -> tuple[Ints, NDArray[np.bool_]]:
        """The grid points of values on the scale, and which are missing: NaN."""
        missing = np.isnan(numbers)
        known = np.where(missing, 0.0, numbers)
        if self.axis.resolution is not None:
            return self._units(known), missing
        decimals = self.axis.decimals or 0
        rounded: Floats = np.asarray(np.round(known, decimals), dtype=np.float64)
        return self.axis.grid_points(rounded, decimals), missing

    def _units(self, seconds: Floats) -> Ints:
        return self.axis.grid_points(seconds, 0)

    @property
    def reading(self) -> Reading:
        """How the column is read, with one example."""
        own = self.own.reading
        note = f"modelled as {self.unit}"
        note += f"; missing where {self.other.name!r} is" + (f"; {own.note}" if own.note else "")
        return Reading(what=own.what, fits=own.fits, written=own.written, note=note)
