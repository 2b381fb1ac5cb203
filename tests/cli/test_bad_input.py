"""Bad input: one clear line, the right exit code, no value of the table, and nothing left on the
disk.
"""

import gzip
import io
import json
import os

import numpy as np
import pandas as pd
import pytest
from helpers import cli_runs

from synthdp.core import Domain, LinearMeasurement
from synthdp.data.files import csv_file as files
from synthdp.privacy import PrivacyLedger
from synthdp.release import from_measurements


@pytest.fixture
def nothing_paid(monkeypatch):
    def charge(_ledger, _event):
        pytest.fail("something was paid for")

    monkeypatch.setattr(PrivacyLedger, "charge", charge)


def assert_refused(folder, arguments, code, fragment, **streams):
    before = cli_runs.names_in(folder)
    outcome = cli_runs.invoke(*arguments, **streams)
    cli_runs.assert_one_line(outcome, code)
    assert fragment in outcome.err
    assert outcome.out == b""
    assert cli_runs.names_in(folder) == before


USAGE = {
    "epsilon 0": ({"epsilon": "0"}, "epsilon is 0"),
    "epsilon negative": ({"epsilon": "-1"}, "epsilon is -1"),
    "epsilon negative small": ({"epsilon": "-1e-9"}, "epsilon is -1e-09"),
    "epsilon nan": ({"epsilon": "nan"}, "epsilon is nan"),
    "epsilon inf": ({"epsilon": "inf"}, "epsilon is inf"),
    "epsilon -inf": ({"epsilon": "-inf"}, "epsilon is -inf"),
    "epsilon overflows": ({"epsilon": "1e999"}, "epsilon is inf"),
    "epsilon no number": ({"epsilon": "one"}, "--epsilon"),
    "epsilon empty": ({"epsilon": ""}, "--epsilon"),
    "epsilon with a line break": ({"epsilon": "1\n2"}, "--epsilon"),
    "delta 0": ({"delta": "0"}, "delta is 0"),
    "delta negative": ({"delta": "-1e-9"}, "delta is -1e-09"),
    "delta nan": ({"delta": "nan"}, "delta is nan"),
    "delta inf": ({"delta": "inf"}, "delta is inf"),
    "delta 1": ({"delta": "1"}, "delta is 1"),
    "delta above 1": ({"delta": "2.5"}, "delta is 2.5"),
    "delta no number": ({"delta": "tiny"}, "--delta"),
    "epsilon beyond any protection": ({"epsilon": "1e308"}, "at most 1e9"),
}


@pytest.mark.usefixtures("nothing_paid")
@pytest.mark.parametrize(("named", "fragment"), USAGE.values(), ids=USAGE)
def test_budgets_out_of_range_are_wrong_usage(named, fragment, place):
    assert_refused(place, cli_runs.run_arguments(**named), 2, fragment)


@pytest.mark.usefixtures("nothing_paid")
@pytest.mark.parametrize(("epsilon", "delta"), [("1e-100", "1e-300"), ("1e-15", "1e-30")])
def test_budgets_too_small_to_measure_anything_are_refused_for_privacy(epsilon, delta, place):
    assert_refused(
        place,
        cli_runs.run_arguments(epsilon=epsilon, delta=delta),
        3,
        "allows nothing to be measured",
    )


