"""What is declared of the columns, as the commands take it: a kinds file, or the description of
linked tables; and what is to be said of it.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, final

from synthdp.cli.planning.readings import readings
from synthdp.cli.planning.schema_check import describe_check
from synthdp.cli.planning.schema_findings import schema_findings
from synthdp.cli.studio.places import command_path, path_of
from synthdp.cli.studio.projects import KINDS, LINKED, PACKAGE, Project, ProjectFolder
from synthdp.cli.studio.table import PACKAGE_FACTS, PACKAGE_TYPE
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.core.files.json_files import write_json
from synthdp.schema.columns.described import Reading
from synthdp.schema.kinds import IGNORE, schema_of_kinds
from synthdp.schema.open_schema import OpenSchema

Kind: TypeAlias = Mapping[str, Any] | str | None
"""What a kinds file says of a column; None if nothing yet."""

OWN = "synthdp"
DESCRIPTION_BESIDE = "datapackage.studio.json"
"""The description of linked tables beside them, where the commands look for their files."""


@final
@dataclass(frozen=True, kw_only=True)
class Said:
    """What is said of one column, from its declaration alone."""

    errors: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    reading: Reading | None = None
    learnt: tuple[str, ...] = ()
    is_left_out: bool = False


def kinds_of_tables(folder: ProjectFolder, project: Project) -> dict[str, dict[str, Kind]]:
    """What is declared of each column, by table; a single table is called ''."""
    if project.kind == LINKED:
        resources = folder.public(PACKAGE).get("resources", [])
        return {resource["name"]: dict(_kinds_of(resource)) for resource in resources}
    kinds = folder.public(KINDS)
    return {"": {name: kinds.get(name) for name in project.names}}


def _kinds_of(resource: Mapping[str, Any]) -> Iterator[tuple[str, Kind]]:
    """The kinds that the fields of a linked table say."""
    schema = resource["schema"]
    for name in schema.get(OWN, {}).get("ignore", ()):
        yield name, IGNORE
    for declared in schema["fields"]:
        kind = {key: value for key, value in _closed(declared).items() if key != "name"}
        if kind.get("type") is None:
            yield declared["name"], None
        else:
            constraints = dict(kind.get("constraints", {}))
            filled = {
                key: each
                for key, each in constraints.items()
                if each is not None and each is not False and each != []
            }
            kind = {**{key: each for key, each in kind.items() if key != "constraints"}}
            yield declared["name"], {**kind, **({"constraints": filled} if filled else {})}


def keys_of(resource: Mapping[str, Any]) -> set[str]:
    """Columns of a linked table that are keys, and so are nothing else."""
    schema = resource["schema"]
    links = [link.get("fields", ()) for link in schema.get("foreignKeys", ())]
    return {name for each in (schema.get("primaryKey", ()), *links) for name in _names(each)}


def _names(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def save_kinds(
    folder: ProjectFolder, project: Project, tables: Mapping[str, Mapping[str, Kind]]
) -> None:
    """Write what is declared of the columns."""
    if project.kind != LINKED:
        save_table(folder, project, tables[""], rules_of(folder, project))
        return
    content = folder.public(PACKAGE)
    resources = [_with_kinds(each, tables[each["name"]]) for each in content["resources"]]
    save_package(folder, project, {**content, "resources": resources})


def save_table(
    folder: ProjectFolder, project: Project, kinds: Mapping[str, Kind], rules: list[Any]
) -> None:
    """Write the kinds file of one table, with its dialect and its rules."""
    own: dict[str, Any] = {"dialect": dict(project.dialect)} if project.dialect else {}
    own |= {"constraints": rules} if rules else {}
    folder.save_public(KINDS, ({OWN: own} if own else {}) | dict(kinds))


def save_package(folder: ProjectFolder, project: Project, content: Mapping[str, Any]) -> None:
    """Write the description of linked tables, in the project and beside the tables."""
    folder.save_public(PACKAGE, content)
    with suppress(ParameterError):  # the tables are not here: somebody works on without them
        write_json(_beside(folder, project), content, force=True)


def _beside(folder: ProjectFolder, project: Project) -> Path:
    return path_of(folder, project.table) / DESCRIPTION_BESIDE


def _with_kinds(resource: Mapping[str, Any], kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """A linked table with other kinds of columns; keys stay as they are."""
    schema, keys = resource["schema"], keys_of(resource)
    former = {declared["name"]: declared for declared in schema["fields"]}
    fields, ignored = [], []
    for name, kind in kinds.items():
        if name in keys:
            fields.append(former[name] | {"type": former[name].get("type") or "string"})
        elif kind == IGNORE:
            ignored.append(name)
        elif kind is None:
            fields.append({"name": name, "type": None})
        else:
            (declared,) = schema_of_kinds({name: kind})["fields"]
            fields.append(_closed(declared))
    own = {key: value for key, value in schema.get(OWN, {}).items() if key != "ignore"}
    own |= {"ignore": ignored} if ignored else {}
    rest = {key: value for key, value in schema.items() if key not in ("fields", OWN)}
    return {**resource, "schema": {"fields": fields, **rest, **({OWN: own} if own else {})}}


def _closed(declared: Mapping[str, Any]) -> dict[str, Any]:
    """A field of which nothing is learnt, as linked tables need it."""
    own = {key: value for key, value in declared.get(OWN, {}).items() if key != "derive"}
    rest = {key: value for key, value in declared.items() if key != OWN}
    return {**rest, **({OWN: own} if own else {})}


def rules_of(folder: ProjectFolder, project: Project) -> list[Any]:
    """The rules that are declared."""
    name = PACKAGE if project.kind == LINKED else KINDS
    rules: list[Any] = (folder.public(name).get(OWN) or {}).get("constraints", [])
    return list(rules)


def save_rules(folder: ProjectFolder, project: Project, rules: list[Any]) -> None:
    """Write other rules, unless they contradict each other or what is declared of the columns;
    then raises what refuses them, and nothing is changed.
    """
    name = PACKAGE if project.kind == LINKED else KINDS
    content = folder.public(name)
    own = {key: value for key, value in (content.get(OWN) or {}).items() if key != "constraints"}
    own |= {"constraints": rules} if rules else {}
    changed = {OWN: own, **{key: value for key, value in content.items() if key != OWN}}
    write = save_package if project.kind == LINKED else _save_content
    write(folder, project, changed)
    try:
        check(folder, project)
    except SynthdpError:
        write(folder, project, content)
        raise


def _save_content(folder: ProjectFolder, _: Project, content: Mapping[str, Any]) -> None:
    folder.save_public(KINDS, content)


def said_of(name: str, kind: Kind, kinds: Mapping[str, Kind], project: Project) -> Said:
    """What is said of a column as it is declared, with those that it is relative to."""
    if kind is None:
        return Said(errors=("",))
    if kind == IGNORE:
        return Said(is_left_out=True)
    first, asked = name, dict[str, Kind]()
    while name not in asked and kind is not None:
        asked[name] = kind
        following = kind.get(OWN, {}).get("relative_to") if isinstance(kind, Mapping) else None
        if not isinstance(following, str):
            break
        name, kind = following, kinds.get(following)
    try:
        # A schema needs a column that is read, which ids and fakes are not.
        beside = {f"{first} beside": "integer"}
        own = {OWN: {"dialect": dict(project.dialect)}} if project.dialect else {}
        content = schema_of_kinds(own | asked | beside)
        if project.is_linked:  # of which nothing is learnt
            content["fields"] = [_closed(each) for each in content["fields"][:-1]]
        schema = OpenSchema.from_dict(content)
        return Said(
            findings=tuple(str(each) for each in schema_findings(schema) if first in each.columns),
            reading=readings(schema).get(first),
            learnt=tuple(
                part
                for column in schema.open_columns
                if column.name == first
                for part in sorted(column.open_parts)
            ),
        )
    except SynthdpError as error:
        return Said(errors=(str(error),))


def declared_file(folder: ProjectFolder, project: Project) -> str:
    """The path of what is declared, for functions that open it."""
    return str(_beside(folder, project) if project.kind == LINKED else folder.path / KINDS)


def check(
    folder: ProjectFolder,
    project: Project,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
) -> dict[str, Any]:
    """What `synthdp schema check` says of all columns and rules together; raises as it does."""
    path = declared_file(folder, project)
    if project.kind == LINKED:
        return PACKAGE_FACTS.load()(PACKAGE_TYPE.load().load(path), epsilon=epsilon, delta=delta)
    content, _ = describe_check(
        path,
        epsilon=epsilon,
        delta=delta,
        rows=project.rows or None if epsilon is not None else None,
        unit=project.unit or None,
        max_rows_per_unit=project.max_rows if project.unit else 1,
    )
    return content


def command_declared(folder: ProjectFolder, project: Project) -> str:
    """The description of linked tables as commands name it that are run in the project's folder."""
    return f"{command_path(folder, project)}/{DESCRIPTION_BESIDE}"
