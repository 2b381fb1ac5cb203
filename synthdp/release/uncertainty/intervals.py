"""Intervals around the counts of a marginal, by the noise that was recorded; no records and no fit
are needed.

A marginal that was not measured whole has limits that hold whatever the dependence that nobody
measured: a cell holds no more records than any larger cell that it lies in, and where parts P and Q
of a marginal were measured, at least ``n(P) + n(Q) - n(P and Q)``: Bonferroni's inequality, one
part after another [Fréchet 1935]. The counts of the parts are known to within their noise, so each
gets an interval of its own, wide enough that all hold together.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from numbers import Real
from typing import NamedTuple

import numpy as np
import pandas as pd

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError, ParameterError
from synthdp.core.measurement import FloatArray, LinearMeasurement
from synthdp.core.requests import check_cliques
from synthdp.release.uncertainty.cell_estimates import (
    CellEstimates,
    cell_estimates,
    places_in,
    summed_to,
)
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
    schema, measurements
        What the columns mean, and everything that was measured.
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
    is_known = estimates.is_known
    counts = np.maximum(estimates.counts, 0.0)
    low, high = noise_limits(estimates, interval)
    if not is_known.all():
        # Cells that no measurement determines still lie within what their sums allow, whatever any
        # model says.
        widest = widest_limits(schema.domain, measurements, clique, interval)
        low = np.where(is_known, low, widest.low)
        high = np.where(is_known, high, widest.high)
        counts = np.where(is_known, counts, expected(clique))
    basis = np.where(is_known, MEASURED, MODEL).astype(object)
    cells = {"count": counts, "low": low, "high": high, "basis": basis}
    return pd.DataFrame(
        {name: values.ravel() for name, values in cells.items()}, index=cell_labels(schema, clique)
    )


class Limits(NamedTuple):
    """Lower and upper limits of the counts of all cells of a marginal."""

    low: FloatArray
    high: FloatArray


def noise_limits(estimates: CellEstimates, interval: float) -> Limits:
    """Central intervals by Gaussian noise, cut at 0 from below: no cell holds fewer records than
    none.
    """
    from scipy.special import ndtri

    reach = ndtri((1.0 + interval) / 2.0) * np.sqrt(estimates.variance)
    return Limits(
        np.maximum(estimates.counts - reach, 0.0), np.maximum(estimates.counts + reach, 0.0)
    )


def widest_limits(
    domain: Domain, measurements: Sequence[LinearMeasurement], clique: Clique, interval: float
) -> Limits:
    """Limits of a marginal from measurements of its subsets and of its merged cells.

    Parameters
    ----------
    domain
        All attributes.
    measurements
        Everything that was measured.
    clique
        Attributes of the marginal, in the order of the axes that are wanted.
    interval
        Least probability, over the noise, that a cell lies within its limits.
    """
    estimates = cache(partial(cell_estimates, domain, measurements))
    shown = [
        tuple(name for name in clique if name in m.clique and name not in m.groups)
        for m in measurements
    ]
    parts = [part for part in maximal_cliques([(), *shown]) if estimates(part).is_known.all()]
    merged = [
        table
        for m in measurements
        if len((table := summed_to(m, clique)).groups) and len(table.clique) > 1
    ]
    tail = (1.0 - interval) / 2.0
    # All limits have to hold at once for the smallest of them to hold: a union bound over them.
    upper = 1.0 - 2.0 * tail / (len(parts) + len(merged))
    high = np.full(domain.project(clique).shape, np.inf)
    # No cell has more rows than any sum that it is part of: each sum that was measured is an upper
    # limit.
    for part in parts:
        high = np.minimum(
            high, _over(domain, noise_limits(estimates(part), upper).high, part, clique)
        )
    for table in merged:
        reach = noise_limits(CellEstimates(table.values, np.array(table.variance)), upper).high
        high = np.minimum(high, reach.ravel()[places_in(domain, table, clique)])
    return Limits(
        _lower(domain, estimates, parts, clique, 1.0 - 2.0 * tail / (2 * len(parts) - 1)), high
    )


def _lower(
    domain: Domain,
    estimates: Callable[[Clique], CellEstimates],
    parts: Sequence[Clique],
    clique: Clique,
    interval: float,
) -> FloatArray:
    """Lower limits by parts that cover the marginal, none where they do not; each part's holds with
    ``interval``.
    """
    low = np.zeros(domain.project(clique).shape)
    joined: set[str] = set()
    for number, part in enumerate(parts):
        low = low + _over(domain, noise_limits(estimates(part), interval).low, part, clique)
        if number:
            shared = tuple(name for name in part if name in joined)
            low = low - _over(
                domain, noise_limits(estimates(shared), interval).high, shared, clique
            )
        joined |= set(part)
    return np.maximum(low, 0.0) if joined == set(clique) else np.zeros_like(low)


def _over(domain: Domain, values: FloatArray, part: Clique, clique: Clique) -> FloatArray:
    """Numbers of a part's cells, one for each cell of the whole marginal; the part's attributes in
    its order.
    """
    absent = tuple(axis for axis, name in enumerate(clique) if name not in part)
    return np.broadcast_to(np.expand_dims(values, absent), domain.project(clique).shape)
