"""Rows whose target is drawn anew, given all other attributes."""

from itertools import combinations

import numpy as np
import pytest
from helpers.homes import home

from synthdp.core import Coarsening, Constraint, Domain, LinearMeasurement
from synthdp.inference import (
    LayeredConsistencyEngine,
    LogLinearConditional,
    TargetLastModel,
    cell_counts,
    draw_evenly,
    model_from_state,
    model_to_state,
    scale_terms,
    with_target_last,
)

N = 20_000
N_OTHERS = 6
DOMAIN = Domain((*(f"x{i}" for i in range(N_OTHERS)), "y"), (*[4] * N_OTHERS, 2))
SLOPES = np.array([1.2, -1.0, 0.8, -0.6, 0.4, 0.3])


def chances(columns):
    """Of the target, by all others."""
    logits = -0.5 + sum(s * (x - 1.5) for s, x in zip(SLOPES, columns, strict=True))
    return 1.0 / (1.0 + np.exp(-logits))


def rows(rng, *, is_parity=False):
    shared = rng.integers(4, size=N)
    others = [np.where(rng.random(N) < 0.3, shared, rng.integers(4, size=N)) for _ in SLOPES]
    if is_parity:
        return (*others, (others[0] // 2 + others[1] // 2) % 2)
    return (*others, (rng.random(N) < chances(others)).astype(np.int64))


def measured(columns, cliques, *, stddev, rng):
    counted = ((clique, cell_counts(DOMAIN, clique, columns)) for clique in cliques)
    return [
        LinearMeasurement(clique, table + stddev * rng.normal(size=table.shape), stddev)
        for clique, table in counted
    ]


def fitted(*, stddev=60.0, seed=0, is_parity=False, constraints=()):
    """A model of all triples with the target, whose rows get it last, and what was measured."""
    rng = np.random.default_rng(seed)
    columns = rows(rng, is_parity=is_parity)
    cliques = [(*pair, "y") for pair in combinations(DOMAIN.attributes[:-1], 2)]
    measurements = measured(columns, cliques, stddev=stddev, rng=rng)
    engine = LayeredConsistencyEngine()
    model = engine.estimate(DOMAIN, measurements, constraints=constraints)
    return with_target_last(model, "y", measurements), measurements


def error_of_chances(codes):
    """How far the target is from what the others say, by cells of each three of them."""
    apart = codes[-1] - chances(codes[:-1])
    triples = combinations(DOMAIN.attributes[:-1], 3)
    return np.mean([np.abs(cell_counts(DOMAIN, each, codes, apart)).sum() for each in triples]) / N


def test_rows_say_more_truly_what_predicts_the_target():
    before, after = [], []
    for seed in range(4):
        model, _ = fitted(seed=seed)
        for found, source in ((before, model.inner), (after, model)):
            codes = [column.astype(np.int64) for column in source.sample(N, seed=1)]
            found.append(error_of_chances(codes))
    assert np.mean(after) < 0.9 * np.mean(before)


def test_other_attributes_are_those_of_the_other_model_and_seeds_repeat_rows():
    model, _ = fitted()
    codes = model.sample(N, seed=3)
    again = model.sample(N, seed=3, n_jobs=2)
    other = model.sample(N, seed=4)
    assert all(np.array_equal(a, b) for a, b in zip(codes, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(codes, other, strict=True))
    for clique in combinations(DOMAIN.attributes[:-1], 2):
        drawn = cell_counts(DOMAIN, clique, codes) / N
        wanted = model.marginal(clique).values / model.total
        assert 0.5 * np.abs(drawn - wanted).sum() < 0.01


def test_a_parity_that_was_measured_stays_and_what_may_be_noise_goes():
    parity, _ = fitted(is_parity=True)
    columns = [column.astype(np.int64) for column in parity.sample(N, seed=0)]
    assert np.mean((columns[0] // 2 + columns[1] // 2) % 2 == columns[-1]) > 0.9
    assert ("x0", "x1") in dict(terms_of(parity))
    wide = [scope for scope, _ in terms_of(fitted()[0]) if len(scope) == 2]
    assert len(wide) < 5  # of fifteen that were measured


def test_a_parity_of_three_measured_over_groups_of_levels_stays():
    """Moves towards pairs do not undo it, and the noise of a group is not that of each level."""
    rng = np.random.default_rng(0)
    domain = Domain(("a", "b", "c", "y"), (16, 16, 16, 2))
    others = rng.integers(16, size=(3, N))
    columns = (*others, (others // 8).sum(axis=0) % 2)
    quarters = Coarsening(dict.fromkeys("abc", np.arange(16) // 4))
    clique = domain.attributes
    table = quarters.apply(clique, cell_counts(domain, clique, columns))
    measurements = [
        LinearMeasurement(clique, table + rng.normal(0, 20, table.shape), 20.0, coarsening=quarters)
    ]
    for name in "abc":
        counts = cell_counts(domain, (name, "y"), columns)
        noise = rng.normal(0, 20.0, counts.shape)
        measurements.append(LinearMeasurement((name, "y"), counts + noise, 20.0))
    model = LayeredConsistencyEngine().estimate(domain, measurements)
    last = with_target_last(model, "y", measurements)
    drawn = [column.astype(np.int64) for column in last.sample(N, seed=0)]
    is_right = sum(column // 8 for column in drawn[:3]) % 2 == drawn[3]
    # .96 to .98 in 12 tables; .86 to .89 if moved towards pairs alone.
    assert is_right.mean() > 0.93


def terms_of(model):
    state, _ = model.to_state()
    return [(tuple(scope), stddev) for scope, stddev in state["terms"]]


def test_noise_is_that_of_all_measurements_that_hold_a_pair():
    """Five triples of four levels each say it of a pair, at twice the noise."""
    stddevs = dict(terms_of(fitted(stddev=30.0)[0]))
    assert stddevs[("x2",)] == pytest.approx(30.0 * 2.0 / np.sqrt(5.0))


def test_few_rows_and_independent_ones_are_the_other_models():
    model, _ = fitted()
    assert [len(column) for column in model.sample(10, seed=0)] == [10] * 7
    assert [len(column) for column in model.sample(0, seed=0)] == [0] * 7
    independent = model.sample(1000, seed=0, rounding=False)
    assert [len(column) for column in independent] == [1000] * 7


def test_a_saved_model_draws_the_same_rows():
    model, _ = fitted()
    state, arrays = model_to_state(model)
    again = model_from_state(state, arrays, DOMAIN)
    assert isinstance(again, TargetLastModel)
    drawn = zip(model.sample(N, seed=0), again.sample(N, seed=0), strict=True)
    assert all(np.array_equal(a, b) for a, b in drawn)
    assert np.array_equal(again.marginal(("x1", "y")).values, model.marginal(("x1", "y")).values)


def test_rules_about_the_target_leave_the_model_as_it_is():
    never = Constraint(("x0", "y"), np.array([[True, True]] * 3 + [[True, False]]))
    model, _ = fitted(constraints=(never,))
    assert not isinstance(model, TargetLastModel)
    others = Constraint(("x0", "x1"), ~np.eye(4, dtype=bool))
    model, _ = fitted(constraints=(others,))
    codes = model.sample(2000, seed=0)
    assert isinstance(model, TargetLastModel)
    assert (codes[0] != codes[1]).all()


@pytest.mark.parametrize(
    ("size", "ordered", "is_redrawn"),
    [(3, False, True), (3, True, False), (2, True, True), (13, False, False)],
)
def test_numbers_and_targets_of_many_values_are_drawn_as_before(size, ordered, is_redrawn):
    rng = np.random.default_rng(0)
    domain = Domain(("a", "b", "y"), (3, 3, size), ordered=frozenset({"y"} if ordered else ()))
    tables = {
        pair: rng.gamma(1.0, 100.0, domain.project(pair).shape) for pair in (("a", "y"), ("b", "y"))
    }
    measurements = [LinearMeasurement(pair, table, 5.0) for pair, table in tables.items()]
    model = LayeredConsistencyEngine().estimate(domain, measurements)
    assert isinstance(with_target_last(model, "y", measurements), TargetLastModel) == is_redrawn


def conditional(tables, stddev, *, domain=DOMAIN, total=N):
    return LogLinearConditional(domain, "y", tables, dict.fromkeys(tables, stddev), total=total)


def exact_tables(columns):
    return {
        (name,): cell_counts(DOMAIN, (name, "y"), columns) / N for name in DOMAIN.attributes[:-1]
    }


def test_without_noise_rows_have_the_tables_that_terms_were_fitted_to(monkeypatch):
    monkeypatch.setattr(home(LogLinearConditional), "_ROUNDS", (100, 100))
    monkeypatch.setattr(home(LogLinearConditional), "_FITTED_ROWS", N)
    columns = rows(np.random.default_rng(5))
    tables = exact_tables(columns)
    shares = conditional(tables, 1e-3).shares(columns)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    for (name,), table in tables.items():
        codes = columns[DOMAIN.index(name)]
        found = np.stack([np.bincount(codes, each, 4) for each in shares.T], axis=1) / N
        np.testing.assert_allclose(found, table, atol=2e-4)
    # No other attributes play a part: what they say is what made the rows.
    assert np.abs(shares[:, 1] - chances(columns[:-1])).mean() < 0.015


def test_the_more_noise_the_less_is_followed():
    columns = rows(np.random.default_rng(5))
    tables = exact_tables(columns)
    spreads = [
        conditional(tables, stddev).shares(columns)[:, 1].std() for stddev in (1.0, 1e3, 1e9)
    ]
    assert spreads[0] > spreads[1] > spreads[2] > 0.0


def test_levels_of_an_order_follow_their_neighbours():
    """A cell that stands out alone is believed less where levels have an order."""
    found = []
    for ordered in (frozenset(), frozenset({"x"})):
        domain = Domain(("x", "y"), (8, 2), ordered=ordered)
        table = np.tile([0.5, 0.5], (8, 1)) / 8
        table[3] = np.array([0.2, 0.8]) / 8
        given = conditional({("x",): table}, 1000.0, domain=domain)
        shares = given.shares((np.arange(N) % 8, np.zeros(N, dtype=np.int64)))
        found.append(shares[:8, 1])
    none, ordered = found
    assert none[3] > ordered[3] + 0.02
    assert ordered[2] > none[2] + 0.01


def test_rows_of_many_more_than_are_fitted_on_have_the_same_tables(monkeypatch):
    columns = rows(np.random.default_rng(5))
    tables = exact_tables(columns)
    monkeypatch.setattr(home(LogLinearConditional), "_FITTED_ROWS", 2_000)
    shares = conditional(tables, 1.0).shares(columns)
    assert shares[:, 1].mean() == pytest.approx(columns[-1].mean(), abs=2e-3)


def test_values_come_as_often_as_expected_among_rows_that_are_alike():
    rng = np.random.default_rng(2)
    shares = rng.dirichlet(np.ones(3), size=1000)
    order = rng.permutation(1000)
    codes = np.full(1000, -1, dtype=np.int32)
    draw_evenly(shares, order, np.zeros(3), codes)
    for last in (10, 100, 1000):
        expected = shares[order[:last]].sum(axis=0)
        assert np.abs(np.bincount(codes[order[:last]], minlength=3) - expected).max() < 2.0


def test_compiled_and_plain_loops_do_the_same():
    rng = np.random.default_rng(3)
    columns = rows(rng)
    small = tuple(column[:400] for column in columns)
    found = []
    module = home(LogLinearConditional)
    compiled = module.scale_terms
    try:
        for loop in (scale_terms, scale_terms.plain):
            module.scale_terms = loop
            found.append(conditional(exact_tables(columns), 20.0).shares(small))
    finally:
        module.scale_terms = compiled
    np.testing.assert_allclose(*found, rtol=1e-3)
    codes = [np.empty(400, dtype=np.int32) for _ in range(2)]
    order = rng.permutation(400)
    draw_evenly(found[0], order, np.zeros(2), codes[0])
    draw_evenly.plain(found[0], order, np.zeros(2), codes[1])
    np.testing.assert_array_equal(*codes)


def test_of_many_rows_some_say_what_terms_are_and_all_get_the_same(monkeypatch):
    """Memory is that of some rows by all sets, however many rows there are."""
    module = home(LogLinearConditional)
    columns = rows(np.random.default_rng(3))
    many = [np.tile(column, 3) for column in columns]
    fitted = []
    original = module.scale_terms
    monkeypatch.setattr(module, "_LAST_ROWS", 25_000)
    monkeypatch.setattr(
        module,
        "scale_terms",
        lambda cells, *rest: fitted.append(cells.shape[1]) or original(cells, *rest),
    )
    found = conditional(exact_tables(columns), 20.0).shares(many)
    assert found.shape == (3 * N, 2)
    assert max(fitted) <= 25_000
    assert (found[:N] == found[N : 2 * N]).all()
    assert (found[:N] == found[2 * N :]).all()
    assert abs(found[:N, 1] - chances(columns[:-1])).mean() < 0.05
