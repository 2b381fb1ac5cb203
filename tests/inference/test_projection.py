"""The projection onto consistent tables against a linear least-squares solver."""

import numpy as np
import pytest
from oracles.inference import marginal_of, noisy, random_cliques, random_domain, whitened

from synthdp.core import Domain, LinearMeasurement, combined_measurements
from synthdp.inference import projected


def consistent_oracle(domain, measurements, total):
    """Tables of the (signed) joint table that is nearest to all measurements and adds up to the
    total.
    """
    matrix, target = whitened(domain, measurements)
    # One cell is the total less all others.
    free = matrix[:, 1:] - matrix[:, :1]
    cells = np.linalg.lstsq(free, target - total * matrix[:, 0], rcond=1e-11)[0]
    joint = np.append(total - cells.sum(), cells).reshape(domain.shape)
    return {m.clique: marginal_of(joint, domain, m.clique) for m in measurements}


@pytest.mark.parametrize("ratio", [1.0, 30.0])
def test_projected_tables_are_the_nearest_consistent_ones(ratio):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        domain = random_domain(rng)
        cliques = random_cliques(rng, domain, most=6)
        stddevs = 10 * rng.choice([1.0, ratio], len(cliques))
        joint = 1000 * rng.dirichlet(np.ones(domain.size())).reshape(domain.shape)
        measurements = combined_measurements(domain, noisy(rng, joint, domain, cliques, stddevs))
        total = 1000.0 + rng.normal()
        found = projected(measurements, total)
        for clique, expected in consistent_oracle(domain, measurements, total).items():
            np.testing.assert_allclose(
                found[clique], expected, atol=1e-6, err_msg=f"{seed} {clique}"
            )


def test_tables_with_a_scale_for_each_cell_are_left_as_they_are_and_others_still_agree():
    rng = np.random.default_rng(0)
    by_cell = LinearMeasurement(("a", "b"), rng.normal(10, 1, (2, 3)), rng.uniform(1, 2, (2, 3)))
    plain = [
        LinearMeasurement(("a",), np.array([30.0, 20.0]), 1.0),
        LinearMeasurement(("a", "c"), np.ones((2, 4)), 3.0),
    ]
    found = projected([by_cell, *plain], 60.0)
    np.testing.assert_array_equal(found["a", "b"], by_cell.values)
    np.testing.assert_allclose(found["a", "c"].sum(axis=1), found["a",])
    assert found["a",].sum() == pytest.approx(60.0)


def test_scales_a_billion_apart_lose_no_digits():
    """The exact table is what it was, but for its share of the total's error; the noisy one follows
    it.
    """
    domain = Domain(("a", "b"), (3, 4))
    rng = np.random.default_rng(1)
    exact = LinearMeasurement(("a",), np.array([1e6, 2e6, 3.0]), 1e-6)
    loose = LinearMeasurement(("a", "b"), rng.normal(5e5, 1e3, (3, 4)), 1e3)
    found = projected([exact, loose], 3e6 + 3.0)
    np.testing.assert_allclose(found["a",], exact.values, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found["a", "b"].sum(axis=1), exact.values, rtol=0, atol=1e-8)
    assert domain.size() == found["a", "b"].size
