"""Charts of shares, errors and curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from synthdp.report.rendering.figures import (
    COLOURS,
    DARK,
    DASHES,
    GREY,
    MARKS,
    Words,
    drawn,
    import_matplotlib,
    shortened,
)
from synthdp.report.rendering.section import Key

FloatArray = NDArray[np.float64]

ROW = 0.2
"""Inches of a row of a chart with a name in front of each."""


def colour_of(place: int) -> str:
    """The colour of the table at a place."""
    return COLOURS[place % len(COLOURS)]


def turned(place: int) -> int:
    """Which dash and mark a table has: other ones than the table of the same colour six places
    before it.

    >>> [turned(place) for place in (0, 5, 6, 7, 12)]
    [0, 5, 1, 2, 2]
    """
    return (place + place // len(COLOURS)) % len(COLOURS)


def key_of(place: int, what: str, form: str = "line") -> Key:
    """How the table at a place is drawn; below 0 it is what others are held against."""
    if place < 0:
        return Key(what, "#777777" if form == "line" else GREY, form, "5 3")
    return Key(what, colour_of(place), form, _STROKES[turned(place)], _SHAPES[turned(place)])


_STROKES = ("none", "5 3", "8 3 2 3", "2 3", "8 2", "2 2")
_SHAPES = (
    "M10 6a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
    "M10 2H18V10H10Z",
    "M14 1L19 10H9Z",
    "M14 1L19 6L14 11L9 6Z",
    "M14 11L19 2H9Z",
    "M12 1H16V4H19V8H16V11H12V8H9V4H12Z",
)
"""`DASHES` and `MARKS` as SVG writes them."""


def beside(labels: Sequence[str], *, points: float = 8, most: float = 1.5) -> float:
    """Inches that names need beside an axis; letters are about half as wide as high."""
    return min(max(map(len, labels), default=1) * points * 0.0085 + 0.12, most)


def rows_of_shares(
    words: Words,
    labels: Sequence[str],
    reference: ArrayLike,
    others: Sequence[ArrayLike],
    *,
    limits: ArrayLike | None,
) -> str:
    """Levels below each other: a grey bar of what is referred to, and a mark for each other table.

    Parameters
    ----------
    words
        What it is called.
    labels
        Names of the levels.
    reference
        Lengths of the bars, shape ``(n_levels,)``.
    others
        Places of the marks, each of that shape.
    limits
        Ends of intervals around the bars, shape ``(2, n_levels)``, or None.
    """
    places = np.arange(len(labels))
    names = [shortened(label) for label in labels]

    def paint(axes: Any) -> None:
        axes.barh(places, np.asarray(reference), height=0.72, color=GREY)
        if limits is not None:
            draw_intervals(axes, places, np.asarray(limits), is_upright=False)
        for number, shares in enumerate(others):
            # Marks of several tables beside each other: equal shares would hide all but the last
            # one.
            shift = 0.3 * (number - (len(others) - 1) / 2) / max(len(others) - 1, 1)
            axes.plot(
                np.asarray(shares),
                places + shift,
                **_marks(number),
                markersize=4.5,
                linestyle="none",
            )
        _list_downwards(axes, names)

    height = 0.4 + ROW * max(len(labels), 2)
    return drawn(
        words,
        paint,
        height=height,
        margins=(beside(names), 0.25, 0.15, 0.1),
    )


def _list_downwards(axes: Any, names: Sequence[str]) -> None:
    """Names below each other from the top, and numbers from 0 to the right."""
    axes.set_yticks(np.arange(len(names)), names)
    # Downwards, as tables are read: the first level on top.
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.locator_params(axis="x", nbins=4)


def draw_intervals(
    axes: Any, places: FloatArray | NDArray[np.intp], limits: FloatArray, *, is_upright: bool
) -> None:
    """Draw dark lines from the lower to the upper limits, shape ``(2, n_places)``."""
    draw = axes.vlines if is_upright else axes.hlines
    draw(places, limits[0], limits[1], color=DARK, linewidth=1.1)


def outline(number: int) -> dict[str, Any]:
    """How `stairs` are drawn: as a line, without one down to the axis."""
    line = {"color": colour_of(number), "linestyle": DASHES[turned(number)]}
    return line | {"linewidth": 1.3, "baseline": None}


def _marks(number: int) -> dict[str, Any]:
    return {"color": colour_of(number), "marker": MARKS[turned(number)], "markeredgewidth": 0}


@final
@dataclass(frozen=True, kw_only=True)
class Curve:
    """Points of one line, or marks if it is no line."""

    x: ArrayLike
    y: ArrayLike
    """Its points, shape ``(n,)`` each."""
    place: int
    """Which colour, line and mark it has; below 0 is grey."""
    is_line: bool = True
    is_marked: bool = False
    """Whether the points are joined, and whether each is marked."""

    def draw(self, axes: Any) -> None:
        """Draw it on axes of matplotlib."""
        style: dict[str, Any] = {"color": "#777777", "linestyle": "--"}
        if self.place >= 0:
            marks = _marks(self.place) if self.is_marked else {"color": colour_of(self.place)}
            style = marks | {"linestyle": DASHES[turned(self.place)] if self.is_line else "none"}
        axes.plot(
            np.asarray(self.x),
            np.asarray(self.y),
            **style,
            linewidth=1.4,
            markersize=4 if self.is_line else 2.6,
        )


def curves(
    words: Words,
    lines: Sequence[Curve],
    *,
    labels: tuple[str, str],
    logarithmic: str = "",
    fixed: tuple[float, float] | None = None,
) -> str:
    """Lines or clouds of points.

    Parameters
    ----------
    words
        What it is called.
    lines
        What is drawn, the first undermost.
    labels
        What stands at the two axes.
    logarithmic
        The axes that are: ``""``, ``"x"``, ``"y"`` or ``"xy"``.
    fixed
        Where both axes begin and end.
    """

    def paint(axes: Any) -> None:
        for line in lines:
            line.draw(axes)
        if fixed is not None:
            axes.set_xlim(*fixed)
            axes.set_ylim(*fixed)
        # Errors begin at 0, or small differences look like large ones; logarithms have no 0.
        elif "y" not in logarithmic:
            axes.set_ylim(bottom=0)
        for name in "xy":
            if name in logarithmic:
                make_logarithmic(axes, name)
            else:
                axes.locator_params(axis=name, nbins=5)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])

    return drawn(
        words,
        paint,
        height=2.8,
        margins=(0.65, 0.5, 0.15, 0.12),
    )


def make_logarithmic(axes: Any, name: str) -> None:
    """Give an axis a logarithmic scale, with a few plain numbers at it."""
    ticker = import_matplotlib().ticker
    getattr(axes, f"set_{name}scale")("log")
    axis = getattr(axes, f"{name}axis")
    low, high = axis.get_view_interval()
    # Below two decades the powers of ten alone would leave an axis with one number.
    axis.set_major_locator(
        ticker.LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,), numticks=6)
    )
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def histograms(
    words: Words, values: Sequence[ArrayLike], marks: Sequence[float], *, label: str, end: float
) -> str:
    """How often some numbers occur: a line for each set of them, and an upright dash at a place for
    each.

    Parameters
    ----------
    words
        What it is called.
    values
        The sets of numbers, of any lengths.
    marks
        Of each set a place; NaN for none.
    label
        What stands under the axis.
    end
        The largest of the numbers and places, or more: where the axis ends.
    """
    sets = [np.asarray(each, dtype=np.float64) for each in values]
    # Edges of their own for each set would make the lines incomparable; a little beyond the end, so
    # that the largest number is in a bin.
    edges = np.linspace(0.0, end * 1.02 or 1.0, 21)

    def paint(axes: Any) -> None:
        for number, (each, mark) in enumerate(zip(sets, marks, strict=True)):
            # Shares, for there are many more triples than columns.
            shares = np.histogram(each, edges)[0] / max(each.size, 1)
            axes.stairs(shares, edges, **outline(number))
            if mark == mark:
                axes.axvline(mark, ymax=0.12, color=colour_of(number), linewidth=3)
        axes.set_xlabel(label)
        axes.set_ylabel("share of the marginals")
        axes.set_xlim(0, edges[-1])
        axes.set_ylim(bottom=0)
        axes.locator_params(nbins=5)

    return drawn(
        words,
        paint,
        height=2.6,
        margins=(0.65, 0.5, 0.15, 0.12),
    )


def paired_marks(
    words: Words,
    labels: Sequence[str],
    values: Mapping[int, ArrayLike],
    references: ArrayLike,
    *,
    label: str,
) -> str:
    """Names below each other, of each a grey mark for what is expected and a coloured one for what
    was found.
    """
    places = np.arange(len(labels))
    names = [shortened(label, 24) for label in labels]

    def paint(axes: Any) -> None:
        axes.plot(
            np.asarray(references),
            places,
            color="#777777",
            marker="|",
            markersize=9,
            linestyle="none",
        )
        for number, pair in values.items():
            axes.plot(np.asarray(pair), places, **_marks(number), markersize=4.5, linestyle="none")
        _list_downwards(axes, names)
        axes.grid(axis="y", color="#eeeeee", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set_xlabel(label)

    height = 0.65 + ROW * max(len(labels), 2)
    return drawn(
        words,
        paint,
        height=height,
        margins=(beside(names, most=1.9), 0.45, 0.15, 0.1),
    )
