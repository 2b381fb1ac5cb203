"""`synthdp run --source`: a table in a database in place of a file."""

import json
import os
import signal
import threading

import pytest
from helpers.cli_runs import invoke

from synthdp.cli.arguments import exits
from synthdp.data import EngineFrame

duckdb = pytest.importorskip("duckdb")
AGE = {
    "name": "age",
    "type": "integer",
    "constraints": {"minimum": 0, "maximum": 9, "required": True},
}
BUDGET = ("--epsilon", "5", "--delta", "1e-6")
VIEW = ("--source", "duckdb:///people.db", "--table", "v")
RUN_VIEW = ("run", *VIEW, "-s", "schema.json", *BUDGET, "-o", "o.csv")


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps({"fields": [AGE]}))
    with duckdb.connect("people.db") as connection:
        connection.execute("CREATE TABLE people AS SELECT i % 10 AS age FROM range(3000) AS t(i)")
        connection.execute("CREATE TABLE texts AS SELECT 'x' AS age")
    return tmp_path


def test_a_table_of_a_database_becomes_a_synthetic_file(people):
    run = invoke(
        "run",
        "--source",
        "duckdb:///people.db",
        "--table",
        "people",
        "-s",
        "schema.json",
        *BUDGET,
        "-o",
        "o.csv",
    )
    assert run.code == exits.DONE
    assert (people / "o.csv").read_text().splitlines()[0] == "age"
    assert "people.db" not in (people / "o.csv.privacy.json").read_text()


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ((), exits.USAGE),
        (("in.csv", "--source", "duckdb:///people.db", "--table", "people"), exits.USAGE),
        (("--source", "duckdb:///people.db"), exits.USAGE),
        (("in.csv", "--table", "people"), exits.USAGE),
        (("--source", "ftp://me:hush@host/x", "--table", "people"), exits.USAGE),
        (("--source", "duckdb://[people.db", "--table", "people"), exits.USAGE),
        (("--source", "duckdb:///none.db", "--table", "people"), exits.FAILED),
        (("--source", "duckdb:///people.db", "--table", "others"), exits.FAILED),
        (("--source", "duckdb:///people.db", "--table", "texts"), exits.FAILED),
    ],
)
@pytest.mark.usefixtures("people")
def test_wrong_sources_are_refused_in_one_line(given, code):
    run = invoke("run", *given, "-s", "schema.json", *BUDGET, "-o", "o.csv")
    assert run.code == code
    assert len(run.err.strip().splitlines()) == 1
    assert "hush" not in run.err


@pytest.mark.parametrize(
    "option",
    [("--save", "people.db"), ("--save-schema", "./people.db.wal"), ("--journal", "people.db")],
)
def test_no_output_replaces_the_database(option, people):
    before = (people / "people.db").read_bytes()
    source = ("--source", f"duckdb:///{people}/people.db", "--table", "people", "-s", "schema.json")
    run = invoke("run", *source, *BUDGET, "-o", "o.csv", "--force", *option)
    assert (run.code, "named twice" in run.err) == (exits.USAGE, True)
    assert (people / "people.db").read_bytes() == before


@pytest.mark.usefixtures("people")
def test_a_table_may_be_called_as_an_option_is_for_short():
    with duckdb.connect("people.db") as connection:
        connection.execute("CREATE VIEW v AS FROM people")
    run = invoke(*RUN_VIEW)
    assert run.code == exits.DONE, run.err


@pytest.mark.usefixtures("people")
def test_ctrl_c_ends_a_query_of_hours(monkeypatch):
    """DuckDB itself does not hear of it while it works in several threads; after 20 seconds the
    test gives up.
    """
    with duckdb.connect("people.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 10 AS age FROM range(3000000) AS t(i)")
        connection.execute(
            "CREATE VIEW v AS SELECT (a.age + b.age) // 2 AS age FROM t AS a, t AS b"
        )
    connect, asked, late, timers = duckdb.connect, EngineFrame.asked, [], []

    def connected(path, **options):
        found = connect(path, config={"threads": 2}, **options)
        after(20, lambda: (late.append(True), found.interrupt()))
        return found

    def after(seconds, action):
        timers.append(threading.Timer(seconds, action))
        timers[-1].start()

    def interrupted(frame, what, question):
        if what == "counting rows":
            after(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        return asked(frame, what, question)

    monkeypatch.setattr(duckdb, "connect", connected)
    monkeypatch.setattr(EngineFrame, "asked", interrupted)
    try:
        run = invoke(*RUN_VIEW)
    finally:
        for timer in timers:
            timer.cancel()
    assert (run.code, run.lines, late) == (exits.INTERRUPTED, ["synthdp: interrupted"], [])


def test_a_draft_is_made_of_names_and_types_alone(people):
    source = ("--source", "duckdb:///people.db", "--table", "kinds")
    with duckdb.connect("people.db") as connection:
        connection.execute(
            "CREATE TABLE kinds AS SELECT 1.5::DOUBLE AS pay, 'SECRET' AS name, DATE '2020-01-01' AS day"
        )
    drafted = invoke("schema", "draft", *source, "-o", "d.json")
    assert drafted.code == exits.DONE, drafted.err
    fields = json.loads((people / "d.json").read_text())["fields"]
    assert [field["name"] for field in fields] == ["pay", "name", "day"]
    assert [field["type"] for field in fields] == ["number", "string", "date"]
    assert "SECRET" not in (people / "d.json").read_text() + drafted.err
    assert invoke("schema", "draft", *source, "--kinds", "-o", "k.json").code == exits.DONE
    assert json.loads((people / "k.json").read_text()) == {
        "pay": "number",
        "name": "categorical",
        "day": "date",
    }


@pytest.mark.parametrize(
    "given", [(), ("in.csv", "--source", "duckdb:///people.db", "--table", "people")]
)
def test_a_draft_is_of_one_table(people, given):
    refused = invoke("schema", "draft", *given, "-o", "d.json")
    assert refused.code == exits.USAGE
    assert refused.err.count("\n") == 1
    assert not (people / "d.json").exists()
