"""``synthdp plan-measure``, ``measure`` and ``combine``: one release of tables at several sites."""

import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from logging import INFO
from typing import Any, final

from synthdp.cli.arguments.options import DialectOptions, PersistenceOptions, SourceOptions
from synthdp.cli.commands.table import LOAD_RELEASE
from synthdp.cli.shared.announcing import caution, print_result
from synthdp.cli.shared.beside import journal_of, kept_files, persistence_of
from synthdp.cli.shared.given_dialects import given_dialect
from synthdp.cli.shared.log_lines import progress_on
from synthdp.cli.shared.outputs import check_distinct, input_files
from synthdp.cli.shared.rescue import rescuing
from synthdp.core.errors import ParameterError
from synthdp.core.event_log import log
from synthdp.core.files.writing import STANDARD_STREAM, check_writable
from synthdp.core.reporting import logged
from synthdp.data.rows import OpenedTable, files_of, opened_source
from synthdp.data.tables import open_table
from synthdp.release.persistence.scrubbing import scrub_tracebacks
from synthdp.release.registry import engine_named
from synthdp.release.sites.combining import combine
from synthdp.release.sites.measuring import SiteRelease
from synthdp.release.sites.measuring_plan import MeasuringPlan
from synthdp.release.sites.planning import plan_measurements
from synthdp.schema.dialect import Dialect
from synthdp.schema.public_files import as_schema


@final
@dataclass(frozen=True, kw_only=True)
class PlanMeasureOptions:
    """``synthdp plan-measure``."""

    source: str
    output: str
    epsilon: float
    delta: float
    workload: str | None
    adjacency: str
    accounting: str
    unit: str | None
    max_rows_per_unit: int | None
    known: tuple[str, ...] | None
    weight: str | None
    force: bool


@final
@dataclass(frozen=True, kw_only=True)
class MeasureOptions(SourceOptions, PersistenceOptions, DialectOptions):
    """``synthdp measure``."""

    plan: str
    about: str | None
    force: bool
    json: bool
    verbose: int
    log_format: str


@final
@dataclass(frozen=True, kw_only=True)
class CombineOptions:
    """``synthdp combine``."""

    sites: tuple[str, ...]
    output: str
    same_people: bool
    known: tuple[str, ...] | None
    engine: str
    about: str | None
    force: bool
    json: bool
    verbose: int
    log_format: str


def plan_measure_command(options: PlanMeasureOptions) -> None:
    """``synthdp plan-measure``: opens a schema or a saved release, and nothing else."""
    _check_output(
        options.output, inputs=(options.source, *(options.known or ())), force=options.force
    )
    plan = plan_measurements(
        options.source,
        epsilon=options.epsilon,
        delta=options.delta,
        workload=options.workload,
        adjacency=options.adjacency,
        accounting=options.accounting,
        unit=options.unit,
        max_rows_per_unit=options.max_rows_per_unit,
        known=options.known,
        weight=options.weight,
    )
    plan.save(options.output, force=options.force)
    sys.stderr.write(
        f"{options.output}: {len(plan.marginals)} marginals, epsilon {plan.epsilon:g} and delta {plan.delta:g} at each "
        f"site; plan {plan.fingerprint[:12]}\n"
    )


@scrub_tracebacks
def measure_command(options: MeasureOptions) -> None:
    """``synthdp measure``: everything public is checked before the records are read or paid for."""
    files = input_files(options)
    inputs = [*files, *files_of(options.source), options.plan, *filter(None, [options.about])]
    _check_output(
        options.output,
        inputs=tuple(inputs),
        force=options.force,
        kept=tuple(kept_files(options).values()),
    )
    plan = MeasuringPlan.load(options.plan)
    site = SiteRelease(plan, about=options.about)
    dialect = given_dialect(options, *files)
    with (
        progress_on(sys.stderr, verbosity=options.verbose) as status,
        _opened(options, as_schema(plan.schema, dialect=dialect).dialect) as table,
    ):
        rows = site.rows(table, dialect=dialect)
        with (
            site.release.kept(persistence_of(options)),
            rescuing(options.output, site.release.run, journal_of(options), LOAD_RELEASE) as paid,
        ):
            log(INFO, "reading")
            counts = site.of(rows(), report=status, rescue=paid.callback)
            paid.keep(counts)
            counts.save(options.output, force=options.force)
    certificate = counts.certificate
    run = site.release.run
    _announce(options.output, certificate, options.json, replay=run.replay)
    if run.journal_line and not run.replay and not options.json:
        sys.stderr.write(f"synthdp: {run.journal_line}\n")
    caution(certificate["cautions"], is_said=options.json)


def combine_command(options: CombineOptions) -> None:
    """``synthdp combine``: opens what sites measured, and no records."""
    engine = engine_named(options.engine)
    inputs = (*options.sites, *(options.known or ()), *filter(None, [options.about]))
    _check_output(options.output, inputs=inputs, force=options.force)
    with progress_on(sys.stderr, verbosity=options.verbose) as status:
        synthesis = combine(
            options.sites,
            same_people=options.same_people,
            known=options.known,
            engine=engine,
            about=options.about,
            report=logged(status),
        )
    synthesis.save(options.output, force=options.force)
    _announce(options.output, synthesis.certificate, options.json)
    caution(synthesis.certificate["cautions"], is_said=options.json)


def _opened(options: MeasureOptions, dialect: Dialect) -> AbstractContextManager[OpenedTable]:
    """The table that is given, in a file or in a database."""
    if options.input is not None:
        return open_table(options.input, dialect)
    assert options.source is not None
    assert options.table is not None  # as `input_files` saw to it
    return opened_source(options.source, options.table)


def _check_output(
    output: str, *, inputs: tuple[str, ...], force: bool, kept: tuple[str, ...] = ()
) -> None:
    """Refuse an output that cannot be written, before anything is read or paid for."""
    if output == STANDARD_STREAM:
        raise ParameterError(f"--output is {output!r}; give the name of a file")
    check_distinct([output, *kept], inputs=inputs)
    check_writable(output, force=force)


def _announce(
    output: str, certificate: Mapping[str, Any], as_json: bool, *, replay: str | None = None
) -> None:
    """Say what was written, as JSON if asked for."""
    if as_json:
        print_result({"output": output}, certificate, replay=replay)
        return
    sys.stderr.write(f"{output}: {certificate['guarantee']}\n")
    caution([replay] if replay else [], is_said=False)
