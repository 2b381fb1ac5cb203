"""One table of persons with several rows in an order, on the command line: ``--order`` of run, and
sample.
"""

import argparse
import sys
from logging import INFO

from synthdp.cli.arguments.dialects import given_dialect
from synthdp.cli.shared.announcing import announce, announce_journal, caution
from synthdp.cli.shared.beside import keeping_of
from synthdp.cli.shared.log_lines import progress_on
from synthdp.cli.shared.outputs import check_outputs, write_history
from synthdp.cli.shared.rescue import rescuing
from synthdp.core.errors import ParameterError
from synthdp.core.reporting import Report, log
from synthdp.data.files.table_file import TableFile
from synthdp.data.rows import header_of
from synthdp.linked.histories.history_package import IN_SHELL, check_settings
from synthdp.linked.histories.history_release import HistoryRelease
from synthdp.linked.histories.history_synthesis import HistorySynthesis
from synthdp.release.stating.about import read_about
from synthdp.schema.open_schema import OpenSchema

_NOT_WITH_ORDER = {
    "kinds": "--kinds", "source": "--source", "workload": "--workload", "target": "--target",
    "domain_share": "--domain-share", "save_schema": "--save-schema",
}  # fmt: skip
"""Options that say nothing where rows hang together."""

_NOT_OF_HISTORIES = {"where": "--where", "given": "--given", "offset": "--offset"}


def check_history(options: argparse.Namespace) -> None:
    """Refuse options that do not go with ``--order``."""
    check_settings(options.unit, options.max_rows_per_unit, options.order, called=IN_SHELL)
    for name, option in _NOT_WITH_ORDER.items():
        if getattr(options, name) is not None:
            raise ParameterError(f"{option} does not go with --order; leave out one of the two")
    if options.adjacency != "add-remove":
        raise ParameterError(
            f"--adjacency is {options.adjacency!r}; --order protects persons: add-remove"
        )


def run_history(
    schema: OpenSchema,
    table: TableFile,
    options: argparse.Namespace,
    journal: str | None,
    status: Report,
) -> None:
    """``synthdp run --order``, from an open table on; its outputs are checked."""
    release = HistoryRelease(
        schema=schema,
        header=header_of(table),
        unit=options.unit,
        max_rows_per_unit=options.max_rows_per_unit,
        order=options.order,
        epsilon=options.epsilon,
        delta=options.delta,
        mechanism=options.mechanism,
        engine=options.engine,
        accounting=options.accounting,
        called=IN_SHELL,
        stated={"about": read_about(options.about)} if options.about else {},
    )
    with (
        release.kept(keeping_of(options)),
        rescuing(options.output, release.run, journal) as paid,
    ):
        log(INFO, "reading")
        synthesis = release.of(table, report=status, rescue=paid.callback)
        paid.keep(synthesis)
        if options.save:
            synthesis.save(options.save, force=options.force)
            paid.path = options.save
        write_history(synthesis, synthesis.dialect, options, status)
    _announce(synthesis, options, replay=release.run.replay)
    announce_journal(release.run, options)


def sample_history(synthesis: HistorySynthesis, options: argparse.Namespace) -> None:
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
        write_history(synthesis, synthesis.dialect, options, status)
    _announce(synthesis, options)


def _announce(
    synthesis: HistorySynthesis, options: argparse.Namespace, *, replay: str | None = None
) -> None:
    announce(synthesis.certificate, options, replay=replay)
    caution(synthesis.cautions, options)
