"""How a marginal changed between two releases, with limits: by what each of them measured itself.

What a release carries from an earlier one is left out: it would call a change small because changes
were expected to be. The noise of two releases is independent, so variances add up.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

from synthdp.core.errors import ModelTooLargeError, SchemaError
from synthdp.core.measurement import FloatArray, LinearMeasurement
from synthdp.core.requests import check_cliques
from synthdp.release.uncertainty.cell_estimates import cell_estimates
from synthdp.release.uncertainty.intervals import (
    MAX_CELLS,
    MEASURED,
    MODEL,
    check_interval,
    widest_limits,
)
from synthdp.schema.cell_labels import cell_labels
from synthdp.schema.schema import Schema

Side: TypeAlias = tuple[Schema, Sequence[LinearMeasurement], Callable[[Sequence[str]], FloatArray]]
"""Of a release what its columns mean, what it measured itself, and its model's counts."""


def difference_between(
    now: Side, before: Side, columns: Sequence[str], interval: float
) -> pd.DataFrame:
    """The change of a marginal; see `synthdp.release.synthesis.Synthesis.difference`.

    Parameters
    ----------
    now, before
        The two releases.
    columns
        Names of the marginal's columns.
    interval
        Probability, over the noise of both, that a cell's limits hold the change of its count.
    """
    from scipy.special import ndtri

    check_interval(interval)
    schema = now[0]
    domain = schema.domain
    (clique,) = check_cliques(domain, [columns])
    _check_alike(schema, before[0], columns)
    if domain.size(clique) > MAX_CELLS:
        raise ModelTooLargeError(
            f"columns: with an interval at most {MAX_CELLS} combinations; name fewer columns"
        )
    sides = (now, before)
    estimates = [cell_estimates(own.domain, measurements, clique) for own, measurements, _ in sides]
    is_known = estimates[0].is_known & estimates[1].is_known
    change = estimates[0].counts - estimates[1].counts
    reach = ndtri((1.0 + interval) / 2.0) * np.sqrt(estimates[0].variance + estimates[1].variance)
    low = change - reach
    high = change + reach
    if not is_known.all():
        # Each release by itself is as wide as what nobody measured leaves open; half of what may go
        # wrong is for either.
        wide = [
            widest_limits(own.domain, measurements, clique, (1.0 + interval) / 2.0)
            for own, measurements, _ in sides
        ]
        models = [expected(clique) for _, _, expected in sides]
        low = np.where(is_known, low, wide[0].low - wide[1].high)
        high = np.where(is_known, high, wide[0].high - wide[1].low)
        change = np.where(is_known, change, models[0] - models[1])
    basis = np.where(is_known, MEASURED, MODEL).astype(object)
    cells = {"difference": change, "low": low, "high": high, "basis": basis}
    return pd.DataFrame(
        {name: values.ravel() for name, values in cells.items()},
        index=cell_labels(schema, clique),
    )


def _check_alike(now: Schema, before: Schema, columns: Sequence[str]) -> None:
    """Refuse columns that the earlier release lacks, or has other levels of."""
    for name in columns:
        if name not in before.names:
            raise SchemaError(f"earlier: it has no column {name!r}; name columns of both releases")
        if list(map(str, now[name].labels)) != list(map(str, before[name].labels)):
            raise SchemaError(
                f"earlier: column {name!r} has other levels or bins there; make the later release with prior="
            )
