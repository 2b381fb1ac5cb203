"""Values that were not read, in a line: they come first, for all other numbers rest on what was."""

from collections.abc import Mapping
from typing import Any

from synthdp.core.percent import percent
from synthdp.schema.columns.column import NOT_READ

MAX_NAMED = 10
"""So many columns are named, those of the largest shares."""


def unread_lines(facts: Mapping[str, Any]) -> list[str]:
    """What to say first of an evaluation, if any values were not read.

    >>> unread_lines({"unread": {"age": 0.004, "status": 0.4}})  # doctest: +ELLIPSIS
    ["NOT READ: of the real rows 40 % in 'status', 0.4 % in 'age' ..."]
    """
    lines = [_line("real", facts.get("unread", {}))]
    of_tables = facts.get("unread_synthetic", {})
    for name, shares in of_tables.items():
        lines.append(_line("synthetic" if len(of_tables) == 1 else repr(name), shares))
    return [line for line in lines if line]


def _line(what: str, shares: Mapping[str, float]) -> str:
    if not shares:
        return ""
    largest = sorted(shares.items(), key=lambda pair: -pair[1])
    named = ", ".join(f"{percent(share)} in {name!r}" for name, share in largest[:MAX_NAMED])
    more = f" and less in {len(largest) - MAX_NAMED} more" if len(largest) > MAX_NAMED else ""
    return (
        f"NOT READ: of the {what} rows {named}{more} have a value that the schema does not know, or none where one is "
        f"required; they are compared as a level of their own, {NOT_READ!r}"
    )
