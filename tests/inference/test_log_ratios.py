"""Counts drawn to what was expected of them, by factors: against quadrature, and by what it gains."""

import numpy as np
import pytest
from helpers.homes import home
from scipy import integrate, stats

from synthdp.inference import column_counts, posterior_means, posterior_medians

log_ratios = home(posterior_means)
RNG = np.random.default_rng(0)
NO_ORDER = np.array([], dtype=np.int64)


@pytest.fixture(autouse=True)
def same_numbers(monkeypatch):
    """Each test draws the same numbers whichever ran before it."""
    monkeypatch.setitem(globals(), "RNG", np.random.default_rng(0))


def quadrature(seen, log_expected, straying):
    """Log evidence, mean and median of a count seen with unit noise, whose factor is log-normal."""
    prior = stats.norm(log_expected - 0.5 * straying**2, straying)
    logs = np.linspace(-16.0, np.log(max(seen, 0.0) + 12.0), 200_001)
    density = prior.pdf(logs) * np.exp(-0.5 * np.square(seen - np.exp(logs)))
    below = integrate.cumulative_trapezoid(density, logs, initial=0.0)
    left_out = prior.cdf(logs[0]) * np.exp(-0.5 * seen**2)
    whole = below[-1] + left_out
    mean = integrate.trapezoid(density * np.exp(logs), logs) / whole
    median = np.exp(np.interp(0.5 * whole, below + left_out, logs))
    return np.log(whole), mean, median


@pytest.mark.parametrize("far", range(log_ratios._FAR.size))
@pytest.mark.parametrize("seen", [-2.0, 0.3, 1.0, 3.0, 6.0, 20.0, 300.0])
def test_cells_are_integrated(seen, far):
    for log_expected in np.log([0.05, 0.7, 4.0, 30.0]):
        evidence, mean, median = quadrature(seen, log_expected, log_ratios._FAR[far])
        if evidence < -8.0:  # so unlikely that nothing hangs on it
            continue
        column = far - log_ratios._FAR.size
        one = np.array([seen]), np.array([log_expected])
        cells = log_ratios._cells(*one, log_ratios._mean)
        assert cells.evidence[0, column] == pytest.approx(evidence, abs=0.05)
        assert cells.counts[0, column] == pytest.approx(mean, abs=0.05)
        medians = log_ratios._cells(*one, log_ratios._median).counts
        assert medians[0, column] == pytest.approx(median, abs=0.1)


def test_slight_factors_are_normal():
    cells = log_ratios._cells(np.array([11.0]), np.log([10.0]), log_ratios._mean)
    for column, straying in enumerate(log_ratios._SLIGHT):
        variance = 1.0 + (10.0 * straying) ** 2
        expected = stats.norm(10.0, np.sqrt(variance)).logpdf(11.0) + 0.5 * np.log(2.0 * np.pi)
        assert cells.evidence[0, column] == pytest.approx(expected)
        assert cells.counts[0, column] == pytest.approx(11.0 - 1.0 / variance)


def strayed(expected, straying, noise=20.0):
    """True counts, and noisy ones."""
    true = expected * np.exp(straying * RNG.normal(size=expected.shape) - 0.5 * straying**2)
    return true, true + noise * RNG.normal(size=expected.shape)


@pytest.mark.parametrize("straying", [0.02, 0.4, 1.0, 2.5])
def test_means_are_nearer_than_noise_and_than_expectations(straying):
    """However far factors stray: it is learnt."""
    expected = np.exp(RNG.normal(3.0, 1.5, size=(40, 50)))
    true, counts = strayed(expected, straying)
    (means,) = posterior_means([counts], [np.full(counts.shape, 400.0)], [expected])
    errors = [np.square(each - true).mean() for each in (means, expected, np.maximum(counts, 0.0))]
    assert means.min() >= 0.0
    assert errors[0] < 1.3 * min(errors[1:])
    if straying > 0.1:
        assert errors[0] < 0.8 * min(errors[1:])


