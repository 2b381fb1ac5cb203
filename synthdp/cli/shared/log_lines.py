"""How a command tells its progress: by the status line, or with ``--verbose`` by the log."""

from collections.abc import Iterator
from contextlib import contextmanager
from logging import DEBUG, INFO, Formatter, StreamHandler
from typing import TextIO

from synthdp.cli.shared.status_line import StatusLine
from synthdp.core.event_log import LOGGER
from synthdp.core.reporting import Report, silent


@contextmanager
def progress_on(stream: TextIO, *, verbosity: int) -> Iterator[Report]:
    """Draw a status line; or log, a line each, stages and charges for a verbosity of 1, steps as
    well from 2 on.
    """
    if not verbosity:
        with StatusLine(stream) as status:
            yield status
        return
    handler, level = StreamHandler(stream), LOGGER.level
    handler.setFormatter(Formatter("synthdp: %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(INFO if verbosity == 1 else DEBUG)
    try:
        yield silent
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
