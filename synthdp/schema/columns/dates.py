"""Date and datetime columns: moments between public bounds, at a resolution, in bins; and their
cyclical parts, weekday, month and hour, as attributes of their own.

A part is an attribute of the model only: it is worked out from its date when a table is encoded,
and when one is decoded the date is drawn so that it agrees with its parts.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from math import gcd
from typing import Any, Literal, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.axes.axis import Axis
from synthdp.schema.axes.bin_shape import Shape
from synthdp.schema.axes.rule import Edges, PartOf
from synthdp.schema.axes.years import LIKELY_YEAR
from synthdp.schema.columns.binned import BinnedColumn, with_nothing
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
from synthdp.schema.columns.edges import (
    check_bins,
    check_edges,
    check_order,
    default_bins,
    even_starts,
)
from synthdp.schema.columns.field import Field
from synthdp.schema.columns.reading import Values, is_missing, seconds_of
from synthdp.schema.words.runs import Ints, Runs
from synthdp.schema.words.texts import check_text, refuse

USUAL_MOMENT = datetime(2019, 12, 31, 23, 59, 58)  # noqa: DTZ001 (no time zone is meant)
"""What examples are, as far as it lies between the bounds."""

COUNTS_ARE_NO_DATES = (
    "; counts of seconds since 1970 are no dates: convert them, "
    "in pandas by pandas.to_datetime(.., unit='s')"
)
"""What is said of unread moments."""

KEYS = ("resolution", "bins", "edges", "shape", "parts")
"""What a field can have under ``synthdp``."""

# all that Python has; without years that %Y writes with fewer than four digits; what %y can say
# (POSIX)
_DATE_RANGES = (
    ("0001-01-01", "9999-12-31"),
    ("1000-01-01", "9999-12-31"),
    ("1969-01-01", "2068-12-31"),
)

N_PROBES = 500
"""A format is tried on this many moments between the bounds, and the first ones: more than a year
of days.
"""


@final
@dataclass(frozen=True, kw_only=True)
class DateColumn(BinnedColumn):
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
        or 2020-12-31T23:59:59. Texts with an offset from UTC are read only by a format with ``%z``:
        they are converted to UTC, and written so.
    resolution
        What dates are truncated to: a decoded date is the first moment of its year, quarter, ...
        (or ``minimum``, if that is later). By default days, and of datetimes the finest that the
        format can say.
    bins
        Number of bins of whole units of resolution, as even as possible; by default one a
        unit if there are at most `binned.MAX_SINGLE_LEVELS`, else `binned.DEFAULT_BINS`.
    edges
        Increasing edges: bin ``i`` holds ``edges[i] <= x < edges[i + 1]``, the last bin its
        right edge too. All but the first and last begin a unit of resolution. In place of ``bins``.
    parts
        Cyclical parts that are attributes of their own, ``"weekday"``, ``"month"`` or ``"hour"``,
        as far as the resolution can say them; see `PartColumn`.

    >>> column = DateColumn(
    ...     name="born", minimum=date(2000, 1, 1), maximum=date(2001, 12, 31), resolution="year"
    ... )
    >>> column.encode(pd.Series(["2001-05-06", "1999-01-01", "?"])).tolist()
    [1, 0, 2]
    """

    minimum: date | None = None
    maximum: date | None = None
    type: Literal["date", "datetime"] = "date"
    format: str | None = None
    resolution: Resolution | None = None
    bins: int | None = None
    edges: tuple[date, ...] | None = None
    parts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_bounds()
        if self.resolution is None:
            object.__setattr__(self, "resolution", self._resolution)
        allowed = [
            unit
            for unit in RESOLUTIONS
            if self.type == "datetime" or unit not in ("hour", "minute", "second")
        ]
        if self.resolution not in allowed:
            refuse(
                self.name,
                f"synthdp.resolution is {self.resolution!r}; use one of {', '.join(allowed)}",
            )
        if self.edges is None:
            n_units = int(self._units[1] - self._units[0] + 1)
            bins = default_bins(n_units) if self.bins is None else self.bins
            object.__setattr__(
                self, "bins", check_bins(self.name, bins, n_units, f"{self.resolution}s")
            )
        else:
            self._check_edges(self.edges)
        self._check_format()
        self._check_missing_outside(*self._bounds)
        if self.shape is not None:
            shape = self.shape.checked(self.name, self._moment, self.minimum, self.maximum)
            object.__setattr__(self, "shape", shape)
        parts = checked_parts(self.name, tuple(self.parts), self._resolution, self._bounds)
        object.__setattr__(self, "parts", parts)

    @classmethod
    def parse(cls, field: Field) -> Self:
        """The column that a field declares."""
        own = field.own(KEYS)
        pattern = strftime_format(field.name, field.get("format"))
        binning: dict[str, Any] = {key: own.get(key) for key in KEYS}

        def moments(key: str, texts: tuple[Any, ...]) -> tuple[date, ...]:
            what = f"an entry of synthdp.{key}"
            return tuple(_moment(field.name, what, text, pattern) for text in texts)

        if (edges := field.listed(own, "edges", "increasing dates")) is not None:
            binning["edges"] = moments("edges", edges)
        if (shape := field.parts_of(own, "shape", ("starts", "weights"))) is not None:
            binning["shape"] = Shape(
                starts=moments("shape.starts", shape["starts"]), weights=shape["weights"]
            )
        binning["parts"] = field.listed(own, "parts", "parts of dates") or ()
        for key in ("minimum", "maximum"):
            bound = field.constraints.get(key)
            if bound is None and edges is None:
                problem = f"constraints.{key} is not filled in"
                refuse(field.name, f"{problem}; give the bound that is public knowledge")
            binning[key] = (
                None if bound is None else _moment(field.name, f"constraints.{key}", bound, pattern)
            )
        return cls(type=field.type, format=pattern, **binning, **field.shared)

    @classmethod
    def example_field(cls, kind: str) -> dict[str, Any]:
        """Three years, by month."""
        bounds = {"minimum": "2019-01-01", "maximum": "2021-12-31"}
        return {"type": kind, "constraints": bounds, "synthdp": {"resolution": "month"}}

    @classmethod
    def keys(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What a field can have under ``synthdp``; it lists no levels."""
        return KEYS

    @classmethod
    def derivable(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What of a field can be learnt; it lists no levels."""
        return ("bounds", "bins", "missing")

    @classmethod
    def settled(cls, field: Mapping[str, Any]) -> Mapping[str, Any]:
        """A field whose format is a pattern of `strftime`, if it has one."""
        pattern = strftime_format(field["name"], field.get("format"))
        return field if pattern is None else dict(field) | {"format": pattern}

    def _moment(self, key: str, value: object) -> datetime:
        """A bound, edge or start, without a time zone."""
        if not isinstance(value, date):
            refuse(self.name, f"{key} is {value!r}; give a date")
        moment: datetime = np.datetime64(seconds_at(value), "s").item()
        return moment

    def _check_bounds(self) -> None:
        """Fill in bounds from edges, and check each and their order."""
        bounds = {
            key: self._moment(f"constraints.{key}", getattr(self, key))
            for key in ("minimum", "maximum")
            if self.edges is None or getattr(self, key) is not None
        }
        if self.edges is None:
            check_order(self.name, *bounds.values())
        else:
            edges = tuple(self._moment("an entry of synthdp.edges", edge) for edge in self.edges)
            check_edges(self.name, edges, bounds.get("minimum"), bounds.get("maximum"), self.bins)
            bounds = {"minimum": edges[0], "maximum": edges[-1]}
            object.__setattr__(self, "edges", edges)
            object.__setattr__(self, "bins", None)
        for key, bound in bounds.items():
            object.__setattr__(self, key, bound)

    def _check_edges(self, edges: tuple[date, ...]) -> None:
        for edge, seconds in zip(edges[1:-1], map(seconds_at, edges[1:-1]), strict=True):
            if (
                start_of(unit_of(np.array([seconds]), self._resolution), self._resolution)[0]
                != seconds
            ):
                way_out = "move it, or set a finer synthdp.resolution"
                refuse(
                    self.name,
                    f"synthdp.edges has {edge}, which cuts a {self._resolution} in two; {way_out}",
                )

    def _check_format(self) -> None:
        """Refuse a format that cannot say what the resolution asks for, by trying it."""
        if self.format is None:
            return
        check_text(self.format, self.name, "the format")
        first, last = self._units
        units = np.unique(np.linspace(first, last, N_PROBES).astype(np.int64).clip(first, last))
        units = np.union1d(units, np.arange(first, min(first + N_PROBES, last + 1)))
        read_back = self._read(np.array(self._texts(self.at(units)), dtype=object))
        wrong = np.isnan(read_back)
        if not wrong.any():
            wrong = unit_of(read_back.astype(np.int64), self._resolution) != units
        if wrong.any():
            way_out = "correct the format, or set a coarser synthdp.resolution"
            refuse(
                self.name,
                f"the format {self.format!r} cannot say which {self.resolution} a date is in; {way_out}",
            )

    @property
    def _resolution(self) -> Resolution:
        return self.resolution or default_resolution(self.type, self.format)

    @cached_property
    def _bounds(self) -> tuple[int, int]:
        low, high = (
            self._moment(f"constraints.{key}", getattr(self, key)) for key in ("minimum", "maximum")
        )
        return seconds_at(low), seconds_at(high)

    @cached_property
    def _units(self) -> NDArray[np.int64]:
        return unit_of(np.array(self._bounds), self._resolution)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        first, last = self._units.tolist()
        if self.edges is None:
            return even_starts(first, last, self.bins or 1)
        inner = unit_of(np.array([seconds_at(edge) for edge in self.edges[1:-1]]), self._resolution)
        return np.array([first, *inner, last + 1], dtype=np.int64)

    @cached_property
    def inner_edges(self) -> NDArray[np.float64]:
        """Where one bin ends and the next begins, as floats."""
        return start_of(self._starts[1:-1], self._resolution).astype(np.float64)

    def _read(self, values: Values) -> NDArray[np.float64]:
        seconds = self._read_limits(values)
        if self.type == "date":
            with np.errstate(invalid="ignore"):
                seconds[seconds % SECONDS_A_DAY != 0] = np.nan
        return seconds

    def _read_limits(self, values: Values) -> NDArray[np.float64]:
        return seconds_of(values, self.read_text)

    def _limits(self, low: object, high: object) -> tuple[float, float]:
        """Two limits, as bounds in a schema by the format or as ISO 8601."""
        return super()._limits(self._limit(low), self._limit(high))

    def _limit(self, value: object) -> object:
        if not isinstance(value, str) or not np.isnan(
            self._read_limits(np.array([value], dtype=object))[0]
        ):
            return value
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return value

    def read_text(self, text: str) -> datetime:
        """Read one text by the format; raises `ValueError` if it does not fit."""
        if self.format is None:
            return read_iso(text)
        return datetime.strptime(text, self.format)  # noqa: DTZ007 (dates without a time zone are meant)

    @property
    def _outer_edges(self) -> Sequence[pd.Timestamp]:
        seconds = [*self.at(self._starts[:-1]).tolist(), self._bounds[1]]
        return [pd.Timestamp(np.datetime64(second, "s")) for second in seconds]

    def _first_points(self, values: Sequence[date]) -> NDArray[np.int64]:
        seconds = np.array([seconds_at(value) for value in values], dtype=np.int64)
        units = unit_of(seconds, self._resolution)
        return units + (self.at(units) < seconds)

    def at(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        """The moments at grid points in seconds since 1970, within the bounds."""
        return np.clip(start_of(points, self._resolution), *self._bounds)

    def truncated(self, seconds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Moments between the bounds as they are kept: the first of their year, quarter, ...,
        within the bounds.
        """
        return self.at(unit_of(seconds, self._resolution))

    def texts_of_moments(self, seconds: NDArray[np.int64]) -> Sequence[str]:
        """Moments as a CSV file holds them."""
        return self._texts(seconds)

    def _texts(self, values: NDArray[np.int64]) -> Sequence[str]:
        moments = values.astype("datetime64[s]")
        if self.format is None:
            unit = "D" if self.type == "date" else "s"
            return [
                str(text) for text in moments.astype(f"datetime64[{unit}]").astype(str).tolist()
            ]
        zone = UTC if "%z" in self.format else None
        return [moment.replace(tzinfo=zone).strftime(self.format) for moment in moments.tolist()]

    def parts_of_numbers(self, numbers: NDArray[np.float64], part: str) -> Ints:
        """The positions in `PART_LEVELS` of a part of seconds, clipped to the bounds; NaN is the
        lower bound.
        """
        low, high = self._bounds
        clipped = np.clip(np.where(np.isnan(numbers), low, numbers), low, high)
        return part_of(np.floor(clipped).astype(np.int64), part)

    @cached_property
    def _known_runs(self) -> dict[int, Runs]:
        """What `_runs_by_parts` gave: drawing in rounds asks for the same again and again."""
        return {}

    def _runs_by_parts(self, n_parts: int) -> Runs:
        """The grid in runs, grouped by bin and the first parts."""
        if n_parts not in self._known_runs:
            self._known_runs[n_parts] = self._grouped_by(self.parts[:n_parts])
        return self._known_runs[n_parts]

    def _grouped_by(self, parts: Sequence[str]) -> Runs:
        unit = part_unit(parts)
        first, last = unit_of(np.array(self._bounds), unit).tolist()
        cells = unit_of(start_of(np.arange(first, last + 1), unit), self._resolution)
        cuts, bins = self._cuts(cells)
        kept = self._is_kept(cuts[:-1])
        seconds = self.at(cuts[:-1])
        keys = keys_of_parts(bins, [part_of(seconds, part) for part in parts], parts)
        return Runs.of(keys[kept], cuts[:-1][kept], np.diff(cuts)[kept], self._mass(cuts)[kept])

    def draw(
        self,
        codes: NDArray[np.integer[Any]],
        rng: np.random.Generator,
        parts: Sequence[NDArray[Any]] = (),
    ) -> Ints:
        """A grid point for each code that agrees with as many parts as its bin allows, the first
        ones first.

        ``parts`` are the codes of the column's parts.
        """
        if not parts:
            return super().draw(codes, rng)
        points = np.full(len(codes), self._starts[0])
        left = np.flatnonzero(~self.is_missing(codes))
        for n in range(len(parts), 0, -1):
            if not left.size:
                break
            runs = self._runs_by_parts(n)
            wanted = keys_of_parts(codes[left], [part[left] for part in parts[:n]], self.parts[:n])
            groups = np.minimum(np.searchsorted(runs.keys, wanted), len(runs.keys) - 1)
            agrees = runs.keys[groups] == wanted
            points[left[agrees]] = runs.draw(groups[agrees], rng)
            left = left[~agrees]
        points[left] = super().draw(codes[left], rng)
        return points

    def values_at(self, points: Ints, missing: NDArray[np.bool_]) -> pd.Series:
        """Moments as ``datetime64[s]``; NaT where missing."""
        moments = self.at(points).astype("datetime64[s]")
        moments[missing] = np.datetime64("NaT")
        return pd.Series(moments, dtype="datetime64[s]")

    def _bound_text(self, moment: date) -> str:
        """A bound by the format if that loses nothing, else as ISO 8601."""
        seconds = np.array([seconds_at(moment)])
        text = self._texts(seconds)[0]
        if self._read(np.array([text], dtype=object))[0] == seconds[0]:
            return text
        return str(moment.isoformat()).removesuffix("T00:00:00")

    @property
    def noun(self) -> str:
        """What a value is called."""
        return "date"

    @property
    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest value."""
        return self.minimum, self.maximum

    @property
    def span(self) -> tuple[int, int]:
        """The bounds in seconds since 1970."""
        return self._bounds

    @property
    def n_values(self) -> int:
        """How many units of resolution there are between the bounds."""
        first, last = self._units.tolist()
        return 1 if self.minimum == self.maximum else int(last - first) + 1

    @property
    def can_be_added(self) -> bool:
        """Whether its values can be added and multiplied: dates cannot."""
        return False

    @cached_property
    def step(self) -> int:
        """All places are multiples of so many seconds."""
        lowest = int(self.at(self.drawn_starts[:1])[0])  # wherever in its unit it lies
        return gcd(SECONDS.get(self._resolution, SECONDS_A_DAY), lowest)

    def places_of(self, points: Ints) -> Ints:
        """The seconds of grid points."""
        return self.at(points)

    def points_of(self, places: Ints) -> Ints:
        """The last grid point at or below each second."""
        points = unit_of(places, self._resolution)
        return points - (self.at(points) > places)

    def widened(self, others: Sequence[Axis], spread: int, limits: tuple[Any, Any]) -> Self:
        """The column from the lowest bound of some others to the highest, and some days more."""
        low = min(other.bounds[0] for other in others)
        high = max(other.bounds[1] for other in others)
        try:
            low, high = low - timedelta(days=spread), high + timedelta(days=spread)
        except OverflowError:
            low, high = limits
        return self._between(low, high, limits, edges=self.edges, bins=self.bins)

    @classmethod
    def widest_bounds(
        cls,
        field: Mapping[str, Any],
        limits: Mapping[str, Any],
    ) -> Sequence[tuple[Any, Any]]:
        """The widest bounds that a field can have, by what its format can say."""
        return _DATE_RANGES

    def grid_points(self, numbers: NDArray[np.float64], decimals: int) -> Ints:
        """The units of resolution that seconds lie in."""
        seconds = np.clip(numbers, FIRST_SECOND, LAST_SECOND).astype(np.int64)
        return unit_of(seconds, self._resolution)

    def written_points(self, points: Ints, decimals: int) -> list[Any]:
        """The first moments of units of resolution, by the format."""
        moments = start_of(points, self._resolution).astype("datetime64[s]").tolist()
        if self.format is None:
            return [moment.isoformat().removesuffix("T00:00:00") for moment in moments]
        return [moment.strftime(self.format) for moment in moments]

    def outermost_points(self, decimals: int, limits: Mapping[str, Any] | None) -> tuple[int, int]:
        """The lowest and the highest grid point that a bound can have."""
        first, last = self._units.tolist()
        if limits is not None and start_of(self._units[:1], self._resolution)[0] < self._bounds[0]:
            first += 1  # the first week may begin in a year that the format cannot say
        return first, last

    @property
    def cells(self) -> Ints:
        """Decades."""
        return decades(self._resolution)

    @property
    def has_even_cells(self) -> bool:
        """Whether they are of equal length: decades are."""
        return True

    def likely_point(self, decimals: int) -> int:
        """The beginning of a year that dates are often near to."""
        first_of_january = np.datetime64(str(LIKELY_YEAR), "s").astype(np.int64)
        return int(unit_of(first_of_january.reshape(1), self._resolution)[0])

    @property
    def part_columns(self) -> Sequence["PartColumn"]:
        """The parts as columns of their own."""
        return [PartColumn.of(self, part) for part in self.parts]

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
        """What is said of a value that is unread."""
        return f"is no {'date' if self.type == 'date' else 'moment'} as it is declared"

    @property
    def rule(self) -> Edges:
        """An engine knows the edges of the bins."""
        return Edges(
            kind="date",
            edges=tuple(self.inner_edges.tolist()),
            missing=tuple(self.missing_numbers.tolist()),
            is_whole=self.type == "date",
        )

    @property
    def ways_of_writing(self) -> str:
        """What a field can declare so that more values are read."""
        times = (
            ", or type 'datetime' for times of day and time zones" if self.type == "date" else ""
        )
        return f"format, or type 'integer' for numbers of days or seconds{times}"

    @property
    def hint(self) -> str:
        """What else is said where much is unread."""
        return "" if self.type == "date" else COUNTS_ARE_NO_DATES

    def typed(self, values: pd.Series) -> pd.Series:
        """Moments for what texts say."""
        seconds = self.read_numbers(values)
        moments = np.nan_to_num(seconds).astype(np.int64).astype("datetime64[s]")
        return pd.Series(np.where(np.isnan(seconds), np.datetime64("NaT"), moments))

    def text_of(self, value: object) -> str:
        """How a file holds a value, as exactly as it was given."""
        if not isinstance(value, date | np.datetime64) or is_missing(value):
            return super().text_of(value)
        moment = pd.Timestamp(value)
        if self.format is not None:
            return str(moment.strftime(self.format))
        return str(moment.isoformat()).removesuffix("T00:00:00")

    @property
    def reading(self) -> Reading:
        """How the column is read, with one example."""
        bounds = np.array([self.minimum, self.maximum], dtype="datetime64[s]")
        usual = (
            USUAL_MOMENT
            if self.type == "datetime"
            else USUAL_MOMENT.replace(hour=0, minute=0, second=0)
        )
        moment = np.datetime64(usual, "s").clip(*bounds)
        if self.type == "date":
            moment = moment.astype("datetime64[D]").astype("datetime64[s]")
        (fits,) = self.texts_of_moments(moment.astype(np.int64).reshape(1))
        (written,) = self.texts_of_moments(self.truncated(moment.astype(np.int64).reshape(1)))
        notes = []
        if self.format is None:
            notes.append("other ways of writing need a format, such as '%d.%m.%Y'")
        if self.type == "date":
            notes.append(
                "with a time of day use type 'datetime', also where midnight is not in UTC"
            )
        elif self.format is None:
            notes.append("offsets from UTC are read by a format with %z only")
        if self.resolution != DEFAULT_RESOLUTION[self.type]:
            notes.append(f"kept by {self.resolution}")
        what = {"date": "dates", "datetime": "dates with a time of day"}[self.type]
        what += "" if self.format is None else f" by the format {self.format}"
        return Reading(what=what, fits=fits, written=written, note="; ".join(notes))

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        low, high = (np.datetime64(bound, "s").item() for bound in self._bounds)
        constraints = {"minimum": self._bound_text(low), "maximum": self._bound_text(high)}
        properties = {} if self.format is None else {"format": self.format}
        own: dict[str, Any] = {"resolution": self.resolution}
        own |= (
            {"bins": self.bins}
            if self.edges is None
            else {"edges": list(map(self._bound_text, self.edges))}
        )
        if self.shape is not None:
            starts = list(map(self._bound_text, self.shape.starts))
            own["shape"] = {"starts": starts, "weights": list(self.shape.weights)}
        if self.parts:
            own["parts"] = list(self.parts)
        return self._field(self.type, constraints, own, **properties)


def part_name(date: Column, part: str) -> str:
    """What the attribute of a part of a date column is called."""
    return f"{date.name}:{part}"


@final
@dataclass(frozen=True, kw_only=True)
class PartColumn(Column):
    """A part of a date column; `encode` takes the dates, every label is a level of the part.

    Parameters
    ----------
    date
        The column that it is a part of.
    part
        One of `moments.PART_LEVELS`.

    >>> from datetime import date
    >>> born = DateColumn(
    ...     name="born", minimum=date(2000, 1, 1), maximum=date(2000, 12, 31), parts=("weekday",)
    ... )
    >>> column = PartColumn.of(born, "weekday")
    >>> (
    ...     column.name,
    ...     column.source,
    ...     column.encode(pd.Series(["2000-01-03", "1999-01-01", "?"])).tolist(),
    ... )
    ('born:weekday', 'born', [0, 5, 7])
    """

    date: DateColumn
    part: str

    @classmethod
    def of(cls, date: DateColumn, part: str) -> Self:
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
        return type(self).of(self.date.with_unread_place(), self.part)

    def without_unread_place(self) -> Self:
        """The part of the date as it was declared."""
        return type(self).of(self.date.without_unread_place(), self.part)

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
        return int(
            self.date.parts_of_numbers(np.array([np.nan]), self.part)[0]
        )  # the part of the lowest date

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

    def decode(self, codes: NDArray[np.integer[Any]], rng: np.random.Generator) -> pd.Series:
        """The level of each code."""
        return self.by_level.decode(codes, rng)

    def decode_text(
        self, codes: NDArray[np.integer[Any]], rng: np.random.Generator
    ) -> NDArray[np.object_]:
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
    def keys(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """None: it has no field."""
        return ()

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

    @property
    def ways_of_writing(self) -> str:
        """What the field of the date can declare so that more values are read."""
        return self.date.ways_of_writing

    def field(self) -> dict[str, Any]:
        """Its levels as a field, for showing; a schema file has the date's field only."""
        return self.by_level.field()


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
    if "%" in pattern:
        return pattern.removeprefix("fmt:")
    if (said := as_strftime(pattern)) is not None:
        return said
    way_out = "use 'default' (ISO 8601) or a pattern like '%d/%m/%Y'"
    if (nearest := nearest_strftime(pattern)) is not None:
        way_out = f"write {nearest!r}, which reads dates with and without zeros in front, and writes them with zeros"
    return refuse(name, f"the format {pattern!r} is not supported; {way_out}")


def _moment(name: str, key: str, text: Any, pattern: str | None) -> date:
    readers: list[Callable[[str], datetime]] = [datetime.fromisoformat]
    if pattern is not None:
        readers.insert(0, lambda text: datetime.strptime(text, pattern))  # noqa: DTZ007 (no time zone is meant)
    moment: datetime | None = None
    for read in readers:
        with suppress(
            ValueError, TypeError, re.error
        ):  # re.error: a pattern that says the same thing twice
            moment = moment or read(text)
    if moment is None:
        refuse(
            name,
            f"{key} {text!r} is not a date; write it like '2020-12-31', or by the field's format",
        )
    return moment
