"""Tables in partitions, such as Dask's data frames: one comes into memory after the other, and is
read as a frame.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, final

import pandas as pd

from synthdp.core.errors import SourceError
from synthdp.data.asking.asking import asked
from synthdp.data.asking.chunked_table import ChunkedTable
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.frames.containers import opened

_WAY_OUT = "read it all by its library, which says why to whoever may see rows"


@final
class PartitionedFrame(Sensitive, ChunkedTable):
    """A table of which one partition after the other comes into this process, is read, and dropped.

    A partition may have other types than those that are declared, as Dask guesses types from some
    of the rows: it is read by its own, each value by itself, as everywhere. How many partitions
    there are is not reported, and one without rows is not read. An index is never read.

    Parameters
    ----------
    library
        Where it comes from, for messages.
    empty
        A table without rows that has the declared columns and types, of any kind that `opened`
        takes.
    names
        Its column names.
    partitions
        Begins to read it: tables of any kind that `opened` takes, made one by one. Nothing is read
        before `chunks`.
    """

    def __init__(
        self,
        library: str,
        empty: Any,
        *,
        names: tuple[str, ...],
        partitions: Callable[[], Iterator[Any]],
    ) -> None:
        self.names = names
        self._library = library
        self._empty = empty
        self._partitions = partitions

    @property
    def empty(self) -> Any:
        """A table without rows that has the types which are declared."""
        return self._empty

    def chunks(self) -> Iterator[pd.DataFrame]:
        """The rows of one partition after the other, each in its own types.

        Raises
        ------
        SourceError
            If one cannot be made, or has other columns; it names the type of the library's error,
            and neither holds its text nor says which partition.
        """
        partitions = self._asked("planning what to read", self._partitions)
        while frames := self._asked(
            "reading rows", lambda: [opened(each).frame for each in islice(partitions, 1)]
        ):
            if len(frames[0]):
                self._check_names(frames[0])
                yield frames.pop()  # and keep no hold of it while the next one is made

    def _asked(self, what: str, question: Callable[[], Any]) -> Any:
        return asked(self._library, what, question, way_out=_WAY_OUT)

    def _check_names(self, frame: pd.DataFrame) -> None:
        if len(frame.columns) != len(self.names) or set(frame.columns) != set(self.names):
            # what a program made columns of may be values: do not repeat them
            problem = "a partition has other columns than the table declares"
            raise SourceError(
                f"{self._library}: {problem}; correct how it is made (in Dask, its meta)"
            )

    def __repr__(self) -> str:
        return f"<PartitionedFrame of {len(self.names)} columns>"


def partitioned(data: Any) -> PartitionedFrame | None:
    """What was given as a table in partitions: a data frame of Dask, or a dataset of Arrow; None if
    it is neither.

    Raises `SourceError` if Dask cannot say which columns there are.
    """
    kinds = {(each.__module__.partition(".")[0], each.__name__) for each in type(data).__mro__}
    if ("dask", "DataFrame") in kinds:  # which is not imported for that
        empty = asked("dask", "reading the types of columns", lambda: _without_rows(data.dtypes))
        # planned once: each time that one is asked for data.partitions[i], all of them are
        computed = lambda: (partition.compute() for partition in data.to_delayed())  # noqa: E731
        return PartitionedFrame("dask", empty, names=tuple(empty.columns), partitions=computed)
    if ("pyarrow", "Dataset") in kinds:
        from pyarrow import Table

        # By itself it would hold 16 batches of 4 files each.
        ahead = {"batch_readahead": 1, "fragment_readahead": 1}
        tables = lambda: (Table.from_batches([batch]) for batch in data.to_batches(**ahead))  # noqa: E731
        empty = asked("pyarrow", "reading the types of columns", data.schema.empty_table)
        return PartitionedFrame(
            "pyarrow", empty, names=tuple(empty.column_names), partitions=tables
        )
    return None


def _without_rows(dtypes: pd.Series) -> pd.DataFrame:
    columns = {place: pd.Series(dtype=dtype) for place, dtype in enumerate(dtypes)}
    return pd.DataFrame(columns).set_axis(dtypes.index, axis="columns")
