"""Numeric columns: integers, years and numbers, clipped to public bounds and put in bins."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.axes.bin_limits import DEFAULT_BINS, MAX_SINGLE_LEVELS
from synthdp.schema.axes.cells import likely_number, octaves
from synthdp.schema.axes.points import MAX_NUMBER, SLIP, decimal_points, integer_points
from synthdp.schema.axes.years import FIRST_YEAR, LAST_YEAR, LIKELY_YEAR, YEARS_A_CELL
from synthdp.schema.columns.described import UNITS, UNWRITTEN, Reading
from synthdp.schema.columns.edges import (
    NumericColumn,
    check_bins,
    check_bound,
    default_bins,
    even_starts,
)
from synthdp.schema.columns.reading import Values
from synthdp.schema.words.heaps import Heaps
from synthdp.schema.words.texts import in_column, refuse

MAX_INTEGER = 2**53
"""Largest bound of an integer column: up to here floats hold every integer."""

USUAL_NUMBER, USUAL_YEAR = 1234, 2019
"""What examples are, as far as it lies between the bounds."""

MAX_POINTS = 10**15
"""Decimal grids end here: floats hold every number of 15 digits."""

POINTS_PER_BIN = 100
"""By default numbers are rounded to so many decimals that the narrowest bin has this many values.
"""


@final
@dataclass(frozen=True, kw_only=True)
class IntegerColumn(NumericColumn):
    """A column of whole numbers between public bounds.

    Without ``bins`` or ``edges`` there is one level for each integer if there are at most
    `MAX_SINGLE_LEVELS` of them, else `DEFAULT_BINS` bins. Decoded values are uniform over
    the integers of their bin. A number with a fraction is none of them, and is not read; nor is a
    text such as 12.000, which means twelve, or twelve thousand. See `BinnedColumn` for the rest.

    >>> column = IntegerColumn(name="age", minimum=17, maximum=90, bins=2, required=True)
    >>> column.encode(pd.Series(["17", "53.0", "54", "1e9"])).tolist()
    [0, 0, 1, 1]
    """

    type: Literal["integer", "year"] = "integer"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_bounds()
        low, high = self._bounds
        if self.edges is None:
            # The number of values, not the width: 0 to 9 are ten integers, and ten bins hold one
            # each.
            n_integers = high - low + 1
            bins = default_bins(n_integers) if self.bins is None else self.bins
            object.__setattr__(self, "bins", check_bins(self.name, bins, n_integers, "integers"))
        else:
            object.__setattr__(self, "bins", None)
        _ = self._heaps  # refuses steps that are off the grid

    @classmethod
    def _typed_as(cls, kind: str) -> dict[str, Any]:
        return {"type": kind}

    @classmethod
    def keys(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What a field can have under ``synthdp``."""
        has_width = kind == "integer" and not has_levels
        return super().keys(kind, has_levels=has_levels) + (("width",) if has_width else ())

    def _read(self, values: Values) -> NDArray[np.float64]:
        numbers = super()._read(values)
        with np.errstate(
            invalid="ignore"
        ):  # a signalling NaN of somebody's table is no reason for a word
            # A fraction in a column of integers is not rounded: nobody has said which way.
            unread = numbers != np.floor(numbers)
        if values.dtype == object:
            # 12.000 is 12 to a computer and 12,000 to half of Europe. Whoever means either would be
            # served a wrong number in silence by one of the two readings, so it is neither; a
            # declared groupChar or another type settles it.
            unread |= self._may_be_thousands(values)
        numbers[unread] = np.nan
        return numbers

    def _may_be_thousands(self, values: Values) -> NDArray[np.bool_]:
        end = f"{self.notation.decimal_char}000"
        return np.array([type(each) is str and each.endswith(end) for each in values], np.bool_)

    def _read_limits(self, values: Values) -> NDArray[np.float64]:
        # Limits of a rule or a slice may lie between two integers (age < 17.5), so they are read as
        # any numbers are.
        return super()._read(values)

    def _number(self, key: str, value: object) -> int:
        number = check_bound(self.name, key, value)
        if number != int(number) or abs(number) > MAX_INTEGER:
            refuse(self.name, f"{key} is {value!r}; give a whole number within 2**53 of zero")
        return int(number)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        low, high = self._bounds
        if self.edges is None:
            return even_starts(low, high, self.bins or 1)
        # The last bin is closed: one past the upper bound is where the next would begin.
        return np.array([*self.edges[:-1], high + 1], dtype=np.int64)

    @cached_property
    def inner_edges(self) -> NDArray[np.float64]:
        """Where one bin ends and the next begins, as floats."""
        return self._starts[1:-1].astype(np.float64)

    @property
    def _outer_edges(self) -> Sequence[int]:
        return [*self._starts[:-1].tolist(), self._bounds[1]]

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The lowest and the next integer after the highest."""
        low, high = self._bounds
        return float(low), float(high + 1)

    @cached_property
    def _heaps(self) -> Heaps | None:
        return None if self.heaping is None else self.heaping.heaps(self.name)

    def _first_points(self, values: Sequence[int]) -> NDArray[np.int64]:
        return np.array(values, dtype=np.int64)

    def at(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        """The integers themselves."""
        return points

    def _texts(self, values: NDArray[np.int64]) -> Sequence[str]:
        texts = map(str, values.tolist())
        return list(map(self.notation.written, texts) if self.notation.width else texts)

    def values_at(self, points: NDArray[np.int64], missing: NDArray[np.bool_]) -> pd.Series:
        """Integers: ``int64`` if the column is required, else pandas' ``Int64``."""
        if self.required:
            # A required column has no missing values, so it needs no mask and is what pandas itself
            # reads from a file of whole numbers.
            return pd.Series(points, dtype=np.int64)
        return pd.Series(pd.arrays.IntegerArray(points, missing))

    is_whole: ClassVar[bool] = True

    @property
    def ways_of_writing(self) -> str:
        """What a field can declare so that more values are read."""
        if self.type == "year":
            return "type"
        more = "synthdp.width for zeros in front, or type 'number' for fractions"
        return f"{super().ways_of_writing}, {more}"

    @property
    def reading(self) -> Reading:
        """How the column is read, with one example.

        >>> found = IntegerColumn(name="age", minimum=0, maximum=110).reading
        >>> found.what, found.fits, found.written
        ('whole numbers', '110', '110')
        """
        is_year = self.type == "year"
        text = self.notation.written(str(int(self._near(USUAL_YEAR if is_year else USUAL_NUMBER))))
        if self.notation.width:
            note = f"whole numbers have {self.notation.width} digits, zeros in front included"
        else:
            way_out = "" if is_year else ": declare synthdp.width, or type 'string'"
            note = f"fractions are not read, nor zeros in front, as in 007{way_out}"
        if not self.notation.bare_number:
            note += UNITS
        what = "years" if is_year else "whole numbers"
        return Reading(what=what, fits=text, written=text, note=note)

    @classmethod
    def widest_bounds(
        cls, field: Mapping[str, Any], limits: Mapping[str, Any]
    ) -> Sequence[tuple[Any, Any]]:
        """The widest bounds that a field can have."""
        return [(-MAX_INTEGER, MAX_INTEGER)]

    def grid_points(self, numbers: NDArray[np.float64], decimals: int) -> NDArray[np.int64]:
        """The integers at or below numbers."""
        return integer_points(numbers)

    def written_points(self, points: NDArray[np.int64], decimals: int) -> list[Any]:
        """The integers themselves."""
        return list(points.tolist())

    def outermost_points(self, decimals: int, limits: Mapping[str, Any] | None) -> tuple[int, int]:
        """The lowest and the highest grid point that a bound can have; of years those of dates."""
        ends = np.array(self.bounds, dtype=np.float64)
        first, last = decimal_points(ends, decimals).tolist()
        return self._as_years(first, last) if limits is not None else (first, last)

    def outermost_bounds(self, limits: Mapping[str, Any]) -> tuple[Any, Any]:
        """The lowest and the highest bound that can be learnt."""
        return self._as_years(*self.bounds)

    def _as_years(self, first: int, last: int) -> tuple[int, int]:
        return (
            (max(first, FIRST_YEAR), min(last, LAST_YEAR)) if self.type == "year" else (first, last)
        )

    @property
    def cells(self) -> NDArray[np.int64]:
        """Decades of years; cells that grow with the distance from 0 of other numbers."""
        return np.arange(0, LAST_YEAR, YEARS_A_CELL) if self.type == "year" else octaves()

    @property
    def has_even_cells(self) -> bool:
        """Whether they are decades."""
        return self.type == "year"

    def likely_point(self, decimals: int) -> int:
        """A number that values are often near to."""
        return LIKELY_YEAR if self.type == "year" else likely_number(decimals)

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        constraints = {"minimum": self.minimum, "maximum": self.maximum}
        own = self._binning() | ({"width": self.notation.width} if self.notation.width else {})
        return self._field(self.type, constraints, own, **self.notation.properties())


