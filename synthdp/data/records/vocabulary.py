"""Vocabularies: the distinct keys of a column in one pass, and for each row the number of its key."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar, final

import numpy as np
import pandas as pd

from synthdp.data.records.row_pieces import RowPieces
from synthdp.schema.columns.reading import distinct, objects_of

Key = TypeVar("Key", bound=Hashable)

NO_KEY = -1
"""Number of a row whose value has no key."""


@final
class Vocabulary(Generic[Key]):
    """Distinct keys, numbered in the order in which they came; memory is that of the keys, and 4
    bytes a row.

    ``rows`` has for each row the number of its key, `NO_KEY` where there is none. The numbers say
    something of the rows' order, so they must not leave this package.

    Parameters
    ----------
    key_of
        The key of a value, None if it has none. Where it raises, because a cell can be any
        object, the key is ``unreadable``.
    unreadable
        Key, or None, of a value that cannot be read.

    >>> from synthdp.schema.columns.reading import canonical_text
    >>> vocabulary = Vocabulary(canonical_text)
    >>> vocabulary.add(pd.Series(["b", " a", None, "b "]))
    >>> vocabulary.keys, vocabulary.rows.joined().tolist()
    (['b', 'a'], [0, 1, -1, 0])
    """

    __slots__ = ("_key_of", "_numbers", "_unreadable", "rows")

    def __init__(
        self, key_of: Callable[[object], Key | None], unreadable: Key | None = None
    ) -> None:
        self._key_of = key_of
        self._unreadable = unreadable
        self._numbers: dict[Key, int] = {}
        self.rows = RowPieces(np.int32)

    def add(self, values: pd.Series) -> None:
        """Number the values of a chunk of rows; total, as encoding is."""
        unique, positions = distinct(values)
        if positions is None and unique.dtype != object:
            unique, positions = np.unique(unique, return_inverse=True)
        numbers = np.fromiter(map(self._number, objects_of(unique)), np.int32, len(unique))
        self.rows.add(numbers if positions is None else numbers[positions])

    def _number(self, value: object) -> int:
        try:
            key = self._key_of(value)
        except Exception:
            key = self._unreadable
        return NO_KEY if key is None else self._numbers.setdefault(key, len(self._numbers))

    @property
    def keys(self) -> list[Key]:
        """The keys by number. Some may belong to no row: categories of a categorical dtype."""
        return list(self._numbers)

    def __repr__(self) -> str:
        return "<Vocabulary>"
