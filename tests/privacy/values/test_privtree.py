"""PrivTree against the exact distribution over all trees of a small grid, worked out by
enumeration.
"""

import json
from collections import Counter
from dataclasses import FrozenInstanceError
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, pairwise, product
from math import ceil, exp, log, log2

import numpy as np
import pytest
from helpers.seldom import examples, often
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.privacy import Replay, Seeded, failed, p_binomial, p_chi_squared

from synthdp.core import ParameterError
from synthdp.privacy import (
    MAX_SCALE,
    PrivTreeEvent,
    SystemRandomness,
    exact_rho,
    privtree_epsilon,
    split_tree,
)

SYSTEM = SystemRandomness()
PARAMETERS = [(1, 1), (2, 1), (3, 2), (4, 3), (2, 5)]


# The oracle: nothing but the definition, with the noise's probabilities summed up one by one


@cache
def split_probability(biased, scale, threshold):
    """P(biased + X > threshold)."""
    reach = 60 * scale
    weights = {x: exp(-abs(x) / scale) for x in range(-reach, reach + 1)}
    return sum(w for x, w in weights.items() if biased + x > threshold) / sum(weights.values())


def trees(counts, scale, decay, *, threshold=0, noise_scale=None, bias=True, floor=True):
    """Probability of each tree (the starts of its leaves); the last three arguments make mutants."""

    def below(start, stop, depth):
        if stop - start == 1:
            return {(start,): 1.0}
        biased = sum(counts[start:stop]) - (depth * decay if bias else 0)
        if floor:
            biased = max(threshold - decay, biased)
        splits = split_probability(biased, noise_scale or scale, threshold)
        middle = start + (stop - start) // 2
        halves = product(
            below(start, middle, depth + 1).items(), below(middle, stop, depth + 1).items()
        )
        return {(start,): 1.0 - splits} | {
            left + right: splits * p * q for (left, p), (right, q) in halves
        }

    return below(0, len(counts), 0)


def worst_loss(counts, cells, scale, decay, **changes):
    """Largest |log ratio| of a tree's probability when the records in ``cells`` come or go."""
    more = list(counts)
    for cell in cells:
        more[cell] += 1
    here, there = (trees(c, scale, decay, **changes) for c in (counts, more))
    assert here.keys() == there.keys()
    return max(abs(log(here[tree] / there[tree])) for tree in here)


def more(counts, cells):
    """The counts with a record more in each of some cells."""
    return tuple(count + list(cells).count(cell) for cell, count in enumerate(counts))


def sample(counts, n, scale, decay, randomness=SYSTEM, **changes):
    cumulative = np.concatenate([[0], np.cumsum(counts)])
    for _ in range(n):
        starts, stop = split_tree(
            lambda points: cumulative[points],
            0,
            len(counts),
            scale=scale,
            decay=decay,
            randomness=randomness,
            **changes,
        )
        assert starts.dtype == np.int64
        assert stop == len(counts)
        yield tuple(starts.tolist())


# Privacy: every tree, every small table


def test_oracle_is_a_distribution():
    assert len(trees([1] * 8, 2, 1)) == 26
    assert sum(trees([3, 0, 1, 0, 2], 2, 1).values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("scale", "decay"), PARAMETERS)
def test_no_tree_tells_more_than_epsilon_about_a_record(scale, decay):
    epsilon = float(privtree_epsilon(scale, decay))
    worst = max(
        worst_loss(counts, [cell], scale, decay)
        for counts in product(range(5), repeat=4)
        for cell in range(4)
    )
    assert 0.3 * epsilon < worst <= epsilon


