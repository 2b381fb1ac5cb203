"""Tables of a package in engines: what is counted of them is what is counted of the same rows in memory,
in whatever order the engine has them, and no root moves it by more than is charged.
"""

import json
from contextlib import ExitStack
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.cli_runs import assert_one_line, invoke
from helpers.engines import ENGINES
from helpers.families import KEY, description, link, random_tables
from helpers.small_packages import (
    largest_move,
    root_keys,
    small_description,
    small_tables,
    without_root,
)

import synthdp
from synthdp.core import ParameterError, SchemaError, SourceError
from synthdp.linked import LinkedRows, LinkedTableReader, Package, views_of
from synthdp.linked.package_run import chunks_of, opened_tables  # deep: what a run reads

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:ibis", "ignore:fetch_arrow_table"
)

BUDGET = {"epsilon": 3.0, "delta": 1e-6, "mechanism": "independent"}
SORTING = [name for name in ENGINES if name != "other"]


def typed(tables):
    """The tables with types that engines have: texts, and missing ones."""
    return {
        name: pl.DataFrame(
            {c: [None if v is None or v != v else str(v) for v in table[c]] for c in table},
            schema=dict.fromkeys(table.columns, pl.String),
        )
        for name, table in tables.items()
    }


def counts_of(found, tables):
    with ExitStack() as stack:
        opened = opened_tables(found, tables, None, stack)
        readers = {table.name: LinkedTableReader(table, hash_key=KEY) for table in found.tables}
        for name, reader in readers.items():
            for chunk in chunks_of(opened[name]):
                reader.add(chunk)
    sources = LinkedRows(found.tables, readers, "home", hash_key=KEY).counted(views_of(found))
    return {
        label: (next(iter(source.counts_of([source.domain.attributes]))), source.max_rows)
        for label, source in sources.items()
    }


@cache
def families(seed=0):
    return typed(random_tables(60, seed))


def in_order(tables):
    """As an engine sorts them: by all columns, missing ones last."""
    return {name: table.sort(table.columns, nulls_last=True) for name, table in tables.items()}


@pytest.mark.parametrize("engine", SORTING)
def test_rows_of_an_engine_are_those_in_memory_in_any_order(engine):
    found = Package.from_dict(description())
    wanted = counts_of(found, in_order(families()))
    for seed in (0, 1):
        mixed = {
            name: t.sample(fraction=1, shuffle=True, seed=seed) for name, t in families().items()
        }
        tables = {name: ENGINES[engine](table) for name, table in mixed.items()}
        for label, (counts, _) in counts_of(found, tables).items():
            assert np.array_equal(counts, wanted[label][0]), (engine, label)
            assert counts.any() or label == "later visits"


@pytest.mark.parametrize("shape", ["pair", "tree", "keyed"])
def test_no_root_in_an_engine_moves_any_count_by_more_than_is_charged(shape):
    worst = 0.0
    for seed in range(4):
        found = Package.from_dict(small_description(np.random.default_rng(seed), shape))
        tables = small_tables(np.random.default_rng(seed), found, keys=("1", "2", "3", None))
        whole = counts_of(found, {name: each.lazy() for name, each in typed(tables).items()})
        for key in sorted(root_keys(found, tables)):
            fewer = typed(without_root(found, tables, key))
            mixed = {
                n: t.sample(fraction=1, shuffle=True, seed=seed).lazy() for n, t in fewer.items()
            }
            worst = max(worst, largest_move(whole, counts_of(found, mixed)))
    assert 0 < worst <= 1


def test_a_package_in_duckdb_is_released_and_evaluated():
    tables = {name: ENGINES["duckdb"](table) for name, table in families().items()}
    content = description()
    synthesis = synthdp.synthesize(tables, content, **BUDGET)
    drawn = synthesis.sample(60, seed=0)
    assert sum(synthdp.evaluate(tables, drawn, content).broken_links.values()) == 0
    assert set(drawn["homes"]["place"]) <= {"town", "land"}


def test_engines_and_columns_that_cannot_be_sorted_or_are_rounded_are_refused_before_a_row_is_read():
    content = description()
    lazy = {name: table.lazy() for name, table in families().items()}
    with pytest.raises(ParameterError, match="nobody knows how it sorts"):
        synthdp.synthesize(
            {**lazy, "pets": ENGINES["other"](families()["pets"])}, content, **BUDGET
        )
    rounded = lazy["homes"].with_columns(pl.col("home").cast(pl.Float64))
    with pytest.raises(
        SchemaError, match="'homes': column 'home' is a key of type Float64 in polars"
    ):
        synthdp.synthesize({**lazy, "homes": rounded}, content, **BUDGET)
    listed = lazy["pets"].with_columns(
        pl.col("kind").map_batches(lambda _: 1 / 0, return_dtype=pl.List(pl.String))
    )
    with pytest.raises(SchemaError, match="'pets': column 'kind' is a column of type"):
        synthdp.synthesize({**lazy, "pets": listed}, content, **BUDGET)
    fewer = lazy["people"].drop("job")
    with pytest.raises(SchemaError, match="job"):
        synthdp.synthesize({**lazy, "people": fewer}, content, **BUDGET)


