"""The expected loss against sums over all subsets, by way of the noise that measurements have on residuals."""

from itertools import combinations
from math import pi, prod, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.planning import expected_error, parts_of, precision_of

from synthdp.selection.planning.expected_loss import ExpectedLoss

NAMES = tuple("abcd")


@st.composite
def problems(draw, *, least=1.0):
    """Sizes, weights, squared errors, measured cliques and the squared sensitivity."""
    sizes = {name: draw(st.floats(least, 40.0)) for name in NAMES}
    cliques = st.sets(st.sampled_from(NAMES), min_size=1).map(lambda names: tuple(sorted(names)))
    workload = {clique: draw(st.floats(0.05, 5.0)) for clique in draw(st.sets(cliques, min_size=1, max_size=6))}
    residuals = sorted({part for clique in workload for part in parts_of(clique)})
    # A residual of one level is 0.
    known = {part: draw(st.sampled_from([0.0, 1.0, 3e3, 1e7])) for part in residuals}
    errors = {part: error * prod(sizes[name] > 1 for name in part) for part, error in known.items()}
    measured = {clique: draw(st.floats(1e-4, 1.0)) for clique in draw(st.sets(cliques, max_size=5))}
    return sizes, workload, errors, measured, draw(st.sampled_from([1, 2]))


@settings(max_examples=60, deadline=None)
@given(problems())
def test_the_error_is_that_of_weighing_each_residual_against_its_noise(problem):
    sizes, workload, errors, measured, l2_squared = problem
    loss = ExpectedLoss(sizes, workload, errors, l2_squared=l2_squared)
    error, _ = loss.after(precision_of(loss, sizes, measured))
    expected = expected_error(sizes, workload, errors, measured, l2_squared=l2_squared)
    assert error == pytest.approx(expected, rel=1e-9, abs=1e-4)


@settings(max_examples=60, deadline=None)
@given(problems(least=1.5))
def test_gains_are_derivatives(problem):
    sizes, workload, errors, measured, l2_squared = problem
    loss = ExpectedLoss(sizes, workload, errors, l2_squared=l2_squared)
    precision = precision_of(loss, sizes, measured)
    _, gains = loss.after(precision)
    for position, clique in enumerate(loss.residuals):
        error = errors.get(clique, 0.0)
        # A thousandth of what is known of the residual: the measured precision, or the prior's.
        spread = prod(1 - 1 / sizes[name] for name in clique)
        step = 1e-3 * (precision[position] + prod(sizes[name] for name in clique) ** 2 * spread / pi / max(error, 1.0))
        up, down = precision.copy(), precision.copy()
        up[position] += step
        down[position] -= step
        difference = (loss.after(down)[0] - loss.after(up)[0]) / (2 * step)
        scale = loss.after(precision)[0] * 1e-10 / step  # what rounding makes of a difference
        assert gains[position] == pytest.approx(difference, rel=1e-3, abs=scale)


@settings(max_examples=40, deadline=None)
@given(problems(), st.integers(0, 2**32))
def test_more_precision_never_errs_more_and_leaves_less(problem, seed):
    sizes, workload, errors, measured, l2_squared = problem
    loss = ExpectedLoss(sizes, workload, errors, l2_squared=l2_squared)
    little = precision_of(loss, sizes, measured)
    more = little + np.random.default_rng(seed).exponential(0.1, little.size)
    known = np.array([errors.get(clique, 0.0) for clique in loss.residuals])
    assert loss.after(more)[0] <= loss.after(little)[0]
    assert (loss.after(little)[1] >= 0).all()
    assert (loss.left(more) >= 0).all()
    assert (loss.left(more) <= loss.left(little)).all()
    assert (loss.left(little) <= known).all()
    assert (loss.left(np.zeros_like(little)) == known).all()


def test_noise_is_that_of_a_measured_residual():
    """Of nothing known, a measurement leaves its own L1 noise: on the residual of A, by simulation."""
    sizes, rho, l2_squared = {"a": 3, "b": 4}, 0.02, 2
    sigma = sqrt(l2_squared / (2 * rho))
    noise = np.random.default_rng(0).normal(0, sigma, (20_000, 3, 4))
    for clique, axes in ((("a",), 2), (("b",), 1), (("a", "b"), ())):
        residual = noise.sum(axis=axes) if axes else noise.copy()
        for axis in range(1, residual.ndim):
            residual = residual - residual.mean(axis=axis, keepdims=True)
        found = np.abs(residual).reshape(20_000, -1).sum(axis=1).mean()
        loss = ExpectedLoss(sizes, {("a", "b"): 1.0}, {clique: 1e18}, l2_squared=l2_squared)
        error, _ = loss.after(precision_of(loss, sizes, {("a", "b"): rho}))
        # 20,000 draws of a sum that varies by half of its mean at most: a standard error of 0.4 %.
        assert error == pytest.approx(found, rel=0.03)


def test_columns_of_one_level_have_no_noise_and_take_no_budget():
    sizes = {"a": 1.0, "b": 5.0, "c": 1.0}
    pairs = dict.fromkeys(combinations("abc", 2), 1.0)
    loss = ExpectedLoss(sizes, pairs, {("b",): 100.0, ("a", "b"): 9.0}, l2_squared=1)
    precision = precision_of(loss, sizes, {("a", "b"): 0.5, ("c",): 0.5, ("a",): 0.5})
    error, gains = loss.after(precision)
    assert np.isfinite(error)
    assert np.isfinite(gains).all()
    position = {clique: i for i, clique in enumerate(loss.residuals)}
    assert all(gains[position[clique]] == 0 for clique in position if set(clique) & {"a", "c"} or not clique)
    assert gains[position["b",]] > 0
    left = loss.left(precision)
    assert left[position["a", "b"]] == 9.0
    assert left[position["b",]] < 100.0


def test_cliques_tell_of_the_residuals_inside_that_matter():
    loss = ExpectedLoss(dict.fromkeys("abc", 2), {("a", "b"): 1.0, ("c",): 1.0}, {}, l2_squared=1)
    owners, members = loss.told_by([("a", "b", "c"), ("b",), ("a", "c")])
    told = [(owner, loss.residuals[member]) for owner, member in zip(owners, members, strict=True)]
    assert told == [
        *((0, part) for part in (("a",), ("b",), ("c",), ("a", "b"))),
        (1, ("b",)),
        (2, ("a",)),
        (2, ("c",)),
    ]
    assert loss.n_cells[loss.residuals.index(("a", "b"))] == 4
