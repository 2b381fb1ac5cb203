"""What must work: odd but honest tables, streams and formats, exit codes, and quiet."""

import csv
import gzip
import io
import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pandas as pd
import pytest
from helpers.cli_runs import (
    CANARY,
    FIELDS,
    HEADER,
    ROWS,
    SCHEMA,
    assert_one_line,
    assert_quiet_success,
    invoke,
    lay_out,
    names_in,
    run_arguments,
)

import synthdp
from synthdp import __version__
from synthdp.cli import ROWS_UNLESS_KNOWN
from synthdp.cli.arguments import help_texts
from synthdp.core import sealed, with_caution_code
from synthdp.mechanisms import Mechanism
from synthdp.release import UNKNOWN_ROWS, registry

SYNTHDP = [sys.executable, "-m", "synthdp"]


def assert_only_columns(outcome):
    """A success that says what so few records cost."""
    assert (outcome.code, outcome.out) == (0, b"")
    unknown, only_columns = outcome.notes
    assert unknown == f"synthdp: caution: {with_caution_code(UNKNOWN_ROWS)}"
    assert only_columns.startswith(
        "synthdp: caution: only single columns were measured: noise would hide how columns depend"
    )


def rows_of(content):
    return list(
        csv.reader(
            io.StringIO(content.decode() if isinstance(content, bytes) else content, newline="")
        )
    )


def levels(*names, **more):
    return {"type": "string", "constraints": {"enum": list(names)}, **more}


LONG = "long " * 20_000
TABLES = {
    "one column": ({"a": levels("x", "y")}, [["x"], ["y"]] * 40),
    "one column and blank values": ({"a": levels("x", "y")}, [["x"], [""]] * 40),
    "one level": ({"a": levels("x"), "b": levels("u", "v")}, [["x", "u"], ["x", "v"]] * 40),
    "all single": (
        {"a": {"type": "string", "constraints": {"enum": ["x"], "required": True}}},
        [["x"]] * 9,
    ),
    "all missing": ({"a": levels("x", "y"), "b": levels("u", "v")}, [["", "u"], ["", "v"]] * 40),
    "one row": ({"a": levels("x", "y"), "b": levels("u", "v")}, [["x", "u"]]),
    "no rows": ({"a": levels("x", "y"), "b": levels("u", "v")}, []),
    "no rows, one column": ({"a": levels("x", "y")}, []),
    "numbers as texts": (
        {"a": levels("01", "1", "1.0", "+1"), "b": levels("1e3", "nan")},
        [["01", "1e3"]] * 300,
    ),
    "unicode": (
        {"naïve ✓": levels("Zoë", "\U0001d4b3", "e\u0301"), "日本": levels("東京", "\u202e")},
        [["Zoë", "東京"]] * 300,
    ),
    "delimiters": (
        {'a,"b"': levels('x,"y"\nz', "a\rb"), " c ": levels(" ", "'")},
        [['x,"y"\nz', " "]] * 300,
    ),
    "very long": ({"a": levels("short", LONG)}, [[LONG], ["short"], [LONG + "x"]] * 3),
    "outside of the schema": (
        {
            "a": levels("x", "y"),
            "b": {"type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
            "c": {
                "type": "date",
                "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"},
            },
            "d": {"type": "boolean"},
        },
        [
            [CANARY, "-1e400", "0000-99-99", "maybe"],
            ["", "9" * 5000, CANARY, "=1+1"],
            ["y", "nan", "", "\u0661"],
        ]
        * 30,
    ),
}


@pytest.mark.parametrize("mechanism", ["mst", "independent"])
@pytest.mark.parametrize(("fields", "rows"), TABLES.values(), ids=TABLES)
def test_odd_tables_work(fields, rows, mechanism, place):
    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
    writer.writerows([list(fields), *rows])
    lay_out(
        place,
        table=stream.getvalue(),
        schema={"fields": [{"name": n} | f for n, f in fields.items()]},
    )
    more = ("--mechanism", mechanism, "--rows", "40", "--anyway")
    outcome = invoke(*run_arguments(*more, epsilon="100"))
    assert (outcome.code, outcome.out) == (0, b"")
    for line in outcome.notes:  # much of these is not read, and some have next to no rows
        assert line.startswith("synthdp: caution: column ") or UNKNOWN_ROWS in line
    header, *body = rows_of((place / "out.csv").read_bytes())
    assert header == list(fields)
    assert len(body) == 40
    for column, spec in enumerate(fields.values()):
        known = spec["constraints"]["enum"] if spec["type"] == "string" else None
        assert known is None or {row[column] for row in body} <= {*known, ""}
    written = (place / "out.csv").read_text() + (place / "out.csv.privacy.json").read_text()
    assert CANARY not in written
    assert invoke(*run_arguments("--force", *more, output="out.parquet"), "--json").code == 0


