"""How far the values of a synthetic column are from the real ones.

These functions look at the real records without noise: they are for research and for benchmarks on
public tables; publishing what they return about a sensitive table is not covered by any guarantee.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from synthdp.core.errors import ParameterError

Weights: TypeAlias = tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]
"""Of two samples the weights of their numbers; None where they weigh alike."""


def kolmogorov_smirnov(left: ArrayLike, right: ArrayLike, weights: Weights = (None, None)) -> float:
    """Largest distance between the distribution functions of two samples of numbers, between 0 and
    1.

    Parameters
    ----------
    left, right
        Numbers; NaN is left out. Shape ``(n,)`` and ``(m,)``.
    weights
        Of the numbers of each sample; None where they weigh alike.

    Raises
    ------
    ParameterError
        If one holds no number that weighs something.

    >>> kolmogorov_smirnov([1, 2, 3, 4], [3, 4, 5, 6])
    0.5
    """
    return float(np.abs(_gaps(left, right, weights)[1]).max())


def wasserstein(left: ArrayLike, right: ArrayLike, weights: Weights = (None, None)) -> float:
    """Mean distance that the values of one sample have to be moved to become the other's, in units
    of the values.

    Parameters and errors are those of `kolmogorov_smirnov`; values are finite.

    >>> wasserstein([1, 2, 3], [2, 3, 4])
    1.0
    >>> wasserstein([1, 2], [1, 2], (None, np.array([3.0, 1.0])))
    0.25
    """
    points, gaps = _gaps(left, right, weights)
    # In one dimension the cheapest way to move mass is the area between the distribution functions.
    return float(np.abs(gaps[:-1]) @ np.diff(points))


def _gaps(
    left: ArrayLike, right: ArrayLike, weights: Weights
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All numbers of two samples in order, and the difference of the distribution functions from
    each to the next.
    """
    lefts, left_shares = _distribution(left, weights[0])
    rights, right_shares = _distribution(right, weights[1])
    points = np.sort(np.concatenate([lefts, rights]))
    # From the right: at equal values both functions have made their step, so ties add no distance.
    n_left = np.searchsorted(lefts, points, "right")
    n_right = np.searchsorted(rights, points, "right")
    return points, left_shares[n_left] - right_shares[n_right]


def _distribution(
    numbers: ArrayLike, weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The numbers of a sample in order, and for each number of them, from 0 to all, the share of
    the first ones; shapes ``(n,)`` and ``(n + 1,)``.
    """
    sample = np.asarray(numbers, dtype=np.float64)
    present = np.flatnonzero(~np.isnan(sample))
    order = present[np.argsort(sample[present], kind="stable")]
    sums = np.arange(order.size + 1.0)
    if weights is not None:
        sums[1:] = np.cumsum(weights[order])
    if not sums[-1] > 0:
        raise ParameterError("samples: one holds no number; give at least one in each")
    return sample[order], sums / sums[-1]
