"""What every column of a schema has in common, and how values become level codes.

What a value becomes
--------------------
Encoding is total: no value raises, warns or is dropped. In this order, a value

1. that is a level, or lies in a bin, becomes that level;
2. that is a number or date outside the bounds goes to the nearest bin;
3. that is missing (None, NaN, NaT, an infinite number, one of ``missing_values``, or a blank text that is no level)
   becomes the level "missing" if the column may be missing; a ``required`` column has none, so
   there it becomes what unread values become;
4. that is anything else is *unread*: a text that is no number or date where one is needed, a value
   outside the levels. It becomes ``other`` if there is one, else it goes to the *unread place*.

The unread place is one more code, the last one, after "missing", of a column `with_unread_place`:
so are all columns that rows are read by (`synthdp.schema.schema.Schema.with_unread_places`). It is
no level: no rule speaks of it, no schema holds it, and no table that is drawn has it. How many
codes a column has depends on its declaration only, and each value has one of them. A column without
the place, as it was declared, has the levels that can be drawn: there an unread value is treated as
missing, or, if it is ``required``, as the first level.

A column with bounds can have two places more, before that one: for values below and above its
bounds (`with_all_places`). They are counted apart from the outermost bins in marginals of one
column, which says how many are clipped, and with them in all others.

White space around a value is ignored where the value would not be known with it.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.columns.reading import Values, distinct, is_missing, objects_of, texts_of
from synthdp.schema.columns.traits import Traits
from synthdp.schema.words.texts import check_text, check_words, refuse

DEFAULT_MISSING_VALUES = ("",)
"""Texts that mean "missing" when a schema names none (the default of Frictionless Table Schema)."""


NOT_READ = "(not read)"
"""What stands for the place for unread values where people see it: beside the truth only."""

BELOW, ABOVE = "(below the bounds)", "(above the bounds)"
"""The same of values beyond the bounds."""


def code_dtype(size: int) -> np.dtype[Any]:
    """The smallest unsigned integer type that holds the codes ``0 .. size - 1``."""
    return np.min_scalar_type(max(size - 1, 0))


@dataclass(frozen=True, kw_only=True)
class Column(Traits):
    """One column of a schema: its public domain, and the codec between values and level codes.

    Raises
    ------
    SchemaError
        If the column contradicts itself; the message says what to change.
    """

    name: str
    """Name in the table's header, not empty."""
    required: bool = False
    """Whether every row has a value; if not, "missing" is one more level, the last one."""
    missing_values: tuple[str, ...] = DEFAULT_MISSING_VALUES
    """Texts that mean "missing", compared before anything else; a number among them is
    compared as a number in numeric columns, so that -1 and "-1" mean the same.
    """
    title: str = ""
    description: str = ""
    """For people."""
    has_unread_place: bool = field(default=False, repr=False)
    """Whether unread values have a code of their own, the last one; see `with_unread_place`."""

    def __post_init__(self) -> None:
        check_words(self.name, self.title, self.description)
        object.__setattr__(self, "missing_values", tuple(self.missing_values))
        for text in self.missing_values:
            check_text(text, self.name, "the missing value")
        if not self.missing_values and not self.required:
            refuse(
                self.name,
                'missingValues is empty, but values may be missing; add "" or set constraints.required',
            )

    @property
    @abstractmethod
    def n_levels(self) -> int:
        """Number of levels or bins, without "missing"."""

    @property
    def has_end_places(self) -> bool:
        """Whether values below and above the bounds have codes of their own."""
        return False

    @property
    def end_codes(self) -> tuple[int, int]:
        """What values below and above the bounds become, of a column that has bounds."""
        return 0, self.n_levels - 1

    @property
    def source(self) -> str:
        """The name of the column of a table that `encode` takes: its own, unless it is a part of
        another column.
        """
        return self.name

    @property
    def by_level(self) -> "Column":
        """A column of the same codes that reads levels, where this one reads something else."""
        return self

    @property
    def size(self) -> int:
        """Number of level codes, "missing" and all places included."""
        return self.n_levels + (not self.required) + self.n_places

    @property
    def n_places(self) -> int:
        """How many of these are places: codes that are counted and never drawn."""
        return self.has_unread_place + 2 * self.has_end_places

    @property
    def dtype(self) -> np.dtype[Any]:
        """The unsigned integer type of this column's codes."""
        return code_dtype(self.size)

    @cached_property
    def missing_code(self) -> int:
        """What a missing value becomes."""
        return self.unread_code if self.required else self.n_levels

    @cached_property
    def unread_code(self) -> int:
        """What a value becomes that is neither missing nor a value of the column."""
        if self.has_unread_place:
            return self.size - 1
        return self._fallback_code if self.required else self.n_levels

    def with_unread_place(self) -> Self:
        """This column with a place for unread values, unless it has a level for them."""
        return self if self.has_unread_place else self._with(has_unread_place=True)

    def with_all_places(self) -> Self:
        """This column with all places that it can have."""
        return self.with_unread_place()

    def without_unread_place(self) -> Self:
        """This column as it was declared."""
        return self._with(has_unread_place=False) if self.has_unread_place else self

    def recoded(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Its codes of values that were read by the column with all places.

        Each place that this one lacks becomes one code, so a value has one code here as well.
        """
        placed = self.with_all_places()
        if placed == self:
            return codes
        own: NDArray[Any] = self._codes_of_places(placed).astype(self.dtype)[codes]
        return own

    def _codes_of_places(self, placed: Self) -> NDArray[np.int64]:
        """For each code with all places the code here."""
        own = np.arange(placed.size)
        own[placed.unread_code] = self.unread_code
        return own

    def _with(self, **changed: Any) -> Self:
        """This column, which was checked already, with other values of fields that need no check."""
        twin = object.__new__(type(self))
        for each in fields(self):
            object.__setattr__(twin, each.name, changed.get(each.name, getattr(self, each.name)))
        return twin

    @property
    def _fallback_code(self) -> int:
        return 0

    @property
    def labels(self) -> pd.Index:
        """For each code what it stands for: a value, a `pandas.Interval`, NA for "missing", `BELOW`
        and `ABOVE`, or `NOT_READ`.
        """
        places = [BELOW, ABOVE] if self.has_end_places else []
        if self.has_unread_place:
            places += [NOT_READ]
        labels = self._labels
        return pd.Index([*labels, *places], dtype=object, name=self.name) if places else labels

    @property
    def _labels(self) -> pd.Index:
        # Where a code stands for one value, nothing is drawn.
        codes = np.arange(self.n_levels + (not self.required))
        return pd.Index(self.decode(codes, np.random.default_rng(0)), name=self.name)

    def encode(self, values: pd.Series) -> NDArray[Any]:
        """Level codes of values of any kind; see the top of this module for the rules."""
        unique, positions = distinct(values)
        codes = self.codes_of(unique)
        return codes if positions is None else codes[positions]

    def codes_with_parts(self, values: pd.Series) -> Iterator[NDArray[Any]]:
        """Level codes of values, then those of the columns that follow from this one."""
        yield self.encode(values)

    def codes_of(self, values: Values) -> NDArray[Any]:
        """Level codes of an array of values."""
        return self._codes_of(values).astype(self.dtype)

    def knows(self, values: pd.Series) -> NDArray[np.bool_]:
        """Whether each value is a level, lies within the bounds, or is missing where that is
        allowed.

        All others `encode` has to clip or replace. For public values only: of a sensitive table
        the answer depends on the records.
        """
        unique, positions = distinct(values)
        is_known = np.array([self._knows(value) for value in objects_of(unique)], dtype=np.bool_)
        return is_known if positions is None else is_known[positions]

    def _knows(self, value: object) -> bool:
        return not self.required if self._is_missing(value) else self._has(value)

    def _is_missing(self, value: object) -> bool:
        texts = {text.strip() for text in texts_of(value)}
        return is_missing(value) or not texts.isdisjoint(
            text.strip() for text in self.missing_values
        )

    @abstractmethod
    def _has(self, value: object) -> bool:
        """Whether a value that is not missing is a level or lies within the bounds."""

    @abstractmethod
    def _codes_of(self, values: Values) -> NDArray[np.integer[Any]]:
        """Level codes of an array of values."""

    @abstractmethod
    def decode(self, codes: NDArray[np.integer[Any]], rng: np.random.Generator) -> pd.Series:
        """Values for level codes; the dtype depends on the column only."""

    @abstractmethod
    def decode_text(
        self, codes: NDArray[np.integer[Any]], rng: np.random.Generator
    ) -> NDArray[np.object_]:
        """The same values as texts, as a CSV file holds them."""

    @abstractmethod
    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema, with every default written out."""

    def _field(
        self, kind: str, constraints: Mapping[str, Any], own: Mapping[str, Any], **properties: Any
    ) -> dict[str, Any]:
        """Put the parts of a field together, leaving out what is empty."""
        field: dict[str, Any] = {
            "name": self.name,
            "type": kind,
            "title": self.title,
            "description": self.description,
        }
        field = {key: value for key, value in field.items() if value != ""} | properties
        constraints = dict(constraints) | ({"required": True} if self.required else {})
        if constraints:
            field |= {"constraints": constraints}
        if own:
            field |= {"synthdp": dict(own)}
        return field

    @staticmethod
    def _gathered(texts: Sequence[str], positions: NDArray[np.integer[Any]]) -> NDArray[np.object_]:
        gathered: NDArray[np.object_] = np.array(texts, dtype=object)[positions]
        return gathered

    @property
    def _missing_text(self) -> str:
        return self.missing_values[0] if self.missing_values else ""