OPTIONS = {
    "unknown mechanism": (("--mechanism", "magic"), "mechanism 'magic' is unknown; choose one of"),
    "unknown engine": (("--engine", "steam"), "engine 'steam' is unknown; choose one of"),
    "unknown adjacency": (("--adjacency", "both"), "'add-remove' or 'replace-one'"),
    "unknown accounting": (("--accounting", "renyi"), "'zcdp' or 'gdp'"),
    "accounting that does not suit": (
        ("--mechanism", "mst", "--accounting", "gdp"),
        "mst selects by the exponential",
    ),
    "negative rows": (("--rows", "-1"), "--rows is -1"),
    "absurd rows": (("--rows", "9" * 30), "at most"),
    "more rows than can be drawn": (
        ("--rows", "1000000000000"),
        "--rows is 1000000000000; give 0 or more, and at most",
    ),
    "more rows than can be drawn of three columns": (
        ("--rows", "2100000000"),
        "and at most 2082408",
    ),
    "rows no number": (("--rows", "1.5"), "--rows"),
    "negative seed": (("--seed", "-1"), "--seed is -1"),
    "unknown option": (("--public",), "unknown option --public (see"),
    "abbreviated option": (("--mech", "mst"), "unknown option --mech; did you mean --mechanism?"),
    "model to stdout": (("--save", "-"), "--save"),
    "model over the table": (("--save", "out.csv"), "named twice"),
    "model over the certificate": (("--save", "./out.csv.privacy.json"), "named twice"),
    "model over the input": (("--save", "in.csv", "--force"), "named twice"),
    "model over the schema": (("--save", "schema.json", "--force"), "named twice"),
}


@pytest.mark.usefixtures("nothing_paid")
@pytest.mark.parametrize(("options", "fragment"), OPTIONS.values(), ids=OPTIONS)
def test_wrong_options_are_wrong_usage(options, fragment, place):
    assert_refused(place, cli_runs.run_arguments(*options), 2, fragment)


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ((), "required: COMMAND"),
        (("fly",), "invalid choice"),
        (("run",), "required"),
        (("run", "in.csv", "-s", "schema.json", "-o", "out.csv", "--epsilon", "1"), "--delta"),
        (("run", "in.csv", "-s", "schema.json", "-o", "out.csv", "--delta", "1e-9"), "--epsilon"),
        (("run", "in.csv", "-o", "out.csv", "--epsilon", "1", "--delta", "1e-9"), "--schema"),
        (("run", "in.csv", "-s", "schema.json", "--epsilon", "1", "--delta", "1e-9"), "--output"),
        (("sample", "in.csv"), "--output"),
        (("schema",), "required: COMMAND"),
        (("show",), "FILE"),
    ],
)
def test_incomplete_commands_are_wrong_usage(arguments, fragment, place):
    assert_refused(place, arguments, 2, fragment)


def _parquet(frame, **options):
    stream = io.BytesIO()
    frame.to_parquet(stream, **options)
    return stream.getvalue()


def _excel(frame):
    stream = io.BytesIO()
    frame.to_excel(stream, index=False)
    return stream.getvalue()


def _flipped(content, share):
    """With some bytes inverted, a share of the whole away from the beginning."""
    first = int(share * len(content))
    middle = bytes(byte ^ 0xFF for byte in content[first : first + 40])
    return content[:first] + middle + content[first + 40 :]


