"""Noisy tables replaced by the nearest ones that are consistent, where that is a formula.

Least squares over distributions does not change when tables are first projected, in the metric of
their noise, onto all (possibly negative) tables that agree and add up to the total: what the
projection takes away is the same for every distribution. What is left to do is about cells that
would be below 0 only, however far the scales of noise are apart: without it a total known to a
millionth of a record, given by two tables a hair apart, is a problem of condition 1e15.

Where each table has one scale of noise, its interactions (the parts that sum to 0 along each of
their axes, one a subset of its attributes) are independent of each other, and the projection is a
weighted mean for each subset of attributes [McKenna et al. 2018's residuals; Xiao et al. 2023].
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.measurement import LinearMeasurement
from synthdp.inference.arrays import Array

_ROUNDING = 1e-9
"""Variances of a table's cells that differ by less are equal: merged ones are rounded on the way.
"""
_MAX_ATTRIBUTES = 10
"""A table of more has above a thousand subsets to look at; it is left as it is."""


def projected(measurements: Sequence[LinearMeasurement], total: float) -> dict[Clique, Array]:
    """Noisy counts, those with one scale of noise projected onto tables that agree and add up to
    the total.

    Parameters
    ----------
    measurements
        One a clique, axes in the order of the domain.
    total
        Number of records.
    """
    answers = {measurement.clique: measurement.values for measurement in measurements}
    holders: dict[Clique, list[_Noisy]] = defaultdict(list)
    for measurement in measurements:
        variance = float(np.max(measurement.variance))
        if (
            len(measurement.clique) > _MAX_ATTRIBUTES
            # With unequal noise residuals are no longer independent of each other; such tables are
            # left as they are.
            or np.ptp(measurement.variance) > _ROUNDING * variance
        ):
            continue
        noisy = _Noisy(measurement.clique, measurement.values, variance)
        for size in range(len(noisy.clique) + 1):
            for part in combinations(noisy.clique, size):
                holders[part].append(noisy)
    for part, tables in holders.items():
        # What one table alone says need not be agreed on, but the total always is.
        if not part or len(tables) > 1:
            _agree(answers, part, tables, total)
    return answers


class _Noisy(NamedTuple):
    clique: Clique
    values: Array
    variance: float


def _agree(
    answers: dict[Clique, Array], part: Clique, tables: Sequence[_Noisy], total: float
) -> None:
    """Replace the interaction of some attributes by its weighted mean in all their tables."""
    own = []
    places = []
    weights = []
    for clique, values, variance in tables:
        summed = tuple(axis for axis, name in enumerate(clique) if name not in part)
        interaction = np.asarray(values.sum(axis=summed))
        for axis in range(interaction.ndim):
            # What smaller parts say is taken off, so that each part is settled once and in any
            # order.
            interaction = interaction - interaction.mean(axis=axis, keepdims=True)
        own.append(interaction)
        places.append(summed)
        # A sum of cells has the noise of all of them.
        weights.append(interaction.size / (variance * values.size))
    # The total is known better from all tables together than from these.
    mean = np.average(own, axis=0, weights=weights) if part else np.array(total)
    for (clique, values, _), interaction, summed in zip(tables, own, places, strict=True):
        change = (mean - interaction) * (interaction.size / values.size)
        answers[clique] = answers[clique] + np.expand_dims(change, summed)
