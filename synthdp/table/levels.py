"""Levels of categorical columns: finding a level by its text, and levels that share one code."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.table.reading import texts_of
from synthdp.table.shape import Ints, Runs

LABELLED_LEVELS = 4
"""The label of merged levels names at most so many of them."""


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
class Merged:
    """Further levels of a categorical column that share one code.

    Parameters
    ----------
    levels
        The levels, each once and none of them a level of its own.
    weights
        How often each is drawn when the code is decoded, in any unit; finite, above 0.
    """

    levels: tuple[str | float, ...]
    weights: tuple[float, ...]

    def label(self, taken: Set[str]) -> str:
        """A text for the levels together that is none of those ``taken``.

        >>> Merged(levels=("b", "c"), weights=(2, 1)).label({"a"})
        'b | c'
        """
        more = len(self.levels) - LABELLED_LEVELS
        label = " | ".join([*map(str, self.levels[:LABELLED_LEVELS]), *([f"{more} more"] if more > 0 else [])])
        while label in taken:
            label += " (merged)"
        return label

    @cached_property
    def _runs(self) -> Runs:
        n = len(self.levels)
        return Runs.of(np.zeros(n, np.int64), np.arange(n), np.ones(n, np.int64), np.array(self.weights))

    def draw(self, n: int, rng: np.random.Generator) -> Ints:
        """Positions of ``n`` levels, in proportion to their weights."""
        return self._runs.draw(np.zeros(n, np.int64), rng)
