"""Pages of mechanisms and engines say what the code says, guides can be followed, and no link leads
nowhere.
"""

import json
import re
from itertools import islice
from textwrap import dedent

import pytest
from helpers.cli_runs import invoke
from helpers.pages import DOCS, anchors, links, shell_lines
from helpers.parameter_sections import HEADING, PAGES, class_of, expected, shown
from helpers.paths import ROOT

from synthdp.release import ENGINES, MECHANISMS

GUIDES = [
    DOCS / f"{name}.md"
    for name in ("auditors", "big-tables", "budgets", "command-line", "kinds", "persons")
]
GUIDES += [DOCS / f"{name}.md" for name in ("plan", "python", "rules", "slices", "workload")]
GUIDES += [DOCS / f"{name}.md" for name in ("nightly", "notebook", "scikit-learn", "small-tables")]
PAGES_OF_SURVEYS = ("published-totals", "waves", "household-survey")
GUIDES += [DOCS / f"{name}.md" for name in ("tuning", *PAGES_OF_SURVEYS)]
READ = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")] + sorted(
    DOCS.rglob("*.md")
)
STEP = re.compile(
    r"(?:`([\w.-]+\.json)`[^`\n]*:\n\n)?^( *)```(\w+)\n(.*?)^\2```", flags=re.DOTALL | re.MULTILINE
)

pytestmark = pytest.mark.skipif(
    not (DOCS.is_dir() and (ROOT / "data").is_dir()), reason="no checkout"
)


