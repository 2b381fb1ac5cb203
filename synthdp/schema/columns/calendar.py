"""Arithmetic of moments: units of resolution, counted since 1970, and the cyclical parts of dates."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from synthdp.schema.axes.years import FIRST_YEAR, LAST_YEAR, YEARS_A_CELL
from synthdp.schema.columns.reading import seconds_of
from synthdp.schema.words.texts import in_column, refuse

Resolution: TypeAlias = Literal[
    "year", "quarter", "month", "week", "day", "hour", "minute", "second"
]
"""The resolution of dates; weeks begin on Monday."""

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

RESOLUTIONS = tuple(_UNITS)
"""All resolutions, from coarse to fine."""

DEFAULT_RESOLUTION: dict[str, Resolution] = {"date": "day", "datetime": "second"}
"""Resolution of a field that names none, by type, where the format says it all; see
`default_resolution`.
"""

FIRST_SECOND, LAST_SECOND = -719_162 * 86_400, 2_932_897 * 86_400 - 1
"""Moments that are learnt lie between these: the years 1 to 9999, as in Python's dates."""

_PROBES = (datetime(2001, 12, 23, 16, 45, 56), datetime(2003, 10, 11, 5, 8, 9))  # noqa: DTZ001 (no zone is meant)
"""Moments that no format writes alike unless it leaves something out."""

SECONDS_A_DAY = 86_400

SECONDS: dict[str, int] = {"hour": 3_600, "minute": 60, "second": 1}
"""How long units of resolution are that are shorter than a day."""

_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
"""The ways of writing a moment that most systems have; ISO 8601 has others, of weeks and without
hyphens.
"""

_DIRECTIVE = re.compile(r"%(.)", re.DOTALL)
"""What a pattern of `strftime` names, one letter each."""

PART_LEVELS: dict[str, tuple[str, ...] | tuple[int, ...]] = {
    "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "month": tuple(range(1, 13)),
    "hour": tuple(range(24)),
}
"""The cyclical parts of a date and their levels."""

MAX_PART_UNITS = 2**22
"""A column with parts spans at most so many hours, days or months (478 years of hours): a table has
one entry each.
"""

# the resolutions that can say a part, coarsest first; a week may lie in two months
_CONSTANT_IN: dict[str, tuple[Resolution, ...]] = {
    "weekday": ("day", "hour", "minute", "second"),
    "month": ("month", "day", "hour", "minute", "second"),
    "hour": ("hour", "minute", "second"),
}


def unit_of(seconds: NDArray[np.int64], resolution: Resolution) -> NDArray[np.int64]:
    """The number, since 1970, of the year, quarter, ... that each second lies in.

    >>> unit_of(np.array([0, 86_400 * 365]), "quarter").tolist()
    [0, 4]
    """
    # By numpy's own calendar, which knows leap years. Quarters and weeks are some months or days,
    # counted from where one begins: 1970 began on a Thursday.
    unit, count, shift = _UNITS[resolution]
    return (
        seconds.astype("datetime64[s]").astype(f"datetime64[{unit}]").astype(np.int64) + shift
    ) // count


def start_of(units: NDArray[np.int64], resolution: Resolution) -> NDArray[np.int64]:
    """The first second of each year, quarter, ...; undoes `unit_of`."""
    unit, count, shift = _UNITS[resolution]
    return (
        (units * count - shift)
        .astype(f"datetime64[{unit}]")
        .astype("datetime64[s]")
        .astype(np.int64)
    )


def read_iso(text: str) -> datetime:
    """A date, or a moment without a time zone or in UTC, that is written as in 2020-12-31T23:59:59.

    What else ISO 8601 allows for is not read, for it would be written in another way: weeks such as
    2020-W18, 20201231, and offsets from UTC. Raises `ValueError` there.

    >>> read_iso("2020-12-31 23:59Z")
    datetime.datetime(2020, 12, 31, 23, 59, tzinfo=datetime.timezone.utc)
    """
    check_iso(text)
    # Python reads more than that, and more in each version: the pattern above is what decides.
    moment = datetime.fromisoformat(text)
    if moment.utcoffset():
        raise ValueError("it has an offset from UTC")
    return moment


def check_iso(text: str) -> None:
    """Raise `ValueError` unless a text is written as in 2020-12-31T23:59:59, with an offset or
    without.
    """
    if _ISO.fullmatch(text) is None:
        raise ValueError("not written as 2020-12-31T23:59:59")


def parsed(text: str, pattern: str) -> datetime:
    """What `datetime.strptime` reads, weeks that are given without a day as their Monday, and days
    without a year as those of 1900, in every version of Python.

    Raises `ValueError` if the text is not written by the pattern.

    >>> parsed("2020-W18", "%G-W%V").date().isoformat()
    '2020-04-27'
    >>> parsed("31.12.", "%d.%m.").date().isoformat()
    '1900-12-31'
    """
    if _names_weeks_only(pattern):
        # Python asks for a day beside a week
        text = f"{text} 1"
        pattern = f"{pattern} %u"
    elif _names_days_of_no_year(pattern):
        # Python 3.13 warns, 3.15 may differ
        text = f"{text} 1900"
        pattern = f"{pattern} %Y"
    return datetime.strptime(text, pattern)  # noqa: DTZ007 (dates without a time zone are meant)


