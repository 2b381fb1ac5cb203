"""Categorical columns: an enumerated list of texts or numbers, and booleans."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, final
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.table.columns import Column, check_text, refuse
from synthdp.table.reading import Values, integers_of, is_missing, texts_of, to_float

DEFAULT_TRUE_VALUES = ("true", "True", "TRUE", "1")
"""Texts that mean true when a field names none (the default of Frictionless Table Schema)."""

DEFAULT_FALSE_VALUES = ("false", "False", "FALSE", "0")
"""Texts that mean false when a field names none (the default of Frictionless Table Schema)."""


def lookup_table(texts: Sequence[tuple[str, int]], missing_values: Sequence[str], missing_code: int) -> dict[str, int]:
    """Codes by text; of two texts that differ in spelling only (see `_plain`), each keeps its own."""
    exact = dict(texts) | dict.fromkeys(missing_values, missing_code)
    return {_plain(text): code for text, code in reversed(exact.items())} | exact


def _plain(text: str) -> str:
    """Without surrounding white space, and with accents composed: two ways of writing the same."""
    return normalize("NFC", text.strip())


def look_up(table: dict[str, int], value: object) -> int | None:
    """The code of a value by the texts it could have been written as: exactly, else in another spelling."""
    for text in texts_of(value):
        code = table.get(text)
        code = table.get(_plain(text)) if code is None else code
        if code is not None:
            return code
    return None


def take(levels: Sequence[Any], dtype: Any, codes: NDArray[np.integer[Any]]) -> pd.Series:
    """Levels by code; one more code than levels means missing."""
    table = pd.Series([*levels, None], dtype=dtype)
    return table.take(codes).reset_index(drop=True)


@final
@dataclass(frozen=True, kw_only=True)
class CategoricalColumn(Column):
    """A column with an enumerated list of levels.

    Parameters
    ----------
    levels
        The levels in the order of their codes, each once: texts for type ``"string"``,
        whole numbers for ``"integer"`` and ``"year"``, numbers for ``"number"``.
    type
        The field type of Frictionless Table Schema.
    other
        The level that stands for every value outside ``levels``: one of them, or one more.

    >>> column = CategoricalColumn(name="colour", levels=("red", "blue"), other="else", required=True)
    >>> column.encode(pd.Series(["blue", " red", "green"])).tolist(), column.size
    ([1, 0, 2], 3)
    """

    levels: tuple[str | float, ...]
    type: Literal["string", "integer", "number", "year"] = "string"
    other: str | float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "levels", tuple(self._checked(level) for level in self.levels))
        if not self.levels:
            refuse(self.name, "constraints.enum is empty; list the levels that the column can have")
        if self.other is not None:
            object.__setattr__(self, "other", self._checked(self.other))
        if len(set(self.levels)) != len(self.levels):
            repeated = next(level for level in self.levels if self.levels.count(level) > 1)
            refuse(self.name, f"constraints.enum holds {repeated!r} twice; list each level once")
        for level in self._all_levels:
            if (str(level) if self.type == "string" else float(level)) in self._missing:
                refuse(self.name, f"{level!r} is both a level and in missingValues; remove it from one of them")

    def _checked(self, level: Any) -> str | float:
        """A level of the type that the column has."""
        if self.type == "string":
            check_text(level, self.name, "the level")
            return str(level)
        if isinstance(level, bool) or not isinstance(level, int | float) or not math.isfinite(level):
            refuse(self.name, f"the level {level!r} is not a number; write a number, or set the type to 'string'")
        if self.type == "number":
            return float(level)
        if level != int(level) or abs(level) > 2**53:
            refuse(self.name, f"the level {level!r} is not a whole number up to 2**53; set the type to 'number'")
        return int(level)

    @cached_property
    def _all_levels(self) -> tuple[str | float, ...]:
        extra = () if self.other is None or self.other in self.levels else (self.other,)
        return (*self.levels, *extra)

    @cached_property
    def _missing(self) -> frozenset[str | float]:
        return frozenset(self.missing_values if self.type == "string" else map(to_float, self.missing_values))

    @property
    def n_levels(self) -> int:
        """Number of levels, an extra ``other`` included."""
        return len(self._all_levels)

    @property
    def _fallback_code(self) -> int:
        return 0 if self.other is None else self._all_levels.index(self.other)

    @cached_property
    def _unknown_code(self) -> int:
        return self.missing_code if self.other is None else self._fallback_code

    @cached_property
    def _table(self) -> dict[Any, int]:
        codes = [(level, code) for code, level in enumerate(self._all_levels)]
        if self.type == "string":
            return lookup_table([(str(level), code) for level, code in codes], self.missing_values, self.missing_code)
        return dict.fromkeys(self._missing, self.missing_code) | {float(level): code for level, code in codes}

    def _codes_of(self, values: Values) -> NDArray[np.int64]:
        return integers_of(values, self._code_of, self._unknown_code)

    def _code_of(self, value: object) -> int:
        if is_missing(value):
            return self.missing_code
        if self.type == "string":
            code = look_up(self._table, value)
            return self._unknown_code if code is None else code
        number = to_float(value)
        if math.isnan(number):  # a text that is no number: missing if the schema says so, else unknown
            texts = {text.strip() for text in texts_of(value)}
            known = not texts.isdisjoint(text.strip() for text in self.missing_values)
            return self.missing_code if known else self._unknown_code
        return self._table.get(number, self._unknown_code)

    def _has(self, value: object) -> bool:
        if self.type == "string":
            return look_up(self._table, value) is not None
        number = to_float(value)
        return not math.isnan(number) and number in self._table

    def decode(self, codes: NDArray[np.integer[Any]], rng: np.random.Generator) -> pd.Series:  # noqa: ARG002
        """The level of each code."""
        if self.type == "string":
            return take(self._all_levels, None, codes)
        if self.type == "number":
            return take(self._all_levels, np.float64, codes)
        series = take(self._all_levels, "Int64", codes)
        return series.astype(np.int64) if self.required else series

    def decode_text(self, codes: NDArray[np.integer[Any]], rng: np.random.Generator) -> NDArray[np.object_]:  # noqa: ARG002
        """The level of each code as a text."""
        return self._gathered([*map(str, self._all_levels), self._missing_text], codes)

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        own = {} if self.other is None else {"other": self.other}
        return self._field(self.type, {"enum": list(self.levels)}, own)


@final
@dataclass(frozen=True, kw_only=True)
class BooleanColumn(Column):
    """A column of truth values: false has code 0, true has code 1.

    Parameters
    ----------
    true_values, false_values
        Texts that mean true and false; the first of each is the one that is written.

    >>> BooleanColumn(name="smokes", required=True).encode(pd.Series(["true", "0"])).tolist()
    [1, 0]
    """

    true_values: tuple[str, ...] = DEFAULT_TRUE_VALUES
    false_values: tuple[str, ...] = DEFAULT_FALSE_VALUES

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, attribute in (("trueValues", "true_values"), ("falseValues", "false_values")):
            object.__setattr__(self, attribute, tuple(getattr(self, attribute)))
            if not getattr(self, attribute):
                refuse(self.name, f"{key} is empty; list the texts, or leave {key} out for the default ones")
            for text in getattr(self, attribute):
                check_text(text, self.name, f"the text in {key}")
        groups = [self.true_values, self.false_values, self.missing_values]
        for text in set().union(*groups):
            if sum(text in group for group in groups) > 1:
                refuse(self.name, f"{text!r} is in two of trueValues, falseValues, missingValues; keep it in one")

    @property
    def n_levels(self) -> int:
        """Two: false and true."""
        return 2

    @cached_property
    def _table(self) -> dict[str, int]:
        texts = [(text, 1) for text in self.true_values] + [(text, 0) for text in self.false_values]
        return lookup_table(texts, self.missing_values, self.missing_code)

    def _codes_of(self, values: Values) -> NDArray[np.int64]:
        if values.dtype.kind == "b":
            return values.astype(np.int64)
        return integers_of(values, self._code_of, self.missing_code)

    def _code_of(self, value: object) -> int:
        if isinstance(value, bool | np.bool_):
            return int(value)
        code = look_up(self._table, value)
        return self.missing_code if code is None else code

    def _has(self, value: object) -> bool:
        return isinstance(value, bool | np.bool_) or look_up(self._table, value) is not None

    def decode(self, codes: NDArray[np.integer[Any]], rng: np.random.Generator) -> pd.Series:  # noqa: ARG002
        """Truth values: ``bool`` if the column is required, else pandas' ``boolean``."""
        series = take([False, True], "boolean", codes)
        return series.astype(bool) if self.required else series

    def decode_text(self, codes: NDArray[np.integer[Any]], rng: np.random.Generator) -> NDArray[np.object_]:  # noqa: ARG002
        """The first of the true or false values."""
        return self._gathered([self.false_values[0], self.true_values[0], self._missing_text], codes)

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        texts = {"trueValues": list(self.true_values), "falseValues": list(self.false_values)}
        return self._field("boolean", {}, {}, **texts)
