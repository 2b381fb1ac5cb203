"""What a linked synthesis is made of, in one file: those of its views beside each other; see
docs/release-file.md.
"""

import json
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

from synthdp.core.strict_json import parse_json
from synthdp.core.version import __version__
from synthdp.linked.package.package import Package
from synthdp.linked.package.view import views_of
from synthdp.linked.stated_weights import heaviest_rows
from synthdp.release.loading import restored
from synthdp.release.saving import archive
from synthdp.release.saving.kinds import LINKED_MANIFEST
from synthdp.release.saving.members import Folder, Members, write_members
from synthdp.release.saving.stated import checked_certificate
from synthdp.release.synthesis import Synthesis

FORMAT = "synthdp-linked-synthesis/2"
"""Stands in every file; another number is another format."""

_MAX_MANIFEST = 2**24
"""Bytes of the package and the certificate that are read."""


def write(
    content: Mapping[str, Any],
    parts: Mapping[str, Synthesis],
    certificate: Mapping[str, Any],
    path: str | PathLike[str],
    *,
    force: bool,
) -> None:
    """Write the pieces of a linked synthesis; raises `DataFileError` if the file exists or cannot
    be written.
    """
    write_members(path, _members_of(content, parts, certificate), force=force)


def _members_of(
    content: Mapping[str, Any], parts: Mapping[str, Synthesis], certificate: Mapping[str, Any]
) -> Iterator[tuple[str, bytes]]:
    manifest = {
        "format": FORMAT,
        "software": f"synthdp {__version__}",
        "certificate": dict(certificate),
        "package": dict(content),
        "views": list(parts),
    }
    yield LINKED_MANIFEST, json.dumps(manifest, indent=1).encode()
    for number, part in enumerate(parts.values()):
        for name, member in archive.members_of(part.pieces):
            yield f"{number}/{name}", member


def read(
    path: str | PathLike[str], *, max_bytes: int | None = None
) -> tuple[Package, dict[str, Synthesis], dict[str, Any]]:
    """Package, releases of views and certificate that `write` wrote; nothing in the file is
    trusted.

    Raises
    ------
    DataFileError
        If the file cannot be read, is not such a file or of a newer format, or is larger than it
        may be.
    """
    with archive.opened_members(path, max_bytes) as (members, size):
        return _read(members, size, max_bytes)


def _read(
    members: Members, size: int, max_bytes: int | None
) -> tuple[Package, dict[str, Synthesis], dict[str, Any]]:
    manifest = parse_json(
        members.read(LINKED_MANIFEST, most=_MAX_MANIFEST).decode(), LINKED_MANIFEST
    )
    archive.version_in(manifest["format"], last=FORMAT)
    members.check_sums()
    package = Package.from_dict(manifest["package"])
    parts = dict[str, Synthesis]()
    views = views_of(package)
    for number, name in enumerate(manifest["views"]):
        parts[views[name].label] = restored(
            archive.pieces_in(Folder(members, f"{number}/"), size, max_bytes)
        )
    certificate = checked_certificate(manifest["certificate"])
    heaviest_rows(certificate)  # raises here, where it becomes one line
    return package, parts, certificate
