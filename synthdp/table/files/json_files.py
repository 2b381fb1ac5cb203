"""JSON files that people read and write: read whole, with errors of one line, and written whole or not at all."""

import json
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

from synthdp.errors import DataFileError, SchemaError
from synthdp.table.files.writing import reason, write_atomically


def load_json(path: str | PathLike[str], what: str) -> Any:
    """Read a JSON file in UTF-8; ``what`` says in messages what kind of file it is.

    Raises `DataFileError` if it cannot be read, `SchemaError` if it is not JSON, or a key stands twice
    in one object: one of the two would be lost.
    """

    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except TypeError:
        raise SchemaError(f"{what} is a {type(path).__name__}; give a mapping, or the path of a JSON file") from None
    except UnicodeDecodeError:
        raise SchemaError(f"{what} {str(path)!r}: it is not UTF-8 text; save it as UTF-8") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL character
        raise DataFileError(f"{what} {str(path)!r}: it cannot be read: {reason(error)}; check the path") from None
    return parse_json(text, f"{what} {str(path)!r}")


def parse_json(text: str, origin: str) -> Any:
    """JSON values of a text; ``origin`` says in messages where it is from. Raises `SchemaError` as `load_json` does."""

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            key, line = _repeated_key(text)
            raise SchemaError(f"{origin}: the key {key!r} stands twice in one object, again in line {line}; remove one")
        return entries

    try:
        return json.loads(text, object_pairs_hook=object_of)
    except (ValueError, RecursionError) as error:
        where = f" in line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise SchemaError(f"{origin}: it is not valid JSON{where}; correct it") from None


_TOKENS = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|[{}\[\]]')
"""Texts of JSON, whether they are keys, and brackets."""


def _repeated_key(text: str) -> tuple[str, int]:
    """The first key of valid JSON that stands a second time in one object, and the line in which it does."""
    opened: list[set[str]] = []
    for token in _TOKENS.finditer(text):
        if token[0] in "{[":
            opened.append(set())
        elif token[0] in "}]":
            opened.pop()
        elif token[2]:
            key = json.loads(token[1])
            if key in opened[-1]:
                return key, text.count("\n", 0, token.start()) + 1
            opened[-1].add(key)
    raise AssertionError("no key stands twice")


def json_text(content: Any) -> str:
    """JSON as people read it, with a line feed at its end.

    >>> json_text({"levels": ["é"]})
    '{\\n  "levels": [\\n    "é"\\n  ]\\n}\\n'
    """
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def write_json(path: str | PathLike[str], content: Any, *, force: bool) -> None:
    """Write a JSON file in UTF-8, whole or not at all.

    Raises `DataFileError` if the file exists and ``force`` is not set, or cannot be written.
    """
    with write_atomically(path, force=force) as stream:
        stream.write(json_text(content).encode())


def meant_key(key: str, known: Mapping[str, Iterable[str]]) -> str:
    """The key that an unknown one was probably meant to be, empty if none is near; of each what else it is called.

    >>> meant_key("Min", {"minimum": ["min"], "maximum": ["max"]}), meant_key("minimun", {"minimum": []})
    ('minimum', 'minimum')
    """
    names = {name.lower(): own for own, others in known.items() for name in (own, *others)}
    found = get_close_matches("".join(filter(str.isalnum, key.lower())), names, 1, cutoff=0.8)
    return names[found[0]] if found else ""
