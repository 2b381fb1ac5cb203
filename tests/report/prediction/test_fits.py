"""Fits, propensity and overlaps against scikit-learn, numpy and simulations."""

import numpy as np
import pytest
from helpers.evaluations import people, read
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from synthdp.report import (
    Design,
    Target,
    chosen_targets,
    compared_coefficients,
    independent_terms,
    interval_overlap,
    least_squares,
    logistic,
    main_effects,
    predictors,
    propensity_scores,
    suitable,
)


def design_of(table, target="job"):
    matrix = Design.from_table(table, predictors(table, target)).matrix(table)
    return matrix[:, independent_terms(matrix)]


def test_least_squares_is_numpys_with_the_usual_errors():
    table = read(people(300))
    matrix, outcome = design_of(table).toarray(), np.random.default_rng(0).normal(size=300)
    fit = least_squares(csr_array(matrix), outcome)
    expected, residuals, *_ = np.linalg.lstsq(matrix, outcome, rcond=None)
    assert fit.coefficients == pytest.approx(expected, abs=1e-6)
    variance = residuals[0] / (300 - matrix.shape[1])
    assert fit.errors == pytest.approx(
        np.sqrt(np.diag(variance * np.linalg.inv(matrix.T @ matrix))), rel=1e-6
    )


def test_logistic_regression_is_scikit_learns():
    table = read(people(400))
    matrix, outcome = design_of(table), table["job"] == 1
    fit = logistic(matrix, outcome)
    other = LogisticRegression(C=1e9, tol=1e-9, max_iter=1000).fit(matrix[:, 1:].toarray(), outcome)
    assert fit.coefficients == pytest.approx([*other.intercept_, *other.coef_[0]], abs=2e-3)
    chances = other.predict_proba(matrix[:, 1:].toarray())[:, 1]
    information = matrix.T @ (matrix.toarray() * (chances * (1 - chances))[:, None])
    assert fit.errors == pytest.approx(np.sqrt(np.diag(np.linalg.inv(information))), rel=1e-3)


def test_separated_classes_end_with_finite_coefficients():
    matrix = csr_array(np.column_stack([np.ones(40), np.repeat([0.0, 1.0], 20)]))
    assert np.isfinite(logistic(matrix, np.repeat([0.0, 1.0], 20)).coefficients).all()


def test_terms_that_follow_from_others_are_left_out():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 50))
    matrix = csr_array(np.column_stack([np.ones(50), one, other, one + other, np.zeros(50)]))
    assert len(independent_terms(matrix)) == 3


def test_rare_levels_share_an_indicator():
    frame = people(500)
    frame.loc[:4, "town"] = "C"
    frame.loc[5:, "town"] = frame.loc[5:, "town"].where(frame.loc[5:, "town"] != "C", "A")
    design = Design.from_table(read(frame), ["town"])
    assert design.terms == ("intercept", "town = B", "town = missing", "town: other levels")
    matrix = design.matrix(read(frame)).toarray()
    assert matrix[:5, 3].tolist() == [1] * 5
    assert matrix.sum(axis=0).tolist() == [
        500, (frame["town"] == "B").sum(), frame["town"].isna().sum(), 5,
    ]  # fmt: skip


def test_propensity_of_a_correct_synthesis_is_about_one_and_of_a_wrong_one_is_not():
    rng = np.random.default_rng(0)
    real = read(people(1500))
    ratios = []
    for _ in range(12):
        pmse, expected = main_effects(real, real.take(rng.integers(1500, size=1000)), rng)
        ratios.append(pmse / expected)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.25)
    moved = people(1000, seed=1)
    moved["job"] = rng.permutation(np.where(np.arange(1000) < 100, "x", "y"))
    scores = propensity_scores(real, read(moved), {("a", "b"): 2.0, ("a", "c"): 4.0}, rng)
    assert scores["s_pmse"].tolist()[:2] == [3.0, 4.0]
    assert scores["s_pmse"].iloc[2] > 10


def test_overlap_by_hand():
    low, high = np.array([0.0, 0.0, 0.0]), np.array([2.0, 1.0, 4.0])
    other = np.array([1.0, 2.0, 1.0]), np.array([3.0, 3.0, 2.0])
    assert interval_overlap((low, high), other).tolist() == [0.5, 0.0, (1 / 4 + 1) / 2]


@pytest.mark.parametrize("name", ["job", "pay"])
def test_coefficients_agree_with_themselves_and_not_with_shuffled_rows(name):
    frame = people(1500)
    real, rng = read(frame), np.random.default_rng(0)
    (target,), _ = chosen_targets(real, name)
    same = compared_coefficients(real, real, target, rng)
    assert same["overlap"].min() == pytest.approx(1.0)
    assert "intercept" not in set(same["term"])
    shuffled = read(frame.assign(**{name: rng.permutation(frame[name].to_numpy())}))
    assert compared_coefficients(real, shuffled, target, rng)["overlap"].min() == 0.0


def test_targets():
    real = read(people(500))
    assert suitable(real, "pay") == Target("pay")
    assert suitable(real, "job") == Target("job", (0, 1))
    assert suitable(real, "town") == Target("town", (0, 1, 2))
    assert "is a date" in suitable(real, "born")
    assert "1 level of at least 10" in suitable(read(people(500).assign(job="x")), "job")
    assert "fewer than 50" in suitable(read(people(40)), "pay")
    assert "0 levels of at least 10" in suitable(read(people(500).assign(pay=np.nan)), "pay")
    chosen, notes = chosen_targets(real, None)
    assert [target.name for target in chosen] == ["job", "pay", "age"]
    assert "3 of 4 suitable" in notes[0]
    assert len(chosen_targets(real, "all")[0]) == 4
