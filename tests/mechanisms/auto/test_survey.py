"""A survey: what it sees of a table with little noise, what it looks at next, and what it may
measure.
"""

from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from helpers.private_tables import private_table

from synthdp.core.constraint import Constraint
from synthdp.core.workload import Workload
from synthdp.inference.engines.graphical_model import GraphicalModelEstimator
from synthdp.inference.engines.layered_consistency import LayeredConsistencyEstimator
from synthdp.inference.trees.junction_tree import JunctionTree
from synthdp.mechanisms.auto.resolutions import Question
from synthdp.mechanisms.auto.survey import Survey
from synthdp.mechanisms.shared.allocation import measurement_shares
from synthdp.privacy.events import ScoresEvent

N_ROWS = 20_000


def chain():
    """x1 follows x0, x3 follows x2 less closely, x4 stands alone."""
    rng = np.random.default_rng(0)
    x0, x2, x4 = rng.integers(0, 3, N_ROWS), rng.integers(0, 4, N_ROWS), rng.integers(0, 5, N_ROWS)
    x1 = np.where(rng.random(N_ROWS) < 0.9, x0, rng.integers(0, 3, N_ROWS))
    x3 = np.where(rng.random(N_ROWS) < 0.3, x2, rng.integers(0, 4, N_ROWS))
    rows = tuple(column.astype(np.uint8) for column in (x0, x1, x2, x3, x4))
    return (3, 3, 4, 4, 5), rows


def survey_of(table, workload=None, *, engine=None, constraints=(), clarity=0.25, max_cells=10**6):
    workload = workload or Workload.default(table.domain)
    return Survey(
        table,
        workload,
        engine or LayeredConsistencyEstimator(),
        constraints,
        clarity=clarity,
        max_cells=max_cells,
    )


def precise(**arguments):
    shape, rows = chain()
    table = private_table(shape, N_ROWS, rows=rows, epsilon=1e7)
    survey = survey_of(table, **arguments)
    survey.measure_columns(Fraction(1))
    return table, survey, rows


def distance(rows, i, j, shape):
    joint = np.zeros((shape[i], shape[j]))
    np.add.at(joint, (rows[i], rows[j]), 1)
    return np.abs(joint - np.outer(joint.sum(1), joint.sum(0)) / N_ROWS).sum()


def test_the_first_look_sees_what_depends():
    table, survey, rows = precise()
    errors = survey.first_look(Fraction(10**5))
    for i, j in combinations(range(5), 2):
        truth, found = (
            distance(rows, i, j, chain()[0]),
            sqrt(errors[Question((f"x{i}", f"x{j}"), 0)]),
        )
        # What chance may have made of a pair is believed whatever the look says.
        chance = survey._resolutions.by_chance((f"x{i}", f"x{j}"), 0, N_ROWS)
        assert 0.85 * truth <= found <= 1.15 * sqrt(truth**2 + chance)
    shares = measurement_shares(table.domain, {(name,): 1.0 for name in table.domain.attributes})
    for name, size in zip(table.domain.attributes, table.domain.shape, strict=True):
        residual = size * sqrt(1 - 1 / size) * sqrt(2 / np.pi / (2 * shares[name,]))
        assert sqrt(errors[Question((name,), 0)]) == pytest.approx(
            residual, rel=0.15
        )  # levels are not quite equal


def test_wider_marginals_are_those_of_the_strongest_pairs():
    _, survey, _ = precise()
    errors = survey.first_look(Fraction(10**5))
    assert set(survey.promising(10)) == set(survey.pairs)
    found = survey.promising(13)
    assert [len(clique) for clique in found] == [2] * 10 + [3] * 3
    triples = {frozenset(triple) for triple in found[10:]}
    assert triples == {frozenset(("x0", "x1", other)) for other in ("x2", "x3", "x4")}
    assert len(survey.promising(10**6)) == 20
    model = LayeredConsistencyEstimator().estimate(survey._table.domain, survey._table.released)
    seen = survey.second_look(model, survey.promising(13), errors, Fraction(10**5), doubt=0.5)
    assert {part for part in seen if len(part.clique) == 2} == {
        Question(pair, 0) for pair in survey.pairs
    }
    # The model knows columns only, so it errs on pairs by what the first look saw.
    strongest = Question(("x0", "x1"), 0)
    assert sqrt(seen[strongest]) == pytest.approx(sqrt(errors[strongest]), rel=0.15)


