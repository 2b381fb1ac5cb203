"""Categorical columns: an enumerated list of texts or numbers, and booleans."""

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self, final
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.axes.axis import CodeColumn
from synthdp.schema.axes.bin_shape import checked_weights
from synthdp.schema.axes.rule import Levels
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.described import Reading
from synthdp.schema.columns.field import Field
from synthdp.schema.columns.notation import NUMBER_MARKS, PLAIN, Notation
from synthdp.schema.columns.reading import Values, integers_of, is_blank, is_missing, texts_of
from synthdp.schema.words.grid_intervals import GridIntervals, Ints
from synthdp.schema.words.texts import check_text, in_column, refuse

KEYS = ("other", "merged")
"""What a field can have under ``synthdp``."""


@final
@dataclass(frozen=True, kw_only=True)
class Merged:
    """Further levels of a categorical column that share one code."""

    levels: tuple[str | float, ...]
    """The levels, each once and none of them a level of its own."""
    weights: tuple[float, ...]
    """How often each is drawn when the code is decoded, in any unit; finite, above 0."""

    def label(self, taken: Set[str]) -> str:
        """A text for the levels together that is none of those ``taken``.

        >>> Merged(levels=("b", "c"), weights=(2, 1)).label({"a"})
        'b | c'
        """
        # A thousand merged levels would make a label that fills a page.
        more = len(self.levels) - LABELLED_LEVELS
        label = " | ".join(
            [*map(str, self.levels[:LABELLED_LEVELS]), *([f"{more} more"] if more > 0 else [])]
        )
        # A level of its own may be called like that; rules and slices name levels by their labels,
        # so these must differ.
        while label in taken:
            label += " (merged)"
        return label

    @cached_property
    def _intervals(self) -> GridIntervals:
        n = len(self.levels)
        return GridIntervals.from_groups(
            np.zeros(n, np.int64), np.arange(n), np.ones(n, np.int64), np.array(self.weights)
        )

    def draw(self, n: int, rng: np.random.Generator) -> Ints:
        """Positions of ``n`` levels, in proportion to their weights."""
        return self._intervals.draw(np.zeros(n, np.int64), rng)


