"""Tables of a page: texts of a data frame's cells, and which columns are numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self, final

import pandas as pd


@final
@dataclass(frozen=True, kw_only=True)
class Listing:
    """A table as a page shows it; its readers can sort it."""

    caption: str
    """What it says, in a sentence."""
    head: tuple[str, ...]
    """A word or two over each column."""
    is_number: tuple[bool, ...]
    """Of each column whether it holds numbers."""
    rows: tuple[tuple[str, ...], ...]
    """The texts of its cells."""
    n_more: int = 0
    """How many rows were left out."""
    details: tuple[str, ...] = ()
    """Of each row a sentence under its first cell, or none."""

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        names: Mapping[str, str],
        caption: str,
        *,
        most: int = 1000,
        detail: str | None = None,
    ) -> Self:
        """Some columns of a data frame, at most so many rows.

        Parameters
        ----------
        frame
            The numbers.
        names
            The columns that are shown, and what stands over them.
        caption
            What the table says.
        most
            Only so many rows are shown, from the first on.
        detail
            The column of sentences that stand under the first cells.

        >>> frame = pd.DataFrame({"columns": [("age", "sex")], "tvd": [0.01234], "rows": [12000]})
        >>> Listing.from_frame(
        ...     frame, {"columns": "marginal", "tvd": "error", "rows": "rows"}, "Errors."
        ... ).rows
        (('age x sex', '0.0123', '12,000'),)
        """
        shown = frame.loc[:, list(names)].head(most)
        columns = [[cell_text(value) for value in shown[name]] for name in shown.columns]
        return cls(
            caption=caption,
            head=tuple(names.values()),
            is_number=tuple(_holds_numbers(shown[name]) for name in shown.columns),
            rows=tuple(zip(*columns, strict=True)),
            n_more=len(frame) - len(shown),
            details=() if detail is None else tuple(frame[detail].head(most)),
        )


def cell_text(value: Any) -> str:
    """A value as a table shows it: numbers to three digits, nothing for what is missing.

    >>> [cell_text(value) for value in (0.00012345, 1234567, float("nan"), True, ("a", "b"), "a")]
    ['0.000123', '1,234,567', '', 'yes', 'a x b', 'a']
    """
    if isinstance(value, tuple | list):
        return " x ".join(map(str, value))
    if value is None or (isinstance(value, Real) and value != value):
        return ""
    if str(value) in ("True", "False"):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if isinstance(value, Real):
        number = float(value)
        return f"{number:,.0f}" if 1000 <= abs(number) < 1e15 else f"{number:.3g}"
    return str(value)


def _holds_numbers(values: Sequence[Any] | pd.Series) -> bool:
    return (
        all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
        and len(values) > 0
    )
