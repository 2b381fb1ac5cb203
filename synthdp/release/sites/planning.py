"""Writing a plan: from a schema and what is wanted, or from what a release measured."""

import zipfile
from collections.abc import Mapping
from os import PathLike
from typing import Any

from synthdp.core.errors import ParameterError
from synthdp.core.measurement import LinearMeasurement
from synthdp.core.workload import MAX_MEASURED_CELLS, MIN_USE, Workload
from synthdp.mechanisms.shared.measurement_plan import planned_shares
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.unit import Adjacency
from synthdp.release.loading import load
from synthdp.release.settings import as_accounting, as_adjacency
from synthdp.release.sites.measuring_plan import MeasuringPlan, PlannedMarginal
from synthdp.release.synthesis import Synthesis
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.public_files import as_schema
from synthdp.schema.schema import Schema

DEFAULT_WORKLOAD = "2-way"
"""All pairs of columns: what is measured without a look at the records is best kept few."""


def plan_measurements(
    source: "Synthesis | Schema | OpenSchema | Mapping[str, Any] | str | PathLike[str]",
    *,
    epsilon: float,
    delta: float,
    workload: Workload | Mapping[str, Any] | str | PathLike[str] | None = None,
    adjacency: str | Adjacency = Adjacency.ADD_REMOVE,
    accounting: str | Accounting = Accounting.GDP,
    unit: str | None = None,
    max_rows_per_unit: int | None = None,
) -> MeasuringPlan:
    """Plan which marginals several sites are to measure, each in a table of its own.

    Opens no sensitive data: see ``docs/sites.md``.

    Parameters
    ----------
    source
        What is public of the tables, as in `synthesize`, with all levels and bounds declared. Then
        marginals and shares follow from the ``workload`` alone. Or a release of one site, a
        `Synthesis` or its file: then the plan asks for the marginals that it chose, in the same
        proportions.
    epsilon, delta
        The guarantee of each site, for each person there.
    workload
        Which marginals are to be right, as in `synthesize`; all pairs by default. Not with a
        release, which chose its own.
    adjacency, accounting, unit, max_rows_per_unit
        As in `synthesize`, for every site.

    Raises
    ------
    SchemaError
        If the schema contradicts itself, or leaves something open.
    DataFileError
        If a file cannot be read.
    ParameterError
        If an argument is out of range, or a release measured nothing.

    >>> plan = plan_measurements({"sex": 2, "town": 3}, epsilon=1.0, delta=1e-9)
    >>> [marginal.clique for marginal in plan.marginals]
    [('sex', 'town')]
    """
    release = _release_in(source)
    if release is None:
        schema = as_schema(source, learns_bins=False)  # type: ignore[arg-type]
        marginals = () if schema.is_open else _wanted(schema.resolved({}), workload)
    elif workload is not None:
        raise ParameterError(
            "workload: a release was given, which chose its marginals; give its schema in its place, or no workload"
        )
    else:
        schema = OpenSchema.from_schema(release.schema)
        marginals = _chosen(release.measurements)
    return MeasuringPlan(
        schema=schema,
        marginals=marginals,
        epsilon=epsilon,
        delta=delta,
        adjacency=as_adjacency(adjacency),
        accounting=as_accounting(accounting),
        unit=unit,
        max_rows_per_unit=max_rows_per_unit,
    )


def _release_in(source: object) -> Synthesis | None:
    """A release that was given, or is in a file; None if it is a schema."""
    if isinstance(source, Synthesis):
        return source
    if isinstance(source, str | PathLike) and zipfile.is_zipfile(source):
        return load(source)
    return None


def _wanted(
    schema: Schema, workload: Workload | Mapping[str, Any] | str | PathLike[str] | None
) -> tuple[PlannedMarginal, ...]:
    """The marginals that answer a workload best, with their shares."""
    domain = schema.domain
    wanted = Workload.parse(domain, DEFAULT_WORKLOAD if workload is None else workload)
    wanted.check_cells(domain, MAX_MEASURED_CELLS)
    weights = dict(wanted.weights)
    little = MIN_USE * max(weights.values())
    weights |= {(name,): little for name in domain.attributes if name not in wanted.importance}
    shares = planned_shares(domain, weights)
    return tuple(
        PlannedMarginal(clique=clique, share=float(share), merged={})
        for clique, share in shares.items()
    )


def _chosen(measurements: tuple[LinearMeasurement, ...]) -> tuple[PlannedMarginal, ...]:
    """The marginals of a release, each once: its share is in proportion to what it cost there."""
    if not measurements:
        raise ParameterError("source: the release measured nothing; give one that did, or a schema")
    found: dict[object, PlannedMarginal] = {}
    for measurement in measurements:
        merged = {name: tuple(map(int, groups)) for name, groups in measurement.groups.items()}
        question = (frozenset(measurement.clique), tuple(sorted(merged.items())))
        # Noise of a measurement that cost rho has a variance in proportion to 1 / rho.
        share = float(1.0 / measurement.variance.mean())
        earlier = found.get(question)
        found[question] = PlannedMarginal(
            clique=measurement.clique if earlier is None else earlier.clique,
            share=share if earlier is None else share + earlier.share,
            merged=merged if earlier is None else earlier.merged,
        )
    total = sum(marginal.share for marginal in found.values())
    return tuple(
        PlannedMarginal(clique=each.clique, share=each.share / total, merged=each.merged)
        for each in found.values()
    )
