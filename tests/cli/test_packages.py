"""Packages on the command line: a folder in, a folder out, and refusals of one line."""

import json

import pandas as pd
import pytest
from helpers.cli_runs import invoke
from helpers.families import description, random_tables

BUDGET = ("--epsilon", "3", "--delta", "1e-6", "--mechanism", "independent")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name, table in random_tables(120).items():
        table.to_csv(tmp_path / f"in/{name}.csv", index=False)
    (tmp_path / "in/datapackage.json").write_text(json.dumps(description()))
    return tmp_path


def test_a_package_becomes_a_package(folder):
    done = invoke("run", "in/datapackage.json", "-o", "out", *BUDGET, "--save", "all.synthdp", "--seed", "1")
    assert done.code == 0, done
    names = {path.name for path in (folder / "out").iterdir()}
    assert names == {f"{n}.csv" for n in ("homes", "people", "visits", "pets")} | {
        "datapackage.json",
        "datapackage.json.privacy.json",
    }
    stated = json.loads((folder / "out/datapackage.json.privacy.json").read_text())
    assert stated["guarantee"] == "(3, 1e-06)-differential privacy"
    homes, people = (pd.read_csv(folder / f"out/{name}.csv") for name in ("homes", "people"))
    assert homes["home"].tolist() == list(range(1, len(homes) + 1))
    assert set(people["home"]) <= set(homes["home"])
    assert invoke("schema", "check", "out/datapackage.json").code == 0
    assert b"linked tables" in invoke("show", "all.synthdp").out
    again = invoke("sample", "all.synthdp", "-o", "more", "--rows", "7", "--seed", "2")
    assert again.code == 0, again
    assert len(pd.read_csv(folder / "more/homes.csv")) == 7
    homes.head(3).to_csv(folder / "given.csv", index=False)
    assert invoke("sample", "all.synthdp", "-o", "completed", "--given", "given.csv").code == 0
    assert len(pd.read_csv(folder / "completed/homes.csv")) == 3


def test_nothing_is_overwritten_unasked_and_nothing_is_left_behind(folder):
    (folder / "out").mkdir()
    (folder / "out/homes.csv").write_text("mine")
    done = invoke("run", "in/datapackage.json", "-o", "out", *BUDGET)
    assert (done.code, (folder / "out/homes.csv").read_text()) == (1, "mine")
    assert "--force" in done.err
    assert sorted(path.name for path in folder.iterdir()) == ["in", "out"]


@pytest.mark.parametrize(
    ("options", "said", "code"),
    [
        (("--journal", "j"), "--journal is for one table", 2),
        (("--budget", "b.json"), "--budget is for one table", 2),
        (("--unit", "home"), "--unit is for one table", 2),
        (("--adjacency", "replace-one"), "add-remove", 2),
        (("--rows", "-1"), "--rows is -1", 2),
    ],
)
@pytest.mark.usefixtures("folder")
def test_options_for_one_table_are_refused_in_one_line(options, said, code):
    done = invoke("run", "in/datapackage.json", "-o", "out", *BUDGET, *options)
    assert done.code == code
    assert said in done.err
    assert done.err.count("\n") == 1


def test_bad_packages_are_refused_before_anything_is_read(folder):
    (folder / "in/pets.csv").unlink()
    done = invoke("run", "in/datapackage.json", "-o", "out", *BUDGET)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "pets.csv" in done.err
    (folder / "in/datapackage.json").write_text("{")
    assert invoke("run", "in/datapackage.json", "-o", "out", *BUDGET).code == 1
    assert not (folder / "out").exists()


def test_a_draft_has_all_tables_and_no_value(folder):
    assert invoke("schema", "draft", "in", "-o", "draft.json").code == 0
    draft = json.loads((folder / "draft.json").read_text())
    assert [each["name"] for each in draft["resources"]] == ["homes", "people", "pets", "visits"]
    assert "cat" not in json.dumps(draft["resources"])
