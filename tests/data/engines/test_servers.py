"""The same counts from servers that the test starts: Postgres, and Spark in local mode."""

import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.cli_runs import invoke
from helpers.engines import ODD, SCHEMA, grouped
from helpers.random_values import asked, levels_in_engines
from helpers.stopped_runs import answers
from helpers.values import counted

from synthdp.core import Grid, SchemaError, SourceError
from synthdp.data import (
    EngineFrame,
    EngineTable,
    bounded,
    held_rows,
    open_source,
    opened,
    streamed_rows,
)
from synthdp.release import Journal
from synthdp.schema import OpenSchema

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of libraries that are not ours
]
PUBLIC = OpenSchema.from_dict(SCHEMA)
TYPES = {
    "number": "float8", "narrow": "real", "whole": "bigint", "wide": "bigint", "word": "text", "digit": "bigint",
    "day": "date", "moment": "timestamp", "flag": "boolean", "said": "text", "price": "numeric(15, 2)",
    "zoned": "timestamptz",
}  # fmt: skip


def counts(rows, most=2):
    closed = PUBLIC.resolved({})
    cliques = [
        clique for k in range(most + 1) for clique in itertools.combinations(closed.names, k)
    ]
    return [each.tolist() for each in rows.counted(closed).counts_of(cliques)]


