"""Date and datetime columns: moments between public bounds, at a resolution, in bins; and their
cyclical parts, weekday, month and hour, as attributes of their own.

A part is an attribute of the model only: it is worked out from its date when a table is encoded,
and when one is decoded the date is drawn so that it agrees with its parts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.imports import import_named
from synthdp.schema.axes.axis import Axis, CodeColumn
from synthdp.schema.axes.rule import Edges, PartOf
from synthdp.schema.axes.years import LIKELY_YEAR
from synthdp.schema.columns.binned import with_nothing
from synthdp.schema.columns.calendar import (
    DEFAULT_RESOLUTION,
    FIRST_SECOND,
    LAST_SECOND,
    PART_LEVELS,
    RESOLUTIONS,
    SECONDS,
    SECONDS_A_DAY,
    Resolution,
    checked_parts,
    decades,
    default_resolution,
    keys_of_parts,
    parsed,
    part_of,
    part_unit,
    read_iso,
    seconds_at,
    start_of,
    unit_of,
)
from synthdp.schema.columns.categorical import CategoricalColumn
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.date_formats import as_strftime, nearest_strftime
from synthdp.schema.columns.described import Reading
from synthdp.schema.columns.field import Field
from synthdp.schema.columns.reading import Values, is_missing, seconds_of
from synthdp.schema.columns.temporal import KEYS, TemporalColumn
from synthdp.schema.words.grid_intervals import GridIntervals, Ints
from synthdp.schema.words.texts import refuse

if TYPE_CHECKING:
    from synthdp.schema.columns.zones import Zone

_ZONE = "synthdp.schema.columns.zones:Zone"

USUAL_MOMENT = datetime(2019, 12, 31, 23, 59, 58)  # noqa: DTZ001 (no time zone is meant)
"""What examples are, as far as it lies between the bounds."""

COUNTS_ARE_NO_DATES = (
    "; counts of seconds since 1970 are no dates: convert them, "
    "in pandas by pandas.to_datetime(.., unit='s')"
)
"""What is said of unread moments."""

UNZONED = (
    "offsets from UTC are read by a format with %z only, and neither they nor a Z are written: "
    "declare synthdp.timezone"
)
UNZONED_FORMAT = "time zones become UTC: declare synthdp.timezone and a format with %z"
"""What is said of moments without a time zone, before a run: nothing is lost without a word."""

# all that Python has; without years that %Y writes with fewer than four digits; what %y can say
# (POSIX)
_DATE_RANGES = (
    ("0001-01-01", "9999-12-31"),
    ("1000-01-01", "9999-12-31"),
    ("1969-01-01", "2068-12-31"),
)


@final
@dataclass(frozen=True, kw_only=True)
class DateColumn(TemporalColumn[date]):
    """A column of dates or datetimes between public bounds.

    Parameters
    ----------
    minimum, maximum
        Inclusive public bounds; values outside go to the nearest bin. A time zone is
        converted to UTC and dropped, here and in typed values. Not needed with ``edges``.
    type
        The field type of Frictionless Table Schema. A ``"date"`` has no time of day: moments other
        than midnights are not read.
    format
        A pattern of `datetime.strftime`, or None for ISO 8601 as most systems write it, 2020-12-31
        or 2020-12-31T23:59:59. Texts with an offset from UTC are read only by a format with ``%z``,
        or in a ``timezone``; without that they are written in UTC.
    timezone
        Of a datetime the zone in which it is written, by name or as an offset such as ``+02:00``.
        Texts have to say their offset then; moments without one are in UTC, as bins are.
    resolution
        What dates are truncated to: a decoded date is the first moment of its year, quarter, ...
        (or ``minimum``, if that is later). By default days, and of datetimes the finest that the
        format can say.
    parts
        Cyclical parts that are attributes of their own, ``"weekday"``, ``"month"`` or ``"hour"``,
        as far as the resolution can say them; see `PartColumn`.

    See `TemporalColumn` for the rest.

    >>> column = DateColumn(
    ...     name="born", minimum=date(2000, 1, 1), maximum=date(2001, 12, 31), resolution="year"
    ... )
    >>> column.encode(pd.Series(["2001-05-06", "1999-01-01", "?"])).tolist()
    [1, 0, 2]
    """

    type: Literal["date", "datetime"] = "date"
    resolution: Resolution | None = None
    parts: tuple[str, ...] = ()
    timezone: str | None = None

    noun: ClassVar[str] = "date"
    described: ClassVar[str] = "a date; write it like '2020-12-31'"
    seconds_of_all: ClassVar[tuple[int, int]] = (FIRST_SECOND, LAST_SECOND)

    def __post_init__(self) -> None:
        _ = self._zone  # refuses one that is none
        super().__post_init__()
        parts = checked_parts(self.name, tuple(self.parts), self._resolution, self._bounds)
        object.__setattr__(self, "parts", parts)

    @cached_property
    def _zone(self) -> "Zone | None":
        if self.timezone is None:
            return None
        if self.type == "date":
            refuse(
                self.name, "synthdp.timezone is of moments; declare type 'datetime', or remove it"
            )
        zone: Zone = import_named(_ZONE)(self.name, self.timezone, self.format)
        return zone

    @classmethod
    def pattern_of(cls, name: str, declared: Any) -> str | None:
        """How a field says that its dates are written: by ISO 8601, or by a pattern of `strftime`
        or one like dd.mm.yyyy.
        """
        return strftime_format(name, declared)

    @classmethod
    def _typed_as(cls, field: Field) -> dict[str, Any]:
        parts = field.listed("parts", "parts of dates") or ()
        zone = field.own(cls.keys(field.type, has_levels=False)).get("timezone")
        return {"type": field.type, "parts": parts, "timezone": zone}

    def _typed_words(self) -> dict[str, Any]:
        words: dict[str, Any] = {} if self.timezone is None else {"timezone": self.timezone}
        return words | ({"parts": list(self.parts)} if self.parts else {})

    @classmethod
    def example_field(cls, kind: str) -> dict[str, Any]:
        """Three years, by month."""
        bounds = {"minimum": "2019-01-01", "maximum": "2021-12-31"}
        return {"type": kind, "constraints": bounds, "synthdp": {"resolution": "month"}}

    @classmethod
    def keys(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What a field can have under ``synthdp``; it lists no levels."""
        return (*KEYS, "parts", "timezone")

    @property
    def type_name(self) -> str:
        """The type of the field."""
        return self.type

    @property
    def _resolutions(self) -> Sequence[str]:
        # A date has no time of day, so it cannot be kept by hours.
        if self.type == "datetime":
            return RESOLUTIONS
        return [unit for unit in RESOLUTIONS if unit not in SECONDS]

    @property
    def _default_resolution(self) -> Resolution:
        return default_resolution(self.type, self.format)

    @property
    def _resolution(self) -> Resolution:
        return self.resolution or self._default_resolution

    def _checked(self, key: str, value: object) -> datetime:
        """A bound, edge or start, without a time zone."""
        if not isinstance(value, date):
            refuse(self.name, f"{key} is {value!r}; give a date")
        return self._moment_at(seconds_at(value))

    @staticmethod
    def _second_of(value: date) -> int:
        return seconds_at(value)

    @staticmethod
    def _moment_at(second: int) -> datetime:
        moment: datetime = np.datetime64(second, "s").item()
        return moment

    @staticmethod
    def _iso(value: date) -> str:
        return value.isoformat().removesuffix("T00:00:00")

    @staticmethod
    def _label(second: int) -> pd.Timestamp:
        return pd.Timestamp(np.datetime64(second, "s"))

    def _unit_of(self, seconds: Ints) -> Ints:
        return unit_of(seconds, self._resolution)

    def _start_of(self, units: Ints) -> Ints:
        return start_of(units, self._resolution)

    @staticmethod
    def parser(pattern: str | None) -> Callable[[str], datetime]:
        """What reads one text by a format."""
        if pattern is None:
            return read_iso
        return lambda text: parsed(text, pattern)

    @staticmethod
    def from_iso(text: str) -> datetime:
        """A date or moment in any of the ways that ISO 8601 has."""
        return datetime.fromisoformat(text)

    def _written_by(self) -> tuple[object, ...]:
        return (self.type, self.timezone)

    def _read(self, values: Values) -> NDArray[np.float64]:
        seconds = self._read_limits(values)
        if self.type == "date":
            with np.errstate(invalid="ignore"):
                # A moment with a time of day is no date: taken for one it would lose the time in
                # silence.
                seconds[seconds % SECONDS_A_DAY != 0] = np.nan
        return seconds

    def _read_limits(self, values: Values) -> NDArray[np.float64]:
        parse = self.parser(self.format) if self._zone is None else self._zone.read
        return seconds_of(values, parse)

    def _texts(self, values: NDArray[np.int64]) -> Sequence[str]:
        if self._zone is not None:
            return self._zone.texts(values)
        moments = values.astype("datetime64[s]")
        if self.format is None:
            unit = "D" if self.type == "date" else "s"
            return [
                str(text) for text in moments.astype(f"datetime64[{unit}]").astype(str).tolist()
            ]
        # What was read with an offset was converted to UTC, so it is written with that offset: the
        # same moment.
        zone = UTC if "%z" in self.format else None
        return [moment.replace(tzinfo=zone).strftime(self.format) for moment in moments.tolist()]

    def parts_of_numbers(self, numbers: NDArray[np.float64], part: str) -> Ints:
        """The positions in `PART_LEVELS` of a part of seconds, clipped to the bounds; NaN is the
        lower bound.
        """
        low, high = self._bounds
        # The date is clipped first, as its bin is: a record's date and its parts must agree, or the
        # model would learn combinations that no date has.
        clipped = np.clip(np.where(np.isnan(numbers), low, numbers), low, high)
        return part_of(np.floor(clipped).astype(np.int64), part)

    @cached_property
    def _known_intervals(self) -> dict[int, GridIntervals]:
        """What `_intervals_by_parts` gave: drawing in rounds asks for the same again and again."""
        return {}

    def _intervals_by_parts(self, n_parts: int) -> GridIntervals:
        """The grid in intervals, grouped by bin and the first parts."""
        # Ten years by hours are 87,600 pieces; drawing asks for the same ones for every block of
        # rows.
        if n_parts not in self._known_intervals:
            self._known_intervals[n_parts] = self._grouped_by(self.parts[:n_parts])
        return self._known_intervals[n_parts]

    def _grouped_by(self, parts: Sequence[str]) -> GridIntervals:
        # The grid is cut where any of the parts changes: at every midnight for weekdays, at every
        # hour for hours.
        unit = part_unit(parts)
        first, last = unit_of(np.array(self._bounds), unit).tolist()
        cells = unit_of(start_of(np.arange(first, last + 1), unit), self._resolution)
        cuts, bins = self._cuts(cells)
        kept = self._is_kept(cuts[:-1])
        seconds = self.at(cuts[:-1])
        keys = keys_of_parts(bins, [part_of(seconds, part) for part in parts], parts)
        return GridIntervals.from_groups(
            keys[kept], cuts[:-1][kept], np.diff(cuts)[kept], self._mass(cuts)[kept]
        )

    def draw(
        self, codes: CodeColumn, rng: np.random.Generator, parts: Sequence[NDArray[Any]] = ()
    ) -> Ints:
        """A grid point for each code that agrees with as many parts as its bin allows, the first
        ones first.

        ``parts`` are the codes of the column's parts.
        """
        if not parts:
            return super().draw(codes, rng)
        points = np.full(len(codes), self._starts[0])
        left = np.flatnonzero(~self.is_missing(codes))
        # All parts, then one fewer: the model draws them nearly, not exactly, alike, and the bin
        # comes before all.
        for n in range(len(parts), 0, -1):
            if not left.size:
                break
            intervals = self._intervals_by_parts(n)
            wanted = keys_of_parts(codes[left], [part[left] for part in parts[:n]], self.parts[:n])
            # A combination that no date of the bin has (31 February) is not among the keys; the
            # minimum keeps the index in range, and the comparison below tells.
            groups = np.minimum(np.searchsorted(intervals.keys, wanted), len(intervals.keys) - 1)
            agrees = intervals.keys[groups] == wanted
            points[left[agrees]] = intervals.draw(groups[agrees], rng)
            left = left[~agrees]
        points[left] = super().draw(codes[left], rng)
        return points

    def values_at(self, points: Ints, missing: NDArray[np.bool_]) -> pd.Series:
        """Moments as ``datetime64[s]``, in the time zone if there is one; NaT where missing."""
        moments = self.at(points).astype("datetime64[s]")
        # Points of missing values are arbitrary, see `draw`; here they are overwritten.
        moments[missing] = np.datetime64("NaT", "s")
        return self._zoned(pd.Series(moments, dtype="datetime64[s]"))

    def _zoned(self, moments: pd.Series) -> pd.Series:
        return moments if self._zone is None else self._zone.zoned(moments)

    @property
    def span(self) -> tuple[int, int]:
        """The bounds in seconds since 1970."""
        return self._bounds

    def widened(self, others: Sequence[Axis], spread: int, limits: tuple[Any, Any]) -> Self:
        """The column from the lowest bound of some others to the highest, and some days more."""
        low = min(other.bounds[0] for other in others)
        high = max(other.bounds[1] for other in others)
        try:
            low = low - timedelta(days=spread)
            high = high + timedelta(days=spread)
        except OverflowError:
            low, high = limits
        return self._between(low, high, limits, edges=self.edges, bins=self.bins)

    @classmethod
    def widest_bounds(
        cls, field: Mapping[str, Any], limits: Mapping[str, Any]
    ) -> Sequence[tuple[Any, Any]]:
        """The widest bounds that a field can have, by what its format can say."""
        return _DATE_RANGES

    def outermost_points(self, decimals: int, limits: Mapping[str, Any] | None) -> tuple[int, int]:
        """The lowest and the highest grid point that a bound can have."""
        first, last = super().outermost_points(decimals, limits)
        if limits is not None and self._start_of(self._units[:1])[0] < self._bounds[0]:
            # Weeks of a first of January may begin in December of the year before.
            first += 1  # the first week may begin in a year that the format cannot say
        return first, last

    @property
    def cells(self) -> Ints:
        """Decades."""
        return decades(self._resolution)

    def likely_point(self, decimals: int) -> int:
        """The beginning of a year that dates are often near to."""
        first_of_january = np.datetime64(str(LIKELY_YEAR), "s").astype(np.int64)
        return int(self._unit_of(first_of_january.reshape(1))[0])

    @property
    def part_columns(self) -> Sequence["PartColumn"]:
        """The parts as columns of their own."""
        return [PartColumn.from_date(self, part) for part in self.parts]

    def codes_with_parts(self, values: pd.Series) -> Iterator[NDArray[Any]]:
        """Level codes of values and of their parts; values are read once for all of them."""
        if not self.parts:
            yield self.encode(values)
            return
        numbers = self.read_numbers(values)
        for column in (self, *self.part_columns):
            yield column.codes_of_numbers(numbers)

    @property
    def not_read(self) -> str:
        """The caution about an unread value."""
        return f"is no {'date' if self.type == 'date' else 'moment'} as it is declared"

    @property
    def rule(self) -> Edges:
        """An engine knows the edges of the bins."""
        return self._edges_rule("date", is_whole=self.type == "date")

    @property
    def ways_of_writing(self) -> str:
        """What a field can declare so that more values are read."""
        times = (
            ", or type 'datetime' for times of day and time zones" if self.type == "date" else ""
        )
        example = "%d.%m.%Y" if self.type == "date" else "%d.%m.%Y %H:%M"
        zones = "" if self.type == "date" else ", synthdp.timezone for offsets from UTC"
        numbers = "or type 'integer' for numbers of days or seconds"
        return f"format, such as '{example}'{zones}, {numbers}{times}"

    @property
    def hint(self) -> str:
        """A hint where many values are unread."""
        # Counts of seconds are the usual reason for many unread moments, and a reader must not
        # guess them: one value does not show whether it is in seconds or milliseconds.
        return "" if self.type == "date" else COUNTS_ARE_NO_DATES

    def typed(self, values: pd.Series) -> pd.Series:
        """Moments for what texts say."""
        seconds = self.read_numbers(values)
        moments = np.nan_to_num(seconds).astype(np.int64).astype("datetime64[s]")
        moments = np.where(np.isnan(seconds), np.datetime64("NaT", "s"), moments)
        return self._zoned(pd.Series(moments, dtype="datetime64[s]"))

    def text_of(self, value: object) -> str:
        """How a file holds a value, as exactly as it was given."""
        if not isinstance(value, date | np.datetime64) or is_missing(value):
            return super().text_of(value)
        moment = pd.Timestamp(value)
        if self._zone is not None:
            moment = self._zone.moment(moment)
        if self.format is not None:
            return str(moment.strftime(self.format))
        return str(moment.isoformat()).removesuffix("T00:00:00")

    @property
    def reading(self) -> Reading:
        """How the column is read, with one example."""
        usual = seconds_at(USUAL_MOMENT)
        if self.type == "date":
            usual -= usual % SECONDS_A_DAY
        fits, written = self._example_texts(usual)
        notes = []
        if self.format is None:
            notes.append("other ways of writing need a format, such as '%d.%m.%Y'")
        if self.type == "date":
            notes.append(
                "with a time of day use type 'datetime', also where midnight is not in UTC"
            )
        elif self.timezone is not None:
            notes.append(f"with their offset in {self.timezone}; bins and bounds are in UTC")
        else:
            notes.append(UNZONED if self.format is None else UNZONED_FORMAT)
        if self.type == "datetime" and self.resolution == "second":
            notes.append("fractions of seconds are cut off")
            notes.append("full hours get random seconds: declare synthdp.resolution, or no bins")
        # Said only where it differs from what everybody expects.
        if self.resolution != DEFAULT_RESOLUTION[self.type]:
            notes.append(f"kept by {self.resolution}")
        what = {"date": "dates", "datetime": "dates with a time of day"}[self.type]
        if self.format is not None:
            what += f" by the format {self.format}"
        return Reading(what=what, fits=fits, written=written, note="; ".join(notes))