def test_where_nothing_is_no_noise_stands_and_what_stands_out_is_kept():
    expected = np.full((30, 30), 0.5) + np.diag(np.full(30, 900.0))
    true = np.diag(RNG.choice([600.0, 1200.0], 30)).astype(float)
    true[3, 20] = 400.0
    counts = true + 20.0 * RNG.normal(size=true.shape)
    (means,) = posterior_means([counts], [np.full(true.shape, 400.0)], [expected])
    nothing = true == 0
    assert np.abs(means[nothing]).mean() < 0.1 * np.abs(counts[nothing]).mean()
    assert means[3, 20] == pytest.approx(counts[3, 20], rel=0.05)
    np.testing.assert_allclose(np.diag(means), np.diag(counts), rtol=0.02)


def test_each_table_has_its_own_mixture():
    """Small tables worked on together come out as each by itself, and in their shapes."""
    expected = [np.exp(RNG.normal(3.0, 1.0, size=shape)) for shape in ((6, 7), (3, 4, 5), (9, 2))]
    noisy = [strayed(table, far)[1] for table, far in zip(expected, (0.05, 1.0, 2.0), strict=True)]
    variances = [np.full(table.shape, 400.0) for table in expected]
    together = posterior_means(noisy, variances, expected)
    for number, table in enumerate(together):
        (alone,) = posterior_means(*([each[number]] for each in (noisy, variances, expected)))
        np.testing.assert_allclose(table, alone)


def test_groups_of_tables_change_nothing(monkeypatch):
    expected = [np.exp(RNG.normal(3.0, 1.0, size=(8, 8))) for _ in range(5)]
    noisy = [strayed(table, 1.0)[1] for table in expected]
    variances = [np.full((8, 8), 400.0)] * 5
    together = posterior_means(noisy, variances, expected)
    monkeypatch.setattr(log_ratios, "_GROUP", 150)
    monkeypatch.setattr(log_ratios, "_AT_ONCE", 7)
    np.testing.assert_allclose(posterior_means(noisy, variances, expected), together)


def test_a_large_table_is_worked_on_in_parts(monkeypatch):
    """In little memory; each part says by itself how far its factors stray."""
    expected = np.exp(RNG.normal(3.0, 1.0, size=(50, 8)))
    _, counts = strayed(expected, 1.0)
    variance = np.full(expected.shape, 400.0)
    monkeypatch.setattr(log_ratios, "_GROUP", 200)
    (means,) = posterior_means([counts], [variance], [expected])
    for part in (slice(0, 25), slice(25, 50)):
        (alone,) = posterior_means([counts[part]], [variance[part]], [expected[part]])
        np.testing.assert_allclose(means[part], alone)


def test_impossible_cells_hold_nothing_and_say_nothing():
    expected = np.exp(RNG.normal(3.0, 1.0, size=(8, 8)))
    _, counts = strayed(expected, 1.0)
    variance = np.full((8, 8), 400.0)
    (upper,) = posterior_means([counts[:4]], [variance[:4]], [expected[:4]])
    expected[4:] = 0.0
    counts[4:] = 1e6
    means, empty = posterior_means(
        [counts, counts], [variance, variance], [expected, np.zeros((8, 8))]
    )
    np.testing.assert_allclose(means[:4], upper)
    assert not means[4:].any()
    assert not empty.any()
    assert posterior_means([], [], []) == []


def test_weights_are_those_of_expectation_and_maximisation():
    """Where a table's cells are clearly of two kinds, so are the weights."""
    evidence = np.full((40, 3), -30.0)
    evidence[:30, 0] = evidence[30:, 2] = 0.0
    weights = log_ratios._weights(evidence, np.zeros(40), np.array([40]))
    assert weights[:30, 0] == pytest.approx(1.0)
    assert weights[30:, 2] == pytest.approx(1.0)
    # A cell that says nothing is taken for what the others mostly are.
    evidence[0] = 0.0
    assert log_ratios._weights(evidence, np.zeros(40), np.array([40]))[0] == pytest.approx(
        [0.73, 0.0, 0.27], abs=0.03
    )


