"""Densities that follow their neighbours."""

import numpy as np
import pytest

from synthdp.schema import DateColumn, IntegerColumn, Schema, followed


def test_mass_stays_in_its_bin() -> None:
    rng = np.random.default_rng(0)
    starts = np.cumsum(rng.integers(1, 40, 21))
    mass = rng.random(20) * (rng.random(20) < 0.7)
    cuts, weights = followed(starts, mass)
    bins = np.searchsorted(starts, cuts[:-1], side="right") - 1
    np.testing.assert_allclose(np.bincount(bins, weights, 20), mass, atol=1e-12)
    assert (weights >= 0).all()
    assert np.isin(starts, cuts).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("little", [5e-324, 1e-310, 1e-200])
def test_next_to_nothing_is_a_mass_as_any(little: float) -> None:
    """A model may give a bin less than the smallest number that has all its digits."""
    for mass in ([1.0, little, 2.0, little], [little, little, little, 1.0]):
        _, weights = followed(np.array([0, 8, 16, 24, 32]), np.array(mass))
        np.testing.assert_allclose(weights.reshape(4, 8).sum(axis=1), mass, rtol=1e-9, atol=1e-300)


def test_an_even_density_stays_even() -> None:
    cuts, weights = followed(np.array([0, 10, 30, 60]), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(weights / np.diff(cuts), 0.1)


def test_is_nearer_to_a_steep_density_than_even_bins() -> None:
    starts = np.arange(0, 801, 80)
    exact = np.exp(-np.arange(801) / 100.0)
    cuts, weights = followed(starts, -np.diff(exact[starts]))
    summed = np.append(0.0, np.cumsum(weights))
    error = np.abs(summed - (1.0 - exact[cuts])).max()
    even = np.interp(cuts, starts, 1.0 - exact[starts])
    assert error < np.abs(even - (1.0 - exact[cuts])).max() / 4


def test_values_of_a_column_follow_and_read_back_as_their_bins() -> None:
    column = IntegerColumn(name="x", minimum=0, maximum=399, bins=4, required=True)
    assert column.is_flat
    following = column.following(np.array([8.0, 4.0, 2.0, 1.0]))
    assert not following.is_flat
    codes = np.repeat(np.arange(4), 2000)
    drawn = following.decode(codes, np.random.default_rng(0))
    assert (column.encode(drawn) == codes).all()
    means = drawn.groupby(codes).mean() - 100.0 * np.arange(4)
    assert (means < 45).all()
    assert following == column
    assert following.field() == column.field()


@pytest.mark.parametrize("n_values", [3, 12])
def test_bins_of_single_values_have_nothing_to_follow(n_values: int) -> None:
    column = IntegerColumn(name="x", minimum=1, maximum=n_values, bins=n_values)
    assert not column.is_flat


def test_dates_follow() -> None:
    field = {"name": "day", "type": "date", "synthdp": {"bins": 4}}
    field["constraints"] = {"minimum": "2020-01-01", "maximum": "2020-12-31", "required": True}
    (column,) = Schema.from_dict({"fields": [field]}).columns
    assert isinstance(column, DateColumn)
    following = column.following(np.array([8.0, 4.0, 2.0, 1.0]))
    codes = np.zeros(2000, dtype=np.int64)
    late = following.decode(codes, np.random.default_rng(0)).dt.day_of_year
    assert late.mean() < column.decode(codes, np.random.default_rng(0)).dt.day_of_year.mean()
