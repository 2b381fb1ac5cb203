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
    schema = resource["schema"]
    keys = keys_of(resource)
    settled = _settled(resource, rules)
    declared = {each["name"]: each for each in schema["fields"]}
    words = {key: schema[key] for key in ("missingValues",) if key in schema}
    fields: list[dict[str, Any]] = []
    ignored: list[str] = []
    for name, kind in kinds.items():
        if name in keys:
            field = declared.get(name, {"name": name})
            fields.append(field | {"type": field.get("type") or "string"})
        elif kind == IGNORE:
            ignored.append(name)
        elif kind is None:
            fields.append({"name": name, "type": None})
        else:
            (field,) = schema_of_kinds({OWN: words, name: kind})["fields"]
            fields.append(_as_packages_have_it(field, is_settled=name in settled))
    own = {key: value for key, value in schema.get(OWN, {}).items() if key != "ignore"}
    if ignored:
        own["ignore"] = ignored
    return {**resource, "schema": _with_own({**_without_own(schema), "fields": fields}, own)}


def _settled(resource: Mapping[str, Any], rules: Iterable[Any]) -> set[str]:
    """The columns that rules other than checks name, or of which it is said how often their levels
    come within a parent.
    """
    table = f"{resource['name']}."
    ruled = (name.removeprefix(OTHER) for name in settled_names([*rules]))
    named = {name.removeprefix(table) for name in ruled if name.startswith(table)}
    own = resource.get(OWN) or {}
    limited = (name for limit in own.get("limits", ()) for name in limit["where"])
    return {*named, *limited, *own.get("unique", ()), *own.get("increasing", ())}


def _as_packages_have_it(field: Mapping[str, Any], *, is_settled: bool) -> dict[str, Any]:
    """A field of a kinds file in a package, where nothing is learnt of what does not ask for it."""
    own = dict(field.get(OWN) or {})
    if own.get("derive") is False or (is_settled and is_closable(field)):
        own.pop("derive", None)
    return _with_own(field, own)


def _with_own(content: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    return {**content, OWN: own} if own else _without_own(content)


def _without_own(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key != OWN}
