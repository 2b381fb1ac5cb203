"""What is asked of a rule, and the rule that the answers say, as a schema has it.

Questions and answers are flat texts, as forms have them; of an answer there may be several texts.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from synthdp.core.errors import ParameterError
from synthdp.core.strict_json import parse_json
from synthdp.schema.open_parts import is_closable
from synthdp.schema.questions import (
    declared_levels,
    is_ordered,
    number_or_text,
    plain_number,
    whole_number,
)
from synthdp.schema.types import is_generated
from synthdp.schema.words.texts import between_commas

COMPARED = ("<=", "<", "=", ">=", ">")
"""Between two sums of columns."""

FORMS = ("forbid", "allow", "check", "determines", "limit")
"""What a rule may say; the last one, of rows of a parent, only in linked tables."""

MOST_CASES = 500
"""Of a rule that lists what goes together."""

Answers: TypeAlias = Mapping[str, Sequence[str]]
"""The texts that answer each question."""

Kind: TypeAlias = Mapping[str, Any] | str | None
"""What a kinds file says of a column."""


def asked_of_column(kind: Kind) -> dict[str, Any]:
    """What a condition may say of a column: its levels, as JSON and as they are written, or from
    where to where; whether values may be missing; and whether it is open, as no column of a
    condition is.

    >>> asked_of_column({"type": "integer", "constraints": {"required": True}})
    {'levels': [], 'is_ordered': True, 'may_lack': False, 'is_open': True}
    """
    levels = [(json.dumps(level), word) for word, level in declared_levels(kind).items()]
    field: dict[str, Any] = {**kind} if isinstance(kind, Mapping) else {"type": kind}
    is_required = (field.get("constraints") or {}).get("required")
    field["type"] = "string" if field["type"] == "categorical" else field["type"]
    is_open = field["type"] is not None and not is_generated(field["type"])
    return {
        "levels": levels,
        "is_ordered": is_ordered(kind),
        "may_lack": not is_required,
        "is_open": is_open and not is_closable(field),
    }


def rule_of_answers(
    form: str, columns: Mapping[str, Kind], answers: Answers, *, mark: str = "."
) -> dict[str, Any]:
    """The rule that the answers say.

    Parameters
    ----------
    form
        One of `FORMS`.
    columns
        Those that the rule is about, in their order, with their kinds.
    answers
        Of a comparison ``0.side``, ``0.times`` and so on by the place of a column, ``compared`` and
        ``number``, of which there may be several; of a column that decides another ``map``, or
        ``map.0`` by the place of a level;
        of all others ``0.1.level``, ``0.1.levels``, ``0.1.minimum`` and ``0.1.maximum`` by the
        places of a case and a column; of a limit also ``at_least`` and ``at_most``.
    mark
        The decimal mark of numbers.

    Raises
    ------
    ParameterError
        If they are not complete, or a number is none.

    >>> answers = {"0.side": ["left"], "1.side": ["right"], "compared": ["<="]}
    >>> rule_of_answers("check", {"born": "date", "died": "date"}, answers)
    {'check': 'born <= died'}
    """
    if form == "check":
        return {"check": _comparison(tuple(columns), answers, mark)}
    if form == "determines":
        if len(columns) != 2:
            raise ParameterError("a column decides another; choose two columns")
        levels = asked_of_column(next(iter(columns.values())))["levels"]
        return {"determines": list(columns), "map": _map(answers, levels)}
    numbers = (re.match(r"([0-9]{1,4})\.", each) for each in answers)
    n_cases = 1 + max((int(each[1]) for each in numbers if each), default=0)
    n_cases = min(n_cases, MOST_CASES)
    cases = [_case(answers, number, tuple(columns), mark) for number in range(n_cases)]
    cases = [case for case in cases if case]
    if not cases:
        raise ParameterError("the rule has no condition; tick levels, or give a limit")
    if form == "limit":
        where = {name.partition(".")[2]: condition for name, condition in cases[0].items()}
        bounds = {each: _text(answers, each) for each in ("at_least", "at_most")}
        return {"where": where} | {
            each: whole_number(each, text) for each, text in bounds.items() if text
        }
    return {"forbid": cases[0]} if form == "forbid" else {"allow": cases}


def ordered_pair(rule: Any) -> tuple[str, str] | None:
    """The two columns of a rule that says no more than that one is at most the other; else None.

    >>> ordered_pair({"check": "`day in` <= out"}), ordered_pair({"check": "out >= day"})
    (('day in', 'out'), ('day', 'out'))
    """
    check = rule.get("check") if isinstance(rule, Mapping) else None
    name = r"(?:`([^`]+)`|([^\W\d][\w.]*))"
    match = re.fullmatch(rf"{name} (<=|>=) {name}", check) if isinstance(check, str) else None
    if match is None:
        return None
    left = match[1] or match[2]
    right = match[4] or match[5]
    return (left, right) if match[3] == "<=" else (right, left)


def as_distance(kind: Kind, lower: str) -> dict[str, Any]:
    """The kind of a column that is measured by its distance from another, and never below it.

    Its own bounds go: those of a distance are others.

    >>> as_distance("date", "day")
    {'type': 'date', 'synthdp': {'relative_to': 'day', 'minimum': 0}}
    """
    field: dict[str, Any] = {**kind} if isinstance(kind, Mapping) else {"type": kind}
    own = dict(field.get("synthdp") or {})
    if own.get("relative_to") != lower:
        own |= {"relative_to": lower, "minimum": 0}
        bounds = field.pop("constraints", None) or {}
        kept = {key: bounds[key] for key in bounds if key not in ("minimum", "maximum")}
        if kept:
            field |= {"constraints": kept}
    minimum = own.get("minimum")
    own["minimum"] = max(minimum, 0) if isinstance(minimum, int | float) else 0
    return field | {"synthdp": own}


def _text(answers: Answers, name: str) -> str:
    return next(iter(answers.get(name, ())), "").strip()


def _comparison(names: Sequence[str], answers: Answers, mark: str) -> str:
    left, right = (_sum(names, answers, side, mark) for side in ("left", "right"))
    compared = _text(answers, "compared")
    if not left or not right or compared not in COMPARED:
        raise ParameterError("the comparison is not complete; choose two columns, or a number")
    return f"{left} {compared} {right}"


def _sum(names: Sequence[str], answers: Answers, side: str, mark: str) -> str:
    """One side of a comparison: columns, each with a number that it is taken times, and a number."""
    terms = []
    for number, name in enumerate(names):
        quoted = name if name.isidentifier() else f"`{name}`"
        if _text(answers, f"{number}.side") == side:
            times = plain_number(_text(answers, f"{number}.times"), mark).replace(",", ".")
            terms.append(f"{times} * {quoted}" if times else quoted)
    numbers = [each.strip() for each in answers.get("number", ()) if side == "right"]
    if numbers[1:] and not all(numbers):
        raise ParameterError("the comparison is not complete; give each of its numbers")
    terms += [plain_number(each, mark).replace(",", ".") for each in numbers if each]
    return " + ".join(terms).replace(" + -", " - ")


def _case(answers: Answers, number: int, names: Sequence[str], mark: str) -> dict[str, Any]:
    """The conditions of one case, by column."""
    conditions = dict[str, Any]()
    for place, name in enumerate(names):
        start = f"{number}.{place}"
        limits = {each: _text(answers, f"{start}.{each}") for each in ("minimum", "maximum")}
        levels = [parse_json(each, "level") for each in answers.get(f"{start}.level", ()) if each]
        levels += between_commas(_text(answers, f"{start}.levels"))
        if levels:
            conditions[name] = levels
        elif any(limits.values()):
            conditions[name] = {
                each: number_or_text(plain_number(text, mark))
                for each, text in limits.items()
                if text
            }
    return conditions


def _map(answers: Answers, levels: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """What belongs to each level: chosen of a list, or in lines of a level and what belongs to it."""
    chosen = {shown: _text(answers, f"map.{n}") for n, (_, shown) in enumerate(levels)}
    pairs = {level: parse_json(text, "level") for level, text in chosen.items() if text}
    for line in _text(answers, "map").splitlines():
        level, mark, other = line.partition(";")
        if not mark:
            raise ParameterError(f"the line {line.strip()!r} is no pair; write level; level")
        pairs[level.strip()] = other.strip()
    return pairs
