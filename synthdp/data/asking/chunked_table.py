"""Tables that are read chunk by chunk: what files and partitions have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import pandas as pd


class ChunkedTable(ABC):
    """A table that is read once, in chunks of rows; the names of its columns are known before.

    Whoever reads it is done with a chunk before the next one is made: it need not fit into memory.
    """

    names: tuple[str, ...]
    """Column names in the order of the table."""

    @abstractmethod
    def chunks(self) -> Iterator[pd.DataFrame]:
        """The rows in chunks, once; each has the columns of `names`, in types of its own."""

    def coded_chunks(self) -> Iterator[pd.DataFrame]:
        """The same, but texts may be categories, for who reads each different value once."""
        return self.chunks()

    def whole(self) -> pd.DataFrame:
        """All rows, at once; raises as `chunks` and `check_unchanged`."""
        chunks = list(self.chunks())
        self.check_unchanged()
        empty = pd.DataFrame(columns=pd.Index(self.names, dtype=object), dtype=object)
        return pd.concat(chunks or [empty], ignore_index=True)

    @property
    def declared(self) -> pd.DataFrame | None:
        """A table without rows that has the types which it declares in public; None if it declares
        none.
        """
        return None

    @property
    def fraction(self) -> float | None:
        """How much of the table was read, 0 to 1; None if that is not to be said."""
        return None

    def check_unchanged(self) -> None:  # noqa: B027 (of most nobody can say)
        """Raise an error if the table was changed since it was opened; for after its last chunk."""
