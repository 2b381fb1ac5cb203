"""Models over merged levels, refined back: against the joint table written out."""

import json
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from oracles.inference import marginal_of

from synthdp.core import Coarsening, Constraint, Domain, LinearMeasurement, ParameterError
from synthdp.inference import (
    AutoEngine,
    DirectEngine,
    Engine,
    GraphicalModelEngine,
    LayeredConsistencyEngine,
    MarkovRandomField,
    Model,
    PseudoMarginalModel,
    RefinedModel,
    estimate_refined,
    model_from_state,
    model_to_state,
)
from synthdp.release import engine_named

DOMAIN = Domain(("a", "b", "c", "d"), (5, 3, 4, 2))
A_GROUPS, C_GROUPS = np.array([0, 1, 1, 2, 1]), np.array([1, 0, 0, 1])
COARSENING = Coarsening({"a": A_GROUPS, "c": C_GROUPS})
A_COUNTS = np.array([10.0, 30.0, 10.0, 25.0, -4.0])
C_COUNTS = np.array([-3.0, 20.0, 60.0, -1.0])
ENGINES = [GraphicalModelEngine, DirectEngine]


def measurements():
    rng = np.random.default_rng(0)
    merged = [
        LinearMeasurement(("a", "b"), rng.uniform(3, 12, (3, 3)), 1.0, COARSENING),
        LinearMeasurement(("c", "b"), rng.uniform(5, 20, (2, 3)), 2.0, COARSENING),
    ]
    return [
        LinearMeasurement(("a",), A_COUNTS, 2.0),
        LinearMeasurement(("c",), C_COUNTS, 2.0),
        *merged,
    ]


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.name)
def model(request):
    return estimate_refined(request.param(), DOMAIN, measurements())


def written_out(model):
    """The joint table over all levels, from the coarse model and the shares by hand."""
    coarse = model.inner.marginal(DOMAIN.attributes).values
    shares_a = np.array([1.0, 0.75, 0.25, 1.0, 0.0])
    shares_c = np.array([0.5, 0.25, 0.75, 0.5])
    fine = coarse[A_GROUPS][:, :, C_GROUPS]
    return fine * shares_a[:, None, None, None] * shares_c[:, None]


def test_marginals_are_those_of_the_joint_table_written_out(model):
    joint = written_out(model)
    assert joint.sum() == pytest.approx(model.total)
    for clique in [(), ("a",), ("c", "b"), ("c", "a"), ("d", "c"), ("b",), ("c", "d", "b", "a")]:
        marginal = model.marginal(clique)
        assert marginal.domain == DOMAIN.project(clique)
        np.testing.assert_allclose(marginal.values, marginal_of(joint, DOMAIN, clique), atol=1e-9)


def test_samples_follow_the_marginals(model):
    n_rows = 5000
    codes = model.sample(n_rows, seed=1)
    for name, column in zip(DOMAIN.attributes, codes, strict=True):
        counts = np.bincount(column, minlength=DOMAIN[name])
        np.testing.assert_allclose(
            counts, model.marginal((name,)).values * n_rows / model.total, atol=4
        )
    assert not (codes[0] == 4).any()  # its noisy count was negative
    independent = model.sample(n_rows, seed=1, rounding=False)
    expected = model.marginal(("c",)).values * n_rows / model.total
    assert np.abs(np.bincount(independent[2], minlength=4) - expected).max() < 7 * np.sqrt(n_rows)
    assert all(map(np.array_equal, codes, model.sample(n_rows, seed=1)))
    assert not all(map(np.array_equal, codes, model.sample(n_rows, seed=2)))
    assert [column.size for column in model.sample(0)] == [0] * 4
    with pytest.raises(ParameterError, match="n_rows"):
        model.sample(-2)


def test_levels_inside_a_group_are_independent_of_the_rest(model):
    """Shuffled within groups: which of the merged levels a row gets says nothing about ``b``."""
    deviations = np.zeros(3)
    for seed in range(300):
        a, b = model.sample(400, seed=seed)[:2]
        inside = (a == 1) | (a == 2)
        for value in range(3):
            here = inside & (b == value)
            deviations[value] += np.count_nonzero(a[here] == 1) - 0.75 * np.count_nonzero(here)
    assert (np.abs(deviations) < 7 * np.sqrt(300 * 400 * 0.2)).all()


def test_a_refined_model_survives_being_saved(model):
    state, arrays = model_to_state(model)
    loaded = model_from_state(json.loads(json.dumps(state)), dict(arrays), DOMAIN)
    assert isinstance(loaded, RefinedModel)
    assert (loaded.total, loaded.status, loaded.domain) == (model.total, model.status, model.domain)
    np.testing.assert_array_equal(
        loaded.marginal(("a", "c")).values, model.marginal(("a", "c")).values
    )
    assert all(map(np.array_equal, loaded.sample(200, seed=5), model.sample(200, seed=5)))


