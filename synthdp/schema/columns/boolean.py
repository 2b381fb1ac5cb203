"""Boolean columns: two levels, and the texts that stand for them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.axes.axis import CodeColumn
from synthdp.schema.axes.rule import Levels
from synthdp.schema.columns.categorical import look_up, lookup_table, take
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.described import Reading
from synthdp.schema.columns.field import Field
from synthdp.schema.columns.reading import Values, integers_of, is_blank, is_missing, to_float
from synthdp.schema.words.texts import check_text, in_column, refuse
from synthdp.schema.words.truth import FALSE_WORDS, TRUE_WORDS

KEYS = ("spelling",)
"""What a field can have under ``synthdp``."""

SPELLINGS = (
    ("true", "false"), ("True", "False"), ("TRUE", "FALSE"), ("t", "f"), ("T", "F"), ("yes", "no"), ("Yes", "No"),
    ("YES", "NO"), ("y", "n"), ("Y", "N"), ("on", "off"), ("On", "Off"), ("ON", "OFF"), ("1", "0"),
)  # fmt: skip
"""Usual ways of writing true and false, in the order of their numbers; the first is that of truth
values.
"""

_SPELLING_OF = {word: number for number, words in enumerate(SPELLINGS) for word in words}


@final
@dataclass(frozen=True, kw_only=True)
class BooleanColumn(Column):
    """A column of truth values: false has code 0, true has code 1.

    >>> BooleanColumn(name="smokes", required=True).encode(
    ...     pd.Series(["Yes", "0", "no", "TRUE"])
    ... ).tolist()
    [1, 0, 0, 1]
    """

    true_values: tuple[str, ...] | None = None
    false_values: tuple[str, ...] | None = None
    """Texts that mean true and false, and no others do; the first of each is the one that is
    written. None stands for `TRUE_WORDS` and `FALSE_WORDS`, less what is declared to mean
    something else, and writes ``true`` and ``false``, whatever the records have, unless
    ``spelling`` says more.
    """
    spelling: tuple[str, ...] | None = None
    """What is written for true and for false where no texts are declared for them; it changes
    nothing of what is read.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        declared = []
        for key, attribute in (("trueValues", "true_values"), ("falseValues", "false_values")):
            if (texts := getattr(self, attribute)) is None:
                continue
            object.__setattr__(self, attribute, tuple(texts))
            if not texts:
                refuse(
                    self.name,
                    f"{key} is empty; list the texts, or leave {key} out for the usual ones",
                )
            for text in texts:
                check_text(text, self.name, f"the text in {key}")
            declared.append(tuple(texts))
        groups = [*declared, self.missing_values]
        # A text in two groups would be read as whichever is tried first, in here and in engines
        # alike.
        for text in set().union(*groups):
            if sum(text in group for group in groups) > 1:
                refuse(
                    self.name,
                    f"{text!r} is in two of trueValues, falseValues, missingValues; keep it in one",
                )
        if self.spelling is not None:
            object.__setattr__(self, "spelling", tuple(self.spelling))
            self._check_spelling(self.spelling)
        self._check_written()

    def _check_spelling(self, spelling: tuple[str, ...]) -> None:
        declared = in_column(self.name, "synthdp.spelling", list(spelling))
        if len(declared.texts(words := "a text for true and one for false")) != 2:
            declared.expect(words)
        if not self.has_usual_words:
            refuse(
                self.name,
                "synthdp.spelling goes with no trueValues or falseValues, whose first are written",
            )

    def _check_written(self) -> None:
        """Refuse what would be written and read back as something else."""
        for code, text in enumerate(self.written):
            if self._code_of(text) != code:
                key = (
                    "synthdp.spelling" if self.spelling else "trueValues" if code else "falseValues"
                )
                refuse(self.name, f"{text!r} is declared to mean something else; declare {key}")

    @classmethod
    def parse(cls, field: Field) -> Self:
        """The column that a field declares."""
        field.own(KEYS)  # refuses others
        true_values, false_values = (
            None if field.get(key) is None else field[key].texts()
            for key in ("trueValues", "falseValues")
        )
        return cls(
            true_values=true_values,
            false_values=false_values,
            spelling=field.listed("spelling", "a text for true and one for false"),
            **field.shared,
        )

    @classmethod
    def example_field(cls, kind: str) -> dict[str, Any]:
        """The words for true and false, of which engines need to know all."""
        return {"type": kind, "trueValues": ["yes"], "falseValues": ["no"]}

    @classmethod
    def keys(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What a field can have under ``synthdp``."""
        return KEYS

    @property
    def n_levels(self) -> int:
        """Two: false and true."""
        return 2

    @property
    def written(self) -> tuple[str, str]:
        """What stands for false and for true in a file."""
        if self.spelling is not None:
            return self.spelling[1], self.spelling[0]
        return (self.false_values or FALSE_WORDS)[0], (self.true_values or TRUE_WORDS)[0]

    @property
    def has_usual_words(self) -> bool:
        """Whether no texts are declared, so that values may be spelt in any usual way."""
        return self.true_values is None and self.false_values is None

    def spellings_of(self, values: Values) -> NDArray[np.int64]:
        """For each value the number among `SPELLINGS` of how it is written; any where it is no
        truth value.
        """
        if values.dtype.kind == "b" or not self.has_usual_words:
            return np.zeros(len(values), dtype=np.int64)
        return integers_of(values, _spelling_of, 0)

    def can_write(self, spelling: tuple[str, str]) -> bool:
        """Whether both texts are read as what they say, and not as missing."""
        return [self._code_of(text) for text in spelling] == [1, 0]

    @cached_property
    def _table(self) -> dict[str, int]:
        """What is declared, code by text."""
        texts = [(text, 1) for text in self.true_values or ()] + [
            (text, 0) for text in self.false_values or ()
        ]
        return lookup_table(texts, self.missing_values, self.missing_code)

    @cached_property
    def _words(self) -> dict[str, int]:
        """The usual spellings of what is not declared, code by text in small letters."""
        # What is declared wins: where N is declared to mean missing, it is no word for false any
        # more.
        taken = {text.strip().casefold() for text in self._table}
        usual = ((1, self.true_values, TRUE_WORDS), (0, self.false_values, FALSE_WORDS))
        return {
            word: code
            for code, own, words in usual
            if own is None
            for word in words
            if word not in taken
        }

    def _codes_of(self, values: Values) -> NDArray[np.int64]:
        if values.dtype.kind == "b":
            return values.astype(np.int64)
        return integers_of(values, self._code_of, self.unread_code)

    def _code_of(self, value: object) -> int:
        code = self._known_code(value)
        if code is not None:
            return code
        return self.missing_code if is_missing(value) or is_blank(value) else self.unread_code

    def _known_code(self, value: object) -> int | None:
        """The code of a truth value, of what is declared, or of a usual spelling; None for all
        else.
        """
        if isinstance(value, bool | np.bool_):
            return int(value)
        code = look_up(self._table, value)
        if code is not None or not self._words:
            return code
        # Texts first, and numbers behind: "1", 1 and 1.0 are the same truth in files, frames and
        # engines.
        code = self._words.get(value.strip().casefold()) if isinstance(value, str) else None
        return self._words.get(_DIGITS.get(to_float(value), "")) if code is None else code

    def _has(self, value: object) -> bool:
        return self._known_code(value) is not None

    def decode(self, codes: CodeColumn, rng: np.random.Generator) -> pd.Series:
        """Truth values: ``bool`` if the column is required, else pandas' ``boolean``."""
        # Numpy's bool has no missing value; pandas' boolean does.
        series = take([False, True], "boolean", codes)
        return series.astype(bool) if self.required else series

    def decode_text(
        self,
        codes: CodeColumn,
        rng: np.random.Generator,
    ) -> NDArray[np.object_]:
        """The first of the true or false values."""
        return self._gathered([*self.written, self._missing_text], codes)

    not_read: ClassVar[str] = "is neither true nor false"
    ways_of_writing: ClassVar[str] = "trueValues, falseValues"

    @property
    def spellings(self) -> tuple[tuple[str, str], ...]:
        """`SPELLINGS`, as far as the column is read by any of them."""
        return SPELLINGS if self.has_usual_words else ()

    @property
    def learns_spelling(self) -> bool:
        """Whether it is open how the values are written."""
        return self.has_usual_words and self.spelling is None

    def typed(self, values: pd.Series) -> pd.Series:
        """Truth values for what texts say."""
        return self.decode(self.encode(values), np.random.default_rng(0))

    def text_of(self, value: object) -> str:
        """How a file holds a value."""
        if isinstance(value, bool | np.bool_):
            return self.written[bool(value)]
        return super().text_of(value)

    @property
    def reading(self) -> Reading:
        """How the column is read, with one example."""
        of_true = self.true_values or TRUE_WORDS
        of_false = self.false_values or FALSE_WORDS
        words = f"truth values: {', '.join(of_true)} or {', '.join(of_false)}"
        if self.true_values is not None and self.false_values is not None:
            return Reading(what=words, fits=of_true[0], written=self.written[1])
        if self.spelling is not None:
            return Reading(
                what=f"{words}, also in capitals", fits=self.written[1], written=self.written[1]
            )
        note = f"all are written {self.written[1]} and {self.written[0]}; declare trueValues and falseValues for others"
        return Reading(
            what=f"{words}, also in capitals", fits=of_true[0], written=self.written[1], note=note
        )

    @property
    def rule(self) -> Levels:
        """An engine knows the words that are declared, and truth values and their numbers."""
        # Only where both are declared an engine knows all words; else it asks for the texts that
        # occur and has them read here.
        true_values = self.true_values or ()
        false_values = self.false_values or ()
        return Levels(
            kind="boolean",
            words=("", "0", "1", *true_values, *false_values, *self.missing_values),
            is_complete=bool(true_values and false_values),
        )

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        declared = {"trueValues": self.true_values, "falseValues": self.false_values}
        texts = {key: list(values) for key, values in declared.items() if values is not None}
        own = {} if self.spelling is None else {"spelling": list(self.spelling)}
        return self._field("boolean", {}, own, **texts)


def _spelling_of(value: object) -> int:
    if isinstance(value, bool | np.bool_):
        return 0
    if isinstance(value, str):
        word = str.__str__(value).strip()
        code = _SPELLING_OF.get(word, _SPELLING_OF.get(word.casefold()))
        if code is not None:
            return code
    return _SPELLING_OF["1"]  # as every way of writing the numbers


_DIGITS = {1.0: "1", 0.0: "0"}
"""The words of the numbers that are truth values."""
