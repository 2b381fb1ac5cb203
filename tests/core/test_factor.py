"""Factors against sums written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthdp.core import Domain, Factor, ParameterError

NAMES = "abcd"


@given(
    st.lists(st.integers(1, 4), min_size=4, max_size=4), st.permutations(NAMES), st.integers(0, 4)
)
def test_projection_sums_out_the_rest_in_the_order_asked_for(shape, order, k):
    rng = np.random.default_rng(0)
    factor = Factor(Domain(tuple(NAMES), tuple(shape)), rng.random(shape))
    kept = tuple(order[:k])
    expected = np.einsum(factor.values, range(4), [NAMES.index(name) for name in kept])
    projected = factor.project(iter(kept))
    assert projected.domain == factor.domain.project(kept)
    np.testing.assert_allclose(projected.values, expected, atol=1e-12)
    assert projected.total() == pytest.approx(factor.total())
    np.testing.assert_allclose(projected.project(kept[::-1]).project(kept).values, projected.values)


def test_the_projection_on_nothing_is_the_total():
    factor = Factor(Domain(("a",), (3,)), np.arange(3.0))
    assert factor.project(()).values.shape == ()
    assert float(factor.project(()).values) == 3.0


def test_values_of_another_shape_are_refused():
    with pytest.raises(ParameterError, match=r"shape \(3, 2\), its domain has \(2, 3\)"):
        Factor(Domain(("a", "b"), (2, 3)), np.zeros((3, 2)))


def test_factors_own_their_numbers():
    table = np.arange(6.0).reshape(2, 3)
    factor = Factor(Domain(("a", "b"), (2, 3)), table)
    table[0, 0] = 99.0
    assert factor.values[0, 0] == 0.0
    for values in (factor.values, factor.project(("b", "a")).values):
        with pytest.raises(ValueError, match="read-only"):
            values[0, 0] = 1.0


@pytest.mark.parametrize("clique", [("z",), ("a", "a")])
def test_projections_on_no_clique_are_refused(clique):
    with pytest.raises(ParameterError, match=r"not in the domain|repeat"):
        Factor(Domain(("a", "b"), (2, 3)), np.zeros((2, 3))).project(clique)
