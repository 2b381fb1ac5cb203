"""A mechanism, an engine, a column type and a source are added from outside the package, as
docs/adding.md says step by step.
"""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from textwrap import dedent

import numpy as np
import pandas as pd
import pytest
from helpers.added.star import Star
from helpers.cli_runs import invoke, lay_out, run_arguments
from helpers.paths import ROOT
from helpers.seldom import often

import synthdp
from synthdp.core import Domain, LinearMeasurement, ModelTooLargeError, ParameterError, SynthdpError
from synthdp.data import CodedSource, CodedTable
from synthdp.release import ENGINES, MECHANISMS
from synthdp.schema import TYPES

PAGE = ROOT / "docs/adding.md"
EXAMPLES = ROOT / "tests/helpers/added"
pytestmark = pytest.mark.skipif(
    not (PAGE.exists() and (ROOT / "data").is_dir()), reason="no checkout"
)

REGISTERS = """
import sys
sys.path.insert(0, {folder!r})
from synthdp.release import ENGINES, MECHANISMS
MECHANISMS["star"], ENGINES["raking"] = "star:Star", "raking:RakingEngine"
from synthdp.schema import TYPES
TYPES["weekday"] = "weekday:WeekdayColumn"
"""


def blocks():
    """The page's Python, as it stands in lists and out of them."""
    text = PAGE.read_text(encoding="utf-8")
    return [
        dedent(code)
        for code in re.findall(r"^ *```python\n(.*?)^ *```", text, flags=re.DOTALL | re.MULTILINE)
    ]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """What the page's blocks define, run one after another, and what they print."""
    folder = tmp_path_factory.mktemp("newcomer")
    (folder / "data").symlink_to(ROOT / "data")
    known = dict(TYPES)
    printed, names = [], {"__name__": "added", "print": lambda *values: printed.append(values)}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(ROOT)  # where somebody who adds something is
        for number, code in enumerate(blocks()):
            exec(compile(code, f"{PAGE.name}, block {number}", "exec"), names)
    yield names | {"printed": printed}
    names["database"].close()
    TYPES.clear()
    TYPES.update(known)


@pytest.fixture(scope="module")
def added(tmp_path_factory):
    """A folder with the examples as modules, and a plugin that puts them into the registries."""
    folder = tmp_path_factory.mktemp("added")
    for example in EXAMPLES.glob("*.py"):
        shutil.copy(example, folder)
    (folder / "registers.py").write_text(REGISTERS.format(folder=str(folder)), encoding="utf-8")
    return folder


def test_the_steps_say_what_they_should(page):
    assert page["printed"] == [
        ("raking", 100),
        (["Monday", "Tuesday", "Wednesday"],),
        ("(1, 1e-09)-differential privacy",),
    ]


def test_the_mechanism_measures_what_it_says(page):
    asked = {"epsilon": 1, "delta": 1e-9}
    synthesis = synthdp.synthesize(
        page["people"], page["schema"], mechanism=Star(centre="status"), **asked
    )
    cliques = [measurement.clique for measurement in synthesis.measurements]
    names = page["schema"].names
    assert cliques == [(name,) for name in names] + [
        ("status", name) for name in names if name != "status"
    ]
    accounting = synthesis.certificate["accounting"]
    assert accounting["rho_spent"] == pytest.approx(accounting["rho_budget"])
    with pytest.raises(ParameterError, match="star: centre 'nobody' is no column"):
        synthdp.synthesize(page["people"], page["schema"], mechanism=Star(centre="nobody"), **asked)
    with pytest.raises(ParameterError, match="star: one_way_share is 1"):
        Star(one_way_share=1)


def test_the_engine_meets_what_was_measured_and_adds_nothing(page):
    domain = Domain(("a", "b", "c"), (2, 3, 2))
    rng = np.random.default_rng(0)
    joint = np.einsum(
        "ij,jk->ijk", rng.random((2, 3)), rng.random((3, 2))
    )  # a and c depend on each other by b only
    cliques = [
        LinearMeasurement(("b", "a"), joint.sum(axis=2).T, 1.0),
        LinearMeasurement(("b", "c"), joint.sum(axis=0), 1.0),
    ]
    np.testing.assert_allclose(
        page["RakingEngine"]().estimate(domain, cliques).marginal(("a", "b", "c")).values, joint
    )
    with pytest.raises(ModelTooLargeError, match="raking: the domain has 12 cells"):
        page["RakingEngine"](max_cells=11).estimate(domain, cliques)


@pytest.mark.parametrize("n_rows", [0, 500])
def test_the_source_counts_as_the_one_in_memory(page, n_rows):
    domain = Domain(("a", "b b", "c"), (2, 3, 2))
    rng = np.random.default_rng(0)
    columns = tuple(rng.integers(0, size, n_rows, dtype=np.uint8) for size in domain.shape)
    database = sqlite3.connect(":memory:")
    frame = pd.DataFrame(dict(zip(domain.attributes, columns, strict=True)))
    frame.to_sql("rows", database, index=False)
    cliques = [clique for k in range(4) for clique in combinations(domain.attributes, k)] + [
        ("c", "a")
    ]
    ours, theirs = (
        page["SQLiteSource"](database, "rows", domain),
        CodedSource(CodedTable(domain, columns)),
    )
    assert ours.domain == theirs.domain
    for left, right in zip(ours.counts_of(cliques), theirs.counts_of(cliques), strict=True):
        assert (left.dtype, left.shape) == (np.int64, right.shape)
        assert np.array_equal(left, right)
    database.close()


