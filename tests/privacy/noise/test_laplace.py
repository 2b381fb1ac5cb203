"""Discrete Laplace noise and the coin flips it is made of: replayed bits and statistics."""

from decimal import localcontext
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from helpers.homes import home
from oracles.privacy import (
    DIGITS,
    Replay,
    cks_discrete_laplace,
    failed,
    p_chi_squared,
    p_same_distribution,
    to_decimal,
)

from synthdp.privacy import SystemRandomness, bernoulli_exp_many, discrete_laplace, float_exp

laplace = home(discrete_laplace)

SYSTEM = SystemRandomness()


@pytest.mark.parametrize(
    "gamma",
    [Fraction(0), Fraction(1), Fraction(1, 3), Fraction(37, 50), Fraction(10**9 + 1, 10**10)],
    ids=str,
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
    answers = bernoulli_exp_many(float_exp(np.full(len(offsets), float(gamma))), exact, source)
    assert answers.tolist() == [offset < 0 for offset in offsets]
    assert asked == [i for i, offset in enumerate(offsets) if abs(offset) < 2**24]
    if gamma:
        for last, answer in [(later - 9, True), (later + 9, False)]:
            undecided = Replay(np.array([threshold, last], dtype=np.uint64).tobytes())
            assert bernoulli_exp_many(
                float_exp(np.array([float(gamma)])), exact, undecided
            ).tolist() == [answer]
            assert undecided.n_left == 0


@pytest.mark.parametrize("bound", [1, 2, 3, 1000, 2**16, 2**16 + 1, 2**40 + 1])
def test_uniform_below(bound):
    drawn = laplace._uniform_below(bound, 20_000, SYSTEM)
    assert drawn.size == 20_000
    assert 0 <= drawn.min() <= drawn.max() < bound
    n_bins = min(bound, 50)
    edges = np.array([bound * i // n_bins for i in range(n_bins + 1)])
    assert not failed(
        {"uniform": p_chi_squared(np.histogram(drawn, edges)[0], np.diff(edges) / bound)}
    )


def test_uniform_below_keeps_top_bits_and_rejects_the_rest():
    top_bits = [7, 5, 0, 6, 4, 3]  # of 3-bit numbers, those below 5 count
    source = Replay(np.array([bits << 61 | 12345 for bits in top_bits], dtype=np.uint64).tobytes())
    assert laplace._uniform_below(5, 3, source).tolist() == [0, 4, 3]


@pytest.mark.parametrize("scale", [1, 2, 5])
def test_discrete_laplace(scale):
    draws = discrete_laplace(scale, 200_000, SYSTEM)
    reach = np.arange(-80 * scale, 80 * scale + 1)
    weights = np.exp(-np.abs(reach) / scale)
    counted = np.bincount(draws + 80 * scale, minlength=reach.size)
    assert not failed({"fit": p_chi_squared(counted, weights / weights.sum())})
    wider = np.exp(-np.abs(reach) / (1.3 * scale))
    assert failed({"fit": p_chi_squared(counted, wider / wider.sum())})
    weights[80 * scale] *= 2  # what comes out if -0 is not rejected
    assert failed({"fit": p_chi_squared(counted, weights / weights.sum())})


@pytest.mark.parametrize("scale", [1, 7, 300])
def test_against_cks20_in_fractions(scale):
    random = Random()
    oracle = np.array([cks_discrete_laplace(scale, random) for _ in range(4000)])
    assert not failed(
        {"same": p_same_distribution(discrete_laplace(scale, 100_000, SYSTEM), oracle)}
    )
    assert failed(
        {"same": p_same_distribution(discrete_laplace(2 * scale, 100_000, SYSTEM), oracle)}
    )
