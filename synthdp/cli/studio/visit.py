"""What all requests share, and one of them: whose project it is about, and what was sent."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, final

from synthdp.cli.projects.asked import whole_said
from synthdp.cli.projects.project import OpenProject, Project, ProjectError
from synthdp.cli.shared.jobs import Job
from synthdp.cli.studio.texts import Texts
from synthdp.core.errors import SynthdpError


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

    def load(self) -> OpenProject:
        """What was saved last; raises `DataFileError` if it was not written by a studio."""
        return OpenProject.load(self.path, self.place, jobs=self._jobs)

    def stop(self) -> None:
        """Stop what is running, in order; the last run also if a studio that is gone started it."""
        self.load().run.stop()
        for job in self._jobs.values():
            job.stop()


@final
@dataclass(frozen=True, kw_only=True)
class Visit:
    """One request: whose project it is about, what was sent, and how it is answered."""

    studio: Studio
    opened: OpenProject
    texts: Texts
    form: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """All that was sent of each name."""
    is_sent: bool = False
    """Whether a form was sent, which changes something; else a page is only asked for."""

    @property
    def project(self) -> Project:
        """What is said of it."""
        return self.opened.project

    @property
    def run(self) -> Job:
        """The last run."""
        return self.opened.run

    @property
    def reached(self) -> int:
        """The furthest step that can be opened: what was released stays within reach."""
        return 6 if self.opened.ended else self.project.walked

    def of_release(self) -> Self:
        """This visit as of the release that it asks for, else the newest; nothing is saved of it."""
        return replace(self, opened=self.opened.of_release(self.text("run")))

    @property
    def action(self) -> str:
        """What the button that was pressed asks for."""
        return self.text("action")

    def texts_of(self, name: str) -> list[str]:
        """What is ticked or chosen of a name."""
        return [each.strip() for each in self.form.get(name, ()) if isinstance(each, str)]

    def text(self, name: str) -> str:
        """An input of the form; empty if it has none."""
        return next(iter(self.texts_of(name)), "")

    @property
    def answers(self) -> dict[str, list[str]]:
        """All that was sent, by name."""
        return {name: self.texts_of(name) for name in self.form}

    def whole(self, name: str, *, usual: int = 0) -> int:
        """A whole number of the form; raises `ProjectError` if it is none."""
        return whole_said(self.answers, name, usual=usual)

    def refusal(self, key: str, **given: object) -> ProjectError:
        """What is refused, in the words of the page."""
        return ProjectError(key, self.texts(f"no.{key}", **given), **given)

    def saved(self, *, walked: int = 0, **changed: Any) -> Self:
        """This visit of the project saved with other values, and gone on to a further step.

        Raises `ProjectError` if another page saved since this one was made.
        """
        seen = self.whole("version", usual=-1)
        if seen != self.studio.load().project.version:
            raise self.refusal("changed")
        walked = max(self.project.walked, walked)
        opened = self.opened.changed(version=seen + 1, walked=walked, **changed)
        opened.save()
        return replace(self, opened=opened, form={**self.form, "version": [str(seen + 1)]})
