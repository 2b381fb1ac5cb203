"""Public cells in which values are looked for before anything is known of them."""

import numpy as np
from numpy.typing import NDArray

OCTAVES = 61
"""Powers of two that grid points may reach on either side of 0: 2^61 leaves int64 room for a
difference.
"""

LIKELY_NUMBER = 10
"""Where to begin if no cell is clearly above its noise: any public place will do."""

MAX_POWER = 12
"""Of ten: the likely number times this power still fits a grid point; finer grids are for numbers
below 1000.
"""


def octaves() -> NDArray[np.int64]:
    """Where the cells of a logarithmic grid begin: ``.. -7, -3, -1, 0, 1, 2, 4 ..``.

    0 has a cell of its own, and so have 1 and -1; then come 2 and 3, 4 to 7, and the same below 0.
    """
    powers = 2 ** np.arange(OCTAVES, dtype=np.int64)
    return np.concatenate([1 - 2 * powers[::-1], [0], powers])


def likely_number(decimals: int) -> int:
    """A grid point that numbers are often near to.

    Numbers with many decimals are measured ones, whose grid was fitted to them.
    """
    power = min(max(decimals, 0), MAX_POWER)
    return min(int(LIKELY_NUMBER * 10**power), int(octaves()[-1]))
