"""``synthdp run --order``: one table in, one table out, in which persons have all their rows."""

import json
from pathlib import Path

import pandas as pd
import pytest
from helpers.cli_runs import assert_one_line, invoke, with_others

FIELDS = [
    {
        "name": "day",
        "type": "integer",
        "constraints": {"minimum": 1, "maximum": 9, "required": True},
    },
    {
        "name": "ward",
        "type": "string",
        "constraints": {"enum": ["eyes", "heart"], "required": True},
    },
]
RUN = ("run", "in.csv", "-s", "schema.json", "-o", "out.csv", "--epsilon", "3", "--delta", "1e-6")
RUN += ("--mechanism", "independent", "--unit", "patient", "--max-rows-per-unit", "3")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    patients = [f"secret-{number // 2}" for number in range(300)]
    table = pd.DataFrame(
        {"day": [1, 5] * 150, "patient": patients, "ward": ["eyes", "eyes", "heart"] * 100}
    )
    table.to_csv("in.csv", index=False)
    Path("schema.json").write_text(json.dumps({"fields": FIELDS}))
    fields = [FIELDS[0], {"name": "ward", "type": "string", "synthdp": {"derive": ["levels"]}}]
    Path("open.json").write_text(json.dumps({"fields": fields}))
    Path("kinds.json").write_text(json.dumps({"day": "integer", "ward": "categorical"}))


def test_a_table_becomes_a_table_of_whole_persons():
    done = invoke(*RUN, "--order", "day", "--save", "s.synthdp", "--journal", "j", "--seed", "1")
    assert (done.code, done.notes[-1].startswith("synthdp: journal j: it holds the whole run")) == (
        0,
        True,
    )
    drawn = pd.read_csv("out.csv")
    assert drawn.columns.tolist() == ["day", "patient", "ward"]
    assert drawn["patient"].unique().tolist() == list(range(1, drawn["patient"].max() + 1))
    assert drawn.groupby("patient")["day"].apply(lambda days: days.is_monotonic_increasing).all()
    assert json.loads(Path("out.csv.privacy.json").read_text())["complete"]
    assert "secret" not in Path("j").read_text()
    assert b"rows" in invoke("show", "s.synthdp").out
    assert invoke("sample", "s.synthdp", "-o", "more.csv", "--rows", "7", "--seed", "2").code == 0
    assert pd.read_csv("more.csv")["patient"].nunique() == 7
    assert invoke("journal", "rescue", "j", "-o", "r.synthdp").code == 0
    again = invoke("sample", "r.synthdp", "-o", "-", "--rows", "2", "--seed", "2")
    assert (again.code, again.out.splitlines()[0]) == (0, b"day,patient,ward")


def test_without_an_order_nothing_changes():
    assert invoke(*RUN, "--seed", "1").code == 0
    assert pd.read_csv("out.csv").columns.tolist() == ["day", "ward"]


@pytest.mark.parametrize(
    ("more", "said", "code"),
    [
        (
            ("--order", "date"),
            "--order is 'date', which the schema lacks; name one of 'day', 'ward'",
            2,
        ),
        (("--order", "patient"), "--order is 'patient', which is --unit as well", 2),
        (
            ("--order", "day", "--max-rows-per-unit", "1001"),
            "with --order give a whole number from 1 to 1000",
            2,
        ),
        (
            ("--order", "ward", "-s", "open.json"),
            "'ward', which may be missing",
            2,
        ),
        (("--order", "day", "--target", "ward"), "--target does not go with --order", 2),
        (("--order", "day", "--workload", "2-way"), "--workload does not go with --order", 2),
        (("--order", "day", "--save-schema", "x"), "--save-schema does not go with --order", 2),
        (("--order", "day", "--adjacency", "replace-one"), "--adjacency is 'replace-one'", 2),
        (("--order", "day", "--journal", "in.csv"), "'in.csv' is named twice", 2),
        (("--order", "day", "--rows", "-1"), "--rows is -1", 2),
    ],
)
def test_what_does_not_go_with_an_order_is_one_line(more, said, code):
    before = sorted(Path().iterdir())
    done = invoke(*with_others(RUN, *more))
    assert_one_line(done, code)
    assert said in done.err
    assert sorted(Path().iterdir()) == before


def test_kinds_are_enough_and_the_rest_is_learnt():
    kinds = {"day": {"type": "integer", "constraints": {"required": True}}, "ward": "categorical"}
    Path("kinds.json").write_text(json.dumps(kinds))
    done = invoke(*RUN[:2], "--kinds", "kinds.json", *RUN[4:], "--order", "day", "--seed", "1")
    assert done.code == 0, done.err
    assert json.loads(Path("out.csv.privacy.json").read_text())["domain"]["open"] == []


def test_an_order_without_persons_is_one_line():
    alone = (*RUN[:10], "--order", "day")
    for command, said in (
        (alone, "--order is given without --unit"),
        ((*alone, "--unit", "patient"), "--order is given without --max-rows-per-unit"),
        (
            (*RUN[:2], "--kinds", "kinds.json", *RUN[4:], "--order", "day"),
            "--order is 'day', which may be missing",
        ),
    ):
        done = invoke(*command)
        assert_one_line(done, 2)
        assert said in done.err


def test_options_of_other_models_are_refused_when_more_is_drawn():
    assert invoke(*RUN, "--order", "day", "--save", "s.synthdp").code == 0
    for more, said in (
        (("--where", "{}"), "--where does not go"),
        (("--given", "in.csv"), "--given does not go"),
        (("--delimiter", ";"), "written as its schema says"),
    ):
        done = invoke("sample", "s.synthdp", "-o", "more.csv", *more)
        assert_one_line(done, 2)
        assert said in done.err
