"""Commands of synthdp that the studio starts: processes of their own, which hold the records, while
this one never opens them.

What a page shows of a command is what the command wrote: its log, which holds public facts only,
and its result. A command outlives the studio, and is found again by a lock that it inherits.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, final

from synthdp.core.errors import DataFileError
from synthdp.core.files.json_files import load_json, write_json
from synthdp.core.files.writing import reason

COMMAND, LOG, RESULT, LOCK = "command.json", "log.jsonl", "result.json", "lock"
"""The files of a command, in its folder."""

TICK = 2.0
"""Seconds between two states of a log that pages show: the moment of each line would tell how long
a step took, and so how long the table is.
"""

NEW, RUNNING, PAUSED, FAILED, DONE = "new", "running", "paused", "failed", "done"
"""What a command is."""

_STOPPED = (130, 143)
"""Exit codes of a command that was asked to stop."""

_STEP = re.compile(r"(?P<stage>[a-z][a-z -]*)(?:: (?P<done>\d+) of (?P<most>\d+))?")
_CHARGE = re.compile(r"(?P<what>.*); (?P<share>[\d.e-]+) % of the budget is spent")
_KEPT = "answer kept before: "


@final
@dataclass(frozen=True, kw_only=True)
class Progress:
    """What the log of a command says so far."""

    stage: str = ""
    done: int = 0
    most: int = 0
    share_spent: float = 0.0
    charges: tuple[str, ...] = ()
    error: str = ""
    exit_code: int = 0


@final
class Job:
    """A command that runs in a folder of the project, or ran there.

    Parameters
    ----------
    folder
        Where its log and result are kept.
    project
        The folder of the project, where it runs.
    """

    def __init__(self, folder: Path, project: Path) -> None:
        self.folder = folder
        self._project = project
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def arguments(self) -> list[str]:
        """The words of the command, without its log."""
        path = self.folder / COMMAND
        content = load_json(path, "command") if path.exists() else {}
        return [str(each) for each in content.get("arguments", ())]

    @property
    def state(self) -> str:
        """One of `NEW`, `RUNNING`, `PAUSED`, `FAILED`, `DONE`."""
        if not (self.folder / COMMAND).exists():
            return NEW
        if self._is_running():
            return RUNNING
        if self.result is not None:
            return DONE
        code = self._read(None).exit_code
        # A command that was killed wrote no last line: it can be gone on with, too.
        return PAUSED if code in (0, *_STOPPED) else FAILED

    @property
    def result(self) -> Mapping[str, Any] | None:
        """What it printed when it was done; None before."""
        try:
            content = json.loads((self.folder / RESULT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return content if isinstance(content, Mapping) else None

    @property
    def progress(self) -> Progress:
        """What its log says, as it was at the last tick."""
        return self._read(TICK if self._is_running() else None)

    def start(self, arguments: Sequence[str], *, force: bool = False) -> None:
        """Start the command, or go on with it where it stopped; a journal sees to what was paid.

        Raises `DataFileError` if its folder cannot be written.
        """
        if self.state in (RUNNING, DONE):
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(self.folder / COMMAND, {"arguments": [*arguments]}, force=True)
            further = ["--log-format", "json", "-vv", *(["--force"] if force else [])]
            words = [sys.executable, "-m", "synthdp", *arguments, *further]
            with ExitStack() as stack:
                lock = stack.enter_context((self.folder / LOCK).open("ab"))
                if not _locked(lock):
                    return  # another studio was faster
                log = stack.enter_context((self.folder / LOG).open("wb"))
                result = stack.enter_context((self.folder / RESULT).open("wb"))
                self._process = subprocess.Popen(
                    words,
                    cwd=self._project,
                    stdin=subprocess.DEVNULL,
                    stdout=result,
                    stderr=log,
                    pass_fds=(lock.fileno(),) if os.name == "posix" else (),
                    start_new_session=True,  # Ctrl-C in the studio's terminal is not meant for it
                )
            content = {"arguments": [*arguments], "process": self._process.pid}
            write_json(self.folder / COMMAND, content, force=True)
        except OSError as error:
            problem = f"{str(self.folder)!r}: it cannot be written: {reason(error)}"
            raise DataFileError(f"{problem}; make room or choose another folder") from None

    def stop(self) -> None:
        """Ask it to stop in order, as Ctrl-C does; its journal keeps what was paid for."""
        if not self._is_running():
            return
        number = load_json(self.folder / COMMAND, "command").get("process")
        if self._process is not None:
            number = self._process.pid
        with suppress(OSError):
            if isinstance(number, int):
                os.kill(number, signal.SIGINT if os.name == "posix" else signal.SIGTERM)
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(15)

    def wait(self) -> None:
        """Wait for its end."""
        if self._process is not None:
            self._process.wait()

    def _is_running(self) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        # It was started by another studio, or by one that is gone: while it goes on, it holds its lock.
        with suppress(OSError), (self.folder / LOCK).open("rb") as lock:
            return not _locked(lock)
        return False

    def _read(self, tick: float | None) -> Progress:
        """What the log says; of a command that is running, only up to the last tick."""
        stage, done, most, share = "", 0, 0, 0.0
        charges = list[str]()
        error, code = "", 0
        last = None
        for line in self._lines():
            moment = datetime.fromisoformat(line["time"])
            if last is None and tick is not None:
                ticks = int((datetime.now(UTC) - moment).total_seconds() // tick)
                last = moment + timedelta(seconds=ticks * tick)
            if last is not None and moment > last:
                break
            message = str(line["message"])
            if line["level"] == "error":
                error, code = message, int(line.get("exit_code", 1))
            elif charge := _CHARGE.fullmatch(message):
                charges.append(charge["what"].removeprefix("charged "))
                share = float(charge["share"])
            elif message.startswith(_KEPT):
                charges.append(message.removeprefix(_KEPT))
            elif step := _STEP.fullmatch(message):
                stage = step["stage"]
                done, most = int(step["done"] or 0), int(step["most"] or 0)
        return Progress(
            stage=stage,
            done=done,
            most=most,
            share_spent=share,
            charges=tuple(charges),
            error=error,
            exit_code=code,
        )

    def _lines(self) -> list[Mapping[str, Any]]:
        found = list[Mapping[str, Any]]()
        with suppress(OSError):
            for text in (self.folder / LOG).read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):  # of a command that was killed the last line is cut off
                    line = json.loads(text)
                    if isinstance(line, Mapping) and {"time", "level", "message"} <= line.keys():
                        found.append(line)
        return found


if sys.platform == "win32":

    def _locked(_: BinaryIO) -> bool:
        """Windows hands no lock on: there the lock on the journal alone keeps a run from starting twice."""
        return True

else:
    import fcntl

    def _locked(file: BinaryIO) -> bool:
        """Whether nobody else holds a file, which is locked now; a process that it is handed to keeps it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
