"""Packages of linked tables on the command line: run, sample, check and draft."""

import secrets
import shutil
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from logging import INFO
from pathlib import Path
from typing import Any

from synthdp.cli.arguments.dialects import DIALECT_OPTIONS
from synthdp.cli.arguments.options import (
    OutputOptions,
    RunOptions,
    SampleOptions,
)
from synthdp.cli.describing.packages import package_facts, package_text
from synthdp.cli.shared.announcing import announce_journal, caution, with_replay
from synthdp.cli.shared.beside import (
    CERTIFICATE_ENDING,
    journal_of,
    keeping_of,
    kept_files,
    saved_files,
)
from synthdp.cli.shared.log_lines import progress_on
from synthdp.cli.shared.outputs import (
    ROWS_UNLESS_KNOWN,
    check_distinct,
    check_rows,
    rows_or_refuse,
)
from synthdp.cli.shared.package_files import DESCRIPTION
from synthdp.cli.shared.printing import print_text
from synthdp.cli.shared.rescue import rescuing
from synthdp.cli.shared.run_options import settings_of
from synthdp.core.errors import DataFileError, ParameterError, SchemaError
from synthdp.core.event_log import log
from synthdp.core.files.json_files import json_text, write_json
from synthdp.core.files.writing import STANDARD_STREAM, check_writable, reason
from synthdp.core.requests import most_rows
from synthdp.data.files.formats import is_named_as_table, is_text
from synthdp.data.tables import check_kind, open_table, write_frame
from synthdp.linked.linked_release import LinkedRelease
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.linked.package.drafts import PACKAGE_NOTE, drafted_package
from synthdp.linked.package.package import Package
from synthdp.linked.package_run import read_sources
from synthdp.linked.package_tables import opened_tables
from synthdp.release.run_settings import Spelling, check_combined


