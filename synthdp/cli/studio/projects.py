"""A project: what a steward said of a table, in a folder that holds no value of it.

``project.json`` says which table it is, by its name in the folder where the studio was started;
``kinds.json`` (of linked tables ``datapackage.json``) is what the commands take. Whoever gets the
folder without the table can go on where it was left.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, final

from synthdp.core.errors import DataFileError, SynthdpError
from synthdp.core.files.json_files import load_json, write_json

PROJECT, KINDS, PACKAGE = "project.json", "kinds.json", "datapackage.json"
"""The files of a project."""

ENDING = ".studio"
"""Of the folder of a project, after the name of its table."""

TABLE, FOLDER, LINKED, DATABASE = "table", "folder", "linked", "database"
"""What is given: a file; a folder whose files are one table; linked tables; a table of a database."""


class ChangedElsewhereError(SynthdpError):
    """Another page saved something since this one was opened."""


@final
@dataclass(frozen=True, kw_only=True)
class Project:
    """What is said of a table and its release, besides its columns."""

    version: int = 0
    """Counts what was saved: a page that was opened before another one saved is noticed."""
    kind: str = TABLE
    table: str = ""
    source: str = ""
    """What is given, its name in the place or in the database, and the database's address."""
    dialect: Mapping[str, str] = field(default_factory=dict)
    """How a file is written."""
    names: tuple[str, ...] = ()
    """Of the columns, in their order."""
    unit: str = ""
    max_rows: int = 1
    order: str = ""
    """Whose rows are protected together, how many at most, and their order."""
    rows: int = 0
    epsilon: float = 0.0
    delta: float = 0.0
    """A public guess of the number of records, and what is to be spent."""
    budget: str = ""
    note: str = ""
    """The name of the population's budget file, and what is written there."""
    run: int = 0
    """The number of the last run, 0 before the first."""
    walked: int = 0
    """How many steps were gone on from."""

    @property
    def is_linked(self) -> bool:
        """Whether it is about linked tables."""
        return self.kind == LINKED


@final
class ProjectFolder:
    """The folder of a project.

    Parameters
    ----------
    path
        The folder; it is made when something is saved.
    place
        The folder in which tables are looked for.
    """

    def __init__(self, path: Path, place: Path) -> None:
        self.path = path
        self.place = place

    def load(self) -> Project:
        """What was saved last; raises `DataFileError` if it was not written by a studio."""
        path = self.path / PROJECT
        if not path.exists():
            return Project()
        content = load_json(path, "project")
        usual = asdict(Project())
        known = isinstance(content, Mapping) and content.keys() <= usual.keys()
        if not known or any(not _is_alike(content[key], usual[key]) for key in content):
            raise DataFileError(f"project {str(path)!r}: it is no project of this version")
        given: dict[str, Any] = dict(content)
        given["names"] = tuple(given.get("names", ()))
        return Project(**given)

    def save(self, project: Project, *, seen: int) -> Project:
        """Save a project that was changed in a page which has ``seen`` some version.

        Raises `ChangedElsewhereError` if another page saved meanwhile.
        """
        if seen != self.load().version:
            raise ChangedElsewhereError("changed elsewhere")
        self.path.mkdir(parents=True, exist_ok=True)
        saved = replace(project, version=seen + 1)
        content = {each.name: getattr(saved, each.name) for each in fields(saved)}
        write_json(self.path / PROJECT, content, force=True)
        return saved

    def public(self, name: str) -> Any:
        """The content of `KINDS` or `PACKAGE`; empty if there is none yet."""
        path = self.path / name
        return load_json(path, "schema") if path.exists() else {}

    def save_public(self, name: str, content: Any) -> None:
        """Write `KINDS` or `PACKAGE`, whole or not at all."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.path / name, content, force=True)


def _is_alike(given: Any, usual: Any) -> bool:
    """Whether a value of a file is of the kind that belongs there."""
    if isinstance(usual, tuple):
        return isinstance(given, list) and all(isinstance(each, str) for each in given)
    if isinstance(usual, Mapping):
        return isinstance(given, Mapping) and all(isinstance(each, str) for each in given.values())
    if isinstance(usual, float):
        return isinstance(given, int | float) and not isinstance(given, bool)
    return type(given) is type(usual)
