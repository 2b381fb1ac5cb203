"""What can be chosen: tables in the folder where the studio was started, and in databases.

A page names what it wants as it stands in `tables_in`, never as a path: so none can leave the
folder.
"""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthdp.cli.projects.project import DATABASE, FOLDER, PROJECT, TABLE, OpenProject, ProjectError
from synthdp.cli.shared.drafts import divisions, drafted
from synthdp.cli.shared.package_files import DESCRIPTION
from synthdp.core.errors import DataFileError
from synthdp.core.files.json_files import load_json
from synthdp.core.files.writing import write_atomically
from synthdp.data.files.formats import is_named_as_table, is_text
from synthdp.data.tables import open_table
from synthdp.linked.package.drafts import drafted_package, package_files
from synthdp.schema.dialect import Dialect

if TYPE_CHECKING:
    import pandas as pd

MOST_SHOWN = 500
"""Names of a folder that the page lists."""

SEEN_ROWS = 5
"""Records that the steward is shown who asks for them, and synthetic rows of a release."""

DELIMITERS = {",": ",", ";": ";", "tab": "\t", "|": "|"}
"""What may stand between columns, as the page calls it and as files have it."""

ENCODINGS = ("utf-8", "utf-16", "cp1252")
"""What the page offers, as likely as they are; any other is declared by who opens the project."""

DUCKDB = "duckdb:///"
"""How the address of a DuckDB file begins; a project names the file as it lies in the place."""


def tables_in(place: Path) -> dict[str, str]:
    """What the place holds, by name: of which kind each is."""
    paths = files_in(place).values()
    tables = {path.name: TABLE for path in paths if path.is_file() and is_named_as_table(path)}
    folders = {f"{path.name}/": FOLDER for path in paths if path.is_dir() and _holds_tables(path)}
    return tables | folders


def files_in(folder: Path) -> dict[str, Path]:
    """What a folder holds, by name; nothing of one that cannot be read, and nothing hidden."""
    try:
        paths = sorted(folder.iterdir(), key=lambda each: each.name.lower())
    except OSError:
        return {}
    return {path.name: path for path in paths[:MOST_SHOWN] if not path.name.startswith(".")}


def _holds_tables(folder: Path) -> bool:
    held = files_in(folder)
    return PROJECT not in held and (DESCRIPTION in held or any(map(is_named_as_table, held)))


def path_of(opened: OpenProject) -> Path:
    """Where the chosen table lies; raises `ParameterError` if it is not there any more."""
    name = opened.project.table
    if name not in tables_in(opened.place):
        problem = f"{name!r} is not in {str(opened.place)!r}; choose the table anew"
        raise ProjectError("table_gone", problem, name=name)
    return opened.place / name


def from_project(opened: OpenProject, path: Path) -> str:
    """A path as commands name it that are run in the folder of the project."""
    return Path(os.path.relpath(path, opened.path)).as_posix()


def source_of(opened: OpenProject, *, is_here: bool = False) -> str:
    """The address of the database, for commands that are run in the folder of the project; or for
    this process.
    """
    name = opened.project.source.removeprefix(DUCKDB)
    if name == opened.project.source:
        return name
    path = opened.place.resolve() / name
    return f"{DUCKDB}{path.as_posix() if is_here else from_project(opened, path)}"


def check_source(place: Path, source: str, table: str) -> None:
    """Raise `ProjectError` unless it is the address of a database that a project may name: without
    a password, and a DuckDB file of the place.
    """
    usual = f"{DUCKDB}NAME"
    problem = f"{source!r} is no address of a database here"
    scheme, _, rest = source.partition("://")
    if not table or not rest or scheme not in ("duckdb", "postgres", "postgresql"):
        usual = f"postgres://USER@HOST/DATABASE, {usual}"
        raise ProjectError("address", f"{problem}; give one such as {usual}", usual=usual)
    if scheme == "duckdb" and source.removeprefix(DUCKDB) not in files_in(place):
        raise ProjectError("duckdb", f"{problem}; give one such as {usual}", usual=usual)
    if ":" in rest.rpartition("@")[0]:
        problem = "the address holds a password; leave it to the environment or .pgpass"
        raise ProjectError("password", problem)


def names_of(opened: OpenProject) -> dict[str, Any]:
    """The draft of a schema: names of columns, and types where they are declared; no record."""
    project = opened.project
    if project.kind == DATABASE:
        return drafted((), {}, source=source_of(opened, is_here=True), table=project.table)
    return drafted((str(path_of(opened)),), project.dialect, source=None, table=None)


def package_of(opened: OpenProject) -> Any:
    """The description of linked tables: the one that lies with them, or a draft of one."""
    path = path_of(opened)
    if (path / DESCRIPTION).is_file():
        return load_json(path / DESCRIPTION, "package")
    return drafted_package(path, kinds=True, properties=opened.project.dialect)


def shapes(opened: OpenProject) -> dict[tuple[str, str], int]:
    """Into how many columns each encoding and delimiter divides the first lines of what is chosen."""
    path = path_of(opened)
    paths = [*filter(is_text, package_files(path))] if opened.project.is_linked else [path]
    return divisions(paths, ENCODINGS, DELIMITERS.values())


def first_rows(opened: OpenProject) -> list[list[str]]:
    """The first records, for a steward who said that they may be looked at; never kept."""
    return rows_of(path_of(opened), Dialect.from_properties(opened.project.dialect))


def rows_of(path: Path, dialect: Dialect, *, is_headed: bool = False) -> list[list[str]]:
    """The first rows of a table as texts, below its names if it ``is_headed``."""
    if (first := first_chunk(path, dialect)) is None:
        return []
    names = [list(map(str, first.columns))] if is_headed else []
    return names + [[str(cell) for cell in row] for row in first.head(SEEN_ROWS).to_numpy()]


def first_chunk(path: Path, dialect: Dialect) -> "pd.DataFrame | None":
    """As many rows of a table as are read at once; None if it has none."""
    with open_table(path, dialect) as table:
        return next(iter(table.chunks()), None)


def store_upload(place: Path, name: str, stream: Any, *, replaces: bool = False) -> str:
    """Keep a table that was given in the page beside the others; returns its name.

    Raises `DataFileError` if it is no table, and `ProjectError` if there is one of that name which
    it does not replace.
    """
    plain = Path(name.replace("\\", "/")).name
    if plain.startswith(".") or not plain.isprintable() or not is_named_as_table(plain):
        raise DataFileError(f"{plain!r} is no table; give a file such as people.csv")
    if plain in tables_in(place) and not replaces:
        problem = f"{plain!r} is in {str(place)!r} already; give another name"
        raise ProjectError("exists", problem, name=plain)
    with write_atomically(place / plain, force=replaces) as kept:
        shutil.copyfileobj(stream, kept)
    return plain
