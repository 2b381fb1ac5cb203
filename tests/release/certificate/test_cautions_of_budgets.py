"""What a release says of a budget that protects little, or that leaves next to nothing to be known."""

import numpy as np
import pandas as pd
import pytest
from oracles.privacy import Seeded

import synthdp
from synthdp.core import CLEAR_TOTAL, LinearMeasurement, ParameterError, clear_total, estimate_total
from synthdp.data import held_rows
from synthdp.release import UNKNOWN_ROWS, Release, RunSettings, cautions
from synthdp.schema import OpenSchema

FRAME = pd.DataFrame({"a": [0, 1] * 500, "b": [0, 1, 2, 0] * 250, "person": range(1000)})
SIZES = {"a": 2, "b": 3}


def released(epsilon, delta=1e-9, rows=FRAME, **more):
    return synthdp.synthesize(
        rows.drop(columns="person"), SIZES, epsilon=epsilon, delta=delta, **more
    )


def said(**given):
    return [text.split(",")[0].split(":")[0] for text in cautions(**given)]


@pytest.mark.parametrize(
    ("epsilon", "delta", "n_rows", "expected"),
    [
        (10, 1e-4, None, []),
        (10.5, 1e-4, None, ["epsilon is 10.5"]),
        (1e6, 0.5, None, ["epsilon is 1000000", "delta is 0.5"]),
        (1, 1e-5, 10_000, []),
        (1, 1.1e-5, 10_000, ["delta is 1.1e-05"]),
        (1, 1e-9, 10**8 + 10, ["delta is 1e-09"]),
        (1, 2e-4, 3, ["delta is 0.0002"]),  # however few there are
        (1, 0.5, 0.25, ["delta is 0.5"]),
    ],
)
def test_what_protects_little_is_said(epsilon, delta, n_rows, expected):
    assert said(epsilon=epsilon, delta=delta, n_rows=n_rows) == expected


@pytest.mark.parametrize("n_rows", [1, 7, 5_960, 10**6, 123_456_789])
def test_the_delta_that_is_named_is_a_way_out(n_rows):
    (text,) = cautions(epsilon=1, delta=0.5, n_rows=n_rows)
    most = float(text.split("give ")[1].split(" or less")[0])
    assert min(1e-3, 1e-4 * n_rows) <= most * n_rows <= 1e-2
    assert cautions(epsilon=1, delta=most, n_rows=n_rows) == []


def test_delta_is_held_against_the_noisy_number_of_records():
    (text,) = released(5.0, delta=1e-3).certificate["cautions"]
    number = int(text.split("about ")[1].split(": ")[0].replace(",", ""))
    assert 900 < number < 1100
    assert released(5.0, delta=5e-5).certificate["cautions"] == []


def test_of_persons_there_are_at_least_as_many_as_rows_over_the_most_of_one():
    """5,000 rows of at most 5 a person are 1,000 persons or more: a delta of 9e-5 is small enough
    for so many.
    """
    rows = pd.concat([FRAME] * 5, ignore_index=True)
    persons = {"unit": "person", "max_rows_per_unit": 5}
    schema = OpenSchema.from_dict(SIZES)
    found = [
        synthdp.synthesize(rows, schema, epsilon=8.0, delta=delta, **persons).certificate[
            "cautions"
        ]
        for delta in (9e-5, 1e-3)
    ]
    assert found[0] == []
    number = int(found[1][0].split("who are at least about ")[1].split(": ")[0].replace(",", ""))
    assert 900 < number < 1100


# ---- the number of records


def test_a_total_is_clear_from_four_standard_deviations_on():
    def found(total, stddev):
        counts = np.array([total / 2, total / 2])
        return clear_total(
            [LinearMeasurement(("a",), counts, stddev), LinearMeasurement(("b",), counts, stddev)]
        )

    noise = 10.0  # each sums up two cells, and there are two
    assert found(CLEAR_TOTAL * noise + 1e-6, 10.0) == pytest.approx(CLEAR_TOTAL * noise)
    assert found(CLEAR_TOTAL * noise - 1e-6, 10.0) is None
    assert found(-1e6, 10.0) is None
    assert estimate_total([LinearMeasurement((), np.array(-5.0), 1.0)]) == 1.0


def test_rows_are_not_drawn_where_noise_hides_how_many_there_are():
    synthesis = released(1e-6)
    assert not synthesis.knows_size
    assert UNKNOWN_ROWS in synthesis.certificate["cautions"]
    for given in ({}, {"where": {"a": [0]}}):
        with pytest.raises(ParameterError, match="n_rows: noise hides how many records there are"):
            synthesis.sample(**given)
        assert len(synthesis.sample(7, **given)) == 7
    assert len(synthesis.sample(given={"a": [0, 1]})) == 2


@pytest.mark.parametrize("rows", [0, 1000])
def test_an_empty_table_is_told_apart_by_noisy_counts_only(rows):
    """With the same small budget both are refused, so the refusal tells nothing of which it was."""
    assert not released(1e-4, rows=FRAME.iloc[:rows]).knows_size


@pytest.mark.parametrize("mechanism", ["auto", "mst", "aim"])
def test_ordinary_runs_draw_as_many_rows_as_there_are_about(mechanism):
    """A thousand rows at epsilon .1; how often noise would hide them is far less than once in 1e9."""
    columns = {f"c{i}": 8 for i in range(8)}
    frame = pd.DataFrame({name: np.arange(1000) % 8 for name in columns})
    run = Release(
        schema=OpenSchema.from_dict(columns),
        settings=RunSettings(epsilon=0.1, delta=1e-6, mechanism=mechanism, adjacency="add-remove"),
        randomness=Seeded(5),
    )
    schema = OpenSchema.from_dict(columns)
    synthesis = run.of(held_rows(frame, schema, unit=None, max_rows=1))
    assert synthesis.knows_size
    assert 500 < len(synthesis.sample(seed=1)) < 1500
