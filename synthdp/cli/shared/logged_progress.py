"""How far a command is, from the log that it writes with ``--log-format json -vv``."""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, final

_STEP = re.compile(r"(?P<stage>[a-z][a-z -]*)(?:: (?P<done>\d+) of (?P<most>\d+))?")
_CHARGE = re.compile(r"charged (?P<what>.*); (?P<share>[\d.e-]+) % of the budget is spent")
_KEPT = "answer kept before: "


@final
@dataclass(kw_only=True)
class Progress:
    """What a log says so far: public facts only, as all of the log is."""

    stage: str = ""
    done: int = 0
    most: int = 0
    share_spent: float = 0.0
    charges: list[str]
    error: str = ""
    code: str = ""
    """Why it ended, and the short code of that."""
    exit_code: int = 0


def logged_progress(log: str, *, tick: float | None = None) -> Progress:
    """What a log says; of a command that is running, as it was at the last tick.

    Parameters
    ----------
    log
        The text of the log; a last line that was cut off is left out.
    tick
        Seconds between two states that are shown, from the first line on: the moment of each line
        would tell how long a step took, and so how long the table is. None: all of it.

    >>> logged_progress(
    ...     '{"time": "2025-01-01T00:00:00+00:00", "level": "info", "message": "writing"}'
    ... )
    Progress(stage='writing', done=0, most=0, share_spent=0.0, charges=[], error='', code='', exit_code=0)
    """
    progress = Progress(charges=[])
    for line in _until_tick(_lines(log), tick):
        message = str(line["message"])
        if line["level"] == "error":
            progress.error, progress.code = message, str(line.get("code", ""))
            progress.exit_code = int(line.get("exit_code", 1))
        elif charge := _CHARGE.fullmatch(message):
            progress.charges.append(charge["what"])
            progress.share_spent = float(charge["share"])
        elif message.startswith(_KEPT):
            progress.charges.append(message.removeprefix(_KEPT))
        elif step := _STEP.fullmatch(message):
            progress.stage = step["stage"]
            progress.done, progress.most = int(step["done"] or 0), int(step["most"] or 0)
    return progress


def _lines(log: str) -> Iterable[Mapping[str, Any]]:
    for text in log.splitlines():
        with suppress(ValueError):  # of a command that was killed the last line is cut off
            line = json.loads(text)
            if isinstance(line, Mapping) and {"time", "level", "message"} <= line.keys():
                yield line


def _until_tick(
    lines: Iterable[Mapping[str, Any]], tick: float | None
) -> Iterable[Mapping[str, Any]]:
    last = None
    for line in lines:
        moment = datetime.fromisoformat(line["time"])
        if last is None and tick is not None:
            ticks = int((datetime.now(UTC) - moment).total_seconds() // tick)
            last = moment + timedelta(seconds=ticks * tick)
        if last is not None and moment > last:
            return
        yield line