@pytest.mark.parametrize("n_cells", [5, 6, 7, 8])
@pytest.mark.parametrize(("scale", "decay"), PARAMETERS)
def test_on_larger_grids_too(n_cells, scale, decay):
    epsilon = float(privtree_epsilon(scale, decay))
    generator = np.random.default_rng(n_cells)
    crowded = [[0] * (n_cells - 1) + [n] for n in range(4 * decay + 1)]
    scattered = generator.integers(0, 2 * decay + 2, size=(20, n_cells)).tolist()
    worst = max(worst_loss(counts, [n_cells - 1], scale, decay) for counts in crowded + scattered)
    assert 0.6 * epsilon < worst <= epsilon


@pytest.mark.parametrize("changes", [{"threshold": 3}], ids=str)
def test_a_threshold_is_free(changes):
    epsilon = float(privtree_epsilon(3, 2))
    tables = product(range(7), repeat=3)
    assert max(worst_loss([n, 0, *rest], [0], 3, 2, **changes) for n, *rest in tables) <= epsilon


@pytest.mark.parametrize(("scale", "decay"), [(2, 1), (3, 2)])
def test_several_records_in_any_cells_cost_several_times_epsilon(scale, decay):
    event = PrivTreeEvent(column="a", scale=scale, decay=decay, sensitivity=3)
    assert event.epsilon == 3 * privtree_epsilon(scale, decay)
    worst = max(
        worst_loss(counts, cells, scale, decay)
        for counts in product(range(4), repeat=4)
        for cells in combinations_with_replacement(range(4), 3)
    )
    assert 0.3 * event.epsilon < worst <= event.epsilon


def test_replacing_a_record_costs_at_most_twice_epsilon():
    event = PrivTreeEvent(column="a", scale=3, decay=2, sensitivity=2)
    worst = 0.0
    for counts in product(range(5), repeat=4):
        before, after = ([c + (i == cell) for i, c in enumerate(counts)] for cell in (0, 3))
        here, there = trees(before, 3, 2), trees(after, 3, 2)
        worst = max(worst, *(abs(log(here[tree] / there[tree])) for tree in here))
    assert 0.3 * event.epsilon < worst <= event.epsilon


@pytest.mark.parametrize("mutant", [{"noise_scale": 2}, {"bias": False}, {"floor": False}], ids=str)
def test_half_the_noise_no_bias_or_no_floor_would_be_found_out(mutant):
    epsilon = float(privtree_epsilon(4, 3))
    tables = [[n] + [0] * 15 for n in range(8)]
    assert max(worst_loss(counts, [0], 4, 3) for counts in tables) <= epsilon
    assert max(worst_loss(counts, [0], 4, 3, **mutant) for counts in tables) > epsilon


# Privacy as zCDP: Renyi divergences of the same distributions

ORDERS = (1.0, 1.1, 1.5, 2.0, 4.0, 16.0, 64.0)
PAIRS = {
    "a record comes": (
        1,
        [(c, more(c, [i])) for c in product(range(5), repeat=4) for i in range(4)],
    ),
    "a record comes, crowded": (1, [((0,) * 15 + (n,), (0,) * 15 + (n + 1,)) for n in range(25)]),
    "a record comes, uneven": (
        1,
        [((n, 0, 2, 0, m), (n, 0, 2, 0, m + 1)) for n in range(3) for m in range(9)],
    ),
    "three records come": (
        3,
        [
            (c, more(c, i))
            for c in product(range(3), repeat=4)
            for i in combinations_with_replacement(range(4), 3)
        ],
    ),
    "three records come, crowded": (3, [((0,) * 7 + (n,), (0,) * 7 + (n + 3,)) for n in range(20)]),
    "a record is replaced": (
        2,
        [
            (more(c, [i]), more(c, [j]))
            for c in product(range(4), repeat=4)
            for i, j in ((0, 3), (3, 0), (0, 1))
        ],
    ),
}


def renyi(log_p, log_q, order):
    """Renyi divergence of an order, in nats; of order 1 the Kullback-Leibler divergence."""
    losses = log_p - log_q
    if order == 1:
        return float(np.exp(log_p) @ losses)
    exponents = log_q + order * losses
    largest = exponents.max()
    return float(largest + np.log(np.exp(exponents - largest).sum())) / (order - 1)


