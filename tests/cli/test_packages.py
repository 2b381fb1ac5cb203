"""Packages on the command line: a folder in, a folder out, and refusals of one line."""

import json
import re
import shutil

import pandas as pd
import pytest
from helpers.cli_runs import invoke
from helpers.failing_runs import failing
from helpers.families import description, link, random_tables
from helpers.html_pages import Page

from synthdp.cli.commands import packages
from synthdp.release import Journal
from synthdp.report import KINDS, NOT_PRIVATE

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
    done = invoke(
        "run", "in/datapackage.json", "-o", "out", *BUDGET, "--save", "all.synthdp", "--seed", "1"
    )
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


@pytest.mark.parametrize("is_inline", [True, False])
def test_public_tables_are_in_the_package_that_is_written(folder, is_inline):
    content, places = description(), [{"code": "town", "sea": "no"}, {"code": "land", "sea": "yes"}]
    content["resources"] = [content["resources"][0]]
    content["resources"][0]["schema"]["foreignKeys"] = [link("place", "places", "code")]
    fields = [{"name": "code", "type": "string"}, {"name": "sea", "type": "string"}]
    public = {"name": "places", "schema": {"fields": fields}, "synthdp": {"public": True}}
    content["resources"].append(
        public | ({"data": places} if is_inline else {"path": "places.csv"})
    )
    pd.DataFrame(places).to_csv(folder / "in/places.csv", index=False)
    (folder / "in/datapackage.json").write_text(json.dumps(content))
    done = invoke("run", "in/datapackage.json", "-o", "out", *BUDGET, "--save", "all.synthdp")
    assert done.code == 0, done
    assert (folder / "out/places.csv").exists() is not is_inline
    assert invoke("sample", "all.synthdp", "-o", "more", "--rows", "7").code == 0
    written = json.loads((folder / "more/datapackage.json").read_text())["resources"][1]
    assert (written["data"], "path" in written) == (places, False)
    assert invoke("schema", "check", "more/datapackage.json").code == 0


def test_families_in_a_folder_are_completed(folder):
    assert (
        invoke("run", "in/datapackage.json", "-o", "out", *BUDGET, "--save", "all.synthdp").code
        == 0
    )
    homes, people = (pd.read_csv(folder / f"out/{name}.csv") for name in ("homes", "people"))
    (folder / "some").mkdir()
    people.to_csv(folder / "some/people.csv", index=False)
    lacking = invoke("sample", "all.synthdp", "-o", "more", "--given", "some")
    assert "it has no 'homes.csv', the root's table" in lacking.err
    homes.to_csv(folder / "some/homes.csv", index=False)
    assert invoke("sample", "all.synthdp", "-o", "more", "--given", "some").code == 0
    pd.testing.assert_frame_equal(pd.read_csv(folder / "more/people.csv"), people)


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
        (
            ("--budget", "b.json"),
            "budget 'b.json': there is no such file; `synthdp budget create`",
            1,
        ),
        (("--unit", "home"), "--unit is for one table", 2),
        (("--order", "kind"), "--order is for one table", 2),
        (("--delimiter", ";"), "--delimiter is for one table", 2),
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


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (
            ("run", "in/lost.json", "-o", "out", *BUDGET),
            "package 'in/lost.json': it cannot be read: no such file",
            1,
        ),
        (
            ("run", "in/homes.json", "-o", "out", *BUDGET),
            "it has no list 'resources'",
            1,
        ),
        (
            ("run", "in", "-o", "out", *BUDGET),
            "'in' is the folder of a package; give its datapackage.json",
            2,
        ),
        (("run", "in/datapackage.json", "-o", "out.csv", *BUDGET), "give the name of a folder", 2),
        (
            ("plan", "in/datapackage.json", "--rows", "9"),
            "a package, and plans are for one table",
            2,
        ),
        (("schema", "check", "in/datapackage.json", "--rows", "9"), "--rows is for one table", 2),
        (
            ("schema", "check", "in/datapackage.json", "--unit", "home"),
            "--unit is for one table",
            2,
        ),
        (
            ("schema", "check", "in/datapackage.json", "--epsilon", "1"),
            "epsilon and delta go together",
            2,
        ),
        (
            ("report", "in/datapackage.json", "out/lost.json", "--json"),
            "package 'out/lost.json': it cannot be read",
            1,
        ),
        (
            ("report", "in", "out", "--json"),
            "'in' is the folder of a package; give its datapackage.json",
            2,
        ),
    ],
)
def test_a_package_that_is_named_wrongly_is_told_from_a_table(folder, arguments, said, code):
    (folder / "in/homes.json").write_text("{}")
    done = invoke(*arguments)
    assert (done.code, done.err.count("\n")) == (code, 1), done
    assert said in done.err
    assert sorted(path.name for path in folder.iterdir()) == ["in"]


