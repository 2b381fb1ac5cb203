"""Records for OpenDP's registry of deployments: its fields, its values, and nothing made up."""

import jsonschema
import pytest
import yaml
from helpers.stated import ABOUT, DECLARED, KINDS, release_of
from oracles.deployments_registry import RECORD
from oracles.privacy import Seeded

import synthdp
from synthdp.core import LinearMeasurement, ParameterError, PrivacyError
from synthdp.release import deployment_record, next_tier, read_about, yaml_text

SAID = read_about(ABOUT)
NEEDED = {
    key: SAID[key]
    for key in ["name", "curators", "description", "intended_use", "region", "publication_date"]
}
NEEDED |= {"registry_authors": SAID["registry_authors"]}


def record(about=SAID, **settings):
    """The record as the registry reads it."""
    declared = settings.pop("declared", DECLARED)
    certificate = release_of(declared, mechanism="independent", **settings).certificate
    found = yaml.safe_load(yaml_text(deployment_record(certificate, about)))
    jsonschema.Draft7Validator(RECORD, format_checker=jsonschema.FormatChecker()).validate(found)
    return certificate, found["deployment"], found


def test_all_that_is_said_gets_to_its_place():
    certificate, parts, found = record()
    assert found["url_slug"] == "made-up-people-office-of-examples-firm-2026"
    assert parts["basic"]["data_product_type"] == "Synthetic data"
    assert parts["administrative"]["tier"] == 3
    assert parts["administrative"]["evidence_sources"]["source_1"]["misc"]["year"] == "2026"
    written = yaml_text(parts)
    for key in set(ABOUT) - {"curators", "sources", "registry_authors", "notes", "description"}:
        assert ABOUT[key] in written, key
    assert (
        "Notes: First line: a.\n  Second line." in parts["implementation"]["additional_information"]
    )
    parameters = parts["privacy_loss"]["privacy_parameters"]
    assert (parameters["epsilon"], parameters["delta"]) == (2.0, 1e-6)
    for entry in certificate["unprotected"]:
        assert entry["quantity"] in parts["dp_variant"]["unprotected_quantities"]


def test_what_nobody_said_is_left_out():
    _, parts, _ = record(NEEDED)
    assert parts["administrative"] == {
        "status": "Draft",
        "registry_authors": ["A. Clerk"],
        "tier": 1,
    }
    assert "justification" not in parts["implementation"]
    assert "release_type" not in parts["deployment_model"]
    assert next_tier(NEEDED) == (1, ["release_type", "data_source_type"])
    second = NEEDED | {key: SAID[key] for key in ("release_type", "data_source_type")}
    assert record(second)[1]["administrative"]["tier"] == 2
    _, parts, _ = record(SAID | {"sector": "Fishing"})
    assert "data_product_sector" not in parts["basic"]
    assert "Sector: Fishing" in parts["implementation"]["additional_information"]


@pytest.mark.parametrize(
    ("settings", "variant", "word"),
    [
        ({"accounting": "gdp"}, "Approximate DP", "mu = "),
        ({}, "Zero-concentrated DP", "zCDP"),
        ({"declared": KINDS}, "Approximate DP", "of delta is for values that only one person has"),
    ],
)
def test_the_variant_is_one_that_the_guarantee_is_of(settings, variant, word):
    certificate, parts, _ = record(**settings)
    loss = parts["privacy_loss"]
    assert parts["dp_variant"]["variant_name"] == variant
    assert word in loss["privacy_parameters_details"]
    budget = certificate["accounting"]["rho_budget"]
    assert loss["privacy_parameters"].get("rho") == (budget if variant.startswith("Zero") else None)


def test_the_unit_is_that_of_the_release():
    assert record()[1]["privacy_loss"]["privacy_unit"] == "Record-level"
    assert record(unit="person")[1]["privacy_loss"]["privacy_unit"] == "Person-level"
    _, parts, _ = record(adjacency="replace-one")
    assert "a public number of rows" in parts["dp_variant"]["data_domain"]


@pytest.mark.parametrize("key", NEEDED)
def test_what_the_registry_needs_must_be_said(key):
    certificate = release_of(mechanism="independent").certificate
    with pytest.raises(ParameterError, match=f"needs {key} as well"):
        deployment_record(
            certificate, {name: value for name, value in NEEDED.items() if name != key}
        )


def test_curators_must_say_what_they_are():
    certificate = release_of(mechanism="independent").certificate
    with pytest.raises(ParameterError, match=r"needs curators\[0\].type as well"):
        deployment_record(certificate, NEEDED | {"curators": [{"name": "x"}]})


def test_no_guarantee_is_no_deployment():
    counts = [LinearMeasurement(("a",), [4.0, 6.0], 2.0)]
    for certificate in (
        release_of(randomness=Seeded(1)).certificate,
        synthdp.from_measurements(DECLARED, counts).certificate,
    ):
        with pytest.raises(PrivacyError, match="nothing to register"):
            deployment_record(certificate, SAID)
