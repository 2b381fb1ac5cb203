"""A project: what a steward said of a table, in a folder that holds no value of it.

``project.json`` says which table it is, by its name in the place beside the folder; ``kinds.json``
(of linked tables ``datapackage.json``) is what the commands take. Whoever gets the folder without
the table can go on where it was left: in the studio, or in a script.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self, final

from synthdp.cli.shared.jobs import DONE, Job
from synthdp.core.errors import DataFileError, ParameterError
from synthdp.core.files.json_files import load_json, write_json
from synthdp.release.run_settings import kept_by

PROJECT, KINDS, PACKAGE = "project.json", "kinds.json", "datapackage.json"
"""The files of a project."""

TABLE, FOLDER, LINKED, DATABASE = "table", "folder", "linked", "database"
"""What is given: a file; a folder whose files are one table; linked tables; a table of a database.
"""

PRIVATE, PUBLISH = "not-private", "publish"
"""Folders of a run: what compares with the records, and what may go out."""


@final
class ProjectError(ParameterError):
    """What a project lacks, which a page says in the reader's language.

    Parameters
    ----------
    key
        What it is.
    text
        It in English.
    given
        What the sentence names.
    """

    def __init__(self, key: str, text: str, /, **given: object) -> None:
        super().__init__(text)
        self.key = key
        self.given = given


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
    names: list[str] = field(default_factory=list)
    """Of the columns, in their order."""
    unit: str = ""
    max_rows: int = 1
    together: bool = False
    order: str = ""
    constant: str = ""
    """Whose rows are protected together, how many at most, whether they are kept together, in which
    order, and what is the same in all rows of one, with commas.
    """
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
    def mark(self) -> str:
        """The decimal mark of the file."""
        return self.dialect.get("decimalChar", ".")

    @property
    def keeps_persons(self) -> bool:
        """Whether rows of one person hang together in what is drawn."""
        return bool(self.unit) and kept_by(vars(self)) is not None

    @property
    def is_linked(self) -> bool:
        """Whether it is about linked tables."""
        return self.kind == LINKED


def _is_alike(given: Any, usual: Any) -> bool:
    """Whether a value of a file is of the kind that belongs there."""
    held = given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()
    return type(given) is type(usual) and all(isinstance(each, str) for each in held)


@final
@dataclass(frozen=True, kw_only=True)
class OpenProject:
    """A project in its folder, and the place where its table lies."""

    path: Path
    """The folder; it is made when something is saved."""
    place: Path
    """Where tables are looked for."""
    project: Project = field(default_factory=Project)
    """What is said."""
    jobs: dict[str, Job] = field(default_factory=dict)
    """Its commands that were asked for."""

    @classmethod
    def load(cls, path: Path, place: Path, *, jobs: dict[str, Job] | None = None) -> Self:
        """What was saved last; raises `DataFileError` if it was not written so.

        >>> OpenProject.load(Path("none.studio"), Path()).project.epsilon
        0.0
        """
        opened = cls(path=path, place=place, jobs={} if jobs is None else jobs)
        content = opened.public(PROJECT)
        usual = asdict(Project())
        known = isinstance(content, Mapping) and content.keys() <= usual.keys()
        if not known or not all(_is_alike(content[key], usual[key]) for key in content):
            problem = f"project {str(path / PROJECT)!r}: it is no project of this version"
            raise DataFileError(problem)
        return opened.changed(**content)

    def changed(self, **said: Any) -> Self:
        """It with other values; nothing is saved."""
        return replace(self, project=replace(self.project, **said))

    def save(self) -> None:
        """Write what is said, whole or not at all."""
        self.save_public(PROJECT, asdict(self.project))

    def public(self, name: str) -> Any:
        """The content of a file of the project; empty if there is none yet."""
        path = self.path / name
        return load_json(path, path.stem) if path.exists() else {}

    def save_public(self, name: str, content: Any) -> None:
        """Write a file of the project, whole or not at all."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.path / name, content, force=True)

    def job(self, name: str) -> Job:
        """The command of a folder of the project, such as ``run-1``."""
        return self.jobs.setdefault(name, Job(self.path / name, self.path))

    @property
    def run(self) -> Job:
        """The last run."""
        return self.job(f"run-{self.project.run}")

    def of_release(self, number: str = "") -> Self:
        """It as of a run that is done, else of the newest one; nothing is saved of it."""
        numbers = [each for each in self.ended if f"{each}" == number] or self.ended
        return self.changed(run=[*numbers, self.project.run][0])

    @property
    def ended(self) -> list[int]:
        """The numbers of the runs that are done, the newest first."""
        numbers = range(self.project.run, 0, -1)
        return [number for number in numbers if self.job(f"run-{number}").state == DONE]