def test_of_many_pairs_those_that_depend_most_are_looked_at_again(monkeypatch):
    monkeypatch.setattr("synthdp.mechanisms.auto.survey._MAX_PAIRS", 2)
    table, survey, _ = precise()
    errors = survey.first_look(Fraction(10**5))
    found = survey.promising(3)
    assert found[:2] == [("x0", "x1"), ("x2", "x3")]
    assert len(found) == 3
    model = LayeredConsistencyEstimator().estimate(table.domain, table.released)
    seen = survey.second_look(model, found, errors, Fraction(10**5), doubt=0.5)
    assert table.ledger.events[-1].n_candidates == 3
    other = Question(("x0", "x4"), 0)
    assert seen[other] == errors[other]  # nothing new is known of it


def test_a_look_is_clear_if_its_noise_is_small_beside_the_records():
    _, survey, _ = precise(clarity=0.1)
    pairs = survey.pairs
    limit = Fraction(len(pairs)) / (2 * Fraction(N_ROWS // 10) ** 2)
    assert survey.is_clear(pairs, limit * Fraction(102, 100))
    assert not survey.is_clear(pairs, limit * Fraction(98, 100))
    assert not survey.is_clear([], Fraction(10**6))


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 10)])
def test_a_batch_spends_its_share_and_is_told(rho):
    table, survey, _ = precise()
    errors = survey.first_look(Fraction(10**5))
    spent, n_released = table.ledger.spent, len(table.released)
    left = survey.measure_batch(errors, rho)
    assert table.ledger.spent - spent == rho
    strongest = Question(("x0", "x1"), 0)
    assert left[strongest] < 0.5 * errors[strongest]
    model = survey.told(LayeredConsistencyEstimator().estimate(table.domain, table.released))
    (found,) = model.findings["rounds"]
    assert found["looked_at"] == 10
    assert found["measured"] == len(table.released) - n_released
    assert found["stddev_records"] == round(sqrt(10 / 2e5), 3)


def test_a_batch_leaves_room_for_constraints_and_for_what_was_measured():
    ring = Constraint(("x0", "x4"), np.eye(3, 5, dtype=bool) | True)
    table, survey, _ = precise(engine=GraphicalModelEstimator(), constraints=[ring], max_cells=60)
    errors = survey.first_look(Fraction(10**5))
    survey.measure_batch(errors, Fraction(1, 10))
    measured = [measurement.clique for measurement in table.released]
    assert any(len(clique) > 1 for clique in measured)
    assert JunctionTree.covering(table.domain, [*measured, ring.clique]).n_cells() <= 60


def fine(n_rows=20_000, seed=0):
    """Two columns of 40 levels that follow each other closely, and one of two levels that follows
    both.
    """
    rng = np.random.default_rng(seed)
    x0 = np.clip(rng.normal(20, 8, n_rows), 0, 39).astype(np.uint8)
    x1 = np.clip(x0 + rng.normal(0, 3, n_rows), 0, 39).astype(np.uint8)
    return (40, 40, 2), (x0, x1, (x0 > 20).astype(np.uint8))


def looked_and_measured(n_rows, *, rho, engine=None):
    shape, rows = fine(n_rows)
    table = private_table(shape, n_rows, rows=rows, epsilon=1e7)
    survey = survey_of(table, engine=engine)
    survey.measure_columns(Fraction(1))
    errors = survey.first_look(Fraction(1, 10))
    spent = table.ledger.spent
    survey.measure_batch(errors, rho)
    assert table.ledger.spent - spent == rho
    looks = [event for event in table.ledger.events if isinstance(event, ScoresEvent)]
    assert sum(event.rho for event in looks) == Fraction(1, 10)
    assert sum(event.n_candidates for event in looks) == 3
    assert len({event.stddev for event in looks}) == 1  # all pairs are looked at equally well
    return errors, looks, [m for m in table.released if len(m.clique) > 1]


def test_few_records_are_looked_at_and_measured_over_merged_levels():
    _, looks, few = looked_and_measured(500, rho=Fraction(1, 100))
    assert len(looks) > 1  # a pair with two levels is looked at more finely
    assert any(measurement.groups for measurement in few)
    merged = [m for m in few if set(m.clique) == {"x0", "x1"}]
    assert merged
    assert all(m.values.size <= 16 * 16 for m in merged)
    _, looks, many = looked_and_measured(200_000, rho=Fraction(10))
    assert len(looks) == 1
    assert any(m.values.size == 1600 for m in many)


def test_engines_that_do_not_take_merged_levels_get_none():
    _, looks, few = looked_and_measured(500, rho=Fraction(1, 100), engine=GraphicalModelEstimator())
    assert len(looks) == 1
    assert not any(measurement.groups for measurement in few)


