"""One table of persons with several rows each, as a package: persons, who have nothing but a key,
and their rows.
"""

from collections.abc import Sequence
from typing import Any

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.linked.package.linked_table import MAX_CHILDREN
from synthdp.linked.package.package import Package
from synthdp.release.run_settings import RunSettings
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.words.headers import listed

PERSONS, ROWS = "persons", "rows"
"""The tables of the package."""

PROFILE = "synthdp-history"
"""Stands in the package, so that its releases are known for what they are."""


def is_history(package: Package) -> bool:
    """Whether a package stands for one table of persons with several rows."""
    names = tuple(table.name for table in package.tables)
    return package.content.get("profile") == PROFILE and names == (PERSONS, ROWS)


def check_rows(settings: RunSettings) -> None:
    """Raise `ParameterError` unless persons may have as many rows as settings say."""
    most = settings.max_rows_per_unit
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MAX_CHILDREN:
        called = settings.spelling.of
        assert settings.kept_by is not None
        raise ParameterError(
            f"{called('max_rows_per_unit')} is {most!r}; with {called(settings.kept_by)} give a whole number from "
            f"1 to {MAX_CHILDREN}"
        )


def history_package(
    schema: OpenSchema,
    header: Sequence[str],
    settings: RunSettings,
) -> Package:
    """The package that a table stands for.

    Parameters
    ----------
    schema
        What is public about the table, without ``unit``, in the order of the header.
    header
        The table's columns.
    settings
        What decides the run: unit, most rows of a person, and by what they are ordered.

    Raises
    ------
    ParameterError
        If rows cannot be ordered by ``order``: no such column, or it may be missing.
    SchemaError
        If the schema fits no package.
    """
    unit = settings.unit
    order = settings.order
    assert unit is not None
    of_unit = settings.spelling.of("unit")
    if order is not None:
        _check_order(schema, order, settings.spelling.of("order"))
    if unit in schema.generated.names:
        raise ParameterError(
            f"{of_unit} is {unit!r}, which the schema generates; where rows hang together it is fresh by itself"
        )
    content = schema.to_dict()
    missing = content["missingValues"]
    dialect = {key: content[key] for key in ("dialect",) if key in content}
    # In the package the key of persons is a column of its own, and none that is left out.
    own = dict(content.get("synthdp", {}))
    if unit in (ignored := own.get("ignore", [])):
        own["ignore"] = [name for name in ignored if name != unit]
    # Persons are a table of nothing but keys: all that is said of one stands in the rows.
    key = {"name": unit, "type": "integer"}
    link = {"fields": unit, "reference": {"resource": PERSONS, "fields": unit}}
    rows = {
        "fields": _with_key(content["fields"], key, header),
        "missingValues": missing,
        "foreignKeys": [link],
    }
    if own:
        rows |= {"synthdp": own}
    bounds: dict[str, Any] = {"max_children": settings.max_rows, "min_children": 1}
    if order is not None:
        bounds["order"] = order
    persons = {"fields": [key], "missingValues": missing, "primaryKey": unit}
    resources = [
        {"name": PERSONS, "schema": persons},
        {"name": ROWS, "schema": rows, "synthdp": bounds, **dialect},
    ]
    try:
        return Package.from_dict({"profile": PROFILE, "resources": resources})
    except SchemaError as error:
        raise SchemaError(
            f"schema: {str(error).removeprefix(f'package: table {ROWS!r}: ')}"
        ) from None


def _check_order(schema: OpenSchema, order: str, called: str) -> None:
    if order not in schema.names:
        left_out = (
            "ignores"
            if order in schema.ignored
            else "generates"
            if order in schema.generated.names
            else "lacks"
        )
        raise ParameterError(
            f"{called} is {order!r}, which the schema {left_out}; name one of {listed(schema.names)}"
        )
    column = next(each for each in schema.columns if each.name == order)
    if not column.template.required:
        raise ParameterError(
            f"{called} is {order!r}, which may be missing, so that rows would have no place; set constraints.required "
            "of that column in the schema"
        )


def _with_key(fields: Sequence[Any], key: Any, header: Sequence[str]) -> list[Any]:
    """Fields with the key of persons where the table has it."""
    places = {name: place for place, name in enumerate(header)}
    before = [
        n
        for n, field in enumerate(fields)
        if places.get(field["name"], len(places)) > places[key["name"]]
    ]
    place = before[0] if before else len(fields)
    return [*fields[:place], key, *fields[place:]]
