"""Distances of rows from a model's marginals against the definition, and chance against exact
binomials.
"""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import Domain
from synthdp.inference import RowsTally, chance_distances

DOMAIN = Domain(("a", "b", "c"), (2, 3, 2))
CLIQUES = [("a", "b"), ("b", "c"), ("c",)]


def even(**shares):
    """Expected counts by clique: all cells alike, but for what is said of a clique."""
    sizes = {clique: DOMAIN.project(clique).shape for clique in CLIQUES}
    return {
        clique: 1000.0 * np.asarray(shares.get("".join(clique), np.full(size, 1 / np.prod(size))))
        for clique, size in sizes.items()
    }


def rows_distance(expected, codes, cliques):
    tally = RowsTally(DOMAIN, cliques)
    tally.add(codes)
    return tally.distance([expected[clique] for clique in tally.cliques])


def codes_of(rows):
    return tuple(np.array(column, dtype=np.uint8) for column in zip(*rows, strict=True))


@given(st.floats(0.001, 0.999), st.integers(1, 60))
@settings(max_examples=50, deadline=None)
def test_chance_is_the_mean_absolute_deviation_of_binomials(share, n_rows):
    chances = [comb(n_rows, k) * share**k * (1 - share) ** (n_rows - k) for k in range(n_rows + 1)]
    deviation = sum(chance * abs(k - n_rows * share) for k, chance in enumerate(chances))
    found = chance_distances([np.array([share, 1 - share])], n_rows)[0]
    assert found == pytest.approx(deviation / n_rows, rel=1e-9)


def test_independent_draws_are_about_as_far_away_as_chance_says():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(40))
    counts = rng.multinomial(500, shares, size=400)
    mean = 0.5 * np.abs(counts / 500 - shares).sum(axis=1).mean()
    assert chance_distances([shares], 500)[0] == pytest.approx(mean, rel=0.03)


def test_chance_of_several_tables_is_that_of_each():
    rng = np.random.default_rng(2)
    tables = [rng.dirichlet(np.full(size, 0.1)).reshape(-1, 2) for size in (2, 60, 8)]
    tables += [np.array([1.0, 0.0]), np.array([0.0, 0.3, 0.7])]
    single = [chance_distances([table], 70)[0] for table in tables]
    np.testing.assert_allclose(chance_distances(tables, 70), single, rtol=1e-12)
    assert single[3] == 0.0


def test_a_table_that_is_longer_than_the_records_needs_to_be_no_closer_than_they_were():
    codes = tuple(np.zeros(9000, dtype=np.uint8) for _ in range(3))
    codes[2][:4700] = 1  # .022 off an even table: chance makes .0044 of 9,000 rows, .028 of 200
    tally = RowsTally(DOMAIN, [("c",)])
    tally.add(codes)
    expected = [np.array([500.0, 500.0])]
    assert tally.distance(expected).far_tables == (("c",),)
    assert tally.distance(expected, n_records=10_000).far_tables == (("c",),)
    found = tally.distance(expected, n_records=200)
    assert found.far_tables == ()
    assert found.worst_by_chance == pytest.approx(0.0042, abs=1e-4)


def test_rows_that_are_as_the_model_says_are_at_no_distance():
    rows = [(a, b, c) for a in range(2) for b in range(3) for c in range(2)]
    found = rows_distance(even(), codes_of(rows), CLIQUES)
    assert (found.n_rows, found.n_tables) == (12, 3)
    assert found.mean == pytest.approx(0)
    assert found.far_tables == ()
    assert found.mean_by_chance > 0.1


def test_the_worst_table_is_named_and_what_chance_does_not_explain():
    shares = np.zeros((2, 3))
    shares[0, 0] = 1.0
    rows = [(a, b, c) for a in range(2) for b in range(3) for c in range(2)] * 200
    found = rows_distance(even(ab=shares), codes_of(rows), CLIQUES)
    assert found.worst_table == ("a", "b")
    assert found.worst == pytest.approx(5 / 6)
    assert found.mean == pytest.approx(5 / 18)
    assert found.worst_by_chance == 0.0  # all rows of such a model are in one cell
    assert found.far_tables == (("a", "b"),)


def test_without_rows_or_tables_there_is_no_distance():
    for codes, cliques in ((codes_of([(0, 0, 0)]), []), (codes_of([(0, 0, 0)]), [()])):
        found = rows_distance(even(), codes, cliques)
        assert (found.n_tables, found.worst, found.worst_table) == (0, 0.0, ())
    none = rows_distance(even(), tuple(np.zeros(0, dtype=np.uint8) for _ in range(3)), CLIQUES)
    assert (none.n_rows, none.n_tables) == (0, 0)


def test_rows_that_come_in_parts_are_as_far_as_together():
    rng = np.random.default_rng(1)
    codes = tuple(rng.integers(0, size, 999).astype(np.uint8) for size in DOMAIN.shape)
    tally = RowsTally(DOMAIN, CLIQUES)
    for part in np.array_split(np.arange(999), 7):
        tally.add(tuple(column[part] for column in codes))
    expected = even()
    found = tally.distance([expected[clique] for clique in CLIQUES])
    assert found == rows_distance(expected, codes, CLIQUES)
    assert found.n_rows == 999


def test_a_table_of_which_nothing_is_expected_is_left_out():
    found = rows_distance(even(ab=np.zeros((2, 3))), codes_of([(0, 0, 0)]), CLIQUES)
    assert found.n_tables == 2
    assert found.worst_table == ("b", "c")


def test_a_wide_table_that_chance_explains_does_not_hide_the_one_that_is_far():
    """The caution named the largest distance, .32 where chance made .35, in place of what it is
    about.
    """
    domain = Domain(("wide", "far"), (400, 2))
    rng = np.random.default_rng(4)
    tally = RowsTally(domain, [("wide",), ("far",)])
    tally.add((rng.integers(0, 400, 1000), (np.arange(1000) < 600).astype(np.uint8)))
    found = tally.distance([np.ones(400), np.ones(2)])
    assert found.worst_table == ("wide",)
    assert found.far_tables == (("far",),)
    assert found.furthest == pytest.approx(0.1)
    assert found.furthest_by_chance == pytest.approx(0.0126, abs=1e-4)
