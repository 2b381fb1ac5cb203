"""The public-data engine: maximum likelihood within the support, and refusal of a support that
lacks the data.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from helpers.fit_problems import DOMAIN, SMALL_PROBLEMS
from helpers.quick_engines import CUT_SHORT
from helpers.seldom import often
from oracles.inference import (
    least_loss,
    loss_and_gap,
    marginal_of,
    noisy,
    random_cliques,
    random_domain,
    whitened,
)

from synthdp.core import (
    Coarsening,
    Constraint,
    Domain,
    LinearMeasurement,
    ParameterError,
    estimate_total,
)
from synthdp.inference import (
    DirectEngine,
    MirrorDescent,
    PublicDataEngine,
    WeightedRowsModel,
    distinct_rows,
    judge_support,
)

pytestmark = CUT_SHORT

TIGHT = MirrorDescent(tolerance=1e-8, window=30)


def every_row(domain):
    """A public table that has each cell of the domain once."""
    return tuple(np.indices(domain.shape).reshape(len(domain), -1))


def engine(columns, **options):
    return PublicDataEngine(columns=tuple(np.asarray(column) for column in columns), **options)


def some_rows(rng, domain, *, share=0.5):
    """Random cells of the domain, each at most once, and where they are in the flat joint table."""
    cells = np.flatnonzero(rng.random(domain.size()) < share)
    cells = cells if cells.size else np.array([0])
    return np.unravel_index(cells, domain.shape), cells


def drawn_rows(rng, joint, n_rows):
    cells = rng.choice(joint.size, n_rows, p=joint.ravel() / joint.sum())
    return np.unravel_index(cells, joint.shape)


def table_of(domain, columns):
    return (
        np.bincount(np.ravel_multi_index(columns, domain.shape), minlength=domain.size()).reshape(
            domain.shape
        )
        * 1.0
    )


# --- the fit ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inside", [True, False], ids=["the support holds the truth", "it does not"]
)
def test_the_fit_is_maximum_likelihood_within_the_support(inside):
    """Against non-negative least squares over the public rows."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        domain = random_domain(rng)
        columns, cells = some_rows(rng, domain)
        joint = np.zeros(domain.size())
        place = cells if inside else slice(None)
        joint[place] = 10 ** rng.uniform(1, 5) * rng.dirichlet(np.full(joint[place].size, 0.3))
        cliques = random_cliques(rng, domain)
        stddevs = np.full(len(cliques), 10 ** rng.uniform(-1, 2))
        measurements = noisy(rng, joint.reshape(domain.shape), domain, cliques, stddevs)
        model = engine(columns, driver=TIGHT, max_missed_share=1.0).estimate(domain, measurements)
        matrix, target = whitened(domain, measurements)
        counts = model.marginal(domain.attributes).values.ravel()
        assert counts[np.setdiff1d(np.arange(counts.size), cells)].sum() == 0
        loss, gap = loss_and_gap(matrix[:, cells], target, counts[cells])
        least = least_loss(matrix[:, cells], target, estimate_total(measurements))
        assert loss <= least + 1e-3 * least + 1e-6 * len(target), seed
        if model.status.ended == "optimal" and loss > 1e-3 * len(target):
            assert gap <= 1.001 * (loss + len(target)), seed


def test_optimal_means_near_the_least_loss_whatever_the_noise():
    """Noise scales ten times apart are hard on the driver: it may fail, but must not say that it is
    optimal.
    """
    converged = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        domain = random_domain(rng)
        columns, cells = some_rows(rng, domain)
        joint = np.zeros(domain.size())
        joint[cells] = 10 ** rng.uniform(1, 5) * rng.dirichlet(np.full(cells.size, 0.3))
        cliques = random_cliques(rng, domain)
        stddevs = 10 ** rng.uniform(-1, 2) * rng.choice([1.0, 10.0], len(cliques))
        measurements = noisy(rng, joint.reshape(domain.shape), domain, cliques, stddevs)
        model = engine(columns, max_missed_share=1.0).estimate(domain, measurements)
        matrix, target = whitened(domain, measurements)
        loss, _ = loss_and_gap(
            matrix[:, cells], target, model.marginal(domain.attributes).values.ravel()[cells]
        )
        least = least_loss(matrix[:, cells], target, estimate_total(measurements))
        if model.status.ended == "optimal":
            converged += 1
            assert loss <= 1.05 * least + 0.05 * len(target), seed
    assert converged >= 46


