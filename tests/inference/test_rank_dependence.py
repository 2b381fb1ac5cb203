"""Ranks of attributes with an order: how they go with others is drawn to what all measurements say."""

import numpy as np
import pytest

from synthdp.core import Coarsening, Constraint, Domain, LinearMeasurement
from synthdp.inference import (
    FitProblem,
    LayeredConsistencyEngine,
    NoisyTables,
    cut_gaussians,
    with_rank_dependence,
)

PAIR = ("a", "b")
SHAPE = (12, 16)
ORDERED = Domain(PAIR, SHAPE, ordered=frozenset(PAIR))
TOTAL = 20_000.0
GROUPS = Coarsening({"a": np.arange(12) // 3, "b": np.arange(16) // 4})


def weak(correlation=0.12):
    """A pair that depends weakly, and what it would be if it were independent."""
    rng = np.random.default_rng(5)
    own, other = (rng.dirichlet(np.full(size, 3.0)) for size in SHAPE)
    return TOTAL * cut_gaussians(own, other, correlation), TOTAL * np.multiply.outer(own, other)


def rank_correlation(table):
    shares = table / table.sum()
    ways = shares.sum(axis=1), shares.sum(axis=0)
    ranks = [np.cumsum(way) - way / 2 for way in ways]
    means = [way @ rank for way, rank in zip(ways, ranks, strict=True)]
    spreads = [
        np.sqrt(way @ (rank - mean) ** 2)
        for way, rank, mean in zip(ways, ranks, means, strict=True)
    ]
    return (ranks[0] - means[0]) @ shares @ (ranks[1] - means[1]) / np.prod(spreads)


def estimates(measurements, domain=ORDERED):
    tables = NoisyTables(domain, measurements, [PAIR], total=TOTAL, max_whole=6)
    return [*tables.estimates(PAIR).values()]


def measured(table, stddev, seed, groups=None):
    rng = np.random.default_rng(seed)
    values = table if groups is None else groups.apply(PAIR, table)
    return LinearMeasurement(PAIR, values + rng.normal(0, stddev, values.shape), stddev, groups)


def test_it_is_the_mean_of_a_gaussian_that_knows_all_measurements():
    """By plain linear algebra over all numbers that were measured: the prior of the correlation is
    normal, of standard deviation .1, and so is each noise.
    """
    table, independent = weak()
    said = [measured(table, 60.0, 1), measured(table, 150.0, 2, GROUPS)]
    found = with_rank_dependence(ORDERED, PAIR, independent, estimates(said))
    own, other = independent.sum(axis=1) / TOTAL, independent.sum(axis=0) / TOTAL
    scores = [np.cumsum(way) - way / 2 - 0.5 for way in (own, other)]
    direction = independent * np.multiply.outer(*scores)
    # The correlation of a table is linear in how far it goes in that direction.
    change = direction / rank_correlation(independent + direction)
    rows = np.concatenate([change.ravel(), GROUPS.apply(PAIR, change).ravel()])
    apart = np.concatenate(
        [
            (said[0].values - independent).ravel(),
            (said[1].values - GROUPS.apply(PAIR, independent)).ravel(),
        ]
    )
    weights = np.repeat([60.0**-2, 150.0**-2], [192, 16])
    expected = (rows * weights) @ apart / ((rows * weights) @ rows + 0.1**-2)
    assert rank_correlation(found) == pytest.approx(expected, abs=1e-9)
    for axis in (0, 1):
        np.testing.assert_allclose(found.sum(axis=axis), independent.sum(axis=axis))


def test_what_is_hidden_cell_by_cell_is_seen_in_all_of_them():
    """Errors of correlations against those of the expectation without it, 60 noises of a table."""
    table, independent = weak()
    true = rank_correlation(table)
    found = [
        rank_correlation(
            with_rank_dependence(
                ORDERED, PAIR, independent, estimates([measured(table, 100.0, seed, GROUPS)])
            )
        )
        for seed in range(60)
    ]
    assert np.abs(np.mean(found) - true) < 0.25 * true
    assert np.mean(np.abs(np.array(found) - true)) < 0.35 * true


def test_noise_alone_is_taken_for_little():
    _, independent = weak()
    for seed in range(20):
        noise = estimates([measured(independent, 1000.0, seed, GROUPS)])
        found = with_rank_dependence(ORDERED, PAIR, independent, noise)
        assert abs(rank_correlation(found)) < 0.1


def test_names_have_no_rank():
    table, independent = weak()
    domain = Domain(PAIR, SHAPE)
    said = estimates([measured(table, 60.0, 1)], domain)
    assert with_rank_dependence(domain, PAIR, independent, said) is independent


def standardised(scores, shares):
    scores = scores - shares @ scores
    return scores / np.sqrt(shares @ scores**2)


@pytest.mark.parametrize("axis", [0, 1])
def test_mean_ranks_and_spreads_by_name_are_those_of_a_ridge_regression(axis):
    """By least squares over all numbers that were measured, and as many that the prior adds."""
    table, independent = weak()
    domain = Domain(PAIR, SHAPE, ordered=frozenset(PAIR[axis]))
    said = [measured(table, 60.0, 1), measured(table, 150.0, 2, GROUPS)]
    found = with_rank_dependence(domain, PAIR, independent, estimates(said, domain))
    shares = independent.sum(axis=1 - axis) / TOTAL
    names = independent.sum(axis=axis) / TOTAL
    places = standardised(np.cumsum(shares) - shares / 2, shares)
    squares = standardised(places**2, shares)
    squares = standardised(squares - (shares @ (squares * places)) * places, shares)
    changes = []
    for name in range(names.size):
        has_it = standardised(np.arange(names.size) == name, names)
        for scores in (places, squares):
            both = np.multiply.outer(shares * scores, names * has_it)
            changes.append(TOTAL * (both if axis == 0 else both.T))
    fine = [change.ravel() / 60.0 for change in changes]
    coarse = [GROUPS.apply(PAIR, change).ravel() / 150.0 for change in changes]
    rows = np.hstack([fine, coarse, np.eye(len(changes)) / 0.05]).T
    apart = [
        (said[0].values - independent).ravel() / 60.0,
        (said[1].values - GROUPS.apply(PAIR, independent)).ravel() / 150.0,
        np.zeros(len(changes)),
    ]
    numbers = np.linalg.lstsq(rows, np.concatenate(apart), rcond=None)[0]
    expected = independent + np.tensordot(numbers, changes, axes=1)
    np.testing.assert_allclose(found, np.maximum(expected, 0.02 * independent), atol=1e-6)


def test_two_levels_in_order_have_no_spread():
    """Their mean rank says all."""
    domain = Domain(PAIR, (2, 5), ordered=frozenset("a"))
    independent = np.multiply.outer([0.4, 0.6], np.full(5, 0.2)) * TOTAL
    table = independent + np.multiply.outer([1.0, -1.0], [300.0, -100.0, -200.0, 0.0, 0.0])
    tables = NoisyTables(
        domain, [LinearMeasurement(PAIR, table, 1.0)], [PAIR], total=TOTAL, max_whole=6
    )
    said = [*tables.estimates(PAIR).values()]
    found = with_rank_dependence(domain, PAIR, independent, said)
    np.testing.assert_allclose(found, table, atol=1.0)


def test_of_very_many_names_nothing_is_expected():
    domain = Domain(PAIR, (12, 129), ordered=frozenset("a"))
    independent = np.ones((12, 129))
    said = [LinearMeasurement(PAIR, np.random.default_rng(1).normal(1.0, 1.0, (12, 129)), 1.0)]
    tables = NoisyTables(domain, said, [PAIR], total=independent.sum(), max_whole=6)
    asked = [*tables.estimates(PAIR).values()]
    assert with_rank_dependence(domain, PAIR, independent, asked) is independent


def test_nothing_measured_changes_nothing():
    _, independent = weak()
    assert with_rank_dependence(ORDERED, PAIR, independent, []) is independent


def test_levels_outside_of_the_order_keep_what_is_expected():
    table, independent = weak()
    domain = Domain(PAIR, SHAPE, {"a": (11,), "b": (0,)}, frozenset(PAIR))
    said = estimates([measured(table, 60.0, 1)], domain)
    found = with_rank_dependence(domain, PAIR, independent, said)
    np.testing.assert_array_equal(found[11], independent[11])
    np.testing.assert_array_equal(found[:, 0], independent[:, 0])
    assert np.abs(found[:11, 1:] - independent[:11, 1:]).max() > 1.0
    lone = Domain(PAIR, SHAPE, {"b": tuple(range(15))}, frozenset(PAIR))
    assert with_rank_dependence(lone, PAIR, independent, said) is independent


def test_no_cell_becomes_impossible():
    """A correlation that no table of these columns has, as noise may say."""
    table = np.zeros(SHAPE)
    table[0, -1] = table[-1, 0] = TOTAL / 2
    _, independent = weak()
    found = with_rank_dependence(ORDERED, PAIR, independent, estimates([measured(table, 1.0, 1)]))
    assert (found >= 0.02 * independent).all()
    assert rank_correlation(found) < -0.3


def test_the_layered_engine_keeps_weak_correlations(monkeypatch):
    """The mean error over 40 noises against that of the engine without it, paired."""
    table, _ = weak()
    true = rank_correlation(table)

    def errors():
        found = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            columns = [
                LinearMeasurement(
                    (name,), table.sum(axis=1 - axis) + rng.normal(0, 40.0, SHAPE[axis]), 40.0
                )
                for axis, name in enumerate(PAIR)
            ]
            problem = FitProblem(ORDERED, [*columns, measured(table, 100.0, 100 + seed, GROUPS)])
            model = LayeredConsistencyEngine().fit(problem)
            found.append(abs(rank_correlation(model.marginal(PAIR).values) - true))
        return np.mean(found)

    drawn = errors()
    monkeypatch.setattr(
        "synthdp.inference.engines.layered_consistency.with_rank_dependence",
        lambda _domain, _pair, expected, _estimates: expected,
    )
    assert drawn < 0.75 * errors()


def test_pairs_that_rules_narrow_are_left_to_the_rule(monkeypatch):
    allowed = np.ones(SHAPE, dtype=bool)
    allowed[0, 0] = False
    rule = Constraint(PAIR, allowed)
    table, _ = weak()
    monkeypatch.setattr(
        "synthdp.inference.engines.layered_consistency.with_rank_dependence", None
    )  # it is not asked
    model = LayeredConsistencyEngine().fit(
        FitProblem(ORDERED, [measured(table, 60.0, 1)], constraints=[rule])
    )
    assert model.marginal(PAIR).values[0, 0] == 0
