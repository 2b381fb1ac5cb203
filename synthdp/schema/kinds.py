"""Kinds files: ``{"age": "integer", "job": "categorical", "note": "ignore"}``, all else is derived
under the budget.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from synthdp.core.errors import SchemaError
from synthdp.core.imports import import_named
from synthdp.core.json_value import JsonValue
from synthdp.schema.dialect import PRESETS
from synthdp.schema.frictionless import FREE_TEXT, FREE_TEXT_TYPES
from synthdp.schema.keys import OWN, check_field_keys
from synthdp.schema.open_parts import derivable, is_closable
from synthdp.schema.rules.rules import settled_names
from synthdp.schema.types import GENERATED_KINDS, TYPES, is_generated
from synthdp.schema.words.texts import is_in_json, label_of, refuse

_OF_KINDS = {
    "constraints": ("rules", "rule", "checks", "check"),
    "hierarchy": ("levels",),
    "dialect": ("csv", "format"),
    "missingValues": ("missing", "missing_values"),
}
"""What may stand there, and what else it is called."""

DTYPES = "synthdp.schema.words.dtypes"
"""What reads kinds that are dtypes or types of Python; loaded where there are some."""

IGNORE = "ignore"
"""What it calls a column that is to be left out."""


def kinds_known() -> tuple[str, ...]:
    """What a kinds file can call a column; "categorical" is a string field, the last ones are
    generated.
    """
    return ("categorical", *TYPES, *GENERATED_KINDS)


def schema_of_kinds(kinds: Mapping[str, Any]) -> dict[str, Any]:
    """A schema whose columns are of some kinds, with everything that is not declared left open.

    Parameters
    ----------
    kinds
        For each column its kind, or an object with the kind as ``type`` and anything else that a
        field can declare; levels that are an empty list count as not declared. `IGNORE` in place of
        a kind: the column is left out. A dtype, or a type of Python, says its kind; see `kinds_of`.

    Raises
    ------
    SchemaError
        If it is not an object of kinds.

    >>> schema_of_kinds({"job": "categorical"})["fields"]
    [{'name': 'job', 'type': 'string', 'synthdp': {'derive': True}}]
    >>> schema_of_kinds({"job": "categorical", "note": "ignore"})["synthdp"]
    {'ignore': ['note']}
    """
    if not isinstance(kinds, Mapping):
        kinds = import_named(f"{DTYPES}:as_mapping")(kinds)
    if not isinstance(kinds, Mapping) or isinstance(kinds.get("fields"), list):
        way_out = "give a schema as the schema, not as kinds"
        raise SchemaError(
            f'kinds: give a JSON object of columns and kinds, {{"age": "integer"}}; {way_out}'
        )
    if not kinds:
        raise SchemaError(
            'kinds: no column is named; list at least one column with its kind, {"age": "integer"}'
        )
    if name_dtypes(kinds):
        kinds = import_named(f"{DTYPES}:plain_kinds")(kinds)
    own, written, kinds = _settings(kinds)
    if not kinds:
        raise SchemaError(
            "kinds: synthdp says how the table is written, but no column is named; list them beside it"
        )
    # Columns to leave out are named, too. A column that nobody mentions is more likely forgotten
    # than meant to go, and is an error later.
    ignored = [str(name) for name, kind in kinds.items() if label_of(kind) == IGNORE]
    if len(ignored) == len(kinds):
        raise SchemaError(
            f"kinds: the kind of all columns is {IGNORE!r}; say of at least one what it holds"
        )
    settled = settled_names(own.get("constraints"))
    words = written.get("missingValues")
    words = {"missingValues": words} if isinstance(words, list) and any(words) else {}
    fields = [
        _field(str(name), kind, words, is_settled=name in settled)
        for name, kind in kinds.items()
        if label_of(kind) != IGNORE
    ]
    if ignored:
        own |= {"ignore": ignored}
    return {"fields": fields} | written | ({"synthdp": own} if own else {})


def name_dtypes(kinds: Any) -> bool:
    """Whether kinds are, or some of them name, what no JSON holds: dtypes and types of Python."""
    return not isinstance(kinds, Mapping) or not all(map(is_in_json, map(label_of, kinds.values())))


def _settings(kinds: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], Mapping[str, Any]]:
    """The settings under ``synthdp`` if that is no column: rules, how all is written; the kinds."""
    own = kinds.get(OWN)
    # A table may have a column called synthdp: an object with a type is such a column's kind.
    if not isinstance(own, Mapping) or "type" in own or "kind" in own:
        return {}, {}, kinds
    if IGNORE in own:
        raise SchemaError(
            f"kinds: 'synthdp.ignore' is not known; give each column to leave out the kind {IGNORE!r}"
        )
    JsonValue(own, "kinds", OWN).check_keys(_OF_KINDS)
    rules = {key: own[key] for key in ("constraints", "hierarchy") if key in own}
    written = {key: own[key] for key in ("dialect", "missingValues") if key in own}
    return rules, written, {name: kind for name, kind in kinds.items() if name != OWN}


def without_ignored(schema: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names under ``synthdp.ignore`` of a schema, and the schema without them."""
    own = JsonValue(schema, "schema")["synthdp"]
    if not own["ignore"].is_given:
        return (), dict(schema)
    rest = {key: value for key, value in own.mapping().items() if key != "ignore"}
    return own["ignore"].sequence("a list of column names"), dict(schema) | {"synthdp": rest}


