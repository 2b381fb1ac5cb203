"""Files that only grow: lines of JSON, each bound to those before it by a hash, on the disk before
anything goes on.
"""

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from io import FileIO
from os import PathLike
from os.path import lexists
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn, TypeVar, final

from synthdp.core.errors import DataFileError, SchemaError
from synthdp.core.files.closing import Closing
from synthdp.core.files.writing import STANDARD_STREAM, flush_directory, reason, write_atomically
from synthdp.core.strict_json import MAX_MEMORY, memory_of, parse_json
from synthdp.release.persistence.locks import close_locked, open_locked

Result = TypeVar("Result")

_BEFORE, _BETWEEN, _AFTER = b'{"hash":"', b'","entry":', b"}\n"
_START = len(_BEFORE) + 64 + len(_BETWEEN)
"""A line is ``{"hash":"...","entry":...}``; the hash is SHA-256 of the hash before, in hexadecimal,
and the entry.
"""

MAX_ENTRY_BYTES = 1 << 25
"""Entries are no longer than that, unless whoever reads one knows better."""

_OURS = "give a file that synthdp wrote"

_CHUNK = 1 << 20
"""Lines are verified in pieces of this size: however long one is, memory stays small."""


@final
class ChainedFile(Closing):
    """An open file of entries, held by this object alone until it is closed.

    Every line is verified when the file is opened. An end without a line feed is the mark of a
    process that was killed while it wrote: nobody was told that this entry is there, so it is
    dropped, unless all of it is there. Anything else that does not verify is an error.

    Parameters
    ----------
    path
        An ordinary file.
    what
        What kind of file it is, in messages.
    patience
        Seconds to wait for whoever else holds it.
    is_writable
        Whether to append to it; if not, others may read it meanwhile.

    Raises
    ------
    DataFileError
        If the file cannot be read or locked, somebody else holds it, or it does not verify.
    """

    def __init__(
        self, path: str | PathLike[str], *, what: str, patience: float, is_writable: bool = True
    ) -> None:
        self._path = Path(path)
        self._what = what
        self._starts: list[int] = []
        self._hashes: list[str] = []
        self._end = 0
        self._is_ended = True
        self._n_cut = 0
        self._stream = self._opened(is_writable, patience)
        try:
            self._check_place()
            self._verify()
            if is_writable:
                # What a killed process left at the end is taken off before anything is added, so
                # that no half line ends up in the middle.
                self._failing("written", self._settle)
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, path: str | PathLike[str], header: Mapping[str, Any], *, what: str) -> None:
        """Write a new file with its first entry, whole or not at all; raises `DataFileError` if
        that fails.
        """
        if str(path) == STANDARD_STREAM:
            raise DataFileError(
                f"{what} {str(path)!r}: it must be an ordinary file; give the name of one"
            )
        if lexists(path):
            raise DataFileError(
                f"{what} {str(path)!r}: it exists, and is never replaced; give another name"
            )
        with write_atomically(path, force=False) as stream:
            stream.write(_line("", header)[0])

    @property
    def hashes(self) -> tuple[str, ...]:
        """The hash of each line; the last one stands for the whole file."""
        return tuple(self._hashes)

    @property
    def head(self) -> str:
        """The hash of the last line."""
        return self._hashes[-1]

    @property
    def n_bytes(self) -> int:
        """Its length, without an end that was cut short."""
        return self._end

    def __len__(self) -> int:
        return len(self._starts)

    def length(self, number: int) -> int:
        """Bytes of a line."""
        start, stop = (*self._starts, self._end)[number : number + 2]
        return stop - start

    @property
    def cut(self) -> str:
        """Where the file ends within a line, in words; empty if its last line is whole.

        A process that was killed while it wrote leaves such an end, and so does whoever cuts a
        file. Nobody was told that an entry is there before all of its line was on the disk.
        """
        if self._n_cut:
            return f"line {len(self) + 1} is cut short, after {self._n_cut} bytes"
        if self._is_ended:
            return ""
        return f"line {len(self)} is there, but not the line feed that ends it"

    def entry(self, number: int, *, most_bytes: int = MAX_ENTRY_BYTES) -> dict[str, Any]:
        """One entry, read anew; raises `DataFileError` if it is no JSON object, or its line is
        longer than that.
        """
        text = self._text(number, most_bytes)
        return self._parsed(text, number, MAX_MEMORY + 2 * len(text))  # numbers are one long text

    def entries(self) -> Iterator[dict[str, Any]]:
        """All entries, oldest first; raises as `entry`, and if all together take more memory than
        one text may.
        """
        # One limit for all lines together: each may be short, and a file have many.
        left = MAX_MEMORY
        for number in range(len(self)):
            text = self._text(number, MAX_ENTRY_BYTES)
            if (left := left - memory_of(text)) < 0:
                self.refuse(
                    f"its first {number + 1} lines hold more than is read from one file; {_OURS}"
                )
            yield self._parsed(text, number, MAX_MEMORY)

    def _text(self, number: int, most_bytes: int) -> str:
        """The JSON of an entry."""
        length = self.length(number)
        if length > most_bytes:
            self.refuse(
                f"line {number + 1} has {length} bytes where at most {most_bytes} are expected; {_OURS}"
            )
        line = self._failing("read", lambda: self._bytes(self._starts[number], length))
        try:
            return line[_START:].rstrip(b"\n")[:-1].decode("ascii")
        except UnicodeDecodeError:
            self._refuse_entry(number)

    def _parsed(self, text: str, number: int, most_memory: int) -> dict[str, Any]:
        try:
            entry = parse_json(text, f"{self._named}: line {number + 1}", most_memory=most_memory)
        except SchemaError:
            entry = None
        if not isinstance(entry, dict):
            self._refuse_entry(number)
        return entry

    def _refuse_entry(self, number: int) -> NoReturn:
        self.refuse(f"line {number + 1} is no {self._what} entry; {_OURS}")

    def append(self, entry: Mapping[str, Any]) -> None:
        """Write an entry; when this returns it is on the disk, and if it raises the file is as it
        was.

        Raises `DataFileError` if it cannot be written; the file is closed then.
        """
        line, digest = _line(self.head, entry)
        self._failing("written", lambda: self._write(line if self._is_ended else b"\n" + line))
        # Only after the write: if it fails, what is remembered of the file is still what is in it.
        self._starts.append(self._end + (not self._is_ended))
        self._end = self._end + (not self._is_ended) + len(line)
        self._is_ended = True
        self._hashes.append(digest)

    def move(self, path: str | PathLike[str]) -> None:
        """Give the file another name, in place of what has it, while nobody else can hold it; it is
        closed then.

        Raises `OSError` if that is not possible.
        """
        self._check_place()
        # The name that is moved must still be this file's: somebody may have put another file there
        # meanwhile.
        if os.name == "nt":  # there nobody may rename a file that is open
            self.close()
        try:
            self._path.replace(path)
            flush_directory(Path(path).resolve().parent)
        finally:
            self.close()

    def refuse(self, problem: str) -> NoReturn:
        """Raise `DataFileError` with the name of the file."""
        raise DataFileError(f"{self._named}: {problem}")

    def close(self) -> None:
        """Let others have the file."""
        # The lock goes with the stream.
        if not self._stream.closed:
            close_locked(self._stream)

    @property
    def _named(self) -> str:
        return f"{self._what} {str(self._path)!r}"

    def _opened(self, is_writable: bool, patience: float) -> FileIO:
        if not stat.S_ISREG(self._failing("opened", self._path.stat).st_mode):
            self.refuse("it is not an ordinary file; give the name of one")
        mode = "r+b" if is_writable else "rb"
        stream = self._failing(
            "opened",
            lambda: open_locked(self._path, mode, is_shared=not is_writable, patience=patience),
        )
        if stream is None:
            self.refuse("another run holds it; wait until that has ended")
        return stream

    def _failing(self, done: str, work: Callable[[], Result]) -> Result:
        """Do something with the file; a failure is said in one line."""
        try:
            return work()
        except (OSError, ValueError) as error:
            self.refuse(
                f"it cannot be {done}: {reason(error)}; check the path, the disk and your rights"
            )

    def _check_place(self) -> None:
        """Refuse to go on with a file that was removed or replaced since it was opened."""
        if not self._failing(
            "found", lambda: os.path.samestat(self._path.stat(), os.fstat(self._stream.fileno()))
        ):
            self.refuse("it was replaced meanwhile; put it back")

    def _verify(self) -> None:
        with open(self._stream.fileno(), "rb", closefd=False) as stream:
            stream.seek(0)
            while (
                line := self._failing("read", lambda: _next_line(stream, self._previous))
            ) is not None:
                # A whole line with another hash was changed; only an end without its line feed can
                # be a write that was cut short.
                if line.digest is None and line.is_ended:
                    self.refuse(
                        f"line {len(self) + 1} was changed or is damaged; restore the file from a copy"
                    )
                if line.digest is None:  # a write that was cut short
                    self._n_cut = line.length
                    break
                self._starts.append(self._end)
                self._hashes.append(line.digest)
                self._end = self._end + line.length
                self._is_ended = line.is_ended
        if not self._starts:
            self.refuse(f"it is no {self._what} that synthdp wrote; give another name")

    def _settle(self) -> None:
        """Remove what was cut short, and have on the disk what a process may have been killed over:
        it counts now.
        """
        os.ftruncate(self._stream.fileno(), self._end)
        os.fsync(self._stream.fileno())
        self._n_cut = 0

    @property
    def _previous(self) -> str:
        return self._hashes[-1] if self._hashes else ""

    def _bytes(self, start: int, length: int) -> bytes:
        self._stream.seek(start)
        content = bytearray()
        while len(content) < length and (piece := self._stream.read(length - len(content))):
            content += piece
        return bytes(content)

    def _write(self, content: bytes) -> None:
        """Write at the end of what verifies, or leave nothing behind."""
        self._check_place()
        descriptor = self._stream.fileno()
        done = 0
        try:
            self._stream.seek(self._end)
            while done < len(content):
                done += self._stream.write(content[done:])
            os.fsync(descriptor)
        except BaseException:
            with suppress(OSError):
                # All or nothing: an entry that failed is not there.
                os.ftruncate(descriptor, self._end)
                os.fsync(descriptor)
            self.close()
            raise


