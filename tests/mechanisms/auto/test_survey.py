"""A survey: what its scores show of a table with little noise, and what it measures then."""

from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from helpers.homes import home
from helpers.private_tables import private_table

from synthdp.core import Constraint, Domain, Workload
from synthdp.inference import GraphicalModelEngine, JunctionTree, LayeredConsistencyEngine
from synthdp.mechanisms import (
    Candidates,
    Findings,
    ResolvedClique,
    Survey,
    first_score_rho,
    is_informative,
    measurement_shares,
)
from synthdp.privacy import ScoresEvent

N_ROWS = 20_000


def chain():
    """x1 follows x0, x3 follows x2 less closely, x4 stands alone."""
    rng = np.random.default_rng(0)
    x0, x2, x4 = rng.integers(0, 3, N_ROWS), rng.integers(0, 4, N_ROWS), rng.integers(0, 5, N_ROWS)
    x1 = np.where(rng.random(N_ROWS) < 0.9, x0, rng.integers(0, 3, N_ROWS))
    x3 = np.where(rng.random(N_ROWS) < 0.3, x2, rng.integers(0, 4, N_ROWS))
    rows = tuple(column.astype(np.uint8) for column in (x0, x1, x2, x3, x4))
    return (3, 3, 4, 4, 5), rows


def surveyed(
    shape,
    rows,
    *,
    workload=None,
    engine=None,
    constraints=(),
    max_cells=10**6,
    epsilon=1e7,
):
    """A table whose columns are measured, what may be scored of it, a survey, and its findings."""
    table = private_table(shape, len(rows[0]), rows=rows, epsilon=epsilon)
    candidates = Candidates(table.domain, workload or Workload.default(table.domain))
    findings = Findings(candidates)
    for clique, share in measurement_shares(table.domain, candidates.column_weights).items():
        table.measure(clique, rho=share)
    survey = Survey(
        table,
        candidates,
        engine=engine or LayeredConsistencyEngine(),
        constraints=constraints,
        max_cells=max_cells,
        findings=findings,
    )
    return table, candidates, survey, findings


def precise(**arguments):
    return surveyed(*chain(), **arguments)


def distance(rows, i, j, shape):
    joint = np.zeros((shape[i], shape[j]))
    np.add.at(joint, (rows[i], rows[j]), 1)
    return np.abs(joint - np.outer(joint.sum(1), joint.sum(0)) / N_ROWS).sum()


def test_scores_of_independence_see_what_depends():
    table, _, survey, _ = precise()
    errors, strengths = survey.score_independence(Fraction(10**5))
    _, rows = chain()
    for i, j in combinations(range(5), 2):
        pair = (f"x{i}", f"x{j}")
        truth, found = distance(rows, i, j, chain()[0]), sqrt(errors[ResolvedClique(pair, 0)])
        # What chance may have made of a pair is believed whatever the scores say.
        chance = survey.resolutions.by_chance(pair, 0, N_ROWS)
        assert 0.85 * truth <= found <= 1.15 * sqrt(truth**2 + chance)
        assert strengths[pair] <= errors[ResolvedClique(pair, 0)]
    shares = measurement_shares(table.domain, {(name,): 1.0 for name in table.domain.attributes})
    for name, size in zip(table.domain.attributes, table.domain.shape, strict=True):
        residual = size * sqrt(1 - 1 / size) * sqrt(2 / np.pi / (2 * shares[name,]))
        assert sqrt(errors[ResolvedClique((name,), 0)]) == pytest.approx(
            residual, rel=0.15
        )  # levels are not quite equal


def test_wider_marginals_are_those_of_the_strongest_pairs():
    table, candidates, survey, _ = precise()
    errors, strengths = survey.score_independence(Fraction(10**5))
    assert set(candidates.strongest(strengths, 10)) == set(candidates.pairs)
    found = candidates.strongest(strengths, 13)
    assert [len(clique) for clique in found] == [2] * 10 + [3] * 3
    triples = {frozenset(triple) for triple in found[10:]}
    assert triples == {frozenset(("x0", "x1", other)) for other in ("x2", "x3", "x4")}
    assert len(candidates.strongest(strengths, 10**6)) == 20
    guesses = survey.guess_wider(found, strengths)
    assert {part.clique for part in guesses} == set(found[10:])
    model = LayeredConsistencyEngine().estimate(table.domain, table.released)
    seen = survey.score_model(
        model, found, {**guesses, **errors}, Fraction(10**5), relative_model_error=0.5
    )
    assert {part for part in seen if len(part.clique) == 2} == {
        ResolvedClique(pair, 0) for pair in candidates.pairs
    }
    # The model knows columns only, so it errs on pairs by what the first scores saw.
    strongest = ResolvedClique(("x0", "x1"), 0)
    assert sqrt(seen[strongest]) == pytest.approx(sqrt(errors[strongest]), rel=0.15)


