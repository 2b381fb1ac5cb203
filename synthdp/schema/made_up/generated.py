"""All columns of a table that are generated: where they stand, which key they make unique, and
their values.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.imports import import_named
from synthdp.schema.words.headers import listed
from synthdp.schema.words.texts import refuse

if TYPE_CHECKING:
    from synthdp.schema.made_up.generated_column import GeneratedColumn

GIVEN_CELLS = "synthdp.schema.made_up.empty_cells:given_cells"
"""Values that somebody gave, with empty cells filled; loaded where there are some."""


@final
@dataclass(frozen=True)
class Generated:
    """The generated columns of a schema; a schema without any has an empty one."""

    columns: "tuple[GeneratedColumn, ...]" = ()
    """The columns."""
    order: tuple[str, ...] = ()
    """Names of the columns of the table in order, those that the model draws included; not all
    need to be there, and others do no harm.
    """
    key: tuple[str, ...] = ()
    """The primary key: names of columns whose values together are unique in every sample."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the generated columns."""
        return tuple(column.name for column in self.columns)

    def header(self, modelled: Iterable[str]) -> tuple[str, ...]:
        """The names in the header of the output, given those that the model draws."""
        rest = tuple(modelled)
        names = {*rest, *self.names}
        return tuple(
            dict.fromkeys([*(name for name in self.order if name in names), *rest, *self.names])
        )

    def check(self, modelled: Sequence[str], *, ignored: Sequence[str] = ()) -> None:
        """Raise `SchemaError` unless names differ, numbers run within columns that are there, and
        the key is unique.
        """
        for name in self.names:
            again = {*modelled, *ignored}
            if name in again or self.names.count(name) > 1:
                refuse(
                    name, "it is generated, but stands there twice; give every column its own name"
                )
        for column in self.columns:
            for other in column.within:
                if other not in modelled:
                    if other in self.names:
                        what = "which is generated itself"
                    else:
                        what = "which is no column of the output"
                    refuse(
                        column.name,
                        f"synthdp.per names {other!r}, {what}; name columns that have a domain",
                    )
        for name in self.key:
            if name not in modelled and name not in self.names:
                what = "is ignored" if name in ignored else "is no column of the output"
                way_out = f'make {name!r} one of kind "id", or leave it out of the key'
                raise SchemaError(f"schema: primaryKey names {name!r}, which {what}; {way_out}")
        if self.key and not any(self._makes_unique(column) for column in self.columns):
            way_out = 'make one of kind "id", or remove primaryKey'
            problem = f"primaryKey {listed(self.key)}: values that are drawn cannot be promised to be unique"
            raise SchemaError(f"schema: {problem}; {way_out}")

    def _makes_unique(self, column: "GeneratedColumn") -> bool:
        return (
            column.name in self.key
            and (column.is_unique or bool(column.within))
            and set(column.within) <= set(self.key)
        )

    def numbered_by_key(self, modelled: Sequence[str]) -> Self:
        """These columns, with the only id of a composite key numbered within the others, unless it
        says otherwise.
        """
        own = [column for column in self.columns if column.name in self.key]
        others = tuple(name for name in self.key if name in modelled)
        if len(own) != 1 or own[0].within:
            return self
        numbered = own[0].numbered_within(others)
        return replace(
            self, columns=tuple(numbered if each is own[0] else each for each in self.columns)
        )

    def reordered(self, header: Iterable[str]) -> Self:
        """These columns in the order of a table's header.

        Those that the table has not stand behind the column that they stood behind before.
        """
        order = [name for name in header if name in self.order]
        before: str | None = None
        for name in self.order:
            if name in self.names and name not in order:
                order.insert(order.index(before) + 1 if before in order else 0, name)
            before = name
        return replace(self, order=tuple(order)) if self.columns else self

    def continued(self, n_rows: int) -> Self:
        """These columns in a table that goes on after some rows: ids that are numbers begin where
        they had come to.
        """
        return replace(self, columns=tuple(each.continued(n_rows) for each in self.columns))

    def check_available(self) -> None:
        """Raise `MissingExtraError` or `SchemaError` if some values could not be generated on this
        machine.
        """
        for column in self.columns:
            column.check_available()

    def added_to(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """A schema as JSON values, with the fields of these columns in their places, and the key."""
        places = {
            name: i
            for i, name in enumerate(self.header(field["name"] for field in schema["fields"]))
        }
        fields = [*schema["fields"], *(column.field() for column in self.columns)]
        key = {"primaryKey": list(self.key)} if self.key else {}
        return (
            dict(schema) | {"fields": sorted(fields, key=lambda field: places[field["name"]])} | key
        )

    def completed(
        self, table: pd.DataFrame, *, seed: int, stated: Mapping[str, pd.Series], text: bool = False
    ) -> pd.DataFrame:
        """A drawn table with the values of these columns.

        Parameters
        ----------
        table
            What the model has drawn.
        seed
            Makes all chance in the values repeatable.
        stated
            Values of some of these columns that somebody gave, as many as there are rows: they are
            used as they are, and empty cells are filled, those of ids with none that was given.
        text
            Texts, in place of integers and of what was given.

        Raises
        ------
        ParameterError
            If given values make two rows alike in the key.
        MissingExtraError, SchemaError
            As `check_available` does.
        """
        columns = {str(name): values for name, values in table.items()}
        for number, column in self._numbered():
            given = stated.get(column.name)
            values = column.values(table, seed + number)
            if given is None:
                columns[column.name] = _drawn(values, text=text)
            else:
                made = _drawn(column.beside(given, values, table), text=text)
                columns[column.name] = import_named(GIVEN_CELLS)(given, made, text=text)
        whole = pd.DataFrame(
            {name: columns[name] for name in self.header(table.columns)}, copy=False
        )
        if not set(stated).isdisjoint(self.key) and whole.duplicated(list(self.key)).any():
            raise ParameterError(
                f"given: its values make two rows alike in primaryKey {listed(self.key)}; correct them"
            )
        return whole

    def _numbered(self) -> "Iterator[tuple[int, GeneratedColumn]]":
        """Each column, and how many like it come before: the second name and the second mail are of
        another person.
        """
        kinds = [column.field()["synthdp"] for column in self.columns]
        return ((kinds[:i].count(kinds[i]), column) for i, column in enumerate(self.columns))


NOTHING_GENERATED = Generated()
"""Of a schema all of whose columns are drawn."""


def _drawn(values: list[str] | NDArray[np.int64], *, text: bool) -> pd.Series:
    """Values with a dtype that depends on the column and not on how many there are."""
    if isinstance(values, np.ndarray):
        return (
            pd.Series(list(map(str, values.tolist())), dtype=object) if text else pd.Series(values)
        )
    return pd.Series(values, dtype=object if text else pd.Series([""]).dtype)
