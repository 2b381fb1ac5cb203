"""Exact sampling: the brackets hold against 120-digit arithmetic, the draws follow exact probabilities."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles_privacy import ALPHA, Replay, Seeded, p_binomial, p_chi_squared, to_decimal

from synthdp.privacy.exact import bernoulli_exp, cumulative_bounds, exp_bounds, exponential_mechanism, invert
from synthdp.privacy.randomness import SystemRandomness

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


@settings(max_examples=600, deadline=None)
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


@settings(max_examples=100, deadline=None)
@given(x=RATIONALS, bits=st.integers(1, 100))
def test_finer_bounds_lie_within_coarser_ones_up_to_rounding(x, bits):
    lower, upper = exp_bounds(x, bits)
    finer_lower, finer_upper = exp_bounds(x, bits + 64)
    assert lower << 64 <= finer_upper
    assert finer_lower <= upper << 64


@settings(max_examples=150, deadline=None)
@given(exponents=st.lists(RATIONALS, max_size=8), place=st.integers(0, 8), bits=st.sampled_from([1, 8, 64, 128]))
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


@pytest.mark.parametrize("x", [Fraction(1), Fraction(1, 3), Fraction(7, 2), Fraction(40), Fraction(1, 10**6)])
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
    n = 4000
    hits = sum(bernoulli_exp(x, SYSTEM) for _ in range(n))
    assert p_binomial(hits, n, float(np.exp(-float(x)))) > ALPHA
    for wrong in (1.3, 1 / 1.3):
        if Fraction(1, 2) <= x < 4:
            assert p_binomial(hits, n, float(np.exp(-float(x) * wrong))) < ALPHA


def test_bernoulli_exp_of_nothing_and_of_much():
    assert all(bernoulli_exp(Fraction(0), SYSTEM) for _ in range(50))
    assert not any(bernoulli_exp(Fraction(10**9), SYSTEM) for _ in range(50))


CASES = {
    "one candidate": [Fraction(0)],
    "two tied": [Fraction(0), Fraction(0)],
    "tied below the top": [Fraction(1, 3), Fraction(0), Fraction(1, 3), Fraction(1, 3)],
    "a range": [Fraction(k, 4) for k in range(10, -1, -1)],
    "huge gaps": [Fraction(10**9), Fraction(0), Fraction(10**400), Fraction(1), Fraction(200)],
    "many": [Fraction(k % 17, 10) for k in range(150)],
    "best is last": [Fraction(3), Fraction(2), Fraction(0)],
}


@pytest.mark.parametrize("exponents", CASES.values(), ids=CASES)
def test_exponential_mechanism_distribution(exponents):
    n = 3000 if len(exponents) > 20 else 8000
    weights = np.exp(-np.array([float(min(x, 10**6)) for x in exponents]))
    drawn = np.bincount([exponential_mechanism(exponents, SYSTEM) for _ in range(n)], minlength=len(exponents))
    probabilities = weights / weights.sum()
    assert drawn[probabilities < 1e-60].sum() == 0
    order = np.argsort(probabilities)  # so that rare cells are merged with rare ones
    assert p_chi_squared(drawn[order], probabilities[order]) > ALPHA
    if len(set(exponents)) > 2 and max(exponents) < 100 and len(exponents) < 100:
        flatter = np.sqrt(weights)  # a factor of 2 too many in the exponent
        assert p_chi_squared(drawn[order], (flatter / flatter.sum())[order]) < ALPHA


def test_exponential_mechanism_on_a_step_needs_more_bits():
    """Two ties: F(0) = 1/2 exactly, so 0111.. and 1000.. are undecided after 64 bits."""
    tied = [Fraction(0), Fraction(0)]
    for words, answer in [
        ((2**63 - 1, 5), 0),
        ((2**63, 2**63), 1),
        ((2**63 - 1, 2**64 - 1, 7), 0),
        ((2**63, 0, 2**63), 1),
    ]:
        bits = int64(*words)
        assert exponential_mechanism(tied, bits) == answer
        assert bits.n_left == 0


@settings(max_examples=50, deadline=None)
@given(exponents=st.lists(st.fractions(0, 30), min_size=1, max_size=6), seed=st.integers(0, 2**32))
def test_exponential_mechanism_is_inversion(exponents, seed):
    """The same bits, inverted with 120 digits, give the same candidate."""
    exponents.append(Fraction(0))
    bits = Seeded(seed)
    words = [bits.integer(64) for _ in range(4)]
    answer = exponential_mechanism(exponents, int64(*words))
    with localcontext() as context:
        context.prec = 120
        weights = [true_scaled_exp(x, 0) for x in exponents]
        u = Decimal(int.from_bytes(b"".join(word.to_bytes(8, "big") for word in words))) / 2**256
        below = sum(weights[:answer], Decimal(0)) / sum(weights)
        above = sum(weights[: answer + 1], Decimal(0)) / sum(weights)
        assert below <= u < above * (1 + Decimal("1e-100"))
