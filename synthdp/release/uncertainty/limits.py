"""Limits of a marginal that was not measured whole, which hold whatever the dependence that nobody
measured.

A cell holds no more records than any larger cell that it lies in, and where parts P and Q of a
marginal were measured, at least ``n(P) + n(Q) - n(P and Q)``: Bonferroni's inequality, one part
after another [Fréchet 1935]. The counts of the parts are known to within their noise, so each gets
an interval of its own, wide enough that all hold together.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.domain import Domain
from synthdp.core.measurement import FloatArray, LinearMeasurement
from synthdp.release.uncertainty.cell_estimates import (
    CellEstimates,
    cell_estimates,
    places_in,
    summed_to,
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
    """Limits of a marginal by what was measured of its parts, and of its cells merged.

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
    upper = 1.0 - 2.0 * tail / (len(parts) + len(merged))
    high = np.full(domain.project(clique).shape, np.inf)
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
