"""Exact sampling: the brackets hold against 120-digit arithmetic, the draws follow exact
probabilities.
"""

from bisect import bisect_right
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from helpers.seldom import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.erf import decimal_pi, erf_digits
from oracles.privacy import ALPHA, Replay, Seeded, p_binomial, p_chi_squared, to_decimal

from synthdp.privacy import (
    SystemRandomness,
    bernoulli_exp,
    cumulative_bounds,
    erf_bounds,
    exp_bounds,
    exponential_mechanism,
    float_exp,
    invert,
)
from synthdp.privacy.noise.exact import _pi_bounds

SYSTEM = SystemRandomness()
RATIONALS = st.one_of(
    st.fractions(min_value=0, max_value=1),
    st.fractions(min_value=0, max_value=500),
    st.fractions(min_value=0, max_value=Fraction(1, 10**9)),
    st.integers(0, 2000).map(Fraction),
    st.floats(0, 100).map(Fraction),
)


def true_scaled_exp(x: Fraction, bits: int) -> Decimal:
    return to_decimal(x).copy_negate().exp() * 2**bits


@settings(max_examples=examples(200), deadline=None)
@given(x=RATIONALS, bits=st.integers(0, 300))
@example(x=Fraction(0), bits=64)
@example(x=Fraction(1), bits=1)
@example(x=Fraction(64), bits=64)
@example(x=Fraction(65), bits=64)
@example(x=Fraction(1, 10**40), bits=64)
@example(x=Fraction(1023, 16384), bits=200)
def test_exp_bounds_bracket_tightly(x, bits):
    lower, upper = exp_bounds(x, bits)
    with localcontext() as context:
        context.prec = 320
        true = true_scaled_exp(x, bits)
        assert 0 <= lower <= true <= upper <= 2**bits
    assert upper - lower <= 2


@settings(max_examples=30, deadline=None)
@given(x=RATIONALS, bits=st.integers(1000, 4000))
def test_exp_bounds_of_many_bits(x, bits):
    lower, upper = exp_bounds(x, bits)
    with localcontext() as context:
        context.prec = 2600
        assert lower <= true_scaled_exp(x, bits) <= upper
    assert upper - lower <= 2


@settings(max_examples=examples(100), deadline=None)
@given(x=RATIONALS, bits=st.integers(1, 100))
def test_finer_bounds_lie_within_coarser_ones_up_to_rounding(x, bits):
    lower, upper = exp_bounds(x, bits)
    finer_lower, finer_upper = exp_bounds(x, bits + 64)
    assert lower << 64 <= finer_upper
    assert finer_lower <= upper << 64


@settings(max_examples=examples(75), deadline=None)
@given(
    exponents=st.lists(RATIONALS, max_size=8),
    place=st.integers(0, 8),
    bits=st.sampled_from([1, 8, 64, 128]),
)
def test_cumulative_bounds_bracket_and_rise(exponents, place, bits):
    exponents.insert(min(place, len(exponents)), Fraction(0))
    lower, upper = cumulative_bounds([exp_bounds(x, bits + 32) for x in exponents], bits)
    with localcontext() as context:
        context.prec = 120
        weights = [true_scaled_exp(x, 0) for x in exponents]
        total, partial = sum(weights), Decimal(0)
        for weight, low, high in zip(weights, lower, upper, strict=True):
            partial += weight
            assert low <= partial / total * 2**bits * (1 + Decimal("1e-100"))
            assert high >= partial / total * 2**bits * (1 - Decimal("1e-100"))
    assert list(lower) == sorted(lower)
    assert list(upper) == sorted(upper)
    assert lower[-1] == upper[-1] == 1 << bits


def int64(*values: int) -> Replay:
    return Replay(b"".join(value.to_bytes(8, "little") for value in values))


