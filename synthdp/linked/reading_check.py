"""A check of linked tables before any is measured: columns of which nothing is read, keys that
match nowhere.
"""

from collections.abc import Collection
from functools import cached_property
from math import sqrt
from typing import final

import numpy as np

from synthdp.core.domain import Domain
from synthdp.core.measurement import CLEAR_TOTAL, Coarsening
from synthdp.learning.budgets import is_declared
from synthdp.learning.parse_cautions import unread_problem
from synthdp.learning.reading_check import unread_shares
from synthdp.linked.linked_certificate import FEW, without_rows_below
from synthdp.linked.package.view import LinkedView
from synthdp.privacy.private_table import PrivateTable
from synthdp.release.stopping import columns_to_check
from synthdp.schema.columns.column import Column
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema


def read_when_learnt(schema: OpenSchema) -> set[str]:
    """The open columns of which learning says whether they are read: not those of which only bins
    are learnt.
    """
    return {column.name for column in schema.open_columns if not is_declared(column)}


@final
class ReadingCheck:
    """What is asked of a view beforehand: a count of two or three cells of each declared column and
    of each table below.

    Sensitivity: each is a marginal of the view, of merged levels, in its units of weight.

    Parameters
    ----------
    view
        Closed, or as wide as it can be.
    learnt
        Columns of which it is known, or will be, whether they are read.
    domain
        What is counted; by default all that has a place for unread values has one.
    """

    def __init__(
        self, view: LinkedView, learnt: Collection[str], domain: Domain | None = None
    ) -> None:
        self.view = view
        self._learnt = learnt
        self._domain = self.counted.domain if domain is None else domain

    @property
    def counted(self) -> Schema:
        """By which rows are counted."""
        assert self.view.reading_schema is not None
        return self.view.reading_schema

    @property
    def _schema(self) -> Schema:
        assert self.view.schema is not None
        return self.view.schema

    @cached_property
    def _columns(self) -> list[Column]:
        if self.view.is_later:
            return []  # first rows say the same
        names = {*self.view.table.attributes} - {*self._learnt}
        columns = columns_to_check(self._schema, names)
        return [column for column in columns if self._domain[column.name] > column.size]

    @property
    def _links(self) -> tuple[str, ...]:
        return () if self.view.is_later else self.view.counts

    @property
    def n_questions(self) -> int:
        """How many."""
        return len(self._columns) + len(self._links)

    def problems(self, table: PrivateTable) -> list[str]:
        """What is wrong by noisy counts, a sentence each; spends what the table's ledger has."""
        rho = table.ledger.budget / self.n_questions
        sentences = []
        if self._columns:
            spent = rho * len(self._columns)
            unread = unread_shares(table, self._schema, self._columns, rho=spent)
            sentences = [
                unread_problem(self._schema[name], share) for name, share in unread.items()
            ]
        for name in self._links:
            groups = np.minimum(np.arange(self._domain[name]), 1)
            numbers = table.measure((name,), rho=rho, coarsening=Coarsening({name: groups}))
            parents = float(numbers.values.sum())
            stddev = float(np.max(numbers.stddev))
            if parents > CLEAR_TOTAL * sqrt(2) * stddev:
                with_rows = float(numbers.values[1])
                sentences += without_rows_below(
                    self.view, name, parents, with_rows, stddev, most=FEW
                )
        return sentences
