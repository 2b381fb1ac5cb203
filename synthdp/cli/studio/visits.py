"""One request to the studio: whose project it is about, what was sent, and in which language it is
answered.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

from synthdp.cli.studio.jobs import Job
from synthdp.cli.studio.projects import Project, ProjectFolder
from synthdp.cli.studio.texts import Texts
from synthdp.core.errors import ParameterError

PRIVATE, PUBLISH = "not-private", "publish"
"""Folders of a run: what compares with the records, and what may go out."""


@final
class Studio:
    """What all requests share.

    Parameters
    ----------
    folder
        The project.
    token
        The secret in the address.
    """

    def __init__(self, folder: ProjectFolder, *, token: str) -> None:
        self.folder = folder
        self.token = token
        self.lock = threading.RLock()
        self.may_look = False
        self._jobs = dict[str, Job]()

    def job(self, name: str) -> Job:
        """The command of a folder of the project, such as ``run-1``."""
        if name not in self._jobs:
            self._jobs[name] = Job(self.folder.path / name, self.folder.path)
        return self._jobs[name]

    def stop(self) -> None:
        """Stop what is running, in order; the last run also if a studio that is gone started it."""
        self.job(f"run-{self.folder.load().run}")
        for job in self._jobs.values():
            job.stop()


@final
@dataclass(frozen=True, kw_only=True)
class Visit:
    """One request, and what it may see and change."""

    studio: Studio
    project: Project
    texts: Texts
    form: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> ProjectFolder:
        """The project's."""
        return self.studio.folder

    @property
    def run_name(self) -> str:
        """The folder of the last run."""
        return f"run-{self.project.run}"

    def text(self, name: str) -> str:
        """An input of the form; empty if it has none."""
        value = self.form.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    def number(self, name: str, *, usual: float = 0.0) -> float:
        """A number of the form, with a comma or a point; raises `ParameterError` if it is none."""
        text = self.text(name).replace(" ", "").replace("\N{NO-BREAK SPACE}", "")
        if not text:
            return usual
        try:
            return float(text.replace(",", "."))
        except ValueError:
            raise ParameterError(f"{name} is {text!r}; give a number") from None

    def whole(self, name: str, *, usual: int = 0) -> int:
        """A whole number of the form; marks between groups of digits are left out."""
        text = self.text(name)
        for (
            mark
        ) in " .,'\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{RIGHT SINGLE QUOTATION MARK}":
            text = text.replace(mark, "")
        if not text:
            return usual
        if not (text.isascii() and text.isdigit() and len(text) <= 12):
            raise ParameterError(f"{name} is {self.text(name)!r}; give a whole number")
        return int(text)

    def save(self, **changed: Any) -> Project:
        """Save the project with other values; raises if another page saved since this one was
        made.
        """
        seen = self.whole("version", usual=-1)
        return self.folder.save(replace(self.project, **changed), seen=seen)
