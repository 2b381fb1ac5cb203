"""Whether a file is the description of a package, which several commands take in place of a table."""

import os
from pathlib import Path

from synthdp.core.errors import DataFileError, ParameterError, SchemaError
from synthdp.core.files.json_files import load_json
from synthdp.schema.public_files import is_package

DESCRIPTION = "datapackage.json"
"""The name of the description in every folder that is written."""


def is_package_file(path: str | None) -> bool:
    """Whether a file is the description of a package; False as well if it cannot be read."""
    if path is None or not path.lower().endswith(".json"):
        return False
    try:
        return is_package(load_json(path, "package"))
    except (DataFileError, SchemaError):
        return os.path.basename(path).lower() == DESCRIPTION  # noqa: PTH119 - so that the error is about a package


def refuse_lost_package(path: str | None) -> None:
    """Raise `SynthdpError` if a path can only be meant for a package and is none: a folder, or
    JSON.
    """
    if path is not None and Path(path).is_dir() and Path(path, DESCRIPTION).exists():
        raise ParameterError(f"{path!r} is the folder of a package; give its {DESCRIPTION}")
    if (
        path is not None
        and path.lower().endswith(".json")
        and not is_package(load_json(path, "package"))
    ):
        raise SchemaError(
            f"package {path!r}: it has no list 'resources'; give a Data Package, or a table"
        )
