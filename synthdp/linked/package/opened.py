"""Open columns of a package: all of them as those of one table, of which each root is a record."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from synthdp.core.errors import SchemaError
from synthdp.linked.package.linked_table import LinkedTable, refuse_package
from synthdp.linked.package.qualified import OTHER, qualified_rule
from synthdp.schema.columns.column import Column
from synthdp.schema.open_column import OpenColumn
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.rules.rules import is_check, names_in

Rules = Iterable[Mapping[str, Any]]


def joint_schema(tables: Sequence[LinkedTable], rules: Rules) -> OpenSchema:
    """The columns of all tables, called ``table.column``, with the rules on them that one row of
    each table keeps to.

    It says what is learnt of them. Rules of a view that name rows beside, or numbers of children,
    are not among its rules.

    Raises
    ------
    SchemaError
        If a rule of the package names an open column, and is a check on rows beside, or no check
        and more than bins is open.
    """
    fields = []
    of_tables = []
    for table in tables:
        if table.declared is None:
            continue
        names = {name: f"{table.name}.{name}" for name in table.declared.names}
        of_tables += [qualified_rule(rule, names) for rule in table.declared.rules]
        fields += [_field(column, names[column.name]) for column in table.declared.columns]
    known = _names_of(tables)
    opened = {
        f"{table.name}.{column.name}": column.open_parts
        for table in tables
        if table.declared is not None
        for column in table.declared.open_columns
    }
    of_package = [dict(rule) for rule in rules]
    for rule in of_package:
        refused = _columns_in(rule, known) & opened.keys()
        if not _needs_levels(rule, known):
            speaks_of = set() if is_check(rule) else refused
            refused = {name for name in speaks_of if opened[name] != {"bins"}}
        if refused:
            refuse_package(
                f"a rule names {min(refused)!r}, whose domain is derived; declare the column, without "
                "synthdp.derive, or remove the rule"
            )
    kept = _tied([*of_tables, *of_package], opened, known)
    own = {"synthdp": {"constraints": kept}} if kept else {}
    try:
        return OpenSchema.from_dict({"fields": fields, **own}, learns_bins=False)
    except SchemaError as error:
        refuse_package(str(error).removeprefix("schema: "))


def columns_of_rules(tables: Sequence[LinkedTable], rules: Rules) -> tuple[set[str], set[str]]:
    """The columns, called ``table.column``, whose levels rules of a package need before a run, and
    those of which others have conditions on values.
    """
    known = _names_of(tables)
    needing, speaking = set[str](), set[str]()
    for rule in rules:
        if _needs_levels(rule, known):
            needing |= _columns_in(rule, known)
        elif not is_check(rule):
            speaking |= _columns_in(rule, known)
    return needing, speaking


def _tied(
    rules: Iterable[Mapping[str, Any]], opened: Collection[str], known: Collection[str]
) -> list[Mapping[str, Any]]:
    """The rules on columns of a row and those above that hang together with open ones, by columns
    that they share: what is learnt must leave a row that keeps to all of them. The views keep all
    others.
    """
    of_rows = [rule for rule in rules if names_in(rule) <= {*known}]
    reached = {*opened}
    n_reached = 0
    while n_reached < len(reached):
        n_reached = len(reached)
        for rule in of_rows:
            if not reached.isdisjoint(names := names_in(rule)):
                reached |= names
    return [rule for rule in of_rows if not reached.isdisjoint(names_in(rule))]


def closed_fields(table: LinkedTable, joint: OpenSchema) -> dict[str, dict[str, Any]]:
    """The fields of a table's open columns as the joint schema has them by now, by their names."""
    declared = table.declared
    if declared is None:
        return {}
    columns = {column.name: column for column in joint.columns}
    fields = []
    for column in declared.open_columns:
        field = _field(columns[f"{table.name}.{column.name}"], column.name)
        fields.append(field)
    if declared.relatives is not None:
        fields = declared.relatives.added_to(fields)
    return {field["name"]: field for field in fields}


def learnt_parts(joint: OpenSchema) -> dict[str, Collection[str]]:
    """What is learnt of each column."""
    return {column.name: column.open_parts for column in joint.open_columns}


def _names_of(tables: Sequence[LinkedTable]) -> set[str]:
    return {
        f"{table.name}.{name}"
        for table in tables
        if table.declared is not None
        for name in table.declared.names
    }


def _columns_in(rule: Mapping[str, Any], known: Collection[str]) -> set[str]:
    """The columns that a rule names, also where it does so of rows beside, or of rows by number."""
    plain = {name.removeprefix(OTHER) for name in names_in(rule)}
    return plain | {name.rpartition(":")[0] for name in plain.difference(known)}


def _needs_levels(rule: Mapping[str, Any], known: Collection[str]) -> bool:
    """Whether a rule says what follows from each level, or is a check that is not on columns of a
    row and those above alone.
    """
    return "determines" in rule or (is_check(rule) and not names_in(rule) <= {*known})


def _field(column: Column | OpenColumn, name: str) -> dict[str, Any]:
    return {**column.field(), "name": name, "missingValues": list(column.missing_values)}
