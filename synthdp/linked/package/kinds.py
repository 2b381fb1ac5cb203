"""What a kinds file would say of a table of a package, and a table with other kinds of columns."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from synthdp.core.errors import ParameterError
from synthdp.linked.package.qualified import OTHER
from synthdp.schema.keys import OWN, RELATIVE
from synthdp.schema.kinds import IGNORE, schema_of_kinds
from synthdp.schema.open_parts import derivable, is_closable
from synthdp.schema.rules.rules import settled_names
from synthdp.schema.types import is_generated


def keys_of(resource: Mapping[str, Any]) -> set[str]:
    """Columns of a table that are keys, and so are nothing else.

    >>> sorted(keys_of({"schema": {"primaryKey": "id", "foreignKeys": [{"fields": ["home"]}]}}))
    ['home', 'id']
    """
    schema = resource["schema"]
    links = [link.get("fields", ()) for link in schema.get("foreignKeys") or ()]
    keys = [schema.get("primaryKey") or (), *links]
    return {name for key in keys for name in ([key] if isinstance(key, str) else key)}


def kinds_in(resource: Mapping[str, Any]) -> dict[str, Any]:
    """The kind of each column as a kinds file says it; None where nothing is said yet.

    >>> fields = [{"name": "id", "type": None}, {"name": "sex", "type": "boolean"}]
    >>> kinds_in({"schema": {"fields": fields, "synthdp": {"ignore": ["note"]}}})
    {'note': 'ignore', 'id': None, 'sex': {'type': 'boolean', 'synthdp': {'derive': False}}}
    """
    schema = resource["schema"]
    kinds: dict[str, Any] = dict.fromkeys(schema.get(OWN, {}).get("ignore", ()), IGNORE)
    words = schema.get("missingValues")
    for declared in schema["fields"]:
        is_of_all = words is not None and declared.get("missingValues") == words
        own = {key: declared[key] for key in declared if not (is_of_all and key == "missingValues")}
        kinds[declared["name"]] = _kind(own) if declared.get("type") else None
    return kinds


def kinds_of_rules(
    tables: Mapping[str, Mapping[str, Any]], *, hanging: Collection[str] = ()
) -> dict[str, Any]:
    """The kinds of all columns that rules may name, as they name them: of a single table, called
    '', by their names, of linked ones by both; of tables that hang on others the other rows' too.

    >>> list(kinds_of_rules({"homes": {"size": "integer"}}, hanging=["homes"]))
    ['homes.size', 'other homes.size']
    """
    modelled = {
        f"{table}.{name}" if table else name: kind
        for table, kinds in tables.items()
        for name, kind in kinds.items()
        if kind != IGNORE and not _is_relative(kind)  # of which no rule can be
    }
    others = {name: kind for name, kind in modelled.items() if name.partition(".")[0] in hanging}
    return modelled | {f"{OTHER}{name}": kind for name, kind in others.items()}


def _is_relative(kind: Any) -> bool:
    return isinstance(kind, Mapping) and RELATIVE in (kind.get(OWN) or {})


def kinds_of_persons(kinds: Mapping[str, Any], *, unit: str, order: str = "") -> dict[str, Any]:
    """The kinds of a table of persons as rows that hang together ask: what tells persons apart,
    which is written anew by itself, is not made up besides, and the order is never missing.

    Raises `ParameterError` if the order is declared to be missing at times, or has no values.

    >>> kinds = {"person": {"type": "id"}, "visit": "date"}
    >>> kinds_of_persons(kinds, unit="person", order="visit")
    {'person': 'ignore', 'visit': {'type': 'date', 'constraints': {'required': True}}}
    >>> kinds_of_persons(kinds, unit="person")
    {'person': 'ignore', 'visit': 'date'}
    """
    kinds = dict(kinds)
    if kinds.get(unit) is not None and is_generated(_label(kinds[unit])):
        kinds[unit] = IGNORE
    if not order or kinds.get(order) is None:
        return kinds
    label = _label(kinds[order])
    field = _as_field(kinds[order])
    constraints = field.get("constraints") or {}
    may_lack = constraints.get("required") is False or any(field.get("missingValues") or ())
    if label == IGNORE or is_generated(label) or may_lack:
        raise ParameterError(
            f"order is {order!r}, which may be missing, or is not read; declare that it never is, "
            "or give another order"
        )
    kinds[order] = field | {"constraints": constraints | {"required": True}}
    return kinds


def _as_field(kind: Any) -> dict[str, Any]:
    return dict(kind) if isinstance(kind, Mapping) else {"type": kind}


def _label(kind: Any) -> Any:
    return _as_field(kind)["type"]


def _kind(declared: Mapping[str, Any]) -> dict[str, Any]:
    """A field as a kinds file has it, which learns what is open unless it says otherwise."""
    kind = {key: value for key, value in declared.items() if key not in ("name", OWN)}
    own = {"derive": False, **declared.get(OWN, {})}
    if own["derive"] or is_generated(kind["type"]) or not derivable(declared):
        del own["derive"]
    return kind | ({OWN: own} if own else {})


def with_kinds(
    resource: Mapping[str, Any], kinds: Mapping[str, Any], *, rules: Iterable[Any] = ()
) -> dict[str, Any]:
    """A table of a package with other kinds of columns, in their order; keys stay as they are.

    Of columns that rules of the package, other than checks, or bounds on rows of a parent name,
    nothing is learnt that can be done without; a public table stays as it is. Raises `SchemaError`
    as `schema_of_kinds`.
    """
    if resource.get(OWN, {}).get("public"):
        return dict(resource)
    settled = {name.removeprefix(OTHER) for name in settled_names([*rules])}
    settled |= {f"{resource['name']}.{name}" for name in _bounded(resource)}
    schema = resource["schema"]
    keys = keys_of(resource)
    fields = {each["name"]: each for each in schema["fields"]}
    ignored = [name for name, kind in kinds.items() if kind == IGNORE and name not in keys]
    words = {OWN: {key: schema[key] for key in ("missingValues",) if key in schema}}
    for name, kind in kinds.items():
        if name in keys:
            field = fields.get(name, {"name": name})
            fields[name] = field | {"type": field.get("type") or "string"}
        elif kind is None:
            fields[name] = {"name": name, "type": None}
        elif kind != IGNORE:
            (field,) = schema_of_kinds({**words, name: kind})["fields"]
            own = dict(field.get(OWN) or {})
            is_settled = f"{resource['name']}.{name}" in settled and is_closable(field)
            if is_settled or own.get("derive") is False:  # which a package says by saying nothing
                own.pop("derive", None)
            fields[name] = {**field, OWN: own} if own else _without_own(field)
    kept = [fields[name] for name in kinds if name not in ignored]
    own = {key: value for key, value in schema.get(OWN, {}).items() if key != "ignore"}
    if ignored:
        own |= {"ignore": ignored}
    own = {OWN: own} if own else {}
    return {**resource, "schema": {**_without_own(schema), "fields": kept, **own}}


def _bounded(resource: Mapping[str, Any]) -> set[str]:
    """The columns of which it is said how often their levels come within a parent."""
    own = resource.get(OWN) or {}
    limited = (name for limit in own.get("limits", ()) for name in limit["where"])
    return {*limited, *own.get("unique", ()), *own.get("increasing", ())}


def _without_own(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key != OWN}
