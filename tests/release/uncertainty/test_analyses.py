"""Analyses of one table, against other ways to compute them and against what many tables show."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from synthdp.release.uncertainty import analyses

GENERATOR = np.random.default_rng(0)
X = np.column_stack([np.ones(500), GENERATOR.standard_normal((500, 2))])
BINARY = (GENERATOR.random(500) < expit(X @ [0.2, 1.0, -0.5])).astype(float)


def test_logistic_regression_is_the_maximum_of_the_likelihood():
    found = analyses.logistic_regression(X, BINARY)
    best = minimize(
        lambda b: np.logaddexp(0, -(2 * BINARY - 1) * (X @ b)).sum(), np.zeros(3), tol=1e-10
    )
    np.testing.assert_allclose(found.values, best.x, atol=1e-4)


@pytest.mark.parametrize("kind", ["linear", "logistic"])
def test_variances_are_those_that_many_samples_show(kind):
    generator, values, stated = np.random.default_rng(1), [], []
    for _ in range(400):
        if kind == "linear":  # with residuals that grow with a variable
            outcome = X @ [1.0, 2.0, 0.0] + np.abs(X[:, 1]) * generator.standard_normal(500)
            found = analyses.linear_regression(X, outcome)
        else:
            found = analyses.logistic_regression(
                X, (generator.random(500) < expit(X @ [0.2, 1.0, -0.5])).astype(float)
            )
        values.append(found.values)
        stated.append(found.variances)
    np.testing.assert_allclose(np.var(values, axis=0), np.mean(stated, axis=0), rtol=0.45)


def test_linear_regression_is_least_squares_and_skips_what_is_missing():
    outcome = np.where(np.arange(500) < 3, np.nan, X @ [1.0, 2.0, 3.0])
    np.testing.assert_allclose(analyses.linear_regression(X, outcome).values, [1, 2, 3])


@pytest.mark.parametrize("fit", [analyses.linear_regression, analyses.logistic_regression])
def test_regressions_that_have_no_answer_say_nan(fit):
    twice = np.column_stack([X, X[:, 1]])
    assert np.isnan(fit(twice, BINARY).values).all()
    assert np.isnan(fit(X[:2], BINARY[:2]).values).all()
    assert np.isnan(fit(X, np.full(500, np.nan)).values).all()


def test_outcomes_that_are_told_for_certain_have_no_logistic_regression():
    assert np.isnan(
        analyses.logistic_regression(X[:, :2], (X[:, 1] > 0).astype(float)).values
    ).all()


def test_means_quantiles_and_differences():
    values = np.array([1.0, 2.0, 3.0, 6.0, np.nan])
    assert analyses.mean(values) == analyses.Analysed(
        pytest.approx([3.0]), pytest.approx([np.var([1, 2, 3, 6], ddof=1) / 4])
    )
    assert analyses.quantile(values, 0.5).values.item() == 2.5
    groups = pd.Series(["a", "a", "b", "b", None])
    found = analyses.difference(values, groups, "a", "b")
    assert found.values.item() == pytest.approx(1.5 - 4.5)
    assert found.variances.item() == pytest.approx(0.25 + 4.5 / 2)
    assert np.isnan(analyses.mean(values[:1]).values).all()
    assert np.isnan(analyses.quantile(values[4:], 0.5).values).all()


def test_the_variance_of_a_quantile_is_that_of_many_samples():
    generator = np.random.default_rng(2)
    found = [analyses.quantile(generator.exponential(size=400), 0.75) for _ in range(400)]
    spread = np.var([part.values for part in found])
    assert np.mean([part.variances for part in found]) == pytest.approx(spread, rel=0.45)


def test_numbers_of_all_kinds_of_columns():
    frame = pd.DataFrame(
        {"n": [1, None], "flag": [True, None], "day": pd.to_datetime(["1970-01-03", None])}
    )
    frame = frame.astype({"n": "Int64", "flag": "boolean"})
    for name, value in {"n": 1.0, "flag": 1.0, "day": 2.0}.items():
        np.testing.assert_array_equal(analyses.numbers(frame[name]), [value, np.nan])


def test_texts_become_a_variable_for_each_level_but_the_first():
    frame = pd.DataFrame({"x": ["a", "b", "c", None], "n": [1, 2, 3, 4]})
    names, values = analyses.design(frame, {"x": ["a", "b", "c"]})
    assert names == ("intercept", "x=b", "x=c", "n")
    np.testing.assert_array_equal(values[:, 1:3], [[0, 0], [1, 0], [0, 1], [np.nan, np.nan]])