def test_inversion_draws_more_bits_only_on_a_step():
    """F = 1/2 is a step at 100..0; bounds that are never sharp there leave the last bits to decide."""

    def half(bits):
        return (2 ** (bits - 1) - 1, 2**bits), (2 ** (bits - 1) + 1, 2**bits)

    for values, answer in [
        ((0,), 0),
        ((2**63 - 2,), 0),
        ((2**63 + 1,), 1),
        ((2**63 - 1, 0), 0),
        ((2**63, 2**63), 1),
        ((2**63, 0, 1), 1),
        ((2**63 - 1, 2**64 - 1, 2**64 - 2), 0),
    ]:
        bits = int64(*values)
        assert invert(half, bits) == answer
        assert bits.n_left == 0


@pytest.mark.parametrize(
    "x", [Fraction(1), Fraction(1, 3), Fraction(7, 2), Fraction(40), Fraction(1, 10**6)]
)
def test_bernoulli_exp_decides_as_infinite_precision_would(x):
    with localcontext() as context:
        context.prec = 120
        step = int(true_scaled_exp(x, 192))
    words = [(step >> 128) % 2**64, (step >> 64) % 2**64]
    for last, answer in [(step % 2**64 - 9, True), (step % 2**64 + 9, False)]:
        bits = int64(*words, last)
        assert bernoulli_exp(x, bits) is answer
        assert bits.n_left == 0
    assert bernoulli_exp(x, int64(words[0] - 5 if words[0] > 5 else 0, 0, 0)) is True
    assert bernoulli_exp(x, int64(words[0] + 5)) is False
    prefixed = int64(words[1], step % 2**64 - 9)
    assert bernoulli_exp(x, prefixed, prefix=words[0], bits=64) is True


@pytest.mark.parametrize(
    "x", [Fraction(0), Fraction(1, 1000), Fraction(1, 2), Fraction(1), Fraction(5, 2), Fraction(8)]
)
def test_bernoulli_exp_frequency(x):
    n = 12_000  # so that a wrong scale is 14 standard deviations away at least, and 7.3 reject it
    hits = sum(bernoulli_exp(x, SYSTEM) for _ in range(n))
    assert p_binomial(hits, n, float(np.exp(-float(x)))) > ALPHA
    for wrong in (1.3, 1 / 1.3):
        if Fraction(1, 2) <= x < 4:
            assert p_binomial(hits, n, float(np.exp(-float(x) * wrong))) < ALPHA


def test_bernoulli_exp_of_nothing_and_of_much():
    assert all(bernoulli_exp(Fraction(0), SYSTEM) for _ in range(50))
    assert not any(bernoulli_exp(Fraction(10**9), SYSTEM) for _ in range(50))


CASES = {
    "one candidate": ([0], Fraction(1, 3)),
    "two tied": ([0, 0], Fraction(1, 3)),
    "tied below the top": ([1, 0, 1, 1], Fraction(1, 3)),
    "a range": (list(range(10, -1, -1)), Fraction(1, 4)),
    "huge gaps": ([10**9, 0, 10**300, 1, 200], Fraction(1)),
    "huge numbers, small unit": ([3 * 10**40, 0, 10**40], Fraction(1, 10**40)),
    "many": ([k % 17 for k in range(150)], Fraction(1, 10)),
    "best is last": ([3, 2, 0], Fraction(1)),
}


@pytest.mark.parametrize(("gaps", "per_unit"), CASES.values(), ids=CASES)
def test_exponential_mechanism_distribution(gaps, per_unit):
    n = 8000
    exponents = [gap * per_unit for gap in gaps]
    weights = np.exp(-np.array([float(min(x, 10**6)) for x in exponents]))
    drawn = np.bincount(
        [exponential_mechanism(gaps, per_unit, SYSTEM) for _ in range(n)], minlength=len(gaps)
    )
    probabilities = weights / weights.sum()
    assert drawn[probabilities < 1e-60].sum() == 0
    order = np.argsort(probabilities)  # so that rare cells are merged with rare ones
    assert p_chi_squared(drawn[order], probabilities[order]) > ALPHA
    if len(set(exponents)) > 2 and max(exponents) < 100 and len(exponents) < 100:
        flatter = np.sqrt(weights)  # a factor of 2 too many in the exponent
        assert p_chi_squared(drawn[order], (flatter / flatter.sum())[order]) < ALPHA