def test_a_header_that_does_not_fit_names_its_table(folder):
    people = folder / "in/people.csv"
    people.write_text(people.read_text().replace("sex", "sx", 1))
    done = invoke("run", "in/datapackage.json", "-o", "out", *BUDGET)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "table 'people': it does not fit the schema in the package" in done.err
    assert "kind" not in done.err


@pytest.mark.usefixtures("folder")
def test_what_commands_for_one_table_say_of_a_package_and_its_cautions():
    weak = ("--epsilon", "0.02", "--delta", "1e-6", "--mechanism", "independent")
    unknown = invoke("run", "in/datapackage.json", "-o", "first", *weak, "--save", "all.synthdp")
    assert unknown.code == 0, unknown
    assert "noise hides how many records there are" in unknown.err
    asked = invoke("sample", "all.synthdp", "-o", "out")
    assert asked.code == 2
    assert "say how many rows of 'homes' you want with --rows" in asked.err
    both = invoke("sample", "all.synthdp", "-o", "out", "--given", "in/homes.csv", "--rows", "9")
    assert (both.code, "leave out --rows" in both.err) == (2, True)
    done = invoke("sample", "all.synthdp", "-o", "out", "--rows", "9")
    assert done.code == 0, done
    cautions = [line.rpartition(": ")[2] for line in done.lines if "caution" in line]
    assert len(cautions) == len(set(cautions)) > 0
    assert "people, later people" in done.err
    for command in (
        ("marginal", "all.synthdp", "people.sex"),
        ("refit", "all.synthdp", "-o", "b", "--engine", "direct"),
    ):
        refused = invoke(*command)
        assert (refused.code, refused.err.count("\n")) == (1, 1)
        assert "this command is for one table" in refused.err
    assert b"noise, in units of privacy" in invoke("show", "all.synthdp").out


def test_bad_packages_are_refused_before_anything_is_read(folder):
    (folder / "in/pets.csv").unlink()
    done = invoke("run", "in/datapackage.json", "-o", "out", *BUDGET)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "pets.csv" in done.err
    (folder / "in/datapackage.json").write_text("{")
    assert invoke("run", "in/datapackage.json", "-o", "out", *BUDGET).code == 1
    assert not (folder / "out").exists()


def test_a_draft_of_kinds_leaves_all_but_types_to_be_learnt(folder):
    assert invoke("schema", "draft", "in", "--kinds", "-o", "draft.json").code == 0
    draft = json.loads((folder / "draft.json").read_text())
    for resource in draft["resources"]:
        assert all(each["synthdp"] == {"derive": True} for each in resource["schema"]["fields"])
    filled = json.loads((folder / "in" / "datapackage.json").read_text())
    for resource in filled["resources"]:
        keys = {"home", "number", "owner"}
        for each in resource["schema"]["fields"]:
            if each["name"] not in {*keys, "when"}:
                each["constraints"], each["synthdp"] = {"required": True}, {"derive": True}
    (folder / "in" / "kinds.json").write_text(json.dumps(filled))
    run = ("run", "in/kinds.json", "-o", "learnt", "--epsilon", "9", "--delta", "1e-6", "--anyway")
    assert invoke(*run, "--mechanism", "independent", "--domain-share", "0.3").code == 0
    certificate = json.loads((folder / "learnt/datapackage.json.privacy.json").read_text())
    assert certificate["domain"]["share_of_budget"] == 0.3
    learnt = json.loads((folder / "learnt/datapackage.json").read_text())
    assert "derive" not in json.dumps(learnt)
    assert invoke("report", "in/kinds.json", "learnt/datapackage.json", "-o", "r.html").code == 0


def test_a_draft_has_all_tables_and_no_value(folder):
    assert invoke("schema", "draft", "in", "-o", "draft.json").code == 0
    draft = json.loads((folder / "draft.json").read_text())
    assert [each["name"] for each in draft["resources"]] == ["homes", "people", "pets", "visits"]
    assert "cat" not in json.dumps(draft["resources"])


