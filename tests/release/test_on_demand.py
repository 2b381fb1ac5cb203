"""What a release needs only at times is loaded when it is asked for, and no sooner."""

import ast
import inspect
import subprocess
import sys
from itertools import pairwise

import pytest

from synthdp.core import import_named
from synthdp.release import on_demand

NAMED = {name: named for name, named in vars(on_demand).items() if name.isupper()}

SIMPLE_RELEASE = """
import sys
from itertools import pairwise
from synthdp import Domain, LinearMeasurement, from_measurements
counts = LinearMeasurement(("smoker",), [70.0, 30.0], 1.5)
synthesis = from_measurements(Domain(("smoker",), (2,)), [counts], engine="graphical-model")
assert len(synthesis.sample(seed=0)) == 100
assert len(synthesis.marginal(["smoker"])) == 2
print(*sorted(sys.modules))
"""

PLAIN_RUN = """
import sys
import warnings
import pandas as pd
from synthdp import synthesize
warnings.simplefilter("ignore")
frame = pd.DataFrame({"smoker": [True, False] * 100})
schema = {"fields": [{"name": "smoker", "type": "boolean"}]}
synthesize(frame, schema, epsilon=1.0, delta=1e-6, mechanism="independent")
print(*sorted(sys.modules))
"""


@pytest.mark.parametrize("name", NAMED)
def test_every_name_is_there(name):
    assert callable(import_named(NAMED[name]))


def test_every_name_says_what_it_is_for():
    body = ast.parse(inspect.getsource(on_demand)).body
    described = {
        node.targets[0].id: ast.literal_eval(after.value)
        for node, after in pairwise(body)
        if isinstance(node, ast.Assign) and isinstance(after, ast.Expr)
    }
    assert described.keys() == NAMED.keys()
    assert all(text.rstrip().endswith(".") for text in described.values())


def test_a_simple_release_is_made_and_drawn_without_them():
    loaded = _loaded_by(SIMPLE_RELEASE)
    assert "synthdp.release.synthesis" in loaded
    assert loaded.isdisjoint(named.partition(":")[0] for named in NAMED.values())


def test_a_plain_run_is_made_without_them():
    loaded = _loaded_by(PLAIN_RUN)
    assert "synthdp.release.release" in loaded
    # engines ask whether rows are possible, a run measures how good its rows are, and first looks
    # whether columns can be read
    names = {"POSSIBILITY", "COMPARED", "PLACED_SCORE", "READING_CHECK"}
    allowed = {NAMED[name].partition(":")[0] for name in names}
    assert loaded.isdisjoint({named.partition(":")[0] for named in NAMED.values()} - allowed)


def _loaded_by(program):
    command = [sys.executable, "-P", "-c", program]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
