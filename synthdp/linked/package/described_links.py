"""The keys and links that a description of linked tables declares, and the same with others."""

from collections.abc import Mapping, Sequence
from typing import Any

from synthdp.core.errors import ParameterError
from synthdp.linked.package.kinds import keys_of
from synthdp.schema.keys import OWN


def links_in(resource: Mapping[str, Any]) -> list[tuple[list[str], str]]:
    """The columns of each link of a table, and the table that they refer to.

    >>> link = {"fields": "home", "reference": {"resource": "homes", "fields": "id"}}
    >>> links_in({"schema": {"foreignKeys": [link]}})
    [(['home'], 'homes')]
    """
    links = resource["schema"].get("foreignKeys") or ()
    return [(names_in(each["fields"]), each["reference"]["resource"]) for each in links]


def names_in(key: Any) -> list[str]:
    """The columns of a key, which a package writes as one name or as a list."""
    return [key] if isinstance(key, str) else [*(key or ())]


def tables_below(
    resources: Sequence[Mapping[str, Any]], parent: str = "", above: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """How tables hang together as far as it is described yet: those that hang on one, or on none.

    Of each its ``name``, the ``public`` ones that it refers to, and those ``below`` it, alike.

    >>> link = {"fields": "home", "reference": {"resource": "homes"}}
    >>> homes, people = {"name": "homes", "schema": {}}, {"name": "people", "schema": {}}
    >>> people["schema"]["foreignKeys"] = [link]
    >>> [found["name"] for found in tables_below([people, homes])[0]["below"]]
    ['people']
    """
    public = {each["name"] for each in resources if (each.get(OWN) or {}).get("public")}
    described = []
    for each in resources:
        named = {table for _, table in links_in(each)}
        name = each["name"]
        parents = named - public
        if name not in {*public, *above} and (parent in parents or not (parent or parents)):
            below = tables_below(resources, name, (*above, name))
            described.append({"name": name, "public": sorted(named & public), "below": below})
    return described


def with_links(
    package: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]], *, root: str = ""
) -> dict[str, Any]:
    """A description of linked tables with other keys, links and bounds on rows.

    Parameters
    ----------
    package
        What stands in ``datapackage.json``.
    tables
        Of each table by name its ``key``, a list of columns; its ``links``, pairs as `links_in` has
        them; and what else its resource says under ``synthdp``, where what is empty is left out.
    root
        The table whose rows are protected; empty if the links say it.

    Raises
    ------
    ParameterError
        If a link lacks its columns, its table, or that table's key.

    >>> fields = [{"name": "id", "type": "integer"}]
    >>> package = {"resources": [{"name": "homes", "schema": {"fields": fields}}]}
    >>> said = {"homes": {"key": ["id"], "links": [], "max_children": 0}}
    >>> with_links(package, said)["resources"][0]["schema"]["primaryKey"]
    ['id']
    """
    keys = {name: said["key"] for name, said in tables.items()}
    resources = [_linked(each, tables[each["name"]], keys) for each in package["resources"]]
    own = dict(package.get(OWN) or {}) | {"root": root}
    return {**package, OWN: _without_empty(own), "resources": resources}


def _linked(
    resource: Mapping[str, Any], declared: Mapping[str, Any], keys: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    schema = resource["schema"]
    former = [*zip(links_in(resource), schema.get("foreignKeys") or (), strict=True)]
    links = []
    for fields, parent in declared["links"]:
        kept = [link for pair, link in former if pair == (fields, parent)]
        if kept and not keys.get(parent):  # a public list, whose key only the link names
            links.append(kept[0])
        elif not fields or not keys.get(parent):
            problem = (
                f"a link is not complete: {', '.join(fields) or 'nothing'} -> {parent or 'nothing'}"
            )
            raise ParameterError(
                f"{problem}; choose a column and a table, and name that table's key"
            )
        else:
            reference = {"resource": parent, "fields": [*keys[parent]]}
            links.append({"fields": fields, "reference": reference})
    schema = {**schema, "primaryKey": declared["key"], "foreignKeys": links}
    linking = keys_of({"schema": schema})
    schema["fields"] = [
        each if each["name"] not in linking or each.get("type") else each | {"type": "string"}
        for each in schema["fields"]
    ]
    own = dict(resource.get(OWN) or {})
    own |= {key: each for key, each in declared.items() if key not in ("key", "links")}
    return {**resource, "schema": schema, OWN: _without_empty(own)}


def _without_empty(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in content.items() if each}
