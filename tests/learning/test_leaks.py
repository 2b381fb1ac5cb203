"""The leak test: one record more, the same noise, and nothing that can be seen may change.

The budget is so small that no single record can be told from noise: whatever changes without noise
changing it has leaked. And with any budget each exact answer that the kernel gets moves by at most
what its event says. `test_leaks_mutants` shows that the test notices.
"""

import json
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from helpers.flows import (
    BESIDE,
    KEY,
    Frozen,
    json_of,
    replayed,
    run_of,
    sensitivity_violations,
    watched,
    word_for,
)
from helpers.homes import home
from helpers.random_tables import (
    KINDS,
    LARGE,
    LOUD,
    NAMES,
    ODD,
    PERSONS,
    QUIET,
    RICH,
    USUAL,
    answers_to_a_run,
    assert_same,
    assert_same_domain,
    each_odd,
    moves,
    neighbours_by_person,
    runs_of,
    with_row,
)

from synthdp.cli import run
from synthdp.core import Grid, grouped, with_caution_code
from synthdp.data import UnitRows
from synthdp.privacy import Queryable, value_weights
from synthdp.release import Release

BASES = {"usual": USUAL, "nobody": USUAL[:0], "persons": neighbours_by_person(1, {})[0]}
"""Tables that many neighbours are compared with."""

_RUNS = {}


def base_run(name, **settings):
    """The run on one of `BASES`; its noise is frozen, so that one run serves all neighbours."""
    key = name, json_of(settings)
    if key not in _RUNS:
        (_RUNS[key],) = runs_of([BASES[name]], **settings)
    return _RUNS[key]


@each_odd
def test_one_odd_record_shows_nowhere(odd):
    for frozen in (QUIET[0], QUIET[1 + ODD.index(odd) % 3]):
        one, (other,) = (
            base_run("usual", frozen=frozen),
            runs_of([with_row(USUAL, odd)], frozen=frozen),
        )
        assert sensitivity_violations(one.events, one.answers, other.answers) == []
        assert_same(one, other)


@each_odd
def test_one_odd_record_shows_nowhere_whatever_is_measured_then(odd):
    settings = {"frozen": QUIET[1], "mechanism": "auto"}
    assert_same_domain(base_run("usual", **settings), *runs_of([with_row(USUAL, odd)], **settings))


@pytest.mark.parametrize("peak", [2, 9, 13])
def test_the_only_row_and_no_row_at_all_look_alike(peak):
    words = [word_for(-0.05)] * 1000
    words[peak] = word_for(1)  # one cell stands out, and not because of the record
    frozen = {"words": tuple(words)}
    for odd in ({}, *ODD[peak % 3 :: 3]):
        one, (other,) = (
            base_run("nobody", frozen=frozen),
            runs_of([with_row(USUAL[:0], odd)], frozen=frozen),
        )
        assert sensitivity_violations(one.events, one.answers, other.answers) == []
        assert_same(one, other)


@pytest.mark.parametrize("n_rows", [1, 3, 500])
def test_one_person_shows_nowhere(n_rows):
    for odd in ({}, {"town": "unique"}, {"price": "1e300", "age": ""}):
        table, neighbour = neighbours_by_person(n_rows, odd)
        assert table.equals(BASES["persons"])
        settings = {"frozen": QUIET[0], "epsilon": 0.2} | PERSONS
        one, (other,) = base_run("persons", **settings), runs_of([neighbour], **settings)
        assert sensitivity_violations(one.events, one.answers, other.answers) == []
        assert_same(one, other)
        assert "person" not in dict(one.dtypes)
        total = {answer[0]: sum(answer[3]) for answer in other.answers if answer[0] == "marginal"}[
            "marginal"
        ]
        before = {answer[0]: sum(answer[3]) for answer in one.answers if answer[0] == "marginal"}[
            "marginal"
        ]
        assert total - before == min(n_rows, PERSONS["max_rows"])


# With a budget that finds much: the same questions of the neighbour


@cache
def answers_of_large():
    return answers_to_a_run(RICH, LARGE)


@pytest.mark.parametrize("odd", [{}, *ODD], ids=["usual", *NAMES])
def test_a_record_moves_each_answer_by_at_most_one(odd):
    assert moves(RICH, LARGE, with_row(LARGE, odd), 1, answers=answers_of_large()) == []


@pytest.mark.parametrize("odd", ODD[::3], ids=NAMES[::3])
def test_replacing_a_record_moves_each_answer_by_at_most_the_root_of_two(odd):
    assert moves(RICH, LARGE, with_row(LARGE[1:], odd), 2, answers=answers_of_large()) == []


def test_a_person_moves_each_answer_by_at_most_one():
    """Cells by one record, levels and cells that it shares itself out among by the weight of one."""
    table, neighbour = neighbours_by_person(500, {"town": "unique", "age": "999"})
    (weight, *_) = value_weights(PERSONS["max_rows"])
    found = moves(KINDS, table, neighbour, 1, **PERSONS)
    assert {what for what, _ in found} <= {"frequencies", "shared"}
    assert moves(KINDS, table, neighbour, weight**2, **PERSONS) == []
    moved = replayed(neighbour, KINDS, [("frequencies", Grid(column="town"), ())], **PERSONS)
    assert dict(moved[0][3])["unique"] == weight  # the bound is reached


