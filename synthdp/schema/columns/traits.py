"""The properties of every column besides its codec, so that no other code checks its type.

All of it follows from the declaration, which is public: no value of a table is read here. A type
overrides what differs.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.axes.axis import Axis, CodeColumn
from synthdp.schema.axes.rule import Rule
from synthdp.schema.columns.described import Reading
from synthdp.schema.columns.reading import Values, is_missing

if TYPE_CHECKING:
    from synthdp.schema.columns.field import Field


class _Coded(Protocol):
    """What a column has that the answers below are made of."""

    @property
    def n_levels(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def unread_code(self) -> int: ...
    @property
    def missing_values(self) -> tuple[str, ...]: ...
    @property
    def not_read(self) -> str: ...
    def field(self) -> dict[str, Any]: ...
    def decode(self, codes: CodeColumn, rng: np.random.Generator) -> pd.Series: ...
    def decode_text(self, codes: CodeColumn, rng: np.random.Generator) -> NDArray[np.object_]: ...


class Traits(ABC):
    """Answers that most types of columns share."""

    # --- words of the type ------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def parse(cls, field: "Field") -> Any:
        """The column that a field declares; raises `SchemaError`."""

    @classmethod
    @abstractmethod
    def example_field(cls, kind: str) -> dict[str, Any]:
        """A field of a type but for its name, filled in: what can be tried with every type."""

    @classmethod
    def keys(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What a field of a type can have under ``synthdp``, if it lists levels or not."""
        return ()

    @classmethod
    def derivable(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What of a field of a type can be learnt, if it lists levels or not: of levels, bounds,
        bins, decimals and whether values may be missing.
        """
        return ("missing",)

    @classmethod
    def to_fill_in(cls) -> dict[str, Any]:
        """What a draft of a field of the type leaves to be filled in, beside whether it is
        required.
        """
        return {}

    @classmethod
    def widest_bounds(
        cls, field: Mapping[str, Any], limits: Mapping[str, Any]
    ) -> Sequence[tuple[Any, Any]]:
        """The widest bounds that a field can have, as in a schema, of a type that has bounds: the
        first ones that it can read.
        """
        return ()

    @classmethod
    def settled(cls, field: Mapping[str, Any]) -> Mapping[str, Any]:
        """A field with all that it says in other people's words in those of the type."""
        return field

    # --- what is open -----------------------------------------------------------------------------

    @property
    def open_parts(self) -> frozenset[str]:
        """What of the column is still to be learnt: nothing, but of an `OpenColumn`."""
        return frozenset()

    @property
    def is_scaled(self) -> bool:
        """Whether bounds are still to be learnt that could be any numbers."""
        return False

    @property
    def template(self) -> Self:
        """The column closed: itself, as nothing of it is open."""
        return self

    @property
    def most_levels(self: _Coded) -> int:
        """Most level codes that the column can have once it is closed."""
        return self.size

    def example(self, scale: int) -> Self:
        """The column closed so that numbers reach to ``10**scale``, as far as that is open."""
        return self

    # --- order and parts --------------------------------------------------------------------------

    @property
    def axis(self) -> Axis | None:
        """The column as one whose values have an order; None if they have none."""
        return None

    @property
    def part_columns(self) -> Sequence[Any]:
        """The columns that follow from this one, such as the weekday of a date."""
        return ()

    has_bins: ClassVar[bool] = False
    """Whether levels are bins, of which there may be as many as one likes."""

    @property
    def noun(self) -> str:
        """What a value is called."""
        return "level"

    def coordinates_of(self, values: pd.Series) -> Sequence[NDArray[np.float64]]:
        """The numbers that values consist of where they have no one order, NaN where missing; none
        of most types.
        """
        return ()

    def codes_of_numbers(self, numbers: NDArray[np.float64]) -> NDArray[Any]:
        """Level codes of what the axis of its source reads; of columns that have one."""
        raise NotImplementedError

    # --- engines ----------------------------------------------------------------------------------

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """By which public values an engine tells the codes of the column apart."""

    @property
    def type_name(self: _Coded) -> str:
        """The type of the field by which the column, or what it is a part of, is declared."""
        return str(self.field()["type"])

    # --- levels -----------------------------------------------------------------------------------

    @property
    def other(self) -> str | float | None:
        """The level that stands for all values outside the listed ones; None if there is none."""
        return None

    @property
    def unknown_code(self: _Coded) -> int:
        """What a value becomes that is neither a level nor missing."""
        return self.unread_code

    @property
    def special_codes(self: _Coded) -> tuple[int, ...]:
        """The codes that are no neighbours of other levels, such as that of missing values."""
        return tuple(range(self.n_levels, self.size))

    @property
    def listed(self) -> tuple[str | float, ...]:
        """The levels that the schema lists; none where it lists none."""
        return ()

    @property
    def level_texts(self) -> Sequence[str]:
        """The texts of all levels that values are decoded to, where the schema lists levels."""
        return ()

    @property
    def code_texts(self: _Coded) -> list[str | None]:
        """What each code stands for, as a file holds it."""
        codes = np.arange(self.size)
        return list(self.decode_text(codes, np.random.default_rng(0)).tolist())

    @property
    def merged_label(self) -> str:
        """What stands for levels that share a code; empty if none do."""
        return ""

    def as_level(self, value: object) -> object:
        """A level that somebody names, as the column's own are."""
        return value

    def of_label(self, value: object) -> object:
        """A level for one of the labels, which of merged levels is none of them."""
        return value

    @property
    def arrow_dtype(self) -> Any:
        """The dtype of Arrow that holds decoded values, where pandas has objects for them, of which
        a piece of a table may have none; None where the dtype of `decode` says it.
        """
        return None

    def decode_categories(self: _Coded, codes: CodeColumn, rng: np.random.Generator) -> Any:
        """As `decode`, but a number a row in place of texts."""
        return self.decode(codes, rng)

    # --- ways of writing --------------------------------------------------------------------------

    @property
    @abstractmethod
    def reading(self) -> Reading:
        """How the column is read, with one example."""

    @property
    @abstractmethod
    def ways_of_writing(self) -> str:
        """What a field can declare so that more values are read."""

    @property
    def not_read(self) -> str:
        """The caution about an unread value."""
        return "is none of its levels"

    @property
    def outside(self) -> str:
        """The error about a given value that is none of the column's."""
        return "is none of its levels"

    @property
    def hint(self) -> str:
        """A hint where many values are unread."""
        return ""

    @property
    def decimal_char(self) -> str | None:
        """The decimal mark of its numbers; None of other columns."""
        return None

    @property
    def spellings(self) -> tuple[tuple[str, str], ...]:
        """The distinguished spellings of one value, by number."""
        return ()

    @property
    def learns_spelling(self) -> bool:
        """Whether it is open which of the spellings is written."""
        return False

    def spellings_of(self, values: Values) -> NDArray[np.int64]:
        """For each value the number of its spelling."""
        return np.zeros(len(values), dtype=np.int64)

    def can_write(self, spelling: tuple[str, str]) -> bool:
        """Whether a spelling is read as what it says, and not as missing."""
        return False

    def typed(self, values: pd.Series) -> pd.Series:
        """Texts as the values that they say."""
        return values

    def text_of(self: _Coded, value: object) -> str:
        """How a file holds a value; texts as they are."""
        if isinstance(value, str):
            return value
        if is_missing(value):
            return self.missing_values[0] if self.missing_values else ""
        is_whole = isinstance(value, float | np.floating) and float(value).is_integer()
        return str(int(value)) if is_whole else str(value)  # type: ignore[call-overload]
