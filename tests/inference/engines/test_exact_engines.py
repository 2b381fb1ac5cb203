"""What the exact engines promise to rounding error; see test_engine_conformance for all engines."""

import json

import numpy as np
import pytest
from helpers.fit_problems import DOMAIN, SMALL_PROBLEMS, measured
from helpers.quick_engines import each_of
from oracles.inference import marginal_of

from synthdp.core import (
    Coarsening,
    DataFileError,
    Domain,
    LinearMeasurement,
    ModelTooLargeError,
    ParameterError,
    estimate_total,
)
from synthdp.inference import (
    DirectEngine,
    GraphicalModelEngine,
    MirrorDescent,
    model_from_state,
    model_to_state,
)

ENGINES = [GraphicalModelEngine, DirectEngine]


engine = each_of(ENGINES)


@pytest.fixture(params=SMALL_PROBLEMS)
def model(request, engine, joint):
    return engine().estimate(DOMAIN, measured(joint, SMALL_PROBLEMS[request.param]))


def test_marginals_are_non_negative_consistent_and_add_up_to_the_total(model):
    whole = model.marginal(DOMAIN.attributes)
    assert (whole.values >= 0).all()
    for clique in [(), ("a",), ("one",), ("b", "a"), ("d", "c", "a"), ("d", "a"), ("c", "one")]:
        marginal = model.marginal(clique)
        assert marginal.domain == DOMAIN.project(clique)
        assert (marginal.values >= 0).all()
        assert marginal.total() == pytest.approx(model.total, rel=1e-9)
        np.testing.assert_allclose(
            marginal.values, whole.project(clique).values, atol=1e-9 * model.total
        )


def test_the_total_is_the_weighted_mean_of_the_sums(engine, joint):
    measurements = measured(joint, SMALL_PROBLEMS["nested"])
    assert engine().estimate(DOMAIN, measurements).total == pytest.approx(
        estimate_total(measurements)
    )


def test_attributes_that_are_not_measured_are_uniform_and_independent(engine, joint):
    model = engine().estimate(DOMAIN, measured(joint, [("a", "b")]))
    expected = model.marginal(("a", "b")).values[:, :, None] / 8
    np.testing.assert_allclose(
        model.marginal(("a", "b", "c")).values, np.repeat(expected * 2, 4, axis=2), rtol=1e-6
    )
    np.testing.assert_allclose(model.marginal(("c", "d")).values, model.total / 8, rtol=1e-6)


@pytest.mark.parametrize("problem", SMALL_PROBLEMS)
def test_an_expressible_distribution_is_recovered_as_noise_vanishes(engine, joint, problem):
    """The measured marginals, and with them the maximum-entropy distribution that has them."""
    model = engine().estimate(DOMAIN, measured(joint, SMALL_PROBLEMS[problem], stddev=1e-4))
    for clique in SMALL_PROBLEMS[problem]:
        np.testing.assert_allclose(
            model.marginal(clique).values, marginal_of(joint, DOMAIN, clique), atol=0.5
        )
    if problem == "tree":
        left, right = marginal_of(joint, DOMAIN, ("a", "b")), marginal_of(joint, DOMAIN, ("b", "c"))
        expected = left[:, :, None] * right[None] / right.sum(axis=1)[None, :, None]
        np.testing.assert_allclose(model.marginal(("a", "b", "c")).values, expected, atol=0.5)


@pytest.mark.parametrize("rounding", [True, False])
def test_samples_are_codes_and_depend_on_nothing_but_the_seed(model, rounding):
    codes = model.sample(500, seed=3, rounding=rounding)
    assert len(codes) == len(DOMAIN)
    for column, size in zip(codes, DOMAIN.shape, strict=True):
        assert column.shape == (500,)
        assert column.dtype == np.uint8
        assert column.max() < size
    again = model.sample(500, seed=3, rounding=rounding)
    other = model.sample(500, seed=4, rounding=rounding)
    free = model.sample(500, rounding=rounding)
    assert all(map(np.array_equal, codes, again))
    assert not all(map(np.array_equal, codes, other))
    assert not all(map(np.array_equal, codes, free))


@pytest.mark.parametrize("n_rows", [0, 1])
@pytest.mark.parametrize("rounding", [True, False])
def test_samples_may_be_empty_or_of_one_row(model, n_rows, rounding):
    assert [column.shape for column in model.sample(n_rows, seed=0, rounding=rounding)] == [
        (n_rows,)
    ] * len(DOMAIN)


def test_negative_sample_sizes_are_refused(model):
    with pytest.raises(ParameterError, match="n_rows is -1"):
        model.sample(-1)


@pytest.mark.parametrize("clique", [("a", "a"), ("a", "nowhere")])
def test_marginals_of_no_clique_are_refused(model, clique):
    with pytest.raises(ParameterError, match=r"repeats|not in the domain"):
        model.marginal(clique)


def test_a_model_survives_being_saved(model):
    """State goes through JSON, arrays through float64; marginals and seeded samples stay the same."""
    state, arrays = model_to_state(model)
    state = json.loads(json.dumps(state))
    arrays = {name: np.array(array, dtype=np.float64) for name, array in arrays.items()}
    loaded = model_from_state(state, arrays, DOMAIN)
    assert type(loaded) is type(model)
    assert loaded.domain == model.domain
    assert loaded.total == model.total
    assert loaded.status == model.status
    np.testing.assert_array_equal(
        loaded.marginal(("d", "a")).values, model.marginal(("d", "a")).values
    )
    assert all(map(np.array_equal, loaded.sample(300, seed=1), model.sample(300, seed=1)))


