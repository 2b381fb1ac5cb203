"""Time columns: times of day between public bounds, at a resolution, in bins.

Times are ordered as within one day, from 00:00:00 to 23:59:59. The order does not wrap: the first
second of a day and the last one are as far apart as two times can be, and no bin reaches over
midnight.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import cached_property
from math import gcd
from typing import Any, Literal, Self, TypeAlias, final, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.axes.axis import Axis
from synthdp.schema.axes.bin_shape import Shape
from synthdp.schema.axes.rule import Edges
from synthdp.schema.columns.binned import BinnedColumn
from synthdp.schema.columns.calendar import SECONDS, SECONDS_A_DAY
from synthdp.schema.columns.date_formats import as_strftime
from synthdp.schema.columns.described import Reading
from synthdp.schema.columns.edges import (
    check_bins,
    check_edges,
    check_order,
    default_bins,
    even_starts,
)
from synthdp.schema.columns.field import Field
from synthdp.schema.columns.reading import Values, integers_of, is_missing
from synthdp.schema.words.runs import Ints
from synthdp.schema.words.texts import check_text, refuse

TimeResolution: TypeAlias = Literal["hour", "minute", "second"]
"""How far times of day are told apart."""

ANY = "any"
"""The format by which times are read in more ways than they are written."""

USUAL_TIME = time(15, 42, 58)
"""What examples are, as far as it lies between the bounds."""

LIKELY_SECOND = 12 * 3_600
"""Noon, which times are often near to."""

N_PROBES = 500
"""A format is tried on so many times between the bounds: Python reads 100,000 of them a second."""

KEYS = ("resolution", "bins", "edges", "shape")
"""What a field can have under ``synthdp``."""

_PROBES = (time(16, 45, 56), time(5, 8, 9))
"""Times that no format writes alike unless it leaves something out."""

_ISO = re.compile(r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]+)?)?")
_ANY = re.compile(
    r"([0-9]{1,2})(?:[:.]([0-9]{2})(?:[:.]([0-9]{2})(?:[.,][0-9]+)?)?)?(?:\s*([ap])\.?m\.?)?",
    re.IGNORECASE,
)


@final
@dataclass(frozen=True, kw_only=True)
class TimeColumn(BinnedColumn):
    """A column of times of day between public bounds.

    Parameters
    ----------
    minimum, maximum
        Inclusive public bounds; values outside go to the nearest bin. Not needed with ``edges``.
    format
        A pattern of `datetime.strftime`; None for ISO 8601, 23:59 or 23:59:59; or `ANY`, which
        reads 9:30 and 9:30 pm as well. Fractions of seconds are read, and not written; times with
        an offset from UTC are not read.
    resolution
        What times are truncated to: a decoded time is the first of its hour, minute or second (or
        ``minimum``, if that is later). By default the finest that the format can say.
    bins
        Number of bins of whole units of resolution, as even as possible; by default one a
        unit if there are at most `binned.MAX_SINGLE_LEVELS`, else `binned.DEFAULT_BINS`.
    edges
        Increasing edges: bin ``i`` holds ``edges[i] <= x < edges[i + 1]``, the last bin its
        right edge too. All but the first and last begin a unit of resolution. In place of ``bins``.

    >>> column = TimeColumn(name="shift", minimum=time(6), maximum=time(21, 59), resolution="hour")
    >>> column.encode(pd.Series(["07:30:00", time(23), "?"])).tolist()
    [1, 15, 16]
    """

    minimum: time | None = None
    maximum: time | None = None
    format: str | None = None
    resolution: TimeResolution | None = None
    bins: int | None = None
    edges: tuple[time, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.format is not None:
            check_text(self.format, self.name, "the format")
        self._check_bounds()
        if self.resolution is None:
            object.__setattr__(self, "resolution", default_resolution(self.format))
        if self.resolution not in SECONDS:
            units = ", ".join(SECONDS)
            refuse(self.name, f"synthdp.resolution is {self.resolution!r}; use one of {units}")
        if self.edges is None:
            n_units = int(self._units[1] - self._units[0] + 1)
            bins = default_bins(n_units) if self.bins is None else self.bins
            bins = check_bins(self.name, bins, n_units, f"{self.resolution}s")
            object.__setattr__(self, "bins", bins)
        else:
            self._check_edges(self.edges)
        self._check_format()
        self._check_missing_outside(*self._bounds)
        if self.shape is not None:
            shape = self.shape.checked(self.name, self._time, self.minimum, self.maximum)
            object.__setattr__(self, "shape", shape)

    @classmethod
    def parse(cls, field: Field) -> Self:
        """The column that a field declares."""
        own = field.own(KEYS)
        pattern = time_format(field.name, field.get("format"))
        binning: dict[str, Any] = {key: own.get(key) for key in KEYS}

        def times(key: str, texts: Sequence[Any]) -> tuple[time, ...]:
            what = f"an entry of synthdp.{key}"
            return tuple(_declared(field.name, what, text, pattern) for text in texts)

        edges = field.listed(own, "edges", "increasing times")
        if edges is not None:
            binning["edges"] = times("edges", edges)
        shape = field.parts_of(own, "shape", ("starts", "weights"))
        if shape is not None:
            starts = times("shape.starts", shape["starts"])
            binning["shape"] = Shape(starts=starts, weights=shape["weights"])
        for key in ("minimum", "maximum"):
            bound = field.constraints.get(key)
            if bound is None and edges is None:
                problem = f"constraints.{key} is not filled in"
                refuse(field.name, f"{problem}; give the bound that is public knowledge")
            if bound is not None:
                bound = _declared(field.name, f"constraints.{key}", bound, pattern)
            binning[key] = bound
        return cls(format=pattern, **binning, **field.shared)

    @classmethod
    def keys(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What a field can have under ``synthdp``; it lists no levels."""
        return KEYS

    @classmethod
    def derivable(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What of a field can be learnt; it lists no levels."""
        return ("bounds", "bins", "missing")

    @classmethod
    def example_field(cls, kind: str) -> dict[str, Any]:
        """A day's work, by minute."""
        bounds = {"minimum": "06:00:00", "maximum": "21:59:59"}
        return {"type": kind, "constraints": bounds, "synthdp": {"resolution": "minute"}}

    @classmethod
    def settled(cls, field: Mapping[str, Any]) -> Mapping[str, Any]:
        """A field whose format is a pattern of `strftime` or `ANY`, if it has one."""
        pattern = time_format(field["name"], field.get("format"))
        return field if pattern is None else dict(field) | {"format": pattern}

    @classmethod
    def widest_bounds(
        cls,
        field: Mapping[str, Any],
        limits: Mapping[str, Any],
    ) -> Sequence[tuple[Any, Any]]:
        """The widest bounds that a field can have: a day."""
        return [("00:00:00", "23:59:59")]

    # --- checks -----------------------------------------------------------------------------------

    def _time(self, key: str, value: object) -> time:
        """A bound, edge or start, in whole seconds."""
        if not isinstance(value, time) or value.tzinfo is not None:
            refuse(self.name, f"{key} is {value!r}; give a time of day")
        return value.replace(microsecond=0)

    def _check_bounds(self) -> None:
        """Fill in bounds from edges, and check each and their order."""
        given = {"minimum": self.minimum, "maximum": self.maximum}
        bounds = {
            key: self._time(f"constraints.{key}", bound)
            for key, bound in given.items()
            if self.edges is None or bound is not None
        }
        if self.edges is None:
            check_order(self.name, *bounds.values())
        else:
            edges = tuple(self._time("an entry of synthdp.edges", edge) for edge in self.edges)
            check_edges(self.name, edges, bounds.get("minimum"), bounds.get("maximum"), self.bins)
            bounds = {"minimum": edges[0], "maximum": edges[-1]}
            object.__setattr__(self, "edges", edges)
            object.__setattr__(self, "bins", None)
        for key, bound in bounds.items():
            object.__setattr__(self, key, bound)

    def _check_edges(self, edges: Sequence[time]) -> None:
        for edge in edges[1:-1]:
            if second_of(edge) % self._unit_seconds:
                problem = f"synthdp.edges has {edge}, which cuts a {self.resolution} in two"
                refuse(self.name, f"{problem}; move it, or set a finer synthdp.resolution")

    def _check_format(self) -> None:
        """Refuse a format that cannot say what the resolution asks for, by trying it."""
        if self.format in (None, ANY):
            return
        first, last = self._units.tolist()
        units = np.unique(np.linspace(first, last, N_PROBES).astype(np.int64))
        read_back = self._read(np.array(self._texts(self.at(units)), dtype=object))
        if not np.array_equal(read_back // self._unit_seconds, units):
            problem = f"the format {self.format!r} cannot say which {self.resolution} a time is in"
            way_out = "correct the format, or set a coarser synthdp.resolution"
            refuse(self.name, f"{problem}; {way_out}")

    # --- the grid ---------------------------------------------------------------------------------

    @property
    def _unit_seconds(self) -> int:
        return SECONDS[self.resolution or "second"]

    @cached_property
    def _bounds(self) -> tuple[int, int]:
        assert self.minimum is not None
        assert self.maximum is not None
        return second_of(self.minimum), second_of(self.maximum)

    @property
    def _units(self) -> Ints:
        return np.array(self._bounds) // self._unit_seconds

    @cached_property
    def _starts(self) -> Ints:
        first, last = self._units.tolist()
        if self.edges is None:
            return even_starts(first, last, self.bins or 1)
        inner = [second_of(edge) // self._unit_seconds for edge in self.edges[1:-1]]
        return np.array([first, *inner, last + 1], dtype=np.int64)

    @cached_property
    def inner_edges(self) -> NDArray[np.float64]:
        """Where one bin ends and the next begins, in seconds since midnight."""
        return (self._starts[1:-1] * self._unit_seconds).astype(np.float64)

    @property
    def _outer_edges(self) -> Sequence[pd.Timedelta]:
        seconds = [*self.at(self._starts[:-1]).tolist(), self._bounds[1]]
        return [pd.Timedelta(seconds=second) for second in seconds]  # intervals have no times

    def _first_points(self, values: Sequence[time]) -> Ints:
        return np.array([-(-second_of(value) // self._unit_seconds) for value in values])

    def at(self, points: Ints) -> Ints:
        """The times at grid points in seconds since midnight, within the bounds."""
        return np.clip(points * self._unit_seconds, *self._bounds)

    @property
    def noun(self) -> str:
        """What a value is called."""
        return "time"

    @property
    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest value."""
        return self.minimum, self.maximum

    @property
    def n_values(self) -> int:
        """How many units of resolution there are between the bounds."""
        first, last = self._units.tolist()
        return 1 if self.minimum == self.maximum else int(last - first) + 1

    @property
    def can_be_added(self) -> bool:
        """Whether its values can be added and multiplied: times of day cannot."""
        return False

    @cached_property
    def step(self) -> int:
        """All places are multiples of so many seconds."""
        lowest = int(self.at(self.drawn_starts[:1])[0])  # wherever in its unit it lies
        return gcd(self._unit_seconds, lowest)

    def places_of(self, points: Ints) -> Ints:
        """The seconds of grid points."""
        return self.at(points)

    def points_of(self, places: Ints) -> Ints:
        """The last grid point at or below each second."""
        points = places // self._unit_seconds
        return points - (self.at(points) > places)

    def widened(self, others: Sequence[Axis], spread: int, limits: tuple[Any, Any]) -> Self:
        """The column from the lowest bound of some others to the highest, and some minutes more."""
        low = min(second_of(other.bounds[0]) for other in others) - 60 * spread
        high = max(second_of(other.bounds[1]) for other in others) + 60 * spread
        last = SECONDS_A_DAY - 1
        bounds = time_at(max(low, 0)), time_at(min(high, last))
        return self._between(*bounds, limits, edges=self.edges, bins=self.bins)

    # --- what can be learnt -----------------------------------------------------------------------

    def grid_points(self, numbers: NDArray[np.float64], decimals: int) -> Ints:
        """The units of resolution that seconds lie in."""
        return numbers.astype(np.int64) // self._unit_seconds

    def written_points(self, points: Ints, decimals: int) -> list[Any]:
        """The first times of units of resolution, by the format."""
        return list(self._texts(np.clip(points * self._unit_seconds, 0, SECONDS_A_DAY - 1)))

    def outermost_points(self, decimals: int, limits: Mapping[str, Any] | None) -> tuple[int, int]:
        """The lowest and the highest grid point that a bound can have."""
        first, last = self._units.tolist()
        return first, last

    @property
    def cells(self) -> Ints:
        """Hours."""
        return np.arange(0, SECONDS_A_DAY, SECONDS["hour"]) // self._unit_seconds

    @property
    def has_even_cells(self) -> bool:
        """Whether they are of equal length: hours are."""
        return True

    def likely_point(self, decimals: int) -> int:
        """Noon."""
        return LIKELY_SECOND // self._unit_seconds

    # --- reading and writing ----------------------------------------------------------------------

    def _read(self, values: Values) -> NDArray[np.float64]:
        seconds = integers_of(values, self._second, -1).astype(np.float64)
        return np.where(seconds < 0, np.nan, seconds)

    def _second(self, value: object) -> int:
        """The second since midnight of one value; raises `ValueError` if it is no time of day."""
        if isinstance(value, str):
            return second_of(self._parser(str.__str__(value).strip()))
        if isinstance(value, time):
            return second_of(value)
        if isinstance(value, timedelta | np.timedelta64):  # how libraries of databases have them
            return _within_a_day(pd.Timedelta(value) // pd.Timedelta(seconds=1))
        raise ValueError("no time of day")

    @cached_property
    def _parser(self) -> Callable[[str], time]:
        return _parser(self.format)

    def _texts(self, values: Ints) -> Sequence[str]:
        times = map(time_at, values.tolist())
        if self.format in (None, ANY):
            return [each.isoformat() for each in times]
        return [each.strftime(str(self.format)) for each in times]

    def values_at(self, points: Ints, missing: NDArray[np.bool_]) -> pd.Series:
        """Objects of `datetime.time`; None where missing."""
        positions, distinct = pd.factorize(points)
        times = np.array([*map(time_at, self.at(distinct).tolist()), None], dtype=object)
        positions[missing] = len(times) - 1
        return pd.Series(times[positions], dtype=object)

    @property
    def arrow_dtype(self) -> Any:
        """Times in microseconds, as Arrow makes them of Python's."""
        import pyarrow as pa  # whoever asks has it

        return pd.ArrowDtype(pa.time64("us"))

    def _bound_text(self, bound: time) -> str:
        """A bound by the format if that loses nothing, else as ISO 8601."""
        (text,) = self._texts(np.array([second_of(bound)]))
        is_exact = self._read(np.array([text], dtype=object))[0] == second_of(bound)
        return text if is_exact else bound.isoformat()

    def _limits(self, low: object, high: object) -> tuple[float, float]:
        """Two limits, as bounds in a schema by the format or as ISO 8601."""
        return super()._limits(self._limit(low), self._limit(high))

    def _limit(self, value: object) -> object:
        if isinstance(value, str) and np.isnan(self._read(np.array([value], dtype=object))[0]):
            with suppress(ValueError):
                return read_iso(value)
        return value

    @property
    def not_read(self) -> str:
        """What is said of a value that is unread."""
        return "is no time of day as it is declared"

    @property
    def ways_of_writing(self) -> str:
        """What a field can declare so that more values are read."""
        return "format, or type 'datetime' for moments, or 'number' for durations"

    @property
    def rule(self) -> Edges:
        """An engine knows the edges of the bins."""
        return Edges(
            kind="time",
            edges=tuple(self.inner_edges.tolist()),
            missing=tuple(self.missing_numbers.tolist()),
            is_whole=False,
        )

    def typed(self, values: pd.Series) -> pd.Series:
        """Times for what texts say."""
        seconds = self.read_numbers(values)
        times = [None if np.isnan(second) else time_at(int(second)) for second in seconds]
        return pd.Series(times, dtype=object)

    def text_of(self, value: object) -> str:
        """How a file holds a value, as exactly as it was given."""
        if not isinstance(value, time) or is_missing(value):
            return super().text_of(value)
        is_plain = self.format in (None, ANY)
        return value.isoformat() if is_plain else value.strftime(str(self.format))

    @property
    def reading(self) -> Reading:
        """How the column is read, with one example."""
        usual = np.clip(np.array([second_of(USUAL_TIME)]), *self._bounds)
        (fits,) = self._texts(usual)
        (written,) = self._texts(self.at(usual // self._unit_seconds))
        notes = ["fractions of seconds are cut off, offsets from UTC are not read"]
        what = "times of day"
        if self.format is None:
            notes.append("other ways of writing need a format, such as '%H.%M', or 'any'")
        elif self.format != ANY:
            what += f" by the format {self.format}"
        if self.resolution != "second":
            notes.append(f"kept by {self.resolution}")
        return Reading(what=what, fits=fits, written=written, note="; ".join(notes))

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        low, high = map(time_at, self._bounds)
        constraints = {"minimum": self._bound_text(low), "maximum": self._bound_text(high)}
        properties = {} if self.format is None else {"format": self.format}
        own: dict[str, Any] = {"resolution": self.resolution}
        if self.edges is None:
            own["bins"] = self.bins
        else:
            own["edges"] = list(map(self._bound_text, self.edges))
        if self.shape is not None:
            starts = list(map(self._bound_text, self.shape.starts))
            own["shape"] = {"starts": starts, "weights": list(self.shape.weights)}
        return self._field("time", constraints, own, **properties)


def second_of(value: time) -> int:
    """Whole seconds from midnight to a time of day; raises `ValueError` if it has a time zone.

    >>> second_of(time(1, 0, 2, 999_999))
    3602
    """
    if value.tzinfo is not None:
        raise ValueError("it has a time zone")
    return value.hour * 3_600 + value.minute * 60 + value.second


def time_at(second: int) -> time:
    """The time of day so many seconds after midnight; undoes `second_of`."""
    return time(second // 3_600, second // 60 % 60, second % 60)


def read_iso(text: str) -> time:
    """A time of day that is written as 23:59 or 23:59:59; raises `ValueError` if it is not.

    >>> read_iso("07:05"), read_iso("23:59:59.9")
    (datetime.time(7, 5), datetime.time(23, 59, 59))
    """
    match = _ISO.fullmatch(text)
    if match is None:
        raise ValueError("not written as 23:59:59")
    hour, minute, second = match.groups()
    return time(int(hour), int(minute), int(second or 0))


def read_any(text: str) -> time:
    """A time of day in any usual way of writing; raises `ValueError` if it is none.

    >>> read_any("9:30"), read_any("9 p.m."), read_any("12.05 AM")
    (datetime.time(9, 30), datetime.time(21, 0), datetime.time(0, 5))
    """
    match = _ANY.fullmatch(text)
    if match is None or (match[2] is None and match[4] is None):
        raise ValueError("not written as a time of day")
    hour = int(match[1])
    if match[4] is not None:
        if not 1 <= hour <= 12:
            raise ValueError("no hour of a half day")
        hour = hour % 12 + (12 if match[4] in "pP" else 0)
    return time(hour, int(match[2] or 0), int(match[3] or 0))


def time_format(name: str, pattern: object) -> str | None:
    """How a field says that its times are written: a pattern of `strftime`, `ANY`, or None for ISO
    8601.

    Raises `SchemaError` if it is neither, nor a pattern like HH.mm.
    """
    if pattern in ("default", None):
        return None
    if pattern == ANY:
        return ANY
    if isinstance(pattern, str):
        if "%" in pattern:
            return pattern.removeprefix("fmt:")
        said = as_strftime(pattern)
        if said is not None:
            return said
    way_out = f"use 'default' (HH:MM:SS), {ANY!r}, or a pattern like '%H.%M'"
    return refuse(name, f"the format {pattern!r} is not supported; {way_out}")


def default_resolution(pattern: str | None) -> TimeResolution:
    """The finest resolution that a format can say.

    >>> default_resolution(None), default_resolution("%H:%M"), default_resolution("%I %p")
    ('second', 'minute', 'hour')
    """
    if pattern in (None, ANY):
        return "second"
    read = _parser(pattern)
    units: tuple[TimeResolution, ...] = get_args(TimeResolution)
    try:
        pairs = [
            (second_of(probe), second_of(read(probe.strftime(str(pattern))))) for probe in _PROBES
        ]
    except (ValueError, re.error):  # no format at all: whoever reads by it refuses it
        return "second"
    for unit in reversed(units):
        if all(meant // SECONDS[unit] == said // SECONDS[unit] for meant, said in pairs):
            return unit
    return "second"


def _parser(pattern: str | None) -> Callable[[str], time]:
    """What reads one text by a format."""
    if pattern is None:
        return read_iso
    if pattern == ANY:
        return read_any
    return lambda text: datetime.strptime(text, pattern).timetz()  # noqa: DTZ007 (no time zone is meant)


def _within_a_day(second: int) -> int:
    if not 0 <= second < SECONDS_A_DAY:
        raise ValueError("no time of one day")
    return second


def _declared(name: str, key: str, text: object, pattern: str | None) -> time:
    """A bound, edge or start as a schema holds it, by the format or as ISO 8601."""
    for read in (_parser(pattern), read_iso):
        with suppress(ValueError, TypeError, re.error):
            return read(text)  # type: ignore[arg-type]
    way_out = "write it like '23:59:59', or by the field's format"
    return refuse(name, f"{key} {text!r} is not a time of day; {way_out}")
