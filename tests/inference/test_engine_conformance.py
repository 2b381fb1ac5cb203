"""What every engine promises, exact or not. A new engine joins by one line in ENGINES."""

import json
from itertools import product

import numpy as np
import pytest
from oracles_inference import marginal_of, noisy

from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.inference.adaptive_descent import AdaptiveDescent
from synthdp.inference.auto import AutoEstimator
from synthdp.inference.direct import DirectEstimator
from synthdp.inference.generative_network import GenerativeNetworkEstimator
from synthdp.inference.graphical_model import GraphicalModelEstimator
from synthdp.inference.local_consistency import LocalConsistencyEstimator
from synthdp.inference.mixture import MixtureEstimator
from synthdp.inference.public_data import PublicDataEstimator
from synthdp.inference.record_update import RecordUpdateEstimator
from synthdp.inference.relaxed_tabular import RelaxedTabularEstimator
from synthdp.inference.store import model_from_state, model_to_state
from synthdp.measurement import LinearMeasurement, estimate_total
from synthdp.registry import ENGINES as NAMED

DOMAIN = Domain(("a", "b", "one", "c", "d"), (3, 2, 1, 3, 2))
ALL_ROWS = tuple(np.array(column) for column in zip(*product(*map(range, DOMAIN.shape)), strict=True))
SMALL = AdaptiveDescent(learning_rate=0.3, max_iterations=400)

ENGINES = [
    GraphicalModelEstimator(),
    DirectEstimator(),
    AutoEstimator(),
    LocalConsistencyEstimator(),
    RecordUpdateEstimator(),
    MixtureEstimator(n_components=40, driver=SMALL),
    RelaxedTabularEstimator(n_components=60),
    GenerativeNetworkEstimator(n_components=40, hidden=(32,)),
    PublicDataEstimator(columns=ALL_ROWS),
]
PROBLEMS = {
    "tree": [("a", "b"), ("b", "c")],
    "cycle": [("a", "b"), ("b", "c"), ("c", "a")],
    "nested, repeated, weighted": [("a",), ("b", "a"), ("a", "b"), ("c",), ("c", "a")],
    "disconnected": [("a", "b"), ("d", "c")],
    "empty clique": [(), ("a", "b")],
    "one level": [("one",), ("a", "one", "b")],
}


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.name)
def engine(request):
    return request.param


@pytest.fixture(scope="module")
def joint():
    return 5000 * np.random.default_rng(3).dirichlet(np.full(DOMAIN.size(), 2.0)).reshape(DOMAIN.shape)


def measured(joint, cliques, stddev):
    rng = np.random.default_rng(1)
    return noisy(rng, joint, DOMAIN, cliques, stddev * rng.uniform(0.7, 1.5, len(cliques)))


def test_every_named_engine_is_tested():
    assert set(NAMED) <= {engine.name for engine in ENGINES}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_marginals_explain_the_measurements_and_survive_saving(engine, joint, problem):
    measurements = measured(joint, PROBLEMS[problem], stddev=2.0)
    model = engine.estimate(DOMAIN, measurements)
    assert model.total == pytest.approx(estimate_total(measurements))
    for clique in [*PROBLEMS[problem], ("d", "a"), ("b",), ()]:
        marginal = model.marginal(clique)
        assert (marginal.values >= 0).all()
        assert marginal.total() == pytest.approx(model.total)
    for clique in PROBLEMS[problem]:
        error = np.abs(model.marginal(clique).values - marginal_of(joint, DOMAIN, clique)).sum() / 2
        assert error < 0.03 * model.total
    state, arrays = model_to_state(model)
    loaded = model_from_state(json.loads(json.dumps(state)), arrays, DOMAIN)
    np.testing.assert_allclose(loaded.marginal(("c", "a")).values, model.marginal(("c", "a")).values, rtol=1e-12)
    assert all(map(np.array_equal, loaded.sample(300, seed=1), model.sample(300, seed=1)))


def test_samples_follow_the_model_and_their_seed(engine, joint):
    model = engine.estimate(DOMAIN, measured(joint, PROBLEMS["cycle"], stddev=2.0))
    for rounding in (True, False):
        columns = model.sample(20_000, seed=5, rounding=rounding)
        assert all(map(np.array_equal, columns, model.sample(20_000, seed=5, rounding=rounding)))
        assert not all(map(np.array_equal, columns, model.sample(20_000, seed=6, rounding=rounding)))
        for clique in PROBLEMS["cycle"]:
            counts = np.zeros(DOMAIN.project(clique).shape)
            np.add.at(counts, tuple(columns[DOMAIN.index(name)] for name in clique), 1)
            shares = model.marginal(clique).values / model.total
            assert np.abs(counts / 20_000 - shares).sum() / 2 < 0.03
    assert [column.shape for column in model.sample(0)] == [(0,)] * len(DOMAIN)


def test_no_row_breaks_a_constraint(engine, joint):
    constraints = [
        Constraint(("a", "c"), np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], dtype=bool)),
        Constraint.determines("c", "d", [0, 1, 1], 2),
    ]
    for constraint in constraints:
        shown = constraint.canonical(DOMAIN)
        joint = joint * shown.allowed.reshape([DOMAIN[n] if n in shown.clique else 1 for n in DOMAIN.attributes])
    model = engine.estimate(DOMAIN, measured(joint, PROBLEMS["cycle"], stddev=20.0), constraints=constraints)
    for rounding in (True, False):
        columns = model.sample(4000, seed=0, rounding=rounding)
        assert all(constraint.holds(DOMAIN, columns).all() for constraint in constraints)


def test_problems_without_sense_are_refused(engine):
    with pytest.raises(ParameterError, match="there is none"):
        engine.estimate(DOMAIN, [])
    with pytest.raises(ParameterError):
        engine.estimate(DOMAIN, [LinearMeasurement(("a",), np.zeros(4), 1.0)])
    fine = LinearMeasurement(("a",), np.ones(3), 1.0)
    with pytest.raises(ParameterError):
        engine.estimate(DOMAIN, [fine], constraints=[Constraint(("a",), np.ones(2, dtype=bool))])


def test_auto_takes_the_exact_engine_while_it_fits_and_says_so(joint):
    measurements = measured(joint, PROBLEMS["cycle"], stddev=2.0)
    exact = AutoEstimator().estimate(DOMAIN, measurements)
    assert exact.choice.startswith("graphical-model: the junction tree has ")
    approximate = AutoEstimator(max_cells=10).estimate(DOMAIN, measurements)
    assert approximate.choice.startswith("local-consistency: the junction tree has ")
    assert "more than the 10 that are allowed" in approximate.choice
