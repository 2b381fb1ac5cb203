"""Files that repeat what `pyproject.toml` and the version say repeat it rightly."""

import re
import tomllib

import pytest
from helpers.paths import ROOT

import synthdp

CONDA = ROOT / "conda/meta.yaml"

pytestmark = pytest.mark.skipif(not CONDA.is_file(), reason="no checkout")


def test_the_version_is_said_once_and_repeated():
    assert f'version = "{synthdp.__version__}"' in CONDA.read_text("utf-8")
    assert f"\nversion: {synthdp.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\n## {synthdp.__version__} " in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_conda_recipe_needs_what_the_package_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    run = CONDA.read_text("utf-8").split("  run:\n")[1].split("\n\n")[0]
    needed = {line.strip().removeprefix("- ").replace(" ", "") for line in run.splitlines()}
    assert needed == {*project["dependencies"], f"python{project['requires-python']}"}


def test_the_image_installs_extras_that_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (extras,) = re.findall(r"\.whl\)\[([\w,]+)\]", (ROOT / "Dockerfile").read_text("utf-8"))
    assert set(extras.split(",")) <= project["optional-dependencies"].keys()
