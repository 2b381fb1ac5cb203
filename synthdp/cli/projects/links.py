"""How the linked tables of a project hang together: what is asked, and what was answered.

Answers are those of a form, by name: ``root``, and of the table of the place ``0`` ``t0.key``,
``t0.fields`` with ``t0.parent``, ``t0.min_children``, ``t0.max_children``, ``t0.order``,
``t0.increasing``, ``t0.unique`` and ``t0.public``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from synthdp.cli.projects.asked import CHOICE, TEXT, TICK, Asked, choices
from synthdp.cli.projects.declared import content_of, resources
from synthdp.cli.projects.project import OpenProject, ProjectError
from synthdp.core.errors import ParameterError
from synthdp.linked.package.described_links import links_in, names_in, with_links
from synthdp.schema.keys import OWN
from synthdp.schema.questions import whole_number
from synthdp.schema.rule_answers import Answers
from synthdp.schema.words.texts import between_commas

_BOUNDED = ("min_children", "max_children", "order")
"""What a description may say of the rows of a table in words or numbers."""


def asked_of_links(
    opened: OpenProject, content: Mapping[str, Any], answers: Answers
) -> list[dict[str, Any]]:
    """What is asked of each table of a description; links that were answered stay, also refused
    ones.
    """
    keys = [names_in(each["schema"].get("primaryKey")) for each in resources(opened)]
    listed = content.get("resources", ())
    tables = [each["name"] for each in listed]
    return [_asked(each, f"t{n}", tables, keys, answers) for n, each in enumerate(listed)]


def _asked(
    resource: Mapping[str, Any],
    start: str,
    tables: Sequence[str],
    keys: Sequence[Sequence[str]],
    answers: Answers,
) -> dict[str, Any]:
    schema = resource["schema"]
    links = _links(resource, start, answers)
    said = answers if "root" in answers else _declared(resource, start)
    columns = [field["name"] for field in schema["fields"]]
    key = [*answers.get(f"{start}.key", names_in(schema.get("primaryKey")))]
    joined = [", ".join(each) for each in keys if len(each) > 1 and {*each} <= {*columns}]
    linkable = choices([*columns, *joined, *(each for each, _ in links if each)])
    others = choices(each for each in tables if each != resource["name"])

    def asked(name: str, ask: str, form: str = TEXT, **more: Any) -> Asked:
        given = said.get(f"{start}.{name}", ())
        return Asked(f"{start}.{name}", ask, form=form, **{"given": given} | more)

    chosen = [*(key or [""]), *([""] if any(key) else [])]  # room for one more part
    linked = [
        asked("key", "key_and" if number else "key", CHOICE, options=choices(columns), given=[each])
        for number, each in enumerate(chosen)
    ]
    for link, parent in [*links, ("", "")]:
        linked.append(asked("fields", "links", CHOICE, options=linkable, given=[link]))
        linked.append(asked("parent", "parent", CHOICE, options=others, given=[parent]))
    bounds = [
        asked("min_children", "least"),
        asked("max_children", "children"),
        asked("order", "order", CHOICE, options=choices(columns)),
        asked("increasing", "increasing", TICK, value="on"),
        asked("public", "public", TICK, value="on"),
    ]
    unique = [asked("unique", "", TICK, label=name, value=name) for name in columns]
    return {"name": resource["name"], "rows": [linked, bounds], "unique": unique}


def _links(resource: Mapping[str, Any], start: str, answers: Answers) -> list[tuple[str, str]]:
    """The columns of each link and its parent: as they were answered, or else are declared."""
    links = [(", ".join(names), to) for names, to in links_in(resource)]
    if "root" in answers:
        fields = answers.get(f"{start}.fields", ())
        parents = answers.get(f"{start}.parent", ())
        links = [*zip(fields, parents, strict=False)]
    return [link for link in links if any(link)]


def _declared(resource: Mapping[str, Any], start: str) -> Answers:
    """What is declared of the rows of a table, as answers."""
    own = resource.get(OWN) or {}
    declared = {name: [f"{own[name]}"] for name in _BOUNDED if own.get(name) is not None}
    declared |= {name: ["on"] for name in ("increasing", "public") if own.get(name)}
    declared |= {"unique": own.get("unique", [])}
    return {f"{start}.{name}": each for name, each in declared.items()}


def with_links_said(opened: OpenProject, answers: Answers) -> Any:
    """The description with the keys, links and bounds of the answers; raises what refuses them."""
    said = {
        each["name"]: _said(each, f"t{number}.", answers)
        for number, each in enumerate(resources(opened))
    }
    root = next(iter(answers.get("root", ())), "")
    return with_links(content_of(opened), said, root=root)


def _said(resource: Mapping[str, Any], start: str, answers: Answers) -> dict[str, Any]:
    def all_of(name: str) -> Sequence[str]:
        return answers.get(start + name, ())

    def text(name: str) -> str:
        return next(iter(all_of(name)), "")

    names = [field["name"] for field in resource["schema"]["fields"]]
    links = zip(all_of("fields"), all_of("parent"), strict=True)
    order = text("order")
    return {
        "key": [name for each in all_of("key") for name in between_commas(each)],
        "links": [(between_commas(fields), parent) for fields, parent in links if fields or parent],
        "min_children": _whole(text("min_children")),
        "max_children": _whole(text("max_children")),
        "order": order,
        "increasing": [order] if order and text("increasing") else [],
        "unique": [name for name in all_of("unique") if name in names],
        "public": bool(text("public")),
    }


def _whole(text: str) -> int:
    try:
        return whole_number("rows", text) if text else 0
    except ParameterError as error:
        raise ProjectError("whole", str(error), text=text) from None
