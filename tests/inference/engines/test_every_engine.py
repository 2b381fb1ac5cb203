"""What every engine promises, exact or not. A new engine joins by its line in the registry."""

import json
from functools import cache
from itertools import product

import numpy as np
import pytest
from helpers.quick_engines import CUT_SHORT, each_of, quick_engine
from oracles.inference import marginal_of, noisy

from synthdp import core
from synthdp.inference import (
    AutoEngine,
    FitProblem,
    PublicDataEngine,
    RefinedModel,
    checked_problem,
    estimate_refined,
    model_from_state,
    model_to_state,
)
from synthdp.release import ENGINES as NAMED

pytestmark = CUT_SHORT

DOMAIN = core.Domain(("a", "b", "one", "c", "d"), (3, 2, 1, 3, 2))
ALL_ROWS = tuple(
    np.array(column) for column in zip(*product(*map(range, DOMAIN.shape)), strict=True)
)

ENGINES = [*map(quick_engine, NAMED), PublicDataEngine(columns=ALL_ROWS)]
PROBLEMS = {
    "tree": [("a", "b"), ("b", "c")],
    "cycle": [("a", "b"), ("b", "c"), ("c", "a")],
    "nested, repeated, weighted": [("a",), ("b", "a"), ("a", "b"), ("c",), ("c", "a")],
    "disconnected": [("a", "b"), ("d", "c")],
    "empty clique": [(), ("a", "b")],
    "one level": [("one",), ("a", "one", "b")],
}

CONSTRAINTS = [
    core.Constraint(("a", "c"), np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], dtype=bool)),
    core.Constraint.determines("c", "d", [0, 1, 1], 2),
]


engine = each_of(ENGINES)


@pytest.fixture(scope="module")
def joint():
    return 5000 * np.random.default_rng(3).dirichlet(np.full(DOMAIN.size(), 2.0)).reshape(
        DOMAIN.shape
    )


def measured(joint, cliques, stddev):
    rng = np.random.default_rng(1)
    return noisy(rng, joint, DOMAIN, cliques, stddev * rng.uniform(0.7, 1.5, len(cliques)))


@pytest.fixture(scope="module")
def fitted(joint):
    """Models of the problems, fitted once an engine."""
    return cache(
        lambda engine, problem: engine.estimate(
            DOMAIN, measured(joint, PROBLEMS[problem], stddev=2.0)
        )
    )


def test_every_named_engine_is_tested():
    assert set(NAMED) <= {engine.name for engine in ENGINES}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_marginals_explain_the_measurements_and_survive_saving(engine, joint, problem):
    measurements = measured(joint, PROBLEMS[problem], stddev=2.0)
    model = engine.estimate(DOMAIN, measurements)
    assert model.total == pytest.approx(core.estimate_total(measurements))
    for clique in [*PROBLEMS[problem], ("d", "a"), ("b",), ()]:
        marginal = model.marginal(clique)
        assert (marginal.values >= 0).all()
        assert marginal.total() == pytest.approx(model.total)
    for clique in PROBLEMS[problem]:
        error = np.abs(model.marginal(clique).values - marginal_of(joint, DOMAIN, clique)).sum() / 2
        assert error < 0.03 * model.total
    state, arrays = model_to_state(model)
    loaded = model_from_state(json.loads(json.dumps(state)), arrays, DOMAIN)
    np.testing.assert_allclose(
        loaded.marginal(("c", "a")).values, model.marginal(("c", "a")).values, rtol=1e-12
    )
    assert all(map(np.array_equal, loaded.sample(300, seed=1), model.sample(300, seed=1)))


def test_samples_follow_the_model_and_their_seed(engine, fitted):
    model = fitted(engine, "cycle")
    for rounding in (True, False):
        columns = model.sample(20_000, seed=5, rounding=rounding)
        assert all(map(np.array_equal, columns, model.sample(20_000, seed=5, rounding=rounding)))
        assert not all(
            map(np.array_equal, columns, model.sample(20_000, seed=6, rounding=rounding))
        )
        for clique in PROBLEMS["cycle"]:
            counts = np.zeros(DOMAIN.project(clique).shape)
            np.add.at(counts, tuple(columns[DOMAIN.index(name)] for name in clique), 1)
            shares = model.marginal(clique).values / model.total
            assert np.abs(counts / 20_000 - shares).sum() / 2 < 0.03
    assert [column.shape for column in model.sample(0)] == [(0,)] * len(DOMAIN)