def test_the_whole_domain_as_support_gives_what_the_direct_engine_gives():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        domain = random_domain(rng)
        cliques = random_cliques(rng, domain)
        joint = 1000 * rng.dirichlet(np.ones(domain.size())).reshape(domain.shape)
        measurements = noisy(rng, joint, domain, cliques, [5.0] * len(cliques))
        model = engine(every_row(domain), driver=TIGHT).estimate(domain, measurements)
        oracle = DirectEngine(driver=TIGHT).estimate(domain, measurements)
        assert model.total == oracle.total
        assert model.status.loss == pytest.approx(oracle.status.loss, rel=1e-6, abs=1e-9)
        names = domain.attributes
        np.testing.assert_allclose(
            model.marginal(names).values, oracle.marginal(names).values, atol=0.5
        )


@pytest.mark.parametrize("problem", SMALL_PROBLEMS)
def test_an_expressible_distribution_is_recovered_as_noise_vanishes(joint, problem):
    rng = np.random.default_rng(3)
    truth = np.where(rng.random(DOMAIN.shape) < 0.6, joint, 0.0)
    measurements = noisy(
        rng, truth, DOMAIN, SMALL_PROBLEMS[problem], [1e-4] * len(SMALL_PROBLEMS[problem])
    )
    public = np.unravel_index(np.flatnonzero(truth), DOMAIN.shape)
    model = engine(public).estimate(DOMAIN, measurements)
    for clique in SMALL_PROBLEMS[problem]:
        np.testing.assert_allclose(
            model.marginal(clique).values, marginal_of(truth, DOMAIN, clique), atol=0.5
        )
    whole = model.marginal(DOMAIN.attributes)
    for clique in [(), ("a",), ("one",), ("b", "a"), ("d", "c", "a"), ("c", "one")]:
        np.testing.assert_allclose(
            model.marginal(clique).values, whole.project(clique).values, atol=1e-9 * model.total
        )
    assert (whole.values[truth == 0] == 0).all()


def test_what_is_not_measured_is_taken_from_the_public_table(joint):
    """Within the measured cells the rows keep the proportions of the public table."""
    rng = np.random.default_rng(5)
    public = drawn_rows(rng, joint, 4000)
    base = table_of(DOMAIN, public)
    measurement = LinearMeasurement(("a",), np.array([500.0, 300.0, 200.0]), 1e-3)
    values = engine(public).estimate(DOMAIN, [measurement]).marginal(DOMAIN.attributes).values
    expected = (
        base
        / base.sum(axis=(1, 2, 3, 4), keepdims=True)
        * measurement.values.reshape(3, 1, 1, 1, 1)
    )
    np.testing.assert_allclose(values, expected, atol=0.01)


def test_duplicated_rows_weigh_as_often_as_they_occur_and_their_order_is_nothing(joint):
    rng = np.random.default_rng(6)
    public = drawn_rows(rng, joint, 500)
    measurements = noisy(rng, joint, DOMAIN, SMALL_PROBLEMS["tree"], [5.0, 5.0])
    model = engine(public, max_missed_share=1.0).estimate(DOMAIN, measurements)
    order = rng.permutation(500)
    shuffled = engine([column[order] for column in public], max_missed_share=1.0).estimate(
        DOMAIN, measurements
    )
    twice = engine([np.tile(column, 2) for column in public], max_missed_share=1.0).estimate(
        DOMAIN, measurements
    )
    np.testing.assert_array_equal(model.weights, shuffled.weights)
    assert all(map(np.array_equal, model.columns, shuffled.columns))
    np.testing.assert_allclose(model.weights, twice.weights, atol=1e-9)
    uneven = engine([[0, 0, 0, 1]]).estimate(
        Domain(("x",), (2,)), [LinearMeasurement((), np.array(80.0), 1.0)]
    )
    np.testing.assert_allclose(uneven.marginal(("x",)).values, [60.0, 20.0])


def test_noise_of_each_cell_is_weighed():
    domain, stddev = Domain(("a",), (3,)), np.array([1.0, 2.0, 3.0])
    measurement = LinearMeasurement(("a",), np.array([30.0, 20.0, 50.0]), stddev)
    total = LinearMeasurement((), np.array(114.0), 1e-3)
    model = engine(every_row(domain), driver=TIGHT).estimate(domain, [measurement, total])
    # Lagrange: what the total asks for beyond the sum is spread in proportion to the variances.
    expected = measurement.values + (model.total - 100.0) * stddev**2 / np.sum(stddev**2)
    np.testing.assert_allclose(model.marginal(("a",)).values, expected, atol=1e-3)


