"""The parts of a page: sections of sentences, pictures and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from synthdp.report.rendering.listing import Listing


@final
@dataclass(frozen=True, kw_only=True)
class Picture:
    """A chart, what it shows in words, and the numbers behind it.

    Parameters
    ----------
    svg
        The chart, as an element of a page.
    title
        What it is of.
    note
        A few words under the title.
    numbers
        The same as a table, for those who cannot see it.
    begins_row
        Whether it stands at the left, where pictures stand side by side.
    """

    svg: str
    title: str
    note: str = ""
    numbers: Listing | None = None
    begins_row: bool = False


@final
@dataclass(frozen=True)
class Key:
    """What is drawn how.

    Parameters
    ----------
    what
        What it stands for.
    colour
        Its colour, as CSS writes it.
    form
        "bar", "line", "tick" or "mark"; "both" is a line or a mark.
    dashes
        Of lines the lengths of strokes and gaps, as SVG writes them.
    shape
        Of marks the path, as SVG writes it, in a box of 28 x 12.
    """

    what: str
    colour: str
    form: str
    dashes: str = "none"
    shape: str = ""


@final
@dataclass(frozen=True, kw_only=True)
class Mark:
    """A number that is shown large.

    Parameters
    ----------
    name
        What it is of.
    value
        The number, as people read it.
    beside
        What to hold it against.
    """

    name: str
    value: str
    beside: str


@final
@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of a page.

    Parameters
    ----------
    name
        What links call it: letters and hyphens.
    title
        Its heading.
    lead
        What the page says first, before its list of sections: a few words, and a sentence.
    marks
        Groups of numbers that are shown large, by what each group is called.
    points
        A list of sentences, and what it is called before them.
    words
        Sentences: how to read it, or why it is empty.
    keys
        What is drawn how in its pictures.
    pictures, listings
        What is in it.
    more
        Further pictures, folded.
    """

    name: str
    title: str
    lead: tuple[str, str] = ("", "")
    marks: Mapping[str, Sequence[Mark]] = field(default_factory=dict)
    points: tuple[str, Sequence[str]] = ("", ())
    words: Sequence[str] = ()
    keys: Sequence[Key] = ()
    pictures: Sequence[Picture] = ()
    listings: Sequence[Listing] = ()
    more: Sequence[Picture] = ()