def worst_of(pairs, scale, decay, **changes):
    """Largest divergence, both ways, for each order and per order; and the largest range of log
    ratios.
    """
    known = {}
    for counts in {counts for pair in pairs for counts in pair}:
        found = trees(counts, scale, decay, **changes)
        known[counts] = np.log([found[tree] for tree in sorted(found)])
    divergences, ranges = dict.fromkeys(ORDERS, 0.0), []
    for pair in pairs:
        one, two = (known[counts] for counts in pair)
        ranges.append(np.ptp(one - two))
        for order in ORDERS:
            worst = max(renyi(one, two, order), renyi(two, one, order)) / order
            divergences[order] = max(divergences[order], worst)
    return divergences, max(ranges)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(("scale", "decay"), PARAMETERS)
def test_trees_are_bounded_range_and_zcdp(scale, decay, name):
    sensitivity, pairs = PAIRS[name]
    event = PrivTreeEvent(column="a", scale=scale, decay=decay, sensitivity=sensitivity)
    divergences, widest = worst_of(pairs, scale, decay)
    assert max(divergences.values()) <= event.rho
    assert widest <= event.epsilon + Fraction(sensitivity, scale)


def test_a_third_of_rho_or_a_range_of_epsilon_would_be_found_out():
    for scale, decay in ((1, 1), (2, 5), (3, 7)):
        event = PrivTreeEvent(column="a", scale=scale, decay=decay, sensitivity=1)
        found = [
            worst_of(PAIRS[name][1], scale, decay)
            for name in ("a record comes", "a record comes, crowded")
        ]
        assert max(max(divergences.values()) for divergences, _ in found) > event.rho / 3
        assert max(widest for _, widest in found) > event.epsilon


def test_half_the_noise_breaks_zcdp():
    """The same tables with a mechanism that is worse than its event says."""
    pairs = PAIRS["a record comes, crowded"][1]
    event = PrivTreeEvent(column="a", scale=4, decay=3, sensitivity=1)
    assert max(worst_of(pairs, 4, 3)[0].values()) <= event.rho
    assert max(worst_of(pairs, 4, 3, noise_scale=2)[0].values()) > event.rho


# The sampler draws from that distribution


@pytest.mark.parametrize(
    ("counts", "scale", "decay", "changes"),
    often(
        ([0, 1, 0, 0, 3, 1, 0, 0], 2, 1, {}),
        seldom=(([9, 0, 0, 2, 0], 3, 2, {}), ([0] * 8, 2, 1, {"threshold": 2})),
    ),
    ids=str,
)
def test_trees_come_out_as_often_as_they_should(counts, scale, decay, changes):
    n = 6_000
    drawn = Counter(sample(counts, n, scale, decay, **changes))
    exact = trees(counts, scale, decay, **changes)
    assert drawn.keys() <= exact.keys()
    observed = np.array([drawn[tree] for tree in exact])
    assert not failed({"fit": p_chi_squared(observed, np.array(list(exact.values())))})


@pytest.mark.slow
def test_another_scale_or_decay_comes_out_differently():
    counts = [0, 1, 0, 0, 3, 1, 0, 0]
    drawn = Counter(sample(counts, 18_000, 13, 7))
    for scale, decay in ((10, 7), (13, 7), (17, 7), (13, 5), (13, 10)):
        exact = trees(counts, scale, decay)
        observed = np.array([drawn[tree] for tree in exact])
        wrong = failed({"fit": p_chi_squared(observed, np.array(list(exact.values())))})
        assert bool(wrong) == ((scale, decay) != (13, 7)), (scale, decay)


