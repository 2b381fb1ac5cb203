"""Texts of a schema: names, titles, labels. A file must be able to hold them."""

from collections.abc import Mapping
from typing import Any, NoReturn

from synthdp.core.errors import SchemaError
from synthdp.core.json_value import JsonValue


def refuse(column: str, problem: str) -> NoReturn:
    """Raise `SchemaError` about one column."""
    raise SchemaError(f"schema: column {column!r}: {problem}")


def in_column(column: str, path: str, value: object) -> JsonValue:
    """A value that is declared of one column, and the keys under which it stands in the field."""
    return JsonValue(value, f"schema: column {column!r}", path)


def between_commas(text: str) -> list[str]:
    """What people wrote between commas; empty parts are left out.

    >>> between_commas("age, sex,")
    ['age', 'sex']
    """
    return [part for part in map(str.strip, text.split(",")) if part]


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


def label_of(kind: Any) -> Any:
    """What the kind of a column is called: the kind itself, or the ``type`` of an object."""
    return kind.get("type") if isinstance(kind, Mapping) else kind


def is_in_json(label: Any) -> bool:
    """Whether it is one of JSON's values, right or wrong: whoever reads kinds says which."""
    return label is None or isinstance(label, str | int | float | list)
