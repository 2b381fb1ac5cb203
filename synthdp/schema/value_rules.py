"""Rules that speak of values, ``{"check": "start <= end"}``: whoever has none loads nothing that
they need, which is an exact search for rows.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from synthdp.schema.columns.column import Column
from synthdp.schema.open_parts import are_without_bins
from synthdp.schema.rules.rules import Rule, is_check, parsed_rules
from synthdp.schema.types import value_rules

if TYPE_CHECKING:
    from synthdp.schema.axes.axis import CodeColumn
    from synthdp.schema.rules.drawing import Draw
    from synthdp.schema.rules.learnt_bounds import Limits
    from synthdp.schema.rules.system import Numbers, System
    from synthdp.schema.words.grid_intervals import Ints


def have_checks(rules: object) -> bool:
    """Whether any rule of a schema compares values."""
    return isinstance(rules, Sequence) and any(map(is_check, rules))


def with_exact_decimals(columns: Sequence[Column], rules: object) -> tuple[Column, ...]:
    """The columns, with decimals such that values are what is compared; see
    `checks.with_exact_decimals`.
    """
    if not have_checks(rules):
        return tuple(columns)
    exact: tuple[Column, ...] = value_rules("exact decimals")(columns, rules)
    return exact


def parted_by_rules(
    columns: Sequence[Column], rules: object, names: Collection[str]
) -> tuple[Column, ...]:
    """The columns, some with further bins that begin and end where conditions of rules do; see
    `parted_bins.parted_by_rules`.
    """
    if not rules or not names:
        return tuple(columns)
    parted: tuple[Column, ...] = value_rules("bins")(columns, rules, names)
    return parted


def parted_without_bins(
    columns: Sequence[Column], fields: object, rules: object
) -> tuple[Column, ...]:
    """The same of those columns whose bins their fields do not declare."""
    return parted_by_rules(columns, rules, are_without_bins(fields, columns) if rules else ())


def parting_points(
    columns: Sequence[Column], rules: object, names: Collection[str]
) -> dict[str, list[int]]:
    """Where these bins begin; see `parted_bins.parting_points`."""
    if not rules or not names:
        return {}
    points: dict[str, list[int]] = value_rules("points")(columns, rules, names)
    return points


def parse_rules(
    rules: object, columns: Sequence[Column], learnt: Collection[str] = ()
) -> tuple[Rule, ...]:
    """The rules of a schema.

    Raises
    ------
    SchemaError
        If one cannot be understood, or no row can keep to the checks; it names what to change,
        which are never the bounds of ``learnt`` columns.
    """
    parsed = parsed_rules(rules, columns)
    if not have_checks(rules):
        return parsed
    checked: tuple[Rule, ...] = value_rules("checked rules")(parsed, columns, learnt)
    return checked


def system_of(rules: Sequence[Rule], columns: Sequence[Column]) -> "System | None":
    """All rules that compare values, and what the others allow; None if none does."""
    if not any(rule.relations for rule in rules):
        return None
    system: System = value_rules("system")(rules, columns)
    return system


def reconciled(columns: Sequence[Column], rules: object, learnt: "Limits") -> tuple[Column, ...]:
    """The columns, learnt ones with bounds so wide that checks can hold; see
    `learnt_bounds.reconciled`.
    """
    if not have_checks(rules):
        return tuple(columns)
    wide: tuple[Column, ...] = value_rules("learnt bounds")(columns, rules, learnt)
    return wide


def drawn_values(
    system: "System",
    codes: "Mapping[str, CodeColumn]",
    draw: "Draw",
    rng: np.random.Generator,
    given: "Numbers",
) -> "tuple[dict[str, Ints], dict[str, CodeColumn]]":
    """Values that keep to all checks; see `drawing.drawn_values`."""
    drawn: tuple[dict[str, Ints], dict[str, CodeColumn]] = value_rules("drawing")(
        system, codes, draw, rng, given
    )
    return drawn
