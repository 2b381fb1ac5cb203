"""Gaussian noise up to sigma = 8,192: the table brackets, and replayed bits give what slow
inversion gives.

How bits become a draw: the first 16-bit word is a sign (its top bit) and 15 bits of the uniform
number; if these do not decide, the top 48 bits of a 64-bit word follow, then 64 bits at a time. All
words are little-endian. The 63-bit table has a margin of 2^-40 on either side of each step;
whatever lies within reads on.
"""

from bisect import bisect_right
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest
from helpers.homes import home
from helpers.seldom import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.erf import RoundedCdf
from oracles.privacy import DIGITS, Replay, Seeded, bits_at_step, invert_bits, layout

from synthdp.privacy import MAX_TABLE_SIGMA_SQUARED, SystemRandomness, gaussian_noise

noise = home(gaussian_noise)

SYSTEM = SystemRandomness()
MOST = Fraction(MAX_TABLE_SIGMA_SQUARED)
SMALL = [
    Fraction(1, 16),
    Fraction(1, 4),
    Fraction(1),
    Fraction(9),
    Fraction(2500),
    Fraction(2, 7),
    Fraction(10**7),
]


ALL_WORDS = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)


def draw(sigma_squared, size, randomness=SYSTEM):
    return gaussian_noise(sigma_squared=Fraction(sigma_squared), size=size, randomness=randomness)


# erf in floating point, by IEEE operations alone


def test_erf_is_right_within_its_bound():
    """Against mpmath, at anchors, between them and beyond the end; the margin of the table is eight
    times as wide.
    """
    z = np.concatenate(
        [np.arange(85) / 16, np.nextafter(np.arange(1, 85) / 16, 0), np.linspace(0, 5.25, 1500)]
    )
    errors = [
        abs(mpmath.erf(mpmath.mpf(float(x))) - float(value))
        for x, value in zip(z, noise._erf(z), strict=True)
    ]
    assert max(errors) < 2.0**-48  # in truth; 2^-43 is what is proven
    assert noise._MARGIN >= 8 * 2.0**-43
    assert (
        noise._erf(np.array([5.25, 6.0, 1e300, np.inf])).tolist()
        == [noise._erf(np.array([5.25]))[0]] * 4
    )
    assert mpmath.erfc(mpmath.mpf("5.25")) < 2.0**-42


def test_no_function_of_libm_is_asked(monkeypatch):
    noise._table_of_erf.cache_clear()
    noise._table.cache_clear()
    for name in ("exp", "log", "log1p", "expm1", "power"):
        monkeypatch.setattr(np, name, None)
    assert draw(7, 100).shape == (100,)
    assert draw(10**12, 100).shape == (100,)


