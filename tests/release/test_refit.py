"""Another engine's model of the same measurements: free, said in the certificate, of rescued
releases as well.
"""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import SCHEMA, assert_one_line, invoke

import synthdp
from synthdp import __version__
from synthdp.core import ModelTooLargeError, ParameterError
from synthdp.inference import DirectEngine

KEPT = (
    "guarantee",
    "is_private",
    "epsilon",
    "delta",
    "accounting",
    "events",
    "noise",
    "mechanism",
    "schema",
    "complete",
)


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(1)
    frame = {
        "town": rng.choice(list("ABC"), 2000),
        "age": rng.integers(0, 99, 2000),
        "code": rng.choice(["01", "02"], 2000),
    }
    return synthdp.synthesize(
        pd.DataFrame(frame),
        SCHEMA,
        epsilon=8,
        delta=1e-6,
        mechanism="mst",
        engine="graphical-model",
    )


@pytest.fixture
def saved(release, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    release.save("model.synthdp")
    return "model.synthdp"


@pytest.mark.parametrize("engine", ["mixture-of-products", "direct", DirectEngine()])
def test_measurements_guarantee_and_events_stay(release, engine):
    found = release.refit(engine)
    name = engine if isinstance(engine, str) else "direct"
    assert found.measurements == release.measurements
    assert {key: found.certificate[key] for key in KEPT} == {
        key: release.certificate[key] for key in KEPT
    }
    assert found.certificate["engine"]["name"] == name
    assert found.certificate["software"] == f"synthdp {__version__}"
    assert found.certificate["refitted"] == {
        key: release.certificate[key] for key in ("engine", "software")
    }
    assert found.model is not release.model
    total = release.model.total
    np.testing.assert_allclose(
        found.marginal(["town"]), release.marginal(["town"]), atol=0.02 * total
    )
    assert "refitted" not in release.certificate


def test_what_it_was_first_fitted_with_is_kept(release):
    twice = release.refit("direct").refit("mixture-of-products")
    assert twice.certificate["refitted"]["engine"]["name"] == "graphical-model"


def test_cautions_of_the_old_fit_go_and_others_stay(release):
    model = release.model
    status = type(model.status)(
        ended="stopped", n_iterations=1, loss=1.0, caution="the old fit fell short"
    )
    old = type(model)(
        tree=model.tree, log_potentials=model.log_potentials, total=model.total, status=status
    )
    cautions = {"cautions": ["about the budget", status.caution]}
    before = synthdp.Synthesis(
        schema=release.schema,
        measurements=release.measurements,
        model=old,
        certificate=release.certificate | cautions,
    )
    assert before.cautions == tuple(cautions["cautions"])
    assert before.refit("direct").cautions == ("about the budget",)


def test_a_release_without_a_model_is_fitted_and_stays_incomplete(release, tmp_path):
    certificate = release.certificate | {"complete": False}
    partial = synthdp.Synthesis(
        schema=release.schema,
        measurements=release.measurements,
        model=None,
        certificate=certificate,
    )
    partial.save(tmp_path / "rescued")
    stages = []
    found = synthdp.load(tmp_path / "rescued").refit(
        "direct", report=lambda *step: stages.append(step[0])
    )
    assert found.certificate["complete"] is False
    assert found.sample(5, seed=1).shape == (5, 3)
    assert set(stages) == {"fitting"}


def test_what_cannot_be_fitted_is_refused(release):
    with pytest.raises(ParameterError, match="engine 'none' is unknown"):
        release.refit("none")
    with pytest.raises(ParameterError, match="give the name of an engine"):
        release.refit(7)
    large = synthdp.Domain(tuple("abcdefgh"), (50,) * 8)
    counts = [
        synthdp.LinearMeasurement((name,), np.full(50, 2.0), 1.0) for name in large.attributes
    ]
    with pytest.raises(ModelTooLargeError):
        synthdp.from_measurements(large, counts).refit("direct")


def test_the_command_refits_saves_and_says_so(saved):
    done = invoke("refit", saved, "--engine", "mixture-of-products", "-o", "other.synthdp")
    assert (done.code, done.out) == (0, b"")
    assert done.lines[0].startswith(
        "other.synthdp: fitted by mixture-of-products, at first by graphical-model; "
    )
    assert synthdp.load("other.synthdp").model.kind == "mixture-of-products"
    again = invoke("refit", "other.synthdp", "--engine", "direct", "-o", "other2.synthdp", "--json")
    result = json.loads(again.out)
    assert (again.code, again.err) == (0, "")
    assert (result["output"], result["engine"]["name"], result["epsilon"]) == (
        "other2.synthdp",
        "direct",
        8,
    )
    assert result["refitted"]["engine"]["name"] == "graphical-model"
    assert invoke("sample", "other2.synthdp", "-o", "rows.csv", "--rows", "7").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "fragment"),
    [
        (("--engine", "none", "-o", "new"), 2, "engine 'none' is unknown; choose one of"),
        (("--engine", "direct", "-o", "model.synthdp", "--force"), 2, "is named twice"),
        (("--engine", "direct", "-o", "there"), 1, "it exists; pass --force"),
        (("--engine", "direct", "-o", "-"), 2, "a release is a file"),
        (("-o", "new"), 2, "--engine"),
        (("--engine", "direct", "-o", "no/where"), 1, "its directory does not exist"),
    ],
)
def test_wrong_usage_is_one_line(arguments, code, fragment, saved, tmp_path):
    (tmp_path / "there").write_text("mine")
    before = (tmp_path / saved).read_bytes()
    outcome = invoke("refit", saved, *arguments)
    assert_one_line(outcome, code)
    assert fragment in outcome.err
    assert (tmp_path / saved).read_bytes() == before
    assert (tmp_path / "there").read_text() == "mine"
    assert invoke("refit", saved, "--engine", "direct", "-o", "there", "--force").code == 0


def test_who_has_no_model_is_told_that_another_engine_makes_it(release):
    """As of a run that failed with an engine of somebody's own, when rows are first asked for."""
    own = {"name": "mine", "parameters": {}}
    pieces = {"schema": release.schema, "measurements": release.measurements, "model": None}
    stated = synthdp.Synthesis(**pieces, certificate=release.certificate | {"engine": own})
    with pytest.warns(synthdp.CautionWarning, match="engine 'mine', which cannot be made from it"):
        stated.sample(10, seed=0)
    ours = synthdp.Synthesis(**pieces, certificate=release.certificate)
    with warnings.catch_warnings():
        warnings.simplefilter("error", synthdp.CautionWarning)
        ours.sample(10, seed=0)