def persons():
    """Rows of persons on three days, mixed, and what is public of them."""
    ill = np.random.default_rng(0).random(600) < 0.3
    rows = pl.DataFrame(
        {"person": np.repeat(np.arange(200), 3), "day": np.tile([1, 2, 3], 200), "ill": ill}
    )
    bounds = {"minimum": 1, "maximum": 3, "required": True}
    day = {"name": "day", "type": "integer", "constraints": bounds}
    schema = {"fields": [day, {"name": "ill", "type": "boolean"}]}
    return rows.sample(fraction=1, shuffle=True, seed=1), schema


def test_persons_whose_rows_come_in_an_order_may_be_in_an_engine():
    rows, schema = persons()
    how = {"unit": "person", "max_rows_per_unit": 3, "order": "day"}
    drawn = synthdp.synthesize(ENGINES["duckdb"](rows), schema, **how, **BUDGET).sample(50, seed=0)
    assert drawn.groupby("person")["day"].apply(lambda days: days.is_monotonic_increasing).all()


def test_persons_in_a_duckdb_file_are_run_in_their_order(tmp_path):
    rows, schema = persons()
    with pytest.importorskip("duckdb").connect(str(tmp_path / "p.db")) as connection:
        connection.register("given", rows.to_arrow())
        connection.execute("CREATE TABLE visits AS SELECT * FROM given")
    (tmp_path / "schema.json").write_text(json.dumps(schema), "utf-8")
    said = ["--epsilon", "3", "--delta", "1e-6", "--mechanism", "independent"]
    said += ["--unit", "person", "--max-rows-per-unit", "3", "--order", "day"]
    source = ["--source", f"duckdb:///{tmp_path}/p.db", "--table", "visits"]
    done = invoke("run", *source, "-s", tmp_path / "schema.json", *said, "-o", tmp_path / "out.csv")
    assert done.code == 0, done.err
    drawn = pd.read_csv(tmp_path / "out.csv")
    assert drawn.groupby("person")["day"].apply(lambda days: days.is_monotonic_increasing).all()
    assert 150 < drawn["person"].nunique() < 250


def test_a_package_in_a_duckdb_file_is_run_by_the_names_of_its_resources(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    content = description()
    towns = {"fields": [{"name": "code"}, {"name": "side", "type": "string"}], "primaryKey": "code"}
    place = {"name": "place", "type": "string", "constraints": {"required": True}}
    content["resources"][0]["schema"]["fields"][1] = place
    content["resources"][0]["schema"]["foreignKeys"] = [link("place", "towns", "code")]
    content["resources"].append({"name": "towns", "schema": towns, "synthdp": {"public": True}})
    held = families() | {
        "towns": pl.DataFrame({"code": ["town", "land"], "side": ["east", "west"]})
    }
    with duckdb.connect(str(tmp_path / "registry.db")) as connection:
        for name, table in held.items():
            connection.register("given", table.to_arrow())
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    (tmp_path / "datapackage.json").write_text(json.dumps(content), "utf-8")
    said = ["--epsilon", "3", "--delta", "1e-6", "--mechanism", "independent"]
    run = [
        "run",
        tmp_path / "datapackage.json",
        "--source",
        f"duckdb:///{tmp_path}/registry.db",
        *said,
    ]
    done = invoke(*run, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    homes = pd.read_csv(tmp_path / "out/homes.csv")
    assert set(homes["place"]) <= {"town", "land"}
    two = invoke(*run, "--table", "homes", "-o", tmp_path / "again")
    assert_one_line(two, 2)
    assert "--table is for one table" in two.err
    content["resources"][3]["name"] = "animals"
    (tmp_path / "datapackage.json").write_text(json.dumps(content), "utf-8")
    lost = invoke(*run, "-o", tmp_path / "again")
    assert_one_line(lost, 1)
    assert "finding the table 'animals' failed" in lost.err


def test_an_engine_that_fails_while_rows_come_says_nothing_of_them():
    def fails(_):
        raise ValueError("Mr Secret")

    lazy = {name: table.lazy() for name, table in families().items()}
    kind = pl.col("kind").map_batches(fails, return_dtype=pl.String)
    lazy["pets"] = lazy["pets"].with_columns(kind)
    with pytest.raises(SourceError, match="polars: reading rows failed") as failed:
        synthdp.synthesize(lazy, description(), **BUDGET)
    assert "Secret" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None
