"""Frictionless Table Schema (versions 1 and 2) as JSON, to columns and back.

Of a field, ``name``, ``type``, ``title``, ``description``, ``format``, ``missingValues``,
``categories``, ``trueValues``, ``falseValues``, ``decimalChar``, ``groupChar``, ``bareNumber`` and
``constraints`` (``enum``, ``minimum``, ``maximum``, ``required``) are read. What binning needs
beyond the standard lies under one property, ``"synthdp"``, where an unknown key is an error.
Elsewhere `keys` refuses what could be meant for one of these, and the rest is ignored.
"""

from collections.abc import Mapping
from typing import Any

from synthdp.core.json_value import JsonValue
from synthdp.schema.columns.column import DEFAULT_MISSING_VALUES, Column
from synthdp.schema.columns.field import Field
from synthdp.schema.dialect import USUAL, Dialect, dialect_of
from synthdp.schema.keys import check_field_keys, check_schema_keys, within_levels
from synthdp.schema.types import GENERATED_KINDS, TYPES, is_type, type_named
from synthdp.schema.words.texts import checked_name, refuse

FREE_TEXT_TYPES = ("text", "free text", "freetext", "free_text")
"""What people call columns of sentences."""

FREE_TEXT = (
    "free text cannot be synthesised: make coded columns of it beforehand (its length, its topic, whether a word is in "
    "it), or have texts written for the synthetic rows afterwards"
)
"""What is said of one."""


def parse_schema(mapping: Mapping[str, Any]) -> tuple[tuple[Column, ...], tuple[str, ...], Dialect]:
    """Columns, missing values and dialect of a JSON object; raises `SchemaError` if it is no
    schema.

    Private-PGM's ``{"column": size}`` is read as well: integers from 0, one level each.

    >>> columns, missing_values, dialect = parse_schema({"sex": 2, "region": 5})
    >>> [(column.name, column.size) for column in columns]
    [('sex', 2), ('region', 5)]
    """
    given = JsonValue(mapping, "schema")
    given.mapping("a JSON object with a list of fields")
    if "fields" not in mapping and mapping and all(_is_size(size) for size in mapping.values()):
        columns = (parse_field(_of_size(name, size), ()) for name, size in mapping.items())
        return within_levels(columns), DEFAULT_MISSING_VALUES, USUAL
    # A package and a table have much the same look; the wrong one is the likeliest mistake.
    if "resources" in mapping and "fields" not in mapping:
        given.refuse(
            "is the description of a package of tables, and the data is one table; give tables by name, or the path "
            "of the description as the data"
        )
    fields = given["fields"].sequence("a list of columns, each an object with name and type")
    check_schema_keys(mapping)
    ignored = given["synthdp"]["ignore"]
    if ignored.value:
        problem = "lists columns to leave out, which a Schema cannot"
        ignored.refuse(f"{problem}; read it as an OpenSchema, or remove it")
    missing_values = given["missingValues"].default(DEFAULT_MISSING_VALUES).texts()
    dialect = dialect_of(mapping)
    return (
        within_levels(parse_field(field, missing_values) for field in dialect.fields(fields)),
        missing_values,
        dialect.of_files,
    )


def _is_size(size: object) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and size >= 1


def _of_size(name: str, size: int) -> dict[str, Any]:
    constraints = {"minimum": 0, "maximum": size - 1, "required": True}
    missing = list(DEFAULT_MISSING_VALUES)
    return {
        "name": name,
        "type": "integer",
        "missingValues": missing,
        "constraints": constraints,
        "synthdp": {"bins": size},
    }


def parse_field(field: Any, missing_values: tuple[str, ...]) -> Column:
    """One column from one field; ``missing_values`` apply unless the field has its own."""
    JsonValue(field, "schema", "a field").mapping("an object with name and type")
    name = checked_name(field.get("name"))
    check_field_keys(name, field)
    kind = field.get("type")
    if not is_type(kind):
        # Free text has no levels to count: no noise makes it safe, so that it can only be left out.
        if kind in FREE_TEXT_TYPES:
            way_out = "list the column under synthdp.ignore, or use 'string' if few values repeat"
            refuse(name, f"the type is {kind!r}, and {FREE_TEXT}; {way_out}")
        problem = "is not filled in" if kind is None else f"{kind!r} is not supported"
        made_up = f"or, for values that are generated, {', '.join(GENERATED_KINDS)}"
        refuse(name, f"the type {problem}; use one of {', '.join(TYPES)}; {made_up}")
    column: Column = type_named(str(kind)).parse(Field(field, missing_values))
    return column
