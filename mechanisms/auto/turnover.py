"""How much of a table was replaced since an earlier one, pair by pair and column by column: empirical
Bayes over all of them.

Mostly it is columns that move, by a new code book or a new policy, and their pairs with them; and here
and there a pair moves by far more. So the turnover of a pair is taken to be the sum of those of its
columns, times a factor of its own.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from synthdp.core.cliques import Clique
from synthdp.mechanisms.auto.dependence import posterior_shares

FloatArray = NDArray[np.float64]

_FACTORS = np.geomspace(1e-4, 200.0, 80)
"""Of a pair's own, beside what its columns say: the support of a mixture. Where few columns moved by
much, the others are far below the mean.
"""
_PRIOR_SPREAD, _PRIOR_COUNT = 1.0, 3.0
"""Of the factors, before any pair is seen: log-normal around 1 of this standard deviation, and as many
pairs as it counts for.
"""
_ROUNDS, _REFITS = 100, 4
"""Of expectation-maximisation; of the weights that columns are fitted by."""


@final
class Observed(NamedTuple):
    """An unbiased estimate of a pair's turnover, and its standard deviation."""

    value: float
    stddev: float


def pooled_observations(observations: Sequence[Observed]) -> Observed:
    """Their mean, weighted by precision."""
    weights = np.array([1.0 / each.stddev**2 for each in observations])
    values = np.array([each.value for each in observations])
    return Observed(float(values @ weights / weights.sum()), float(1.0 / np.sqrt(weights.sum())))


def expected_turnovers(observed: Mapping[Clique, Observed]) -> dict[Clique, float]:
    """The posterior mean of each pair's turnover."""
    if not observed:
        return {}
    values, stddevs = _arrays(observed.values())
    posterior = _posterior_means(values, stddevs, _of_columns(list(observed), values, stddevs))
    return dict(zip(observed, posterior.tolist(), strict=True))


def turnovers_alike(observed: Mapping[str, Observed]) -> dict[str, float]:
    """The posterior mean of each column's turnover, if nothing but their mean says more of one."""
    if not observed:
        return {}
    values, stddevs = _arrays(observed.values())
    mean = max(float(np.average(values, weights=stddevs**-2.0)), _least(stddevs))
    posterior = _posterior_means(values, stddevs, np.full(values.size, mean))
    return dict(zip(observed, posterior.tolist(), strict=True))


def _arrays(observed: Collection[Observed]) -> tuple[FloatArray, FloatArray]:
    return (
        np.array([each.value for each in observed]),
        np.array([each.stddev for each in observed]),
    )


def _posterior_means(values: FloatArray, stddevs: FloatArray, means: FloatArray) -> FloatArray:
    """Each is its mean times a factor of its own, which all of them together say more of."""
    # Noise is Gaussian all but exactly: an estimate is a sum over many cells.
    expected = means[:, None] * _FACTORS
    logs = -0.5 * np.square((values[:, None] - expected) / stddevs[:, None])
    shares = posterior_shares(logs, _prior_weights(), prior_count=_PRIOR_COUNT, n_rounds=_ROUNDS)
    return np.asarray((shares * expected).sum(axis=1))


def _least(stddevs: FloatArray) -> float:
    """Nobody can tell that nothing at all was replaced: as much may have been as all together would
    not show.
    """
    return float(1.0 / np.sqrt(np.sum(1.0 / np.square(stddevs))))


def _of_columns(pairs: Sequence[Clique], values: FloatArray, stddevs: FloatArray) -> FloatArray:
    """What columns say of each pair: their turnovers by least squares, none below 0."""
    columns = sorted({name for pair in pairs for name in pair})
    design = np.array([[float(name in pair) for name in columns] for pair in pairs])
    least = _least(stddevs)
    means = np.full(len(pairs), max(float(np.average(values, weights=stddevs**-2.0)), least))
    for _ in range(_REFITS):
        # Pairs differ from the sum of their columns by about as much as it is.
        spread = np.sqrt(np.square(stddevs) + np.square(means))
        turnovers, _ = nnls(design / spread[:, None], values / spread)
        means = design @ turnovers + least
    return means


def _prior_weights() -> FloatArray:
    weights = np.exp(-0.5 * np.square(np.log(_FACTORS) / _PRIOR_SPREAD))
    return np.asarray(weights / weights.sum())