MANY = pd.DataFrame({"town": [cli_runs.CANARY + os.urandom(9).hex() for _ in range(500)], "age": 1})
MANY["code"] = "01"
PAGES, SHEET = _parquet(MANY, compression="gzip"), _excel(MANY)
PARQUET = _parquet(pd.DataFrame({"town": [cli_runs.CANARY] * 9, "age": 1, "code": "01"}))
GZIPPED = gzip.compress(
    (cli_runs.HEADER + cli_runs.ROWS).encode() + os.urandom(50_000).hex().encode()
)
TABLES = {
    "missing file": ("none.csv", None, "no such file"),
    "missing parquet": ("none.parquet", None, "no such file"),
    "missing folder": ("none/none.csv", None, "no such file"),
    "path with NUL": ("in\0.csv", None, "cannot be read"),
    "unknown ending": ("in.xls", "x", "its ending is not known"),
    "no ending": ("in", "x", "its ending is not known"),
    "empty file": ("t.csv", "", "it is empty"),
    "blank lines only": ("t.csv", "\n\r\n\n", "it is empty"),
    "empty gzip": ("t.csv.gz", gzip.compress(b""), "it is empty"),
    "empty parquet": ("t.parquet", "", "not a Parquet file"),
    "record too long": (
        "t.csv",
        f"{cli_runs.HEADER}{cli_runs.ROWS}A,1,01,{cli_runs.CANARY}\n",
        "as many fields",
    ),
    "record too short": (
        "t.csv",
        f"{cli_runs.HEADER}{cli_runs.ROWS}{cli_runs.CANARY},1\n",
        "as many fields",
    ),
    "duplicate names": (
        "t.csv",
        f"town,age,town\n{cli_runs.CANARY},1,B\n",
        "two columns have the same name",
    ),
    "no header": (
        "t.csv",
        f"{cli_runs.CANARY},1,01\nA,2,02\n",
        "the first line must hold the names, in the",
    ),
    "no header, twice the same": (
        "t.csv",
        f"{cli_runs.CANARY},{cli_runs.CANARY},01\nA,2,02\n",
        "two columns have the same name",
    ),
    "latin-1": (
        "t.csv",
        f"{cli_runs.HEADER}{cli_runs.CANARY}é,1,01\n".encode("latin-1"),
        "not UTF-8",
    ),
    "latin-1 header": (
        "t.csv",
        f"town,age,codé\n{cli_runs.CANARY},1,01\n".encode("latin-1"),
        "not UTF-8",
    ),
    "utf-16": (
        "t.csv",
        f"{cli_runs.HEADER}{cli_runs.CANARY},1,01\n".encode("utf-16"),
        "save it as",
    ),
    "NUL in a row": ("t.csv", f"{cli_runs.HEADER}{cli_runs.CANARY}\0,1,01\n", "NUL bytes"),
    "NUL in the header": ("t.csv", f"to\0wn,age,code\n{cli_runs.CANARY},1,01\n", "NUL bytes"),
    "open quote": ("t.csv", f'{cli_runs.HEADER}{cli_runs.ROWS}"{cli_runs.CANARY},1,01\n', "quote"),
    "stray quote": ("t.csv", f'{cli_runs.HEADER}{cli_runs.CANARY}"x"y,1,01\n', "quote"),
    "no gzip": ("t.csv.gz", cli_runs.HEADER + cli_runs.ROWS, "damaged or not a gzip file"),
    "cut gzip": ("t.csv.gz", GZIPPED[: len(GZIPPED) // 2], "damaged or not a gzip file"),
    "wrong gzip checksum": (
        "t.csv.gz",
        gzip.compress((cli_runs.HEADER + cli_runs.ROWS).encode())[:-8] + b"\0" * 8,
        "damaged",
    ),
    "wrong gzip contents": ("t.csv.gz", GZIPPED[:5000] + b"\xff" * 999 + GZIPPED[5999:], "damaged"),
    "no parquet": ("t.parquet", cli_runs.HEADER + cli_runs.ROWS, "not a Parquet file"),
    "cut parquet": ("t.parquet", PARQUET[:-20], "not a Parquet file"),
    "parquet with holes": ("t.parquet", PARQUET[:4] + b"\xff" * 60 + PARQUET[64:], "damaged"),
    "table lacks a column": (
        "t.csv",
        f"town,age\n{cli_runs.CANARY},1\n",
        "the schema has 'code', the table has not",
    ),
    "schema lacks a column": (
        "t.csv",
        f"town,age,code,pay\n{cli_runs.CANARY},1,01,5\n",
        "the table has 'pay', the schema has",
    ),
    "other capitals": ("t.csv", f"town,Age,code\n{cli_runs.CANARY},1,01\n", "'Age'"),
}


@pytest.mark.usefixtures("nothing_paid")
@pytest.mark.parametrize(("name", "content", "fragment"), TABLES.values(), ids=TABLES)
def test_unreadable_tables_fail(name, content, fragment, place):
    if content is not None:
        cli_runs.write(place / name, content)
    assert_refused(place, cli_runs.run_arguments(source=name), 1, fragment)


BROKEN = {
    name: TABLES[name]
    for name in ("record too long", "cut gzip", "wrong gzip contents", "NUL in a row")
} | {
    f"{name} at {share}": (file, _flipped(content, share), said)
    for name, file, content, said in (
        ("Parquet", "t.parquet", PAGES, "damaged"),
        ("Excel", "t.xlsx", SHEET, "no Excel file"),
    )
    for share in (0.3, 0.5)
}


@pytest.mark.parametrize(("name", "content", "fragment"), BROKEN.values(), ids=BROKEN)
def test_a_broken_table_is_refused_before_a_budget_pays(name, content, fragment, place):
    created = ("budget", "create", "b", "--epsilon=2", "--delta=1e-5", "--population=people")
    assert cli_runs.invoke(*created).code == 0
    cli_runs.write(place / name, content)
    before = (place / "b").read_bytes()
    assert_refused(place, cli_runs.run_arguments("--budget", "b", source=name), 1, fragment)
    assert (place / "b").read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        b"",
        f"{cli_runs.HEADER}{cli_runs.CANARY},1\n".encode(),
        b"\xff\xfe",
        f"{cli_runs.CANARY}\n".encode(),
    ],
)
def test_unreadable_standard_input_fails(content, place):
    assert_refused(
        place,
        cli_runs.run_arguments(source="-"),
        1,
        "'-': " if b"," in content else "",
        stdin=content,
    )


