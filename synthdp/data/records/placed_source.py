"""Exact counts of rows of which few have an unread value: all others are counted over the declared
domain.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.imports import import_named
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.codes.coded_table import CodedTable
from synthdp.data.records.coded_source import DERIVED_TABLE, CodedSource
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.data.records.derived_column import DerivedColumn


@final
class PlacedSource(Sensitive):
    """The counts that a `CodedSource` gives, of a table in which the last codes of some attributes
    are rare.

    Rows without any of them are counted over the smaller domain, in which marginals have a fraction
    of the cells, all others by themselves; the counts are summed. So each row is in one cell of a
    marginal, as ever. Which way a row is counted shows in no count; how many seconds it takes may
    depend on it.

    Parameters
    ----------
    table
        The rows.
    without
        The domain without the rare codes.
    """

    __slots__ = ("_domain", "_others", "_tables", "_whole")

    def __init__(self, table: CodedTable, without: Domain) -> None:
        self._domain = table.domain
        whole = np.ones(len(table.columns[0]), np.bool_)
        for codes, size, least in zip(
            table.columns, table.domain.shape, without.shape, strict=True
        ):
            if least < size:
                whole &= codes < least
        # No row has any rare code: then the small domain counts everything.
        if whole.all():
            parts = [CodedTable(without, table.columns)]
        else:
            parts = [
                CodedTable(without, tuple(codes[whole] for codes in table.columns)),
                CodedTable(table.domain, tuple(codes[~whole] for codes in table.columns)),
            ]
        self._tables = tuple(parts)
        self._whole = CodedSource(parts[0])
        self._others = CodedSource(parts[1]) if len(parts) > 1 else None

    @property
    def domain(self) -> Domain:
        """Names and numbers of codes, rare ones included."""
        return self._domain

    def derived(self, columns: "Sequence[DerivedColumn]") -> CodedSource:
        """Exact counts of derived columns of the same rows; raises as `DerivedColumn.check`."""
        return CodedSource(import_named(DERIVED_TABLE)(columns, self._domain, self._tables))

    def counts_of(self, cliques: Sequence[Clique]) -> Iterator[NDArray[np.int64]]:
        """Counts of many marginals in the order asked for; raises as `CodedSource.counts_of`."""
        wanted = list(cliques)
        others = iter(()) if self._others is None else self._others.counts_of(wanted)
        for clique, counts in zip(wanted, self._whole.counts_of(wanted), strict=True):
            shape = self._domain.project(clique).shape
            if self._others is None and counts.shape == shape:
                yield counts
                continue
            total = np.zeros(shape, np.int64) if self._others is None else np.array(next(others))
            # Rare codes come last in each column, so the smaller table is the corner of the larger
            # one.
            total[tuple(map(slice, counts.shape))] += counts
            yield total


def source_of(table: CodedTable, schema: Schema) -> CodedSource | PlacedSource:
    """Exact counts of a table by the schema that it was encoded by."""
    declared = schema.without_unread_places().domain
    if declared.shape == table.domain.shape:
        return CodedSource(table)
    return PlacedSource(table, declared)
