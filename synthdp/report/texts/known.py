"""Published totals in words: what was known, and whether rows have it."""

from collections.abc import Mapping
from typing import Any


def known_lines(content: Mapping[str, Any]) -> list[str]:
    """A line for each published table of a certificate; none if there were none.

    >>> known_lines({"known": [{"columns": ["sex"], "groups": {}, "cells": 2, "total": 40}]})
    ['sex: 2 cells, 40 records; public, and paid nothing for']
    """
    return [_line(each) for each in content.get("known", ())]


def _line(known: Mapping[str, Any]) -> str:
    names = [
        f"{name} in {known['groups'][name]} groups" if name in known["groups"] else name
        for name in known["columns"]
    ]
    numbers = "shares" if known["total"] is None else f"{known['total']:,} records"
    line = f"{', '.join(names)}: {known['cells']:,} cells, {numbers}; public, and paid nothing for"
    if "largest_difference" not in known:
        return line
    off = known["largest_difference"]
    met = "has it exactly" if off == 0 else f"is off by {off:.2g} rows in a cell at most"
    return f"{line}; a table of {known['rows']:,} rows {met}"
