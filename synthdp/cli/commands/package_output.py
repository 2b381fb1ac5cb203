"""Folders of linked tables on the command line: whether they can be written, and how they are."""

import secrets
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from synthdp.cli.arguments.dialects import DIALECT_OPTIONS
from synthdp.cli.arguments.options import (
    OutputOptions,
)
from synthdp.cli.shared.announcing import caution, print_result
from synthdp.cli.shared.beside import (
    CERTIFICATE_ENDING,
)
from synthdp.cli.shared.outputs import (
    check_rows,
    rows_or_refuse,
)
from synthdp.cli.shared.package_files import DESCRIPTION
from synthdp.core.errors import DataFileError, ParameterError, SchemaError
from synthdp.core.files.json_files import write_json
from synthdp.core.files.writing import STANDARD_STREAM, reason
from synthdp.core.requests import most_rows
from synthdp.data.files.formats import is_named_as_table, is_text
from synthdp.data.tables import check_kind, write_frame
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.linked.package.linked_table import LinkedTable
from synthdp.linked.package.package import Package
from synthdp.release.run_settings import Spelling, check_combined


def check_package_options(options: OutputOptions) -> None:
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


def files_of_package(package: Package) -> dict[str, str]:
    """The file of each protected table; CSV if the package names none."""
    return {table.name: table.path or f"{table.name}.csv" for table in package.tables}


def check_folder(package: Package, options: OutputOptions, *, description: Path | None) -> None:
    """Refuse a folder that cannot be written, before anything is read or paid for."""
    if options.output == STANDARD_STREAM:
        raise ParameterError(
            "--output is '-'; a package is several files, give the name of a folder"
        )
    folder = Path(options.output)
    files = files_of_package(package)
    names = [
        *files.values(),
        *filter(None, package.lookups.values()),
        DESCRIPTION,
        DESCRIPTION + CERTIFICATE_ENDING,
    ]
    # One table would overwrite the other, and this is only noticed after the budget is spent.
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
    # Files that were there would look as if they belonged to the release.
    if folder.is_dir() and any(folder.iterdir()) and not options.force:
        raise DataFileError(
            f"{options.output!r}: it is not empty; pass --force to replace files in it"
        )
    if not folder.resolve().parent.is_dir():
        raise DataFileError(f"{options.output!r}: its directory does not exist; create it first")
    # The private tables are in that folder, under the names that the synthetic ones would get.
    if description is not None and folder.resolve() == description.resolve().parent:
        raise ParameterError(
            f"--output is {options.output!r}, the folder of the package; give another"
        )


def write_package(
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
    package = synthesis.package
    files = files_of_package(synthesis.package)
    is_unknown = synthesis.can_sample and not synthesis.knows_size
    if options.rows is None and given is None and is_unknown:
        what = f"rows of {package.root.name!r}"
        options = replace(options, rows=rows_or_refuse(unless_known, what))
    seed = secrets.randbits(62) if options.seed is None else options.seed
    folder = Path(options.output).resolve()
    # Written beside its place and renamed when all is there: half a package has keys that point
    # nowhere.
    hidden = folder.with_name(f".synthdp-{secrets.token_hex(8)}.tmp")
    # Drawn once for each form in which files want values, not once a file: with one seed the rows
    # are the same.
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


def announce_package(
    synthesis: LinkedSynthesis, options: OutputOptions, *, replay: str | None = None
) -> None:
    """Say that the folder is written, and what users should know of it."""
    certificate = synthesis.certificate
    path = str(Path(options.output) / (DESCRIPTION + CERTIFICATE_ENDING))
    if options.json:
        written = {"output": options.output, "certificate": path}
        print_result(written, certificate, replay=replay)
        return
    sys.stderr.write(f"{options.output}: {certificate['guarantee']}; details in {path}\n")
    caution(certificate["cautions"], is_said=False)


def described(package: Package, *, has_files: bool) -> dict[str, Any]:
    """The description of synthetic tables: that of the package, with keys of the types that fresh
    ones have.

    Public tables are in their files, if these are written as well; else their rows stand in it, if
    they are known.
    """
    files = {**files_of_package(package), **package.lookups}
    resources = []
    for resource in package.content["resources"]:
        name = resource["name"]
        fields = [
            field if name in package.lookups else _fresh(field, package[name])
            for field in resource["schema"]["fields"]
        ]
        is_inline = (
            name in package.lookups and "data" in resource and not (has_files and files[name])
        )
        left_out = ("hash", "bytes", "stats", "path" if is_inline else "data")
        kept = {key: value for key, value in resource.items() if key not in left_out}
        if not is_inline:
            kept |= {"path": files[name]}
        resources.append({**kept, "schema": {**resource["schema"], "fields": fields}})
    return {**package.content, "resources": resources}


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


def _fresh(field: Any, table: LinkedTable) -> dict[str, Any]:
    """A field with what holds of the fresh keys in it, if it is a key."""
    name = field["name"]
    if name not in table.keys or name in table.drawn_keys:
        return dict(field)
    # The keys of a parent are as there.
    kind = {"type": "integer" if field.get("type") == "integer" else "string"}
    declared = table.key_forms[name].field if name in table.key_forms else kind
    return {"name": name, **declared} | {
        k: field[k] for k in ("title", "description") if k in field
    }
