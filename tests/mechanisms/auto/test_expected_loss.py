"""The expected loss against sums over all subsets, by way of the noise that measurements have on
residuals.
"""

from itertools import combinations
from math import pi, prod, sqrt

import numpy as np
import pytest
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.planning import expected_error, loss_of, parts_of, precision_of

from synthdp.core import Domain
from synthdp.mechanisms import ExpectedLoss, Resolutions, ResolvedClique

NAMES = tuple("abcd")


@st.composite
def problems(draw, *, least=1.0):
    """Sizes, weights, squared errors, measured cliques and the squared sensitivity."""
    sizes = {name: draw(st.floats(least, 40.0)) for name in NAMES}
    cliques = st.sets(st.sampled_from(NAMES), min_size=1).map(lambda names: tuple(sorted(names)))
    workload = {
        clique: draw(st.floats(0.05, 5.0))
        for clique in draw(st.sets(cliques, min_size=1, max_size=6))
    }
    residuals = sorted({part for clique in workload for part in parts_of(clique)})
    # A residual of one level is 0.
    known = {part: draw(st.sampled_from([0.0, 1.0, 3e3, 1e7])) for part in residuals}
    errors = {part: error * prod(sizes[name] > 1 for name in part) for part, error in known.items()}
    measured = {clique: draw(st.floats(1e-4, 1.0)) for clique in draw(st.sets(cliques, max_size=5))}
    return sizes, workload, errors, measured, draw(st.sampled_from([1, 2]))


@settings(max_examples=examples(60), deadline=None)
@given(problems())
def test_the_error_is_that_of_weighing_each_residual_against_its_noise(problem):
    sizes, workload, errors, measured, l2_squared = problem
    loss = loss_of(sizes, workload, errors, l2_squared=l2_squared)
    error, _ = loss.after(precision_of(loss, sizes, measured))
    expected = expected_error(sizes, workload, errors, measured, l2_squared=l2_squared)
    assert error == pytest.approx(expected, rel=1e-9, abs=1e-4)


@settings(max_examples=examples(60), deadline=None)
@given(problems(least=1.5))
def test_gains_are_derivatives(problem):
    sizes, workload, errors, measured, l2_squared = problem
    loss = loss_of(sizes, workload, errors, l2_squared=l2_squared)
    precision = precision_of(loss, sizes, measured)
    _, gains = loss.after(precision)
    for position, (clique, _) in enumerate(loss.parts):
        error = errors.get(clique, 0.0)
        # A thousandth of what is known of the residual: the measured precision, or the prior's.
        spread = prod(1 - 1 / sizes[name] for name in clique)
        step = 1e-3 * (
            precision[position]
            + prod(sizes[name] for name in clique) ** 2 * spread / pi / max(error, 1.0)
        )
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
    loss = loss_of(sizes, workload, errors, l2_squared=l2_squared)
    little = precision_of(loss, sizes, measured)
    more = little + np.random.default_rng(seed).exponential(0.1, little.size)
    known = np.array([errors[clique] for clique, _ in loss.parts])
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
        loss = loss_of(sizes, {("a", "b"): 1.0}, {clique: 1e18}, l2_squared=l2_squared)
        error, _ = loss.after(precision_of(loss, sizes, {("a", "b"): rho}))
        # 20,000 draws of a sum that varies by half of its mean at most: a standard error of 0.4 %.
        assert error == pytest.approx(found, rel=0.03)


def test_columns_of_one_level_have_no_noise_and_take_no_budget():
    sizes = {"a": 1.0, "b": 5.0, "c": 1.0}
    pairs = dict.fromkeys(combinations("abc", 2), 1.0)
    loss = loss_of(sizes, pairs, {("b",): 100.0, ("a", "b"): 9.0}, l2_squared=1)
    precision = precision_of(loss, sizes, {("a", "b"): 0.5, ("c",): 0.5, ("a",): 0.5})
    error, gains = loss.after(precision)
    assert np.isfinite(error)
    assert np.isfinite(gains).all()
    position = {clique: i for i, (clique, _) in enumerate(loss.parts)}
    assert set(position) == {("b",), ("a", "b")}  # all else is known
    assert gains[position["a", "b"]] == 0
    assert gains[position["b",]] > 0
    left = loss.left(precision)
    assert left[position["a", "b"]] == 9.0
    assert left[position["b",]] < 100.0