@pytest.mark.usefixtures("nothing_paid")
def test_an_empty_directory_is_no_table_and_none_a_schema(place):
    (place / "folder.csv").mkdir()
    (place / "folder.parquet").mkdir()
    assert_refused(place, cli_runs.run_arguments(source="folder.csv"), 1, "the directory is empty")
    assert_refused(
        place, cli_runs.run_arguments(source="folder.parquet"), 1, "the directory is empty"
    )
    assert_refused(place, cli_runs.run_arguments(schema="folder.csv"), 1, "is a directory")
    assert_refused(place, cli_runs.run_arguments(output="folder.csv"), 1, "it is a directory")
    assert_refused(place, cli_runs.run_arguments("--save", "folder.csv"), 1, "it is a directory")
    assert_refused(place, ("show", "folder.csv"), 1, "is a directory")
    assert_refused(place, ("sample", "folder.csv", "-o", "out.csv"), 1, "is a directory")


def test_a_file_that_may_not_be_read(place, monkeypatch):
    (place / "loop.csv").symlink_to("loop.csv")
    assert_refused(place, cli_runs.run_arguments(source="loop.csv"), 1, "symbolic links")

    def refuse(*_arguments, **_options):
        raise PermissionError(13, "Permission denied", f"/secret/{cli_runs.CANARY}")

    monkeypatch.setattr(files.Path, "open", refuse)
    assert_refused(place, cli_runs.run_arguments(), 1, "permission denied")


def field(kind, constraints=None, **more):
    return {"name": "x", "type": kind, "constraints": constraints or {}, **more}


