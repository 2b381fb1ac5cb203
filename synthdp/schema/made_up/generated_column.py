"""What all columns have in common whose values are generated."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.words.texts import check_words

MAX_START = 10**15
"""First numbers above this are a slip of the finger; with any number of rows they still are 64-bit
integers.
"""


@dataclass(frozen=True, kw_only=True)
class GeneratedColumn(ABC):
    """A column whose values are made up for every row of the output, by what the schema says alone.

    It is no attribute of the model: nothing of it is read, held, counted or paid for.

    Raises
    ------
    SchemaError
        If the column contradicts itself; the message says what to change.
    """

    name: str
    """Name in the table's header, not empty."""
    title: str = ""
    description: str = ""
    """For people."""

    def __post_init__(self) -> None:
        check_words(self.name, self.title, self.description)

    @classmethod
    @abstractmethod
    def settings(cls) -> Mapping[str, Sequence[str]]:
        """What a field can say of how values are made, and what else each of that is called."""

    @classmethod
    @abstractmethod
    def parse(cls, name: str, kind: str, type_: str, given: Mapping[str, Any]) -> Self:
        """The column that a field declares, with what it says in `settings` and for people.

        Its type is its kind again where the field says nothing else.
        """

    @classmethod  # noqa: B027 (of ids `parse` checks it)
    def check_type(cls, name: str, kind: str, type_: object) -> None:
        """Refuse a type that values of a kind have not."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """What is generated, as a schema calls it."""

    @property
    def within(self) -> tuple[str, ...]:
        """The columns within which values differ, if not in all rows."""
        return ()

    @property
    @abstractmethod
    def is_unique(self) -> bool:
        """Whether no value comes twice in one sample."""

    def numbered_within(self, names: tuple[str, ...]) -> Self:  # noqa: ARG002
        """The same with values that differ within other columns, if it counts."""
        return self

    def continued(self, n_rows: int) -> Self:  # noqa: ARG002
        """The same in a table that goes on after some rows, if it counts."""
        return self

    def beside(
        self,
        given: pd.Series,  # noqa: ARG002
        made: list[str] | NDArray[np.int64],
        table: pd.DataFrame,  # noqa: ARG002
    ) -> list[str] | NDArray[np.int64]:
        """What was made, so that it differs from what somebody gave, if it has to."""
        return made

    @property
    @abstractmethod
    def summary(self) -> str:
        """In a few words, for people: what the values look like."""

    @abstractmethod
    def values(self, table: pd.DataFrame, seed: int) -> list[str] | NDArray[np.int64]:
        """One value for each row of a drawn table: texts, or whole numbers.

        Parameters
        ----------
        table
            The columns that the model has drawn.
        seed
            Of all chance in it; the same for all columns of a sample, so that they can agree.

        Raises
        ------
        MissingExtraError
            If a library that makes them up is not installed.
        """

    def check_available(self) -> None:  # noqa: B027 (most need nothing)
        """Raise `MissingExtraError` or `SchemaError` if values could not be generated on this
        machine.
        """

    @abstractmethod
    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema, with every default written out."""

    def _field(self, kind: str, own: Mapping[str, Any]) -> dict[str, Any]:
        texts = {"title": self.title, "description": self.description}
        kept = {key: text for key, text in texts.items() if text}
        return {"name": self.name, "type": kind} | kept | {"synthdp": {"kind": self.kind, **own}}

    def _generator(self, seed: int) -> np.random.Generator:
        """Chance of this column's own: columns of one kind must not be copies of each other."""
        return np.random.default_rng([seed, crc32(self.name.encode())])