def test_a_release_takes_counts_of_its_schema_only(page):
    settings = page["RunSettings"](epsilon=1, delta=1e-9, mechanism="mst", adjacency="add-remove")
    release = page["Release"](schema=page["schema"], settings=settings)
    with pytest.raises(SynthdpError, match="domain"):
        release.of(page["SQLiteSource"](page["database"], "people", Domain(("sex",), (2,))))
    assert release.ledger.spent == 0


def test_a_line_in_the_registry_makes_a_name(added, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(added)
    monkeypatch.setitem(MECHANISMS, "star", "star:Star")
    monkeypatch.setitem(ENGINES, "raking", "raking:RakingEngine")
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    shown = " ".join(invoke("run", "--help-all").out.decode().split()).replace(
        "- ", "-"
    )  # lines end at hyphens, too
    assert all(
        text in shown for text in ("rap or star", "mixture-of-products, raking or relaxed-tabular")
    )
    outcome = invoke(*run_arguments("--mechanism", "star", "--engine", "raking", "--rows", "9"))
    assert (outcome.code, len((tmp_path / "out.csv").read_text().splitlines())) == (0, 10)
    assert ", star, raking" in invoke("show", "out.csv.privacy.json").out.decode()


def test_a_column_type_goes_through_the_whole_flow_by_its_line_in_the_registry(
    added, tmp_path, monkeypatch
):
    """As a user adds one: a file of their own and a line; nothing else knows of it."""
    monkeypatch.syspath_prepend(str(added))
    monkeypatch.setitem(TYPES, "weekday", "weekday:WeekdayColumn")
    monkeypatch.chdir(tmp_path)
    days = ["Mon", "Tuesday", "3", "", "someday"] * 400
    people = pd.DataFrame({"day": days, "night": ["yes", "no"] * 1000})
    people.to_csv("people.csv", index=False)
    fields = [{"name": "day", "type": "weekday"}, {"name": "night", "type": "boolean"}]
    kinds = {"day": "weekday", "night": "boolean"}
    Path("schema.json").write_text(json.dumps({"fields": fields}), encoding="utf-8")
    Path("kinds.json").write_text(json.dumps(kinds), encoding="utf-8")
    assert "days of the week" in invoke("show", "schema.json").out.decode()
    spent = {"epsilon": 3, "delta": 1e-6}
    for public in ({"schema": {"fields": fields}}, {"kinds": kinds}):
        with pytest.warns(synthdp.CautionWarning, match="'day': about 20 %"):
            synthesis = synthdp.synthesize(people, **public, **spent)
        synthesis.save("people.synthdp", force=True)
        loaded = synthdp.load("people.synthdp")
        assert loaded.schema["day"].field()["type"] == "weekday"
        drawn = loaded.sample(500, seed=1)
        pd.testing.assert_frame_equal(drawn, synthesis.sample(500, seed=1))
        assert set(drawn["day"].dropna()) >= {"Monday", "Tuesday", "Wednesday"}
        met = loaded.sample(20, seed=2, where={"day": ["Tue"]})
        assert set(met["day"]) == {"Tuesday"}
        given = loaded.sample(given=pd.DataFrame({"day": ["1", "Tuesday"]}), seed=3)
        assert given["day"].tolist() == ["1", "Tuesday"]
    found = synthdp.evaluate(people, drawn, loaded.schema)
    assert found.columns.set_index("column").loc["day", "kind"] == "weekday"
    assert "weekday" in invoke("schema", "check", "schema.json").out.decode() + str(fields)
    for public in (("--schema", "schema.json"), ("--kinds", "kinds.json")):
        options = ("--epsilon", "3", "--delta", "1e-6", "--save", "saved.synthdp", "--force")
        ran = invoke("run", "people.csv", *public, "-o", "out.csv", *options)
        assert ran.code == 0, ran.err
        written = pd.read_csv("out.csv", keep_default_na=False)
        assert set(written["day"]) >= {"Monday", "Tuesday", "Wednesday", ""}
    reported = invoke(
        "report", "people.csv", "out.csv", "--schema", "saved.synthdp", "-o", "r.html"
    )
    assert reported.code == 0, reported.err
    assert "Wednesday" in Path("r.html").read_text(encoding="utf-8")
    shown = invoke("show", "saved.synthdp")
    assert "day" in shown.out.decode()
    with pytest.raises(SynthdpError, match="did you mean 'weekday'"):
        synthdp.synthesize(people, kinds=kinds | {"day": "weekdays"}, **spent)


@pytest.mark.parametrize("name", TYPES)
def test_the_pages_name_every_type(name):
    for page in ("schema.md", "domain.md", *(["kinds.md"] if name != "string" else [])):
        assert f"`{name}`" in (ROOT / "docs" / page).read_text(encoding="utf-8"), page


@pytest.mark.parametrize(
    ("contract", "chosen"),
    often(
        ("mechanisms/test_mechanism_contract.py", "star- or star]"),
        ("inference/engines/test_every_engine.py", "raking- or raking]"),
        ("schema/columns/test_every_type.py", "weekday"),
        ("test_every_type.py", "weekday-"),
        seldom=[("test_every_type.py", "given_values_stay or saved_and_loaded or shell or truth")],
    ),
)
def test_the_contract_tests_run_over_what_the_registry_names(contract, chosen, added):
    command = [
        sys.executable,
        "-P",
        "-m",
        "pytest",
        "-q",
        "-p",
        "registers",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ]
    command += [str(ROOT / "tests" / contract), "-k", chosen]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(added)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(r"([6-9]|\d\d) passed", done.stdout), done.stdout
    assert "failed" not in done.stdout.splitlines()[-1]