def test_columns_that_no_marginal_asks_for_are_measured_a_little():
    shape, rows = chain()
    table = private_table(shape, N_ROWS, rows=rows, epsilon=1e3)
    survey = survey_of(table, Workload.of(table.domain, [("x0", "x1")]))
    assert survey.pairs == [("x0", "x1")]
    survey.measure_columns(Fraction(1))
    assert {measurement.clique for measurement in table.released} == {
        (name,) for name in table.domain.attributes
    }
    errors = survey.first_look(Fraction(1))
    survey.measure_batch(errors, Fraction(1))
    assert ("x0", "x1") in {measurement.clique for measurement in table.released}


def test_a_look_in_parts_is_one_look(monkeypatch):
    """Each part has as much of the budget as of the candidates, so that all errors have the same
    noise.
    """
    whole, survey, _ = precise()
    survey.first_look(Fraction(3, 7))
    (event,) = [event for event in whole.ledger.events if isinstance(event, ScoresEvent)]
    monkeypatch.setattr("synthdp.mechanisms.auto.survey._PART", 40)
    parts, survey, _ = precise()
    errors = survey.first_look(Fraction(3, 7))
    events = [event for event in parts.ledger.events if isinstance(event, ScoresEvent)]
    assert len(events) > 3
    assert sum(each.rho for each in events) == event.rho == Fraction(3, 7)
    assert sum(each.n_candidates for each in events) == event.n_candidates == 10
    assert {each.sigma_squared for each in events} == {event.sigma_squared}
    assert {part.clique for part in errors if len(part.clique) == 2} == set(survey.pairs)


def test_in_wide_tables_what_depends_matters_more(monkeypatch):
    _, narrow, _ = precise()
    before = dict(narrow._wanted)
    narrow.first_look(Fraction(10**5))
    assert narrow._wanted == before
    monkeypatch.setattr("synthdp.mechanisms.auto.survey._FEW_PAIRS", 2)
    _, wide, _ = precise()
    wide.first_look(Fraction(10**5))
    gained = {pair: wide._wanted[pair] - before[pair] for pair in wide.pairs}
    # Eight of ten pairs are beyond the two of few; by half their part all pairs together matter
    # more.
    assert sum(gained.values()) == pytest.approx(
        0.5 * 0.8 * sum(before[pair] for pair in wide.pairs)
    )
    assert sorted(gained, key=gained.get)[-2:] == [("x2", "x3"), ("x0", "x1")]
    assert {clique: wide._wanted[clique] for clique in before if len(clique) != 2} == {
        clique: weight for clique, weight in before.items() if len(clique) != 2
    }


def test_wide_tables_pay_more_for_a_look_only_while_it_is_not_clear(monkeypatch):
    table, survey, _ = precise()
    rho = table.ledger.budget * Fraction(3, 100)
    assert survey.first_cost(rho) == rho
    monkeypatch.setattr("synthdp.mechanisms.auto.survey._FEW_PAIRS", 2)
    assert survey.first_cost(rho) == rho  # clear as it is
    monkeypatch.setattr("synthdp.mechanisms.auto.survey._CLEAR_ENOUGH", 1e-9)
    assert survey.first_cost(rho) == pytest.approx(table.ledger.budget / 10)
    monkeypatch.setattr("synthdp.mechanisms.auto.survey._FEW_PAIRS", 8)
    assert survey.first_cost(rho) == rho * Fraction(10, 8)


def test_what_was_considered_is_told(monkeypatch):
    monkeypatch.setattr("synthdp.mechanisms.auto.survey._FEW_PAIRS", 2)
    monkeypatch.setattr("synthdp.mechanisms.auto.survey.MAX_DEFAULT_CELLS", 19)
    shape, rows = chain()
    table = private_table(shape, N_ROWS, rows=rows, epsilon=1e7)
    survey = survey_of(table)
    survey.measure_columns(Fraction(1))
    errors = survey.first_look(Fraction(1, 10**6))
    left = survey.measure_batch(errors, Fraction(1, 10))
    model = LayeredConsistencyEstimator().estimate(table.domain, table.released)
    survey.second_look(model, survey.promising(10), left, Fraction(10**3), doubt=0.5)
    survey.measure_batch(errors, Fraction(1, 10))
    told = survey.told(model)
    first, second = told.findings["rounds"]
    assert (first["looked_at"], first["left_out"]) == (8, 2)
    assert sorted(map(tuple, first["candidates"])) == sorted(survey.pairs)
    assert "of up to 19 cells" in first["rule"]
    noise = sqrt(8 / (2 / 10**6))
    assert first["visible_distance"] == pytest.approx(
        noise * sqrt(2 * np.log(8)) / (2 * N_ROWS), rel=0.02
    )
    assert second["left_out"] == 10 + 10 - second["looked_at"]
    assert "the 8 pairs that depended most" in second["rule"]
    too_large, hidden = told.cautions
    assert "'x2' and 'x4', 'x3' and 'x4'" in too_large
    assert hidden.startswith("8 pairs of columns were looked at together: noise hides those")
