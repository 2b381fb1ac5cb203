"""Step 3: whose rows are protected, how linked tables hang together, and what cannot be."""

import re
from collections.abc import Mapping
from typing import Any

from synthdp.cli.studio.descriptions import (
    check,
    keys_of,
    kinds_of_tables,
    rules_of,
    save_package,
    save_rules,
)
from synthdp.cli.studio.fields import inputs_of
from synthdp.cli.studio.pictures import picture_of_tables
from synthdp.cli.studio.projects import PACKAGE
from synthdp.cli.studio.visits import Visit
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.core.strict_json import parse_json

COMPARED = ("<=", "<", "=", ">=", ">")
"""Between two columns, or a column and a number."""

CONDITIONS = ("a", "b", "c")
"""A rule that is clicked has up to so many conditions; longer ones are written as JSON."""


def people_view(visit: Visit) -> dict[str, Any]:
    """Who is protected, and the rules."""
    tables = kinds_of_tables(visit.folder, visit.project)
    is_linked = visit.project.is_linked
    columns = [
        f"{table}.{name}" if is_linked else name
        for table, kinds in tables.items()
        for name in kinds
    ]
    content = visit.folder.public(PACKAGE) if is_linked else {}
    return {
        "columns": columns,
        "rules": [_rule_text(rule) for rule in rules_of(visit.folder, visit.project)],
        "compared": COMPARED,
        "conditions": CONDITIONS,
        "levels": {} if is_linked else _levels(tables[""]),
        "resources": [_linked(each) for each in content.get("resources", ())],
        "root": (content.get("synthdp") or {}).get("root") or "",
        "picture": picture_of_tables(content) if is_linked else None,
        "problem": _problem(visit),
    }


def save_people(visit: Visit) -> str:
    """Say whose rows they are, add a rule, or remove one."""
    action = visit.text("action")
    rules = rules_of(visit.folder, visit.project)
    if action == "add":
        visit.save()
        save_rules(visit.folder, visit.project, [*rules, _rule(visit)])
        return "/people#rules"
    if re.fullmatch(r"remove-\d{1,4}", action, re.ASCII):
        number = int(action.removeprefix("remove-"))
        visit.save()
        save_rules(visit.folder, visit.project, rules[:number] + rules[number + 1 :])
        return "/people#rules"
    if action == "links":
        visit.save()
        save_package(visit.folder, visit.project, _with_links(visit))
        return "/people#tables"
    if action == "go_on":
        return _save_units(visit)
    raise ParameterError("the form says not what is to be done; open the page again")


def _save_units(visit: Visit) -> str:
    changed: dict[str, Any] = {"walked": max(visit.project.walked, 3)}
    if not visit.project.is_linked:
        unit = visit.text("unit") if visit.text("several") == "yes" else ""
        if visit.text("several") == "yes" and unit not in visit.project.names:
            raise ParameterError(
                "no column tells persons apart; choose it, or say one row a person"
            )
        order = visit.text("order") if unit else ""
        most = visit.whole("max_rows", usual=1) if unit else 1
        changed |= {"unit": unit, "order": order, "max_rows": most}
    project = visit.save(**changed)
    check(visit.folder, project)
    return "/budget"


def _levels(kinds: Mapping[str, Any]) -> dict[str, list[str]]:
    """The declared levels of columns, to choose from."""
    listed = {name: inputs_of(kind).get("levels", "") for name, kind in kinds.items()}
    return {name: text.splitlines() for name, text in listed.items() if text}


def _rule(visit: Visit) -> Any:
    """The rule that was clicked together, or written as JSON."""
    kind = visit.text("rule")
    if kind == "check":
        right = visit.text("right") or visit.text("right_number")
        left, compared = visit.text("left"), visit.text("compared")
        if not left or not right or compared not in COMPARED:
            raise ParameterError("the comparison is not complete; choose two columns, or a number")
        return {"check": f"{_quoted(left, visit)} {compared} {_quoted(right, visit)}"}
    if kind == "determines":
        return {
            "determines": [visit.text("fine"), visit.text("coarse")],
            "map": dict(_pairs(visit.text("map"))),
        }
    if kind == "forbid":
        conditions = dict(filter(None, (_condition(visit, each) for each in CONDITIONS)))
        if not conditions:
            raise ParameterError("the rule has no condition; choose a column and its levels")
        return {"forbid": conditions}
    return parse_json(visit.text("json"), "rule")


