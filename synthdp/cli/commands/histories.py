"""One table of persons with several rows each, on the command line: ``--together`` of run."""

from logging import INFO

import pandas as pd

from synthdp.cli.arguments.options import RunOptions
from synthdp.cli.commands.history_output import announce_history, write_history
from synthdp.cli.commands.table import LOAD_RELEASE
from synthdp.cli.shared.announcing import announce_journal
from synthdp.cli.shared.beside import journal_of, persistence_of
from synthdp.cli.shared.outputs import (
    ROWS_UNLESS_KNOWN,
)
from synthdp.cli.shared.rescue import rescuing
from synthdp.core.event_log import log
from synthdp.core.reporting import Report
from synthdp.data.asking.chunked_table import ChunkedTable
from synthdp.data.rows import OpenedTable, header_of
from synthdp.linked.histories.history_release import HistoryRelease
from synthdp.linked.histories.history_rows import history_rows
from synthdp.release.run_settings import RunSettings
from synthdp.schema.open_schema import OpenSchema


def run_history(
    schema: OpenSchema,
    table: OpenedTable,
    options: RunOptions,
    settings: RunSettings,
    status: Report,
) -> None:
    """``synthdp run --together``, or ``--order``, from an open table on; its outputs are checked."""
    assert settings.unit is not None  # nothing is kept together without
    if isinstance(table, ChunkedTable | pd.DataFrame):
        here = table
    else:
        here = history_rows(table, schema, settings.unit)
    release = HistoryRelease(schema=schema, header=header_of(table), settings=settings)
    with (
        release.kept(persistence_of(options)),
        rescuing(options.output, release.run, journal_of(options), LOAD_RELEASE) as paid,
    ):
        log(INFO, "reading")
        synthesis = release.of(here, report=status, rescue=paid.callback)
        paid.keep(synthesis)
        if options.save:
            synthesis.save(options.save, force=options.force)
            paid.path = options.save
        write_history(synthesis, synthesis.dialect, options, status, unless_known=ROWS_UNLESS_KNOWN)
    announce_history(synthesis, options, replay=release.run.replay)
    announce_journal(release.run.replay, release.run.journal_line, options)