def test_texts_that_look_like_numbers_stay_texts(place):
    lay_out(
        place, table="a\n" + "01\n" * 400, schema={"fields": [{"name": "a", **levels("01", "1")}]}
    )
    assert_quiet_success(invoke(*run_arguments("--rows", "50", epsilon="100")))
    assert {row[0] for row in rows_of((place / "out.csv").read_bytes())[1:]} == {"01"}


def test_a_header_without_rows_is_a_table_like_any_other(place):
    for adjacency in ("add-remove", "replace-one"):
        lay_out(place, table=HEADER)
        output = f"{adjacency}.csv"
        for more, n_rows in (((), ROWS_UNLESS_KNOWN), (("--rows", "5", "--force"), 5)):
            assert_only_columns(
                invoke(*run_arguments("--adjacency", adjacency, *more, output=output))
            )
            header, *rows = rows_of((place / output).read_bytes())
            assert (header, len(rows)) == (["town", "age", "code"], n_rows)
        certificate = json.loads((place / f"{output}.privacy.json").read_text())
        assert certificate["adjacency"] == adjacency


@pytest.mark.parametrize("output", ["out.csv", "out.csv.gz", "out.parquet", "out.pq", "OUT.CSV"])
def test_no_rows_are_asked_for(output, place):
    assert_quiet_success(invoke(*run_arguments("--rows", "0", output=output)))
    frame = pd.read_parquet(output) if output[-1] in "tq" else pd.read_csv(output)
    assert (list(frame.columns), len(frame)) == (["town", "age", "code"], 0)
    assert names_in(place) == sorted(["in.csv", "schema.json", output, f"{output}.privacy.json"])


def test_columns_keep_the_order_of_the_table(place):
    lay_out(place, table="code,town,age\n" + "01,A,3\n" * 9)
    assert_only_columns(invoke(*run_arguments("--rows", "3")))
    assert rows_of((place / "out.csv").read_bytes())[0] == ["code", "town", "age"]


def test_titles_that_no_file_can_hold_cost_nothing(place):
    field = FIELDS[0] | {"title": "half \ud800"}
    lay_out(place, schema={"fields": [field, *FIELDS[1:]]})
    outcome = invoke(*run_arguments("--save", "m.synthdp", "--rows", "3"))
    assert_one_line(outcome, 1)
    assert "column 'town': title 'half \\ud800' holds a NUL or a lone surrogate" in outcome.err
    assert "paid" not in outcome.err


# ---- formats and streams


@pytest.mark.parametrize("source", ["in.csv", "in.csv.gz", "in.parquet", "-"])
@pytest.mark.parametrize("output", ["out.csv", "out.csv.gz", "out.parquet", "-"])
def test_every_format_in_and_out(source, output, place):
    (place / "in.csv.gz").write_bytes(gzip.compress((HEADER + ROWS).encode()))
    pd.read_csv("in.csv", dtype={"code": str}).to_parquet("in.parquet")
    stdin = (HEADER + ROWS).encode() if source == "-" else b""
    outcome = invoke(
        *run_arguments("--rows", "30", source=source, output=output, epsilon="50"), stdin=stdin
    )
    assert outcome.code == 0
    if output == "-":
        frame = pd.read_csv(io.BytesIO(outcome.out), dtype={"code": str})
        certificate = json.loads(outcome.err)
    else:
        read = pd.read_parquet if output.endswith("parquet") else pd.read_csv
        frame = read(output) if read is pd.read_parquet else read(output, dtype={"code": str})
        certificate = json.loads((place / f"{output}.privacy.json").read_text())
        assert (outcome.out, outcome.notes) == (b"", [])
    assert frame.shape == (30, 3)
    assert set(frame["town"]) <= {"A", "B", "C"}
    assert str(frame["age"].dtype) == "int64"
    assert set(frame["code"].dropna()) <= {"01", "02"}
    assert certificate["is_private"] is True