BOUNDS = {"minimum": 0, "maximum": 9}
DAYS = {"minimum": "2020-01-01", "maximum": "2020-12-31"}
SCHEMAS = {
    "missing": (None, "no such file"),
    "empty file": ("", "not valid JSON"),
    "no JSON": ("fields: []", "not valid JSON"),
    "deep JSON": ("[" * 100_000, "it nests more than 50 objects and lists"),
    "not UTF-8": (b'{"fields": "\xe9"}', "not UTF-8"),
    "a list": ("[]", "give a JSON object"),
    "no fields": ({}, "fields is not given; give a list of columns"),
    "0 columns": ({"fields": []}, "list at least one column"),
    "nameless": ({"fields": [{"type": "integer"}]}, "give each field a name"),
    "no type": ({"fields": [{"name": "x"}]}, "'x'"),
    "unknown type": ({"fields": [field("geojson")]}, "'geojson' is not supported"),
    "column twice": ({"fields": [cli_runs.FIELDS[0], cli_runs.FIELDS[0]]}, "'town' appears twice"),
    "no levels": ({"fields": [field("string")]}, "constraints.enum is missing"),
    "empty levels": ({"fields": [field("string", {"enum": []})]}, "'x'"),
    "duplicated levels": ({"fields": [field("string", {"enum": ["a", "b", "a"]})]}, "'a'"),
    "levels equal as numbers": ({"fields": [field("number", {"enum": [1, 1.0]})]}, "'x'"),
    "min above max": ({"fields": [field("integer", {"minimum": 9, "maximum": 0})]}, "above"),
    "dates min above max": (
        {"fields": [field("date", {"minimum": "2021-01-01", "maximum": "2020-01-01"})]},
        "above",
    ),
    "no bounds": ({"fields": [field("integer")]}, "minimum is not filled in"),
    "infinite bound": (
        '{"fields": [{"name": "x", "type": "number", "constraints": {"minimum": -Infinity, "maximum": 0}}]}',
        "finite",
    ),
    "bound no number": (
        {"fields": [field("integer", {"minimum": "0", "maximum": 9})]},
        "give a finite number",
    ),
    "one bin": ({"fields": [field("integer", BOUNDS, synthdp={"bins": 1})]}, "bins"),
    "no bins": ({"fields": [field("integer", BOUNDS, synthdp={"bins": 0})]}, "bins"),
    "too many bins": ({"fields": [field("integer", BOUNDS, synthdp={"bins": 10**9})]}, "bins"),
    "more bins than values": ({"fields": [field("integer", BOUNDS, synthdp={"bins": 11})]}, "bins"),
    "edges not increasing": (
        {"fields": [field("number", synthdp={"edges": [0, 5, 5, 9]})]},
        "not increasing",
    ),
    "edges against bounds": (
        {"fields": [field("number", BOUNDS, synthdp={"edges": [0, 1, 5]})]},
        "make them equal",
    ),
    "unknown extra": (
        {"fields": [field("integer", BOUNDS, synthdp={"bin": 3})]},
        "'synthdp.bin' is not known",
    ),
    "other is no text": (
        {"fields": [field("string", {"enum": ["a", "b"]}, synthdp={"other": 3})]},
        "'x'",
    ),
    "no date": (
        {"fields": [field("date", {"minimum": "soon", "maximum": "2020-01-01"})]},
        "is not a date",
    ),
    "unknown resolution": (
        {"fields": [field("date", DAYS, synthdp={"resolution": "age"})]},
        "resolution",
    ),
    "size 0": ('{"town": 0, "age": 5, "code": 2}', "fields is not given; give a list of columns"),
}


@pytest.mark.usefixtures("nothing_paid")
@pytest.mark.parametrize(("schema", "fragment"), SCHEMAS.values(), ids=SCHEMAS)
def test_contradictory_schemas_fail(schema, fragment, place):
    if schema is None:
        (place / "schema.json").unlink()
    else:
        cli_runs.lay_out(place, table=f"x\n{cli_runs.CANARY}\n", schema=schema)
    assert_refused(place, cli_runs.run_arguments(), 1, fragment)
    if schema is not None:
        cli_runs.assert_one_line(cli_runs.invoke("show", "schema.json"), 1)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_draft_is_refused_until_it_is_filled_in(kind, place):
    cli_runs.write(place / "t.parquet", PARQUET)
    source = {"csv": "in.csv", "parquet": "t.parquet"}[kind]
    assert cli_runs.invoke("schema", "draft", source, "-o", "draft.json").code == 0
    fragment = {"csv": "the type is not filled in", "parquet": "enum"}[kind]
    assert_refused(place, cli_runs.run_arguments(source=source, schema="draft.json"), 1, fragment)


EXISTING = {
    "table": ("out.csv", ()),
    "certificate": ("out.csv.privacy.json", ()),
    "model": ("people.synthdp", ("--save", "people.synthdp")),
}


@pytest.mark.usefixtures("nothing_paid")
@pytest.mark.parametrize(("name", "options"), EXISTING.values(), ids=EXISTING)
def test_nothing_is_replaced_without_force(name, options, place):
    cli_runs.write(place / name, "old")
    assert_refused(place, cli_runs.run_arguments(*options), 1, "it exists; pass --force")
    assert (place / name).read_text() == "old"