def test_a_state_holds_no_reference_into_the_model(engine, joint):
    model = engine().estimate(DOMAIN, measured(joint, [("a",)]))
    model_to_state(model)[0]["status"]["loss"] = -1.0
    assert model.status.loss >= 0


def test_a_model_holds_no_reference_to_its_measurements(engine, joint):
    measurements = measured(joint, [("a", "b"), ("c",)])
    model = engine().estimate(DOMAIN, measurements)
    _, arrays = model_to_state(model)
    for array in arrays.values():
        assert not any(np.shares_memory(array, measurement.values) for measurement in measurements)


def test_states_of_unknown_kind_are_refused():
    with pytest.raises(DataFileError, match="'oracle' is unknown"):
        model_from_state({"kind": "oracle"}, {}, DOMAIN)


def test_precise_measurements_weigh_more(engine):
    domain = Domain(("a",), (2,))
    rough = LinearMeasurement(("a",), np.array([100.0, 0.0]), 10.0)
    fine = LinearMeasurement(("a",), np.array([40.0, 60.0]), 1.0)
    values = engine().estimate(domain, [rough, fine]).marginal(("a",)).values
    np.testing.assert_allclose(
        values, (np.array([100.0, 0.0]) + 100 * np.array([40.0, 60.0])) / 101, atol=0.1
    )


@pytest.mark.parametrize("size", [1, 5])
def test_one_attribute_is_enough(engine, size):
    domain = Domain(("a",), (size,))
    model = engine().estimate(domain, [LinearMeasurement(("a",), np.arange(5.0, 5.0 + size), 1e-3)])
    np.testing.assert_allclose(model.marginal(("a",)).values, np.arange(5.0, 5.0 + size), atol=0.01)
    assert [column.tolist() for column in model.sample(0)] == [[]]


def test_hopelessly_negative_counts_give_a_model_of_one_record(engine):
    domain = Domain(("a", "b"), (2, 2))
    model = engine().estimate(domain, [LinearMeasurement(("a", "b"), np.full((2, 2), -50.0), 1.0)])
    assert model.total == 1.0
    np.testing.assert_allclose(model.marginal(("a",)).values, 0.5)


def test_contradicting_totals_are_reconciled(engine):
    domain = Domain(("a", "b"), (2, 2))
    measurements = [
        LinearMeasurement(("a",), np.array([10.0, 30.0]), 1.0),
        LinearMeasurement(("b",), np.array([60.0, 60.0]), 1.0),
    ]
    model = engine().estimate(domain, measurements)
    assert model.total == pytest.approx(80.0)
    np.testing.assert_allclose(model.marginal(("a",)).values, [30.0, 50.0], atol=0.1)
    np.testing.assert_allclose(model.marginal(("b",)).values, [40.0, 40.0], atol=0.1)


def test_a_warm_start_takes_fewer_iterations_to_the_same_loss(engine, joint):
    cliques = [("a", "b"), ("b", "c"), ("c", "d")]
    driver = MirrorDescent(tolerance=1e-6, window=20)
    before = measured(joint, cliques, stddev=3.0)
    measurements = [*before, *measured(joint, [("a", "d")], seed=5, stddev=3.0)]
    cold = engine(driver=driver).estimate(DOMAIN, measurements)
    again = engine(driver=driver).estimate(DOMAIN, measurements, warm_start=cold)
    assert again.status.n_iterations < cold.status.n_iterations
    assert again.status.loss <= cold.status.loss
    grown = engine(driver=driver).estimate(
        DOMAIN, measurements, warm_start=engine(driver=driver).estimate(DOMAIN, before)
    )
    assert grown.status.loss == pytest.approx(cold.status.loss, rel=1e-3)


def test_warm_starts_from_another_domain_are_refused(engine, joint):
    other = Domain(("a",), (2,))
    start = engine().estimate(other, [LinearMeasurement(("a",), np.array([3.0, 4.0]), 1.0)])
    with pytest.raises(ParameterError, match="warm_start"):
        engine().estimate(DOMAIN, measured(joint, [("a",)]), warm_start=start)


def test_progress_is_reported(engine, joint):
    seen = []
    model = engine().estimate(
        DOMAIN, measured(joint, [("a",)]), progress=lambda *done: seen.append(done)
    )
    assert [done for done, _ in seen] == list(range(1, model.status.n_iterations + 1))


def test_no_measurements_are_refused(engine):
    with pytest.raises(ParameterError, match="there is none"):
        engine().estimate(DOMAIN, [])


def test_a_domain_without_attributes_is_refused(engine):
    with pytest.raises(ParameterError, match="no attributes"):
        engine().estimate(Domain((), ()), [LinearMeasurement((), np.array(3.0), 1.0)])


@pytest.mark.parametrize(
    "measurement",
    [
        LinearMeasurement(("a",), np.zeros(4), 1.0),
        LinearMeasurement(("a", "b"), np.zeros((2, 3)), 1.0),
        LinearMeasurement(("nowhere",), np.zeros(4), 1.0),
        LinearMeasurement(("a",), np.zeros(2), 1.0, Coarsening({"a": np.array([0, 0, 1])})),
    ],
    ids=["size", "order", "name", "coarsened"],
)
def test_measurements_that_do_not_fit_are_refused(engine, measurement):
    with pytest.raises(ParameterError):
        engine().estimate(DOMAIN, [measurement])


def test_models_that_are_too_large_are_refused_with_number_and_way_out(engine):
    domain = Domain(tuple("abcdef"), (100,) * 6)
    measurement = LinearMeasurement(("a",), np.ones(100), 1.0)
    limit = engine(max_cells=500)
    with pytest.raises(
        ModelTooLargeError, match=r"(1000000000000|600) cells, at most 500 .*(use|raise)"
    ):
        limit.estimate(domain, [measurement])
