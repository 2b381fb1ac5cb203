"""Statistics that the discrete Gaussian passes and that wrong samplers fail."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from oracles.privacy import (
    cks_discrete_gaussian,
    failed,
    gaussian_p_values,
    p_binomial,
    p_chi_squared,
    p_same_distribution,
)

from synthdp.privacy.noise import gaussian as noise
from synthdp.privacy.noise.gaussian import MAX_SIGMA_SQUARED, Noise, gaussian_noise
from synthdp.privacy.noise.laplace import discrete_laplace
from synthdp.privacy.noise.randomness import SystemRandomness

SYSTEM = SystemRandomness()
SMALL = [Fraction(1, 100), Fraction(1, 4), Fraction(1), Fraction(9), Fraction(2500)]


def draw(sigma_squared, size, randomness=SYSTEM):
    return gaussian_noise(Noise.DISCRETE, sigma_squared=Fraction(sigma_squared), size=size, randomness=randomness)


# Statistics of the real thing, and of wrong ones


@pytest.mark.parametrize(
    ("sigma_squared", "n"),
    [(0.25, 400_000), (1, 400_000), (9, 400_000), (2500, 400_000), (10_001**2, 60_000), (10**12, 60_000)],
)
def test_the_sampler_passes_and_one_of_another_scale_fails(sigma_squared, n):
    sigma = float(sigma_squared) ** 0.5
    assert not failed(gaussian_p_values(draw(sigma_squared, n), sigma))
    for factor in (Fraction(13, 10), Fraction(10, 13)):
        wrong = failed(gaussian_p_values(draw(Fraction(sigma_squared) * factor**2, n), sigma))
        assert {"fit", "variance", "tail"} & set(wrong)
        assert "fit" in wrong
        assert "variance" in wrong


@pytest.mark.parametrize("sigma_squared", [Fraction(1, 4), Fraction(1), Fraction(30, 7), Fraction(400)], ids=str)
def test_rejection_is_right_at_small_scales_where_mistakes_show(sigma_squared):
    draws = noise._by_rejection(sigma_squared, 60_000, SYSTEM)
    assert not failed(gaussian_p_values(draws, float(sigma_squared) ** 0.5))


@pytest.mark.parametrize("scale", [1, 2, 5])
def test_discrete_laplace(scale):
    draws = discrete_laplace(scale, 200_000, SYSTEM)
    reach = np.arange(-80 * scale, 80 * scale + 1)
    weights = np.exp(-np.abs(reach) / scale)
    counted = np.bincount(draws + 80 * scale, minlength=reach.size)
    assert not failed({"fit": p_chi_squared(counted, weights / weights.sum())})
    weights[80 * scale] *= 2  # what comes out if -0 is not rejected
    assert failed({"fit": p_chi_squared(counted, weights / weights.sum())})


def test_next_to_no_noise():
    """At sigma = 0.1 a draw differs from 0 with probability 4e-22."""
    assert not draw(Fraction(1, 100), 10**6).any()
    assert not draw(Fraction(1, 10**300), 1000).any()


@pytest.mark.parametrize("sigma", [0.3, 0.5])
def test_rounded_continuous_noise_fails(sigma):
    rounded = np.rint(np.random.default_rng().normal(0, sigma, 400_000)).astype(np.int64)
    assert {"fit", "zero"} <= set(failed(gaussian_p_values(rounded, sigma)))


@pytest.mark.parametrize("sigma_squared", [1, 9, 2500, 10**12])
def test_a_sampler_without_a_sign_fails(sigma_squared):
    wrong = np.abs(draw(sigma_squared, 60_000))
    assert {"mean", "symmetry"} <= set(failed(gaussian_p_values(wrong, sigma_squared**0.5)))


@pytest.mark.parametrize("sigma_squared", [1, 9])
def test_a_sampler_with_half_or_twice_the_zeros_fails(sigma_squared):
    draws = draw(sigma_squared, 600_000)
    zeros = np.flatnonzero(draws == 0)
    halved = np.delete(draws, zeros[::2])
    doubled = np.concatenate([draws, np.zeros(zeros.size, dtype=np.int64)])  # 0 accepted with either sign
    for wrong in (halved, doubled):
        assert {"fit", "zero", "neighbours 0"} <= set(failed(gaussian_p_values(wrong, sigma_squared**0.5)))


def test_a_lattice_that_is_too_coarse_fails():
    wrong = 2 * draw(10**12 // 4, 60_000)
    assert "mod 2" in failed(gaussian_p_values(wrong, 10**6))


def test_neighbouring_cells_follow_the_exact_ratio():
    """log P(k) / P(k+1) = (2k + 1) / (2 sigma^2), on either side of 0."""
    sigma_squared, draws = 4, draw(4, 600_000)
    cells = {k: int((draws == k).sum()) for k in range(-6, 7)}
    for k in range(5):
        share = 1 / (1 + np.exp((2 * k + 1) / (2 * sigma_squared)))
        for side in (1, -1):
            near, far = cells[side * k], cells[side * (k + 1)]
            assert not failed({"ratio": p_binomial(far, near + far, share)})
            if k:
                wrong = 1 / (1 + np.exp((2 * k + 1) / (2 * sigma_squared * 1.69)))
                assert failed({"ratio": p_binomial(far, near + far, wrong)})


def test_draws_are_independent():
    draws = draw(9, 400_000)
    for lag in (1, 2, 7):
        a, b = draws[:-lag] > 0, draws[lag:] > 0
        share = float(a.mean() * b.mean())
        assert not failed({"pairs": p_binomial(int((a[::2] & b[::2])[::8].sum()), (a[::2])[::8].size, share)})


# Other people's samplers


@pytest.mark.parametrize("sigma_squared", [Fraction(1, 4), Fraction(9), Fraction(10**4, 7)], ids=str)
def test_against_cks20_in_fractions(sigma_squared):
    random = Random()
    oracle = np.array([cks_discrete_gaussian(sigma_squared, random) for _ in range(6000)])
    assert not failed({"same": p_same_distribution(draw(sigma_squared, 100_000), oracle)})
    assert failed({"same": p_same_distribution(draw(sigma_squared * Fraction(169, 100), 100_000), oracle)})


@pytest.mark.parametrize("sigma_squared", [10**8 + 1, 10**12])
def test_rejection_against_cks20_in_fractions(sigma_squared):
    random, sigma = Random(), int(sigma_squared**0.5)
    oracle = np.array([cks_discrete_gaussian(Fraction(sigma_squared), random) for _ in range(3000)]) * 8 // sigma
    assert not failed({"same": p_same_distribution(draw(sigma_squared, 60_000) * 8 // sigma, oracle)})
    wrong = draw(sigma_squared * Fraction(169, 100), 60_000) * 8 // sigma
    assert failed({"same": p_same_distribution(wrong, oracle)})


@pytest.mark.parametrize("sigma", [0.5, 3.0, 50.0])
def test_against_opendp(sigma):
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    oracle = np.array(dp.m.make_gaussian(*space, scale=sigma)([0] * 40_000))
    assert not failed(gaussian_p_values(oracle, sigma))
    bucket = max(1, int(sigma // 4))
    ours = draw(Fraction(sigma) ** 2, 300_000)
    assert not failed({"same": p_same_distribution(ours // bucket, oracle // bucket)})


def test_the_largest_noise_stays_within_int64():
    draws = draw(MAX_SIGMA_SQUARED[Noise.DISCRETE], 5000)
    assert not failed(gaussian_p_values(draws, 2.0**40))
    assert np.abs(draws).max() < 2**45
