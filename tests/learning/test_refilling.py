"""Unread values that lie otherwise than what was read lie so in all marginals of their column."""

import numpy as np
import pytest

from synthdp.core import Coarsening, LinearMeasurement
from synthdp.learning import Filling, refilled
from synthdp.schema import Schema

FIELDS = [
    {"name": name, "type": "string", "constraints": {"enum": ["x", "y"], "required": True}}
    for name in "abc"
]
SCHEMA = Schema.from_dict({"fields": FIELDS})
PLACED = SCHEMA.with_unread_places().domain

OF_U, OF_V = np.array([2250.0, 250, 7500]), np.array([950.0, 8550, 500])
"""By a: where b is x most are unread, nine in ten of them x; where it is y few, and one in ten."""


def pair(of_x, of_y):
    """Counts of a and b, by what a is where b is x and where it is y; b is always read."""
    return np.stack([of_x, of_y, np.zeros(3)], axis=1)


def both(measured):
    """The measurements filled each by itself, and all together."""
    filling = Filling(SCHEMA, PLACED)
    answers = [filling.answered(each) for each in measured]
    return answers, refilled(filling, measured, answers)


def noisy(clique, counts, stddev=1.0, rng=None):
    noise = 0.0 if rng is None else rng.normal(0.0, stddev, counts.shape)
    return LinearMeasurement(clique, counts + noise, stddev)


def test_a_column_whose_gaps_hang_on_another_is_filled_the_same_everywhere():
    a, ab = noisy(("a",), OF_U + OF_V), noisy(("a", "b"), pair(OF_U, OF_V))
    ac = noisy(("a", "c"), np.stack([OF_U + OF_V, OF_U + OF_V, np.zeros(3)], axis=1) / 2)
    alone, found = both([a, ac, ab])
    assert alone[0].values[0] == pytest.approx(5333, abs=1), "as what was read lies"
    for each in found:
        assert each.values.sum() == pytest.approx(20_000)
        assert each.values.reshape(2, -1).sum(axis=1)[0] == pytest.approx(10_000, rel=0.01)
    assert found[1].values[0] == pytest.approx([5000, 5000], rel=0.01)
    assert [each.stddev for each in found] == [each.stddev for each in alone]


def test_the_marginal_that_says_most_of_it_tells_however_noisy_others_are():
    rng = np.random.default_rng(0)
    for _ in range(50):
        measured = [
            noisy(("a",), OF_U + OF_V, 20.0, rng),
            noisy(("a", "b"), pair(OF_U, OF_V), 400.0, rng),
            noisy(("a", "b"), pair(OF_U, OF_V), 20.0, rng),
        ]
        _, found = both(measured)
        assert found[0].values[0] == pytest.approx(10_000, abs=500)


def test_nothing_changes_where_gaps_hang_on_nothing_but_noise():
    rng = np.random.default_rng(1)
    n_changed = 0
    for _ in range(300):
        of_x, of_y = np.array([400.0, 500, 100]), np.array([1600.0, 2000, 400])
        measured = [
            noisy(("a",), of_x + of_y, 30.0, rng),
            noisy(("a", "b"), pair(of_x, of_y), 30.0, rng),
        ]
        alone, found = both(measured)
        for one, other in zip(alone, found, strict=True):
            n_changed += not np.array_equal(one.values, other.values)
            assert other.values == pytest.approx(one.values, abs=150)
    assert n_changed < 300 * 2 * 0.02


def test_nothing_changes_by_which_records_a_sample_happens_to_have():
    """With little noise it is chance alone that says how unread values lie in many small cells."""
    rng = np.random.default_rng(2)
    shares = np.array([0.3, 0.5, 0.2])
    fields = [FIELDS[0], FIELDS[1] | {"constraints": {"enum": [*"0123456789"], "required": True}}]
    schema = Schema.from_dict({"fields": fields})
    n_changed = 0
    for _ in range(100):
        of_b = rng.multinomial(600, rng.dirichlet(np.ones(10)))
        counts = np.stack([*(rng.multinomial(n, shares) for n in of_b), np.zeros(3)], axis=1)
        measured = [noisy(("a",), counts.sum(axis=1), 0.1), noisy(("a", "b"), counts, 0.1)]
        filling = Filling(schema, schema.with_unread_places().domain)
        answers = [filling.answered(each) for each in measured]
        found = refilled(filling, measured, answers)
        n_changed += any(
            not np.array_equal(one.values, other.values)
            for one, other in zip(answers, found, strict=True)
        )
    assert n_changed <= 2


def test_merged_levels_get_what_their_levels_sum_to():
    levels = {"constraints": {"enum": ["x", "y", "z"], "required": True}}
    schema = Schema.from_dict({"fields": [FIELDS[0] | levels, FIELDS[1]]})
    merging = Coarsening({"a": np.array([0, 1, 1])})
    filling = Filling(schema, schema.with_unread_places().domain)
    of_u, of_v = np.array([2250.0, 100, 150, 7500]), np.array([950.0, 4000, 4550, 500])
    cells = np.stack([of_u, of_v, np.zeros(4)], axis=1)
    asked = filling.question(("a",), merging)
    coarse = np.array([3200.0, 8800, 8000])
    measured = [LinearMeasurement(("a",), coarse, 1.0, asked), noisy(("a", "b"), cells)]
    found = refilled(filling, measured, [filling.answered(each) for each in measured])
    assert found[0].values == pytest.approx([10_000, 10_000], rel=0.01)
    assert found[0].groups["a"].tolist() == [0, 1, 1]


def test_answers_without_places_stay_as_they_are():
    a, ab = noisy(("a",), OF_U + OF_V), noisy(("a", "b"), pair(OF_U, OF_V))
    plain = LinearMeasurement(("a",), [10.0, 20.0], 1.0)
    filling = Filling(SCHEMA, PLACED)
    answers = [filling.answered(a), plain, filling.answered(ab)]
    assert refilled(filling, [a, None, ab], answers)[1] is plain