def test_a_pipe_in_and_out_in_a_process(place):
    command = [*SYNTHDP, *run_arguments("--rows", "5", source="-", output="-")]
    done = subprocess.run(command, input=(HEADER + ROWS).encode(), capture_output=True, check=True)
    assert len(rows_of(done.stdout)) == 6
    assert json.loads(done.stderr)["complete"] is True
    assert names_in(place) == ["in.csv", "schema.json"]


def test_a_reader_that_leaves_early_ends_it_in_one_line(place):
    script = "import sys; from synthdp.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-P", "-c", script, *run_arguments("--rows", "200000", output="-")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read().decode()
    assert process.returncode == 1
    assert len(err.splitlines()) == 1
    assert "broken pipe" in err
    assert invoke("sample", "synthdp.rescued.synthdp", "-o", "more.csv", "--rows", "3").code == 0
    assert "more.csv" in names_in(place)


@pytest.mark.usefixtures("place")
def test_show_survives_a_reader_that_leaves_early_and_a_full_disk():
    for full, code in ((False, 1), (True, 1)):
        stream = Path("/dev/full").open("wb") if full else None  # noqa: SIM115
        readable, writable = os.pipe()
        os.close(readable)
        done = subprocess.run(
            [*SYNTHDP, "show", "schema.json"],
            stdout=stream or writable,
            stderr=subprocess.PIPE,
            check=False,
        )
        os.close(writable)
        if stream:
            stream.close()
        assert done.returncode == code
        assert b"Traceback" not in done.stderr
        assert done.stderr.count(b"\n") == (1 if full else 0)


@pytest.mark.usefixtures("place")
def test_closed_standard_streams_are_no_accident():
    closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]
    for arguments, code in (
        (("show", "schema.json"), 0),
        (("show", "none"), 1),
        (run_arguments(source="-"), 1),
    ):
        assert subprocess.run([*closed, *SYNTHDP, *arguments], check=False).returncode == code


@pytest.mark.parametrize("options", [(), ("--save", "m.synthdp")])
def test_json_for_machines(options, place):
    outcome = invoke(*run_arguments("--json", *options))
    result = json.loads(outcome.out)
    assert outcome.err == ""
    assert (result["output"], result["certificate"]) == ("out.csv", "out.csv.privacy.json")
    assert (result["epsilon"], result["delta"], result["is_private"]) == (1, 1e-6, True)
    assert (
        result["accounting"]
        == json.loads((place / result["certificate"]).read_text())["accounting"]
    )
    outcome = invoke(*run_arguments("--json", "--rows", "4", output="-"))
    assert len(rows_of(outcome.out)) == 5
    statement, result = map(json.loads, outcome.lines)  # stdout is the table's
    assert statement["guarantee"] == result["guarantee"]
    assert statement["cautions"] == result["cautions"] == []
    assert result["certificate"] is None


def test_force_replaces_everything(place):
    names = ["out.csv", "out.csv.privacy.json", "m.synthdp"]
    for name in names:
        (place / name).write_text("old")
    assert_quiet_success(invoke(*run_arguments("--force", "--save", "m.synthdp")))
    assert all((place / name).read_bytes() != b"old" for name in names)
    assert names_in(place) == sorted(["in.csv", "schema.json", *names])


# ---- sample, show, schema draft


@pytest.mark.parametrize("output", ["more.csv", "more.csv.gz", "more.parquet"])
def test_sample_needs_no_private_data_and_repeats_by_its_seed(output, place):
    assert_quiet_success(
        invoke(*run_arguments("--save", "m.synthdp", "--seed", "5", output=f"first-{output}"))
    )
    (place / "in.csv").unlink()
    (place / "schema.json").unlink()
    assert_quiet_success(invoke("sample", "m.synthdp", "-o", output, "--seed", "5"))
    assert (place / output).read_bytes() == (place / f"first-{output}").read_bytes()
    certificates = [
        json.loads((place / f"{name}.privacy.json").read_text())
        for name in (output, f"first-{output}")
    ]
    assert certificates[0] == certificates[1]
    other = invoke("sample", "m.synthdp", "-o", "-", "--seed", "6", "--rows", "100")
    assert other.code == 0
    assert len(rows_of(other.out)) == 101
    assert invoke("sample", "m.synthdp", "-o", output).code == 1
    assert (
        json.loads(invoke("sample", "m.synthdp", "-o", output, "--force", "--json").out)["output"]
        == output
    )


