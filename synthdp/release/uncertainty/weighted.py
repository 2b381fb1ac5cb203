"""Weighted counts of a marginal, with limits by the noise that was recorded.

A weighted count is a sum of counts, each times the mean weight of its level. Of a measurement with
independent noise that holds the columns and the weight, its variance is the sum of the cells', each
times the square of that weight. The best linear estimate, which uses all measurements, has no more.
Limits allow for weights anywhere in their levels.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from synthdp.core.cliques import Clique
from synthdp.core.factor import summed_to
from synthdp.core.measurement import FloatArray, LinearMeasurement
from synthdp.core.requests import check_cliques
from synthdp.release.drawing.weighting import mean_weights, weight_of, weight_ranges
from synthdp.release.uncertainty.cell_estimates import cell_estimates
from synthdp.release.uncertainty.intervals import MEASURED, MODEL, check_interval, with_intervals
from synthdp.schema.cell_labels import cell_labels
from synthdp.schema.schema import Schema

_MAX_LEFT_OPEN = 0.1
"""Of the reach of noise: what is less than that share of it may be left to where in their levels
weights lie, and a count still be called measured.
"""


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
    least, largest = weight_ranges(schema)
    estimates = cell_estimates(schema.domain, measurements, clique)
    counts, basis = by_model, MODEL
    if estimates.is_known.all() and any(_holds(each, clique) for each in measurements):
        from scipy.special import ndtri

        deviations = ndtri((1.0 + interval) / 2.0)
        reach = [
            deviations * np.sqrt(_least_variance(measurements, clique, weights))
            for weights in (least, largest)
        ]
        # Where in its level a weight lies nobody measured: all may weigh least, or most.
        low = (estimates.counts @ least - reach[0]).ravel()
        high = (estimates.counts @ largest + reach[1]).ravel()
        left_open = (np.maximum(estimates.counts, 0.0) @ (largest - least)).max()
        if left_open <= _MAX_LEFT_OPEN * min(each.min() for each in reach):
            counts = (estimates.counts @ means).ravel()
            basis = MEASURED
    else:
        # Limits of each level that hold together, added up: they are wide, and right.
        each = 1.0 - (1.0 - interval) / means.size
        limits = with_intervals(schema, measurements, clique, each, expected)
        shape = (len(index), means.size)
        low = limits["low"].to_numpy().reshape(shape) @ least
        high = limits["high"].to_numpy().reshape(shape) @ largest
    estimated = {"count": counts, "low": low, "high": high}
    at_least = {name: np.maximum(values, 0.0) for name, values in estimated.items()}
    return pd.DataFrame({**at_least, "basis": basis}, index=index)


def _holds(measurement: LinearMeasurement, clique: Clique) -> bool:
    """Whether a measurement holds all columns of a clique level by level."""
    return set(clique) <= set(measurement.clique) and not set(clique) & measurement.groups.keys()


def _least_variance(
    measurements: Sequence[LinearMeasurement], clique: Clique, weights: FloatArray
) -> FloatArray:
    """Variances of the weighted counts by the best single measurement that holds all columns level
    by level, of which there is one.
    """
    variances: list[FloatArray] = []
    for measurement in measurements:
        if not _holds(measurement, clique):
            continue
        cells = summed_to(clique, measurement.variance, measurement.clique)
        variances.append(cells @ np.square(weights))
    return min(variances, key=lambda each: float(each.sum()))
