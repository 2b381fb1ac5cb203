"""What is declared of the columns, as the commands take it: a kinds file, or the description of
linked tables; and what is to be said of it.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from synthdp.cli.planning.schema_check import describe_check
from synthdp.cli.studio.places import path_of
from synthdp.cli.studio.project import KINDS, PACKAGE, InWordsError, Visit
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.core.files.json_files import write_json
from synthdp.linked.package.kinds import kinds_in, kinds_in_order, with_kinds
from synthdp.linked.package.package import Package
from synthdp.release.on_demand import OnDemand
from synthdp.schema.keys import OWN, RELATIVE
from synthdp.schema.rule_answers import as_distance, ordered_pair

Kind: TypeAlias = Mapping[str, Any] | str | None
"""What a kinds file says of a column; None if nothing yet."""

BESIDE = "datapackage.studio.json"
"""The description of linked tables beside them, where the commands look for their files."""

PACKAGE_FACTS: OnDemand[Callable[..., dict[str, Any]]] = OnDemand(
    "synthdp.cli.describing.packages:package_facts"
)
"""What `synthdp schema check` says of a package."""


def content_of(visit: Visit) -> Any:
    """The kinds file of one table, or the description of linked ones."""
    return visit.studio.public(PACKAGE if visit.project.is_linked else KINDS)


def save_content(visit: Visit, content: Mapping[str, Any]) -> None:
    """Write a kinds file, or a description: that in the project and beside the tables."""
    visit.studio.save_public(PACKAGE if visit.project.is_linked else KINDS, content)
    if visit.project.is_linked:
        with suppress(ParameterError):  # the tables are not here: somebody works on without them
            write_json(path_of(visit) / BESIDE, content, force=True)


def resources(visit: Visit) -> list[Any]:
    """The linked tables as they are described; of one table none."""
    return list(content_of(visit).get("resources", ())) if visit.project.is_linked else []


def kinds_of(visit: Visit) -> dict[str, dict[str, Kind]]:
    """What is declared of each column, by table; a single table is called ''."""
    if visit.project.is_linked:
        return {each["name"]: kinds_in(each) for each in resources(visit)}
    kinds = content_of(visit)
    return {"": {name: kinds.get(name) for name in visit.project.names}}


def rules_of(visit: Visit) -> list[Any]:
    """The rules that are declared."""
    return list((content_of(visit).get(OWN) or {}).get("constraints", ()))


def missing_words(visit: Visit) -> list[str]:
    """The words that mean "missing" in all columns that list none of their own."""
    tables = (each["schema"] for each in resources(visit))
    said = next(tables, None) if visit.project.is_linked else content_of(visit).get(OWN)
    return [word for word in (said or {}).get("missingValues", ()) if word]


def save_kinds(
    visit: Visit,
    tables: Mapping[str, Mapping[str, Kind]],
    rules: list[Any],
    *,
    missing: str | None = None,
) -> None:
    """Write what is declared of the columns, with the rules, how the file is written, and words for
    "missing", if they are given, with commas between them.
    """
    content = content_of(visit)
    own = dict(content.get(OWN) or {}) | {"constraints": rules}
    words = missing_words(visit) if missing is None else re.split("[,;]", missing)
    words = [word for word in dict.fromkeys(map(str.strip, words)) if word]
    if visit.project.is_linked:
        said = {"missingValues": ["", *words]}
        listed = [{**each, "schema": each["schema"] | said} for each in resources(visit)]
        changed = [with_kinds(each, tables[each["name"]], rules=rules) for each in listed]
        content = {**content, "resources": changed}
    else:
        own, content = own | {"dialect": visit.project.dialect}, in_order(visit, tables[""])
        own |= {"missingValues": ["", *words] if words else []}
    own = {key: each for key, each in own.items() if each}
    content = {key: content[key] for key in content if key != OWN}
    save_content(visit, ({OWN: own} if own else {}) | content)


def in_order(visit: Visit, kinds: Mapping[str, Kind]) -> dict[str, Kind]:
    """The kinds as ordered rows of persons ask; raises `InWordsError` if the order may be missing."""
    unit, order = visit.project.unit, visit.project.order
    try:
        return kinds_in_order(kinds, unit=unit, order=order)
    except ParameterError:
        raise InWordsError(visit.texts("people.may_lack", name=order)) from None


def distances(
    tables: dict[str, dict[str, Kind]], rules: list[Any], taken: Any = None
) -> tuple[dict[str, dict[str, Kind]], list[Any]]:
    """The kinds and rules, without rules that follow from a column's distance from another: where it
    is measured so, or for the rule that was ``taken``.
    """
    kept = []
    for rule in rules:
        lower, upper = ordered_pair(rule) or ("", "")
        table, _, of_table = upper.rpartition(".") if "" not in tables else ("", "", upper)
        name = lower.removeprefix(f"{table}.") if table else lower
        kind = tables.get(table, {}).get(of_table)
        own = kind.get(OWN) if isinstance(kind, Mapping) else None
        if kind and name in tables[table] and (rule is taken or (own or {}).get(RELATIVE) == name):
            tables[table][of_table] = as_distance(kind, name)
        else:
            kept.append(rule)
    return tables, kept


def save_checked(
    visit: Visit, content: Mapping[str, Any], rules: list[Any], *, taken: Any = None
) -> None:
    """Write other rules or bounds on rows, unless they contradict each other or what is declared of
    the columns; then raises what refuses them, and nothing is changed. Of the rule that is ``taken``
    see `distances`.
    """
    former = content_of(visit)
    try:
        save_content(visit, content)
        save_kinds(visit, *distances(kinds_of(visit), rules, taken))
        check(visit)
    except SynthdpError:
        save_content(visit, former)
        raise


def declared_path(visit: Visit) -> Path:
    """The file of what is declared."""
    return path_of(visit) / BESIDE if visit.project.is_linked else visit.studio.path / KINDS


def check(
    visit: Visit, *, epsilon: float | None = None, delta: float | None = None
) -> dict[str, Any]:
    """What `synthdp schema check` says of all columns and rules together; raises as it does."""
    path, project = declared_path(visit), visit.project
    if project.is_linked:
        return PACKAGE_FACTS.load()(Package.load(path), epsilon=epsilon, delta=delta)
    unit = project.unit or None
    return describe_check(str(path), unit=unit, max_rows_per_unit=project.max_rows)[0]


def checked(visit: Visit) -> tuple[dict[str, Any], str]:
    """What `check` says, and what refuses the columns and rules together; empty if nothing does."""
    try:
        return check(visit), ""
    except SynthdpError as error:
        return {}, str(error)