@pytest.mark.usefixtures("nothing_paid")
@pytest.mark.parametrize(
    ("output", "code", "fragment"),
    [
        ("none/out.csv", 1, "its directory does not exist"),
        ("in.csv/out.csv", 1, "not a directory"),
        ("out.txt", 1, "its ending is not known"),
        ("out", 1, "its ending is not known"),
        ("o\0.csv", 1, "cannot be written"),
        ("x" * 300 + ".csv", 1, "file name too long"),
        ("x" * 250 + ".csv", 1, "file name too long"),  # with the certificate's ending
        ("in.csv", 2, "named twice"),
        ("./in.csv", 2, "named twice"),
        ("link.csv", 2, "named twice"),
    ],
)
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_outputs_that_cannot_be_written_are_refused_beforehand(
    output, code, fragment, force, place
):
    (place / "link.csv").symlink_to("in.csv")
    assert_refused(place, cli_runs.run_arguments(*force, output=output), code, fragment)
    assert (place / "in.csv").read_text() == cli_runs.HEADER + cli_runs.ROWS


def test_a_fifo_is_no_output(place):
    os.mkfifo(place / "pipe.csv")
    assert_refused(
        place, cli_runs.run_arguments("--force", output="pipe.csv"), 1, "not an ordinary file"
    )


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_draft_never_replaces_the_table(force, place):
    assert_refused(place, ("schema", "draft", "in.csv", "-o", "in.csv", *force), 2, "named twice")
    cli_runs.write(place / "old.json", "old")
    assert_refused(place, ("schema", "draft", "in.csv", "-o", "old.json"), 1, "pass --force")


@pytest.mark.usefixtures("nothing_paid")
def test_the_direct_engine_refuses_a_big_domain_before_anything_is_paid(place):
    names = [f"c{i}" for i in range(9)]
    cli_runs.lay_out(
        place,
        table=",".join(names) + "\n" + ",".join([cli_runs.CANARY] * 9) + "\n",
        schema=dict.fromkeys(names, 10),
    )
    assert_refused(place, cli_runs.run_arguments("--engine", "direct"), 1, "1000000000 cells")


MODELS = {
    "missing": (None, "no such file"),
    "a table": (f"a,b\n1,{cli_runs.CANARY}\n", "no saved synthesis"),
    "empty": ("", "no saved synthesis"),
    "a schema": (json.dumps(cli_runs.SCHEMA), "no saved synthesis"),
    "parquet": (PARQUET, "no saved synthesis"),
}


@pytest.mark.parametrize(("content", "fragment"), MODELS.values(), ids=MODELS)
def test_what_is_no_model_cannot_be_sampled(content, fragment, place):
    if content is not None:
        cli_runs.write(place / "model", content)
    assert_refused(place, ("sample", "model", "-o", "more.csv"), 1, fragment)


@pytest.mark.parametrize("rows", ["2150000000", "1000000000000", "9" * 30])
def test_more_rows_than_can_be_drawn_are_not_sampled(rows, place):
    """The smallest of these could be drawn of one column, but not of two."""
    counts = LinearMeasurement(("a", "b"), np.full((2, 2), 25.0), 1.0)
    from_measurements(Domain(("a", "b"), (2, 2)), [counts]).save(place / "model")
    assert_refused(
        place, ("sample", "model", "-o", "more.csv", "--rows", rows), 2, f"rows is {rows}; "
    )


UNKNOWN = {
    "missing": (None, "no such file"),
    "text": ("hello", "none of these"),
    "a table": (cli_runs.HEADER + cli_runs.ROWS, ""),
    "parquet": (PARQUET, ""),
    "a number": ("7", ""),
    "deep": ("[" * 100_000, ""),
    "half a certificate": ('{"guarantee": "x", "events": []}', ""),
    "odd certificate": ('{"guarantee": "x", "events": [1], "accounting": [], "noise": null}', ""),
}


@pytest.mark.parametrize(("content", "fragment"), UNKNOWN.values(), ids=UNKNOWN)
def test_show_refuses_files_that_it_does_not_know(content, fragment, place):
    if content is not None:
        cli_runs.write(place / "file", content)
    assert_refused(
        place, ("show", "file"), 1, fragment.replace("none of these", "give one of these")
    )
