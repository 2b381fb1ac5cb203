"""Derived columns: public functions of one row, counted as columns are."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.data.codes.coded_table import CodeColumn, CodedTable

BLOCK_ROWS = 2**16
"""Rows whose sums are held at a time."""

MAX_SUM = 2**62
"""No row has a sum beyond this, either way: whole numbers do not overflow."""


def names_of_prediction(target: str) -> tuple[str, str]:
    """What the derived columns are called by which the prediction of a target is measured: score
    and label.
    """
    return f"score of {target}", f"label of {target}"


@final
@dataclass(frozen=True, eq=False)
class DerivedColumn:
    """A function of a row's own codes: public numbers of them are added up, and public edges cut
    the sum into levels.

    The numbers are whole, so that no sum depends on which other rows are worked out beside it, as
    sums of floats may. A record therefore has one level, a function of that record alone, and a
    marginal of derived columns has the sensitivity of any other. Numbers and edges must not depend
    on records but by what was released.

    >>> table = CodedTable(Domain(("a", "b"), (2, 3)), (np.array([0, 1]), np.array([2, 0])))
    >>> column = DerivedColumn(
    ...     "high", {"a": np.array([0, 5]), "b": np.array([0, 1, 2])}, np.array([3])
    ... )
    >>> column.codes(table).tolist()
    [0, 1]
    """

    name: str
    """What it is called."""
    weights: Mapping[str, NDArray[np.int64]]
    """For some attributes a whole number for each code."""
    edges: NDArray[np.int64]
    """Level k is of sums from ``edges[k - 1]`` on that are below ``edges[k]``; increasing."""

    @property
    def size(self) -> int:
        """Number of levels."""
        return len(self.edges) + 1

    def check(self, domain: Domain) -> None:
        """Refuse what is no function of each row of a domain; raises `ParameterError`.

        Only public things are looked at, so that nothing can fail on a record later.
        """
        arrays = [*self.weights.values(), self.edges]
        sizes = [domain[name] for name in self.weights]
        if (
            [each.shape for each in arrays[:-1]] != [(size,) for size in sizes]
            or any(each.dtype != np.int64 for each in arrays)
            or self.edges.ndim != 1
            or bool((np.diff(self.edges) <= 0).any())
            or sum(max(abs(int(each.min())), abs(int(each.max()))) for each in arrays[:-1])
            >= MAX_SUM
        ):
            raise ParameterError(
                f"derived column {self.name!r}: give a 64-bit integer for each code, and increasing edges"
            )

    def codes(self, table: CodedTable) -> CodeColumn:
        """The level of each row, shape ``(n_rows,)``."""
        columns = dict(zip(table.domain.attributes, table.columns, strict=True))
        codes = np.empty(len(table.columns[0]), np.min_scalar_type(self.size - 1))
        for start in range(0, len(codes), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            sums = np.zeros(len(codes[rows]), np.int64)
            for name, weights in self.weights.items():
                sums += weights[columns[name][rows]]
            codes[rows] = np.searchsorted(self.edges, sums, side="right")
        return codes


def derived_table(
    columns: Sequence[DerivedColumn], domain: Domain, tables: Iterable[CodedTable]
) -> CodedTable:
    """The derived columns of the rows of some tables, whose codes are some of a domain; raises as
    `DerivedColumn.check`.
    """
    for column in columns:
        column.check(domain)
    derived = Domain(
        tuple(column.name for column in columns), tuple(column.size for column in columns)
    )
    parts = [
        CodedTable(derived, tuple(column.codes(table) for column in columns)) for table in tables
    ]
    return CodedTable.concatenate(derived, parts)
