"""The loss that engines report against the definition, with measurements that repeat and contradict
each other.
"""

import numpy as np
import pytest
from helpers.quick_engines import quick_engine
from oracles.inference import marginal_of, noisy, whitened

from synthdp.core import Domain
from synthdp.inference import MarginalLoss, PublicDataEngine
from synthdp.release import ENGINES as NAMED

DOMAIN = Domain(("a", "b", "c"), (3, 2, 2))
CLIQUES = [("a", "b"), ("b", "a"), ("c",), ("a", "b"), ("b", "c"), ("c",), ()]
ROWS = tuple(np.indices(DOMAIN.shape).reshape(3, -1))
ENGINES = [*map(quick_engine, NAMED), PublicDataEngine(columns=ROWS)]


@pytest.fixture(scope="module")
def measurements():
    rng = np.random.default_rng(0)
    joint = 3000 * rng.dirichlet(np.full(DOMAIN.size(), 2.0)).reshape(DOMAIN.shape)
    return noisy(rng, joint, DOMAIN, CLIQUES, [3.0, 5.0, 2.0, 8.0, 4.0, 3.0, 6.0])


def loss_of(measurements, marginal):
    """Half the squared residuals of all measurements as they are, in units of their noise."""
    residuals = [(marginal(m.clique) - m.values) / np.sqrt(m.variance) for m in measurements]
    return sum(0.5 * float(np.sum(np.square(residual))) for residual in residuals)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_the_loss_of_a_fit_is_that_of_all_measurements_as_given(engine, measurements):
    model = engine.estimate(DOMAIN, measurements)
    expected = loss_of(measurements, lambda clique: model.marginal(clique).values)
    apart = MarginalLoss(DOMAIN, measurements).of_repeats
    assert apart > 1.0
    assert model.status.loss == pytest.approx(expected, rel=1e-6)


def test_the_loss_of_tables_is_the_definition(measurements):
    loss = MarginalLoss(DOMAIN, measurements)
    joint = np.random.default_rng(1).uniform(100, 400, DOMAIN.shape)
    tables = [marginal_of(joint, DOMAIN, clique) for clique in loss.cliques]
    matrix, target = whitened(DOMAIN, measurements)
    assert loss.of_tables(tables) == pytest.approx(
        0.5 * float(np.sum(np.square(matrix @ joint.ravel() - target)))
    )


def test_without_repeats_nothing_is_added(measurements):
    assert MarginalLoss(DOMAIN, measurements[2:5]).of_repeats == 0.0
