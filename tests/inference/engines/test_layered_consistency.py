"""The layered engine: what agrees with what and how nearly, and that neither noise nor constraints
break it.
"""

import json
import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from helpers.fit_problems import DOMAIN, FINE_COARSE, FORBIDDEN, ONE_WAY, PROBLEMS, measured
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.inference import clique_sets, domains, marginal_of, noisy

from synthdp import core
from synthdp.inference import (
    DualNewton,
    LayeredConsistencyEngine,
    LocalConsistencyEngine,
    model_from_state,
    model_to_state,
    parts_of,
)

ENGINE = LayeredConsistencyEngine()


def disagreement(model, *, wide):
    """By how much, in total variation, two tables differ on what they share: columns and pairs, or
    all they share.
    """
    worst, tables = 0.0, {clique: model.marginal(clique) for clique in model.cliques}
    for left, right in combinations(tables, 2):
        shared = tuple(name for name in left if name in right)
        if max(len(left), len(right)) <= 2 or (wide and len(shared) > 0):
            difference = tables[left].project(shared).values - tables[right].project(shared).values
            worst = max(worst, 0.5 * np.abs(difference).sum() / model.total)
    return worst


def check_tables(model):
    for clique in model.cliques:
        table = model.marginal(clique)
        assert np.isfinite(table.values).all()
        assert (table.values >= 0).all()
        assert table.total() == pytest.approx(model.total, rel=1e-6)
    assert disagreement(model, wide=False) <= 1e-6


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_tables_are_shares_that_agree_on_columns_and_pairs(data):
    domain = data.draw(domains(largest=3, most=5))
    cliques = data.draw(clique_sets(domain, longest=4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    table = 10 ** rng.uniform(1, 5) * rng.dirichlet(np.full(domain.size(), 0.5)).reshape(
        domain.shape
    )
    measurements = noisy(rng, table, domain, cliques, 10 ** rng.uniform(-1, 3, len(cliques)))
    model = ENGINE.estimate(domain, measurements)
    check_tables(model)
    assert model.total == pytest.approx(core.estimate_total(measurements))
    for clique in cliques:
        assert model.marginal(clique).values.shape == domain.project(clique).shape


@pytest.mark.parametrize("stddev", [1e-3, 3.0])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_wider_tables_nearly_agree_where_noise_is_little(joint, problem, stddev):
    """A distribution comes close to all of them, so that raking nearly ends."""
    model = ENGINE.estimate(DOMAIN, measured(joint, PROBLEMS[problem], stddev=stddev))
    check_tables(model)
    assert disagreement(model, wide=True) <= (1e-6 if stddev < 1 else 1e-3)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_what_is_measured_is_recovered_as_noise_vanishes(joint, problem):
    model = ENGINE.estimate(DOMAIN, measured(joint, PROBLEMS[problem], stddev=1e-4))
    for clique in PROBLEMS[problem]:
        np.testing.assert_allclose(
            model.marginal(clique).values, marginal_of(joint, DOMAIN, clique), atol=0.005
        )


@pytest.mark.parametrize("problem", ["tree", "disconnected", "one level"])
def test_pairs_with_little_noise_give_the_fit_of_least_loss(joint, problem):
    cliques = PROBLEMS[problem]
    measurements = measured(joint, cliques, stddev=0.05)
    model = ENGINE.estimate(DOMAIN, measurements)
    least = LocalConsistencyEngine(shrinkage=False).estimate(DOMAIN, measurements)
    for clique in [*cliques, *combinations(DOMAIN.attributes, 2)]:
        np.testing.assert_allclose(
            # To a tenth of the noise: a little of it is taken for noise all the same.
            model.marginal(clique).values,
            least.marginal(clique).values,
            atol=0.005,
        )


def test_given_cliques_and_what_they_share_have_tables():
    domain = core.Domain(tuple("abcdefghij"), (2,) * 10)
    assert parts_of(domain, [("a", "b", "c"), (), ("a", "b", "c")]) == [
        *((name,) for name in domain.attributes),
        *combinations("abc", 2),
        ("a", "b", "c"),
    ]
    left, right = tuple("abcdefgh"), tuple("cdefghij")
    found = parts_of(domain, [left, right])
    assert len(set(found)) == len(found)
    assert {clique for clique in found if len(clique) > 3} == {left, right, tuple("cdefgh")}
    assert set(combinations(left, 3)) | set(combinations(right, 2)) <= set(found)
    assert len(parts_of(domain, [tuple("abcdef")])) == 63 + 4


def test_a_clique_of_forty_columns_has_few_parts():
    names = tuple(f"x{i}" for i in range(40))
    assert len(parts_of(core.Domain(names, (2, 3, *(1,) * 38)), [names])) == 40 + 780 + 9880 + 1


# --- noise ----------------------------------------------------------------------------------------


def independent(rng, shape, total):
    table = np.ones(())
    for size in shape:
        table = np.multiply.outer(table, rng.dirichlet(np.full(size, 3.0)))
    return total * table


def distance(model, table, domain, cliques):
    return sum(
        np.abs(model.marginal(c).values - marginal_of(table, domain, c)).sum() for c in cliques
    )


@pytest.mark.parametrize("size", [2, 3])
def test_noise_alone_is_drawn_to_independence(size):
    """Tables of independent columns: 10 pairs or triples; most of their noise goes."""
    domain = core.Domain(tuple("abcde"), (6,) * 5)
    cliques = list(combinations(domain.attributes, size))
    errors = np.zeros(2)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        table = independent(rng, domain.shape, 20_000)
        measurements = noisy(rng, table, domain, cliques, [60.0] * 10)
        model = ENGINE.estimate(domain, measurements)
        errors[0] += distance(model, table, domain, cliques)
        errors[1] += sum(
            np.abs(m.values - marginal_of(table, domain, m.clique)).sum() for m in measurements
        )
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("stddev", [5.0, 60.0])
def test_strong_dependence_stays(stddev):
    """A diagonal pair, and the parity of three columns, which no pair shows."""
    domain = core.Domain(tuple("abcde"), (2, 2, 2, 6, 6))
    parity, diagonal = np.indices((2, 2, 2)).sum(axis=0) % 2 == 0, np.eye(6)
    table = 20_000 * np.multiply.outer(parity / parity.sum(), diagonal / 6)
    cliques = [("a", "b", "c"), ("d", "e"), ("a", "d"), ("c", "d", "e")]
    model = ENGINE.estimate(
        domain, noisy(np.random.default_rng(0), table, domain, cliques, [stddev] * 4)
    )
    for clique in cliques:
        size = domain.size(clique)
        assert distance(model, table, domain, [clique]) < size * stddev + 0.005 * 20_000


def test_a_measurement_made_twice_is_one_of_half_the_variance(joint):
    rng = np.random.default_rng(1)
    for cliques in (PROBLEMS["all pairs"], PROBLEMS["overlapping three-ways"]):
        first = measured(joint, cliques)
        apart = [m.stddev * rng.normal(size=m.values.shape) for m in first]
        again = [
            core.LinearMeasurement(m.clique, m.values + d, m.stddev)
            for m, d in zip(first, apart, strict=True)
        ]
        combined = [
            core.LinearMeasurement(one.clique, (one.values + other.values) / 2, one.stddev / 2**0.5)
            for one, other in zip(first, again, strict=True)
        ]
        twice, once = (ENGINE.estimate(DOMAIN, problem) for problem in ([*first, *again], combined))
        for clique in cliques:
            np.testing.assert_allclose(
                twice.marginal(clique).values, once.marginal(clique).values, atol=1e-3
            )


def test_a_precise_table_is_not_overruled_by_noisy_ones():
    domain = core.Domain(("a", "b", "c", "d"), (4, 4, 5, 5))
    rng = np.random.default_rng(3)
    table = 20_000 * rng.dirichlet(np.full(400, 0.3)).reshape(domain.shape)
    cliques = [("a", "b"), ("a", "b", "c"), ("a", "c", "d"), ("b",), ("c", "d")]
    measurements = noisy(rng, table, domain, cliques, [1.0, 500.0, 500.0, 300.0, 300.0])
    model = ENGINE.estimate(domain, measurements)
    assert distance(model, table, domain, cliques[:1]) < 2 * 16 * 1.0


@pytest.mark.parametrize("total", [50.0, 1e7])
@pytest.mark.parametrize("order", [1, -1])
def test_scales_of_noise_a_billion_apart(total, order):
    domain = core.Domain(tuple("abcd"), (3, 2, 4, 2))
    rng = np.random.default_rng(2)
    table = total * rng.dirichlet(np.ones(48)).reshape(domain.shape)
    cliques = [("a", "b"), ("b", "c"), ("a", "c", "d"), ("d",), ("a", "b", "c", "d")]
    stddevs = [1e-3, 1.0, 1e3, 3e4, 1e6][::order]
    measurements = noisy(rng, table, domain, cliques, stddevs)
    model = ENGINE.estimate(domain, measurements)
    check_tables(model)
    exact = cliques[::order][0]
    np.testing.assert_allclose(
        model.marginal(exact).values, marginal_of(table, domain, exact), atol=0.01 * total
    )


@pytest.mark.parametrize("stddev", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("total", [10.0, 1e7])
def test_any_scale_of_noise_and_of_counts(stddev, total):
    domain = core.Domain(("a", "b", "c"), (3, 2, 2))
    rng = np.random.default_rng(2)
    table = total * rng.dirichlet(np.ones(12)).reshape(domain.shape)
    measurements = noisy(
        rng, table, domain, [("a", "b"), ("b", "c"), ("b",), ("a", "b", "c")], [stddev] * 4
    )
    model = ENGINE.estimate(domain, measurements)
    assert model.status.ended == "optimal"
    check_tables(model)


def test_noise_that_differs_between_cells(joint):
    rng = np.random.default_rng(4)
    measurements = []
    for clique in (("a", "b"), ("b", "c", "d"), ("a",)):
        exact = marginal_of(joint, DOMAIN, clique)
        stddev = rng.uniform(0.5, 5.0, exact.shape)
        measurements.append(
            core.LinearMeasurement(clique, exact + stddev * rng.normal(size=exact.shape), stddev)
        )
    model = ENGINE.estimate(DOMAIN, measurements)
    check_tables(model)
    for clique in (("a", "b"), ("b", "c", "d")):
        assert distance(model, joint, DOMAIN, [clique]) < 5 * DOMAIN.size(clique)


def test_eight_columns_together():
    """Three pairs and a triple agree with the table of all eight, of which most subsets have none
    of their own.
    """
    names = tuple("abcdefgh")
    domain = core.Domain(names, (2,) * 8)
    rng = np.random.default_rng(5)
    table = 50_000 * rng.dirichlet(np.full(256, 0.3)).reshape(domain.shape)
    cliques = [names, ("a", "b"), ("g", "h"), ("c", "e", "h")]
    model = ENGINE.estimate(domain, noisy(rng, table, domain, cliques, [2.0] * 4))
    check_tables(model)
    assert distance(model, table, domain, [names]) < 3 * 256
    assert disagreement(model, wide=True) <= 1e-3
    shares = (
        np.bincount(np.ravel_multi_index(model.sample(5000, seed=0), domain.shape), minlength=256)
        / 5000
    )
    assert 0.5 * np.abs(shares - table.ravel() / 50_000).sum() < 0.1


# --- constraints ----------------------------------------------------------------------------------

NEVER_ALL = core.Constraint(("a", "b", "d"), np.indices((3, 2, 2)).sum(axis=0) != 4)
ONE_LEVEL = core.Constraint(("one", "b"), np.array([[True, False]]))
CONSTRAINTS = {
    "a pair": [FINE_COARSE],
    "pairs and a column": [FINE_COARSE, FORBIDDEN, ONE_WAY],
    "a triple": [NEVER_ALL],
    "a triple and pairs": [NEVER_ALL, FINE_COARSE, FORBIDDEN],
    "one level": [ONE_LEVEL],
}
MEASURED = {
    "what they are about": [("c", "a"), ("a", "b", "d"), ("b", "d")],
    "other columns": [("one",)],
    "parts": [("a",), ("b", "c"), ("c", "d")],
    "around": [("a", "b", "c", "d")],
    "all pairs": PROBLEMS["all pairs"],
}


@pytest.mark.parametrize("stddev", [1.0, 1000.0])
@pytest.mark.parametrize("measure", MEASURED)
@pytest.mark.parametrize("case", CONSTRAINTS)
def test_what_is_impossible_is_in_no_table_and_no_row(joint, case, measure, stddev):
    constraints = CONSTRAINTS[case]
    model = ENGINE.estimate(
        DOMAIN, measured(joint, MEASURED[measure], stddev=stddev), constraints=constraints
    )
    check_tables(model)
    codes = np.indices(DOMAIN.shape).reshape(len(DOMAIN), -1)
    # What only three constraints together rule out, tables of two columns need not know.
    for some in [*combinations(constraints, 2), *zip(constraints)]:
        possible = np.all([constraint.holds(DOMAIN, codes) for constraint in some], axis=0).reshape(
            DOMAIN.shape
        )
        for clique in [*model.cliques, *(constraint.clique for constraint in constraints)]:
            never = marginal_of(possible, DOMAIN, clique) == 0
            assert (model.marginal(clique).values[never] == 0).all()
    rows = model.sample(300, seed=0)
    assert all(constraint.holds(DOMAIN, rows).all() for constraint in constraints)


def test_impossible_cells_that_were_counted_do_not_spoil_the_rest():
    """Noise falls on impossible cells, too; the others are fitted without it."""
    domain = core.Domain(("a", "b"), (3, 3))
    table, allowed = np.diag([300.0, 500.0, 200.0]), np.eye(3, dtype=bool)
    measurements = noisy(np.random.default_rng(0), table, domain, [("a", "b")], [10.0])
    model = ENGINE.estimate(
        domain, measurements, constraints=[core.Constraint(("a", "b"), allowed)]
    )
    assert distance(model, table, domain, [("a", "b")]) < 9 * 10.0


# --- stopping, starting, saving, refusing ---------------------------------------------------------


def test_a_warm_start_gives_the_same_tables(joint):
    before = measured(joint, [("a", "b"), ("b", "c"), ("c", "d")])
    measurements = [*before, *measured(joint, [("a", "d"), ("a", "b", "d")], seed=5)]
    cold = ENGINE.estimate(DOMAIN, measurements)
    earlier = [ENGINE, LocalConsistencyEngine()]
    for model in (cold, *(engine.estimate(DOMAIN, before) for engine in earlier)):
        warm = ENGINE.estimate(DOMAIN, measurements, warm_start=model)
        assert warm.cliques == cold.cliques
        for clique in cold.cliques:
            np.testing.assert_allclose(
                warm.marginal(clique).values, cold.marginal(clique).values, atol=1e-3
            )
    assert (
        ENGINE.estimate(DOMAIN, measurements, warm_start=cold).status.n_iterations
        < cold.status.n_iterations
    )
    other = ENGINE.estimate(
        core.Domain(("a",), (2,)), [core.LinearMeasurement(("a",), np.array([3.0, 4.0]), 1.0)]
    )
    with pytest.raises(core.ParameterError, match="warm_start"):
        ENGINE.estimate(DOMAIN, measurements, warm_start=other)


def test_a_saved_model_answers_the_same(joint):
    measurements = measured(joint, PROBLEMS["overlapping three-ways"])
    model = ENGINE.estimate(DOMAIN, measurements, constraints=[FINE_COARSE])
    state, arrays = model_to_state(model)
    loaded = model_from_state(json.loads(json.dumps(state)), dict(arrays), DOMAIN)
    assert loaded.cliques == model.cliques
    for clique in [*model.cliques, ("a", "c", "d"), ("d", "a"), ()]:
        np.testing.assert_array_equal(loaded.marginal(clique).values, model.marginal(clique).values)
    for mine, other in zip(model.sample(200, seed=3), loaded.sample(200, seed=3), strict=True):
        np.testing.assert_array_equal(mine, other)
    warm, cold = (
        ENGINE.estimate(DOMAIN, measurements, warm_start=start) for start in (loaded, model)
    )
    assert warm.status.n_iterations == cold.status.n_iterations


def test_a_fit_that_is_cut_short_says_so(joint):
    seen = []
    with pytest.warns(
        core.FitWarning, match=r"\(layered-consistency\) was stopped after 1 iterations"
    ):
        model = LayeredConsistencyEngine(newton=DualNewton(max_iterations=1)).estimate(
            DOMAIN,
            measured(joint, PROBLEMS["all pairs"], stddev=100.0),
            progress=lambda *done: seen.append(done),
        )
    assert (model.status.ended, seen) == ("stopped", [(1, 1)])


def test_too_large_and_senseless_requests_are_refused_before_any_table_is_made():
    domain = core.Domain(tuple("abcdef"), (100,) * 6)
    with pytest.raises(core.ModelTooLargeError, match="600 cells, at most 500"):
        LayeredConsistencyEngine(max_cells=500).estimate(
            domain, [core.LinearMeasurement(("a",), np.ones(100), 1.0)]
        )
    measurement = core.LinearMeasurement(("a", "b", "c"), np.ones((100,) * 3), 1.0)
    tracemalloc.start()
    with pytest.raises(core.ModelTooLargeError, match="1030600 cells"):
        LayeredConsistencyEngine(max_cells=10**6).estimate(domain, [measurement])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < measurement.values.nbytes / 4
    with pytest.raises(core.ParameterError, match="there is none"):
        ENGINE.estimate(DOMAIN, [])
