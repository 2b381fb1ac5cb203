"""Weighted counts of a marginal, with limits by the noise that was recorded.

A weighted count is a sum of counts, each times the mean weight of its level. Of a measurement with
independent noise that holds the columns and the weight, its variance is the sum of the cells', each
times the square of that weight. The best linear estimate, which uses all measurements, has no more.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from synthdp.core.cliques import Clique
from synthdp.core.measurement import FloatArray, LinearMeasurement
from synthdp.core.requests import check_cliques
from synthdp.release.drawing.weighting import mean_weights, weight_of
from synthdp.release.uncertainty.cell_estimates import cell_estimates
from synthdp.release.uncertainty.intervals import MEASURED, MODEL, check_interval, with_intervals
from synthdp.schema.cell_labels import cell_labels
from synthdp.schema.schema import Schema


def weighted_marginal(
    schema: Schema,
    measurements: Sequence[LinearMeasurement],
    columns: Sequence[str],
    interval: float | None,
    expected: Callable[[Clique], FloatArray],
) -> pd.Series | pd.DataFrame:
    """Weighted counts of all combinations of levels; see `Answers.marginal`.

    Parameters
    ----------
    schema, measurements
        What the columns mean, and everything that was measured.
    columns
        Names of the marginal's columns, without the column of weights.
    interval
        Probability of limits; None for counts alone.
    expected
        The model's counts of a marginal.
    """
    weight = weight_of(schema)
    names = tuple(columns)
    (clique,) = check_cliques(schema.domain, [(*names, weight)])
    means = mean_weights(schema)
    index = cell_labels(schema, names)
    by_model = (expected(clique) @ means).ravel()
    if interval is None:
        return pd.Series(by_model, index=index, name="count")
    check_interval(interval)
    estimates = cell_estimates(schema.domain, measurements, clique)
    variance = _least_variance(measurements, clique, means)
    if variance is not None and estimates.is_known.all():
        from scipy.special import ndtri

        counts = (estimates.counts @ means).ravel()
        reach = ndtri((1.0 + interval) / 2.0) * np.sqrt(variance.ravel())
        low, high, basis = counts - reach, counts + reach, MEASURED
    else:
        # Limits of each level that hold together, added up: they are wide, and right.
        each = 1.0 - (1.0 - interval) / means.size
        limits = with_intervals(schema, measurements, clique, each, expected)
        shape = (len(index), means.size)
        counts = by_model
        low = limits["low"].to_numpy().reshape(shape) @ means
        high = limits["high"].to_numpy().reshape(shape) @ means
        basis = MODEL
    found = {"count": counts, "low": low, "high": high}
    at_least = {name: np.maximum(values, 0.0) for name, values in found.items()}
    return pd.DataFrame({**at_least, "basis": basis}, index=index)


def _least_variance(
    measurements: Sequence[LinearMeasurement], clique: Clique, means: FloatArray
) -> FloatArray | None:
    """Variances of the weighted counts by the best single measurement that holds all columns level
    by level; None if there is none.
    """
    best: FloatArray | None = None
    for measurement in measurements:
        if not set(clique) <= set(measurement.clique) or set(clique) & measurement.groups.keys():
            continue
        others = tuple(i for i, name in enumerate(measurement.clique) if name not in clique)
        left = [name for name in measurement.clique if name in clique]
        cells = np.transpose(
            np.asarray(measurement.variance.sum(axis=others)), [left.index(n) for n in clique]
        )
        variance = cells @ np.square(means)
        if best is None or variance.sum() < best.sum():
            best = variance
    return best
