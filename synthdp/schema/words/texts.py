"""Texts of a schema: names, titles, labels. A file must be able to hold them."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import NoReturn

from synthdp.core.errors import SchemaError


def refuse(column: str, problem: str) -> NoReturn:
    """Raise `SchemaError` about one column."""
    raise SchemaError(f"schema: column {column!r}: {problem}")


def is_writable(text: str) -> bool:
    """Whether a CSV file in UTF-8 can hold a text: no NUL, no lone surrogate."""
    return "\0" not in text and text == text.encode(errors="ignore").decode()


def check_text(text: object, column: str, what: str) -> None:
    """Refuse what a CSV file in UTF-8 cannot hold: anything but text, lone surrogates, and NUL."""
    if not isinstance(text, str):
        refuse(column, f"{what} {text!r} is not a text; write it in quotes")
    if not is_writable(text):
        refuse(
            column,
            f"{what} {text!r} holds a NUL or a lone surrogate, which CSV files cannot; remove it",
        )


def checked_name(name: object) -> str:
    """The name of a column; raises `SchemaError` if it is no text, or empty."""
    if not isinstance(name, str) or not name:
        raise SchemaError(f"schema: the field name {name!r} is not a text; give each field a name")
    check_text(name, name, "the name")
    return name


def check_words(name: object, title: object, description: object) -> None:
    """Refuse a name, or texts for people, that a file cannot hold."""
    for key, text in (("title", title), ("description", description)):
        check_text(text, checked_name(name), key)


def meant_key(key: str, keys: Mapping[str, Iterable[str]]) -> str:
    """The key that an unknown one was probably meant to be, empty if none is near; of each what
    else it is called.

    >>> (
    ...     meant_key("Min", {"minimum": ["min"], "maximum": ["max"]}),
    ...     meant_key("minimun", {"minimum": []}),
    ... )
    ('minimum', 'minimum')
    """
    names = {name.lower(): own for own, others in keys.items() for name in (own, *others)}
    close = get_close_matches("".join(filter(str.isalnum, key.lower())), names, 1, cutoff=0.8)
    return names[close[0]] if close else ""