def test_one_public_row_takes_all_records():
    domain = Domain(("a", "b"), (3, 2))
    measurement = LinearMeasurement(
        ("a", "b"), np.array([[1.0, 0.0], [0.0, 99.0], [0.0, 0.0]]), 1.0
    )
    model = engine([[1], [1]]).estimate(domain, [measurement])
    assert model.marginal(("b", "a")).values.tolist() == [[0, 0, 0], [0, model.total, 0]]
    assert [column.tolist() for column in model.sample(3)] == [[1, 1, 1], [1, 1, 1]]
    assert model.status.ended == "optimal"


def test_one_attribute_and_hopelessly_negative_counts():
    domain = Domain(("a",), (4,))
    model = engine(every_row(domain)).estimate(
        domain, [LinearMeasurement(("a",), np.arange(1.0, 5.0), 1e-3)]
    )
    np.testing.assert_allclose(model.marginal(("a",)).values, np.arange(1.0, 5.0), atol=0.01)
    model = engine(every_row(domain)).estimate(
        domain, [LinearMeasurement(("a",), np.full(4, -50.0), 1.0)]
    )
    assert model.total == 1.0
    np.testing.assert_allclose(model.marginal(("a",)).values, 0.25)


def test_domains_beyond_64_bits_and_any_integer_type():
    rng = np.random.default_rng(0)
    domain = Domain(tuple(f"x{i}" for i in range(30)), (200,) * 30)
    few = rng.integers(0, 200, (30, 50))
    rows = rng.integers(0, 50, 400)
    kinds = [np.uint8, np.int64, np.uint64]
    columns = [few[i, rows].astype(kinds[i % 3]) for i in range(30)]
    distinct, counts = distinct_rows(domain, columns)
    expected, expected_counts = np.unique(
        np.stack([c.astype(int) for c in columns]), axis=1, return_counts=True
    )
    np.testing.assert_array_equal(np.stack(distinct), expected)
    np.testing.assert_array_equal(counts, expected_counts)
    values = np.bincount(columns[0].astype(int), minlength=200) * 5.0
    model = engine(columns).estimate(domain, [LinearMeasurement(("x0",), values, 1.0)])
    np.testing.assert_allclose(model.marginal(("x0",)).values, values, atol=0.5)


def test_a_warm_start_takes_fewer_iterations_to_the_same_loss(joint):
    rng = np.random.default_rng(1)
    driver = MirrorDescent(tolerance=1e-6, window=20)
    before = noisy(rng, joint, DOMAIN, [("a", "b"), ("b", "c"), ("c", "d")], [3.0] * 3)
    measurements = [*before, *noisy(rng, joint, DOMAIN, [("a", "d")], [3.0])]
    fit = engine(every_row(DOMAIN), driver=driver).estimate
    cold = fit(DOMAIN, measurements)
    again = fit(DOMAIN, measurements, warm_start=cold)
    assert again.status.n_iterations < cold.status.n_iterations
    assert again.status.loss <= cold.status.loss
    grown = fit(DOMAIN, measurements, warm_start=fit(DOMAIN, before))
    assert grown.status.loss == pytest.approx(cold.status.loss, rel=1e-3)
    other = engine([[0, 1]]).estimate(
        Domain(("z",), (2,)), [LinearMeasurement(("z",), np.array([3.0, 4.0]), 1.0)]
    )
    with pytest.raises(ParameterError, match="warm_start"):
        fit(DOMAIN, before, warm_start=other)


def test_progress_is_reported_and_a_fit_cut_short_says_so(joint):
    seen = []
    measurements = noisy(
        np.random.default_rng(1), joint, DOMAIN, SMALL_PROBLEMS["cycle"], [3.0] * 3
    )
    fit = engine(
        every_row(DOMAIN), driver=MirrorDescent(max_iterations=3), max_missed_share=1.0
    ).estimate
    model = fit(DOMAIN, measurements, progress=lambda *done: seen.append(done))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert model.status.ended != "optimal"


# --- what the support can express ----------------------------------------------------------------

SURVEY = Domain(("region", "age", "job"), (8, 10, 6))
PAIRS = [("region", "age"), ("age", "job"), ("region", "job")]


