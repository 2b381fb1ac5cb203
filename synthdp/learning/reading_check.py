"""A check of single columns before a table is measured: how many of their values are read, missing
and not read.

Where a mechanism measures single columns first, that says it for nothing. Other ones would spend
most of a budget before anybody learns that a date is written in another way.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from synthdp.core.measurement import Coarsening
from synthdp.learning.filling import Filling
from synthdp.privacy.private_table import PrivateTable
from synthdp.schema.columns.column import Column
from synthdp.schema.schema import Schema

CHECK_SHARE = Fraction(1, 100)
"""What the check may cost, as a share of the budget."""

CHECK = "look"
"""In a journal: so many of the next answers are this check. They are paid for, and no measurements
of the release.
"""


def may_be_unread(column: Column) -> bool:
    """Whether a value can be unread: where there is a level for all others, none is."""
    return column.other is None


def unread_shares(
    table: PrivateTable, schema: Schema, columns: Sequence[Column], *, rho: Fraction
) -> dict[str, float]:
    """Of some columns those of which nearly nothing could be read, with the share that could not.

    Each column costs an equal part of ``rho`` and is one marginal of two or three cells: a record
    is in one of them, so that neighbours differ by no more than in any other marginal.

    Parameters
    ----------
    table
        Counts with places for unread values.
    schema
        Without places.
    columns
        Of the schema; those that have a place.
    rho
        Cost of all questions together.
    """
    filling = Filling(schema, table.domain)
    for column in columns:
        groups = np.zeros(column.size, dtype=np.int64)
        if not column.required:
            groups[column.missing_code] = 1
        asked = Coarsening({column.name: groups})
        names = (column.name,)
        filling.answered(
            table.measure(
                names,
                rho=rho / len(columns),
                coarsening=filling.with_places(asked, names, names),
            )
        )
    return filling.not_read(column.name for column in columns)
