"""Covers hold every marginal once, and marginals of their tables are sums."""

from math import prod

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.data import TABLE_CELLS, cover, marginals


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([1, 2, 17, 300, 2**17]), min_size=1, max_size=7).flatmap(
        lambda sizes: st.tuples(
            st.just(tuple(sizes)),
            st.lists(
                st.lists(st.integers(0, len(sizes) - 1), unique=True, max_size=5).map(tuple),
                max_size=15,
            ),
        )
    ),
    st.sampled_from([30, TABLE_CELLS]),
)
def test_a_cover_holds_each_marginal_once(problem, most):
    shape, wanted = problem
    served = []
    for axes, indices in cover(wanted, shape, most):
        served += indices
        assert len(set(axes)) == len(axes)
        assert all(set(wanted[index]) <= set(axes) for index in indices)
        assert [shape[axis] for axis in axes] == sorted(shape[axis] for axis in axes)
        alone = len(indices) == 1 and set(wanted[indices[0]]) == set(axes)
        assert alone or prod(shape[axis] for axis in axes) <= most
    assert sorted(served) == list(range(len(wanted)))


def test_marginals_of_a_table_sum_the_other_axes():
    table = np.random.default_rng(0).integers(0, 9, (2, 3, 4))
    got = marginals(table, (7, 1, 5), [(5, 7), (1,), (), (7, 1, 5), (7,)])
    expected = [table.sum(1).T, table.sum((0, 2)), table.sum(), table, table.sum((1, 2))]
    for ours, theirs in zip(got, expected, strict=True):
        assert np.array_equal(ours, theirs)
