"""The discrete Gaussian: certified bounds and replayed bits.

How bits become a draw up to sigma = 10,000: the first 16-bit word is a sign (its top bit) and 15
bits of the uniform number; if these do not decide, the top 48 bits of a 64-bit word follow, then
64 bits at a time. All words are little-endian.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.privacy import (
    DIGITS,
    Replay,
    Seeded,
    bits_at_step,
    failed,
    invert_bits,
    layout,
    magnitude_cdf,
    p_chi_squared,
    to_decimal,
)

from synthdp.errors import ParameterError
from synthdp.privacy.noise import gaussian as noise
from synthdp.privacy.noise.gaussian import (
    MAX_SIGMA_SQUARED,
    TABLE_MAX_SIGMA_SQUARED,
    Noise,
    gaussian_noise,
    magnitude_bounds,
)
from synthdp.privacy.noise.randomness import SystemRandomness

SYSTEM = SystemRandomness()
MOST = MAX_SIGMA_SQUARED[Noise.DISCRETE]
SMALL = [Fraction(1, 100), Fraction(1, 4), Fraction(1), Fraction(9), Fraction(2500)]


def draw(sigma_squared, size, randomness=SYSTEM):
    return gaussian_noise(Noise.DISCRETE, sigma_squared=Fraction(sigma_squared), size=size, randomness=randomness)


# Bounds on the distribution function


@pytest.mark.parametrize("bits", [8, 63, 127, 191])
@pytest.mark.parametrize("sigma_squared", [*SMALL, Fraction(10**6), Fraction(2, 7), Fraction(1, 10**30)], ids=str)
def test_magnitude_bounds_bracket_the_exact_distribution(sigma_squared, bits):
    floors, ceilings = magnitude_bounds(sigma_squared, bits)
    with localcontext() as context:
        context.prec = DIGITS + 20
        exact = magnitude_cdf(sigma_squared)
        slack = Decimal(10) ** (10 - DIGITS)
        assert len(floors) == len(ceilings) <= len(exact)
        for k, (low, high) in enumerate(zip(floors, ceilings, strict=True)):
            assert low <= exact[k] * 2**bits * (1 + slack)
            assert high >= exact[k] * 2**bits * (1 - slack)
            assert high - low <= 4
    assert list(floors) == sorted(floors)
    assert list(ceilings) == sorted(ceilings)
    assert 2**bits - 4 <= floors[-1] < ceilings[-1] <= 2**bits  # what is beyond the table is rare but not impossible


@settings(max_examples=60, deadline=None)
@given(sigma_squared=st.fractions(min_value=Fraction(1, 50), max_value=400), bits=st.sampled_from([16, 63, 127]))
def test_magnitude_bounds_for_any_rational(sigma_squared, bits):
    floors, ceilings = magnitude_bounds(sigma_squared, bits)
    with localcontext() as context:
        context.prec = DIGITS + 20
        slack = Decimal(10) ** (10 - DIGITS)
        for low, high, exact in zip(floors, ceilings, magnitude_cdf(sigma_squared), strict=False):
            assert low <= exact * 2**bits * (1 + slack)
            assert exact * 2**bits * (1 - slack) <= high <= low + 4


@pytest.mark.parametrize("sigma_squared", [*SMALL, Fraction(10**6)], ids=str)
def test_first_word_table_is_right_wherever_it_answers(sigma_squared):
    """Against the exact distribution: both ends of every decided cell invert to the table's answer."""
    table = noise._table(Noise.DISCRETE, sigma_squared)
    with localcontext() as context:
        context.prec = DIGITS + 20
        steps = np.array([int(p * 2**63) for p in magnitude_cdf(sigma_squared)], dtype=np.uint64)
    cells = np.arange(2**15, dtype=np.uint64) << np.uint64(48)
    first, last = (np.searchsorted(steps, x, side="right") for x in (cells, cells | np.uint64(2**48 - 1)))
    positive, negative = table.first_word[: 2**15], table.first_word[2**15 :]
    decided = positive != noise._UNDECIDED
    assert np.array_equal(decided, negative != noise._UNDECIDED)
    assert np.array_equal(positive[decided], first[decided])
    assert np.array_equal(negative[decided], -first[decided])
    assert np.array_equal(first[decided], last[decided])
    assert (~decided).sum() <= len(table.lower) + 1  # no more cells are open than there are steps