def other_user():
    """How a command is run as somebody whom Postgres allows to; None if there is no way."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid=nobody", "--clear-groups"] if shutil.which("setpriv") else None


@dataclass(frozen=True)
class Server:
    """Where it is, the commands by which it is started again and stopped at once, and where those
    of its kind lie.
    """

    address: str
    start: list[str]
    stop: list[str]
    folder: Path
    programs: Path

    @classmethod
    def at(cls, folder, programs, user):
        control = [*user, str(programs / "pg_ctl"), "-D", str(folder / "data"), "-w"]
        options = f"-c listen_addresses= -k {folder} -c fsync=off"
        start = [*control, "-o", options, "-l", str(folder / "log"), "start"]
        address = f"postgres:///postgres?host={folder}&user=postgres"
        return cls(address, start, [*control, "-m", "immediate", "stop"], folder, programs)


def new_folder(user):
    return Path(
        subprocess.check_output([*user, "mktemp", "-d", "/tmp/pg.XXXXXX"], text=True).strip()
    )


@pytest.fixture(scope="module")
def postgres():
    """The address of a server of our own, on a socket in a folder of its own."""
    found = [*map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), shutil.which("initdb")]
    initdb, user = next((path for path in found if path), None), other_user()
    if initdb is None or user is None:
        pytest.skip("no Postgres, or no user that it lets start it")
    psycopg = pytest.importorskip("psycopg")
    folder = new_folder(user)
    server = Server.at(folder, Path(initdb).parent, user)
    subprocess.run(
        [
            *user,
            initdb,
            "-D",
            str(folder / "data"),
            "-U",
            "postgres",
            "--auth=trust",
            "-E",
            "UTF8",
            "--no-sync",
        ],
        check=True,
        capture_output=True,
    )
    subprocess.run(server.start, check=True, stdout=subprocess.DEVNULL)
    try:
        with psycopg.connect(server.address, autocommit=True) as connection:
            columns = ", ".join(f"{name} {TYPES[name]}" for name in ODD.columns)
            connection.execute(f"CREATE TABLE people ({columns})")
            marks = ", ".join(["%s"] * len(ODD.columns))
            for row in ODD.iter_rows():
                connection.execute(f"INSERT INTO people VALUES ({marks})", row)
        yield server
    finally:
        subprocess.run(server.stop, check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def test_postgres_gives_the_counts_of_memory_and_of_one_moment(postgres):
    import psycopg

    expected = counts(held_rows(opened(ODD).frame, PUBLIC))
    with open_source(postgres.address, "people") as frame:
        table = EngineTable.from_frame(frame, PUBLIC)
        assert counts(table) == expected
        with psycopg.connect(postgres.address, autocommit=True) as connection:
            connection.execute("INSERT INTO people SELECT * FROM people")
        assert counts(table, most=1) == counts(
            held_rows(opened(ODD).frame, PUBLIC), most=1
        )  # a snapshot
    with open_source(postgres.address, "public.people") as frame:
        persons = EngineTable.from_frame(
            frame, OpenSchema.from_dict(SCHEMA), unit="word", max_rows=1
        )
        assert persons.max_rows == 1
        (total,) = persons.counted(
            OpenSchema.from_dict(SCHEMA).without("word").resolved({})
        ).counts_of([()])
        assert int(total) == 7  # a, b, e with an accent in two spellings, A, c, "z z"


def test_postgres_counts_and_learns_times_of_day(postgres):
    import psycopg

    times = [
        "00:00:00",
        "04:53:59.999999",
        "12:00",
        "22:00:01",
        "23:59:59.999999",
        None,
        "24:00:00",
    ]
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        connection.execute("CREATE TABLE shifts (t time)")
        for each in times:
            connection.execute("INSERT INTO shifts VALUES (%s)", [each])
    here = pd.DataFrame({"t": [*times[:-1], "no time"]})
    bounds = {"minimum": "04:00:00", "maximum": "22:00:00"}
    field = {"name": "t", "type": "time", "constraints": bounds, "synthdp": {"bins": 20}}
    known = OpenSchema.from_dict({"fields": [field]})
    opening = {"constraints": {}, "synthdp": {"derive": True, "resolution": "minute"}}
    learnt = OpenSchema.from_dict({"fields": [field | opening]})
    closed, grid = known.resolved({}).with_unread_places(), Grid(column="t")
    with open_source(postgres.address, "shifts") as frame:
        (found,) = EngineTable.from_frame(frame, known).counted(closed).counts_of([("t",)])
        (expected,) = held_rows(here, known).counted(closed).counts_of([("t",)])
        assert found.tolist() == expected.tolist()
        remote, held = EngineTable.from_frame(frame, learnt).source, held_rows(here, learnt).source
        for asked_of in (grid, Grid(column="t", of="reading")):
            starts = np.array([0, 60, 1320])
            assert remote.histogram(asked_of, starts).tolist() == (
                held.histogram(asked_of, starts).tolist()
            )
        assert counted(remote.frequencies(grid)) == counted(held.frequencies(grid))


def session(frame):
    """The connection by which a table is asked."""
    return frame.given.to_native().get_backend().con


def n_kept(connection):
    """How many temporary tables of codes there are."""
    found = connection.execute(
        "SELECT count(*) FROM pg_class WHERE relname LIKE 'synthdp%'"
    ).fetchall()
    return found[0][0]


@pytest.fixture(scope="module")
def expected():
    return counts(held_rows(opened(ODD).frame, PUBLIC))


@pytest.fixture
def people(postgres):
    """A table like the one of the server, to be changed."""
    import psycopg

    with psycopg.connect(postgres.address, autocommit=True) as connection:
        connection.execute("CREATE TABLE changed AS SELECT * FROM people LIMIT 10")
        yield "changed"
        connection.execute("DROP TABLE changed")


def test_codes_are_kept_in_a_temporary_table_by_a_session_that_may_only_read(
    postgres, people, expected
):
    import psycopg

    with open_source(postgres.address, people) as frame:
        connection = session(frame)
        for n_before in range(2):  # a session may be asked again
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), connection.transaction():
                connection.execute("DELETE FROM changed")
            assert counts(EngineTable.from_frame(frame, PUBLIC)) == expected
            assert n_kept(connection) == n_before + 1
    with psycopg.connect(postgres.address) as connection:
        assert n_kept(connection) == 0


def test_who_may_make_no_temporary_table_gets_the_same_counts(postgres, people, expected, caplog):
    import psycopg

    with psycopg.connect(postgres.address, autocommit=True) as owner:
        owner.execute("CREATE ROLE reader LOGIN")
        owner.execute("REVOKE TEMP ON DATABASE postgres FROM PUBLIC")
        owner.execute(f"GRANT SELECT ON {people} TO reader")
        try:
            with open_source(
                postgres.address.replace("user=postgres", "user=reader"), people
            ) as frame:
                table = EngineTable.from_frame(frame, PUBLIC)
                caplog.set_level("INFO", "synthdp")
                assert counts(table) == expected
                assert "all is worked out in every query" in caplog.text
                owner.execute("DELETE FROM changed")
                assert counts(table, most=1) == counts(
                    held_rows(opened(ODD).frame, PUBLIC), most=1
                )  # a snapshot
                assert n_kept(session(frame)) == 0
        finally:
            owner.execute("GRANT TEMP ON DATABASE postgres TO PUBLIC")
            owner.execute("DROP OWNED BY reader; DROP ROLE reader")


def test_a_standby_counts_what_it_may_not_keep(postgres):
    import psycopg

    user = other_user()
    folder = new_folder(user)
    standby = Server.at(folder, postgres.programs, user)
    copy = [str(postgres.programs / "pg_basebackup"), "-h", str(postgres.folder), "-U", "postgres"]
    subprocess.run(
        [*user, *copy, "-D", str(folder / "data"), "-R", "-c", "fast", "--no-sync"], check=True
    )
    try:
        subprocess.run(standby.start, check=True, stdout=subprocess.DEVNULL)
        with psycopg.connect(postgres.address) as connection:
            n_rows = connection.execute("SELECT count(*) FROM people").fetchall()[0][0]
        with open_source(standby.address, "people") as frame:
            (total,) = (
                EngineTable.from_frame(frame, PUBLIC).counted(PUBLIC.resolved({})).counts_of([()])
            )
            assert int(total) == n_rows
            assert n_kept(session(frame)) == 0
    finally:
        subprocess.run(standby.stop, check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("autocommit", [True, False])
def test_a_table_of_ibis_leaves_the_session_as_it_was(autocommit, postgres, people):
    import ibis
    import psycopg

    with psycopg.connect(postgres.address, autocommit=autocommit) as connection:
        table = ibis.postgres.from_connection(connection).table(people)
        if not autocommit:
            connection.execute("DELETE FROM changed WHERE word = 'A'")
        source = EngineTable.from_frame(EngineFrame.from_native(table), PUBLIC).counted(
            PUBLIC.resolved({})
        )
        assert n_kept(connection) == 1
        assert [int(total) for total in source.counts_of([()])] == [10 if autocommit else 9]
        del source
        assert n_kept(connection) == 0
        connection.rollback()
        assert connection.execute("SELECT count(*) FROM changed").fetchall() == [(10,)]


def test_a_collation_of_postgres_takes_no_two_levels_or_persons_for_one(postgres):
    import psycopg

    words = ["a", "A", "\u00e9", "e", "E\u0301", "a ", None, "B", "zz", "ZZ "]
    schema = OpenSchema.from_dict(
        {"fields": [{"name": "word", "type": "string", "constraints": {"enum": words[:4]}}]}
    )
    kinds, grid = OpenSchema.from_kinds({"word": "categorical"}), Grid(column="word")
    held = opened(pl.DataFrame({"word": words})).frame
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        options = "provider = icu, locale = 'und-u-ks-level1', deterministic = false"
        connection.execute(f"CREATE COLLATION IF NOT EXISTS careless ({options})")
        connection.execute('CREATE TEMP TABLE "Words" (word text COLLATE careless)')
        connection.cursor().executemany(
            'INSERT INTO "Words" VALUES (%s)', [[word] for word in words]
        )
        (careless,) = connection.execute(
            "SELECT count(*) FROM \"Words\" WHERE word = 'A'"
        ).fetchall()
        assert careless == (2,)  # with a space it is another one
        import ibis

        table = ibis.postgres.from_connection(connection).table("Words")
        for kept in (True, False):
            with connection.transaction():
                connection.execute("SET TRANSACTION " + ("READ WRITE" if kept else "READ ONLY"))
                rows = EngineTable.from_frame(EngineFrame.from_native(table), schema).counted(
                    schema.resolved({})
                )
                (counts,) = rows.counts_of([("word",)])
            assert counts.tolist() == [2, 1, 1, 1, 5]
        persons = bounded(EngineFrame.from_native(table), "word", [], max_rows=1, missing_values=[])
        assert grouped(persons)["n_rows"].to_list() == [8]
        learnt = EngineTable.from_frame(EngineFrame.from_native(table), kinds).source.frequencies(
            grid
        )
        assert counted(learnt) == counted(held_rows(held, kinds).source.frequencies(grid))


def test_more_levels_than_an_expression_could_hold(postgres):
    import ibis
    import psycopg

    levels = [*(f"rue n° {i}'s" for i in range(9000)), 'c:\\d "e" 𝄞', "a\\u0061"]
    numbers = {"enum": [str(i) for i in range(7000)]}
    fields = [{"name": "street", "type": "string", "constraints": {"enum": levels}}]
    schema = OpenSchema.from_dict(
        {"fields": [*fields, {"name": "number", "type": "string", "constraints": numbers}]}
    )
    streets = ["rue n° 8999's ", "rue n° 1", None, 'c:\\d "e" 𝄞 ', "a\\u0061", "aa"]
    frame = pl.DataFrame({"street": streets, "number": [6999, None, 7000, -1, 0, 0]})
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        connection.execute("CREATE TEMP TABLE houses (street varchar, number smallint)")
        connection.cursor().executemany("INSERT INTO houses VALUES (%s, %s)", frame.rows())
        table = EngineTable.from_frame(
            EngineFrame.from_native(ibis.postgres.from_connection(connection).table("houses")),
            schema,
        )
        found = table.counted(schema.resolved({})).counts_of([("street",), ("number",)])
        expected = held_rows(opened(frame).frame, schema).counted(schema.resolved({}))
        for ours, theirs in zip(found, expected.counts_of([("street",), ("number",)]), strict=True):
            assert (ours == theirs).all()


def check_values(make, seed):
    """Whether an engine takes a random column, of which it then counts the values as memory does."""
    column = asked(random.Random(seed))
    remote = make(column.frame)
    if remote is None:
        return False
    remote = EngineTable.from_frame(EngineFrame.from_native(remote), column.schema).source
    held = held_rows(opened(column.frame).frame, column.schema).source
    for grid, starts in column.questions:
        assert remote.histogram(grid, starts).tolist() == held.histogram(grid, starts).tolist(), (
            seed,
            grid,
            starts,
        )
        if not starts.size:
            expected = levels_in_engines(column, counted(held.frequencies(grid)))
            assert counted(remote.frequencies(grid)) == expected, (seed, grid)
    return True


OF_POSTGRES = {
    pl.Int8: "smallint", pl.UInt8: "smallint", pl.Int32: "integer", pl.Int64: "bigint", pl.Float32: "real",
    pl.Float64: "float8", pl.String: "text", pl.Boolean: "boolean", pl.Date: "date", pl.Datetime("us"): "timestamp",
}  # fmt: skip


@pytest.mark.parametrize("kept", [True, False])
def test_values_to_learn_from_in_postgres_are_those_of_memory(kept, postgres):
    import ibis
    import psycopg

    with psycopg.connect(postgres.address, autocommit=True) as connection:

        def made(frame):
            dtype = frame.schema["x"]
            if dtype not in OF_POSTGRES:
                return None
            connection.execute("SET default_transaction_read_only = off")
            connection.execute("DROP TABLE IF EXISTS x")
            connection.execute(f"CREATE TEMP TABLE x (x {OF_POSTGRES[dtype]})")
            connection.cursor().executemany("INSERT INTO x VALUES (%s)", frame.rows())
            table = ibis.postgres.from_connection(connection).table("x")
            connection.execute(f"SET default_transaction_read_only = {'off' if kept else 'on'}")
            return table

        assert sum(check_values(made, seed) for seed in range(30)) > 15


FAR = [
    "infinity",
    "-infinity",
    "12000-01-05",
    "0044-03-15 BC",
    "9999-12-31 23:59:59.5",
    "2020-01-01 20:00",
]
"""Moments of Postgres, of which Python has only the last two."""

DECIMALS = [
    "1.5",
    "1e400",
    "-1e400",
    "1e-400",
    "-1e-400",
    "NaN",
    "Infinity",
    "0.1234567890123456789012345",
    None,
]
"""Decimals of Postgres, of which one has no float and some are more than Arrow holds."""


@pytest.mark.parametrize("kept", [True, False])
def test_no_value_of_postgres_is_an_error(kept, postgres):
    """For an error would tell whoever made the release of the one row that has it."""
    import ibis
    import psycopg

    year = {
        "constraints": {"minimum": "0001-01-01", "maximum": "9999-12-31"},
        "synthdp": {
            "edges": ["0001-01-01", "2020-01-01", "2020-01-02", "9999-12-31"],
            "parts": ["month"],
        },
    }
    number = {"constraints": {"minimum": 0, "maximum": 2}, "synthdp": {"edges": [0, 1, 2]}}
    kinds = {"day": "date", "moment": "datetime", "zoned": "datetime", "price": "number"}
    schema, as_days = (
        OpenSchema.from_dict(
            {
                "fields": [
                    {"name": name, "type": kind} | (number if kind == "number" else year)
                    for name, kind in types.items()
                ]
            }
        )
        for types in (kinds, kinds | {"moment": "date", "zoned": "date"})
    )
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        connection.execute("SET TIME ZONE 'UTC'")
        connection.execute(
            "CREATE TEMP TABLE far (day date, moment timestamp, zoned timestamptz, price numeric)"
        )
        rows = [(at, at, at, price) for at, price in itertools.zip_longest(FAR, DECIMALS)]
        connection.cursor().executemany("INSERT INTO far VALUES (%s, %s, %s, %s)", rows)
        table = ibis.postgres.from_connection(connection).table("far")
        connection.execute(
            "SET TIME ZONE 'Asia/Tokyo'"
        )  # which Ibis had set; there Python has not all hours of 9999 in UTC
        with connection.transaction():
            connection.execute("SET TRANSACTION " + ("READ WRITE" if kept else "READ ONLY"))
            found = EngineTable.from_frame(EngineFrame.from_native(table), schema).counted(
                schema.resolved({})
            )
            days, zoned, prices, months = found.counts_of(
                [("day",), ("zoned",), ("price",), ("zoned:month",)]
            )
            moments_as_days = (
                EngineTable.from_frame(EngineFrame.from_native(table), as_days)
                .counted(as_days.resolved({}))
                .counts_of([("moment",), ("zoned",)])
            )
            assert [each.tolist() for each in moments_as_days] == [[2, 0, 0, 7]] * 2, (
                "a time of day is no date, as which no moment after the last of Python is read, too"
            )
            learnt = EngineTable.from_frame(
                EngineFrame.from_native(table), OpenSchema.from_kinds(kinds)
            ).source
            in_cells = [
                learnt.histogram(Grid(column=name), np.array([0])).tolist() for name in kinds
            ]
            for grid in (
                Grid(column="price", of=of, decimals=at)
                for of in ("values", "steps")
                for at in (-9, 0, 300)
            ):
                n_finite = sum(counted(learnt.frequencies(grid)).values())
                assert n_finite == 4, "infinite numbers are not read, as in memory"
            for of in ("decimals", "exponents"):
                assert learnt.histogram(Grid(column="price", of=of), np.arange(3)).sum() == 9
            assert sum(counted(learnt.frequencies(Grid(column="zoned"))).values()) == 6
    assert days.tolist() == zoned.tolist() == [2, 1, 3, 3]
    assert months.tolist() == [3, *[0] * 10, 3, 3]
    assert prices.tolist() == [3, 1, 5]
    assert in_cells == [[3, 2, 4], [3, 2, 4], [3, 2, 4], [5, 0, 4]]


def test_texts_in_another_encoding_are_refused_before_anything_is_asked(postgres):
    """There no query could say what white space is: it would fail when it is paid for."""
    import psycopg

    with psycopg.connect(postgres.address, autocommit=True) as connection:
        connection.execute("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    latin = postgres.address.replace("/postgres?", "/latin?")
    with psycopg.connect(latin, autocommit=True) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'a' AS word, 1 AS age")
        connection.execute("CREATE VIEW numbers AS SELECT age FROM people")
    for address, name in (
        (latin, "server_encoding"),
        (postgres.address + "&client_encoding=LATIN1", "client_encoding"),
    ):
        with (
            pytest.raises(SourceError, match=f"{name} is LATIN1: texts"),
            open_source(address, "people"),
        ):
            pass
    with open_source(latin, "numbers") as frame:
        learnt = EngineTable.from_frame(frame, OpenSchema.from_kinds({"age": "integer"})).source
        assert counted(learnt.frequencies(Grid(column="age"))) == {1: 1}


def test_backslashes_that_end_texts_are_not_put_into_queries(postgres):
    import ibis
    import psycopg

    with psycopg.connect(postgres.address, autocommit=True) as connection:
        table = ibis.postgres.from_connection(connection).table("people")
        connection.execute("SET standard_conforming_strings = off")
        with pytest.raises(SourceError, match="standard_conforming_strings is off"):
            EngineFrame.from_native(table)
        connection.execute("SET standard_conforming_strings = on")
        assert bounded(
            EngineFrame.from_native(table),
            "word",
            [],
            max_rows=9,
            missing_values=["\\' OR 1=1 --", "a\\"],
        )


def test_a_row_that_cannot_be_coded_leaves_no_table_in_the_session(postgres):
    import ibis
    import psycopg

    schema = OpenSchema.from_dict({"fields": [{"name": "x", "type": "boolean"}]})
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        connection.execute(
            "CREATE TEMP VIEW failing AS SELECT 1 / g > 0 AS x FROM generate_series(0, 1) AS g"
        )
        table = EngineTable.from_frame(
            EngineFrame.from_native(ibis.postgres.from_connection(connection).table("failing")),
            schema,
        )
        for _ in range(2):
            with pytest.raises(SourceError, match="DivisionByZero"):
                table.counted(schema.resolved({}))
            assert n_kept(connection) == 0


@pytest.mark.parametrize("n_answers", [1, 4])
def test_a_server_that_is_stopped_in_the_middle_of_a_run(
    n_answers, postgres, tmp_path, monkeypatch
):
    keep, kept = Journal.keep, []

    def stopping(self, question, answer):
        keep(self, question, answer)
        kept.append(answer)
        if len(kept) == n_answers:
            subprocess.run(postgres.stop, check=True, capture_output=True)

    (tmp_path / "kinds.json").write_text(json.dumps({"word": "categorical", "number": "number", "flag": "boolean"}
        | dict.fromkeys(set(ODD.columns) - {"word", "number", "flag"}, "ignore")))  # fmt: skip
    options = (
        "--kinds",
        tmp_path / "kinds.json",
        "-o",
        tmp_path / "out.csv",
        "--journal",
        tmp_path / "j",
    )
    options += (
        "--source",
        postgres.address,
        "--table",
        "people",
        "--epsilon=5",
        "--delta=1e-6",
        "--rows=20",
    )
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "keep", stopping)
        failed = invoke("run", *options)
    assert failed.code == 1
    assert "postgres: " in failed.err
    assert (
        "OperationalError" in failed.err
        or "InterfaceError" in failed.err
        or "AdminShutdown" in failed.err
    )
    paid_for = answers(tmp_path / "j")
    assert len(paid_for) >= n_answers  # what was read at once is answered without the server
    while_stopped = invoke("run", *options)
    assert (while_stopped.code, answers(tmp_path / "j")) == (1, paid_for)
    subprocess.run(postgres.start, check=True, stdout=subprocess.DEVNULL)
    done = invoke("run", *options)
    assert done.code == 0, done.err
    assert answers(tmp_path / "j")[: len(paid_for)] == paid_for
    assert len(pl.read_csv(tmp_path / "out.csv")) == 20


SPARK_SEEDS = range(12)


def in_spark(session, frame):
    """A column in Spark; None if Spark has no such type, or PySpark would not make it of its
    values.
    """
    dtype = frame.schema["x"]
    if dtype in (pl.UInt8, pl.UInt64, pl.Datetime("ns")):
        return None
    as_text = frame.select(
        pl.col("x").cast(pl.String) if dtype in (pl.Date, pl.Categorical, pl.Enum) else pl.col("x")
    )
    if dtype == pl.Datetime("us"):
        as_text = frame.select(pl.col("x").dt.to_string("iso"))
    rows = session.createDataFrame(as_text.to_arrow())
    of_spark = {pl.Date: "date", pl.Datetime("us"): "timestamp_ntz"}.get(dtype)
    return rows.withColumn("x", rows["x"].cast(of_spark)) if of_spark else rows


def test_spark_gives_the_counts_of_memory(monkeypatch):
    pyspark = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("no Java, which Spark runs in")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    builder = pyspark.SparkSession.builder.master("local[1]")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "America/New_York",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    try:
        texts = ODD.with_columns(pl.col("moment").dt.to_string("iso"))
        rows = session.createDataFrame(texts.to_arrow())
        rows = rows.withColumn("moment", rows["moment"].cast("timestamp_ntz"))
        expected = counts(held_rows(opened(ODD).frame, PUBLIC))
        assert counts(EngineTable.from_frame(EngineFrame.from_native(rows), PUBLIC)) == expected
        persons = EngineTable.from_frame(
            EngineFrame.from_native(rows), PUBLIC, unit="word", max_rows=1
        )
        (total,) = persons.counted(PUBLIC.without("word").resolved({})).counts_of([()])
        assert int(total) == 7
        words = ["a", "A", "é", "e", "a ", None, "B"]
        schema = {
            "fields": [{"name": "word", "type": "string", "constraints": {"enum": words[:4]}}]
        }
        careless = session.createDataFrame([[word] for word in words], "word string")
        careless = careless.selectExpr("word COLLATE UNICODE_CI_AI AS word")
        assert careless.filter("word = 'A'").count() == 2
        one = EngineTable.from_frame(
            EngineFrame.from_native(careless), OpenSchema.from_dict(schema)
        )
        (found,) = one.counted(OpenSchema.from_dict(schema).resolved({})).counts_of([("word",)])
        assert found.tolist() == [2, 1, 1, 1, 2]
        persons = bounded(
            EngineFrame.from_native(careless), "word", [], max_rows=1, missing_values=[]
        )
        assert grouped(persons)["n_rows"].to_list() == [5]
        learnt = EngineTable.from_frame(
            EngineFrame.from_native(careless), OpenSchema.from_kinds({"word": "categorical"})
        ).source
        assert counted(learnt.frequencies(Grid(column="word"))) == {
            "A": 1,
            "B": 1,
            "a": 2,
            "e": 1,
            "é": 1,
        }
        rows = session.sql(
            " UNION ALL ".join(
                f"SELECT date'{d}' AS day, timestamp'{z} 00:00:00Z' AS zoned" for d, z in DAYS
            )
        )
        assert sum(check_values(partial(in_spark, session), seed) for seed in SPARK_SEEDS) > 3
        early = EngineTable.from_frame(EngineFrame.from_native(rows), EARLY).counted(
            EARLY.resolved({})
        )
        assert [each.tolist() for each in early.counts_of([("day",), ("zoned",)])] == [
            [0, 1, 1, 0],
            [0, 2, 0, 0],
        ]
    finally:
        session.stop()


DAYS = [("0500-12-13", "0500-12-13"), ("1582-10-15", "1582-10-04")]
EDGES = {"edges": ["0001-01-01", "0500-12-13", "1582-10-10", "9999-12-31"]}
EARLY = OpenSchema.from_dict(
    {"fields": [{"name": name, "type": "datetime", "synthdp": EDGES} for name in ("day", "zoned")]}
)
"""Before the Gregorian calendar, with an edge among the days that it left out."""


def test_rows_of_postgres_come_sorted_by_their_bytes_whatever_the_collation_says(postgres):
    import psycopg

    words = ["b", "B", "a", "é", None, "a ", "Z", "ä"]
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        connection.execute(
            'CREATE TABLE linked (word text COLLATE "en-x-icu", n bigint, price numeric, day date)'
        )
        for number, word in enumerate(words):
            connection.execute(
                "INSERT INTO linked VALUES (%s, %s, %s)", (word, 2**60 + number, 1.5)
            )
    with open_source(postgres.address, "linked") as frame:
        table = streamed_rows(frame, ["n", "word", "price"], used=["word", "n"], keys=["n"])
        rows = table.whole()
        with pytest.raises(SchemaError, match=r"'price' is a key of type Decimal.* in postgres"):
            streamed_rows(frame, ["price"], used=["price"], keys=["price"])
        with pytest.raises(SchemaError, match="'day' is a key of type Date in postgres"):
            streamed_rows(frame, ["day"], used=["day"], keys=["day"])
    stripped = sorted(((word.strip().encode(), n) for n, word in enumerate(words) if word))
    assert rows["n"].tolist() == [2**60 + n for _, n in stripped] + [2**60 + 4]
    assert rows["word"].isna().tolist()[-1]
