"""Rules of a project, with the limits of its linked tables, and the columns that they may name."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, TypeAlias

from synthdp.cli.projects.asked import CHOICE, ONE_OF, TICK, Asked
from synthdp.cli.projects.columns import places_of
from synthdp.cli.projects.declared import (
    Kind,
    kinds_of,
    resources,
    rules_of,
    save_checked,
)
from synthdp.cli.projects.former import before_distance, relative_to
from synthdp.cli.projects.project import OpenProject, ProjectError
from synthdp.linked.package.kinds import kinds_of_rules
from synthdp.linked.package.qualified import OTHER
from synthdp.report.metrics.rule_breaks import rule_text
from synthdp.schema.keys import OWN
from synthdp.schema.proposals import names_age
from synthdp.schema.questions import is_ordered
from synthdp.schema.rule_answers import (
    COMPARED,
    FORMS,
    MOST_CASES,
    Answers,
    asked_of_column,
    ordered_pair,
    rule_of_answers,
)

Case: TypeAlias = list[tuple[str, list[Asked]]]
"""What is asked of each column; of '' what is asked besides."""

_BELOW_SIDES = [
    Asked("compared", "compared", form=CHOICE, options={each: each for each in COMPARED}),
    Asked("number", "number"),
]

_NEVER_EARLIER = [
    ("rule", "check"),
    ("0.side", "left"),
    ("1.side", "left"),
    ("compared", ">="),
]

_BOUNDS = [Asked("at_least", "at_least"), Asked("at_most", "at_most")]


def columns_of(opened: OpenProject) -> dict[str, Kind]:
    """All columns that rules may name, with their kinds."""
    hanging = {each["name"] for each in resources(opened) if each["schema"].get("foreignKeys")}
    return kinds_of_rules(kinds_of(opened), hanging=hanging)


def asked_of_rule(
    opened: OpenProject, form: str, names: Iterable[str], answers: Answers, *, n_cases: int = 2
) -> dict[str, Any] | None:
    """What is asked of a rule of a form about columns; None if either is not known yet.

    ``cases`` are what the rule lists, each of parts: a column, or '', with what is asked of it.
    What is to be answered of columns whose kinds are ``open`` is named besides.
    """
    columns = _known(opened, names)
    if form not in FORMS or not columns:
        return None
    places = places_of(opened)
    open_ = []
    if form != "check":
        open_ = [name for name, kind in columns.items() if asked_of_column(kind)["is_open"]]
    fields = {name: "minimum" if is_ordered(columns[name]) else "levels" for name in open_}
    cases = _cases(form, columns, min(max(n_cases, 1), MOST_CASES) if form == "allow" else 1)
    return {
        "form": form,
        "names": list(columns),
        "open": {name: f"{places[name.removeprefix(OTHER)]}.{fields[name]}" for name in open_},
        "cases": [
            [(name, [_with_answers(each, answers) for each in asked]) for name, asked in case]
            for case in cases
        ],
    }


def _cases(form: str, columns: Mapping[str, Kind], n_cases: int) -> list[Case]:
    if form == "check":
        sides = [(name, _asked_of_side(number)) for number, name in enumerate(columns)]
        return [[*sides, ("", _BELOW_SIDES)]]
    if form == "determines":
        levels = _asked_of_levels([*columns.values()])
        return [[("", levels)] if levels else []]
    bounds = [("", _BOUNDS)] if form == "limit" else []
    return [
        [(name, _asked_of_case(f"{n}.{at}", columns[name])) for at, name in enumerate(columns)]
        + bounds
        for n in range(n_cases)
    ]


def _asked_of_side(number: int) -> list[Asked]:
    """On which side of a comparison a column stands, and how many times."""
    usual = ("left",) if number == 0 else ("right",)
    name = f"{number}.side"
    sides = ("left", "right")
    asked = [Asked(name, each, form=ONE_OF, value=each, given=usual) for each in sides]
    return [*asked, Asked(f"{number}.times", "times")]


def _asked_of_levels(kinds: Sequence[Kind]) -> list[Asked]:
    """Which level belongs to each level of a column; nothing unless they are known of two."""
    if len(kinds) != 2:
        return []
    levels, others = (asked_of_column(kind)["levels"] for kind in kinds)
    options = {"": "—"} | dict(others)
    return [
        Asked(f"map.{number}", label=f"{level} →", form=CHOICE, options=options)
        for number, (_, level) in enumerate(levels if others else ())
    ]


def _asked_of_case(start: str, kind: Kind) -> list[Asked]:
    """What a condition may say of a column."""
    said = asked_of_column(kind)
    asked = [
        Asked(f"{start}.level", label=level, form=TICK, value=value)
        for value, level in said["levels"]
    ]
    if said["is_ordered"]:
        asked += [Asked(f"{start}.minimum", "from"), Asked(f"{start}.maximum", "to")]
    elif not said["levels"]:
        asked.append(Asked(f"{start}.levels", "levels"))
    lacks = Asked(f"{start}.level", "missing", form=TICK, value="null")
    return [*asked, lacks] if said["may_lack"] else asked


def _with_answers(asked: Asked, answers: Answers) -> Asked:
    return asked._replace(
        given=[each for each in answers.get(asked.name, ()) if each] or asked.given
    )


def rule_said(
    opened: OpenProject,
    form: str,
    names: Iterable[str],
    answers: Answers,
) -> tuple[str, dict[str, Any]]:
    """The linked table that a rule is a limit of, else '', and the rule; see `rule_of_answers`.

    Raises `ProjectError` if no column is named, and `ParameterError` if the rule is not complete.
    """
    columns = _known(opened, names)
    if form not in FORMS or not columns:
        raise ProjectError("rule", "the rule names no column; choose which ones it is about")
    rule = rule_of_answers(form, columns, answers, mark=opened.project.mark)
    first = next(iter(columns))
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


def change_rules(
    opened: OpenProject, content: Any, change: str, *, added: Sequence[tuple[str, Any]] = ()
) -> None:
    """Write a content with rules that are ``added``, else after a change, such as ``remove-0`` by
    the place of a rule in `all_rules`. A distance says the rule of ``distance-0``, or of
    ``apart-0`` in `dates_apart`; ``back-0`` takes one back, by its place in `relatives`: what it
    took the place of is back.

    Raises `ProjectError` if there is nothing to be changed so, and as `save_rules` does.
    """
    rules, (what, _, number) = all_rules(opened), change.partition("-")
    if added:
        save_rules(opened, content, [*rules, *added])
        return
    apart = [("", rule) for rule in dates_apart(opened).values()]
    measured = relatives(opened)
    n_listed = {
        "remove": len(rules),
        "distance": len(rules),
        "apart": len(apart),
        "back": len(measured),
    }.get(what, 0)
    if not (number.isascii() and number.isdigit() and int(number) < n_listed):
        raise ProjectError("action", f"{change!r} is no change of a rule; choose one that is there")
    place = int(number)
    if what == "remove":
        save_rules(opened, content, [*rules[:place], *rules[place + 1 :]])
    elif what == "back":
        tables, (table, name, _, _) = kinds_of(opened), measured[place]
        tables[table][name], former = before_distance(opened, table, name, tables[table][name])
        rules += [("", rule) for rule in former if ("", rule) not in rules]
        save_rules(opened, content, rules, kinds=tables)
    else:
        first = apart[place : place + 1] if what == "apart" else []
        taken = (first or rules[place:])[0][1]
        save_rules(opened, content, [*rules, *first], taken=taken)


def save_rules(
    opened: OpenProject, content: Any, rules: Sequence[tuple[str, Any]], **changed: Any
) -> None:
    """Write a content with rules, each with the linked table that it is a limit of, else '', and
    what is ``changed`` besides; raises what refuses them, as `save_checked` does.
    """
    if opened.project.is_linked:
        content = with_limits(content, rules)
    save_checked(opened, content, [rule for table, rule in rules if not table], **changed)


def with_limits(content: Mapping[str, Any], rules: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A description of linked tables with those of the rules that are limits of each."""
    rules = [*rules]
    changed = []
    for each in content["resources"]:
        own = {key: said for key, said in (each.get(OWN) or {}).items() if key != "limits"}
        limits = [rule for table, rule in rules if table == each["name"]]
        changed.append({**each, OWN: own | ({"limits": limits} if limits else {})})
    return {**content, "resources": changed}


