"""A recipe, an engine and a source are added from outside the package, as docs/adding.md says step
by step.
"""

import os
import re
import sqlite3
import subprocess
import sys
from itertools import combinations
from textwrap import dedent

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke, lay_out, run_arguments
from helpers.paths import ROOT

from synthdp.core import Domain, LinearMeasurement, ModelTooLargeError, ParameterError, SynthdpError
from synthdp.data import CodedSource, CodedTable
from synthdp.release import ENGINES, MECHANISMS

PAGE = ROOT / "docs/adding.md"
pytestmark = pytest.mark.skipif(
    not (PAGE.exists() and (ROOT / "data").is_dir()), reason="no checkout"
)

REGISTERS = """
import sys
sys.path.insert(0, {folder!r})
from synthdp.release.registry import ENGINES, MECHANISMS
MECHANISMS["star"], ENGINES["raking"] = "added:Star", "added:RakingEstimator"
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
    printed, names = [], {"__name__": "added", "print": lambda *values: printed.append(values)}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for number, code in enumerate(blocks()):
            exec(compile(code, f"{PAGE.name}, block {number}", "exec"), names)
    yield names | {"printed": printed}
    names["database"].close()


@pytest.fixture(scope="module")
def added(tmp_path_factory):
    """A folder with the page's classes as a module, and a plugin that puts them into the
    registries.
    """
    folder = tmp_path_factory.mktemp("added")
    classes = [code for code in blocks() if "class " in code]
    (folder / "added.py").write_text("\n\n".join(classes), encoding="utf-8")
    (folder / "registers.py").write_text(REGISTERS.format(folder=str(folder)), encoding="utf-8")
    return folder


def test_the_steps_say_what_they_should(page):
    n_pairs = len(page["schema"].columns) - 1
    assert page["printed"] == [
        ("star", 2 * n_pairs + 1),
        ("raking", 100),
        ("(1, 1e-09)-differential privacy",),
    ]


def test_the_recipe_measures_what_it_says(page):
    cliques = [measurement.clique for measurement in page["synthesis"].measurements]
    names = page["schema"].names
    assert cliques == [(name,) for name in names] + [
        ("status", name) for name in names if name != "status"
    ]
    accounting = page["synthesis"].certificate["accounting"]
    assert accounting["rho_spent"] == pytest.approx(accounting["rho_budget"])
    with pytest.raises(ParameterError, match="star: centre 'nobody' is no column"):
        page["synthdp"].synthesize(
            page["people"],
            page["schema"],
            epsilon=1,
            delta=1e-9,
            mechanism=page["Star"](centre="nobody"),
        )
    with pytest.raises(ParameterError, match="star: one_way_share is 1"):
        page["Star"](one_way_share=1)


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
        page["RakingEstimator"]().estimate(domain, cliques).marginal(("a", "b", "c")).values, joint
    )
    with pytest.raises(ModelTooLargeError, match="raking: the domain has 12 cells"):
        page["RakingEstimator"](max_cells=11).estimate(domain, cliques)


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
    release = page["Release"](
        schema=page["schema"], epsilon=1, delta=1e-9, mechanism="mst", adjacency="add-remove"
    )
    with pytest.raises(SynthdpError, match="domain"):
        release.of(page["SQLiteSource"](page["database"], "people", Domain(("sex",), (2,))))
    assert release.ledger.spent == 0


def test_a_line_in_the_registry_makes_a_name(added, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(added)
    monkeypatch.setitem(MECHANISMS, "star", "added:Star")
    monkeypatch.setitem(ENGINES, "raking", "added:RakingEstimator")
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    shown = " ".join(invoke("run", "--help").out.decode().split()).replace(
        "- ", "-"
    )  # lines end at hyphens, too
    assert all(
        text in shown for text in ("rap or star", "mixture-of-products, raking or relaxed-tabular")
    )
    outcome = invoke(*run_arguments("--mechanism", "star", "--engine", "raking", "--rows", "9"))
    assert (outcome.code, len((tmp_path / "out.csv").read_text().splitlines())) == (0, 10)
    assert ", star, raking" in invoke("show", "out.csv.privacy.json").out.decode()


@pytest.mark.parametrize(
    ("contract", "name"),
    [
        ("mechanisms/test_mechanism_contract.py", "star"),
        ("inference/engines/test_every_engine.py", "raking"),
    ],
)
def test_the_contract_tests_run_over_what_the_registry_names(contract, name, added):
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
    command += [str(ROOT / "tests" / contract), "-k", f"{name}- or {name}]"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(added)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(r"\d\d passed", done.stdout), done.stdout
    assert "failed" not in done.stdout.splitlines()[-1]
