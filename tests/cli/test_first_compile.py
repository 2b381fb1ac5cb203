"""Loops are compiled beside whoever answers the studio's questions."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.paths import ROOT


def compiled(place):
    found = subprocess.run(
        [sys.executable, "-m", "synthdp.cli.shared.first_compile"],
        env=os.environ | {"NUMBA_CACHE_DIR": str(place)},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert found.stdout == ""
    return sorted(path.name for path in Path(place).rglob("*.nb?"))


@pytest.mark.slow
def test_a_first_run_has_nothing_left_to_compile(tmp_path):
    pytest.importorskip("numba")
    kept = compiled(tmp_path / "kept")
    assert len({name.split("-")[0] for name in kept}) >= 7
    run = ["run", "data/census.csv", "--kinds", "age=integer,sex=categorical,income=number"]
    words = [sys.executable, "-m", "synthdp", *run, "-o", str(tmp_path / "out.csv")]
    subprocess.run(
        [*words, "--epsilon", "3", "--delta", "1e-6"],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept")},
        cwd=ROOT,
        check=False,
        capture_output=True,
    )
    assert sorted(path.name for path in (tmp_path / "kept").rglob("*.nb?")) == kept
    assert compiled(tmp_path / "kept") == kept