def distance_of(opened: OpenProject, rule: Any) -> tuple[str, str] | None:
    """The columns of a rule that a distance between them would say better, the lower one first."""
    pair = ordered_pair(rule)
    kinds = columns_of(opened)
    tables = [f"{name}".rpartition(".")[0] for name in pair or () if opened.project.is_linked]
    is_one_table = len({*tables}) < 2 and not any(each.startswith(OTHER) for each in tables)
    is_better = pair and is_one_table and all(is_ordered(kinds.get(each)) for each in pair)
    return pair if is_better else None


def dates_apart(opened: OpenProject) -> dict[tuple[str, str], Any]:
    """The ways in which neighbouring dates of a table may follow one another, the lower one first,
    each with the rule that says so: of those of which nothing is declared, and whose later one is
    not measured by a distance yet. Those in the order of the columns come first, as most are so.
    """
    ruled = [{*(ordered_pair(rule) or ())} for rule in rules_of(opened)]
    ways = list[tuple[str, str]]()
    turned = list[tuple[str, str]]()
    for table, kinds in kinds_of(opened).items():
        measured = {name: relative_to(kind) for name, kind in kinds.items()}
        start = f"{table}." if table else ""
        for first, second in _neighbouring_dates(kinds):
            for listed, lower, upper in ((ways, first, second), (turned, second, first)):
                if not measured[upper] and measured[lower] != upper:
                    listed.append((start + lower, start + upper))
    said = {"0.side": ["left"], "1.side": ["right"], "compared": ["<="]}
    rules = {way: rule_of_answers("check", dict.fromkeys(way), said) for way in ways + turned}
    return {way: rule for way, rule in rules.items() if {*way} not in ruled}


