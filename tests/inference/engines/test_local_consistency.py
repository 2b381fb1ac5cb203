"""Pseudo-marginals against exact fits, and what only they promise."""

from itertools import combinations

import numpy as np
import pytest
from helpers.fit_problems import (
    DOMAIN,
    ENGINES,
    PROBLEMS,
    TIGHT,
    check_local_consistency,
    measured,
)
from helpers.quick_engines import each_of
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import inference as oracle

from synthdp.core import (
    Domain,
    FitWarning,
    LinearMeasurement,
    ModelTooLargeError,
    ParameterError,
    estimate_total,
)
from synthdp.inference import (
    DualNewton,
    LocalConsistencyEngine,
    RecordMoves,
    RecordUpdateEngine,
    RegionGraph,
)

engine = each_of(ENGINES)


@given(st.data())
@settings(max_examples=examples(100), deadline=None)
def test_joints_of_a_region_graph_imply_every_shared_marginal(data):
    """By rank: no equality of a shared marginal lies outside of the span of those of the joints."""
    domain = data.draw(oracle.domains(largest=2, most=5))
    graph = RegionGraph.covering(domain, data.draw(oracle.clique_sets(domain)))
    offsets = np.cumsum([0, *(domain.size(region) for region in graph.regions)])

    def rows(clique, position):
        region = graph.regions[position]
        tables = np.zeros((domain.size(clique), offsets[-1]))
        codes = np.indices(domain.project(region).shape).reshape(len(region), -1)
        shape = domain.project(clique).shape
        chosen = [codes[region.index(name)] for name in clique]
        cells = (
            np.ravel_multi_index(chosen, shape) if clique else np.zeros(codes.shape[1], dtype=int)
        )
        tables[cells, np.arange(offsets[position], offsets[position + 1])] = 1.0
        return tables

    told = [
        rows(joint.clique, first) - rows(joint.clique, other)
        for joint in graph.joints
        for first, other in combinations(joint.regions, 2)
    ]
    wanted = []
    for left, right in combinations(range(len(graph.regions)), 2):
        shared = tuple(name for name in graph.regions[left] if name in graph.regions[right])
        wanted.append(rows(shared, left) - rows(shared, right))
    rank = np.linalg.matrix_rank(np.vstack([np.zeros((1, offsets[-1])), *told]))
    assert np.linalg.matrix_rank(np.vstack([np.zeros((1, offsets[-1])), *told, *wanted])) == rank
    assert {name for region in graph.regions for name in region} == set(domain.attributes)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_regions_are_consistent_and_the_loss_is_no_worse_than_the_exact_one(joint, problem):
    """The local polytope contains the marginals of all distributions."""
    measurements = measured(joint, PROBLEMS[problem])
    model = LocalConsistencyEngine(shrinkage=False).estimate(DOMAIN, measurements)
    assert model.status.ended == "optimal"
    check_local_consistency(model)
    assert model.status.loss <= TIGHT.estimate(DOMAIN, measurements).status.loss * (1 + 1e-7) + 1e-7


