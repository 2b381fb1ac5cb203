"""Telling somebody how far a long run is: the one callback that all floors take, and the log, which hears it too."""

from collections.abc import Callable
from contextlib import suppress
from logging import DEBUG, INFO, NullHandler, getLogger
from typing import TypeAlias

Report: TypeAlias = Callable[[str, int, int], None]
"""Called with (what is going on, steps done, steps at most); never depends on records."""

LOGGER = getLogger("synthdp")
"""Hears public facts only: stages and charges at INFO, steps at DEBUG. Whoever wants to read them adds a handler."""
LOGGER.addHandler(NullHandler())


def log(level: int, message: str, *arguments: object) -> None:
    """Log public facts; a handler that raises does not stop a run, for what was paid for would be lost."""
    with suppress(Exception):
        LOGGER.log(level, message, *arguments, stacklevel=2)


def silent(_stage: str, _done: int, _most: int) -> None:
    """Report progress to nobody."""


def logged(report: Report) -> Report:
    """The same report, heard by the logger ``synthdp`` as well: a stage at INFO when it begins, its steps at DEBUG."""
    stage_before = ""

    def told(stage: str, done: int, most: int) -> None:
        nonlocal stage_before
        if stage != stage_before:
            log(INFO, "%s", stage)
        log(DEBUG, "%s: %d of %d", stage, done, most)
        stage_before = stage
        report(stage, done, most)

    return told
