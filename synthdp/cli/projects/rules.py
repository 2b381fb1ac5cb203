"""Rules of a project, with the limits of its linked tables, and the columns that they may name."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, permutations
from typing import Any

from synthdp.cli.projects.declared import Kind, kinds_of, resources, rules_of
from synthdp.cli.projects.project import OpenProject, ProjectError
from synthdp.linked.package.kinds import kinds_of_rules
from synthdp.linked.package.qualified import OTHER
from synthdp.schema.keys import OWN, RELATIVE
from synthdp.schema.questions import is_ordered
from synthdp.schema.rule_answers import (
    FORMS,
    MOST_CASES,
    asked_of_column,
    ordered_pair,
    rule_of_answers,
)


def columns_of(opened: OpenProject) -> dict[str, Kind]:
    """All columns that rules may name, with their kinds."""
    hanging = {each["name"] for each in resources(opened) if each["schema"].get("foreignKeys")}
    return kinds_of_rules(kinds_of(opened), hanging=hanging)


def asked_of_rule(
    opened: OpenProject, form: str, names: Iterable[str], *, n_cases: int = 2
) -> dict[str, Any] | None:
    """What is asked of a rule of a form about columns; None if either is not known yet."""
    columns = _known(opened, names)
    if form not in FORMS or not columns:
        return None
    asked = {name: asked_of_column(kind) for name, kind in columns.items()}
    cases = range(min(max(n_cases, 1), MOST_CASES) if form == "allow" else 1)
    return {"form": form, "columns": asked, "names": list(columns), "cases": cases}


def rule_said(
    opened: OpenProject,
    form: str,
    names: Iterable[str],
    answers: Mapping[str, Sequence[str]],
    *,
    mark: str = ".",
) -> tuple[str, dict[str, Any]]:
    """The linked table that a rule is a limit of, else '', and the rule; see `rule_of_answers`.

    Raises `ProjectError` if no column is named, and `ParameterError` if the rule is not complete.
    """
    columns = _known(opened, names)
    if form not in FORMS or not columns:
        raise ProjectError("rule", "the rule names no column; choose which ones it is about")
    rule, first = rule_of_answers(form, columns, answers, mark=mark), next(iter(columns))
    return first.removeprefix("other ").partition(".")[0] if form == "limit" else "", rule


def _known(opened: OpenProject, names: Iterable[str]) -> dict[str, Kind]:
    known = columns_of(opened)
    return {name: known[name] for name in dict.fromkeys(names) if name in known}


def all_rules(opened: OpenProject) -> list[tuple[str, Any]]:
    """The rules, each with the linked table that it is a limit of, else ''."""
    rules = [("", rule) for rule in rules_of(opened)]
    for each in resources(opened):
        rules += [(each["name"], limit) for limit in (each.get(OWN) or {}).get("limits", ())]
    return rules


def with_limits(content: Mapping[str, Any], rules: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A description of linked tables with those of the rules that are limits of each."""
    rules, changed = [*rules], []
    for each in content["resources"]:
        own = {key: said for key, said in (each.get(OWN) or {}).items() if key != "limits"}
        limits = [rule for table, rule in rules if table == each["name"]]
        changed.append({**each, OWN: own | ({"limits": limits} if limits else {})})
    return {**content, "resources": changed}


def distance_of(opened: OpenProject, rule: Any) -> tuple[str, str] | None:
    """The columns of a rule that a distance between them would say better, the lower one first."""
    pair, kinds = ordered_pair(rule), columns_of(opened)
    tables = [f"{name}".rpartition(".")[0] for name in pair or () if opened.project.is_linked]
    is_one_table = len({*tables}) < 2 and not any(each.startswith(OTHER) for each in tables)
    is_better = pair and is_one_table and all(is_ordered(kinds.get(each)) for each in pair)
    return pair if is_better else None


def dates_apart(opened: OpenProject) -> dict[tuple[str, str], Any]:
    """The ways in which neighbouring dates of a table may follow one another, the lower one first,
    each with the rule that says so: of those of which nothing is declared, and whose later one is
    not measured by a distance yet.
    """
    ruled = [{*(ordered_pair(rule) or ())} for rule in rules_of(opened)]
    ways = list[tuple[str, str]]()
    for table, kinds in kinds_of(opened).items():
        fields = {name: kind for name, kind in kinds.items() if isinstance(kind, Mapping)}
        measured = {name: (kind.get(OWN) or {}).get(RELATIVE) for name, kind in fields.items()}
        types = {name: fields[name]["type"] if name in fields else kinds[name] for name in kinds}
        for moment in ("date", "datetime"):
            for pair in pairwise(name for name, type_ in types.items() if type_ == moment):
                ways += [
                    (f"{table}.{lower}", f"{table}.{upper}") if table else (lower, upper)
                    for lower, upper in permutations(pair)
                    if not measured.get(upper) and measured.get(lower) != upper
                ]
    said = {"0.side": ["left"], "1.side": ["right"], "compared": ["<="]}
    rules = {way: rule_of_answers("check", dict.fromkeys(way), said) for way in ways}
    return {way: rule for way, rule in rules.items() if {*way} not in ruled}


def relatives(opened: OpenProject) -> list[tuple[str, str]]:
    """The columns that are measured by their distance from another, with that one."""
    kinds = [each for table in kinds_of(opened).values() for each in table.items()]
    owns = [(name, kind.get(OWN) or {}) for name, kind in kinds if isinstance(kind, Mapping)]
    return [(name, own[RELATIVE]) for name, own in owns if RELATIVE in own]
