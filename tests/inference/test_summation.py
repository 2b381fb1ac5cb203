"""Sums over axes against numpy's."""

import numpy as np
import pytest
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.inference import marginal_inside, summed, widened


@st.composite
def tables_and_axes(draw):
    """Tables of up to some thousand cells, of which most are too large for numpy's own way, and
    axes to sum.
    """
    shape = tuple(draw(st.lists(st.integers(1, 9), max_size=7)))
    while np.prod(shape) > 20_000:
        shape = shape[1:]
    axes = tuple(sorted(draw(st.sets(st.integers(0, len(shape) - 1))))) if shape else ()
    order = draw(st.permutations(range(len(shape))))
    table = np.random.default_rng(draw(st.integers(0, 99))).normal(size=shape)
    return (table if draw(st.booleans()) else np.transpose(table, order)), axes


@settings(max_examples=examples(120), deadline=None)
@given(tables_and_axes())
def test_sums_are_those_of_numpy(problem):
    table, axes = problem
    before = table.copy()
    found = summed(table, axes)
    expected = np.add.reduce(table, axis=axes) if axes else table
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("shape", [(2,) * 12, (50, 40), (1, 2000, 1), (3, 1, 700, 1, 2), (600,)])
def test_every_set_of_axes_of_some_large_tables(shape):
    table = np.random.default_rng(0).integers(0, 100, shape).astype(np.float64)
    for mask in range(1 << len(shape)):
        axes = tuple(axis for axis in range(len(shape)) if mask >> axis & 1)
        found = summed(table, axes)
        assert found.shape == tuple(size for axis, size in enumerate(shape) if axis not in axes)
        np.testing.assert_array_equal(
            found, np.add.reduce(table, axis=axes)
        )  # whole numbers: sums are exact


@pytest.mark.parametrize("shape", [(2,) * 13, (7, 5, 3, 4, 5, 6), (5000,), (70, 3, 90)])
def test_widened_tables_broadcast_to_the_same_products_and_stay_small(shape):
    rng = np.random.default_rng(0)
    table = rng.normal(size=shape)
    for seed in range(40):
        kept = np.random.default_rng(seed).random(len(shape)) < 0.4
        message = rng.normal(
            size=[size if keep else 1 for size, keep in zip(shape, kept, strict=True)]
        )
        wide = widened(message, shape)
        np.testing.assert_array_equal(table * wide, table * message)
        assert wide.size == message.size or 4 * wide.size <= table.size


def test_what_is_spread_and_what_is_not():
    """The last axes until a loop is long enough; nothing into a shape that has an axis less than
    the message.
    """
    assert widened(np.ones((2,) + (1,) * 12), (2,) * 13).shape == (2,) + (1,) * 6 + (2,) * 6
    crossing = np.ones((1, 9, 1, 600))
    assert widened(crossing, (32, 1, 32, 600)) is crossing


def test_marginals_inside_a_larger_clique():
    table = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(
        marginal_inside(table, ("a", "b", "c"), ("a", "c")), table.sum(axis=1)
    )
    assert marginal_inside(table, ("a", "b", "c"), ("a", "b", "c")) is table
