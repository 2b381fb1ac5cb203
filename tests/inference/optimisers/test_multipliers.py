"""Rounds of mirror descent by themselves, over all cells of a small domain: engines prove what they
leave open.
"""

import numpy as np
import pytest
from oracles.inference import least_excess_loss, noisy, whitened
from scipy.special import softmax

from synthdp.core import Domain, estimate_total
from synthdp.inference import MarginalLoss, MirrorDescent, minimise

DOMAIN = Domain(("a", "b", "c"), (3, 4, 3))
CIRCLE = [("a", "b"), ("b", "c"), ("a", "c"), ("a",), ("b",)]


def fitted(seed, ratio, *, driver):
    """Status, the least loss, and what was told of the progress, where single attributes and a pair
    are exact.
    """
    rng = np.random.default_rng(seed)
    joint = 300 * rng.dirichlet(np.full(DOMAIN.size(), 0.05)).reshape(DOMAIN.shape)
    measurements = noisy(
        rng, joint, DOMAIN, CIRCLE, 20.0 / np.array([1.0, ratio, 1.0, ratio, ratio])
    )
    loss, total = MarginalLoss(DOMAIN, measurements), estimate_total(measurements)
    matrix, target = whitened(DOMAIN, loss.measurements)
    cells = matrix / np.sqrt(loss.weights)[:, None]
    seen = []
    theta, status = minimise(
        driver,
        lambda theta: total * cells @ softmax(cells.T @ theta),
        loss,
        np.zeros(loss.n_cells),
        total=total,
        least=lambda by_cell: float((by_cell @ cells).min()),
        progress=lambda *done: seen.append(done),
    )
    reached = matrix @ softmax(cells.T @ theta) * total - target
    assert status.loss == pytest.approx(0.5 * float(reached @ reached), rel=1e-6)
    return status, least_excess_loss(matrix, target, total), seen


@pytest.mark.parametrize(("ratio", "seeds"), [(30.0, (0, 1, 2, 5)), (1e3, (4, 5))])
def test_multipliers_prove_that_a_fit_is_at_the_least_loss(ratio, seeds):
    """Exact tables of few records contradict each other where noise made counts of 0 negative."""
    for seed in seeds:
        status, least, seen = fitted(seed, ratio, driver=MirrorDescent())
        assert status.ended == "optimal", seed
        assert status.loss <= least * (1 + 2e-4), seed  # proven to ten times the tolerance
        assert seen == [(done, 3000) for done in range(1, status.n_iterations + 1)]


@pytest.mark.parametrize("limit", [20, 400, 700])
def test_rounds_share_one_limit_and_a_fit_that_ends_there_was_stopped(limit):
    status, _, seen = fitted(3, 1e5, driver=MirrorDescent(max_iterations=limit))
    assert (status.ended, status.n_iterations) == ("stopped", limit)
    assert seen == [(done, limit) for done in range(1, limit + 1)]