def test_questions_tell_of_the_parts_inside_that_matter():
    errors = dict.fromkeys([("a",), ("b",), ("c",), ("a", "b"), ("b", "c")], 1.0)
    loss = loss_of(dict.fromkeys("abc", 2), {("a", "b"): 1.0, ("c",): 1.0}, errors, l2_squared=1)
    assert [clique for clique, _ in loss.parts] == [("a",), ("b",), ("c",), ("a", "b")]
    owners, members = loss.parts_measured_by(
        [ResolvedClique(clique, 0) for clique in (("a", "b", "c"), ("b",), ("a", "c"))]
    )
    told = [
        (owner, loss.parts[member].clique) for owner, member in zip(owners, members, strict=True)
    ]
    assert told == [
        *((0, part) for part in (("a",), ("b",), ("c",), ("a", "b"))),
        (1, ("b",)),
        (2, ("a",)),
        (2, ("c",)),
    ]
    assert loss.n_cells[3] == 4


def resolved(shape=(32, 2, 40), seed=0):
    """Three columns, two of them with resolutions, the squared errors of all parts, and a workload."""
    rng = np.random.default_rng(seed)
    domain = Domain(tuple("abc"), shape, ordered=frozenset("abc"))
    shares = {
        name: rng.dirichlet(np.full(size, 3.0)) for name, size in zip("abc", shape, strict=True)
    }
    resolutions = Resolutions(domain, shares)
    parts = [
        ResolvedClique(part, number)
        for part in parts_of(tuple("abc"))
        for number in resolutions.of(part)
    ]
    errors = {part: float(10 ** rng.uniform(3, 6)) for part in parts}
    return resolutions, errors, {("a", "b", "c"): 1.0, ("a", "c"): 0.5}


def test_a_question_tells_of_parts_up_to_its_resolution():
    resolutions, errors, workload = resolved()
    assert [len(resolutions.of(clique)) for clique in (("a",), ("b",), ("c",), ("a", "c"))] == [
        4,
        1,
        4,
        4,
    ]
    loss = ExpectedLoss(resolutions, workload, errors, l2_squared=1)
    for number in range(len(resolutions)):
        _, members = loss.parts_measured_by([ResolvedClique(("a", "b"), number)])
        told = {loss.parts[i] for i in members}
        assert told == {
            ResolvedClique(("b",), 3),
            *(
                ResolvedClique(clique, finer)
                for clique in (("a",), ("a", "b"))
                for finer in range(number + 1)
            ),
        }


def test_parts_of_a_measured_residual_have_the_noise_of_what_they_show_beyond_the_coarser():
    """By simulation, with levels as many as they count for: groups that hold equally many of equal
    levels.
    """
    domain, rho = Domain(("a", "b"), (32, 3), ordered=frozenset("ab")), 0.05
    resolutions = Resolutions(domain, {"a": np.full(32, 1 / 32), "b": np.full(3, 1 / 3)})
    pair = ("a", "b")
    noise = np.random.default_rng(0).normal(0, sqrt(1 / (2 * rho)), (4000, 32, 3))
    noise -= noise.mean(axis=2, keepdims=True)
    before = noise.mean(axis=1, keepdims=True)
    for number, n_groups in enumerate((4, 8, 16, 32)):
        seen = np.repeat(noise.reshape(4000, n_groups, -1, 3).mean(axis=2), 32 // n_groups, axis=1)
        square = float(np.mean(np.abs(seen - before).sum(axis=(1, 2)) ** 2))
        loss = ExpectedLoss(
            resolutions, {pair: 1.0}, {ResolvedClique(pair, number): 1e18}, l2_squared=1
        )
        precision = np.array([rho * resolutions.cells(pair, number) / resolutions.cells(pair, 3)])
        assert loss.left(precision)[0] == pytest.approx(square, rel=0.1)
        before = seen


def test_coarse_questions_have_less_noise_on_what_they_show():
    resolutions, errors, workload = resolved()
    loss = ExpectedLoss(resolutions, workload, errors, l2_squared=1)
    coarsest = loss.parts.index(ResolvedClique(("a", "c"), 0))
    left = []
    for number in resolutions.of(("a", "c")):
        precision = np.zeros(len(loss.parts))
        _, members = loss.parts_measured_by([ResolvedClique(("a", "c"), number)])
        precision[members] = 0.1 * loss.n_cells[members] / resolutions.cells(("a", "c"), number)
        left.append(loss.left(precision)[coarsest])
    assert left == sorted(left)
    assert left[0] < 0.5 * left[-1]
