"""What is learnt is nearly right where the budget allows it, for every kind and every option."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from helpers.flows import Frozen
from helpers.learning import N_ROWS, decoded, distance, learn, random


def single_levels(own):
    """Values that have a bin of their own."""
    edges = own["edges"]
    return {low for low, high in pairwise(edges) if round(high - low, 9) in (1, 0.1, 0.01)}


# Texts


TOWNS = (
    ["Rome"] * 2000
    + ["Oslo"] * 900
    + ["Bern"] * 300
    + ["Nice"] * 30
    + ["Pisa"] * 15
    + [f"t{i}" for i in range(99)]
)


def test_texts_that_many_share_are_levels_and_the_rest_is_other():
    column, codes, own = learn("string", TOWNS, min_mass=0.0)
    assert own["enum"] == ["Bern", "Nice", "Oslo", "Pisa", "Rome"]
    assert (own["required"], own["other"]) == (True, "other")
    assert dict(decoded(column, codes).value_counts()) == {
        "Rome": 2000, "Oslo": 900, "Bern": 300, "Nice": 30, "Pisa": 15, "other": 99
    }  # fmt: skip


def test_rare_texts_share_a_level_and_are_drawn_as_they_were_counted():
    column, codes, own = learn("string", TOWNS, min_mass=60.0)
    assert (own["enum"], own["merged"]["levels"]) == (["Bern", "Oslo", "Rome"], ["Nice", "Pisa"])
    assert own["merged"]["weights"] == pytest.approx([30, 15], abs=8)
    code = int(column.encode(pd.Series(["Nice"]))[0])
    assert (codes == code).sum() == 45
    drawn = column.decode(np.full(20_000, code), np.random.default_rng(1))
    nice, pisa = own["merged"]["weights"]
    assert abs((drawn == "Nice").mean() - nice / (nice + pisa)) < 0.03  # 8 standard deviations


def test_texts_may_be_missing_and_other_may_be_called_otherwise():
    column, codes, own = learn(
        {"type": "categorical", "synthdp": {"other": "Rest"}}, [*TOWNS, *[None] * 200]
    )
    assert (own["other"], own.get("required", False)) == ("Rest", False)
    assert (codes == column.missing_code).sum() == 200
    assert (decoded(column, codes) == "Rest").sum() >= 99


def test_no_more_levels_than_allowed_and_the_most_frequent_ones():
    values = [f"level {i:02}" for i in range(30) for _ in range(100 + 20 * i)]
    column, _, own = learn({"type": "string", "synthdp": {"max_levels": 9}}, values)
    assert own["enum"] == [f"level {i:02}" for i in range(23, 30)]
    assert column.size <= 9


@pytest.mark.parametrize("label", ["Rome", "Nice"])
def test_a_level_may_be_called_as_other_is(label):
    column, codes, own = learn(
        {"type": "string", "synthdp": {"other": label}}, TOWNS, min_mass=60.0
    )
    assert label in own["enum"]
    assert (decoded(column, codes) == label).sum() == TOWNS.count(label) + 99


# Numbers


def spiky():
    rng = random()
    return np.select(
        [(u := rng.random(N_ROWS)) < 0.3, u < 0.5, u < 0.55],
        [40, 0, 99999],
        rng.integers(1, 3000, N_ROWS),
    )


NUMBERS = {
    "spikes": ("integer", spiky),
    "ages": ("integer", lambda: random().integers(17, 91, N_ROWS)),
    "negative integers": ("integer", lambda: random().integers(-5000, -100, N_ROWS)),
    "squares": ("integer", lambda: random().integers(0, 3000, N_ROWS) ** 2),
    "prices": ("number", lambda: np.round(random().lognormal(3, 1, N_ROWS), 2)),
    "measured": ("number", lambda: random().normal(0, 1, N_ROWS)),
    "tiny": ("number", lambda: random().normal(5, 1, N_ROWS) * 1e-9),
    "huge": ("number", lambda: np.round(random().lognormal(0, 1, N_ROWS) * 1e12)),
    "thirds": ("number", lambda: random().integers(1, 100, N_ROWS) / 3),
    "years": ("year", lambda: random().integers(1950, 2020, N_ROWS)),
    "equal width": (
        {"type": "integer", "synthdp": {"binning": "equal-width", "bins": 7}},
        lambda: random().integers(0, 900, N_ROWS),
    ),
    "declared bounds": (
        {"type": "integer", "constraints": {"minimum": 0, "maximum": 100}},
        lambda: np.minimum(random().integers(0, 130, N_ROWS), 100),
    ),
    "declared bounds of numbers": (
        {"type": "number", "constraints": {"minimum": -0.5, "maximum": 2}},
        lambda: np.round(random().beta(1, 3, N_ROWS), 3),
    ),
    "declared bins": (
        {"type": "integer", "synthdp": {"bins": 9}},
        lambda: random().integers(0, 1000, N_ROWS),
    ),
    "declared bins of numbers": (
        {"type": "number", "synthdp": {"bins": 9}},
        lambda: random().gamma(2, 10, N_ROWS),
    ),
    "declared decimals": (
        {"type": "number", "synthdp": {"decimals": -2}},
        lambda: random().integers(1, 99, N_ROWS) * 100.0,
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_come_back_nearly_as_they_were(name):
    kind, make = NUMBERS[name]
    values = make()
    column, codes, own = learn(kind, values)
    width = values.max() - values.min()
    declared = isinstance(kind, dict) and "minimum" in kind.get("constraints", {})
    if not declared:
        assert values.min() - 0.1 * width <= own["minimum"] <= np.quantile(values, 0.01)
        assert np.quantile(values, 0.99) <= own["maximum"] <= values.max() + 0.1 * width
    assert distance(values, column, codes) < 0.02
    assert own["required"] is True


def test_values_that_many_share_have_levels_of_their_own():
    values = spiky()
    column, codes, own = learn("integer", values)
    assert {0, 40} <= single_levels(own)
    back = decoded(column, codes)
    for spike in (0, 40):
        assert (back == spike).sum() == (values == spike).sum()
    assert (
        abs((back == 99999).mean() - (values == 99999).mean()) < 0.01
    )  # in the last bin, by its shape


def test_two_decimals_stay_two_decimals_and_heaps_stay_heaps():
    rng = random()
    values = np.round(rng.normal(500, 100, N_ROWS), 2)
    values = np.where(rng.random(N_ROWS) < 0.4, np.round(values, -2), values)
    column, codes, own = learn("number", values)
    assert own["decimals"] == 2
    assert {400.0, 500.0, 600.0} <= single_levels(own)
    back = decoded(column, codes)
    assert np.array_equal(np.round(back, 2), back)
    assert abs((back % 100 == 0).mean() - (values % 100 == 0).mean()) < 0.02


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_measured_numbers_keep_five_digits_at_least(scale):
    values = random().normal(3, 1, N_ROWS) * scale
    column, codes, own = learn("number", values)
    assert 10.0 ** -own["decimals"] < 1e-5 * scale
    assert len(set(decoded(column, codes))) > 0.99 * N_ROWS


@pytest.mark.parametrize("value", [7, 0, -300, 12.25])
def test_a_constant_column_stays_constant(value):
    column, codes, own = learn("number", [value] * N_ROWS)
    assert (own["minimum"], own["maximum"], own["bins"]) == (value, value, 1)
    assert set(decoded(column, codes)) == {value}


@pytest.mark.parametrize(
    "kind", ["string", "integer", "number", "year", "date", "datetime", "boolean"]
)
def test_a_column_without_any_value_is_missing_throughout(kind):
    column, codes, own = learn(kind, [None] * N_ROWS)
    assert not own.get("required", False)
    assert (codes == column.missing_code).all()
    assert decoded(column, codes).empty


@pytest.mark.parametrize(
    "kind", ["string", "integer", "number", "year", "date", "datetime", "boolean"]
)
@pytest.mark.parametrize("values", [[], [None], ["2020"], ["?", 3, None]])
@pytest.mark.parametrize("epsilon", [0.001, 100.0])
def test_nearly_empty_columns_close(kind, values, epsilon):
    column, codes, _ = learn(kind, values, epsilon=epsilon)
    assert len(codes) == len(values)
    assert codes.max(initial=0) < column.size


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5])
def test_missing_values_are_found_unless_they_are_few(share):
    rng = random()
    values = [None if rng.random() < share else int(value) for value in rng.integers(0, 50, N_ROWS)]
    for kind in ("integer", "number", "string", "year"):
        _, _, own = learn(kind, values)
        assert own.get("required", False) is (share == 0)


def test_a_truth_value_may_be_missing():
    column, codes, own = learn("boolean", [True, False, None] * 900)
    assert not own.get("required", False)
    assert np.bincount(codes).tolist() == [900] * 3
    assert learn("boolean", [True, False] * 900)[2]["required"] is True
    assert column.size == 3


# Bins between declared bounds


BETWEEN = {
    "the maximum is a spike": (
        (0, 100),
        lambda: np.minimum(random().integers(0, 200, N_ROWS), 100),
    ),
    "all at the maximum": ((0, 100), lambda: np.full(N_ROWS, 100)),
    "all below": ((0, 100), lambda: np.full(N_ROWS, -7)),
    "all above": ((0, 100), lambda: np.full(N_ROWS, 1000)),
    "two values": ((4, 5), lambda: random().integers(4, 6, N_ROWS)),
    "three values": ((4, 6), lambda: random().integers(4, 7, N_ROWS)),
    "one value": ((4, 4), lambda: np.full(N_ROWS, 4)),
    "wide": ((-(10**9), 10**9), lambda: random().integers(0, 50, N_ROWS)),
}


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("name", BETWEEN)
def test_bins_stay_between_declared_bounds(name, kind):
    (low, high), make = BETWEEN[name]
    values = make()
    for decimals in (None, 0, 1):
        own = {} if decimals is None or kind == "integer" else {"decimals": decimals}
        column, codes, found = learn(
            {"type": kind, "constraints": {"minimum": low, "maximum": high}, "synthdp": own}, values
        )
        edges = found.get("edges", [found["minimum"], found["maximum"]])
        assert (found["minimum"], found["maximum"], edges[0], edges[-1]) == (low, high, low, high)
        back = decoded(column, codes)
        assert back.between(low, high).all()
        assert distance(np.clip(values, low, high), column, codes) < 0.03


@pytest.mark.parametrize(
    "kind", ["number", {"type": "number", "synthdp": {"binning": "equal-width"}}]
)
@pytest.mark.parametrize(
    ("low", "high"), [(0.5, 0.75), (2.25, 2.75), (-3.0, 1e15), (0.0, 1e-280), (-1e300, 1e300)]
)
def test_declared_bounds_off_the_grid_are_kept(kind, low, high):
    """They ended a run that was paid for, or gave bins beyond the bounds: noise finds any number of
    decimals.
    """
    field = dict(kind) if isinstance(kind, dict) else {"type": kind}
    for seed in range(5):
        for values in ([], [low, high] * 9, [1, 2, 3] * 8):
            bounds = {"constraints": {"minimum": low, "maximum": high}}
            column, codes, own = learn(field | bounds, values, epsilon=0.5, randomness=Frozen(seed))
            assert (own["minimum"], own["maximum"]) == (low, high)
            assert decoded(column, codes).between(low, high).all()


@pytest.mark.parametrize("value", [2**53, 10**30, -(2**53), -(10**30)])
def test_integers_at_the_end_of_the_scale_stay_there(value):
    """The last bin ended beyond the largest integer that a bound may be, and the run with it."""
    column, codes, own = learn(
        "integer", [value] * 900 + [value - value // 8] * 900, randomness=Frozen(0)
    )
    assert max(abs(own["minimum"]), abs(own["maximum"])) <= 2**53
    assert column.encode(pd.Series([value])).tolist() == codes[:1].tolist()