# Replayed bits


@pytest.mark.parametrize("sigma_squared", SMALL, ids=str)
@pytest.mark.parametrize("n_bits", [63, 127, 191, 255])
@pytest.mark.parametrize("distance", [-9, 9])
@pytest.mark.parametrize("sign", [0, 1])
def test_bits_on_a_step_are_read_just_as_far_as_needed(sigma_squared, n_bits, distance, sign):
    """Words that follow F(k) for n_bits and then leave it force every path there is."""
    for k in {0, 1, int(2 * float(sigma_squared) ** 0.5)}:
        bits = bits_at_step(magnitude_cdf(sigma_squared), k, n_bits, distance)
        if len(bits) > n_bits or (sigma_squared < Fraction(1, 10) and (k or n_bits < 127)):
            continue  # at sigma = 0.1, F(1) is so near to 1 that nothing lies between
        source = layout(sign, bits)
        expected = invert_bits(magnitude_cdf(sigma_squared), bits)
        assert expected == k + (distance > 0)
        assert draw(sigma_squared, 1, source).tolist() == [-expected if sign else expected]
        assert source.n_left == 0  # an undecided prefix is extended, never thrown away


@pytest.mark.parametrize("sigma_squared", [*SMALL, Fraction(2, 7)], ids=str)
def test_beyond_the_tables_end_a_longer_table_decides(sigma_squared):
    for tail in ("0" * 64, "1" * 61 + "0" * 3, "1" * 64 + "0" * 64, "1" * 64 + "01" * 32):
        bits = "1" * 63 + tail
        source = layout(1, bits + "0" * 64)
        assert draw(sigma_squared, 1, source).tolist() == [-invert_bits(magnitude_cdf(sigma_squared), bits + "0" * 64)]


@settings(max_examples=200, deadline=None)
@given(
    sigma_squared=st.sampled_from([*SMALL, Fraction(2, 7), Fraction(123457, 1000)]),
    sign=st.integers(0, 1),
    uniform=st.integers(0, 2**191 - 2**70),  # all ones would ask for ever more bits
)
def test_any_bits_give_what_slow_inversion_gives(sigma_squared, sign, uniform):
    bits = format(uniform, "0191b")
    magnitude = invert_bits(magnitude_cdf(sigma_squared), bits)
    assert draw(sigma_squared, 1, layout(sign, bits)).tolist() == [-magnitude if sign else magnitude]


@pytest.mark.parametrize("sigma_squared", SMALL, ids=str)
def test_a_batch_reads_all_first_words_then_the_open_ones(sigma_squared):
    n = 3000
    source = Seeded(7)
    firsts, spares = source.words(n, np.uint16), iter(source.words(n, np.uint64).tolist())
    expected = []
    for first in firsts.tolist():
        cell = first & 0x7FFF
        ends = [cell << 48, (cell << 48) + 2**48 - 1]
        if noise._table(Noise.DISCRETE, sigma_squared).first_word[first] == noise._UNDECIDED:
            ends = [cell << 48 | next(spares) >> 16]
        magnitudes = {invert_bits(magnitude_cdf(sigma_squared), format(end, "063b")) for end in ends}
        assert len(magnitudes) == 1
        expected.append(-magnitudes.pop() if first >> 15 else magnitudes.pop())
    assert draw(sigma_squared, n, Seeded(7)).tolist() == expected


# Rejection: every float decision is the exact one


@pytest.mark.parametrize("sigma_squared", [10**8 + 1, 10**12, Fraction(10**15, 7), 2**80], ids=str)
def test_exact_decisions_everywhere_give_the_same_draws(sigma_squared, monkeypatch):
    fast = draw(sigma_squared, 150, Seeded(3))

    def all_exact(gamma, exact, randomness):
        words = randomness.words(gamma.size, np.uint64)
        decide = noise._bernoulli_from_word
        return np.array([decide(exact(i), int(word), randomness) for i, word in enumerate(words)], dtype=bool)

    monkeypatch.setattr(noise, "bernoulli_exp_many", all_exact)
    assert np.array_equal(fast, draw(sigma_squared, 150, Seeded(3)))


