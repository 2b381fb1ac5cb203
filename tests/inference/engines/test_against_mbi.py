"""`mbi`, the reference implementation of Private-PGM, as an oracle."""

import warnings

import numpy as np
import pytest
from oracles.inference import field, loss_and_gap, noisy, random_potentials, whitened

from synthdp.core import Domain, estimate_total
from synthdp.inference import GraphicalModelEngine

DOMAIN = Domain(("a", "b", "c", "d", "e"), (3, 2, 4, 2, 3))
CLIQUES = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("e",)]


@pytest.fixture(scope="module")
def mbi():
    """The library in double precision; its import warns, which is no concern of ours."""
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield pytest.importorskip("mbi")
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_marginals_of_the_same_potentials_agree(mbi, scale):
    potentials = random_potentials(np.random.default_rng(4), DOMAIN, CLIQUES, scale=scale)
    domain = mbi.Domain(DOMAIN.attributes, DOMAIN.shape)
    factors = {
        clique: mbi.Factor(domain.project(clique), table) for clique, table in potentials.items()
    }
    marginals = mbi.marginal_oracles.message_passing_stable(
        mbi.CliqueVector(domain, CLIQUES, factors), 50.0
    )
    model = field(DOMAIN, potentials, total=50.0)
    for clique in CLIQUES:
        expected = np.asarray(marginals[clique].values)
        np.testing.assert_allclose(model.marginal(clique).values, expected, rtol=1e-9, atol=1e-9)


def test_its_mirror_descent_finds_no_lower_loss(mbi):
    rng = np.random.default_rng(8)
    joint = 5000 * rng.dirichlet(np.full(DOMAIN.size(), 0.3)).reshape(DOMAIN.shape)
    measurements = noisy(rng, joint, DOMAIN, CLIQUES, [10.0, 10.0, 20.0, 5.0, 10.0])
    theirs = mbi.estimation.MirrorDescent().estimate(
        mbi.Domain(DOMAIN.attributes, DOMAIN.shape),
        [mbi.LinearMeasurement(m.values.ravel(), m.clique, m.stddev) for m in measurements],
        known_total=estimate_total(measurements),
        iters=2000,
    )
    matrix, target = whitened(DOMAIN, measurements)
    counts = np.asarray(theirs.project(DOMAIN.attributes).values).ravel()
    ours = GraphicalModelEngine().estimate(DOMAIN, measurements)
    assert counts.sum() == pytest.approx(ours.total, rel=1e-6)
    their_loss, _ = loss_and_gap(matrix, target, counts)
    assert ours.status.loss <= 1.001 * their_loss
    for clique in CLIQUES:
        np.testing.assert_allclose(
            ours.marginal(clique).values,
            np.asarray(theirs.project(clique).values),
            atol=0.01 * ours.total,
        )
