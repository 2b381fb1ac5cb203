"""What is asked with places for unread values is answered without them; nothing but noise leaves no
trace.
"""

import itertools

import numpy as np
import pytest

from synthdp.core import Coarsening, LinearMeasurement
from synthdp.learning import FEW_CELLS, MOST_TIMES, Filling, placed_score
from synthdp.privacy import MarginalL1Error
from synthdp.schema import Schema

FIELDS = [
    {
        "name": "status",
        "type": "string",
        "constraints": {"enum": ["dead", "alive"], "required": True},
    },
    {"name": "town", "type": "string", "constraints": {"enum": ["a", "b", "c"]}},
    {
        "name": "job",
        "type": "string",
        "constraints": {"enum": ["x", "y"]},
        "synthdp": {"other": "z"},
    },
]
SCHEMA = Schema.from_dict({"fields": FIELDS})
PLACED = SCHEMA.with_unread_places().domain


def filling():
    return Filling(SCHEMA, PLACED)


def measured(clique, values, stddev=1.0, coarsening=None):
    return LinearMeasurement(clique, np.array(values, dtype=float), stddev, coarsening)


def test_noise_at_a_place_is_cut_off_and_changes_no_other_cell():
    found = filling()
    answer = found.answered(measured(("status",), [30, 970, 2.9]))
    assert answer.values.tolist() == [30, 970]
    assert answer.stddev == 1.0
    assert found.unread["status"].count == 2.9
    assert found.unread["status"].stddev == 1.0


def test_unread_values_lie_as_the_others_of_the_column_do():
    answer = filling().answered(measured(("status",), [20, 580, 400]))
    assert answer.values == pytest.approx([1000 / 30, 1000 - 1000 / 30])
    assert answer.stddev == pytest.approx(1 / 0.6)


def test_they_are_filled_given_the_rest_as_far_as_it_tells():
    values = np.zeros((3, 5))
    values[:2, 0], values[2, 0] = (180, 20), 100  # of town a nine in ten are dead
    values[:2, 1], values[2, 1] = (20, 180), 100
    values[2, 2] = 50  # of town c nothing was read: as all others
    answer = filling().answered(measured(("status", "town"), values))
    assert answer.values.shape == SCHEMA.domain.project(("status", "town")).shape
    assert answer.values[:, 0] == pytest.approx([270, 30], abs=1)
    assert answer.values[:, 1] == pytest.approx([30, 270], abs=1)
    assert answer.values[:, 2] == pytest.approx([25, 25], abs=1)
    assert answer.values.sum() == pytest.approx(values.sum())


def test_levels_that_noise_alone_tells_of_are_not_taken_for_what_the_rest_says():
    """Of a source of which nothing was read the noise in two empty cells must not decide who is
    dead.
    """
    rng = np.random.default_rng(0)
    dead = []
    for _ in range(200):
        values = rng.normal(0, 10.0, (3, 5))
        values[:, 0] += [50, 4950, 0]
        values[2, 1] += 5000
        dead.append(
            filling().answered(measured(("status", "town"), values, 10.0)).values[0, 1] / 5000
        )
    assert max(dead) < 0.05
    assert np.mean(dead) == pytest.approx(0.01, abs=0.01)


def test_all_measurements_together_tell_of_a_place():
    found = filling()
    first = found.answered(measured(("status",), [500, 500, 2.5]))
    assert first.values.sum() == 1000
    second = found.answered(measured(("status",), [500, 500, 4.5]))
    assert second.values.sum() == 1004.5  # 3.5 with a standard deviation of 0.71
    assert found.unread["status"].count == pytest.approx(3.5)
    assert found.unread["status"].stddev == pytest.approx(0.5**0.5)


def test_coarser_levels_are_filled_as_well_and_stay_the_mechanisms_own():
    own = Coarsening({"town": np.array([0, 0, 1, 2])})
    found = filling()
    asked = found.question(("town",), own)
    assert asked.groups["town"].tolist() == [0, 0, 1, 2, 3]
    answer = found.answered(measured(("town",), [600, 200, 0, 200], coarsening=asked))
    assert answer.values == pytest.approx([750, 250, 0])
    assert answer.groups["town"].tolist() == [0, 0, 1, 2]
    answer.check_fits(SCHEMA.domain)


