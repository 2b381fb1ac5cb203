"""Records moved towards marginals: tables of pseudo-marginals, and the GUM engine."""

import json
from itertools import combinations

import numpy as np
import pytest
from helpers.fit_problems import (
    DOMAIN,
    ENGINES,
    FINE_COARSE,
    FORBIDDEN,
    ONE_WAY,
    PROBLEMS,
    TIGHT,
    check_local_consistency,
    counts,
    measured,
)
from helpers.quick_engines import each_of
from oracles.inference import marginal_of

from synthdp.core import Constraint, Domain, LinearMeasurement, ParameterError
from synthdp.inference import (
    LocalConsistencyEngine,
    PseudoMarginalModel,
    RecordMoves,
    RecordUpdateEngine,
    WantedTables,
    WeightedRowsModel,
)

engine = each_of(ENGINES)


@pytest.mark.parametrize("problem", ["cycle", "all pairs", "overlapping three-ways"])
@pytest.mark.parametrize("rounding", [True, False])
def test_tables_match_the_pseudo_marginals(joint, problem, rounding):
    """Rounded tables to a fraction of chance, others as well as independent draws can."""
    measurements = measured(joint, PROBLEMS[problem], stddev=1.0)
    model = LocalConsistencyEngine().estimate(DOMAIN, measurements)
    n_rows = 20_000
    columns = model.sample(n_rows, seed=1, rounding=rounding)
    for clique in PROBLEMS[problem]:
        shares = model.marginal(clique).values / model.total
        off = np.abs(counts(DOMAIN, columns, clique) / n_rows - shares).sum()
        chance = np.sqrt(shares / n_rows).sum()
        assert off <= (0.3 if rounding else 2.0) * chance + 1e-3


def test_the_gum_table_is_its_model(joint):
    measurements = measured(joint, PROBLEMS["all pairs"])
    model = RecordUpdateEngine(n_records=5000).estimate(DOMAIN, measurements)
    columns = model.sample(5000, seed=0)
    for clique in [("a", "c"), ("a", "b", "d"), DOMAIN.attributes]:
        expected = model.marginal(clique).values * (5000 / model.total)
        np.testing.assert_allclose(counts(DOMAIN, columns, clique), expected, atol=1e-6)
    assert model.weights.shape == (5000,)


def test_gum_comes_near_the_least_loss(joint):
    measurements = measured(joint, PROBLEMS["all pairs"], stddev=3.0)
    model = RecordUpdateEngine(shrinkage=False).estimate(DOMAIN, measurements)
    exact = TIGHT.estimate(DOMAIN, measurements).status.loss
    assert model.status.ended == "stalled"
    assert exact * (1 - 1e-6) <= model.status.loss <= 1.1 * exact + 1.0


@pytest.mark.filterwarnings("ignore::synthdp.core.errors.FitWarning")  # cut short to save time
@pytest.mark.parametrize(
    "constraints",
    [
        [FINE_COARSE],
        [FORBIDDEN],
        [ONE_WAY],
        [FINE_COARSE, FORBIDDEN, ONE_WAY],
        [FORBIDDEN, FORBIDDEN],
    ],
    ids=["dependency", "forbidden", "one-way", "all", "twice"],
)
@pytest.mark.parametrize(
    "problem", ["tree", "all pairs", "overlapping three-ways", "only the empty clique"]
)
def test_constraints_hold_in_every_region_and_row(engine, joint, constraints, problem):
    model = engine().estimate(DOMAIN, measured(joint, PROBLEMS[problem]), constraints=constraints)
    for constraint in constraints:
        assert (model.marginal(constraint.clique).values[~constraint.allowed] == 0).all()
        assert model.marginal(constraint.clique).total() == pytest.approx(model.total)
    beyond = ("a", "b", "c", "d")
    possible = [constraint.holds(DOMAIN, np.indices(DOMAIN.shape)) for constraint in constraints]
    impossible = ~np.logical_and.reduce(possible)[:, :, 0]
    assert model.marginal(beyond).values[impossible].max() <= 1e-6 * model.total
    for n_rows, rounding in [(1, True), (700, True), (700, False)]:
        columns = model.sample(n_rows, seed=2, rounding=rounding)
        assert all(constraint.holds(DOMAIN, columns).all() for constraint in constraints)
    if engine is LocalConsistencyEngine:
        check_local_consistency(model)


