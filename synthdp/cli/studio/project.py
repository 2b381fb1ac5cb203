"""A project: what a steward said of a table, in a folder that holds no value of it.

``project.json`` says which table it is, by its name in the folder where the studio was started;
``kinds.json`` (of linked tables ``datapackage.json``) is what the commands take. Whoever gets the
folder without the table can go on where it was left.
"""

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self, final

from synthdp.cli.shared.jobs import DONE, Job
from synthdp.cli.studio.texts import Texts
from synthdp.core.errors import DataFileError, ParameterError, SynthdpError
from synthdp.core.files.json_files import load_json, write_json
from synthdp.schema.questions import number_or_text, whole_number

PROJECT, KINDS, PACKAGE = "project.json", "kinds.json", "datapackage.json"
"""The files of a project."""

TABLE, FOLDER, LINKED, DATABASE = "table", "folder", "linked", "database"
"""What is given: a file; a folder whose files are one table; linked tables; a table of a database."""

PRIVATE, PUBLISH = "not-private", "publish"
"""Folders of a run: what compares with the records, and what may go out."""


class InWordsError(ParameterError):
    """What is refused, said in the reader's language."""


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


def _is_alike(given: Any, usual: Any) -> bool:
    """Whether a value of a file is of the kind that belongs there."""
    held = given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()
    return type(given) is type(usual) and all(isinstance(each, str) for each in held)


@final
class Studio:
    """A project in its folder, and what all requests share.

    Parameters
    ----------
    path
        The folder; it is made when something is saved.
    place
        The folder in which tables are looked for.
    token
        The secret in the address.
    """

    def __init__(self, path: Path, place: Path, *, token: str) -> None:
        self.path = path
        self.place = place
        self.token = token
        self.lock = threading.RLock()
        self.may_look = False
        self.refused = dict[str, tuple[Mapping[str, Sequence[Any]], SynthdpError]]()
        self._jobs = dict[str, Job]()

    def load(self) -> Project:
        """What was saved last; raises `DataFileError` if it was not written by a studio."""
        content, usual = self.public(PROJECT), asdict(Project())
        known = isinstance(content, Mapping) and content.keys() <= usual.keys()
        if not known or not all(_is_alike(content[key], usual[key]) for key in content):
            path = self.path / PROJECT
            raise DataFileError(f"project {str(path)!r}: it is no project of this version")
        return Project(**content)

    def public(self, name: str) -> Any:
        """The content of `PROJECT`, `KINDS` or `PACKAGE`; empty if there is none yet."""
        path = self.path / name
        return load_json(path, path.stem) if path.exists() else {}

    def save_public(self, name: str, content: Any) -> None:
        """Write a file of the project, whole or not at all."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.path / name, content, force=True)

    def job(self, name: str) -> Job:
        """The command of a folder of the project, such as ``run-1``."""
        return self._jobs.setdefault(name, Job(self.path / name, self.path))

    def stop(self) -> None:
        """Stop what is running, in order; the last run also if a studio that is gone started it."""
        self.job(f"run-{self.load().run}")
        for job in self._jobs.values():
            job.stop()


@final
@dataclass(frozen=True, kw_only=True)
class Visit:
    """One request: whose project it is about, what was sent, and how it is answered."""

    studio: Studio
    project: Project
    texts: Texts
    form: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """All that was sent of each name."""
    is_sent: bool = False
    """Whether a form was sent, which changes something; else a page is only asked for."""

    @property
    def run(self) -> Job:
        """The last run."""
        return self.studio.job(f"run-{self.project.run}")

    @property
    def ended(self) -> list[int]:
        """The numbers of the runs that are done, the newest first."""
        numbers = range(self.project.run, 0, -1)
        return [number for number in numbers if self.studio.job(f"run-{number}").state == DONE]

    @property
    def reached(self) -> int:
        """The furthest step that can be opened: what was released stays within reach."""
        return 6 if self.ended else self.project.walked

    def of_release(self) -> Self:
        """This visit as of the release that it asks for, else the newest; nothing is saved of it."""
        asked = self.text("run")
        numbers = [number for number in self.ended if f"{number}" == asked] or self.ended
        return replace(self, project=replace(self.project, run=[*numbers, self.project.run][0]))

    @property
    def action(self) -> str:
        """What the button that was pressed asks for."""
        return self.text("action")

    def chosen(self, actions: Mapping[str, Any]) -> Any:
        """What the button that was pressed stands for; raises `InWordsError` if there is none."""
        if self.action not in actions:
            raise self.refusal("action")
        return actions[self.action]

    def texts_of(self, name: str) -> list[str]:
        """What is ticked or chosen of a name."""
        return [each.strip() for each in self.form.get(name, ()) if isinstance(each, str)]

    def text(self, name: str) -> str:
        """An input of the form; empty if it has none."""
        return next(iter(self.texts_of(name)), "")

    @property
    def mark(self) -> str:
        """The decimal mark of the file."""
        return self.project.dialect.get("decimalChar", ".")

    def number(self, name: str, *, usual: float = 0.0) -> float:
        """A number of the form, with a comma or a point; raises `InWordsError` if it is none."""
        text = re.sub(r"\s", "", self.text(name))
        number = number_or_text(text) if text else usual
        if isinstance(number, str):
            raise self.refusal("number", text=text)
        return float(number)

    def whole(self, name: str, *, usual: int = 0) -> int:
        """A whole number of the form; marks between groups of digits are left out."""
        text = self.text(name)
        try:
            return whole_number(name, text) if text else usual
        except ParameterError:
            raise self.refusal("whole", text=text) from None

    def refusal(self, key: str, **given: object) -> InWordsError:
        """What is refused, in the words of the page."""
        return InWordsError(self.texts(f"no.{key}", **given))

    def saved(self, *, walked: int = 0, **changed: Any) -> Self:
        """This visit of the project saved with other values, and gone on to a further step.

        Raises `InWordsError` if another page saved since this one was made.
        """
        seen = self.whole("version", usual=-1)
        if seen != self.studio.load().version:
            raise self.refusal("changed")
        walked = max(self.project.walked, walked)
        project = replace(self.project, version=seen + 1, walked=walked, **changed)
        self.studio.save_public(PROJECT, asdict(project))
        return replace(self, project=project, form={**self.form, "version": [str(seen + 1)]})
