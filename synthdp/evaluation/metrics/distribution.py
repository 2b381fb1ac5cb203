"""How far the values of a synthetic column are from the real ones.

These functions look at the real records without noise: they are for research and for benchmarks on
public tables; publishing what they return about a sensitive table is not covered by any guarantee.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import wasserstein_distance

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
    first, second = map(np.sort, _numbers(left, right))
    points = np.concatenate([first, second])
    gap = np.searchsorted(first, points, "right") / first.size - np.searchsorted(second, points, "right") / second.size
    return float(np.abs(gap).max())


def wasserstein(left: ArrayLike, right: ArrayLike) -> float:
    """Mean distance that the values of one sample have to be moved to become the other's, in units of the values.

    Parameters and errors are those of `kolmogorov_smirnov`; values are finite.

    >>> wasserstein([1, 2, 3], [2, 3, 4])
    1.0
    """
    return float(wasserstein_distance(*_numbers(left, right)))


def _numbers(*samples: ArrayLike) -> list[NDArray[np.float64]]:
    """Samples without NaN; raises `ParameterError` if one is empty."""
    arrays = [np.asarray(sample, dtype=np.float64) for sample in samples]
    found = [array[~np.isnan(array)] for array in arrays]
    if not all(array.size for array in found):
        raise ParameterError("samples: one holds no number; give at least one in each")
    return found
