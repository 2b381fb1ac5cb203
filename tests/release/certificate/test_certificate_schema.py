"""Every certificate is as its published JSON Schema says, whatever made it."""

import json
from contextlib import suppress

import jsonschema
import numpy as np
import pytest
from helpers.stated import ABOUT, DECLARED, KINDS, people, release_of
from oracles.privacy import Seeded

import synthdp
from synthdp.core import LinearMeasurement
from synthdp.release import KEYS, MECHANISMS, SCHEMA_FILE, LearntDomain, Synthesis, read_about

SCHEMA = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def check(certificate):
    content = json.loads(json.dumps(certificate, allow_nan=False))
    problems = [
        f"{error.json_path}: {error.message[:200]}" for error in VALIDATOR.iter_errors(content)
    ]
    assert problems == []
    return content


def test_the_schema_is_one_and_explains_each_of_its_fields():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert all(field["description"].endswith(".") for field in SCHEMA["properties"].values())
    assert set(SCHEMA["$defs"]["about"]["properties"]) == set(KEYS)


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
def test_of_every_mechanism(mechanism):
    check(release_of(mechanism=mechanism, workload="2-way").certificate)


@pytest.mark.parametrize("accounting", ["zcdp", "gdp"])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_of_every_accounting_and_unit(accounting, adjacency):
    settings = {"mechanism": "independent", "accounting": accounting}
    content = check(release_of(adjacency=adjacency, **settings).certificate)
    hidden = [entry for entry in content["unprotected"] if "number of records" in entry["quantity"]]
    assert len(hidden) == (adjacency == "replace-one")
    assert (
        check(release_of(unit="person", max_rows=2, **settings).certificate)["max_rows_per_unit"]
        == 2
    )


def test_of_a_choice_among_models():
    settings = {"mechanism": "mst", "choose": ["columns", "direct", "auto"]}
    assert len(check(release_of(**settings).certificate)["choice"]["candidates"]) > 1


def test_of_what_was_learnt_and_of_what_the_curator_says():
    content = check(release_of(KINDS, about=read_about(ABOUT)).certificate)
    assert {event["event"] for event in content["events"]} >= {
        "partition selection",
        "tree",
        "marginal",
    }
    assert content["about"]["sources"][0]["year"] == "2026"
    assert any("was not learnt" in entry["quantity"] for entry in content["unprotected"])


def test_of_dtypes_that_are_public():
    frame = people()[["a", "b"]].astype("category")
    certificate = synthdp.synthesize(
        frame, kinds="dtypes", epsilon=2.0, delta=1e-6, about={"name": "x"}
    ).certificate
    content = check(certificate)
    assert content["about"] == {"name": "x"}
    assert any("dtypes" in entry["source"] for entry in content["unprotected"])


@pytest.mark.parametrize("declared", [DECLARED, KINDS])
def test_of_a_run_that_was_stopped(declared):
    kept = []
    for stage in (1, 3):
        steps = iter(range(1000))

        def stop(*_, steps=steps, stage=stage):
            if next(steps) == stage:
                raise KeyboardInterrupt

        with suppress(KeyboardInterrupt):  # what noise says decides how many steps there are
            release_of(declared, mechanism="aim", rescue=kept.append, report=stop)
    assert {type(found) for found in kept} >= (
        {Synthesis} if declared is DECLARED else {LearntDomain}
    )
    for found in kept:
        assert check(found.certificate)["complete"] is False


def test_of_a_release_that_was_saved_and_fitted_again(tmp_path):
    release_of(about=read_about(ABOUT)).save(tmp_path / "a.synthdp")
    restored = synthdp.load(tmp_path / "a.synthdp")
    before = check(restored.certificate)
    restored.marginal(["a"])
    assert check(restored.certificate) == before


def test_of_measurements_of_another_system():
    counts = [LinearMeasurement(("a",), np.array([4.0, 6.0]), 2.0)]
    counts.append(
        LinearMeasurement(("a", "b"), np.ones((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]]))
    )
    content = check(synthdp.from_measurements(DECLARED, counts).certificate)
    assert content["meaning"] is None
    assert content["measurements"][1]["stddev"] == [1.0, 4.0]


def test_of_noise_that_can_be_predicted():
    content = check(release_of(randomness=Seeded(1)).certificate)
    assert content["guarantee"].startswith("NOT PRIVATE")
    assert content["meaning"] is None


WRONG = {
    "epsilon": 0,
    "guarantee": "perfect",
    "is_private": False,
    "meaning": None,
    "format": "synthdp-certificate/1",
    "sha256": "0",
    "run": {"id": "x"},
    "surprise": 1,
    "events": [{"event": "glance", "rho": 0.1}],
    "about": {"curator": "x"},
    "accounting": None,
    "schema": {"sha256": "0", "columns": [{"name": "a"}]},
}


@pytest.mark.parametrize("key", WRONG)
def test_what_no_certificate_says_is_refused(key):
    content = check(release_of(mechanism="independent").certificate)
    assert not VALIDATOR.is_valid(content | {key: WRONG[key]})
    if key in content:
        content.pop(key)
        assert not VALIDATOR.is_valid(content)


def test_it_states_software_meaning_and_what_is_unprotected():
    content = check(release_of().certificate)
    assert list(content["versions"]) == ["synthdp", "python", "numpy", "scipy", "pandas"]
    assert content["versions"]["numpy"] == np.__version__
    assert [entry["units"] for entry in content["meaning"]] == [1, 2, 5]
    assert {entry["source"] for entry in content["unprotected"]} >= {
        "declared in the schema",
        "settings of the run",
    }
