"""Published counts, beside what was measured."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.known_marginal import KnownMarginal
from synthdp.core.measurement import MIN_STDDEV, LinearMeasurement
from synthdp.release.uncertainty.cell_estimates import FINEST, cell_estimates

PUBLISHED = "published"
"""What a count rests on that published totals alone tell."""


def with_known(
    measurements: Sequence[LinearMeasurement], known: Sequence[KnownMarginal]
) -> list[LinearMeasurement]:
    """What was measured, and published counts as measurements with so little noise as can be solved
    for.

    Of shares alone the counts are not known: they are left out, and limits are as without them.
    """
    scales = [float(np.min(each.stddev)) for each in measurements if each.values.size > 1]
    return [*measurements, *_counts(known, FINEST * min(scales, default=0.0))]


def exactly(
    limits: pd.DataFrame, domain: Domain, known: Sequence[KnownMarginal], clique: Clique
) -> pd.DataFrame:
    """Limits of a marginal, where cells that published counts tell alone have no width."""
    estimates = cell_estimates(domain, _counts(known, 1.0), clique)
    published = estimates.is_known.ravel()
    counts = np.rint(estimates.counts.ravel()[published])
    exact = limits.copy()
    for name in ("count", "low", "high"):
        exact.loc[published, name] = counts
    exact.loc[published, "basis"] = PUBLISHED
    return exact


def _counts(known: Sequence[KnownMarginal], stddev: float) -> list[LinearMeasurement]:
    return [
        LinearMeasurement(each.clique, each.values, max(stddev, MIN_STDDEV), each.coarsening)
        for each in known
        if each.is_count
    ]
