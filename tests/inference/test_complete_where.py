"""Completing records inside a slice, against the conditional distribution, rare slices and
contradictions included.
"""

import numpy as np
import pytest

from synthdp.core import Constraint, Domain, LinearMeasurement, ParameterError
from synthdp.inference.complete_where import complete_where
from synthdp.release import engine_named

DOMAIN = Domain(("a", "b", "c"), (2, 3, 2))
TOGETHER = np.array([[60.0, 30.0, 10.0], [1.0, 9.0, 90.0]])
GIVEN = {"a": np.repeat([0, 1], 3000)}


def model_of(name="graphical-model", together=TOGETHER, constraints=()):
    counts = [
        LinearMeasurement(("a", "b"), together, 0.01),
        LinearMeasurement(("c",), np.array([50.0, 150.0]), 0.01),
    ]
    return engine_named(name).estimate(DOMAIN, counts, constraints=constraints)


@pytest.mark.parametrize(
    "name", ["graphical-model", "local-consistency", "gum", "mixture-of-products"]
)
@pytest.mark.parametrize("weights", [[1.0, 1.0, 0.0], [1.0, 0.25, 0.0]], ids=str)
def test_records_are_completed_by_their_distribution_inside_the_slice(name, weights):
    model = model_of(name)
    columns = complete_where(model, GIVEN, {"b": np.array(weights)}, seed=1)
    assert (columns[0] == GIVEN["a"]).all()
    for a in (0, 1):
        inside = model.marginal(("a", "b")).values[a] * weights
        found = np.bincount(columns[1][GIVEN["a"] == a], minlength=3)
        assert found[2] == 0
        assert found / 3000 == pytest.approx(inside / inside.sum(), abs=0.06)
    again = complete_where(model, GIVEN, {"b": np.array(weights)}, seed=1)
    assert all((x == y).all() for x, y in zip(columns, again, strict=True))


@pytest.mark.parametrize("name", ["graphical-model", "gum"])
def test_slices_that_no_drawing_again_would_meet_are_drawn_from(name):
    together = np.array([[1e7, 30.0, 0.01], [9.0, 1.0, 1e7]])
    model = model_of(name, together)
    columns = complete_where(
        model, GIVEN, {"b": np.array([False, True, False]), "c": np.array([1.0, 1e-9])}, seed=1
    )
    assert (columns[0] == GIVEN["a"]).all()
    assert (columns[1] == 1).all()
    assert columns[2].mean() < 0.01


def test_a_record_that_contradicts_the_slice_is_refused():
    allowed = np.ones((2, 3), dtype=bool)
    allowed[0, 2] = False
    model = model_of(constraints=[Constraint(("a", "b"), allowed)])
    with pytest.raises(ParameterError, match="contradicts"):
        complete_where(model, GIVEN, {"b": np.array([False, False, True])}, seed=1)


def test_no_records_are_no_reason_to_fail():
    empty = {"a": np.empty(0, dtype=np.int64)}
    assert [
        len(column) for column in complete_where(model_of(), empty, {"b": np.array([1, 0, 0])})
    ] == [0, 0, 0]
