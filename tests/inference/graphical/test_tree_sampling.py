"""Sampling: close, unbiased, without false correlations, and never where nothing can be.

What rounding guarantees: given the drawn separator values, each cell of each tree clique is less
than one count away from what is expected. Thresholds flake less than once in 1e9 runs; seeds are
fixed besides.
"""

import numpy as np
import pytest
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.inference import SEEDS, clique_sets, domains, field, random_potentials
from scipy.special import chdtr, chdtrc

from synthdp.core import Domain
from synthdp.inference import (
    compact,
    draw_counts,
    draw_each,
    draw_values,
    round_counts,
    sample_tree,
    stable_order,
)
from synthdp.inference.value_drawing import _shuffled


def counted(domain, codes, clique):
    """The marginal of drawn codes."""
    cells = np.zeros(len(codes[0]), dtype=int)
    for name in clique:
        cells = cells * domain[name] + codes[domain.index(name)]
    return np.bincount(cells, minlength=domain.size(clique)).reshape(domain.project(clique).shape)


def chi_squared(counts, expected):
    possible = expected > 0
    assert (counts[~possible] == 0).all()
    return float(np.sum((counts[possible] - expected[possible]) ** 2 / expected[possible]))


@settings(max_examples=examples(100), deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(1, 9))
def test_rounded_counts_are_within_one_and_add_up(seed, n_groups, n_values):
    rng = np.random.default_rng(seed)
    table = rng.exponential(size=(n_groups, n_values)) * (rng.random((n_groups, n_values)) < 0.7)
    table[:, rng.integers(n_values)] += 10.0 ** rng.integers(-300, 3)
    totals = rng.integers(0, 10 ** rng.integers(0, 7), n_groups)
    counts = round_counts(table, totals, generator=rng)
    expected = table / table.sum(axis=1, keepdims=True) * totals[:, None]
    assert (counts >= 0).all()
    assert (counts.sum(axis=1) == totals).all()
    assert (counts[table == 0] == 0).all()
    assert np.abs(counts - expected).max() < 1 + 1e-8


@settings(max_examples=examples(60), deadline=None)
@given(st.data(), SEEDS, st.sampled_from([1, 7, 100, 3001]))
def test_each_clique_is_within_one_count_of_what_its_separator_makes_expected(data, seed, n_rows):
    domain = data.draw(domains())
    potentials = random_potentials(
        np.random.default_rng(seed), domain, data.draw(clique_sets(domain)), scale=1.5
    )
    model = field(domain, potentials)
    codes = model.sample(n_rows, seed=seed)
    for clique, separator in zip(model.tree.cliques, model.tree.separators, strict=True):
        shape = [domain[name] if name in separator else 1 for name in clique]
        given_counts = counted(domain, codes, separator).reshape(shape)
        given_shares = model.marginal(separator).values.reshape(shape)
        expected = model.marginal(clique).values / given_shares * given_counts
        assert np.abs(counted(domain, codes, clique) - expected).max() < 1 + 1e-8


class Offsets:
    """A generator whose offsets are all the same extreme number."""

    def __init__(self, offset):
        self._offset = offset

    def random(self, size):
        return np.full(size, self._offset)


@pytest.mark.parametrize("offset", [0.0, 2.0**-53, 0.5, 1 - 2.0**-53])
@pytest.mark.parametrize("total", [1, 10, 10**6, 10**12])
def test_rounding_error_never_fills_an_impossible_cell(offset, total):
    table = np.array(
        [
            [0.0, 0.1, 0.1, 0.0, 0.1, 0.0],
            [0.0, 0.0, 0.3, 0.3, 0.3, 0.0],
            [0.7, 0.1, 0.1, 0.0, 0.0, 0.0],
        ]
    )
    totals = np.full(3, total)
    counts = round_counts(table, totals, generator=Offsets(offset))
    assert (counts[table == 0] == 0).all()
    assert (counts >= 0).all()
    assert (counts.sum(axis=1) == totals).all()


