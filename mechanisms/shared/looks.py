"""Looks: how wrong some estimates are, released with noise for many marginals at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.measurement import Coarsening, estimate_total
from synthdp.inference.shrinkage import one_way_shares
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.scores import MarginalL1Error
from synthdp.privacy.unit import PrivacyUnit, gaussian_sigma_squared

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True)
class Look:
    """Noisy errors of some candidates, in records, and the scale of their noise."""

    errors: Mapping[Clique, float]
    stddev: float


def look_at(
    table: PrivateTable,
    candidates: Sequence[Clique],
    estimates: Sequence[FloatArray],
    *,
    rho: Fraction,
    coarsening: Coarsening | None = None,
) -> Look:
    """Release the L1 errors of estimates of all candidates at once, for ``rho``; both are over
    merged levels if any.
    """
    score = MarginalL1Error(dict(zip(candidates, estimates, strict=True)), coarsening)
    stddev = noise_of_look(len(candidates), rho=rho, unit=table.ledger.unit)
    return Look(table.scores(candidates, score=score, rho=rho), stddev)


def noise_of_look(n_candidates: int, *, rho: Fraction, unit: PrivacyUnit) -> float:
    """Standard deviation, in records, of the noise on each of some errors that are released at
    once.
    """
    return sqrt(gaussian_sigma_squared(rho, n_candidates * unit.marginal_l1**2))


def independent_counts(table: PrivateTable, candidates: Sequence[Clique]) -> list[FloatArray]:
    """What candidates would count if columns were independent, by the columns that were measured."""
    total = estimate_total(table.released)
    shares = one_way_shares(table.domain, table.released, total=total)
    return [
        total * reduce(np.multiply.outer, [shares[name] for name in clique])
        for clique in candidates
    ]
