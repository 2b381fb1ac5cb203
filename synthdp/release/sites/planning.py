"""Writing a plan: from a schema and what is wanted, or from what a release measured."""

import zipfile
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from synthdp.core.cliques import Clique
from synthdp.core.errors import ParameterError
from synthdp.core.known_marginal import KnownMarginal
from synthdp.core.measurement import LinearMeasurement
from synthdp.core.workload import MAX_MEASURED_CELLS, MIN_USE, Workload
from synthdp.mechanisms.shared.measurement_plan import planned_shares
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.unit import Adjacency
from synthdp.release.known_tables import KnownLike, published_totals
from synthdp.release.loading import load
from synthdp.release.settings import as_accounting, as_adjacency
from synthdp.release.sites.measuring_plan import MeasuringPlan, PlannedMarginal
from synthdp.release.synthesis import Synthesis
from synthdp.release.weighted_workload import weighed, with_weight
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.public_files import as_schema
from synthdp.schema.schema import Schema

_ALL_KNOWN = (
    "known: published tables tell all that is wanted; want more than they tell, or leave some out"
)
"""Of plans that would ask sites for nothing."""

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
    known: KnownLike = None,
    weight: str | None = None,
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
    known
        Published tables, as in `synthesize`, of all sites together: what they tell level by level
        is not measured. `combine` is to be given them as well.
    weight
        The column that says how many of a population a row stands for, as in `synthesize`.

    Raises
    ------
    SchemaError
        If the schema contradicts itself, or leaves something open, or a published table does not
        fit it.
    DataFileError
        If a file cannot be read.
    ParameterError
        If an argument is out of range, a release measured nothing, published tables contradict
        each other, or tell all that is wanted.

    >>> plan = plan_measurements({"sex": 2, "town": 3}, epsilon=1.0, delta=1e-9)
    >>> [marginal.clique for marginal in plan.marginals]
    [('sex', 'town')]
    """
    release = _release_in(source)
    if release is None:
        schema = as_schema(source, learns_bins=False)  # type: ignore[arg-type]
    elif workload is not None:
        raise ParameterError(
            "workload: a release was given, which chose its marginals; give its schema in its place, or no workload"
        )
    else:
        schema = OpenSchema.from_schema(release.schema)
    schema = weighed(schema, weight, "weight")
    published = published_totals(known, schema, "known").marginals
    if release is not None:
        marginals = _without_published(_chosen(release.measurements), published)
    elif schema.is_open:
        marginals = ()  # which a plan refuses, and says of which columns
    else:
        marginals = _wanted(schema.resolved({}), workload, published)
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


def _is_published(clique: Clique, known: Sequence[KnownMarginal]) -> bool:
    """Whether published tables have a marginal level by level."""
    return any(set(clique) <= set(marginal.whole) for marginal in known)


def _without_published(
    marginals: Sequence[PlannedMarginal], known: Sequence[KnownMarginal]
) -> tuple[PlannedMarginal, ...]:
    """The marginals without those that published tables have; raises `ParameterError` if none is
    left.
    """
    left = tuple(each for each in marginals if not _is_published(each.clique, known))
    if known and not left:
        raise ParameterError(_ALL_KNOWN)
    return left


def _wanted(
    schema: Schema,
    workload: Workload | Mapping[str, Any] | str | PathLike[str] | None,
    known: Sequence[KnownMarginal],
) -> tuple[PlannedMarginal, ...]:
    """The marginals that answer a workload best, with their shares."""
    domain = schema.domain
    wanted = Workload.parse(domain, DEFAULT_WORKLOAD if workload is None else workload)
    if schema.weight is not None:
        wanted = with_weight(wanted, domain.attributes, schema.weight)
    wanted.check_cells(domain, MAX_MEASURED_CELLS)
    weights = dict(wanted.weights)
    little = MIN_USE * max(weights.values())
    weights |= {(name,): little for name in domain.attributes if name not in wanted.importance}
    weights = {
        clique: weight for clique, weight in weights.items() if not _is_published(clique, known)
    }
    if not weights:
        raise ParameterError(_ALL_KNOWN)
    shares = planned_shares(domain, weights)
    planned = (
        PlannedMarginal(clique=clique, share=float(share), merged={})
        for clique, share in shares.items()
    )
    return _without_published(tuple(planned), known)


def _chosen(measurements: tuple[LinearMeasurement, ...]) -> tuple[PlannedMarginal, ...]:
    """The marginals of a release, each once: its share is in proportion to what it cost there."""
    if not measurements:
        raise ParameterError("source: the release measured nothing; give one that did, or a schema")
    marginals: dict[object, PlannedMarginal] = {}
    for measurement in measurements:
        merged = {name: tuple(map(int, groups)) for name, groups in measurement.groups.items()}
        question = (frozenset(measurement.clique), tuple(sorted(merged.items())))
        # Noise of a measurement that cost rho has a variance in proportion to 1 / rho.
        share = float(1.0 / measurement.variance.mean())
        earlier = marginals.get(question)
        marginals[question] = PlannedMarginal(
            clique=measurement.clique if earlier is None else earlier.clique,
            share=share if earlier is None else share + earlier.share,
            merged=merged if earlier is None else earlier.merged,
        )
    total = sum(marginal.share for marginal in marginals.values())
    return tuple(
        PlannedMarginal(clique=each.clique, share=each.share / total, merged=each.merged)
        for each in marginals.values()
    )