def value_at(points: NDArray[np.int64], decimals: int) -> NDArray[np.float64]:
    """Grid points as floats: ``points / 10**decimals``.

    >>> value_at(np.array([12, 30]), 1).tolist(), value_at(np.array([12]), -3).tolist()
    ([1.2, 3.0], [12000.0])
    """
    floats = points.astype(np.float64)
    return (
        # Division by a power of ten gives the float nearest to the decimal number (powers up to
        # 10**22 are exact); a product with 10**-decimals would round twice, and write
        # 0.30000000000000004.
        np.divide(floats, 10.0**decimals) if decimals >= 0 else np.multiply(floats, 10.0**-decimals)
    )


def first_points(edges: NDArray[np.float64], decimals: int) -> NDArray[np.int64]:
    """The first grid point whose *float* is at or above each edge: where the bin of the edge
    begins.
    """
    # A product of floats may land on the wrong side of an edge: 0.29 * 100 is 28.999999999999996.
    # What counts is which point, once it is a float again, is at or above the edge, because that is
    # how the value will be read back. So the guess starts two points too low and climbs while its
    # float lies below.
    guess = edges * 10.0**decimals if decimals >= 0 else edges / 10.0**-decimals
    points = np.ceil(guess).astype(np.int64) - 2
    # The guess is off by less than 1, being below 10**15 with a relative error of 2**-52.
    for _ in range(4):
        points += value_at(points, decimals) < edges
    return points


