"""The check of a schema, as it is shown unless all of it is asked for: about a screen, the worst
first.
"""

import json

import pytest
from helpers.cli_runs import invoke

from synthdp.cli import ABOUT_READING, LINES
from synthdp.report import WIDTH

WIDE = {f"c{i:02}": 1500 + 37 * i for i in range(40)} | {"small": 2}
KINDS = {
    f"k{i}": kind
    for i, kind in enumerate(["categorical", "integer", "number", "date", "boolean"] * 6)
}
BUDGET = ("--epsilon", "1", "--delta", "1e-9")


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in {
        "wide.json": WIDE,
        "kinds.json": KINDS,
        "few.json": {"a": 2, "b": 3},
    }.items():
        (tmp_path / name).write_text(json.dumps(content))


def check(*arguments):
    outcome = invoke("schema", "check", *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out.decode().partition(f"\n\n{ABOUT_READING}")[0].splitlines()


@pytest.mark.parametrize(
    "options", [(), BUDGET, (*BUDGET, "--rows", "50000"), (*BUDGET, "--rows", "100")]
)
@pytest.mark.parametrize("name", ["wide.json", "kinds.json", "few.json"])
def test_it_fits_on_a_screen(name, options):
    lines = check(name, *options)
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH
    everything = check(name, *options, "--all")
    assert len(everything) >= len(lines) - 8  # shorter lines, that is, and a hint
    assert not any("--all" in line for line in everything)


def test_the_worst_is_what_is_left_on_it():
    lines = check("wide.json", *BUDGET, "--rows", "50000")
    assert "warning: 'c38' x 'c39': " in lines[2]
    findings = json.loads("\n".join(check("wide.json", "--json")))["findings"]
    hidden = next(line for line in lines if line.startswith("... and "))
    shown = sum(line.startswith(("warning:", "note:")) for line in lines)
    assert hidden == f"... and {len(findings) - shown} more; --all shows them"
    start = next(i for i, line in enumerate(lines) if line.startswith("column "))
    assert [line.split()[0] for line in lines[start + 1 : start + 7]] == [
        "c39",
        "c38",
        "c37",
        "c36",
        "c35",
        "c34",
    ]
    assert lines[start + 7] == "... and 35 more; --all shows them"


def test_what_needs_most_records_is_left_on_it():
    lines = check("kinds.json", *BUDGET, "--rows", "50000")
    questions = json.loads("\n".join(check("kinds.json", *BUDGET, "--json")))["noise"]["learning"][
        "questions"
    ]
    needs = sorted((question["least_records"] or 0 for question in questions), reverse=True)
    start = next(
        i for i, line in enumerate(lines) if line.startswith("column ") and " needs " in line
    )
    shown = [
        next(word for word in line.split() if word == f"{need:,.0f}")
        for line, need in zip(lines[start + 1 : start + 4], needs[:3], strict=True)
    ]
    assert len(shown) == 3
    assert lines[start + 4] == f"... and {len(questions) - 3} more; --all shows them"


def test_all_hides_nothing():
    everything = "\n".join(check("wide.json", *BUDGET, "--rows", "50000", "--all"))
    findings = json.loads("\n".join(check("wide.json", "--json")))["findings"]
    assert len(findings) > 100
    assert everything.count("warning: ") + everything.count("note: ") == len(findings)
    assert all(f"\n{name} " in everything for name in WIDE)
    assert " more; " not in everything
