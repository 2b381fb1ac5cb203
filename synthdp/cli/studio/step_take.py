"""Step 7: what is taken away, and how the run is repeated without this page."""

from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

from synthdp.cli.studio.commands import script_text, shell_text
from synthdp.cli.studio.jobs import DONE
from synthdp.cli.studio.projects import KINDS, PACKAGE, PROJECT
from synthdp.cli.studio.visits import PUBLISH, Visit
from synthdp.core.errors import ParameterError


def take_view(visit: Visit) -> dict[str, Any]:
    """The files to publish, and the run as a command line and as a script."""
    is_done = visit.studio.job(visit.run_name).state == DONE
    return {
        "is_done": is_done,
        "files": list(published_files(visit)) if is_done else [],
        "folder": str(_published(visit).resolve()),
        "shell": shell_text(visit.folder, visit.project),
        "script": script_text(visit.folder, visit.project),
    }


def published_files(visit: Visit) -> dict[str, Path]:
    """What may go out, by the name that it has in its folder."""
    folder = _published(visit)
    found = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path for path in found}


def published_file(visit: Visit, name: str) -> Path:
    """A file that may go out; raises `ParameterError` if there is none of that name."""
    if visit.studio.job(visit.run_name).state != DONE or name not in published_files(visit):
        raise ParameterError(f"{name!r} is no file of the release")
    return published_files(visit)[name]


def project_archive(visit: Visit) -> bytes:
    """The project for a colleague: what was said and declared, without the table."""
    held = BytesIO()
    with ZipFile(held, "w") as archive:
        for name in (PROJECT, KINDS, PACKAGE):
            if (visit.folder.path / name).exists():
                content = (visit.folder.path / name).read_bytes()
                archive.writestr(ZipInfo(f"{visit.folder.path.name}/{name}"), content)
    return held.getvalue()


def _published(visit: Visit) -> Path:
    return visit.folder.path / visit.run_name / PUBLISH