def test_independent_draws_leave_what_is_left_over_to_a_possible_value():
    seen = []

    class Recorder:
        def multinomial(self, totals, shares):
            seen.append(shares)
            return np.random.default_rng(0).multinomial(totals, shares)

    table = np.array([[0.2, 0.5, 0.0], [0.0, 0.0, 3.0], [1.0, 1.0, 0.0]])
    counts = draw_counts(table, np.array([1000, 5, 10]), generator=Recorder())
    assert (seen[0][:, -1] == seen[0].max(axis=1)).all()
    assert (counts[table == 0] == 0).all()
    assert counts.sum(axis=1).tolist() == [1000, 5, 10]
    assert 200 < counts[0, 0] < 400


@pytest.mark.parametrize("rounding", [True, False])
def test_structural_zeros_are_never_sampled(rounding):
    domain = Domain(("a", "b", "c"), (4, 4, 4))
    potentials = random_potentials(
        np.random.default_rng(2), domain, [("a", "b"), ("b", "c")], scale=2.0, impossible=0.5
    )
    model = field(domain, potentials)
    impossible = model.marginal(("a", "b", "c")).values == 0
    assert impossible.any()
    for seed in range(100):
        assert not counted(
            domain, model.sample(500, seed=seed, rounding=rounding), ("a", "b", "c")
        )[impossible].any()


@pytest.mark.parametrize("rounding", [True, False])
def test_counts_are_right_on_average(rounding):
    """Hoeffding's inequality: a rounded count is one of two neighbours, an independent row 0 or 1."""
    table = np.random.default_rng(0).dirichlet(np.full(5, 0.5), size=6)
    totals = np.array([0, 1, 2, 3, 10, 40])
    groups = np.repeat(np.arange(6), totals)
    n_runs = 2000
    sums = np.zeros((6, 5))
    generator = np.random.default_rng(1)
    for _ in range(n_runs):
        values = draw_values(table, groups, generator=generator, rounding=rounding)
        np.add.at(sums, (groups, values), 1)
    widths = np.ones(6) if rounding else np.sqrt(totals)
    allowed = widths * np.sqrt(np.log(2 * table.size / 1e-9) / (2 * n_runs))
    assert (np.abs(sums / n_runs - table * totals[:, None]) <= allowed[:, None] + 1e-12).all()


def test_marginals_over_the_whole_tree_are_right_on_average():
    domain = Domain(("a", "b", "c", "d"), (3, 4, 3, 2))
    cliques = [("a", "b"), ("b", "c"), ("c", "d")]
    model = field(
        domain, random_potentials(np.random.default_rng(3), domain, cliques, scale=1.0), total=97.0
    )
    n_runs, sums = 1500, np.zeros(domain.shape)
    squares = np.zeros(domain.shape)
    for seed in range(n_runs):
        counts = counted(domain, model.sample(97, seed=seed), domain.attributes)
        sums += counts
        squares += counts**2
    spread = np.sqrt(squares / n_runs - (sums / n_runs) ** 2)
    expected = model.marginal(domain.attributes).values
    assert (np.abs(sums / n_runs - expected) <= 7 * spread / np.sqrt(n_runs) + 0.02).all()


def test_rounded_tables_are_closer_to_the_model_than_independent_draws():
    domain = Domain(("a", "b", "c", "d"), (6, 5, 6, 5))
    cliques = [("a", "b"), ("b", "c"), ("c", "d")]
    model = field(
        domain,
        random_potentials(np.random.default_rng(4), domain, cliques, scale=1.0),
        total=20_000.0,
    )
    errors = {}
    for rounding in (True, False):
        codes = model.sample(20_000, seed=0, rounding=rounding)
        errors[rounding] = [
            np.abs(counted(domain, codes, clique) - model.marginal(clique).values).max()
            for clique in [*cliques, ("a",), ("d",)]
        ]
    assert max(errors[True]) < 6
    assert min(errors[False]) > 6


