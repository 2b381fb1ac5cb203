"""Step 2: what each column holds, and what is to be learnt of it."""

from collections.abc import Mapping
from typing import Any

from synthdp.cli.planning.column_check import ColumnCheck
from synthdp.cli.studio.declared import (
    Kind,
    check,
    kinds_of,
    problem_of,
    resources,
    said_of,
    save_kinds,
)
from synthdp.cli.studio.fields import INPUTS, KINDS, field_of, inputs_of
from synthdp.cli.studio.project import Visit
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.linked.package.kinds import keys_of, kinds_in
from synthdp.schema.code_books import code_book
from synthdp.schema.keys import OWN
from synthdp.schema.kinds import IGNORE

GENERAL = ("kind", "more", *(each.name for each in INPUTS))
"""What is asked of a column."""


def columns_view(visit: Visit) -> dict[str, Any]:
    """Every column with its inputs, and what is said of it."""
    kinds, fixed = kinds_of(visit), _fixed(visit)
    tables = dict[str, list[dict[str, Any]]]((table, []) for table in kinds)
    for (table, name), (place, kind) in _columns(kinds).items():
        inputs, said = _sent(visit, place) or inputs_of(kind), said_of(visit, name, kinds[table])
        column = {"id": place, "name": name, "inputs": inputs, "said": said}
        tables[table].append(column | {"fixed": fixed.get((table, name), "")})
    every = [each for columns in tables.values() for each in columns if not each["fixed"]]
    n_open = sum(not each["inputs"].get("kind") for each in every)
    problem = "" if n_open else problem_of(visit)
    found = [] if n_open or problem else check(visit).get("findings", ())
    findings = [f"{each['what']}; {each['way_out']}" for each in found if not each.get("columns")]
    return {
        "tables": tables,
        "kinds": KINDS,
        "questions": INPUTS,
        "n_open": n_open,
        "problem": problem,
        "findings": findings,
    }


def save_columns(visit: Visit) -> str:
    """Save all columns, or fill them in from a code book."""
    tables, action = kinds_of(visit), visit.text("action")
    filled = (_with_code_book if action == "book" else _given)(visit, tables)
    if action == "rest":
        fixed = _fixed(visit)
        filled = {
            table: {
                name: "categorical" if kind is None and (table, name) not in fixed else kind
                for name, kind in kinds.items()
            }
            for table, kinds in filled.items()
        }
    visit = visit.saved()
    save_kinds(visit, filled)
    if action != "go_on":
        return "/columns"
    if not visit.project.is_linked:  # whose keys are named in the next step
        check(visit)
    visit.saved(walked=max(visit.project.walked, 2))
    return "/people"


def said_of_form(visit: Visit) -> dict[str, Any]:
    """What is said of the one column whose inputs are sent, as they are typed."""
    kinds = kinds_of(visit)
    columns = _columns(kinds)
    asked = next((each for each in columns if columns[each][0] == visit.text("id")), None)
    if asked is None:
        raise ParameterError("there is no such column; open the page again")
    typed = dict(kinds[asked[0]])
    for (table, name), (place, _) in columns.items():
        try:
            if table == asked[0] and (sent := _sent(visit, place)):
                typed[name] = field_of(sent)
        except SynthdpError as error:
            if name == asked[1]:
                return {"said": ColumnCheck(error=str(error)), "kind": typed[name]}
    return {"said": said_of(visit, asked[1], typed), "kind": typed[asked[1]]}


def _columns(tables: Mapping[str, Mapping[str, Kind]]) -> dict[tuple[str, str], tuple[str, Kind]]:
    """Where each column stands on the page, and its kind, by its table and name."""
    return {
        (table, name): (f"c{number}-{place}", kind)
        for number, (table, kinds) in enumerate(tables.items())
        for place, (name, kind) in enumerate(kinds.items())
    }


def places_of(visit: Visit) -> dict[str, str]:
    """Where columns stand on the page, by their names, of linked tables by both."""
    places = dict[str, str]()
    for (table, name), (place, _) in _columns(kinds_of(visit)).items():
        places.setdefault(name, place)
        places[f"{table}.{name}"] = place
    return places


def _fixed(visit: Visit) -> dict[tuple[str, str], str]:
    """The columns of linked tables of which nothing is asked: keys, and those of public tables."""
    keys = {(each["name"], key): "key" for each in resources(visit) for key in keys_of(each)}
    listed = [each for each in resources(visit) if each.get(OWN, {}).get("public")]
    return {(each["name"], name): "public" for each in listed for name in kinds_in(each)} | keys


def _sent(visit: Visit, place: str) -> dict[str, str]:
    """The inputs of a column as they were sent; empty if they were not."""
    if f"{place}.kind" not in visit.form:
        return {}
    return {name: visit.text(f"{place}.{name}") for name in GENERAL}


def _given(visit: Visit, tables: Mapping[str, Mapping[str, Kind]]) -> dict[str, dict[str, Kind]]:
    """The kinds with those that the form says."""
    filled, fixed = {table: dict(kinds) for table, kinds in tables.items()}, _fixed(visit)
    for (table, name), (place, _) in _columns(tables).items():
        if (sent := _sent(visit, place)) and (table, name) not in fixed:
            try:
                filled[table][name] = field_of(sent)
            except SynthdpError as error:
                raise ParameterError(f"column {name!r}: {error}") from None
    return filled


def _with_code_book(
    visit: Visit, tables: Mapping[str, Mapping[str, Kind]]
) -> dict[str, dict[str, Kind]]:
    """The kinds with the levels that a code book lists for columns of these names."""
    levels = code_book(visit.text("book"), labels=visit.text("holds") == "labels")
    filled, columns = {table: dict(kinds) for table, kinds in tables.items()}, _columns(tables)
    fixed = _fixed(visit)
    if not levels.keys() & {name for _, name in columns}:
        listed = ", ".join(sorted(levels)[:5])
        raise ParameterError(f"the code book is about {listed}, which are no columns of the table")
    for (table, name), (_, kind) in columns.items():
        field = inputs_of(kind)
        # a number with words for some of its values stays a number
        is_free = field["kind"] in ("", "categorical", IGNORE)
        if name in levels and is_free and (table, name) not in fixed:
            field |= {"kind": "categorical", "levels": "\n".join(levels[name])}
            filled[table][name] = field_of(field)
    return filled
