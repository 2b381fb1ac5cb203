"""Every type of columns in the registry, from every source, through the whole flow: counted, learnt,
drawn, written back, given, narrowed, evaluated, shown, saved and loaded. What a column does by itself
is in tests/schema/columns/test_every_type.py.
"""

import json
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke
from helpers.every_type import (
    MISSING_VALUES,
    SOURCES,
    as_csv,
    column_of,
    example,
    is_one_line,
    open_schema_of_all,
    schema_of_all,
    table_of,
)
from helpers.homes import home

import synthdp
from synthdp.core import CautionWarning, SchemaError
from synthdp.data import GivenTable, open_table, opened, rows_of
from synthdp.release import arrow_batches
from synthdp.schema import TYPES, OpenSchema, Schema

N_ROWS = 400
SETTINGS = {"epsilon": 8.0, "delta": 1e-6, "mechanism": "mst"}

every_type = pytest.mark.parametrize("name", TYPES)
every_source = pytest.mark.parametrize("source", SOURCES)
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:fetch_arrow_table"),
    pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning"),
]


@pytest.fixture(scope="module")
def schema():
    return schema_of_all()


@pytest.fixture(scope="module")
def table(schema):
    return table_of(schema.columns, N_ROWS)


@pytest.fixture(scope="module")
def released(table, schema):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CautionWarning)
        return synthdp.synthesize(table[0], schema, **SETTINGS)


@pytest.fixture(scope="module")
def drawn(released):
    return released.sample(N_ROWS, seed=1)


def one_column(frame, name, source, folder):
    return SOURCES[source](frame[[name]], folder)


def counts_in(data, schema):
    closed = schema.with_unread_places()
    with GivenTable(data).opened(schema.dialect) as table:
        rows = rows_of(table, OpenSchema.from_schema(schema))()
        (counts,) = rows.counted(closed).counts_of([(closed.columns[0].name,)])
        return counts.tolist()


@every_source
@every_type
def test_a_source_counts_what_the_codec_reads_or_says_that_it_cannot(name, source, tmp_path):
    """Engines that have no rule for a type refuse it by its type alone, before anything is paid."""
    for column in (column_of(example(name)), column_of(example(name, required=True))):
        schema = Schema((column,), tuple(MISSING_VALUES))
        frame, codes = table_of((column,), N_ROWS)
        placed = column.with_unread_place()
        expected = np.bincount(placed.encode(frame[name]), minlength=placed.size).tolist()
        assert expected[: column.size] == np.bincount(codes[name], minlength=column.size).tolist()
        data = one_column(frame, name, source, tmp_path)
        if source == "DuckDB" and name not in counted_by_engines(frame[[name]], tmp_path):
            with pytest.raises(SchemaError, match=name) as refused:
                counts_in(data, schema)
            assert is_one_line(refused.value)
        else:
            assert counts_in(data, schema) == expected


@every_source
def test_a_table_of_all_types_is_drawn_as_the_kind_of_table_that_was_given(
    source, table, schema, tmp_path
):
    data = SOURCES[source](table[0], tmp_path)
    if source == "DuckDB":
        data = SOURCES[source](table[0][counted_by_engines(table[0], tmp_path)], tmp_path)
        schema = Schema(tuple(schema[name] for name in data.columns), schema.missing_values)
    synthesis = synthdp.synthesize(data, schema, **SETTINGS)
    found = opened(synthesis.sample(N_ROWS, seed=2)).frame
    if source in ("polars", "Arrow"):
        assert type(synthesis.sample(3, seed=2)) is type(data)
    for column in schema.columns:
        assert column.knows(found[column.name]).all()
        assert column.encode(found[column.name]).max() < column.size


def counted_by_engines(frame, folder):
    """The columns of a table that DuckDB has a rule for."""
    names = []
    for name in frame:
        schema = Schema((column_of(example(name)),), tuple(MISSING_VALUES))
        try:
            counts_in(one_column(frame, name, "DuckDB", folder), schema)
        except SchemaError:
            continue
        names.append(name)
    return names


