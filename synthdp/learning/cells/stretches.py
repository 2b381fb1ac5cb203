"""Where the records of a column lie: which stretch of noisy cells holds more than noise."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from synthdp.learning.cells.significance import FALSE_ALARM, significance

Floats = NDArray[np.float64]

SURPRISE = 0.25
"""Standard deviations that a cell must stand out more for each cell that it is away from a likely
one.
"""

PROBABLE = 2.5
"""Standard deviations by which a tail beside records must stand out."""

CLEAR = 0.9
"""Of two stretches that begin alike the shorter is taken if it stands out by this part of what the
longer does.
"""


def standing_out(
    counts: Floats, stddev: float, *, false_alarm: float = FALSE_ALARM
) -> NDArray[np.bool_]:
    """Which cells hold records beyond doubt, alone or together with their neighbours; shape
    ``(n_cells,)``.

    Cells are tested alone, in pairs, in fours, and so on: records that are spread thinly show in
    wide windows only. Of the windows that are significant, those without a significant part count;
    of each the stretch that speaks most clearly.

    >>> standing_out(np.array([0.0, 1.0, 60.0, 2.0]), 5.0).tolist()
    [False, False, True, False]
    """
    n_cells = len(counts)
    # Windows of all widths, half overlapping: fewer than twice as many as cells.
    limit = significance(2 * n_cells, false_alarm)
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    explained = np.zeros(n_cells, dtype=np.bool_)
    width = 1
    while width <= n_cells:
        starts = np.arange(0, n_cells - width + 1, max(width // 2, 1))
        passed = sums[starts + width] - sums[starts] > limit * stddev * sqrt(width)
        for start in starts[passed].tolist():
            # Narrow windows come first, and a wide one that holds one of them says nothing more.
            if not explained[start : start + width].any():
                stop = start + 1 + _clearest(counts[start : start + width])
                explained[stop - 1 - _clearest(counts[start:stop][::-1]) : stop] = True
        width *= 2
    return explained


def _clearest(counts: Floats) -> int:
    """The last cell of the shortest stretch from the first on that stands out about as much as any."""
    # In standard deviations of the sum, up to a factor.
    evidence = np.cumsum(counts) / np.sqrt(np.arange(1, len(counts) + 1))
    return int(np.argmax(evidence >= CLEAR * evidence.max()))


def occupied_cells(
    counts: Floats,
    stddev: float,
    *,
    reach: int = 0,
    most_tails: int = 64,
    likely: int | None = None,
    false_alarm: float = FALSE_ALARM,
    probable: float = PROBABLE,
) -> tuple[int, int]:
    """First and last cell of the stretch that holds records.

    It is the stretch of the cells that stand out, and probable tails beside them, one after the
    other and each of up to ``reach`` cells. If none stands out, the cell with the largest count is
    all that is known, or, with a ``likely`` cell, one with a large count not far from it: noise
    alone would as soon be astronomic as not.

    Parameters
    ----------
    counts, stddev
        Noisy counts, and the standard deviation of their noise.
    reach
        Most cells of one tail.
    most_tails
        Most tails on each side.
    likely
        A cell that often holds records.
    false_alarm
        Probability, in an empty histogram, of taking noise for records.
    probable
        Standard deviations by which a tail must stand out.

    >>> occupied_cells(np.array([0.0, 1.0, 60.0, 2.0, 90.0, -3.0]), 5.0)
    (2, 4)
    """
    held = np.flatnonzero(standing_out(counts, stddev, false_alarm=false_alarm))
    if not held.size:
        distance = 0 if likely is None else np.abs(np.arange(len(counts)) - likely)
        # The largest of several hundred noises would as soon be at 1e300 as at 1: each step away
        # from the likely cell has to be earned.
        best = int(np.argmax(counts / stddev - SURPRISE * distance))
        return best, best
    first = int(held[0])
    last = int(held[-1])
    for _ in range(most_tails):
        below = _tail(counts[:first][::-1][:reach], stddev, probable)
        above = _tail(counts[last + 1 :][:reach], stddev, probable)
        first = first - below
        last = last + above
        if not below and not above:
            break
    return first, last


def _tail(counts: Floats, stddev: float, probable: float) -> int:
    """How many of the cells next to a held stretch belong to it: those that together speak most
    clearly for it.
    """
    if not counts.size:
        return 0
    evidence = np.cumsum(counts) / (stddev * np.sqrt(np.arange(1, len(counts) + 1)))
    best = int(np.argmax(evidence))
    return best + 1 if evidence[best] > probable else 0
