"""Writing files: whole or not at all, and never over another file unasked."""

import errno
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO, NoReturn

from synthdp.core.errors import DataFileError

STANDARD_STREAM = "-"
"""In place of a path: standard input or output, as CSV."""


def reason(error: Exception) -> str:
    """Why the operating system refused, without paths and numbers."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "the path is not valid" if isinstance(error, ValueError) else "the device refused"


def _refuse(path: str | PathLike[str], problem: str) -> NoReturn:
    raise DataFileError(f"{str(path)!r}: {problem}")


def _refuse_existing(path: str | PathLike[str]) -> NoReturn:
    _refuse(path, "it exists; pass --force (in Python force=True) to replace it")


def check_writable(path: str | PathLike[str], *, force: bool) -> None:
    """Raise `DataFileError` if writing would fail, as far as that can be known beforehand.

    For use before any privacy budget is spent. ``-`` is standard output.
    """
    if str(path) == STANDARD_STREAM:
        return
    target = Path(path)
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        mode = None
    except (OSError, ValueError) as error:
        _refuse(path, f"it cannot be written: {reason(error)}; choose another path")
    if mode is not None and stat.S_ISDIR(mode):
        _refuse(path, "it is a directory; give the name of a file in it")
    if mode is not None and not stat.S_ISREG(mode):
        _refuse(
            path,
            f"it is not an ordinary file; choose another path, or {STANDARD_STREAM} for standard output",
        )
    if mode is not None and not force:
        _refuse_existing(path)
    # A link is followed, so that the file that it points to is replaced and not the link. Rights
    # are asked of that folder: a rename needs them there, and none on the old file.
    folder = target.resolve().parent
    if not folder.is_dir():
        _refuse(path, "its directory does not exist; create it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        _refuse(path, "its directory is not writable; choose another one")


@contextmanager
def write_atomically(path: str | PathLike[str], *, force: bool) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when it is complete.

    If anything is raised meanwhile, nothing is left behind and the old file stays as it was.
    ``-`` writes to standard output.

    Parameters
    ----------
    path
        The file to write.
    force
        Replace an existing file; otherwise none is ever replaced, not even one that
        appears meanwhile.

    Raises
    ------
    DataFileError
        If the file exists and ``force`` is not set, or cannot be written.
    """
    check_writable(path, force=force)
    try:
        if str(path) == STANDARD_STREAM:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
            return
        target = Path(path).resolve()
        # In the same folder, since a rename is atomic inside of one file system only; with a name
        # that nobody can guess, and mode x, so that nothing that lies there already is written
        # into.
        hidden = target.with_name(f".synthdp-{secrets.token_hex(16)}.tmp")
        try:
            with hidden.open("xb") as stream:
                yield stream
                stream.flush()
                # The content has to be on the disk before its name is: after a power cut there is
                # the old file or the new one, and no empty one.
                os.fsync(stream.fileno())
            _move(hidden, target, force=force)
        finally:
            hidden.unlink(missing_ok=True)
        flush_directory(target.parent)
    except FileExistsError:
        _refuse_existing(path)
    except OSError as error:
        _refuse(path, f"it cannot be written: {reason(error)}; make room or choose another path")


def written(make: Callable[[], str], path: str | PathLike[str] | None, *, force: bool) -> str:
    """A text, in a file as well if one is named; what forbids writing is found before the text is
    made.

    Raises `DataFileError` as `write_atomically` does.
    """
    if path is None:
        return make()
    check_writable(path, force=force)
    # Made only now: a page may take minutes, and a path that cannot be written is known before.
    text = make()
    with write_atomically(path, force=force) as stream:
        stream.write(text.encode(errors="replace"))
    return text


def _move(hidden: Path, target: Path, *, force: bool) -> None:
    """Give a complete file its name; without ``force`` raise `FileExistsError` rather than replace
    one.
    """
    if not force:
        try:
            os.link(hidden, target)
        except OSError as error:
            if error.errno not in (
                errno.EPERM,
                errno.ENOTSUP,
                errno.EOPNOTSUPP,
                errno.ENOSYS,
                errno.EMLINK,
            ):
                raise
            # a file system without hard links: claim the name first, then replace our own claim
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        else:
            return
    hidden.replace(target)


def flush_directory(folder: Path) -> None:
    """Have names that were given in a folder on the disk, where the system can."""
    with suppress(OSError):  # not every system can; the file itself is on the disk already
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