def test_a_tree_asks_the_same_and_moves_by_at_most_one():
    kinds = {"age": {"type": "integer", "synthdp": {"binning": "privtree", "bins": 8}}}
    frame, neighbour = LARGE[["age"]], with_row(LARGE[["age"]], {"age": "999"})
    one, other = (
        run_of(table, kinds, randomness=Frozen(2), **LOUD | {"epsilon": 0.05})
        for table in (frame, neighbour)
    )
    # where outermost bins end, and their shape, measured counts say, which one record moves
    edges, others = (run.schema["fields"][0]["synthdp"]["edges"][1:-1] for run in (one, other))
    assert (edges, one.questions, one.error) == (others, other.questions, "")
    assert "tree" in [event.to_dict()["event"] for event in one.events]
    assert moves(kinds, frame, neighbour, 2) == []  # cells to the left of a point, and to the right


FRAMES = {
    "an integer column with a gap": ([3, 4, 5] * 5, None),
    "an integer column with a text": ([3, 4, 5] * 5, "many"),
    "an integer column with a fraction": ([3, 4, 5] * 5, 2.5),
    "a float column with a text": ([0.5, 1.25] * 9, "?"),
    "truth values with a gap": ([True, False] * 9, None),
    "truth values with a text": ([True, False] * 9, "maybe"),
    "moments with a gap": (list(pd.date_range("2020-01-01", periods=9)), None),
    "moments with a text": (list(pd.date_range("2020-01-01", periods=9)), "0001-01-01"),
    "texts and numbers with a fraction": (["a", 7, 7] * 9, 7.5),
}


@pytest.mark.parametrize("name", FRAMES)
def test_the_type_that_pandas_gives_a_column_moves_no_other_record(name):
    values, odd = FRAMES[name]
    table, neighbour = pd.DataFrame({"x": values}), pd.DataFrame({"x": [*values, odd]})
    assert table["x"].dtype != neighbour["x"].dtype or odd is None or "a" in values
    for kind in ("string", "integer", "number", "boolean", "date", "datetime", "year"):
        one, other = runs_of([table, neighbour], {"x": kind}, frozen=QUIET[0], epsilon=0.05)
        assert sensitivity_violations(one.events, one.answers, other.answers) == []
        assert_same_domain(one, other)


# The command line


def csv_of(frame):
    return frame.to_csv(index=False).encode()


def run_cli(folder, content, monkeypatch, *more, epsilon="0.1"):
    """Everything that one run of the command leaves: exit code, streams, names of files,
    certificate, header, types.
    """
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("in.csv").write_bytes(content)
    Path("kinds.json").write_text(json_of(KINDS))
    frozen = Frozen(**QUIET[0])
    for module in (home(Queryable), home(Release)):
        monkeypatch.setattr(module, "SystemRandomness", lambda: frozen)
    monkeypatch.setattr(home(UnitRows).secrets, "token_urlsafe", lambda _: KEY)
    named = [
        "--kinds",
        "kinds.json",
        "-o",
        "out.csv",
        "--epsilon",
        epsilon,
        "--delta",
        "1e-9",
        "--accounting",
        "gdp",
    ]
    with watched(frozen, []):
        code = run(
            [
                "run",
                "in.csv",
                *named,
                "--mechanism",
                "independent",
                "--seed",
                "1",
                "--rows",
                "5",
                *more,
            ]
        )
    sample = pd.read_csv("out.csv")
    stated = json.loads(Path("out.csv.privacy.json").read_text())
    certificate = {key: value for key, value in stated.items() if key not in BESIDE}
    return code, sorted(map(str, Path().iterdir())), list(sample.columns), certificate


@pytest.mark.parametrize(
    "odd", [odd for odd in ODD if not {"\0", "\ud800"} & {*odd.get("town", "")}][::2]
)  # no CSV holds them
def test_the_command_line_shows_nothing(odd, tmp_path, monkeypatch, capfd):
    one = run_cli(tmp_path / "one", csv_of(USUAL), monkeypatch), capfd.readouterr()
    other = (
        run_cli(tmp_path / "other", csv_of(with_row(USUAL, odd)), monkeypatch),
        capfd.readouterr(),
    )
    assert one == other
    (code, files, names, certificate), (out, err) = one
    assert (code, out) == (0, "")
    assert files == ["in.csv", "kinds.json", "out.csv", "out.csv.privacy.json"]
    assert names == [*KINDS]
    written, *notes = err.splitlines(keepends=True)
    assert written.startswith("out.csv: NOT PRIVATE: ")
    assert "".join(notes) == "".join(
        f"synthdp: caution: {with_caution_code(caution)}\n"
        for caution in grouped(certificate["cautions"])
    )


def test_the_command_line_shows_no_person(tmp_path, monkeypatch, capfd):
    more = ("--unit", "person", "--max-rows-per-unit", "4")
    table, neighbour = neighbours_by_person(9, {"town": "unique", "price": "1e300"})
    one, other = (
        (
            run_cli(tmp_path / name, csv_of(frame), monkeypatch, *more, epsilon="0.5"),
            capfd.readouterr(),
        )
        for name, frame in (("one", table), ("other", neighbour))
    )
    assert one == other
    assert "person" not in one[0][2]