def test_show_explains_each_kind_of_file(place):
    assert invoke(*run_arguments("--save", "m.synthdp")).code == 0
    (place / "sizes.json").write_text('{"sex": 2, "age": 85}')
    expected = {
        "schema.json": ["schema of 3 columns", "town"],
        "sizes.json": ["schema of 2 columns", "85"],
        "m.synthdp": ["(1, 1e-06)-differential privacy", "not covered", "schema of 3 columns"],
        "out.csv.privacy.json": [
            "(1, 1e-06)-differential privacy",
            "one record",
            ", auto, layered-consistency",
            "not covered",
            "sigma",
        ],
    }
    for name, words in expected.items():
        outcome = invoke("show", name, "--all")
        assert (outcome.code, outcome.notes) == (0, [])
        assert [word for word in words if word not in outcome.out.decode()] == []
        content = json.loads(invoke("show", name, "--json").out)
        assert isinstance(content, dict)
    of_table = json.loads(invoke("show", "out.csv.privacy.json", "--json").out)
    assert of_table.pop("rows")["n_tables"] > 0
    assert sealed(of_table) == synthdp.load("m.synthdp").certificate


SHOWN = {
    "auto": ["rho (GDP) ", "Gaussian, rounded to the nearest integer, sampled", "rounds   "],
    "aim": [
        "rho (zCDP) ",
        "selection  1 of ",
        " epsilon ",
        "error bounds       95 % bounds on the L1 error of 3 marginals",
    ],
    "gaussian": [
        "rho (zCDP) ",
        "unbiased estimates standard deviations of 3 marginals: ",
        "Gaussian, rounded to the nearest integer",
    ],
}


@pytest.mark.parametrize(("mechanism", "words"), SHOWN.items(), ids=SHOWN)
def test_show_says_what_a_mechanism_did_and_found(mechanism, words, place):
    assert_quiet_success(invoke(*run_arguments("--mechanism", mechanism, "--workload", "2-way")))
    text = invoke("show", "out.csv.privacy.json", "--all").out.decode()
    assert [
        word
        for word in [*words, "workload           3 marginals of up to 2 columns"]
        if word not in text
    ] == []
    certificate = json.loads((place / "out.csv.privacy.json").read_text())
    kinds = ("marginal ", "selection ", "scores ")
    assert sum(line.startswith(kinds) for line in text.splitlines()) == len(certificate["events"])


def test_show_counts_what_comes_by_the_hundreds(place):
    assert_quiet_success(invoke(*run_arguments("--mechanism", "aim")))
    path = place / "out.csv.privacy.json"
    certificate = json.loads(path.read_text())
    bounds = [
        {"columns": ["town"], "l1_records": float(i) if i else None, "supported": i > 0}
        for i in range(455)
    ]
    certificate["findings"] = {"error_bounds": bounds, "unheard_of": list(range(700)), "rounds": 7}
    certificate["events"] *= 1 + 455 // len(certificate["events"])
    certificate = sealed(certificate)
    path.write_text(json.dumps(certificate))
    text = invoke("show", path.name, "--all").out.decode()
    assert (
        "error bounds       95 % bounds on the L1 error of 455 marginals: 1 to 454 records (1 unknown); --json"
        in text
    )
    assert "unheard of         700 entries; --json lists them" in text
    assert "rounds             7" in text
    assert text.count("\nmarginal ") == sum(
        event["event"] == "marginal" for event in certificate["events"]
    )
    assert len(invoke("show", path.name).out.splitlines()) < 30
    assert json.loads(invoke("show", path.name, "--json").out) == certificate
    certificate["findings"]["error_bounds"] = [bounds[0]] * 2
    path.write_text(json.dumps(sealed(certificate)))
    assert (
        "L1 error of 2 marginals: unknown; --json lists them"
        in invoke("show", path.name, "--all").out.decode()
    )
    certificate["findings"]["error_bounds"] = [{"columns": ["town"]}]
    path.write_text(json.dumps(sealed(certificate)))
    assert_one_line(invoke("show", path.name), 1)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "-"])