def test_rows_move_across_a_functional_dependency():
    """No single attribute can change there, but both together do."""
    domain = Domain(("coarse", "fine", "x"), (3, 6, 4))
    rng = np.random.default_rng(5)
    coarse_of = np.array([0, 0, 1, 1, 2, 2])
    constraint = Constraint.determines("fine", "coarse", coarse_of.tolist(), 3)
    table = (
        rng.dirichlet(np.full(domain.size(), 0.5)).reshape(domain.shape)
        * constraint.allowed.T[:, :, None]
    )
    table /= table.sum()
    targets = {
        clique: marginal_of(table, domain, clique) for clique in combinations(domain.attributes, 2)
    }
    fine = rng.integers(6, size=5000)
    records = np.array([coarse_of[fine], fine, rng.integers(4, size=5000)], dtype=np.int32)
    RecordMoves().move(records, WantedTables(domain, targets, constraints=[constraint]))
    assert constraint.holds(domain, records).all()
    for clique, target in targets.items():
        assert np.abs(counts(domain, records, clique) / 5000 - target).sum() < 0.01


def test_fixed_attributes_keep_their_values():
    domain = Domain(("a", "b"), (2, 2))
    rng = np.random.default_rng(6)
    records = rng.integers(2, size=(2, 1000)).astype(np.int32)
    before = records.copy()
    targets = {("a", "b"): np.diag([0.5, 0.5])}
    RecordMoves().move(records, WantedTables(domain, targets, fixed=("a",)))
    assert np.array_equal(records[0], before[0])
    assert (records[0] == records[1]).mean() > 0.9 > (before[0] == before[1]).mean()


def test_contradicting_constraints_are_refused(engine, joint):
    never = [
        Constraint(("a",), np.array([True, False, False])),
        Constraint(("a",), np.array([False, True, True])),
    ]
    with pytest.raises(ParameterError, match="constraints"):
        engine().estimate(DOMAIN, measured(joint, [("a", "b")]), constraints=never)


def test_everything_repeats_with_the_same_seed(engine, joint):
    measurements = measured(joint, PROBLEMS["all pairs"])
    first, second = (engine().estimate(DOMAIN, measurements) for _ in range(2))
    for rounding in (True, False):
        assert all(
            map(
                np.array_equal,
                first.sample(400, seed=5, rounding=rounding),
                second.sample(400, seed=5, rounding=rounding),
            )
        )
        assert not all(map(np.array_equal, first.sample(400, seed=5), first.sample(400, seed=6)))
    if engine is RecordUpdateEngine:
        other = engine(seed=1).estimate(DOMAIN, measurements)
        assert not all(map(np.array_equal, other.columns, first.columns))


@pytest.mark.parametrize("constraints", [[], [FINE_COARSE]], ids=["free", "constrained"])
def test_models_survive_being_saved(engine, joint, constraints):
    model = engine().estimate(
        DOMAIN, measured(joint, PROBLEMS["all pairs"]), constraints=constraints
    )
    state, arrays = model.to_state()
    state = json.loads(json.dumps(state))
    assert all(array.dtype == np.float64 for array in arrays.values())
    loaded = type(model).from_state(
        state, {name: array.copy() for name, array in arrays.items()}, DOMAIN
    )
    assert (loaded.domain, loaded.total, loaded.status) == (model.domain, model.total, model.status)
    for clique in [("a", "c"), ("a", "b", "d"), ()]:
        np.testing.assert_array_equal(loaded.marginal(clique).values, model.marginal(clique).values)
    assert all(map(np.array_equal, loaded.sample(300, seed=1), model.sample(300, seed=1)))
    assert type(model) is (
        PseudoMarginalModel if engine is LocalConsistencyEngine else WeightedRowsModel
    )


def test_hopelessly_negative_counts_give_a_model_of_one_record(engine):
    domain = Domain(("a", "b"), (2, 2))
    model = engine().estimate(domain, [LinearMeasurement(("a", "b"), np.full((2, 2), -50.0), 1.0)])
    assert model.total == 1.0
    np.testing.assert_allclose(model.marginal(("a",)).values, 0.5, atol=1e-6)
    assert [column.shape for column in model.sample(0)] == [(0,), (0,)]
