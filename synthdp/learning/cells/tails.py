"""Tails: how records beyond a held stretch, of which only the number is known, may lie in public
cells.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEAR_CELLS, NEAR_WIDTHS = 2, 2
"""Records are taken to lie in so many cells, or within so many times the width of the held stretch,
...
"""

FAR, FARTHER = 12.0, 1.0
"""... unless by this log ratio it is likelier that they lie further away, and by so much more for
each further step.
"""


CROSSING = 6.0
"""The same for records on the other side of 0: most columns have none there."""


def tail_masses(
    counts: Floats,
    edges: Ints,
    stddev: float,
    total: float,
    *,
    width: int,
    to_zero: int | None = None,
) -> Floats:
    """How many of so many records each of the nearest cells has, up to the last that has any.

    The most likely of some ways to lie: evenly in the nearest cells, or evenly in the nearest part
    of the axis.

    Parameters
    ----------
    counts, stddev
        Noisy counts of the cells beyond, the nearest first, and the standard deviation of their
        noise.
    edges
        Where the cells begin and end, as distances from the held stretch, from 0; shape ``(n_cells
        + 1,)``.
    total
        Records in all cells, above 0.
    width
        Grid points of the held stretch.
    to_zero
        Number of cells up to that of 0; None if 0 lies not on this side.

    >>> tail_masses(
    ...     np.array([30.0, 50.0, 2.0, 5.0]), np.array([0, 1, 3, 7, 15]), 20.0, 90.0, width=1
    ... )
    array([45., 45.])
    """
    shares, price = _ways(edges, width, to_zero)
    # The log likelihood of Gaussian counts, less what all shapes have in common.
    likelihood = total * (shares @ counts - total / 2 * (shares**2).sum(axis=1)) / stddev**2
    best = shares[int(np.argmax(likelihood - price))]
    masses: Floats = total * best[: int(np.flatnonzero(best)[-1]) + 1]
    return masses


def _ways(edges: Ints, width: int, to_zero: int | None) -> tuple[Floats, Floats]:
    """Shares of the cells, one way to lie a row, and how much likelier each must be than the near
    ones.
    """
    n_cells = len(edges) - 1
    # The two families of shapes that are tried: even over cells, which is even in the logarithm,
    # and even on the axis.
    in_cells = np.tri(n_cells) / np.arange(1, n_cells + 1)[:, None]
    reach = float(width) * 2.0 ** np.arange(64)
    reach = reach[reach < 2.0 * float(edges[-1])]
    on_axis = (
        np.diff(np.minimum(edges.astype(np.float64), reach[:, None]))
        / np.minimum(reach, edges[-1])[:, None]
    )
    steps = np.concatenate(
        [np.arange(n_cells) - NEAR_CELLS + 1, np.log2(reach / (NEAR_WIDTHS * width))]
    )
    ways = np.concatenate([in_cells, on_axis])
    # A prior: far away only if the counts say so loudly.
    price = np.where(steps > 0, FAR + FARTHER * steps, 0.0)
    if to_zero is not None:
        crosses = ways[:, to_zero:].any(axis=1)
        price = np.where(crosses, np.maximum(price, CROSSING), 0.0)
    return ways, price
