"""Bins as they lie on their axis: in true widths, and where these differ, as densities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from synthdp.report.rendering.charts import draw_intervals, outline
from synthdp.report.rendering.figures import GREY, WIDTH, Words, drawn, shortened, start_of

FloatArray = NDArray[np.float64]

EVEN = 1.1
"""Bins whose widths differ by less than this factor are of one width, as months are nearly."""

LOGARITHMIC = 50.0
"""Densities of which the largest is so many times the median are drawn by their logarithms."""

NARROW, MANY = 0.01, 0.1
"""A bin that is narrower than this part of its axis and has more rows than that is described in
words.
"""

LETTER = 0.075
"""Inches of a letter under an axis."""

HEIGHT, MARGINS, BESIDE = 1.9, (0.5, 0.25, 0.15, 0.22), 0.36
"""Inches: of the picture, beside its axes, and for each level that is no bin."""


@final
@dataclass(frozen=True)
class Steps:
    """Shares of bins."""

    edges: FloatArray
    """Where bins begin, and where the last one ends; shape ``(n_bins + 1,)``."""
    labels: Sequence[str]
    """What the bins are called."""
    shares: Sequence[FloatArray]
    """Of what is referred to, then of other tables; shape ``(n_bins,)`` each."""
    limits: FloatArray | None
    """Ends of intervals around the first shares, shape ``(2, n_bins)``, or None."""

    @property
    def are_even(self) -> bool:
        """Whether all bins are equally wide, so that shares are as good as densities."""
        widths = np.diff(self.edges)
        return bool(widths.max() <= EVEN * widths.min())

    def heights(self, shares: FloatArray) -> FloatArray:
        """Shares of equally wide bins; else densities, in shares of what the mean bin would have."""
        if self.are_even:
            return shares
        # By the mean width, so that the axis has shares of rows again and not rows per unit.
        widths = np.diff(self.edges)
        return np.asarray(shares * widths.mean() / widths, dtype=np.float64)


@final
@dataclass(frozen=True)
class Bars:
    """Shares of levels that are no bins, such as "missing"; as `Steps` has them."""

    labels: Sequence[str]
    shares: Sequence[FloatArray]
    limits: FloatArray | None


def densities(words: Words, steps: Steps, bars: Bars) -> str:
    """A grey surface of what is referred to, lines of other tables, and beside them bars of the
    levels that are no bins.

    Parameters
    ----------
    words
        What it is called.
    steps
        The bins.
    bars
        The levels beside them, on a scale of their own; there may be none.
    """
    left, below, right, above = MARGINS
    room = 0.55 + BESIDE * len(bars.labels) if bars.labels else 0.0

    def paint(axes: Any) -> None:
        _paint_steps(axes, steps)
        if bars.labels:
            place = (
                1 - (right + room - 0.45) / WIDTH,
                below / HEIGHT,
                (room - 0.45) / WIDTH,
                1 - (below + above) / HEIGHT,
            )
            _paint_bars(axes.figure.add_axes(place), bars)

    return drawn(words, paint, height=HEIGHT, margins=(left, below, right + room, above))


def _paint_steps(axes: Any, steps: Steps) -> None:
    reference, *others = (steps.heights(shares) for shares in steps.shares)
    positive = reference[reference > 0]
    is_logarithmic = (
        not steps.are_even
        and positive.size > 0
        and float(positive.max()) > LOGARITHMIC * float(np.median(positive))
    )
    # Logarithms have no 0: empty bins end just below the rarest one.
    floor = 0.5 * float(positive.min()) if is_logarithmic else 0.0
    axes.stairs(np.maximum(reference, floor), steps.edges, fill=True, color=GREY, baseline=floor)
    if steps.limits is not None:
        middles = (steps.edges[:-1] + steps.edges[1:]) / 2
        limits = np.array([steps.heights(each) for each in steps.limits])
        draw_intervals(axes, middles, np.maximum(limits, floor), is_upright=True)
    for number, heights in enumerate(others):
        axes.stairs(np.maximum(heights, floor), steps.edges, **outline(number))
    labels = [shortened(start_of(label), 14) for label in steps.labels]
    places = _ticks(steps.edges, labels, axes.get_position().width * WIDTH)
    names = [labels[place] for place in places]
    axes.set_xticks(steps.edges[places], names)
    axes.get_xticklabels()[0].set_horizontalalignment("left")
    if steps.edges[places[-1]] > steps.edges[0] + 0.9 * (steps.edges[-1] - steps.edges[0]):
        axes.get_xticklabels()[-1].set_horizontalalignment("right")
    axes.set_xlim(steps.edges[0], steps.edges[-1])
    if is_logarithmic:
        axes.set_yscale("log")
        axes.set_ylim(bottom=floor)
    else:
        axes.set_ylim(bottom=0)
        axes.locator_params(axis="y", nbins=4)
    if not steps.are_even:
        # Densities have a unit that nobody knows: only their proportions are to be read.
        axes.set_yticks([], minor=False)
        axes.set_yticks([], minor=True)
        title = f"{'density, logarithmic' if is_logarithmic else 'density'}{_narrow(steps)}"
        axes.set_title(title, fontsize=8, loc="left", pad=3, color="#555555")


def _ticks(edges: FloatArray, labels: Sequence[str], inches: float) -> list[int]:
    """The bins whose beginnings are named: up to four that lie apart."""
    # Names stand at true edges, the ones next to where ticks would be: bins of different widths
    # have no edges at even places.
    wanted = np.linspace(edges[0], edges[-1], 5)[:-1]
    places = [int(np.abs(edges[:-1] - each).argmin()) for each in wanted]
    room = max(0.15, max(len(labels[place]) for place in places) * LETTER / inches)
    kept: list[int] = []
    for place in dict.fromkeys(places):
        # The first name begins at its tick, the others have theirs in the middle.
        # In widths of the axis, by the longest name that might stand there.
        needed = room * (1.5 if len(kept) == 1 else 1.0) * (edges[-1] - edges[0])
        if not kept or edges[place] - edges[kept[-1]] > needed:
            kept.append(place)
    return kept


def _narrow(steps: Steps) -> str:
    """The bin that has many rows and is too narrow to be seen, in words."""
    narrow = np.diff(steps.edges) < NARROW * (steps.edges[-1] - steps.edges[0])
    shares = np.where(narrow, steps.shares[0], 0.0)
    most = int(shares.argmax())
    return (
        f"; {shares[most]:.0%} from {start_of(steps.labels[most])}" if shares[most] > MANY else ""
    )


def _paint_bars(axes: Any, bars: Bars) -> None:
    axes.patch.set_visible(False)
    reference, *others = bars.shares
    places = np.arange(len(bars.labels))
    axes.bar(places, reference, width=0.7, color=GREY)
    if bars.limits is not None:
        draw_intervals(axes, places, bars.limits, is_upright=True)
    for number, shares in enumerate(others):
        style = outline(number)
        axes.hlines(
            shares,
            places - 0.42,
            places + 0.42,
            color=style["color"],
            linestyle=style["linestyle"],
            linewidth=2,
        )
    axes.set_xticks(places, [shortened(label.strip("()"), 8) for label in bars.labels])
    axes.set_xlim(-0.6, len(places) - 0.4)
    axes.set_ylim(bottom=0)
    axes.locator_params(axis="y", nbins=3)