def survey(seed, *, lacking):
    """Counts of 20000 records, and 2000 public rows without the last region (a share ``lacking`` of
    the records).
    """
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.full(SURVEY.size(), 0.5)).reshape(SURVEY.shape)
    joint[-1] *= lacking / (1 - lacking) * joint[:-1].sum() / joint[-1].sum()
    joint *= 20000 / joint.sum()
    public = joint.copy()
    public[-1] = 0.0
    return rng, joint, drawn_rows(rng, public, 2000), drawn_rows(rng, joint, 2000)


@pytest.mark.parametrize("stddev", [10.0, 60.0])
def test_a_support_that_lacks_a_heavy_region_is_refused_with_number_and_way_out(stddev):
    for seed in range(50):
        rng, joint, lacking, _ = survey(seed, lacking=0.3)
        measurements = noisy(rng, joint, SURVEY, PAIRS, [stddev] * 3)
        with pytest.raises(
            ParameterError, match=r"at least \d+\.\d% .*10\.0% is allowed.* use engine="
        ):
            engine(lacking).estimate(SURVEY, measurements)


@pytest.mark.parametrize("stddev", often(1.0, 60.0, seldom=[10.0, 1000.0]))
def test_a_support_that_has_it_is_accepted(stddev):
    for seed in range(50):
        rng, joint, _, complete = survey(seed, lacking=0.3)
        report = (
            engine(complete)
            .estimate(SURVEY, noisy(rng, joint, SURVEY, PAIRS, [stddev] * 3))
            .support
        )
        assert max(report.missed_share, report.uncovered_share) < 0.05
        if stddev >= 60:
            assert report.verdict == "fits"


def test_in_between_the_model_says_that_it_is_strained():
    for seed in range(20):
        rng, joint, lacking, _ = survey(seed, lacking=0.05)
        report = (
            engine(lacking).estimate(SURVEY, noisy(rng, joint, SURVEY, PAIRS, [10.0] * 3)).support
        )
        assert report.verdict == "strained"
        assert 0.005 < report.uncovered_share < 0.05
        assert 0.005 < report.missed_share < 0.05


def test_a_support_with_every_cell_but_the_wrong_combinations_is_refused():
    """No cell is uncovered: columns that are always equal in public, and independent in truth."""
    domain = Domain(("a", "b", "c"), (4, 4, 2))
    joint = np.full(domain.shape, 1000.0)
    public = [np.arange(4), np.arange(4), np.array([0, 1, 0, 1])]
    for seed in range(20):
        measurements = noisy(
            np.random.default_rng(seed), joint, domain, [("a",), ("b", "c")], [5.0, 5.0]
        )
        with pytest.raises(ParameterError, match="cannot express"):
            engine(public).estimate(domain, measurements)
    # What is measured decides: alone, either column can be expressed.
    measurements = noisy(np.random.default_rng(0), joint, domain, [("a",), ("b",)], [5.0, 5.0])
    assert engine(public).estimate(domain, measurements).support.verdict == "fits"


@pytest.mark.slow
def test_expressible_truths_are_never_refused_nor_called_strained_by_an_optimal_fit():
    """Sparse and dense truths on the support itself, noise from tiny to larger than the counts."""
    verdicts = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        domain = random_domain(rng, largest=8)
        columns, cells = some_rows(rng, domain, share=rng.uniform(0.1, 1.0))
        joint = np.zeros(domain.size())
        joint[cells] = 10 ** rng.uniform(2, 5) * rng.dirichlet(
            np.full(cells.size, rng.choice([0.1, 1.0]))
        )
        cliques = random_cliques(rng, domain)
        measurements = noisy(
            rng, joint.reshape(domain.shape), domain, cliques, 10 ** rng.uniform(0, 3, len(cliques))
        )
        # Fits that do not end say nothing here: no need to wait for all of their iterations.
        model = engine(columns, driver=MirrorDescent(max_iterations=1500)).estimate(
            domain, measurements
        )
        verdicts.append((model.support.verdict, model.status.ended == "optimal"))
    assert ("strained", True) not in verdicts
    assert (
        verdicts.count(("fits", True)) >= 280
    )  # noise scales up to 1000 times apart are hard on the driver


