"""The server of the studio: on 127.0.0.1, at an address with a secret in it."""

import secrets
import socket
import sys
import webbrowser
from contextlib import suppress

from synthdp.cli.projects.chosen import chosen_project
from synthdp.cli.studio.app import studio_app
from synthdp.cli.studio.guard import LOOPBACK
from synthdp.cli.studio.visit import Studio
from synthdp.core.errors import ParameterError
from synthdp.core.files.writing import reason


def serve(given: str | None, *, project: str | None, port: int, opens_browser: bool) -> None:
    """Show a project until Ctrl-C; a run that goes on then is paused."""
    import uvicorn

    if not 0 <= port < 1 << 16:
        raise ParameterError(f"--port is {port}; give 0 to 65535, 0 takes a free one")
    opened = chosen_project(given, project)
    studio = Studio(opened.path, opened.place, token=secrets.token_urlsafe(24))
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
