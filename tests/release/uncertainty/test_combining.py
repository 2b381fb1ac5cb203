"""Combining rules, against closed forms and by simulation."""

import numpy as np
import pytest
from scipy.stats import binom, t

from synthdp.release import N_CENTRES, Analysed, Basis, combined

MEASURED, MODEL = Basis("measured", ()), Basis("model", ("why",))


def analysed(values, variance=1.0):
    return [Analysed(np.array([value]), np.array([variance])) for value in values]


def test_rules_are_those_of_the_docs():
    centres, replicates = analysed([10.0] * N_CENTRES), analysed([9.0, 11.0, 13.0], 2.0)
    (row,) = combined(
        ["x"], centres, replicates, MEASURED, scale=1.5, level=0.9, of="population"
    ).itertuples()
    between = (1 + 1 / 3) * 4.0
    variance = between + 1.5 * 2.0
    df = 2 * (variance / between) ** 2
    assert row.estimate == pytest.approx(2 * 10 - 11)
    assert row.stderr == pytest.approx(variance**0.5)
    assert row.df == pytest.approx(df)
    assert row.high - row.estimate == pytest.approx(t.ppf(0.95, df) * variance**0.5)
    (own,) = combined(
        ["x"], centres, replicates, MEASURED, scale=1.5, level=0.9, of="table"
    ).itertuples()
    assert own.stderr == pytest.approx(between**0.5)
    assert own.df == pytest.approx(2)


def test_without_measured_dependence_there_are_no_limits_but_a_spread():
    (row,) = combined(
        ["x"], analysed([1.0]), analysed([1.0, 2.0]), MODEL, scale=1, level=0.9, of="population"
    ).itertuples()
    assert np.isnan([row.low, row.high]).all()
    assert np.isfinite([row.estimate, row.stderr]).all()
    assert row.basis == "model"


def test_replicates_that_agree_leave_the_sampling_variance():
    found = combined(
        ["x"], analysed([1.0]), analysed([1.0, 1.0]), MEASURED, scale=1, level=0.95, of="population"
    )
    assert found["stderr"].item() == 1.0
    assert found["high"].item() == pytest.approx(1 + 1.96, abs=1e-3)


@pytest.mark.parametrize(
    ("noise", "drawing", "of"),
    [(1.0, 0.3, "table"), (0.5, 0.0, "population"), (0.5, 1.0, "population")],
)
def test_intervals_hold_the_truth_as_often_as_they_say(noise, drawing, of):
    """A fit is a biased, noisy look at a sample's mean; replicates look at the fit in the same way."""
    generator, runs, m, bias, sampling = np.random.default_rng(5), 10_000, 5, 0.7, 1.0

    def look(at):
        return at + bias + noise * generator.standard_normal(runs)

    def tables(at):
        return Analysed(at + drawing * generator.standard_normal(runs), np.full(runs, sampling**2))

    truth = np.full(runs, 3.0)
    sample = truth if of == "table" else truth + sampling * generator.standard_normal(runs)
    fit = look(sample)
    centres, replicates = (
        [tables(fit) for _ in range(N_CENTRES)],
        [tables(look(fit)) for _ in range(m)],
    )
    found = combined(range(runs), centres, replicates, MEASURED, scale=1, level=0.9, of=of)
    hits = ((found["low"] <= truth) & (truth <= found["high"])).sum()
    low, high = binom.ppf(
        [1e-10, 1 - 1e-10], runs, [0.89, 0.92]
    )  # Rubin's degrees of freedom are an approximation
    assert low <= hits <= high
