"""Commands of synthdp that another program starts: processes of their own, which hold the records,
while that program never opens them.

What it knows of a command is what the command wrote: its log, which holds public facts only, and
its result. A command outlives who started it, and is found again by a lock that it inherits.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any, final

from synthdp.cli.shared.logged_progress import Progress, logged_progress
from synthdp.core.errors import DataFileError, SynthdpError
from synthdp.core.files.json_files import load_json, write_json
from synthdp.core.files.writing import reason

COMMAND, LOG, RESULT, LOCK = "command.json", "log.jsonl", "result.json", "lock"
"""The files of a command, in its folder."""

TICK = 2.0
"""Seconds between two states of a running command that are shown."""

NEW, RUNNING, PAUSED, FAILED, DONE = "new", "running", "paused", "failed", "done"
"""What a command is."""

_FURTHER = ("--force", "--log-format", "json", "-vv")
"""Options that each command gets besides: to write over what it wrote, and a log that can be read.
"""

_STOPPED = (0, 130, 143)
"""Exit codes of a command that was asked to stop, or killed before it could write one."""


@final
class Job:
    """A command that runs, or ran, and can be gone on with if it has a journal.

    Parameters
    ----------
    folder
        Keeps its log, and its result once it has ended.
    place
        The folder in which it runs.
    """

    def __init__(self, folder: Path, place: Path) -> None:
        self.folder = folder
        self._place = place
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        """What its folder is called."""
        return self.folder.name

    @property
    def arguments(self) -> list[str]:
        """The words of the command, without its log."""
        return [str(each) for each in self._command.get("arguments", ())]

    @property
    def state(self) -> str:
        """One of `NEW`, `RUNNING`, `PAUSED`, `FAILED`, `DONE`."""
        if not self._command:
            return NEW
        if self._is_running():
            return RUNNING
        if self.result is not None:
            return DONE
        return PAUSED if self.progress.exit_code in _STOPPED else FAILED

    @property
    def result(self) -> Mapping[str, Any] | None:
        """What it printed when it was done; None before."""
        with suppress(SynthdpError):
            content = load_json(self.folder / RESULT, "result")
            return content if isinstance(content, Mapping) else None
        return None

    @property
    def progress(self) -> Progress:
        """What its log says, as it was at the last tick."""
        tick = TICK if self._is_running() else None
        log = ""
        with suppress(OSError):
            log = (self.folder / LOG).read_text(encoding="utf-8")
        return logged_progress(log, tick=tick)

    def start(self, arguments: Sequence[str]) -> None:
        """Start the command, or go on with it where it stopped; a journal sees to what was paid.

        Raises `DataFileError` if its folder cannot be written.
        """
        if self.state in (RUNNING, DONE):
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with ExitStack() as stack:
                lock, log, result = (
                    stack.enter_context((self.folder / name).open("ab"))
                    for name in (LOCK, LOG, RESULT)
                )
                if not _locked(lock):
                    return  # another program was faster
                log.truncate(0)
                result.truncate(0)
                self._keep(arguments)
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "synthdp", *arguments, *_FURTHER],
                    cwd=self._place,
                    stdin=subprocess.DEVNULL,
                    stdout=result,
                    stderr=log,
                    pass_fds=(lock.fileno(),) if os.name == "posix" else (),
                    start_new_session=True,  # Ctrl-C in a terminal is not meant for it
                )
                self._keep(arguments, process=self._process.pid)
        except OSError as error:
            problem = f"{str(self.folder)!r}: it cannot be written: {reason(error)}"
            raise DataFileError(f"{problem}; make room or choose another folder") from None

    def _keep(self, arguments: Sequence[str], **more: int) -> None:
        write_json(self.folder / COMMAND, {"arguments": [*arguments], **more}, force=True)

    def stop(self) -> None:
        """Ask it to stop in order, as Ctrl-C does; its journal keeps what was paid for."""
        number = self._command.get("process")
        if not self._is_running() or not isinstance(number, int):
            return
        with suppress(OSError):
            os.kill(number, signal.SIGINT if os.name == "posix" else signal.SIGTERM)
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(15)

    @property
    def _command(self) -> Mapping[str, Any]:
        path = self.folder / COMMAND
        content = load_json(path, "command") if path.exists() else {}
        return content if isinstance(content, Mapping) else {}

    def _is_running(self) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        # It was started by a program that is gone: while it goes on, it holds its lock.
        with suppress(OSError), (self.folder / LOCK).open("rb") as lock:
            return not _locked(lock)
        return False


def _locked(file: IO[Any]) -> bool:
    """Whether nobody else holds a file, which is locked now; a process that it is handed to keeps
    it.
    """
    if sys.platform == "win32":
        # It hands no lock on; there that on the journal keeps a run from starting twice.
        return True
    import fcntl

    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
