"""Frictionless Table Schema (versions 1 and 2) as JSON, to columns and back.

Of a field, ``name``, ``type``, ``title``, ``description``, ``format``, ``missingValues``,
``categories``, ``trueValues``, ``falseValues``, ``decimalChar``, ``groupChar``, ``bareNumber`` and
``constraints`` (``enum``, ``minimum``, ``maximum``, ``required``) are read. What binning needs
beyond the standard lies under one property, ``"synthdp"``, where an unknown key is an error.
Elsewhere `keys` refuses what could be meant for one of these, and the rest is ignored.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from synthdp.core.errors import SchemaError
from synthdp.schema.axes.bin_shape import Heaping, Shape
from synthdp.schema.columns.boolean import BooleanColumn
from synthdp.schema.columns.categorical import CategoricalColumn, Merged
from synthdp.schema.columns.column import DEFAULT_MISSING_VALUES, Column
from synthdp.schema.columns.date_formats import as_strftime, nearest_strftime
from synthdp.schema.columns.dates import DateColumn
from synthdp.schema.columns.edges import MAX_WIDTH, NOTATION, PLAIN, Notation
from synthdp.schema.columns.numeric import IntegerColumn, NumberColumn
from synthdp.schema.dialect import USUAL, Dialect, dialect_of
from synthdp.schema.keys import check_field_keys, check_schema_keys, within_levels
from synthdp.schema.made_up.generated_fields import GENERATED_KINDS
from synthdp.schema.words.texts import checked_name, refuse

SUPPORTED_TYPES = ("string", "boolean", "integer", "number", "year", "date", "datetime")
"""Field types that a column can have."""

FREE_TEXT_TYPES = ("text", "free text", "freetext", "free_text")
"""What people call columns of sentences."""

FREE_TEXT = (
    "free text cannot be synthesised: make coded columns of it beforehand (its length, its topic, whether a word is in "
    "it), or have texts written for the synthetic rows afterwards"
)
"""What is said of one."""

CATEGORICAL_KEYS: tuple[str, ...] = ("other", "merged")
_SHARED_KEYS = ("bins", "edges", "shape", "heaping")
NUMBER_KEYS = {
    "integer": (*_SHARED_KEYS, "width"),
    "year": _SHARED_KEYS,
    "number": (*_SHARED_KEYS, "decimals"),
}
BOOLEAN_KEYS = ("spelling",)
DATE_KEYS = ("resolution", "bins", "edges", "shape", "parts")


def parse_schema(mapping: Mapping[str, Any]) -> tuple[tuple[Column, ...], tuple[str, ...], Dialect]:
    """Columns, missing values and dialect of a JSON object; raises `SchemaError` if it is no
    schema.

    Private-PGM's ``{"column": size}`` is read as well: integers from 0, one level each.

    >>> columns, missing_values, dialect = parse_schema({"sex": 2, "region": 5})
    >>> [(column.name, column.size) for column in columns]
    [('sex', 2), ('region', 5)]
    """
    if not isinstance(mapping, Mapping):
        raise SchemaError(
            f"schema: it is a {type(mapping).__name__}; give a JSON object with a list of fields"
        )
    if "fields" not in mapping and mapping and all(_is_size(size) for size in mapping.values()):
        columns = (
            IntegerColumn(name=name, minimum=0, maximum=size - 1, bins=size, required=True)
            for name, size in mapping.items()
        )
        return within_levels(columns), DEFAULT_MISSING_VALUES, USUAL
    fields = mapping.get("fields")
    if not isinstance(fields, Sequence) or isinstance(fields, str):
        raise SchemaError(
            "schema: it has no list 'fields'; list the columns there, each an object with name and type"
        )
    check_schema_keys(mapping)
    own = mapping.get("synthdp")
    if isinstance(own, Mapping) and own.get("ignore"):
        way_out = "read it as an OpenSchema, or remove it"
        raise SchemaError(
            f"schema: synthdp.ignore lists columns to leave out, which a Schema cannot; {way_out}"
        )
    missing_values = _texts("", mapping, "missingValues", DEFAULT_MISSING_VALUES)
    dialect = dialect_of(mapping)
    return (
        within_levels(parse_field(field, missing_values) for field in dialect.fields(fields)),
        missing_values,
        dialect.of_files,
    )


def _is_size(size: object) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and size >= 1


def parse_field(field: Any, missing_values: tuple[str, ...]) -> Column:
    """One column from one field; ``missing_values`` apply unless the field has its own."""
    if not isinstance(field, Mapping):
        raise SchemaError(
            f"schema: the field {field!r} is not an object; write {{'name': ..., 'type': ...}}"
        )
    name = checked_name(field.get("name"))
    check_field_keys(name, field)
    kind = field.get("type")
    if kind not in SUPPORTED_TYPES:
        if kind in FREE_TEXT_TYPES:
            way_out = "list the column under synthdp.ignore, or use 'string' if few values repeat"
            refuse(name, f"the type is {kind!r}, and {FREE_TEXT}; {way_out}")
        problem = "is not filled in" if kind is None else f"{kind!r} is not supported"
        made_up = f"or, for values that are generated, {', '.join(GENERATED_KINDS)}"
        refuse(name, f"the type {problem}; use one of {', '.join(SUPPORTED_TYPES)}; {made_up}")
    constraints = _object(name, field, "constraints")
    shared = {
        "name": name,
        "required": _flag(name, constraints, "required"),
        "missing_values": _texts(name, field, "missingValues", missing_values),
        "title": _text(name, field, "title"),
        "description": _text(name, field, "description"),
    }
    levels = _levels(name, field, constraints)
    if kind == "boolean":
        return _boolean(field, shared)
    if kind in ("date", "datetime"):
        return _date(kind, field, constraints, shared)
    if kind == "string" or levels is not None:
        return _categorical(kind, field, levels, shared)
    return _numeric(kind, field, constraints, shared)


def _boolean(field: Mapping[str, Any], shared: Mapping[str, Any]) -> Column:
    name = shared["name"]
    own = _own(name, field, BOOLEAN_KEYS)
    true_values, false_values = (
        None if field.get(key) is None else _texts(name, field, key, ())
        for key in ("trueValues", "falseValues")
    )
    spelling = _list(name, own, "spelling", "a text for true and one for false")
    return BooleanColumn(
        true_values=true_values, false_values=false_values, spelling=spelling, **shared
    )


def _categorical(
    kind: Any, field: Mapping[str, Any], levels: tuple[Any, ...] | None, shared: Any
) -> Column:
    name = shared["name"]
    notation = PLAIN if kind == "string" else _notation(kind, field, name)
    own = _own(name, field, CATEGORICAL_KEYS)
    if levels is None:
        refuse(name, "constraints.enum is missing; list the levels that the column can have")
    merged = _parts_of(name, own, "merged", ("levels", "weights"))
    return CategoricalColumn(
        levels=levels,
        type=kind,
        other=own.get("other"),
        merged=None if merged is None else Merged(**merged),
        notation=notation,
        **shared,
    )


def _numeric(
    kind: Any, field: Mapping[str, Any], constraints: Mapping[str, Any], shared: Mapping[str, Any]
) -> Column:
    name = shared["name"]
    own = _own(name, field, NUMBER_KEYS[kind])
    binning: dict[str, Any] = {key: own.get(key) for key in NUMBER_KEYS[kind] if key != "width"}
    binning["notation"] = _notation(kind, field, name)
    if own.get("width") is not None:
        if own["width"] == 0:
            refuse(name, f"synthdp.width is 0; give the number of digits, from 1 to {MAX_WIDTH}")
        binning["notation"] = replace(binning["notation"], width=own["width"])
    binning["edges"] = _list(name, own, "edges", "increasing numbers")
    if (shape := _parts_of(name, own, "shape", ("starts", "weights"))) is not None:
        binning["shape"] = Shape(**shape)
    if own.get("heaping") is not None:
        binning["heaping"] = Heaping.of(name, own["heaping"])
    binning |= {key: constraints.get(key) for key in ("minimum", "maximum")}
    return (
        NumberColumn(**binning, **shared)
        if kind == "number"
        else IntegerColumn(type=kind, **binning, **shared)
    )


def _notation(kind: Any, field: Mapping[str, Any], name: str) -> Notation:
    """How a field says that numbers are written; years and texts are written in one way only."""
    marks = {key: NOTATION[key] if field.get(key) is None else field[key] for key in NOTATION}
    for key, value in marks.items():
        if type(value) is not type(NOTATION[key]):
            refuse(
                name,
                f"{key} is {value!r}; write {'true or false' if key == 'bareNumber' else 'a text'}",
            )
        if kind not in ("integer", "number") and value != NOTATION[key]:
            refuse(
                name,
                f"{key} is for columns of type 'integer' or 'number'; change the type, or remove it",
            )
    return Notation(
        decimal_char=marks["decimalChar"],
        group_char=marks["groupChar"],
        bare_number=marks["bareNumber"],
    )


def _date(
    kind: Any, field: Mapping[str, Any], constraints: Mapping[str, Any], shared: Mapping[str, Any]
) -> Column:
    name = shared["name"]
    own = _own(name, field, DATE_KEYS)
    pattern = strftime_format(name, field)
    binning: dict[str, Any] = {key: own.get(key) for key in DATE_KEYS}

    def moments(key: str, texts: tuple[Any, ...]) -> tuple[date, ...]:
        return tuple(_moment(name, f"an entry of synthdp.{key}", text, pattern) for text in texts)

    if (edges := _list(name, own, "edges", "increasing dates")) is not None:
        binning["edges"] = moments("edges", edges)
    if (shape := _parts_of(name, own, "shape", ("starts", "weights"))) is not None:
        binning["shape"] = Shape(
            starts=moments("shape.starts", shape["starts"]), weights=shape["weights"]
        )
    binning["parts"] = _list(name, own, "parts", "parts of dates") or ()
    for key in ("minimum", "maximum"):
        bound = constraints.get(key)
        if bound is None and edges is None:
            refuse(
                name, f"constraints.{key} is not filled in; give the bound that is public knowledge"
            )
        binning[key] = (
            None if bound is None else _moment(name, f"constraints.{key}", bound, pattern)
        )
    return DateColumn(type=kind, format=pattern, **binning, **shared)


def strftime_format(name: str, field: Mapping[str, Any]) -> str | None:
    """How a field says that its dates are written, as a pattern of `strftime`; None for ISO 8601.

    Raises `SchemaError` if it is neither such a pattern nor one like dd.mm.yyyy.
    """
    pattern = field.get("format", "default")
    if pattern in ("default", None):
        return None
    if not isinstance(pattern, str):
        refuse(
            name,
            f"the format {pattern!r} is not supported; use 'default' (ISO 8601) or a pattern like '%d/%m/%Y'",
        )
    if "%" in pattern:
        return pattern.removeprefix("fmt:")
    if (said := as_strftime(pattern)) is not None:
        return said
    way_out = "use 'default' (ISO 8601) or a pattern like '%d/%m/%Y'"
    if (nearest := nearest_strftime(pattern)) is not None:
        way_out = f"write {nearest!r}, which reads dates with and without zeros in front, and writes them with zeros"
    return refuse(name, f"the format {pattern!r} is not supported; {way_out}")


def _moment(name: str, key: str, text: Any, pattern: str | None) -> date:
    readers: list[Callable[[str], datetime]] = [datetime.fromisoformat]
    if pattern is not None:
        readers.insert(0, lambda text: datetime.strptime(text, pattern))  # noqa: DTZ007 (no time zone is meant)
    moment: datetime | None = None
    for read in readers:
        with suppress(
            ValueError, TypeError, re.error
        ):  # re.error: a pattern that says the same thing twice
            moment = moment or read(text)
    if moment is None:
        refuse(
            name,
            f"{key} {text!r} is not a date; write it like '2020-12-31', or by the field's format",
        )
    return moment


def _levels(
    name: str, field: Mapping[str, Any], constraints: Mapping[str, Any]
) -> tuple[Any, ...] | None:
    """The enumerated levels: ``constraints.enum``, or ``categories`` of version 2."""
    key, levels = "constraints.enum", constraints.get("enum")
    if levels is None and field.get("categories") is not None:
        key, levels = "categories", field["categories"]
    if levels is None:
        return None
    if not isinstance(levels, Sequence) or isinstance(levels, str):
        refuse(name, f"{key} is {levels!r}; give a list of levels")
    if key == "categories":
        return tuple(
            level.get("value") if isinstance(level, Mapping) else level for level in levels
        )
    return tuple(levels)


def _own(name: str, field: Mapping[str, Any], allowed: Sequence[str]) -> Mapping[str, Any]:
    """Our own properties of a field; a misspelt one must not pass silently."""
    own = _object(name, field, "synthdp")
    if "derive" in own:
        refuse(
            name,
            "synthdp.derive leaves something open, which a Schema cannot; read it as an OpenSchema",
        )
    for key in own:
        if key not in allowed:
            known = ", ".join(allowed) if allowed else "nothing"
            refuse(
                name,
                f"{f'synthdp.{key}'!r} is not known for this kind of column; it may have {known}",
            )
    return own


def _list(name: str, own: Mapping[str, Any], path: str, things: str) -> tuple[Any, ...] | None:
    """A list among our own properties, by the last key of its path; None if it is not there."""
    entries = own.get(path.rpartition(".")[2])
    if entries is None:
        return None
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        refuse(name, f"synthdp.{path} is {entries!r}; give a list of {things}")
    return tuple(entries)


def _parts_of(
    name: str, own: Mapping[str, Any], key: str, lists: tuple[str, str]
) -> dict[str, tuple[Any, ...]] | None:
    """One of our own properties that is an object of two lists; None if it is not there."""
    given = own.get(key)
    if given is None:
        return None
    if not isinstance(given, Mapping) or set(given) != set(lists):
        refuse(
            name,
            f"synthdp.{key} is not an object of {' and '.join(lists)}; write both, each a list",
        )
    return {part: _list(name, given, f"{key}.{part}", "values") or () for part in lists}


def _object(name: str, field: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = field.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        refuse(name, f"{key} is {value!r}; write an object in braces")
    return value


def _flag(name: str, constraints: Mapping[str, Any], key: str) -> bool:
    value = constraints.get(key, False)
    if not isinstance(value, bool):
        refuse(name, f"constraints.{key} is {value!r}; write true or false")
    return value


def _text(name: str, field: Mapping[str, Any], key: str) -> str:
    value = field.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        refuse(name, f"{key} is {value!r}; write a text")
    return value


def _texts(
    name: str, mapping: Mapping[str, Any], key: str, default: tuple[str, ...]
) -> tuple[str, ...]:
    """A list of texts; ``name`` is empty for a property of the whole schema."""
    values = mapping.get(key, default)
    if (
        isinstance(values, str)
        or not isinstance(values, Sequence)
        or not all(isinstance(text, str) for text in values)
    ):
        where = f"column {name!r}: " if name else ""
        raise SchemaError(f"schema: {where}{key} is {values!r}; give a list of texts")
    return tuple(values)
