"""Coarsening and measurements: against brute force, least squares and the definition."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import (
    Coarsening,
    Domain,
    LinearMeasurement,
    ParameterError,
    combined_measurements,
    estimate_total,
)
from synthdp.privacy import MAX_SIGMA_SQUARED

DOMAIN = Domain(("a", "b", "c"), (4, 3, 2))


@st.composite
def coarsenings(draw):
    groups = {}
    for name, size in zip(DOMAIN.attributes, DOMAIN.shape, strict=True):
        if draw(st.booleans()):
            labels = draw(st.lists(st.integers(0, size - 1), min_size=size, max_size=size))
            groups[name] = np.unique(labels, return_inverse=True)[1].reshape(size)
    return Coarsening(groups)


def coarsened_by_hand(coarsening, clique, values):
    domain = coarsening.domain(DOMAIN).project(clique)
    sums = np.zeros(domain.shape, dtype=values.dtype)
    for cell in np.ndindex(values.shape):
        target = tuple(
            int(coarsening.groups[name][level]) if name in coarsening.groups else level
            for name, level in zip(clique, cell, strict=True)
        )
        sums[target] += values[cell]
    return sums


@settings(deadline=None)
@given(coarsenings(), st.permutations(DOMAIN.attributes), st.integers(0, 3), st.booleans())
def test_coarsening_sums_the_cells_of_each_group(coarsening, order, k, whole):
    clique = tuple(order[:k])
    shape = DOMAIN.project(clique).shape
    rng = np.random.default_rng(1)
    values = rng.integers(-5, 50, shape) if whole else rng.normal(size=shape)
    values = np.asarray(values)
    merged = coarsening.apply(clique, values)
    assert merged.dtype == values.dtype
    np.testing.assert_allclose(merged, coarsened_by_hand(coarsening, clique, values))
    LinearMeasurement(clique, merged.astype(float), 1.0, coarsening).check_fits(DOMAIN)
    if not clique:
        return  # see the test below
    measurement = LinearMeasurement(clique, values.astype(float), np.full(shape, 2.0)).coarsened(
        coarsening
    )
    np.testing.assert_allclose(measurement.values, merged)
    cells_each = coarsened_by_hand(coarsening, clique, np.ones(shape))
    np.testing.assert_allclose(measurement.variance, 4.0 * cells_each)
    measurement.check_fits(coarsening.domain(DOMAIN))


@settings(deadline=None)
@given(coarsenings(), st.permutations(DOMAIN.attributes), st.integers(0, 3), st.booleans())
def test_spreading_gives_each_cell_what_it_is_merged_into(coarsening, order, k, whole):
    clique = tuple(order[:k])
    shape, merged_shape = (
        DOMAIN.project(clique).shape,
        coarsening.domain(DOMAIN).project(clique).shape,
    )
    rng = np.random.default_rng(2)
    values = np.asarray(
        rng.integers(-5, 50, merged_shape) if whole else rng.normal(size=merged_shape)
    )
    spread = coarsening.spread(clique, values)
    assert (spread.shape, spread.dtype) == (shape, values.dtype)
    for cell in np.ndindex(shape):
        names = zip(clique, cell, strict=True)
        home = tuple(
            int(coarsening.groups[n][level]) if n in coarsening.groups else level
            for n, level in names
        )
        assert spread[cell] == values[home]
    # Shared out evenly it sums up to what it was; and it is the transpose of summing.
    cells_each = coarsened_by_hand(coarsening, clique, np.ones(shape))
    np.testing.assert_allclose(
        coarsening.apply(clique, spread / coarsening.spread(clique, cells_each)), values
    )
    other = np.asarray(rng.normal(size=shape))
    assert np.sum(coarsening.apply(clique, other) * values) == pytest.approx(np.sum(other * spread))


def test_the_groups_of_a_measurement_are_those_of_its_own_attributes():
    a, c = np.array([0, 1, 1, 0]), np.array([0, 0])
    coarsening = Coarsening({"c": c, "a": a})
    measurement = LinearMeasurement(("b", "a"), np.zeros((3, 2)), 1.0, coarsening)
    assert {name: groups.tolist() for name, groups in measurement.groups.items()} == {
        "a": a.tolist()
    }
    assert list(LinearMeasurement(("a", "c"), np.zeros((2, 1)), 1.0, coarsening).groups) == [
        "a",
        "c",
    ]
    assert LinearMeasurement(("b",), np.zeros(3), 1.0, coarsening).groups == {}
    assert LinearMeasurement((), np.array(1.0), 1.0, coarsening).groups == {}
    assert LinearMeasurement(("a",), np.zeros(4), 1.0).groups == {}


def test_the_empty_clique_can_be_coarsened():
    measurement = LinearMeasurement((), np.array(7.0), 2.0).coarsened(
        Coarsening({"a": np.array([0, 0, 1, 1])})
    )
    assert float(measurement.values) == 7.0
    assert float(measurement.variance) == pytest.approx(4.0)


@pytest.mark.parametrize("groups", [[0, 2, 2, 0], [1, 1, 1, 1], [-1, 0, 0, 1], []])
def test_groups_with_gaps_are_refused(groups):
    with pytest.raises(ParameterError, match="'a': groups must be numbered"):
        Coarsening({"a": np.array(groups, dtype=int)})


@pytest.mark.parametrize(
    "groups", [[0.0, 1.0], [0.5, 1.5], [False, True], ["0", "1"], [0, 1, 10**15]]
)
def test_groups_are_whole_numbers(groups):
    with pytest.raises(ParameterError, match="'a': groups must be numbered"):
        Coarsening({"a": np.array(groups)})


def test_coarsenings_own_their_groups():
    groups = np.array([0, 1, 1])
    coarsening = Coarsening({"a": groups})
    groups[0] = 1
    assert coarsening.groups["a"].tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match="read-only"):
        coarsening.groups["a"][0] = 1


def test_coarsenings_of_another_domain_are_refused():
    with pytest.raises(ParameterError, match="one group for each of its 4 levels"):
        Coarsening({"a": np.array([0, 1])}).domain(DOMAIN)
    with pytest.raises(ParameterError, match="not in the domain"):
        Coarsening({"z": np.array([0, 1])}).domain(DOMAIN)


@pytest.mark.parametrize(
    ("clique", "values", "stddev", "message"),
    [
        (("a",), np.zeros((2, 2)), 1.0, "values have 2 axes"),
        (("a",), np.zeros(4), np.ones(3), "one stddev, or one a cell"),
        (("a",), np.zeros(4), 0.0, "must be above 0"),
        (("a",), np.zeros(4), -1.0, "must be above 0"),
        (("a",), np.zeros(4), np.inf, "must be above 0"),
        (("a",), np.zeros(4), np.nan, "must be above 0"),
        (("a",), np.zeros(4), np.array([1.0, 1.0, 0.0, 1.0]), "must be above 0"),
        (("a",), np.array([1.0, np.nan, 0.0, 0.0]), 1.0, "nan or inf"),
        (("a",), np.array([1.0, np.inf, 0.0, 0.0]), 1.0, "nan or inf"),
        (("a",), np.zeros(4), 1e-10, "must be above 0, 1e-09 to 1.15e.18"),
        (
            ("a",),
            np.zeros(4),
            np.array([1.0, 1e19, 1.0, 1.0]),
            "must be above 0, 1e-09 to 1.15e.18",
        ),
        (("a",), np.array([0.0, 2e18, 0.0, 0.0]), 1.0, "values lie beyond 1.15e.18"),
        (("a",), np.array([0.0, -1e308, 0.0, 0.0]), 1.0, "values lie beyond 1.15e.18"),
        (
            ("a",),
            np.array([1.0 + 2.0j, 0.0, 0.0, 0.0]),
            1.0,
            "values are of type complex128; give integers or floats",
        ),
        (("a",), np.zeros(4), 1.0 + 0.0j, "stddev are of type complex128"),
        (("a",), np.array([True, False, True, True]), 1.0, "values are of type bool"),
        (("a",), np.zeros(4), True, "stddev are of type bool"),
        (("a",), np.array([1.0, 2.0, None, 3.0]), 1.0, "values are of type object"),
        (("a",), ["1", "2", "3", "4"], 1.0, "values are of type <U1"),
        (("a", "b"), [[1.0, 2.0], [3.0]], 1.0, "values are rows of several lengths"),
        ("ab", np.zeros((4, 3)), 1.0, "clique 'ab' is a text; give a tuple of names"),
        (("b", "b"), np.zeros((3, 3)), 1.0, r"clique \('b', 'b'\): an attribute repeats"),
    ],
)
def test_malformed_measurements_are_refused(clique, values, stddev, message):
    with pytest.raises(ParameterError, match=message):
        LinearMeasurement(clique, values, stddev)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8])
def test_measurements_own_their_numbers(kind):
    values, stddev = np.array([1, 2, 3, 4], dtype=kind), np.ones(4)
    measurement = LinearMeasurement(("a",), values, stddev)
    values[0] = stddev[0] = 99
    assert measurement.values.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert measurement.variance.tolist() == [1.0] * 4
    for own in (measurement.values, measurement.stddev, measurement.variance):
        with pytest.raises(ValueError, match="read-only"):
            own[0] = 0.0


def test_what_the_kernel_can_answer_is_a_measurement():
    """Its noise is between a rounding's, 0.29, and 2^50; its counts end at 2^60."""
    largest = LinearMeasurement(("a",), np.full(4, 2**60), sqrt(MAX_SIGMA_SQUARED + 1 / 12))
    assert largest.values.tolist() == [2.0**60] * 4
    assert largest.stddev == 2.0**50
    noisiest = LinearMeasurement(("a",), np.zeros(4), 2.0**60).coarsened(
        Coarsening({"a": np.array([0, 0, 0, 1])})
    )
    assert noisiest.stddev.tolist() == [2.0**60, 2.0**60]


