"""Fresh keys: numbers that have nothing to do with the keys of the data."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.linked.families.families import DrawnRows
from synthdp.linked.package.linked_table import LinkedTable
from synthdp.linked.package.package import Package
from synthdp.schema.made_up.empty_cells import empty_cells

Keys = Mapping[str, pd.Series]


def fresh_keys(
    package: Package,
    table: LinkedTable,
    rows: DrawnRows,
    parent: Keys,
    *,
    text: bool,
    given: pd.DataFrame | None,
) -> dict[str, pd.Series]:
    """Values of the keys of some rows, by column.

    Columns that refer to the parent have its keys, and those that are drawn their values. Of the
    others each numbers the rows from 1, within the parent if the table's key holds that of the
    parent, and within what is drawn of the key: as the column's type and pattern say.

    Parameters
    ----------
    package, table
        Whose rows they are.
    rows
        The rows.
    parent
        The keys of the rows above, by column.
    text
        Texts in any case.
    given
        Rows of the root that somebody gave: their keys are used as they are.

    Raises
    ------
    ParameterError
        If given keys repeat, or are missing.
    """
    columns: dict[str, pd.Series] = {}
    if table.parent is not None:
        for name, above in zip(table.parent_key, package[table.parent].key, strict=True):
            columns[name] = parent[above].iloc[rows.parents].reset_index(drop=True)
    is_within = bool(table.parent_key) and set(table.parent_key) <= set(table.key)
    numbers = _numbers(rows, table.drawn_keys, is_within=is_within)
    for name in table.key:
        if name in columns:
            continue
        if name in table.drawn_keys:
            columns[name] = rows.frame[name].reset_index(drop=True)
        elif given is not None and name in given.columns:
            columns[name] = given[name].reset_index(drop=True)
        else:
            columns[name] = table.key_forms[name].written(numbers, text=text)
    if given is not None:
        _check_given(pd.DataFrame({name: columns[name] for name in table.key}), table)
    return columns


def _numbers(rows: DrawnRows, drawn: Sequence[str], *, is_within: bool) -> NDArray[np.integer[Any]]:
    """A number from 1 for each row, different ones for rows of the same values of some columns, and
    of the same parent where keys are within that.
    """
    if not drawn:
        return rows.positions + 1 if is_within else np.arange(1, rows.n_rows + 1)
    values = rows.frame[list(drawn)].reset_index(drop=True)
    groups = [values[name] for name in drawn]
    if is_within:
        groups += [pd.Series(rows.parents)]
    numbers: NDArray[np.integer[Any]] = (
        values.groupby(groups, dropna=False, sort=False, observed=True).cumcount().to_numpy() + 1
    )
    return numbers


def _check_given(keys: pd.DataFrame, table: LinkedTable) -> None:
    if any(empty_cells(keys[name]).any() for name in keys) or keys.duplicated().any():
        raise ParameterError(
            f"given: keys of {table.name!r} are missing or repeat; give each row its own, or no keys"
        )
