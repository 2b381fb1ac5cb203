"""JSON files that people read and write: read whole, with errors of one line, and written whole or
not at all.
"""

import json
from os import PathLike
from pathlib import Path
from typing import Any

from synthdp.core.errors import DataFileError, SchemaError
from synthdp.core.files.writing import reason, write_atomically
from synthdp.core.strict_json import MAX_BYTES, parse_json


def load_json(path: str | PathLike[str], what: str) -> Any:
    """Read a JSON file in UTF-8; ``what`` says in messages what kind of file it is.

    Raises `DataFileError` if it cannot be read or is too large, `SchemaError` if it is not JSON,
    nests too deep, or a key stands twice in one object: one of the two would be lost.
    """
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            problem = f"it is larger than {MAX_BYTES >> 20} MiB"
            raise DataFileError(
                f"{what} {str(path)!r}: {problem}; check that it is the file that you mean"
            )
        text = content.decode("utf-8-sig")
    except TypeError:
        raise SchemaError(
            f"{what} is a {type(path).__name__}; give a mapping, or the path of a JSON file"
        ) from None
    except UnicodeDecodeError:
        raise SchemaError(f"{what} {str(path)!r}: it is not UTF-8 text; save it as UTF-8") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL character
        raise DataFileError(
            f"{what} {str(path)!r}: it cannot be read: {reason(error)}; check the path"
        ) from None
    del content
    return parse_json(text, f"{what} {str(path)!r}")


def json_text(content: Any) -> str:
    """JSON as people read it, with a line feed at its end; escaped where UTF-8 could not say it.

    >>> json_text({"levels": ["é"]})
    '{\\n  "levels": [\\n    "é"\\n  ]\\n}\\n'
    """
    text = json.dumps(content, indent=2, ensure_ascii=False)
    has_lone_surrogates = (
        any("\ud800" <= letter <= "\udfff" for letter in text) if not text.isascii() else False
    )
    return (json.dumps(content, indent=2) if has_lone_surrogates else text) + "\n"


def write_json(path: str | PathLike[str], content: Any, *, force: bool) -> None:
    """Write a JSON file in UTF-8, whole or not at all.

    Raises `DataFileError` if the file exists and ``force`` is not set, or cannot be written.
    """
    with write_atomically(path, force=force) as stream:
        stream.write(json_text(content).encode())
