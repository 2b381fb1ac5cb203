"""Fitting a model to what a release has measured."""

from collections.abc import Sequence
from functools import partial

from synthdp.core.measurement import LinearMeasurement
from synthdp.core.reporting import FITTING, Report, finishing, silent
from synthdp.inference.engines.refinement import estimate_refined
from synthdp.inference.estimator import Estimator
from synthdp.inference.model import Model
from synthdp.schema.schema import Schema


def fitted_model(
    engine: Estimator,
    schema: Schema,
    measurements: Sequence[LinearMeasurement],
    *,
    report: Report = silent,
) -> Model:
    """The model of an engine for measurements of a schema's columns, under its rules; raises as
    engines do.
    """
    engine.check_domain(schema.domain)
    with finishing(report) as told:
        progress = partial(told, FITTING)
        progress(0, 1)  # a fit that is right from its start takes no step that tells
        return estimate_refined(
            engine, schema.domain, measurements, constraints=schema.constraints, progress=progress
        )