def _names_weeks_only(pattern: str) -> bool:
    """Whether a pattern has the weeks of ISO 8601, and no day of theirs."""
    directives = set(_DIRECTIVE.findall(pattern))
    return {"G", "V"} <= directives and directives.isdisjoint("uwaA")


def _names_days_of_no_year(pattern: str) -> bool:
    directives = set(_DIRECTIVE.findall(pattern))
    return "d" in directives and directives.isdisjoint("YyGcx")


def default_resolution(kind: str, pattern: object) -> Resolution:
    """The resolution of a field that names none: the finest that its type has and its format can
    say.

    Parameters
    ----------
    kind
        The field's type, ``"date"`` or ``"datetime"``.
    pattern
        The field's format; None for ISO 8601, which says it all.

    >>> default_resolution("datetime", "%Y-%m-%d %H:%M"), default_resolution("datetime", None)
    ('minute', 'second')
    >>> default_resolution("date", "%m/%Y"), default_resolution("date", "%G-W%V")
    ('month', 'week')
    """
    finest = DEFAULT_RESOLUTION[kind]
    if not isinstance(pattern, str) or "%" not in pattern:
        return finest
    try:
        zone = UTC if "%z" in pattern else None
        # A format is tried: what comes back of a moment that was written is what it can say.
        read = [parsed(probe.replace(tzinfo=zone).strftime(pattern), pattern) for probe in _PROBES]
    except (ValueError, re.error):  # no format at all: whoever reads by it refuses it
        return finest
    meant, resolution = (
        np.array([seconds_at(moment) for moment in moments]) for moments in (_PROBES, read)
    )
    units: tuple[Resolution, ...] = ("second", "minute", "hour", "day", "week", "month", "year")
    coarser = units[units.index(finest) :]
    return next(
        (unit for unit in coarser if (unit_of(meant, unit) == unit_of(resolution, unit)).all()),
        finest,
    )


def seconds_at(moment: date) -> int:
    """Seconds since 1970-01-01 of a bound."""
    return int(seconds_of(np.array([moment], dtype=object), datetime.fromisoformat)[0])


def part_of(seconds: NDArray[np.int64], part: str) -> NDArray[np.int64]:
    """For each second the position of its weekday, month or hour in `PART_LEVELS`.

    >>> [
    ...     part_of(np.array([0, 3600 * 24 * 31]), part).tolist()
    ...     for part in ("weekday", "month", "hour")
    ... ]
    [[3, 6], [0, 1], [0, 0]]
    """
    if part == "weekday":
        return (unit_of(seconds, "day") + 3) % 7
    return unit_of(seconds, "month") % 12 if part == "month" else unit_of(seconds, "hour") % 24


def checked_parts(
    column: str, parts: tuple[object, ...], resolution: Resolution, bounds: tuple[int, int]
) -> tuple[str, ...]:
    """The parts of a date column; raises `SchemaError` if its resolution cannot say one, or one
    repeats.
    """
    checked: list[str] = []
    for name in parts:
        part = in_column(column, "an entry of synthdp.parts", name).choice([*PART_LEVELS])
        if resolution not in _CONSTANT_IN[part]:
            problem = f"synthdp.parts has {part!r}, which dates by {resolution} cannot say"
            refuse(
                column,
                f"{problem}; remove it, or set synthdp.resolution to {' or '.join(_CONSTANT_IN[part])}",
            )
        if part in checked:
            refuse(column, f"synthdp.parts has {part!r} twice; name each part once")
        checked.append(part)
    if checked:
        unit = part_unit(checked)
        first, last = unit_of(np.array(bounds), unit).tolist()
        if last - first >= MAX_PART_UNITS:
            way_out = "move the bounds closer, or remove a part"
            refuse(
                column,
                f"with synthdp.parts the bounds may span {MAX_PART_UNITS:,} {unit}s at most; {way_out}",
            )
    return tuple(checked)


def part_unit(parts: Sequence[str]) -> Resolution:
    """The coarsest unit in which none of some parts changes.

    >>> part_unit(["month", "weekday"])
    'day'
    """
    return max((_CONSTANT_IN[part][0] for part in parts), key=RESOLUTIONS.index)


def keys_of_parts(
    bins: NDArray[np.integer[Any]], codes: Sequence[NDArray[np.integer[Any]]], parts: Sequence[str]
) -> NDArray[np.int64]:
    """One number for each combination of a bin and the codes of its parts; -1 where a part is
    missing.
    """
    keys = bins.astype(np.int64)
    is_part = np.ones(len(bins), dtype=np.bool_)
    for part_codes, part in zip(codes, parts, strict=True):
        keys = keys * len(PART_LEVELS[part]) + part_codes
        is_part &= part_codes < len(PART_LEVELS[part])
    return np.where(is_part, keys, -1)


def decades(resolution: Resolution) -> NDArray[np.int64]:
    """The first unit of resolution of each decade of the years 1 to 9999."""
    years = np.array([FIRST_YEAR, *range(YEARS_A_CELL, LAST_YEAR, YEARS_A_CELL)]) - 1970
    seconds = years.astype("datetime64[Y]").astype("datetime64[s]").astype(np.int64)
    return np.unique(unit_of(seconds, resolution))
