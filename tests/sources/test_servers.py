"""The same counts from servers that the test starts: Postgres, and Spark in local mode."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from helpers.cli_runs import invoke
from helpers.engines import ODD, SCHEMA
from helpers.stopped_runs import answers

from synthdp.release.keeping.journal import Journal
from synthdp.sources.connecting import open_source
from synthdp.sources.engine_frame import EngineFrame
from synthdp.sources.engine_table import EngineTable
from synthdp.table.frames.containers import opened
from synthdp.table.records.loading import held_frame
from synthdp.table.schema.open_schema import OpenSchema

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
    closed = PUBLIC.closed({})
    cliques = [clique for k in range(most + 1) for clique in itertools.combinations(closed.names, k)]
    return [each.tolist() for each in rows.counted(closed).counts_of(cliques)]


def other_user():
    """How a command is run as somebody whom Postgres allows to; None if there is no way."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid=nobody", "--clear-groups"] if shutil.which("setpriv") else None


@dataclass(frozen=True)
class Server:
    """Where it is, and the commands by which it is started again and stopped at once."""

    address: str
    start: list[str]
    stop: list[str]


@pytest.fixture(scope="module")
def postgres():
    """The address of a server of our own, on a socket in a folder of its own."""
    found = [*map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), shutil.which("initdb")]
    initdb, user = next((path for path in found if path), None), other_user()
    if initdb is None or user is None:
        pytest.skip("no Postgres, or no user that it lets start it")
    psycopg = pytest.importorskip("psycopg")
    folder = Path(subprocess.check_output([*user, "mktemp", "-d", "/tmp/pg.XXXXXX"], text=True).strip())
    control = [*user, str(Path(initdb).with_name("pg_ctl")), "-D", str(folder / "data"), "-w"]
    subprocess.run(
        [*user, initdb, "-D", str(folder / "data"), "-U", "postgres", "--auth=trust", "-E", "UTF8", "--no-sync"],
        check=True,
        capture_output=True,
    )
    options = f"-c listen_addresses= -k {folder} -c fsync=off"
    start = [*control, "-o", options, "-l", str(folder / "log"), "start"]
    subprocess.run(start, check=True, stdout=subprocess.DEVNULL)
    try:
        address = f"postgres:///postgres?host={folder}&user=postgres"
        with psycopg.connect(address, autocommit=True) as connection:
            columns = ", ".join(f"{name} {TYPES[name]}" for name in ODD.columns)
            connection.execute(f"CREATE TABLE people ({columns})")
            marks = ", ".join(["%s"] * len(ODD.columns))
            for row in ODD.iter_rows():
                connection.execute(f"INSERT INTO people VALUES ({marks})", row)
        stop = [*control, "-m", "immediate", "stop"]
        yield Server(address, start, stop)
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def test_postgres_gives_the_counts_of_memory_and_of_one_moment(postgres):
    import psycopg

    expected = counts(held_frame(opened(ODD).frame, PUBLIC))
    with open_source(postgres.address, "people") as frame:
        table = EngineTable.of(frame, PUBLIC)
        assert counts(table) == expected
        with psycopg.connect(postgres.address, autocommit=True) as connection:
            connection.execute("INSERT INTO people SELECT * FROM people")
        assert counts(table, most=1) == counts(held_frame(opened(ODD).frame, PUBLIC), most=1)  # a snapshot
    with open_source(postgres.address, "public.people") as frame:
        persons = EngineTable.of(frame, OpenSchema.from_dict(SCHEMA), unit="word", max_rows=1)
        assert persons.max_rows == 1
        (total,) = persons.counted(OpenSchema.from_dict(SCHEMA).without("word").closed({})).counts_of([()])
        assert int(total) == 7  # a, b, e with an accent in two spellings, A, c, "z z"


@pytest.mark.parametrize("n_answers", [1, 4])
def test_a_server_that_is_stopped_in_the_middle_of_a_run(n_answers, postgres, tmp_path, monkeypatch):
    keep, kept = Journal.keep, []

    def stopping(self, question, answer):
        keep(self, question, answer)
        kept.append(answer)
        if len(kept) == n_answers:
            subprocess.run(postgres.stop, check=True, capture_output=True)

    (tmp_path / "kinds.json").write_text(json.dumps({"word": "categorical", "number": "number", "flag": "boolean"}
        | dict.fromkeys(set(ODD.columns) - {"word", "number", "flag"}, "ignore")))  # fmt: skip
    options = ("--kinds", tmp_path / "kinds.json", "-o", tmp_path / "out.csv", "--journal", tmp_path / "j")
    options += ("--source", postgres.address, "--table", "people", "--epsilon=5", "--delta=1e-6", "--rows=20")
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "keep", stopping)
        failed = invoke("run", *options)
    assert failed.code == 1
    assert "ibis: " in failed.err
    assert "OperationalError" in failed.err or "InterfaceError" in failed.err or "AdminShutdown" in failed.err
    paid_for = answers(tmp_path / "j")
    assert len(paid_for) >= n_answers  # what was read at once is answered without the server
    while_stopped = invoke("run", *options)
    assert (while_stopped.code, answers(tmp_path / "j")) == (1, paid_for)
    subprocess.run(postgres.start, check=True, stdout=subprocess.DEVNULL)
    done = invoke("run", *options)
    assert done.code == 0, done.err
    assert answers(tmp_path / "j")[: len(paid_for)] == paid_for
    assert len(pl.read_csv(tmp_path / "out.csv")) == 20


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
        expected = counts(held_frame(opened(ODD).frame, PUBLIC))
        assert counts(EngineTable.of(EngineFrame.of(rows), PUBLIC)) == expected
        persons = EngineTable.of(EngineFrame.of(rows), PUBLIC, unit="word", max_rows=1)
        (total,) = persons.counted(PUBLIC.without("word").closed({})).counts_of([()])
        assert int(total) == 7
        rows = session.sql(
            " UNION ALL ".join(f"SELECT date'{d}' AS day, timestamp'{z} 00:00:00Z' AS zoned" for d, z in DAYS)
        )
        early = EngineTable.of(EngineFrame.of(rows), EARLY).counted(EARLY.closed({}))
        assert [each.tolist() for each in early.counts_of([("day",), ("zoned",)])] == [[0, 1, 1, 0], [0, 2, 0, 0]]
    finally:
        session.stop()


DAYS = [("0500-12-13", "0500-12-13"), ("1582-10-15", "1582-10-04")]
EDGES = {"edges": ["0001-01-01", "0500-12-13", "1582-10-10", "9999-12-31"]}
EARLY = OpenSchema.from_dict(
    {"fields": [{"name": name, "type": "datetime", "synthdp": EDGES} for name in ("day", "zoned")]}
)
"""Before the Gregorian calendar, with an edge among the days that it left out."""