def test_a_run_that_failed_goes_on_with_the_same_command_and_is_charged_once(folder, monkeypatch):
    create = (
        "budget",
        "create",
        "b",
        "--epsilon",
        "3",
        "--delta",
        "1e-6",
        "--population",
        "homes",
        "--unit",
        "home",
    )
    assert invoke(*create).code == 0
    run = (
        "run",
        "in/datapackage.json",
        "-o",
        "out",
        *BUDGET,
        "--budget",
        "b",
        "--budget-note",
        "a package",
    )
    for owner, name in ((Journal, "get"), (packages, "write_package")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, failing(getattr(owner, name), KeyboardInterrupt, after=0))
            done = invoke(*run)
        assert done.code == 130
        assert (
            "what was paid for is in out.journal: the same command goes on and pays nothing twice"
            in done.err
        )
    assert not (folder / "out").exists()
    done = invoke(*run)
    (said,) = (line for line in done.notes if "journal" in line)
    assert (
        done.code,
        said.startswith("synthdp: caution: journal 'out.journal.ended': nothing was asked"),
    ) == (0, True)
    assert said.endswith("; the same command once more makes a new one [C15]")
    assert invoke(*run).code == 1  # the output is there
    again = invoke(*run, "--force", "--journal", "out.journal.ended", "--json")
    assert "nothing was asked of the records: all answers were there" in again.err
    assert json.loads(again.out)["replayed"] is True
    (charge, _) = json.loads(invoke("budget", "show", "b", "--json").out)["entries"]
    assert (charge["kind"], charge["note"]) == ("run", "a package")
    for options in (("--journal", "other"), ()):  # each would be a run of its own
        over = invoke(*run, *options, "--force")
        assert (over.code, over.err.count("\n")) == (3, 1)
        assert not any((folder / name).exists() for name in ("other", "out.journal"))


def test_what_a_journal_holds_becomes_a_release_without_the_package(folder):
    assert invoke("run", "in/datapackage.json", "-o", "out", *BUDGET, "--journal", "j").code == 0
    events = json.loads((folder / "out/datapackage.json.privacy.json").read_text())["events"]
    assert f"{len(events)} answers, rho" in invoke("journal", "show", "j").out.decode()
    for name in ("in", "out"):
        (folder / name).rename(folder / f"{name} elsewhere")
    done = invoke("journal", "rescue", "j", "-o", "model.synthdp")
    assert (done.code, done.err.count("synthdp sample draws from it")) == (0, 1)
    assert invoke("sample", "model.synthdp", "-o", "more", "--rows", "5").code == 0
    assert len(pd.read_csv(folder / "more/homes.csv")) == 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--journal", "in/homes.csv"), "'in/homes.csv' is named twice"),
        (("--save", "in/datapackage.json", "--force"), "'in/datapackage.json' is named twice"),
        (("--save", "-"), "--save is '-'"),
        (("--journal", "j", "--budget", "j"), "'j' is named twice"),
        (("--journal", "out/j"), "--journal is 'out/j', in the folder of the output"),
        (("--budget-note", "x"), "budget_note is given without budget"),
    ],
)
def test_files_that_cannot_be_kept_are_refused_in_one_line(folder, options, said):
    done = invoke("run", "in/datapackage.json", "-o", "out", *BUDGET, *options)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err
    assert sorted(path.name for path in folder.iterdir()) == ["in"]


@pytest.mark.usefixtures("folder")
def test_a_report_holds_a_synthetic_package_against_the_true_one():
    pytest.importorskip("matplotlib")
    done = invoke(
        "run", "in/datapackage.json", "-o", "out", *BUDGET, "--save", "all.synthdp", "--seed", "1"
    )
    assert done.code == 0, done
    both = ("in/datapackage.json", "out/datapackage.json")
    done = invoke("report", *both, "--json")
    assert done.code == 0, done
    assert done.lines[0] == f"synthdp: {NOT_PRIVATE}"
    found = json.loads(done.out)
    assert sum(found["broken_links"].values()) == 0
    assert found["facts"]["release"]["guarantee"] == "(3, 1e-06)-differential privacy"
    assert {row["kind"] for row in found["distances"]} == set(KINDS)
    for options, said in (
        (("-s", "schema.json"), "--schema is for one table"),
        (("out/datapackage.json",), "2 synthetic packages"),
        ((), "--output is missing"),
    ):
        refused = invoke("report", *both, *options)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert said in refused.err
    assert (
        "give the datapackage.json of both"
        in invoke("report", both[0], "out/homes.csv", "--json").err
    )


def test_the_page_of_a_released_package_opens_nothing_else(folder):
    pytest.importorskip("matplotlib")
    fewer = description()
    fewer["resources"] = [each for each in fewer["resources"] if each["name"] in ("homes", "pets")]
    (folder / "in/datapackage.json").write_text(json.dumps(fewer))
    done = invoke("run", "in/datapackage.json", "-o", "out", *BUDGET, "--save", "all.synthdp")
    assert done.code == 0, done
    shutil.rmtree(folder / "in")
    assert invoke("report", "--public", "all.synthdp", "-o", "page.html").code == 0
    page = Page((folder / "page.html").read_text())
    assert "later pets: Columns" in page.text
    assert "any one row of the root with all rows below it" in page.text
    assert "The first row of pets of each parent, with what it hangs on." in page.text
    assert "All rows of pets but the first of each parent" in page.text
    assert "noise, in units of privacy" in page.text
    assert re.search(r"about 1\d\d families, by the noisy counts", page.text)  # of 120
