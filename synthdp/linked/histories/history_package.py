"""One table of persons with several rows each, as a package: persons, who have a key and what is the
same in all their rows, and these rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.linked.package.linked_table import MAX_CHILDREN
from synthdp.linked.package.package import ONE_TABLE, Package
from synthdp.linked.package.qualified import qualified_rule
from synthdp.release.run_settings import RunSettings
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.rules.rules import names_in
from synthdp.schema.words.headers import listed

PERSONS, ROWS = "persons", "rows"
"""The tables of the package."""

BOTH = "both"
"""Whose the key is, and rules on columns of both."""


def is_history(package: Package) -> bool:
    """Whether a package stands for one table of persons with several rows."""
    names = tuple(table.name for table in package.tables)
    return package.is_of_one_table and names == (PERSONS, ROWS)


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
        What decides the run: unit, most rows of a person, by what they are ordered, and which
        columns are the same in all.

    Raises
    ------
    ParameterError
        If rows cannot be ordered by ``order``: no such column, or it may be missing; or
        ``constant`` names no column that persons can have.
    SchemaError
        If the schema fits no package.
    """
    unit = settings.unit
    assert unit is not None
    _check_columns(schema, settings)
    content = schema.to_dict()
    stated = content.get("synthdp", {})
    owners = dict.fromkeys((field["name"] for field in content["fields"]), ROWS)
    owners |= dict.fromkeys(settings.constant, PERSONS) | {unit: BOTH}
    rules = _parted(stated.get("constraints", ()), owners)
    missing = content["missingValues"]
    key = {"name": unit, "type": "integer"}
    fields = _with_key(content["fields"], key, header)

    def schema_of(table: str, **keys: Any) -> dict[str, Any]:
        own = [field for field in fields if owners[field["name"]] in {table, BOTH}]
        return {"fields": own, "missingValues": missing, **keys}

    persons = schema_of(PERSONS, primaryKey=unit)
    if rules[PERSONS]:
        persons["synthdp"] = {"constraints": rules[PERSONS]}
    link = {"fields": unit, "reference": {"resource": PERSONS, "fields": unit}}
    rows = schema_of(ROWS, foreignKeys=[link])
    # In the package the key of persons is a column of its own, and none that is left out.
    ignored = [name for name in stated.get("ignore", ()) if name != unit]
    own = {**stated, "ignore": ignored, "constraints": rules[ROWS]}
    if own := {name: value for name, value in own.items() if value}:
        rows["synthdp"] = own
    bounds: dict[str, Any] = {"max_children": settings.max_rows, "min_children": 1}
    if settings.order is not None:
        bounds["order"] = settings.order
    dialect = {name: content[name] for name in ("dialect",) if name in content}
    resources = [
        {"name": PERSONS, "schema": persons},
        {"name": ROWS, "schema": rows, "synthdp": bounds, **dialect},
    ]
    described: dict[str, Any] = {"profile": ONE_TABLE, "resources": resources}
    if settings.constant:
        described["columns"] = [field["name"] for field in fields]
    if rules[BOTH]:
        described["synthdp"] = {"constraints": rules[BOTH]}
    try:
        return Package.from_dict(described)
    except SchemaError as error:
        problem = str(error)
        for table in (ROWS, PERSONS):
            problem = problem.removeprefix(f"package: table {table!r}: ")
        raise SchemaError(f"schema: {problem}") from None


def _parted(rules: Iterable[Any], owners: Mapping[str, str]) -> dict[str, list[Any]]:
    """Rules on the columns of one table, by whose columns they are on; those on columns of both
    tables name them as a package does.
    """
    names = {name: f"{table}.{name}" for name, table in owners.items()}
    parted: dict[str, list[Any]] = {PERSONS: [], ROWS: [], BOTH: []}
    for rule in rules:
        tables = {owners[name] for name in names_in(rule)}
        whose = tables.pop() if len(tables) == 1 else BOTH
        parted[whose].append(qualified_rule(rule, names) if whose == BOTH else rule)
    return parted


def _check_columns(schema: OpenSchema, settings: RunSettings) -> None:
    """Raise `ParameterError` if settings name columns that persons, or their order, cannot have."""
    called = settings.spelling.of
    if settings.unit in schema.generated.names:
        raise ParameterError(
            f"{called('unit')} is {settings.unit!r}, which the schema generates; where rows hang together it is fresh "
            "by itself"
        )
    if settings.order is not None:
        _check_order(schema, settings.order, called("order"))
    for name in settings.constant:
        _check_column(schema, name, called("constant"))
        if name == settings.order:
            raise ParameterError(
                f"{called('constant')} is {name!r}, which is {called('order')} as well; leave out one of the two"
            )


def _check_order(schema: OpenSchema, order: str, called: str) -> None:
    _check_column(schema, order, called)
    column = next(each for each in schema.columns if each.name == order)
    if not column.template.required:
        raise ParameterError(
            f"{called} is {order!r}, which may be missing, so that rows would have no place; set constraints.required "
            "of that column in the schema"
        )


def _check_column(schema: OpenSchema, name: str, called: str) -> None:
    """Raise `ParameterError` unless a schema has a column that is read and drawn."""
    if name not in schema.names:
        left_out = (
            "ignores"
            if name in schema.ignored
            else "generates"
            if name in schema.generated.names
            else "lacks"
        )
        raise ParameterError(
            f"{called} is {name!r}, which the schema {left_out}; name one of {listed(schema.names)}"
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
