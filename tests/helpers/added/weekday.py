"""A column type that is added from outside of the package: days of the week."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.axes.rule import Levels
from synthdp.schema.columns.categorical import look_up, lookup_table, take
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.described import Reading
from synthdp.schema.columns.field import Field
from synthdp.schema.columns.reading import Values, integers_of, is_blank, is_missing

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SPELLINGS = {text: code for code, day in enumerate(DAYS) for text in (day, day[:3], str(code + 1))}


@final
@dataclass(frozen=True, kw_only=True)
class WeekdayColumn(Column):
    """Days of the week: Monday, Mon or 1; the whole word is written."""

    # What a field says. `Field` has refused what is of no type that JSON should have there.

    @classmethod
    def parse(cls, field: Field) -> Self:
        """The column that a field declares."""
        field.own(())  # it has no keys under "synthdp"
        return cls(**field.shared)

    @classmethod
    def example_field(cls, kind: str) -> dict[str, Any]:
        """Nothing but the type."""
        return {"type": kind}

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        return self._field("weekday", {}, {})

    # Values to codes. A value is read by itself: what one row becomes is a function of that row. `integers_of` calls
    # `_code_of` with any object there is, and takes what raises for unread.

    @property
    def n_levels(self) -> int:
        """Seven."""
        return len(DAYS)

    @cached_property
    def _table(self) -> dict[str, int]:
        return lookup_table(list(SPELLINGS.items()), self.missing_values, self.missing_code)

    def _codes_of(self, values: Values) -> NDArray[np.int64]:
        return integers_of(values, self._code_of, self.unread_code)

    def _code_of(self, value: object) -> int:
        if is_missing(value) or is_blank(value):
            return self.missing_code
        code = look_up(self._table, value)
        return self.unread_code if code is None else code

    def _has(self, value: object) -> bool:
        return look_up(self._table, value) is not None

    # Codes to values. One more code than there are levels means missing.

    def decode(
        self,
        codes: NDArray[Any],
        rng: np.random.Generator,  # noqa: ARG002 - nothing is drawn within a day
    ) -> pd.Series:
        """The day of each code; a column that draws within a level takes ``rng``."""
        return take(DAYS, None, codes)

    def decode_text(
        self,
        codes: NDArray[Any],
        rng: np.random.Generator,  # noqa: ARG002 - nothing is drawn within a day
    ) -> NDArray[np.object_]:
        """The same as texts."""
        return self._gathered([*DAYS, self._missing_text], codes)

    # What is said of it, to people and to engines.

    @property
    def reading(self) -> Reading:
        """How the column is read, with one example."""
        return Reading(what="days of the week", fits="Mon", written="Monday")

    @property
    def ways_of_writing(self) -> str:
        """What a field can declare so that more values are read."""
        return "type 'string' for other words"

    @property
    def rule(self) -> Levels:
        """What engines compare values with."""
        return Levels(kind="texts", words=(*SPELLINGS, *self.missing_values, ""))
