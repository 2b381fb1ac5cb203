"""Further fits of what a release measured: one that is made when it is needed, by another engine, or
to replicates. All is post-processing, and costs nothing.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from synthdp.core.domain import Domain
from synthdp.core.errors import CautionWarning, ParameterError
from synthdp.core.measurement import LinearMeasurement
from synthdp.core.reporting import Report, silent
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.release.certificate.fit_facts import PLAIN, fit_cautions, fit_facts
from synthdp.release.fitting import fit_model, meeting, with_target
from synthdp.release.registry import as_engine, engine_named
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.core.known_marginal import KnownMarginal


def further_fit(
    schema: Schema,
    measurements: Sequence[LinearMeasurement],
    certificate: Mapping[str, Any],
    known: "Sequence[KnownMarginal]",
    *,
    engine: Engine | None = None,
    report: Report = silent,
) -> Model:
    """A model of what was measured, whose rows get what is to be predicted last, if they can.

    By default by the engine that the certificate states, or by the one called ``"auto"`` where that
    cannot be made again, which a `CautionWarning` says; raises as engines do.
    """
    if engine is None:
        stated = certificate.get("engine", {})
        try:
            engine = stated_engine(stated)
        except ParameterError:
            engine = engine_named("auto")
            warnings.warn(
                f"the certificate names engine {stated.get('name')!r}, which cannot be made from it; rows are of a "
                "model by 'auto': refit() takes another",
                CautionWarning,
                stacklevel=3,
            )
    model = fit_model(meeting(engine, known), schema, measurements, report=report)
    return with_target(model, stated_target(certificate, schema.domain), measurements)


def refitted(
    schema: Schema,
    measurements: Sequence[LinearMeasurement],
    certificate: Mapping[str, Any],
    known: "Sequence[KnownMarginal]",
    *,
    before: Model | None,
    engine: str | Engine,
    report: Report,
) -> tuple[Model, dict[str, Any]]:
    """Another engine's model, and the certificate of the release with it; for `Synthesis.refit`."""
    estimator = as_engine(engine)
    model = further_fit(schema, measurements, certificate, known, engine=estimator, report=report)
    return model, _refit_certificate(certificate, before, schema, estimator, model)


def _refit_certificate(
    certificate: Mapping[str, Any],
    before: Model | None,
    schema: Schema,
    engine: Engine,
    model: Model,
) -> dict[str, Any]:
    """The certificate of a release whose measurements have a new model.

    Parameters
    ----------
    certificate
        As it was before.
    before
        The model that the release had, if any.
    schema, engine, model
        What the new model was fitted for, by and is.

    What was released, its guarantee and its cost stay; engine, software and what the old fit said
    of itself are replaced. What was measured of the rows of the old model is left out.
    ``refitted`` holds what the release was first fitted with.
    """
    facts = fit_facts(schema, engine, model)
    first = certificate.get("refitted") or {
        key: certificate.get(key) for key in ("engine", "software")
    }
    of_former_fit = {before.status.caution} if before is not None else set()
    kept = [caution for caution in certificate.get("cautions", []) if caution not in of_former_fit]
    cautions = [caution for caution in fit_cautions(model) if caution not in kept]
    now = {"software": facts["software"], "engine": facts["engine"], "refitted": first}
    of_rows = ("quality", "acceptance", "choice")
    same = {key: value for key, value in certificate.items() if key not in of_rows}
    return same | now | {"cautions": [*kept, *cautions]}


def stated_target(certificate: Mapping[str, Any], domain: Domain) -> str | None:
    """What is to be predicted, as a certificate says; None if nothing is."""
    target = certificate.get("workload", {}).get("target")
    return target if target in domain.attributes else None


def stated_engine(facts: Mapping[str, Any]) -> Engine:
    """The engine of which a certificate says ``facts``, with its parameters.

    Raises
    ------
    ParameterError
        If it is none of ours, or has parameters that a certificate cannot hold; the message says to
        name one.
    """
    engine = engine_named(str(facts.get("name", "auto")))
    parameters = facts.get("parameters", {})
    known = {each.name for each in fields(engine)} if is_dataclass(engine) else set[str]()
    if any(name not in known or not isinstance(value, PLAIN) for name, value in parameters.items()):
        raise ParameterError(
            f"engine {engine.name!r} had parameters that its certificate cannot hold; give engine="
        )
    fitted: Engine = replace(engine, **parameters)  # type: ignore[type-var]
    return fitted