@pytest.mark.parametrize(
    "gamma", [Fraction(0), Fraction(1), Fraction(1, 3), Fraction(37, 5), Fraction(10**9 + 1, 10**10)], ids=str
)
def test_words_near_the_threshold_are_decided_exactly(gamma):
    with localcontext() as context:
        context.prec = DIGITS
        threshold = int(to_decimal(-gamma).exp() * 2**64)
        later = int(to_decimal(-gamma).exp() * 2**128) % 2**64
    asked = []

    def exact(i):
        asked.append(i)
        return gamma

    offsets = [-(2**30), -(2**20), -1000, -3, 3, 1000, 2**20, 2**30]
    offsets = [offset for offset in offsets if 0 <= threshold + offset < 2**64]
    words = np.array([threshold + offset for offset in offsets], dtype=np.uint64)
    source = Replay(words.tobytes())
    answers = noise._bernoulli_exp(np.full(len(offsets), float(gamma)), exact, source)
    assert answers.tolist() == [offset < 0 for offset in offsets]
    assert asked == [i for i, offset in enumerate(offsets) if abs(offset) < 2**24]
    if gamma:
        for last, answer in [(later - 9, True), (later + 9, False)]:
            undecided = Replay(np.array([threshold, last], dtype=np.uint64).tobytes())
            assert noise._bernoulli_exp(np.array([float(gamma)]), exact, undecided).tolist() == [answer]
            assert undecided.n_left == 0


@settings(max_examples=300, deadline=None)
@given(
    sigma_squared=st.fractions(min_value=10**8, max_value=2**80, max_denominator=10**6),
    multiple=st.floats(0, 40),
)
def test_the_float_filter_has_a_margin(sigma_squared, multiple):
    """The error of the computed exp(-gamma) is below 2^-48; the filter trusts it up to 2^-40 only."""
    scale = int(np.floor(np.sqrt(float(sigma_squared)))) + 1
    proposal, offset = int(multiple * scale), sigma_squared / scale
    computed = np.exp(-((np.abs(np.int64(proposal)) - float(offset)) ** 2) / (2 * float(sigma_squared)))
    with localcontext() as context:
        context.prec = DIGITS
        true = to_decimal(-((proposal - offset) ** 2) / (2 * sigma_squared)).exp()
        assert abs(Decimal(float(computed)) - true) < Decimal(2) ** -48


@pytest.mark.parametrize("bound", [1, 2, 3, 1000, 2**16, 2**16 + 1, 2**40 + 1])
def test_uniform_below(bound):
    drawn = noise._uniform_below(bound, 20_000, SYSTEM)
    assert drawn.size == 20_000
    assert 0 <= drawn.min() <= drawn.max() < bound
    n_bins = min(bound, 50)
    edges = np.array([bound * i // n_bins for i in range(n_bins + 1)])
    assert not failed({"uniform": p_chi_squared(np.histogram(drawn, edges)[0], np.diff(edges) / bound)})


def test_uniform_below_keeps_top_bits_and_rejects_the_rest():
    top_bits = [7, 5, 0, 6, 4, 3]  # of 3-bit numbers, those below 5 count
    source = Replay(np.array([bits << 61 | 12345 for bits in top_bits], dtype=np.uint64).tobytes())
    assert noise._uniform_below(5, 3, source).tolist() == [0, 4, 3]


# Odds and ends


@pytest.mark.parametrize("sigma_squared", [0, -1, MOST + 1])
def test_sigma_out_of_range(sigma_squared):
    with pytest.raises(ParameterError, match="sigma"):
        draw(sigma_squared, 1)


@pytest.mark.parametrize("sigma_squared", [1, TABLE_MAX_SIGMA_SQUARED, TABLE_MAX_SIGMA_SQUARED + 1, MOST])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_shape_and_type(sigma_squared, size):
    draws = draw(sigma_squared, size)
    assert (draws.dtype, draws.shape) == (np.int64, (size,))


def test_more_than_a_block():
    draws = draw(1, 3 * 2**16 + 5)
    assert draws.shape == (3 * 2**16 + 5,)
    assert not np.array_equal(draws[: 2**16], draws[2**16 : 2**17])
