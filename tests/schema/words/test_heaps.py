"""Heaps: points are drawn as their classes weigh, whatever the intervals are, and 0 like any other."""

import numpy as np
import pandas as pd
import pytest
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from synthdp.core import SchemaError
from synthdp.data import decode, encode
from synthdp.schema import STEPS, HeapedIntervals, Heaps, Schema, counts_of_classes, steps_of

CHAINS = ([2], [5, 10], [3, 12, 60], [5, 10, 50, 100])
N_DRAWS = 20_000


def class_of(point, steps):
    """By definition: how many of the steps divide it."""
    return sum(point % step == 0 for step in steps) if point else 0


@settings(deadline=None, max_examples=examples(100))
@given(st.sampled_from(CHAINS), st.integers(-300, 300), st.integers(1, 400))
def test_points_of_each_class_are_counted(steps, first, length):
    counted = counts_of_classes(np.array(steps), np.array([first]), np.array([first + length]))[
        :, 0
    ]
    classes = [class_of(point, steps) for point in range(first, first + length)]
    assert counted.tolist() == np.bincount(classes, minlength=len(steps) + 1).tolist()


def test_the_step_of_a_point_is_the_largest_that_divides_it():
    points = [*range(-120, 121), 10**15, -(10**15) + 1, 2**62, 5 * 10**12, 123_456_789_000]
    expected = [class_of(point, STEPS) if point else len(STEPS) + 1 for point in points]
    assert steps_of(np.array(points)).tolist() == expected


@pytest.mark.parametrize("steps", CHAINS)
def test_points_are_drawn_as_their_classes_weigh(steps):
    heaps = Heaps(np.array(steps), 1.0 + 3 * np.arange(len(steps) + 1))
    firsts, stops, mass = (
        np.array([-97, 0, 1, 60]),
        np.array([0, 1, 60, 61]),
        np.array([3.0, 0.5, 4.0, 1.0]),
    )
    intervals = HeapedIntervals.from_groups(heaps, np.zeros(4, int), firsts, stops - firsts, mass)
    drawn = intervals.draw(np.zeros(N_DRAWS, int), np.random.default_rng(1))
    expected = np.zeros(61 + 97)
    for first, stop, weight in zip(firsts, stops, mass, strict=True):
        weights = heaps.weights[[class_of(point, steps) for point in range(first, stop)]]
        expected[first + 97 : stop + 97] = weight * weights / weights.sum()
    found = np.bincount(drawn + 97, minlength=len(expected))
    assert chisquare(found, expected * N_DRAWS / expected.sum()).pvalue > 1e-9


def column(own, kind="integer", low=0, high=100_000):
    constraints = {"minimum": low, "maximum": high, "required": True}
    field = {"name": "pay", "type": kind, "constraints": constraints, "synthdp": own}
    return Schema.from_dict({"fields": [field]})["pay"]


@pytest.mark.parametrize("kind", ["integer", "number"])
def test_declared_shares_come_out_where_there_is_room_and_every_value_stays_in_its_bin(kind):
    unit = 1 if kind == "integer" else 0.01
    own = {"bins": 20, "heaping": {f"{100 * unit:g}": 0.55, f"{1000 * unit:g}": 0.2}}
    own |= {} if kind == "integer" else {"decimals": 2}
    heaped = column(own, kind, -20_000 * unit, 80_000 * unit)
    assert Schema.from_dict({"fields": [heaped.field()]})["pay"] == heaped
    codes = np.random.default_rng(2).integers(0, 20, N_DRAWS)
    values = heaped.decode(codes, np.random.default_rng(3))
    assert np.array_equal(heaped.encode(values), codes)
    points = np.rint(values / unit).astype(int)
    assert abs((points % 1000 == 0).mean() - 0.2) < 0.02  # 7 standard deviations
    assert (
        abs((points % 100 == 0).mean() - 0.7525) < 0.02
    )  # some of the rest are multiples by chance
    texts = heaped.decode_text(codes, np.random.default_rng(3))
    assert pd.Series(texts).astype(float).tolist() == values.tolist()


