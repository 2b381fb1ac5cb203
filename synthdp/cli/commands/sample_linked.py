"""``synthdp sample`` of releases whose rows hang together."""

import sys
from pathlib import Path
from typing import Any

from synthdp.cli.arguments.options import (
    SampleOptions,
)
from synthdp.cli.commands.history_output import announce_history, write_history
from synthdp.cli.commands.package_output import (
    announce_package,
    check_folder,
    check_package_options,
    files_of_package,
    write_package,
)
from synthdp.cli.shared.given_dialects import given_dialect
from synthdp.cli.shared.log_lines import progress_on
from synthdp.cli.shared.outputs import (
    check_outputs,
)
from synthdp.core.errors import DataFileError, ParameterError
from synthdp.data.tables import open_table
from synthdp.linked.histories.history_package import is_history
from synthdp.linked.histories.history_synthesis import HistorySynthesis
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.linked.package.package import Package

_NOT_OF_HISTORIES = {
    "where": "--where",
    "given": "--given",
    "offset": "--offset",
    "weighted": "--weighted",
    "calibrated": "--calibrated",
    "totals": "--totals",
}


def sample_linked(options: SampleOptions) -> None:
    """Draw one table of persons with their rows, or a folder of linked tables."""
    linked = LinkedSynthesis.load(options.model)
    if is_history(linked.package):
        _sample_history(HistorySynthesis(linked), options)
    else:
        _sample_package(linked, options)


def _sample_history(synthesis: HistorySynthesis, options: SampleOptions) -> None:
    """``synthdp sample`` of a saved release of a table of persons with their rows."""
    for name, option in _NOT_OF_HISTORIES.items():
        if getattr(options, name) not in (None, False):
            raise ParameterError(
                f"{option} does not go with a model of a run with --together or --order; leave it out"
            )
    check_outputs(options, inputs=(options.model,), saved={})
    if given_dialect(options, options.output) is not None:
        raise ParameterError(
            "--dialect and the like: a table of a run with --together or --order is written as its schema says"
        )
    with progress_on(sys.stderr, verbosity=options.verbose) as status:
        write_history(synthesis, synthesis.dialect, options, status)
    announce_history(synthesis, options)


def _sample_package(synthesis: LinkedSynthesis, options: SampleOptions) -> None:
    """``synthdp sample`` of a saved release of a package; its public tables stand in the
    description.
    """
    check_package_options(options)
    check_folder(synthesis.package, options, description=None)
    if options.given and options.rows is not None:
        raise ParameterError("--given: each of its rows is completed once; leave out --rows")
    given = _given(options.given, synthesis.package) if options.given else None
    with progress_on(sys.stderr, verbosity=options.verbose) as status:
        status("sampling", 0, 1)
        write_package(synthesis, None, options, given=given)
    announce_package(synthesis, options)


def _given(path: str, package: Package) -> Any:
    """Families to complete: rows of the root in a file, or in a folder the tables that are there."""
    if not Path(path).is_dir():
        with open_table(path, package.root.dialect) as table:
            return table.whole()
    given = {}
    for each, name in ((package[name], file) for name, file in files_of_package(package).items()):
        if Path(path, name).is_file():
            with open_table(Path(path, name), each.dialect) as table:
                given[each.name] = table.whole()
    if package.root.name not in given:
        file = files_of_package(package)[package.root.name]
        raise DataFileError(f"{path!r}: it has no {file!r}, the root's table; put it there")
    return given
