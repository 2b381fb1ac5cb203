"""Scores have the sensitivity they declare, and selection follows the exponential mechanism."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_privacy import failed, p_binomial, p_chi_squared
from tables_privacy import BOTH, CLIQUES, DOMAIN, MERGING, estimates_of, exact, private, rows_of, tables, zero_score

from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.privacy.events import Adjacency
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.scores import MarginalL1Error

# Scores


def test_score_is_the_l1_error_in_grid_units():
    estimate = np.array([1.0, 0.5, 2**-11 + 2**-12])
    score = MarginalL1Error({("a",): estimate})
    assert score.units_per_record == 1024
    assert score.grid_units(("a",), exact(("a",))) == 1024 + 512 + 1024 - 1


@pytest.mark.parametrize(
    "estimate", [np.full(3, nan), np.array([inf, 0, 0]), np.full(3, 2.0**39), np.array([2**41, 0, 0])]
)
def test_estimates_that_could_overflow_are_refused(estimate):
    with pytest.raises(ParameterError, match="estimate"):
        MarginalL1Error({("a",): estimate})


def test_many_large_estimates_cannot_wrap_round():
    """2^13 cells of 2^40 would add up to 2^63 units: one record less and the sum would be negative."""
    with pytest.raises(ParameterError, match="estimate"):
        MarginalL1Error({("a",): np.full(2**13, 2.0**40)})
    score = MarginalL1Error({("a",): np.full(2**13, 2.0**27)})
    assert score.grid_units(("a",), np.zeros(2**13, dtype=np.int64)) == 2**50
    assert score.grid_units(("a",), np.full(2**13, 2**36, dtype=np.int64)) == (2**36 - 2**27) * 2**13 * 2**10


def test_estimates_are_fixed_when_the_score_is_made():
    estimate = np.zeros(3)
    score = MarginalL1Error({("a",): estimate})
    estimate[:] = nan
    assert score.grid_units(("a",), exact(("a",))) == 4 * 1024
    assert MarginalL1Error({("a",): [0, 0, 0]}).grid_units(("a",), exact(("a",))) == 4 * 1024


@settings(max_examples=150, deadline=None)
@given(rows=tables, row=rows_of, numbers=estimates_of, at=st.integers(0, 11), merged=st.booleans())
def test_score_sensitivity_is_exact(rows, row, numbers, at, merged):
    coarsening = MERGING if merged else None
    domain = MERGING.domain(DOMAIN) if merged else DOMAIN
    shapes = {clique: domain.project(clique).shape for clique in CLIQUES}
    score = MarginalL1Error({c: np.resize(numbers, shape) for c, shape in shapes.items()}, coarsening)
    neighbours = {Adjacency.ADD_REMOVE: [*rows, row]}
    if rows:
        neighbours[Adjacency.REPLACE_ONE] = [row if i == at % len(rows) else old for i, old in enumerate(rows)]
    for adjacency, other in neighbours.items():
        for clique in CLIQUES:
            change = score.grid_units(clique, exact(clique, rows, coarsening)) - score.grid_units(
                clique, exact(clique, other, coarsening)
            )
            assert abs(change) <= score.sensitivity(adjacency) * score.units_per_record


# Selection


@BOTH
@pytest.mark.parametrize("rho", [Fraction(1, 7), 0.003, 2, 1e-12])
def test_select_costs_at_most_rho_and_hardly_less(adjacency, rho):
    table = private(adjacency=adjacency)
    table.select(CLIQUES, score=zero_score(), rho=rho)
    assert 0 <= Fraction(rho) - table.ledger.spent <= Fraction(rho) / 10**9


def selection_counts(adjacency, n=6000, epsilon=Fraction(1, 2)):
    """How often each candidate wins, and the exact probabilities by the formula in floating point."""
    rows = [(0, 0, 0)] * 6 + [(1, 1, 2)]
    candidates, estimates = [("a",), ("b",), ("c",), ()], {}
    for clique, guess in zip(candidates, (0.0, 3.5, 1.25, 9.0), strict=True):
        estimates[clique] = np.full(DOMAIN.project(clique).shape, guess)
    table = private(rows, adjacency, epsilon=1e6)
    score = MarginalL1Error(estimates)
    wins = [table.select(candidates, score=score, rho=epsilon**2 / 8) for _ in range(n)]
    errors = np.array([np.abs(exact(c, rows) - estimates[c]).sum() for c in candidates])
    weights = np.exp(float(epsilon) * errors / (2 * adjacency.marginal_l1))
    return np.array([wins.count(c) for c in candidates]), weights / weights.sum()


@BOTH
def test_select_follows_the_exponential_mechanism(adjacency):
    wins, probabilities = selection_counts(adjacency)
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

        def counts(self, clique):
            asked.append(clique)
            return np.zeros((2,) * len(clique), dtype=np.int64)

    ledger = PrivacyLedger(epsilon=1.0, delta=1e-6, adjacency=Adjacency.ADD_REMOVE)
    table = PrivateTable(Counting(), ledger)
    score = MarginalL1Error({("a",): np.zeros(2), ("b",): np.zeros(2)})
    for _ in range(3):
        table.select([("a",), ("b",)], score=score, rho=1e-4)
    assert sorted(asked) == [("a",), ("b",)]
