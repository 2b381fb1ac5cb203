"""Open columns: what is declared of a column whose domain is learnt under the privacy budget."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import count
from typing import Any, Literal, TypeAlias, final

import numpy as np
import pandas as pd

from synthdp.core.errors import SchemaError
from synthdp.core.grid import Grid
from synthdp.schema.axes.axis import Axis
from synthdp.schema.axes.bin_limits import DEFAULT_BINS, MAX_SINGLE_LEVELS
from synthdp.schema.axes.points import MAX_NUMBER, STEPS
from synthdp.schema.columns.column import DEFAULT_MISSING_VALUES, Column
from synthdp.schema.columns.described import LEARNT, UNWRITTEN, Reading
from synthdp.schema.columns.reading import plain_text
from synthdp.schema.open_parts import PARTS, OpenPart
from synthdp.schema.resolving import MAX_DIGITS, Resolver
from synthdp.schema.types import type_named
from synthdp.schema.words.texts import check_text, refuse

Binning: TypeAlias = Literal["quantiles", "privtree", "equal-width"]
"""How bins are found."""

DEFAULT_OTHER = "other"
"""Label of all levels that are not found, if a field names none."""

DEFAULT_MAX_LEVELS = 512
"""Most levels that a string column may get, if a field does not say."""


@final
@dataclass(frozen=True, kw_only=True)
class OpenColumn:
    """A column of which something is not declared, but derived under the budget.

    Raises
    ------
    SchemaError
        If the declared parts contradict each other, or no finding could close the column:
        a closed column is made from findings that are made up, so that nothing is left to be
        refused after budget was spent.

    >>> column = OpenColumn(
    ...     name="age",
    ...     type="integer",
    ...     open_parts=frozenset({"bounds"}),
    ...     declared={"name": "age", "type": "integer"},
    ... )
    >>> column.resolved(minimum=0, maximum=9).size
    11
    """

    name: str
    """Name in the table's header."""
    type: str
    """Field type of Frictionless Table Schema."""
    open_parts: frozenset[OpenPart]
    """What is open, at least one part."""
    declared: Mapping[str, Any] = field(hash=False)
    """The field of the closed column as far as it is declared; nothing in it says what is open."""
    missing_values: tuple[str, ...] = DEFAULT_MISSING_VALUES
    """Texts that mean "missing"."""
    binning: Binning = "quantiles"
    """How bins are found, if they are open."""
    max_bins: int = DEFAULT_BINS
    """Most bins if they are open (with "equal-width" their number), else the declared number."""
    max_levels: int = DEFAULT_MAX_LEVELS
    """Most levels if they are open, ``other`` and "missing" included."""
    other: str = DEFAULT_OTHER
    """Label of all levels that are not found, if levels are open."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing_values", tuple(self.missing_values))
        if "levels" in self.open_parts:
            check_text(self.other, self.name, "synthdp.other")
            if plain_text(self.other) in set(map(plain_text, self.missing_values)):
                problem = f"synthdp.other {self.other!r} is one of the missing values"
                refuse(self.name, f"{problem}; choose another label")
        _ = self.template  # refuses what no finding could close
        if self.limits and (limits := self._limits(self.decimals or 0)) and limits[0] >= limits[1]:
            key, value = next(iter(self.limits.items()))
            refuse(self.name, f"constraints.{key} {value!r} leaves no room for values; correct it")

    @property
    def size(self) -> int:
        """Number of levels of `template`."""
        return self.template.size

    @cached_property
    def template(self) -> Column:
        """The column closed with findings that are made up, open bounds as wide as can be: it reads
        as it will.
        """
        if "levels" in self.open_parts:
            taken = {plain_text(text) for text in (*self.missing_values, self.other)}
            level = next(text for i in count() if (text := f"x{i}") not in taken)
            return self.resolved(levels=[level])
        if "bounds" not in self.open_parts:
            return self.resolved()
        low, high = self._widest_bounds()
        low = self.limits.get("minimum", low)
        high = self.limits.get("maximum", high)
        numbers = self._reader(low, high).read_numbers(pd.Series(self.missing_values, dtype=object))
        for text, number in zip(self.missing_values, numbers.tolist(), strict=True):
            if np.isfinite(number):
                way_out = "declare constraints.minimum and maximum, or give the column missingValues of its own"
                refuse(
                    self.name,
                    f"the missing value {text!r} could lie between bounds that are derived; {way_out}",
                )
        return self.resolved(minimum=low, maximum=high)

    def _widest_bounds(self) -> tuple[Any, Any]:
        """The widest bounds that the column can have, as in a field."""
        *others, last = type_named(self.type).widest_bounds(self.declared, self.limits)
        for low, high in others:
            with suppress(SchemaError):
                self._reader(low, high)
                return low, high
        return last

    @property
    def is_scaled(self) -> bool:
        """Whether bounds are open that could be any numbers."""
        return self.has_decimals and "bounds" in self.open_parts

    @property
    def has_known_range(self) -> bool:
        """Whether bins alone, and decimals, are open: what values there can be, and whether they may
        be missing, is known, so that rules can speak of them.
        """
        return "bins" in self.open_parts and self.open_parts <= {"bins", "decimals"}

    @property
    def has_decimals(self) -> bool:
        """Whether its values can have decimals."""
        axis = self.template.axis
        return axis is not None and axis.most_decimals is not None

    def example(self, scale: int) -> Column:
        """`template`, but open bounds of numbers reach to ``10**scale``; raises `SchemaError` if
        they cannot.
        """
        if not self.is_scaled:
            return self.template
        limits = (10.0 * abs(each) for each in self.limits.values() if abs(each) < MAX_NUMBER)
        limit = max([10.0**scale, *limits])
        bounds = {"minimum": -limit, "maximum": limit} | dict(self.limits)
        decimals = MAX_DIGITS - scale if self.decimals is None else None
        return self.resolved(**bounds, decimals=decimals)

    @property
    def widest_bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest bound that can be learnt, as values; where bounds are open."""
        assert self.template.axis is not None
        return self.template.axis.outermost_bounds(self.limits)

    @property
    def limits(self) -> Mapping[str, Any]:
        """The one of ``minimum`` and ``maximum`` that is declared where bounds are open: they keep
        to it.
        """
        constraints = self.declared.get("constraints") or {} if "bounds" in self.open_parts else {}
        return {key: value for key, value in constraints.items() if key in ("minimum", "maximum")}

    @property
    def _own(self) -> Mapping[str, Any]:
        return self.declared.get("synthdp") or {}

    @property
    def resolution(self) -> Any:
        """The resolution of dates; None for other columns."""
        axis = self.template.axis
        return None if axis is None else axis.resolution

    @property
    def round_steps(self) -> tuple[int, ...]:
        """What round grid points are multiples of: of moments, minutes, hours and days."""
        if self.resolution is None:
            return STEPS
        lengths = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}
        own = lengths.get(self.resolution, 86_400)
        return tuple(length // own for length in lengths.values() if length > own)

    @property
    def bounds(self) -> tuple[float, float] | tuple[datetime, datetime] | None:
        """Declared bounds, as values; None if they are open, or the column has none."""
        axis = self.template.axis
        return None if axis is None or "bounds" in self.open_parts else axis.bounds

    @property
    def decimals(self) -> int | None:
        """Declared decimals of a number column; None if there are none."""
        decimals: int | None = self._own.get("decimals")
        return decimals

    @property
    def declares_heaping(self) -> bool:
        """Whether it is declared which values are round, if only that none are, or a resolution."""
        return any(self._own.get(key) is not None for key in ("heaping", "resolution"))

    @property
    def most_bins(self) -> int:
        """Most bins that the closed column can have, where bins are open."""
        limits = self._limits(self.decimals or 0)
        n_values = self.max_bins if limits is None else limits[1] - limits[0] + 1
        whole = not self.has_decimals or self.decimals is not None
        return min(self.max_bins, n_values) if whole else self.max_bins

    @property
    def most_levels(self) -> int:
        """Most level codes that the closed column can have, "missing" included."""
        template = self.template
        missing = template.size - template.n_levels
        if "levels" in self.open_parts:
            return self.max_levels
        if "bins" in self.open_parts:
            return self.most_bins + missing
        if "bounds" in self.open_parts and self._own.get("bins") is None:
            return MAX_SINGLE_LEVELS + missing  # one level for each value, if they are few
        return template.size

    def point_limits(self, grid: Grid) -> tuple[int, int] | None:
        """Lowest and highest grid point that a bound can have; None for columns without bounds.

        If bounds are open, it is what the type and the field's format can hold: a closed column is
        refused if its bounds lie beyond, such as in years that ``%y`` cannot say.
        """
        return self._limits(grid.decimals)

    def _limits(self, decimals: int) -> tuple[int, int] | None:
        axis = self.template.axis
        limits = self.limits if "bounds" in self.open_parts else None
        return None if axis is None else axis.outermost_points(decimals, limits)

    def resolved(
        self,
        *,
        levels: Sequence[str] | None = None,
        merged: Mapping[str, Any] | None = None,
        minimum: Any = None,
        maximum: Any = None,
        edges: Sequence[Any] | None = None,
        bins: int | None = None,
        shape: Mapping[str, Any] | None = None,
        heaping: Mapping[str, Any] | None = None,
        decimals: int | None = None,
        required: bool | None = None,
        other: str | None = None,
        spelling: Sequence[str] | None = None,
    ) -> Column:
        """The closed column, from its declared and its learnt parts.

        Each argument is what would stand in a schema file (dates as texts); None leaves what is
        declared, or the default. Where the two do not fit, what was found gives way: no level
        found at all leaves the level ``other``; outer edges become the declared bounds; declared
        bins become as many as there are values between derived bounds; derived decimals become
        as many as declared bounds and bins allow and need.

        Raises `SchemaError` if the findings do not fit the column otherwise.
        """
        constraints = {"enum": levels, "minimum": minimum, "maximum": maximum, "required": required}
        own = {
            "merged": merged,
            "edges": edges,
            "bins": bins,
            "shape": shape,
            "decimals": decimals,
            "heaping": heaping,
        }
        own["spelling"] = spelling
        if "levels" in self.open_parts:
            own["other"] = other or self.other
            constraints["enum"] = list(levels or ()) or [own["other"]]
        return self._resolver.column(constraints, own)

    @property
    def reading(self) -> Reading:
        """How the column is read, with one example, as far as that is declared."""
        reading = self.template.reading
        if "levels" in self.open_parts:
            note = f"those that few records share become {self.other!r}"
            what, any_text = "texts, as they are spelt", "any text"
            return Reading(what=what, fits=any_text, written=any_text, note=note)
        if self.template.learns_spelling:
            note = "all are written as most of them are, as far as noise can tell"
            return replace(reading, note=note)
        if "decimals" in self.open_parts:
            note = reading.note.replace(UNWRITTEN, LEARNT)
            return replace(reading, written=reading.fits, note=note)
        return reading

    def field(self) -> dict[str, Any]:
        """This column as a field, every setting written out; `read_field` reads it, but for the
        missing values.
        """
        own: dict[str, Any] = {"derive": [part for part in PARTS if part in self.open_parts]}
        if "levels" in self.open_parts:
            own |= {"other": self.other, "max_levels": self.max_levels}
        if "bins" in self.open_parts:
            own |= {"binning": self.binning, "bins": self.max_bins}
        return dict(self.declared) | {"synthdp": dict(self._own) | own}

    @property
    def _resolver(self) -> Resolver:
        return Resolver(
            declared=self.declared,
            missing_values=self.missing_values,
            open_bounds="bounds" in self.open_parts,
        )

    def _reader(self, low: Any, high: Any) -> Axis:
        """The column between some bounds, without missing values of its own."""
        resolver = Resolver(declared=self.declared, missing_values=("",), open_bounds=False)
        column = resolver.column({"minimum": low, "maximum": high}, {})
        assert column.axis is not None
        return column.axis


def open_ones(columns: Iterable[Column | OpenColumn]) -> tuple[OpenColumn, ...]:
    """Those of some columns of which something is still to be learnt."""
    return tuple(column for column in columns if isinstance(column, OpenColumn))


def closed_ones(columns: Iterable[Column | OpenColumn]) -> tuple[Column, ...]:
    """Those of some columns of which all is declared."""
    return tuple(column for column in columns if not isinstance(column, OpenColumn))
