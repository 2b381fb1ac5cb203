"""Runs whose schema or kinds file has ids and fakes generated."""

import json
import sys

import pandas as pd
import pytest
from helpers.cli_runs import CANARY, FIELDS, assert_one_line, invoke, names_in, run_arguments, write
from helpers.kinds_runs import kinds_arguments

TABLE = "mail,town,patient,age,code\n" + "".join(
    f"{CANARY}{i}@real.net,{'AB'[i % 2]},{CANARY}-{i},{i % 90},0{1 + i % 2}\n" for i in range(500)
)
GENERATED = [
    {
        "name": "patient",
        "type": "string",
        "synthdp": {"kind": "id", "pattern": "P{:04d}", "start": 7},
    },
    {"name": "mail", "type": "email"},
]
SCHEMA = {"fields": [*FIELDS, *GENERATED], "primaryKey": "patient"}
KINDS = {
    "town": "categorical",
    "age": "integer",
    "code": "categorical",
    "patient": "id",
    "mail": "ignore",
}
QUICK = ("--mechanism", "independent", "--engine", "direct")


@pytest.fixture
def place(tmp_path, monkeypatch):
    write(tmp_path / "in.csv", TABLE)
    write(tmp_path / "schema.json", json.dumps(SCHEMA))
    write(tmp_path / "kinds.json", json.dumps(KINDS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(path="out.csv"):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def test_ids_and_fakes_come_out_and_nothing_of_the_real_ones(place):
    done = invoke(
        *run_arguments(
            "--save", "m.synthdp", "--save-schema", "s.json", "--rows", 50, "--seed", 1, *QUICK
        )
    )
    assert (done.code, done.notes) == (0, [])
    assert list(table().columns) == ["mail", "town", "patient", "age", "code"]
    assert table()["patient"].tolist() == [f"P{number:04d}" for number in range(7, 57)]
    assert table()["mail"].str.fullmatch(r"[a-z.]+\d*@example\.(com|net|org)").all()
    again = invoke("sample", "m.synthdp", "-o", "more.csv", "--rows", 50, "--seed", 1)
    assert again.code == 0
    assert (place / "more.csv").read_bytes() == (place / "out.csv").read_bytes()
    for name in set(names_in(place)) - {"in.csv"}:
        assert CANARY.encode() not in (place / name).read_bytes()
    assert CANARY not in done.err + again.err
    shown = invoke("show", "m.synthdp", "--all").out.decode()
    assert (
        "'mail' (email), 'patient' (id): made up for the output, nothing of it was measured"
        in shown.replace("'patient' (id), 'mail' (email)", "'mail' (email), 'patient' (id)")
    )
    assert "generated: P0007, P0008, P0009, ..." in shown
    assert "primary key: patient" in shown
    assert '"generated"' in (place / "out.csv.privacy.json").read_text()
    assert json.loads((place / "s.json").read_text())["primaryKey"] == ["patient"]


@pytest.mark.usefixtures("place")
def test_a_kinds_file_says_id():
    done = invoke(*kinds_arguments("--rows", 3, *QUICK))
    assert done.code == 0, done.err
    assert list(table().columns) == ["town", "patient", "age", "code"]
    assert table()["patient"].tolist() == ["1", "2", "3"]


def test_the_ids_of_persons_may_be_generated_anew(place):
    done = invoke(
        *run_arguments("--unit", "patient", "--max-rows-per-unit", 1, "--rows", 2, *QUICK)
    )
    assert done.code == 0, done.err
    assert table()["patient"].tolist() == ["P0007", "P0008"]
    assert CANARY not in (place / "out.csv").read_text()


@pytest.mark.usefixtures("place")
def test_what_check_and_show_say():
    checked = invoke("schema", "check", "schema.json")
    assert checked.out.decode().startswith(
        "schema of 5 columns, 2 of them generated; no data was opened"
    )
    shown = invoke("show", "kinds.json").out.decode()
    assert shown.startswith(
        "kinds of 4 columns, 3 of them with something to learn, 1 of them generated"
    )
    assert "generated: 1, 2, 3, ..." in shown


@pytest.mark.usefixtures("place")
def test_drafts_tell_of_ids():
    assert (
        "write id, name, email"
        in invoke("schema", "draft", "in.csv", "--kinds", "-o", "k.json").err
    )
    assert '"id"' in json.loads(invoke("schema", "draft", "in.csv").out)["synthdp"]["note"]


REFUSED = {
    "a pattern": (
        {"patient": {"type": "id", "pattern": "{0.real}"}},
        "synthdp.pattern '{0.real}' asks for more",
    ),
    "a kind": (
        {"patient": "uuid"},
        "its kind is 'uuid'; did you mean 'id'? If not, use one of categorical, ",
    ),
    "free text": (
        {"mail": "text"},
        "column 'mail': its kind is 'text', and free text cannot be synthesised",
    ),
    "nothing left": (dict.fromkeys(("town", "age", "code"), "id"), "all columns are generated"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_kinds_are_refused_in_one_line(case, place):
    more, expected = REFUSED[case]
    write(place / "kinds.json", json.dumps(KINDS | more))
    done = invoke(*kinds_arguments())
    assert_one_line(done, 1)
    assert expected in done.err
    assert "out.csv" not in names_in(place)


@pytest.mark.usefixtures("place")
def test_a_slice_of_generated_values_is_refused():
    assert invoke(*run_arguments("--save", "m.synthdp", *QUICK)).code == 0
    done = invoke("sample", "m.synthdp", "-o", "more.csv", "--where", '{"patient": ["P0007"]}')
    assert_one_line(done, 2)
    assert "where: the values of 'patient' are generated, not drawn" in done.err


def test_without_faker_nothing_is_read_or_paid_for(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "faker", None)
    done = invoke(*run_arguments())
    assert_one_line(done, 1)
    assert "pip install 'synthdp[fakes]'" in done.err
    assert names_in(place) == ["in.csv", "kinds.json", "schema.json"]