def test_what_was_not_asked_for_by_levels_has_no_place():
    found = filling()
    assert found.question(("job",), None) is None
    assert found.answered(measured(("job",), [1, 2, 3, 4])).values.tolist() == [1, 2, 3, 4]
    assert found.answered(measured((), 10.0)).values == 10.0


@pytest.mark.parametrize("n_columns", range(1, 12))
def test_a_marginal_of_many_small_columns_does_not_grow_beyond_bounds(n_columns):
    """Whose unread values are counted with a level there, and taken off it by what is known of
    them.
    """
    fields = [
        {"name": f"c{i}", "type": "boolean", "constraints": {"required": True}}
        for i in range(n_columns)
    ]
    schema = Schema.from_dict({"fields": fields})
    found = Filling(schema, schema.with_unread_places().domain)
    asked = found.question(schema.names, None)
    cells = (asked.domain(found.placed) if asked else found.placed).size()
    assert cells <= max(MOST_TIMES * 2**n_columns, FEW_CELLS)
    assert found.question(schema.names, None) is None or n_columns > 6
    for name in schema.names:
        found.answered(measured((name,), [540, 60, 400]))
    values = np.zeros((asked.domain(found.placed) if asked else found.placed).shape)
    merged = asked.groups if asked else {}
    for codes in itertools.product(*([(0, 0.54), (1, 0.06), (2, 0.4)] for _ in schema.names)):
        place = tuple(
            merged.get(name, np.arange(3))[code]
            for name, (code, _) in zip(schema.names, codes, strict=True)
        )
        values[place] += 1000 * np.prod([share for _, share in codes])
    answer = found.answered(LinearMeasurement(schema.names, values, 1e-3, asked))
    answer.check_fits(schema.domain)
    for axis in range(n_columns):
        rest = tuple(other for other in range(n_columns) if other != axis)
        assert answer.values.sum(axis=rest) == pytest.approx([900, 100], rel=0.02)


@pytest.mark.parametrize("is_wide", [True, False])
def test_errors_of_estimates_are_those_of_what_was_read(is_wide):
    """A model that is right has no error, however many values were not read."""
    fields = [
        {"name": f"c{i}", "type": "boolean", "constraints": {"required": True}}
        for i in range(8 if is_wide else 2)
    ]
    schema = Schema.from_dict({"fields": fields})
    found = Filling(schema, schema.with_unread_places().domain)
    found.answered(measured(("c0",), [540, 60, 400]))
    clique = schema.names
    model = np.full([2] * len(clique), 1000 / 2 ** (len(clique) - 1))
    model[0] *= 0.9
    model[1] *= 0.1
    score = placed_score(found, MarginalL1Error({clique: model}))
    unread = 0.4 * model.sum(axis=0)
    counts = np.zeros([3] * len(clique))
    counts[tuple(slice(2) for _ in clique)] = 0.6 * model
    counts[(2, *(slice(2) for _ in clique[1:]))] = unread
    if score.coarsening is not None:
        counts = score.coarsening.apply(clique, counts)
    assert score.shape(clique) == counts.shape
    assert score.error(clique, np.rint(counts).astype(np.int64)) / 2**10 < 130 * is_wide + 1
    assert (score.coarsening is not None) == is_wide


def test_questions_are_the_same_for_any_answers():
    """What is asked follows from the domain; how answers are filled follows from answers."""
    one, other = filling(), filling()
    one.answered(measured(("status",), [20, 580, 400]))
    for clique in (("status",), ("status", "town"), ("town", "job", "status")):
        assert one.question(clique, None) == other.question(clique, None)


def test_a_merging_of_other_columns_has_places_too():
    """Scores whose own columns have no place are over a domain in which others have one."""
    placed = SCHEMA.with_unread_places(["town"]).domain
    n_towns = SCHEMA.domain["town"]
    assert placed["town"] == n_towns + 1
    merging = Coarsening({"town": np.minimum(np.arange(n_towns), 1)})
    estimate = np.ones(SCHEMA.domain.project(("status", "job")).shape)
    score = MarginalL1Error({("status", "job"): estimate}, merging)
    asked = placed_score(Filling(SCHEMA, placed), score)
    assert asked.shape(("status", "job")) == estimate.shape
    assert asked.coarsening.domain(placed)["town"] == 3  # two groups, and the place


