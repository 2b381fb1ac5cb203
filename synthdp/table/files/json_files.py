"""JSON files that people write: read whole, with errors of one line."""

import json
from collections import Counter
from os import PathLike
from pathlib import Path
from typing import Any

from synthdp.errors import DataFileError, SchemaError
from synthdp.table.files.writing import reason


def load_json(path: str | PathLike[str], what: str) -> Any:
    """Read a JSON file in UTF-8; ``what`` says in messages what kind of file it is.

    Raises `DataFileError` if it cannot be read, `SchemaError` if it is not JSON, or a key stands twice
    in one object: one of the two would be lost.
    """

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            repeated = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            raise SchemaError(
                f"{what} {str(path)!r}: the key {repeated!r} stands twice in one object; remove one of them"
            )
        return entries

    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SchemaError(f"{what} {str(path)!r}: it is not UTF-8 text; save it as UTF-8") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL character
        raise DataFileError(f"{what} {str(path)!r}: it cannot be read: {reason(error)}; check the path") from None
    try:
        return json.loads(text, object_pairs_hook=object_of)
    except (ValueError, RecursionError) as error:
        where = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise SchemaError(f"{what} {str(path)!r}: it is not valid JSON{where}; correct it") from None
