"""The container of a release file: named members in a zip, written as the same bytes, read from
anybody unharmed.
"""

import zipfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from math import inf
from os import PathLike, fstat
from pathlib import Path
from typing import final

from synthdp.core.errors import DataFileError
from synthdp.core.files.writing import write_atomically

SUMS = "SHA256SUMS"
"""The member with the checksums of all others, as `sha256sum` of GNU writes and checks them."""

MAX_BYTES = 2**32
"""Files that unpack to more are not read unasked: 4 GiB."""

MAX_RATIO = 1000
"""Nor are files that unpack to more than so many times their size, and more than `ALWAYS_ALLOWED`:
no single member of a zip can, which packs 1,032 to 1 at most, but members that share their packed
bytes can.
"""

ALWAYS_ALLOWED = 2**24
"""Files that unpack to 16 MiB are read, whatever their size."""

MAX_MEMBERS = 100_000
"""A release of 1,000 measurements has 4,000."""

_BLOCK = 2**20
"""Bytes that are unpacked at a time."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip file can hold: the same synthesis gives the same file, whenever it is
saved.
"""


def write_members(
    path: str | PathLike[str], members: Iterable[tuple[str, bytes]], *, force: bool
) -> None:
    """Write members, and their checksums after them; raises `DataFileError` if that cannot be done."""
    digests: dict[str, str] = {}
    with write_atomically(path, force=force) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, content in members:
            _add(archive, name, content)
            digests[name] = sha256(content).hexdigest()
        _add(archive, SUMS, "".join(f"{line}\n" for line in _lines(digests)).encode())


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    # A fixed date: the same release gives the same file, byte by byte.
    archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, compress_type=zipfile.ZIP_DEFLATED)


def _lines(digests: Mapping[str, str]) -> list[str]:
    return [f"{digest}  {name}" for name, digest in digests.items()]


@final
class Members:
    """The members of an opened file, each unpacked as far as the file's limit goes and no further.

    Parameters
    ----------
    archive
        The zip.
    max_bytes
        Most bytes of all members together that are unpacked.

    Raises
    ------
    ValueError
        If names repeat, or there are more than `MAX_MEMBERS`.
    """

    def __init__(self, archive: zipfile.ZipFile, max_bytes: int) -> None:
        self._archive = archive
        self._left = max_bytes
        self._entries = {entry.filename: entry for entry in archive.infolist()}
        self._digests: dict[str, str] = {}
        # Two members of one name would let one reader see what another does not.
        if len(self._entries) < len(archive.infolist()) or len(self._entries) > MAX_MEMBERS:
            raise ValueError("too many members, or two of one name")

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order of the file."""
        return tuple(self._entries)

    @property
    def digests(self) -> Mapping[str, str]:
        """The SHA-256 of each member that was read."""
        return self._digests

    def read(self, name: str, *, most: float = inf) -> bytearray:
        """Unpack one member of at most so many bytes, whatever its header claims.

        Raises
        ------
        DataFileError
            If it is larger.
        KeyError, ValueError
            If there is none, or it is packed in a way that is not used here.
        """
        content = bytearray()
        for block in self._blocks(name, min(most, self._left)):
            content += block
        return content

    def _blocks(self, name: str, most: float) -> Iterator[bytes]:
        """A member piece by piece, which is counted and summed meanwhile."""
        entry = self._entries[name]
        digest = sha256()
        size = 0
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError("members are stored or deflated")
        with self._archive.open(entry) as stream:
            while block := stream.read(_BLOCK):
                size += len(block)
                # Counted while it is unpacked: what a header says of the size may be a lie.
                if size > most:
                    way_out = "if you trust it, load it in Python with a larger max_bytes"
                    raise DataFileError(
                        f"unpacked it is larger than a file of its size should be; {way_out}"
                    )
                digest.update(block)
                yield block
        self._left -= size
        self._digests[name] = digest.hexdigest()

    def check_sums(self) -> None:
        """Raise `ValueError` unless the checksums list each of the other members as it is; unpacks
        all of them.
        """
        for name in self._entries.keys() - self._digests.keys() - {SUMS}:
            deque(self._blocks(name, self._left), maxlen=0)
        stated = self.read(SUMS).decode().splitlines()
        digests = {name: digest for name, digest in self._digests.items() if name != SUMS}
        if sorted(stated) != sorted(_lines(digests)):
            raise ValueError("checksums differ")


@final
class Folder:
    """The members below one name of a file whose checksums hold, as members of their own.

    Parameters
    ----------
    members
        All members of the file.
    prefix
        What the names begin with.
    """

    def __init__(self, members: Members, prefix: str) -> None:
        self._members, self._prefix = members, prefix

    @property
    def names(self) -> tuple[str, ...]:
        """All names, without what they begin with."""
        return tuple(
            n.removeprefix(self._prefix) for n in self._members.names if n.startswith(self._prefix)
        )

    @property
    def digests(self) -> Mapping[str, str]:
        """The SHA-256 of each member that was read."""
        every = self._members.digests.items()
        return {
            n.removeprefix(self._prefix): digest
            for n, digest in every
            if n.startswith(self._prefix)
        }

    def read(self, name: str, *, most: float = inf) -> bytearray:
        """As `Members.read`."""
        return self._members.read(self._prefix + name, most=most)

    def check_sums(self) -> None:
        """Do nothing: those of the whole file were checked."""


def allowed_bytes(size: int, max_bytes: int | None) -> int:
    """How many bytes a file of so many may unpack to, if nobody says otherwise.

    >>> [allowed_bytes(size, None) for size in (10_000, 10**6, 10**9)]
    [16777216, 1000000000, 4294967296]
    """
    return min(max(ALWAYS_ALLOWED, MAX_RATIO * size), MAX_BYTES) if max_bytes is None else max_bytes


@contextmanager
def open_members(
    path: str | PathLike[str], *, max_bytes: int | None
) -> Iterator[tuple[Members, int]]:
    """The members of a file, to be unpacked within its limit, and the size of the file in bytes."""
    with Path(path).open("rb") as stream, zipfile.ZipFile(stream) as archive:
        size = fstat(stream.fileno()).st_size
        yield Members(archive, allowed_bytes(size, max_bytes)), size
