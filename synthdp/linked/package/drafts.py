"""Drafts of packages to fill in: all tables of a folder, by names and declared types, never by
values.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from synthdp.core.errors import DataFileError
from synthdp.core.files.writing import reason
from synthdp.data.files.drafting import draft_of
from synthdp.data.files.formats import file_kind, is_text
from synthdp.data.tables import open_table
from synthdp.linked.package.kinds import kinds_in
from synthdp.schema.dialect import USUAL, Dialect
from synthdp.schema.draft import NOTE

NOTHING_SAID: Mapping[str, Any] = MappingProxyType({})
"""Of how files are written: as usual."""

PACKAGE_NOTE = (
    "Name the root under synthdp, each table's primaryKey, and its foreignKeys; say max_children of each table that "
    "hangs on another, and order if its rows have one; write public into tables that are code lists. "
    + NOTE
)
"""Stands in every draft; loading ignores it."""

PACKAGE_KINDS_NOTE = (
    "Name the root under synthdp, each table's primaryKey, and its foreignKeys; say max_children of each table that "
    "hangs on another, and order if its rows have one; write public into tables that are code lists. Fill in the "
    "types: levels, bounds and bins are derived under the budget, unless you declare them and remove derive."
)
"""Stands in a draft of kinds."""


def drafted_package(
    folder: Path, *, kinds: bool = False, properties: Mapping[str, Any] = NOTHING_SAID
) -> dict[str, Any]:
    """A description to be filled in, of all tables in a folder.

    Parameters
    ----------
    folder
        Where the tables are.
    kinds
        Whether all but types is left to be learnt.
    properties
        How all text files of the folder are written, as a ``dialect`` says it.

    Raises
    ------
    DataFileError
        If the folder cannot be read, or has no table.
    """
    dialect = Dialect.from_properties(properties)
    resources = [_resource(path, dialect, kinds=kinds) for path in package_files(folder)]
    return {
        "name": folder.resolve().name,
        "synthdp": {"root": None, "note": PACKAGE_KINDS_NOTE if kinds else PACKAGE_NOTE},
        "resources": resources,
    }


def with_former_tables(draft: Mapping[str, Any], former: Mapping[str, Any]) -> dict[str, Any]:
    """A draft with what a description says of those tables that have the same columns; how they are
    written is the draft's. What it says of all stays if no table is another one.
    """
    former_by_name = {each["name"]: each for each in former.get("resources", ())}
    kept = [_with_former(each, former_by_name.get(each["name"])) for each in draft["resources"]]
    is_same = len(kept) == len(former_by_name) and all(
        _names(former_by_name.get(each["name"])) == _names(each) for each in kept
    )
    return {**(former if is_same else draft), "resources": kept}


def _with_former(table: Mapping[str, Any], former: Mapping[str, Any] | None) -> dict[str, Any]:
    if former is None or _names(former) != _names(table):
        return dict(table)
    written = {key: table[key] for key in ("path", "dialect") if key in table}
    return {key: former[key] for key in former if key != "dialect"} | written


def _names(table: Mapping[str, Any] | None) -> set[str]:
    return {*kinds_in(table)} if table is not None else set()


def package_files(folder: Path) -> list[Path]:
    """The tables of a folder, by name; raises `DataFileError` as `drafted_package`."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.is_file() and _is_table(path))
    except OSError as error:
        raise DataFileError(
            f"{str(folder)!r}: it cannot be read: {reason(error)}; check the path"
        ) from None
    if not paths:
        raise DataFileError(
            f"{str(folder)!r}: it has no table; give a folder with CSV or Parquet files"
        )
    return paths


def _is_table(path: Path) -> bool:
    try:
        file_kind(path)
    except DataFileError:
        return False
    return not path.name.startswith(".")


def _resource(path: Path, dialect: Dialect, *, kinds: bool) -> dict[str, Any]:
    written = dialect if is_text(path) else USUAL
    with open_table(path, written) as table:
        schema = draft_of(table)
    if kinds:
        schema["fields"] = [
            {"name": field["name"], "type": field["type"], "synthdp": {"derive": True}}
            for field in schema["fields"]
        ]
    fields = {key: schema[key] for key in ("fields", "missingValues")}
    keys: dict[str, Any] = {"primaryKey": [], "foreignKeys": []}
    own = {"max_children": None}
    return {
        "name": path.name.partition(".")[0],
        "path": path.name,
        **written.as_property(),
        "schema": fields | keys,
        "synthdp": own,
    }