AGE = {
    "name": "age",
    "type": "integer",
    "constraints": {"minimum": 0, "maximum": 29},
    "synthdp": {"bins": 3},
}
AGES = Schema.from_dict({"fields": [FIELDS[0], AGE]})
"""A required status of two levels, and of an age three bins, "missing", below, above and not read."""


def of_ages():
    return Filling(AGES, AGES.with_all_places().domain)


def test_values_beyond_bounds_are_told_apart_in_marginals_of_one_column_only():
    found = of_ages()
    assert found.question(("age",), None) is None
    merged = Coarsening({"age": np.array([0, 0, 1, 1])})
    assert found.question(("age",), merged).groups["age"].tolist() == [0, 0, 1, 1, 2, 3, 4]
    pair = found.question(("age", "status"), None).groups
    assert {name: groups.tolist() for name, groups in pair.items()} == {
        "age": [0, 1, 2, 3, 0, 2, 4]
    }
    pair = found.question(("age", "status"), merged).groups
    assert pair["age"].tolist() == [0, 0, 1, 1, 0, 1, 2]


@pytest.mark.parametrize("merged", [None, Coarsening({"age": np.array([0, 0, 1, 1])})])
def test_noise_beyond_bounds_is_cut_off_and_changes_no_cell(merged):
    inside = [30.0, 970, 12, 4] if merged is None else [1000.0, 16]
    found = of_ages()
    asked = found.question(("age",), merged)
    answer = found.answered(measured(("age",), [*inside, 2.9, -5, 1], coarsening=asked))
    assert answer.values.tolist() == inside
    assert answer.stddev == 1.0
    assert answer.groups.get("age", np.arange(4)).tolist() == (
        [0, 1, 2, 3] if merged is None else [0, 0, 1, 1]
    )
    beyond = found.unread["age"].beyond
    assert (beyond.below, beyond.above, beyond.stddev) == (2.9, -5, 1.0)


@pytest.mark.parametrize("merged", [None, Coarsening({"age": np.array([0, 0, 1, 1])})])
def test_what_stands_clear_beyond_bounds_is_clipped_with_its_noise(merged):
    inside = [30.0, 970, 12, 4] if merged is None else [1000.0, 16]
    found = of_ages()
    asked = found.question(("age",), merged)
    answer = found.answered(measured(("age",), [*inside, 2.9, 500, 1], coarsening=asked))
    last = 2 if merged is None else 1
    assert answer.values.tolist() == [
        count + 500 * (cell == last) for cell, count in enumerate(inside)
    ]
    expected = [1.0] * len(inside)
    expected[last] = np.sqrt(2)
    assert answer.stddev == pytest.approx(np.array(expected))
    assert answer.values.sum() == sum(inside) + 500
    assert found.unread["age"].total == sum(inside) + 500 + 2.9 + 1


def test_numbers_beyond_bounds_are_averaged_by_precision():
    found = of_ages()
    found.answered(measured(("age",), [0, 0, 0, 0, 100, 0, 0], 3.0))
    found.answered(measured(("age",), [0, 0, 0, 0, 110, 0, 0], 1.0))
    beyond = found.unread["age"].beyond
    assert (beyond.below, beyond.stddev) == (pytest.approx(109), pytest.approx(np.sqrt(0.9)))


def test_marginals_of_several_columns_are_as_if_there_were_no_such_places():
    values = np.arange(15.0).reshape(5, 3)
    with_ends, without = of_ages(), Filling(AGES, AGES.with_unread_places().domain)
    answers = [
        each.answered(
            measured(("age", "status"), values, coarsening=each.question(("age", "status"), None))
        )
        for each in (with_ends, without)
    ]
    assert answers[0].values.tolist() == answers[1].values.tolist()
    assert answers[0].coarsening is None
    assert answers[0].stddev == answers[1].stddev


def test_scores_count_what_is_beyond_bounds_in_the_outermost_bins():
    estimates = {("age",): np.array([5.0, 1, 2, 0]), ("age", "status"): np.ones((4, 2))}
    placed = placed_score(of_ages(), MarginalL1Error(estimates))
    assert placed.coarsening.groups["age"].tolist() == [0, 1, 2, 3, 0, 2, 4]
    assert placed.estimates["age",].tolist() == [5, 1, 2, 0, 0]
