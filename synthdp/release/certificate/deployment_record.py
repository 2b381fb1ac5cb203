"""A release as a record of OpenDP's registry of deployments of differential privacy.

The fields and their enumerated values are those of ``schemas/deployments-schema.yaml`` of
``opendp/deployments-registry-data`` (commit 057e5d8, autumn 2026). All texts of the registry are
read as Markdown.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from synthdp.core.errors import ParameterError, PrivacyError
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.unit import Adjacency
from synthdp.release.certificate.meaning import with_what_was_meant

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
"""Others are not in the registry's list; they are named under additional information."""

_NEEDED = (
    "name",
    "curators",
    "description",
    "intended_use",
    "region",
    "publication_date",
    "registry_authors",
)
"""What the registry needs and only the curator knows."""

_OF_TIER = {
    2: ("release_type", "data_source_type"),
    3: ("actors", "trust_assumptions", "hyperparameter_tuning", "justification"),
}
"""What the next tiers ask for, besides what a certificate says itself."""

POST_PROCESSING = (
    "A model is fitted to the noisy counts, rows are drawn from it, and their codes are turned into values by the "
    "schema. All of it uses released values only."
)


def deployment_record(certificate: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a release, as plain values for a YAML file.

    What nobody said is left out, and nothing is made up: ``tier`` is the highest for which all is
    there. A guarantee that stands on zCDP, with no part of delta for thresholds, is of the variant
    "Zero-concentrated DP". All others are "Approximate DP", which they are as well, since the
    registry has no value for Gaussian DP; their details state mu.

    Parameters
    ----------
    certificate
        Of the release.
    about
        What the curator says of it, as `synthdp.release.certificate.about.read_about` returns it.

    Raises
    ------
    PrivacyError
        If the certificate states no guarantee.
    ParameterError
        If the curator left out what the registry needs.
    """
    if not certificate["is_private"]:
        raise PrivacyError(f"certificate: {certificate['guarantee']}; there is nothing to register")
    # All that is missing is named at once: it takes a person to find out each of them.
    missing = [key for key in _NEEDED if key not in about]
    missing += [
        f"curators[{i}].type"
        for i, each in enumerate(about.get("curators", ()))
        if "type" not in each
    ]
    if missing:
        raise ParameterError(
            f"about: the registry needs {', '.join(missing)} as well; say it in a file for --about"
        )
    certificate = with_what_was_meant(certificate)
    parts = {
        "basic": _basic(about),
        "dp_variant": _variant(certificate),
        "privacy_loss": _privacy_loss(certificate),
        "deployment_model": _model(about),
        "implementation": _implementation(certificate, about),
        "administrative": _administrative(about),
    }
    return {"url_slug": _slug(about), "deployment": parts}


def next_tier(about: Mapping[str, Any]) -> tuple[int, list[str]]:
    """The tier that a record reaches, and what the next one asks for."""
    for tier, keys in _OF_TIER.items():
        if missing := [key for key in keys if key not in about]:
            return tier - 1, missing
    return 3, []


def _basic(about: Mapping[str, Any]) -> dict[str, Any]:
    curators = [
        {"data_curator_name": each["name"], "data_curator_type": each["type"]}
        for each in about["curators"]
    ]
    sector = {"data_product_sector": about["sector"]} if about.get("sector") in SECTORS else {}
    return {
        "name": about["name"],
        "data_curators": curators,
        "description": about["description"],
        "intended_use": about["intended_use"],
        "data_product_type": "Synthetic data",
        "data_product_region": about["region"],
        **sector,
        "publication_date": about["publication_date"],
    }


def _variant(certificate: Mapping[str, Any]) -> dict[str, str]:
    columns = certificate["schema"]["columns"] if "schema" in certificate else []
    of = f"the {len(columns)} columns" if columns else "the columns"
    replaces = certificate["adjacency"] == Adjacency.REPLACE_ONE.value
    rows = "a public number of rows" if replaces else "any number of rows"
    public = [
        f"{entry['quantity']}: {entry['source']}" for entry in certificate.get("unprotected", ())
    ]
    return {
        "variant_name": "Zero-concentrated DP" if _is_zcdp(certificate) else "Approximate DP",
        "data_domain": f"Tables with {rows} and {of} that the schema of the release declares.",
        **({"unprotected_quantities": _bullets(public)} if public else {}),
    }


def _is_zcdp(certificate: Mapping[str, Any]) -> bool:
    accounting = certificate["accounting"]
    return accounting["currency"] == Accounting.ZCDP.value and not accounting.get("failure_delta")


def _privacy_loss(certificate: Mapping[str, Any]) -> dict[str, Any]:
    accounting = certificate["accounting"]
    rho = accounting["rho_budget"]
    parameters = {"epsilon": certificate["epsilon"], "delta": certificate["delta"]}
    details = [f"The guarantee is for all that was released together: {accounting['theorem']}."]
    if accounting["currency"] == Accounting.GDP.value:
        details.append(f"The budget is mu = {(2 * rho) ** 0.5:.6g} of Gaussian DP.")
    elif not _is_zcdp(certificate):
        details.append(f"The budget is rho = {rho:.6g} of zCDP.")
    if accounting.get("failure_delta"):
        share = f"{accounting['failure_delta']:.4g} of delta"
        details.append(
            f"At most {share} is for values that only one person has and that pass a threshold."
        )
    return {
        "privacy_unit": _unit(certificate),
        "privacy_unit_details": f"{_sentence(certificate['unit_of_privacy'])} Adjacency: {certificate['adjacency']}.",
        "privacy_parameters": parameters | ({"rho": rho} if _is_zcdp(certificate) else {}),
        "privacy_parameters_details": _bullets(details),
    }


def _unit(certificate: Mapping[str, Any]) -> str:
    if certificate["unit_of_privacy"].startswith("one person"):
        return "Person-level"
    return "Record-level"


def _model(about: Mapping[str, Any]) -> dict[str, str]:
    names = (
        "trust_assumptions",
        "actors",
        "release_type",
        "release_type_details",
        "data_source_type",
    )
    return {
        "model_name": "Central",
        "model_name_details": "The curator holds the records and runs synthdp on them; only its output is released.",
        **{key: about[key] for key in names if key in about},
        "access_type": "Non-interactive",
        "access_type_details": "Synthetic rows, and the model if it is published; nobody queries the records.",
    }


def _implementation(certificate: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, str]:
    accounting = certificate["accounting"]
    tuning = {"Preprocessing": "preprocessing", "Hyperparameter tuning": "hyperparameter_tuning"}
    prepared = [f"{name}: {about[key]}" for name, key in tuning.items() if key in about]
    composed = f"{accounting['theorem']}; {len(certificate['events'])} events, each charged before it was answered"
    texts = {
        "preprocessing_and_hyperparameter_tuning": _bullets(prepared)
        if "hyperparameter_tuning" in about
        else "",
        "mechanisms": _bullets(_mechanisms(certificate)),
        "composition": _sentence(composed),
        "post_processing": POST_PROCESSING,
        "justification": about.get("justification", ""),
        "utility": about.get("utility", ""),
        "additional_information": _bullets(_additional(about)),
    }
    return {key: text for key, text in texts.items() if text}


def _mechanisms(certificate: Mapping[str, Any]) -> list[str]:
    versions = certificate.get("versions") or {"": certificate.get("software", "unknown")}
    made_by = ", ".join(f"{name} {version}".strip() for name, version in versions.items())
    mechanism = certificate["mechanism"]
    return [
        f"Mechanism: {mechanism['name']} ({mechanism['reference']}), by synthdp.",
        f"Noise: {certificate['noise']['kind']}; {certificate['noise']['randomness']}.",
        f"Versions: {made_by}.",
        *(f"Not protected against: {line}." for line in certificate["not_covered"]),
    ]


def _additional(about: Mapping[str, Any]) -> list[str]:
    names = {
        "sector": "Sector",
        "data_period": "Period of the data",
        "contact": "Contact",
        "notes": "Notes",
    }
    left = {key: name for key, name in names.items() if key in about and about[key] not in SECTORS}
    return [f"{name}: {about[key]}" for key, name in left.items()]


def _administrative(about: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("title", "url", "author", "year")
    sources = {
        f"source_{number}": {
            **({"evidence_source_type": source["type"]} if "type" in source else {}),
            "misc": {key: source[key] for key in kept if key in source},
        }
        for number, source in enumerate(about.get("sources", ()), 1)
    }
    return {
        **({"evidence_sources": sources} if sources else {}),
        "status": "Draft",
        "registry_authors": list(about["registry_authors"]),
        "tier": next_tier(about)[0],
    }


def _slug(about: Mapping[str, Any]) -> str:
    """Words of name, curators and year, as the registry's addresses have them."""
    words = [
        about["name"],
        *(each["name"] for each in about["curators"]),
        about["publication_date"][:4],
    ]
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")


def _bullets(lines: Sequence[str]) -> str:
    """A list in Markdown, or its only entry; the lines of an entry stay below its first."""
    if len(lines) == 1:
        return lines[0]
    return "\n".join("- " + line.replace("\n", "\n  ") for line in lines)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."