def test_random_problems_are_solved_to_optimality():
    """Consistent, and never worse than the exact engine, whatever is measured how precisely."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        domain = oracle.random_domain(rng, most=5)
        cliques = oracle.random_cliques(rng, domain, most=6)
        table = 10 ** rng.uniform(1, 5) * rng.dirichlet(np.full(domain.size(), 0.3)).reshape(
            domain.shape
        )
        measurements = oracle.noisy(
            rng, table, domain, cliques, 10 ** rng.uniform(-1, 1, len(cliques))
        )
        model = LocalConsistencyEngine(shrinkage=False).estimate(domain, measurements)
        assert model.status.ended == "optimal", seed
        check_local_consistency(model)
        exact = TIGHT.estimate(domain, measurements)
        assert model.status.loss <= exact.status.loss * (1 + 1e-6) + 1e-5, seed


@pytest.mark.parametrize(
    "problem", ["tree", "disconnected", "nested", "one level", "axes in another order"]
)
def test_decomposable_cliques_give_the_graphical_model(joint, problem):
    """On regions and beyond: the region tree is the junction tree then."""
    measurements = measured(joint, PROBLEMS[problem])
    model = LocalConsistencyEngine(shrinkage=False).estimate(DOMAIN, measurements)
    exact = TIGHT.estimate(DOMAIN, measurements)
    for size in range(len(DOMAIN) + 1):
        for clique in combinations(DOMAIN.attributes, size):
            np.testing.assert_allclose(
                model.marginal(clique).values, exact.marginal(clique).values, atol=0.5
            )
    assert model.status.loss == pytest.approx(exact.status.loss, rel=1e-5, abs=1e-5)


def test_per_cell_noise_is_weighted_cell_by_cell():
    domain = Domain(("a", "b"), (3, 2))
    rng = np.random.default_rng(3)
    stddev = rng.uniform(1.0, 5.0, (3, 2))
    measurements = [
        LinearMeasurement(("a", "b"), rng.uniform(50, 100, (3, 2)), stddev),
        LinearMeasurement(("a",), rng.uniform(100, 200, 3), np.array([1.0, 9.0, 3.0])),
    ]
    expected = TIGHT.estimate(domain, measurements).marginal(("a", "b")).values
    values = (
        LocalConsistencyEngine(shrinkage=False)
        .estimate(domain, measurements)
        .marginal(("a", "b"))
        .values
    )
    np.testing.assert_allclose(values, expected, atol=0.01)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_an_expressible_distribution_is_recovered_as_noise_vanishes(engine, joint, problem):
    model = engine().estimate(DOMAIN, measured(joint, PROBLEMS[problem], stddev=1e-4))
    atol = 0.01 if engine is LocalConsistencyEngine else 2.0
    for clique in PROBLEMS[problem]:
        np.testing.assert_allclose(
            model.marginal(clique).values, oracle.marginal_of(joint, DOMAIN, clique), atol=atol
        )


@pytest.mark.parametrize("stddev", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("total", [10.0, 1e7])
def test_any_scale_of_noise_and_of_counts(stddev, total):
    domain = Domain(("a", "b", "c"), (3, 2, 2))
    rng = np.random.default_rng(2)
    table = total * rng.dirichlet(np.ones(12)).reshape(domain.shape)
    measurements = oracle.noisy(
        rng, table, domain, [("a", "b"), ("b", "c"), ("b",), ("a", "c")], [stddev] * 4
    )
    model = LocalConsistencyEngine().estimate(domain, measurements)
    assert model.status.ended == "optimal"
    check_local_consistency(model)
    assert model.total == pytest.approx(estimate_total(measurements))


def test_estimates_beyond_the_regions_agree_with_all_regions(joint):
    """A clique that three regions meet in takes all of them into account, not only those of the
    tree.
    """
    measurements = measured(joint, PROBLEMS["cycle"], stddev=0.1)
    model = LocalConsistencyEngine(shrinkage=False).estimate(DOMAIN, measurements)
    whole = model.marginal(("c", "a", "b"))
    assert whole.total() == pytest.approx(model.total)
    for clique in PROBLEMS["cycle"]:
        np.testing.assert_allclose(
            whole.project(clique).values, model.marginal(clique).values, atol=0.01
        )
    np.testing.assert_allclose(
        whole.values, TIGHT.estimate(DOMAIN, measurements).marginal(("c", "a", "b")).values, atol=2
    )


def test_shrinkage_brings_noisy_marginals_nearer_to_the_truth():
    """Weakly dependent attributes and much noise: the error falls by a quarter or so, whatever the
    seed.
    """
    domain = Domain(tuple("abcd"), (8, 8, 8, 8))
    cliques = list(combinations("abcd", 2))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        levels = [rng.dirichlet(np.ones(8), size=2) for _ in range(4)]
        table = (
            sum(np.einsum("i,j,k,l", *(level[half] for level in levels)) for half in range(2))
            * 5000
        )
        measurements = oracle.noisy(rng, table, domain, cliques, [30.0] * 6)
        errors = []
        for shrinkage in (False, True):
            model = LocalConsistencyEngine(shrinkage=shrinkage).estimate(domain, measurements)
            check_local_consistency(model)
            off = [
                np.abs(model.marginal(c).values - oracle.marginal_of(table, domain, c)).sum()
                for c in cliques
            ]
            errors.append(sum(off))
        assert errors[1] < 0.85 * errors[0]


def test_shrinkage_fades_as_noise_vanishes(engine, joint):
    measurements = measured(joint, PROBLEMS["tree"], stddev=1e-3)
    model = engine(shrinkage=True).estimate(DOMAIN, measurements)
    for clique in PROBLEMS["tree"]:
        np.testing.assert_allclose(
            model.marginal(clique).values, oracle.marginal_of(joint, DOMAIN, clique), atol=2.0
        )


def test_many_marginals_are_those_one_by_one(joint):
    model = LocalConsistencyEngine().estimate(DOMAIN, measured(joint, PROBLEMS["all pairs"]))
    cliques = list(combinations(DOMAIN.attributes, 3))
    for clique, marginal in zip(cliques, model.marginals(cliques), strict=True):
        np.testing.assert_array_equal(marginal.values, model.marginal(clique).values)


def test_warm_starts_take_fewer_iterations(engine, joint):
    before = measured(joint, [("a", "b"), ("b", "c"), ("c", "d")])
    measurements = [*before, *measured(joint, [("a", "d")], seed=5)]
    cold = engine().estimate(DOMAIN, measurements)
    again = engine().estimate(DOMAIN, measurements, warm_start=cold)
    if engine is not RecordUpdateEngine:  # it moves all records twice, wherever they start
        assert again.status.n_iterations < cold.status.n_iterations
    assert again.status.loss == pytest.approx(
        cold.status.loss, rel=0.05 if engine is RecordUpdateEngine else 1e-9
    )
    grown = engine().estimate(DOMAIN, measurements, warm_start=engine().estimate(DOMAIN, before))
    assert grown.status.loss == pytest.approx(
        cold.status.loss, rel=0.05 if engine is RecordUpdateEngine else 1e-9
    )
    other = engine().estimate(
        Domain(("a",), (2,)), [LinearMeasurement(("a",), np.array([3.0, 4.0]), 1.0)]
    )
    with pytest.raises(ParameterError, match="warm_start"):
        engine().estimate(DOMAIN, measurements, warm_start=other)


def test_a_fit_that_is_cut_short_says_so(joint):
    measurements = measured(joint, PROBLEMS["all pairs"], stddev=100.0)
    newton = DualNewton(max_iterations=1)
    seen = []
    with pytest.warns(
        FitWarning, match=r"\(local-consistency\) was stopped after 1 iterations"
    ) as told:
        model = LocalConsistencyEngine(newton=newton).estimate(
            DOMAIN, measurements, progress=lambda *done: seen.append(done)
        )
    assert (model.status.ended, model.status.caution) == ("stopped", str(told[0].message))
    assert seen == [(1, 1)]
    with pytest.warns(FitWarning, match=r"\(gum\) was stopped after 1 iterations"):
        moved = RecordUpdateEngine(moves=RecordMoves(n_sweeps=1), n_records=300).estimate(
            DOMAIN, measurements
        )
    assert moved.status.ended == "stopped"
    with pytest.warns(FitWarning, match=r"\(local-consistency\) was stopped"):
        misled = RecordUpdateEngine(newton=newton).estimate(DOMAIN, measurements)
    assert (misled.status.ended, misled.status.caution) == ("stopped", model.status.caution)


def test_too_large_and_senseless_requests_are_refused(engine, joint):
    domain = Domain(tuple("abcdef"), (100,) * 6)
    with pytest.raises(ModelTooLargeError, match="600 cells, at most 500"):
        engine(max_cells=500).estimate(domain, [LinearMeasurement(("a",), np.ones(100), 1.0)])
    with pytest.raises(ParameterError, match="there is none"):
        engine().estimate(DOMAIN, [])
    with pytest.raises(ParameterError, match="n_records is 0"):
        RecordUpdateEngine(n_records=0).estimate(DOMAIN, measured(joint, [("a",)]))


def test_single_rows_are_not_always_the_likeliest():
    """Moved by itself towards shares, one row would take the likeliest levels every time."""
    domain = Domain(tuple("abc"), (2, 2, 2))
    pair = 1000 * np.array([[0.54, 0.16], [0.16, 0.14]])
    measurements = [LinearMeasurement(clique, pair, 1.0) for clique in combinations("abc", 2)]
    model = LocalConsistencyEngine().estimate(domain, measurements)
    drawn = np.array([np.ravel(model.sample(1, seed=seed)) for seed in range(200)])
    assert np.abs(drawn.mean(axis=0) - 0.3).max() < 0.2  # 6.2 standard errors