def test_a_large_scale_is_as_exact():
    scale, decay = MAX_SCALE, MAX_SCALE // 3
    n_split = sum(len(tree) == 2 for tree in sample([0, 0], 4_000, scale, decay))
    # P(X > 0), nearly: with noise this wide, X = 0 is as good as impossible.
    assert not failed({"split": p_binomial(n_split, 4_000, 0.5)})
    n_split = sum(len(tree) == 2 for tree in sample([scale, 0], 4_000, scale, decay))
    assert not failed({"split": p_binomial(n_split, 4_000, 1 - exp(-1) / 2)})


# Extremes and shape


@pytest.mark.parametrize("n_records", [0, 2**62, 2**63 - 1])
def test_the_whole_of_64_bits_and_the_greatest_counts_do_not_overflow(n_records):
    low, high = -(2**63), 2**63 - 1
    starts, stop = split_tree(
        lambda points: np.where(points > 7, n_records, 0),
        low,
        high,
        scale=3,
        decay=2,
        randomness=SYSTEM,
    )
    edges = {*starts.tolist(), stop}
    assert starts[0] == low
    assert stop == high
    if n_records:
        assert {7, 8} <= edges


@pytest.mark.parametrize("n_cells", [1, 2, 3, 7, 8, 100, 129])
def test_depth_is_bounded_and_each_level_is_counted_once(n_cells):
    asked = []

    def counts_below(points):
        asked.append(points.tolist())
        return points * 10**6

    starts, stop = split_tree(counts_below, 0, n_cells, scale=3, decay=2, randomness=SYSTEM)
    assert starts.tolist() == list(range(n_cells))
    assert stop == n_cells
    assert len(asked) <= ceil(log2(n_cells)) + 1
    assert [points for points in asked if points] == asked[: ceil(log2(n_cells))]