def _neighbouring_dates(kinds: Mapping[str, Kind]) -> Iterator[tuple[str, str]]:
    """Each two dates, and each two moments, of which one follows the other among the columns."""
    for moment in ("date", "datetime"):
        yield from pairwise(name for name, kind in kinds.items() if _type(kind) == moment)


def years_of_ages(opened: OpenProject) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """The columns of ages beside those of years, of which no rule says anything together: without
    one, rows hold years before somebody was born.

    Besides stands what `rule_said` is answered, but for two numbers: the least age, and the year of
    the ages. Age and year are no less than both together.
    """
    named = [str(rule) for rule in rules_of(opened)]
    found = list[tuple[str, str]]()
    for table, kinds in kinds_of(opened).items():
        ages = [name for name, kind in kinds.items() if is_ordered(kind) and names_age(name)]
        years = [name for name, kind in kinds.items() if _type(kind) == "year"]
        found += [
            (f"{table}.{age}", f"{table}.{year}") if table else (age, year)
            for age, year in product(ages[:1], years)
        ]
    return [
        (*pair, [*_NEVER_EARLIER, *(("column", name) for name in pair)])
        for pair in found
        if not any(all(name in rule for name in pair) for rule in named)
    ]


def text_of(rule: Any, words: Mapping[str, str]) -> str:
    """A rule in words; one of an age and a year as it was offered, in those for ``aged``.

    >>> text_of(
    ...     {"check": "age + `since` >= 16 + 2025"}, {"aged": "{year}: {least} ({age} of {at})"}
    ... )
    'since: 16 (age of 2025)'
    """
    name = r"(?:`([^`]+)`|([^\W\d][\w.]*))"
    check = rule.get("check") if isinstance(rule, Mapping) else None
    found = re.fullmatch(rf"{name} \+ {name} >= ([0-9]+) \+ ([0-9]+)", f"{check}")
    if found is None:
        return rule_text(rule, words)
    age, year = found[1] or found[2], found[3] or found[4]
    return words["aged"].format(age=age, year=year, least=found[5], at=found[6])


def relatives(opened: OpenProject) -> list[tuple[str, str, str, str]]:
    """The columns that are measured by their distance from another: the table, the name, that other
    one, and the type.
    """
    return [
        (table, name, lower, kind["type"])
        for table, kinds in kinds_of(opened).items()
        for name, kind in kinds.items()
        if isinstance(kind, Mapping) and (lower := relative_to(kind))
    ]


def _type(kind: Kind) -> Any:
    return kind["type"] if isinstance(kind, Mapping) else kind
