"""Tails of the noise, in floating point and from the definition."""

import numpy as np
from scipy import stats


def tails(sigma: float) -> np.ndarray:
    """``P(X >= m)`` of the rounded Gaussian for m = 0, 1, .., as far as floating point goes."""
    return stats.norm.sf((np.arange(int(40 * sigma) + 50) - 0.5) / sigma)
