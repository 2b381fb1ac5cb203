"""Gaps of a learnt shape: records that noise hid are drawn there once bins tell of them."""

import itertools

import numpy as np
import pytest

from synthdp.schema import IntegerColumn, Schema, with_gaps_filled

AGES = {
    "name": "age",
    "type": "integer",
    "constraints": {"minimum": 0, "maximum": 119, "required": True},
    "synthdp": {
        "edges": [0, 40, 60, 80, 119],
        "shape": {"starts": [0, 32, 80, 90], "weights": [0.0, 480.0, 60.0, 0.0]},
    },
}


def age(**own: object) -> IntegerColumn:
    (column,) = Schema.from_dict({"fields": [AGES | {"synthdp": AGES["synthdp"] | own}]}).columns
    assert isinstance(column, IntegerColumn)
    return column


def drawn(column: IntegerColumn, mass: list[float], code: int, n: int = 4000) -> np.ndarray:
    codes = np.full(n, code)
    filled = column.following(np.array(mass)) if column.has_gaps else column
    values = filled.decode(codes, np.random.default_rng(0))
    assert (column.encode(values) == codes).all()
    assert filled == column
    assert filled.field() == column.field()
    return np.asarray(values)


def test_records_that_learning_did_not_see_are_drawn_in_the_gap() -> None:
    """Of 240 below 40 the shape has room for 80: two in three were hidden below 32."""
    values = drawn(age(), [240.0, 200.0, 200.0, 60.0], 0)
    assert np.mean(values < 32) == pytest.approx(2 / 3, abs=0.06)
    # They thin out from 32 on, and reach as far as they need: 160 records from 10 a year.
    assert np.mean((values < 32) & (values >= 16)) > 2.5 * np.mean(values < 16) > 0
    assert drawn(age(), [120.0, 200.0, 200.0, 60.0], 0).min() >= 32 - 2 * 40 / 10


@pytest.mark.parametrize("held", [20.0, 80.0, 100.0])
def test_a_bin_that_holds_what_the_shape_says_is_drawn_as_before(held: float) -> None:
    assert drawn(age(), [held, 200.0, 200.0, 60.0], 0).min() >= 32


def test_a_piece_that_whole_bins_say_is_empty_leaves_its_place() -> None:
    """Noise saw records from 90 to 150, the bins from 100 on have none: none lie from 90 to 100."""
    starts = np.array([0, 70, 100, 150])
    cuts, weights = with_gaps_filled(
        starts, np.array([70.0, 30.0, 0.0]), np.array([0, 80, 90, 150]), np.array([80.0, 0.0, 60.0])
    )
    held = np.diff(np.interp([70, 80, 90, 100], cuts, np.append(0.0, np.cumsum(weights))))
    assert held[2] == pytest.approx(0.0)
    assert held.sum() == pytest.approx(30.0)


def test_a_tail_begins_where_the_density_falls() -> None:
    """The cell beside the gap is thin where the next one is dense: noise may have hidden there as
    well.
    """
    starts, cuts = np.array([0, 100, 200, 1000]), np.array([0, 200, 400, 1000])
    cuts, weights = with_gaps_filled(
        starts, np.array([1000.0, 1000.0, 300.0]), cuts, np.array([2000.0, 20.0, 0.0])
    )
    held = np.diff(np.interp([200, 400, 1000], cuts, np.append(0.0, np.cumsum(weights))))
    assert held == pytest.approx([300.0, 0.0])


def test_a_single_value_of_many_records_is_no_density() -> None:
    """100 holds 500 records; below lie 5 a point, and so the 50 above reach for some 20 points."""
    starts, points = np.array([0, 100, 101, 1000]), np.array([0, 100, 101, 1000])
    cuts, weights = with_gaps_filled(
        starts, np.array([500.0, 500.0, 50.0]), points, np.array([500.0, 500.0, 0.0])
    )
    above = np.diff(np.interp([101, 111, 122, 1000], cuts, np.append(0.0, np.cumsum(weights))))
    assert above == pytest.approx([36.7, 13.3, 0.0], abs=1.5)


def test_where_nothing_lies_beside_a_gap_it_is_even() -> None:
    starts = np.array([0, 100, 200, 300])
    cuts, weights = with_gaps_filled(
        starts, np.array([0.0, 30.0, 0.0]), np.array([0, 300]), np.array([0.0])
    )
    place = np.linspace(100, 200, 5)
    held = np.diff(np.interp(place, cuts, np.append(0.0, np.cumsum(weights))))
    assert held == pytest.approx(7.5)


def test_a_bin_with_gaps_weighs_what_it_was_measured_to_hold() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        starts = np.append(0, np.cumsum(rng.integers(1, 30, 6)))
        mass = rng.random(6) * 100 * (rng.random(6) < 0.8)
        inner = np.unique(rng.integers(1, starts[-1], 5))
        cuts = np.concatenate([[0], inner, [starts[-1]]])
        shape = rng.random(len(cuts) - 1) * 100 * (rng.random(len(cuts) - 1) < 0.6)
        finer, weights = with_gaps_filled(starts, mass, cuts, shape)
        assert (weights >= 0).all()
        assert np.isfinite(weights).all()
        assert (np.diff(finer) > 0).all()
        assert np.isin(np.union1d(starts, cuts), finer).all()
        bins = np.searchsorted(starts, finer[:-1], side="right") - 1
        held = np.bincount(bins, weights, 6)
        empty = np.repeat(shape == 0, np.diff(cuts))
        has_gap = np.array([empty[a:b].any() for a, b in itertools.pairwise(starts)])
        assert (np.isclose(held, mass) | (held >= 0.75 * mass))[has_gap].all()


def test_what_has_no_gap_is_left_alone() -> None:
    even = {"starts": [0, 32, 80, 90], "weights": [1.0, 480.0, 60.0, 1.0]}
    assert age().has_gaps
    assert not age(shape=even).has_gaps
    assert not age().following(np.ones(4)).has_gaps
