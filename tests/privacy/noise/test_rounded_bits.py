"""The rounded Gaussian: replayed bits against slow inversion, statistics, and the ends of its range.

Its 63-bit table has a margin of 2^-40 on either side of each step; whatever lies within reads on.
"""

from bisect import bisect_right
from decimal import localcontext
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.erf import RoundedCdf
from oracles.privacy import (
    DIGITS,
    Seeded,
    bits_at_step,
    failed,
    gaussian_p_values,
    invert_bits,
    layout,
    p_same_distribution,
)

from synthdp.errors import ParameterError
from synthdp.privacy.noise import gaussian as noise
from synthdp.privacy.noise.gaussian import MAX_SIGMA_SQUARED, Noise, gaussian_noise
from synthdp.privacy.noise.randomness import SystemRandomness

SYSTEM = SystemRandomness()
MOST = MAX_SIGMA_SQUARED[Noise.ROUNDED]
SMALL = [Fraction(1, 16), Fraction(1, 4), Fraction(1), Fraction(9), Fraction(2500), Fraction(2, 7), Fraction(10**7)]


def draw(sigma_squared, size, randomness=SYSTEM):
    return gaussian_noise(Noise.ROUNDED, sigma_squared=Fraction(sigma_squared), size=size, randomness=randomness)


