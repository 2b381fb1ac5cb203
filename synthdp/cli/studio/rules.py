"""Rules, and limits of linked tables, as they are clicked together on the page."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from synthdp.cli.studio.declared import Kind, kinds_of, resources
from synthdp.cli.studio.project import Visit
from synthdp.core.errors import ParameterError
from synthdp.core.strict_json import parse_json
from synthdp.schema.questions import declared_levels, is_ordered, number_or_text, plain_number

COMPARED = ("<=", "<", "=", ">=", ">")
"""Between two sums of columns."""

FORMS = ("forbid", "allow", "check", "determines", "limit")
"""What a rule may say; the last one, of rows of a parent, only in linked tables."""

MOST_CASES = 500
"""Of a rule that lists what goes together."""


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
    names = [name for name in dict.fromkeys(visit.texts_of("column")) if name in known]
    if form not in FORMS or not names:
        return None
    names = names[::-1] if form == "determines" and visit.text("turned") else names
    n_cases = min(max(visit.whole("cases", usual=2), 1), MOST_CASES) if form == "allow" else 1
    columns = {name: _asked(known[name]) for name in names}
    return {"form": form, "columns": columns, "names": names, "cases": range(n_cases)}


def _asked(kind: Kind) -> dict[str, Any]:
    """What a condition may say of a column: its levels, as JSON and as they are written, or from
    where to where; and whether values may be missing.
    """
    levels = [(json.dumps(level), word) for word, level in declared_levels(kind).items()]
    is_required = isinstance(kind, Mapping) and (kind.get("constraints") or {}).get("required")
    return {"levels": levels, "is_ordered": is_ordered(kind), "may_lack": not is_required}


def rule_of(visit: Visit) -> tuple[str, dict[str, Any]]:
    """The rule that was clicked together, and the linked table that it is a limit of, else ''.

    Raises `ParameterError` if it is not complete.
    """
    asked = builder(visit)
    if asked is None:
        raise ParameterError("the rule names no column; choose the columns that it is about")
    form, names = asked["form"], asked["names"]
    if form == "check":
        left, right = _sum(visit, names, "left"), _sum(visit, names, "right")
        compared = visit.text("compared")
        if not left or not right or compared not in COMPARED:
            raise ParameterError("the comparison is not complete; choose two columns, or a number")
        return "", {"check": f"{left} {compared} {right}"}
    if form == "determines":
        if len(names) != 2:
            raise ParameterError("a column decides another; choose two columns")
        return "", {"determines": names, "map": _map(visit, asked["columns"][names[0]]["levels"])}
    cases = [_case(visit, number, names) for number in asked["cases"]]
    if not any(cases):
        raise ParameterError("the rule has no condition; tick levels, or give a limit")
    if form == "limit":
        table = names[0].removeprefix("other ").partition(".")[0]
        where = {name.partition(".")[2]: condition for name, condition in cases[0].items()}
        bounds = {each: visit.whole(each) for each in ("at_least", "at_most") if visit.text(each)}
        return table, {"where": where, **bounds}
    return "", {"forbid": cases[0]} if form == "forbid" else {"allow": [*filter(None, cases)]}


def _sum(visit: Visit, names: Sequence[str], side: str) -> str:
    """One side of a comparison: columns, each with a number that it is taken times, and a number."""
    terms = []
    for number, name in enumerate(names):
        quoted = name if name.isidentifier() else f"`{name}`"
        if visit.text(f"{number}.side") == side:
            times = plain_number(visit.text(f"{number}.times"), visit.mark).replace(",", ".")
            terms.append(f"{times} * {quoted}" if times else quoted)
    if side == "right" and visit.text("number"):
        terms.append(plain_number(visit.text("number"), visit.mark).replace(",", "."))
    return " + ".join(terms).replace(" + -", " - ")


def _case(visit: Visit, number: int, names: Sequence[str]) -> dict[str, Any]:
    """The conditions of one case, by column."""
    found = dict[str, Any]()
    for place, name in enumerate(names):
        start = f"{number}.{place}"
        limits = {each: visit.text(f"{start}.{each}") for each in ("minimum", "maximum")}
        limits = {each: plain_number(text, visit.mark) for each, text in limits.items()}
        levels = [parse_json(each, "level") for each in visit.texts_of(f"{start}.level") if each]
        levels += [
            each for each in map(str.strip, visit.text(f"{start}.levels").split(",")) if each
        ]
        if levels:
            found[name] = levels
        elif any(limits.values()):
            found[name] = {each: number_or_text(text) for each, text in limits.items() if text}
    return found


def _map(visit: Visit, levels: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """What belongs to each level: chosen of a list, or in lines of a level and what belongs to it."""
    chosen = {shown: visit.text(f"map.{n}") for n, (_, shown) in enumerate(levels)}
    found = {level: parse_json(text, "level") for level, text in chosen.items() if text}
    for line in visit.text("map").splitlines():
        level, mark, other = line.partition(";")
        if not mark:
            raise ParameterError(f"the line {line.strip()!r} is no pair; write level; level")
        found[level.strip()] = other.strip()
    return found
