"""How far the values of a synthetic column are from the real ones.

These functions look at the real records without noise: they are for research and for benchmarks on
public tables; publishing what they return about a sensitive table is not covered by any guarantee.
"""

import numpy as np
from numpy.typing import ArrayLike

from synthdp.errors import ParameterError


def kolmogorov_smirnov(left: ArrayLike, right: ArrayLike) -> float:
    """Largest distance between the distribution functions of two samples of numbers, between 0 and 1.

    Parameters
    ----------
    left, right
        Numbers; NaN is left out. Shape ``(n,)`` and ``(m,)``.

    Raises
    ------
    ParameterError
        If one holds no number.

    >>> kolmogorov_smirnov([1, 2, 3, 4], [3, 4, 5, 6])
    0.5
    """
    samples = [np.asarray(sample, dtype=np.float64) for sample in (left, right)]
    first, second = (np.sort(sample[~np.isnan(sample)]) for sample in samples)
    if not (first.size and second.size):
        raise ParameterError("samples: one holds no number; give at least one in each")
    points = np.concatenate([first, second])
    gap = np.searchsorted(first, points, "right") / first.size - np.searchsorted(second, points, "right") / second.size
    return float(np.abs(gap).max())
