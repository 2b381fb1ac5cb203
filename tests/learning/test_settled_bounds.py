"""Bounds that learning left open are settled by what was measured of their bins: cautions come and go
for good reason.
"""

import re
from fractions import Fraction
from math import inf

import numpy as np
import pandas as pd
import pytest
from helpers.learning import learnt_alone

import synthdp
from synthdp.core import Coarsening, LinearMeasurement
from synthdp.learning import (
    BeyondCount,
    ColumnHistogram,
    Density,
    Overshoot,
    UnreadCount,
    bin_counts,
    in_units,
    settled,
    support_of,
)
from synthdp.schema import OpenSchema, Schema

NOISE = 40.0


def of_one_look(counts, drawn, direction=1):
    """What is learnt from noisy counts of single values, if values are drawn up to the last that is
    given; in the mirror if the direction is -1.
    """
    starts = np.arange(len(counts) + 1)
    density = Density(np.arange(1, len(drawn) + 2), np.array(drawn, dtype=float))
    fine = ColumnHistogram(starts, np.array(counts, dtype=float), NOISE, 0.0)
    if direction < 0:
        fine = fine.mirrored()
        density = Density(-density.starts[::-1], density.mass[::-1])
    coarse = ColumnHistogram(fine.starts[[0, -1]], np.array([float(sum(counts))]), NOISE, 0.0)
    support = support_of(coarse, [coarse, fine], {}, over_zero=True)
    return Overshoot(density, support, fine, (1, 1))


def measured(overshoot, counts, stddev, direction=1):
    """The same once bins of one value were measured."""
    counts = counts[::direction]
    edges = overshoot.density.starts
    told = [LinearMeasurement(("x",), np.array(counts, dtype=float), stddev)]
    return settled(overshoot, edges, bin_counts("x", edges, told))


@pytest.mark.parametrize("direction", [1, -1])
def test_a_bin_that_is_surely_empty_is_no_harm_and_one_that_is_surely_held_neither(direction):
    learnt = of_one_look([0, 900, 900, 900, 110, 0, 0], [900, 900, 900, 110], direction)
    assert 0.02 < learnt.probability < 0.6
    for last in (0, 110):
        after = measured(learnt, [900, 900, 900, last], 5.0, direction)
        assert after.probability < 0.005
        assert not after.leaves_out_many


@pytest.mark.parametrize("direction", [1, -1])
def test_values_drawn_in_a_bin_that_noise_alone_may_fill_stay_worth_a_word(direction):
    learnt = of_one_look([0, 900, 900, 900, 30, 0, 0], [900, 900, 900, 60], direction)
    assert learnt.is_probable
    # Twice its noise, and 3 % of the rows: nothing is settled.
    after = measured(learnt, [900, 900, 900, 80], 40.0, direction)
    assert after.is_probable


@pytest.mark.parametrize("direction", [1, -1])
def test_an_outermost_bin_that_holds_more_than_was_seen_in_it_says_that_its_bound_cuts(direction):
    counts = [0, 300, 300, 300, 60, 60, 60, 60, 60, 60, 0, 0]
    learnt = of_one_look(counts, [300, 300, 300], direction)
    for beyond in (360, 0):
        after = measured(learnt, [300, 300, 300 + beyond], 10.0, direction)
        assert after.leaves_out_many == (beyond > 0)


def test_what_is_not_told_apart_says_nothing():
    """Bins that are merged, with one another or with missing values, and columns that were not
    measured.
    """
    edges, values = np.array([0, 5, 9, 20]), np.array([3.0, 4.0])
    merged = Coarsening({"x": np.array([0, 1, 1, 1])})
    (first,) = bin_counts("x", edges, [LinearMeasurement(("x",), values, 2.0, merged)])
    assert first == (-inf, 5.0, 3.0, 4.0)
    assert bin_counts("x", edges, [LinearMeasurement(("y",), values, 2.0)]) == []
    learnt = of_one_look([0, 900, 900, 900, 110, 0, 0], [900, 900, 900, 110])
    assert settled(learnt, learnt.density.starts, []).probability == learnt.probability


def test_several_measurements_count_by_their_precision_and_unread_values_not_at_all():
    edges = np.array([0, 5, 9])
    one = LinearMeasurement(("x",), np.array([100.0, 50.0, 7.0]), 2.0)
    two = LinearMeasurement(("x", "y"), np.array([[60.0, 60.0], [30.0, 30.0], [1.0, 1.0]]), 2.0)
    low, high = bin_counts("x", edges, [one, two], unread=0.5)
    assert low == pytest.approx((-inf, 5.0, 0.5 * 320 / 3, 0.25 * 8 / 3))
    assert high == pytest.approx((5.0, inf, 0.5 * 160 / 3, 0.25 * 8 / 3))


def learnt_column(values, seed):
    share = Fraction(1, 12)
    return learnt_alone("integer", values, epsilon=1.0, seed=seed, share=share, min_mass=60)


def left_out(column, values):
    low, high = column.axis.bounds
    return float(np.mean((values < low) | (values > high)))


def said_before_and_after(values, rng):
    """Of some releases of a column which part of it the bounds leave out, whether they are
    cautioned as learnt, and the caution once the bins were measured.
    """
    for seed in range(24):
        learnt = learnt_column(values, seed)
        column = learnt.column
        counts = np.bincount(column.encode(pd.Series(values)), minlength=column.size)
        told = [LinearMeasurement(("x",), counts + rng.normal(0, 8, column.size), 8.0)]
        part = left_out(column, values)
        yield part, bool(learnt.caution), learnt.cautioned(Schema((column,)), told)


