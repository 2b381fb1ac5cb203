"""Cyclical parts of dates as attributes of their own: weekday, month, hour.

A part is an attribute of the model only: it is worked out from its date when a table is encoded,
and when one is decoded the date is drawn so that it agrees with its parts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.columns.binned import with_nothing
from synthdp.schema.columns.calendar import PART_LEVELS
from synthdp.schema.columns.categorical import CategoricalColumn
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.dates import DateColumn
from synthdp.schema.columns.described import Reading
from synthdp.schema.columns.reading import Values
from synthdp.schema.words.texts import refuse


def part_name(date: Column, part: str) -> str:
    """What the attribute of a part of a date column is called."""
    return f"{date.name}:{part}"


@final
@dataclass(frozen=True, kw_only=True)
class PartColumn(Column):
    """A part of a date column; `encode` takes the dates, every label is a level of the part.

    Parameters
    ----------
    date
        The column that it is a part of.
    part
        One of `moments.PART_LEVELS`.

    >>> from datetime import date
    >>> born = DateColumn(
    ...     name="born", minimum=date(2000, 1, 1), maximum=date(2000, 12, 31), parts=("weekday",)
    ... )
    >>> column = PartColumn.of(born, "weekday")
    >>> (
    ...     column.name,
    ...     column.source,
    ...     column.encode(pd.Series(["2000-01-03", "1999-01-01", "?"])).tolist(),
    ... )
    ('born:weekday', 'born', [0, 5, 7])
    """

    date: DateColumn
    part: str

    @classmethod
    def of(cls, date: DateColumn, part: str) -> Self:
        """A part of a date column, named after both; it may be missing if the date may."""
        name = part_name(date, part)
        return cls(
            name=name,
            required=date.required,
            missing_values=date.missing_values,
            has_unread_place=date.has_unread_place,
            date=date,
            part=part,
        )

    def with_unread_place(self) -> Self:
        """The part of the date with a place for unread values."""
        return type(self).of(self.date.with_unread_place(), self.part)

    def without_unread_place(self) -> Self:
        """The part of the date as it was declared."""
        return type(self).of(self.date.without_unread_place(), self.part)

    @property
    def source(self) -> str:
        """The name of the date column."""
        return self.date.name

    @cached_property
    def by_level(self) -> CategoricalColumn:
        """A column of the same levels and codes that reads levels in place of dates."""
        levels = PART_LEVELS[self.part]
        kind = "string" if self.part == "weekday" else "integer"
        return CategoricalColumn(name=self.name, required=self.required, levels=levels, type=kind)  # type: ignore[arg-type]

    @property
    def n_levels(self) -> int:
        """Number of weekdays, months or hours."""
        return len(PART_LEVELS[self.part])

    @property
    def _fallback_code(self) -> int:
        return int(
            self.date.parts_of_numbers(np.array([np.nan]), self.part)[0]
        )  # the part of the lowest date

    def codes_of_numbers(self, numbers: NDArray[np.float64]) -> NDArray[Any]:
        """Level codes of dates as the date column's `read_numbers` gives them."""
        codes = self.date.parts_of_numbers(numbers, self.part)
        return with_nothing(codes, numbers, self)

    def _codes_of(self, values: Values) -> NDArray[Any]:
        return self.codes_of_numbers(self.date.numbers_of(values))

    def _has(self, value: object) -> bool:
        box = np.empty(1, dtype=object)
        box[0] = value
        return bool(self.date.knows(pd.Series(box, dtype=object))[0])

    def decode(self, codes: NDArray[np.integer[Any]], rng: np.random.Generator) -> pd.Series:
        """The level of each code."""
        return self.by_level.decode(codes, rng)

    def decode_text(
        self, codes: NDArray[np.integer[Any]], rng: np.random.Generator
    ) -> NDArray[np.object_]:
        """The level of each code as a text."""
        return self.by_level.decode_text(codes, rng)

    @property
    def reading(self) -> Reading:
        """How its levels are read."""
        return self.by_level.reading

    @property
    def ways_of_writing(self) -> str:
        """What the field of the date can declare so that more values are read."""
        return self.date.ways_of_writing

    def field(self) -> dict[str, Any]:
        """Its levels as a field, for showing; a schema file has the date's field only."""
        return self.by_level.field()


def with_parts(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns of a table with the parts of each date after it; parts that are there already are
    made anew.

    Raises `SchemaError` if a part would have the name of another column.
    """
    real = [column for column in columns if not isinstance(column, PartColumn)]
    names = {column.name for column in real}
    expanded: list[Column] = []
    for column in real:
        parts = (
            [PartColumn.of(column, part) for part in column.parts]
            if isinstance(column, DateColumn)
            else []
        )
        for part in parts:
            if part.name in names:
                refuse(
                    column.name,
                    f"its part is called {part.name!r}, as another column is; rename that one",
                )
        expanded += [column, *parts]
    return tuple(expanded)
