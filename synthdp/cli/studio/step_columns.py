"""Step 2: what each column holds, and what is to be learnt of it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from synthdp.cli.studio.descriptions import (
    Kind,
    Said,
    check,
    keys_of,
    kinds_of_tables,
    said_of,
    save_kinds,
)
from synthdp.cli.studio.fields import INPUTS, KINDS, field_of, inputs_of
from synthdp.cli.studio.projects import PACKAGE
from synthdp.cli.studio.visits import Visit
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.schema.code_books import code_book
from synthdp.schema.kinds import IGNORE

GENERAL = ("kind", "required", "bare", "more", *(each.name for each in INPUTS))
"""What is asked of a column."""


def columns_view(visit: Visit) -> dict[str, Any]:
    """Every column with its inputs, and what is said of it."""
    tables: list[dict[str, Any]] = []
    for place, (table, kinds) in enumerate(kinds_of_tables(visit.folder, visit.project).items()):
        keys = _keys(visit, table)
        columns = [
            {
                "id": f"c{place}-{number}",
                "name": name,
                "is_key": name in keys,
                "inputs": _shown(visit, f"c{place}-{number}", kind),
                "said": Said() if name in keys else said_of(name, kind, kinds, visit.project),
            }
            for number, (name, kind) in enumerate(kinds.items())
        ]
        tables.append({"name": table, "columns": columns})
    findings, problem = _whole(visit)
    return {
        "tables": tables,
        "kinds": KINDS,
        "questions": INPUTS,
        "findings": findings,
        "problem": problem,
        "n_open": sum(not each["inputs"].get("kind") for t in tables for each in t["columns"]),
    }


def save_columns(visit: Visit) -> str:
    """Save all columns, or fill them in from a code book."""
    tables = kinds_of_tables(visit.folder, visit.project)
    action = visit.text("action")
    filled = (_with_code_book if action == "book" else _given)(visit, tables)
    if action == "rest":
        filled = {
            table: {name: "categorical" if kind is None else kind for name, kind in kinds.items()}
            for table, kinds in filled.items()
        }
    goes_on = action == "go_on"
    project = visit.save(walked=max(visit.project.walked, 1))
    save_kinds(visit.folder, project, filled)
    if not goes_on:
        return "/columns"
    if not project.is_linked:  # whose keys are named in the next step
        check(visit.folder, project)
    visit.folder.save(replace(project, walked=max(project.walked, 2)), seen=project.version)
    return "/people"


def said_of_form(visit: Visit) -> dict[str, Any]:
    """What is said of the one column whose inputs are sent, as they are typed."""
    name, place = visit.text("column"), visit.text("id")
    tables = kinds_of_tables(visit.folder, visit.project)
    for number, kinds in enumerate(tables.values()):
        if place.startswith(f"c{number}-") and name in kinds:
            try:
                typed = {
                    each: field_of(_inputs(visit, f"c{number}-{other}"))
                    for other, each in enumerate(kinds)
                    if f"c{number}-{other}.kind" in visit.form
                }
                said = said_of(name, typed.get(name), {**kinds, **typed}, visit.project)
                return {"said": said}
            except SynthdpError as error:
                return {"said": Said(errors=(str(error),))}
    raise ParameterError("there is no such column; open the page again")


def _keys(visit: Visit, table: str) -> set[str]:
    if not visit.project.is_linked:
        return set()
    (resource,) = (
        each for each in visit.folder.public(PACKAGE)["resources"] if each["name"] == table
    )
    return keys_of(resource)


def _inputs(visit: Visit, place: str) -> dict[str, str]:
    return {name: visit.text(f"{place}.{name}") for name in GENERAL}


def _shown(visit: Visit, place: str, kind: Kind) -> dict[str, str]:
    """The inputs as they were sent, if they were and were refused; else as they are saved."""
    if f"{place}.kind" in visit.form:
        return {name: text for name, text in _inputs(visit, place).items() if text}
    return inputs_of(kind)


def _given(visit: Visit, tables: Mapping[str, Mapping[str, Kind]]) -> dict[str, dict[str, Kind]]:
    """The kinds that the form says, one after the other."""
    found = dict[str, dict[str, Kind]]()
    for place, (table, kinds) in enumerate(tables.items()):
        found[table] = {}
        keys = _keys(visit, table)
        for number, (name, kind) in enumerate(kinds.items()):
            if name in keys:
                found[table][name] = kind
                continue
            try:
                found[table][name] = field_of(_inputs(visit, f"c{place}-{number}"))
            except SynthdpError as error:
                raise ParameterError(f"column {name!r}: {error}") from None
    return found


def _with_code_book(
    visit: Visit, tables: Mapping[str, Mapping[str, Kind]]
) -> dict[str, dict[str, Kind]]:
    """The kinds with the levels that a code book lists for columns of these names."""
    levels = code_book(visit.text("book"), labels=visit.text("holds") == "labels")
    known = {name for kinds in tables.values() for name in kinds}
    if not levels.keys() & known:
        listed = ", ".join(sorted(levels)[:5])
        raise ParameterError(f"the code book is about {listed}, which are no columns of the table")
    filled = dict[str, dict[str, Kind]]()
    for table, kinds in tables.items():
        filled[table] = dict(kinds)
        for name in kinds.keys() & levels.keys() - _keys(visit, table):
            field = inputs_of(kinds[name])
            if field["kind"] not in ("", "categorical", IGNORE):
                continue  # a number with words for some of its values stays a number
            field |= {"kind": "categorical", "levels": "\n".join(levels[name])}
            filled[table][name] = field_of(field)
    return filled


def _whole(visit: Visit) -> tuple[list[str], str]:
    """What is found about all columns together, and what refuses them."""
    try:
        content = check(visit.folder, visit.project)
    except SynthdpError as error:
        return [], str(error)
    findings = [
        f"{each['what']}; {each['way_out']}"
        for each in content.get("findings", ())
        if not each.get("columns")
    ]
    return findings, ""
