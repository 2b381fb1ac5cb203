"""How wrong some estimates are: L1 errors of many marginals at once, released with noise."""

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
class NoisyErrors:
    """Noisy L1 errors of some candidates, and the standard deviation of the noise; in records."""

    errors: Mapping[Clique, float]
    stddev: float


def release_errors(
    table: PrivateTable,
    candidates: Sequence[Clique],
    estimates: Sequence[FloatArray],
    *,
    rho: Fraction,
    coarsening: Coarsening | None = None,
) -> NoisyErrors:
    """Release the L1 errors of estimates of all candidates at once, for ``rho``.

    With a ``coarsening`` both the estimates and the table are over merged levels.
    """
    # The estimates go in as data, not as a function: the kernel never calls anything that a
    # mechanism made while it holds the records.
    score = MarginalL1Error(dict(zip(candidates, estimates, strict=True)), coarsening)
    stddev = error_stddev(len(candidates), rho=rho, unit=table.ledger.unit)
    return NoisyErrors(table.scores(candidates, score=score, rho=rho), stddev)


def error_stddev(n_candidates: int, *, rho: Fraction, unit: PrivacyUnit) -> float:
    """Standard deviation, in records, of the noise on each of some errors that are released at
    once.
    """
    # The vector of k errors moves by at most sqrt(k) times what one moves by; releasing all k and
    # choosing is charged as what it is.
    return sqrt(gaussian_sigma_squared(rho, n_candidates * unit.marginal_l1**2))


def independent_counts(table: PrivateTable, candidates: Sequence[Clique]) -> list[FloatArray]:
    """Expected counts of candidates if columns were independent, from the measured columns."""
    total = estimate_total(table.released)
    # Released marginals, which do not move with a record. With the table's own ones the score would
    # move by up to 4 in place of 1.
    shares = one_way_shares(table.domain, table.released, total=total)
    return [
        total * reduce(np.multiply.outer, [shares[name] for name in clique])
        for clique in candidates
    ]
