"""Gaussian noise beyond sigma = 8,192: a cell, a place in it, and whether the place is kept.

How bits become a draw: the cell is drawn as smaller noise is; then 64 bits are the place v in it,
and 16 bits a uniform number u. The place is kept if u < exp(-gamma(v)); if these bits do not
decide, 64 more of u follow, then 64 more of v, and so on.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from helpers.homes import home
from helpers.seldom import examples, often
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.privacy import (
    DIGITS,
    Replay,
    Seeded,
    failed,
    gaussian_p_values,
    p_same_distribution,
    to_decimal,
)

from synthdp.privacy import (
    MAX_COUNT,
    MAX_SIGMA_SQUARED,
    MAX_TABLE_SIGMA_SQUARED,
    SystemRandomness,
    add_noise,
    gaussian_noise,
)

noise = home(gaussian_noise)

SYSTEM = SystemRandomness()
VARIANCES = [
    Fraction(64**2),
    Fraction(10**4),
    Fraction(128**2) - Fraction(1, 7),
    Fraction(50000, 7),
]
LARGE = [
    MAX_TABLE_SIGMA_SQUARED + Fraction(1, 3),
    10**10,
    10**14 + 1,
    10**20,
    10**30,
    MAX_SIGMA_SQUARED,
]


def draw(sigma_squared, size, randomness=SYSTEM):
    return gaussian_noise(sigma_squared=Fraction(sigma_squared), size=size, randomness=randomness)


def gamma_of(variance: Fraction, cell: int, v: Fraction) -> Fraction:
    """From the definition: what the density at a place lacks of the greatest in the cell, as an
    exponent.
    """
    y = cell - Fraction(1, 2) + v
    nearest = 0 if cell == 0 else abs(cell) - Fraction(1, 2)
    return (y * y - nearest * nearest) / (2 * variance)


def decimal_exp(x: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = DIGITS
        return (-to_decimal(x)).exp()


def later_words(*words):
    return Replay(b"".join(word.to_bytes(8, "little") for word in words))


# Whether a place is kept


CELLS = st.one_of(st.integers(-3, 3), st.integers(-700, 700), st.sampled_from([-5000, 5000]))
PLACES = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**63 - 1, 2**63, 2**64 - 1]))


@settings(max_examples=examples(200), deadline=None)
@given(
    variance=st.sampled_from(VARIANCES),
    cell=CELLS,
    place=PLACES,
    offset=st.integers(-3, 3),
    later=st.tuples(*[st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 2**64 - 1]))] * 6),
)
def test_a_place_is_kept_as_infinitely_many_bits_would_decide(variance, cell, place, offset, later):
    """Words near the threshold, on every path: floating point, 16 bits, and as many more as it
    takes.
    """
    threshold = int(decimal_exp(gamma_of(variance, cell, Fraction(place, 2**64))) * 2**16)
    word = threshold + offset
    assume(0 <= word < 2**16)
    u_words, v_words = later[::2], later[1::2]
    with localcontext() as context:
        context.prec = DIGITS
        u = to_decimal(_number(word, 16, u_words))
        v = _number(place, 64, v_words)
        limit = decimal_exp(gamma_of(variance, cell, v))
        assume(abs(u - limit) > Decimal(2) ** -190)
    answer = noise._are_kept(
        variance, np.array([cell]), np.array([place], np.uint64), _word_then(word, later)
    )
    assert answer.tolist() == [u < limit]


def _number(start: int, bits: int, words) -> Fraction:
    for word in words:
        start, bits = start << 64 | word, bits + 64
    return Fraction(start, 1 << bits)


def _word_then(word: int, later) -> Replay:
    return Replay(
        word.to_bytes(2, "little") + b"".join(more.to_bytes(8, "little") for more in later)
    )


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
@pytest.mark.parametrize("cell", [0, 1, -1, 57, -300])
@pytest.mark.parametrize("n_words", [1, 2, 3])
@pytest.mark.parametrize("above", [False, True])
def test_bits_on_the_threshold_are_read_just_as_far_as_needed(variance, cell, n_words, above):
    """u follows exp(-gamma) for all but its last word; v is 3/8 and zeros."""
    place, bits = 3 << 61, 16 + 64 * n_words
    with localcontext() as context:
        context.prec = DIGITS
        step = int(decimal_exp(gamma_of(variance, cell, Fraction(3, 8))) * 2**bits)
    u = step + (2**40 if above else -(2**40))
    words = [u >> 64 * n & (2**64 - 1) for n in reversed(range(n_words))]
    source = later_words(*[word for u_word in words for word in (u_word, 0)])
    assert noise._is_kept(variance, cell, place, u >> 64 * n_words, source) is not above
    assert source.n_left == 0


def test_the_float_filter_is_right_far_from_its_margin_and_never_without_it():
    """The filter of floating point against exact arithmetic on the same bits, for many places."""
    variance, n = Fraction(64**2) + Fraction(1, 3), 3000
    cells = np.rint(np.random.default_rng(0).normal(0, 150, n)).astype(np.int64)
    source = Seeded(1)
    places = source.words(n, np.uint64)
    words = Seeded(2).words(n, np.uint16)
    fast = noise._are_kept(variance, cells, places, Seeded(2))
    for i in range(n):
        exact = noise._is_kept(variance, int(cells[i]), int(places[i]), int(words[i]), Seeded(3))
        limit = float(
            mpmath.exp(
                -mpmath.mpf(
                    float(gamma_of(variance, int(cells[i]), Fraction(int(places[i]), 2**64)))
                )
            )
        )
        if abs(words[i] / 2**16 - limit) > 2.0**-15:
            assert fast[i] == exact == (words[i] / 2**16 < limit)


def test_cells_too_far_out_for_floating_point_are_decided_exactly():
    """There gamma = 0.0146 is lost in rounding: a place would be kept that is dropped."""
    variance, cell, place, word = Fraction(64**2), 10**9, 2**40, int(0.9925 * 2**16)
    assert word / 2**16 > decimal_exp(gamma_of(variance, cell, Fraction(place, 2**64)))
    found = noise._are_kept(
        variance, np.array([cell]), np.array([place], np.uint64), _word_then(word, ())
    )
    assert found.tolist() == [False]


def test_few_places_are_left_to_big_integers(monkeypatch):
    asked, exact = [], noise._is_kept
    monkeypatch.setattr(noise, "_is_kept", lambda *arguments: asked.append(1) or exact(*arguments))
    draw(10**10, 10**6)
    assert 0 < len(asked) < 400  # 1 in 20,000 expected


# From cells to draws


@pytest.mark.parametrize("sigma_squared", LARGE, ids=lambda s: f"{float(s):.3g}")
def test_a_draw_is_the_place_rounded(sigma_squared):
    """Replayed bits, against fractions: B (j - 1/2 + v), rounded, for the j that the same bits draw
    alone.
    """
    sigma_squared = Fraction(sigma_squared)
    shift = next(b for b in range(1, 64) if sigma_squared / 4**b < 128**2)
    source = Seeded(9)
    n = 400
    cells = gaussian_noise(sigma_squared=sigma_squared / 4**shift, size=n, randomness=source)
    places, words = source.words(n, np.uint64), source.words(n, np.uint16)
    again = source.words(n, np.uint64)
    expected, n_redrawn = [], 0
    for cell, first, word in zip(cells.tolist(), places.tolist(), words.tolist(), strict=True):
        place = first
        limit = decimal_exp(gamma_of(sigma_squared / 4**shift, cell, Fraction(place, 2**64)))
        assert abs(word - float(limit) * 2**16) > 1.5, "choose another seed: 16 bits do not decide"
        if word >= limit * 2**16:
            place, n_redrawn = int(again[n_redrawn]), n_redrawn + 1  # the same cell, a new place
        real = 2**shift * (cell - Fraction(1, 2) + Fraction(place, 2**64))
        expected.append((real + Fraction(1, 2)).__floor__())
    assert draw(sigma_squared, n, Seeded(9)).tolist() == expected


def test_another_place_changes_its_own_draw_only():
    n, sigma_squared = 50, Fraction(10**12)
    first = (np.full(n, 20_000, np.uint16) ^ (np.arange(n, dtype=np.uint16) % 2 << 15)).tobytes()
    places, words = (
        Seeded(4).words(n, np.uint64),
        np.zeros(n, np.uint16).tobytes(),
    )  # u = 0: all are kept
    plain = draw(sigma_squared, n, Replay(first + places.tobytes() + words))
    assert np.unique(plain).size == n
    for i in range(n):
        other = places.copy()
        other[i] ^= np.uint64(1 << 63)
        found = draw(sigma_squared, n, Replay(first + other.tobytes() + words))
        assert found[i] != plain[i]
        assert np.array_equal(np.delete(found, i), np.delete(plain, i))


# Statistics


@pytest.mark.parametrize("sigma_squared", LARGE, ids=lambda s: f"{float(s):.3g}")
def test_the_sampler_passes_and_one_of_another_scale_fails(sigma_squared):
    sigma = float(sigma_squared) ** 0.5
    draws = draw(sigma_squared, 300_000)
    assert not failed(gaussian_p_values(draws, sigma))
    for factor in (1.3, 1 / 1.3):
        assert {"fit", "variance"} <= set(failed(gaussian_p_values(draws, sigma * factor)))
    assert {"mean", "symmetry"} <= set(failed(gaussian_p_values(np.abs(draws), sigma)))
    assert "mod 2" in failed(gaussian_p_values(draws // 2 * 2, sigma))


@pytest.mark.parametrize("least", [1, 2, 5])
@pytest.mark.parametrize("sigma", often(20, seldom=[70]))
def test_cells_are_right_at_small_scales_where_mistakes_show(least, sigma, monkeypatch):
    """Few standard deviations a cell: here most of the shape comes from what is kept."""
    monkeypatch.setattr(noise, "_CELL_SIGMA", least)
    assert not failed(
        gaussian_p_values(noise._from_cells(Fraction(sigma**2), 300_000, SYSTEM), float(sigma))
    )


@pytest.mark.parametrize("sigma", [20, 70])
def test_keeping_every_place_would_be_noticed(sigma, monkeypatch):
    monkeypatch.setattr(noise, "_CELL_SIGMA", 2)
    monkeypatch.setattr(noise, "_are_kept", lambda _, cells, *__: np.ones(cells.size, dtype=bool))
    assert "fit" in failed(
        gaussian_p_values(noise._from_cells(Fraction(sigma**2), 300_000, SYSTEM), float(sigma))
    )


def test_drawing_another_cell_for_a_dropped_place_would_be_noticed(monkeypatch):
    """Cells far out are kept less often: with a new cell for each new place they would be too rare."""
    monkeypatch.setattr(noise, "_CELL_SIGMA", 2)
    kept = noise._are_kept(
        Fraction(25, 4),
        cells := noise._from_table(Fraction(25, 4), 300_000, SYSTEM),
        SYSTEM.words(300_000, np.uint64),
        SYSTEM,
    )
    wrong = cells[kept]
    assert "fit" in failed(gaussian_p_values(wrong, 2.5))


def test_both_samplers_agree_where_they_meet():
    below, above = (
        draw(MAX_TABLE_SIGMA_SQUARED, 300_000),
        draw(MAX_TABLE_SIGMA_SQUARED + Fraction(1, 10**9), 300_000),
    )
    assert not failed({"same": p_same_distribution(below >> 8, above >> 8)})
    assert not failed(gaussian_p_values(below, 8192.0))
    wider = draw(MAX_TABLE_SIGMA_SQUARED * Fraction(121, 100), 300_000)
    assert failed({"same": p_same_distribution(below >> 8, wider >> 8)})


# The limits of int64


def test_sums_are_cut_off_as_the_exact_ones_would_be():
    """For noise beyond 2^61, whatever it is, every count up to 2^60 gives the same."""
    ends = np.array([-MAX_COUNT, -1, 0, 1, MAX_COUNT])
    for size in (2**61, 2**61 + 1, 2**62, 2**62 + 2**43):
        assert add_noise(ends, np.full(5, size)).tolist() == [MAX_COUNT] * 5
        assert add_noise(ends, np.full(5, -size)).tolist() == [-MAX_COUNT] * 5
    for size in (0, 1, 2**60, 2**61 - 1):
        assert add_noise(ends, np.full(5, size)).tolist() == [
            min(int(end) + size, MAX_COUNT) for end in ends
        ]


@pytest.mark.parametrize("sigma_squared", LARGE, ids=lambda s: f"{float(s):.3g}")
@pytest.mark.parametrize("sign", [1, -1])
def test_noise_that_int64_cannot_hold_keeps_its_sign(sigma_squared, sign, monkeypatch):
    """Cells that are never drawn: at the largest sigma they lie 4,096 standard deviations out."""
    monkeypatch.setattr(
        noise, "_from_table", lambda _, size, __: np.full(size, sign * 2**62, dtype=np.int64)
    )
    monkeypatch.setattr(noise, "_are_kept", lambda _, cells, *__: np.ones(cells.size, dtype=bool))
    draws = draw(sigma_squared, 100)
    assert (np.sign(draws) == sign).all()
    assert 2**61 < np.abs(draws).min() <= np.abs(draws).max() <= 2**62 + 2**43


def test_the_largest_noise_stays_far_from_the_limit():
    draws = draw(MAX_SIGMA_SQUARED, 100_000)
    assert np.abs(draws).max() < 2**54
    assert np.array_equal(add_noise(np.zeros_like(draws), draws), draws)