class Unshuffled:
    """The mutant: rows of a group get their values in the order of the rows."""

    def __init__(self, seed):
        self._generator = np.random.default_rng(seed)

    def random(self, size):
        return self._generator.random(size)

    def integers(self, _limit, size, dtype):
        return np.zeros(size, dtype)


def dependence(model, domain, generators):
    """Sum over runs of the chi-squared statistic of ``a`` against ``c`` within each value of ``b``,
    and its degrees.
    """
    statistic, degrees = 0.0, 0
    beliefs = [model.marginal(clique).values for clique in model.tree.cliques]
    for generator in generators:
        codes = sample_tree(model.tree, beliefs, 600, generator=generator, rounding=True)
        for table in np.moveaxis(counted(domain, codes, ("a", "b", "c")), 1, 0):
            rows, columns = table.sum(axis=1), table.sum(axis=0)
            expected = np.outer(rows, columns) / max(table.sum(), 1)
            statistic += chi_squared(table, expected) * (1 - 1 / table.sum())
            degrees += (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1)
    return statistic, degrees


def test_columns_that_are_independent_given_another_show_no_dependence():
    domain = Domain(("a", "b", "c"), (4, 2, 3))
    model = field(
        domain,
        random_potentials(np.random.default_rng(5), domain, [("a", "b"), ("b", "c")], scale=0.5),
    )
    statistic, degrees = dependence(
        model, domain, [np.random.default_rng(seed) for seed in range(150)]
    )
    assert chdtrc(degrees, statistic) > 1e-10
    assert (
        chdtr(degrees, statistic) > 1e-10
    )  # nor too much of none: draws within a group are independent
    statistic, degrees = dependence(model, domain, [Unshuffled(seed) for seed in range(150)])
    assert chdtrc(degrees, statistic) < 1e-10


def test_independent_draws_are_multinomial():
    domain = Domain(("a", "b", "c"), (4, 3, 3))
    cliques = [("a", "b"), ("b", "c")]
    model = field(
        domain,
        random_potentials(np.random.default_rng(6), domain, cliques, scale=0.7),
        total=2000.0,
    )
    expected = model.marginal(domain.attributes).values
    statistics = [
        chi_squared(
            counted(domain, model.sample(2000, seed=seed, rounding=False), domain.attributes),
            expected,
        )
        for seed in range(100)
    ]
    degrees = 100 * (expected.size - 1)
    assert chdtrc(degrees, sum(statistics)) > 1e-10
    assert chdtr(degrees, sum(statistics)) > 1e-10
    rounded = chi_squared(
        counted(domain, model.sample(2000, seed=0), ("a", "b")), model.marginal(("a", "b")).values
    )
    assert rounded < 1.0  # which eleven degrees of freedom would not give


def test_groups_without_weight_are_spread_evenly():
    table = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for rounding in (True, False):
        values = draw_values(
            table,
            np.repeat([0, 1], [300, 10]),
            generator=np.random.default_rng(0),
            rounding=rounding,
        )
        assert (values[300:] == 1).all()
        assert (np.bincount(values[:300]) > 50).all()


@pytest.mark.parametrize("n_groups", [1, 2**16 - 1, 2**16, 2**16 + 1, 2**34])
def test_stable_order_is_the_stable_sort(n_groups):
    rng = np.random.default_rng(7)
    groups = np.concatenate(
        [rng.integers(0, n_groups, 3000), rng.integers(0, min(n_groups, 50), 3000), [n_groups - 1]]
    )
    np.testing.assert_array_equal(stable_order(groups, n_groups), np.argsort(groups, kind="stable"))


