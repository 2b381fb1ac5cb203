"""Time zones of columns of moments: loaded where one is declared only.

Moments are kept in UTC, whatever the zone: it says how they are written, and that texts say their
offset.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import final
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.columns.calendar import check_iso, parsed
from synthdp.schema.words.texts import check_text, refuse

_OFFSET = re.compile(r"([+-])([01][0-9]|2[0-3]):([0-5][0-9])")


@final
class Zone:
    """The time zone that a column of moments is written in.

    Parameters
    ----------
    column
        The column's name.
    name
        UTC, an offset such as +02:00, or a name of the tz database.
    pattern
        The column's format; None for ISO 8601.

    Raises
    ------
    SchemaError
        If there is no such zone, or the format says no offset.
    """

    def __init__(self, column: str, name: object, pattern: str | None) -> None:
        check_text(name, column, "synthdp.timezone")
        if pattern is not None and "%z" not in pattern:
            way_out = "add %z, or remove the zone"
            problem = f"the format {pattern!r} says no offset in synthdp.timezone"
            refuse(column, f"{problem}; {way_out}")
        self._zone = _zone_of(column, str(name))
        self._pattern = pattern

    @property
    def read(self) -> Callable[[str], datetime]:
        """What reads one text with an offset; it raises `ValueError` if it is none."""
        pattern = self._pattern
        return _read_iso if pattern is None else lambda text: parsed(text, pattern)

    def texts(self, seconds: NDArray[np.int64]) -> Sequence[str]:
        """Seconds since 1970 in UTC as texts with their offset."""
        moments = seconds.astype("datetime64[s]").tolist()
        return [self._text(moment.replace(tzinfo=UTC)) for moment in moments]

    def zoned(self, moments: pd.Series) -> pd.Series:
        """Moments in UTC, without a zone, as ones of the zone."""
        return moments.dt.tz_localize("UTC").dt.tz_convert(self._zone)

    def moment(self, value: pd.Timestamp) -> pd.Timestamp:
        """One moment in the zone; without a zone of its own it is in UTC."""
        return (value if value.tzinfo else value.tz_localize("UTC")).tz_convert(self._zone)

    def _text(self, moment: datetime) -> str:
        with suppress(OverflowError):  # where the calendar of Python ends it stays in UTC
            moment = moment.astimezone(self._zone)
        if self._pattern is not None:
            return moment.strftime(self._pattern)
        text = moment.isoformat()
        return f"{text.removesuffix('+00:00')}Z" if moment.tzinfo is UTC else text


def _zone_of(column: str, name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    if (parts := _OFFSET.fullmatch(name)) is not None:
        offset = timedelta(hours=int(parts[2]), minutes=int(parts[3]))
        return timezone(-offset if parts[1] == "-" else offset)
    try:
        return ZoneInfo(name)
    except (ValueError, LookupError, OSError):
        way_out = "give one such as 'UTC', 'Europe/Berlin' or '+02:00'"
        return refuse(column, f"synthdp.timezone is {name!r}, which is no time zone; {way_out}")


def _read_iso(text: str) -> datetime:
    """A moment that is written as in 2020-12-31T23:59:59+01:00, or with Z.

    Without an offset it could be one of the zone or of UTC, so it is not read.
    """
    check_iso(text)
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("it has no offset from UTC")
    return moment
