"""Running the command line inside the test process, and what every refusal must look like."""

import io
import json
import sys
from dataclasses import dataclass
from unittest import mock

from synthdp.cli import run

CANARY = "Zanzibar7731"
"""A value of the sensitive table; no message may ever hold it."""

FIELDS = [
    {"name": "town", "type": "string", "constraints": {"enum": ["A", "B", "C"], "required": True}}
    | {"synthdp": {"other": "C"}},
    {
        "name": "age",
        "type": "integer",
        "constraints": {"minimum": 0, "maximum": 99, "required": True},
    }
    | {"synthdp": {"bins": 5}},
    {"name": "code", "type": "string", "constraints": {"enum": ["01", "02"]}},
]
SCHEMA = {"fields": FIELDS}
HEADER = "town,age,code\n"
ROWS = f"A,30,01\nB,40,02\n{CANARY},50,\nA,7,01\nA,30,01\nB,40,02\nA,50,02\nA,7,01\n" * 400
"""An eighth of them without a code: not so many that it is worth a caution."""

CREATE_BUDGET = (
    "budget",
    "create",
    "b",
    "--epsilon",
    "2",
    "--delta",
    "1e-6",
    "--population",
    "people of a town",
)
"""Arguments that make a budget called ``b``."""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: bytes
    err: str

    @property
    def lines(self):
        return self.err.splitlines()

    @property
    def said(self):
        """All lines but the one that says how good the table is."""
        return [line for line in self.lines if not line.startswith("synthdp: quality: ")]

    @property
    def notes(self):
        """What is said besides that a table was written, and where, how good it is, and that the
        epsilon of a test is large.
        """
        expected = ("; details in ", "synthdp: quality: ", "caution: epsilon is ")
        return [line for line in self.lines if not any(each in line for each in expected)]


def invoke(*arguments, stdin=b""):
    """Run the command line as a process would, with standard streams that are no terminal."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with mock.patch.multiple(
        sys, stdin=io.TextIOWrapper(io.BytesIO(stdin)), stdout=out, stderr=err
    ):
        try:
            code = run([str(argument) for argument in arguments])
        except SystemExit as leaving:
            code = leaving.code
        out.flush()
        err.flush()
    return Outcome(code, out.buffer.getvalue(), err.buffer.getvalue().decode())


def run_arguments(
    *more, source="in.csv", schema="schema.json", output="out.csv", epsilon="1", delta="1e-6"
):
    """Arguments of ``synthdp run``; epsilon and delta with ``=``, so that they may begin with a
    dash.
    """
    named = ("-s", schema, "-o", output, f"--epsilon={epsilon}", f"--delta={delta}")
    return ("run", source, *named, *more)


def lay_out(folder, *, table=HEADER + ROWS, schema=SCHEMA):
    """``in.csv`` and ``schema.json``; texts or bytes are written as they are."""
    write(folder / "in.csv", table)
    write(folder / "schema.json", schema if isinstance(schema, str | bytes) else json.dumps(schema))


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def names_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def assert_quiet_success(outcome):
    assert (outcome.code, outcome.out, outcome.notes) == (0, b"", [])


def assert_one_line(outcome, code):
    """The exit code, one line that says so, no traceback and no value of the table."""
    assert (outcome.code, len(outcome.lines)) == (code, 1), outcome.err
    assert outcome.err.startswith("synthdp: ")
    assert outcome.err.endswith("\n")
    assert "Traceback" not in outcome.err
    assert CANARY not in outcome.err + outcome.out.decode()


def rescued_path(outcome):
    """The file that the message says what was paid for is kept in."""
    return outcome.err.split("synthdp sample ", 1)[1].split(" -o OUT", 1)[0].strip("'")


def saved_model(folder, fields):
    """The bytes of a saved model of the table that `lay_out` puts into a folder."""
    lay_out(folder)
    write(folder / "schema.json", json.dumps({"fields": fields}))
    arguments = run_arguments(
        "--save",
        folder / "m.synthdp",
        "--mechanism",
        "independent",
        source=folder / "in.csv",
        schema=folder / "schema.json",
        output=folder / "out.csv",
        epsilon="20",
    )
    done = invoke(*arguments)
    assert done.code == 0, done.err
    return (folder / "m.synthdp").read_bytes()


def with_others(words, *more):
    """A command with other values of some options: those that it has already give way."""
    named = {word for word in more if word.startswith("-")}
    kept = list(words)
    for place in reversed(range(len(words))):
        if words[place].partition("=")[0] in named:
            del kept[place : place + (1 if "=" in words[place] else 2)]
    return (*kept, *more)