def test_a_draft_reads_the_header_of_a_csv_file_only(name, place):
    garbage = b"town,age\n" + (CANARY + '"\xe9\n,,,,\n').encode("latin-1") * 9
    (place / "t.csv").write_bytes(garbage)
    (place / "t.csv.gz").write_bytes(gzip.compress(garbage))
    outcome = invoke("schema", "draft", name, stdin=garbage)
    assert outcome.code == 0
    draft = json.loads(outcome.out)
    assert [field["name"] for field in draft["fields"]] == ["town", "age"]
    assert "not read off the data on purpose" in draft["synthdp"]["note"]
    assert CANARY not in outcome.err + outcome.out.decode()
    note, readings = outcome.err.split("\n\n")
    assert note.startswith("synthdp: ")
    assert "not read off the data on purpose" in note
    assert all(line.endswith(".") for line in note.splitlines())
    assert readings.startswith("how columns are read, and written, unless more is declared:\n")
    empty = invoke(
        "schema", "draft", "-", stdin=b"town,age\n"
    )  # nothing below the header has a part in it
    assert (empty.out, empty.err) == (outcome.out, outcome.err)


def test_a_draft_of_parquet_has_types_and_no_values(place):
    frame = pd.DataFrame(
        {"t": [CANARY], "n": [7731], "f": [77.31], "b": [True], "d": pd.to_datetime(["1977-03-01"])}
    )
    frame["c"] = frame["t"].astype("category")
    frame.to_parquet("t.parquet")
    assert invoke("schema", "draft", "t.parquet", "-o", "draft.json").code == 0
    text = (place / "draft.json").read_text()
    types = [field["type"] for field in json.loads(text)["fields"]]
    assert types == ["string", "integer", "number", "boolean", "datetime", "string"]
    assert not [secret for secret in (CANARY, "77", "1977") if secret in text]


def test_a_draft_that_is_filled_in_is_a_schema(place):
    assert invoke("schema", "draft", "in.csv", "-o", "draft.json").code == 0
    draft = json.loads((place / "draft.json").read_text())
    draft["fields"] = [field | known for field, known in zip(draft["fields"], FIELDS, strict=True)]
    (place / "filled.json").write_text(json.dumps(draft))
    assert_quiet_success(invoke(*run_arguments(schema="filled.json")))


# ---- exit codes, terminals, help


@dataclass(frozen=True, kw_only=True)
class Greedy(Mechanism):
    """Asks for more than there is: nothing first, or after it was given something."""

    name: ClassVar[str] = "greedy"
    reference: ClassVar[str] = "none"
    n_paid: int = 0

    def release(self, table, task):  # noqa: ARG002
        for _ in range(self.n_paid):
            table.measure(("town",), rho=table.ledger.remaining / 2)
        table.measure(("age",), rho=2 * table.ledger.budget)


@pytest.mark.parametrize("n_paid", [0, 1])
def test_what_the_ledger_refuses_is_refused_for_privacy(n_paid, place, monkeypatch):
    monkeypatch.setitem(registry.MECHANISMS, "greedy", "synthdp.mechanisms.greedy:Greedy")
    home = SimpleNamespace(Greedy=lambda: Greedy(n_paid=n_paid))
    monkeypatch.setitem(sys.modules, "synthdp.mechanisms.greedy", home)
    before = names_in(place)
    outcome = invoke(*run_arguments("--mechanism", "greedy"))
    assert_one_line(outcome, 3)
    assert "privacy budget" in outcome.err
    assert names_in(place) == sorted([*before, *["out.csv.rescued.synthdp"] * n_paid])


