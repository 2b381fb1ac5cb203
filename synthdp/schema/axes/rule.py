"""Rules: by comparison with which public values an engine tells the codes of a column apart.

A rule holds what is declared, and no more. What each of its values becomes the column's codec says.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final


@final
@dataclass(frozen=True, kw_only=True)
class Levels:
    """Equality with public values."""

    kind: Literal["texts", "levels", "boolean"]
    """Whether levels are texts, numbers or truth values."""
    words: tuple[str | float, ...]
    """All public values that are no bounds: levels, and what means "missing"."""
    numbers: tuple[float, ...] = ()
    """Of those the ones that are numbers, if levels are."""
    is_complete: bool = True
    """Whether no texts but these have a code of their own."""


@final
@dataclass(frozen=True, kw_only=True)
class Edges:
    """Order among public values."""

    kind: Literal["number", "date", "time"]
    """Whether they are numbers, moments in seconds since 1970, or times of day in seconds since
    midnight.
    """
    edges: tuple[float, ...]
    """Where one bin ends and the next begins."""
    missing: tuple[float, ...]
    """Values that mean "missing"."""
    is_whole: bool
    """Whether no others are read than whole numbers, or midnights."""
    ends: tuple[float, float]
    """The lowest value that is not below the bounds, and the lowest one that is above."""


@final
@dataclass(frozen=True, kw_only=True)
class PartOf:
    """A part of what another column holds."""

    kind: Literal["part"] = "part"
    part: str
    """Which: weekday, month or hour."""
    bounds: tuple[int, int]
    """What is below or above is taken for these, in seconds since 1970."""
    moments: Edges
    """The rule of the other column."""


@final
@dataclass(frozen=True, kw_only=True)
class Unread:
    """No engine reads the column: its tables are read as files or frames."""

    kind: Literal["unread"] = "unread"


Rule: TypeAlias = Levels | Edges | PartOf | Unread
