"""Making runs fail at a chosen step."""

import errno
import os
from pathlib import Path

from helpers.cli_runs import CANARY

from synthdp.linked import LinkedRelease


def failing(function, failure, *, after=0, on=None):
    """The function, but the call after ``after`` calls (or on arguments that ``on`` accepts)
    raises.
    """
    calls = []

    def wrapped(*arguments, **options):
        if on is None or on(*arguments):
            calls.append(1)
            if len(calls) == after + 1:
                raise failure
        return function(*arguments, **options)

    return wrapped


def fail_once_learnt(monkeypatch):
    """Make runs over packages fail as soon as all that is open was learnt."""
    made = LinkedRelease._release

    def failing(run, label, known=()):
        if not run._views.package.is_open:
            raise MemoryError
        return made(run, label, known)

    monkeypatch.setattr(LinkedRelease, "_release", failing)


def full(monkeypatch, is_full):
    """Make the disk full for the files whose place ``is_full`` accepts."""
    fsync = os.fsync

    def refuse(descriptor):
        if is_full(Path(f"/proc/self/fd/{descriptor}").readlink()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), CANARY)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", refuse)