@pytest.mark.parametrize(
    ("arguments", "code"), [((), 2), (("--version",), 0), (("show", "none"), 1)]
)
def test_the_process_ends_with_the_exit_code(arguments, code):
    done = subprocess.run([*SYNTHDP, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stdout == (f"synthdp {__version__}\n" if code == 0 else "")


def test_help_lists_every_command_and_fits_a_terminal():
    text = invoke("--help").out.decode()
    for command in ("run", "sample", "show", "schema"):
        assert f"\n    {command} " in text
        assert invoke(command, "--help").code == 0
    assert "draft" in invoke("schema", "--help").out.decode()
    for name in (*registry.MECHANISMS, *registry.ENGINES, "add-remove", "replace-one"):
        assert name in "".join(
            invoke("run", "--help-all").out.decode().split()
        )  # lines may break after a hyphen
    assert (
        "exit codes: 0 done, 1 failed, 2 usage, 3 refused for privacy, 4 not accepted, 130 or 143 stopped"
        in text
    )
    assert "kinds file" in invoke("show", "--help").out.decode()
    assert "schema or kinds file" in invoke("schema", "check", "--help").out.decode()


@pytest.mark.parametrize("command", ["", *help_texts.EXAMPLES])
def test_help_fits_a_screen_and_has_an_example(command):
    text = invoke(*command.split(), "--help").out.decode()
    assert text.count("\n") <= 40
    assert all(len(line) <= 110 for line in text.splitlines())
    assert f"\n  synthdp {command}" in text
    if command:
        full = invoke(*command.split(), "--help-all").out.decode()
        assert set(re.findall(r"--[a-z-]+", text)) <= set(re.findall(r"--[a-z-]+", full))


@pytest.mark.usefixtures("place")
def test_a_new_name_in_a_registry_is_in_the_help_and_in_the_error(monkeypatch):
    tables = {
        "--mechanism": (registry.MECHANISMS, ()),
        "--engine": (registry.ENGINES, registry.BASELINES),
    }
    for option, (table, more) in tables.items():
        monkeypatch.setitem(table, "newcomer", "synthdp.mechanisms.newcomer:Newcomer")
        shown = " ".join(invoke("run", "--help-all").out.decode().split())
        assert "newcomer" in shown.split(option)[-1].split("--")[0]
        monkeypatch.delitem(table, "newcomer")
        outcome = invoke(*run_arguments(option, "newcomer"))
        assert_one_line(outcome, 2)
        assert f"choose one of {', '.join(sorted([*table, *more]))}" in outcome.err


@pytest.mark.parametrize(
    "statement", ["import synthdp", "from synthdp.cli.main import run; run(['--help'])"]
)
def test_help_and_import_load_nothing_heavy(statement):
    names = ["numpy", "pandas", "scipy", "networkx", "pyarrow"]
    names += ["synthdp.cli.shared.outputs", "synthdp.release.synthesis"]
    heavy = set(names)
    script = f"import sys\ntry:\n    {statement}\nfinally:\n    print('heavy:', sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "heavy: []"


def read_terminal(process, terminal):
    shown = b""
    with suppress(OSError):  # at the end a terminal raises
        while part := os.read(terminal, 4096):
            shown += part
    process.wait()
    os.close(terminal)
    return shown.decode()


@pytest.mark.usefixtures("place")
def test_progress_is_drawn_on_a_terminal_and_nowhere_else():
    terminal, slave = pty.openpty()
    arguments = run_arguments("--mechanism", "mst")
    process = subprocess.Popen([*SYNTHDP, *arguments], stderr=slave, stdout=subprocess.DEVNULL)
    os.close(slave)
    shown = read_terminal(process, terminal)
    assert process.returncode == 0
    for stage in (
        "reading",
        "measuring columns",
        "selecting pairs",
        "measuring pairs",
        "fitting",
        "sampling",
    ):
        assert stage in shown
    *_, last = shown.split("\r\x1b[K")
    written = "out.csv: (1, 1e-06)-differential privacy; details in out.csv.privacy.json"
    assert last.splitlines()[0] == written
    process = subprocess.run([*SYNTHDP, *run_arguments("--force")], capture_output=True, check=True)
    assert process.stdout == b""
    # Elsewhere what was written, and how good; noise of its own may bring a caution now and then.
    first, quality, *cautions = process.stderr.decode().splitlines()
    assert all(line.startswith("synthdp: caution: ") for line in cautions)
    assert (first, quality[:18]) == (written, "synthdp: quality: ")


@pytest.mark.usefixtures("place")
def test_names_that_a_terminal_cannot_show_are_escaped():
    schema = Path("schema.json")
    schema.write_text(json.dumps({"fields": [FIELDS[0] | {"name": "日本"}]}))
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    for options in ((), ("--json",)):
        done = subprocess.run(
            [*SYNTHDP, "show", "schema.json", *options],
            env=environment,
            capture_output=True,
            check=True,
        )
        assert b"\\u65e5\\u672c" in done.stdout
    assert SCHEMA["fields"][0]["name"] == "town"
