"""How far the values of a synthetic column are from the real ones.

These functions look at the real records without noise: they are for research and for benchmarks on
public tables; publishing what they return about a sensitive table is not covered by any guarantee.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from synthdp.core.errors import ParameterError


def kolmogorov_smirnov(left: ArrayLike, right: ArrayLike) -> float:
    """Largest distance between the distribution functions of two samples of numbers, between 0 and
    1.

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
    return float(np.abs(_gaps(left, right)[1]).max())


def wasserstein(left: ArrayLike, right: ArrayLike) -> float:
    """Mean distance that the values of one sample have to be moved to become the other's, in units
    of the values.

    Parameters and errors are those of `kolmogorov_smirnov`; values are finite.

    >>> wasserstein([1, 2, 3], [2, 3, 4])
    1.0
    """
    points, gaps = _gaps(left, right)
    return float(np.abs(gaps[:-1]) @ np.diff(points))


def _gaps(left: ArrayLike, right: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All numbers of two samples in order, and the difference of the distribution functions from
    each to the next.
    """
    arrays = [np.asarray(sample, dtype=np.float64) for sample in (left, right)]
    first, second = (np.sort(array[~np.isnan(array)]) for array in arrays)
    if not (first.size and second.size):
        raise ParameterError("samples: one holds no number; give at least one in each")
    points = np.sort(np.concatenate([first, second]))
    shares = [np.searchsorted(sample, points, "right") / sample.size for sample in (first, second)]
    return points, shares[0] - shares[1]
