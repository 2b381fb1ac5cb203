"""Step 3: whose rows are protected, how linked tables hang together, and what cannot be."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from synthdp.cli.studio.declared import (
    check,
    content_of,
    problem_of,
    resources,
    rules_of,
    save_content,
    save_rules,
)
from synthdp.cli.studio.project import Visit
from synthdp.cli.studio.rules import COMPARED, TERMS, builder, columns_of, rule_of, rule_text
from synthdp.core.errors import ParameterError
from synthdp.linked.package.kinds import keys_of
from synthdp.schema.keys import OWN


def people_view(visit: Visit) -> dict[str, Any]:
    """Who is protected, and the rules."""
    tables = resources(visit)
    return {
        "columns": list(columns_of(visit)),
        "rules": [rule_text(rule) for rule in rules_of(visit)],
        "builder": builder(visit),
        "compared": COMPARED,
        "terms": TERMS,
        "tables": [_linked(each) for each in tables],
        "root": (content_of(visit).get(OWN) or {}).get("root") or "",
        "picture": _below(tables, None, ()),
        "problem": problem_of(visit),
        "sent": visit.texts_of,
        "text": visit.text,
    }


def save_people(visit: Visit) -> str:
    """Say whose rows they are, add a rule, or remove one."""
    action, rules = visit.text("action"), rules_of(visit)
    if action == "go_on":
        return _save_units(visit)
    visit = visit.saved()
    if action == "links":
        save_content(visit, _with_links(visit))
        return "/people#tables"
    if action == "add":
        save_rules(visit, [*rules, rule_of(visit)])
    elif re.fullmatch(r"remove-[0-9]{1,4}", action):
        number = int(action.removeprefix("remove-"))
        save_rules(visit, rules[:number] + rules[number + 1 :])
    else:
        raise ParameterError("the form says not what is to be done; open the page again")
    return "/people#rules"


def _save_units(visit: Visit) -> str:
    changed: dict[str, Any] = {}
    if not visit.project.is_linked:
        unit = visit.text("unit") if visit.text("several") == "yes" else ""
        if visit.text("several") == "yes" and unit not in visit.project.names:
            raise ParameterError(
                "no column tells persons apart; choose it, or say one row a person"
            )
        changed |= {"unit": unit, "order": visit.text("order") if unit else ""}
        changed |= {"max_rows": visit.whole("max_rows", usual=1) if unit else 1}
    visit = visit.saved(**changed)
    check(visit)
    visit.saved(walked=max(visit.project.walked, 3))
    return "/budget"


def _linked(resource: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked of one of linked tables."""
    schema = resource["schema"]
    links = [(each["fields"], each["reference"]["resource"]) for each in _links(resource)]
    return {
        "name": resource["name"],
        "columns": [field["name"] for field in schema["fields"]],
        "key": _joined(schema.get("primaryKey") or ()),
        "links": [*((_joined(fields), table) for fields, table in links), ("", "")],
        **(resource.get(OWN) or {}),
    }


def _links(resource: Mapping[str, Any]) -> Sequence[Any]:
    return resource["schema"].get("foreignKeys") or ()


def _joined(key: Any) -> str:
    return key if isinstance(key, str) else ", ".join(key)


def _below(
    tables: Sequence[Mapping[str, Any]], parent: str | None, above: tuple[str, ...]
) -> list[dict[str, Any]]:
    """The tables that hang on one, each with those that hang on it, and the public ones it names."""
    public = {each["name"] for each in tables if (each.get(OWN) or {}).get("public")}
    found = []
    for each in tables:
        named = {link["reference"]["resource"] for link in _links(each)}
        parents, name = named - public, each["name"]
        if name not in {*public, *above} and (parent in parents or (not parent and not parents)):
            below = _below(tables, name, (*above, name))
            found.append({"name": name, "public": sorted(named & public), "below": below})
    return found


def _with_links(visit: Visit) -> dict[str, Any]:
    """The description with the keys and links of the form."""
    content, tables = content_of(visit), []
    keys = {
        each["name"]: _listed(visit.text(f"t{number}.key"))
        for number, each in enumerate(content["resources"])
    }
    for number, resource in enumerate(content["resources"]):
        start = f"t{number}"
        fields, parents = visit.texts_of(f"{start}.fields"), visit.texts_of(f"{start}.parent")
        former = {
            (_joined(each["fields"]), each["reference"]["resource"]): each
            for each in _links(resource)
        }
        links = []
        for link in zip(fields, parents, strict=False):
            if link in former and not keys.get(link[1]):  # a list whose key only links name
                links.append(former[link])
            elif any(link):
                links.append(_link(*link, keys=keys))
        schema = dict(resource["schema"]) | {"primaryKey": keys[resource["name"]]}
        schema["foreignKeys"] = links
        linking = keys_of({"schema": schema})
        schema["fields"] = [
            each if each["name"] not in linking or each["type"] else each | {"type": "string"}
            for each in schema["fields"]
        ]
        said = {
            "max_children": visit.whole(f"{start}.max_children"),
            "order": visit.text(f"{start}.order"),
            "public": bool(visit.text(f"{start}.public")),
        }
        own = {key: each for key, each in (resource.get(OWN) or {}).items() if key not in said}
        own |= {key: each for key, each in said.items() if each}
        tables.append({**resource, "schema": schema, OWN: own})
    own = {key: value for key, value in content.get(OWN, {}).items() if key != "root"}
    root = {"root": visit.text("root")} if visit.text("root") else {}
    return {**content, OWN: own | root, "resources": tables}


def _link(fields: str, parent: str, *, keys: Mapping[str, list[str]]) -> dict[str, Any]:
    """A link by columns to the key of another table."""
    if not fields or not keys.get(parent):
        problem = f"a link is not complete: {fields or 'nothing'} -> {parent or 'nothing'}"
        raise ParameterError(f"{problem}; choose a column and a table, and name that table's key")
    return {"fields": _listed(fields), "reference": {"resource": parent, "fields": keys[parent]}}


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]
