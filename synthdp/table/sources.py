"""Sources: where exact counts come from. Only the privacy kernel may ask them."""

from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.domain import Domain
from synthdp.errors import ParameterError, PrivacyError
from synthdp.table.codec import CodedTable

BLOCK_ROWS = 2**15
"""Rows counted at a time: their mixed-radix cell numbers stay in the processor's cache."""


@final
class CodedSource:
    """Exact counts of the sensitive table, held in memory as level codes.

    It shows nothing of the table but its domain: no length, no rows, no text; it is not
    pickled or copied.

    >>> table = CodedTable(Domain.from_sizes({"a": 2, "b": 3}), (np.array([0, 1, 1]), np.array([2, 0, 0])))
    >>> CodedSource(table).counts(("a", "b")).tolist()
    [[0, 0, 1], [2, 0, 0]]
    """

    __slots__ = ("_table",)

    def __init__(self, table: CodedTable) -> None:
        self._table = table

    @property
    def domain(self) -> Domain:
        """Names and numbers of levels."""
        return self._table.domain

    def counts(self, clique: Clique) -> NDArray[np.int64]:
        """Number of rows in each cell of a marginal, one axis an attribute.

        The empty clique gives the number of rows as a 0-d array.

        Raises
        ------
        ParameterError
            If an attribute is not in the domain, or repeats.
        """
        if len(set(clique)) != len(clique):
            raise ParameterError(f"clique: attributes repeat in {clique}; name each attribute once")
        columns = [self._table.columns[self.domain.index(name)] for name in clique]
        shape = self.domain.project(clique).shape
        size = self.domain.size(clique)
        n_rows = len(self._table.columns[0]) if self._table.columns else 0
        if not columns:
            return np.array(n_rows, dtype=np.int64)
        total = np.zeros(size, dtype=np.int64)
        step = max(BLOCK_ROWS, size)  # adding up a block costs one pass over the marginal
        for start in range(0, n_rows, step):
            block = [column[start : start + step] for column in columns]
            total += np.bincount(_cells(block, shape), minlength=size)
        return total.reshape(shape)

    def __repr__(self) -> str:
        return "<CodedSource>"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise PrivacyError(
            "source: it holds the sensitive table and is not copied or pickled; keep a Synthesis instead"
        )


def _cells(columns: list[NDArray[np.integer[Any]]], shape: tuple[int, ...]) -> NDArray[np.integer[Any]]:
    """Number of the marginal's cell that each row lies in."""
    size = int(np.prod(shape, dtype=object))
    cells: NDArray[np.integer[Any]] = columns[0].astype(np.int32 if size < 2**31 else np.int64)
    for column, levels in zip(columns[1:], shape[1:], strict=True):
        cells *= levels
        cells += column
    return cells