def true_sums(gaps, per_unit):
    """Partial sums of the weights, to 120 digits."""
    with localcontext() as context:
        context.prec = 120
        return list(accumulate(true_scaled_exp(gap * per_unit, 0) for gap in gaps))


def slow_inversion(sums, words):
    """The candidate that 120 digits and all the bits give."""
    with localcontext() as context:
        context.prec = 120
        u = Decimal(int.from_bytes(b"".join(word.to_bytes(8, "big") for word in words))) / 2 ** (
            64 * len(words)
        )
        return bisect_right(sums, u * sums[-1])


def test_exponential_mechanism_on_a_step_needs_more_bits():
    """Two ties: F(0) = 1/2 exactly, so 0111.. and 1000.. are undecided after 64 bits."""
    for words, answer in [
        ((2**63 - 1, 5), 0),
        ((2**63, 2**63), 1),
        ((2**63 - 1, 2**64 - 1, 7), 0),
        ((2**63, 0, 2**63), 1),
        ((2**63 - 2**40,), 0),
        ((2**63 + 2**40,), 1),
    ]:
        bits = int64(*words)
        assert exponential_mechanism([0, 0], Fraction(1, 3), bits) == answer
        assert bits.n_left == 0


GAPS = st.lists(st.one_of(st.integers(0, 30), st.integers(0, 2**70), st.just(0)), max_size=12)
UNITS = st.one_of(
    st.fractions(Fraction(1, 1000), 3), st.just(Fraction(1, 2**66)), st.just(Fraction(10**6))
)


@settings(max_examples=examples(75), deadline=None)
@given(gaps=GAPS, place=st.integers(0, 12), per_unit=UNITS, seed=st.integers(0, 2**32))
def test_exponential_mechanism_is_inversion(gaps, place, per_unit, seed):
    """The same bits, inverted with 120 digits, give the same candidate."""
    gaps.insert(min(place, len(gaps)), 0)
    bits = Seeded(seed)
    words = [bits.integer(64) for _ in range(4)]
    assert exponential_mechanism(gaps, per_unit, int64(*words)) == slow_inversion(
        true_sums(gaps, per_unit), words
    )


