"""What a distance from another column took the place of, kept so that it can be taken back.

A column that is measured so has bounds of its distance in place of its own, and rules that follow
from it go. ``former.json`` holds both, by table and column, as they were declared before.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from synthdp.cli.projects.project import OpenProject
from synthdp.schema.keys import OWN, RELATIVE
from synthdp.schema.rule_answers import ordered_pair

FORMER = "former.json"
"""The file of a project."""

BOUNDS = ("minimum", "maximum")


def relative_to(kind: Any) -> str:
    """The column that a kind is measured from; empty if from none.

    >>> relative_to({"type": "date", "synthdp": {"relative_to": "day"}}), relative_to("date")
    ('day', '')
    """
    own = kind.get(OWN) if isinstance(kind, Mapping) else None
    return f"{(own or {}).get(RELATIVE) or ''}"


def keep_former(
    opened: OpenProject,
    former: tuple[Mapping[str, Mapping[str, Any]], Iterable[Any]],
    tables: Mapping[str, Mapping[str, Any]],
    rules: Sequence[Any],
) -> None:
    """Keep, of each column that is measured from another from now on, its own bounds and the rules
    that go, given all kinds and rules of before and of now.
    """
    kinds, former_rules = former
    gone = [rule for rule in former_rules if rule not in rules]
    kept = {table: dict(said) for table, said in opened.public(FORMER).items() if table in tables}
    for table, columns in tables.items():
        for name, kind in columns.items():
            was = kinds.get(table, {}).get(name)
            if relative_to(kind) and not relative_to(was):
                called = f"{table}.{name}" if table else name
                followed = [rule for rule in gone if (ordered_pair(rule) or ("",))[-1] == called]
                of_column = {"bounds": _bounds_of(was), "rules": followed}
                kept.setdefault(table, {})[name] = of_column
    if kept:
        opened.save_public(FORMER, kept)


def _bounds_of(kind: Any) -> dict[str, Any]:
    constraints = (kind.get("constraints") if isinstance(kind, Mapping) else None) or {}
    return {key: constraints[key] for key in BOUNDS if key in constraints}


def before_distance(opened: OpenProject, table: str, name: str, kind: Any) -> tuple[Any, list[Any]]:
    """The kind of a column that is measured from another without that, with the bounds that it had
    before, and the rules that it had.
    """
    former = opened.public(FORMER).get(table, {}).get(name) or {}
    own = {key: each for key, each in kind[OWN].items() if key not in (RELATIVE, "as", *BOUNDS)}
    constraints = {**(kind.get("constraints") or {}), **former.get("bounds", {})}
    field = {key: each for key, each in kind.items() if key not in (OWN, "constraints")}
    if constraints:
        field |= {"constraints": constraints}
    if own:
        field |= {OWN: own}
    return (field if len(field) > 1 else field["type"]), list(former.get("rules", ()))
