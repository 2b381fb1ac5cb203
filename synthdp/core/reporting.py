"""Telling somebody how far a long run is: the one callback that all floors take, and the log, which
hears it too.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from logging import DEBUG, INFO, NullHandler, getLogger
from time import monotonic
from typing import Any, TextIO, TypeAlias, TypeVar, final

Report: TypeAlias = Callable[[str, int, int], None]
"""Called with (what is going on, steps done, steps at most); never depends on records."""

FITTING = "fitting"
"""The stage that comes within others, for adaptive recipes fit between their measurements."""

Item = TypeVar("Item")

LOGGER = getLogger("synthdp")
"""Hears public facts only: stages and charges at INFO, steps at DEBUG. Whoever wants to read them
adds a handler.
"""
LOGGER.addHandler(NullHandler())


def log(level: int, message: str, *arguments: object) -> None:
    """Log public facts; a handler that raises does not stop a run, for what was paid for would be
    lost.
    """
    with suppress(Exception):
        LOGGER.log(level, message, *arguments, stacklevel=2)


def log_charge(event: Mapping[str, Any], *, share_spent: float, is_kept: bool = False) -> None:
    """Log what was charged, an event as its certificate has it, and which share of the budget is
    spent.

    An answer that a journal kept was charged when it was given first, and costs nothing now.
    """
    with suppress(Exception):
        what, noise = event_in_words(event)
        if is_kept:
            log(INFO, "answer kept before: %s %s", event["event"], what)
            return
        message = "charged %s %s: %s, rho %.4g; %.4g %% of the budget is spent"
        log(INFO, message, event["event"], what, noise, event["rho"], 100 * share_spent)


def silent(_stage: str, _done: int, _most: int) -> None:
    """Report progress to nobody."""


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
        self._stage, self._shown_at, self._width = "", -_SECONDS_BETWEEN_LINES, 0

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
    """The same report; in a notebook a `NotebookLine` instead of one that nobody hears."""
    return NotebookLine(sys.stdout) if report is silent and "ipykernel" in sys.modules else report


def steps(report: Report, stage: str, items: Iterable[Item]) -> Iterator[Item]:
    """The items of a stage one by one, each reported before it is worked on, and the end after the
    last one.

    >>> list(steps(lambda *told: print(*told), "counting", "ab"))
    counting 0 2
    counting 1 2
    counting 2 2
    ['a', 'b']
    """
    found: Sequence[Item] = list(items)
    for done, item in enumerate(found):
        report(stage, done, len(found))
        yield item
    if found:
        report(stage, len(found), len(found))


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

    def told(stage: str, done: int, most: int) -> None:
        if stage != FITTING:
            end(other for other in open_stages if other != stage)
        elif stage in open_stages and done < open_stages[stage][0]:  # another fit
            end([stage])
        open_stages[stage] = (done, most)
        report(stage, done, most)

    yield told
    end(reversed(open_stages))


def logged(report: Report) -> Report:
    """The same report, heard by the logger ``synthdp`` as well: a stage at INFO when it begins, its
    steps at DEBUG.
    """
    stage_before = ""

    def told(stage: str, done: int, most: int) -> None:
        nonlocal stage_before
        if stage != stage_before:
            log(INFO, "%s", stage)
        log(DEBUG, "%s: %d of %d", stage, done, most)
        stage_before = stage
        report(stage, done, most)

    return told


def event_in_words(event: Mapping[str, Any]) -> tuple[str, str]:
    """What an event of a ledger, as its certificate has it, asks for and with how much noise.

    >>> event_in_words({"event": "marginal", "columns": ["age", "sex"], "sigma": 12.345678})
    ('age x sex', 'sigma 12.35')
    """
    kind = event["event"]
    if kind == "marginal":
        return columns_in_words(event["columns"]), f"sigma {event['sigma']:.4g}"
    if kind == "scores":
        return f"all {event['n_candidates']} by {event['score']}", f"sigma {event['sigma']:.4g}"
    if kind == "tree":
        return event["column"], f"Laplace scale {event['scale']}"
    if kind in ("histogram", "partition selection"):
        counted = (
            event["column"] if event["of"] == "values" else f"{event['column']} ({event['of']})"
        )
        cells = f"{event['n_cells']} cells of {counted}" if kind == "histogram" else counted
        threshold = f", threshold {event['threshold']}" if kind == "partition selection" else ""
        return cells, f"sigma {event['sigma']:.4g}{threshold}"
    return f"1 of {event['n_candidates']} by {event['score']}", f"epsilon {event['epsilon']:.4g}"


def columns_in_words(columns: Iterable[str]) -> str:
    """The columns of a marginal; of one without columns that it counts the records."""
    return " x ".join(columns) or "(number of records)"
