"""JSON read strictly: nothing in it is lost, and what nobody writes by hand or by synthdp is refused."""

import json
import re
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from synthdp.errors import SchemaError

MAX_BYTES = 1 << 24
"""Larger files are not read: a list of a hundred thousand marginals is smaller."""

MAX_DEPTH = 50
"""Deeper objects and lists in each other are not read: nothing that is read needs ten."""


def parse_json(text: str, origin: str) -> Any:
    """JSON values of a text; ``origin`` says in messages where it is from.

    Raises
    ------
    SchemaError
        If it is not JSON, nests too deep, or a key stands twice in one object: one of the two would be lost.

    >>> parse_json('{"a": [1, {"b": null}]}', "an example")
    {'a': [1, {'b': None}]}
    """

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            key, line = _repeated_key(text)
            raise SchemaError(f"{origin}: the key {key!r} stands twice in one object, again in line {line}; remove one")
        return entries

    try:
        content = json.loads(text, object_pairs_hook=object_of)
    except ValueError as error:
        where = f" in line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise SchemaError(f"{origin}: it is not valid JSON{where}; correct it") from None
    except RecursionError:
        _refuse_depth(origin)
    if _is_deep(content):
        _refuse_depth(origin)
    return content


def read_text(path: str | PathLike[str]) -> str:
    """The text of a file in UTF-8; raises `OSError` or `ValueError` if that is not possible, or it is too long."""
    with Path(path).open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES} bytes")
    return content.decode("utf-8-sig")


def _is_deep(content: Any) -> bool:
    """Whether JSON values nest deeper than `MAX_DEPTH`."""
    inside = [content]
    for _ in range(MAX_DEPTH + 1):
        holders = [value for value in inside if isinstance(value, dict | list)]
        if not holders:
            return False
        inside = [value for holder in holders for value in (holder.values() if isinstance(holder, dict) else holder)]
    return True


def _refuse_depth(origin: str) -> NoReturn:
    raise SchemaError(f"{origin}: it nests more than {MAX_DEPTH} objects and lists in each other; correct it")


_TOKENS = re.compile(r'("(?:[^"\\]++|\\.)*+")(\s*:)?|[{}\[\]]')
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