def part_name(date: Column, part: str) -> str:
    """What the attribute of a part of a date column is called."""
    return f"{date.name}:{part}"


@final
@dataclass(frozen=True, kw_only=True)
class PartColumn(Column):
    """A part of a date column; `encode` takes the dates, every label is a level of the part.

    >>> from datetime import date
    >>> born = DateColumn(
    ...     name="born", minimum=date(2000, 1, 1), maximum=date(2000, 12, 31), parts=("weekday",)
    ... )
    >>> column = PartColumn.from_date(born, "weekday")
    >>> (
    ...     column.name,
    ...     column.source,
    ...     column.encode(pd.Series(["2000-01-03", "1999-01-01", "?"])).tolist(),
    ... )
    ('born:weekday', 'born', [0, 5, 7])
    """

    date: DateColumn
    """The column that it is a part of."""
    part: str
    """One of `moments.PART_LEVELS`."""

    @classmethod
    def from_date(cls, date: DateColumn, part: str) -> Self:
        """A part of a date column, named after both; it may be missing if the date may."""
        name = part_name(date, part)
        return cls(
            name=name,
            required=date.required,
            missing_values=date.missing_values,
            has_unread_place=date.has_unread_place,
            date=date,
            part=part,
        )

    def with_unread_place(self) -> Self:
        """The part of the date with a place for unread values."""
        return type(self).from_date(self.date.with_unread_place(), self.part)

    def with_all_places(self) -> Self:
        """The part of the date with all its places; what is beyond the bounds has the parts of
        these.
        """
        return type(self).from_date(self.date.with_all_places(), self.part)

    def without_unread_place(self) -> Self:
        """The part of the date as it was declared."""
        return type(self).from_date(self.date.without_unread_place(), self.part)

    @property
    def source(self) -> str:
        """The name of the date column."""
        return self.date.name

    @cached_property
    def by_level(self) -> CategoricalColumn:
        """A column of the same levels and codes that reads levels in place of dates."""
        levels = PART_LEVELS[self.part]
        kind = "string" if self.part == "weekday" else "integer"
        return CategoricalColumn(name=self.name, required=self.required, levels=levels, type=kind)  # type: ignore[arg-type]

    @property
    def n_levels(self) -> int:
        """Number of weekdays, months or hours."""
        return len(PART_LEVELS[self.part])

    @property
    def _fallback_code(self) -> int:
        # The part of the lowest date.
        return int(self.date.parts_of_numbers(np.array([np.nan]), self.part)[0])

    def codes_of_numbers(self, numbers: NDArray[np.float64]) -> NDArray[Any]:
        """Level codes of dates as the date column's `read_numbers` gives them."""
        codes = self.date.parts_of_numbers(numbers, self.part)
        return with_nothing(codes, numbers, self)

    def _codes_of(self, values: Values) -> NDArray[Any]:
        return self.codes_of_numbers(self.date.numbers_of(values))

    def _has(self, value: object) -> bool:
        box = np.empty(1, dtype=object)
        box[0] = value
        return bool(self.date.knows(pd.Series(box, dtype=object))[0])

    def decode(self, codes: CodeColumn, rng: np.random.Generator) -> pd.Series:
        """The level of each code."""
        return self.by_level.decode(codes, rng)

    def decode_text(self, codes: CodeColumn, rng: np.random.Generator) -> NDArray[np.object_]:
        """The level of each code as a text."""
        return self.by_level.decode_text(codes, rng)

    @property
    def noun(self) -> str:
        """What the values are parts of."""
        return self.date.noun

    @classmethod
    def parse(cls, field: Field) -> Self:
        """None: a part is declared with its date."""
        return refuse(field.name, "it is part of a date; declare synthdp.parts of that")

    @classmethod
    def example_field(cls, kind: str) -> dict[str, Any]:
        """Its date's, with a part."""
        example = DateColumn.example_field(kind)
        return example | {"synthdp": example["synthdp"] | {"parts": ["month"]}}

    @classmethod
    def derivable(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """None: it follows from its date."""
        return ()

    @property
    def reading(self) -> Reading:
        """How its levels are read."""
        return self.by_level.reading

    @property
    def rule(self) -> PartOf:
        """An engine works the part out, and knows the bounds and edges of the date."""
        return PartOf(part=self.part, bounds=self.date.span, moments=self.date.rule)

    @property
    def type_name(self) -> str:
        """The type of the date."""
        return self.date.type

    def field(self) -> dict[str, Any]:
        """Its levels as a field, for showing; a schema file has the date's field only."""
        return self.by_level.field()

    @property
    def ways_of_writing(self) -> str:
        """What the field of the date can declare so that more values are read."""
        return self.date.ways_of_writing


def strftime_format(name: str, pattern: Any) -> str | None:
    """How a field says that its dates are written, as a pattern of `strftime`; None for ISO 8601.

    Raises `SchemaError` if it is neither such a pattern nor one like dd.mm.yyyy.
    """
    if pattern in ("default", None):
        return None
    if not isinstance(pattern, str):
        refuse(
            name,
            f"the format {pattern!r} is not supported; use 'default' (ISO 8601) or a pattern like '%d/%m/%Y'",
        )
    # Patterns of strftime are taken as they are; early versions of Table Schema put "fmt:" in
    # front.
    if "%" in pattern:
        return pattern.removeprefix("fmt:")
    if (said := as_strftime(pattern)) is not None:
        return said
    way_out = "use 'default' (ISO 8601) or a pattern like '%d/%m/%Y'"
    if (nearest := nearest_strftime(pattern)) is not None:
        way_out = f"write {nearest!r}, which reads dates with and without zeros in front, and writes them with zeros"
    return refuse(name, f"the format {pattern!r} is not supported; {way_out}")
