"""Workload error against definitions written out."""

from itertools import combinations

import numpy as np
import pytest

from synthdp.core import ParameterError
from synthdp.report import total_variation, workload_error


def test_total_variation_is_the_largest_difference_of_probabilities_of_an_event():
    generator = np.random.default_rng(0)
    for _ in range(20):
        left, right = generator.integers(0, 9, (2, 6)) + [[1], [0]] * np.eye(6, dtype=int)[0]
        p, q = left / left.sum(), right / max(right.sum(), 1)
        if right.sum() == 0:
            continue
        events = (list(event) for k in range(7) for event in combinations(range(6), k))
        assert total_variation(left, right) == pytest.approx(
            max(abs(p[e].sum() - q[e].sum()) for e in events)
        )


def test_total_variation_of_empty_tables():
    empty, full = np.zeros(3), np.ones(3)
    assert total_variation(empty, full) == total_variation(full, empty) == 1.0
    assert total_variation(empty, empty) == 0.0


def test_workload_error_is_the_mean():
    truth = {("a",): np.array([1, 1]), ("b",): np.array([1, 0])}
    other = {("a",): np.array([1, 0]), ("b",): np.array([5, 0])}
    assert workload_error(truth.__getitem__, other.__getitem__, list(truth)) == 0.25
    with pytest.raises(ParameterError, match="workload: it is empty"):
        workload_error(truth.__getitem__, other.__getitem__, [])