@pytest.mark.skipif("DuckDB" not in SOURCES, reason="DuckDB is not installed")
def test_engines_have_rules_for_most_types(table, tmp_path):
    counted = counted_by_engines(table[0], tmp_path)
    assert {"string", "boolean", "integer", "number", "year", "date", "datetime", "time"} <= {
        *counted
    }


@every_source
def test_what_all_types_leave_open_is_learnt(source, table, tmp_path):
    schema = open_schema_of_all()
    names = counted_by_engines(table[0], tmp_path) if source == "DuckDB" else list(TYPES)
    fields = [field for field in schema.to_dict()["fields"] if field["name"] in names]
    schema = OpenSchema.from_dict({"fields": fields, "missingValues": MISSING_VALUES})
    data = SOURCES[source](table[0][names], tmp_path)
    synthesis = synthdp.synthesize(data, schema, **SETTINGS | {"epsilon": 100.0})
    found = opened(synthesis.sample(50, seed=3)).frame
    for column in synthesis.schema.columns:
        assert column.knows(found[column.name]).all()
        assert not column.open_parts
        assert not column.required  # some values are missing, and noise cannot hide so many
    known = [column for column in schema_of_all().columns if column.axis is not None]
    for column in known:
        if column.name in names:
            learnt = synthesis.schema[column.name].axis
            assert learnt.bounds[0] <= learnt.bounds[1]
            low, high = (
                axis.read_numbers(pd.Series(axis.bounds, dtype=object))
                for axis in (column.axis, learnt)
            )
            assert abs(high[1] - low[1]) <= 2 * (low[1] - low[0])


def test_drawn_tables_hold_values_of_their_columns(drawn, schema):
    for column in schema.columns:
        assert column.knows(drawn[column.name]).all()
        assert drawn[column.name].notna().any()


def test_texts_that_are_drawn_are_those_of_the_same_values(released, drawn, schema):
    texts = released.sample(N_ROWS, seed=1, text=True)
    for column in schema.columns:
        assert column.encode(texts[column.name]).tolist() == (
            column.encode(drawn[column.name]).tolist()
        )


def test_given_values_stay_and_conditions_hold(released, table, schema):
    frame = table[0].head(20)
    for column in schema.columns:
        given = frame[[column.name]]
        found = released.sample(given=given, seed=4)
        present = given[column.name].notna().to_numpy()
        assert len(found) == len(given)
        assert column.encode(found[column.name])[present].tolist() == (
            column.encode(given[column.name])[present].tolist()
        )
        value = given[column.name][present].astype(object).iloc[0]
        met = released.sample(15, seed=5, where={column.name: [value]})
        assert set(column.encode(met[column.name])) == set(
            column.encode(pd.Series([value], dtype=object))
        )


def test_a_release_is_saved_and_loaded(released, tmp_path):
    released.save(tmp_path / "all.synthdp")
    loaded = synthdp.load(tmp_path / "all.synthdp")
    assert loaded.schema == released.schema
    pd.testing.assert_frame_equal(loaded.sample(30, seed=6), released.sample(30, seed=6))
    assert json.loads(json.dumps(loaded.certificate)) == json.loads(
        json.dumps(released.certificate)
    )


def test_a_certificate_names_every_column(released):
    text = json.dumps(released.certificate)
    for name in TYPES:
        assert f'"{name}"' in text


def test_marginals_are_tables_of_labels_that_are_read_again(released, schema):
    counts = [(released.marginal([name]), 1.0) for name in TYPES]
    again = synthdp.from_measurements(schema, counts)
    for column in schema.columns:
        assert len(released.marginal([column.name])) == column.size
        assert column.knows(again.sample(20, seed=7)[column.name]).all()


def test_a_truth_and_a_draw_are_held_against_each_other(table, drawn, schema):
    found = synthdp.evaluate(table[0], drawn, schema)
    assert set(found.columns["column"]) >= set(TYPES)
    assert (found.columns["unknown_real"] == 0).all()
    ordered = [column.name for column in schema.columns if column.axis is not None]
    ks = found.columns.set_index("column").loc[ordered, "ks"]
    assert ks.between(0, 1).all()
    text = found.to_html()
    for name in TYPES:
        assert name in text


