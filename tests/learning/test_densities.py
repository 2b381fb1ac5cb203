"""What is made of noisy histograms: nothing is lost, and noise is not taken for records."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthdp.learning import (
    FALSE_ALARM,
    Density,
    even_edges,
    occupied_cells,
    quantile_edges,
    shares_of_cells,
    significance,
    smoothed,
    split_evenly,
)

counts_of = st.lists(st.floats(-500, 5000), min_size=1, max_size=40)


@given(counts_of, st.floats(0, 1e5), st.floats(0.1, 500), st.data())
def test_smoothing_keeps_the_total_and_is_not_negative(counts, total, stddev, data):
    widths = np.array(
        data.draw(st.lists(st.integers(1, 9), min_size=len(counts), max_size=len(counts))), float
    )
    mass = smoothed(np.array(counts), widths, total, stddev)
    assert mass.min() >= 0
    assert mass.sum() == pytest.approx(total, abs=1e-6)


def test_without_evidence_the_density_is_even_and_with_it_the_counts_are_kept():
    rng = np.random.default_rng(1)
    widths = np.ones(64)
    even = smoothed(rng.normal(100, 10, 64), widths, 6400, 10.0)
    assert np.allclose(
        even, 100
    )  # 63 differences, each 3.5 standard deviations: this seed has none
    spiky = np.full(64, 10.0)
    spiky[37] = 5000
    found = smoothed(spiky + rng.normal(0, 10, 64), widths, float(spiky.sum()), 10.0)
    assert found[37] == pytest.approx(5000, abs=60)
    assert np.delete(found, 37).max() < 120


def test_wide_cells_hold_more_of_an_even_density():
    assert smoothed(np.array([1.0, -1.0]), np.array([1.0, 3.0]), 8.0, 100.0).tolist() == [2.0, 6.0]


@given(
    st.lists(st.tuples(st.floats(0, 1e4), st.integers(1, 1000)), min_size=1, max_size=30),
    st.integers(2, 40),
    st.floats(0, 500),
)
def test_quantile_bins_are_few_increasing_and_cover_everything(pieces, most, least):
    starts = np.cumsum([0, *(width for _, width in pieces)])
    density = Density(starts, np.array([mass for mass, _ in pieces]))
    edges = quantile_edges(density, most, least)
    assert (np.diff(edges) > 0).all()
    assert (edges[0], edges[-1]) == (starts[0], starts[-1])
    assert len(edges) - 1 <= most
    assert len(edges) > 2 or starts[-1] - starts[0] == 1


def test_bins_hold_equally_many_records_and_heavy_points_are_alone():
    even = quantile_edges(Density(np.array([0, 1000]), np.array([1000.0])), 10, 1.0)
    assert even.tolist() == list(range(0, 1001, 100))
    density = Density(np.array([0, 1, 40, 41, 100]), np.array([900.0, 390.0, 1000.0, 590.0]))
    edges = quantile_edges(density, 12, 1.0).tolist()
    assert {0, 1, 40, 41, 100} <= set(edges)
    inner = [edge for edge in edges if 1 < edge < 40]
    assert inner  # the rest is finer than a twelfth of all records would be


def test_a_bin_holds_at_least_what_is_asked_for():
    edges = quantile_edges(Density(np.array([0, 1000]), np.array([1000.0])), 100, 250.0)
    assert len(edges) - 1 == 4
    assert even_edges(3, 6, 32).tolist() == [3, 4, 5, 6]


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.integers(1, 10**6)), min_size=1, max_size=20),
    st.integers(1, 600),
)
def test_finer_cells_are_at_least_one_each_and_not_finer_than_the_grid(stretches, cells):
    mass, widths = [m for m, _ in stretches], [w for _, w in stretches]
    shares = shares_of_cells(mass, widths, cells)
    assert all(1 <= share <= width for share, width in zip(shares, widths, strict=True))
    assert sum(shares) <= max(cells, len(widths)) + len(widths)
    for (_, width), share in zip(stretches, shares, strict=True):
        parts = [*split_evenly(0, width, share), width]
        assert len(parts) == share + 1
        assert np.ptp(np.diff(parts)) <= 1


def test_noise_is_seldom_taken_for_records_and_records_are_found():
    """False alarms are below their bound, over 4,000 empty histograms of a fixed seed."""
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(4000):
        noise = rng.normal(0, 10, 50)
        first, last = occupied_cells(noise, 10.0)
        alarms += (first, last) != (int(np.argmax(noise)),) * 2 or noise.max() > significance(
            100
        ) * 10
    assert alarms <= 4000 * FALSE_ALARM + 6 * (4000 * FALSE_ALARM) ** 0.5
    counts = np.zeros(50)
    counts[20:30] = 40.0  # each cell is 4 standard deviations only, but ten of them are plain
    found = [occupied_cells(counts + rng.normal(0, 10, 50), 10.0, reach=4) for _ in range(200)]
    assert sum(stretch == (20, 29) for stretch in found) > 150
    assert all(first <= 24 and last >= 25 for first, last in found)
    assert max(last - first for first, last in found) < 25


def test_a_density_can_be_cut_and_simplified():
    density = Density(np.array([0, 10, 20, 40]), np.array([5.0, 5.0, 40.0]))
    assert density.simplified().starts.tolist() == [0, 20, 40]
    cut = density.between(5, 30)
    assert cut.starts.tolist() == [5, 10, 20, 30]
    assert cut.mass.tolist() == [2.5, 5.0, 20.0]
    thin = Density(np.array([0, 10, 20, 30]), np.array([1e-5, 100.0, 0.0]))
    assert thin.without_thin_ends(0.001).starts.tolist() == [10, 20]
    assert Density(np.array([0, 1, 2]), np.zeros(2)).without_thin_ends(0.1).starts.tolist() == [
        0,
        1,
        2,
    ]