@final
@dataclass(frozen=True, kw_only=True)
class CategoricalColumn(Column):
    """A column with an enumerated list of levels.

    >>> column = CategoricalColumn(
    ...     name="colour", levels=("red", "blue"), other="else", required=True
    ... )
    >>> column.encode(pd.Series(["blue", " red", "green"])).tolist(), column.size
    ([1, 0, 2], 3)
    """

    levels: tuple[str | float, ...]
    """The levels in the order of their codes, each once: texts for type ``"string"``,
    whole numbers for ``"integer"`` and ``"year"``, numbers for ``"number"``.
    """
    type: Literal["string", "integer", "number", "year"] = "string"
    """The field type of Frictionless Table Schema."""
    other: str | float | None = None
    """The level that stands for every value outside ``levels`` and ``merged``: one of
    ``levels``, or one more.
    """
    merged: Merged | None = None
    """Further levels that share the code after all others (but "missing")."""
    notation: Notation = PLAIN
    """How texts write the levels, if they are numbers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.notation.check(self.name)
        object.__setattr__(self, "levels", tuple(self._checked(level) for level in self.levels))
        if not self.levels:
            refuse(self.name, "constraints.enum is empty; list the levels that the column can have")
        if self.other is not None:
            object.__setattr__(self, "other", self._checked(self.other))
        if len(set(self.levels)) != len(self.levels):
            repeated = next(level for level in self.levels if self.levels.count(level) > 1)
            refuse(self.name, f"constraints.enum holds {repeated!r} twice; list each level once")
        if self.merged is not None:
            self._check_merged(self.merged)
        for level in self._written_levels:
            # What is written for the level would be read back as missing.
            if (str(level) if self.type == "string" else float(level)) in self._missing:
                refuse(
                    self.name,
                    f"{level!r} is both a level and in missingValues; remove it from one of them",
                )

    @classmethod
    def parse(cls, field: Field) -> Self:
        """The column that a field declares."""
        is_text = field.type == "string"
        notation = PLAIN if is_text else Notation.parse(field)
        own = field.own(KEYS)
        if field.levels is None:
            refuse(
                field.name,
                "constraints.enum is missing; list the levels that the column can have",
            )
        merged = field.parts_of("merged", ("levels", "weights"))
        return cls(
            levels=field.levels,
            type=field.type,
            other=own.get("other"),
            merged=None if merged is None else Merged(**merged),
            notation=notation,
            **field.shared,
        )

    @classmethod
    def example_field(cls, kind: str) -> dict[str, Any]:
        """Three levels."""
        levels = ["red", "green", "blue"] if kind == "string" else [1, 2, 4]
        return {"type": kind, "constraints": {"enum": levels}}

    @classmethod
    def keys(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What a field can have under ``synthdp``."""
        return KEYS

    @classmethod
    def derivable(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What of a field can be learnt."""
        return ("levels", "missing")

    @classmethod
    def to_fill_in(cls) -> dict[str, Any]:
        """The levels."""
        return {"constraints": {"enum": []}}

    def _check_merged(self, merged: Merged) -> None:
        """Fill in merged levels of the type that the column has, each of them once and nowhere
        else.
        """
        levels = tuple(self._checked(level) for level in merged.levels)
        if not levels:
            refuse(
                self.name,
                "synthdp.merged.levels is empty; list levels, or leave synthdp.merged out",
            )
        weights = checked_weights(
            self.name, "synthdp.merged.weights", merged.weights, len(levels), "levels", zero=False
        )
        # A level in two places would have two codes, and which of them a record gets would depend
        # on the order of a table.
        taken = set(self._all_levels)
        for level in levels:
            if level in taken:
                refuse(
                    self.name,
                    f"{level!r} is in synthdp.merged.levels, but a level already; list each level once",
                )
            taken.add(level)
        object.__setattr__(self, "merged", Merged(levels=levels, weights=weights))

    def _checked(self, level: Any) -> str | float:
        """A level of the type that the column has."""
        if self.type == "string":
            check_text(level, self.name, "the level")
            return str(level)
        # True is an int to Python: a level true among numbers is a mistake of the schema, and not
        # 1.
        is_number = isinstance(level, int | float) and not isinstance(level, bool)
        if not is_number or not math.isfinite(level):
            in_column(self.name, "a level", level).expect("a number, or set the type to 'string'")
        if self.type == "number":
            return float(level)
        # Values are looked up as floats, which hold every whole number up to here and not all
        # beyond.
        if level != int(level) or abs(level) > 2**53:
            refuse(
                self.name,
                f"the level {level!r} is not a whole number up to 2**53; set the type to 'number'",
            )
        return int(level)

    @cached_property
    def _all_levels(self) -> tuple[str | float, ...]:
        extra = () if self.other is None or self.other in self.levels else (self.other,)
        return (*self.levels, *extra)

    @property
    def _written_levels(self) -> tuple[str | float, ...]:
        """All levels that values are decoded to, the merged ones last."""
        return (*self._all_levels, *(() if self.merged is None else self.merged.levels))

    @cached_property
    def _missing(self) -> frozenset[str | float]:
        texts = self.missing_values
        return frozenset(texts if self.type == "string" else map(self.notation.number, texts))

    @property
    def n_levels(self) -> int:
        """Number of levels, an extra ``other`` included; merged levels count as one."""
        return len(self._all_levels) + (self.merged is not None)

    @property
    def _labels(self) -> pd.Index:
        """The level of each code, one text for the merged ones, NA for "missing"."""
        if self.merged is None:
            return super()._labels
        missing = [] if self.required else [None]
        return pd.Index(
            [*self._all_levels, self.merged_label, *missing], dtype=object, name=self.name
        )

    @cached_property
    def merged_label(self) -> str:
        """What `labels` calls the merged levels; not the text of a level that has a code of its
        own.

        >>> merged = Merged(levels=("b", "c"), weights=(2, 1))
        >>> CategoricalColumn(name="x", levels=("a",), merged=merged, required=True).labels.tolist()
        ['a', 'b | c']
        """
        return "" if self.merged is None else self.merged.label(set(map(str, self._all_levels)))

    @property
    def _fallback_code(self) -> int:
        return 0 if self.other is None else self._all_levels.index(self.other)

    @cached_property
    def unknown_code(self) -> int:
        """What a value becomes that is neither a level nor missing."""
        return self.unread_code if self.other is None else self._fallback_code

    @property
    def special_codes(self) -> tuple[int, ...]:
        """The codes of ``other`` and of missing values."""
        codes = super().special_codes
        return codes if self.other is None else (self._fallback_code, *codes)

    def with_unread_place(self) -> Self:
        """This column with a place for unread values, unless ``other`` stands for them."""
        return super().with_unread_place() if self.other is None else self

    @cached_property
    def _table(self) -> dict[Any, int]:
        own = len(self._all_levels)
        # All merged levels come after the others, and share the first code that these leave.
        codes = [(level, min(code, own)) for code, level in enumerate(self._written_levels)]
        if self.type == "string":
            return lookup_table(
                [(str(level), code) for level, code in codes],
                self.missing_values,
                self.missing_code,
            )
        return dict.fromkeys(self._missing, self.missing_code) | {
            float(level): code for level, code in codes
        }

    def _codes_of(self, values: Values) -> NDArray[np.int64]:
        return integers_of(values, self._code_of, self.unknown_code)

    def _code_of(self, value: object) -> int:
        if is_missing(value):
            return self.missing_code
        if self.type == "string":
            # Texts are looked up as they stand: "007" and "7" are two levels.
            code = look_up(self._table, value)
            return self._code_of_unknown(value) if code is None else code
        number = self.notation.number(value)
        # A word among numbers: declared as missing, or unknown.
        # A text that is no number: missing if the schema says so, else unknown.
        if math.isnan(number):
            texts = {text.strip() for text in texts_of(value)}
            is_marked = not texts.isdisjoint(text.strip() for text in self.missing_values)
            return self.missing_code if is_marked else self._code_of_unknown(value)
        return self._table.get(number, self.unknown_code)

    def _code_of_unknown(self, value: object) -> int:
        # A blank cell is no value; but where `other` stands for all that is not listed it stands
        # for blanks, too, unless the schema lists them as missing.
        return self.missing_code if self.other is None and is_blank(value) else self.unknown_code

    def _has(self, value: object) -> bool:
        if self.type == "string":
            return look_up(self._table, value) is not None
        number = self.notation.number(value)
        return not math.isnan(number) and number in self._table

    def _draw(self, codes: CodeColumn, rng: np.random.Generator) -> CodeColumn:
        """For each code the position of its level among `_written_levels`; one more means missing."""
        if self.merged is None:
            return codes
        own = len(self._all_levels)
        # Codes beyond that of the merged levels (only "missing" is) move up by the levels that
        # these have more than codes.
        positions = np.asarray(codes, dtype=np.int64) + (codes > own) * (
            len(self.merged.levels) - 1
        )
        merged = np.flatnonzero(codes == own)
        positions[merged] += self.merged.draw(len(merged), rng)
        return positions

    def decode(self, codes: CodeColumn, rng: np.random.Generator) -> pd.Series:
        """The level of each code."""
        positions = self._draw(codes, rng)
        levels = self._written_levels
        if self.type == "string":
            return take(levels, None, positions)
        if self.type == "number":
            return take(levels, np.float64, positions)
        series = take(levels, "Int64", positions)
        return series.astype(np.int64) if self.required else series

    def decode_categories(
        self, codes: CodeColumn, rng: np.random.Generator
    ) -> pd.Categorical | pd.Series:
        """The level of each code, of a column of texts, as a category: a number a row, and no text."""
        if self.type != "string":
            return self.decode(codes, rng)
        positions = self._draw(codes, rng)
        n_levels = len(self._categories)
        # beyond the last is missing; in the type that pandas would make of them
        named = np.append(np.arange(n_levels), -1).astype(np.min_scalar_type(-n_levels))[positions]
        return pd.Categorical.from_codes(named, categories=self._categories)

    @cached_property
    def _categories(self) -> pd.Index:
        return pd.Index(self._written_levels, dtype="str")

    def decode_text(self, codes: CodeColumn, rng: np.random.Generator) -> NDArray[np.object_]:
        """The level of each code as a text."""
        texts = list(map(str, self._written_levels))
        if self.type != "string":
            texts = list(map(self.notation.written, texts))
        return self._gathered([*texts, self._missing_text], self._draw(codes, rng))

    @property
    def ways_of_writing(self) -> str:
        """What a field can declare so that more values are read."""
        marks = ", " + NUMBER_MARKS if self.type in ("integer", "number") else ""
        return f"constraints.enum, synthdp.other{marks}"

    @property
    def listed(self) -> tuple[str | float, ...]:
        """The levels that the schema lists."""
        return self.levels

    @property
    def level_texts(self) -> list[str]:
        """The texts of all levels that values are decoded to."""
        merged = () if self.merged is None else self.merged.levels
        other = () if self.other is None else (self.other,)
        return list(dict.fromkeys(map(str, (*self.levels, *other, *merged))))

    def as_level(self, value: object) -> object:
        """A level as the column's own are: a truth value is a text or nothing, never a number."""
        if not isinstance(value, bool | np.bool_):
            return value
        # Without this, True would be looked up as 1 among levels that are numbers.
        texts = (str(value), str(value).lower())  # as Python writes it, and as JSON does
        is_level = self.knows(pd.Series(texts, dtype=object))
        return texts[int(is_level.argmax())]

    def of_label(self, value: object) -> object:
        """A level for a label: of that of the merged ones the first of them."""
        is_label = isinstance(value, str) and self.merged is not None and value == self.merged_label
        return self.merged.levels[0] if is_label and self.merged is not None else value

    def typed(self, values: pd.Series) -> pd.Series:
        """Numbers for what texts say, where levels are numbers."""
        if self.type == "string":
            return values
        return pd.Series([self.notation.number(value) for value in values], dtype=np.float64)

    def text_of(self, value: object) -> str:
        """How a file holds a value."""
        return self.notation.text_of(value, super().text_of(value))

    @property
    def reading(self) -> Reading:
        """How the column is read, with one example."""
        level = self.levels[0]
        text = str(level) if self.type == "string" else self.notation.written(str(level))
        if self.type == "string":
            what = f"{len(self.levels)} levels, as they are spelt"
        else:
            what = "numbers that are listed"
        rest = "others cannot be read" if self.other is None else f"others become {self.other!r}"
        return Reading(what=what, fits=text, written=text, note=rest)

    @property
    def rule(self) -> Levels:
        """An engine knows all levels."""
        blank = ("",) if self.other is None else ()
        other = () if self.other is None else (self.other,)
        merged = () if self.merged is None else self.merged.levels
        words = (*self.levels, *merged, *other, *self.missing_values, *blank)
        if self.type == "string":
            return Levels(kind="texts", words=words)
        # Words among the missing values of a column of numbers, such as "n/a", are compared as
        # texts only.
        numbers = (number for number in map(self.notation.number, words) if not math.isnan(number))
        return Levels(kind="levels", words=words, numbers=tuple(numbers))

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        own: dict[str, Any] = {} if self.other is None else {"other": self.other}
        if self.merged is not None:
            own["merged"] = {
                "levels": list(self.merged.levels),
                "weights": list(self.merged.weights),
            }
        return self._field(
            self.type, {"enum": list(self.levels)}, own, **self.notation.properties()
        )


LABELLED_LEVELS = 4
"""The label of merged levels names at most so many of them."""


def lookup_table(
    texts: Sequence[tuple[str, int]], missing_values: Sequence[str], missing_code: int
) -> dict[str, int]:
    """Codes by text; of two texts that differ in spelling only (see `_plain`), each keeps its own."""
    exact = dict(texts) | dict.fromkeys(missing_values, missing_code)
    # Reversed, so that of two levels with the same plain text the first wins, as a reader of the
    # schema expects.
    return {_plain(text): code for text, code in reversed(exact.items())} | exact


def _plain(text: str) -> str:
    """Without surrounding white space, and with accents composed: two ways of writing the same."""
    return normalize("NFC", text.strip())


def look_up(table: dict[str, int], value: object) -> int | None:
    """The code of a value by the texts it could have been written as: exactly, else in another
    spelling.
    """
    for text in texts_of(value):
        code = table.get(text)
        code = table.get(_plain(text)) if code is None else code
        if code is not None:
            return code
    return None


def take(levels: Sequence[Any], dtype: Any, codes: CodeColumn) -> pd.Series:
    """Levels by code; one more code than levels means missing."""
    table = pd.Series([*levels, None], dtype=dtype)
    return table.take(codes).reset_index(drop=True)