@pytest.mark.parametrize("sign", [1, -1])
def test_measured_bins_tell_bounds_that_cut_from_those_that_do_not(sign):
    """Ages of 800 people, of which learning alone leaves out a fifth and more without a word, and
    children, of whom it does not.
    """
    rng = np.random.default_rng(7)
    ages = sign * rng.normal(45, 12, 800).clip(18, 90).astype(int)
    cut = [each for each in said_before_and_after(ages, rng) if each[0] > 0.2]
    assert sum(not before for _, before, _ in cut) >= 3
    assert sum(not after for *_, after in cut) <= 1
    # By how much the bounds may be wrong says little of how many records they cut.
    shares = [
        (float(found[1]) / 100, part)
        for part, _, after in cut
        if (found := re.search(r"about (\d+) % of its records may lie beyond them", after))
    ]
    assert len(shares) >= 3
    assert np.mean([said / part for said, part in shares]) == pytest.approx(1.0, abs=0.5)
    children = sign * rng.poisson(1.2, 900)
    right = [each for each in said_before_and_after(children, rng) if each[0] < 0.05]
    assert sum(bool(after) for *_, after in right) <= sum(before for _, before, _ in right)


def test_without_the_measured_bins_of_the_same_column_all_stays_as_learnt():
    ages = np.random.default_rng(7).normal(45, 12, 800).clip(18, 90).astype(int)
    for seed in range(16):
        learnt = learnt_column(ages, seed)
        column = learnt.column
        told = [LinearMeasurement(("x",), np.append(np.zeros(column.size - 1), 800.0), 8.0)]
        assert learnt.cautioned(None, told) == learnt.caution
        assert learnt.cautioned(Schema((column,)), []) == learnt.caution
        low, high = column.axis.bounds
        widened = OpenSchema.from_dict(
            {
                "fields": [
                    {
                        "name": "x",
                        "type": "integer",
                        "constraints": {"minimum": low, "maximum": high + 9},
                    }
                ]
            }
        ).resolved({})["x"]
        assert learnt.cautioned(Schema((widened,)), told) == learnt.caution


@pytest.mark.parametrize("sign", [1, -1])
def test_counts_beyond_bounds_settle_whether_they_cut(sign):
    """An end that leaves out more than a tenth, clear of noise, is said with the share of all, and
    where none does nothing is: whatever learning made of it.
    """
    rng = np.random.default_rng(3)
    ages = sign * rng.normal(45, 12, 2_000).clip(18, 90).astype(int)
    changed, shares = 0, []
    for seed in range(24):
        learnt = learnt_column(ages, seed)
        column = learnt.column
        placed = column.with_all_places()
        counts = np.bincount(placed.encode(pd.Series(ages)), minlength=placed.size)
        ends = counts[[*placed.end_codes]]
        clipped = counts[: column.size].copy()
        clipped[[*column.end_codes]] += ends
        told = [LinearMeasurement(("x",), clipped + rng.normal(0, 8, column.size), 8.0)]
        beyond = BeyondCount(*(ends + rng.normal(0, 8, 2)), 8.0)
        unread = UnreadCount(0.0, 8.0, 2_000.0, beyond)
        said = learnt.cautioned(Schema((column,)), told, unread)
        share = re.search(r"about (\d+) % of its records may lie beyond them", said)
        if ends.max() > 260:
            shares.append((float(share[1]) / 100, ends.sum() / 2_000))
            changed += not learnt.caution
        elif ends.max() < 200:
            assert not share
            changed += "lie beyond them" in learnt.caution
    assert len(shares) >= 3
    assert changed >= 3
    assert all(said == pytest.approx(part, abs=0.03) for said, part in shares)


def test_a_release_says_so_in_its_certificate():
    silent = {}
    for seed in range(2):
        rng = np.random.default_rng(seed)
        values = {f"x{number}": rng.integers(20 + number, 60 + number, 900) for number in range(16)}
        kinds = dict.fromkeys(values, "integer")
        found = synthdp.synthesize(pd.DataFrame(values), kinds=kinds, epsilon=1.0, delta=1e-6)
        cut = {name: left_out(found.schema[name], values[name]) for name in values}
        said = " ".join(found.cautions)
        silent |= {(seed, name): part for name, part in cut.items() if f"{name!r}" not in said}
    assert max(silent.values()) < 0.4, silent


def test_rows_in_numbers_of_persons_have_the_shares_of_rows():
    edges = np.array([0, 5, 9])
    rows = [LinearMeasurement(("x",), np.array([3_000.0, 1_000.0]), 40.0)]
    counts = bin_counts("x", edges, rows)
    persons, beyond = in_units(counts, BeyondCount(200.0, 0.0, 40.0), 400.0)
    assert [each.n_records for each in persons] == [300.0, 100.0]
    assert [each.variance for each in persons] == pytest.approx([16.0, 16.0])
    assert beyond == BeyondCount(20.0, 0.0, 4.0)
    # There are no more persons than rows, whatever noise says.
    assert in_units(counts, None, 5_000.0) == (counts, None)
    assert in_units(counts, None, 0.0) == (counts, None)
