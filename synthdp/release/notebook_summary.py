"""What a notebook shows of a release: its guarantee, what was measured, and its columns in
pictures.
"""

from collections.abc import Iterator
from html import escape

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cautions import grouped
from synthdp.core.measurement import estimate_total
from synthdp.release.answers import Answers
from synthdp.release.result import FittedPart, Result

MAX_PICTURES = 12
"""Columns of each table that are drawn."""

MAX_BARS = 64
"""Levels of a column without an order that are drawn, the most frequent ones."""

NARROW, MANY = 0.01, 0.1
"""A bin that is narrower than this part of its axis and has more rows than that is described in
words.
"""

LOGARITHMIC = 50.0
"""Densities of which the largest is so many times the median are drawn by their logarithms."""

WIDTH, HEIGHT = 180.0, 60.0
"""Pixels of a picture."""


def notebook_summary(release: Result) -> str:
    """The guarantee, what was measured, all cautions and pictures of columns, as HTML that needs
    nothing else; its colours are those of the notebook.
    """
    stated = release.certificate
    parts = release.fitted_parts
    facts = {
        "protected as one": stated.get("unit_of_privacy"),
        "mechanism": (stated.get("mechanism") or {}).get("name"),
        "engine": (stated.get("engine") or {}).get("name"),
        "tables": ", ".join(release.tables) if len(release.tables) > 1 else "",
        "columns": sum(map(len, release.tables.values())),
        "measured": f"{release.n_measured} marginals",
        "records": _records(release, parts),
    }
    rows = "".join(
        f"<tr><th>{name}</th><td>{escape(str(value))}</td></tr>"
        for name, value in facts.items()
        if value
    )
    cautions = "".join(
        f"<li>{escape(caution)}</li>" for caution in grouped(stated.get("cautions", []))
    )
    cautions_html = f"\n<p>Cautions:</p><ul>{cautions}</ul>" if cautions else ""
    guarantee = f"<p><strong>{escape(str(stated.get('guarantee')))}</strong></p>"
    return f"{guarantee}\n<table>{rows}</table>{cautions_html}{''.join(map(_pictures, parts))}"


def _records(release: Result, parts: tuple[FittedPart, ...]) -> str:
    """About how many records of one table there were; of several nothing is said."""
    if len(release.tables) > 1:
        return ""
    measured = parts[0].answers.measurements if parts else ()
    if not (measured and release.knows_size):
        return "hidden by noise"
    return f"about {estimate_total(measured):,.0f}"


def _pictures(part: FittedPart) -> str:
    """What the release says of each column, in one picture each; nothing if there is no model."""
    answers = part.answers
    if not answers.measurements:
        return ""
    names = [name for name in part.drawn if name in answers.schema.names]
    drawn = "".join(
        f'<figure style="margin:0;width:{WIDTH:g}px"><figcaption style="font-size:.85em">{escape(name)}</figcaption>'
        f"{_chart(answers, name)}</figure>"
        for name in names[:MAX_PICTURES]
    )
    rest = len(names) - MAX_PICTURES
    more = f"<p>{rest} more columns are in <code>.marginal</code>.</p>" if rest > 0 else ""
    title = f"{part.label}: columns" if part.label else "Columns"
    return (
        f"\n<details open><summary>{escape(title)}, as the release knows them</summary>"
        f'<div style="display:flex;flex-wrap:wrap;gap:12px 20px;margin:.5em 0">{drawn}</div>{more}</details>'
    )


def _chart(answers: Answers, name: str) -> str:
    """Bars: of bins in their true widths, areas being shares; of levels the most frequent first."""
    column = answers.schema[name]
    counts = np.maximum(answers.marginal([name]).to_numpy(dtype=np.float64), 0.0)
    labels = [str(label) for label in column.labels]
    shares = counts / (counts.sum() or 1.0)
    n_bins = column.n_levels
    if column.axis is not None:
        widths = np.diff(column.axis.drawn_starts).astype(np.float64)
        ends = f"{column.axis.bounds[0]} to {column.axis.bounds[1]}"
        most = int(shares[:n_bins].argmax())
        if widths[most] < NARROW * widths.sum() and shares[most] > MANY:
            ends += f"; {shares[most]:.0%} in {labels[most]}"
    else:
        order = np.argsort(-shares[:n_bins], kind="stable")[:MAX_BARS]
        shares = np.concatenate([shares[order], shares[n_bins:]])
        n_bins = len(order)
        widths = np.ones(n_bins)
        ends = f"{labels[order[0]]} {shares[0]:.0%}"
    missing = float(shares[n_bins:].sum())
    summary = f"{ends}; missing {missing:.0%}" if missing >= 0.005 else ends
    bars = "".join(_bars(shares[:n_bins], widths))
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" height="{HEIGHT:g}" role="img" '
        f'aria-label="{escape(f"Shares of {name}: {summary}")}" fill="currentColor" fill-opacity=".55">{bars}</svg>'
        f'<div style="font-size:.75em;opacity:.8">{escape(summary)}</div>'
    )


def _bars(shares: NDArray[np.float64], widths: NDArray[np.float64]) -> Iterator[str]:
    """A rectangle for each bin that has records: as wide as the bin is on its axis."""
    heights = shares / widths
    positive = heights[heights > 0]
    if positive.size and positive.max() > LOGARITHMIC * np.median(positive):
        heights = np.log(np.maximum(heights / positive.min(), 1.0)) + (heights > 0)
    heights = heights / (heights.max() or 1.0) * HEIGHT
    ends = np.cumsum(widths) / widths.sum() * WIDTH
    for left, right, height in zip(np.append(0.0, ends), ends, heights, strict=False):
        if height > 0:
            tall = max(height, 0.8)
            wide = max(right - left - 0.3, 0.7)
            yield f'<rect x="{left:.1f}" y="{HEIGHT - tall:.1f}" width="{wide:.1f}" height="{tall:.1f}"/>'
