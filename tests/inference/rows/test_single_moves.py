"""Records moved one by one, against a search that counts the whole table anew for every move."""

import numpy as np
from helpers.seldom import examples
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from synthdp.inference.rows.single_moves import best_moves


def _distance(tables, inners, rows, values):
    """Half the squared distance of marginals once records, each in a row of each table, have some
    values.
    """
    moved = [table.copy() for table in tables]
    for table, inner, seen in zip(moved, inners, rows, strict=True):
        np.add.at(table, (seen, inner[values]), 1.0)
    return sum((table**2).sum() for table in moved) / 2


@settings(max_examples=examples(60), deadline=None)
@for_all(st.integers(0, 2**32 - 1))
def test_always_the_record_moves_that_gains_most(seed):
    rng = np.random.default_rng(seed)
    n_records, n_values = rng.integers(1, 9), rng.integers(2, 5)
    # A block of two attributes: marginals have both, or one of them, whose cells some values share.
    inners = [np.arange(n_values), np.arange(n_values) // 2, np.arange(n_values) % 2]
    tables = [rng.normal(0, 3, (2, inner.max() + 1)) for inner in inners]
    rows = [rng.integers(0, 2, n_records) for _ in inners]
    present = rng.integers(0, n_values, n_records)

    def gains(values):
        here = _distance(tables, inners, rows, values)
        changed = np.repeat(values[None, :], n_records * n_values, axis=0)
        changed[np.arange(len(changed)), np.tile(np.arange(n_records), n_values)] = np.repeat(
            np.arange(n_values), n_records
        )
        return np.array([here - _distance(tables, inners, rows, new) for new in changed]).reshape(
            n_values, -1
        )

    expected, free = present.copy(), np.ones(n_records, dtype=bool)
    while free.any():
        open_gains = np.where(free, gains(expected), -np.inf)
        value, record = np.unravel_index(open_gains.argmax(), open_gains.shape)
        if open_gains[value, record] <= 1e-9:
            break
        expected[record], free[record] = value, False
    shared = [
        (inner, (seen[:, None] == seen).astype(float))
        for inner, seen in zip(inners, rows, strict=True)
    ]
    np.testing.assert_array_equal(best_moves(gains(present), present, shared), expected)


def test_no_record_moves_to_where_it_cannot_be():
    gains = np.array([[0.0, -np.inf], [-np.inf, 0.0], [-1.0, 2.0]])
    values = best_moves(gains, np.array([0, 1]), [(np.arange(3), np.ones((2, 2)))])
    np.testing.assert_array_equal(values, [0, 2])
