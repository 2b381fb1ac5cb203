"""Step 3: whose rows are protected, how linked tables hang together, and what cannot be."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from synthdp.cli.projects.declared import (
    check,
    checked,
    content_of,
    in_order,
    kinds_of,
    resources,
    rules_of,
    save_checked,
    save_content,
    save_kinds,
)
from synthdp.cli.projects.rules import (
    all_rules,
    columns_of,
    dates_apart,
    distance_of,
    relatives,
    with_limits,
)
from synthdp.cli.studio.rules import builder, rule_of
from synthdp.cli.studio.step_columns import places_of
from synthdp.cli.studio.visit import Visit
from synthdp.core.errors import SynthdpError
from synthdp.linked.package.described_links import links_in, names_in, tables_below, with_links
from synthdp.linked.package.qualified import OTHER
from synthdp.report.metrics.rule_breaks import rule_text
from synthdp.schema.keys import OWN
from synthdp.schema.rule_answers import COMPARED, FORMS

UNITS = ("several", "unit", "max_rows", "order")
"""What is asked of persons; it is not saved with a rule, but stays typed."""


def people_view(visit: Visit) -> dict[str, Any]:
    """Who is protected, and the rules; what was typed and not saved yet stays typed."""
    project, content = visit.project, content_of(visit.opened)
    with suppress(SynthdpError):
        content = _typed(visit)
    tables, words = content.get("resources", ()), visit.texts.words("rule")
    said = {"several": "yes" if project.unit else "no", "unit": project.unit}
    said |= {"max_rows": f"{project.max_rows}" if project.unit else "", "order": project.order}
    said |= _typed_units(visit)
    return {
        "columns": list(columns_of(visit.opened)),
        "is_hanging": any(each.startswith(OTHER) for each in columns_of(visit.opened)),
        "forms": FORMS if tables else FORMS[:-1],
        "rules": [
            (id_, rule_text(rule, words), distance_of(visit.opened, rule))
            for id_, (_, rule) in _numbered(visit).items()
        ],
        "apart": dates_apart(visit.opened),
        "relatives": relatives(visit.opened),
        "builder": builder(visit),
        "places": places_of(visit),
        "compared": COMPARED,
        "tables": [_linked(visit, each, f"t{number}") for number, each in enumerate(tables)],
        "root": (content.get(OWN) or {}).get("root") or "",
        "said": said,
        "is_typed": "several" in visit.form or "root" in visit.form,
        "picture": tables_below(tables),
        "problem": checked(visit.opened)[1],
    }


def save_people(visit: Visit) -> str:
    """Say whose rows they are or how tables are linked, add a rule, or remove one."""
    rules = _numbered(visit)
    if visit.action in ("links", "go_on"):
        return _save_units(visit)
    if visit.action == "more":  # room for one case more; nothing is saved
        others = [each for each in visit.form if each not in ("key", "version", "action", "cases")]
        kept = [(name, text) for name in others for text in visit.texts_of(name)]
        return f"/people?{urlencode([*kept, ('cases', visit.whole('cases') + 1)])}#new"
    taken = rules.get(visit.action.replace("distance", "remove"), ("", None))[1]
    ways = {f"apart-{n}": rule for n, rule in enumerate(dates_apart(visit.opened).values())}
    if visit.action == "add":
        rules["add"] = rule_of(visit)
    elif visit.action in ways:
        taken = ways[visit.action]
        rules["apart"] = ("", taken)
    elif not visit.action.startswith("distance-") and visit.chosen(rules):
        del rules[visit.action]
    content = _typed(visit)
    if visit.project.is_linked:
        content = with_limits(content, rules.values())
    kept = [rule for table, rule in rules.values() if not table]
    save_checked(visit.saved().opened, content, kept, taken=taken)
    return f"/people?{urlencode(_typed_units(visit))}#rules"


def _typed_units(visit: Visit) -> dict[str, str]:
    return {name: visit.text(name) for name in UNITS if name in visit.form}


def _typed(visit: Visit) -> Any:
    """What is declared, with the links that are typed; raises what refuses those."""
    return _with_links(visit) if "root" in visit.form else content_of(visit.opened)


def _numbered(visit: Visit) -> dict[str, tuple[str, Any]]:
    """The rules, each with the linked table that it is a limit of, else ''; by the buttons that
    remove them.
    """
    return {f"remove-{number}": rule for number, rule in enumerate(all_rules(visit.opened))}


def _save_units(visit: Visit) -> str:
    changed: dict[str, Any] = {}
    if not visit.project.is_linked:
        is_several = visit.text("several") == "yes"
        unit = visit.text("unit") if is_several else ""
        if is_several and unit not in visit.project.names:
            raise visit.refusal("unit")
        changed |= {"unit": unit, "order": visit.text("order") if unit else ""}
        if unit and not visit.text("max_rows"):
            raise visit.refusal("max_rows")
        changed |= {"max_rows": visit.whole("max_rows") if unit else 1}
    in_order(visit.opened.changed(**changed), content_of(visit.opened))
    visit = visit.saved(**changed)
    if "root" in visit.form:
        save_content(visit.opened, _typed(visit))
    save_kinds(visit.opened, kinds_of(visit.opened), rules_of(visit.opened))
    if visit.action == "links":
        return "/people#tables"
    check(visit.opened)
    visit.saved(walked=3)
    return "/budget"


def _linked(visit: Visit, resource: Mapping[str, Any], start: str) -> dict[str, Any]:
    """What is asked of one of linked tables; links that were typed stay, also refused ones."""
    schema, links = resource["schema"], [(", ".join(names), to) for names, to in links_in(resource)]
    if "root" in visit.form:
        links = [
            *zip(visit.texts_of(f"{start}.fields"), visit.texts_of(f"{start}.parent"), strict=False)
        ]
    links = [link for link in links if any(link)]
    columns = [field["name"] for field in schema["fields"]]
    key = names_in(schema.get("primaryKey"))
    key = visit.texts_of(f"{start}.key") if f"{start}.key" in visit.form else key
    keys = [names_in(each["schema"].get("primaryKey")) for each in resources(visit.opened)]
    joined = [", ".join(each) for each in keys if len(each) > 1 and {*each} <= {*columns}]
    return {
        "name": resource["name"],
        "columns": columns,
        "choices": dict.fromkeys([*columns, *joined, *(fields for fields, _ in links if fields)]),
        "key": [*(key or [""]), *([""] if any(key) else [])],  # room for one more part
        "links": [*links, ("", "")],
        "own": resource.get(OWN) or {},
    }


def _with_links(visit: Visit) -> dict[str, Any]:
    """The description with the keys, links and bounds of the form."""
    said = {}
    for number, each in enumerate(resources(visit.opened)):
        start, names = f"t{number}.", [field["name"] for field in each["schema"]["fields"]]
        links = zip(visit.texts_of(f"{start}fields"), visit.texts_of(f"{start}parent"), strict=True)
        order = visit.text(f"{start}order")
        said[each["name"]] = {
            "key": [name for text in visit.texts_of(f"{start}key") for name in _listed(text)],
            "links": [(_listed(fields), parent) for fields, parent in links if fields or parent],
            "min_children": visit.whole(f"{start}min_children"),
            "max_children": visit.whole(f"{start}max_children"),
            "order": order,
            "increasing": [order] if order and visit.text(f"{start}increasing") else [],
            "unique": [name for name in visit.texts_of(f"{start}unique") if name in names],
            "public": bool(visit.text(f"{start}public")),
        }
    return with_links(content_of(visit.opened), said, root=visit.text("root"))


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]
