"""Fits where some measurements are much more exact than others, against non-negative least squares.

That total counts are known exactly, beside noisy pairs, is the usual case of measurements from
elsewhere.
"""

import warnings

import numpy as np
import pytest
from helpers.seldom import often
from oracles.inference import least_excess_loss, loss_and_gap, marginal_of, noisy, whitened

from synthdp.core import (
    Constraint,
    Domain,
    FitWarning,
    LinearMeasurement,
    combined_measurements,
    estimate_total,
)
from synthdp.inference import (
    DirectEngine,
    DualNewton,
    GraphicalModelEngine,
    LocalConsistencyEngine,
    MirrorDescent,
    PublicDataEngine,
)

NAMES = ("a", "b", "c", "d")
TREE = [("a", "b"), ("b", "c"), ("c", "d"), *((name,) for name in NAMES)]
CIRCLE = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), *((name,) for name in NAMES)]
ENGINES = [GraphicalModelEngine, DirectEngine]


def problem(seed, cliques, ratio, *, n_records=20_000.0, density=0.2, rules=()):
    """Marginals of a sparse table at noise 50, some of them ``ratio`` times more exact."""
    rng = np.random.default_rng(seed)
    domain = Domain(NAMES, tuple(int(size) for size in rng.integers(2, 6, 4)))
    joint = n_records * rng.dirichlet(np.full(domain.size(), density)).reshape(domain.shape)
    for rule in rules:
        joint = joint * rule(domain)
    exact = (
        rng.random(len(cliques)) < 0.5
        if seed % 2
        else np.array([len(clique) == 1 for clique in cliques])
    )
    return domain, noisy(rng, joint, domain, cliques, np.where(exact, 50.0 / ratio, 50.0))


def least_of(domain, measurements, possible=None):
    """The least loss of any distribution over the possible cells."""
    matrix, target = whitened(domain, combined_measurements(domain, measurements))
    cells = slice(None) if possible is None else np.flatnonzero(possible)
    return least_excess_loss(matrix[:, cells], target, estimate_total(measurements))


def loss_of(model, measurements):
    """The loss of a model by its own joint table."""
    domain = model.domain
    joint = model.marginal(domain.attributes).values
    residuals = (
        ((marginal_of(joint, domain, m.clique) - m.values) / m.stddev).ravel() for m in measurements
    )
    return 0.5 * sum(float(residual @ residual) for residual in residuals)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.parametrize("ratio", [1.0, 50.0, 500.0, 1e4, 1e6, 5e7])