def test_the_bounds_are_what_they_say():
    """On a table of given residuals: nothing within the noise, the excess beyond it, rescaled
    totals.
    """
    from synthdp.inference import MarginalLoss

    domain = Domain(("a",), (100,))
    truth = np.full(100, 100.0)
    covered = np.ones(100, dtype=bool)

    def report(values, covered):
        loss = MarginalLoss(domain, [LinearMeasurement(("a",), values, 10.0)])
        return judge_support(loss, truth, covered, total=1e4, least_slope=np.min)[0]

    assert (
        report(truth * 1.2, covered).missed_share == 0
    )  # the total was wrong, the shares are right
    peak = truth.copy()
    peak[3] += 1000.0
    assert 0.08 < report(peak, covered).missed_share < 0.1
    slope = truth + np.where(np.arange(100) % 2, 40.0, -40.0)
    assert report(slope, covered).missed_share == pytest.approx((2000 - 399 - 750) / 1e4, abs=0.01)
    covered[3] = False
    assert 0.09 < report(peak, covered).uncovered_share < 0.11
    covered[:] = True
    covered[:50] = False
    assert report(truth, covered).uncovered_share == pytest.approx((5000 - 480) / 1e4, abs=0.01)


# --- constraints, samples, saving ----------------------------------------------------------------


def test_rows_that_break_a_constraint_are_left_out(joint):
    allowed = np.array([[True, False], [True, True], [False, True]])
    constraint = Constraint(("a", "b"), allowed)
    truth = joint * allowed.reshape(3, 2, 1, 1, 1)
    measurements = noisy(
        np.random.default_rng(0), truth, DOMAIN, SMALL_PROBLEMS["tree"], [5.0, 5.0]
    )
    model = engine(every_row(DOMAIN)).estimate(DOMAIN, measurements, constraints=[constraint])
    assert (model.marginal(("a", "b")).values[~allowed] == 0).all()
    for rounding in (True, False):
        assert constraint.holds(DOMAIN, model.sample(1000, seed=0, rounding=rounding)).all()
    with pytest.raises(ParameterError, match="no row of the public table obeys"):
        engine([[0], [1], [0], [0], [0]]).estimate(DOMAIN, measurements, constraints=[constraint])
    with pytest.raises(ParameterError, match="constraint"):
        engine(every_row(DOMAIN)).estimate(
            DOMAIN, measurements, constraints=[Constraint(("a",), np.ones(2))]
        )


@pytest.fixture
def model(joint):
    rng = np.random.default_rng(2)
    measurements = noisy(rng, joint, DOMAIN, [*SMALL_PROBLEMS["cycle"], ()], [5.0, 7.0, 9.0, 20.0])
    return engine(drawn_rows(rng, joint, 300), max_missed_share=1.0).estimate(DOMAIN, measurements)


@pytest.mark.parametrize("rounding", [True, False])
def test_samples_are_public_rows_in_proportion_to_their_weights(model, rounding):
    codes = model.sample(20000, seed=1, rounding=rounding)
    assert [column.dtype for column in codes] == [np.uint8] * len(DOMAIN)
    counts, expected = (
        table_of(DOMAIN, codes),
        model.marginal(DOMAIN.attributes).values * (20000 / model.total),
    )
    bound = 1.001 if rounding else 7 * np.sqrt(expected) + 7
    assert (np.abs(counts - expected) <= bound).all()
    assert (counts[expected == 0] == 0).all()
    assert all(map(np.array_equal, codes, model.sample(20000, seed=1, rounding=rounding)))
    assert not all(map(np.array_equal, codes, model.sample(20000, seed=2, rounding=rounding)))
    # shuffled: the first half of the table looks like the second
    assert abs(codes[0][:10000].mean() - codes[0][10000:].mean()) < 0.1


def test_small_rounded_samples_are_right_on_average(model):
    counts = sum(table_of(DOMAIN, model.sample(5, seed=seed)) for seed in range(2000))
    expected = model.marginal(DOMAIN.attributes).values * (10000 / model.total)
    assert (np.abs(counts - expected) <= 7 * np.sqrt(expected) + 7).all()
    assert [column.shape for column in model.sample(0)] == [(0,)] * len(DOMAIN)
    with pytest.raises(ParameterError, match="n_rows is -1"):
        model.sample(-1)
    with pytest.raises(ParameterError, match="repeats"):
        model.marginal(("a", "a"))


def test_partial_records_are_completed_by_rows_that_agree_with_them(model):
    values = model.marginal(DOMAIN.attributes).values
    a, b = np.nonzero(values.sum(axis=(2, 3, 4)))
    given = {"b": np.repeat(b, 4000), "a": np.repeat(a, 4000).astype(np.uint8)}
    codes = model.complete(given, seed=1)
    assert np.array_equal(codes[0], given["a"])
    assert np.array_equal(codes[1], given["b"])
    for level_a, level_b in zip(a, b, strict=True):
        here = (codes[0] == level_a) & (codes[1] == level_b)
        counts = table_of(DOMAIN, [column[here] for column in codes])[level_a, level_b]
        expected = 4000 * values[level_a, level_b] / values[level_a, level_b].sum()
        assert (np.abs(counts - expected) <= 7 * np.sqrt(expected) + 7).all()
        assert (counts[expected == 0] == 0).all()
    assert [len(column) for column in model.complete({"a": np.empty(0, int)})] == [0] * len(DOMAIN)
    with pytest.raises(ParameterError, match="given"):
        model.complete({})


