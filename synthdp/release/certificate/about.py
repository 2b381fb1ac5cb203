"""What only the curator knows of a release: who publishes it, for what, and how it was tuned."""

from collections.abc import Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any
from unicodedata import category

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.files.json_files import load_json
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
    if not isinstance(content, Mapping):
        raise ParameterError(
            f"about holds a {type(content).__name__}; write keys such as 'name: ...'"
        )
    return {
        _checked_key(key, KEYS, "about"): _checked(key, value) for key, value in content.items()
    }


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


def _checked_key(key: object, keys: Sequence[str], where: str) -> str:
    """The key; refuses one that is not known, and says which may be meant."""
    if isinstance(key, str) and key in keys:
        return key
    near = get_close_matches(str(key), keys, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"use some of {', '.join(keys)}"
    raise ParameterError(f"{where}: the key {str(key)[:MAX_LINE]!r} is not known; {hint}")


def _checked(key: str, value: Any) -> Any:
    """The value of a known key."""
    where = f"about: {key}"
    if key in _RECORDS:
        lines, choices = _RECORDS[key]
        return [
            _record(entry, f"{where}[{i}]", lines, choices)
            for i, entry in enumerate(_entries(value, where))
        ]
    if key == "registry_authors":
        return [_text(entry, where, MAX_LINE) for entry in _entries(value, where)]
    if key == "publication_date":
        return _date(value, where)
    if key in _CHOICES:
        return _choice(value, where, _CHOICES[key])
    return _text(value, where, MAX_LINE if key in _LINES else MAX_TEXT)


def _entries(value: Any, where: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MAX_ENTRIES:
        raise ParameterError(
            f"{where} is no list of 1 to {MAX_ENTRIES} entries; write one, also for a single entry"
        )
    return value


def _record(
    entry: Any, where: str, lines: Sequence[str], choices: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    if not isinstance(entry, Mapping):
        raise ParameterError(
            f"{where} is a {type(entry).__name__}; write keys such as '{lines[0]}: ...'"
        )
    record = {}
    for key, value in entry.items():
        name = _checked_key(key, (*lines, *choices), where)
        place = f"{where}.{name}"
        record[name] = (
            _choice(value, place, choices[name]) if name in choices else _line(value, place)
        )
    if lines[0] not in record:
        raise ParameterError(f"{where} has no {lines[0]}; write one")
    return record


def _line(value: Any, where: str) -> str:
    """A line of text; a year may be a number."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return _text(str(value) if is_number else value, where, MAX_LINE)


def _choice(value: Any, where: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise ParameterError(
            f"{where} is {str(value)[:MAX_LINE]!r}; give one of {', '.join(map(repr, choices))}"
        )
    return str(value)


def _date(value: Any, where: str) -> str:
    """A day; YAML makes dates of texts that look like one."""
    try:
        day = value if isinstance(value, date) else date.fromisoformat(value)
        if str(value) == day.isoformat():
            return day.isoformat()
    except (TypeError, ValueError):
        pass
    raise ParameterError(f"{where} is {str(value)[:MAX_LINE]!r}; write a day as 2026-12-31")


def _text(value: Any, where: str, most: int) -> str:
    if not isinstance(value, str):
        raise ParameterError(
            f"{where} is {str(value)[:MAX_LINE]!r}, which is no text; write it in quotes"
        )
    text = value.replace("\r\n", "\n").strip()
    if not text or len(text) > most:
        raise ParameterError(f"{where} has {len(text)} characters; write 1 to {most}")
    allowed = "\n\t" if most > MAX_LINE else ""
    if any(category(letter) in _CONTROLS and letter not in allowed for letter in text):
        others = "control characters" + ("" if allowed else " or line feeds")
        raise ParameterError(f"{where} has {others} in it; remove them")
    return text