def near_ties(gaps, per_unit, offsets):
    """Words that lie ``offset`` 2^-64 from each step, and what to answer; the word after them is in
    the middle.
    """
    sums = true_sums(gaps, per_unit)
    with localcontext() as context:
        context.prec = 120
        steps = {int(partial / sums[-1] * 2**64) for partial in sums[:: 1 + len(sums) // 12]}
    for word in sorted({step + offset for step in steps for offset in offsets}):
        if 0 <= word < 2**64:
            yield word, slow_inversion(sums, (word, 2**63 + 12345))


@pytest.mark.parametrize(
    ("gaps", "per_unit"),
    [
        *CASES.values(),
        ([k * k % 101 for k in range(101)], Fraction(1, 7)),
        ([0, 10**6 + 1], Fraction(1, 10**5)),
    ],
)
def test_near_ties_are_decided_exactly_and_the_rest_quickly(gaps, per_unit):
    """Within 2^-49 of a step floating point cannot tell; from 2^-20 on it must, or all draws would
    be slow.
    """
    close = [0, -1, 1, -50, 50, 2000]
    for word, answer in near_ties(gaps, per_unit, [-(2**20), 2**20, -(2**30), 2**30]):
        assert exponential_mechanism(gaps, per_unit, int64(word, 2**63 + 12345)) == answer
    for word, answer in near_ties(gaps, per_unit, close):
        bits = int64(word, 2**63 + 12345)
        assert exponential_mechanism(gaps, per_unit, bits) == answer
        assert bits.n_left == 0
    if len(gaps) < 20:
        far = [
            word for word in (2**64 * k // 97 for k in range(97)) if _is_far(gaps, per_unit, word)
        ]
        assert far
        for word in far:
            answer = slow_inversion(true_sums(gaps, per_unit), (word, 0))
            assert exponential_mechanism(gaps, per_unit, int64(word)) == answer


def _is_far(gaps, per_unit, word):
    weights = np.exp(-np.array([float(min(gap * per_unit, 1000)) for gap in gaps]))
    return np.abs(np.cumsum(weights) / weights.sum() - word / 2**64).min() > 2**-20


def test_floating_point_alone_would_get_near_ties_wrong():
    """Power of the test above: the words it tries are wrong for a sum in floating point without a
    margin.
    """
    gaps, per_unit = [k * k % 101 for k in range(101)], Fraction(1, 7)
    sums = np.cumsum(np.exp(-np.array(gaps) * float(per_unit)))
    tried = list(near_ties(gaps, per_unit, [-50, 50]))
    hasty = [
        int(np.searchsorted(sums, word * 2.0**-64 * sums[-1], side="right")) for word, _ in tried
    ]
    assert hasty != [answer for _, answer in tried]


# erf


@settings(max_examples=examples(100), deadline=None)
@given(square=st.one_of(RATIONALS, st.fractions(0, Fraction(1, 10**9))), bits=st.integers(1, 260))
@example(square=Fraction(1), bits=1)
@example(square=Fraction(64), bits=64)
@example(square=Fraction(64) + Fraction(1, 10**9), bits=64)
@example(square=Fraction(1, 10**40), bits=64)
@example(square=Fraction(9, 8), bits=200)
@example(square=Fraction(190), bits=260)
def test_erf_bounds_bracket_tightly(square, bits):
    if square == 0:
        return
    lower, upper = erf_bounds(square, bits)
    with localcontext() as context:
        context.prec = 340
        true = (
            erf_digits(to_decimal(square), 120) * 2**bits
            if square < 300
            else Decimal(2**bits) * (1 - SMALL)
        )
        assert 0 <= lower <= true <= upper <= 2**bits
    assert upper - lower <= 1


SMALL = Decimal("1e-110")


@pytest.mark.parametrize("width", [1, 10, 64, 333, 1000])
def test_pi_bounds_bracket_pi(width):
    lower, upper = _pi_bounds(width)
    with localcontext() as context:
        context.prec = 400
        assert lower <= decimal_pi(380) * 2**width <= upper
    assert upper - lower <= 2


def test_erf_bounds_of_a_wrong_constant_would_be_noticed():
    """Power: one unit in 2^200 of erf is seen by the comparison above."""
    lower, upper = erf_bounds(Fraction(9, 8), 200)
    with localcontext() as context:
        context.prec = 200
        true = erf_digits(Decimal(9) / 8, 120) * 2**200
        assert not lower + 2 <= true
        assert not true <= upper - 2


# exp in floating point, by IEEE operations alone


@settings(max_examples=examples(150), deadline=None)
@given(x=st.one_of(st.floats(0, 64), st.floats(0, 1), st.integers(0, 1024).map(lambda n: n / 16)))
def test_float_exp_is_right_within_its_bound(x):
    with localcontext() as context:
        context.prec = 60
        true = (-Decimal(x)).exp()
        assert abs(Decimal(float(float_exp(np.array([x]))[0])) / true - 1) < Decimal(2) ** -42


def test_float_exp_of_another_number_would_be_noticed():
    """Power: 1e-12 more, which the accuracy of one term less or one squaring in float32 would
    amount to.
    """
    with localcontext() as context:
        context.prec = 60
        for x in (0.0, 1.0, 63.0):
            wrong = Decimal(float(float_exp(np.array([x + 1e-12]))[0])) / (-Decimal(x)).exp() - 1
            assert abs(wrong) > Decimal(2) ** -42


def test_float_exp_ends_at_64():
    end, *beyond = float_exp(np.array([64.0, 65.0, 1e300, np.inf])).tolist()
    assert beyond == [end] * 3
    assert 0 < end < 2.0**-92
