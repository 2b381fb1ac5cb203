"""The parts of a page: sections of sentences, pictures and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from synthdp.report.rendering.listing import Listing


@final
@dataclass(frozen=True, kw_only=True)
class Picture:
    """A chart, what it shows in words, and the numbers behind it."""

    svg: str
    """The chart, as an element of a page."""
    title: str
    """What it is of."""
    note: str = ""
    """A few words under the title."""
    numbers: Listing | None = None
    """The same as a table, for those who cannot see it."""
    begins_row: bool = False
    """Whether it stands at the left, where pictures stand side by side."""


@final
@dataclass(frozen=True)
class Key:
    """What is drawn how."""

    what: str
    """What it stands for."""
    colour: str
    """Its colour, as CSS writes it."""
    form: str
    """"bar", "line", "tick" or "mark"; "both" is a line or a mark."""
    dashes: str = "none"
    """Of lines the lengths of strokes and gaps, as SVG writes them."""
    shape: str = ""
    """Of marks the path, as SVG writes it, in a box of 28 x 12."""


@final
@dataclass(frozen=True, kw_only=True)
class Mark:
    """A number that is shown large."""

    name: str
    """What it is of."""
    value: str
    """The number, as people read it."""
    beside: str
    """What to hold it against."""


@final
@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of a page."""

    name: str
    """What links call it: letters and hyphens."""
    title: str
    """Its heading."""
    lead: tuple[str, str] = ("", "")
    """What the page says first, before its list of sections: a few words, and a sentence."""
    marks: Mapping[str, Sequence[Mark]] = field(default_factory=dict)
    """Groups of numbers that are shown large, by what each group is called."""
    points: tuple[str, Sequence[str]] = ("", ())
    """A list of sentences, and what it is called before them."""
    words: Sequence[str] = ()
    """Sentences: how to read it, or why it is empty."""
    keys: Sequence[Key] = ()
    """What is drawn how in its pictures."""
    pictures: Sequence[Picture] = ()
    listings: Sequence[Listing] = ()
    """What is in it."""
    more: Sequence[Picture] = ()
    """Further pictures, folded."""