def constrained_fit(engine, joint):
    """A fit to noisy marginals of rows that keep to all constraints."""
    for constraint in CONSTRAINTS:
        shown = constraint.canonical(DOMAIN)
        joint = joint * shown.allowed.reshape(
            [DOMAIN[n] if n in shown.clique else 1 for n in DOMAIN.attributes]
        )
    return engine.estimate(
        DOMAIN, measured(joint, PROBLEMS["cycle"], stddev=20.0), constraints=CONSTRAINTS
    )


def test_no_row_breaks_a_constraint(engine, joint):
    model = constrained_fit(engine, joint)
    for rounding in (True, False):
        columns = model.sample(4000, seed=0, rounding=rounding)
        assert all(constraint.holds(DOMAIN, columns).all() for constraint in CONSTRAINTS)


def shares_of(columns, names, rows=slice(None)):
    """Shares of the cells of a marginal among some rows of a table."""
    counts = np.zeros(DOMAIN.project(names).shape)
    np.add.at(counts, tuple(columns[DOMAIN.index(name)][rows] for name in names), 1)
    return counts / counts.sum()


@pytest.mark.parametrize("problem", ["tree", "cycle"])
def test_completed_rows_keep_what_is_given_and_follow_the_conditional_distribution(
    engine, fitted, problem
):
    model = fitted(engine, problem)
    names = ("c", "a", "b")
    for known in (1, 2):
        cells = list(product(*(range(DOMAIN[name]) for name in names[:known])))
        given = {
            name: np.repeat(codes, 8000)
            for name, codes in zip(names, np.transpose(cells), strict=False)
        }
        columns = model.complete(given, seed=4)
        assert all(map(np.array_equal, columns, model.complete(given, seed=4)))
        assert not all(map(np.array_equal, columns, model.complete(given, seed=5)))
        for name, codes in given.items():
            np.testing.assert_array_equal(columns[DOMAIN.index(name)], codes)
        table = model.marginal(names).values
        for number, cell in enumerate(cells):
            drawn = shares_of(columns, names[known:], slice(8000 * number, 8000 * (number + 1)))
            assert np.abs(drawn - table[cell] / table[cell].sum()).sum() / 2 < 0.05
    assert [column.shape for column in model.complete({"a": np.empty(0, dtype=int)})] == [
        (0,)
    ] * len(DOMAIN)


def test_slices_follow_the_conditional_distribution(engine, fitted):
    model = fitted(engine, "cycle")
    wanted = {"c": np.array([False, True, True]), "a": np.array([0.5, 0.0, 0.25])}
    columns = model.sample_where(wanted, 20_000, seed=3)
    assert all(map(np.array_equal, columns, model.sample_where(wanted, 20_000, seed=3)))
    table = model.marginal(("c", "a")).values * wanted["c"][:, None] * wanted["a"]
    drawn = shares_of(columns, ("c", "a"))
    assert not drawn[table == 0].any()
    assert np.abs(drawn - table / table.sum()).sum() / 2 < 0.03
    assert [column.shape for column in model.sample_where(wanted, 0)] == [(0,)] * len(DOMAIN)


@pytest.mark.parametrize(
    "cliques", [[("b", "c")], [("b", "c"), ("c", "d"), ("d", "b")]], ids=["tree", "cycle"]
)
def test_slices_are_drawn_however_rare(engine, cliques):
    """One record in a million; engines that hold records may lack it, and then make it of the
    nearest ones.
    """
    n_rows = 1e7
    one_way = core.LinearMeasurement(("a",), np.array([n_rows / 2, n_rows / 2 - 10, 10.0]), 0.1)
    others = [
        core.LinearMeasurement(c, np.full(s := DOMAIN.project(c).shape, n_rows / np.prod(s)), 100.0)
        for c in cliques
    ]
    model = engine.estimate(DOMAIN, [one_way, *others])
    wanted = {"a": np.array([False, False, True]), "b": np.array([True, False])}
    assert model.marginal(("a", "b")).values[2, 0] < 1e-4 * n_rows
    columns = model.sample_where(wanted, 500, seed=0)
    assert [column.shape for column in columns] == [(500,)] * len(DOMAIN)
    assert (columns[0] == 2).all()
    assert (columns[1] == 0).all()


