"""JSON read strictly: nothing in it is lost, and what nobody writes by hand or by synthdp is
refused.
"""

import json
import re
from os import PathLike
from pathlib import Path
from sys import getsizeof
from typing import Any, NoReturn

from synthdp.core.errors import SchemaError

MAX_BYTES = 1 << 24
"""Larger files are not read: a hundred thousand marginals take less, and so does a column of a
million levels.
"""

MAX_MEMORY = 144 << 20
"""What a text and its values may take, by the sizes below: so that reading a file stays below 200
MB.
"""

_SIZES = {"[": 112, "{": 240, ":": 256, ",": 100}
"""What a list, an object, a key and a further value take at most while they are read, in bytes.
Measured with CPython 3.11: lists in each other 97 each, short texts 99, keys that differ 320 with
what looks for the one that repeats.
"""

MAX_DEPTH = 50
"""Deeper objects and lists in each other are not read: nothing that is read needs ten."""


def parse_json(text: str, origin: str, *, most_memory: float = MAX_MEMORY) -> Any:
    """JSON values of a text; ``origin`` says in messages where it is from.

    Parameters
    ----------
    text
        The text.
    origin
        Where it is from.
    most_memory
        Bytes that it and its values may take, by an upper bound that is taken before they are read.

    Raises
    ------
    SchemaError
        If it is not JSON, holds too many values, nests too deep, or a key stands twice in one
        object: one of the two would be lost.

    >>> parse_json('{"a": [1, {"b": null}]}', "an example")
    {'a': [1, {'b': None}]}
    """
    # Counted in the text, before parsing: nested lists become many times as large as objects.
    if memory_of(text) > most_memory:
        raise SchemaError(
            f"{origin}: it holds more values than are read from one text; check that it is what you mean"
        )

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        # Python would silently keep the last of two equal keys, other readers the first; a schema
        # must mean one thing.
        if len(entries) < len(pairs):
            key, line = _repeated_key(text)
            raise SchemaError(
                f"{origin}: the key {key!r} stands twice in one object, again in line {line}; remove one"
            )
        return entries

    try:
        content = json.loads(text, object_pairs_hook=object_of)
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError):
            where = f" in line {error.lineno}, column {error.colno}"
        else:
            where = ""
        raise SchemaError(f"{origin}: it is not valid JSON{where}; correct it") from None
    # The parser's own limit depends on the version of Python and on how deep its caller is, so the
    # depth is asked again below.
    except RecursionError:
        _refuse_depth(origin)
    if _is_deep(content):
        _refuse_depth(origin)
    return content


def memory_of(text: str) -> int:
    """Most bytes that a text and its values take.

    Each list, object, key and further value is known by its sign; the letters of texts are there
    twice.
    """
    return 2 * getsizeof(text) + sum(text.count(sign) * size for sign, size in _SIZES.items())


def read_text(path: str | PathLike[str]) -> str:
    """The text of a file in UTF-8; raises `OSError` or `ValueError` if that is not possible, or it
    is too long.
    """
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
        inside = [
            value
            for holder in holders
            for value in (holder.values() if isinstance(holder, dict) else holder)
        ]
    return True


def _refuse_depth(origin: str) -> NoReturn:
    raise SchemaError(
        f"{origin}: it nests more than {MAX_DEPTH} objects and lists in each other; correct it"
    )


_TOKENS = re.compile(r'("(?:[^"\\]++|\\.)*+")(\s*:)?|[{}\[\]]')
"""Texts of JSON, whether they are keys, and brackets."""


def _repeated_key(text: str) -> tuple[str, int]:
    """The first key of valid JSON that stands a second time in one object, and the line in which it
    does.
    """
    opened: list[set[str]] = []
    for token in _TOKENS.finditer(text):
        sign = text[token.start()]  # a token may be a long text
        if sign in "{[":
            opened.append(set())
        elif sign in "}]":
            opened.pop()
        elif token[2]:
            key = json.loads(token[1])
            if key in opened[-1]:
                return key, text.count("\n", 0, token.start()) + 1
            opened[-1].add(key)
    raise AssertionError("no key stands twice")
