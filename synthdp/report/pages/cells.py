"""Two tables cell by cell: the shares of a pair of columns in both, and their differences."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.report.rendering.figures import Words, start_of
from synthdp.report.rendering.listing import Listing
from synthdp.report.rendering.maps import heat_map
from synthdp.report.rendering.section import Picture

FloatArray = NDArray[np.float64]

MAX_LEVELS = 40
"""Most levels of each column that are drawn."""


def pair_pictures(
    columns: Sequence[str],
    levels: Sequence[Sequence[str]],
    shares: Sequence[FloatArray],
    *,
    name: str,
    tvd: float,
) -> Iterator[Picture]:
    """Three maps: shares of cells in the real table, in a synthetic one, and the differences.

    Parameters
    ----------
    columns
        What the two axes are called.
    levels
        Names of the levels of each.
    shares
        Of the real table and of a synthetic one, one axis a column.
    name
        What the synthetic table is called.
    tvd
        Their total variation distance.
    """
    kept = [_frequent(shares[0] + shares[1], axis) for axis in (0, 1)]
    labels = [
        [start_of(texts[code]) for code in codes] for texts, codes in zip(levels, kept, strict=True)
    ]
    shown = [table[np.ix_(*kept)] for table in shares]
    most = max(float(table.max()) for table in shown)
    gap = shown[1] - shown[0]
    largest = float(np.abs(gap).max()) or 1.0
    title = f"{columns[0]} x {columns[1]}"
    cells = _cells(columns, labels, shown)
    for what, table, limits in (
        ("real", shown[0], (0.0, most)),
        (name, shown[1], (0.0, most)),
        ("difference", gap, (-largest, largest)),
    ):
        words = Words(
            f"{title}: {what}",
            f"Rows are {columns[0]}, columns {columns[1]}; total variation distance {tvd:.3g}.",
        )
        is_last = what == "difference"
        svg = heat_map(
            words, table, (labels[0], labels[1]), limits=limits, power=1.0 if is_last else 0.5
        )
        note = f"{name} less real; TVD {tvd:.3g}" if is_last else ""
        numbers = cells if is_last else None
        yield Picture(
            svg=svg, title=words.title, note=note, numbers=numbers, begins_row=table is shown[0]
        )


def _frequent(shares: FloatArray, axis: int) -> NDArray[np.intp]:
    """The most frequent levels of a pair's column, in their order."""
    own = shares.sum(axis=1 - axis)
    order = np.argsort(-own, kind="stable")[:MAX_LEVELS]
    return np.sort(order[own[order] > 0])


def _cells(
    columns: Sequence[str], labels: Sequence[Sequence[str]], shown: Sequence[FloatArray]
) -> Listing:
    """The cells in which two tables differ most."""
    gap = (shown[1] - shown[0]).ravel()
    order = np.argsort(-np.abs(gap), kind="stable")[:20]
    rows, places = np.unravel_index(order, shown[0].shape)
    frame = pd.DataFrame(
        {
            "one": [labels[0][place] for place in rows],
            "other": [labels[1][place] for place in places],
            "real": shown[0].ravel()[order],
            "synthetic": shown[1].ravel()[order],
            "difference": gap[order],
        }
    )
    names = {
        "one": columns[0],
        "other": columns[1],
        "real": "real",
        "synthetic": "synthetic",
        "difference": "difference",
    }
    return Listing.from_frame(frame, names, "The 20 cells that differ most.")
