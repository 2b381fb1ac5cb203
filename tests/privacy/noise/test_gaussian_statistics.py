"""Statistics that Gaussian noise up to sigma = 8,192 passes and that wrong samplers fail; the ends
of its range.
"""

from fractions import Fraction

import numpy as np
import pytest
from oracles.erf import RoundedCdf
from oracles.privacy import failed, gaussian_p_values, p_binomial, p_same_distribution

from synthdp.core import ParameterError
from synthdp.privacy import (
    MAX_SIGMA_SQUARED,
    MAX_TABLE_SIGMA_SQUARED,
    SystemRandomness,
    gaussian_noise,
    stddev_of_noise,
)

SYSTEM = SystemRandomness()


def draw(sigma_squared, size, randomness=SYSTEM):
    return gaussian_noise(sigma_squared=Fraction(sigma_squared), size=size, randomness=randomness)


@pytest.mark.parametrize(
    ("sigma_squared", "n"),
    [
        (0.0625, 400_000),
        (0.25, 400_000),
        (1, 400_000),
        (9, 400_000),
        (2500, 400_000),
        (10**6, 400_000),
        (MAX_TABLE_SIGMA_SQUARED, 100_000),
    ],
)
def test_the_sampler_passes_and_one_of_another_scale_fails(sigma_squared, n):
    sigma = float(sigma_squared) ** 0.5
    assert not failed(gaussian_p_values(draw(sigma_squared, n), sigma))
    for factor in (Fraction(13, 10), Fraction(10, 13)):
        wrong = failed(gaussian_p_values(draw(Fraction(sigma_squared) * factor**2, n), sigma))
        assert {"fit", "variance"} <= set(wrong)


@pytest.mark.parametrize("sigma", [0.3, 0.5])
def test_the_discrete_gaussian_would_fail(sigma):
    reach = np.arange(-30, 31)
    weights = np.exp(-0.5 * (reach / sigma) ** 2)
    wrong = np.random.default_rng().choice(reach, 400_000, p=weights / weights.sum())
    assert {"fit", "zero"} <= set(failed(gaussian_p_values(wrong, sigma)))


@pytest.mark.parametrize("sigma_squared", [1, 9, 2500])
def test_a_sampler_without_a_sign_fails(sigma_squared):
    wrong = np.abs(draw(sigma_squared, 60_000))
    assert {"mean", "symmetry"} <= set(failed(gaussian_p_values(wrong, sigma_squared**0.5)))


@pytest.mark.parametrize("sigma_squared", [1, 9])
def test_a_sampler_with_half_or_twice_the_zeros_fails(sigma_squared):
    draws = draw(sigma_squared, 600_000)
    zeros = np.flatnonzero(draws == 0)
    halved = np.delete(draws, zeros[::2])
    doubled = np.concatenate([draws, np.zeros(zeros.size, dtype=np.int64)])  # 0 with either sign
    for wrong in (halved, doubled):
        assert {"fit", "zero", "neighbours 0"} <= set(
            failed(gaussian_p_values(wrong, sigma_squared**0.5))
        )


@pytest.mark.parametrize("sigma_squared", [9, 10**10])
def test_draws_are_independent(sigma_squared):
    draws = draw(sigma_squared, 400_000)
    for lag in (1, 2, 7, 2**16):
        a, b = draws[:-lag] > 0, draws[lag:] > 0
        share = float(a.mean() * b.mean())
        apart = np.arange(0, a.size - 8, 16)
        assert not failed({"pairs": p_binomial(int((a & b)[apart].sum()), apart.size, share)})
    repeated = np.tile(draws[: 2**16], 2)  # a block that is used twice
    both = (repeated[: 2**16] > 0) & (repeated[2**16 :] > 0)
    assert failed({"pairs": p_binomial(int(both.sum()), both.size, 0.25)})


# Other people's samplers


@pytest.mark.parametrize("sigma", [0.7, 4.0, 60.0, 3e5])
def test_against_numpys_normal_numbers(sigma):
    oracle = np.rint(np.random.default_rng().normal(0, sigma, 300_000)).astype(np.int64)
    ours, wrong = (
        draw(Fraction(sigma) ** 2, 300_000),
        draw((Fraction(sigma) * 13 / 10) ** 2, 300_000),
    )
    bucket = max(1, int(sigma // 32))
    assert not failed({"same": p_same_distribution(ours // bucket, oracle // bucket)})
    assert failed({"same": p_same_distribution(wrong // bucket, oracle // bucket)})


@pytest.mark.parametrize("sigma", [3.0, 50.0])
def test_against_opendp(sigma):
    """Its noise is the discrete Gaussian: from sigma = 3 on, 1/12 of variance more is all the
    difference.
    """
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    wider = (sigma**2 + 1 / 12) ** 0.5
    oracle = np.array(dp.m.make_gaussian(*space, scale=wider)([0] * 40_000))
    bucket = max(1, int(sigma // 4))
    ours = draw(Fraction(sigma) ** 2, 300_000)
    assert not failed({"same": p_same_distribution(ours // bucket, oracle // bucket)})


# The stated standard deviation


@pytest.mark.parametrize(
    "sigma_squared", [Fraction(1, 20), Fraction(1, 4), Fraction(1), Fraction(9), Fraction(100)]
)
def test_the_stated_stddev_is_never_too_small_and_soon_tight(sigma_squared):
    """Against sums over the exact distribution: sigma^2 + 1/12 (Sheppard)."""
    cdf = RoundedCdf(sigma_squared)
    tails = [1 - cdf[k] for k in range(len(cdf) - 1)]
    variance = float(
        sum((2 * k + 1) * tail for k, tail in enumerate(tails))
    )  # sum of P(|X| > k) (2k + 1)
    assert variance <= stddev_of_noise(sigma_squared) ** 2 * (1 + 1e-12)
    if sigma_squared >= 1:
        assert stddev_of_noise(sigma_squared) ** 2 == pytest.approx(variance, rel=1e-6)


# Odds and ends


@pytest.mark.parametrize(
    "sigma_squared", [Fraction(1, 10**6), Fraction(1, 10**300), Fraction(1, 10**400)]
)
def test_next_to_no_noise(sigma_squared):
    assert not draw(sigma_squared, 100_000).any()


@pytest.mark.parametrize("sigma_squared", [0, -1, MAX_SIGMA_SQUARED + Fraction(1, 10**20)])
def test_sigma_out_of_range(sigma_squared):
    with pytest.raises(ParameterError, match=r"sigma\^2"):
        draw(sigma_squared, 1)


@pytest.mark.parametrize(
    "sigma_squared",
    [
        Fraction(1, 10**6),
        1,
        MAX_TABLE_SIGMA_SQUARED,
        MAX_TABLE_SIGMA_SQUARED + 1,
        MAX_SIGMA_SQUARED,
    ],
)
@pytest.mark.parametrize("size", [0, 1, 5, 2**16 + 3])
def test_shape_and_type(sigma_squared, size):
    draws = draw(sigma_squared, size)
    assert (draws.dtype, draws.shape) == (np.int64, (size,))
    assert np.abs(draws).max(initial=0) <= 12 * float(sigma_squared) ** 0.5


def test_more_than_a_block():
    draws = draw(1, 3 * 2**16 + 5)
    assert draws.shape == (3 * 2**16 + 5,)
    assert not np.array_equal(draws[: 2**16], draws[2**16 : 2**17])
