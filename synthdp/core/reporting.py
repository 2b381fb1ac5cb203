"""Telling somebody how far a long run is: the one callback that all floors take."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from logging import DEBUG, INFO
from time import monotonic
from typing import TextIO, TypeAlias, TypeVar, final

from synthdp.core.event_log import log

Report: TypeAlias = Callable[[str, int, int], None]
"""Called with (what is going on, steps done, steps at most); never depends on records."""

FITTING = "fitting"
"""The stage that comes within others, for adaptive mechanisms fit between their measurements."""

Item = TypeVar("Item")


def silent(_stage: str, _done: int, _most: int) -> None:
    """Ignore progress."""


_SECONDS_BETWEEN_LINES = 0.2
"""Faster than that notebooks flicker."""


@final
class NotebookLine:
    """One line of text that is written over again; notebooks show it under the cell.

    Parameters
    ----------
    stream
        Where it is written.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._stage = ""
        self._shown_at = -_SECONDS_BETWEEN_LINES
        self._width = 0

    def __call__(self, stage: str, done: int, most: int) -> None:
        """Show a stage and how many of its steps are done; a stream that is closed ends no run."""
        now = monotonic()
        if stage == self._stage and now - self._shown_at < _SECONDS_BETWEEN_LINES:
            return
        line = f"{stage}: {done} of {most}" if most > 1 else stage
        with suppress(OSError, ValueError):
            self._stream.write(f"\r{line:<{self._width}}")
            self._stream.flush()
        self._stage, self._shown_at, self._width = stage, now, max(len(line), self._width)


def in_notebook(report: Report) -> Report:
    """The same report; in a notebook a `NotebookLine` in place of `silent`."""
    return NotebookLine(sys.stdout) if report is silent and "ipykernel" in sys.modules else report


def steps(report: Report, stage: str, items: Iterable[Item]) -> Iterator[Item]:
    """The items of a stage one by one, each reported before it is worked on, and the end after the
    last one.

    >>> list(steps(lambda *step: print(*step), "counting", "ab"))
    counting 0 2
    counting 1 2
    counting 2 2
    ['a', 'b']
    """
    listed: Sequence[Item] = list(items)
    for done, item in enumerate(listed):
        report(stage, done, len(listed))
        yield item
    if listed:
        report(stage, len(listed), len(listed))


@contextmanager
def finishing(report: Report) -> Iterator[Report]:
    """The same report, of which every stage ends at all of its steps, also one that stops early.

    A stage ends when another begins, but for a fit, which comes within others, and at the end of
    what is done; one that fails does not end.
    """
    open_stages: dict[str, tuple[int, int]] = {}

    def end(stages: Iterable[str]) -> None:
        for stage in list(stages):
            done, most = open_stages.pop(stage)
            if done < most:
                report(stage, most, most)

    def reporting(stage: str, done: int, most: int) -> None:
        if stage != FITTING:
            end(other for other in open_stages if other != stage)
        elif stage in open_stages and done < open_stages[stage][0]:  # another fit
            end([stage])
        open_stages[stage] = (done, most)
        report(stage, done, most)

    yield reporting
    end(reversed(open_stages))


def logged(report: Report) -> Report:
    """The same report, heard by the logger ``synthdp`` as well: a stage at INFO when it begins, its
    steps at DEBUG.
    """
    stage_before = ""

    def logged_step(stage: str, done: int, most: int) -> None:
        nonlocal stage_before
        if stage != stage_before:
            log(INFO, "%s", stage)
        log(DEBUG, "%s: %d of %d", stage, done, most)
        stage_before = stage
        report(stage, done, most)

    return logged_step
