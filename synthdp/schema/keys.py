"""Keys of a schema: where each belongs, the error for one elsewhere, and limits of what they may
ask for.

A key that is ignored although it was meant for something leaves a column to be learnt, or read, in
another way than its author thinks. So a key is refused if it is one that is read in another place,
a misspelt one, or what other tools call it. Titles, descriptions, prefixed keys and all else that
Frictionless and other standards let people add are no business of ours.
"""

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NoReturn, Protocol, TypeVar

from synthdp.core.errors import SchemaError
from synthdp.schema.words.texts import refuse

OWN = "synthdp"
"""What a kinds file calls what is no column, but holds for the whole table."""

_FIELD, _CONSTRAINTS, _OWN = "", "constraints", "synthdp"
"""Where in a field keys stand: in itself, or in one of its two objects."""

RELATIVE = "relative_to"
"""Names the column from which the distance of this one is modelled."""

_HOMES = {
    **dict.fromkeys(
        ("type", "format", "missingValues", "categories", "trueValues", "falseValues"), _FIELD
    ),
    **dict.fromkeys(("decimalChar", "groupChar", "bareNumber", "constraints", "synthdp"), _FIELD),
    **dict.fromkeys(("enum", "minimum", "maximum", "required"), _CONSTRAINTS),
    **dict.fromkeys(
        ("derive", "other", "max_levels", "binning", "merged", "bins", "edges", "shape"), _OWN
    ),
    **dict.fromkeys(("heaping", "decimals", "resolution", "timezone", "parts", RELATIVE), _OWN),
}
"""The place of each key that is read."""

_ALSO_CALLED = {
    "minimum": ("min", "minvalue", "lower", "lowerbound", "range", "bounds", "limits"),
    "maximum": ("max", "maxvalue", "upper", "upperbound"),
    "enum": ("levels", "values", "options", "choices", "allowedvalues", "validvalues"),
    "required": ("mandatory", "notnull", "nullable", "optional"),
    "missingValues": ("navalues", "nullvalues", "nulls", "missing", "nodata"),
    "decimalChar": ("decimal", "decimalmark", "decimalpoint", "decimalseparator"),
    "groupChar": ("thousands", "thousandsseparator", "groupseparator"),
    "format": ("dateformat", "datetimeformat"),
    "timezone": ("tz", "zone", "tzinfo"),
}
"""What other tools call them, in small letters and without what stands between words."""

_MAY_BE_MISSING = ("nullable", "optional")
"""Where these are true they say what holds anyhow."""

_OF_ALL_FIELDS = ("trueValues", "falseValues", "decimalChar", "groupChar", "bareNumber", "derive")
"""Keys that could be taken for ones of the whole schema, as ``missingValues`` is."""

_OF_DIALECTS = ("delimiter", "quoteChar", "encoding", "sheetName")
"""Keys that stand under ``dialect``."""

_OF_SCHEMAS = ("ignore", "constraints", "hierarchy", "note", "certificate")
"""What ``synthdp`` at the top can have; the last two are not read."""


def _plain(key: str) -> str:
    """A key in small letters, without what stands between words."""
    return "".join(filter(str.isalnum, key.lower()))


_NAMES = {_plain(name): key for key in _HOMES for name in (key, *_ALSO_CALLED.get(key, ()))}


def check_field_keys(name: str, field: Mapping[str, Any]) -> None:
    """Refuse keys of a field that could be meant for something, but would not be read where they
    stand.

    >>> check_field_keys("age", {"type": "integer", "minimum": 0})
    Traceback (most recent call last):
    ...
    synthdp.core.errors.SchemaError: schema: column 'age': 'minimum' is not known here; it belongs under constraints: \
"constraints": {"minimum": 0}
    """
    check_format(name, field.get("format"))
    for place in (_FIELD, _CONSTRAINTS, _OWN):
        given = field if place == _FIELD else field.get(place)
        given = given if isinstance(given, Mapping) else {}
        for key, value in given.items():
            meant = "" if _is_of_distance(key, given) else _meant(str(key), place)
            if meant and not (value is True and _plain(str(key)) in _MAY_BE_MISSING):
                _refuse(name, str(key), value, meant, place)
    if field.get("ignore") is True:
        refuse(
            name,
            "'ignore' is not known here; give it as the kind, or list the column in the schema's synthdp.ignore",
        )
    constraints = field.get(_CONSTRAINTS)
    own = field.get(_OWN)
    for key, read in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        is_bounded = isinstance(own, Mapping) and own.get("edges") is not None
        if (
            not is_bounded
            and isinstance(constraints, Mapping)
            and {key, read} & set(constraints) == {key}
        ):
            refuse(
                name,
                f"constraints.{key} is not read; give constraints.{read}, which is itself a possible value",
            )


