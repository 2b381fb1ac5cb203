"""Estimates of a marginal's cells, against least squares over every cell of the domain."""

import numpy as np
import pytest
from helpers.homes import home

from synthdp.core import Coarsening, Domain, LinearMeasurement
from synthdp.release import CellEstimates, cell_estimates, summed_to

module = home(CellEstimates)

DOMAIN = Domain(("a", "b", "c"), (4, 3, 2))
TRUE = np.random.default_rng(1).integers(0, 50, DOMAIN.shape).astype(float)
MERGED = {"a": np.array([0, 0, 1, 2])}


def measured(clique, stddev, groups=None, *, seed=0):
    """A noisy marginal of the true table."""
    summed = tuple(axis for axis, name in enumerate(DOMAIN.attributes) if name not in clique)
    kept = [name for name in DOMAIN.attributes if name in clique]
    values = np.transpose(TRUE.sum(axis=summed), [kept.index(name) for name in clique])
    coarsening = Coarsening(groups) if groups else None
    values = coarsening.apply(clique, values) if coarsening else values
    noise = np.random.default_rng([seed, len(clique)]).standard_normal(values.shape)
    return LinearMeasurement(clique, values + stddev * noise, stddev, coarsening)


def rows_of(clique, groups):
    """For each cell of a marginal, merged or not, which cells of the domain it counts; one row a
    cell.
    """
    codes = np.indices(DOMAIN.shape).reshape(len(DOMAIN), -1)
    axes = [codes[DOMAIN.index(name)] for name in clique]
    axes = [
        groups[name][axis] if name in groups else axis
        for name, axis in zip(clique, axes, strict=True)
    ]
    shape = [groups[name].max() + 1 if name in groups else DOMAIN[name] for name in clique]
    places = np.ravel_multi_index(axes, shape) if clique else np.zeros(DOMAIN.size(), int)
    return (places == np.arange(int(np.prod(shape)))[:, np.newaxis]).astype(float)


def by_brute_force(measurements, clique):
    """Estimates, variances, and which cells are open, by the pseudo-inverse over all cells of the
    domain.
    """
    matrix = np.vstack([rows_of(m.clique, m.groups) for m in measurements])
    weights = 1 / np.concatenate([m.variance.ravel() for m in measurements])
    values = np.concatenate([m.values.ravel() for m in measurements])
    normal = matrix.T @ (weights[:, np.newaxis] * matrix)
    inverse = np.linalg.pinv(normal, rcond=1e-12)
    wanted = rows_of(clique, {})
    is_open = np.abs(wanted - wanted @ inverse @ normal).max(axis=1) > 1e-8
    return (
        wanted @ inverse @ (matrix.T @ (weights * values)),
        np.diag(wanted @ inverse @ wanted.T),
        is_open,
    )


EVEN = [
    measured(("b", "a"), 3.0),
    measured(("a", "c"), 2.0),
    measured(("a",), 5.0),
    measured((), 4.0),
]
MIXED = [measured(("b", "a"), 3.0), measured(("a", "c"), 2.0, MERGED), measured(("a",), 5.0)]
UNEVEN = [
    measured(("a", "b"), np.linspace(1, 3, 12).reshape(4, 3)),
    measured(("a",), 2.0),
    measured((), 1e-3),
]


@pytest.mark.parametrize(
    ("measurements", "clique"),
    [
        *((EVEN, clique) for clique in (("a",), ("c",), ("a", "b"), ("b", "a"), ("c", "a"), ())),
        *((MIXED, clique) for clique in (("a",), ("b", "a"), ("c", "a"))),
        *((UNEVEN[:2], clique) for clique in (("a",), ("b", "a"))),
    ],
)
def test_estimates_and_variances_are_those_of_least_squares_over_all_cells(measurements, clique):
    counts, variances, is_open = by_brute_force(measurements, clique)
    told = cell_estimates(DOMAIN, measurements, clique)
    assert np.array_equal(told.is_known.ravel(), ~is_open)
    np.testing.assert_allclose(told.counts.ravel()[~is_open], counts[~is_open], atol=1e-4)
    np.testing.assert_allclose(told.variance.ravel()[~is_open], variances[~is_open], rtol=1e-6)


@pytest.mark.parametrize("measurements", [EVEN, MIXED])
@pytest.mark.parametrize("clique", [("a", "b", "c"), ("b", "c")])
def test_cells_that_measurements_leave_open_are_said_to_be(measurements, clique):
    told = cell_estimates(DOMAIN, measurements, clique)
    assert not told.is_known.any()
    assert np.isnan(told.counts).all()


def test_cells_that_merging_left_alone_are_told_and_merged_ones_are_open():
    told = cell_estimates(DOMAIN, MIXED, ("a", "c"))
    assert told.is_known.tolist() == [[False, False], [False, False], [True, True], [True, True]]


def test_totals_known_exactly_are_used_and_their_exactness_understated():
    _, variances, _ = by_brute_force(UNEVEN, ("a", "b"))
    told = cell_estimates(DOMAIN, UNEVEN, ("a", "b"))
    without = cell_estimates(DOMAIN, UNEVEN[:2], ("a", "b"))
    assert (told.variance.ravel() >= variances * (1 - 1e-4)).all()
    assert (told.variance < without.variance).all()


def test_marginals_too_large_to_be_solved_use_the_measurements_of_whole_levels(monkeypatch):
    monkeypatch.setattr(home(CellEstimates), "MAX_SOLVED", 3)
    told = cell_estimates(DOMAIN, MIXED, ("b", "a"))
    counts, variances, _ = by_brute_force([MIXED[0], MIXED[2]], ("b", "a"))
    np.testing.assert_allclose(told.counts.ravel(), counts, atol=1e-6)
    np.testing.assert_allclose(told.variance.ravel(), variances)


def test_measurements_of_other_attributes_are_not_summed_for_each_marginal(monkeypatch):
    summed = []
    monkeypatch.setattr(
        module,
        "summed_to",
        lambda table, clique: summed.append(table.clique) or summed_to(table, clique),
    )
    for clique in (("c",), ("b",), ("c",)):
        cell_estimates(DOMAIN, EVEN, clique)
    assert summed == [("a", "c"), ("b", "a"), ("a", "c")]
    assert EVEN[2].total is EVEN[2].total


def test_attributes_of_one_level_need_no_measurement():
    domain = Domain(("a", "one"), (2, 1))
    single = LinearMeasurement(("a",), np.array([3.0, 4.0]), 1.0)
    assert cell_estimates(domain, [single], ("one", "a")).counts.tolist() == [[3.0, 4.0]]
