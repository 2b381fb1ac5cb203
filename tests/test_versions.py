"""Files that repeat what `pyproject.toml` and the version say repeat it rightly."""

import re
import tomllib
from importlib import import_module

import pytest
from helpers.paths import ROOT

import synthdp

CONDA = ROOT / "conda/meta.yaml"

pytestmark = pytest.mark.skipif(not CONDA.is_file(), reason="no checkout")


def test_the_version_is_said_once_and_repeated():
    assert f'version = "{synthdp.__version__}"' in CONDA.read_text("utf-8")
    assert f"\nversion: {synthdp.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\n## {synthdp.__version__} " in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.fixture(scope="module")
def recipe():
    """The conda recipe as conda renders it: Jinja, then YAML."""
    jinja2, yaml = pytest.importorskip("jinja2"), pytest.importorskip("yaml")
    text = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(
        CONDA.read_text("utf-8")
    )
    return yaml.safe_load(text.render(PYTHON="python"))


def plain(requirements):
    return {each.replace(" ", "") for each in requirements}


def test_the_conda_recipe_is_that_of_the_package(recipe):
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project, needs = pyproject["project"], recipe["requirements"]
    python = f"python{project['requires-python']}"
    assert recipe["package"] == {"name": project["name"], "version": synthdp.__version__}
    assert plain(needs["run"]) == {*project["dependencies"], python}
    assert plain(needs["host"]) == {*pyproject["build-system"]["requires"], python, "pip"}
    scripts = [f"{name} = {place}" for name, place in project["scripts"].items()]
    assert recipe["build"]["entry_points"] == scripts
    assert recipe["about"]["license"] == project["license"]
    assert (CONDA.parent / recipe["source"]["path"] / recipe["about"]["license_file"]).is_file()
    for module in recipe["test"]["imports"]:
        import_module(module)


def test_the_image_installs_extras_that_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (extras,) = re.findall(r"\.whl\)\[([\w,]+)\]", (ROOT / "Dockerfile").read_text("utf-8"))
    assert set(extras.split(",")) <= project["optional-dependencies"].keys()


def test_the_pythons_that_are_claimed_are_those_that_are_said_to_be_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    claimed = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    page = (ROOT / "docs/install.md").read_text("utf-8")
    tried = page.split("## Where it was tested")[1].split("- Not:")[0]
    assert claimed[0] == project["requires-python"].removeprefix(">=")
    assert claimed == sorted(claimed)
    assert [each for each in claimed if f" {each}" not in tried] == []
