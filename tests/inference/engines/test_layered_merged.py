"""The layered engine on measurements over merged levels: each at its own resolution, constraints
and columns kept.
"""

import json

import numpy as np
import pytest
from oracles.inference import marginal_of

from synthdp.core import Coarsening, Constraint, Domain, LinearMeasurement, ParameterError
from synthdp.inference import (
    LayeredConsistencyEngine,
    column_counts,
    model_from_state,
    model_to_state,
)
from synthdp.inference.engines.layered_consistency import _Layers

ENGINE = LayeredConsistencyEngine()
DOMAIN = Domain(("a", "b", "c"), (6, 5, 2))
TOTAL = 10_000.0
COARSE = Coarsening({"a": np.array([0, 0, 1, 1, 1, 0]), "b": np.array([1, 0, 0, 1, 0])})
FINER = Coarsening({"a": np.array([0, 0, 1, 2, 1, 3]), "b": np.array([2, 0, 0, 1, 0])})
COLUMNS = [("a",), ("b",), ("c",)]


@pytest.fixture
def joint():
    return TOTAL * np.random.default_rng(7).dirichlet(np.full(DOMAIN.size(), 0.7)).reshape(
        DOMAIN.shape
    )


def measured(joint, clique, stddev, coarsening=None, *, seed=0, domain=DOMAIN):
    counts = marginal_of(joint, domain, clique)
    counts = coarsening.apply(clique, counts) if coarsening else counts
    noise = np.random.default_rng([seed, *map(ord, "".join(clique)), counts.size]).normal(
        size=counts.shape
    )
    return LinearMeasurement(clique, counts + stddev * noise, stddev, coarsening)


def by_columns(joint, clique, coarsening):
    """The merged marginal, its groups shared out by the columns' counts."""
    counts = coarsening.apply(clique, marginal_of(joint, DOMAIN, clique))
    for axis, name in enumerate(clique):
        column, groups = (
            marginal_of(joint, DOMAIN, (name,)),
            coarsening.groups.get(name, np.arange(DOMAIN[name])),
        )
        share = column / np.bincount(groups, column)[groups]
        counts = np.take(counts, groups, axis=axis) * np.expand_dims(
            share, [i for i in range(len(clique)) if i != axis]
        )
    return counts


@pytest.mark.parametrize("clique", [("a", "b"), ("b", "a"), ("c", "a")])
@pytest.mark.parametrize("coarsening", [COARSE, FINER])
def test_a_pair_is_recovered_at_its_resolution_and_shared_out_by_its_columns(
    joint, clique, coarsening
):
    columns = [measured(joint, column, 1e-3) for column in COLUMNS]
    model = ENGINE.estimate(DOMAIN, [*columns, measured(joint, clique, 1e-3, coarsening)])
    found = model.marginal(clique).values
    exact = coarsening.apply(clique, marginal_of(joint, DOMAIN, clique))
    np.testing.assert_allclose(coarsening.apply(clique, found), exact, atol=0.05)
    np.testing.assert_allclose(found, by_columns(joint, clique, coarsening), atol=1.0)
    assert (
        np.abs(found - marginal_of(joint, DOMAIN, clique)).max() > 50
    )  # the merging hides something


def test_rows_follow_the_tables(joint):
    columns = [measured(joint, column, 1e-3) for column in COLUMNS]
    model = ENGINE.estimate(DOMAIN, [*columns, measured(joint, ("a", "b"), 1e-3, COARSE)])
    a, b, _ = model.sample(20_000, seed=0)
    drawn = np.bincount(np.ravel_multi_index((a, b), (6, 5)), minlength=30).reshape(6, 5) / 20_000
    assert 0.5 * np.abs(drawn - by_columns(joint, ("a", "b"), COARSE) / TOTAL).sum() < 0.01


@pytest.mark.parametrize("order", [1, -1])
def test_several_resolutions_of_one_pair_give_the_finest_where_noise_vanishes(joint, order):
    columns = [measured(joint, column, 1e-3) for column in COLUMNS]
    pairs = [measured(joint, ("a", "b"), 1e-3, COARSE), measured(joint, ("b", "a"), 1e-3, FINER)]
    model = ENGINE.estimate(DOMAIN, [*pairs, *columns][::order])
    np.testing.assert_allclose(
        model.marginal(("a", "b")).values, by_columns(joint, ("a", "b"), FINER), atol=1.0
    )
    whole = measured(joint, ("a", "b"), 1e-3)
    model = ENGINE.estimate(DOMAIN, [*pairs, whole, *columns][::order])
    np.testing.assert_allclose(
        model.marginal(("a", "b")).values, marginal_of(joint, DOMAIN, ("a", "b")), atol=0.05
    )


