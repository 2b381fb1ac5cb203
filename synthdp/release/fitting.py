"""Fitting a model to what a release has measured, under rules that leave some row possible."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.imports import import_named
from synthdp.core.measurement import LinearMeasurement
from synthdp.core.reporting import FITTING, Report, finishing, silent
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.release.on_demand import KNOWN_ENGINE, MERGED_FIT, POSSIBILITY, TARGET_LAST
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.core.known_marginal import KnownMarginal


def check_rules(domain: Domain, constraints: Sequence[Constraint]) -> None:
    """Ask whether any row keeps to all constraints; raises as
    `synthdp.inference.graphical.possible_rows.check_possible`.
    """
    if constraints:
        import_named(POSSIBILITY)(domain, constraints)


def meeting(engine: Engine, known: "Sequence[KnownMarginal]") -> Engine:
    """The engine for models that meet some known marginals; itself if there are none."""
    return import_named(KNOWN_ENGINE)(inner=engine, marginals=tuple(known)) if known else engine


def fit_model(
    engine: Engine,
    schema: Schema,
    measurements: Sequence[LinearMeasurement],
    *,
    report: Report = silent,
) -> Model:
    """The model of an engine for measurements of a schema's columns, under its rules; raises as
    engines do.
    """
    engine.check_domain(schema.domain)
    is_merged = any(measurement.groups for measurement in measurements)
    estimate = partial(import_named(MERGED_FIT), engine) if is_merged else engine.estimate
    with finishing(report) as reporting:
        progress = partial(reporting, FITTING)
        progress(0, 1)  # a fit that is right from its start takes no step that tells
        return estimate(
            schema.domain, measurements, constraints=schema.constraints, progress=progress
        )


def with_target(
    model: Model, target: str | None, measurements: Sequence[LinearMeasurement]
) -> Model:
    """The model, whose rows get what is to be predicted last of all, if there is such a column and
    the model can.
    """
    return model if target is None else import_named(TARGET_LAST)(model, target, measurements)