@pytest.mark.parametrize("n_groups", [1, 3, 2**12, 2**62])
def test_rows_come_group_after_group_and_in_each_in_random_order(n_groups):
    """By sorting one number a row, and, of so many groups that they leave no bits for chance, in
    another way.
    """
    rng = np.random.default_rng(9)
    groups = rng.integers(0, min(n_groups, 5), 1000) * max(n_groups // 5, 1)
    rows, in_order = _shuffled(groups, n_groups, rng)
    np.testing.assert_array_equal(np.sort(rows), np.arange(1000))
    np.testing.assert_array_equal(in_order, np.sort(groups))
    np.testing.assert_array_equal(in_order, groups[rows])
    largest = rows[in_order == in_order[0]]
    assert abs(np.corrcoef(largest, np.arange(len(largest)))[0, 1]) < 7 / np.sqrt(len(largest))


def test_each_order_of_a_group_is_as_likely():
    groups, rng = np.array([1, 0, 1, 0, 1]), np.random.default_rng(10)
    seen = np.zeros(6)
    for _ in range(3000):
        rows, _ = _shuffled(groups, 2, rng)
        seen[
            [(0, 2, 4), (0, 4, 2), (2, 0, 4), (2, 4, 0), (4, 0, 2), (4, 2, 0)].index(
                tuple(rows[2:].tolist())
            )
        ] += 1
    assert chdtrc(5, chi_squared(seen, np.full(6, 500.0))) > 1e-10


def test_more_than_65536_groups():
    """The last attribute repeats the parity of the first two, whose pairs are 90,000 groups."""
    domain = Domain(("a", "b", "c", "d"), (300, 300, 2, 2))
    parity = np.where(
        np.add.outer(np.arange(300), np.arange(300))[:, :, None] % 2 == np.arange(2), 0.0, -np.inf
    )
    model = field(domain, {("a", "b", "c"): parity, ("a", "b", "d"): parity})
    for rounding in (True, False):
        a, b, c, d = (
            column.astype(int) for column in model.sample(5000, seed=1, rounding=rounding)
        )
        assert ((a + b) % 2 == c).all()
        assert (c == d).all()
        assert len(set(zip(a, b, strict=True))) > 4500


@pytest.mark.parametrize(
    ("size", "dtype"), [(1, "u1"), (256, "u1"), (257, "u2"), (65536, "u2"), (65537, "u4")]
)
def test_columns_are_as_small_as_their_levels_allow(size, dtype):
    column = compact(np.array([0, size - 1]), size)
    assert column.dtype == np.dtype(dtype)
    assert column.tolist() == [0, size - 1]


def test_groups_beyond_one_chunk_of_cells_are_drawn_like_the_first():
    """3,000 groups of 300 values are several chunks; each group's only possible values tell it."""
    n_groups, n_values = 3000, 300
    table = np.zeros((n_groups, n_values))
    table[np.arange(n_groups), np.arange(n_groups) % 100] = 1.0
    table[np.arange(n_groups), 100 + np.arange(n_groups) % 200] = 3.0
    rng = np.random.default_rng(8)
    groups = rng.integers(n_groups, size=40_000)
    for rounding in (True, False):
        values = draw_values(table, groups, generator=rng, rounding=rounding).astype(int)
        assert ((values == groups % 100) | (values == 100 + groups % 200)).all()
        assert abs((values < 100).mean() - 0.25) < 0.02
    with_none = draw_values(table, groups[:0], generator=rng, rounding=True)
    assert with_none.shape == (0,)


def test_values_are_drawn_row_by_row_by_the_row_s_own_weights():
    weights = np.array([[0.0, 2.0, 6.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1e-300, 0.0]])
    n = 40_000
    drawn = draw_each(np.repeat(weights, n, axis=0), generator=np.random.default_rng(3)).reshape(
        3, n
    )
    counts = np.bincount(drawn[0], minlength=4)
    assert counts[0] == counts[3] == 0
    # Seven standard errors of a binomial count.
    assert abs(counts[1] - n / 4) <= 7 * np.sqrt(n * 0.25 * 0.75)
    # Neighbours are independent: they are equal as often as chance says.
    equal = int((drawn[0, :-1] == drawn[0, 1:]).sum())
    assert abs(equal - n * 0.625) <= 7 * np.sqrt(n * 0.625 * 0.375) * 2
    assert set(drawn[1].tolist()) == {-1}
    assert set(drawn[2].tolist()) == {2}
    assert draw_each(np.zeros((0, 3)), generator=np.random.default_rng(0)).shape == (0,)
