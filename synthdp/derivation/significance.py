"""Where the records of a column lie: which stretch of noisy cells holds more than noise."""

from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

FALSE_ALARM = 0.005
"""Probability, in an empty histogram, of taking noise for records anywhere."""

SURPRISE = 0.25
"""Standard deviations that a cell must stand out more for each cell that it is away from a likely one."""

PROBABLE = 2.5
"""Standard deviations by which a tail beside records must stand out."""


def significance(n_cells: int) -> float:
    """Standard deviations that none of ``n_cells`` noisy zeros passes, but with a probability of `FALSE_ALARM`.

    >>> round(significance(100), 2)
    4.45
    """
    return sqrt(2 * log(n_cells / FALSE_ALARM))


def standing_out(counts: NDArray[np.float64], stddev: float) -> NDArray[np.bool_]:
    """Which cells hold records beyond doubt, alone or together with their neighbours; shape ``(n_cells,)``.

    Cells are looked at alone, in pairs, in fours, and so on: records that are spread thinly show in
    wide windows only. Of the windows that are significant, those without a significant part count.

    >>> standing_out(np.array([0.0, 1.0, 60.0, 2.0]), 5.0).tolist()
    [False, False, True, False]
    """
    n_cells = len(counts)
    limit = significance(2 * n_cells)
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    explained = np.zeros(n_cells, dtype=np.bool_)
    width = 1
    while width <= n_cells:
        starts = np.arange(0, n_cells - width + 1, max(width // 2, 1))
        passed = sums[starts + width] - sums[starts] > limit * stddev * sqrt(width)
        for start in starts[passed].tolist():
            window = slice(start, start + width)
            if not explained[window].any():
                explained[window] = True
        width *= 2
    return explained


def occupied_cells(
    counts: NDArray[np.float64], stddev: float, *, reach: int = 0, likely: int | None = None
) -> tuple[int, int]:
    """First and last cell of the stretch that holds records.

    It is the stretch of the cells that stand out, and a tail of up to ``reach`` cells beside them
    that is probable. If none stands out, the cell with the largest count is all that is known, or,
    with a ``likely`` cell, one with a large count not far from it: noise alone would as soon be
    astronomic as not.

    >>> occupied_cells(np.array([0.0, 1.0, 60.0, 2.0, 90.0, -3.0]), 5.0)
    (2, 4)
    """
    held = np.flatnonzero(standing_out(counts, stddev))
    if not held.size:
        distance = 0 if likely is None else np.abs(np.arange(len(counts)) - likely)
        best = int(np.argmax(counts / stddev - SURPRISE * distance))
        return best, best
    first, last = int(held[0]), int(held[-1])
    return (
        first - _tail(counts[:first][::-1][:reach], stddev),
        last + _tail(counts[last + 1 :][:reach], stddev),
    )


def _tail(counts: NDArray[np.float64], stddev: float) -> int:
    """How many of the cells next to a held stretch belong to it: those that together speak most clearly for it."""
    if not counts.size:
        return 0
    evidence = np.cumsum(counts) / (stddev * np.sqrt(np.arange(1, len(counts) + 1)))
    best = int(np.argmax(evidence))
    return best + 1 if evidence[best] > PROBABLE else 0
