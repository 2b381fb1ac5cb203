"""``synthdp run``: from a sensitive table to a synthetic one."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from logging import INFO
from typing import Any

from synthdp.cli.arguments.options import RunOptions
from synthdp.cli.commands.table import LOAD_RELEASE, PACKAGE_COMMANDS, RUN_HISTORY
from synthdp.cli.shared.announcing import (
    announce,
    announce_journal,
    announce_quality,
    caution,
    check_accepted,
)
from synthdp.cli.shared.beside import journal_of, kept_files, persistence_of
from synthdp.cli.shared.given_dialects import given_dialect
from synthdp.cli.shared.log_lines import progress_on
from synthdp.cli.shared.outputs import (
    ROWS_UNLESS_KNOWN,
    check_outputs,
    check_rows,
    input_files,
    write_sample,
)
from synthdp.cli.shared.package_files import is_package_file, refuse_lost_package
from synthdp.cli.shared.rescue import PaidFor, rescuing
from synthdp.cli.shared.run_options import settings_of
from synthdp.cli.shared.writable_texts import check_texts
from synthdp.core.errors import ParameterError
from synthdp.core.event_log import log
from synthdp.core.files.json_files import load_json, write_json
from synthdp.core.imports import import_named
from synthdp.core.reporting import Report
from synthdp.core.requests import most_rows
from synthdp.data.rows import OpenedTable, files_of, header_of, opened_source, rows_of, zones_of
from synthdp.data.tables import open_table
from synthdp.release.checked_table import CheckedTable
from synthdp.release.persistence.scrubbing import scrub_tracebacks
from synthdp.release.release import Release
from synthdp.release.rows import Rows
from synthdp.release.rows_check import with_rows
from synthdp.release.run_settings import RunSettings, Spelling, check_combined
from synthdp.release.synthesis import Synthesis
from synthdp.schema.kinds import schema_of_kinds
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.public_files import schema_in
from synthdp.schema.schema import Schema


@scrub_tracebacks
def run_command(options: RunOptions) -> None:
    """``synthdp run``: everything public is checked before the records are read or paid for."""
    if options.input is not None and is_package_file(options.input):
        import_named(PACKAGE_COMMANDS["run"])(options.input, options)
        return
    of_kinds = options.kinds is not None
    declared = options.kinds if of_kinds else options.schema
    if declared is None:
        refuse_lost_package(options.input)
        raise ParameterError(
            "one of the arguments -s/--schema --kinds is required; say what is public about the table"
        )
    saved = {"--save": options.save, "--save-schema": options.save_schema}
    journal = journal_of(options)
    files = input_files(options)
    inputs = [
        *files,
        *files_of(options.source),
        declared,
        *filter(None, [options.about]),
        *(options.known or ()),
        *filter(None, [options.prior]),
    ]
    check_outputs(options, inputs=tuple(inputs), saved=saved, kept=kept_files(options).values())
    public = load_json(declared, "kinds" if of_kinds else "schema")
    settings = settings_of(options)
    schema = schema_in(
        schema_of_kinds(public) if of_kinds else public,
        given_dialect(options, *files, options.output),
    )
    check_texts(schema, options.output)
    if options.reject and settings.accept is None:
        raise ParameterError("--reject is given without --accept; say what the table has to meet")
    if settings.kept_by is not None:
        check_combined("persons", vars(options), Spelling.SHELL)
    with (
        progress_on(sys.stderr, verbosity=options.verbose, output=options.output) as status,
        _opened(options, schema) as table,
    ):
        schema = schema.reordered(header_of(table), unit=options.unit).in_zones(zones_of(table))
        # What its columns can take is not all known yet; a byte for each is the least.
        check_rows(options.rows, least=0, most=most_rows([2] * len(schema.largest_domain)))
        if settings.kept_by is not None:
            import_named(RUN_HISTORY)(schema, table, options, settings, status)
            return
        options = _with_seed(options, settings)
        release = Release(schema=schema, settings=settings, checked=_checked(options))
        rows = _rows(schema, table, settings, status)
        with (
            release.kept(persistence_of(options)),
            rescuing(options.output, release.run, journal, LOAD_RELEASE) as paid,
        ):
            log(INFO, "reading")  # and not how far: steps are as many as the records make them
            synthesis = release.of(rows(), report=status, rescue=paid.callback)
            paid.keep(synthesis)
            _save(synthesis, schema, options, paid)
            if options.reject:
                check_accepted(synthesis.certificate, "so that no table is written")
            check = write_sample(synthesis, options, status, unless_known=ROWS_UNLESS_KNOWN)
    certificate = with_rows(synthesis.certificate, check)
    announce(certificate, options, replay=release.run.replay)
    announce_quality(certificate, options)
    caution(certificate["cautions"], is_said=options.is_all_said)
    announce_journal(release.run.replay, release.run.journal_line, options)
    check_accepted(certificate, "the table is written all the same")


def _with_seed(options: RunOptions, settings: RunSettings) -> RunOptions:
    """The options with a seed: rows whose quality is measured can be drawn again, also by a run
    that is gone on with.
    """
    if options.seed is not None or not settings.quality_share:
        return options
    return replace(options, seed=CheckedTable().seed)


def _checked(options: RunOptions) -> CheckedTable:
    """The table that is written."""
    if options.seed is None:
        return CheckedTable(n_rows=options.rows)
    return CheckedTable(n_rows=options.rows, seed=options.seed)


def _rows(
    schema: OpenSchema,
    table: OpenedTable,
    settings: RunSettings,
    status: Report,
) -> Callable[[], Rows]:
    """What reads the rows when it is called, and says how far it is."""
    return rows_of(
        table,
        schema,
        unit=settings.unit,
        max_rows=settings.max_rows,
        progress=lambda share: status("reading", round(100 * share), 100),
    )


def _opened(options: RunOptions, schema: OpenSchema) -> AbstractContextManager[OpenedTable]:
    """The table that is given, in a file or in a database."""
    if options.input is not None:
        return open_table(options.input, schema.dialect)
    assert options.source is not None
    assert options.table is not None  # as `input_files` saw to it
    return opened_source(options.source, options.table)


def _save(synthesis: Synthesis, schema: OpenSchema, options: RunOptions, paid: PaidFor) -> None:
    """The model and the schema, if they are asked for."""
    if options.save:
        synthesis.save(options.save, force=options.force)
        paid.path = options.save
    if options.save_schema:
        write_json(
            options.save_schema, _with_ignored(synthesis.schema, schema), force=options.force
        )


def _with_ignored(learnt: Schema, declared: OpenSchema) -> dict[str, Any]:
    """A complete schema that reads the same tables: it ignores the same columns."""
    content = learnt.to_dict()
    ignored = {"ignore": list(declared.ignored)} if declared.ignored else {}
    return content | ({"synthdp": content.get("synthdp", {}) | ignored} if ignored else {})