def _field(name: str, kind: Any, words: Mapping[str, Any], *, is_settled: bool) -> dict[str, Any]:
    given: dict[str, Any] = dict(kind) if isinstance(kind, Mapping) else {}
    label = label_of(kind)
    if not is_generated(label):
        check_field_keys(name, given)
        # Whoever lists words for all columns says that values are missing, but where one never is.
        constraints = given.get("constraints")
        is_required = isinstance(constraints, Mapping) and constraints.get("required") is True
        given = given if is_required else {**words, **given}
    if isinstance(label, int | float) and not isinstance(label, bool):
        way_out = "write a kind such as 'integer', or give a file of domain sizes as the schema"
        refuse(name, f"its kind is the number {label!r}; {way_out}")
    if label in FREE_TEXT_TYPES:
        way_out = f"write 'categorical' if few values repeat, or {IGNORE!r} to leave the column out"
        refuse(name, f"its kind is {label!r}, and {FREE_TEXT}; {way_out}")
    kinds = kinds_known()
    if label not in kinds:
        problem = "its kind is not filled in" if label is None else f"its kind is {label!r}"
        if name == "dialect" and (label in [*PRESETS] or (label is None and given)):
            refuse(
                name,
                'if it is no column, write it under synthdp: "synthdp": {"dialect": ..}; else give it a kind',
            )
        if label is None and "kind" in given:
            problem = "its object has no 'type', which says the kind, but 'kind'"
        # Other tools write Integer or int: the nearest kind is most often the one that was meant.
        near = [] if label is None else get_close_matches(str(label).lower(), kinds, n=1)
        meant = f"did you mean {near[0]!r}? If not, " if near else ""
        refuse(
            name,
            f"{problem}; {meant}use one of {', '.join(kinds)}, or {IGNORE!r} to leave the column out",
        )
    if given.get("name", name) != name:
        refuse(name, f"its object has the name {given['name']!r}; remove it")
    field = {"name": name} | given | {"type": "string" if label == "categorical" else label}
    own = field.get("synthdp", {})
    field = _without_empty_lists(field)
    # What a kind leaves open is to be learnt. What is not well formed is left as it is, for the
    # schema to refuse with a line of its own.
    well_formed = isinstance(own, Mapping) and isinstance(field.get("constraints", {}), Mapping)
    if not well_formed or is_generated(label) or "derive" in own or not derivable(field):
        return field
    # Of what a rule names, other than a check, nothing is learnt that can be done without.
    return field if is_settled and is_closable(field) else field | {OWN: {**own, "derive": True}}


def _without_empty_lists(field: Mapping[str, Any]) -> dict[str, Any]:
    """The field without an empty ``enum`` or ``categories``, as drafts write levels that nobody has
    listed.
    """
    kept = {key: value for key, value in field.items() if key != "categories" or value != []}
    if isinstance(constraints := kept.get("constraints"), Mapping):
        kept["constraints"] = {
            key: value for key, value in constraints.items() if key != "enum" or value != []
        }
    return kept


def are_kinds(content: Any) -> bool:
    """Whether JSON values look like a kinds file: one kind or null at least, the others sizes in
    their place.

    >>> [
    ...     are_kinds(content)
    ...     for content in ({"age": "integer", "sex": 2}, {"age": None}, {"sex": 2}, {"fields": []})
    ... ]
    [True, True, False, False]
    """
    if not isinstance(content, Mapping) or isinstance(content.get("fields"), list):
        return False
    labels = [label_of(kind) for kind in content.values()]
    return any(label is None or isinstance(label, str) for label in labels) and all(
        label is None or isinstance(label, str | int | float) for label in labels
    )
