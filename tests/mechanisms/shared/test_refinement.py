"""Refinement: who may be scored, how likely, and that the worst are measured."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.private_tables import private_table

from synthdp.core import Domain
from synthdp.inference import GraphicalModelEngine
from synthdp.mechanisms import Refinement
from synthdp.privacy import MarginalEvent, ScoresEvent


def test_chances_of_a_clique_are_shared_evenly_and_add_up_where_cliques_overlap():
    domain = Domain(("a", "b", "c", "d"), (2, 3, 40, 2))
    refinement = Refinement(
        domain,
        [("a", "b", "c"), ("a", "d")],
        max_cells=6,
        max_attributes=2,
        measured=[("b",), ("d",)],
    )
    # The first clique leaves a, c and (a, b); c has many cells, but is a column. The second leaves
    # a and (a, d).
    assert refinement.chances == pytest.approx(
        {("a",): 3 + 2, ("c",): 3, ("a", "b"): 3, ("a", "d"): 2}
    )


def planted(*, n_scored, n_marginals=1, n_columns=6, epsilon=100.0):
    """Independent columns but for x1 and x4; a model that knows the columns only; one round."""
    generator = np.random.default_rng(0)
    rows = [generator.integers(0, 2, 5000) for _ in range(n_columns)]
    rows[4] = rows[1]
    table = private_table((2,) * n_columns, 0, rows=tuple(rows), epsilon=epsilon)
    for name in table.domain.attributes:
        table.measure((name,), rho=1)
    model = GraphicalModelEngine().estimate(table.domain, table.released)
    names = table.domain.attributes
    refinement = Refinement(
        table.domain, [names], max_cells=4, max_attributes=2, measured=[(n,) for n in names]
    )
    before = dict(refinement.chances)
    refinement.measure_worst(
        table, model, n_marginals, n_scored=n_scored, scoring=Fraction(1, 2), rho=Fraction(1, 3)
    )
    return table, refinement, before


def test_the_planted_dependence_is_measured():
    table, refinement, before = planted(n_scored=400)
    *_, scores, measured = table.ledger.events
    assert isinstance(scores, ScoresEvent)
    assert (scores.n_candidates, scores.rho) == (15, Fraction(1, 2))
    assert isinstance(measured, MarginalEvent)
    assert (measured.clique, measured.rho) == (("x1", "x4"), Fraction(1, 3))
    assert before.keys() - refinement.chances.keys() == {("x1", "x4")}


def test_the_better_half_is_less_likely_to_be_asked_again():
    _, refinement, before = planted(n_scored=400)
    kept = [refinement.chances[clique] / before[clique] for clique in refinement.chances]
    assert sorted(kept) == [0.5] * 8 + [1.0] * 6


def test_a_round_scores_no_more_than_it_may_but_as_many_as_it_measures():
    for n_scored, n_marginals, expected in ((5, 1, 5), (1, 3, 3), (400, 15, 15)):
        table, refinement, before = planted(n_scored=n_scored, n_marginals=n_marginals)
        (scores,) = (event for event in table.ledger.events if isinstance(event, ScoresEvent))
        assert scores.n_candidates == expected
        assert len(refinement.chances) == len(before) - n_marginals