def test_constraints_hold_in_completed_rows_and_slices(engine, joint):
    first = constrained_fit(engine, joint)
    state, arrays = model_to_state(first)
    a, d = np.repeat([[0, 0, 1, 1, 2], [0, 1, 0, 1, 1]], 300, axis=1)
    for model in (first, model_from_state(json.loads(json.dumps(state)), arrays, DOMAIN)):
        columns = model.complete({"a": a, "d": d}, seed=0)
        np.testing.assert_array_equal(columns[0], a)
        np.testing.assert_array_equal(columns[4], d)
        assert all(constraint.holds(DOMAIN, columns).all() for constraint in CONSTRAINTS)
        sliced = model.sample_where({"a": np.array([False, False, True])}, 1000, seed=0)
        assert (sliced[0] == 2).all()
        assert all(constraint.holds(DOMAIN, sliced).all() for constraint in CONSTRAINTS)
        with pytest.raises(
            core.ParameterError, match=r"^given: .* on \('a', 'c'\) and on \('c', 'd'\) together;"
        ):
            model.complete({"a": np.array([0, 2]), "d": np.array([0, 0])}, seed=0)
        with pytest.raises(
            core.ParameterError, match=r"^where: .* on \('a', 'c'\) and on \('c', 'd'\) together;"
        ):
            model.sample_where(
                {"a": np.array([False, False, True]), "d": np.array([True, False])}, 5, seed=0
            )


def test_slices_may_cut_through_merged_levels(engine, joint):
    merging = core.Coarsening({"c": np.array([0, 1, 1]), "a": np.array([1, 0, 0])})
    plain = measured(joint, [("a",), ("c",), ("b", "a"), ("a", "c"), ("c", "b")], stddev=2.0)
    merged = [
        core.LinearMeasurement(m.clique, merging.apply(m.clique, m.values), 2.0, merging)
        for m in plain[2:]
    ]
    model = estimate_refined(engine, DOMAIN, [*plain[:2], *merged])
    assert isinstance(model, RefinedModel)
    wanted = {"a": np.array([True, True, False]), "c": np.array([False, True, False])}
    columns = model.sample_where(wanted, 20_000, seed=0)
    assert (columns[3] == 1).all()
    expected = model.marginal(("c", "a", "b")).values[1] * np.array([[1], [1], [0]])
    drawn = shares_of(columns, ("a", "b"))
    assert not drawn[expected == 0].any()
    assert np.abs(drawn - expected / expected.sum()).sum() / 2 < 0.05
    given = {"a": np.full(20_000, 2), "d": np.zeros(20_000, dtype=np.uint8)}
    completed = model.complete(given, seed=0)
    assert (completed[0] == 2).all()
    expected = model.marginal(("a", "c")).values[2]
    assert np.abs(shares_of(completed, ("c",)) - expected / expected.sum()).sum() / 2 < 0.05


ONE_WAY, OTHER_WAY = (
    core.Coarsening({"a": np.array([0, 1, 1])}),
    core.Coarsening({"a": np.array([1, 1, 0])}),
)


def merged(measurement, coarsening):
    values = coarsening.apply(measurement.clique, measurement.values)
    return core.LinearMeasurement(measurement.clique, values, measurement.stddev, coarsening)


def test_merged_measurements_are_refused_by_engines_that_do_not_take_them(engine, joint):
    assert engine.takes_merged == (engine.name in ("auto", "layered-consistency"))
    plain, pair = measured(joint, [("a",), ("b", "a")], stddev=2.0)
    given = [plain, merged(pair, ONE_WAY)]
    if not engine.takes_merged:
        with pytest.raises(
            core.ParameterError,
            match=r"measurement of \('b', 'a'\): levels are merged; use estimate_refined",
        ):
            engine.estimate(DOMAIN, given)
        return
    model = engine.estimate(DOMAIN, given)
    assert not isinstance(model, RefinedModel)
    expected = ONE_WAY.apply(("b", "a"), marginal_of(joint, DOMAIN, ("b", "a")))
    found = ONE_WAY.apply(("b", "a"), model.marginal(("b", "a")).values)
    assert np.abs(found - expected).sum() / 2 < 0.01 * model.total