def _is_of_distance(key: Any, given: Mapping[str, Any]) -> bool:
    """Whether a key is a bound of a distance, which stands beside the column that it is from."""
    return RELATIVE in given and key in ("minimum", "maximum")


@lru_cache(maxsize=1024)  # fields repeat the same few keys, and to look for close ones is slow
def _meant(key: str, place: str) -> str:
    """The key that one was probably meant to be; empty if it stands where it belongs, or is
    foreign.
    """
    if _HOMES.get(key) == place or key.startswith(("x-", "_")) or set(key) & set(":@$./"):
        return ""
    meant = _NAMES.get(_plain(key), "")
    if not meant and place != _OWN:
        close = get_close_matches(_plain(key), map(_plain, _HOMES), 1, cutoff=0.8)
        meant = _NAMES[close[0]] if close else ""
    return meant  # what else is unknown under synthdp is refused later, with a list of what there can be


def _refuse(name: str, key: str, value: Any, meant: str, place: str) -> NoReturn:
    """Say what a key was meant to be, and where that belongs."""
    home = _HOMES[meant]
    if key == meant:
        problem = f"{key!r} is not known here"
    else:
        problem = f"the key {key!r} is not known; did you mean {meant!r}?"
    if home == place:
        refuse(name, problem)
    shown = json.dumps(value, ensure_ascii=False, default=str) if key == meant else ".."
    shown = f'"{meant}": {shown if len(shown) <= _MAX_SHOWN else ".."}'
    joined = f"{problem}; it belongs" if key == meant else f"{problem} It belongs"
    if home == _FIELD:
        refuse(name, f"{joined} in the field itself, beside {place}: {shown}")
    refuse(name, f'{joined} under {home}: "{home}": {{{shown}}}')


_MAX_SHOWN = 60
"""Characters of a value in a message, which is one line."""


def check_schema_keys(schema: Mapping[str, Any]) -> None:
    """Refuse keys beside the fields that could be meant for something, but would not be read there."""
    for key in schema:
        meant = _NAMES.get(_plain(str(key)), "")
        if key in ("ignore", "constraints"):
            raise SchemaError(
                f'schema: {key!r} is not known here; it belongs under synthdp: "synthdp": {{"{key}": ..}}'
            )
        if meant in ("missingValues", "synthdp") and key != meant:
            raise SchemaError(f"schema: the key {key!r} is not known; did you mean {meant!r}?")
        if meant in _OF_ALL_FIELDS:
            places = "each field that it is meant for"
            if meant in ("decimalChar", "groupChar"):
                places += ", or for all of them under dialect"
            raise SchemaError(f"schema: {key!r} is not known here; it belongs in {places}")
        if key in _OF_DIALECTS:
            raise SchemaError(
                f'schema: {key!r} is not known here; write it under dialect: "dialect": {{"{key}": ..}}'
            )
    own = schema.get("synthdp")
    for key in own if isinstance(own, Mapping) else ():
        if key not in _OF_SCHEMAS:
            if key in _HOMES:
                where = "it belongs in the fields that it is meant for"
            else:
                where = "it may have ignore, constraints, hierarchy"
            raise SchemaError(f"schema: {f'synthdp.{key}'!r} is not known here; {where}")


MAX_ALL_LEVELS = 2**21
"""Most levels of all columns together; with a million bins each, two columns have so many."""

MAX_FORMAT = 200
"""Characters of a format of dates, which is tried on a thousand of them; dates in words need fifty.
"""


class _Sized(Protocol):
    """A column, open or not."""

    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int: ...


_Columns = TypeVar("_Columns", bound=_Sized)


def within_levels(columns: Iterable[_Columns]) -> tuple[_Columns, ...]:
    """The columns, made one by one; raises `SchemaError` at one with which their levels are too
    many.
    """
    kept = list[_Columns]()
    n_levels = 0
    for column in columns:
        kept.append(column)
        n_levels += column.size
        if n_levels > MAX_ALL_LEVELS:
            refuse(
                column.name,
                f"with it there are more than {MAX_ALL_LEVELS:,} levels in all; use fewer bins",
            )
    return tuple(kept)


def check_format(column: str, pattern: object) -> None:
    """Raise `SchemaError` if the format of a field is longer than any that is meant."""
    if isinstance(pattern, str) and len(pattern) > MAX_FORMAT:
        refuse(
            column, f"the format has {len(pattern):,} characters; write one of up to {MAX_FORMAT}"
        )
