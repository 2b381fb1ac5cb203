"""One table of persons with several rows each on the command line: how it is written."""

from dataclasses import replace

from synthdp.cli.arguments.options import OutputOptions
from synthdp.cli.shared.announcing import announce, caution
from synthdp.cli.shared.outputs import (
    rows_or_refuse,
    write_whole,
)
from synthdp.core.reporting import Report, logged
from synthdp.data.files.formats import is_text
from synthdp.release.result import Result
from synthdp.schema.dialect import Dialect


def write_history(
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


def announce_history(
    synthesis: Result, options: OutputOptions, *, replay: str | None = None
) -> None:
    """Say that the table is written, and what users should know of it."""
    announce(synthesis.certificate, options, replay=replay)
    caution(synthesis.cautions, is_said=options.is_all_said)
