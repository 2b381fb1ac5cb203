"""The code of other packages on the page for people who come from there runs for those
that the index has as wheels and that install within a minute.

Not here: SDV and SmartNoise bring torch, dpsynth is on no index, and DP Wizard is a web application.
"""

import re
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from helpers.pages import DOCS
from helpers.paths import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DOCS.is_dir() and (ROOT / "data").is_dir()), reason="no checkout"),
]

MAX_SECONDS = 60
"""Most seconds that an installation may take; a slower one skips the test."""

PEERS = {
    "private-pgm (mbi 2.0)": (["mbi"], "assert synthetic.records == 1000"),
    "DataSynthesizer (0.1.13)": (
        ["DataSynthesizer", "pandas<3", "numpy<2"],
        "generator.save_synthetic_data('theirs.csv')\nassert len(open('theirs.csv').readlines()) == 1001",
    ),
}
"""By heading of the page what to install, and what holds after the peer's code."""


def theirs(heading: str) -> str:
    """The first block below a heading, which is the peer's."""
    text = (DOCS / "coming-from.md").read_text(encoding="utf-8")
    (block,) = re.findall(
        rf"^## {re.escape(heading)}\n\n```\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE
    )
    return str(block)


def installed(requirements: list[str], folder: Path) -> Path:
    """The interpreter of a new environment that has a peer."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin/python"
    command = [python, "-m", "pip", "install", "--quiet", "--only-binary=:all:", *requirements]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=MAX_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(
            f"{requirements[0]} is not installed within {MAX_SECONDS} s: {type(error).__name__}"
        )
    return python


@pytest.mark.parametrize("heading", PEERS)
def test_the_code_of_a_peer_runs(heading, tmp_path):
    requirements, holds = PEERS[heading]
    with (ROOT / "data/census.csv").open(encoding="utf-8") as sample:
        rows = [line.split(",") for line in islice(sample, 2001)]
    names = [rows[0].index(name) for name in ("sex", "age", "born_abroad")]
    table = "\n".join(",".join(row[i] for i in names) for row in rows)
    (tmp_path / "people.csv").write_text(table + "\n", encoding="utf-8")
    (tmp_path / "theirs.py").write_text(f"{theirs(heading)}\n{holds}\n", encoding="utf-8")
    python = installed(requirements, tmp_path / "environment")
    done = subprocess.run(
        [python, "theirs.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
