"""What only the curator knows of a release: who publishes it, for what, and how it was tuned."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from os import PathLike
from pathlib import Path
from typing import Any
from unicodedata import category

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.files.json_files import load_json
from synthdp.core.json_value import JsonValue
from synthdp.release.certificate.yaml_files import load_yaml

MAX_LINE, MAX_TEXT, MAX_ENTRIES = 200, 10_000, 50
"""Most characters of a line and of a text, and most entries of a list: a page holds no more."""

_CONTROLS = ("Cc", "Cs")
"""Categories of characters that no text needs, and UTF-8 or terminals cannot show: controls, and
lone surrogates.
"""

_LINES = ("name", "contact", "region", "sector", "data_period")
_TEXTS = (
    "description",
    "intended_use",
    "actors",
    "trust_assumptions",
    "release_type_details",
    "preprocessing",
    "hyperparameter_tuning",
    "justification",
    "utility",
    "notes",
)

CURATOR_TYPES = ("Government", "Industry", "Nonprofit")
SOURCE_TYPES = (
    "Peer-reviewed publication",
    "Formal publication by the deploying organization",
    "Authorized organizational attestation",
    "Other public source",
)
_CHOICES = {
    "release_type": ("One release", "Many releases"),
    "data_source_type": ("Static", "Dynamic"),
}
"""Values that the registry lists; see `synthdp.release.certificate.deployment_record`."""

_RECORDS: dict[str, tuple[tuple[str, ...], dict[str, tuple[str, ...]]]] = {
    "curators": (("name",), {"type": CURATOR_TYPES}),
    "sources": (("title", "url", "author", "year"), {"type": SOURCE_TYPES}),
}
"""Lists of mappings: the lines that an entry may have, and its choices."""

KEYS = (*_LINES, *_TEXTS, "publication_date", *_CHOICES, *_RECORDS, "registry_authors")
"""All that may be said; nothing must."""


def read_about(about: Mapping[str, Any] | str | PathLike[str]) -> dict[str, Any]:
    """What a curator says of a release, checked, as plain JSON values.

    It goes into the certificate as it is, so it must be public, and must not have been computed
    from the records.

    Parameters
    ----------
    about
        A mapping, or the path of a YAML or JSON file that holds one, with any of `KEYS`.

    Raises
    ------
    DataFileError
        If the file cannot be read.
    ParameterError
        If it holds something else: an unknown key, a value of another kind, or a text that is too
        long.
    MissingExtraError
        If it is YAML and PyYAML is not installed.

    >>> read_about({"name": "Births", "publication_date": "2026-11-22"})
    {'name': 'Births', 'publication_date': '2026-11-22'}
    """
    content = about if isinstance(about, Mapping) else _content(about)
    given = JsonValue(content, "about", error=ParameterError)
    given.mapping("keys such as 'name: ...'")
    # An unknown key is refused, not kept: a slip of the pen would be missing where the certificate
    # is read.
    given.check_keys(KEYS)
    return {key: _checked(key, given[key]) for key in given.mapping()}


def _content(path: str | PathLike[str]) -> Any:
    try:
        ending = Path(path).suffix.lower()
    except TypeError:
        raise ParameterError(
            f"about is a {type(path).__name__}; give a mapping or the path of a file"
        ) from None
    if ending in (".yaml", ".yml"):
        return load_yaml(path, "about")
    if ending != ".json":
        raise ParameterError(
            f"about is {str(path)!r}; give a file that ends in .yaml, .yml or .json"
        )
    try:
        return load_json(path, "about")
    except SchemaError as error:
        raise ParameterError(str(error)) from None


def _checked(key: str, value: JsonValue) -> Any:
    """The value of a known key."""
    if key in _RECORDS:
        lines, choices = _RECORDS[key]
        return [_record(entry, lines, choices) for entry in _entries(value)]
    if key == "registry_authors":
        return [_text(entry, MAX_LINE) for entry in _entries(value)]
    if key == "publication_date":
        return _date(value)
    if key in _CHOICES:
        return value.choice(_CHOICES[key])
    return _text(value, MAX_LINE if key in _LINES else MAX_TEXT)


def _entries(value: JsonValue) -> list[JsonValue]:
    entries = value.entries(words := f"a list of 1 to {MAX_ENTRIES} entries, also for a single one")
    if not 1 <= len(entries) <= MAX_ENTRIES:
        value.expect(words)
    return entries


def _record(
    entry: JsonValue, lines: Sequence[str], choices: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    entry.mapping(f"keys such as '{lines[0]}: ...'")
    entry.check_keys((*lines, *choices))
    return {
        key: entry[key].choice(choices[key]) if key in choices else _line(entry[key])
        for key in dict.fromkeys([lines[0], *entry.mapping()])
    }


def _line(value: JsonValue) -> str:
    """A line of text; a year may be a number."""
    is_number = isinstance(value.value, int) and not isinstance(value.value, bool)
    return str(value.value) if is_number else _text(value, MAX_LINE)


def _date(value: JsonValue) -> str:
    """A day; YAML makes dates of texts that look like one."""
    given = value.value
    with suppress(TypeError, ValueError):
        day = given if isinstance(given, date) else date.fromisoformat(given)
        if str(given) == day.isoformat():
            return day.isoformat()
    return value.expect("a day as 2026-12-31")


def _text(value: JsonValue, most: int) -> str:
    text = value.text("a text in quotes").replace("\r\n", "\n").strip()
    if not text or len(text) > most:
        value.refuse(f"has {len(text)} characters; write 1 to {most}")
    allowed = "\n\t" if most > MAX_LINE else ""
    if any(category(letter) in _CONTROLS and letter not in allowed for letter in text):
        others = "control characters" + ("" if allowed else " or line feeds")
        value.refuse(f"has {others} in it; remove them")
    return text