@pytest.mark.parametrize(
    "sigma_squared", [*SMALL, MOST, Fraction(1, 10**400)], ids=lambda s: f"{float(s):.3g}"
)
def test_the_table_brackets_the_exact_distribution(sigma_squared):
    table, cdf = noise._table(sigma_squared), RoundedCdf(sigma_squared)
    n = len(table.lower)
    assert n == len(table.upper)
    for k in {0, 1, 2, n // 9, n // 3, n // 2, n - 2, n - 1} & set(range(n)):
        with localcontext() as context:
            context.prec = DIGITS
            lower, exact, upper = int(table.lower[k]), cdf[k] * 2**63, int(table.upper[k])
            assert lower <= exact <= upper
            assert (
                lower + 2**23 <= exact + 2**20
            )  # of the margin of 2^-40, rounding uses an eighth at most
            assert upper == 2**63 or exact + 2**23 <= upper + 2**20
    assert 2**63 - int(table.lower[-1]) < 2**24


@pytest.mark.parametrize("sigma_squared", [*SMALL, MOST], ids=str)
def test_first_word_table_is_right_wherever_it_answers(sigma_squared):
    """Both ends of every decided cell invert to the table's answer; few cells are open."""
    table, cdf = noise._table(sigma_squared), RoundedCdf(sigma_squared)
    positive, negative = np.split(noise._table(sigma_squared).of_words(ALL_WORDS), 2)
    decided = np.flatnonzero(positive != noise._UNDECIDED)
    assert np.array_equal(decided, np.flatnonzero(negative != noise._UNDECIDED))
    assert np.array_equal(positive[decided], -negative[decided])
    assert 2**15 - decided.size <= len(table.lower) + 1
    for cell in (
        decided[np.unique(np.linspace(0, decided.size - 1, 40, dtype=int))].tolist()
        if decided.size
        else ()
    ):
        ends = [
            bisect_right(cdf, Fraction(end, 2**63)) for end in (cell << 48, (cell + 1 << 48) - 1)
        ]
        assert ends == [positive[cell]] * 2


# Replayed bits


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
            assert draw(sigma_squared, 1, source).tolist() == [
                (k + (distance > 0)) * (-1 if sign else 1)
            ]
            assert source.n_left == 0  # an undecided prefix is extended, never thrown away


@pytest.mark.parametrize("sigma_squared", SMALL, ids=str)
@pytest.mark.parametrize(
    ("distance", "n_read"),
    [(2**24, 0), (2**22, 8), (9, 8), (1, 8), (0, 8), (-(2**22), 8), (-(2**24), 0)],
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
        assert draw(sigma_squared, 1, layout(1, bits)).tolist() == [
            -invert_bits(RoundedCdf(sigma_squared), bits)
        ]


@settings(max_examples=examples(75), deadline=None)
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
    assert draw(sigma_squared, 1, layout(sign, bits)).tolist() == [
        -magnitude if sign else magnitude
    ]


@pytest.mark.parametrize("sigma_squared", [Fraction(1, 4), Fraction(9), Fraction(2500)], ids=str)
def test_a_batch_reads_all_first_words_then_the_open_ones(sigma_squared):
    """Each draw has words of its own: its first, and one of the later ones where that leaves it
    open.
    """
    n, source = 2000, Seeded(7)
    cdf, known = RoundedCdf(sigma_squared), noise._table(sigma_squared).of_words(ALL_WORDS)
    firsts, spares = source.words(n, np.uint16), iter(source.words(n, np.uint64).tolist())
    expected = []
    for first in firsts.tolist():
        prefix = (first & 0x7FFF) << 48
        if known[first] == noise._UNDECIDED:
            prefix |= next(spares) >> 16
        magnitude = invert_bits(cdf, format(prefix, "063b"))
        expected.append(-magnitude if first >> 15 else magnitude)
    assert draw(sigma_squared, n, Seeded(7)).tolist() == expected


@pytest.mark.parametrize("sigma_squared", [*SMALL, MOST], ids=str)
def test_looking_words_up_changes_no_draw(sigma_squared, monkeypatch):
    """Few words are decided one by one, many are looked up; nobody's noise depends on that."""
    found = []
    for few, often, is_looked_up in ((2000, 40, False), (1999, 40, True), (2000, 0, True)):
        noise._of_all_words.cache_clear()
        noise._times_asked.cache_clear()
        monkeypatch.setattr(noise, "_FEW", few)
        monkeypatch.setattr(noise, "_OFTEN", often)
        found.append(draw(sigma_squared, 2000, Seeded(8)))
        assert bool(noise._of_all_words.cache_info().currsize) == is_looked_up
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_single_draws_that_go_on_are_looked_up():
    noise._times_asked.cache_clear()
    noise._of_all_words.cache_clear()
    for _ in range(noise._OFTEN):
        draw(Fraction(7), 1)
    assert noise._of_all_words.cache_info().currsize == 0
    draw(Fraction(7), 1)
    assert noise._of_all_words.cache_info().currsize == 1


def test_another_word_changes_its_own_draw_only():
    n = 64
    words = (
        Seeded(3).words(n, np.uint16) & 0x7FFF
    )  # positive, and so near to the middle that 16 bits decide
    words = np.where(
        noise._table(Fraction(100)).of_words(words) == noise._UNDECIDED, 5, words
    ).astype(np.uint16)
    plain = draw(100, n, Replay(words.tobytes()))
    for i in range(n):
        other = words.copy()
        other[i] ^= 0x8000  # the sign
        found = draw(100, n, Replay(other.tobytes()))
        assert found[i] == -plain[i]
        assert np.array_equal(np.delete(found, i), np.delete(plain, i))


def test_draws_left_to_big_integers_do_not_move_the_others():
    """A batch in which every draw is undecided at first gives what single draws of the same bits
    give.
    """
    table = noise._table(Fraction(9))
    source = Seeded(5)
    words, more = source.words(50, np.uint16), source.words(50, np.uint64)
    blind = table._replace(
        upper=np.full_like(table.upper, 2**63)
    )  # nothing is certainly past a step
    finer = partial(noise._cdf_bounds, Fraction(9))
    replayed = Seeded(5)
    replayed.words(50, np.uint16)
    answers = noise._finish(finer, blind, words.astype(np.uint64), replayed)
    for word, extra, answer in zip(words.tolist(), more.tolist(), answers.tolist(), strict=True):
        bits = format((word & 0x7FFF) << 48 | extra >> 16, "063b")
        magnitude = bisect_right(RoundedCdf(Fraction(9)), Fraction(int(bits, 2), 2**63))
        assert answer == (-magnitude if word >> 15 else magnitude)


def test_the_oracle_is_the_definition():
    """Power: the distribution function that bits are held against, in mpmath."""
    mpmath.mp.dps = 50
    for sigma_squared, k in ((Fraction(9), 4), (Fraction(2, 7), 0), (Fraction(10**7), 3162)):
        true = mpmath.erf(
            (k + mpmath.mpf(1) / 2)
            / mpmath.sqrt(2 * mpmath.mpf(sigma_squared.numerator) / sigma_squared.denominator)
        )
        assert abs(Decimal(str(true)) - RoundedCdf(sigma_squared)[k]) < Decimal("1e-45")
    mpmath.mp.dps = 15