def test_slices_are_drawn_however_rare_and_also_where_no_public_row_is():
    domain = Domain(("a", "b"), (2, 3))
    measurement = LinearMeasurement(("a",), np.array([1e6, 1e-3]), 1e-4)
    model = engine([[0, 0, 1, 1], [0, 1, 1, 2]]).estimate(domain, [measurement])
    codes = model.sample_where({"a": np.array([False, True])}, 1000, seed=0)
    assert (codes[0] == 1).all()
    assert np.bincount(codes[1]).tolist() == [0, 500, 500]
    rare = model.complete({"a": np.ones(1000, int)}, seed=0)
    assert abs(np.bincount(rare[1], minlength=3)[1] - 500) < 150
    # No public row has a = 0, b = 2: a row that differs in one of them tells the rest, which is
    # none here.
    nowhere = {"a": np.array([True, False]), "b": np.array([False, False, True])}
    assert [set(column.tolist()) for column in model.sample_where(nowhere, 50, seed=0)] == [
        {0},
        {2},
    ]
    assert [
        column.tolist() for column in model.complete({"a": np.array([0]), "b": np.array([2])})
    ] == [[0], [2]]


def test_a_model_survives_being_saved(model):
    state, arrays = model.to_state()
    state = json.loads(json.dumps(state))
    arrays = {name: np.array(array, dtype=np.float64) for name, array in arrays.items()}
    loaded = WeightedRowsModel.from_state(state, arrays, DOMAIN)
    assert (loaded.domain, loaded.total, loaded.status) == (model.domain, model.total, model.status)
    assert loaded.support == model.support
    assert loaded.log_potentials.keys() == model.log_potentials.keys()
    np.testing.assert_array_equal(
        loaded.marginal(("d", "a")).values, model.marginal(("d", "a")).values
    )
    assert all(map(np.array_equal, loaded.sample(300, seed=1), model.sample(300, seed=1)))
    for damage in (
        {"weights": arrays["weights"][:-1]},
        {"weights": arrays["weights"] - 1},
        {"rows": arrays["rows"] + 9},
    ):
        with pytest.raises(ParameterError, match=r"weights|columns"):
            WeightedRowsModel.from_state(state, arrays | damage, DOMAIN)


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "columns",
    [(), ([],), ([0.5],), ([[0]],), ([0], [0, 1])],
    ids=["no column", "no row", "floats", "two axes", "lengths"],
)
def test_tables_that_are_none_are_refused(columns):
    with pytest.raises(ParameterError, match="columns"):
        PublicDataEngine(columns=tuple(np.asarray(column) for column in columns))


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan])
def test_shares_outside_0_to_1_are_refused(share):
    with pytest.raises(ParameterError, match="max_missed_share"):
        engine([[0]], max_missed_share=share)


@pytest.mark.parametrize(
    "columns", [[[0]], [[3], [0]], [[-1], [0]]], ids=["count", "beyond", "negative"]
)
def test_tables_of_another_domain_are_refused(columns):
    with pytest.raises(ParameterError, match="columns"):
        engine(columns).estimate(
            Domain(("a", "b"), (3, 2)), [LinearMeasurement(("a",), np.ones(3), 1.0)]
        )


def test_measurements_that_do_not_fit_are_refused():
    fit = engine(every_row(DOMAIN)).estimate
    for measurement in [
        LinearMeasurement(("a",), np.zeros(4), 1.0),
        LinearMeasurement(("a",), np.zeros(2), 1.0, Coarsening({"a": np.array([0, 0, 1])})),
    ]:
        with pytest.raises(ParameterError):
            fit(DOMAIN, [measurement])
    with pytest.raises(ParameterError, match="there is none"):
        fit(DOMAIN, [])


def test_public_rows_take_no_part_in_comparisons_and_are_not_shown():
    one, other = engine([[0, 1]]), engine([[1, 1, 0]])
    assert one == other
    assert hash(one) == hash(other)
    assert one != replace(one, max_missed_share=0.2)
    assert "columns" not in repr(one)
