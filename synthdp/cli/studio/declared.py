"""What is declared of the columns, as the commands take it: a kinds file, or the description of
linked tables; and what is to be said of it.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from synthdp.cli.planning.column_check import ColumnCheck, checked_column
from synthdp.cli.planning.schema_check import describe_check
from synthdp.cli.studio.places import path_of
from synthdp.cli.studio.project import KINDS, PACKAGE, Visit
from synthdp.cli.studio.table import PACKAGE_FACTS
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.core.files.json_files import write_json
from synthdp.linked.package.kinds import kinds_in, with_kinds
from synthdp.linked.package.package import Package
from synthdp.schema.keys import OWN

Kind: TypeAlias = Mapping[str, Any] | str | None
"""What a kinds file says of a column; None if nothing yet."""

BESIDE = "datapackage.studio.json"
"""The description of linked tables beside them, where the commands look for their files."""


def kinds_of(visit: Visit) -> dict[str, dict[str, Kind]]:
    """What is declared of each column, by table; a single table is called ''."""
    if visit.project.is_linked:
        return {each["name"]: kinds_in(each) for each in resources(visit)}
    kinds = visit.folder.public(KINDS)
    return {"": {name: kinds.get(name) for name in visit.project.names}}


def save_kinds(visit: Visit, tables: Mapping[str, Mapping[str, Kind]]) -> None:
    """Write what is declared of the columns."""
    if visit.project.is_linked:
        rules = rules_of(visit)
        changed = [with_kinds(each, tables[each["name"]], rules=rules) for each in resources(visit)]
        save_content(visit, {**content_of(visit), "resources": changed})
    else:
        save_table(visit, tables[""], rules_of(visit))


def save_table(visit: Visit, kinds: Mapping[str, Kind], rules: list[Any]) -> None:
    """Write the kinds file of one table, with its dialect and its rules."""
    own: dict[str, Any] = {"dialect": visit.project.dialect} if visit.project.dialect else {}
    own |= {"constraints": rules} if rules else {}
    save_content(visit, ({OWN: own} if own else {}) | dict(kinds))


def content_of(visit: Visit) -> Any:
    """The kinds file of one table, or the description of linked ones."""
    return visit.folder.public(PACKAGE if visit.project.is_linked else KINDS)


def save_content(visit: Visit, content: Mapping[str, Any]) -> None:
    """Write a kinds file, or a description: that in the project and beside the tables."""
    visit.folder.save_public(PACKAGE if visit.project.is_linked else KINDS, content)
    if visit.project.is_linked:
        with suppress(ParameterError):  # the tables are not here: somebody works on without them
            write_json(path_of(visit) / BESIDE, content, force=True)


def resources(visit: Visit) -> list[Any]:
    """The linked tables as they are described; of one table none."""
    return list(content_of(visit).get("resources", ())) if visit.project.is_linked else []


def rules_of(visit: Visit) -> list[Any]:
    """The rules that are declared."""
    return list((content_of(visit).get(OWN) or {}).get("constraints", ()))


def save_rules(visit: Visit, rules: list[Any]) -> None:
    """Write other rules, unless they contradict each other or what is declared of the columns;
    then raises what refuses them, and nothing is changed.
    """
    content = content_of(visit)
    own = {key: value for key, value in (content.get(OWN) or {}).items() if key != "constraints"}
    own |= {"constraints": rules} if rules else {}
    save_content(visit, {OWN: own, **{key: content[key] for key in content if key != OWN}})
    try:
        save_kinds(visit, kinds_of(visit))
        check(visit)
    except SynthdpError:
        save_content(visit, content)
        raise


def said_of(visit: Visit, name: str, kinds: Mapping[str, Kind]) -> ColumnCheck:
    """What is said of a column as it is declared, with those that it is relative to."""
    project = visit.project
    return checked_column(name, kinds, dialect=project.dialect, learns_bins=not project.is_linked)


def declared_path(visit: Visit) -> Path:
    """The file of what is declared."""
    return path_of(visit) / BESIDE if visit.project.is_linked else visit.folder.path / KINDS


def check(
    visit: Visit, *, epsilon: float | None = None, delta: float | None = None
) -> dict[str, Any]:
    """What `synthdp schema check` says of all columns and rules together; raises as it does."""
    path, project = declared_path(visit), visit.project
    if project.is_linked:
        return PACKAGE_FACTS.load()(Package.load(path), epsilon=epsilon, delta=delta)
    unit = project.unit or None
    return describe_check(str(path), unit=unit, max_rows_per_unit=project.max_rows)[0]


def unit_of(visit: Visit) -> str | None:
    """What is protected together, as budgets call it: of linked tables the root's key."""
    if visit.project.is_linked:
        return "+".join(Package.load(declared_path(visit)).root.key) or None
    return visit.project.unit or None


def problem_of(visit: Visit) -> str:
    """What refuses the columns and rules together; empty if nothing does."""
    try:
        check(visit)
    except SynthdpError as error:
        return str(error)
    return ""
