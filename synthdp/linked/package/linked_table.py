"""One table of a package: its own columns, its keys, and how many of its rows hang on one row of
its parent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import SchemaError
from synthdp.core.json_value import JsonValue
from synthdp.linked.package.key_form import KeyForm
from synthdp.schema.dialect import USUAL, Dialect
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.schema.open_schema import OpenSchema

MAX_CHILDREN = 1000
"""Most rows of one parent: each is drawn after the one before it, and nobody's visits in a table
are more.
"""


def refuse_package(problem: str, table: str | None = None) -> NoReturn:
    """Raise `SchemaError` about a package, or one of its tables."""
    raise SchemaError(
        f"package: {problem}" if table is None else f"package: table {table!r}: {problem}"
    )


def in_package(value: object, table: str | None, path: str = "") -> JsonValue:
    """A value of a package, or of the resource of one of its tables, and where it stands there."""
    return JsonValue(value, "package" if table is None else f"package: table {table!r}", path)


@final
@dataclass(frozen=True, kw_only=True)
class Limit:
    """How many rows of one parent may have some levels of a column: "at most one head a household"."""

    column: str
    """A column of the table."""
    levels: Any
    """Conditions as in rules: a list of levels, or a range."""
    at_least: int = 0
    at_most: int | None = None
    """How many rows; of a parent with fewer rows than ``at_least`` all of them have the levels."""

    @classmethod
    def from_dict(cls, content: JsonValue) -> Self:
        """The limit that a JSON object says; raises `SchemaError` if it is none."""
        content.check_keys(("where", "at_least", "at_most", "description"))
        where = content["where"].mapping(words := 'a condition on one column, {"role": ["head"]}')
        if len(where) != 1:
            content["where"].expect(words)
        least = content["at_least"]
        most = content["at_most"]
        if not least.is_given and not most.is_given:
            content.refuse('says neither at_least nor at_most; write for instance "at_most": 1')
        at_least = least.default(0).whole(0)
        at_most = most.whole(0) if most.is_given else None
        if at_most is not None and at_least > at_most:
            content.refuse(f"has at_least {at_least}, above at_most {at_most}; correct one of them")
        ((column, levels),) = where.items()
        return cls(column=str(column), levels=levels, at_least=at_least, at_most=at_most)


@final
@dataclass(frozen=True, kw_only=True)
class LinkedTable:
    """What is public of one table of a package."""

    name: str
    """Name of the resource."""
    path: str
    """File of the resource, relative to the package; empty if it has none."""
    fields: Mapping[str, str]
    """All columns of the table in order, with their types."""
    schema: Schema | None
    """Its columns without keys; None if it has no others. Of open columns what they would be at
    most, until they are learnt.
    """
    declared: "OpenSchema | None" = None
    """The same as they are declared."""
    ignored: tuple[str, ...] = ()
    """Columns that are neither read nor written."""
    key: tuple[str, ...] = ()
    """The columns by which other tables refer to its rows, or that are to be unique."""
    has_tables_below: bool = False
    """Whether other tables hang on it."""
    parent: str | None = None
    parent_key: tuple[str, ...] = ()
    """The table that it hangs on, and its columns that name a row of that, in the order of the
    parent's key; None and none of the root.
    """
    max_children: int = 1
    """Most rows of one parent that are used."""
    min_children: int = 0
    """Least rows that each parent has."""
    has_orphans: bool = False
    """Whether a row that refers to no row of the root hangs on a placeholder, of which nothing but
    that key is known.
    """
    order: str | None = None
    """The column by which rows of one parent are ordered; None if they stay in the order of the
    file.
    """
    limits: Sequence[Limit] = ()
    """How many rows of one parent may have some levels."""
    key_forms: Mapping[str, KeyForm] = field(default_factory=dict)
    """How fresh keys are written, by the columns of ``key`` that have some: other ones are those of
    the parent's key, or are drawn.
    """
    missing_values: tuple[str, ...] = ("",)
    """Texts that mean that a key is missing."""
    dialect: Dialect = USUAL
    """How its file is written."""

    @property
    def is_open(self) -> bool:
        """Whether anything of its columns is to be learnt."""
        return self.declared is not None and self.declared.is_open

    @property
    def keys(self) -> tuple[str, ...]:
        """All columns that are keys: they link tables, and of no others than `drawn_keys` anything
        else is read.
        """
        return tuple(dict.fromkeys([*self.key, *self.parent_key]))

    @property
    def drawn_keys(self) -> tuple[str, ...]:
        """The columns of its key that are columns of its own, too, such as the region of a
        composite key: measured and drawn as any others.
        """
        return () if self.schema is None else tuple(n for n in self.key if n in self.schema.types)

    @property
    def row_key(self) -> tuple[str, ...]:
        """The columns by which its rows are told apart; none where neither a root nor rows below
        need it.

        Whose a row is says its parent. So where nothing hangs on it its own key is not looked at: a
        key that somebody else has as well can then neither replace a row nor refuse a run.
        """
        return self.key if self.parent is None or self.has_tables_below else ()

    @property
    def may_be_shared(self) -> bool:
        """Whether one of its rows can hang on several roots, and so be protected as several, since
        its key does not hold that of its parent.
        """
        is_below = self.parent is not None and self.has_tables_below
        return is_below and not set(self.parent_key) <= set(self.key)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Its attributes in a view, parts of dates included."""
        if self.schema is None:
            return ()
        return tuple(f"{self.name}.{name}" for name in self.schema.names)

    def siblings(
        self, rows: NDArray[np.intp], positions: NDArray[np.integer[Any]]
    ) -> NDArray[np.intp]:
        """Places of the rows beside some that are not the first: the row before if rows are
        ordered, else the first.

        ``rows`` are row numbers, those of one parent together; ``positions`` say how many rows of
        that parent come before each.
        """
        siblings: NDArray[np.intp] = rows - (1 if self.order is not None else positions)
        return siblings

    def ranks(self, frame: pd.DataFrame) -> NDArray[Any]:
        """By what rows of one parent are ordered: a number or code each, all the same if there is
        no order.
        """
        if self.schema is None or self.order is None:
            return np.zeros(len(frame))
        column = self.schema[self.order]
        values = frame[self.order]
        return column.encode(values) if column.axis is None else column.axis.read_numbers(values)

    @property
    def count(self) -> str:
        """The attribute of its parent that says how many rows of it there are."""
        return f"number of {self.name}"