def test_a_wider_table_is_recovered_at_its_resolution(joint):
    clique = ("a", "b", "c")
    whole = [measured(joint, pair, 1e-3) for pair in (("a", "b"), ("b", "c"), ("a", "c"))]
    model = ENGINE.estimate(DOMAIN, [*whole, measured(joint, clique, 1e-3, COARSE)])
    found = COARSE.apply(clique, model.marginal(clique).values)
    np.testing.assert_allclose(found, COARSE.apply(clique, joint), atol=0.002 * TOTAL)
    without = COARSE.apply(clique, ENGINE.estimate(DOMAIN, whole).marginal(clique).values)
    assert np.abs(without - COARSE.apply(clique, joint)).max() > 0.005 * TOTAL


def blocks(rng):
    """A pair of 16 levels each: four blocks by four that depend much, and cells inside of them a
    little.
    """
    coarse = np.kron(rng.dirichlet(np.full(16, 0.5)).reshape(4, 4), np.ones((4, 4)) / 16)
    table = coarse * rng.gamma(4.0, 0.25, (16, 16))
    return 20_000 * table / table.sum()


def test_coarse_and_fine_together_err_less_than_either_alone():
    domain, clique = Domain(("a", "b"), (16, 16)), ("a", "b")
    groups = np.arange(16) // 4
    coarsening = Coarsening({"a": groups, "b": groups})
    errors = np.zeros(3)
    for seed in range(12):
        table = blocks(np.random.default_rng(seed))
        columns = [measured(table, (name,), 10.0, seed=seed, domain=domain) for name in "ab"]
        coarse = measured(table, clique, 60.0, coarsening, seed=seed, domain=domain)
        fine = measured(table, clique, 60.0, seed=seed, domain=domain)
        for number, given in enumerate(([coarse, fine], [coarse], [fine])):
            model = ENGINE.estimate(domain, [*given, *columns])
            errors[number] += np.abs(model.marginal(clique).values - table).sum() / (
                2 * 20_000 * 12
            )
    together, *alone = errors
    assert together < 0.95 * min(alone)


