"""Resolutions: groups that are nested and even, what they show, and what chance makes of them."""

from itertools import combinations, pairwise
from math import sqrt

import numpy as np
import pytest
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import Domain
from synthdp.mechanisms import Resolutions
from synthdp.mechanisms.auto.resolutions import _counted, are_unlike, shown_of_names


@st.composite
def columns(draw):
    """A domain and shares of levels, some of them rare."""
    sizes = draw(st.lists(st.integers(1, 60), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shares = {
        f"x{i}": rng.dirichlet(np.full(size, draw(st.sampled_from([0.05, 1.0]))))
        for i, size in enumerate(sizes)
    }
    ordered = [name for name in shares if draw(st.booleans())]
    return Domain(tuple(shares), tuple(sizes), ordered=frozenset(ordered)), {
        name: (own + 1e-6) / (own + 1e-6).sum() for name, own in shares.items()
    }


@settings(max_examples=examples(60), deadline=None)
@given(columns())
def test_groups_are_neighbours_and_each_resolution_merges_those_of_the_next(problem):
    domain, shares = problem
    resolutions = Resolutions(domain, shares)
    assert resolutions.coarsenings[-1] is None
    for name, size in zip(domain.attributes, domain.shape, strict=True):
        finer = np.arange(size)
        for coarsening in reversed(resolutions.coarsenings[:-1]):
            groups = coarsening.groups.get(name, finer if finer.max() + 1 == size else None)
            assert groups is not None  # what is merged once stays so
            assert (np.diff(groups) >= 0).all()
            assert (
                len({(a, b) for a, b in zip(finer.tolist(), groups.tolist(), strict=True)})
                == finer.max() + 1
            )
            finer = groups
        if size >= 24 and (name in domain.ordered or not are_unlike(shares[name], 0.0)):
            assert finer.max() + 1 == 4
        elif size >= 24:
            assert finer.max() + 1 == 4 or resolutions.shown_share((name,), 0) > 0.75 - 1e-9
        elif name in domain.ordered:
            assert finer.max() + 1 == min(size, 8)
        else:
            assert finer.max() + 1 == size


@pytest.mark.parametrize(
    ("size", "ordered", "groups"),
    [
        (5, False, []),
        (23, False, []),
        (3000, True, [4, 8, 16]),
        (8, True, []),
        (9, True, [8]),
        (16, True, [8]),
        (17, True, [8, 16]),
        (24, True, [4, 8, 16]),
    ],
)
def test_columns_of_many_levels_have_several_resolutions(size, ordered, groups):
    """Those in an order: their neighbours have much in common."""
    domain = Domain(("a",), (size,), ordered=frozenset("a" if ordered else ()))
    resolutions = Resolutions(domain, {"a": np.full(size, 1 / size)})
    found = [coarsening.groups["a"].max() + 1 for coarsening in resolutions.coarsenings[:-1]]
    assert found == groups
    for number, n_groups in enumerate(groups):
        counts = np.bincount(resolutions.coarsenings[number].groups["a"])
        assert counts.min() >= 0.5 * size / n_groups - 1
        assert counts.max() <= 2.0 * size / n_groups + 1
        assert resolutions.shown_share(("a",), number) == 1 - 1 / n_groups
    assert resolutions.shown_share(("a",), len(groups)) == 1
    assert (
        len(Resolutions(Domain(("a",), (size,)), {"a": np.full(size, 1 / size)}, can_merge=False))
        == 1
    )


@pytest.mark.parametrize(
    ("size", "groups"), [(24, [19, 22, 23]), (30, [23, 27, 29]), (100, [76, 88, 94])]
)
def test_equal_names_are_merged_to_as_many_groups_as_show_most_of_them(size, groups):
    """Each merging hides one of the levels' deviations, whichever groups it joins."""
    resolutions = Resolutions(Domain(("a",), (size,)), {"a": np.full(size, 1 / size)})
    found = [coarsening.groups["a"].max() + 1 for coarsening in resolutions.coarsenings[:-1]]
    assert found == groups
    for number, n_groups in enumerate(groups):
        expected = 1 - (size - n_groups) / (size - 1)
        assert resolutions.shown_share(("a",), number) == pytest.approx(expected)


def test_few_frequent_names_are_merged_to_few_groups():
    """Rare ones hold little of what there is to show."""
    shares = np.where(np.arange(40) % 13 == 5, 0.3, 0.1 / 37)
    resolutions = Resolutions(Domain(("a",), (40,)), {"a": shares})
    groups = resolutions.coarsenings[0].groups["a"]
    assert groups.max() + 1 == 4
    assert len(set(groups[shares > 0.1].tolist())) == 3
    assert resolutions.shown_share(("a",), 0) > 0.75


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(2, 40), st.integers(0, 2**32))
def test_groups_show_so_much_of_names_that_deviate_at_random(size, seed):
    """Against drawn deviations: expected squares of groups over those of levels."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(size, rng.choice([0.3, 1.0, 50.0]))) + 1e-3
    shares /= shares.sum()
    groups = np.sort(rng.integers(0, rng.integers(1, size + 1), size))
    groups = np.unique(groups, return_inverse=True)[1]
    drawn = rng.normal(size=(20_000, size))
    drawn -= (drawn @ shares)[:, None]
    members = groups == np.arange(groups.max() + 1)[:, None]
    sums = (drawn * shares) @ members.T
    shown = (np.square(sums) / (members @ shares)).sum(axis=1)
    whole = (np.square(drawn) * shares).sum(axis=1)
    found = shown_of_names(7.0 * shares, groups)
    error = np.std(shown - found * whole) / whole.mean() / sqrt(len(drawn))
    assert abs(shown.mean() / whole.mean() - found) <= 7 * error + 1e-12


def test_an_order_that_nobody_declared_shows_in_the_shares():
    places = np.linspace(-2, 2, 32)
    bins = np.exp(-places * places / 2)
    assert not are_unlike(bins / bins.sum(), 0.0)
    shuffled = np.random.default_rng(0).permutation(bins) / bins.sum()
    assert are_unlike(shuffled, 0.0)
    assert are_unlike(np.full(32, 1 / 32), 0.0)
    by_frequency = np.sort(shuffled)[::-1] + np.random.default_rng(1).normal(0, 1e-3, 32)
    assert are_unlike(by_frequency, 0.0)
    resolutions = Resolutions(Domain(("a",), (32,)), {"a": shuffled})
    in_order = Resolutions(Domain(("a",), (32,), ordered=frozenset("a")), {"a": shuffled})
    assert in_order.sizes[0]["a"] < resolutions.sizes[0]["a"]


def test_names_whose_numbers_noise_hides_are_merged_to_few_groups():
    shares = {"a": np.full(40, 1 / 40)}
    for noise, n_groups in ((0.02, 31), (0.03, 4)):
        resolutions = Resolutions(Domain(("a",), (40,)), shares, noise={"a": noise})
        assert resolutions.coarsenings[0].groups["a"].max() + 1 == n_groups


@pytest.mark.parametrize("size", [24, 40, 3000])
@pytest.mark.parametrize("special", [(-1,), (0, -1), (5,), (7, 8, -1)])
def test_special_levels_stand_alone_at_every_resolution(size, special):
    """However few records have them: a missing income is no neighbour of the highest ones."""
    places = tuple(place % size for place in special)
    shares = np.full(size, 1 / size)
    shares[list(places)] = 1e-4 / size
    resolutions = Resolutions(
        Domain(("a",), (size,), {"a": places}, frozenset("a")), {"a": shares / shares.sum()}
    )
    assert len(resolutions) == 4
    finer = np.arange(size)
    for coarsening in reversed(resolutions.coarsenings[:-1]):
        groups = coarsening.groups["a"]
        counts = np.bincount(groups)
        assert (counts[groups[list(places)]] == 1).all()
        assert (np.diff(groups) >= 0).all()
        assert len(set(zip(finer.tolist(), groups.tolist(), strict=True))) == finer.max() + 1
        finer = groups
    assert finer.max() + 1 == 4 + len(places)


@pytest.mark.parametrize(("size", "groups"), [(10, []), (11, [10]), (19, [10, 18])])
def test_special_levels_stand_beside_the_groups_of_few_levels_in_order(size, groups):
    domain = Domain(("a",), (size,), {"a": (0, size - 1)}, frozenset("a"))
    resolutions = Resolutions(domain, {"a": np.full(size, 1 / size)})
    found = [coarsening.groups["a"].max() + 1 for coarsening in resolutions.coarsenings[:-1]]
    assert found == groups


@pytest.mark.parametrize("n_groups", [4, 10])
def test_few_levels_in_order_are_merged_as_they_were_before(n_groups):
    """Also to fewer groups than they would be now, or where there are hardly more levels."""
    before = np.arange(16) * n_groups // 16
    domain = Domain(("a",), (16,), ordered=frozenset("a"))
    shares = {"a": np.full(16, 1 / 16)}
    resolutions = Resolutions(domain, shares, given={"a": [before]})
    merged = [coarsening.groups["a"].tolist() for coarsening in resolutions.coarsenings[:-1]]
    assert before.tolist() in merged


def test_levels_with_many_records_stand_alone():
    shares = np.full(30, 0.2 / 28)
    shares[[7, 20]] = 0.4
    resolutions = Resolutions(Domain(("a",), (30,)), {"a": shares})
    for coarsening in resolutions.coarsenings[1:-1]:
        counts = np.bincount(coarsening.groups["a"])
        assert [counts[coarsening.groups["a"][level]] for level in (7, 20)] == [1, 1]


@settings(max_examples=examples(60), deadline=None)
@given(columns())
def test_finer_resolutions_have_more_cells_and_show_more(problem):
    domain, shares = problem
    resolutions = Resolutions(domain, shares)
    for clique in [clique for k in (1, 2, 3) for clique in combinations(domain.attributes, k)]:
        numbers = resolutions.of(clique)
        assert numbers[-1] == len(resolutions) - 1
        assert all(
            resolutions.finest(clique, number) in numbers for number in range(len(resolutions))
        )
        for coarser, finer in pairwise(numbers):
            assert resolutions.cells(clique, coarser) <= resolutions.cells(clique, finer)
            assert resolutions.dimensions(clique, coarser) <= resolutions.dimensions(clique, finer)
            assert (
                resolutions.shown_share(clique, coarser)
                < resolutions.shown_share(clique, finer)
                <= 1
            )
            assert resolutions.by_chance(clique, coarser, 1e3) <= resolutions.by_chance(
                clique, finer, 1e3
            ) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("n_rows", "sizes"), [(3000, (10, 6)), (3000, (30, 20)), (300, (32, 32)), (40, (40, 40))]
)
def test_chance_makes_so_much_of_independent_records(n_rows, sizes):
    rng = np.random.default_rng(0)
    shares = {
        name: rng.dirichlet(np.full(size, 2.0)) for name, size in zip("ab", sizes, strict=True)
    }
    resolutions = Resolutions(Domain(("a", "b"), sizes), shares)
    last = len(resolutions) - 1
    norms = []
    for _ in range(50):
        table = rng.multinomial(n_rows, np.outer(shares["a"], shares["b"]).ravel()).reshape(sizes)
        norms.append(np.abs(table - np.outer(table.sum(1), table.sum(0)) / n_rows).sum())
    # The norm varies by some per cent; the formula is that of Gaussian counts, rough where cells
    # hold less than one.
    found = sqrt(resolutions.by_chance(("a", "b"), last, n_rows))
    assert found == pytest.approx(
        np.mean(norms), rel=0.1 if n_rows > 10 * sizes[0] * sizes[1] else 0.35
    )


def test_a_marginal_is_clear_at_a_resolution_that_fits_its_records():
    shares = {name: np.full(32, 1 / 32) for name in "ab"}
    resolutions = Resolutions(Domain(("a", "b"), (32, 32), ordered=frozenset("ab")), shares)
    found = [
        resolutions.finest_informative(("a", "b"), total) for total in (50, 1e3, 4e3, 2e4, 1e6)
    ]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, 3)
    assert len(set(found)) >= 3


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=30))
def test_rare_levels_count_less_and_equal_ones_in_full(weights):
    shares = np.array(weights) / sum(weights)
    assert 1.0 <= _counted(shares) <= shares.size * (1 + 1e-9)
    assert _counted(np.full(shares.size, 1 / shares.size)) == pytest.approx(shares.size)
    rarer = np.append(shares, 1e-9)
    assert _counted(rarer / rarer.sum()) < _counted(
        np.append(shares, shares.max()) / (1 + shares.max())
    )
