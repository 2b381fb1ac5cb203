"""One table of counts from columns of codes, in one pass over the rows."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from synthdp.data.counting.covering import Axes

CodeColumn: TypeAlias = NDArray[np.integer[Any]]

BLOCK_ROWS = 2**17
"""Rows whose cells are numbered at a time: the numbers stay in the processor's cache."""

CHUNK_ROWS = 2**22
"""Rows that are counted at a time, if their table has no more cells: its numbers take 16 MiB."""


@final
class JointCounter:
    """Counts tables of one set of rows, each in one pass over them.

    Parameters
    ----------
    columns
        The codes of some attributes, by position in the domain; all of shape ``(n_rows,)``.
    shape
        Numbers of levels of all attributes of the domain.
    n_rows
        How many rows there are, for there may be no columns.
    """

    def __init__(
        self, columns: Mapping[int, CodeColumn], shape: Sequence[int], n_rows: int
    ) -> None:
        self.columns = columns
        self.shape = shape
        self.n_rows = n_rows
        self._narrow = np.empty(min(BLOCK_ROWS, n_rows), np.uint16)
        self._ones = np.empty(0, np.int32)

    def count(self, axes: Axes) -> NDArray[np.integer[Any]]:
        """Number of rows in each cell of a table, one axis an attribute.

        >>> JointCounter({0: np.array([0, 1, 1]), 2: np.array([2, 0, 0])}, (2, 9, 3), 3).count(
        ...     (0, 2)
        ... ).tolist()
        [[0, 0, 1], [2, 0, 0]]
        """
        shape = tuple(self.shape[axis] for axis in axes)
        if not axes:
            return np.array(self.n_rows)
        size = prod(shape)
        # So the passes over the table never cost more than those over the rows.
        step = max(CHUNK_ROWS, size)  # adding up a chunk costs one pass over the table
        cells: CodeColumn = np.empty(min(step, self.n_rows), np.int32 if size < 2**31 else np.int64)
        total = self._counted(axes, shape, 0, cells)
        for start in range(step, self.n_rows, step):
            total += self._counted(axes, shape, start, cells[: self.n_rows - start])
        return total.reshape(shape)

    def _counted(
        self, axes: Axes, shape: Sequence[int], start: int, cells: CodeColumn
    ) -> NDArray[np.signedinteger[Any]]:
        """Count as many rows as there is room for cells, from ``start`` on."""
        for place in range(0, len(cells), BLOCK_ROWS):
            block = cells[place : place + BLOCK_ROWS]
            rows = slice(start + place, start + place + len(block))
            _number(
                [self.columns[axis][rows] for axis in axes],
                shape,
                self._narrow[: len(block)],
                block,
            )
        size = prod(shape)
        if self.n_rows <= BLOCK_ROWS:
            return np.bincount(cells, minlength=size)
        return self._histogram(cells, size)

    def _histogram(self, cells: CodeColumn, size: int) -> NDArray[np.signedinteger[Any]]:
        """As `numpy.bincount`, in half the time: that one copies the numbers, and looks for the
        largest before.
        """
        from scipy.sparse import csc_array  # a tenth of a second, for few rows in vain

        if len(self._ones) < len(cells):
            self._ones = np.ones(len(cells), np.int64 if self.n_rows >= 2**31 else np.int32)
        pointers = np.array([0, len(cells)], cells.dtype)
        column = csc_array((self._ones[: len(cells)], cells, pointers), shape=(size, 1))
        return np.asarray(column @ np.ones(1, self._ones.dtype))


def _number(
    columns: Sequence[CodeColumn], shape: Sequence[int], narrow: NDArray[np.uint16], out: CodeColumn
) -> None:
    """Write into ``out`` which cell of the table each row lies in; in ``narrow`` while the numbers
    fit there.
    """
    size = shape[0]
    # Sixteen bits as long as they do: less memory to go through.
    cells: CodeColumn = narrow if size < 2**16 else out
    cells[...] = columns[0]
    for column, levels in zip(columns[1:], shape[1:], strict=True):
        size *= levels
        wider = cells if size < 2**16 else out
        np.multiply(cells, levels, out=wider, dtype=wider.dtype)
        # Codes are below levels: they fit.
        np.add(wider, column, out=wider, dtype=wider.dtype, casting="unsafe")
        cells = wider
    if cells is narrow:
        out[...] = narrow
