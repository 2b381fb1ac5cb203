"""Row pieces: one number a row, taken chunk by chunk and joined when it is needed."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray


@final
class RowPieces:
    """The numbers of the rows so far, in the order of the rows.

    >>> pieces = RowPieces(np.int64)
    >>> pieces.add(np.array([3, 4]))
    >>> pieces.add(np.array([5]))
    >>> pieces.keep(np.array([True, False, True]))
    >>> pieces.joined().tolist()
    [3, 5]
    """

    __slots__ = ("_pieces",)

    def __init__(self, dtype: Any) -> None:
        self._pieces = [np.empty(0, dtype)]

    def add(self, piece: NDArray[Any]) -> None:
        """Take the numbers of further rows."""
        self._pieces.append(piece)

    def joined(self) -> NDArray[Any]:
        """The numbers of all rows, shape ``(n_rows,)``."""
        if len(self._pieces) > 1:
            self._pieces = [np.concatenate(self._pieces)]
        return self._pieces[0]

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Forget all rows but these."""
        self._pieces = [self.joined()[kept]]
