"""What is asked of a column while it is learnt, for trying out whether an engine can answer it."""

from dataclasses import replace

import numpy as np

from synthdp.core.grid import Grid
from synthdp.schema.open_column import OpenColumn

TRIED = np.arange(0, 64, 2)
"""Starts of cells that are no successive numbers, more than are compared one by one."""


def grids_asked(column: OpenColumn) -> list[Grid]:
    """Grids of all kinds that are asked for when a column is learnt."""
    if "levels" in column.open_parts:
        return []
    if column.has_decimals:
        by_decimals = (Grid(column=column.name, decimals=decimals) for decimals in (-2, 0, 2))
        return [
            *by_decimals,
            *(Grid(column=column.name, of=of) for of in ("steps", "decimals", "exponents")),
        ]
    values = Grid(column=column.name)
    return [values] if column.template.axis is None else [values, replace(values, of="steps")]
