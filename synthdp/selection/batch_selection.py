"""Choosing a batch of marginals from noisy errors: which to measure, and how precisely."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf, sqrt

import numpy as np

from synthdp.cliques import Clique, subsets
from synthdp.inference.model import Model
from synthdp.inference.trees.tree_growth import TreeGrowth
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.scores import MarginalL1Error
from synthdp.privacy.unit import gaussian_sigma_squared
from synthdp.selection.allocation import L1_OF_NOISE, Demand, demands_filled, measurement_shares
from synthdp.workload import Workload

_MIN_SQUARED_ERROR = 1e-9
"""Records squared: what is left of an error that a smaller marginal explains has to stay above 0."""


def noisy_demands(
    table: PrivateTable,
    model: Model,
    workload: Workload,
    candidates: Sequence[Clique],
    *,
    rho: Fraction,
    caution: float,
    doubt: float,
) -> dict[Clique, Demand]:
    """What measuring each candidate would gain, from the model's errors released with Gaussian noise.

    Parameters
    ----------
    table
        Releases the errors of all candidates at once, for ``rho``.
    model
        Whose errors.
    workload
        Says how much each error matters.
    candidates
        Cliques in the order of the domain.
    rho
        Cost, above 0.
    caution
        Standard deviations of noise that are taken off each error, so that the largest of many
        noisy numbers is not believed.
    doubt
        A measured marginal's error is taken to be at least this part of what its own noise comes
        to: what the errors' noise hides is known from the measurements' anyway.

    Returns
    -------
    dict
        A `Demand` for each candidate whose error is above 0 by either count.
    """
    domain, protected = table.domain, table.ledger.unit
    estimates = dict(zip(candidates, (factor.values for factor in model.marginals(candidates)), strict=True))
    noisy = table.scores(candidates, score=MarginalL1Error(estimates), rho=rho)
    margin = caution * sqrt(gaussian_sigma_squared(rho, len(candidates) * protected.marginal_l1**2))
    unit = L1_OF_NOISE * sqrt(protected.marginal_l2_squared)
    precision: dict[Clique, float] = {}
    for measured in table.released:
        precision[measured.clique] = precision.get(measured.clique, 0.0) + 1 / float(np.max(measured.stddev)) ** 2
    demands = {}
    for clique, weight in workload.relative_weights(candidates).items():
        n_cells, error = domain.size(clique), noisy[clique] - margin
        if clique in precision:
            error = max(error, doubt * L1_OF_NOISE * n_cells / sqrt(precision[clique]))
        if error > 0:
            demands[clique] = Demand(weight=weight, error=error, unit=unit * n_cells)
    return demands


def grown_batch(
    growth: TreeGrowth, demands: Mapping[Clique, Demand], *, max_cells: float, rho: Fraction
) -> tuple[TreeGrowth, dict[Clique, Fraction]]:
    """The batch to measure with ``rho``, the best candidates first, as long as the junction tree stays small.

    What a candidate's error exceeds that of a marginal inside of it by, at right angles, is all
    that it adds once the smaller one is measured. Candidates whose first return is below the
    marginal return of the batch would get nothing and are left out (`water_filled`). Without
    any demand, the columns are measured once more.

    Returns
    -------
    growth, batch
        The grown tree; for each clique its rho, summing to ``rho`` exactly.
    """
    chosen, known = dict[Clique, Demand](), dict[Clique, float]()
    shares, price = np.empty(0), 0.0
    for clique in sorted(demands, key=lambda clique: -demands[clique].first_return):
        inside = max((known.get(part, 0.0) for part in subsets(clique)), default=0.0)
        demand = replace(demands[clique], error=sqrt(max(demands[clique].error ** 2 - inside**2, _MIN_SQUARED_ERROR)))
        if demand.first_return <= price or clique in known:
            continue
        if growth.n_cells_with([clique], max_cells=max(max_cells, growth.n_cells()))[0] == inf:
            continue
        growth = growth.with_clique(clique)
        chosen[clique] = demand
        known |= {part: demands[part].error for part in subsets(clique) if part in demands}
        shares, price = demands_filled(chosen.values(), float(rho))
    parts = {clique: Fraction(share) for clique, share in zip(chosen, shares, strict=True) if share > 0}
    if not parts:
        parts = measurement_shares(growth.domain, {(name,): 1.0 for name in growth.domain.attributes})
    total = sum(parts.values())
    return growth, {clique: rho * part / total for clique, part in parts.items()}
