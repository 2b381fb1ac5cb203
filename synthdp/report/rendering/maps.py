"""Maps: tables of numbers as colours, and graphs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthdp.report.rendering.charts import beside
from synthdp.report.rendering.figures import DARK, WIDTH, Words, drawn, import_matplotlib, shortened

FloatArray = NDArray[np.float64]

MAX_NAMED = 24
"""Rows of a map that can have a name each; of more, some are named."""


def heat_map(
    words: Words,
    values: FloatArray,
    labels: tuple[Sequence[str], Sequence[str]],
    *,
    limits: tuple[float, float],
    power: float = 1.0,
) -> str:
    """A table of numbers as colours, with a scale; what is NaN stays empty.

    Parameters
    ----------
    words
        What it is called.
    values
        Shape ``(n_rows, n_columns)``.
    labels
        Names of rows and columns.
    limits
        The numbers at the ends of the scale; if the first is below 0 the colours have a middle.
    power
        Colours grow with this power of the numbers: below 1 small ones can be told apart beside
        large ones.
    """
    norm = import_matplotlib().colors.PowerNorm(power, *limits)
    named = [[shortened(names[place], 16) for place in _named(len(names))] for names in labels]
    left, below = (beside(names, points=7.5, most=1.25) for names in named)
    height = WIDTH * 0.62 + below

    def paint(axes: Any) -> None:
        # Both can be told apart by the colour-blind, and in print.
        colours = "PuOr" if limits[0] < 0 else "YlGnBu"
        image = axes.imshow(values, cmap=colours, norm=norm, aspect="auto", interpolation="none")
        for axis, names, n, turn in zip(
            (axes.yaxis, axes.xaxis), named, values.shape, (0, 90), strict=True
        ):
            axis.set_ticks(_named(n), names, fontsize=7.5, rotation=turn)
        axes.spines[:].set_visible(False)
        scale = axes.figure.add_axes(
            (1 - 0.62 / WIDTH, below / height, 0.12 / WIDTH, 1 - (below + 0.1) / height)
        )
        bar = axes.figure.colorbar(image, cax=scale)
        bar.outline.set_visible(False)
        # As vectors the scale's steps show hairlines between them.
        bar.solids.set_rasterized(True)
        scale.locator_params(nbins=5)

    margins = (left, below, 0.75, 0.1)
    return drawn(words, paint, height=height, margins=margins)


def _named(n: int) -> list[int]:
    """The places of a map that have names: all, or evenly spaced ones."""
    return list(range(0, n, -(-n // MAX_NAMED)))


def graph_map(
    words: Words,
    nodes: Sequence[str],
    edges: Mapping[tuple[str, str], float],
    places: Mapping[str, Sequence[float]],
) -> str:
    """Nodes with their names, and edges, the thicker and darker the larger their number from 0 to
    1.

    Parameters
    ----------
    words
        What it is called.
    nodes
        Their names.
    edges
        Pairs of nodes, and their numbers.
    places
        Of each node where it lies, two numbers from -1 to 1.
    """
    matplotlib = import_matplotlib()
    height = WIDTH * 0.9
    # The strongest edges are drawn last, on top of all others.
    order = sorted(edges, key=lambda pair: edges[pair])

    def paint(axes: Any) -> None:
        strengths = np.array([edges[pair] for pair in order])
        lines = [(places[one], places[other]) for one, other in order]
        shades = matplotlib.colormaps["YlGnBu"](0.15 + 0.85 * strengths) if order else None
        axes.add_collection(
            matplotlib.collections.LineCollection(
                lines, linewidths=0.6 + 4 * strengths, colors=shades
            )
        )
        points = np.array([places[name] for name in nodes])
        axes.plot(points[:, 0], points[:, 1], "o", color=DARK, markersize=4, linestyle="none")
        size = 8 if len(nodes) <= 30 else 6
        for name, (x, y) in zip(nodes, points, strict=True):
            axes.text(x, y + 0.04, shortened(name, 16), horizontalalignment="center", fontsize=size)
        axes.set_axis_off()
        axes.set_xlim(-1.25, 1.25)
        axes.set_ylim(-1.1, 1.2)

    return drawn(
        words,
        paint,
        height=height,
        margins=(0.05, 0.05, 0.05, 0.05),
    )
