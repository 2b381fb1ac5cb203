"""Closed-form estimates against dense least squares over the whole joint table."""

from itertools import combinations
from math import prod

import numpy as np
import pytest
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import Coarsening, Domain, LinearMeasurement, ParameterError
from synthdp.mechanisms import Subsets, best_linear_estimates


def marginal_matrix(domain, clique):
    """The 0/1 matrix that sums a flat joint table to a marginal, axes in the order of the clique."""
    cells = np.indices(domain.shape).reshape(len(domain), -1)
    shape = domain.project(clique).shape
    rows = (
        np.ravel_multi_index([cells[domain.index(name)] for name in clique], shape)
        if clique
        else 0 * cells[0]
    )
    return (np.arange(prod(shape))[:, None] == rows).astype(float)


@st.composite
def problems(draw):
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    domain = Domain(tuple("abcd"[: len(shape)]), tuple(shape))
    cliques = draw(
        st.lists(st.permutations(domain.attributes).flatmap(parts), min_size=1, max_size=6)
    )
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    measured = [
        LinearMeasurement(
            clique,
            generator.normal(10, 20, domain.project(clique).shape),
            float(generator.uniform(0.3, 3)),
        )
        for clique in cliques
    ]
    source = draw(st.sampled_from(cliques))
    wanted = draw(st.lists(st.permutations(source).flatmap(parts), min_size=1, max_size=4))
    return domain, measured, wanted


def parts(names):
    return st.integers(0, len(names)).map(lambda k: tuple(names[:k]))


@settings(max_examples=examples(60), deadline=None)
@given(problems())
def test_estimates_and_variances_are_those_of_dense_least_squares(problem):
    domain, measured, wanted = problem
    rows = np.vstack([marginal_matrix(domain, m.clique) / m.stddev for m in measured])
    values = np.concatenate([m.values.ravel() / m.stddev for m in measured])
    joint = np.linalg.lstsq(rows, values, rcond=None)[0]
    covariance = np.linalg.pinv(rows.T @ rows)
    for clique, estimate in zip(
        wanted, best_linear_estimates(domain, measured, wanted), strict=True
    ):
        matrix = marginal_matrix(domain, clique)
        assert estimate.clique == clique
        np.testing.assert_allclose(estimate.values.ravel(), matrix @ joint, atol=1e-8)
        np.testing.assert_allclose(
            np.diag(matrix @ covariance @ matrix.T), estimate.stddev**2, rtol=1e-8
        )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_estimates_agree_wherever_they_overlap(seed):
    generator = np.random.default_rng(seed)
    domain = Domain(tuple("abcd"), tuple(generator.integers(1, 5, 4)))
    pairs = list(combinations("abcd", 2))
    measured = [
        LinearMeasurement(c, generator.normal(50, 30, domain.project(c).shape), 1.0 + len(c))
        for c in pairs
    ]
    estimates = best_linear_estimates(domain, measured, [*pairs, *[(name,) for name in "abcd"], ()])
    one_way = {estimate.clique: estimate.values for estimate in estimates}
    for clique in pairs:
        for axis, name in enumerate(clique):
            np.testing.assert_allclose(
                one_way[clique].sum(axis=1 - axis), one_way[(name,)], atol=1e-9
            )
    np.testing.assert_allclose(one_way[()], one_way[("a",)].sum())


def test_noise_is_as_large_as_they_say():
    domain = Domain(tuple("abc"), (2, 3, 2))
    generator = np.random.default_rng(5)
    pairs, stddevs, n_runs = list(combinations("abc", 2)), (1.0, 2.0, 0.5), 1000
    errors = []
    for _ in range(n_runs):
        noise = [
            LinearMeasurement(c, generator.normal(0, stddev, domain.project(c).shape), stddev)
            for c, stddev in zip(pairs, stddevs, strict=True)
        ]
        (estimate,) = best_linear_estimates(domain, noise, [("a", "c")])
        errors.append(estimate.values)
    # The relative error of a variance from n draws is about sqrt(2 / n) = 0.045; the limit is 7 of
    # these.
    np.testing.assert_allclose(np.var(errors, axis=0), estimate.stddev**2, rtol=0.32)


def test_sums_over_subsets_and_supersets_are_what_they_say():
    domain = Domain(tuple("abc"), (2, 3, 5))
    subsets = Subsets(domain, [("a", "b"), ("b", "c")])
    assert set(subsets.cliques) == {(), ("a",), ("b",), ("c",), ("a", "b"), ("b", "c")}
    values = np.random.default_rng(0).normal(size=len(subsets.cliques))
    for power in (0, 1, 2):
        matrix = [
            [
                (domain.size(a) / domain.size(s)) ** power if set(a) <= set(s) else 0.0
                for s in subsets.cliques
            ]
            for a in subsets.cliques
        ]
        np.testing.assert_allclose(subsets.summed_down(values, power), np.array(matrix) @ values)
        np.testing.assert_allclose(subsets.summed_up(values, power), np.array(matrix).T @ values)


def measurement(**changes):
    arguments = {"clique": ("a", "b"), "values": np.ones((2, 3)), "stddev": 1.0} | changes
    return LinearMeasurement(**arguments)


@pytest.mark.parametrize(
    ("measured", "wanted", "message"),
    [
        ([measurement()], ("a", "c"), "leave it open"),
        ([], ("a",), "leave it open"),
        ([measurement(stddev=np.array([[1.0, 1, 1], [1, 1, 2]]))], ("a",), "stddev differs"),
        (
            [measurement(values=np.ones((2, 2)), coarsening=Coarsening({"b": [0, 0, 1]}))],
            ("a",),
            "merged",
        ),
        ([measurement(values=np.ones((2, 2)))], ("a",), "shape"),
        ([measurement()], ("z",), "'z' is not in the domain"),
        ([measurement()], ("a", "a"), "repeats"),
    ],
)
def test_refuses_what_it_cannot_answer(measured, wanted, message):
    domain = Domain(tuple("abc"), (2, 3, 2))
    with pytest.raises(ParameterError, match=message):
        best_linear_estimates(domain, measured, [wanted])
