"""Opening files for one holder at a time, among processes, threads, and machines that share a file
system.
"""

import errno
import os
import sys
from io import FileIO
from pathlib import Path
from threading import Lock
from time import monotonic, sleep

_PAUSE = 0.002
"""Seconds between two attempts: a charge takes a few thousandths of one."""

_HELD: set[tuple[int, int]] = set()
"""Files that this process has open: a POSIX lock does not tell its threads apart, and ends when any
of them closes the file. So nobody here opens a file that is held.
"""
_GUARD = Lock()


def open_locked(path: Path, mode: str, *, is_shared: bool, patience: float) -> FileIO | None:
    """Open a file and lock it, waiting for at most ``patience`` seconds; None if somebody else
    holds it.

    Raises `OSError` if that is not possible, or the file system has no locks.
    """
    deadline = monotonic() + patience
    while (stream := _attempt(path, mode, is_shared)) is None and monotonic() < deadline:
        sleep(_PAUSE)
    return stream


def close_locked(stream: FileIO) -> None:
    """Unlock and close what `open_locked` opened."""
    place = _place(os.fstat(stream.fileno()))
    try:
        _unlock(stream.fileno())
    except OSError:  # a file system that forgot the lock; closing ends it in any case
        pass
    finally:
        stream.close()
        with _GUARD:
            _HELD.discard(place)


def _attempt(path: Path, mode: str, is_shared: bool) -> FileIO | None:
    place = _place(path.stat())
    with _GUARD:
        if place in _HELD:
            return None
        _HELD.add(place)
    stream, is_held = None, False
    try:
        stream = FileIO(path, mode)
        # Between asking for the path and opening it another file may have taken its name.
        is_held = place == _place(os.fstat(stream.fileno())) and _lock(stream.fileno(), is_shared)
        return stream if is_held else None
    finally:
        if not is_held:
            if stream is not None:
                stream.close()
            with _GUARD:
                _HELD.discard(place)


def _place(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _lock(descriptor: int, is_shared: bool) -> bool:
    try:
        _ask_for_lock(descriptor, is_shared)
    except OSError as error:
        # What systems say of a lock that is taken.
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise
    return True


if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30
    """Windows locks bytes, and nobody else can read them: this one lies beyond the end."""

    def _ask_for_lock(descriptor: int, is_shared: bool) -> None:  # noqa: ARG001 (Windows locks for one only)
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _ask_for_lock(descriptor: int, is_shared: bool) -> None:
        fcntl.lockf(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_UN)
