"""Rules of one table with its columns named as views name them, ``table.column``."""

import re
from collections.abc import Mapping
from typing import Any

from synthdp.linked.package.linked_table import refuse_package
from synthdp.schema.rules.rules import names_in

OTHER = "other "
"""Before the name of a column: that of another row of the same parent."""

_NAME = re.compile(r"(?P<plain>[^\W\d]\w*)|`(?P<quoted>[^`]+)`")
"""Names in a check; see `synthdp.schema.rules.expressions`."""


def qualified_rule(rule: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A rule with other names of columns.

    >>> qualified_rule(
    ...     {"check": "start <= `end day`"}, {"start": "stays.start", "end day": "stays.end day"}
    ... )
    {'check': '`stays.start` <= `stays.end day`'}
    >>> qualified_rule({"forbid": {"age": {"maximum": 17}}}, {"age": "people.age"})
    {'forbid': {'people.age': {'maximum': 17}}}
    """

    def renamed(conditions: Any) -> Any:
        return {names.get(name, name): condition for name, condition in conditions.items()}

    qualified = dict(rule)
    if "forbid" in rule:
        qualified["forbid"] = renamed(rule["forbid"])
    if "allow" in rule:
        qualified["allow"] = [renamed(entry) for entry in rule["allow"]]
    if "determines" in rule:
        qualified["determines"] = [names.get(name, name) for name in rule["determines"]]
    if "check" in rule:
        qualified["check"] = _NAME.sub(
            lambda match: f"`{names.get(match[1] or match[2], match[1] or match[2])}`",
            rule["check"],
        )
    return qualified


def tables_in(rule: Mapping[str, Any]) -> set[str]:
    """The tables whose columns a rule names, those of the row beside among them."""
    tables = set()
    for name in names_in(rule):
        table, dot, _ = name.removeprefix(OTHER).partition(".")
        if not dot:
            refuse_package(f"a rule of the package names {name!r}; name columns as table.column")
        tables.add(table)
    if not tables:
        refuse_package(
            "a rule of the package names no column; write forbid, allow, check, or determines with map"
        )
    return tables