def test_what_is_merged_anywhere_is_merged_everywhere():
    """Plain measurements give the same fit as merged ones with the variances added up."""
    plain = LinearMeasurement(("c", "d"), np.arange(8.0).reshape(4, 2), 3.0)
    by_hand = LinearMeasurement(
        ("c", "d"), np.array([[6.0, 8.0], [6.0, 8.0]]), 3.0 * np.sqrt(2), COARSENING
    )
    models = [
        estimate_refined(GraphicalModelEngine(), DOMAIN, [*measurements(), m])
        for m in (plain, by_hand)
    ]
    for clique in [("c", "d"), ("a", "d")]:
        first, second = (model.marginal(clique).values for model in models)
        np.testing.assert_allclose(first, second, rtol=1e-7)


def test_shares_pool_repeats_by_their_precision():
    domain, coarsening = Domain(("a",), (3,)), Coarsening({"a": np.array([0, 0, 1])})
    many = [
        LinearMeasurement(("a",), np.array([10.0, 0.0, 5.0]), 1.0),
        LinearMeasurement(("a",), np.array([0.0, 40.0, 5.0]), 2.0),
        LinearMeasurement(("a",), np.array([15.0, 5.0]), 1.0, coarsening),
    ]
    values = estimate_refined(GraphicalModelEngine(), domain, many).marginal(("a",)).values
    assert values[0] == pytest.approx(values[1])


def test_without_any_merging_the_model_is_the_engine_s_own():
    plain = [
        LinearMeasurement(("a",), A_COUNTS, 2.0),
        LinearMeasurement(("b", "d"), np.ones((3, 2)), 1.0),
    ]
    hollow = [*plain, LinearMeasurement(("d",), np.array([1.0, 4.0]), 1.0, Coarsening({}))]
    for given in (plain, hollow):
        assert isinstance(
            estimate_refined(GraphicalModelEngine(), DOMAIN, given), MarkovRandomField
        )
        assert isinstance(engine_named("auto").estimate(DOMAIN, given), MarkovRandomField)


def test_a_merging_of_other_attributes_does_not_hide_one_way_counts():
    domain = Domain(("a", "b"), (3, 2))
    elsewhere = Coarsening({"b": np.array([0, 0])})
    merged = Coarsening({"a": np.array([0, 0, 1]), "b": np.array([0, 0])})
    given = [
        LinearMeasurement(("a",), np.array([30.0, 10.0, 5.0]), 1.0, elsewhere),
        LinearMeasurement(("a", "b"), np.array([[40.0], [5.0]]), 1.0, merged),
    ]
    values = estimate_refined(GraphicalModelEngine(), domain, given).marginal(("a",)).values
    assert values[0] == pytest.approx(3 * values[1])


def test_the_empty_clique_counts_towards_the_total():
    counted = LinearMeasurement((), np.array(5000.0), 1e-6)
    assert estimate_refined(
        GraphicalModelEngine(), DOMAIN, [*measurements(), counted]
    ).total == pytest.approx(5000)


# --- several mergings -----------------------------------------------------------------------------

OTHER = Coarsening({"a": np.array([1, 0, 1, 1, 0])})
NATIVE = [LayeredConsistencyEngine(), AutoEngine()]


@dataclass(frozen=True, kw_only=True)
class Listener(Engine):
    """Fits as the graphical model does, and keeps what it was given."""

    name: ClassVar[str] = "listener"
    heard: list[LinearMeasurement] = field(default_factory=list)
    starts: list[Model | None] = field(default_factory=list)

    def fit(self, problem):
        self.heard.extend(problem.measurements)
        self.starts.append(problem.warm_start)
        return GraphicalModelEngine().fit(problem)


def conflicting():
    return [
        *measurements(),
        LinearMeasurement(("d", "a"), np.array([[9.0, 30.0], [20.0, -4.0]]), 3.0, OTHER),
    ]


def test_conflicting_mergings_are_spread_by_one_way_counts_and_keep_the_sums_of_groups():
    listener, given = Listener(), conflicting()
    model = estimate_refined(listener, DOMAIN, given)
    assert not isinstance(model, RefinedModel)
    assert [m.clique for m in listener.heard] == [m.clique for m in given]
    for told, heard in zip(given, listener.heard, strict=True):
        assert heard.coarsening is None
        heard.check_fits(DOMAIN)
        merging = told.coarsening or Coarsening({})
        np.testing.assert_allclose(merging.apply(told.clique, heard.values), told.values, atol=1e-9)
        np.testing.assert_allclose(
            merging.apply(told.clique, np.array(heard.variance)), told.variance, rtol=1e-9
        )
    weights = np.array([10.0, 30.0, 10.0, 25.0, 0.0])  # a negative count is none
    share = np.zeros(5)
    for group in ([1, 4], [0, 2, 3]):
        own = weights[group] / weights[group].sum() + 1e-3
        share[group] = own / own.sum()
    np.testing.assert_allclose(
        listener.heard[-1].values[0], share * np.array([30.0, 9.0, 30.0, 30.0, 9.0])
    )
    np.testing.assert_allclose(listener.heard[-1].variance[1], 9.0 * share)