@settings(max_examples=examples(60), deadline=None)
@given(seed=st.integers(0, 2**32), low=st.integers(-(10**9), 10**9), width=st.integers(1, 10**6))
def test_the_questions_asked_follow_from_the_released_tree_alone(seed, low, width):
    """Points asked for are edges of the released leaves, increasing; the leaves are halves of
    halves.
    """
    values = np.sort(np.random.default_rng(seed).integers(low, low + width, 50))
    asked = []

    def counts_below(points):
        assert points.dtype == np.int64
        asked.append(points.tolist())
        return np.searchsorted(values, points)

    starts, stop = split_tree(
        counts_below, low, low + width, scale=2, decay=1, randomness=Seeded(seed)
    )
    edges = [*starts.tolist(), stop]
    assert edges == sorted(set(edges))
    nodes, expected = [(low, low + width)], []
    while nodes:  # the same questions, from the leaves
        nodes = [(start, stop) for start, stop in nodes if stop - start > 1]
        expected.append(sorted({edge for node in nodes for edge in node}))
        split = [node for node in nodes if any(node[0] < edge < node[1] for edge in edges)]
        middles = [start + (stop - start) // 2 for start, stop in split]
        assert set(middles) <= set(edges)
        pairs = [((start, m), (m, stop)) for (start, stop), m in zip(split, middles, strict=True)]
        nodes = [half for pair in pairs for half in pair]
    assert [points for points in asked if points] == [points for points in expected if points]


def test_the_same_bits_give_the_same_tree():
    counts = [0, 3, 1, 0, 4, 0, 0, 2]
    first, second, other = (list(sample(counts, 50, 2, 1, Seeded(seed))) for seed in (1, 1, 2))
    assert first == second
    assert first != other


def test_a_grid_of_one_point_needs_neither_counts_nor_bits():
    starts, stop = split_tree(
        lambda _: pytest.fail("asked"), 5, 6, scale=3, decay=2, randomness=Replay(b"")
    )
    assert (starts.tolist(), stop) == ([5], 6)


@pytest.mark.parametrize(
    "changes",
    [
        {"low": 8},
        {"low": 9},
        {"low": -(2**63) - 1},
        {"high": 2**63},
        {"scale": 0},
        {"scale": MAX_SCALE + 1},
        {"decay": 0},
        {"decay": -1},
        {"threshold": -1},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_before_anything_is_counted(changes):
    given = {"low": 0, "high": 8, "scale": 3, "decay": 2, "randomness": Replay(b"")} | changes
    with pytest.raises(ParameterError, match="give"):
        split_tree(lambda _: pytest.fail("asked"), given.pop("low"), given.pop("high"), **given)


# Epsilon, parameters, event


@given(scale=st.integers(1, MAX_SCALE), decay=st.integers(1, MAX_SCALE))
def test_epsilon_is_the_theorem_rounded_up(scale, decay):
    with localcontext() as context:
        context.prec = 80
        growth = (Decimal(decay) / scale).exp() if decay < 10**4 * scale else None
        factor = (2 * growth - 1) / (growth - 1) if growth else Decimal(2)
        epsilon = privtree_epsilon(scale, decay)
        given_epsilon = Decimal(epsilon.numerator) / epsilon.denominator
        slack = Decimal(10) ** -60 if growth else Decimal(0)
        assert factor / scale * (1 - slack) <= given_epsilon <= factor / scale + Decimal(2) ** -79


@pytest.mark.parametrize("scale", [0, -1, MAX_SCALE + 1])
def test_epsilon_of_impossible_parameters(scale):
    with pytest.raises(ParameterError, match="scale is"):
        privtree_epsilon(scale, 1)
    with pytest.raises(ParameterError, match="decay is"):
        privtree_epsilon(1, scale)


def test_epsilon_falls_with_the_scale():
    """Hence the search for the least scale finds it."""
    epsilons = [privtree_epsilon(scale, max(1, round(scale * log(2)))) for scale in range(1, 3_000)]
    assert all(one > two for one, two in pairwise(epsilons))


@given(
    rho=st.fractions(min_value=Fraction(1, 10**12), max_value=100), sensitivity=st.integers(1, 20)
)
def test_event_is_the_largest_that_costs_no_more(rho, sensitivity):
    event = PrivTreeEvent.costing(rho, column="a", sensitivity=sensitivity)
    assert event.sensitivity == sensitivity
    assert event.epsilon == sensitivity * privtree_epsilon(event.scale, event.decay)
    assert event.rho == (event.epsilon + Fraction(sensitivity, event.scale)) ** 2 / 8 <= rho
    assert exact_rho(event.rho) == event.rho
    assert not event.is_gaussian
    if event.scale > 1:
        decay = max(1, round((event.scale - 1) * log(2)))
        assert (
            PrivTreeEvent(
                column="a", scale=event.scale - 1, decay=decay, sensitivity=sensitivity
            ).rho
            > rho
        )


def test_event_is_frozen_and_writes_plain_json():
    event = PrivTreeEvent.costing(Fraction(1, 50), column="age", sensitivity=2)
    with pytest.raises(FrozenInstanceError):
        event.scale = 1
    assert json.loads(json.dumps(event.to_dict())) == {
        "event": "tree",
        "mechanism": "PrivTree, discrete Laplace",
        "column": "age",
        "epsilon": float(event.epsilon),
        "scale": event.scale,
        "decay": event.decay,
        "sensitivity": 2,
        "rho": float(event.rho),
    }
    assert 0.95 * 0.02 < event.to_dict()["rho"] <= 0.02


def test_too_little_or_nonsense_is_refused():
    with pytest.raises(ParameterError, match="too little"):
        PrivTreeEvent.costing(Fraction(1, 10**26), column="a", sensitivity=1)
    with pytest.raises(ParameterError, match="rho is"):
        PrivTreeEvent.costing(Fraction(0), column="a", sensitivity=1)
    with pytest.raises(ParameterError, match="sensitivity is 0"):
        PrivTreeEvent.costing(Fraction(1), column="a", sensitivity=0)