def test_of_many_pairs_those_that_depend_most_are_scored_again(monkeypatch):
    monkeypatch.setattr(home(Candidates), "_MAX_PAIRS_AGAIN", 2)
    table, candidates, survey, _ = precise()
    errors, strengths = survey.score_independence(Fraction(10**5))
    found = candidates.strongest(strengths, 3)
    assert found[:2] == [("x0", "x1"), ("x2", "x3")]
    assert len(found) == 3
    model = LayeredConsistencyEngine().estimate(table.domain, table.released)
    guesses = survey.guess_wider(found, strengths)
    seen = survey.score_model(
        model, found, {**guesses, **errors}, Fraction(10**5), relative_model_error=0.5
    )
    assert table.ledger.events[-1].n_candidates == 3
    other = ResolvedClique(("x0", "x4"), 0)
    assert seen[other] == errors[other]  # nothing new is known of it


def test_scores_are_informative_if_their_noise_is_small_beside_the_records():
    table, candidates, _, _ = precise()
    pairs = candidates.pairs
    limit = Fraction(len(pairs)) / (2 * Fraction(N_ROWS // 10) ** 2)
    assert is_informative(table, pairs, limit * Fraction(102, 100), max_noise_share=0.1)
    assert not is_informative(table, pairs, limit * Fraction(98, 100), max_noise_share=0.1)
    assert not is_informative(table, [], Fraction(10**6), max_noise_share=0.1)


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 10)])
def test_a_batch_spends_its_share_and_is_noted(rho):
    table, candidates, survey, findings = precise()
    errors, _ = survey.score_independence(Fraction(10**5))
    spent, n_released = table.ledger.spent, len(table.released)
    left = survey.measure_batch(errors, candidates.weights, rho)
    assert table.ledger.spent - spent == rho
    strongest = ResolvedClique(("x0", "x1"), 0)
    assert left[strongest] < 0.5 * errors[strongest]
    model = LayeredConsistencyEngine().estimate(table.domain, table.released)
    (found,) = findings.attached_to(model).findings["rounds"]
    assert found["looked_at"] == 10
    assert found["measured"] == len(table.released) - n_released
    assert found["stddev_records"] == round(sqrt(10 / 2e5), 3)


def test_a_batch_leaves_room_for_constraints_and_for_what_was_measured():
    ring = Constraint(("x0", "x4"), np.eye(3, 5, dtype=bool) | True)
    table, candidates, survey, _ = precise(
        engine=GraphicalModelEngine(), constraints=[ring], max_cells=60
    )
    errors, _ = survey.score_independence(Fraction(10**5))
    survey.measure_batch(errors, candidates.weights, Fraction(1, 10))
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


def scored_and_measured(n_rows, *, rho, engine=None):
    table, candidates, survey, _ = surveyed(*fine(n_rows), engine=engine)
    errors, _ = survey.score_independence(Fraction(1, 10))
    spent = table.ledger.spent
    survey.measure_batch(errors, candidates.weights, rho)
    assert table.ledger.spent - spent == rho
    scores = [event for event in table.ledger.events if isinstance(event, ScoresEvent)]
    assert sum(event.rho for event in scores) == Fraction(1, 10)
    assert sum(event.n_candidates for event in scores) == 3
    assert len({event.stddev for event in scores}) == 1  # all pairs are scored equally well
    return scores, [m for m in table.released if len(m.clique) > 1]


def test_few_records_are_scored_and_measured_over_merged_levels():
    scores, few = scored_and_measured(500, rho=Fraction(1, 100))
    assert len(scores) > 1  # a pair with two levels is scored at a finer resolution
    assert any(measurement.groups for measurement in few)
    merged = [m for m in few if set(m.clique) == {"x0", "x1"}]
    assert merged
    assert all(m.values.size <= 16 * 16 for m in merged)
    scores, many = scored_and_measured(200_000, rho=Fraction(10))
    assert len(scores) == 1
    assert any(m.values.size == 1600 for m in many)


def test_engines_that_do_not_take_merged_levels_get_none():
    scores, few = scored_and_measured(500, rho=Fraction(1, 100), engine=GraphicalModelEngine())
    assert len(scores) == 1
    assert not any(measurement.groups for measurement in few)


