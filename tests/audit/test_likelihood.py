"""Likelihood ratios of the kernel's answers, against probabilities worked out another way."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.tables import DOMAIN, MERGING, ROWS, private
from helpers.values import Silent
from oracles.privacy import ArraySource, Seeded
from scipy import stats

from synthdp.audit import CERTAIN, Frequent, Histogram, Measure, Scores, Select, Values
from synthdp.core import Grid
from synthdp.privacy import (
    FrequentValues,
    HistogramEvent,
    MarginalL1Error,
    NoisyHistogram,
    PartitionEvent,
    value_weights,
)

OTHER = [*ROWS, (2, 1, 3)]
ESTIMATES = {
    ("a",): np.array([1.0, 0, 1]),
    ("b",): np.array([3.0, 1.0]),
    ("a", "c"): np.full((3, 4), 0.3),
}
WEIGHTS = {("a",): 1.0, ("b",): 0.3, ("a", "c"): 2.5}
SCORE = MarginalL1Error(
    ESTIMATES, weights=WEIGHTS, penalties={("a",): 0.1, ("b",): 2.0, ("a", "c"): -7.0}
)


def asked(question):
    """The event, the answer, and the exact answers of the two tables."""
    table = private(randomness=Seeded(3))
    answer = question.ask(table)
    return (
        table.ledger.events[-1],
        answer,
        *(question.exact(ArraySource(DOMAIN, rows)) for rows in (ROWS, OTHER)),
    )


def by_density(noisy, one, other, sigma_squared):
    """Log ratio of the probabilities of rounded Gaussian noise."""
    sigma = float(sigma_squared) ** 0.5
    logs = [np.log(stats.norm.cdf(noisy - e + 0.5, scale=sigma) - stats.norm.cdf(noisy - e - 0.5, scale=sigma)).sum()
            for e in (one, other)]  # fmt: skip
    return logs[1] - logs[0]


@pytest.mark.parametrize("coarsening", [None, MERGING])
def test_ratio_of_a_marginal(coarsening):
    question = Measure(clique=("a", "c"), rho=Fraction(1, 50), coarsening=coarsening)
    event, answer, one, other = asked(question)
    assert np.abs(other - one).sum() == 1
    found = question.log_ratio(event, answer, one, other)
    assert found == pytest.approx(
        by_density(answer.values.ravel(), one, other, event.sigma_squared), rel=0.02
    )
    assert question.log_ratio(None, answer, one, other) == pytest.approx(
        found, rel=0.02
    )  # by the stated scale


def test_ratio_of_scores():
    question = Scores(candidates=list(ESTIMATES), score=SCORE, rho=Fraction(1, 50))
    event, answer, one, other = asked(question)
    noisy = question.numbers(answer)
    assert {
        clique: SCORE.noisy(clique, int(n)) for clique, n in zip(ESTIMATES, noisy, strict=True)
    } == answer
    ratio = question.log_ratio(event, answer, one, other)
    assert ratio == pytest.approx(by_density(noisy, one, other, event.sigma_squared), rel=0.02)


def test_ratio_of_a_selection():
    question = Select(candidates=list(ESTIMATES), score=SCORE, rho=Fraction(1, 8))
    event, answer, one, other = asked(question)
    assert float(event.epsilon) == pytest.approx(1)
    chances = []
    for exact in (one, other):
        weights = np.exp(
            np.array(exact, dtype=float) / 2**26 / (2 * 2.5)
        )  # the largest weight is the sensitivity
        chances.append(dict(zip(ESTIMATES, weights / weights.sum(), strict=True))[answer])
    assert question.log_ratio(event, answer, one, other) == pytest.approx(
        np.log(chances[1] / chances[0])
    )


def test_ratio_of_a_histogram():
    event = HistogramEvent(
        column="x", of="values", n_cells=4, sigma_squared=Fraction(9), sensitivity_squared=1
    )
    answer = NoisyHistogram(np.array([0, 5]), 2.0, -3.0, np.array([7.0, 1.0]), 3.0)
    question = Histogram(grid=Grid(column="x"), starts=answer.starts, rho=Fraction(1, 18))
    one, other = np.array([0, 0, 5, 5]), np.array([0, 0, 5, 6])
    expected = by_density(np.array([2.0, -3, 7, 1]), one, other, 9)
    assert question.log_ratio(event, answer, one, other) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("most_values", [1, 4])
@pytest.mark.parametrize("released", [{"a": 50.0, "b": 31.0}, {"a": 50.0}, {}])
def test_ratio_of_frequent_values(released, most_values):
    weight = value_weights(most_values)[0]
    event = PartitionEvent(
        column="x", of="values", sigma_squared=Fraction(25 * weight**2),
        sensitivity_squared=weight**2, threshold=30 * weight,
        failure_probability=Fraction(1, 10**6), most_values=most_values,
    )  # fmt: skip
    one, other = (
        Values({value: count * weight for value, count in counts.items()}, 3 * weight)
        for counts in ({"a": 45, "b": 29}, {"a": 45, "b": 30, "c": 1})
    )
    question = Frequent(grid=Grid(column="x"), rho=Fraction(1, 50), delta=event.delta)
    ratio = question.log_ratio(event, FrequentValues(released, 4.0, 5.0, 30), one, other)
    limit = 30 - 0.5 / weight
    below = stats.norm.logcdf((limit - np.array([29, 30])) / 5)
    expected = by_density(np.array([released["b"]]), np.array([29]), np.array([30]), 25) if "b" in released else (
        below[1] - below[0]
    )  # fmt: skip
    assert ratio == pytest.approx(expected + stats.norm.logcdf((limit - 1) / 5), rel=0.03)
    seen = question.log_ratio(
        event, FrequentValues(released | {"c": 31.0}, 4.0, 5.0, 30), one, other
    )
    assert seen > CERTAIN - 5
    # A missing record more, and nothing else.
    moved = question.log_ratio(
        event,
        FrequentValues({}, 4.0, 5.0, 30),
        Values({}, 3 * weight),
        Values({}, 4 * weight),
    )
    assert moved == pytest.approx(by_density(*map(np.array, ([4.0], [3], [4])), 25), rel=0.02)


def test_the_expected_answer_of_weighted_counts_is_in_records():
    event = PartitionEvent(
        column="x", of="values", sigma_squared=Fraction(1), sensitivity_squared=1024**2,
        threshold=30 * 1024, failure_probability=Fraction(1, 10**6), most_values=4,
    )  # fmt: skip
    question = Frequent(grid=Grid(column="x"), rho=Fraction(1, 50), delta=event.delta)
    exact = Values({"a": 45 * 1024, "b": 29 * 1024}, 3 * 1024)
    found, missing = question.expected(event, exact, Silent())
    assert found == {"a": 45.0}
    assert missing == 3.0


@pytest.mark.parametrize(("delta", "is_too_little"), [(1.4e-5, False), (1.3e-5, True)])
def test_values_of_one_record_alone_may_pass_with_the_declared_probability_together(
    delta, is_too_little
):
    weight = value_weights(4)[3]
    event = PartitionEvent(
        column="x", of="values", sigma_squared=Fraction(1 << 20), sensitivity_squared=1 << 20,
        threshold=5 << 10, failure_probability=Fraction(delta), most_values=4,
    )  # fmt: skip
    assert 1.3e-5 < 4 * stats.norm.sf(5 - 0.5) < 1.4e-5
    question = Frequent(grid=Grid(column="x"), rho=Fraction(1, 2), delta=event.delta)
    own, nothing = Values(dict.fromkeys("abcd", weight), 0), Values({}, 0)
    for one, other in ((own, nothing), (nothing, own)):
        found = [*question.excess(event, one, other)]
        assert [each.startswith("a value of one unit passes") for each in found] == (
            [True] if is_too_little else []
        )
