"""Rules as they are clicked together on the page, and as the page lists them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from synthdp.cli.studio.declared import Kind, kinds_of, resources
from synthdp.cli.studio.project import Visit
from synthdp.core.errors import ParameterError
from synthdp.core.strict_json import parse_json

COMPARED = ("<=", "<", "=", ">=", ">")
"""Between two sums of columns."""

TERMS = range(3)
"""Columns on each side of a comparison."""

MOST_COLUMNS, MOST_CASES = 4, 20
"""Of a rule that is clicked; longer ones are written as JSON."""


def columns_of(visit: Visit) -> dict[str, Kind]:
    """All columns that rules may name, with their kinds."""
    found = {
        f"{table}.{name}" if table else name: kind
        for table, kinds in kinds_of(visit).items()
        for name, kind in kinds.items()
        if kind != "ignore"
    }
    hanging = {each["name"] for each in resources(visit) if each["schema"].get("foreignKeys")}
    others = {name: kind for name, kind in found.items() if name.partition(".")[0] in hanging}
    return found | {f"other {name}": kind for name, kind in others.items()}


def builder(visit: Visit) -> dict[str, Any] | None:
    """What is asked of a rule whose form and columns are chosen; None if none are."""
    known, form = columns_of(visit), visit.text("rule")
    columns = [name for name in dict.fromkeys(visit.texts_of("column")) if name in known]
    if form not in ("forbid", "allow", "determines") or not columns:
        return None
    n_cases = min(max(visit.whole("cases", usual=2), 1), MOST_CASES) if form == "allow" else 1
    levels = {name: _levels(known[name]) for name in columns[:MOST_COLUMNS]}
    return {"form": form, "levels": levels, "cases": range(n_cases)}


def _levels(kind: Kind) -> list[tuple[str, str]] | None:
    """The levels of a column that are declared, as JSON and as they are shown; [] if they are
    learnt, None if the column has limits instead.
    """
    field: Mapping[str, Any] = kind if isinstance(kind, Mapping) else {"type": kind}
    if field["type"] in ("integer", "number", "year", "date", "datetime", "time"):
        return None
    constraints = field.get("constraints") or {}
    words = [(field.get(f"{each}Values") or [each])[0] for each in ("true", "false")]
    usual = [*zip((True, False), words, strict=True)] if field["type"] == "boolean" else []
    levels = [(each, each) for each in constraints.get("enum") or ()] or usual
    shown = [(json.dumps(level), str(word)) for level, word in levels]
    return [*shown, ("null", "")] if levels and not constraints.get("required") else shown


def rule_of(visit: Visit) -> Any:
    """The rule that was clicked together, or written as JSON; raises if it is not complete."""
    form, asked = visit.text("rule"), builder(visit)
    if form == "check":
        left, right, compared = _sum(visit, "l"), _sum(visit, "r"), visit.text("compared")
        if not left or not right or compared not in COMPARED:
            raise ParameterError("the comparison is not complete; choose two columns, or a number")
        return {"check": f"{left} {compared} {right}"}
    if asked is None:
        return parse_json(visit.text("json"), "rule")
    names = list(asked["levels"])
    if form == "determines":
        if len(names) != 2:
            raise ParameterError("a column decides another; choose two columns")
        return {"determines": names, "map": _map(visit, asked["levels"][names[0]])}
    cases = [_case(visit, number, names) for number in asked["cases"]]
    if not any(cases):
        raise ParameterError("the rule has no condition; tick levels, or give a limit")
    return {"forbid": cases[0]} if form == "forbid" else {"allow": [*filter(None, cases)]}


def _sum(visit: Visit, side: str) -> str:
    """One side of a comparison: columns, each with a number that it is taken times, and a number."""
    given = [(visit.text(f"{side}{n}.times"), visit.text(f"{side}{n}.column")) for n in TERMS]
    text = ""
    for times, name in [*given, (visit.text(f"{side}.number"), "")]:
        size = times.replace(",", ".").lstrip("-")
        quoted = name if name.isidentifier() else f"`{name}`"
        if name or size:
            sign = "-" if times.startswith("-") else "+"
            text += f" {sign} {' * '.join(filter(None, (size, quoted if name else '')))}"
    return text.removeprefix(" + ").strip()


def _case(visit: Visit, number: int, names: Sequence[str]) -> dict[str, Any]:
    """The conditions of one case, by column."""
    found = dict[str, Any]()
    for place, name in enumerate(names):
        start = f"{number}.{place}"
        limits = {each: visit.text(f"{start}.{each}") for each in ("minimum", "maximum")}
        levels = [parse_json(each, "level") for each in visit.texts_of(f"{start}.level") if each]
        levels += [
            each.strip() for each in visit.text(f"{start}.levels").split(",") if each.strip()
        ]
        if levels:
            found[name] = levels
        elif any(limits.values()):
            found[name] = {each: _value(text) for each, text in limits.items() if text}
    return found


def _value(text: str) -> Any:
    """A limit: a number, or a date as it is written."""
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text.replace(",", "."))
    except ValueError:
        return text


def _map(visit: Visit, levels: Sequence[tuple[str, str]] | None) -> dict[str, Any]:
    """What belongs to each level: chosen of a list, or in lines of a level and what belongs to it."""
    chosen = {shown: visit.text(f"map.{n}") for n, (_, shown) in enumerate(levels or ())}
    found = {level: parse_json(text, "level") for level, text in chosen.items() if text and level}
    for line in visit.text("map").splitlines():
        level, mark, other = line.partition(";")
        if not mark:
            raise ParameterError(f"the line {line.strip()!r} is no pair; write level; level")
        found[level.strip()] = other.strip()
    return found


def rule_text(rule: Any) -> str:
    """A rule in a line, as the page lists it."""
    if isinstance(rule, Mapping) and "check" in rule:
        return str(rule["check"])
    if isinstance(rule, Mapping) and "determines" in rule:
        return " → ".join(map(str, rule["determines"]))
    if isinstance(rule, Mapping) and "forbid" in rule:
        return f"✕ {_case_text(rule['forbid'])}"
    if isinstance(rule, Mapping) and "allow" in rule:
        return f"✓ {' | '.join(map(_case_text, rule['allow']))}"
    return str(rule)


def _case_text(case: Mapping[str, Any]) -> str:
    return " · ".join(f"{name}: {_condition_text(each)}" for name, each in case.items())


def _condition_text(condition: Any) -> str:
    if isinstance(condition, Mapping):
        return f"{condition.get('minimum', '…')} … {condition.get('maximum', '…')}"
    return ", ".join("∅" if each is None else str(each) for each in condition)
