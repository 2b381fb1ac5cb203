"""How much of a table was replaced since an earlier one, pair by pair and column by column:
empirical Bayes over all of them.

Mostly it is columns that move, by a new code book or a new policy, and their pairs with them; and
here and there a pair moves by far more. So the turnover of a pair is taken to be the sum of those
of its columns, times a factor of its own.
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
"""Of a pair's own, beside what its columns say: the support of a mixture. Where few columns moved
by much, the others are far below the mean.
"""
_PRIOR_SPREAD, _PRIOR_COUNT = 1.0, 3.0
"""Of the factors, before any pair is seen: log-normal around 1 of this standard deviation, and as
many pairs as it counts for.
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
    precisions = np.array([1.0 / each.stddev**2 for each in observations])
    values = np.array([each.value for each in observations])
    precision = precisions.sum()
    mean = values @ precisions / precision
    return Observed(float(mean), float(1.0 / np.sqrt(precision)))


def expected_turnovers(observed: Mapping[Clique, Observed]) -> dict[Clique, float]:
    """The posterior mean of each pair's turnover."""
    if not observed:
        return {}
    values, stddevs = _arrays(observed.values())
    prior_means = _column_sums(list(observed), values, stddevs)
    posterior = _posterior_means(values, stddevs, prior_means)
    return dict(zip(observed, posterior.tolist(), strict=True))


def turnovers_alike(observed: Mapping[str, Observed]) -> dict[str, float]:
    """The posterior mean of each column's turnover, if nothing but their mean says more of one."""
    if not observed:
        return {}
    values, stddevs = _arrays(observed.values())
    prior_means = np.full(values.size, _common_mean(values, stddevs))
    posterior = _posterior_means(values, stddevs, prior_means)
    return dict(zip(observed, posterior.tolist(), strict=True))


def _arrays(observed: Collection[Observed]) -> tuple[FloatArray, FloatArray]:
    values = np.array([each.value for each in observed])
    stddevs = np.array([each.stddev for each in observed])
    return values, stddevs


def _posterior_means(
    values: FloatArray, stddevs: FloatArray, prior_means: FloatArray
) -> FloatArray:
    """Each is its mean times a factor of its own, which all of them together say more of; all
    arrays of shape ``(n,)``.
    """
    # A row for each turnover, a column for each factor that it may have.
    turnovers = prior_means[:, None] * _FACTORS
    # Noise is Gaussian all but exactly: an estimate is a sum over many cells.
    deviations = (values[:, None] - turnovers) / stddevs[:, None]
    log_likelihoods = -0.5 * np.square(deviations)
    shares = posterior_shares(
        log_likelihoods, _prior_weights(), prior_count=_PRIOR_COUNT, n_rounds=_ROUNDS
    )
    return np.asarray((shares * turnovers).sum(axis=1))


def _common_mean(values: FloatArray, stddevs: FloatArray) -> float:
    """The mean by precision, but not below what noise would hide."""
    mean = float(np.average(values, weights=stddevs**-2.0))
    return max(mean, _hidden_turnover(stddevs))


def _hidden_turnover(stddevs: FloatArray) -> float:
    """The standard deviation of the mean of all: nobody can tell that nothing at all was replaced,
    as so much would not show.
    """
    precision = np.sum(1.0 / np.square(stddevs))
    return float(1.0 / np.sqrt(precision))


def _column_sums(pairs: Sequence[Clique], values: FloatArray, stddevs: FloatArray) -> FloatArray:
    """For each pair the sum of the turnovers of its columns, which are fitted by least squares,
    none below 0.
    """
    columns = sorted({name for pair in pairs for name in pair})
    design = np.array([[float(name in pair) for name in columns] for pair in pairs])
    hidden = _hidden_turnover(stddevs)
    sums = np.full(len(pairs), _common_mean(values, stddevs))
    for _ in range(_REFITS):
        # Pairs differ from the sum of their columns by about as much as it is, so weights follow
        # from the last fit.
        spread = np.sqrt(np.square(stddevs) + np.square(sums))
        turnovers, _ = nnls(design / spread[:, None], values / spread)
        sums = design @ turnovers + hidden
    return sums


def _prior_weights() -> FloatArray:
    weights = np.exp(-0.5 * np.square(np.log(_FACTORS) / _PRIOR_SPREAD))
    return np.asarray(weights / weights.sum())