def test_exact_repeats_stay_measurements():
    """Their mean is a little more exact than any measurement may say, and says as much as it may."""
    repeats = [LinearMeasurement(("c",), np.array([v, 1.0]), 1e-9) for v in (2.0, 3.0, 4.0)]
    (mean,) = combined_measurements(DOMAIN, repeats)
    np.testing.assert_allclose(mean.values, [3.0, 1.0])
    assert mean.stddev.tolist() == [1e-9, 1e-9]


def test_measurements_that_do_not_fit_the_domain_are_refused():
    with pytest.raises(ParameterError, match=r"shape \(3, 4\), the domain asks for \(4, 3\)"):
        LinearMeasurement(("a", "b"), np.zeros((3, 4)), 1.0).check_fits(DOMAIN)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.permutations("ab"), st.floats(0.1, 10), st.booleans()), min_size=1, max_size=5
    )
)
def test_repeats_combine_to_the_least_squares_estimate_and_its_variance(plans):
    rng = np.random.default_rng(2)
    measurements, rows = [], []
    for order, stddev, by_cell in plans:
        shape = DOMAIN.project(order).shape
        stddevs = stddev * rng.uniform(0.5, 2, shape) if by_cell else stddev
        measurements.append(LinearMeasurement(tuple(order), rng.normal(size=shape), stddevs))
        axes = [order.index(name) for name in "ab"]
        rows.append(
            (
                np.transpose(measurements[-1].values, axes),
                np.transpose(measurements[-1].variance, axes),
            )
        )
    other = LinearMeasurement(("c",), np.array([1.0, 2.0]), 3.0)
    together, alone = combined_measurements(DOMAIN, [*measurements, other])
    assert (together.clique, alone.clique) == (("a", "b"), ("c",))
    np.testing.assert_allclose(alone.values, other.values)
    np.testing.assert_allclose(alone.stddev, 3.0)
    for cell in np.ndindex(4, 3):
        design = np.array([[1 / np.sqrt(variance[cell])] for _, variance in rows])
        target = np.array([values[cell] / np.sqrt(variance[cell]) for values, variance in rows])
        assert together.values[cell] == pytest.approx(np.linalg.lstsq(design, target)[0][0])
        assert together.variance[cell] == pytest.approx(1 / float((design.T @ design).item()))


