"""Counts of rows against one increment a row, whichever way they are taken."""

from itertools import combinations, permutations

import numpy as np
import pytest
from helpers.homes import home
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.data import JointCounter, counts_of_all

dominant_module = home(counts_of_all)
joint_module = home(JointCounter)


def one_by_one(columns, shape, axes):
    """One increment a row."""
    counts = np.zeros([shape[axis] for axis in axes], dtype=np.int64)
    np.add.at(counts, tuple(columns[axis] for axis in axes), 1)
    return counts


def skewed(shape, n_rows, seed):
    """Columns of which most have a dominant level, not the first; some depend on the one before."""
    rng = np.random.default_rng(seed)
    columns = {}
    for axis, levels in enumerate(shape):
        usual = rng.random(n_rows) < (0.9, 0.6, 0.1)[axis % 3]
        drawn = np.where(usual, levels // 2, rng.integers(0, levels, n_rows))
        before = columns.get(axis - 1, drawn).astype(np.int64) % levels
        columns[axis] = np.where(rng.random(n_rows) < 0.3, before, drawn).astype(
            np.min_scalar_type(levels - 1)
        )
    return columns


@settings(deadline=None, max_examples=examples(60))
@given(
    st.lists(st.sampled_from([1, 2, 5, 17, 300]), min_size=1, max_size=6),
    st.sampled_from([0, 1, 7, 500]),
    st.sampled_from([1, 100]),  # the first: blocks, chunks and samples of a row or two
    st.integers(1, 3),
    st.data(),
)
def test_counts_are_exact_whatever_is_dominant_and_however_rows_are_cut(
    shape, n_rows, rows_at_once, least, data
):
    axes = st.permutations(range(len(shape))).flatmap(
        lambda order: st.integers(0, min(3, len(order))).map(lambda width: tuple(order[:width]))
    )
    wanted = data.draw(st.lists(axes, unique=True, max_size=20))
    columns = skewed(shape, n_rows, data.draw(st.integers(0, 2**32)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dominant_module, "MANY_ROWS", 1)
        patch.setattr(dominant_module, "MIN_MARGINALS", least)
        patch.setattr(dominant_module, "_SAMPLED", rows_at_once)
        patch.setattr(joint_module, "BLOCK_ROWS", rows_at_once)
        patch.setattr(joint_module, "CHUNK_ROWS", 3 * rows_at_once)
        counts = counts_of_all(JointCounter(columns, shape, n_rows), wanted)
    assert list(counts) == wanted
    for axes, found in counts.items():
        expected = one_by_one(columns, shape, axes) if axes else np.array(n_rows)
        assert found.shape == expected.shape
        assert (found == expected).all()


def test_rows_with_a_dominant_level_are_not_counted_again(monkeypatch):
    shape = (4, 5, 6, 7, 8)
    columns = skewed(shape, dominant_module.MANY_ROWS, 0)
    counted = []
    count = JointCounter.count
    monkeypatch.setattr(
        JointCounter,
        "count",
        lambda self, axes: (counted.append(self.n_rows), count(self, axes))[1],
    )
    monkeypatch.setattr(dominant_module, "MIN_MARGINALS", 6)
    wanted = list(combinations(range(5), 3))
    counts = counts_of_all(JointCounter(columns, shape, dominant_module.MANY_ROWS), wanted)
    assert all((counts[axes] == one_by_one(columns, shape, axes)).all() for axes in wanted)
    assert sorted(counted) == counted  # rows without a dominant level first, all of them last
    assert counted[0] < 0.5 * dominant_module.MANY_ROWS


@pytest.mark.parametrize("size", [2**16 - 1, 2**16, 2**17, 2**31, 2**40])
def test_cells_are_numbered_without_overflow(size):
    cells = np.zeros(1, np.int64 if size >= 2**31 else np.int32)
    for shape in permutations((size // 4, 2, 2)):
        last = [np.array([levels - 1], np.min_scalar_type(levels - 1)) for levels in shape]
        joint_module._number(last, shape, np.zeros(1, np.uint16), cells)
        assert cells.tolist() == [size // 4 * 4 - 1]
