"""Two Gaussians that are cut into levels."""

import numpy as np

from synthdp.inference.arrays import Array

CORRELATIONS = np.tanh(np.linspace(0.3, 4.5, 28))
"""Those that are tried; of the last one a value says the other to 1.6 % of the spread."""

PARTS = 6
"""Parts of a level in each of which the other attribute's chances are taken to be the same."""


def cut_gaussians(own: Array, other: Array, correlation: float) -> Array:
    """The share of records in each pair of levels; shape ``(n_own, n_other)``.

    Parameters
    ----------
    own, other
        Shares of the levels of both attributes, in their order; each sum to 1.
    correlation
        Of the Gaussians, between -1 and 1.
    """
    from scipy.special import ndtr  # a tenth of a second, for those who have such attributes

    places = scores_inside(own)
    limits = normal_scores(np.append(0.0, np.cumsum(other)))
    limits[[0, -1]] = -np.inf, np.inf  # rounding leaves no share out
    spread = np.sqrt(1.0 - correlation**2)
    below = ndtr((limits - correlation * places[:, :, None]) / spread).mean(axis=1)
    return np.asarray(own[:, None] * np.diff(below))


def scores_inside(shares: Array) -> Array:
    """Where a standard Gaussian that is cut into levels has the middles of equal parts of each;
    shape ``(n_levels, PARTS)``.
    """
    inside = (np.arange(PARTS) + 0.5) / PARTS
    return normal_scores((np.cumsum(shares) - shares)[:, None] + shares[:, None] * inside)


def normal_scores(probabilities: Array) -> Array:
    """Where a standard Gaussian has them below it; those of 0 and 1 are finite."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(probabilities, 1e-12, 1.0 - 1e-12)))
