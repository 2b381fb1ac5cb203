"""``synthdp sample`` of long tables: block by block, in parts, and nothing left of what was
stopped.
"""

import json

import pandas as pd
import pytest
from helpers.cli_runs import (
    FIELDS,
    assert_one_line,
    invoke,
    names_in,
    saved_model,
    write,
)
from helpers.homes import home
from pyarrow.parquet import ParquetFile

from synthdp.cli.shared import outputs
from synthdp.release import arrow_batches

batches = home(arrow_batches)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A saved model whose table has ids."""
    folder = tmp_path_factory.mktemp("model")
    ids = {"name": "id", "type": "integer", "synthdp": {"kind": "id"}}
    return saved_model(folder, [*FIELDS, ids])


@pytest.fixture
def place(model, tmp_path, monkeypatch):
    write(tmp_path / "m.synthdp", model)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(batches, "BLOCK_ROWS", 100)
    monkeypatch.setattr(outputs, "MAX_ROWS_AT_ONCE", 300)
    return tmp_path


def sample(*options, output="out.csv"):
    return invoke("sample", "m.synthdp", "-o", output, *options)


def read(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def test_a_long_table_is_the_same_in_parts(place):
    assert sample("--rows", 450, "--seed", 7).code == 0
    for number, offset in enumerate((0, 130, 260, 390)):
        options = ("--rows", min(130, 450 - offset), "--seed", 7, "--offset", offset)
        assert sample(*options, output=f"part{number}.csv").code == 0
    parts = pd.concat([read(f"part{number}.csv") for number in range(4)], ignore_index=True)
    pd.testing.assert_frame_equal(parts, read("out.csv"))
    assert parts["id"].tolist() == [str(number) for number in range(1, 451)]
    assert "part3.csv.privacy.json" in names_in(place)


@pytest.mark.usefixtures("place")
def test_a_parquet_file_of_blocks_reads_as_one_that_was_drawn_at_once():
    assert sample("--rows", 450, "--seed", 7, output="long.parquet").code == 0
    assert sample("--rows", 300, "--seed", 7, output="short.parquet").code == 0
    long, short = pd.read_parquet("long.parquet"), pd.read_parquet("short.parquet")
    assert len(long) == 450
    assert long.dtypes.to_dict() == short.dtypes.to_dict()
    texts = sample("--rows", 450, "--seed", 7)
    assert texts.code == 0
    assert read("out.csv")["id"].astype(int).tolist() == long["id"].tolist()
    for name in ("town", "code"):
        assert (read("out.csv")[name] == long[name].fillna("").astype(str)).all()
    columns = map(ParquetFile("long.parquet").metadata.row_group(0).column, range(long.shape[1]))
    has_limits = {column.path_in_schema: column.is_stats_set for column in columns}
    assert has_limits["id"]
    assert not has_limits["town"]  # to look for them takes longer than to write the texts


def test_a_long_table_goes_to_standard_output(place):
    done = sample("--rows", 450, "--seed", 7, output="-")
    assert done.code == 0
    assert sample("--rows", 450, "--seed", 7).code == 0
    assert done.out == (place / "out.csv").read_bytes()
    assert "guarantee" in json.loads(done.err.splitlines()[0])


@pytest.mark.parametrize(
    ("options", "output", "said"),
    [
        (("--rows", 5, "--jobs", 0), "out.csv", "--jobs"),
        (("--rows", 5, "--jobs", -2), "out.csv", "--jobs"),
        (("--rows", 5, "--offset", 9), "out.csv", "--seed"),
        (("--seed", 5, "--offset", 9), "out.csv", "--rows"),
        (("--rows", 5, "--seed", 5, "--offset", 9), "out.xlsx", "Excel"),
        (("--rows", 5, "--seed", 5, "--offset", 10**16), "out.csv", "offset"),
    ],
)
def test_a_part_that_cannot_be_meant_is_refused(place, options, output, said):
    done = sample(*options, output=output)
    assert_one_line(done, 2)
    assert said in done.err
    assert names_in(place) == ["m.synthdp"]


def test_what_is_stopped_leaves_nothing(place, monkeypatch):
    draw, seen = batches.drawn_table, []

    def stopped(*args, **options):
        seen.append(1)
        if len(seen) > 2:
            raise KeyboardInterrupt
        return draw(*args, **options)

    monkeypatch.setattr(batches, "drawn_table", stopped)
    assert sample("--rows", 450, "--seed", 7).code == 130
    assert names_in(place) == ["m.synthdp"]
