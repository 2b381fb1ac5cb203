"""The server of the studio: on 127.0.0.1, at an address with a secret in it."""

import secrets
import socket
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path

from synthdp.cli.projects.chosen import kind_of_choice, with_first_names
from synthdp.cli.projects.places import tables_in
from synthdp.cli.projects.project import PROJECT
from synthdp.cli.studio.app import studio_app
from synthdp.cli.studio.guard import LOOPBACK
from synthdp.cli.studio.visit import Studio
from synthdp.core.errors import DataFileError, ParameterError, SynthdpError
from synthdp.core.files.writing import reason

ENDING = ".studio"
"""Of the folder of a project, after the name of its table."""


def studio_of(given: str | None, project: str | None) -> Studio:
    """The project of a table, which is chosen then as the page would; or the project that was given
    itself.

    Raises `DataFileError` if there is nothing of that name, or the project is of another version.
    """
    path, token = Path(given or Path.cwd() / "synthdp").resolve(), secrets.token_urlsafe(24)
    if given is not None and not path.exists():
        raise DataFileError(f"{given!r}: it does not exist; check the path")
    is_project = given is not None and (path / PROJECT).is_file()
    folder = path if is_project else Path(project or f"{path}{ENDING}")
    studio = Studio(folder, path.parent, token=token)
    opened, name = studio.load(), path.name + ("/" if path.is_dir() else "")
    if given is None or is_project or opened.project.table == name:
        return studio
    if name not in tables_in(studio.place):
        raise DataFileError(
            f"{given!r}: it is no table; give a file such as people.csv, or a folder"
        )
    opened = opened.changed(kind=kind_of_choice(studio.place, name), table=name)
    opened.save()
    with suppress(SynthdpError):  # if it cannot be read, the page says why
        with_first_names(opened, is_other=True).save()
    return studio


def serve(given: str | None, *, project: str | None, port: int, opens_browser: bool) -> None:
    """Show a project until Ctrl-C; a run that goes on then is paused."""
    import uvicorn

    if not 0 <= port < 1 << 16:
        raise ParameterError(f"--port is {port}; give 0 to 65535, 0 takes a free one")
    studio = studio_of(given, project)
    try:
        listening = socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise ParameterError(
            f"--port is {port}, which cannot be opened: {reason(error)}; give another, or 0"
        ) from None
    port = listening.getsockname()[1]
    address = f"http://{LOOPBACK}:{port}/?token={studio.token}"
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    sys.stderr.write(f"synthdp: the studio of {studio.path} is open; Ctrl-C closes it\n")
    if opens_browser:
        webbrowser.open(address)
    config = uvicorn.Config(
        studio_app(studio, port=port),
        log_config=None,  # it would close the handlers of whoever runs this in a process of theirs
        access_log=False,  # addresses hold names, and the first one the token
        log_level="critical",
        server_header=False,
        lifespan="off",
    )
    try:
        with suppress(KeyboardInterrupt):  # how a studio is closed
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        studio.stop()
