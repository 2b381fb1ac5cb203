"""What is refused is refused by types, and what fails tells nothing of the table."""

import logging
import pickle

import numpy as np
import polars as pl
import pytest
from helpers.engines import ENGINES, LEARNING, in_duckdb
from helpers.homes import home
from helpers.reach import told_by

from synthdp import synthesize
from synthdp.core import MissingExtraError, ParameterError, PrivacyError, SchemaError, SourceError
from synthdp.data import EngineFrame, EngineTable, asked, open_source
from synthdp.schema import OpenSchema

engine_frame = home(EngineFrame)

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:ibis", "ignore:fetch_arrow_table"
)

duckdb = pytest.importorskip("duckdb")
SECRET = "Zacharias-4711"
AGE = {"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}

DAY = {
    "name": "x",
    "type": "date",
    "constraints": {"minimum": "2020-01-01", "maximum": "2021-01-01"},
}


def table_of(values, field, **types):
    schema = OpenSchema.from_dict({"fields": [field]})
    return EngineTable.from_frame(
        EngineFrame.from_native(pl.DataFrame({"x": values}, **types).lazy()), schema
    )


@pytest.mark.parametrize(
    ("values", "field"),
    [
        (["1", SECRET], AGE),
        (["2020-01-01"], DAY),
        ([1], DAY),
        (["yes"], {"name": "x", "type": "boolean"}),
        ([[1]], AGE),
        (["a"], {"name": "x", "type": "string", "constraints": {"enum": ["a", "a "]}}),
        ([1.5], AGE | {"constraints": {"minimum": 0, "maximum": 10**6}, "synthdp": {"bins": 5000}}),
    ],
)  # fmt: skip
def test_what_an_engine_cannot_encode_as_the_codec_does_is_refused_by_its_type(values, field):
    with pytest.raises(SchemaError, match="column 'x'") as caught:
        table_of(values, field)
    assert SECRET not in str(caught.value)


def test_what_a_column_is_says_none_of_its_values():
    with pytest.raises(SchemaError, match="the engine Categorical") as caught:
        table_of(pl.Series(["a"], dtype=pl.Enum(["a", SECRET])), AGE)
    assert SECRET not in str(caught.value)


def test_a_part_of_a_date_is_refused_as_what_the_schema_says_of_the_date():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people AS SELECT TIMESTAMPTZ '2020-01-01 00:00:00+00' AS x")
    schema = OpenSchema.from_dict({"fields": [DAY | {"synthdp": {"parts": ["weekday"]}}]})
    with pytest.raises(SchemaError, match="column 'x': the schema says 'date'"):
        EngineTable.from_frame(EngineFrame.from_native(connection.table("people")), schema)


def failing(connection):
    """A view that fails at a value, and says so with the value in its message."""
    connection.execute(f"CREATE TABLE raw AS SELECT '{SECRET}' AS x")
    connection.execute("CREATE VIEW people AS SELECT CAST(x AS INTEGER) AS x FROM raw")
    return connection.table("people")


def test_an_error_of_an_engine_is_told_by_its_kind_alone(caplog):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(duckdb.Error, match=SECRET):  # so it would be told without us
        failing(duckdb.connect()).fetchall()
    schema = OpenSchema.from_dict({"fields": [AGE]})
    one, other = duckdb.connect(), duckdb.connect()
    table = EngineTable.from_frame(EngineFrame.from_native(failing(one)), schema)
    with pytest.raises(
        SourceError, match=r"duckdb: counting rows failed \(ConversionException\)"
    ) as caught:
        list(table.counted(schema.resolved({})).counts_of([("x",)]))
    assert SECRET not in told_by(caught.value, caplog.text)
    with pytest.raises(SourceError) as caught:
        synthesize(failing(other), {"fields": [AGE]}, epsilon=1.0, delta=1e-6)
    assert SECRET not in told_by(caught.value, caplog.text)


@pytest.mark.parametrize("name", ["py4j.clientserver", "py4j.java_gateway", "distributed.worker"])
def test_what_libraries_log_of_answers_and_errors_is_not_kept(name, caplog):
    caplog.set_level(logging.DEBUG)
    asked(
        "pyspark",
        "counting rows",
        lambda: logging.getLogger(name).debug("Answer received: %s", SECRET),
    )
    assert SECRET not in caplog.text
    logging.getLogger(name).warning("of others")
    assert "of others" in caplog.text


def test_lazy_tables_of_other_libraries_are_refused_with_a_way_out(monkeypatch):
    monkeypatch.setattr(engine_frame, "_ENGINES", ())
    with pytest.raises(ParameterError, match="lazy table of polars; give one of polars, DuckDB"):
        EngineFrame.from_native(pl.LazyFrame({"x": [1]}))


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_learnt_and_is_more_than_an_engine_compares_with_is_told_as_that(engine):
    open_one, closed = (
        OpenSchema.from_dict(
            {"fields": [{"name": "x", "type": "number", "constraints": bounds, "synthdp": own}]}
        )
        for bounds, own in (
            ({}, {"bins": 9, "derive": ["bounds"]}),
            ({"minimum": 0, "maximum": 1}, {"bins": 5000}),
        )
    )
    table = EngineTable.from_frame(
        EngineFrame.from_native(ENGINES[engine](pl.DataFrame({"x": [0.5]}))), open_one
    )
    with pytest.raises(SchemaError, match="levels or edges are more than the 4096"):
        table.counted(closed.resolved({}))


def test_panics_are_caught_and_interrupts_are_not():
    class PanicException(BaseException):
        pass

    def panic():
        raise PanicException(SECRET)

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(SourceError) as caught:
        asked("polars", "counting", panic)
    assert caught.value.__context__ is None
    assert SECRET not in str(caught.value)
    with pytest.raises(KeyboardInterrupt):
        asked("polars", "counting", interrupt)


def test_an_interrupt_stays_one_whatever_an_engine_makes_of_it():
    def closing():  # as psycopg closes its cursor
        try:
            raise KeyboardInterrupt
        finally:
            raise ValueError(SECRET)

    with pytest.raises(KeyboardInterrupt) as caught:
        asked("ibis", "counting", closing)
    assert caught.value.__context__ is None

    def interrupted():  # as DuckDB says it
        raise RuntimeError("Query interrupted")

    with pytest.raises(KeyboardInterrupt):
        asked("duckdb", "counting", interrupted)


@pytest.mark.parametrize("engine", [name for name in ("duckdb", "ibis") if name in ENGINES])
def test_a_relation_that_is_given_can_be_stopped(engine):
    table = ENGINES[engine](pl.DataFrame({"x": [1]}))
    frame = EngineFrame.from_native(table)
    heard_itself = int(duckdb.__version__.split(".")[0]) < 2
    assert (frame.stop is None) == heard_itself
    assert frame.with_rows(frame.rows).stop is frame.stop


TWO = OpenSchema.from_dict({"fields": [AGE, AGE | {"name": "y"}]})


def counting(frame, engine="other"):
    """A source on a table in DuckDB, by itself or behind Ibis, and the connection by which it may
    be changed.
    """
    if engine == "duckdb":
        connection = duckdb.connect(config={"threads": 1})
        table = in_duckdb(frame, connection)
    else:
        table = ENGINES[engine](frame)
        connection = table.get_backend().con
    return EngineTable.from_frame(EngineFrame.from_native(table), TWO).counted(
        TWO.resolved({})
    ), connection


@pytest.mark.skipif("other" not in ENGINES, reason="ibis is not installed")
def test_a_table_that_grows_between_scans_is_found():
    source, connection = counting(pl.DataFrame({"x": [1, 2], "y": [1, 2]}))
    assert next(iter(source.counts_of([("x",)]))).sum() == 2
    connection.execute("INSERT INTO people VALUES (3, 3)")
    with pytest.raises(SourceError, match="was changed"):
        list(source.counts_of([("y",)]))


@pytest.mark.skipif("other" not in ENGINES, reason="ibis is not installed")
def test_what_was_counted_is_not_asked_for_again():
    source, connection = counting(pl.DataFrame({"x": [1, 2], "y": [3, 3]}))
    (both,) = source.counts_of([("x", "y")])
    connection.execute("DROP TABLE people")
    (of_y,) = source.counts_of([("y",)])
    assert of_y.tolist() == both.sum(axis=0).tolist()
    assert not of_y.flags.writeable
    with pytest.raises(ParameterError):
        source.counts_of([("y", "y")])


def test_duckdb_counts_the_rows_of_one_moment_and_keeps_nothing_when_it_is_done():
    source, connection = counting(pl.DataFrame({"x": [1, 2], "y": [3, 3]}), "duckdb")
    connection.execute("DELETE FROM people")
    assert [counts.sum() for counts in source.counts_of([("x",), ("y",)])] == [2, 2]
    tables = "SELECT count(*) FROM duckdb_tables() WHERE starts_with(table_name, 'synthdp')"
    assert connection.execute(tables).fetchall() == [(1,)]
    del source
    assert connection.execute(tables).fetchall() == [(0,)]


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_of_a_table_is_shown_or_copied(engine):
    schema = OpenSchema.from_kinds(
        {"x": {key: AGE[key] for key in ("type", "constraints")}, "z": "integer"}
    )
    frame = EngineFrame.from_native(ENGINES[engine](pl.DataFrame({"x": [4711], "z": [4711]})))
    table = EngineTable.from_frame(frame, schema)
    for each in (frame, table, table.source):
        assert "4711" not in repr(each)
        with pytest.raises(PrivacyError):
            pickle.dumps(each)
    with pytest.raises(ParameterError):
        table.counted(OpenSchema.from_dict({"fields": [AGE | {"name": "q"}]}).resolved({}))


def test_a_database_that_is_not_there(tmp_path):
    for address, table, error in (
        ("mysql://a:hush@b/c", "t", ParameterError),
        ("duckdb://host/file.db", "t", ParameterError),
        (f"duckdb:///{tmp_path}/none.db", "t", SourceError),
    ):
        with pytest.raises(error) as caught, open_source(address, table):
            pass
        assert "hush" not in str(caught.value)
    with duckdb.connect(str(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS x")
    with open_source(f"duckdb:///{tmp_path}/a.db", "people") as frame:
        assert list(frame.columns) == ["x"]
    with (
        pytest.raises(SourceError, match="finding the table"),
        open_source(f"duckdb:///{tmp_path}/a.db", "others"),
    ):
        pass


def test_a_library_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with (
        pytest.raises(MissingExtraError, match=r"synthdp\[duckdb\]"),
        open_source("duckdb:///a.db", "t"),
    ):
        pass


@pytest.mark.parametrize("engine", LEARNING)
def test_a_release_of_an_engine_table(engine):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.integers(0, 9, 3000), "word": rng.choice(["a", "b", "c"], 3000)})
    kinds = {"x": "integer", "word": "categorical"}
    synthesis = synthesize(ENGINES[engine](frame), kinds=kinds, epsilon=5.0, delta=1e-6)
    drawn = synthesis.sample(100, seed=0)
    assert set(drawn["word"]) <= {"a", "b", "c", "other", None}
    assert type(drawn).__module__.startswith("polars" if engine == "polars" else "pandas")