def test_trees_are_solved_exactly_whatever_the_scales(engine, ratio):
    for seed in range(8):
        domain, measurements = problem(
            seed, TREE, ratio, n_records=1500.0 if seed % 4 < 2 else 20_000.0
        )
        model = engine().estimate(domain, measurements)
        assert (model.status.ended, model.status.caution) == ("optimal", "")
        assert model.status.n_iterations <= 30
        least = least_of(domain, measurements)
        assert model.status.loss <= least * (1 + 1e-4) + 1e-6, (seed, model.status.loss, least)
        # Nor is it below: the model is what the status says.
        assert loss_of(model, measurements) == pytest.approx(model.status.loss, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.parametrize("ratio", [50.0, 1e3, 1e6])
def test_circles_are_solved_to_a_thousandth_or_a_warning_says_that_they_are_not(engine, ratio):
    n_optimal = 0
    for seed in range(8):
        domain, measurements = problem(seed, CIRCLE, ratio)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = engine().estimate(domain, measurements)
        assert [str(warning.message) for warning in told] == [model.status.caution] * bool(
            model.status.caution
        )
        assert (model.status.ended == "optimal") == (not told)
        if not told:
            n_optimal += 1
            least = least_of(domain, measurements)
            assert model.status.loss <= least * (1 + 1e-3) + 1e-6, (seed, model.status.loss, least)
    assert n_optimal >= 7


@pytest.mark.parametrize("ratio", often(500.0, seldom=(1.0, 1e6)))
def test_sparse_circles_are_solved_where_noise_contradicts_itself_in_empty_cells(ratio):
    """Exact counts of 0, noise made negative: they cannot all be met, and only their own scale says
    by how much.
    """
    n_optimal = 0
    for seed in range(6):
        domain, measurements = problem(seed, CIRCLE, ratio, n_records=1500.0, density=0.02)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
            model = GraphicalModelEngine().estimate(domain, measurements)
        least = least_of(domain, measurements)
        n_optimal += model.status.ended == "optimal"
        assert model.status.loss <= least * (1 + 1e-3) or model.status.ended != "optimal", seed
    assert n_optimal >= 3


@pytest.mark.parametrize("ratio", [1e3, 1e4])
def test_a_round_that_stalls_far_from_the_least_loss_is_not_called_optimal(ratio):
    """What the multipliers prove holds at the end of a round only, and some stand still at twice
    the least loss.
    """
    domain, measurements = problem(21, CIRCLE[:4], ratio, n_records=30.0, density=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        model = GraphicalModelEngine().estimate(domain, measurements)
    assert model.status.ended != "optimal" or model.status.loss <= least_of(
        domain, measurements
    ) * (1 + 1e-3)


def test_fits_that_were_stopped_at_the_least_loss_are_optimal_and_others_are_not():
    """That tables agree where they overlap is asked for less, and the least loss of such proves it."""
    domain, measurements = problem(2, CIRCLE, 1.0)
    least = least_of(domain, measurements)
    engine = GraphicalModelEngine(driver=MirrorDescent(window=1000, max_iterations=30))
    model = engine.estimate(domain, measurements)
    assert (model.status.ended, model.status.n_iterations, model.status.caution) == (
        "optimal",
        30,
        "",
    )
    assert model.status.loss <= least * (1 + 1e-3)
    # What repeats differ by among themselves is no part of the loss that fits are judged by.
    repeats = [
        LinearMeasurement(m.clique, m.values + 1e4 * side, m.stddev)
        for m in measurements
        for side in (-1, 1)
    ]
    with pytest.warns(FitWarning, match="was stopped after 3 iterations"):
        short = GraphicalModelEngine(driver=MirrorDescent(max_iterations=3)).estimate(
            domain, repeats
        )
    assert short.status.ended == "stopped"
    assert (
        short.status.loss
        <= (1 + 1e-3) * GraphicalModelEngine().estimate(domain, repeats).status.loss
    )


def test_rounds_of_mirror_descent_share_one_limit_and_one_progress():
    domain, measurements = problem(1, CIRCLE, 1e4, n_records=1500.0, density=0.02)
    seen = []
    engine = GraphicalModelEngine(driver=MirrorDescent(max_iterations=150))
    with pytest.warns(FitWarning, match="was stopped after 150 iterations"):
        model = engine.estimate(domain, measurements, progress=lambda *done: seen.append(done))
    assert seen == [(done, 150) for done in range(1, 151)]
    assert model.status.loss == pytest.approx(loss_of(model, measurements), rel=1e-6)


def test_local_consistency_solves_scales_a_million_apart():
    for seed in range(8):
        domain, measurements = problem(seed, CIRCLE, 1e6)
        model = LocalConsistencyEngine(shrinkage=False).estimate(domain, measurements)
        assert model.status.ended == "optimal"
        assert (
            model.status.loss <= least_of(domain, measurements) * (1 + 1e-6) + 1e-6
        )  # it asks for less
        shrunk = LocalConsistencyEngine().estimate(domain, measurements)
        assert shrunk.status.ended == "optimal"


def test_a_constraint_within_a_measured_clique_draws_the_fit_to_nothing():
    """Few records and much noise: a table of the constraint's own would count."""
    domain = Domain(("a", "b"), (5, 6))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        measurements = [LinearMeasurement(("a", "b"), rng.normal(0, 2, (5, 6)), 0.5)]
        measurements.append(LinearMeasurement((), np.array(4.0), 1e-3))
        rules = [
            Constraint(("b", "a"), rng.random((6, 5)) < 0.7),
            Constraint(("b",), np.arange(6) > 0),
        ]
        possible = (rules[0].allowed.T & rules[1].allowed).ravel()
        model = LocalConsistencyEngine(shrinkage=False).estimate(
            domain, measurements, constraints=rules
        )
        assert model.status.loss <= least_of(domain, measurements, possible) * (1 + 1e-6), seed


def test_weights_of_public_rows_follow_exact_counts_beside_noisy_ones():
    domain, measurements = problem(0, TREE, 1e3)
    rows = tuple(np.indices(domain.shape).reshape(len(domain), -1))
    model = PublicDataEngine(columns=rows).estimate(domain, measurements)
    assert model.status.ended == "optimal"
    assert model.status.loss <= least_of(domain, measurements) * (1 + 1e-3)


def test_forbidden_cells_stay_at_0_in_exact_fits_and_all_others_above():
    """Least squares sets cells to 0 where noise is negative; that is no proof that they are
    impossible.
    """
    for seed in range(10):

        def possible(domain, seed=seed):
            pairs = np.random.default_rng(seed).random(domain.shape[1:3]) < 0.7
            pairs[0, 0] = pairs[-1, -1] = True
            return np.broadcast_to(
                (np.arange(domain["a"]) > 0)[:, None, None, None] & pairs[:, :, None], domain.shape
            )

        domain, measurements = problem(
            seed, TREE, [1.0, 1e4][seed % 2], n_records=300.0, density=0.1, rules=[possible]
        )
        allowed = possible(domain).any(axis=(0, 3))
        rules = [Constraint(("b", "c"), allowed), Constraint(("a",), np.arange(domain["a"]) > 0)]
        model = GraphicalModelEngine().estimate(domain, measurements, constraints=rules)
        joint = model.marginal(domain.attributes).values
        np.testing.assert_array_equal(joint > 0, possible(domain))
        assert model.status.ended == "optimal"
        least = least_of(domain, measurements, possible(domain).ravel())
        assert model.status.loss <= least * (1 + 1e-4) + 1e-6
        assert loss_of(model, measurements) == pytest.approx(model.status.loss, rel=1e-3, abs=1e-3)


def test_a_tree_that_newton_does_not_solve_is_fitted_by_mirror_descent():
    domain, measurements = problem(2, TREE, 1.0, n_records=1500.0)
    model = GraphicalModelEngine(newton=DualNewton(max_iterations=1)).estimate(domain, measurements)
    assert model.status.n_iterations > 1
    assert model.status.loss <= least_of(domain, measurements) * (1 + 1e-3)
    assert loss_of(model, measurements) == pytest.approx(model.status.loss, rel=1e-6)


def test_exact_fits_have_the_greatest_entropy():
    """Given its separators, a tree's parts are independent; attributes that nobody measured are
    even.
    """
    domain = Domain(("a", "b", "c", "u"), (3, 2, 4, 5))
    rng = np.random.default_rng(0)
    joint = 1000 * rng.dirichlet(np.ones(24)).reshape(3, 2, 4)
    measurements = noisy(
        rng, joint, Domain(("a", "b", "c"), (3, 2, 4)), [("a", "b"), ("b", "c")], [5.0, 5.0]
    )
    model = GraphicalModelEngine().estimate(domain, measurements)
    left, right, middle = (
        model.marginal(clique).values for clique in (("a", "b"), ("b", "c"), ("b",))
    )
    expected = left[:, :, None] * right[None] / middle[None, :, None]
    found = model.marginal(domain.attributes).values
    np.testing.assert_allclose(
        found, np.repeat(expected[..., None] / 5, 5, axis=3), rtol=1e-6, atol=1e-6
    )


def test_a_circle_after_a_tree_starts_from_its_potentials():
    domain, measurements = problem(3, CIRCLE, 1.0)
    tree = GraphicalModelEngine().estimate(
        domain, [m for m in measurements if m.clique != ("a", "d")]
    )
    cold = GraphicalModelEngine().estimate(domain, measurements)
    warm = GraphicalModelEngine().estimate(domain, measurements, warm_start=tree)
    assert warm.status.ended == "optimal"
    assert warm.status.loss == pytest.approx(cold.status.loss, rel=1e-4)


def test_negative_noise_in_one_exact_table_is_split_as_its_own_scale_says():
    """Projection onto the simplex, however small the noise beside that of others."""
    domain = Domain(("a", "b"), (4, 2))
    exact = LinearMeasurement(("a",), np.array([60.0, -2e-5, 40.0, 1e-5]), 1e-5)
    loose = LinearMeasurement(("a", "b"), np.full((4, 2), 12.0), 50.0)
    model = GraphicalModelEngine().estimate(domain, [exact, loose])
    matrix, target = whitened(domain, [exact, loose])
    loss, _ = loss_and_gap(matrix, target, model.marginal(("a", "b")).values.ravel())
    assert loss == pytest.approx(least_of(domain, [exact, loose]), rel=1e-3)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_a_total_told_exactly_is_no_reason_to_move(engine):
    """Its rounding error, in units of its noise, is larger than what there is to gain elsewhere."""
    for cliques in (TREE, CIRCLE):
        domain, measurements = problem(2, cliques, 1.0)
        total = sum(marginal.values.sum() for marginal in measurements) / len(measurements)
        known = [*measurements, LinearMeasurement((), np.array(total), 1e-9)]
        model = engine().estimate(domain, known)
        assert model.status.ended == "optimal"
        assert model.total == pytest.approx(total, abs=1e-9)
        assert model.status.loss == pytest.approx(least_of(domain, known), rel=1e-3, abs=1e-2)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_attributes_of_one_level_change_nothing(engine):
    """They would tie a tree into a circle."""
    domain, measurements = problem(4, TREE, 1e4)
    wide = Domain(("x", *domain.attributes, "y"), (1, *domain.shape, 1))
    more = [LinearMeasurement(("x", *m.clique), m.values[None], m.stddev) for m in measurements[:3]]
    more += [
        LinearMeasurement((*m.clique, "y"), m.values[..., None], m.stddev) for m in measurements[3:]
    ]
    plain, padded = engine().estimate(domain, measurements), engine().estimate(wide, more)
    assert padded.status.ended == "optimal"
    assert padded.status.loss == pytest.approx(plain.status.loss, rel=1e-9)
    found = padded.marginal(("a", "y", "d")).values[:, 0]
    np.testing.assert_allclose(found, plain.marginal(("a", "d")).values, rtol=1e-6, atol=1e-6)
