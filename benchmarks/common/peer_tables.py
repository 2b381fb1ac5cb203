"""Open tables for the comparison with peers: files of packages, or fetched, checked by their sums."""

import hashlib
import io
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common.own_units import OwnUnitsTable, raw_adult

_ADULT_URL = "https://archive.ics.uci.edu/static/public/2/adult.zip"
_ADULT_SUMS = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
}
_STATSMODELS = "statsmodels==0.15.0"
_STATSMODELS_FILES = {
    "marriages": ("statsmodels/datasets/fair/fair.csv", "fd5f3f094a34"),
    "health": ("statsmodels/datasets/randhie/randhie.csv", "9f6c87d05aef"),
}
"""Files in the wheel, and the beginning of their SHA-256."""

_HELD_OUT = 0.3
"""Share of the records that predictions are tested on, where no test file exists."""


class TableUnavailableError(Exception):
    """A table is not here and could not be fetched; the message says what to do."""


def adult(data: Path, cache: Path) -> OwnUnitsTable:
    """Adult as the census wrote it; unknown values are the level "?"."""
    folder = data
    if not (folder / "adult/adult.csv").exists():
        folder = cache
        if not (folder / "adult/adult.csv").exists():
            _fetch_adult(folder / "adult")
    table = raw_adult(folder)
    frames = [frame.replace("", "?") for frame in (table.frame, table.held_out)]
    fields = [_with_unknown(field) for field in table.fields]
    return OwnUnitsTable(frames[0], frames[1], fields, table.target, table.named)


def marriages(_data: Path, cache: Path) -> OwnUnitsTable:
    """6,366 answers to a magazine's questions on marriages [Fair 1978], a part of them held out."""
    frame = _from_statsmodels("marriages", cache)
    frame["affair"] = np.where(frame.pop("affairs") > 0.0, "yes", "no")
    codes = {"rate_marriage": range(1, 6), "religious": range(1, 5)}
    codes |= {"occupation": range(1, 7), "occupation_husb": range(1, 7)}
    levels = {name: [str(code) for code in each] for name, each in codes.items()}
    numbers = {
        "age": ("number", 15, 45),
        "yrs_married": ("number", 0, 30),
        "children": ("number", 0, 10),
        "educ": ("number", 6, 24),
    }
    return _split(frame, levels | {"affair": ["no", "yes"]}, numbers, "affair")


def health(_data: Path, cache: Path) -> OwnUnitsTable:
    """20,190 years of people in the RAND health insurance experiment, a part of them held out."""
    frame = _from_statsmodels("health", cache)
    levels = {name: ["0", "1"] for name in ("idp", "hlthg", "hlthf", "hlthp")}
    numbers = {
        "mdvis": ("integer", 0, 100),
        "lncoins": ("number", 0, 5),
        "lpi": ("number", 0, 8),
        "fmde": ("number", 0, 10),
        "physlm": ("number", 0, 1),
        "disea": ("number", 0, 60),
    }
    return _split(frame, levels, numbers, "hlthg")


PEER_TABLES: Mapping[str, Callable[[Path, Path], OwnUnitsTable]] = {
    "adult": adult,
    "marriages": marriages,
    "health": health,
}
"""Makers of the tables, given the folder of the data sets and one for what is fetched."""


def public_columns(table: OwnUnitsTable) -> dict[str, dict[str, Any]]:
    """Levels, or type and bounds, of each column: what a runner is given."""
    columns = {}
    for field in table.fields:
        constraints = field["constraints"]
        if "enum" in constraints:
            columns[field["name"]] = {"levels": list(constraints["enum"])}
        else:
            bounds = {name: constraints[name] for name in ("minimum", "maximum")}
            columns[field["name"]] = {"type": field["type"], **bounds}
    return columns


def _with_unknown(field: Mapping[str, Any]) -> dict[str, Any]:
    constraints = dict(field["constraints"])
    if "enum" in constraints and not constraints.get("required"):
        constraints["enum"] = [*constraints["enum"], "?"]
    return {**field, "constraints": {**constraints, "required": True}}


def _split(
    frame: pd.DataFrame,
    levels: Mapping[str, list[str]],
    numbers: Mapping[str, tuple[str, float, float]],
    target: str,
) -> OwnUnitsTable:
    fields: list[dict[str, Any]] = []
    for name in frame.columns:
        if name in levels:
            values = pd.to_numeric(frame[name], errors="coerce")
            if values.notna().all():
                frame[name] = values.astype(int).astype(str)
            constraints: dict[str, Any] = {"enum": levels[name], "required": True}
            fields.append({"name": name, "type": "string", "constraints": constraints})
        else:
            type_, low, high = numbers[name]
            constraints = {"minimum": low, "maximum": high, "required": True}
            fields.append({"name": name, "type": type_, "constraints": constraints})
    is_held_out = np.random.default_rng(0).random(len(frame)) < _HELD_OUT
    return OwnUnitsTable(
        frame[~is_held_out].reset_index(drop=True),
        frame[is_held_out].reset_index(drop=True),
        fields,
        target,
    )


def _from_statsmodels(name: str, cache: Path) -> pd.DataFrame:
    member, checksum = _STATSMODELS_FILES[name]
    file = cache / Path(member).name
    if not file.exists():
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
            result = subprocess.run(
                [*command, "-d", folder, _STATSMODELS], check=False, capture_output=True
            )
            wheels = list(Path(folder).glob("*.whl"))
            if result.returncode or not wheels:
                raise TableUnavailableError(
                    f"{name}: pip could not download {_STATSMODELS}; put its {member} at {file}"
                )
            cache.mkdir(parents=True, exist_ok=True)
            file.write_bytes(zipfile.ZipFile(wheels[0]).read(member))
    _check(file.read_bytes(), checksum, str(file))
    return pd.read_csv(file)


def _fetch_adult(folder: Path) -> None:
    try:
        with urllib.request.urlopen(_ADULT_URL, timeout=60) as answer:
            archive = zipfile.ZipFile(io.BytesIO(answer.read()))
    except (urllib.error.URLError, OSError) as error:
        raise TableUnavailableError(
            f"adult: {_ADULT_URL} could not be fetched ({error}); without a net, put adult.csv and "
            f"adult_test.csv with a header line into {folder}, or name their folder with --data"
        ) from error
    for member, checksum in _ADULT_SUMS.items():
        _check(archive.read(member), checksum, member)
    folder.mkdir(parents=True, exist_ok=True)
    for member, name in (("adult.data", "adult.csv"), ("adult.test", "adult_test.csv")):
        lines = archive.read(member).decode().splitlines()
        records = [line.rstrip(".").replace(", ", ",") for line in lines if line.count(",") == 14]
        records = [record.replace("?", "") for record in records]
        (folder / name).write_text("\n".join([_ADULT_HEADER, *records]) + "\n")


_ADULT_HEADER = (
    "age,workclass,fnlwgt,education,education_num,marital_status,occupation,relationship,race,sex,"
    "capital_gain,capital_loss,hours_per_week,native_country,income"
)


def _check(content: bytes, checksum: str, name: str) -> None:
    if not hashlib.sha256(content).hexdigest().startswith(checksum):
        raise TableUnavailableError(f"{name}: its SHA-256 is not {checksum}...; fetch it again")
