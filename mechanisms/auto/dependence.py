"""How strong dependences are, by errors that were released with noise: empirical Bayes over all of
them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_GRID = np.concatenate([[0.0], np.geomspace(1e-4, 2.0, 48)])
"""Strengths of the mixture, as L1 distances in shares of all records: at most 2, steps of a
quarter, finer than noise can tell apart.
"""
_PRIOR_MEAN, _PRIOR_NONE = 0.1, 0.05
"""Prior of the mixture's weights: an exponential distribution of this mean, and so much at 0."""
_PRIOR_COUNT = 3.0
"""How many pairs the prior counts as: with few scores the mixture would follow their noise."""
_ROUNDS = 200
"""Of expectation-maximisation; the mixture's likelihood is flat long before its weights settle."""


def squared_strengths(
    noisy: Sequence[float],
    stddev: float,
    explained: Sequence[float],
    *,
    total: float,
    shown: Sequence[float] | float = 1.0,
) -> FloatArray:
    """Expected squared L1 distances of dependences, given noisy errors that other things add to.

    The error of a pair is ``sqrt(shown dependence^2 + explained)`` [right angles], and is released
    with Gaussian noise. The distribution of the dependences is estimated from all of them, without
    assuming a shape [Kiefer and Wolfowitz 1956], so that the largest of many noisy errors are not
    believed more than they deserve, and those that noise hides are not taken to be nothing.

    Parameters
    ----------
    noisy
        Released errors, in records.
    stddev
        Of their noise, above 0.
    explained
        For each the squared error that does not come from dependence.
    total
        Number of records.
    shown
        The share of each squared dependence that its error holds: merged levels hide some.

    Returns
    -------
    Posterior means of squared distances, in squared records, shape ``(n_errors,)``.
    """
    # An L1 distance between two tables of n records is at most 2 n, and the grid ends there.
    strengths = _GRID * total
    # Residuals stand at right angles, so squares add up: what the columns' own errors and chance
    # make of a pair is known, and what is left is dependence.
    seen = np.multiply.outer(np.broadcast_to(shown, len(noisy)), np.square(strengths))
    expected = np.sqrt(seen + np.asarray(explained, dtype=np.float64)[:, None])
    logs = -0.5 * np.square((np.asarray(noisy, dtype=np.float64)[:, None] - expected) / stddev)
    # The imagined pairs keep a table of three columns, which has three scores, from being explained
    # by its own noise; beside the 300 pairs of 25 columns they are nothing.
    shares = posterior_shares(logs, _prior_weights(), prior_count=_PRIOR_COUNT, n_rounds=_ROUNDS)
    # The mean of the square, not the square of the mean: the plan adds up squared errors, and pairs
    # of which noise hides everything keep the little that they may be worth.
    return np.asarray(shares @ np.square(strengths))


def posterior_shares(
    logs: FloatArray, prior: FloatArray, *, prior_count: float, n_rounds: int
) -> FloatArray:
    """How probable each point of a mixture's support is for each observation, once the weights of
    the mixture are estimated from all of them.

    Parameters
    ----------
    logs
        Logarithms of likelihoods, shape ``(n_observations, n_points)``, each row up to a constant.
    prior
        Weights before any observation, shape ``(n_points,)``, summing to 1.
    prior_count
        How many observations the prior counts as.
    n_rounds
        Of expectation-maximisation.

    Returns
    -------
    Shape ``(n_observations, n_points)``, rows summing to 1.
    """
    # Relative to the best of each row: far tails would underflow to 0 / 0, and a factor common to a
    # row cancels in its shares.
    likelihoods = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights = prior
    # Expectation-maximisation for the weights of a mixture over a fixed grid: concave, so there is
    # one optimum, and each round is two products of small matrices.
    for _ in range(n_rounds):
        shares = likelihoods * weights
        shares /= shares.sum(axis=1, keepdims=True)
        weights = shares.sum(axis=0) + prior_count * prior
        weights /= weights.sum()
    shares = likelihoods * weights
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _prior_weights() -> FloatArray:
    # The grid is geometric, so a point stands for a stretch in proportion to itself: the density
    # times the point is the probability.
    weights = _GRID * np.exp(-_GRID / _PRIOR_MEAN)
    weights *= (1.0 - _PRIOR_NONE) / weights.sum()
    weights[0] = _PRIOR_NONE
    return np.asarray(weights)
