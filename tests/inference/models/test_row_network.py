"""Rows that nearly have the marginals of overlapping tables, each drawn by itself."""

import sys
from types import ModuleType

import numpy as np
import pytest
from helpers.homes import home

from synthdp.core import Domain
from synthdp.inference import (
    Compiled,
    RegionTables,
    RowNetwork,
    Scopes,
    cell_counts,
    draw_attribute,
    fit,
    locate,
)

row_network = home(RowNetwork)

DOMAIN = Domain(("a", "b", "c", "d"), (4, 3, 5, 2))
CHAIN = [("a", "b"), ("b", "c"), ("c", "d")]
LOOP = [*CHAIN, ("a", "d"), ("b", "d")]
N = 200_000


def tables(cliques):
    """Marginals of a random distribution, and how the cells of it lie."""
    joint = np.random.default_rng(9).dirichlet(np.full(DOMAIN.size(), 0.3))
    cells = tuple(np.indices(DOMAIN.shape).reshape(4, -1))
    return RegionTables(DOMAIN, {c: cell_counts(DOMAIN, c, cells, joint) for c in cliques})


def network(cliques):
    return RowNetwork(tables(cliques), generator=np.random.default_rng(0))


def distance(codes, clique, share):
    return 0.5 * np.abs(cell_counts(DOMAIN, clique, tuple(codes)) / len(codes[0]) - share).sum()


def test_rows_of_a_tree_of_pairs_have_its_marginals_up_to_chance():
    codes = network(CHAIN).draw(N, generator=np.random.default_rng(11))
    assert (codes.dtype, codes.shape) == (np.int32, (4, N))
    for clique, share in tables(CHAIN).tables.items():
        # Each cell within seven standard deviations.
        drawn = cell_counts(DOMAIN, clique, tuple(codes))
        assert (np.abs(drawn - N * share) <= 7 * np.sqrt(N * share * (1 - share)) + 1e-9).all()


def test_rows_of_a_loop_nearly_have_its_marginals(monkeypatch):
    wanted = tables(LOOP).tables
    codes = network(LOOP).draw(N, generator=np.random.default_rng(11))
    fitted = [distance(tuple(codes), clique, share) for clique, share in wanted.items()]
    assert max(fitted) < 0.02
    for clique, share in wanted.items():
        assert (cell_counts(DOMAIN, clique, tuple(codes))[share == 0] == 0).all()
    monkeypatch.setattr(row_network, "_ROUNDS", 0)
    codes = network(LOOP).draw(N, generator=np.random.default_rng(11))
    unfitted = [distance(tuple(codes), clique, share) for clique, share in wanted.items()]
    assert np.mean(fitted) < 0.5 * np.mean(unfitted)


def test_rows_are_independent_and_follow_their_generator():
    made = network(LOOP)
    once, again = (made.draw(5000, generator=np.random.default_rng(12)) for _ in range(2))
    np.testing.assert_array_equal(once, again)
    other = made.draw(5000, generator=np.random.default_rng(13))
    assert not np.array_equal(once[0], other[0])
    # Counts of independent rows scatter as a binomial count does: rounded ones would not.
    share = tables([("a",)]).tables[("a",)][0]
    counts = [
        int((made.draw(400, generator=np.random.default_rng(seed))[0] == 0).sum())
        for seed in range(300)
    ]
    assert 0.6 < np.var(counts) / (400 * share * (1 - share)) < 1.6


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_rows_are_the_same_by_any_number_of_threads(n_jobs, monkeypatch):
    monkeypatch.setattr(row_network, "_BLOCK_ROWS", 300)
    made = network(LOOP)
    drawn = [made.draw(2000, generator=np.random.default_rng(5), n_jobs=n) for n in (1, n_jobs)]
    np.testing.assert_array_equal(*drawn)
    assert not np.array_equal(drawn[0][:, :300], drawn[0][:, 300:600])


@pytest.mark.parametrize("n_rows", [0, 1, (1 << 15) + 1])
def test_any_number_of_rows(n_rows):
    codes = network(LOOP).draw(n_rows, generator=np.random.default_rng(1))
    assert [len(column) for column in codes] == [n_rows] * 4


def test_where_tables_leave_no_value_the_first_ones_decide():
    shares = np.array([0.5, 0.3, 0.2], dtype=np.float32)
    factors = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0]], dtype=np.float32)
    cells = np.array([[0, 1, 2], [1, 0, 2]])
    codes = np.empty(3, dtype=np.int32)
    draw_attribute(cells, shares, factors, np.array([0.9, 0.1, 0.95]), codes)
    assert codes.tolist() == [0, 1, 2]


def test_compiled_and_plain_loops_do_the_same():
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.ones(4)).astype(np.float32)
    factors = rng.gamma(1.0, size=(9, 4)).astype(np.float32)
    factors[2, 1] = factors[5] = 0.0
    cells = np.stack([rng.integers(0, 3, 200), rng.integers(3, 9, 200)])
    wanted = rng.dirichlet(np.ones(4), size=9).astype(np.float32)
    uniform = rng.random(200)
    scopes = Scopes(
        starts=np.array([0, 3]),
        first=np.array([0, 1, 3]),
        members=np.array([1, 0, 1]),
        strides=np.array([1, 3, 1]),
    )
    records = np.stack([rng.integers(2, size=200), rng.integers(3, size=200)]).astype(np.int32)
    located = [np.empty((2, 200), dtype=np.int64) for _ in range(2)]
    locate(records, scopes, located[0])
    locate.plain(records, scopes, located[1])
    np.testing.assert_array_equal(*located)
    np.testing.assert_array_equal(located[0], [records[1], 3 + 3 * records[0] + records[1]])
    found = []
    for run_fit, run_draw in ((fit, draw_attribute), (fit.plain, draw_attribute.plain)):
        own, codes = factors.copy(), np.empty(200, dtype=np.int32)
        run_fit(cells, shares, own, wanted, 3)
        run_draw(cells, shares, own, uniform, codes)
        found.append((own, codes))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)
    np.testing.assert_array_equal(found[0][1], found[1][1])


class Broken(ModuleType):
    """A module that fails as numba does beside an old `coverage`, or any other file of that name."""

    def __getattr__(self, name):
        raise OSError(name)


@pytest.mark.parametrize("numba", [None, Broken("numba")])
def test_without_numba_the_same_function_runs_plain(numba, monkeypatch, caplog):
    """Rows are drawn after all was paid for: nothing of another library may end that."""
    monkeypatch.setitem(sys.modules, "numba", numba)
    twice = Compiled(lambda number: 2 * number)
    assert twice(21) == 42
    assert twice._fast is twice.plain
    assert "numba cannot be imported" in caplog.text
