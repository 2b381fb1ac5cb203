"""How fresh keys of one column are written: as its type and pattern say, never as the data's are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.made_up.pattern import Pattern
from synthdp.schema.made_up.regular_keys import RegularKeys
from synthdp.schema.words.texts import refuse

_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_FIRST_DAY = "2000-01-01"
"""Of keys that are days, where no least one is declared."""


@final
@dataclass(frozen=True)
class KeyForm:
    """A key for each number from 1, different ones for different numbers.

    >>> form = KeyForm.from_field({"type": "integer", "constraints": {"minimum": 1001}})
    >>> form.written(np.array([1, 2]), text=False).tolist()
    [1001, 1002]
    """

    field: Mapping[str, Any]
    """What the written column is declared as, without its name."""
    first: int = 1
    """The number that is written for 1."""
    texts: Pattern | RegularKeys | None = None
    """How texts are written that are no plain numbers."""

    @classmethod
    def from_field(cls, field: Mapping[str, Any]) -> Self:
        """The form that the field of a key says.

        Raises
        ------
        SchemaError
            If its pattern under ``synthdp`` is none, or stands in a field that is no id of texts.
        """
        constraints = constraints_of(field)
        own = field.get("synthdp")
        if isinstance(own, Mapping) and own.get("pattern") is not None:
            texts = _id_pattern(field, own)
            return cls(
                {"type": "string", "synthdp": {"kind": "id", "pattern": str(texts)}}, 1, texts
            )
        if field.get("type") == "integer":
            least: Any = constraints.get("minimum")
            is_number = isinstance(least, int) and not isinstance(least, bool)
            return cls({"type": "integer"}, least if is_number and abs(least) < 2**53 else 1)
        if field.get("type") == "date" and field.get("format", "default") in ("default", "any"):
            return cls({"type": "date"}, _day(constraints.get("minimum")))
        expression = _UUID if field.get("format") == "uuid" else constraints.get("pattern")
        keys = RegularKeys.parse(expression) if isinstance(expression, str) else None
        if keys is None or field.get("type", "string") not in ("string", "any"):
            return cls({"type": "string"})
        is_declared = {key: field[key] for key in ("format",) if key in field}
        if "pattern" in constraints:
            is_declared |= {"constraints": {"pattern": expression}}
        return cls({"type": "string", **is_declared}, 1, keys)

    def written(self, numbers: NDArray[np.integer[Any]], *, text: bool) -> pd.Series:
        """The keys of some numbers from 1 on, as texts or as values."""
        plain = numbers.astype(np.int64) + (self.first - 1)
        if self.texts is not None:
            return pd.Series(self.texts.written(plain.tolist()), dtype=object)
        if self.field["type"] == "date":
            days = plain.astype("datetime64[D]")
            return pd.Series(
                days.astype(str).astype(object) if text else days.astype("datetime64[s]")
            )
        if text or self.field["type"] != "integer":
            return pd.Series(plain.astype(str).astype(object))
        return pd.Series(plain)


def constraints_of(field: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is declared of the values of a field; nothing if it is no object."""
    constraints = field.get("constraints")
    return constraints if isinstance(constraints, Mapping) else {}


def _id_pattern(field: Mapping[str, Any], own: Mapping[str, Any]) -> Pattern:
    column = field["name"]
    if own.get("kind", field.get("type")) != "id" or field.get("type") not in ("string", "id"):
        problem = 'has a pattern and is no id of texts; write "type": "string" and "kind": "id"'
        refuse(column, problem)
    return Pattern.parse(own["pattern"], column=column)


def _day(declared: object) -> int:
    """Days since 1970 of a date that is declared, or of another one if it is none."""
    for day in (declared, _FIRST_DAY):
        try:
            return int(np.datetime64(str(day), "D").astype(np.int64))
        except ValueError:
            continue
    raise AssertionError(_FIRST_DAY)
