"""What a synthesis is made of, in one file: a zip of JSON and plain arrays, no pickle."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from synthdp.errors import DataFileError
from synthdp.inference.model import Model
from synthdp.inference.models.saved_models import model_from_state, model_to_state
from synthdp.measurement import Coarsening, LinearMeasurement
from synthdp.table.files.writing import reason, write_atomically
from synthdp.table.frames.saved_dtypes import dtypes_as_json, dtypes_from_json
from synthdp.table.schema.schema import Schema

FORMAT = "synthdp-synthesis/1"
"""Stands in every file; another number is another format."""

_MANIFEST = "synthesis.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip file can hold: the same synthesis gives the same file, whenever it is saved."""

MAX_BYTES = 2**32
"""Files that unpack to more than this are not read: a few kilobytes can claim to be terabytes."""


@final
@dataclass(frozen=True, kw_only=True)
class Pieces:
    """What a file holds: everything that was released, and the model if there is one."""

    schema: Schema
    measurements: Sequence[LinearMeasurement]
    model: Model | None
    certificate: Mapping[str, object]
    dtypes: Mapping[str, object] = field(default_factory=dict)


def write(pieces: Pieces, path: str | PathLike[str], *, force: bool) -> None:
    """Write the pieces of a synthesis to one file; raises `DataFileError` if it exists or cannot be written."""
    arrays: dict[str, NDArray[Any]] = {}
    measured = [_measurement_state(m, i, arrays) for i, m in enumerate(pieces.measurements)]
    model = None
    if pieces.model is not None:
        model, tables = model_to_state(pieces.model)
        arrays |= {f"model/{name}": table for name, table in tables.items()}
    manifest = {
        "format": FORMAT,
        "certificate": dict(pieces.certificate),
        "schema": pieces.schema.to_dict(),
        "measurements": measured,
        "model": model,
        "dtypes": dtypes_as_json(pieces.dtypes),
    }
    with write_atomically(path, force=force) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        # ASCII with escapes: a title may hold what UTF-8 cannot say
        _add(archive, _MANIFEST, json.dumps(manifest, indent=1).encode())
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asarray(array, order="C"), allow_pickle=False)
            _add(archive, f"{name}.npy", buffer.getvalue())


def read(path: str | PathLike[str]) -> Pieces:
    """The pieces of a synthesis that `write` wrote.

    Raises
    ------
    DataFileError
        If the file cannot be read or is not such a file.
    """
    try:
        with zipfile.ZipFile(Path(path)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MAX_BYTES:
                raise DataFileError(f"{str(path)!r}: unpacked it would be too large; give a file from --save")
            manifest = json.loads(archive.read(_MANIFEST))
            if manifest["format"] != FORMAT:
                raise DataFileError(f"{str(path)!r}: another version of synthdp saved it; use that version, or update")
            arrays = {name[:-4]: _array(archive, name) for name in archive.namelist() if name.endswith(".npy")}
        return _restored(manifest, arrays)
    except (DataFileError, MemoryError):
        raise
    except OSError as error:
        raise DataFileError(f"{str(path)!r}: it cannot be read: {reason(error)}; check the path") from None
    except Exception as error:  # of a damaged or forged file the readers below may raise anything
        raise DataFileError(f"{str(path)!r}: it is not a saved synthesis; give a file from --save") from error


def _restored(manifest: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Pieces:
    schema = Schema.from_dict(manifest["schema"])
    measurements = [_measurement(state, i, arrays) for i, state in enumerate(manifest["measurements"])]
    for measurement in measurements:
        measurement.check_fits(schema.domain)
    model = None
    if manifest["model"] is not None:
        tables = {name.removeprefix("model/"): array for name, array in arrays.items() if name.startswith("model/")}
        model = model_from_state(manifest["model"], tables, schema.domain)
        if not isfinite(model.total):
            raise ValueError("the model has no number of records")
        model.sample(0)  # does what the model says fit together?
    return Pieces(
        schema=schema,
        measurements=measurements,
        model=model,
        certificate=dict(manifest["certificate"]),
        dtypes=dtypes_from_json(manifest.get("dtypes", {})),
    )


def _measurement_state(
    measurement: LinearMeasurement, number: int, arrays: dict[str, NDArray[Any]]
) -> dict[str, Sequence[str]]:
    key = f"measurement-{number}"
    merged = measurement.coarsening.groups if measurement.coarsening else {}
    arrays[f"{key}/values"] = measurement.values
    arrays[f"{key}/stddev"] = np.asarray(measurement.stddev, dtype=np.float64)
    for position, groups in enumerate(merged.values()):
        arrays[f"{key}/groups-{position}"] = groups
    return {"columns": list(measurement.clique), "merged": list(merged)}


def _measurement(
    state: Mapping[str, Sequence[str]], number: int, arrays: Mapping[str, NDArray[Any]]
) -> LinearMeasurement:
    key = f"measurement-{number}"
    groups = {name: arrays[f"{key}/groups-{position}"] for position, name in enumerate(state["merged"])}
    stddev = arrays[f"{key}/stddev"]
    return LinearMeasurement(
        tuple(state["columns"]),
        arrays[f"{key}/values"],
        stddev if stddev.ndim else float(stddev),
        Coarsening(groups) if groups else None,
    )


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    # a fixed date: the same synthesis gives the same file
    entry = zipfile.ZipInfo(name, _EPOCH)
    archive.writestr(entry, content, compress_type=zipfile.ZIP_DEFLATED)


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """An array of plain numbers, as large as the file and not as its header claims."""
    content = archive.read(name)
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("another version of the array format")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if is_fortran or dtype.kind not in "fiu":
        raise ValueError("not an array that was saved here")
    return np.frombuffer(content, dtype, offset=stream.tell()).reshape(shape).copy()
