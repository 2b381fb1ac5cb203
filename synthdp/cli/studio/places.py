"""What can be chosen: tables in the folder where the studio was started, and in databases.

A page names what it wants as it stands in `tables_in`, never as a path: so none can leave the
folder.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from synthdp.cli.shared.drafts import drafted
from synthdp.cli.shared.package_files import DESCRIPTION
from synthdp.cli.studio.projects import DATABASE, FOLDER, TABLE, Project, ProjectFolder
from synthdp.core.errors import DataFileError, ParameterError, SynthdpError
from synthdp.core.files.json_files import load_json
from synthdp.core.files.writing import write_atomically
from synthdp.data.files.formats import is_named_as_table
from synthdp.data.tables import open_table
from synthdp.linked.package.drafts import drafted_package
from synthdp.schema.dialect import Dialect

MOST_SHOWN = 500
"""Names of a folder that the page lists."""

SEEN_ROWS = 10
"""Records that the steward is shown who asks for them."""

DELIMITERS = {",": ",", ";": ";", "tab": "\t", "|": "|"}
"""What may stand between columns, as the page calls it and as files have it."""

UPLOADS = "uploaded"
"""The folder of tables that were given in the page; it is no part of what is handed on."""


def tables_in(folder: ProjectFolder) -> dict[str, str]:
    """What the place holds, by name: of which kind each is."""
    found = dict[str, str]()
    for path in sorted(_entries(folder.place), key=lambda each: each.name.lower()):
        if len(found) < MOST_SHOWN and not path.name.startswith("."):
            found |= _found(path)
    uploads = folder.path / UPLOADS
    if uploads.is_dir():
        names = (path.name for path in sorted(_entries(uploads)) if is_named_as_table(path))
        found |= {f"{UPLOADS}/{name}": TABLE for name in names if not name.startswith(".")}
    return found


def _entries(folder: Path) -> Iterator[Path]:
    try:
        yield from folder.iterdir()
    except OSError:
        return


def _found(path: Path) -> dict[str, str]:
    if path.is_dir():
        if (path / "project.json").exists():
            return {}
        if (path / DESCRIPTION).is_file() or any(map(is_named_as_table, _entries(path))):
            return {f"{path.name}/": FOLDER}
        return {}
    return {path.name: TABLE} if path.is_file() and is_named_as_table(path) else {}


def is_in(folder: ProjectFolder, name: str) -> bool:
    """Whether something can be chosen."""
    return name in tables_in(folder)


def path_of(folder: ProjectFolder, name: str) -> Path:
    """Where something lies that was chosen; raises `ParameterError` if it is not there any more."""
    if name not in tables_in(folder):
        raise ParameterError(f"{name!r} is not in the folder of the studio; choose the table again")
    if name.startswith(f"{UPLOADS}/"):
        return folder.path / name
    return folder.place / name


def command_path(folder: ProjectFolder, project: Project) -> str:
    """The table as commands name it that are run in the folder of the project."""
    return Path(os.path.relpath(path_of(folder, project.table), folder.path)).as_posix()


def names_of(folder: ProjectFolder, project: Project) -> dict[str, Any]:
    """The draft of a schema: names of columns, and types where they are declared; no record."""
    if project.kind == DATABASE:
        return drafted((), {}, source=project.source, table=project.table)
    path = str(path_of(folder, project.table))
    return drafted((path,), project.dialect, source=None, table=None)


def package_of(folder: ProjectFolder, project: Project) -> Any:
    """The description of linked tables: the one that lies with them, or a draft of one."""
    path = path_of(folder, project.table)
    if (path / DESCRIPTION).is_file():
        return load_json(path / DESCRIPTION, "package")
    return drafted_package(path)


def shapes(folder: ProjectFolder, project: Project) -> dict[str, int | None]:
    """Into how many columns each delimiter would divide the first line; None if into none."""
    found = dict[str, int | None]()
    for delimiter in DELIMITERS.values():
        dialect = {**project.dialect, "delimiter": delimiter}
        try:
            path = path_of(folder, project.table)
            with open_table(path, Dialect.from_properties(dialect)) as table:
                found[delimiter] = len(table.names)
        except SynthdpError:
            found[delimiter] = None
    return found


def first_rows(folder: ProjectFolder, project: Project) -> list[list[str]]:
    """The first records, for a steward who said that they may be looked at; never kept."""
    path = path_of(folder, project.table)
    with open_table(path, Dialect.from_properties(project.dialect)) as table:
        for chunk in table.chunks():
            return [[str(cell) for cell in row] for row in chunk.head(SEEN_ROWS).to_numpy()]
    return []


def store_upload(folder: ProjectFolder, name: str, stream: Any) -> str:
    """Keep a table that was given in the page; returns what it is called in `tables_in`."""
    plain = Path(name.replace("\\", "/")).name
    if not plain or plain.startswith(".") or not plain.isprintable():
        raise ParameterError(f"{plain!r} is no name of a file; give it another name")
    if not is_named_as_table(plain):
        raise DataFileError(f"{plain!r} is no table; give a file such as people.csv")
    (folder.path / UPLOADS).mkdir(parents=True, exist_ok=True)
    with write_atomically(folder.path / UPLOADS / plain, force=True) as kept:
        while block := stream.read(1 << 20):
            kept.write(block)
    return f"{UPLOADS}/{plain}"