def test_what_is_nearer_to_the_counts_is_likelier():
    counts = np.array([100.0, 200.0, 300.0, 250.0, 150.0])
    near, far = (
        posterior_medians(counts, np.full(5, 100.0), expected)[1]
        for expected in (counts + 3.0, np.full(5, 200.0))
    )
    assert near > far + 3.0


def errors_of_columns(true, in_order, noise, n_runs=30):
    """Mean absolute errors of what a column's levels are said to hold, and of the noisy counts."""
    errors = np.zeros(2)
    for _ in range(n_runs):
        counts = true + noise * RNG.normal(size=true.size)
        found = column_counts(counts, np.full(true.size, noise**2), true.sum(), in_order)
        assert found.min() >= 0.0
        assert found.sum() == pytest.approx(true.sum())
        simple = np.maximum(counts, 0.0)
        for way, each in enumerate((found, simple * true.sum() / simple.sum())):
            errors[way] += np.abs(each - true).sum()
    return errors


def test_levels_that_hold_alike_are_told_so():
    found, noisy = errors_of_columns(np.full(12, 500.0), NO_ORDER, noise=50.0)
    assert found < 0.5 * noisy


def test_few_large_levels_are_kept_and_noise_on_the_others_is_not():
    found, noisy = errors_of_columns(np.array([5000.0, 3000.0, *[5.0] * 14]), NO_ORDER, noise=50.0)
    assert found < 0.5 * noisy


def test_neighbours_say_what_a_level_holds():
    true = 800.0 * np.exp(-0.5 * np.square((np.arange(30) - 12) / 6.0))
    in_order, _ = errors_of_columns(true, np.arange(30), noise=80.0)
    without, noisy = errors_of_columns(true, NO_ORDER, noise=80.0)
    assert in_order < 0.8 * without
    assert without < noisy


def test_a_spike_among_neighbours_stays():
    true = 100.0 * np.ones(30)
    true[11] = 2000.0
    counts = true + 20.0 * RNG.normal(size=30)
    found = column_counts(counts, np.full(30, 400.0), true.sum(), np.arange(30))
    assert found[11] == pytest.approx(2000.0, abs=80.0)
    assert np.abs(found - true)[[9, 10, 12, 13]].max() < 60.0


def test_levels_outside_of_the_order_have_no_neighbours():
    """What stands for missing values is no neighbour of the largest value."""
    true = np.append(np.linspace(900.0, 1100.0, 20), 0.0)
    counts = true + 60.0 * RNG.normal(size=21)
    variance = np.full(21, 3600.0)
    found = [column_counts(counts, variance, true.sum(), np.arange(n)) for n in (20, 21)]
    assert found[0][20] < found[1][20]


def test_a_column_of_many_levels_takes_little_time_and_memory():
    n_levels = 20_000
    true = np.abs(RNG.normal(100.0, 20.0, n_levels))
    found = column_counts(
        true + 50.0 * RNG.normal(size=n_levels),
        np.full(n_levels, 2500.0),
        true.sum(),
        np.arange(n_levels),
    )
    assert np.abs(found - true).mean() < 20.0


def test_hardly_any_noise_changes_hardly_anything():
    counts = np.array([5e6, 5e6 - 10.0, 10.0])
    found = column_counts(counts, np.full(3, 0.01), 1e7, NO_ORDER)
    np.testing.assert_allclose(found, counts, atol=0.2)
    assert column_counts(np.array([7.0]), np.ones(1), 9.0, NO_ORDER) == pytest.approx([9.0])


def test_of_many_levels_in_an_order_those_far_around_say_how_many_there_are():
    """Noise is larger than each count; neighbours four levels away leave .20 of all wrong."""
    true, off = np.repeat([8000 / 300, 0.0], [300, 100]), []
    for seed in range(6):
        counts = true + np.random.default_rng(seed).normal(0, 35, 400)
        drawn = column_counts(counts, np.full(400, 35.0**2), 8000.0, np.arange(400))
        off.append(0.5 * abs(drawn - true).sum() / 8000)
    assert np.mean(off) < 0.15
