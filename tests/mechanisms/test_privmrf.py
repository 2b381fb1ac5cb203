"""PrivMRF: what it finds in planted tables, how it splits the budget, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.private_tables import private_table

from synthdp.core import Constraint, Workload
from synthdp.inference import GraphicalModelEngine, JunctionTree
from synthdp.mechanisms import PrivMRF, Task
from synthdp.privacy import ScoresEvent


def released(shape, rows, *, mechanism=None, epsilon=1.0, constraints=()):
    """The model and the private table after a release."""
    table = private_table(shape, 0, rows=rows, epsilon=epsilon)
    model = (mechanism or PrivMRF()).release(
        table,
        Task(
            workload=Workload.default(table.domain),
            engine=GraphicalModelEngine(),
            constraints=constraints,
        ),
    )
    return model, table


def after_columns(table):
    return table.released[len(table.domain) :]


def chained(n_columns, size, n_rows=20_000):
    """Each column is the one before, or, one time in four, the next level."""
    generator = np.random.default_rng(1)
    rows = [generator.integers(0, size, n_rows)]
    while len(rows) < n_columns:
        rows.append((rows[-1] + (generator.random(n_rows) < 0.25)) % size)
    return tuple(rows)


def test_finds_planted_pairs_and_models_them():
    generator = np.random.default_rng(0)
    a, b, c = (generator.integers(0, 4, 20_000) for _ in range(3))
    noise = generator.random((3, 20_000)) < 0.1
    rows = (a, b, c, (a + noise[0]) % 4, (b + noise[1]) % 4, (c + noise[2]) % 4)
    model, table = released((4,) * 6, rows)
    for i in range(3):
        pair = (f"x{i}", f"x{i + 3}")
        assert any(set(pair) <= set(measurement.clique) for measurement in after_columns(table))
        joint = np.zeros((4, 4))
        np.add.at(joint, (rows[i], rows[i + 3]), 1)
        assert np.abs(model.marginal(pair).values - joint).sum() < 0.1 * 20_000


def test_spends_the_budget_to_the_last_bit_as_published():
    mechanism = PrivMRF()
    _, table = released((3,) * 8, chained(8, 3), mechanism=mechanism)
    budget, events = table.ledger.budget, table.ledger.events
    assert table.ledger.spent == budget
    assert all(event.is_gaussian for event in events)
    columns, (pairs, *later) = events[:8], events[8:]
    assert sum(event.rho for event in columns) == budget * Fraction(mechanism.one_way_share)
    assert pairs.rho == budget * Fraction(mechanism.graph_share)
    assert pairs.n_candidates == 28
    scores = [event for event in later if isinstance(event, ScoresEvent)]
    assert [event.rho for event in scores] == [budget * Fraction(mechanism.scoring_share) / 4] * 4
    marginals = [event for event in later if not isinstance(event, ScoresEvent)]
    assert len({event.rho for event in marginals}) == 1
    n_first = later.index(scores[0])
    assert len(marginals) - n_first == 6  # eight tenths of the columns, in four rounds
    assert [event in scores for event in later[n_first:]] == [True, False, False] * 2 + [
        True,
        False,
    ] * 2


def test_without_pairs_all_goes_to_columns():
    for shape in ((4,), (1, 1), (1, 5)):
        _, table = released(shape, tuple(np.zeros(100, dtype=int) for _ in shape))
        assert {len(measurement.clique) for measurement in table.released} == {1}
        assert table.ledger.spent == table.ledger.budget


def test_first_marginals_show_every_column():
    _, table = released((3,) * 8, chained(8, 3))
    later = [measurement.clique for measurement in after_columns(table)]
    assert {name for clique in later[: len(later) - 6] for name in clique} == set(
        table.domain.attributes
    )


def test_no_marginal_is_measured_twice():
    _, table = released(
        (2,) * 4, chained(4, 2), mechanism=PrivMRF(refined_per_column=10.0), epsilon=100.0
    )
    later = [measurement.clique for measurement in after_columns(table)]
    assert len(set(later)) == len(later) > 8
    assert table.ledger.spent == table.ledger.budget


@pytest.mark.parametrize("theta", [2.0, 20.0])
def test_marginals_of_several_columns_are_theta_useful(theta):
    _, table = released((4,) * 6, chained(6, 4), mechanism=PrivMRF(theta=theta))
    several = [measurement for measurement in after_columns(table) if len(measurement.clique) > 1]
    assert several
    for measurement in several:
        noise = np.sqrt(2 / np.pi) * float(np.max(measurement.stddev))
        # 5 %: the number of records is an estimate, and discrete noise is a little off its
        # parameter
        assert 20_000 / measurement.values.size > 0.95 * theta * noise
    assert max(measurement.values.size for measurement in several) == (256 if theta == 2.0 else 64)


def test_the_graph_stays_small_and_marginals_inside_it():
    for most, widest in ((300, 1000), (5000, 64)):
        mechanism = PrivMRF(max_cells=most, max_clique_cells=widest)
        _, table = released((4,) * 7, chained(7, 4), mechanism=mechanism, epsilon=100.0)
        measured = [measurement.clique for measurement in table.released]
        assert max(map(table.domain.size, measured)) <= widest
        # of the graph's pairs some are not measured, and what is left may be triangulated otherwise
        assert JunctionTree.covering(table.domain, measured).n_cells() <= 2 * most
        assert any(len(clique) == 3 for clique in measured)


def test_marginals_have_no_more_columns_than_allowed():
    for most in (1, 2):
        _, table = released(
            (2,) * 6, chained(6, 2), mechanism=PrivMRF(max_attributes=most), epsilon=100.0
        )
        assert max(len(measurement.clique) for measurement in table.released) == most
        assert table.ledger.spent == table.ledger.budget


def test_columns_of_constraints_are_in_the_graph_and_obeyed():
    allowed = np.ones((3, 3), dtype=bool)
    allowed[2, 2] = False
    mechanism = PrivMRF(max_clique_cells=4, refined_per_column=10.0)  # no pair but the constraint's
    model, table = released(
        (3,) * 5,
        chained(5, 3),
        mechanism=mechanism,
        epsilon=100.0,
        constraints=[Constraint(("x0", "x3"), allowed)],
    )
    assert [m.clique for m in after_columns(table) if len(m.clique) > 1] == [("x0", "x3")]
    drawn = model.sample(500, seed=0)
    assert not ((drawn[0] == 2) & (drawn[3] == 2)).any()