def run_package(path: str, options: RunOptions) -> None:
    """``synthdp run datapackage.json``: everything public is checked before the records are read or
    paid for.
    """
    _check_options(options)
    settings = settings_of(options)
    package, folder, journal = (
        Package.load(path),
        Path(path).parent,
        journal_of(options),
    )
    _check_folder(package, options, description=Path(path))
    _check_files(package, path, options)
    run = LinkedRelease(package=package, settings=settings)
    with progress_on(sys.stderr, verbosity=options.verbose) as status, ExitStack() as stack:
        tables = opened_tables(package, None, folder, stack)
        with (
            run.kept(keeping_of(options)),
            rescuing(str(Path(options.output)), run.run, journal) as paid,
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
            _write(synthesis, folder, options, unless_known=ROWS_UNLESS_KNOWN)
    _announce(synthesis, options, replay=run.run.replay)
    announce_journal(run.run.replay, run.run.journal_line, options)


def sample_package(synthesis: LinkedSynthesis, options: SampleOptions) -> None:
    """``synthdp sample`` of a saved release of a package; its public tables stand in the
    description.
    """
    _check_options(options)
    _check_folder(synthesis.package, options, description=None)
    if options.given and options.rows is not None:
        raise ParameterError("--given: each of its rows is completed once; leave out --rows")
    given = _given(options.given, synthesis.package) if options.given else None
    with progress_on(sys.stderr, verbosity=options.verbose) as status:
        status("sampling", 0, 1)
        _write(synthesis, None, options, given=given)
    _announce(synthesis, options)


def check_package(path: str, *, epsilon: float | None, delta: float | None, json: bool) -> None:
    """``synthdp schema check datapackage.json``: opens nothing but the description, and public
    tables.
    """
    facts = package_facts(Package.load(path), epsilon=epsilon, delta=delta)
    print_text(json_text(facts) if json else package_text(facts) + "\n")


def draft_package(folder: str, output: str, *, force: bool) -> None:
    """``synthdp schema draft FOLDER``: names, and declared types, of all tables in a folder; never
    a value.
    """
    check_writable(output, force=force)
    content = drafted_package(Path(folder))
    write_json(output, content, force=force)
    sys.stderr.write(f"synthdp: {PACKAGE_NOTE}\n")


def _given(path: str, package: Package) -> Any:
    """Families to complete: rows of the root in a file, or in a folder the tables that are there."""
    if not Path(path).is_dir():
        with open_table(path, package.root.dialect) as table:
            return table.whole()
    found = {}
    for each, name in ((package[name], file) for name, file in _files_of(package).items()):
        if Path(path, name).is_file():
            with open_table(Path(path, name), each.dialect) as table:
                found[each.name] = table.whole()
    if package.root.name not in found:
        file = _files_of(package)[package.root.name]
        raise DataFileError(f"{path!r}: it has no {file!r}, the root's table; put it there")
    return found


def _check_options(options: OutputOptions) -> None:
    """Refuse options that are for one table, and numbers that cannot be meant."""
    check_combined("package", vars(options) | {"dialect": None}, Spelling.SHELL)
    for name in DIALECT_OPTIONS:
        if getattr(options, name, None) is not None:
            raise ParameterError(
                f'--{name} is for one table; of a package each resource has its own "dialect"'
            )
    check_rows(options.rows, least=0, most=most_rows([2]))
    if options.seed is not None and options.seed < 0:
        raise ParameterError(f"--seed is {options.seed}; give 0 or more")


def _files_of(package: Package) -> dict[str, str]:
    """The file of each protected table; CSV if the package names none."""
    return {table.name: table.path or f"{table.name}.csv" for table in package.tables}


def _check_folder(package: Package, options: OutputOptions, *, description: Path | None) -> None:
    """Refuse a folder that cannot be written, before anything is read or paid for."""
    if options.output == STANDARD_STREAM:
        raise ParameterError(
            "--output is '-'; a package is several files, give the name of a folder"
        )
    folder, files = Path(options.output), _files_of(package)
    names = [
        *files.values(),
        *filter(None, package.lookups.values()),
        DESCRIPTION,
        DESCRIPTION + CERTIFICATE_ENDING,
    ]
    if len(set(names)) < len(names):
        raise SchemaError(
            "package: two tables are in one file, or in one that is the description's; name others"
        )
    for path in files.values():
        check_kind(path, None)
    if folder.exists() and not folder.is_dir():
        raise DataFileError(f"{options.output!r}: it is a file; give the name of a folder")
    if not folder.exists() and is_named_as_table(folder):
        raise ParameterError(
            f"--output is {options.output!r}; a package is several files, give the name of a folder"
        )
    if folder.is_dir() and any(folder.iterdir()) and not options.force:
        raise DataFileError(
            f"{options.output!r}: it is not empty; pass --force to replace files in it"
        )
    if not folder.resolve().parent.is_dir():
        raise DataFileError(f"{options.output!r}: its directory does not exist; create it first")
    if description is not None and folder.resolve() == description.resolve().parent:
        raise ParameterError(
            f"--output is {options.output!r}, the folder of the package; give another"
        )


def _check_files(package: Package, description: str, options: RunOptions) -> None:
    """Refuse files beside the folder of the output that cannot be written, or are read, or lie in
    it.
    """
    saved = saved_files({"--save": options.save})
    kept = kept_files(options)
    tables = [
        str(Path(description).parent / path)
        for path in (*_files_of(package).values(), *filter(None, package.lookups.values()))
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


def _write(
    synthesis: LinkedSynthesis,
    source: Path | None,
    options: OutputOptions,
    *,
    given: Any = None,
    unless_known: int | None = None,
) -> None:
    """All tables, public ones, the description and the certificate: in a new folder, which then
    gets its name; ``unless_known`` as in `synthdp.cli.shared.outputs.write_sample`.
    """
    package, files = synthesis.package, _files_of(synthesis.package)
    is_unknown = synthesis.can_sample and not synthesis.knows_size
    if options.rows is None and given is None and is_unknown:
        what = f"rows of {package.root.name!r}"
        options = replace(options, rows=rows_or_refuse(unless_known, what))
    seed = secrets.randbits(62) if options.seed is None else options.seed
    folder = Path(options.output).resolve()
    hidden = folder.with_name(f".synthdp-{secrets.token_hex(8)}.tmp")
    drawn = {
        text: synthesis.sample(options.rows, seed=seed, text=text, given=given)
        for text in {is_text(path) for path in files.values()}
    }
    try:
        hidden.mkdir()
        for table in package.tables:
            path = hidden / files[table.name]
            path.parent.mkdir(parents=True, exist_ok=True)
            write_frame(
                drawn[is_text(files[table.name])][table.name],
                path,
                force=False,
                dialect=table.dialect,
            )
        if source is not None:
            for name in filter(None, package.lookups.values()):
                (hidden / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / name, hidden / name)
        write_json(
            hidden / DESCRIPTION, described(package, has_files=source is not None), force=False
        )
        write_json(hidden / (DESCRIPTION + CERTIFICATE_ENDING), synthesis.certificate, force=False)
        _move(hidden, folder)
    except OSError as error:
        raise DataFileError(
            f"{options.output!r}: it cannot be written: {reason(error)}; make room"
        ) from None
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _move(hidden: Path, folder: Path) -> None:
    """Give a folder its name, or its files theirs in one that is there; the certificate comes last."""
    if not folder.exists() or not any(folder.iterdir()):
        hidden.replace(folder)
        return
    paths = [path for path in sorted(hidden.rglob("*")) if path.is_file()]
    for path in sorted(paths, key=lambda path: path.name.endswith(CERTIFICATE_ENDING)):
        target = folder / path.relative_to(hidden)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)


def described(package: Package, *, has_files: bool) -> dict[str, Any]:
    """The description of synthetic tables: that of the package, with keys of the types that fresh
    ones have.

    Public tables are in their files, if these are written as well; else their rows stand in it, if
    they are known.
    """
    files = {**_files_of(package), **package.lookups}
    resources = []
    for resource in package.content["resources"]:
        name = resource["name"]
        keys = package[name].keys if name not in package.lookups else ()
        fields = [
            _fresh(field) if field["name"] in keys else field
            for field in resource["schema"]["fields"]
        ]
        is_inline = (
            name in package.lookups and "data" in resource and not (has_files and files[name])
        )
        left_out = ("hash", "bytes", "stats", "path" if is_inline else "data")
        kept = {key: value for key, value in resource.items() if key not in left_out}
        kept |= {} if is_inline else {"path": files[name]}
        resources.append({**kept, "schema": {**resource["schema"], "fields": fields}})
    return {**package.content, "resources": resources}


def _fresh(field: Any) -> dict[str, Any]:
    kind = "integer" if field.get("type") == "integer" else "string"
    return {"name": field["name"], "type": kind} | {
        k: field[k] for k in ("title", "description") if k in field
    }


def _announce(
    synthesis: LinkedSynthesis, options: OutputOptions, *, replay: str | None = None
) -> None:
    certificate, path = (
        synthesis.certificate,
        str(Path(options.output) / (DESCRIPTION + CERTIFICATE_ENDING)),
    )
    if options.json:
        said: Iterable[str] = ("guarantee", "is_private", "epsilon", "delta", "accounting")
        result = {"output": options.output, "certificate": path} | {
            name: certificate[name] for name in said
        }
        result |= with_replay(certificate["cautions"], replay)
        sys.stdout.write(json_text(result))
        return
    sys.stderr.write(f"{options.output}: {certificate['guarantee']}; details in {path}\n")
    caution(certificate["cautions"], is_said=False)
