"""Intervals around the counts of a marginal, by the noise that was recorded; no records and no fit
are needed.
"""

from collections.abc import Callable, Sequence
from numbers import Real

import numpy as np
import pandas as pd

from synthdp.core.cliques import Clique
from synthdp.core.errors import ModelTooLargeError, ParameterError
from synthdp.core.measurement import FloatArray, LinearMeasurement
from synthdp.core.requests import check_cliques
from synthdp.release.uncertainty.cell_estimates import cell_estimates
from synthdp.release.uncertainty.limits import noise_limits, widest_limits
from synthdp.schema.cell_labels import cell_labels
from synthdp.schema.schema import Schema

MEASURED, MODEL = "measured", "model"
"""What a count rests on: on measurements alone, or on a model as well."""

MAX_CELLS = 1 << 24
"""Cells of a marginal with intervals: a table of them takes about a gigabyte."""


def check_interval(interval: object, name: str = "interval") -> float:
    """The probability of an interval; raises `ParameterError` unless it lies between 0 and 1."""
    if not isinstance(interval, Real) or isinstance(interval, bool) or not 0 < float(interval) < 1:
        raise ParameterError(
            f"{name} is {interval!r}; give a probability between 0 and 1, such as 0.95"
        )
    return float(interval)


def with_intervals(
    schema: Schema,
    measurements: Sequence[LinearMeasurement],
    columns: Sequence[str],
    interval: float,
    expected: Callable[[Clique], FloatArray],
) -> pd.DataFrame:
    """A marginal with limits; see `synthdp.release.synthesis.Synthesis.marginal`.

    Parameters
    ----------
    schema
        What the columns mean.
    measurements
        Everything that was measured.
    columns
        Names of the marginal's columns.
    interval
        Probability, over the noise, that a cell's limits hold the count of the table.
    expected
        The model's counts of a marginal; asked for where measurements leave a cell open.
    """
    check_interval(interval)
    (clique,) = check_cliques(schema.domain, [columns])
    if schema.domain.size(clique) > MAX_CELLS:
        raise ModelTooLargeError(
            f"columns: with an interval at most {MAX_CELLS} combinations; name fewer columns"
        )
    estimates = cell_estimates(schema.domain, measurements, clique)
    is_known, counts = estimates.is_known, np.maximum(estimates.counts, 0.0)
    low, high = noise_limits(estimates, interval)
    if not is_known.all():
        widest = widest_limits(schema.domain, measurements, clique, interval)
        low, high = np.where(is_known, low, widest.low), np.where(is_known, high, widest.high)
        counts = np.where(is_known, counts, expected(clique))
    basis = np.where(is_known, MEASURED, MODEL).astype(object)
    cells = {"count": counts, "low": low, "high": high, "basis": basis}
    return pd.DataFrame(
        {name: values.ravel() for name, values in cells.items()}, index=cell_labels(schema, clique)
    )
