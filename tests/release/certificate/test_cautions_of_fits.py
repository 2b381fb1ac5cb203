"""A fit that is not what its engine's are says so where people look: a warning, the certificate,
stderr.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.cli_runs import invoke
from helpers.homes import home

import synthdp
from synthdp.core import Domain, FitWarning, LinearMeasurement, import_named
from synthdp.inference import GraphicalModelEngine, MirrorDescent
from synthdp.release import on_demand, registry

DOMAIN = Domain(("a", "b", "c"), (3, 4, 5))
HASTY = GraphicalModelEngine(driver=MirrorDescent(max_iterations=1))
TEXT = "the fit (graphical-model) was stopped after 1 iterations, short of the least loss"


@pytest.fixture(scope="module")
def circle():
    """Noisy pairs that no junction tree has as its cliques."""
    rng = np.random.default_rng(0)
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    return [LinearMeasurement(p, rng.normal(60, 20, DOMAIN.project(p).shape), 20.0) for p in pairs]


def test_a_fit_cut_short_warns_once_and_is_in_the_certificate(circle):
    with pytest.warns(FitWarning) as told:
        synthesis = synthdp.from_measurements(DOMAIN, circle, engine=HASTY)
    (caution,) = synthesis.certificate["cautions"]
    assert caution.startswith(TEXT)
    assert [str(warning.message) for warning in told] == [caution]
    engine = synthesis.certificate["engine"]
    assert (engine["ended"], engine["n_iterations"], set(engine)) == (
        "stopped", 1, {"name", "parameters", "ended", "n_iterations", "loss"}
    )  # fmt: skip
    assert synthdp.from_measurements(DOMAIN, circle).certificate["cautions"] == []


def test_the_caution_is_kept_in_files_and_said_on_stderr(circle, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.warns(FitWarning):
        synthdp.from_measurements(DOMAIN, circle, engine=HASTY).save("hasty.synthdp")
    outcome = invoke("sample", "hasty.synthdp", "-o", "out.csv", "--rows", "5")
    assert outcome.code == 0
    assert outcome.notes[0].startswith(f"synthdp: caution: {TEXT}")
    assert json.loads(Path("out.csv.privacy.json").read_text())["cautions"][0].startswith(TEXT)
    assert (
        f"caution            {TEXT}" in invoke("show", "out.csv.privacy.json", "--all").out.decode()
    )


def test_a_fit_made_when_it_is_needed_is_in_the_certificate_from_then_on(circle, monkeypatch):
    """Measurements rescued from a run that was stopped have no model yet."""
    made = synthdp.from_measurements(DOMAIN, circle)
    rescued = synthdp.Synthesis(
        schema=made.schema,
        measurements=circle,
        model=None,
        certificate={**made.certificate, "cautions": ["old"]},
    )
    monkeypatch.setattr(home(import_named(on_demand.FURTHER_FIT)), "engine_named", lambda _: HASTY)
    assert rescued.certificate["cautions"] == ["old"]
    with pytest.warns(FitWarning):
        rescued.sample(3, seed=0)
    old, new = rescued.certificate["cautions"]
    assert (old, new.startswith(TEXT)) == ("old", True)


def test_a_release_that_stops_early_says_so_on_stderr(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, [3, 4, 5], (400, 3))
    Path("people.csv").write_text(
        "a,b,c\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n"
    )
    Path("domain.json").write_text(json.dumps({"a": 3, "b": 4, "c": 5}))
    monkeypatch.setitem(registry.ENGINES, "graphical-model", "hasty:Hasty")
    tmp_path.joinpath("hasty.py").write_text(
        "from functools import partial\n"
        "from synthdp.inference.engines.graphical_model import GraphicalModelEngine\n"
        "from synthdp.inference.optimisers.mirror_descent import MirrorDescent\n"
        "Hasty = partial(GraphicalModelEngine, driver=MirrorDescent(max_iterations=1))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    budget = ("--epsilon", "1", "--delta", "1e-6", "--mechanism", "gaussian", "--workload", "2-way")
    outcome = invoke(
        "run",
        "people.csv",
        "-s",
        "domain.json",
        "-o",
        "out.csv",
        *budget,
        "--engine",
        "graphical-model",
    )
    assert outcome.code == 0
    assert [line for line in outcome.lines if line.startswith(f"synthdp: caution: {TEXT}")]
    assert json.loads(Path("out.csv.privacy.json").read_text())["engine"]["ended"] == "stopped"
