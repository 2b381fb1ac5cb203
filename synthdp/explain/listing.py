"""Tables and lists for people, of which only the beginning is shown."""

from collections.abc import Iterable, Sequence

MAX_LINES = 100
"""Lines of a table or list that are shown: about two screens. All are in the file and in the JSON."""


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
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def shortened_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of the first rows under a header, and how many more there are."""
    return table(header, rows[:MAX_LINES]) + _more(len(rows))


def shortened(lines: Sequence[str]) -> str:
    """The first lines, and how many more there are."""
    return "\n".join(lines[:MAX_LINES]) + _more(len(lines))


def _more(n_lines: int) -> str:
    more = n_lines - MAX_LINES
    return f"\n... and {more} more; --json lists them" if more > 0 else ""
