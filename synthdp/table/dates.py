"""Date and datetime columns: moments between public bounds, at a resolution, in bins."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, Literal, TypeAlias, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.table.binned import BinnedColumn, check_bins, default_bins, even_starts
from synthdp.table.bounds import check_order
from synthdp.table.columns import check_text, refuse
from synthdp.table.reading import Values, seconds_of

Resolution: TypeAlias = Literal["year", "quarter", "month", "week", "day", "hour", "minute", "second"]
"""How far dates are told apart; weeks begin on Monday."""

# numpy unit, how many of them, and how far the count is shifted: 1970-01-01 was a Thursday
_UNITS = {
    "year": ("Y", 1, 0),
    "quarter": ("M", 3, 0),
    "month": ("M", 1, 0),
    "week": ("D", 7, 3),
    "day": ("D", 1, 0),
    "hour": ("h", 1, 0),
    "minute": ("m", 1, 0),
    "second": ("s", 1, 0),
}

DEFAULT_RESOLUTION: dict[str, Resolution] = {"date": "day", "datetime": "second"}
"""Resolution of a field that names none, by type."""

N_PROBES = 500
"""A format is tried on this many moments between the bounds before it is accepted."""


def unit_of(seconds: NDArray[np.int64], resolution: Resolution) -> NDArray[np.int64]:
    """The number, since 1970, of the year, quarter, ... that each second lies in.

    >>> unit_of(np.array([0, 86_400 * 365]), "quarter").tolist()
    [0, 4]
    """
    unit, count, shift = _UNITS[resolution]
    return (seconds.astype("datetime64[s]").astype(f"datetime64[{unit}]").astype(np.int64) + shift) // count


def start_of(units: NDArray[np.int64], resolution: Resolution) -> NDArray[np.int64]:
    """The first second of each year, quarter, ...; undoes `unit_of`."""
    unit, count, shift = _UNITS[resolution]
    return (units * count - shift).astype(f"datetime64[{unit}]").astype("datetime64[s]").astype(np.int64)


def seconds_at(moment: date) -> int:
    """Seconds since 1970-01-01 of a bound."""
    return int(seconds_of(np.array([moment], dtype=object), datetime.fromisoformat)[0])


@final
@dataclass(frozen=True, kw_only=True)
class DateColumn(BinnedColumn):
    """A column of dates or datetimes between public bounds.

    Parameters
    ----------
    minimum, maximum
        Inclusive public bounds; values outside go to the nearest bin. A time zone is
        converted to UTC and dropped, here and in values.
    type
        The field type of Frictionless Table Schema.
    format
        A pattern of `datetime.strftime`, or None for ISO 8601.
    resolution
        What dates are truncated to: a decoded date is the first moment of its year,
        quarter, ... (or ``minimum``, if that is later).
    bins
        Number of bins of whole units of resolution, as even as possible; by default one a
        unit if there are at most `binned.MAX_SINGLE_LEVELS`, else `binned.DEFAULT_BINS`.

    >>> column = DateColumn(name="born", minimum=date(2000, 1, 1), maximum=date(2001, 12, 31), resolution="year")
    >>> column.encode(pd.Series(["2001-05-06", "1999-01-01", "?"])).tolist()
    [1, 0, 2]
    """

    minimum: date
    maximum: date
    type: Literal["date", "datetime"] = "date"
    format: str | None = None
    resolution: Resolution | None = None
    bins: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("minimum", "maximum"):
            bound = getattr(self, key)
            if not isinstance(bound, date):
                refuse(self.name, f"constraints.{key} is {bound!r}; give a date")
            object.__setattr__(self, key, np.datetime64(seconds_at(bound), "s").item())
        check_order(self.name, self.minimum, self.maximum)
        if self.resolution is None:
            object.__setattr__(self, "resolution", DEFAULT_RESOLUTION[self.type])
        allowed = [unit for unit in _UNITS if self.type == "datetime" or unit not in ("hour", "minute", "second")]
        if self.resolution not in allowed:
            refuse(self.name, f"synthdp.resolution is {self.resolution!r}; use one of {', '.join(allowed)}")
        n_units = int(self._units[1] - self._units[0] + 1)
        bins = default_bins(n_units) if self.bins is None else self.bins
        object.__setattr__(self, "bins", check_bins(self.name, bins, n_units, f"{self.resolution}s"))
        self._check_format()
        self._check_missing_outside(*self._bounds)

    def _check_format(self) -> None:
        """Refuse a format that cannot say what the resolution asks for, by trying it."""
        if self.format is None:
            return
        check_text(self.format, self.name, "the format")
        first, last = self._units
        units = np.unique(np.linspace(first, last, N_PROBES).astype(np.int64).clip(first, last))
        units = np.union1d(units, np.arange(first, min(first + N_PROBES, last + 1)))
        read_back = self._read(np.array(self._texts(self._at(units)), dtype=object))
        wrong = np.isnan(read_back)
        if not wrong.any():
            wrong = unit_of(read_back.astype(np.int64), self._resolution) != units
        if wrong.any():
            way_out = "correct the format, or set a coarser synthdp.resolution"
            refuse(self.name, f"the format {self.format!r} cannot say which {self.resolution} a date is in; {way_out}")

    @property
    def _resolution(self) -> Resolution:
        return self.resolution or DEFAULT_RESOLUTION[self.type]

    @cached_property
    def _bounds(self) -> tuple[int, int]:
        return seconds_at(self.minimum), seconds_at(self.maximum)

    @cached_property
    def _units(self) -> NDArray[np.int64]:
        return unit_of(np.array(self._bounds), self._resolution)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        first, last = self._units.tolist()
        return even_starts(first, last, self.bins or 1)

    @cached_property
    def _inner_edges(self) -> NDArray[np.float64]:
        return start_of(self._starts[1:-1], self._resolution).astype(np.float64)

    def _read(self, values: Values) -> NDArray[np.float64]:
        return seconds_of(values, self.parse)

    def parse(self, text: str) -> datetime:
        """Read one text by the format; raises `ValueError` if it does not fit."""
        if self.format is None:
            return datetime.fromisoformat(text)
        return datetime.strptime(text, self.format)  # noqa: DTZ007 (dates without a time zone are meant)

    @property
    def _outer_edges(self) -> Sequence[pd.Timestamp]:
        seconds = [*self._at(self._starts[:-1]).tolist(), self._bounds[1]]
        return [pd.Timestamp(np.datetime64(second, "s")) for second in seconds]

    def _at(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.clip(start_of(points, self._resolution), *self._bounds)

    def _texts(self, values: NDArray[np.int64]) -> Sequence[str]:
        moments = values.astype("datetime64[s]")
        if self.format is None:
            unit = "D" if self.type == "date" else "s"
            return [str(text) for text in moments.astype(f"datetime64[{unit}]").astype(str).tolist()]
        return [moment.strftime(self.format) for moment in moments.tolist()]

    def decode(self, codes: NDArray[np.integer[Any]], rng: np.random.Generator) -> pd.Series:
        """Moments as ``datetime64[s]``; NaT where missing."""
        moments = self._at(self._draw(codes, rng)).astype("datetime64[s]")
        moments[self._is_missing(codes)] = np.datetime64("NaT")
        return pd.Series(moments, dtype="datetime64[s]")

    def _bound_text(self, moment: date) -> str:
        """A bound by the format if that loses nothing, else as ISO 8601."""
        seconds = np.array([seconds_at(moment)])
        text = self._texts(seconds)[0]
        if self._read(np.array([text], dtype=object))[0] == seconds[0]:
            return text
        return moment.isoformat().removesuffix("T00:00:00")

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        constraints = {"minimum": self._bound_text(self.minimum), "maximum": self._bound_text(self.maximum)}
        properties = {} if self.format is None else {"format": self.format}
        return self._field(self.type, constraints, {"resolution": self.resolution, "bins": self.bins}, **properties)
