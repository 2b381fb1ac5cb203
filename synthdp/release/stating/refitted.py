"""What a certificate says once another engine has fitted the same measurements."""

from collections.abc import Mapping
from typing import Any

from synthdp.inference.estimator import Estimator
from synthdp.inference.model import Model
from synthdp.release.stating.certificate import fit_cautions, fit_facts
from synthdp.schema.schema import Schema


def refitted(
    certificate: Mapping[str, Any],
    before: Model | None,
    schema: Schema,
    engine: Estimator,
    model: Model,
) -> dict[str, Any]:
    """The certificate of a release whose measurements have a new model.

    Parameters
    ----------
    certificate
        What it said before.
    before
        The model that it had, if any.
    schema, engine, model
        What the new model was fitted for, by and is.

    What was released, its guarantee and its cost stay; engine, software and what the old fit said
    of itself are replaced. ``refitted`` holds what the release was first fitted with.
    """
    facts = fit_facts(schema, engine, model)
    first = certificate.get("refitted") or {
        key: certificate.get(key) for key in ("engine", "software")
    }
    said = {before.status.caution} if before is not None else set()
    kept = [caution for caution in certificate.get("cautions", []) if caution not in said]
    found = [caution for caution in fit_cautions(model) if caution not in kept]
    now = {"software": facts["software"], "engine": facts["engine"], "refitted": first}
    return dict(certificate) | now | {"cautions": [*kept, *found]}