@pytest.fixture
def newcomer(tmp_path, monkeypatch):
    """A folder that holds what the examples read, and takes what they write."""
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def hurried(tmp_path, monkeypatch):
    """The same with few rows of the sample."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data/census.schema.json").symlink_to(ROOT / "data/census.schema.json")
    with (ROOT / "data/census.csv").open(encoding="utf-8") as sample:
        (tmp_path / "data/census.csv").write_text("".join(islice(sample, 3001)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def narrow(hurried):
    """The same, a schema that leaves large columns out, and what the pages bring along."""
    (hurried / "docs").symlink_to(DOCS)
    schema = json.loads((ROOT / "data/census.schema.json").read_text(encoding="utf-8"))
    schema["synthdp"] = {
        "ignore": ["region", "district", "town", "household_size", "born_abroad", "moved"]
    }
    schema["fields"] = [
        field for field in schema["fields"] if field["name"] not in schema["synthdp"]["ignore"]
    ]
    (hurried / "data/census.schema.json").unlink()
    (hurried / "data/census.schema.json").write_text(json.dumps(schema), encoding="utf-8")
    return hurried


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_a_page_has_the_parameters_of_its_class(page):
    assert shown(page) == expected(page), (
        "write the tables anew: python tests/helpers/parameter_sections.py"
    )
    assert page.read_text(encoding="utf-8").startswith(f"# `{page.stem}`: ")


def test_every_mechanism_and_engine_has_a_page_and_nothing_else_has():
    assert {
        page for folder in ("mechanisms", "engines") for page in (DOCS / folder).iterdir()
    } == set(PAGES)


@pytest.mark.parametrize(("overview", "names"), [("mechanisms", MECHANISMS), ("engines", ENGINES)])
def test_every_mechanism_and_engine_has_its_row_in_the_table_of_all(overview, names):
    text = (DOCS / f"{overview}.md").read_text(encoding="utf-8")
    rows = re.findall(rf"^\| \[`([\w-]+)`\]\({overview}/([\w-]+)\.md\) \|", text, re.MULTILINE)
    assert sorted(rows) == [(name, name) for name in sorted(names)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
@pytest.mark.usefixtures("hurried")
def test_an_example_of_a_mechanism_or_engine_runs(page, capsys):
    overview = DOCS / f"{page.parent.name}.md"  # it has what all examples of its kind begin with
    names = {}
    for each in (overview, page):
        text = each.read_text(encoding="utf-8").partition(HEADING)[0]
        (code,) = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
        exec(compile(code, each.name, "exec"), names)
    assert capsys.readouterr().out
    stated = names["synthesis"].certificate
    if page.parent.name == "mechanisms":
        assert (stated["mechanism"]["name"], stated["complete"]) == (page.stem, True)
    else:
        assert stated["engine"]["name"] == class_of(page).name == page.stem


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_guide_can_be_followed(page, narrow):
    """Its files are written, its commands and its Python are run, in the order of the page."""
    names = {}
    for file, _, language, content in STEP.findall(page.read_text(encoding="utf-8")):
        if file:
            (narrow / file).write_text(dedent(content), encoding="utf-8")
        elif language == "python":
            exec(compile(dedent(content), page.name, "exec"), names)
        elif language == "sh":
            for arguments in shell_lines(dedent(content)):
                if arguments[0] == "audit":  # it has tests of its own, and takes its time
                    continue
                outcome = invoke(*arguments)
                assert outcome.code == 0, (arguments, outcome)
    check = CHECKS.get(page.stem)
    if check:
        check(names, narrow)


def _slices(names, folder):
    assert set(names["slice"]["sex"]) == {"F"}
    assert names["slice"]["age"].between(18, 64).all()
    assert names["completed"]["status"].tolist() == ["retired", "student", "employed"]
    assert names["completed"]["sex"].notna().all()
    assert (
        "married" in (folder / "completed.csv").read_text()
        or "widowed" in (folder / "completed.csv").read_text()
    )


def _rules(names, _folder):
    assert set(names["minors"]["marital"]) == {"never married"}
    assert not (names["synthetic"]["hours"] > names["synthetic"]["age"] + 20).any()


def _persons(names, folder):
    certificate = json.loads((folder / "synthetic.csv.privacy.json").read_text(encoding="utf-8"))
    assert (
        certificate["max_rows_per_unit"] == names["synthesis"].certificate["max_rows_per_unit"] == 3
    )
    assert (folder / "synthetic.csv").read_text(encoding="utf-8").startswith("came,ward,days\n")
    assert (
        (folder / "histories.csv")
        .read_text(encoding="utf-8")
        .startswith("patient,came,ward,days\n1,")
    )
    assert (folder / "more.csv").read_text(encoding="utf-8").splitlines()[-1].startswith("100,")
    assert names["histories"].sample(3, seed=0)["patient"].nunique() == 3


def _kinds(_names, folder):
    learnt, second = (
        json.loads((folder / f"{name}.privacy.json").read_text())
        for name in ("synthetic.csv", "second.csv")
    )
    assert "derived" in {column["domain"] for column in learnt["schema"]["columns"]}
    assert {column["domain"] for column in second["schema"]["columns"]} == {"declared"}


def _python(names, _folder):
    assert names["share"]["low"].item() < names["share"]["high"].item()
    assert names["other"].certificate["engine"]["name"] == "layered-consistency"


CHECKS = {
    "slices": _slices,
    "rules": _rules,
    "persons": _persons,
    "kinds": _kinds,
    "python": _python,
}


@pytest.mark.usefixtures("newcomer")
def test_a_mechanism_of_ones_own_finds_more_than_columns_in_forty_lines(capsys):
    text = (DOCS / "own-mechanism.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert len([line for line in code.splitlines() if line]) < 40
    exec(compile(code, "own-mechanism.md", "exec"), {"__name__": "newcomer"})
    errors = {
        line.split()[0]: float(line.split()[1]) for line in capsys.readouterr().out.splitlines()
    }
    assert list(errors) == ["independent", "mst", "top-pairs", "auto"]
    assert errors["top-pairs"] < errors["independent"] / 2


@pytest.mark.parametrize("page", READ, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_links_inside_the_project_lead_somewhere(page):
    for target in links(page):
        file, _, anchor = target.partition("#")
        where = (page.parent / file).resolve() if file else page
        assert where.exists(), target
        assert not anchor or anchor in anchors(where), target