@pytest.mark.parametrize("sigma_squared", [*SMALL, Fraction(MOST)], ids=str)
def test_the_table_brackets_the_exact_distribution(sigma_squared):
    table, cdf = noise._table(Noise.ROUNDED, sigma_squared), RoundedCdf(sigma_squared)
    n = len(table.lower)
    assert n == len(table.upper)
    for k in {0, 1, 2, n // 9, n // 3, n - 2, n - 1}:
        with localcontext() as context:
            context.prec = DIGITS
            lower, exact, upper = int(table.lower[k]), cdf[k] * 2**63, int(table.upper[k])
            assert lower <= exact <= upper
            assert lower + 2**23 <= exact + 2**14  # of the margin of 2^-40, rounding uses next to nothing
            assert upper == 2**63 or exact + 2**23 <= upper + 2**14
    assert 2**63 - int(table.lower[-1]) < 2**24


@pytest.mark.parametrize("sigma_squared", SMALL, ids=str)
def test_first_word_table_is_right_wherever_it_answers(sigma_squared):
    """Both ends of every decided cell invert to the table's answer; few cells are open."""
    table, cdf = noise._table(Noise.ROUNDED, sigma_squared), RoundedCdf(sigma_squared)
    positive, negative = table.first_word[: 2**15], table.first_word[2**15 :]
    decided = np.flatnonzero(positive != noise._UNDECIDED)
    assert np.array_equal(decided, np.flatnonzero(negative != noise._UNDECIDED))
    assert np.array_equal(positive[decided], -negative[decided])
    assert 2**15 - decided.size <= len(table.lower) + 1
    for cell in decided[np.unique(np.linspace(0, decided.size - 1, 40, dtype=int))].tolist():
        ends = [bisect_right(cdf, Fraction(end, 2**63)) for end in (cell << 48, (cell + 1 << 48) - 1)]
        assert ends == [positive[cell]] * 2


@pytest.mark.parametrize("sigma_squared", SMALL, ids=str)
@pytest.mark.parametrize("n_bits", [127, 191, 255])
@pytest.mark.parametrize("distance", [-9, 9])
def test_bits_on_a_step_are_read_just_as_far_as_needed(sigma_squared, n_bits, distance):
    cdf = RoundedCdf(sigma_squared)
    for k in {0, 1, int(2 * float(sigma_squared) ** 0.5)}:
        bits = bits_at_step(cdf, k, n_bits, distance)
        if len(bits) > n_bits:
            continue  # F(k) is too near to 1
        for sign in (0, 1):
            source = layout(sign, bits)
            assert draw(sigma_squared, 1, source).tolist() == [(k + (distance > 0)) * (-1 if sign else 1)]
            assert source.n_left == 0  # an undecided prefix is extended, never thrown away


@pytest.mark.parametrize("sigma_squared", SMALL, ids=str)
@pytest.mark.parametrize(
    ("distance", "n_read"), [(2**24, 0), (2**22, 8), (9, 8), (1, 8), (0, 8), (-(2**22), 8), (-(2**24), 0)]
)
def test_the_margin_is_decided_exactly_and_the_rest_quickly(sigma_squared, distance, n_read):
    """63 bits that end within 2^-40 of a step: the table leaves them to big integers."""
    cdf = RoundedCdf(sigma_squared)
    for k in {0, 1, int(float(sigma_squared) ** 0.5)}:
        start = bits_at_step(cdf, k, 63, distance)
        if not 2**20 < int(start, 2) < 2**63 - 2**30:
            continue
        for tail in ("0" * 62 + "11", "1" * 62 + "00"):
            source = layout(0, start + tail)
            n_prepared = source.n_left - 8
            assert draw(sigma_squared, 1, source).tolist() == [invert_bits(cdf, start + tail)]
            assert source.n_used == n_prepared + n_read


@pytest.mark.parametrize("sigma_squared", [*SMALL, Fraction(1, 10**6)], ids=str)
def test_beyond_the_tables_end_big_integers_decide(sigma_squared):
    for tail in ("0" * 64, "1" * 61 + "0" * 3, "1" * 64 + "0" * 64, "1" * 64 + "01" * 32):
        bits = "1" * 63 + tail + "0" * 64
        assert draw(sigma_squared, 1, layout(1, bits)).tolist() == [-invert_bits(RoundedCdf(sigma_squared), bits)]


@settings(max_examples=150, deadline=None)
@given(
    sigma_squared=st.sampled_from([*SMALL, Fraction(123457, 1000)]),
    sign=st.integers(0, 1),
    uniform=st.integers(0, 2**191 - 2**70),  # all ones would ask for ever more bits
)
@example(sigma_squared=Fraction(1), sign=1, uniform=2**191 - 2**100)
@example(sigma_squared=Fraction(9), sign=0, uniform=2**191 - 2**149)
def test_any_bits_give_what_slow_inversion_gives(sigma_squared, sign, uniform):
    bits = format(uniform, "0191b")
    magnitude = invert_bits(RoundedCdf(sigma_squared), bits)
    assert draw(sigma_squared, 1, layout(sign, bits)).tolist() == [-magnitude if sign else magnitude]


def test_draws_left_to_big_integers_do_not_move_the_others():
    """A batch in which every draw is undecided at first gives what single draws of the same bits give."""
    table = noise._table(Noise.ROUNDED, Fraction(9))
    source = Seeded(5)
    words, more = source.words(50, np.uint16), source.words(50, np.uint64)
    blind = table._replace(upper=np.full_like(table.upper, 2**63))  # nothing is certainly past a step
    finer = partial(noise._bounds, Noise.ROUNDED, Fraction(9))
    replayed = Seeded(5)
    replayed.words(50, np.uint16)
    answers = noise._finish(finer, blind, words.astype(np.uint64), replayed)
    for word, extra, answer in zip(words.tolist(), more.tolist(), answers.tolist(), strict=True):
        bits = format((word & 0x7FFF) << 48 | extra >> 16, "063b")
        magnitude = bisect_right(RoundedCdf(Fraction(9)), Fraction(int(bits, 2), 2**63))
        assert answer == (-magnitude if word >> 15 else magnitude)


# Statistics


@pytest.mark.parametrize(
    ("sigma_squared", "n"),
    [(0.0625, 400_000), (0.25, 400_000), (1, 400_000), (9, 400_000), (2500, 400_000), (MOST, 60_000)],
)
def test_the_sampler_passes_and_one_of_another_scale_fails(sigma_squared, n):
    sigma = float(sigma_squared) ** 0.5
    assert not failed(gaussian_p_values(draw(sigma_squared, n), sigma, rounded=True))
    for factor in (Fraction(13, 10), Fraction(10, 13)):
        other = min(Fraction(sigma_squared) * factor**2, Fraction(MOST))
        if other != MOST:
            wrong = failed(gaussian_p_values(draw(other, n), sigma, rounded=True))
            assert {"fit", "variance"} <= set(wrong)


@pytest.mark.parametrize("sigma", [0.3, 0.5])
def test_it_is_not_the_discrete_gaussian(sigma):
    rounded = draw(Fraction(sigma) ** 2, 400_000)
    discrete = gaussian_noise(Noise.DISCRETE, sigma_squared=Fraction(sigma) ** 2, size=400_000, randomness=SYSTEM)
    assert {"fit", "zero"} <= set(failed(gaussian_p_values(rounded, sigma)))
    assert {"fit", "zero"} <= set(failed(gaussian_p_values(discrete, sigma, rounded=True)))


@pytest.mark.parametrize("sigma", [0.7, 4.0, 60.0])
def test_against_numpys_normal_numbers(sigma):
    oracle = np.rint(np.random.default_rng().normal(0, sigma, 300_000)).astype(np.int64)
    ours, wrong = draw(Fraction(sigma) ** 2, 300_000), draw((Fraction(sigma) * 13 / 10) ** 2, 300_000)
    assert not failed({"same": p_same_distribution(ours, oracle)})
    assert failed({"same": p_same_distribution(wrong, oracle)})


@pytest.mark.parametrize(("sigma_squared", "least"), [(1, 1.0833), (9, 9.0833), (100, 100.0833)])
def test_the_stated_variance_is_the_true_one(sigma_squared, least):
    """Against sums over the exact distribution: sigma^2 + 1/12 (Sheppard)."""
    cdf = RoundedCdf(Fraction(sigma_squared))
    tails = [1 - cdf[k] for k in range(len(cdf) - 1)]
    variance = float(sum((2 * k + 1) * tail for k, tail in enumerate(tails)))  # sum of P(|X| > k) (2k + 1)
    assert Noise.ROUNDED.variance(Fraction(sigma_squared)) == pytest.approx(variance, rel=1e-6)
    assert variance > least


@pytest.mark.parametrize("noise_", Noise)
@pytest.mark.parametrize("sigma_squared", [Fraction(1, 100), Fraction(1, 10), Fraction(1, 4), Fraction(1), Fraction(5)])
def test_the_stated_variance_is_never_too_small(noise_, sigma_squared):
    draws = gaussian_noise(noise_, sigma_squared=sigma_squared, size=200_000, randomness=SYSTEM)
    assert np.square(draws).mean() < 1.05 * noise_.variance(sigma_squared)


# Odds and ends


@pytest.mark.parametrize("sigma_squared", [Fraction(1, 10**6), Fraction(1, 10**300)])
def test_next_to_no_noise(sigma_squared):
    assert not draw(sigma_squared, 100_000).any()


@pytest.mark.parametrize("sigma_squared", [0, -1, MOST + Fraction(1, 10**20)])
def test_sigma_out_of_range(sigma_squared):
    with pytest.raises(ParameterError, match=r"sigma\^2"):
        draw(sigma_squared, 1)


@pytest.mark.parametrize("sigma_squared", [Fraction(1, 10**6), 1, MOST])
@pytest.mark.parametrize("size", [0, 1, 5, 2**16 + 3])
def test_shape_and_type(sigma_squared, size):
    draws = draw(sigma_squared, size)
    assert (draws.dtype, draws.shape) == (np.int64, (size,))
    assert np.abs(draws).max(initial=0) <= 12 * float(sigma_squared) ** 0.5
