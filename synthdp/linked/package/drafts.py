"""Drafts of packages to fill in: all tables of a folder, by names and declared types, never by
values.
"""

from pathlib import Path
from typing import Any

from synthdp.core.errors import DataFileError
from synthdp.core.files.writing import reason
from synthdp.data.files.drafting import draft_of
from synthdp.data.files.formats import file_kind
from synthdp.data.tables import open_table
from synthdp.schema.draft import NOTE

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


def drafted_package(folder: Path, *, kinds: bool = False) -> dict[str, Any]:
    """A description to be filled in, of all tables in a folder.

    Parameters
    ----------
    folder
        Where the tables are.
    kinds
        Whether all but types is left to be learnt.

    Raises
    ------
    DataFileError
        If the folder cannot be read, or has no table.
    """
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
    resources = [_resource(path, kinds=kinds) for path in paths]
    return {
        "name": folder.resolve().name,
        "synthdp": {"root": None, "note": PACKAGE_KINDS_NOTE if kinds else PACKAGE_NOTE},
        "resources": resources,
    }


def _is_table(path: Path) -> bool:
    try:
        file_kind(path)
    except DataFileError:
        return False
    return not path.name.startswith(".")


def _resource(path: Path, *, kinds: bool) -> dict[str, Any]:
    with open_table(path) as table:
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
        "schema": fields | keys,
        "synthdp": own,
    }
