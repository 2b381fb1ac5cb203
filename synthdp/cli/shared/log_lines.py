"""How a command tells its progress: by the status line, or with ``--verbose`` by the log."""

from collections.abc import Iterator
from contextlib import contextmanager
from logging import DEBUG, INFO, Formatter, StreamHandler
from typing import TextIO

from synthdp.cli.shared.status_line import CLEARED, StatusLine
from synthdp.core.event_log import LOGGER, NOTICE
from synthdp.core.files.writing import STANDARD_STREAM
from synthdp.core.reporting import Report, silent


@contextmanager
def progress_on(stream: TextIO, *, verbosity: int, output: str | None = None) -> Iterator[Report]:
    """Draw a status line, and log what one waits for; or log, a line each, stages and charges as
    well for a verbosity of 1, steps from 2 on.

    Beside an ``output`` on stdout the stream is for the certificate, which programs read: without
    verbosity only a terminal gets a line more.
    """
    if verbosity:
        with _logged(stream, INFO if verbosity == 1 else DEBUG):
            yield silent
        return
    with StatusLine(stream) as status:
        if output == STANDARD_STREAM and not stream.isatty():
            yield status
            return
        with _logged(stream, NOTICE):
            yield status


@contextmanager
def _logged(stream: TextIO, least: int) -> Iterator[None]:
    """Write lines of the log, from a level on."""
    handler = StreamHandler(stream)
    level = LOGGER.level
    cleared = CLEARED if least == NOTICE and stream.isatty() else ""  # of the status line
    handler.setFormatter(Formatter(f"{cleared}synthdp: %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(least)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