def test_the_total_is_the_generalised_least_squares_estimate():
    """Each marginal alone: unknown cells whose sums are one number; the best estimate of that
    number.
    """
    rng = np.random.default_rng(3)
    measurements = [
        LinearMeasurement(("a",), rng.normal(50, 1, 4), rng.uniform(1, 3, 4)),
        LinearMeasurement(("b",), rng.normal(66, 1, 3), 2.0),
        LinearMeasurement((), np.array(205.0), 4.0),
    ]
    # Unknowns: all cells of a, all but the last of b (the total gives that one); the total is the
    # sum over a.
    design = np.zeros((8, 6))
    design[:4, :4] = np.eye(4)
    design[4:6, 4:] = np.eye(2)
    design[6] = [1, 1, 1, 1, -1, -1]
    design[7, :4] = 1
    target = np.concatenate([m.values.ravel() for m in measurements])
    scale = np.concatenate([np.sqrt(m.variance).ravel() for m in measurements])
    cells = np.linalg.lstsq(design / scale[:, None], target / scale)[0]
    assert estimate_total(measurements) == pytest.approx(cells[:4].sum())


def test_totals_are_at_least_one_and_need_a_measurement():
    assert estimate_total([LinearMeasurement(("b",), np.full(3, -7.0), 1.0)]) == 1.0
    with pytest.raises(ParameterError, match="there is none"):
        estimate_total([])
