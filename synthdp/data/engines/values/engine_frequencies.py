"""How often the values of a column in an engine occur: a line for each number of rows, and those
values that passed.
"""

from collections.abc import Callable, Iterator
from typing import Any, final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import SourceError
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.engines.codes import MAX_CASES
from synthdp.data.engines.engine_frame import CHANGED, EngineFrame
from synthdp.data.engines.keeping import LazyRows
from synthdp.data.engines.values.grid_points import VALUE, Form
from synthdp.data.frames.containers import opened
from synthdp.data.frames.plain import plain_column
from synthdp.schema.columns.reading import canonical_text
from synthdp.schema.open_column import OpenColumn

BLOCK = 2**20
"""Most counts that are given to the kernel at once."""

N_ROWS, _PLACE = "n_rows", "place"

WHAT = "counting values"
"""What is said to fail."""


@final
class EngineFrequencies(Sensitive):
    """How often the values of a column occur, each at a place: those that occur least first.

    Here is a line for each number of rows that values have: of n rows these are less than ``sqrt(2
    n)``.

    Parameters
    ----------
    frame
        The table.
    values
        Gives the values, `VALUE`, and how many rows each has.
    column, form
        The column, and what stands for its values.
    n_missing
        How many rows have none.
    """

    __slots__ = ("_column", "_ends", "_form", "_frame", "_n_missing", "_n_rows", "_values")

    def __init__(
        self,
        frame: EngineFrame,
        values: Callable[[], LazyRows],
        column: OpenColumn,
        form: Form,
        n_missing: int,
    ) -> None:
        self._frame = frame
        self._n_missing = n_missing
        self._values = values
        self._column = column
        self._form = form
        n_values = nw.len().alias("n_values")
        lines = frame.counted(lambda: values().select(N_ROWS).group_by(N_ROWS).agg(n_values), WHAT)
        order = np.argsort(lines[N_ROWS])
        self._n_rows, self._ends = lines[N_ROWS][order], np.cumsum(lines["n_values"][order])

    def missing(self) -> int:
        """How many rows have no value."""
        return self._n_missing

    def counts(self) -> Iterator[NDArray[np.int64]]:
        """How many rows the value of each place has, ascending."""
        n_places = int(self._ends[-1]) if self._ends.size else 0
        for first in range(0, n_places, BLOCK):
            yield self._n_rows[self._groups(np.arange(first, min(first + BLOCK, n_places)))]

    def values(self, places: NDArray[np.int64]) -> list[str] | NDArray[np.int64]:
        """The values at some places, ascending; they alone leave the engine. Raises `SourceError`
        if it fails.
        """
        if not places.size:
            return np.empty(0, dtype=np.int64)
        first = int(self._groups(places[:1])[0])
        # Values of fewer rows: they need no numbers.
        before = int(self._ends[first - 1]) if first else 0
        least = int(self._n_rows[first])
        wanted = places - before
        last = int(self._ends[-1]) - before
        # All from there on passed.
        n_last = int((wanted[::-1] == last - 1 - np.arange(len(wanted))).cumprod().sum())
        parts = [nw.col(_PLACE) >= last - n_last]
        single = wanted[: len(wanted) - n_last].tolist()
        parts += [
            nw.col(_PLACE).is_in(single[i : i + MAX_CASES])
            for i in range(0, len(single), MAX_CASES)
        ]
        fetched = [self._fetched(least, part) for part in parts]
        order = np.concatenate([numbers for numbers, _ in fetched])
        # Other places than were asked for come back only if the table changed while it was being
        # asked; noise for the old counts must not go with new values.
        if sorted(order.tolist()) != wanted.tolist():
            raise SourceError(f"{self._frame.engine}: {CHANGED}")
        values = np.concatenate([values for _, values in fetched])[np.argsort(order)]
        return values if values.dtype == np.int64 else values.tolist()

    def _fetched(self, least: int, part: nw.Expr) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Places, numbered from the first value of so many rows on, and the values there."""

        def query() -> LazyRows:
            numbered = (
                self._values()
                .filter(nw.col(N_ROWS) >= least)
                .with_row_index(_PLACE, order_by=[N_ROWS, VALUE])
            )
            return numbered.filter(part).select(_PLACE, VALUE)

        rows = self._frame.collected(query, WHAT)
        places = self._frame.whole_numbers(rows, _PLACE)
        if self._form not in ("text", "raw"):
            return places, np.asarray(rows[VALUE].to_numpy(), dtype=np.int64)
        # Texts come in the engine's own types: one way of reading them makes the same value the
        # same everywhere.
        values = plain_column(
            opened(rows.select(VALUE).to_native()).frame[VALUE], self._column.type
        )
        return places, np.array([canonical_text(value) for value in values], dtype=object)

    def _groups(self, places: NDArray[np.int64]) -> NDArray[np.intp]:
        return np.searchsorted(self._ends, places, side="right")
