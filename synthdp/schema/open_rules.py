"""Rules over columns of which something is still to be learnt: refused before that if nothing could
keep to them.

Before anything is paid for, an example is made: all open columns closed by findings that are made
up, so that some row keeps to all rules. Whatever is learnt afterwards, bounds are widened until a
row is left, and if none are found the example is: no answer that was paid for can end a run.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from synthdp.core.errors import SchemaError
from synthdp.schema.columns.column import Column
from synthdp.schema.open_column import OpenColumn, open_ones
from synthdp.schema.rules.combinations import allowed_at_all
from synthdp.schema.rules.rules import (
    determined_names,
    is_check,
    names_of,
    parsed_rules,
    settled_names,
)
from synthdp.schema.value_rules import (
    parse_rules,
    parted_by_rules,
    reconciled,
    system_of,
    with_exact_decimals,
)

Rules = Sequence[Mapping[str, Any]]
Columns = Sequence[Column | OpenColumn]

SCALES = (6, 3, 9, 12, 15, 0)
"""Powers of 10 up to which examples of numbers reach: with 15 digits, the wider the bounds the
fewer decimals.
"""


def check_names(
    rules: Rules, columns: Columns, *, ignored: Collection[str], generated: Collection[str]
) -> None:
    """Raise `SchemaError` if a rule is no object, or names a column that it cannot."""
    names = [column.name for column in columns]
    opened = _opened(columns)
    for rule in rules:
        if not isinstance(rule, Mapping):
            raise SchemaError(
                'schema: constraints: a rule is not an object; write one, like {"forbid": ..}'
            )
        # A check compares values, whatever the levels are; other rules name levels, or values
        # that will have bins.
        not_to_name = {*ignored, *generated}
        if not is_check(rule):
            says_all = determined_names([rule])
            not_to_name |= {
                name
                for name, column in opened.items()
                if not column.has_known_range or name in says_all
            }
        for name in sorted(not_to_name & names_of(rule, names)):
            if name in opened:
                what = "whose domain is derived"
            elif name in ignored:
                what = "which is ignored"
            else:
                what = "which is generated"
            way_out = "declare the column, without synthdp.derive, or remove the rule"
            raise SchemaError(f"schema: constraints: a rule names {name!r}, {what}; {way_out}")


def example_columns(columns: Columns, rules: Rules) -> tuple[Column, ...]:
    """The columns, with open ones closed so that some row satisfies all rules.

    Raises
    ------
    SchemaError
        If a rule does not fit the columns, or nothing that could be learnt leaves such a row.
    """
    examples = list(_examples(columns))
    for example in examples:
        try:
            exact = _exact(columns, example, rules)
            system = system_of(parsed_rules(rules, exact), exact)
        # Of a rule that does not fit the columns, or of decimals that do not fit these bounds.
        except SchemaError:
            continue
        if system is None or system.is_possible:
            return _parted(columns, example, rules)
    exact = _exact(columns, examples[0], rules)
    parse_rules(rules, exact, _limits(columns))
    raise SchemaError(
        "schema: constraints: no row was found that keeps to the rules; remove one of them"
    )


def _examples(columns: Columns) -> Iterator[list[Column]]:
    """The columns, open ones closed in several ways."""
    yield [column.template for column in columns]
    for scale in SCALES if any(column.is_scaled for column in columns) else ():
        with suppress(SchemaError):  # a declared limit or number of decimals leaves no such bounds
            yield [column.example(scale) for column in columns]


def closed_columns(
    columns: Columns, learnt: Mapping[str, Column], rules: Rules, example: Sequence[Column]
) -> Iterator[Columns]:
    """The columns with those that were found, with bins that begin and end where rules do, as they
    are, or so that rules can hold; then with the example's.

    Only columns that rules name are changed. The last ones do for sure.
    """
    names = [column.name for column in columns]
    ruled = {name for rule in rules for name in names_of(rule, names)}
    limits = {name: limits for name, limits in _limits(columns).items() if name in learnt}
    whole = [learnt.get(column.name, column) for column in example]
    with suppress(SchemaError):
        parted = _parted(columns, whole, rules)  # or rules would cut what is to be reconciled
        fits = _parted(columns, reconciled(parted, rules, limits), rules)
        fitted = {column.name: column for column in fits}
        if _leave_a_row(rules, fits):
            yield [fitted[column.name] if column.name in learnt else column for column in columns]
    safe = {}
    for column in example:
        name = column.name
        if name in learnt and name in ruled:
            safe[name] = replace(column, required=learnt[name].required)
    yield [safe.get(column.name, learnt.get(column.name, column)) for column in columns]


def _leave_a_row(rules: Rules, closed: Sequence[Column]) -> bool:
    """Whether rules other than checks leave a row together: fewer decimals than examples have may
    leave no value between two conditions.
    """
    constraints = [each for rule in parsed_rules(rules, closed) for each in rule.constraints]
    return all(allowed.all() for _, allowed in allowed_at_all(constraints, ()))


def _exact(columns: Columns, closed: Sequence[Column], rules: Rules) -> tuple[Column, ...]:
    """The columns as they were closed, with decimals as checks need them, and with bins of open ones
    that begin and end where rules do.
    """
    opened = [name for name, column in _opened(columns).items() if column.has_known_range]
    return parted_by_rules(with_exact_decimals(closed, rules), rules, opened)


def _parted(columns: Columns, closed: Sequence[Column], rules: Rules) -> tuple[Column, ...]:
    """The columns as they were closed, open ones that rules other than checks name as `_exact` has
    them.
    """
    named = settled_names(rules) & _opened(columns).keys()
    if not named:
        return tuple(closed)
    exact = {column.name: column for column in _exact(columns, closed, rules)}
    return tuple(exact[column.name] if column.name in named else column for column in closed)


def _opened(columns: Columns) -> dict[str, OpenColumn]:
    return {column.name: column for column in open_ones(columns)}


def _limits(columns: Columns) -> dict[str, tuple[Any, Any]]:
    """The columns whose bounds are learnt, and how wide these can be."""
    opened = _opened(columns).items()
    return {name: column.widest_bounds for name, column in opened if "bounds" in column.open_parts}