def test_pairs_merged_in_several_ways_are_explained_each_in_its_own(engine, joint):
    columns, pairs = ([("a",), ("b",), ("c",)], [("a", "b"), ("c", "a")])
    plain = measured(joint, [*columns, *pairs], stddev=2.0)
    mergings = dict(zip(pairs, (ONE_WAY, OTHER_WAY), strict=True))
    model = estimate_refined(
        engine,
        DOMAIN,
        [merged(m, mergings[m.clique]) if m.clique in mergings else m for m in plain],
    )
    assert not isinstance(model, RefinedModel)
    for clique in [*columns, *pairs]:
        coarsening = mergings.get(clique, core.Coarsening({}))
        exact, found = marginal_of(joint, DOMAIN, clique), model.marginal(clique).values
        error = np.abs(coarsening.apply(clique, found) - coarsening.apply(clique, exact)).sum() / 2
        assert error < 0.03 * model.total


def test_partial_rows_and_slices_without_sense_are_refused(engine, fitted):
    model = fitted(engine, "tree")
    zero = np.zeros(1, dtype=int)
    for given in (
        {},
        {"z": zero},
        {"a": zero + 3},
        {"a": zero - 1},
        {"a": zero, "b": np.zeros(2, int)},
        {"a": [0.5]},
    ):
        with pytest.raises(core.ParameterError):
            model.complete({name: np.asarray(codes) for name, codes in given.items()})
    every = np.ones(3, dtype=bool)
    for wanted in (
        {"z": every},
        {"a": every[:2]},
        {"a": ~every},
        {"a": -1.0 * every},
        {"a": np.nan * every},
    ):
        with pytest.raises(core.ParameterError):
            model.sample_where(wanted, 5)
    with pytest.raises(core.ParameterError, match="n_rows"):
        model.sample_where({"a": every}, -1)


def test_problems_without_sense_are_refused(engine):
    with pytest.raises(core.ParameterError, match="there is none"):
        engine.estimate(DOMAIN, [])
    with pytest.raises(core.ParameterError):
        engine.estimate(DOMAIN, [core.LinearMeasurement(("a",), np.zeros(4), 1.0)])
    fine = core.LinearMeasurement(("a",), np.ones(3), 1.0)
    with pytest.raises(core.ParameterError):
        engine.estimate(
            DOMAIN, [fine], constraints=[core.Constraint(("a",), np.ones(2, dtype=bool))]
        )


def test_auto_takes_the_exact_engine_while_it_fits_and_says_so(joint):
    measurements = measured(joint, PROBLEMS["cycle"], stddev=2.0)
    exact = AutoEngine().estimate(DOMAIN, measurements)
    assert exact.choice.startswith("graphical-model: the junction tree has ")
    approximate = AutoEngine(max_cells=10).estimate(DOMAIN, measurements)
    assert approximate.choice.startswith("layered-consistency: the junction tree has ")
    assert "more than the 10 that are allowed" in approximate.choice


def test_auto_takes_the_layered_engine_where_levels_are_merged_and_says_so(joint):
    plain = measured(joint, PROBLEMS["tree"], stddev=2.0)
    mixed = [*plain, merged(plain[0], ONE_WAY)]
    chosen, reason = AutoEngine().choose(DOMAIN, mixed)
    assert chosen.name == "layered-consistency"
    assert reason == "layered-consistency: levels are merged in some of the measurements"
    assert AutoEngine().estimate(DOMAIN, mixed).choice == reason
    # A merging of attributes that are not measured with it merges nothing.
    elsewhere = [
        core.LinearMeasurement(
            m.clique, m.values, m.stddev, core.Coarsening({"d": np.array([0, 0])})
        )
        for m in plain
    ]
    assert AutoEngine().choose(DOMAIN, elsewhere)[0].name == "graphical-model"


def test_problems_with_merged_levels_are_checked_at_their_own_size():
    fits = core.LinearMeasurement(("a", "b"), np.ones((2, 2)), 1.0, ONE_WAY)
    checked_problem(FitProblem(domain=DOMAIN, measurements=[fits]), takes_merged=True)
    for takes_merged in ({}, {"takes_merged": False}):
        with pytest.raises(
            core.ParameterError,
            match=r"measurement of \('a', 'b'\): levels are merged; use estimate_refined",
        ):
            checked_problem(FitProblem(domain=DOMAIN, measurements=[fits]), **takes_merged)
    too_large = core.LinearMeasurement(("a", "b"), np.ones((3, 2)), 1.0, ONE_WAY)
    with pytest.raises(
        core.ParameterError, match=r"values have shape \(3, 2\), the domain asks for \(2, 2\)"
    ):
        checked_problem(FitProblem(domain=DOMAIN, measurements=[too_large]), takes_merged=True)
