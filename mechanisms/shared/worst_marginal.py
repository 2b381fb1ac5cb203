"""One round of MWEM: measure the marginal that a model gets most wrong [HLM12]."""

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

from synthdp.core.cliques import Clique
from synthdp.core.workload import Workload
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.allocation import noise_of
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.scores import MarginalL1Error


def measure_worst(
    table: PrivateTable,
    model: Model,
    candidates: Sequence[Clique],
    *,
    workload: Workload,
    rho: Fraction,
    selection_share: float,
) -> Clique:
    """Select one marginal by the exponential mechanism and measure it, at a cost of at most
    ``rho``.

    The score of a marginal is ``use (L1 error of the model - expected L1 error of a measurement)``:
    what a measurement would take off the error, weighted by the marginal's use for the workload.

    Parameters
    ----------
    table
        The sensitive table.
    model
        The model so far.
    candidates
        Marginals to choose from, at least one.
    workload
        Gives the candidates' use.
    rho
        Cost of the round, above 0.
    selection_share
        Share of it for the selection, between 0 and 1; the measurement costs the rest.

    Returns
    -------
    clique
        What was measured.
    """
    for_selection = rho * Fraction(selection_share)
    # The penalty is what the measurement would err by itself at the price that it is going to have,
    # so that no marginal is chosen that measuring makes worse.
    score = improvement_score(table, model, candidates, workload=workload, rho=rho - for_selection)
    clique = table.select(candidates, score=score, rho=for_selection)
    table.measure(clique, rho=rho - for_selection)
    return clique


def improvement_score(
    table: PrivateTable,
    model: Model,
    candidates: Sequence[Clique],
    *,
    workload: Workload,
    rho: Fraction,
) -> MarginalL1Error:
    """The score of `measure_worst`, where a measurement would cost ``rho``."""
    sigma = sqrt(table.ledger.unit.sigma_squared(rho))
    estimates = dict(
        zip(candidates, (factor.values for factor in model.marginals(candidates)), strict=True)
    )
    penalties = {clique: noise_of(sigma, values.size) for clique, values in estimates.items()}
    return MarginalL1Error(
        estimates, weights=workload.relative_weights(candidates), penalties=penalties
    )
