"""Keys that no row can share, by what is declared of them: told before a record is looked at."""

import re
from collections.abc import Mapping
from typing import Any

from synthdp.linked.package.key_form import constraints_of
from synthdp.linked.package.linked_table import refuse_package
from synthdp.linked.package.package import Package
from synthdp.schema.columns.reading import canonical_text

_NUMBERS = ("integer", "number", "year")
_MOMENTS = ("date", "datetime", "time", "yearmonth")

_BEGINS_WITH_LETTER = re.compile(
    r"\^?(?:[A-Za-z_]|\[(?:[A-Za-z]-[A-Za-z]|[A-Za-z_])+\])(?![*?]|\{0)"
)
"""Patterns of which, if they have no alternatives, all that fits begins with a letter."""


def check_matching(package: Package) -> None:
    """Refuse keys that are declared such that none of a table is one of the table above.

    Only types, formats, levels, bounds and patterns that the package declares are compared: keys
    themselves, and dtypes of frames, which may depend on them, are not looked at. So whether it
    refuses is public.

    Raises
    ------
    SchemaError
        It names the table, the two columns, and what is declared of them.
    """
    fields = {
        resource["name"]: {field["name"]: field for field in resource["schema"]["fields"]}
        for resource in package.content["resources"]
    }
    for table in package.tables:
        if table.parent is None:
            continue
        for own, there in zip(table.parent_key, package[table.parent].key, strict=True):
            one = fields[table.name][own]
            other = fields[table.parent][there]
            if not _can_match(one, other):
                problem = f"{own!r} ({_form(one)}) refers to {there!r} of {table.parent!r} ({_form(other)})"
                refuse_package(
                    f"{problem}, and no key can be both, so that no row would hang on any; write keys the same way in "
                    "both tables, and declare them so",
                    table.name,
                )


def _can_match(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    levels = _levels(one)
    others = _levels(other)
    if levels and others:
        return not levels.isdisjoint(others)
    if _type(one) in _NUMBERS and _type(other) in _NUMBERS:
        return _least(one) <= _most(other) and _least(other) <= _most(one)
    if _type(one) in _MOMENTS and _type(one) == _type(other):
        return _format(one) == _format(other)
    return not (
        (_type(one) in _NUMBERS and _is_no_number(other))
        or (_type(other) in _NUMBERS and _is_no_number(one))
    )


def _is_no_number(field: Mapping[str, Any]) -> bool:
    """Whether no value of a field is written as a number."""
    if _type(field) in _MOMENTS:
        return _format(field) == "default"
    pattern = constraints_of(field).get("pattern")
    is_text = (
        isinstance(pattern, str)
        and "|" not in pattern
        and _BEGINS_WITH_LETTER.match(pattern) is not None
    )
    levels = _levels(field)
    return is_text or (bool(levels) and not any(re.match(r"[-+.]?\d", level) for level in levels))


def _type(field: Mapping[str, Any]) -> str:
    return str(field.get("type", "any"))


def _format(field: Mapping[str, Any]) -> str:
    return str(field.get("format", "default"))


def _levels(field: Mapping[str, Any]) -> frozenset[str]:
    """The keys that are listed, as keys are compared; none if they are not."""
    listed = constraints_of(field).get("enum")
    if isinstance(listed, list):
        return frozenset(canonical_text(level) or "" for level in listed)
    return frozenset()


def _least(field: Mapping[str, Any]) -> float:
    return _bound(field, "minimum", -float("inf"))


def _most(field: Mapping[str, Any]) -> float:
    return _bound(field, "maximum", float("inf"))


def _bound(field: Mapping[str, Any], key: str, default: float) -> float:
    bound = constraints_of(field).get(key)
    return (
        float(bound) if isinstance(bound, int | float) and not isinstance(bound, bool) else default
    )


def _form(field: Mapping[str, Any]) -> str:
    """What is declared of a key, in a few words."""
    bounds = {
        key: constraints_of(field)[key]
        for key in ("pattern", "minimum", "maximum")
        if key in constraints_of(field)
    }
    format_ = [] if _format(field) == "default" else [f"format {_format(field)}"]
    listed = ["enum"] if _levels(field) else []
    return ", ".join(
        [_type(field), *format_, *(f"{key} {value}" for key, value in bounds.items()), *listed]
    )