def _condition(visit: Visit, place: str) -> tuple[str, Any] | None:
    column = visit.text(f"{place}.column")
    if not column:
        return None
    if levels := visit.text(f"{place}.levels"):
        return column, [level.strip() for level in levels.replace("\n", ",").split(",")]
    bounds = {name: visit.text(f"{place}.{name}") for name in ("minimum", "maximum")}
    given = {name: _value(text) for name, text in bounds.items() if text}
    if not given:
        raise ParameterError(f"the condition on {column!r} is empty; give levels, or a limit")
    return column, given


def _value(text: str) -> Any:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text


def _quoted(name: str, visit: Visit) -> str:
    """A column as checks name it; a number as it is."""
    known = name in visit.project.names or visit.project.is_linked
    return f"`{name}`" if known and not name.isidentifier() else name


def _pairs(text: str) -> list[tuple[str, str]]:
    """Lines of a level and what it belongs to."""
    found = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.replace("\t", ";").replace("=", ";").split(";")]
        if len(parts) == 2:
            found.append((parts[0], parts[1]))
        elif line.strip():
            raise ParameterError(f"the line {line.strip()!r} is no pair; write level; level")
    return found


def _rule_text(rule: Any) -> str:
    """A rule in a line, as the page lists it."""
    if not isinstance(rule, Mapping):
        return str(rule)
    if "check" in rule:
        return str(rule["check"])
    if "determines" in rule:
        return " → ".join(map(str, rule["determines"]))
    if "forbid" in rule:
        return "✕ " + " · ".join(f"{name}: {_said(each)}" for name, each in rule["forbid"].items())
    return str(dict(rule))


def _said(condition: Any) -> str:
    if isinstance(condition, Mapping):
        return f"{condition.get('minimum', '…')} … {condition.get('maximum', '…')}"
    return ", ".join(map(str, condition))


def _linked(resource: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked of one of linked tables."""
    own, schema = resource.get("synthdp") or {}, resource["schema"]
    links = schema.get("foreignKeys") or []
    keys = schema.get("primaryKey") or []
    return {
        "name": resource["name"],
        "columns": [field["name"] for field in schema["fields"]],
        "key": keys if isinstance(keys, str) else ", ".join(keys),
        "links": "\n".join(_link_text(link) for link in links),
        "max_children": own.get("max_children") or "",
        "order": own.get("order") or "",
        "public": bool(own.get("public")),
    }


def _link_text(link: Mapping[str, Any]) -> str:
    fields, reference = link["fields"], link["reference"]
    here = fields if isinstance(fields, str) else ", ".join(fields)
    there = reference["fields"]
    there = there if isinstance(there, str) else ", ".join(there)
    return f"{here} -> {reference['resource']}: {there}"


def _with_links(visit: Visit) -> dict[str, Any]:
    """The description with the keys and links of the form."""
    content = visit.folder.public(PACKAGE)
    resources = []
    for number, resource in enumerate(content["resources"]):
        schema = dict(resource["schema"])
        schema["primaryKey"] = _listed(visit.text(f"t{number}.key"))
        schema["foreignKeys"] = [
            _link(line) for line in visit.text(f"t{number}.links").splitlines()
        ]
        keys = keys_of({"schema": schema})
        schema["fields"] = [
            each | {"type": "string"} if each["name"] in keys and not each["type"] else each
            for each in schema["fields"]
        ]
        own = dict(resource.get("synthdp") or {})
        for name in ("max_children", "order", "public"):
            own.pop(name, None)
        if most := visit.whole(f"t{number}.max_children"):
            own["max_children"] = most
        if order := visit.text(f"t{number}.order"):
            own["order"] = order
        if visit.text(f"t{number}.public"):
            own["public"] = True
        resources.append({**resource, "schema": schema, "synthdp": own})
    own = {key: value for key, value in content.get("synthdp", {}).items() if key != "root"}
    root = {"root": visit.text("root")} if visit.text("root") else {}
    return {**content, "synthdp": own | root, "resources": resources}


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _link(line: str) -> dict[str, Any]:
    here, arrow, there = line.partition("->")
    table, colon, fields = there.partition(":")
    if not arrow or not colon:
        raise ParameterError(f"the link {line!r} is not clear; write column -> table: column")
    return {
        "fields": _listed(here),
        "reference": {"resource": table.strip(), "fields": _listed(fields)},
    }


def _problem(visit: Visit) -> str:
    try:
        check(visit.folder, visit.project)
    except SynthdpError as error:
        return str(error)
    return ""
