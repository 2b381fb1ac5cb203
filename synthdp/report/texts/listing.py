"""Tables and lists for people, of which only the beginning is shown."""

from collections.abc import Iterable, Sequence
from textwrap import wrap

MAX_LINES = 100
"""Lines of a table or list that are shown: about two screens. All are in the file and in the JSON.
"""


WIDTH = 100
"""Characters of a line of a screen, as most terminals have it or more."""


def wrapped(line: str, *, indent: str = "  ") -> str:
    """A line as so many as a screen needs for it, the others indented."""
    return "\n".join(wrap(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """All rows under a header, in columns as wide as they need.

    >>> print(table(("name", "n"), [("a", "10"), ("bcdef", "2")]))
    name   n
    a      10
    bcdef  2
    """
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def shortened_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    most: int = MAX_LINES,
    rest: str = "--json lists them",
) -> str:
    """A table of the first rows under a header, how many more there are, and where."""
    return table(header, rows[:most]) + _more(len(rows) - most, rest)


def shortened(
    lines: Sequence[str], *, most: int = MAX_LINES, rest: str = "--json lists them"
) -> str:
    """The first lines, how many more there are, and where."""
    return "\n".join(lines[:most]) + _more(len(lines) - most, rest)


def _more(n_left: int, rest: str) -> str:
    return f"\n... and {n_left} more; {rest}" if n_left > 0 else ""
