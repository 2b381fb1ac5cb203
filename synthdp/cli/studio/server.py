"""The studio's server: on the loopback only, for one person and one project."""

import secrets
import socket
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path

from synthdp.cli.studio.app import studio_app
from synthdp.cli.studio.guard import LOOPBACK
from synthdp.cli.studio.places import tables_in
from synthdp.cli.studio.project import PROJECT, ProjectFolder, Studio, Visit
from synthdp.cli.studio.step_table import save_table_step
from synthdp.cli.studio.texts import USUAL, Texts
from synthdp.core.errors import DataFileError, ParameterError, SynthdpError
from synthdp.core.files.writing import reason

ENDING = ".studio"
"""Of the folder of a project, after the name of its table."""


def folder_of(given: str | None, project: str | None) -> tuple[ProjectFolder, str | None]:
    """The project of a table, and the table as its place lists it; or the project that was given
    itself.

    Raises `DataFileError` if there is nothing of that name.
    """
    if given is None:
        place = Path.cwd()
        return ProjectFolder(Path(project or place / f"synthdp{ENDING}"), place), None
    path = Path(given).resolve()
    if not path.exists():
        raise DataFileError(f"{given!r}: it does not exist; check the path")
    if (path / PROJECT).is_file():
        return ProjectFolder(path, path.parent), None
    name = path.name + ("/" if path.is_dir() else "")
    folder = ProjectFolder(Path(project or f"{path}{ENDING}"), path.parent)
    if name not in tables_in(folder):
        raise DataFileError(
            f"{given!r}: it is no table; give a file such as people.csv, or a folder"
        )
    return folder, name


def take_given(studio: Studio, table: str | None) -> None:
    """Choose the table that the command names, as the page would; if it cannot be read, the page
    says why.
    """
    project = studio.folder.load()
    if table is not None and project.table != table:
        form = {"action": ["choose"], "table": [table], "version": [str(project.version)]}
        with suppress(SynthdpError):
            save_table_step(Visit(studio=studio, project=project, texts=Texts(USUAL), form=form))


def serve(given: str | None, *, project: str | None, port: int, opens_browser: bool) -> None:
    """Show a project until Ctrl-C; a run that goes on then is paused."""
    import uvicorn

    if not 0 <= port < 1 << 16:
        raise ParameterError(f"--port is {port}; give 0 to 65535, 0 takes a free one")
    folder, table = folder_of(given, project)
    folder.load()  # a project of another version is refused before anything is opened
    try:
        listening = socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise ParameterError(
            f"--port is {port}, which cannot be opened: {reason(error)}; give another, or 0"
        ) from None
    port = listening.getsockname()[1]
    studio = Studio(folder, token=secrets.token_urlsafe(24))
    take_given(studio, table)
    address = f"http://{LOOPBACK}:{port}/?token={studio.token}"
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    sys.stderr.write(f"synthdp: the studio of {folder.path} is open; Ctrl-C closes it\n")
    if opens_browser:
        webbrowser.open(address)
    server = uvicorn.Server(
        uvicorn.Config(
            studio_app(studio, port=port),
            log_config=None,  # it would close the handlers of whoever runs this in a process of theirs
            access_log=False,  # addresses hold names, and the first one the token
            log_level="critical",
            server_header=False,
            lifespan="off",
        )
    )
    try:
        with suppress(KeyboardInterrupt):  # how a studio is closed
            server.run(sockets=[listening])
    finally:
        studio.stop()
