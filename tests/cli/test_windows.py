"""Nothing needs what only POSIX has. It is tried on a faked Windows: its paths and its file system
are not.
"""

import json
import subprocess
import sys

import pytest
from helpers.cli_runs import lay_out
from helpers.paths import ROOT

pytestmark = pytest.mark.slow


def test_a_run_under_a_budget_needs_nothing_that_only_posix_has(tmp_path):
    lay_out(tmp_path)
    script = ROOT / "tests/helpers/as_windows.py"
    done = subprocess.run(
        [sys.executable, script, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {"codes": [0, 0], "left": 0, "opened": False}
    assert (tmp_path / "one.csv").exists()
