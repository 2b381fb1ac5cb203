"""What a synthesis is made of, in one file: a zip of JSON and plain arrays, no pickle; see
docs/release-file.md.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import inf, isfinite
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import DataFileError
from synthdp.core.files.writing import reason
from synthdp.core.measurement import Coarsening, LinearMeasurement
from synthdp.core.strict_json import parse_json
from synthdp.core.version import __version__
from synthdp.data.frames.saved_dtypes import dtypes_as_json, dtypes_from_json
from synthdp.inference.model import Model
from synthdp.inference.models.saved_models import model_from_state, model_to_state
from synthdp.release.saving.arrays import from_npy, to_npy
from synthdp.release.saving.kinds import LINKED_MANIFEST
from synthdp.release.saving.members import MAX_RATIO, Folder, Members, open_members, write_members
from synthdp.release.saving.pieces import Pieces
from synthdp.release.saving.stated import checked_certificate
from synthdp.schema.schema import Schema

FORMAT = "synthdp-synthesis/2"
"""Stands in every file; another number is another format. Version 1 had no checksums."""

_MANIFEST = "synthesis.json"

_ARRAY = re.compile(
    r"(measurement-\d+/(values|stddev|groups-\d+)|model/[a-z]+(-\d+)?)\.npy", re.ASCII
)
"""Names of arrays; what has another name is left alone."""

_MAX_MANIFEST = 2**21
"""Bytes of JSON that are read whatever the file's size is, as parsed they take 25 times as much;
and, for each byte of the file, `_MANIFEST_RATIO` more: JSON of releases packs 10 to 50 to 1.
"""
_MANIFEST_RATIO = 100

_MAX_TRIED = 2**26
"""Models whose tables take more bytes are not tried out while they are read."""
_MAX_TABLES = 2**29
"""Tables of a model may take 512 MiB, whatever the file's size is, or `MAX_RATIO` times that size:
those of 10 million cells, the most that ``auto`` fits, take 320 MB.
"""


def write(pieces: Pieces, path: str | PathLike[str], *, force: bool) -> None:
    """Write the pieces of a synthesis to one file; raises `DataFileError` if it exists or cannot be
    written.
    """
    write_members(path, members_of(pieces), force=force)


def members_of(pieces: Pieces) -> Iterator[tuple[str, bytes]]:
    """The members of a file that holds them, by name."""
    arrays: dict[str, NDArray[Any]] = {}
    n_own = len(pieces.measurements)
    both = [*pieces.measurements, *pieces.carried]
    measured = [_measurement_state(m, i, arrays) for i, m in enumerate(both)]
    for state in measured[n_own:]:
        state["is_carried"] = True
    model = None
    if pieces.model is not None:
        model, tables = model_to_state(pieces.model)
        arrays |= {f"model/{name}": table for name, table in tables.items()}
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "software": f"synthdp {__version__}",
        "certificate": dict(pieces.certificate),
        "schema": pieces.schema.to_dict(),
        "measurements": measured,
        "model": model,
        "dtypes": dtypes_as_json(pieces.dtypes),
    }
    if pieces.known:
        manifest["known"] = list(pieces.known)
    # As ASCII: a title may hold what UTF-8 cannot say.
    yield (_MANIFEST, json.dumps(manifest, indent=1).encode())
    for name, array in arrays.items():
        yield f"{name}.npy", to_npy(array)


def read(path: str | PathLike[str], *, max_bytes: int | None = None) -> Pieces:
    """The pieces of a synthesis that `write`, or an earlier version of it, wrote.

    Nothing in the file is trusted: see docs/release-file.md for what is held against what.

    Parameters
    ----------
    path
        The file.
    max_bytes
        Most bytes that the file may unpack to, and that tables of its model may take.

    Raises
    ------
    DataFileError
        If the file cannot be read, is not such a file, is of a newer format, or larger than it may
        be.
    """
    with opened_members(path, max_bytes) as (members, size):
        return pieces_in(members, size, max_bytes)


def read_schema(path: str | PathLike[str]) -> Schema:
    """The schema of a synthesis that `write`, or an earlier version of it, wrote; the rest of the
    file is left alone. Raises as `read`.
    """
    with opened_members(path, None) as (members, size):
        manifest = _manifest(members, size, None)
        version_in(manifest["format"], last=FORMAT)
        return Schema.from_dict(manifest["schema"])


@contextmanager
def opened_members(
    path: str | PathLike[str], max_bytes: int | None
) -> Iterator[tuple[Members, int]]:
    """The members of a file and its size; whatever is wrong with it becomes one line."""
    try:
        with open_members(path, max_bytes=max_bytes) as members:
            yield members
    except DataFileError as error:
        raise DataFileError(f"{str(path)!r}: {error}") from None
    except MemoryError:
        raise
    except OSError as error:
        raise DataFileError(
            f"{str(path)!r}: it cannot be read: {reason(error)}; check the path"
        ) from None
    except Exception as error:  # the readers below may raise anything
        problem = "it is no saved synthesis, or is damaged; give a file from --save, or restore it from a copy"
        raise DataFileError(f"{str(path)!r}: {problem}") from error


def _manifest(members: Members | Folder, size: int, max_bytes: int | None) -> Any:
    if LINKED_MANIFEST in members.names:
        raise DataFileError(
            "it is a release of linked tables, and this is for one table; read it by synthdp.load"
        )
    most = _MAX_MANIFEST + _MANIFEST_RATIO * size if max_bytes is None else max_bytes
    return parse_json(members.read(_MANIFEST, most=most).decode(), _MANIFEST, most_memory=inf)


def pieces_in(members: Members | Folder, size: int, max_bytes: int | None) -> Pieces:
    """The pieces of a synthesis among the members of a file of so many bytes, or of a folder in it."""
    manifest = _manifest(members, size, max_bytes)
    version = version_in(manifest["format"], last=FORMAT)
    # Only names that a model or a measurement can have; whatever else a file holds is not unpacked.
    arrays = {
        name[:-4]: from_npy(members.read(name)) for name in members.names if _ARRAY.fullmatch(name)
    }
    # The first format kept no sums.
    if version > 1:
        members.check_sums()
    origin = {
        "format": manifest["format"],
        "software": manifest.get("software"),
        "sha256": dict(members.digests),
    }
    return _restored(
        manifest,
        arrays,
        origin,
        max(_MAX_TABLES, MAX_RATIO * size) if max_bytes is None else max_bytes,
    )


def version_in(stated: object, *, last: str) -> int:
    """The version of a format; raises `DataFileError` if it is newer than the last one,
    `ValueError` if it is none.
    """
    kind, _, newest = last.partition("/")
    match = re.fullmatch(rf"{kind}/([1-9]\d{{0,5}})", stated) if isinstance(stated, str) else None
    if match is None:
        raise ValueError("no format")
    if int(match[1]) > int(newest):
        raise DataFileError(
            f"its format {stated} is newer than {last}, the last one that synthdp {__version__} reads; update synthdp"
        )
    return int(match[1])


def _restored(
    manifest: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    origin: Mapping[str, object],
    max_tables: int,
) -> Pieces:
    certificate = checked_certificate(manifest["certificate"])
    schema = Schema.from_dict(manifest["schema"])
    states = manifest["measurements"]
    measurements = [_measurement(state, i, arrays) for i, state in enumerate(states)]
    # A file may be anybody's: each part is held against the schema before anything is worked out
    # from it.
    for measurement in measurements:
        measurement.check_fits(schema.domain)
    model = None
    if manifest["model"] is not None:
        tables = {
            name.removeprefix("model/"): array
            for name, array in arrays.items()
            if name.startswith("model/")
        }
        model = model_from_state(manifest["model"], tables, schema.domain)
        _check_usable(model, max_tables)
    return Pieces(
        schema=schema,
        measurements=[
            m for m, each in zip(measurements, states, strict=True) if not _is_carried(each)
        ],
        carried=[m for m, each in zip(measurements, states, strict=True) if _is_carried(each)],
        model=model,
        certificate=certificate,
        origin=origin,
        dtypes=dtypes_from_json(manifest.get("dtypes", {})),
        known=manifest.get("known", ()),
    )


def _check_usable(model: Model, max_tables: int) -> None:
    """Refuse a model that knows no number of records, takes too much memory, or whose parts do not
    fit together.
    """
    if not isfinite(model.total):
        raise ValueError("the model has no number of records")
    # Asked before any table is made: a file of kilobytes can describe a tree of terabytes.
    if model.working_bytes > max_tables:
        way_out = "if you trust it, load it in Python with a larger max_bytes"
        raise DataFileError(
            f"tables of its model take {model.working_bytes / 1e9:.1f} GB; {way_out}"
        )
    if model.working_bytes <= _MAX_TRIED:
        # Parts that do not fit together fail here and not when rows are drawn.
        model.sample(0)


def _is_carried(state: Mapping[str, Any]) -> bool:
    """Whether an earlier release measured it; files without earlier releases do not say."""
    return state.get("is_carried", False) is True


def _measurement_state(
    measurement: LinearMeasurement, number: int, arrays: dict[str, NDArray[Any]]
) -> dict[str, Any]:
    key = f"measurement-{number}"
    merged = measurement.coarsening.groups if measurement.coarsening else {}
    arrays[f"{key}/values"] = measurement.values
    arrays[f"{key}/stddev"] = np.asarray(measurement.stddev, dtype=np.float64)
    for position, groups in enumerate(merged.values()):
        arrays[f"{key}/groups-{position}"] = groups
    return {"columns": list(measurement.clique), "merged": list(merged)}


def _measurement(
    state: Mapping[str, Any], number: int, arrays: Mapping[str, NDArray[Any]]
) -> LinearMeasurement:
    key = f"measurement-{number}"
    groups = {
        name: arrays[f"{key}/groups-{position}"] for position, name in enumerate(state["merged"])
    }
    stddev = arrays[f"{key}/stddev"]
    return LinearMeasurement(
        tuple(state["columns"]),
        arrays[f"{key}/values"],
        stddev if stddev.ndim else float(stddev),
        Coarsening(groups) if groups else None,
    )
