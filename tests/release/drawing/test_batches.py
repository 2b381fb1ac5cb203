"""Tables drawn in blocks: the same rows however they are cut, and what holds over all of them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from helpers.homes import home

from synthdp.core import ParameterError
from synthdp.data import CodedSource, encode
from synthdp.release import Release, RunSettings, arrow_batches
from synthdp.schema import Schema

batches = home(arrow_batches)

FIELDS = [
    {"name": "town", "type": "string", "constraints": {"enum": ["A", "B", "C"]}},
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 90}},
    {
        "name": "born",
        "type": "date",
        "constraints": {"minimum": "1990-01-01", "maximum": "2020-12-31"},
    },
    {"name": "code", "type": "integer", "constraints": {"enum": [1, 2], "required": True}},
]
IDS = [
    {"name": "id", "type": "string", "synthdp": {"kind": "id", "pattern": "P{:d}", "start": 7}},
    {"name": "key", "type": "string", "synthdp": {"kind": "id", "pattern": "uuid"}},
]
WITHIN = {"name": "turn", "type": "integer", "synthdp": {"kind": "id", "per": ["town"]}}


def released(*fields):
    schema = Schema.from_dict({"fields": [*FIELDS, *fields]})
    rng = np.random.default_rng(0)
    values = {"town": rng.choice(["A", "A", "B", None], 500), "age": rng.integers(0, 90, 500)}
    values |= {
        "born": [f"{year}-03-05" for year in rng.integers(1990, 2020, 500)],
        "code": rng.integers(1, 3, 500),
    }
    frame = pd.DataFrame(values)
    release = Release(
        schema=schema,
        settings=RunSettings(
            epsilon=9, delta=1e-6, mechanism="independent", adjacency="add-remove"
        ),
    )
    return release.of(CodedSource(encode(frame, schema)))


@pytest.fixture(scope="module")
def synthesis():
    return released(*IDS)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(batches, "BLOCK_ROWS", 100)


def drawn(synthesis, n_rows, batch_rows=64, **options):
    table = synthesis.sample_batches(n_rows, batch_rows, **options).read_all()
    return pd.DataFrame(table.to_pydict(), dtype=object)


def test_rows_of_a_seed_are_the_same_however_they_are_cut(synthesis):
    whole = drawn(synthesis, 550, seed=3)
    assert len(whole) == 550
    for offset, n_rows in ((0, 1), (0, 100), (99, 2), (100, 100), (250, 299), (500, 50), (37, 0)):
        part = drawn(synthesis, n_rows, 1 + n_rows // 3, seed=3, offset=offset)
        pd.testing.assert_frame_equal(part, whole[offset : offset + n_rows].reset_index(drop=True))
    assert (
        not whole[:100]
        .drop(columns="id")
        .equals(whole[100:200].drop(columns="id").reset_index(drop=True))
    )
    assert not drawn(synthesis, 550).equals(drawn(synthesis, 550))


@pytest.mark.parametrize("batch_rows", [1, 64, 100, 7000])
def test_batches_have_the_size_asked_for(synthesis, batch_rows):
    sizes = [batch.num_rows for batch in synthesis.sample_batches(330, batch_rows, seed=0)]
    assert sum(sizes) == 330
    assert all(size == batch_rows for size in sizes[:-1])
    assert 0 < sizes[-1] <= batch_rows


def test_values_are_typed_as_those_of_a_sample(synthesis):
    stream = synthesis.sample_batches(300, seed=0)
    whole = pa.Table.from_pandas(synthesis.sample(300, seed=0), preserve_index=False)
    assert stream.schema.names == whole.schema.names
    assert stream.schema.types == whole.schema.types
    towns = drawn(synthesis, 300, seed=0)["town"]
    assert set(towns.dropna()) <= {"A", "B", "C"}
    assert towns.isna().any()


def test_ids_go_on_from_block_to_block(synthesis):
    whole = drawn(synthesis, 350, seed=0)
    assert whole["id"].tolist() == [f"P{number}" for number in range(7, 357)]
    assert whole["key"].is_unique
    assert drawn(synthesis, 5, seed=0, offset=298)["id"].tolist() == [
        f"P{number}" for number in range(305, 310)
    ]


def test_counts_stay_close_to_the_model(synthesis):
    whole = drawn(synthesis, 5000, seed=0)
    expected = synthesis.model.marginal(("code",)).values
    counts = whole["code"].value_counts().sort_index().to_numpy()
    assert (
        np.abs(counts - 5000 * expected / expected.sum()).max() <= 50
    )  # each of 50 blocks is within one


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_any_number_of_threads_draws_the_same_blocks(n_jobs, synthesis):
    one = synthesis.sample_batches(450, 70, seed=4).read_all()
    assert synthesis.sample_batches(450, 70, seed=4, n_jobs=n_jobs).read_all().equals(one)


def test_a_slice_and_nothing_else(synthesis):
    whole = drawn(
        synthesis, 250, seed=1, where={"town": ["B"], "age": {"minimum": 20, "maximum": 29}}
    )
    assert len(whole) == 250
    assert set(whole["town"]) == {"B"}
    assert whole["age"].between(20, 29).all()


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_are_not_drawn_before_they_are_asked_for(n_jobs, synthesis, monkeypatch):
    done = []
    draw = batches.drawn_table
    monkeypatch.setattr(
        batches, "drawn_table", lambda *args, **options: (done.append(1), draw(*args, **options))[1]
    )
    reader = synthesis.sample_batches(10**12, 50, seed=0, n_jobs=n_jobs)
    for _ in range(4):
        assert reader.read_next_batch().num_rows == 50
    reader.close()
    assert len(done) <= 3 + 2 * n_jobs


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_rows": -1}, "n_rows"),
        ({"n_rows": 2.5}, "n_rows"),
        ({"n_rows": True}, "n_rows"),
        ({"n_rows": 10**16}, "n_rows"),
        ({"n_rows": 5, "offset": -1, "seed": 0}, "offset"),
        ({"n_rows": 5, "offset": 3}, "without a seed"),
        ({"n_rows": 5, "seed": -3}, "seed"),
        ({"n_rows": 5, "batch_rows": 0}, "batch_rows"),
    ],
)
def test_what_cannot_be_meant_is_refused(synthesis, options, said):
    with pytest.raises(ParameterError, match=said):
        synthesis.sample_batches(**options)


def test_ids_numbered_within_others_are_refused():
    with pytest.raises(ParameterError, match="'turn' is numbered within others"):
        released(WITHIN).sample_batches(10)