def even_edges(low: float, high: float, bins: int) -> tuple[float, ...]:
    """Edges of equally wide bins, exact in decimals: 0 to 1 in ten has the edge 0.3.

    >>> even_edges(0.0, 1.0, 10)[3], 3 * 0.1
    (0.3, 0.30000000000000004)
    """
    # Bounds are taken as they are written, not as the binary fraction that a float really is: who
    # declares 0.1 means a tenth.
    start, stop = (Fraction(Decimal(repr(float(bound)))) for bound in (low, high))
    unit = math.lcm(start.denominator, stop.denominator)
    first = int(start * unit) * bins
    last = int(stop * unit) * bins
    wide = (last - first) // bins
    # The float nearest to the fraction.
    inner = ((first + wide * i) / (unit * bins) for i in range(1, bins))
    return (float(low), *inner, float(high))


@final
@dataclass(frozen=True, kw_only=True)
class NumberColumn(NumericColumn):
    """A column of real numbers between public bounds, in bins.

    Without ``bins`` or ``edges`` there are `DEFAULT_BINS` equally wide bins, or, if
    ``decimals`` allows at most `MAX_SINGLE_LEVELS` values, one for each. See `BinnedColumn`
    for the rest.

    >>> column = NumberColumn(name="price", minimum=0, maximum=1, bins=10, required=True)
    >>> column.encode(pd.Series([0.29, 0.3, -1.0])).tolist(), column.decimals
    ([2, 3, 0], 3)
    """

    decimals: int | None = None
    """Decoded values are multiples of ``10**-decimals`` inside their bin (negative: tens,
    hundreds, ...). By default as many as give the narrowest bin `POINTS_PER_BIN` values,
    at least 0. Values that are read need not be rounded.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_bounds()
        if self.decimals is not None:
            self._check_decimals(self.decimals)
        if self.edges is None:
            self._fill_in_bins()
        else:
            object.__setattr__(self, "bins", None)
        # Fractions that differ may become the same float, where there are more bins than floats.
        is_increasing = all(left < right for left, right in pairwise(self._edges))
        if self.edges is None and not is_increasing and self.bins != 1:
            refuse(
                self.name,
                f"synthdp.bins is {self.bins}, more than there are numbers between the bounds; use fewer",
            )
        if self.decimals is None:
            object.__setattr__(self, "decimals", self._default_decimals())
        # A bin without a point of the grid could be measured and drawn, but nothing could be
        # written for it that reads back as it.
        empty = int(np.sum(np.diff(self._starts) < 1))
        if empty and self.bins != 1:
            way_out = "use fewer bins or more decimals"
            refuse(
                self.name,
                f"with synthdp.decimals {self.decimals}, {empty} bins hold no value at all; {way_out}",
            )
        _ = self._heaps  # refuses steps that are off the grid

    @classmethod
    def keys(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What a field can have under ``synthdp``."""
        own = () if has_levels else ("decimals",)
        return super().keys(kind, has_levels=has_levels) + own

    @classmethod
    def derivable(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What of a field can be learnt."""
        if has_levels:
            return super().derivable(kind, has_levels=True)
        return ("bounds", "bins", "decimals", "missing")

    def _number(self, key: str, value: object) -> float:
        number = check_bound(self.name, key, value)
        if abs(number) > MAX_NUMBER:
            refuse(self.name, f"{key} is {value!r}; give a number within {MAX_NUMBER:g} of zero")
        return float(number)

    @property
    def most_decimals(self) -> int:
        """Most decimals that floats hold between the bounds."""
        largest = max(map(abs, self._bounds))
        exponent = math.ceil(math.log10(largest)) if largest > 0 else 0
        return min(15 - exponent, 300)

    def with_decimals(self, decimals: int) -> Self:
        """This column with other decimals; a bin that then holds no value becomes part of one
        beside it.
        """
        self._check_decimals(decimals)
        after_last = np.nextafter(self._edges[-1], np.inf)
        starts = first_points(np.array([*self._edges[:-1], after_last], dtype=np.float64), decimals)
        # With fewer decimals the grid is coarser, and narrow bins fall between its points.
        filled = np.flatnonzero(np.diff(starts) > 0)
        # Either no bin is empty, or fewer than two are left, which is no column: the check on
        # making the column says so.
        if not 2 <= filled.size < self.n_levels:
            return replace(self, decimals=decimals)
        edges = (self._edges[0], *(self._edges[i] for i in filled[1:]), self._edges[-1])
        return replace(self, decimals=decimals, bins=None, edges=edges)

    def _check_decimals(self, decimals: object) -> None:
        decimals = in_column(self.name, "synthdp.decimals", decimals).whole()
        if not -300 <= decimals <= self.most_decimals:
            limit = f"at most {self.most_decimals} for these bounds"
            refuse(self.name, f"synthdp.decimals is {decimals}; use {limit}, floats hold 15 digits")

    def _fill_in_bins(self) -> None:
        low, high = self._bounds
        bins = self.bins
        if bins is None:
            bins = 1 if low == high else DEFAULT_BINS
            if self.decimals is not None and low < high:
                first, stop = first_points(
                    np.array([low, np.nextafter(high, np.inf)]), self.decimals
                )
                # So few values have a bin each: joining any would lose what costs nothing to keep.
                bins = max(2, int(stop - first)) if stop - first <= MAX_SINGLE_LEVELS else bins
        object.__setattr__(
            self, "bins", check_bins(self.name, bins, 1 if low == high else None, "numbers")
        )

    def _default_decimals(self) -> int:
        widths = (right - left for left, right in pairwise(self._edges) if left < right)
        narrowest = min(widths, default=0)
        if narrowest > 1e-300:  # below it a ratio may be no float
            wanted = math.ceil(math.log10(POINTS_PER_BIN / narrowest))
        else:
            wanted = self.most_decimals
        # Round numbers must lie on the grid, or heaping could not draw them.
        needed = 0 if self.heaping is None else self.heaping.decimals
        return min(max(wanted, needed), self.most_decimals)

    @cached_property
    def _edges(self) -> tuple[float, ...]:
        return self.edges if self.edges is not None else even_edges(*self._bounds, self.bins or 1)

    @cached_property
    def inner_edges(self) -> NDArray[np.float64]:
        """Where one bin ends and the next begins, as floats: less what a sum may miss of an edge."""
        edges = np.array(self._edges[1:-1], dtype=np.float64)
        with np.errstate(under="ignore"):
            return edges - SLIP * np.abs(edges)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        after_last = np.nextafter(self._edges[-1], np.inf)
        return first_points(
            np.array([*self._edges[:-1], after_last], dtype=np.float64), self.decimals or 0
        )

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The lowest and the first number of the grid above the highest."""
        return self._edges[0], float(value_at(self._starts[-1:], self.decimals or 0)[0])

    @property
    def _outer_edges(self) -> Sequence[float]:
        return self._edges

    @cached_property
    def _heaps(self) -> Heaps | None:
        return None if self.heaping is None else self.heaping.heaps(self.name, self.decimals or 0)

    def _first_points(self, values: Sequence[float]) -> NDArray[np.int64]:
        return first_points(np.array(values, dtype=np.float64), self.decimals or 0)

    def at(self, points: NDArray[np.int64]) -> NDArray[np.float64]:
        """Multiples of ``10**-decimals`` as floats."""
        # a column of one value, minimum == maximum, has that value even off the decimal grid
        return np.clip(value_at(points, self.decimals or 0), *self._bounds)

    def _texts(self, values: NDArray[np.float64]) -> Sequence[str]:
        # always the same number of decimals, as most systems write a column
        texts = map(f"{{:.{max(self.decimals or 0, 0)}f}}".format, values.tolist())
        return list(map(self.notation.written, texts))

    def values_at(self, points: NDArray[np.int64], missing: NDArray[np.bool_]) -> pd.Series:
        """Numbers as ``float64``; NaN where missing."""
        values = self.at(points)
        values[missing] = np.nan
        return pd.Series(values, dtype=np.float64)

    @property
    def reading(self) -> Reading:
        """How the column is read, with one example."""
        decimals = max(self.decimals or 0, 0)
        usual = float(self._near(USUAL_NUMBER + 0.5))
        fits, written = map(self.notation.written, (repr(usual), f"{usual:.{decimals}f}"))
        mark = self.notation.decimal_char
        group = self.notation.group_char
        if group:
            marks = f"{group!r} between thousands is not written"
        else:
            marks = "thousands are marked by groupChar only"
        unread = "zeros in front, as in 007, are not read; inf counts as missing"
        note = f"decimals begin with {mark!r} (decimalChar), {marks}; {unread}"
        if not decimals:
            note += UNWRITTEN
        if not self.notation.bare_number:
            note += UNITS
        return Reading(what="numbers", fits=fits, written=written, note=note)

    @classmethod
    def widest_bounds(
        cls, field: Mapping[str, Any], limits: Mapping[str, Any]
    ) -> Sequence[tuple[Any, Any]]:
        """The widest bounds that a field can have: so wide that all its decimals fit."""
        decimals = (field.get("synthdp") or {}).get("decimals")
        limit = 1e6
        if isinstance(decimals, int) and abs(decimals) < 280:
            # Twelve digits in all, of the 15 that floats hold.
            limit = 10.0 ** (12 - decimals)
        given = [abs(each) for each in limits.values() if isinstance(each, int | float)]
        limit = max(limit, *(10.0 * each for each in given if each < MAX_NUMBER), 0.0)
        return [(-limit, limit)]

    def grid_points(self, numbers: NDArray[np.float64], decimals: int) -> NDArray[np.int64]:
        """The multiples of ``10**-decimals`` that numbers lie on, else those below."""
        return decimal_points(numbers, decimals)

    def written_points(self, points: NDArray[np.int64], decimals: int) -> list[Any]:
        """The numbers at grid points."""
        return list(value_at(points, decimals).tolist())

    def outermost_points(self, decimals: int, limits: Mapping[str, Any] | None) -> tuple[int, int]:
        """The lowest and the highest grid point that a bound can have."""
        low, high = self._bounds
        if limits is None:
            first, last = decimal_points(np.array([low, high], dtype=np.float64), decimals).tolist()
            return first, last
        # Learnt bounds are grid points, and must be points whose floats tell them from their
        # neighbours.
        limit = int(min(MAX_POINTS - 1, MAX_NUMBER * 10.0 ** min(decimals, 0)))
        # The lower bound is rounded with its sign exchanged: both are rounded towards each other,
        # so that no learnt bound lies outside of a declared one.
        declared = decimal_points(np.array([-low, high], dtype=np.float64), decimals) * [-1, 1]
        first = declared[0] if "minimum" in limits else -limit
        last = declared[1] if "maximum" in limits else limit
        first, last = np.clip(np.array([first, last]), -limit, limit).tolist()
        return first, last

    def outermost_bounds(self, limits: Mapping[str, Any]) -> tuple[Any, Any]:
        """The lowest and the highest bound that can be learnt: any number that is not limited."""
        return limits.get("minimum", -MAX_NUMBER), limits.get("maximum", MAX_NUMBER)

    @property
    def cells(self) -> NDArray[np.int64]:
        """Cells that grow with the distance from 0."""
        return octaves()

    def likely_point(self, decimals: int) -> int:
        """A number that values are often near to."""
        return likely_number(decimals)

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        own = self._binning() | {"decimals": self.decimals}
        constraints = {"minimum": self.minimum, "maximum": self.maximum}
        return self._field("number", constraints, own, **self.notation.properties())
