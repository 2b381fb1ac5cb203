"""Ids: numbers in sequence, by a pattern or as they are, or UUIDs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.columns.reading import canonical_text
from synthdp.schema.made_up.empty_cells import empty_cells
from synthdp.schema.made_up.generated_column import MAX_START, GeneratedColumn
from synthdp.schema.made_up.pattern import Pattern
from synthdp.schema.words.texts import in_column, refuse

UUID = "uuid"
"""In place of a pattern: random UUIDs (version 4)."""

_HEXADECIMAL = np.frombuffer(
    "".join(f"{byte:02x}" for byte in range(256)).encode(), dtype=np.uint8
).reshape(256, 2)
_GROUPS = (4, 6, 8, 10, 16)
"""Bytes of a UUID before each of its hyphens, and all of them."""

_BLOCK_ROWS = 1_000_000


@final
@dataclass(frozen=True, kw_only=True)
class IdColumn(GeneratedColumn):
    """Fresh ids, each row its own: ``start``, ``start + 1``, ... in the order of the rows, or
    UUIDs.
    """

    type: Literal["string", "integer"] = "integer"
    """``"integer"`` for the numbers themselves, ``"string"`` for texts."""
    pattern: str | None = None
    """How a text is written, see `Pattern`; or `UUID`. None for integers."""
    start: int = 1
    """The first number, 0 to `MAX_START`. Every sample begins with it again."""
    per: tuple[str, ...] = ()
    """Number the rows within each combination of values of these columns of the output: then
    the id is unique together with them only.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "per", tuple(self.per))
        if self.type not in ("string", "integer"):
            refuse(
                self.name,
                f"its ids are of type {self.type!r}; use string, or integer without a pattern",
            )
        if self.type == "integer" and self.pattern is not None:
            refuse(
                self.name,
                f"its ids are integers but have a pattern, {self.pattern!r}; make the type string",
            )
        if self.type == "string" and self.pattern is None:
            object.__setattr__(self, "pattern", "{:d}")
        in_column(self.name, "synthdp.start", self.start).whole(0, MAX_START)
        if self.pattern == UUID and (self.start != 1 or self.per):
            refuse(
                self.name,
                f"synthdp.{'per' if self.per else 'start'} is for ids that are numbers, not UUIDs",
            )
        if self.pattern not in (None, UUID):
            object.__setattr__(self, "pattern", str(Pattern.parse(self.pattern, column=self.name)))
        if self.name in self.per:
            refuse(
                self.name, "synthdp.per names the column itself; name other columns of the output"
            )

    @classmethod
    def settings(cls) -> Mapping[str, Sequence[str]]:
        """How ids are written, where they begin, and within what they are numbered."""
        return {
            "pattern": ("prefix", "template", "mask"),
            "start": ("first", "begin", "startat"),
            "per": ("within", "groupby", "group"),
        }

    @classmethod
    def parse(cls, name: str, kind: str, type_: Any, given: Mapping[str, Any]) -> Self:
        """Ids are integers, or texts by a pattern, unless the field says a type."""
        per = given.get("per", ())
        if isinstance(per, str):
            per = (per,)
        in_column(name, "synthdp.per", per).texts("the name of a column, or a list of names")
        if type_ == kind:
            type_ = "integer" if "pattern" not in given else "string"
        return cls(name=name, type=type_, **{**given, "per": per})

    @property
    def kind(self) -> str:
        """What a schema calls ids."""
        return "id"

    @property
    def is_unique(self) -> bool:
        """Whether no value comes twice: not if the numbers begin again for others."""
        return not self.per

    @property
    def summary(self) -> str:
        """What the values look like."""
        if self.pattern == UUID:
            return "random UUIDs"
        first = ", ".join(map(str, self._written(np.arange(self.start, self.start + 3))))
        within = f" within each {' and '.join(map(repr, self.per))}" if self.per else ""
        return f"{first}, ...{within}"

    @property
    def within(self) -> tuple[str, ...]:
        """The columns within which numbers differ."""
        return self.per

    def numbered_within(self, names: tuple[str, ...]) -> Self:
        """The same numbered within other columns; UUIDs, which are no numbers, as they are."""
        return self if self.pattern == UUID else replace(self, per=names)

    def continued(self, n_rows: int) -> Self:
        """The same ids after some rows; UUIDs, which are no numbers, as they are."""
        return self if self.pattern == UUID else replace(self, start=self.start + n_rows)

    def values(self, table: pd.DataFrame, seed: int) -> list[str] | NDArray[np.int64]:
        """One id a row."""
        if self.pattern == UUID:
            return uuids(len(table), self._generator(seed))
        if not self.per:
            return self._written(np.arange(self.start, self.start + len(table), dtype=np.int64))
        # Rows with a missing value are a group as well: dropped, they would have no id.
        groups = table.groupby(list(self.per), dropna=False, sort=False, observed=True)
        return self._written(groups.cumcount().to_numpy(dtype=np.int64) + self.start)

    def beside(
        self, given: pd.Series, made: list[str] | NDArray[np.int64], table: pd.DataFrame
    ) -> list[str] | NDArray[np.int64]:
        """Ids of which no row whose own is not given has one that is: it takes one that such a row
        leaves over.

        Parameters
        ----------
        given
            Ids that somebody gave, and empty cells; one a row.
        made
            What `values` made of all rows.
        table
            The columns that the ids may be numbered within.
        """
        is_given = ~empty_cells(given)
        groups = np.zeros(len(table), dtype=np.int64)
        if self.per:
            groups = (
                table.groupby(list(self.per), dropna=False, sort=False, observed=True)
                .ngroup()
                .to_numpy()
            )
        # Within their group: number 1 of one household takes nothing from another.
        taken = pd.MultiIndex.from_arrays([groups[is_given], _texts(given[is_given])])
        is_taken = np.asarray(
            pd.MultiIndex.from_arrays([groups, _texts(pd.Series(made).tolist())]).isin(taken)
        )
        # each given id takes at most one that is made, and its row leaves one over: there are
        # enough in each group
        in_need = np.flatnonzero(is_taken & ~is_given)
        spare = np.flatnonzero(is_given & ~is_taken)
        wanted, offered = (_numbered(groups[rows]) for rows in (in_need, spare))
        positions = np.arange(len(table))
        positions[in_need] = spare[offered.get_indexer(wanted)]
        if isinstance(made, np.ndarray):
            return made[positions]
        return [made[position] for position in positions]

    def _written(self, numbers: NDArray[np.int64]) -> list[str] | NDArray[np.int64]:
        if self.pattern is None:
            return numbers
        return Pattern.parse(self.pattern, column=self.name).written(numbers.tolist())

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        own: dict[str, Any] = {} if self.pattern is None else {"pattern": self.pattern}
        if self.pattern != UUID:
            own |= {"start": self.start}
        return self._field(self.type, own | ({"per": list(self.per)} if self.per else {}))


