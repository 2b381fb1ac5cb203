"""One table of persons with several rows in an order, on the command line: ``--order`` of run, and
sample.
"""

import sys
from dataclasses import replace
from logging import INFO

from synthdp.cli.arguments.options import OutputOptions, RunOptions, SampleOptions
from synthdp.cli.shared.announcing import announce, announce_journal, caution
from synthdp.cli.shared.beside import journal_of, keeping_of
from synthdp.cli.shared.given_dialects import given_dialect
from synthdp.cli.shared.log_lines import progress_on
from synthdp.cli.shared.outputs import (
    ROWS_UNLESS_KNOWN,
    check_outputs,
    rows_or_refuse,
    write_whole,
)
from synthdp.cli.shared.rescue import rescuing
from synthdp.core.errors import ParameterError
from synthdp.core.event_log import log
from synthdp.core.reporting import Report, logged
from synthdp.data.files.formats import is_text
from synthdp.data.files.table_file import TableFile
from synthdp.data.rows import header_of
from synthdp.linked.histories.history_release import HistoryRelease
from synthdp.linked.histories.history_synthesis import HistorySynthesis
from synthdp.release.result import Result
from synthdp.release.run_settings import RunSettings
from synthdp.schema.dialect import Dialect
from synthdp.schema.open_schema import OpenSchema

_NOT_OF_HISTORIES = {"where": "--where", "given": "--given", "offset": "--offset"}


def run_history(
    schema: OpenSchema,
    table: TableFile,
    options: RunOptions,
    settings: RunSettings,
    status: Report,
) -> None:
    """``synthdp run --order``, from an open table on; its outputs are checked."""
    release = HistoryRelease(schema=schema, header=header_of(table), settings=settings)
    with (
        release.kept(keeping_of(options)),
        rescuing(options.output, release.run, journal_of(options)) as paid,
    ):
        log(INFO, "reading")
        synthesis = release.of(table, report=status, rescue=paid.callback)
        paid.keep(synthesis)
        if options.save:
            synthesis.save(options.save, force=options.force)
            paid.path = options.save
        _write_history(
            synthesis, synthesis.dialect, options, status, unless_known=ROWS_UNLESS_KNOWN
        )
    _announce(synthesis, options, replay=release.run.replay)
    announce_journal(release.run.replay, release.run.journal_line, options)


def sample_history(synthesis: HistorySynthesis, options: SampleOptions) -> None:
    """``synthdp sample`` of a saved release of a table with ``--order``."""
    for name, option in _NOT_OF_HISTORIES.items():
        if getattr(options, name) is not None:
            raise ParameterError(
                f"{option} does not go with a model of a run with --order; leave it out"
            )
    check_outputs(options, inputs=(options.model,), saved={})
    if given_dialect(options, options.output) is not None:
        raise ParameterError(
            "--dialect and the like: a table of a run with --order is written as its schema says"
        )
    with progress_on(sys.stderr, verbosity=options.verbose) as status:
        _write_history(synthesis, synthesis.dialect, options, status)
    _announce(synthesis, options)


def _announce(
    synthesis: HistorySynthesis, options: OutputOptions, *, replay: str | None = None
) -> None:
    announce(synthesis.certificate, options, replay=replay)
    caution(synthesis.cautions, is_said=options.is_all_said)


def _write_history(
    synthesis: Result,
    dialect: Dialect,
    options: OutputOptions,
    status: Report,
    *,
    unless_known: int | None = None,
) -> None:
    """Persons with their rows, as one table, with the certificate as `write_sample` does;
    ``--rows`` and ``unless_known`` count persons.
    """
    report = logged(status)
    report("sampling", 0, 2)
    if options.rows is None and not synthesis.knows_size:
        options = replace(options, rows=rows_or_refuse(unless_known, "persons"))
    frame = synthesis.sample(options.rows, seed=options.seed, text=is_text(options.output))
    report("writing", 1, 2)
    write_whole(frame, synthesis.certificate, options, dialect)
