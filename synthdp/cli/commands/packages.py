"""Packages of linked tables on the command line: run, check and draft."""

import sys
from contextlib import ExitStack
from logging import INFO
from pathlib import Path

from synthdp.cli.arguments.options import (
    RunOptions,
)
from synthdp.cli.commands.package_output import (
    announce_package,
    check_folder,
    check_package_options,
    files_of_package,
    write_package,
)
from synthdp.cli.commands.table import LOAD_RELEASE
from synthdp.cli.describing.packages import package_facts, package_text
from synthdp.cli.shared.announcing import announce_journal
from synthdp.cli.shared.beside import (
    journal_of,
    kept_files,
    persistence_of,
    saved_files,
)
from synthdp.cli.shared.log_lines import progress_on
from synthdp.cli.shared.outputs import (
    ROWS_UNLESS_KNOWN,
    check_distinct,
)
from synthdp.cli.shared.printing import print_text
from synthdp.cli.shared.rescue import rescuing
from synthdp.cli.shared.run_options import settings_of
from synthdp.core.errors import ParameterError
from synthdp.core.event_log import log
from synthdp.core.files.json_files import json_text, write_json
from synthdp.core.files.writing import check_writable
from synthdp.linked.linked_release import LinkedRelease
from synthdp.linked.package.drafts import drafted_package
from synthdp.linked.package.package import Package
from synthdp.linked.package_run import read_sources
from synthdp.linked.package_tables import (
    database_tables,
    in_zones_of,
    opened_tables,
    rows_in_engine,
)


def run_package(path: str, options: RunOptions) -> None:
    """``synthdp run datapackage.json``: everything public is checked before the records are read or
    paid for.
    """
    check_package_options(options)
    settings = settings_of(options)
    folder = Path(path).parent
    journal = journal_of(options)
    with progress_on(sys.stderr, verbosity=options.verbose) as status, ExitStack() as stack:
        find = None if options.source is None else database_tables(options.source, stack)
        package = Package.load(
            path, None if find is None else lambda name: rows_in_engine(find(name))
        )
        check_folder(package, options, description=Path(path))
        _check_files(package, path, options)
        held = None if find is None else {each.name: find(each.name) for each in package.tables}
        tables = opened_tables(package, held, folder, stack)
        run = LinkedRelease(package=in_zones_of(package, tables), settings=settings)
        with (
            run.kept(persistence_of(options)),
            rescuing(str(Path(options.output)), run.run, journal, LOAD_RELEASE) as paid,
        ):
            log(INFO, "reading")
            synthesis = run.of(
                lambda: read_sources(run, tables, status), report=status, rescue=paid.callback
            )
            paid.keep(synthesis)
            if options.save:
                synthesis.save(options.save, force=options.force)
                paid.path = options.save
            status("sampling", 0, 1)
            write_package(synthesis, folder, options, unless_known=ROWS_UNLESS_KNOWN)
    announce_package(synthesis, options, replay=run.run.replay)
    announce_journal(run.run.replay, run.run.journal_line, options)


def check_package(path: str, *, epsilon: float | None, delta: float | None, json: bool) -> None:
    """``synthdp schema check datapackage.json``: opens nothing but the description, and public
    tables.
    """
    facts = package_facts(Package.load(path), epsilon=epsilon, delta=delta)
    print_text(json_text(facts) if json else package_text(facts) + "\n")


def draft_package(folder: str, output: str, *, kinds: bool, force: bool) -> None:
    """``synthdp schema draft FOLDER``: names, and declared types, of all tables in a folder; never
    a value. With ``--kinds`` all else is left to be learnt.
    """
    check_writable(output, force=force)
    content = drafted_package(Path(folder), kinds=kinds)
    write_json(output, content, force=force)
    sys.stderr.write(f"synthdp: {content['synthdp']['note']}\n")


def _check_files(package: Package, description: str, options: RunOptions) -> None:
    """Refuse files beside the folder of the output that cannot be written, or are read, or lie in
    it.
    """
    saved = saved_files({"--save": options.save})
    kept = kept_files(options)
    tables = [
        str(Path(description).parent / path)
        for path in (*files_of_package(package).values(), *filter(None, package.lookups.values()))
    ]
    inputs = (description, *tables, *([options.about] if options.about else []))
    check_distinct([*saved, *kept.values()], inputs=inputs)
    for path in saved:
        check_writable(path, force=options.force)
    for option, path in kept.items():
        if Path(options.output).resolve() in Path(path).resolve().parents:
            raise ParameterError(
                f"{option} is {path!r}, in the folder of the output; name a file elsewhere"
            )
