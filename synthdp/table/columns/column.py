"""What every column of a schema has in common, and how values become level codes.

What a value becomes
--------------------
Encoding is total: no value raises, warns or is dropped. In this order, a value

1. that is a level, or lies in a bin, becomes that level;
2. that is a number or date outside the bounds (infinite ones too) goes to the nearest bin;
3. that is missing (None, NaN, NaT, or one of ``missing_values``), or is not readable as a
   number or date where one is needed, becomes the level "missing" if the column may be
   missing; if it is ``required``, it becomes ``other`` if there is one, else the first level
   or lowest bin;
4. that is a text, number or truth value outside the levels becomes ``other`` if there is one,
   else it is treated as missing.

White space around a value is ignored where the value would not be known with it. The level
"missing" is always the last one.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.table.columns.reading import Values, distinct, is_missing, objects_of, texts_of, to_float, where
from synthdp.table.texts import check_text, check_words, refuse

DEFAULT_MISSING_VALUES = ("",)
"""Texts that mean "missing" when a schema names none (the default of Frictionless Table Schema)."""

MAX_LEVELS = 1_000_000
"""Largest number of bins of one column: far more than noise leaves anything of."""


def code_dtype(size: int) -> np.dtype[Any]:
    """The smallest unsigned integer type that holds the codes ``0 .. size - 1``."""
    return np.min_scalar_type(max(size - 1, 0))


@dataclass(frozen=True, kw_only=True)
class Column(ABC):
    """One column of a schema: its public domain, and the codec between values and level codes.

    Parameters
    ----------
    name
        Name in the table's header, not empty.
    required
        Whether every row has a value; if not, "missing" is one more level, the last one.
    missing_values
        Texts that mean "missing", compared before anything else; a number among them is
        compared as a number in numeric columns, so that -1 and "-1" mean the same.
    title, description
        For people.

    Raises
    ------
    SchemaError
        If the column contradicts itself; the message says what to change.
    """

    name: str
    required: bool = False
    missing_values: tuple[str, ...] = DEFAULT_MISSING_VALUES
    title: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        check_words(self.name, self.title, self.description)
        object.__setattr__(self, "missing_values", tuple(self.missing_values))
        for text in self.missing_values:
            check_text(text, self.name, "the missing value")
        if not self.missing_values and not self.required:
            refuse(self.name, 'missingValues is empty, but values may be missing; add "" or set constraints.required')

    @property
    @abstractmethod
    def n_levels(self) -> int:
        """Number of levels or bins, without "missing"."""

    @property
    def source(self) -> str:
        """The name of the column of a table that `encode` takes: its own, unless it is a part of another column."""
        return self.name

    @property
    def size(self) -> int:
        """Number of level codes, "missing" included."""
        return self.n_levels + (not self.required)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The unsigned integer type of this column's codes."""
        return code_dtype(self.size)

    @cached_property
    def missing_code(self) -> int:
        """What a missing or unreadable value becomes."""
        return self._fallback_code if self.required else self.size - 1

    @property
    def _fallback_code(self) -> int:
        return 0

    @property
    def labels(self) -> pd.Index:
        """For each code what it stands for: a value, a `pandas.Interval`, or NA for "missing"."""
        codes = np.arange(self.size)  # where a code stands for one value, nothing is drawn
        return pd.Index(self.decode(codes, np.random.default_rng(0)), name=self.name)

    def encode(self, values: pd.Series) -> NDArray[Any]:
        """Level codes of values of any kind; see the top of this module for the rules."""
        unique, positions = distinct(values)
        codes = self.codes_of(unique)
        return codes if positions is None else codes[positions]

    def codes_of(self, values: Values) -> NDArray[Any]:
        """Level codes of an array of values."""
        return self._codes_of(values).astype(self.dtype)

    def knows(self, values: pd.Series) -> NDArray[np.bool_]:
        """Whether each value is a level, lies within the bounds, or is missing where that is allowed.

        All others `encode` has to clip or replace. For public values only: of a sensitive table
        the answer depends on the records.
        """
        unique, positions = distinct(values)
        known = np.array([self._knows(value) for value in objects_of(unique)], dtype=np.bool_)
        return known if positions is None else known[positions]

    def _knows(self, value: object) -> bool:
        return not self.required if self._is_missing(value) else self._has(value)

    def _is_missing(self, value: object) -> bool:
        texts = {text.strip() for text in texts_of(value)}
        return is_missing(value) or not texts.isdisjoint(text.strip() for text in self.missing_values)

    def are_missing(self, values: Values) -> NDArray[np.bool_]:
        """Which values say "no value": None, NaN and NaT, blanks, and ``missing_values``; unreadable ones do not."""
        if values.dtype.kind == "M":
            return np.isnat(values)
        if values.dtype.kind == "f":
            return np.isnan(values) | np.isin(values, [*map(to_float, self.missing_values)])
        blank = {"", *(text.strip() for text in self.missing_values)}

        def says_nothing(value: object) -> bool:
            return value.strip() in blank if type(value) is str else self._is_missing(value)

        return where(values, says_nothing)

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
    def decode_text(self, codes: NDArray[np.integer[Any]], rng: np.random.Generator) -> NDArray[np.object_]:
        """The same values as texts, as a CSV file holds them."""

    @abstractmethod
    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema, with every default written out."""

    def _field(
        self, kind: str, constraints: Mapping[str, Any], own: Mapping[str, Any], **properties: Any
    ) -> dict[str, Any]:
        """Put the parts of a field together, leaving out what is empty."""
        field: dict[str, Any] = {"name": self.name, "type": kind, "title": self.title, "description": self.description}
        field = {key: value for key, value in field.items() if value != ""} | properties
        constraints = dict(constraints) | ({"required": True} if self.required else {})
        field |= {"constraints": constraints} if constraints else {}
        field |= {"synthdp": dict(own)} if own else {}
        return field

    @staticmethod
    def _gathered(texts: Sequence[str], positions: NDArray[np.integer[Any]]) -> NDArray[np.object_]:
        gathered: NDArray[np.object_] = np.array(texts, dtype=object)[positions]
        return gathered

    @property
    def _missing_text(self) -> str:
        return self.missing_values[0] if self.missing_values else ""
