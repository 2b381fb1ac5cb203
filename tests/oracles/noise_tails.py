"""Tails of the noise, in floating point and from the definition."""

import numpy as np
from scipy import stats

from synthdp.privacy.noise.gaussian import Noise


def tails(noise: Noise, sigma: float) -> np.ndarray:
    """``P(X >= m)`` for m = 0, 1, .., as far as floating point goes: a sum, or the definition of rounding."""
    m = np.arange(int(40 * sigma) + 50)
    if noise is Noise.ROUNDED:
        return stats.norm.sf((m - 0.5) / sigma)
    above = np.cumsum(np.exp(-0.5 * (m / sigma) ** 2)[::-1])[::-1]  # the smallest first
    return above / (2 * above[0] - 1)