def _texts(values: Iterable[object]) -> NDArray[np.object_]:
    """Ids as texts, the same for 7, 7.0 and "7"."""
    return np.array([canonical_text(value) or "" for value in values], dtype=object)


def _numbered(groups: NDArray[np.int64]) -> pd.MultiIndex:
    """Rows by their group, and how many of it come before."""
    return pd.MultiIndex.from_arrays(
        [groups, pd.Series(groups).groupby(groups).cumcount().to_numpy()]
    )


def uuids(number: int, rng: np.random.Generator) -> list[str]:
    """Random UUIDs [RFC 9562, version 4].

    >>> uuids(1, np.random.default_rng(0))[0][14]
    '4'
    """
    ids: list[str] = []
    for begin in range(0, number, _BLOCK_ROWS):
        bits = rng.integers(256, size=(min(_BLOCK_ROWS, number - begin), 16), dtype=np.uint8)
        # Six of the 128 bits say what kind of a UUID it is; all others are random.
        bits[:, 6] = bits[:, 6] & 0x0F | 0x40  # the version
        bits[:, 8] = bits[:, 8] & 0x3F | 0x80  # the variant
        digits = _HEXADECIMAL[bits].reshape(len(bits), 32)
        hyphen = np.full((len(bits), 1), ord("-"), dtype=np.uint8)
        ends = [2 * end for end in _GROUPS]
        groups = [digits[:, first:last] for first, last in zip([0, *ends], ends, strict=False)]
        parts = [part for group in groups for part in (group, hyphen)][:-1]
        text = np.concatenate(parts, axis=1).tobytes().decode("ascii")
        ids += [text[at : at + 36] for at in range(0, len(text), 36)]
    return ids
