"""Batches against the best split that is found by trying all subsets of columns, and what they must
be.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.planning import by_clique, expected_error, loss_of, parts_of, precision_of

from synthdp.core import Domain
from synthdp.inference import JunctionTree
from synthdp.mechanisms import BatchPlan, ExpectedLoss, Resolutions, ResolvedClique, expected_parts


def pairs_and_triples(names):
    return {clique: 1.0 for k in (2, 3) for clique in combinations(names, k)}


def problem(seed, n_columns, *, most_levels=9):
    """A random domain, workload and errors, strong and weak ones."""
    rng = np.random.default_rng(seed)
    names = tuple("abcdefgh"[:n_columns])
    domain = Domain(names, tuple(int(size) for size in rng.integers(1, most_levels + 1, n_columns)))
    sizes = dict(zip(names, map(float, domain.shape), strict=True))
    workload = {clique: float(rng.uniform(0.2, 2)) for clique in pairs_and_triples(names)}
    workload |= {(name,): 0.05 for name in names}
    errors = {}
    for part in dict.fromkeys(part for clique in workload for part in parts_of(clique)):
        some = prod(sizes[name] > 1 for name in part)
        errors[part] = float(some * 10 ** rng.uniform(1, 7))
    return domain, sizes, workload, errors


def planned(domain, sizes, workload, errors, budget, **arguments):
    plan = BatchPlan(domain, loss_of(sizes, workload, errors, l2_squared=1), **arguments)
    return by_clique(plan.split(Fraction(budget)))


def error_of(batch, sizes, workload, errors):
    return expected_error(
        sizes, workload, errors, {c: float(rho) for c, rho in batch.items()}, l2_squared=1
    )


def returns_of(batch, cliques, sizes, workload, errors):
    """By how much one more bit of budget for each clique lowers the error: by differences."""
    split = {clique: float(rho) for clique, rho in batch.items()}
    step = 1e-6 * sum(split.values())
    before = expected_error(sizes, workload, errors, split, l2_squared=1)
    more = [split | {clique: split.get(clique, 0.0) + step} for clique in cliques]
    return {
        clique: (before - expected_error(sizes, workload, errors, changed, l2_squared=1)) / step
        for clique, changed in zip(cliques, more, strict=True)
    }


def best_of_all(sizes, workload, errors, budget):
    """The least error that any split among all subsets of columns comes to, by multiplicative
    updates.
    """
    cliques = parts_of(tuple(sizes))
    loss = loss_of(sizes, workload, errors, l2_squared=1)
    told = np.array([precision_of(loss, sizes, {clique: 1.0}) for clique in cliques])
    split = np.full(len(cliques), budget / len(cliques))
    for _ in range(1500):
        _, gains = loss.after(split @ told)
        split *= np.sqrt(told @ gains)
        split *= budget / split.sum()
    split = np.maximum(split, 1e-12 * budget)
    return expected_error(
        sizes, workload, errors, dict(zip(cliques, split, strict=True)), l2_squared=1
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 5), st.fractions(Fraction(1, 10**6), Fraction(10)))
def test_a_batch_spends_its_budget_exactly_and_is_no_worse_than_simple_ones(
    seed, n_columns, budget
):
    domain, sizes, workload, errors = problem(seed, n_columns)
    batch = planned(domain, sizes, workload, errors, budget)
    assert sum(batch.values()) == budget
    assert all(isinstance(rho, Fraction) and rho > 0 for rho in batch.values())
    assert all(domain.canonical(clique) == clique for clique in batch)
    error = error_of(batch, sizes, workload, errors)
    # What is of no use is dropped at the end, and that little may have been of some.
    for others in (
        dict.fromkeys(batch, budget / len(batch)),
        {(n,): budget / len(domain) for n in domain.attributes},
    ):
        assert error <= error_of(others, sizes, workload, errors) * 1.005


@pytest.mark.parametrize("budget", ["1/1000", "1/20", "1"])
@pytest.mark.parametrize("seed", range(4))
def test_it_comes_close_to_the_best_of_all(seed, budget):
    domain, sizes, workload, errors = problem(seed, 5, most_levels=6)
    batch = planned(domain, sizes, workload, errors, budget)
    best = best_of_all(sizes, workload, errors, float(Fraction(budget)))
    assert error_of(batch, sizes, workload, errors) <= 1.03 * best


@pytest.mark.parametrize("seed", range(4))
def test_all_that_is_measured_returns_alike(seed):
    domain, sizes, workload, errors = problem(seed + 10, 5)
    batch = planned(domain, sizes, workload, errors, "1/50")
    returns = returns_of(batch, list(batch), sizes, workload, errors)
    average = sum(returns[clique] * float(rho) for clique, rho in batch.items()) * 50
    assert max(returns.values()) <= 1.05 * average
    assert (
        min(returns[clique] for clique, rho in batch.items() if rho > Fraction(1, 50 * 50))
        >= 0.9 * average
    )


def test_what_is_left_is_that_of_the_batch():
    domain, sizes, workload, errors = problem(3, 4)
    loss = loss_of(sizes, workload, errors, l2_squared=1)
    plan = BatchPlan(domain, loss)
    batch = by_clique(plan.split(Fraction(1, 20)))
    left = defaultdict(float, by_clique(plan.left()))
    assert set(plan.left()) == set(loss.parts)
    error = sum(
        w * np.sqrt(sum(left[part] for part in parts_of(clique))) for clique, w in workload.items()
    )
    assert error == pytest.approx(error_of(batch, sizes, workload, errors), rel=1e-6)


def alike(n_columns, n_levels, *, pair):
    """Columns alike, all pairs of which depend alike, in a workload of pairs."""
    names = tuple(f"x{i:02}" for i in range(n_columns))
    pairs = list(combinations(names, 2))
    errors = {(name,): 1e4 for name in names} | dict.fromkeys(pairs, pair)
    return (
        Domain(names, (n_levels,) * n_columns),
        dict.fromkeys(names, float(n_levels)),
        dict.fromkeys(pairs, 1.0),
        errors,
    )


def test_many_binary_columns_are_measured_together_and_large_ones_in_pairs():
    """A table of k binary columns tells of its k (k - 1) / 2 pairs at 2^(k - 2) times the variance."""
    binary = planned(*alike(12, 2, pair=1e6), "1/10")
    assert (
        np.average(
            [len(clique) for clique in binary], weights=[float(rho) for rho in binary.values()]
        )
        >= 3
    )
    large = planned(*alike(6, 20, pair=1e6), "1/10")
    assert max(map(len, large)) == 2
    assert set(large) >= set(combinations(tuple(f"x{i:02}" for i in range(6)), 2))


def test_what_does_not_depend_is_measured_by_column():
    domain, sizes, workload, errors = alike(5, 8, pair=0.0)
    batch = planned(domain, sizes, workload, errors, "1/10")
    assert set(batch) == {(name,) for name in domain.attributes}
    assert min(batch.values()) >= Fraction(99, 100) * max(batch.values())


def test_only_what_the_workload_uses_is_measured_wider():
    domain, sizes, workload, errors = alike(5, 4, pair=1e6)
    target = {pair: weight for pair, weight in workload.items() if "x00" in pair}
    batch = planned(domain, sizes, target, errors, "1/10")
    assert {pair for pair in batch if len(pair) == 2} == set(target)


def test_no_clique_has_too_many_columns_or_cells():
    domain, sizes, workload, errors = alike(14, 2, pair=1e7)
    assert max(map(len, planned(domain, sizes, workload, errors, "1"))) <= 6
    domain, sizes, workload, errors = alike(4, 400, pair=1e12)
    batch = planned(domain, sizes, workload, errors, "1")
    assert batch
    assert max(map(len, batch)) == 1  # a pair has 160,000 cells


@pytest.mark.parametrize("limit", [20, 200])
def test_only_what_is_allowed_is_measured(limit):
    domain, sizes, workload, errors = alike(6, 3, pair=1e6)
    asked = []

    def is_allowed(cliques):
        asked.append(list(cliques))
        return JunctionTree.covering(domain, cliques).n_cells() <= limit

    batch = planned(domain, sizes, workload, errors, "1/10", is_allowed=is_allowed)
    assert asked
    assert JunctionTree.covering(domain, list(batch)).n_cells() <= limit
    assert sum(batch.values()) == Fraction(1, 10)
    free = planned(domain, sizes, workload, errors, "1/10")
    assert JunctionTree.covering(domain, list(free)).n_cells() > limit
    assert set(planned(domain, sizes, workload, errors, "1", is_allowed=lambda _: False)) == {
        (n,) for n in sizes
    }


def test_the_same_question_has_the_same_answer():
    domain, sizes, workload, errors = problem(5, 6)
    batch = planned(domain, sizes, workload, errors, "1/30")
    backwards = dict(reversed(workload.items())), dict(reversed(errors.items()))
    assert list(batch.items()) == list(planned(domain, sizes, workload, errors, "1/30").items())
    again = planned(domain, sizes, *backwards, "1/30")
    assert {c: float(rho) for c, rho in again.items()} == pytest.approx(
        {c: float(rho) for c, rho in batch.items()}
    )


@pytest.mark.parametrize("budget", [Fraction(1, 10**18), Fraction(1, 3), Fraction(10**12)])
@pytest.mark.parametrize("error", [0.0, 1e-3, 1e18])
def test_extreme_budgets_and_errors_are_split_exactly(budget, error):
    names = ("a", "b", "c")
    domain, sizes = Domain(names, (2, 1, 30)), {"a": 2.0, "b": 1.0, "c": 30.0}
    workload = pairs_and_triples(names)
    errors = {part: error for part in parts_of(names) if "b" not in part}
    batch = planned(domain, sizes, workload | {("a",): 0.1}, errors, budget)
    assert sum(batch.values()) == budget
    assert all(rho > 0 for rho in batch.values())


def test_one_column():
    batch = planned(Domain(("a",), (7,)), {"a": 7.0}, {("a",): 1.0}, {("a",): 50.0}, "1/7")
    assert batch == {("a",): Fraction(1, 7)}


def dependent_pairs(n_levels, *, strength, total=5_000.0):
    """Columns of equal levels, all pairs of which depend alike, and what is known of their parts."""
    names = ("a", "b", "c")
    domain = Domain(names, (n_levels,) * 3, ordered=frozenset(names))
    resolutions = Resolutions(domain, {name: np.full(n_levels, 1 / n_levels) for name in names})
    pairs = list(combinations(names, 2))
    errors = {}
    for pair in pairs:
        errors |= expected_parts(pair, (strength * total) ** 2, resolutions, total=total)
    return domain, ExpectedLoss(resolutions, dict.fromkeys(pairs, 1.0), errors, l2_squared=1), pairs


def test_noise_decides_at_which_resolution_a_pair_is_measured():
    """Little budget sees a few groups of levels, much all of them; more is never measured more
    coarsely.
    """
    domain, loss, pairs = dependent_pairs(32, strength=0.5)
    finest = []
    for budget in (Fraction(1, 10**4), Fraction(1, 100), Fraction(1), Fraction(100)):
        batch = BatchPlan(domain, loss).split(budget)
        assert sum(batch.values()) == budget
        shares = [
            [float(batch.get(ResolvedClique(pair, number), 0)) for number in range(4)]
            for pair in pairs
        ]
        finest.append(np.average(np.arange(4), weights=np.sum(shares, axis=0)))
    assert finest[0] == 0
    assert finest[-1] > 2.9
    assert finest == sorted(finest)


def test_a_resolution_is_as_good_as_the_best_of_all():
    domain, loss, pairs = dependent_pairs(24, strength=0.3)
    batch = BatchPlan(domain, loss).split(Fraction(1, 200))
    error = {}
    for resolved in (list(batch), *([ResolvedClique(pair, n) for pair in pairs] for n in range(3))):
        owners, members = loss.parts_measured_by(resolved)
        shares = [
            float(batch.get(q, Fraction(1, 600))) if resolved == list(batch) else 1 / 600
            for q in resolved
        ]
        ratios = (
            loss.n_cells[members] / np.array([loss.resolutions.cells(*q) for q in resolved])[owners]
        )
        precision = np.bincount(members, np.array(shares)[owners] * ratios, len(loss.parts))
        error[len(error)] = loss.after(precision)[0]
    assert error[0] <= 1.005 * min(error[1], error[2], error[3])


def test_of_a_clique_whose_coarse_groups_are_soon_known_all_finer_ones_are_tried():
    """The first bit of budget returns most at few groups, which show little: they would come and go
    in turns.
    """
    names, total = tuple("abcdef"), 1e6
    domain, pair = Domain(names, (40,) * 6), ("a", "b")
    resolutions = Resolutions(domain, dict.fromkeys(names, np.full(40, 1 / 40)))
    errors = {
        ResolvedClique((name,), number): 1e8 for name in names for number in resolutions.of((name,))
    }
    errors |= expected_parts(pair, (0.8 * total) ** 2, resolutions, total=total)
    workload = {(name,): 1.0 for name in names} | dict.fromkeys(combinations(names, 2), 1e-5)
    plan = BatchPlan(domain, ExpectedLoss(resolutions, workload, errors, l2_squared=1))
    shares = plan._minimised(dict.fromkeys(plan._columns, 1.0), 0.01, 50)
    coarse, *finer = (ResolvedClique(pair, number) for number in resolutions.of(pair))

    def tried(shares, dropped):
        return [question for question in plan._better(shares, dropped) if question.clique == pair]

    assert tried(shares, set()) == [coarse]
    assert sorted(tried(shares, {coarse})) == finer
    assert sorted(tried(shares, {coarse, finer[1]})) == [finer[0], finer[2]]
    assert tried(shares, {coarse, *finer}) == [coarse]  # what is around it may have changed
    assert tried({**shares, coarse: 1e-6}, set()) == []


def test_in_wide_tables_more_is_added_at_a_time():
    domain, sizes, workload, errors = alike(72, 8, pair=1e8)
    plan = BatchPlan(domain, loss_of(sizes, workload, errors, l2_squared=1))
    shares = plan._minimised(dict.fromkeys(plan._columns, 1.0), 1.0, 1)
    assert len(plan._better(shares, set())) == 72 // 4