def test_groups_whose_levels_nobody_counted_are_spread_evenly():
    domain, listener = Domain(("a", "b"), (4, 2)), Listener()
    mergings = [Coarsening({"a": np.array(groups)}) for groups in ([0, 0, 0, 1], [1, 0, 0, 0])]
    given = [
        LinearMeasurement(("a",), np.array(v), 1.0, m)
        for v, m in zip(([30.0, 12], [24.0, 18]), mergings, strict=True)
    ]
    estimate_refined(listener, domain, given)
    np.testing.assert_allclose(
        [m.values for m in listener.heard], [[10, 10, 10, 12], [18, 8, 8, 8]]
    )


@pytest.mark.parametrize("engine", NATIVE, ids=lambda engine: engine.name)
def test_engines_that_take_merged_levels_get_them_where_some_are_told_apart(engine):
    """Only one-way counts tell levels apart as a rule; a pair that does makes the difference, or a
    second merging.
    """
    assert isinstance(estimate_refined(engine, DOMAIN, measurements()), RefinedModel)
    pair = LinearMeasurement(("a", "d"), np.arange(10.0).reshape(5, 2), 1.0)
    other_pair = LinearMeasurement(("d", "b"), np.arange(6.0).reshape(2, 3), 1.0)
    assert isinstance(estimate_refined(engine, DOMAIN, [*measurements(), other_pair]), RefinedModel)
    for given in ([*measurements(), pair], conflicting()):
        model = estimate_refined(engine, DOMAIN, given)
        assert isinstance(model, PseudoMarginalModel)
        own = engine.estimate(DOMAIN, given)
        assert model.status.loss == own.status.loss
        np.testing.assert_array_equal(
            model.marginal(("a", "d")).values, own.marginal(("a", "d")).values
        )
    model = estimate_refined(GraphicalModelEngine(), DOMAIN, [*measurements(), pair])
    assert isinstance(model, RefinedModel)  # others merge all of them


APART = Constraint(("a", "d"), np.array([[1, 1], [1, 0], [1, 1], [0, 1], [1, 1]], dtype=bool))
ALIKE = Constraint(("d", "a"), np.array([[1, 0, 0, 1, 0], [1, 1, 1, 0, 1]], dtype=bool))


@pytest.mark.parametrize(
    "engine", [*NATIVE, GraphicalModelEngine(), Listener()], ids=lambda engine: engine.name
)
def test_constraints_may_tell_merged_levels_apart(engine):
    for constraints, is_refined in (([ALIKE], True), ([APART], False), ([ALIKE, APART], False)):
        model = estimate_refined(engine, DOMAIN, measurements(), constraints=constraints)
        assert isinstance(model, RefinedModel) == is_refined
        rows = model.sample(2000, seed=0)
        assert all(constraint.holds(DOMAIN, rows).all() for constraint in constraints)
        for constraint in constraints:
            assert (model.marginal(constraint.clique).values[~constraint.allowed] < 1e-9).all()
    with pytest.raises(ParameterError, match=r"it has shape \(5,\), the domain asks for \(2,\)"):
        estimate_refined(
            engine, DOMAIN, measurements(), constraints=[Constraint(("d",), np.arange(5) > 1)]
        )
    with pytest.raises(ParameterError, match=r"it has shape \(2,\), the domain asks for \(5,\)"):
        estimate_refined(
            engine, DOMAIN, measurements(), constraints=[Constraint(("a",), np.arange(2) > 0)]
        )


# --- refusing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "extra",
    [
        LinearMeasurement(("a",), np.zeros(4), 1.0),
        LinearMeasurement(("c",), np.zeros(3), 1.0),
        LinearMeasurement(("nowhere",), np.zeros(3), 1.0),
    ],
    ids=["size", "size of a merged attribute", "name"],
)
def test_measurements_that_do_not_fit_are_refused(extra):
    with pytest.raises(ParameterError):
        estimate_refined(GraphicalModelEngine(), DOMAIN, [*measurements(), extra])


def test_no_measurements_are_refused():
    with pytest.raises(ParameterError, match="there is none"):
        estimate_refined(GraphicalModelEngine(), DOMAIN, [])


def test_an_earlier_model_is_started_from_also_over_merged_levels():
    listener, whole = Listener(), [LinearMeasurement(("a",), np.ones(5), 1.0)]
    for given in (measurements(), whole):
        cold = estimate_refined(listener, DOMAIN, given)
        estimate_refined(listener, DOMAIN, given, warm_start=cold)
        assert listener.starts[-2:] == [
            None,
            cold.inner if isinstance(cold, RefinedModel) else cold,
        ]