def _line(previous: str, entry: Mapping[str, Any]) -> tuple[bytes, str]:
    """A line with its hash, and that hash."""
    # One spelling for one entry, as the hash is of the bytes.
    raw = json.dumps(entry, separators=(",", ":"), allow_nan=False).encode()
    digest = sha256(previous.encode() + raw).hexdigest()
    return _BEFORE + digest.encode() + _BETWEEN + raw + _AFTER, digest


class _Line(NamedTuple):
    """Length in bytes, whether a line feed ends it, and its hash; None if that is not the one it
    should be.
    """

    length: int
    is_ended: bool
    digest: str | None


def _next_line(stream: BinaryIO, previous: str) -> _Line | None:
    """Verify the next line; None at the end of the file."""
    piece = stream.readline(_CHUNK)
    if not piece:
        return None
    start = piece[:_START]
    rest = piece[_START:]
    length = len(piece)
    hashed = sha256(previous.encode())
    while not piece.endswith(b"\n") and (more := stream.readline(_CHUNK)):
        hashed.update(rest[:-2])  # the last two bytes may be the end of the line
        piece = more
        rest = rest[-2:] + more
        length = length + len(more)
    is_ended = piece.endswith(b"\n")
    for body in (rest.removesuffix(b"\n"),) if is_ended else (rest, rest[:-1]):
        whole = hashed.copy()
        whole.update(body[:-1])
        if body.endswith(b"}") and start == _BEFORE + whole.hexdigest().encode() + _BETWEEN:
            # Complete but for a last byte that is not the line feed: no kill does that.
            if body == rest.rstrip(b"\n"):
                return _Line(length, is_ended, whole.hexdigest())
            return _Line(length, True, None)
    return _Line(length, is_ended, None)
