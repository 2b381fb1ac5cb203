"""What is declared of the columns, as the commands take it: a kinds file, or the description of
linked tables; and what is to be said of it.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from synthdp.cli.planning.schema_check import describe_check
from synthdp.cli.projects.asked import text_said, whole_said
from synthdp.cli.projects.former import keep_former, relative_to
from synthdp.cli.projects.places import path_of
from synthdp.cli.projects.project import KINDS, PACKAGE, OpenProject, ProjectError
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.core.files.json_files import write_json
from synthdp.core.imports import import_named
from synthdp.linked.package.kinds import keys_of, kinds_in, kinds_of_persons, with_kinds
from synthdp.linked.package.package import Package
from synthdp.schema.keys import OWN
from synthdp.schema.proposals import names_persons
from synthdp.schema.questions import declared_levels
from synthdp.schema.rule_answers import as_distance, ordered_pair
from synthdp.schema.words.texts import between_commas

Kind: TypeAlias = Mapping[str, Any] | str | None
"""What a kinds file says of a column; None if nothing yet."""

_PEOPLE = 2
"""The number of steps after which it is said whose rows they are."""

BESIDE = "datapackage.studio.json"
"""The description of linked tables beside them, where the commands look for their files."""

PACKAGE_FACTS = "synthdp.cli.describing.packages:package_facts"
"""What `synthdp schema check` says of a package."""


def content_of(opened: OpenProject) -> Any:
    """The kinds file of one table, or the description of linked ones."""
    return opened.public(PACKAGE if opened.project.is_linked else KINDS)


def save_content(opened: OpenProject, content: Mapping[str, Any]) -> None:
    """Write a kinds file, or a description: that in the project and beside the tables."""
    opened.save_public(PACKAGE if opened.project.is_linked else KINDS, content)
    if opened.project.is_linked:
        with suppress(ParameterError):  # the tables are not here: somebody works on without them
            write_json(path_of(opened) / BESIDE, content, force=True)


def resources(opened: OpenProject) -> list[Any]:
    """The linked tables as they are described; of one table none."""
    return list(content_of(opened).get("resources", ())) if opened.project.is_linked else []


def kinds_of(opened: OpenProject) -> dict[str, dict[str, Kind]]:
    """What is declared of each column, by table; a single table is called ''."""
    if opened.project.is_linked:
        return {each["name"]: kinds_in(each) for each in resources(opened)}
    kinds = content_of(opened)
    return {"": {name: kinds.get(name) for name in opened.project.names}}


def fixed_columns(opened: OpenProject) -> dict[tuple[str, str], str]:
    """The columns of linked tables, by table and name, of which nothing need be said: a ``key``, or
    one of a ``public`` table.
    """
    listed = resources(opened)
    public = [each for each in listed if each.get(OWN, {}).get("public")]
    fixed = {(each["name"], name): "public" for each in public for name in kinds_in(each)}
    return fixed | {(each["name"], key): "key" for each in listed for key in keys_of(each)}


def rules_of(opened: OpenProject) -> list[Any]:
    """The rules that are declared."""
    return list((content_of(opened).get(OWN) or {}).get("constraints", ()))


def learnt_levels(kinds: Mapping[str, Kind]) -> list[str]:
    """The columns whose levels are to be learnt.

    >>> learnt_levels({"sex": "categorical", "age": "integer"})
    ['sex']
    """
    labels = {
        name: kind if isinstance(kind, str) else (kind or {}).get("type")
        for name, kind in kinds.items()
    }
    return [
        name
        for name, label in labels.items()
        if label == "categorical" and not declared_levels(kinds[name])
    ]


def missing_words(opened: OpenProject) -> list[str]:
    """The words that mean "missing" in all columns that list none of their own."""
    tables = (each["schema"] for each in resources(opened))
    said = next(tables, None) if opened.project.is_linked else content_of(opened).get(OWN)
    return [word for word in (said or {}).get("missingValues", ()) if word]


def save_kinds(
    opened: OpenProject,
    tables: Mapping[str, Mapping[str, Kind]],
    rules: list[Any],
    *,
    missing: str | None = None,
) -> None:
    """Write what is declared of the columns, with the rules, how the file is written, and words for
    "missing", if they are given, with commas between them.
    """
    content = content_of(opened)
    keep_former(opened, (kinds_of(opened), rules_of(opened)), tables, rules)
    own = dict(content.get(OWN) or {}) | {"constraints": rules}
    words = missing_words(opened) if missing is None else re.split("[,;]", missing)
    words = [word for word in dict.fromkeys(map(str.strip, words)) if word]
    if opened.project.is_linked:
        said = {"missingValues": ["", *words]}
        listed = [{**each, "schema": each["schema"] | said} for each in resources(opened)]
        changed = [with_kinds(each, tables[each["name"]], rules=rules) for each in listed]
        content = {**content, "resources": changed}
    else:
        own = own | {"dialect": opened.project.dialect}
        content = in_order(opened, tables[""])
        own |= {"missingValues": ["", *words] if words else []}
    own = {key: each for key, each in own.items() if each}
    content = {key: content[key] for key in content if key != OWN}
    save_content(opened, ({OWN: own} if own else {}) | content)


def in_order(opened: OpenProject, kinds: Mapping[str, Kind]) -> dict[str, Kind]:
    """The kinds as rows of persons that hang together ask; raises `ProjectError` if their order may
    be missing.
    """
    project = opened.project
    unit, order = project.unit, project.order
    try:
        return (
            kinds_of_persons(kinds, unit=unit, order=order) if project.keeps_persons else {**kinds}
        )
    except ParameterError:
        problem = f"column {order!r} may be missing, and then its rows have no place in their order"
        raise ProjectError("may_lack", problem, name=order) from None


def persons_said(opened: OpenProject) -> dict[str, str]:
    """What a project says of persons with several rows, as a form asks; that they may have some, if
    the name of a column seems to number them and nobody has said: all rows of each are protected
    so, and where each has one, nothing is lost by it.
    """
    project = opened.project
    is_said = project.unit or project.walked > _PEOPLE or project.is_linked
    suggested = "" if is_said else next(filter(names_persons, project.names), "")
    unit = project.unit or suggested
    said = {"several": "yes" if unit else "no", "unit": unit}
    together = "yes" if project.keeps_persons else ""
    said |= {"max_rows": f"{project.max_rows}", "together": together}
    return said | {"order": project.order, "constant": project.constant}


def rows_of_persons(
    opened: OpenProject,
    *,
    unit: str,
    max_rows: int,
    together: bool = False,
    order: str = "",
    constant: str = "",
) -> dict[str, Any]:
    """What a project says of a table with several rows a person, perhaps kept together, in their
    order, and with columns that are the same in all of one.

    Raises `ProjectError` if no column tells persons apart, the rows have no limit, the order may
    be missing, or something is said to be the same that cannot be.
    """
    if unit not in opened.project.names:
        raise ProjectError("unit", f"{unit!r} is no column; choose one that tells persons apart")
    if max_rows < 1:
        raise ProjectError("max_rows", "rows of a person need a limit; give one of at least 1")
    for name in between_commas(constant):
        if name not in {*opened.project.names} - {unit, order} or not (together or order):
            problem = f"{name!r} is no column of rows that hang together; name others, or none"
            raise ProjectError("constant", problem, name=name)
    said = {"unit": unit, "max_rows": max_rows, "together": together, "order": order}
    said |= {"constant": constant}
    in_order(opened.changed(**said), content_of(opened))
    return said


def persons_of_answers(opened: OpenProject, answers: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """What a form answers of persons, as a project says it; nothing of linked tables.

    Raises as `rows_of_persons` does.
    """
    if opened.project.is_linked:
        return {}
    said = persons_said(opened)
    if (text_said(answers, "several") or said["several"]) != "yes":
        return {"unit": "", "together": False, "order": "", "constant": "", "max_rows": 1}
    answers = {name: [said[name]] for name in ("unit", "max_rows")} | {**answers}
    return rows_of_persons(
        opened,
        unit=text_said(answers, "unit"),
        max_rows=whole_said(answers, "max_rows"),
        together=bool(text_said(answers, "together")),
        order=text_said(answers, "order"),
        constant=text_said(answers, "constant"),
    )


def distances(
    tables: dict[str, dict[str, Kind]], rules: list[Any], taken: Any = None
) -> tuple[dict[str, dict[str, Kind]], list[Any]]:
    """The kinds and rules, without rules that follow from a column's distance from another: where
    it is measured so, or for the rule that was ``taken``.
    """
    kept = []
    for rule in rules:
        lower, upper = ordered_pair(rule) or ("", "")
        table, _, of_table = upper.rpartition(".") if "" not in tables else ("", "", upper)
        name = lower.removeprefix(f"{table}.") if table else lower
        kind = tables.get(table, {}).get(of_table)
        if kind and name in tables[table] and (rule is taken or relative_to(kind) == name):
            tables[table][of_table] = as_distance(kind, name)
        else:
            kept.append(rule)
    return tables, kept


def save_checked(
    opened: OpenProject,
    content: Mapping[str, Any],
    rules: list[Any],
    *,
    taken: Any = None,
    kinds: dict[str, dict[str, Kind]] | None = None,
) -> None:
    """Write other rules, bounds on rows or ``kinds``, unless they contradict each other or what is
    declared of the columns; then raises what refuses them, and nothing is changed. Of the rule that
    is ``taken`` see `distances`.
    """
    former = content_of(opened)
    try:
        save_content(opened, content)
        save_kinds(opened, *distances(kinds or kinds_of(opened), rules, taken))
        check(opened)
    except SynthdpError:
        save_content(opened, former)
        raise


def declared_path(opened: OpenProject) -> Path:
    """The file of what is declared."""
    return path_of(opened) / BESIDE if opened.project.is_linked else opened.path / KINDS


def check(
    opened: OpenProject, *, epsilon: float | None = None, delta: float | None = None
) -> dict[str, Any]:
    """What `synthdp schema check` says of all columns and rules together; raises as it does."""
    path = declared_path(opened)
    project = opened.project
    if project.is_linked:
        package = Package.load(path)
        facts: dict[str, Any] = import_named(PACKAGE_FACTS)(package, epsilon=epsilon, delta=delta)
        return facts
    unit = project.unit or None
    return describe_check(str(path), unit=unit, max_rows_per_unit=project.max_rows)[0]


def checked(opened: OpenProject) -> tuple[dict[str, Any], str]:
    """What `check` says, and what refuses the columns and rules together; empty if nothing does."""
    try:
        return check(opened), ""
    except SynthdpError as error:
        return {}, str(error)
