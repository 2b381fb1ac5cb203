"""Descriptions of linked tables in which all is left to be learnt that may be, or bins alone."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from synthdp.schema.rules.rules import settled_names


def opened(description: Mapping[str, Any]) -> dict[str, Any]:
    """The same with open columns, but for keys, codes of public tables, columns that order rows by
    levels, and those whose levels rules, limits or uniqueness name.
    """
    content = deepcopy(dict(description))
    whole = settled_names(content.get("synthdp", {}).get("constraints", []))
    for resource in content["resources"]:
        schema, own = resource["schema"], resource.get("synthdp", {})
        if own.get("public"):
            continue
        kept = {name.partition(".")[2] for name in whole if name.startswith(resource["name"] + ".")}
        kept |= settled_names(schema.get("synthdp", {}).get("constraints", []))
        kept |= {name for key in ("increasing", "unique") for name in own.get(key, [])}
        kept |= {name for limit in own.get("limits", []) for name in limit["where"]}
        named = [
            schema.get("primaryKey", []),
            *(k["fields"] for k in schema.get("foreignKeys", [])),
        ]
        for names in named:
            kept |= {names} if isinstance(names, str) else {*names}
        for field in schema["fields"]:
            is_level_order = own.get("order") == field["name"] and field["type"] == "string"
            if field["name"] not in kept and not is_level_order and field["type"] != "boolean":
                required = field.get("constraints", {}).get("required", False)
                field["constraints"] = {"required": True} if required else {}
                field["synthdp"] = {"derive": True}
    return content


def without_bins(description: Mapping[str, Any]) -> dict[str, Any]:
    """The same with bounds in place of edges of bins, as whoever does not think of bins writes it."""
    content = deepcopy(dict(description))
    for resource in content["resources"]:
        for field in resource["schema"]["fields"]:
            own = field.get("synthdp", {})
            edges = own.pop("edges", None)
            own.pop("bins", None)
            if edges is not None:
                bounds = {"minimum": edges[0], "maximum": edges[-1]}
                field["constraints"] = bounds | field.get("constraints", {})
    return content
