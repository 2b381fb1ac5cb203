"""Scores have the sensitivity they declare, and selection follows the exponential mechanism."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from helpers.seldom import examples, often
from helpers.tables import (
    BOTH,
    CLIQUES,
    DOMAIN,
    EITHER,
    MERGING,
    ROWS,
    estimates_of,
    exact,
    private,
    rows_of,
    tables,
    zero_score,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.privacy import Seeded, failed, gaussian_p_values, p_binomial, p_chi_squared

from synthdp.core import Domain, ParameterError
from synthdp.privacy import (
    Adjacency,
    MarginalL1Error,
    PrivacyLedger,
    PrivacyUnit,
    PrivateTable,
    ScoresEvent,
)

# Scores


def test_score_is_the_l1_error_in_grid_units():
    estimate = np.array([1.0, 0.5, 2**-11 + 2**-12])
    score = MarginalL1Error({("a",): estimate})
    assert score.units_per_record == 2**26
    assert score.error(("a",), exact(("a",))) == 1024 + 512 + 1024 - 1


@pytest.mark.parametrize(
    "estimate",
    [np.full(3, nan), np.array([inf, 0, 0]), np.full(3, 2.0**39), np.array([2**41, 0, 0])],
)
def test_estimates_that_could_overflow_are_refused(estimate):
    with pytest.raises(ParameterError, match="estimate"):
        MarginalL1Error({("a",): estimate})


def test_many_large_estimates_cannot_wrap_round():
    """2^13 cells of 2^40 would add up to 2^63 units: one record less and the sum would be negative."""
    with pytest.raises(ParameterError, match="estimate"):
        MarginalL1Error({("a",): np.full(2**13, 2.0**40)})
    score = MarginalL1Error({("a",): np.full(2**13, 2.0**27)})
    assert score.error(("a",), np.zeros(2**13, dtype=np.int64)) == 2**50
    assert (
        score.error(("a",), np.full(2**13, 2**36, dtype=np.int64))
        == (2**36 - 2**27) * 2**13 * 2**10
    )


def test_estimates_are_fixed_when_the_score_is_made():
    estimate = np.zeros(3)
    score = MarginalL1Error({("a",): estimate})
    estimate[:] = nan
    assert score.error(("a",), exact(("a",))) == 4 * 1024
    assert MarginalL1Error({("a",): [0, 0, 0]}).error(("a",), exact(("a",))) == 4 * 1024


@settings(max_examples=examples(75), deadline=None)
@given(rows=tables, row=rows_of, numbers=estimates_of, at=st.integers(0, 11), merged=st.booleans())
def test_score_sensitivity_is_exact(rows, row, numbers, at, merged):
    coarsening = MERGING if merged else None
    domain = MERGING.domain(DOMAIN) if merged else DOMAIN
    shapes = {clique: domain.project(clique).shape for clique in CLIQUES}
    score = MarginalL1Error(
        {c: np.resize(numbers, shape) for c, shape in shapes.items()}, coarsening
    )
    neighbours = {Adjacency.ADD_REMOVE: [*rows, row]}
    if rows:
        neighbours[Adjacency.REPLACE_ONE] = [
            row if i == at % len(rows) else old for i, old in enumerate(rows)
        ]
    for adjacency, other in neighbours.items():
        event = ScoresEvent.costing(
            Fraction(1), score="s", n_candidates=len(CLIQUES), sensitivity=adjacency.marginal_l1
        )
        moves = []
        for clique in CLIQUES:
            error, error_ = (
                score.error(clique, exact(clique, r, coarsening)) for r in (rows, other)
            )
            assert (
                abs(error - error_)
                <= score.sensitivity([clique], PrivacyUnit(adjacency=adjacency)) * 1024
            )
            moves.append(score.whole_records(error) - score.whole_records(error_))
        assert max(map(abs, moves)) <= event.sensitivity
        assert sum(move**2 for move in moves) <= event.n_candidates * event.sensitivity**2


def test_the_declared_sensitivity_is_reached_by_all_scores_at_once():
    """Power: anything below sqrt(k) times the sensitivity is exceeded here, under both adjacencies."""
    rows, cliques = [(0, 0, 0)] * 3, [clique for clique in CLIQUES if clique]
    score = MarginalL1Error({clique: exact(clique, rows) for clique in cliques})
    for adjacency, other in [
        (Adjacency.ADD_REMOVE, [*rows, (1, 1, 1)]),
        (Adjacency.REPLACE_ONE, [*rows[1:], (1, 1, 1)]),
    ]:
        before, after = (
            [score.whole_records(score.error(c, exact(c, r))) for c in cliques]
            for r in (rows, other)
        )
        assert before == [0] * len(cliques)
        assert after == [adjacency.marginal_l1] * len(cliques)


WEIGHTS = st.lists(st.floats(2**-16, 1000), min_size=len(CLIQUES), max_size=len(CLIQUES))
PENALTIES = st.lists(st.floats(-1000, 1000), min_size=len(CLIQUES), max_size=len(CLIQUES))


@settings(max_examples=examples(100), deadline=None)
@given(
    rows=st.lists(rows_of, min_size=1, max_size=12),
    row=rows_of,
    numbers=estimates_of,
    weights=WEIGHTS,
    penalties=PENALTIES,
)
def test_weighted_scores_move_by_no_more_than_they_declare(rows, row, numbers, weights, penalties):
    score = MarginalL1Error(
        {c: np.resize(numbers, DOMAIN.project(c).shape) for c in CLIQUES},
        weights=dict(zip(CLIQUES, weights, strict=True)),
        penalties=dict(zip(CLIQUES, penalties, strict=True)),
    )
    for adjacency, other in {
        Adjacency.ADD_REMOVE: [*rows, row],
        Adjacency.REPLACE_ONE: [row, *rows[1:]],
    }.items():
        unit = PrivacyUnit(adjacency=adjacency)
        for chosen in (CLIQUES, CLIQUES[:2], CLIQUES[3:4]):
            moves = [
                score.weighted(c, score.error(c, exact(c, rows)))
                - score.weighted(c, score.error(c, exact(c, other)))
                for c in chosen
            ]
            assert {type(move) for move in moves} == {int}
            assert max(map(abs, moves)) <= score.sensitivity(chosen, unit) * score.units_per_record
            assert score.sensitivity(chosen, unit) <= score.sensitivity(CLIQUES, unit)


@BOTH
def test_the_sensitivity_of_weighted_scores_is_reached(adjacency):
    other = [*ROWS, (0, 1, 1)] if adjacency is Adjacency.ADD_REMOVE else [(1, 0, 0), *ROWS[1:]]
    score = MarginalL1Error(
        {c: exact(c) for c in CLIQUES}, weights={c: 1.5 + len(c) for c in CLIQUES}
    )
    moves = [score.weighted(c, score.error(c, exact(c, other))) for c in CLIQUES]
    unit = PrivacyUnit(adjacency=adjacency)
    assert max(moves) == score.sensitivity(CLIQUES, unit) * score.units_per_record
    assert score.sensitivity(CLIQUES, unit) == Fraction(9, 2) * adjacency.marginal_l1
    assert score.sensitivity([("a",)], unit) == Fraction(5, 2) * adjacency.marginal_l1


def test_weights_and_penalties_follow_aim():
    """``w (||M(D) - estimate||_1 - penalty)``, in plain floating point."""
    estimate = np.array([1.5, 0.25, 0.0])
    score = MarginalL1Error({("a",): estimate}, weights={("a",): 3.25}, penalties={("a",): 0.5})
    error = score.error(("a",), exact(("a",)))
    assert score.weighted(("a",), error) / score.units_per_record == 3.25 * (
        np.abs(exact(("a",)) - estimate).sum() - 0.5
    )
    assert score.noisy(("a",), 7) == 3.25 * (7 - 0.5)


@pytest.mark.parametrize("weight", [0.0, -1.0, nan, inf, 2.0**41, 2.0**-18])
def test_weights_out_of_range_are_refused(weight):
    with pytest.raises(ParameterError, match="weight"):
        MarginalL1Error(
            {("a",): np.zeros(3), ("b",): np.zeros(2)}, weights={("a",): 1.0, ("b",): weight}
        )


@pytest.mark.parametrize("penalty", [nan, inf, -inf, 2.0**41])
def test_penalties_out_of_range_are_refused(penalty):
    with pytest.raises(ParameterError, match="penalty"):
        MarginalL1Error({("a",): np.zeros(3)}, penalties={("a",): penalty})


def test_a_missing_weight_or_penalty_is_refused():
    for missing in ({"weights": {}}, {"penalties": {("b",): 1.0}}):
        with pytest.raises(ParameterError, match="missing"):
            MarginalL1Error({("a",): np.zeros(3)}, **missing)


# Noisy scores


@BOTH
@EITHER
def test_noisy_scores_have_the_noise_of_their_event(adjacency, accounting):
    domain = Domain(tuple(f"x{i}" for i in range(200)), (2,) * 200)
    rows, cliques = [(0,) * 200] * 5, [(f"x{i}", f"x{j}") for i in range(200) for j in range(i)]
    score = MarginalL1Error(
        {c: np.full((2, 2), 0.3) for c in cliques}
    )  # |5 - 0.3| + 3 * 0.3 = 5.6: 5 whole records
    table = private(rows, adjacency, domain=domain, accounting=accounting)
    noisy = table.scores(cliques, score=score, rho=Fraction(50))
    (event,) = table.ledger.events
    assert list(noisy) == cliques
    assert table.ledger.spent == 50
    assert event.sigma_squared == Fraction(len(cliques) * adjacency.marginal_l1**2, 100)
    draws = np.array(list(noisy.values())) - 5
    sigma = float(event.sigma_squared) ** 0.5
    assert not failed(gaussian_p_values(draws.astype(np.int64), sigma))
    assert {"fit", "variance"} <= set(
        failed(gaussian_p_values(draws.astype(np.int64), sigma * 1.3))
    )


@EITHER
def test_weights_are_applied_to_noisy_scores_afterwards(accounting):
    """The same bits, weighted or not: the same noise, and so the same charge and one formula
    between the two.
    """
    estimates = {c: np.full(DOMAIN.project(c).shape, 0.7) for c in CLIQUES}
    weights, penalties = {c: 0.5 + len(c) for c in CLIQUES}, {c: 2.0 * len(c) for c in CLIQUES}
    plain, weighted = (
        private(randomness=Seeded(3), accounting=accounting).scores(CLIQUES, score=score, rho=0.25)
        for score in (
            MarginalL1Error(estimates),
            MarginalL1Error(estimates, weights=weights, penalties=penalties),
        )
    )
    assert weighted == {c: weights[c] * (plain[c] - penalties[c]) for c in CLIQUES}
    assert all(value == int(value) for value in plain.values())


# Selection


@BOTH
@pytest.mark.parametrize("rho", [Fraction(1, 7), 0.003, 2, 1e-12])
def test_select_costs_at_most_rho_and_hardly_less(adjacency, rho):
    table = private(adjacency=adjacency)
    table.select(CLIQUES, score=zero_score(), rho=rho)
    assert 0 <= Fraction(rho) - table.ledger.spent <= Fraction(rho) / 10**9


def selection_counts(adjacency, n=6000, epsilon=Fraction(1, 2), *, weighted=False):
    """How often each candidate wins, and the exact probabilities by the formula in floating point."""
    rows = [(0, 0, 0)] * 6 + [(1, 1, 2)]
    candidates, estimates = [("a",), ("b",), ("c",), ()], {}
    for clique, guess in zip(candidates, (0.0, 3.5, 1.25, 9.0), strict=True):
        estimates[clique] = np.full(DOMAIN.project(clique).shape, guess)
    table = private(rows, adjacency, epsilon=1e6)
    weights = dict(zip(candidates, (1.0, 2.5, 0.5, 2.0), strict=True)) if weighted else None
    penalties = dict(zip(candidates, (0.0, 3.0, 1.0, -1.0), strict=True)) if weighted else None
    score = MarginalL1Error(estimates, weights=weights, penalties=penalties)
    wins = [table.select(candidates, score=score, rho=epsilon**2 / 8) for _ in range(n)]
    errors = np.array([np.abs(exact(c, rows) - estimates[c]).sum() for c in candidates])
    if weighted:
        errors = np.array([1.0, 2.5, 0.5, 2.0]) * (errors - np.array([0.0, 3.0, 1.0, -1.0]))
    weights = np.exp(
        float(epsilon) * errors / (2 * adjacency.marginal_l1 * (2.5 if weighted else 1))
    )
    return np.array([wins.count(c) for c in candidates]), weights / weights.sum()


@BOTH
@pytest.mark.parametrize("weighted", often(True, seldom=[False]))
def test_select_follows_the_exponential_mechanism(adjacency, weighted):
    wins, probabilities = selection_counts(
        adjacency, epsilon=Fraction(3 if weighted else 1, 2), weighted=weighted
    )
    assert not failed({"fit": p_chi_squared(wins, probabilities)})
    top = int(np.argmax(probabilities))
    assert not failed({"top": p_binomial(int(wins[top]), int(wins.sum()), probabilities[top])})
    doubled = probabilities**2 / (probabilities**2).sum()
    assert failed({"fit": p_chi_squared(wins, doubled)})


def test_select_with_one_candidate_and_with_ties():
    table = private()
    assert table.select([("b",)], score=zero_score(), rho=0.1) == ("b",)
    wins = [table.select([("a",), ("b",)], score=zero_score(), rho=0.01) for _ in range(2000)]
    assert not failed({"even": p_binomial(wins.count(("a",)), 2000, 0.5)})


def test_peeling_candidates_counts_each_only_once():
    asked = []

    class Counting:
        domain = Domain(("a", "b"), (2, 2))

        def counts_of(self, cliques):
            asked.extend(cliques)
            return [np.zeros((2,) * len(clique), dtype=np.int64) for clique in cliques]

    ledger = PrivacyLedger(epsilon=1.0, delta=1e-6, adjacency=Adjacency.ADD_REMOVE)
    table = PrivateTable(Counting(), ledger)
    score = MarginalL1Error({("a",): np.zeros(2), ("b",): np.zeros(2)})
    for _ in range(3):
        table.select([("a",), ("b",)], score=score, rho=1e-4)
        table.scores([("b",), ("a",)], score=score, rho=1e-4)
    assert table.ledger.spent > Fraction(59, 100_000)  # each of the six pays, counted or remembered
    assert sorted(asked) == [("a",), ("b",)]
