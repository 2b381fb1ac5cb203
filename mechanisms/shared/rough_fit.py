"""Fits that steer a selection, or follow measurements no further than their noise."""

from collections.abc import Callable, Sequence
from functools import partial

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.reporting import Report
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model


def rough_fit(
    engine: Engine,
    domain: Domain,
    constraints: Sequence[Constraint],
    report: Report | None = None,
) -> Callable[..., Model]:
    """What fits measurements by the engine's looser stopping rule (`Engine.rough`).

    A fit to the last digit follows the noise: it takes several times as long and errs no less.

    Returns
    -------
    callable
        ``fit(measurements, warm_start=None)``; it tells ``report`` of its progress.
    """
    progress = None if report is None else partial(report, "fitting")
    return partial(engine.rough().estimate, domain, constraints=constraints, progress=progress)


def full_fit(
    engine: Engine, domain: Domain, constraints: Sequence[Constraint], report: Report
) -> Callable[..., Model]:
    """What fits measurements by the engine's own stopping rule, as the last round of a mechanism does.

    Returns
    -------
    callable
        ``fit(measurements, warm_start=None)``; it tells ``report`` of its progress.
    """
    progress = partial(report, "fitting")
    return partial(engine.estimate, domain, constraints=constraints, progress=progress)
