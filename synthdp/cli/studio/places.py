"""What can be chosen: tables in the folder where the studio was started, and in databases.

A page names what it wants as it stands in `tables_in`, never as a path: so none can leave the
folder.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from synthdp.cli.shared.drafts import drafted
from synthdp.cli.shared.package_files import DESCRIPTION
from synthdp.cli.studio.project import DATABASE, FOLDER, PROJECT, TABLE, ProjectFolder, Visit
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

DUCKDB = "duckdb:///"
"""How the address of a DuckDB file begins; a project names the file as it lies in the place."""


def tables_in(folder: ProjectFolder) -> dict[str, str]:
    """What the place holds, by name: of which kind each is."""
    entries = sorted(_entries(folder.place), key=lambda each: each.name.lower())
    found = dict(kept for path in entries[:MOST_SHOWN] if (kept := _kept(path)) is not None)
    uploads = sorted(path.name for path in _entries(folder.path / UPLOADS) if _kept(path))
    return found | {f"{UPLOADS}/{name}": TABLE for name in uploads}


def _entries(folder: Path) -> Iterable[Path]:
    try:
        return [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError:
        return []


def _kept(path: Path) -> tuple[str, str] | None:
    if path.is_file():
        return (path.name, TABLE) if is_named_as_table(path) else None
    held = [] if (path / PROJECT).exists() else _entries(path)
    is_folder = any(each.name == DESCRIPTION or is_named_as_table(each) for each in held)
    return (f"{path.name}/", FOLDER) if is_folder else None


def path_of(visit: Visit) -> Path:
    """Where the chosen table lies; raises `ParameterError` if it is not there any more."""
    folder, name = visit.folder, visit.project.table
    if name not in tables_in(folder):
        raise ParameterError(f"{name!r} is not in the folder of the studio; choose the table again")
    return (folder.path if name.startswith(f"{UPLOADS}/") else folder.place) / name


def from_project(visit: Visit, path: Path) -> str:
    """A path as commands name it that are run in the folder of the project."""
    return Path(os.path.relpath(path, visit.folder.path)).as_posix()


def source_of(visit: Visit, *, is_here: bool = False) -> str:
    """The address of the database, for commands that are run in the folder of the project; or for
    this process.
    """
    name = visit.project.source.removeprefix(DUCKDB)
    if name == visit.project.source:
        return name
    path = visit.folder.place.resolve() / name
    return f"{DUCKDB}{path.as_posix() if is_here else from_project(visit, path)}"


def names_of(visit: Visit) -> dict[str, Any]:
    """The draft of a schema: names of columns, and types where they are declared; no record."""
    project = visit.project
    if project.kind == DATABASE:
        return drafted((), {}, source=source_of(visit, is_here=True), table=project.table)
    return drafted((str(path_of(visit)),), project.dialect, source=None, table=None)


def package_of(visit: Visit) -> Any:
    """The description of linked tables: the one that lies with them, or a draft of one."""
    path = path_of(visit)
    if (path / DESCRIPTION).is_file():
        return load_json(path / DESCRIPTION, "package")
    return drafted_package(path, kinds=True)


def shapes(visit: Visit) -> dict[str, int]:
    """Into how many columns each delimiter would divide the first line; 0 if it cannot be read."""
    return {each: len(_names(visit, each)) for each in DELIMITERS.values()}


def _names(visit: Visit, delimiter: str) -> Sequence[str]:
    dialect = {**visit.project.dialect, "delimiter": delimiter}
    try:
        with open_table(path_of(visit), Dialect.from_properties(dialect)) as table:
            return table.names
    except SynthdpError:
        return []


def first_rows(visit: Visit) -> list[list[str]]:
    """The first records, for a steward who said that they may be looked at; never kept."""
    with open_table(path_of(visit), Dialect.from_properties(visit.project.dialect)) as table:
        first = next(iter(table.chunks()), None)
        rows = [] if first is None else first.head(SEEN_ROWS).to_numpy()
        return [[str(cell) for cell in row] for row in rows]


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