def test_columns_that_no_marginal_asks_for_are_measured_a_little():
    shape, rows = chain()
    names = [f"x{i}" for i in range(5)]
    domain = Domain(tuple(names), shape)
    workload = Workload.from_cliques(domain, [("x0", "x1")])
    table, candidates, survey, _ = surveyed(shape, rows, workload=workload, epsilon=1e3)
    assert candidates.pairs == [("x0", "x1")]
    assert {measurement.clique for measurement in table.released} == {(name,) for name in names}
    errors, _ = survey.score_independence(Fraction(1))
    survey.measure_batch(errors, candidates.weights, Fraction(1))
    assert ("x0", "x1") in {measurement.clique for measurement in table.released}


def test_scores_in_blocks_are_as_one_question(monkeypatch):
    """Each block has as much of the budget as of the candidates, so that all errors have the same
    noise.
    """
    whole, _, survey, _ = precise()
    survey.score_independence(Fraction(3, 7))
    (event,) = [event for event in whole.ledger.events if isinstance(event, ScoresEvent)]
    monkeypatch.setattr(home(Survey), "_MAX_CELLS_AT_ONCE", 40)
    blocks, candidates, survey, _ = precise()
    errors, _ = survey.score_independence(Fraction(3, 7))
    events = [event for event in blocks.ledger.events if isinstance(event, ScoresEvent)]
    assert len(events) > 3
    assert sum(each.rho for each in events) == event.rho == Fraction(3, 7)
    assert sum(each.n_candidates for each in events) == event.n_candidates == 10
    assert {each.sigma_squared for each in events} == {event.sigma_squared}
    assert {part.clique for part in errors if len(part.clique) == 2} == set(candidates.pairs)


def test_wide_tables_pay_more_for_scores_only_while_noise_is_large(monkeypatch):
    table, candidates, _, _ = precise()
    budget = table.ledger.budget
    rho = budget * Fraction(3, 100)

    def cost(reserved=Fraction(0)):
        return first_score_rho(table, candidates, rho, budget=budget, reserved=reserved)

    assert cost() == rho
    monkeypatch.setattr(home(Candidates), "_NARROW_PAIRS", 2)
    assert cost() == rho  # there is little noise as it is
    monkeypatch.setattr(home(Survey), "_LOW_NOISE_SHARE", 1e-9)
    assert cost() == pytest.approx(budget / 10)
    monkeypatch.setattr(home(Candidates), "_NARROW_PAIRS", 8)
    assert cost() == rho * Fraction(10, 8)
    # Half of what is not reserved stays for measurements; the share itself is always there.
    left = table.ledger.remaining
    assert cost(left - rho * Fraction(11, 5)) == rho * Fraction(11, 10)
    assert cost(left - rho) == rho


def test_what_was_considered_is_noted(monkeypatch):
    monkeypatch.setattr(home(Candidates), "_NARROW_PAIRS", 2)
    for module in ("candidates", "findings"):
        monkeypatch.setattr(f"synthdp.mechanisms.auto.{module}.MAX_DEFAULT_CELLS", 19)
    table, candidates, survey, findings = precise()
    errors, strengths = survey.score_independence(Fraction(1, 10**6))
    left = survey.measure_batch(errors, candidates.weights_by(strengths), Fraction(1, 10))
    model = LayeredConsistencyEngine().estimate(table.domain, table.released)
    again = candidates.strongest(strengths, 10)
    survey.score_model(model, again, left, Fraction(10**3), relative_model_error=0.5)
    survey.measure_batch(errors, candidates.weights, Fraction(1, 10))
    model = findings.attached_to(model)
    first, second = model.findings["rounds"]
    assert (first["looked_at"], first["left_out"]) == (8, 2)
    assert sorted(map(tuple, first["candidates"])) == sorted(candidates.pairs)
    assert "of up to 19 cells" in first["rule"]
    noise = sqrt(8 / (2 / 10**6))
    assert first["visible_distance"] == pytest.approx(
        noise * sqrt(2 * np.log(8)) / (2 * N_ROWS), rel=0.02
    )
    assert second["left_out"] == 10 + 10 - second["looked_at"]
    assert "the 8 pairs that depended most" in second["rule"]
    too_large, hidden = model.cautions
    assert "'x2' and 'x4', 'x3' and 'x4'" in too_large
    assert hidden.startswith(
        "8 pairs of columns were scored against independence: noise hides those"
    )
