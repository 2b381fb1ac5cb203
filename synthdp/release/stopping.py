"""Stopping a run that would be useless: a first noisy check of what could be read, and the error."""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

from synthdp.core.errors import UnreadColumnError
from synthdp.core.percent import percent
from synthdp.learning.parse_cautions import unread_problem
from synthdp.learning.reading_check import CHECK, CHECK_SHARE, may_be_unread, unread_shares
from synthdp.privacy.private_table import PrivateTable
from synthdp.release.persistence.kept_run import KeptRun
from synthdp.schema.columns.column import Column
from synthdp.schema.schema import Schema


def reading_check(
    table: PrivateTable, schema: Schema, names: Collection[str], kept: KeptRun
) -> dict[str, float]:
    """Of some columns those of which nearly nothing can be read, with the share that cannot.

    Parameters
    ----------
    table
        Asked, for `CHECK_SHARE` of all that its ledger has.
    schema
        Without places for unread values.
    names
        The columns: those that were learnt are read.
    kept
        Notes beforehand how many answers are this check.
    """
    columns = columns_to_check(schema, names)
    columns = [column for column in columns if table.domain[column.name] > column.size]
    if not columns:
        return {}
    kept.note({CHECK: len(columns)})
    return unread_shares(table, schema, columns, rho=table.ledger.budget * Fraction(CHECK_SHARE))


def columns_to_check(schema: Schema, names: Collection[str]) -> list[Column]:
    """Of some columns those of a table that may have unread values."""
    return [
        column for column in schema.table_columns if column.name in names and may_be_unread(column)
    ]


def stop_unread(
    schema: Schema, shares: Mapping[str, float], share_spent: float, paid_for: object = None
) -> None:
    """Raise `UnreadColumnError` over columns of the table of which so large a share could not be
    read; of parts of dates nothing is said.
    """
    problems = [
        unread_problem(column, shares[column.name])
        for column in schema.table_columns
        if column.name in shares
    ]
    if problems:
        raise stop(problems, share_spent, paid_for)


def stop(
    problems: Sequence[str],
    share_spent: float,
    paid_for: object = None,
    *,
    mend: str = "declare it",
) -> UnreadColumnError:
    """The error of a run that stops over what noisy counts say of its input.

    Parameters
    ----------
    problems
        What is wrong, a sentence each.
    share_spent
        Of the budget.
    paid_for
        What was learnt until now.
    mend
        What is to be done about it.
    """
    return UnreadColumnError(
        f"{'; '.join(problems)}; the run stopped when {percent(share_spent)} of its budget was spent, and the "
        f"rest is not: {mend} and run anew, or go on all the same with anyway=True (--anyway)",
        paid_for,
    )
