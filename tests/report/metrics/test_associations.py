"""Associations against scipy and definitions."""

import numpy as np
import pytest
from helpers.evaluations import people, read
from scipy.stats import spearmanr
from scipy.stats.contingency import association

from synthdp.report import (
    associations,
    compared_associations,
    correlation_ratio,
    cramers_v,
    pairwise_correlations,
)


def test_cramers_v_is_scipys():
    rng = np.random.default_rng(0)
    for shape in ((2, 2), (3, 5)):
        counts = rng.integers(1, 30, shape)
        wider = np.pad(counts, ((0, 1), (1, 0)))  # levels that nobody has change nothing
        assert cramers_v(wider) == pytest.approx(
            association(counts, method="cramer", correction=False)
        )
    assert np.isnan(cramers_v(np.array([[3, 4]])))


def test_correlation_ratio_by_definition():
    rng = np.random.default_rng(0)
    codes, numbers = rng.integers(0, 4, 300), rng.normal(size=300)
    numbers[:20] = np.nan
    here = ~np.isnan(numbers)
    means = np.array([numbers[here & (codes == code)].mean() for code in range(4)])
    explained = ((means[codes[here]] - numbers[here].mean()) ** 2).sum()
    expected = np.sqrt(explained / ((numbers[here] - numbers[here].mean()) ** 2).sum())
    both = correlation_ratio(codes, np.column_stack([numbers, np.full(300, 7.0)]))
    assert both[0] == pytest.approx(expected)
    assert np.isnan(both[1])


def test_pairwise_correlations_are_scipys():
    frame = people(300)[["age"]].assign(other=np.random.default_rng(0).integers(0, 5, 300))
    ranks = frame.rank().to_numpy()
    assert pairwise_correlations(ranks)[0, 1] == pytest.approx(
        spearmanr(frame["age"], frame["other"]).statistic
    )


def test_pairwise_correlations_leave_out_rows_with_a_gap():
    ranks = np.array([[1.0, 2, 3, 4], [2.0, np.nan, 6, 4.5]]).T
    there = ~np.isnan(ranks[:, 1])
    expected = np.corrcoef(ranks[there, 0], ranks[there, 1])[0, 1]
    assert pairwise_correlations(ranks)[0, 1] == pytest.approx(expected)
    assert np.isnan(pairwise_correlations(np.ones((5, 2)))).all()
    assert np.isnan(pairwise_correlations(np.full((5, 2), np.nan))).all()


def test_kinds_differences_and_independence():
    table = read(people(2000))
    rng = np.random.default_rng(0)
    shuffled = read(people(2000).apply(lambda column: rng.permutation(column.to_numpy())))
    real, other = (associations(each, {("town", "job"): cramers_v(each.counts(("town", "job")))})
                   for each in (table, shuffled))  # fmt: skip
    assert {kind for kind, _ in real.values()} == {"Cramer's V", "correlation ratio", "Spearman"}
    assert len(real) == 10
    found = compared_associations(real, other, real)
    assert found["difference"].abs().is_monotonic_decreasing
    assert found["sampling"].max() == 0.0
    assert found["synthetic"].abs().max() < 0.1 < 0.5 < found["real"].max()
