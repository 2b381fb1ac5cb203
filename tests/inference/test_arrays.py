"""Numbers of cells and of rows, against plain Python integers."""

from unittest.mock import patch

import numpy as np
import pytest
from helpers.homes import home
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import Domain
from synthdp.inference import compact

arrays = home(compact)


@st.composite
def tables(draw, *, largest):
    """A domain, some of its attributes in any order, and the rows of a table as lists of codes."""
    shape = draw(st.lists(st.integers(1, largest), min_size=1, max_size=5))
    domain = Domain(tuple("abcde"[: len(shape)]), tuple(shape))
    clique = tuple(draw(st.permutations(domain.attributes))[: draw(st.integers(0, len(shape)))])
    codes = st.tuples(
        *(st.one_of(st.integers(0, size - 1), st.sampled_from([0, size - 1])) for size in shape)
    )
    return domain, clique, draw(st.lists(codes, max_size=12))


def columns_of(domain, rows):
    """Columns of the smallest types."""
    whole = np.array(rows, dtype=object).reshape(len(rows), len(domain))
    return [
        arrays.compact(column.astype(np.int64), size)
        for column, size in zip(whole.T, domain.shape, strict=True)
    ]


def flat(domain, clique, row):
    """The cell of a row by the definition of a flat index, in whole numbers of any size."""
    cell = 0
    for name in clique:
        cell = cell * domain[name] + row[domain.index(name)]
    return cell


@settings(deadline=None)
@given(tables(largest=300))
def test_cells_are_flat_indices_whatever_the_types(table):
    domain, clique, rows = table
    columns = columns_of(domain, rows)
    chosen = [columns[domain.index(name)] for name in clique]
    numbers = arrays.cell_numbers(domain, clique, chosen, len(rows))
    assert numbers.tolist() == [flat(domain, clique, row) for row in rows]
    narrow = np.min_scalar_type(domain.size(clique))
    assert (
        arrays.cell_numbers(domain, clique, chosen, len(rows), dtype=narrow).tolist()
        == numbers.tolist()
    )


@settings(deadline=None)
@given(tables(largest=6), st.randoms(use_true_random=False))
def test_counts_of_cells_are_sums_of_weights(table, random):
    domain, clique, rows = table
    weights = np.array([float(random.randrange(8)) for _ in rows])
    expected = np.zeros(domain.project(clique).shape)
    plain = np.zeros_like(expected)
    for row, weight in zip(rows, weights, strict=True):
        cell = tuple(row[domain.index(name)] for name in clique)
        expected[cell] += weight
        plain[cell] += 1
    columns = columns_of(domain, rows)
    np.testing.assert_array_equal(arrays.cell_counts(domain, clique, columns, weights), expected)
    np.testing.assert_array_equal(arrays.cell_counts(domain, clique, columns), plain)


@pytest.mark.parametrize("max_keys", [arrays.MAX_KEYS, 50])
@settings(deadline=None)
@given(table=tables(largest=1 << 31))
def test_keys_sort_like_rows_however_large_the_domain(max_keys, table):
    domain, clique, rows = table
    columns = columns_of(domain, rows)
    # A level times the number of distinct rows must fit, as it does where keys have 63 bits.
    with patch.object(arrays, "MAX_KEYS", max_keys):
        keys, n_keys = arrays.row_keys(
            domain, clique, (columns[domain.index(name)] for name in clique), len(rows)
        )
    cells = [flat(domain, clique, row) for row in rows]
    ranks = {cell: rank for rank, cell in enumerate(sorted(set(cells)))}
    ordered = {int(key): rank for rank, key in enumerate(sorted(set(keys.tolist())))}
    assert [ordered[int(key)] for key in keys] == [ranks[cell] for cell in cells]
    assert all(key < n_keys for key in keys.tolist())


@settings(deadline=None)
@given(tables(largest=1 << 31))
def test_distinct_rows_are_sorted_and_counted(table):
    domain, _, rows = table
    if rows:
        columns, counts = arrays.distinct_rows(domain, columns_of(domain, rows))
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == sorted(set(rows))
        assert counts.tolist() == [rows.count(row) for row in sorted(set(rows))]


def test_combinations_beyond_64_bits_are_told_apart():
    """Ten attributes of 256 levels have 2**80 combinations; rows get the same number if and only if
    they are equal.
    """
    names = tuple("abcdefghij")
    domain = Domain(names, (256,) * 10)
    rng = np.random.default_rng(14)
    distinct = rng.integers(256, size=(10, 500))
    distinct[1:, 1] = distinct[1:, 0]  # differ in the attribute that would overflow first
    distinct[0, 1] = (distinct[0, 0] + 128) % 256
    chosen = rng.integers(500, size=4000)
    groups, n_groups = arrays.row_keys(domain, names, distinct[:, chosen].astype(np.uint8), 4000)
    assert 0 <= groups.min() <= groups.max() < n_groups
    assert len(set(zip(groups, chosen, strict=True))) == len(set(groups)) == len(set(chosen))