def test_a_bin_without_round_values_is_even_and_spikes_stay():
    shape = {"starts": [0, 1, 7, 8], "weights": [0, 0, 50, 50]}
    heaped = column({"edges": [0, 12, 19, 100], "shape": shape, "heaping": {"10": 1.0}}, high=100)
    first = heaped.decode(np.zeros(4000, int), np.random.default_rng(4))
    assert (
        abs((first == 7).mean() - 50 / (50 + 50 * 1 / 10)) < 0.05
    )  # almost all of the last piece lies on tens
    second = heaped.decode(np.ones(4000, int), np.random.default_rng(4))
    assert set(second) == set(range(12, 19))


def test_slices_hold_what_is_round_as_often_as_it_is():
    heaped = column({"bins": 2, "heaping": {"1000": 0.5}}, high=9_999)
    kept = heaped.narrowed([heaped.points_between(2000, 2000)])
    weight, rest = 0.5 / (1 / 1000), 0.5 / (1 - 1 / 1000)
    assert kept.kept_shares == pytest.approx(
        [weight / (4 * weight + 4996 * rest), 0]
    )  # 0 is one of the rest
    assert set(kept.decode(np.zeros(9, int), np.random.default_rng(5))) == {2000}


def test_checks_hold_and_round_values_stay_round():
    fields = [
        column({"bins": 4, "heaping": {"100": 0.8}}).field() | {"name": name}
        for name in ("low", "high")
    ]
    rules = {"constraints": [{"check": "low <= high"}]}
    schema = Schema.from_dict({"fields": fields, "synthdp": rules})
    codes = [np.full(4000, 1), np.full(4000, 1)]
    table = decode(codes, schema, np.random.default_rng(6))
    assert (table["low"] <= table["high"]).all()
    assert all(
        np.array_equal(code, coded)
        for code, coded in zip(codes, encode(table, schema).columns, strict=True)
    )
    assert ((table % 100 == 0).mean() > 0.75).all()


BAD = {
    "no object": ([100], "heaping is"),
    "no number": ({"many": 0.5}, "has the step 'many'"),
    "nothing": ({"1/0": 0.5}, "has the step '1/0'"),
    "a share above 1": ({"100": 1.5}, "heaping.100 is 1.5; give a share"),
    "no share": ({"100": float("nan")}, "heaping.100 is nan; give a share"),
    "a truth value": ({"100": True}, "heaping.100 is True; give a share"),
    "too much": ({"100": 0.6, "1000": 0.6}, "shares of 1.2 together"),
    "no divisor": ({"15": 0.1, "100": 0.1}, "the steps 15 and 100; each must divide the next"),
    "the unit": ({"1": 0.5}, "values are whole numbers"),
    "between values": ({"2.5": 0.5}, "the step 2.5, but values are whole numbers"),
    "nothing at all": ({"0": 0.5, "10": 0.1}, "has the step '0'"),
    "below nothing": ({"-5": 0.5}, "has the step '-5'"),
    "astronomic": ({"1e999999999": 0.5}, "has the step '1e999999999'"),
    "endless": ({"1e30": 0.5}, "has the step 1"),
}


@pytest.mark.parametrize("case", BAD)
def test_contradictions_are_refused_in_one_line(case):
    given_, expected = BAD[case]
    with pytest.raises(SchemaError, match=expected) as caught:
        column({"heaping": given_})
    assert "'pay'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_numbers_without_decimals_get_as_many_as_the_steps_need():
    assert column({"bins": 4, "heaping": {"0.25": 0.5}}, "number", 0, 10_000).decimals == 2


def test_dates_are_not_heaped():
    dates = {
        "name": "x",
        "type": "date",
        "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"},
    }
    with pytest.raises(SchemaError, match="heaping' is not known"):
        Schema.from_dict({"fields": [dates | {"synthdp": {"heaping": {"7": 0.5}}}]})