def test_noise_on_groups_does_not_spoil_levels_that_are_known_well():
    domain, clique = Domain(("a", "b"), (16, 16)), ("a", "b")
    coarsening = Coarsening({"a": np.arange(16) // 4, "b": np.arange(16) // 4})
    errors = np.zeros(2)
    for seed in range(5):
        table = blocks(np.random.default_rng(seed))
        fine = measured(table, clique, 5.0, seed=seed, domain=domain)
        coarse = measured(table, clique, 400.0, coarsening, seed=seed, domain=domain)
        for number, given in enumerate(([coarse, fine], [fine])):
            errors[number] += np.abs(
                ENGINE.estimate(domain, given).marginal(clique).values - table
            ).sum()
    assert errors[0] < 1.25 * errors[1]


def test_what_is_known_of_groups_is_shared_out_and_so_is_its_noise(joint):
    """Variances of a group's cells add up to the group's; of a column, they are what least squares
    leaves.
    """
    clique = ("a", "b")
    whole, merged, pair = (
        measured(joint, ("a",), 30.0),
        measured(joint, ("a",), 7.0, FINER),
        measured(joint, clique, 9.0, COARSE),
    )
    cliques = [("a",), ("b",), clique]
    masks = {part: np.ones(DOMAIN.project(part).shape, dtype=bool) for part in cliques}
    layers = _Layers(DOMAIN, [whole, merged, pair], cliques, masks, TOTAL)
    prior = layers._prior(clique)
    counts, variance = layers._posteriors({clique: prior})[clique]
    assert (COARSE.apply(clique, variance) <= 81.0).all()
    assert (COARSE.apply(clique, variance) > 10.0).all()
    np.testing.assert_allclose(
        variance / COARSE.spread(clique, COARSE.apply(clique, variance)),
        counts / COARSE.spread(clique, COARSE.apply(clique, counts)),
    )
    layers = _Layers(DOMAIN, [whole, merged], cliques, masks, TOTAL)
    _, left = layers._column(("a",), np.full(6, TOTAL / 6))
    matrix = np.vstack([np.eye(6) / 30.0, (np.arange(4)[:, None] == FINER.groups["a"]) / 7.0])
    np.testing.assert_allclose(left, np.diag(np.linalg.inv(matrix.T @ matrix)))


def test_a_column_told_at_merged_levels_is_the_least_squares_estimate():
    """Of what is believed of its levels, and of the groups; those are of equal sizes, so that the
    noise of the total is spread evenly.
    """
    domain, groups = Domain(("a",), (6,)), np.array([0, 1, 2, 0, 1, 2])
    halves = np.array([0, 0, 1, 1, 1, 0])
    rng = np.random.default_rng(0)
    counts = np.array([900.0, 400.0, 700.0, 300.0, 500.0, 800.0])
    fine = LinearMeasurement(("a",), counts + 50 * rng.normal(size=6), 50.0)
    for merging in (groups, halves):
        merged, n_groups = np.eye(6)[merging > -1], int(merging.max()) + 1
        merged = np.arange(n_groups)[:, None] == merging
        coarse = LinearMeasurement(
            ("a",), merged @ counts + rng.normal(size=n_groups), 1.0, Coarsening({"a": merging})
        )
        model = ENGINE.estimate(domain, [coarse, fine])
        matrix = np.vstack(
            [np.eye(6) / 50.0, merged, np.full(6, 1e5)]
        )  # the last row is the total, all but exact
        believed = column_counts(
            fine.values, np.full(6, 2500.0), model.total, np.array([], dtype=np.int64)
        )
        target = np.concatenate([believed / 50.0, coarse.values, [1e5 * model.total]])
        expected = np.linalg.lstsq(matrix, target)[0]
        np.testing.assert_allclose(model.marginal(("a",)).values, expected, atol=0.01)
        assert np.abs(merged @ (expected - counts)).max() < 5
        assert np.abs(merged @ (fine.values - counts)).max() > 15


def test_a_column_measured_beside_merged_and_merged_beside_others_keeps_both():
    """``b`` is told whole only beside a coarser ``a``, and by groups, with little noise, by itself."""
    domain = Domain(("a", "b"), (12, 6))
    joint = 6000 * np.random.default_rng(1).dirichlet(np.full(72, 2.0)).reshape(12, 6)
    beside = Coarsening({"a": np.arange(12) // 6})
    by_groups = Coarsening({"b": np.array([0, 0, 1, 1, 2, 2])})
    given = [
        measured(joint, ("a", "b"), 60.0, beside, domain=domain),
        measured(joint, ("b",), 1.0, by_groups, domain=domain),
    ]
    masks = {
        clique: np.ones(domain.project(clique).shape, dtype=bool) for clique in [("b",), ("a", "b")]
    }
    for measurements in (given, given[::-1]):
        counts, _ = _Layers(domain, measurements, list(masks), masks, 6000.0)._column(
            ("b",), np.full(6, 1000.0)
        )
        exact = marginal_of(joint, domain, ("b",))
        np.testing.assert_allclose(
            by_groups.apply(("b",), counts), by_groups.apply(("b",), exact), atol=6
        )
        np.testing.assert_allclose(counts, exact, atol=400)
        assert np.abs(counts - np.repeat(by_groups.apply(("b",), counts) / 2, 2)).max() > 50


# --- constraints ----------------------------------------------------------------------------------

HALF_OF_A_GROUP = Constraint(
    ("a", "b"), np.ones((6, 5), dtype=bool) & (np.add.outer(np.arange(6), np.arange(5)) % 3 > 0)
)
A_WHOLE_GROUP = Constraint(("b", "a"), ~np.outer(COARSE.groups["b"] == 0, COARSE.groups["a"] == 1))
ONE_LEVEL = Constraint(("a",), np.arange(6) != 1)


@pytest.mark.parametrize("stddev", [0.5, 200.0])
@pytest.mark.parametrize(
    "constraints", [[HALF_OF_A_GROUP], [A_WHOLE_GROUP], [HALF_OF_A_GROUP, ONE_LEVEL]]
)
def test_no_table_and_no_row_breaks_a_constraint_inside_of_groups(joint, constraints, stddev):
    possible = np.all(
        [c.holds(DOMAIN, np.indices(DOMAIN.shape).reshape(3, -1)) for c in constraints], axis=0
    )
    joint = joint * possible.reshape(DOMAIN.shape)
    pairs = [
        measured(joint, ("a", "b"), stddev, COARSE),
        measured(joint, ("a", "c"), stddev, FINER),
    ]
    model = ENGINE.estimate(
        DOMAIN, [*(measured(joint, c, stddev) for c in COLUMNS), *pairs], constraints=constraints
    )
    never = marginal_of(possible.reshape(DOMAIN.shape), DOMAIN, ("a", "b")) == 0
    found = model.marginal(("a", "b")).values
    assert (found[never] == 0).all()
    rows = model.sample(3000, seed=0)
    assert all(constraint.holds(DOMAIN, rows).all() for constraint in constraints)
    if stddev < 1:
        exact = COARSE.apply(("a", "b"), marginal_of(joint, DOMAIN, ("a", "b")))
        np.testing.assert_allclose(COARSE.apply(("a", "b"), found), exact, atol=10)
        for column in COLUMNS:
            np.testing.assert_allclose(
                model.marginal(column).values, marginal_of(joint, DOMAIN, column), atol=10
            )


# --- loss, saving, refusing -----------------------------------------------------------------------


def mixed(joint):
    """Plain and merged measurements of two mergings, axes in any order, noise by the cell among it."""
    stddev = np.random.default_rng(2).uniform(5, 20, (2, 4))
    return [
        *(measured(joint, column, 20.0) for column in COLUMNS),
        measured(joint, ("b", "a"), 30.0, COARSE),
        measured(joint, ("a", "b", "c"), 10.0, FINER),
        measured(joint, ("c", "b"), 40.0),
        LinearMeasurement(
            ("c", "a"),
            FINER.apply(("c", "a"), marginal_of(joint, DOMAIN, ("c", "a"))),
            stddev,
            FINER,
        ),
        measured(joint, ("b",), 5.0, COARSE),
        measured(joint, (), 30.0),
    ]


def test_the_loss_is_half_the_squared_distance_at_each_resolution(joint):
    measurements = mixed(joint)
    model = ENGINE.estimate(DOMAIN, measurements)
    loss = 0.0
    for measurement in measurements:
        shares = [np.eye(DOMAIN[name]) for name in measurement.clique]
        for axis, name in enumerate(measurement.clique):
            if measurement.coarsening:
                groups = measurement.coarsening.groups.get(name, np.arange(DOMAIN[name]))
                shares[axis] = (np.arange(groups.max() + 1)[:, None] == groups).astype(float)
        table = model.marginal(measurement.clique).values
        for axis, matrix in enumerate(shares):
            table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
        loss += 0.5 * np.sum(((table - measurement.values) / measurement.stddev) ** 2)
    assert model.status.loss == pytest.approx(loss, rel=1e-6)


def test_a_saved_model_answers_the_same(joint):
    model = ENGINE.estimate(DOMAIN, mixed(joint), constraints=[HALF_OF_A_GROUP])
    state, arrays = model_to_state(model)
    loaded = model_from_state(json.loads(json.dumps(state)), dict(arrays), DOMAIN)
    assert (loaded.total, loaded.status, loaded.cliques) == (
        model.total,
        model.status,
        model.cliques,
    )
    for clique in [*model.cliques, ("b", "c"), ("a",)]:
        np.testing.assert_array_equal(loaded.marginal(clique).values, model.marginal(clique).values)
    assert all(map(np.array_equal, loaded.sample(300, seed=4), model.sample(300, seed=4)))


def test_a_warm_start_gives_the_same_tables(joint):
    measurements = mixed(joint)
    cold = ENGINE.estimate(DOMAIN, measurements)
    warm = ENGINE.estimate(
        DOMAIN, measurements, warm_start=ENGINE.estimate(DOMAIN, measurements[:4])
    )
    for clique in cold.cliques:
        np.testing.assert_allclose(
            warm.marginal(clique).values, cold.marginal(clique).values, atol=1e-2
        )


def test_merged_measurements_that_do_not_fit_are_refused():
    with pytest.raises(
        ParameterError, match=r"values have shape \(6, 5\), the domain asks for \(2, 2\)"
    ):
        ENGINE.estimate(DOMAIN, [LinearMeasurement(("a", "b"), np.ones((6, 5)), 1.0, COARSE)])
    with pytest.raises(ParameterError, match="one group for each of its 6 levels"):
        ENGINE.estimate(
            DOMAIN,
            [LinearMeasurement(("a",), np.ones(2), 1.0, Coarsening({"a": np.array([0, 1])}))],
        )
