"""Time columns: times of day between public bounds, at a resolution, in bins.

Times are ordered as within one day, from 00:00:00 to 23:59:59. The order does not wrap: the first
second of a day and the last one are as far apart as two times can be, and no bin reaches over
midnight.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, ClassVar, Literal, Self, TypeAlias, final, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.axes.axis import Axis
from synthdp.schema.axes.rule import Edges
from synthdp.schema.columns.calendar import SECONDS, SECONDS_A_DAY
from synthdp.schema.columns.date_formats import as_strftime
from synthdp.schema.columns.described import Reading
from synthdp.schema.columns.reading import Values, integers_of, is_missing
from synthdp.schema.columns.temporal import TemporalColumn
from synthdp.schema.words.grid_intervals import Ints
from synthdp.schema.words.texts import refuse

TimeResolution: TypeAlias = Literal["hour", "minute", "second"]
"""The resolution of times of day."""

ANY = "any"
"""The format by which times are read in more ways than they are written."""

USUAL_TIME = time(15, 42, 58)
"""What examples are, as far as it lies between the bounds."""

LIKELY_SECOND = 12 * 3_600
"""Noon, which times are often near to."""

_PROBES = (time(16, 45, 56), time(5, 8, 9))
"""Times that no format writes alike unless it leaves something out."""

_ISO = re.compile(r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]+)?)?")
_ANY = re.compile(
    r"([0-9]{1,2})(?:[:.]([0-9]{2})(?:[:.]([0-9]{2})(?:[.,][0-9]+)?)?)?(?:\s*([ap])\.?m\.?)?",
    re.IGNORECASE,
)


@final
@dataclass(frozen=True, kw_only=True)
class TimeColumn(TemporalColumn[time]):
    """A column of times of day between public bounds.

    Parameters
    ----------
    format
        A pattern of `datetime.strftime`; None for ISO 8601, 23:59 or 23:59:59; or `ANY`, which
        reads 9:30 and 9:30 pm as well. Fractions of seconds are read, and not written; times with
        an offset from UTC are not read.

    See `TemporalColumn` for the rest.

    >>> column = TimeColumn(name="shift", minimum=time(6), maximum=time(21, 59), resolution="hour")
    >>> column.encode(pd.Series(["07:30:00", time(23), "?"])).tolist()
    [1, 15, 16]
    """

    resolution: TimeResolution | None = None

    noun: ClassVar[str] = "time"
    described: ClassVar[str] = "a time of day; write it like '23:59:59'"
    seconds_of_all: ClassVar[tuple[int, int]] = (0, SECONDS_A_DAY - 1)

    @classmethod
    def pattern_of(cls, name: str, declared: Any) -> str | None:
        """How a field says that its times are written: by ISO 8601, by `ANY`, or by a pattern of
        `strftime` or one like HH.mm.
        """
        return time_format(name, declared)

    @classmethod
    def example_field(cls, kind: str) -> dict[str, Any]:
        """A day's work, by minute."""
        bounds = {"minimum": "06:00:00", "maximum": "21:59:59"}
        return {"type": kind, "constraints": bounds, "synthdp": {"resolution": "minute"}}

    @classmethod
    def widest_bounds(
        cls, field: Mapping[str, Any], limits: Mapping[str, Any]
    ) -> Sequence[tuple[Any, Any]]:
        """The widest bounds that a field can have: a day."""
        return [("00:00:00", "23:59:59")]

    type_name: ClassVar[str] = "time"

    @property
    def _resolutions(self) -> Sequence[str]:
        return tuple(SECONDS)

    @property
    def _default_resolution(self) -> TimeResolution:
        return default_resolution(self.format)

    def _checked(self, key: str, value: object) -> time:
        """A bound, edge or start, in whole seconds."""
        if not isinstance(value, time) or value.tzinfo is not None:
            refuse(self.name, f"{key} is {value!r}; give a time of day")
        return value.replace(microsecond=0)

    @staticmethod
    def _second_of(value: time) -> int:
        return second_of(value)

    @staticmethod
    def _moment_at(second: int) -> time:
        return time_at(second)

    @staticmethod
    def _iso(value: time) -> str:
        return value.isoformat()

    @staticmethod
    def _label(second: int) -> pd.Timedelta:
        # pandas makes intervals of numbers, moments and durations only.
        return pd.Timedelta(seconds=second)  # intervals have no times

    @property
    def _unit_seconds(self) -> int:
        return SECONDS[self.resolution or "second"]

    def _unit_of(self, seconds: Ints) -> Ints:
        return seconds // self._unit_seconds

    def _start_of(self, units: Ints) -> Ints:
        return units * self._unit_seconds

    @staticmethod
    def parser(pattern: str | None) -> Callable[[str], time]:
        """What reads one text by a format."""
        return _parser(pattern)

    @staticmethod
    def from_iso(text: str) -> time:
        """A time of day as ISO 8601 has it."""
        return read_iso(text)

    def widened(self, others: Sequence[Axis], spread: int, limits: tuple[Any, Any]) -> Self:
        """The column from the lowest bound of some others to the highest, and some minutes more."""
        # In seconds, because times of Python cannot be added to; a day has no time before its first
        # second.
        low = min(second_of(other.bounds[0]) for other in others) - 60 * spread
        high = max(second_of(other.bounds[1]) for other in others) + 60 * spread
        last = SECONDS_A_DAY - 1
        bounds = time_at(max(low, 0)), time_at(min(high, last))
        return self._between(*bounds, limits, edges=self.edges, bins=self.bins)

    @property
    def cells(self) -> Ints:
        """Hours."""
        return np.arange(0, SECONDS_A_DAY, SECONDS["hour"]) // self._unit_seconds

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
        # MySQL's TIME is a span that may be negative or longer than a day; only those within one
        # day are times of it.
        if isinstance(value, timedelta | np.timedelta64):  # how libraries of databases have them
            return _within_a_day(pd.Timedelta(value) // pd.Timedelta(seconds=1))
        raise ValueError("no time of day")

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

    not_read: ClassVar[str] = "is no time of day as it is declared"
    ways_of_writing: ClassVar[str] = (
        "format, or type 'datetime' for moments, or 'number' for durations"
    )

    @property
    def rule(self) -> Edges:
        """An engine knows the edges of the bins."""
        return self._edges_rule("time", is_whole=False)

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
        fits, written = self._example_texts(second_of(USUAL_TIME))
        notes = ["fractions of seconds are cut off, offsets from UTC are not read"]
        what = "times of day"
        if self.format is None:
            notes.append("other ways of writing need a format, such as '%H.%M', or 'any'")
        elif self.format != ANY:
            what += f" by the format {self.format}"
        if self.resolution != "second":
            notes.append(f"kept by {self.resolution}")
        return Reading(what=what, fits=fits, written=written, note="; ".join(notes))


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
    # A lone number says no time: "9" may be anything, "9 p.m." and "9:00" are times.
    if match is None or (match[2] is None and match[4] is None):
        raise ValueError("not written as a time of day")
    hour = int(match[1])
    if match[4] is not None:
        if not 1 <= hour <= 12:
            raise ValueError("no hour of a half day")
        # 12 a.m. is midnight, and 12 p.m. noon.
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
        translated = as_strftime(pattern)
        if translated is not None:
            return translated
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
            # Whatever a pattern can say survives being written and read: no list of its letters has
            # to be kept, which differ from system to system.
            (second_of(probe), second_of(read(probe.strftime(str(pattern)))))
            for probe in _PROBES
        ]
    except (ValueError, re.error):  # no format at all: whoever reads by it refuses it
        return "second"
    # From the finest: the first one in which all probes come back is the best that the format can
    # say.
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