def test_a_truth_without_a_schema_is_read_as_it_is(table, drawn):
    found = synthdp.evaluate(table[0], drawn)
    compared = set(found.columns["column"]) | {
        name for name in TYPES if any(f"'{name}'" in note for note in found.notes["note"])
    }
    assert compared >= set(TYPES)


@every_source
def test_public_dtypes_are_those_that_come_out(source, table, schema, tmp_path):
    """Where a dtype holds no values of its column the schema's is taken."""
    if source not in ("pandas", "polars", "Arrow"):
        pytest.skip("no table in memory")
    data = SOURCES[source](table[0], tmp_path)
    synthesizer = synthdp.Synthesizer(**SETTINGS, schema=schema)
    found = synthesizer.fit(data).sample(30, seed=8)
    assert list(opened(found).frame.columns) == list(TYPES)


def test_the_shell_drafts_checks_runs_samples_and_reports(table, schema, tmp_path):
    as_csv(table[0], tmp_path)
    as_parquet = SOURCES.get("Parquet", as_csv)(table[0], tmp_path)
    schema.save(tmp_path / "schema.json")
    data, public = str(tmp_path / "table.csv"), str(tmp_path / "schema.json")
    assert invoke("schema", "check", public).code == 0
    drafted = invoke("schema", "draft", data, "-o", str(tmp_path / "of_texts.json"))
    assert drafted.code == 0, drafted.err
    assert all(name in drafted.err for name in list(TYPES)[:8])
    drafted = invoke("schema", "draft", str(as_parquet), "-o", str(tmp_path / "draft.json"))
    assert drafted.code == 0
    fields = json.loads((tmp_path / "draft.json").read_text())["fields"]
    assert {field["type"] for field in fields} <= set(TYPES) | {None}
    out, saved = str(tmp_path / "out.csv"), str(tmp_path / "out.synthdp")
    ran = invoke(
        "run", data, "--schema", public, "-o", out, "--epsilon", "8", "--delta", "1e-6",
        "--mechanism", "mst", "--save", saved,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert invoke("sample", saved, "--rows", "20", "-o", str(tmp_path / "more.csv")).code == 0
    if find_spec("xlsxwriter") and find_spec("python_calamine"):
        sheet = tmp_path / "more.xlsx"
        assert invoke("sample", saved, "--rows", "20", "-o", str(sheet)).code == 0
        with open_table(sheet) as opened_sheet:
            (cells,) = opened_sheet.chunks()
        for column in schema.columns:
            assert column.knows(cells[column.name]).all(), column.name
    page = str(tmp_path / "page.html")
    reported = invoke("report", data, out, "--schema", public, "-o", page)
    assert reported.code == 0, reported.err
    assert invoke("show", saved).code == 0


@pytest.mark.skipif("Parquet" not in SOURCES, reason="pyarrow is not installed")
@every_type
def test_pieces_are_of_one_type_also_where_the_first_ones_hold_nothing(name, tmp_path, monkeypatch):
    monkeypatch.setattr(home(arrow_batches), "BLOCK_ROWS", 10)
    column = column_of(example(name))
    counts = np.r_[np.full(column.n_levels, 20.0 / column.n_levels), 980.0]
    index = pd.Index(column.labels, name=name)
    synthesis = synthdp.from_measurements(
        Schema((column,), tuple(MISSING_VALUES)), [(pd.Series(counts, index=index), 0.01)]
    )
    table = synthesis.sample_batches(2_000, seed=2, batch_rows=100).read_all()
    values = opened(table).frame[name]
    assert values.iloc[:10].isna().all()
    assert 10 < values.notna().sum() < 100
    assert column.knows(values).all()
    synthesis.save(tmp_path / "few.synthdp")
    done = invoke(
        "sample",
        tmp_path / "few.synthdp",
        "--rows",
        "2000",
        "--seed",
        "2",
        "-o",
        tmp_path / "few.parquet",
    )
    assert done.code == 0, done.err
    written = pd.read_parquet(tmp_path / "few.parquet")[name]
    assert column.knows(written).all()
    assert 10 < written.notna().sum() < 100
