"""What counts of right and wrong guesses prove of mu and epsilon.

A guess that says "other" with probability p on one table and q on the other belongs to a mechanism
that is mu-GDP only if ``mu >= ndtri(q) - ndtri(p)`` [DRS19], and (epsilon, delta)-DP only if ``q <=
e^epsilon p + delta`` and ``1 - p <= e^epsilon (1 - q) + delta``. With p from above and q from below
[Clopper-Pearson] these are lower bounds that hold with the confidence of both limits.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtr, ndtri

from synthdp.privacy.accounting import gdp_rho

FloatArray = NDArray[np.float64]

N_LIMITS = 4
"""Limits that hold together: of both probabilities, of the guess that proves mu and of the one that
proves epsilon.
"""


class Limits(NamedTuple):
    """How much of a claim counts prove."""

    mu: FloatArray
    epsilon: FloatArray
    """Lower bounds, shape of the counts; below 0 they prove nothing, the less the lower."""


def at_least(hits: ArrayLike, n: int, alpha: float) -> FloatArray:
    """What a probability is at least by hits in n trials, but for a probability alpha
    [Clopper-Pearson].
    """
    hits = np.asarray(hits, dtype=np.float64)
    bounds: FloatArray = np.where(
        hits > 0, betaincinv(np.maximum(hits, 1e-9), n - hits + 1, alpha), 0.0
    )
    return bounds


def at_most(hits: ArrayLike, n: int, alpha: float) -> FloatArray:
    """What a probability is at most by hits in n trials, but for a probability alpha."""
    return 1.0 - at_least(n - np.asarray(hits, dtype=np.float64), n, alpha)


def limits(one: ArrayLike, other: ArrayLike, n: int, *, delta: float, alpha: float) -> Limits:
    """Lower bounds by how many of n runs on either table were guessed to be of the other one.

    Parameters
    ----------
    one, other
        Guesses "other" on either table; arrays of one shape.
    n
        Runs on each table.
    delta
        At which epsilon is bounded.
    alpha
        Probability that one limit is wrong; both are right but for twice that.

    >>> found = limits(390, 610, 1000, delta=1e-2, alpha=0.0125)
    >>> f"{float(found.mu):.2f}", f"{float(found.epsilon):.2f}"
    ('0.38', '0.28')
    """
    # Both limits hold together but for twice alpha; each is taken against the claim's interest.
    high = at_most(one, n, alpha)
    low = at_least(other, n, alpha)
    with np.errstate(divide="ignore"):
        mu = ndtri(low) - ndtri(high)
        ratios = [
            np.log(np.maximum(right - delta, 0.0) / wrong)
            # (epsilon, delta) bounds both kinds of error; the one that proves more counts.
            for right, wrong in ((low, high), (1 - high, 1 - low))
        ]
    return Limits(mu, np.maximum(*ratios))


def best_limits(mu: float, n: int, *, delta: float, alpha: float) -> Limits:
    """What n runs on each table prove of a mechanism that tells them apart as Gaussian noise of
    ``mu`` does.

    By the guess whose expected counts prove most; a run of luck may prove more.

    >>> [f"{float(limit):.2f}" for limit in best_limits(0.5, 5000, delta=1e-2, alpha=0.0125)]
    ['0.42', '0.61']
    """
    at = np.linspace(-4.0, 4.0 + mu, 801)
    best = limits(n * ndtr(-at), n * ndtr(mu - at), n, delta=delta, alpha=alpha)
    return Limits(*(np.maximum(bound.max(), 0.0) for bound in best))


def equivalent_mu(epsilon: float, delta: float) -> float:
    """The mu of the Gaussian noise that is just (epsilon, delta)-DP.

    >>> round(equivalent_mu(1.0, 1e-2), 3)
    0.533
    """
    return sqrt(2 * gdp_rho(epsilon=epsilon, delta=delta))
