"""Boolean columns: two levels, and the texts that stand for them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.table.columns.categorical import look_up, lookup_table, take
from synthdp.table.columns.column import Column, check_text, refuse
from synthdp.table.columns.reading import Values, integers_of

DEFAULT_TRUE_VALUES = ("true", "True", "TRUE", "1")
"""Texts that mean true when a field names none (the default of Frictionless Table Schema)."""

DEFAULT_FALSE_VALUES = ("false", "False", "FALSE", "0")
"""Texts that mean false when a field names none (the default of Frictionless Table Schema)."""


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
