"""Rules: by comparison with which public values an engine tells the codes of a column apart.

A rule holds what is declared, and no more. What each of its values becomes the column's codec says.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final


@final
@dataclass(frozen=True, kw_only=True)
class Levels:
    """Equality with public values.

    Parameters
    ----------
    kind
        Whether levels are texts, numbers or truth values.
    words
        All public values that are no bounds: levels, and what means "missing".
    numbers
        Of those the ones that are numbers, if levels are.
    is_complete
        Whether no texts but these have a code of their own.
    """

    kind: Literal["texts", "levels", "boolean"]
    words: tuple[str | float, ...]
    numbers: tuple[float, ...] = ()
    is_complete: bool = True


@final
@dataclass(frozen=True, kw_only=True)
class Edges:
    """Order among public values.

    Parameters
    ----------
    kind
        Whether they are numbers, moments in seconds since 1970, or times of day in seconds since
        midnight.
    edges
        Where one bin ends and the next begins.
    missing
        Values that mean "missing".
    is_whole
        Whether no others are read than whole numbers, or midnights.
    """

    kind: Literal["number", "date", "time"]
    edges: tuple[float, ...]
    missing: tuple[float, ...]
    is_whole: bool


@final
@dataclass(frozen=True, kw_only=True)
class PartOf:
    """A part of what another column holds.

    Parameters
    ----------
    part
        Which: weekday, month or hour.
    bounds
        What is below or above is taken for these, in seconds since 1970.
    moments
        The rule of the other column.
    """

    kind: Literal["part"] = "part"
    part: str
    bounds: tuple[int, int]
    moments: Edges


@final
@dataclass(frozen=True, kw_only=True)
class Unread:
    """No engine reads the column: its tables are read as files or frames."""

    kind: Literal["unread"] = "unread"


Rule: TypeAlias = Levels | Edges | PartOf | Unread
