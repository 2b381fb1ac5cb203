"""Rules of a schema: combinations of values that everybody knows to be impossible.

A rule is one of
- ``{"forbid": {column: condition, ..}}``: no row meets all the conditions;
- ``{"allow": [{column: condition, ..}, ..]}``: every row meets all the conditions of some entry
  (all entries name the same columns);
- ``{"determines": [fine, coarse], "map": {fine level: coarse level, ..}}``: the one column
  follows from the other;
- ``{"check": "start <= end"}``: a comparison or a sum of the values of numbers or dates, which
  holds wherever none of them is missing; see `synthdp.schema.rules.expressions`.

For conditions see `synthdp.schema.rules.conditions`. What is written always obeys the rules, so a
bin must lie inside or outside a condition as a whole: otherwise the schema is refused and asks for
an edge there.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.constraint import Constraint
from synthdp.core.errors import SchemaError
from synthdp.core.imports import import_named
from synthdp.core.json_value import JsonValue
from synthdp.schema.axes.axis import Axis
from synthdp.schema.columns.column import Column
from synthdp.schema.rules.conditions import (
    check_may_be_missing,
    level_codes,
    listed_levels,
    range_of,
)

if TYPE_CHECKING:
    from synthdp.schema.rules.expressions import Relation

Mask = NDArray[np.bool_]
Columns = Mapping[str, Column]

RELATIONS_OF = "synthdp.schema.rules.expressions:relations_of"
"""What reads a check; loaded where there is one."""

_RULES = '{"forbid": ..}, {"allow": ..}, {"determines": .., "map": ..} or {"check": ..}'

MAX_RULE_CELLS = 2**25
"""Most combinations of levels that rules list together, one byte each: models of more would take
gigabytes.
"""


@final
@dataclass(frozen=True)
class Rule:
    """One rule as it stands in a schema file, and the constraint that it means."""

    text: Mapping[str, Any] = field(hash=False)
    """The rule as a JSON object."""
    constraints: tuple[Constraint, ...] = field(compare=False)
    """The combinations of level codes that it allows; of checks, as far as engines know
    them.
    """
    relations: "tuple[Relation, ...]" = field(default=(), compare=False)
    """What a check states of values."""


def rules_in(rules: object) -> list[JsonValue]:
    """The rules in a list, each with its place in it; raises `SchemaError` if it is none."""
    return JsonValue(rules, "schema", "constraints").entries("a list of rules")


def is_check(rule: object) -> bool:
    """Whether a rule compares values."""
    return isinstance(rule, Mapping) and set(rule) - {"description"} == {"check"}


def relations_of_check(rule: Any) -> "tuple[Relation, ...]":
    """What a rule states of values; nothing if it is no check."""
    if not is_check(rule):
        return ()
    relations: tuple[Relation, ...] = import_named(RELATIONS_OF)(rule["check"])
    return relations


def names_in(rule: Mapping[str, Any]) -> set[str]:
    """The names in a rule, as far as it is well-formed."""
    names = [name for entry in conjunctions(rule) for name in entry]
    determined = rule.get("determines")
    if isinstance(determined, Sequence) and not isinstance(determined, str):
        names += determined
    names += [name for relation in relations_of_check(rule) for name in relation.factors]
    return {name for name in names if isinstance(name, str)}


def names_of(rule: Mapping[str, Any], columns: Collection[str]) -> set[str]:
    """The columns that a rule names; a part of a date names the date, too."""
    texts = names_in(rule)
    return texts | {name.rpartition(":")[0] for name in texts.difference(columns)}


def settled_names(rules: object) -> frozenset[str]:
    """The columns that rules other than checks name, whose levels must be known before a run; none
    if these are no list.
    """
    if not isinstance(rules, Sequence) or isinstance(rules, str):
        return frozenset()
    named = [
        names_of(rule, ()) for rule in rules if isinstance(rule, Mapping) and not is_check(rule)
    ]
    return frozenset().union(*named)


def determined_names(rules: object) -> frozenset[str]:
    """The columns in rules of which one says the level of another; none if these are no list."""
    if not isinstance(rules, Sequence) or isinstance(rules, str):
        return frozenset()
    named = [names_in(rule) for rule in rules if isinstance(rule, Mapping) and "determines" in rule]
    return frozenset().union(*named)


def conjunctions(rule: Any) -> list[Mapping[str, Any]]:
    """The conditions that a rule forbids or allows together, as far as it is well-formed."""
    if not isinstance(rule, Mapping):
        return []
    allowed = rule.get("allow")
    entries = allowed if isinstance(allowed, Sequence) else ()
    listed: list[Any] = [rule.get("forbid"), *entries]
    return [entry for entry in listed if isinstance(entry, Mapping)]


def parsed_rules(rules: object, columns: Sequence[Column]) -> tuple[Rule, ...]:
    """The rules of a schema one by one, without what engines are to know of checks."""
    by_name = {column.name: column for column in columns}
    check_cells(rules, {column.name: column.size for column in columns})
    return tuple(
        Rule(dict(rule.value), (), relations_of_check(rule.value))
        if is_check(rule.value)
        else _parsed(rule, by_name)
        for rule in rules_in(rules)
    )


def check_cells(rules: object, sizes: Mapping[str, int]) -> None:
    """Refuse rules that would be larger tables than anybody can use, before the first of them is
    made; ``sizes`` are the numbers of level codes of all columns.
    """
    n_cells = 0
    for rule in [each.value for each in rules_in(rules)]:
        if isinstance(rule, Mapping) and not is_check(rule):
            names = names_in(rule) & sizes.keys()
            n_cells += prod(sizes[name] for name in names)
            if n_cells > MAX_RULE_CELLS:
                listed = ", ".join(map(repr, sorted(names)))
                way_out = "name fewer columns, or use fewer bins"
                _refuse(
                    f"up to the rule on {listed}, rules list more than {MAX_RULE_CELLS:,} combinations; {way_out}"
                )


def _parsed(rule: JsonValue, columns: Columns) -> Rule:
    keys = set(rule.mapping(_RULES)) - {"description"}
    if keys == {"forbid"}:
        clique, met = _conditions(rule["forbid"], columns)
        allowed = ~met
    elif keys == {"allow"}:
        clique, allowed = _any_of(rule["allow"], columns)
    elif keys == {"determines", "map"}:
        clique, allowed = _determined(rule["determines"], rule["map"], columns)
    else:
        _refuse(
            f"a rule has the keys {sorted(map(str, keys))}; give forbid, allow, check, or determines with map"
        )
    if not allowed.any():
        _refuse(
            f"the rule on {', '.join(map(repr, clique))} allows nothing; allow at least one combination"
        )
    return Rule(dict(rule.mapping()), (Constraint(clique, allowed),))


def _conditions(given: JsonValue, columns: Columns) -> tuple[tuple[str, ...], Mask]:
    """The columns of a conjunction, and for each combination of codes whether all conditions are
    met.
    """
    if not given.mapping(words := "conditions of columns, {column: condition, ..}"):
        given.expect(words)
    masks = [
        levels_where(_column(name, columns), condition)
        for name, condition in given.mapping().items()
    ]
    met: Mask = np.array(True)
    for mask in masks:
        met = met[..., None] & mask
    return tuple(given.mapping()), met


def _any_of(entries: JsonValue, columns: Columns) -> tuple[tuple[str, ...], Mask]:
    listed = entries.entries("a list of conditions, [{column: condition, ..}, ..]", least=1)
    parts = [_conditions(entry, columns) for entry in listed]
    clique, allowed = parts[0]
    for names, met in parts[1:]:
        if set(names) != set(clique):
            _refuse(
                f"the entries of 'allow' name different columns than {', '.join(map(repr, clique))}; name the same"
            )
        allowed = allowed | np.transpose(met, [names.index(name) for name in clique])
    return clique, allowed


def _determined(
    pair: JsonValue, mapping: JsonValue, columns: Columns
) -> tuple[tuple[str, ...], Mask]:
    names = pair.texts(words := "two columns, [fine, coarse]")
    if len(names) != 2 or names[0] == names[1]:
        pair.expect(words)
    fine, coarse = (_column(name, columns) for name in names)
    codes = np.full(fine.size, -1)
    for level, target in mapping.mapping("{fine level: coarse level, ..}").items():
        codes[levels_where(fine, [level])] = np.flatnonzero(levels_where(coarse, [target]))[0]
    if (unmapped := np.flatnonzero(codes[: fine.n_levels] < 0)).size:
        _refuse(
            f"'map' says nothing of level {fine.labels[unmapped[0]]!r} of {fine.name!r}; map every level"
        )
    allowed = codes[:, None] == np.arange(coarse.size)
    allowed[codes < 0] = True  # where the fine value is missing, the coarse one may be anything
    return (fine.name, coarse.name), allowed


def levels_where(column: Column, condition: object) -> Mask:
    """For each level code of a column whether it meets a condition, shape ``(size,)``.

    Raises
    ------
    SchemaError
        If the condition does not fit the column, or cuts a bin in two.
    """
    try:
        if column.axis is not None:
            return _bins_where(column, column.axis, condition)
        mask = np.zeros(column.size, dtype=np.bool_)
        mask[level_codes(column, listed_levels(column, condition))] = True
        return mask
    except SchemaError as error:
        raise SchemaError(f"schema: constraints: {str(error).removeprefix('schema: ')}") from None


def _bins_where(column: Column, axis: Axis, condition: object) -> Mask:
    mask = np.zeros(column.size, dtype=np.bool_)
    if isinstance(condition, Mapping):
        mask[: column.n_levels] = axis.bins_between(*range_of(column, condition))
        return mask
    for level in listed_levels(column, condition):
        if level is None:
            check_may_be_missing(column)
            mask[-1] = True
        else:
            mask[: column.n_levels] |= axis.bins_between(level, level)
    return mask


def _column(name: object, columns: Columns) -> Column:
    if name not in columns:
        _refuse(f"there is no column {name!r}; name columns of the schema")
    return columns[str(name)]


def _refuse(problem: str) -> NoReturn:
    raise SchemaError(f"schema: constraints: {problem}")
