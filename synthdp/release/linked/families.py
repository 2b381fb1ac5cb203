"""Drawing families: roots first, then the rows below them, turn by turn, each given what is above and beside it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.inference.arrays import Codes
from synthdp.inference.complete_where import complete_where
from synthdp.inference.model import Model
from synthdp.release.drawing.draw import drawn_table
from synthdp.release.linked.quotas import Quotas, Wanted
from synthdp.table.columns.binned import BinnedColumn
from synthdp.table.package.view import OTHER, View
from synthdp.table.records.codec import decode, encode
from synthdp.table.schema.schema import Schema

Ints = NDArray[np.intp]
Numbers = Mapping[str, NDArray[np.float64]]


@final
@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows of one table, those of one parent together.

    Parameters
    ----------
    frame
        Values of the table's own columns.
    codes
        Of all attributes above and own, each of shape ``(n_rows,)``.
    numbers
        Values, as numbers, of the attributes that checks are on.
    parents, turns
        For each row the place of its parent, and how many rows of that come before it.
    """

    frame: pd.DataFrame
    codes: Mapping[str, Codes]
    numbers: Numbers
    parents: Ints
    turns: Ints

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.parents)


def checked_names(schemas: Collection[Schema]) -> set[str]:
    """The attributes of views whose values are compared by some check, wherever they stand."""
    checks = [schema.checks for schema in schemas if schema.checks is not None]
    return {name.removeprefix(OTHER) for check in checks for name in check.columns}


def drawn_roots(
    view: View,
    model: Model,
    n_roots: int | None,
    *,
    seed: np.random.SeedSequence,
    text: bool,
    given: pd.DataFrame | None,
    checked: Collection[str],
) -> DrawnRows:
    """Rows of the root; ``given`` are some of its columns, by the names of the view."""
    schema = view.schema
    assert schema is not None
    frame, _ = drawn_table(model, schema, n_roots, seed=seed, text=text, where=None, given=given)
    codes = dict(zip(schema.names, encode(frame, schema).columns, strict=True))
    own = _own_columns(view, frame)
    places = np.arange(len(frame))
    return DrawnRows(own, codes, _numbers(view, own, checked), places, np.zeros_like(places))


def drawn_children(
    view: View,
    model: Model | None,
    parents: DrawnRows,
    *,
    seed: np.random.SeedSequence,
    text: bool,
    checked: Collection[str],
) -> DrawnRows:
    """Rows of a table below rows that were drawn; no model if the table has nothing but keys."""
    counts = parents.codes[view.table.count].astype(np.intp)
    place = np.repeat(np.arange(parents.n_rows), counts)
    turns = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    above = {name: parents.codes[name][place] for name in view.above}
    numbers = {name: values[place] for name, values in parents.numbers.items()}
    if model is None or not len(place):
        frame = pd.DataFrame(index=pd.RangeIndex(len(place))) if model is None else _empty(view, text=text)
        codes = above | {name: np.empty(0, np.uint8) for name in (view.own if model is not None else ())}
        return DrawnRows(frame, codes, numbers, place, turns)
    drawing = _Drawing(view, model, above, numbers, text=text, checked=checked)
    quotas = Quotas(view.table, counts)
    for turn in range(int(counts.max())):
        rows = np.flatnonzero(turns == turn)
        drawing.draw(rows, turn, quotas.groups(place[rows], turn), seed.spawn(1)[0])
        quotas.add(place[rows], drawing.codes, rows)
    frame = drawing.frame(seed.spawn(1)[0])
    return DrawnRows(frame, above | drawing.codes, drawing.numbers, place, turns)


@final
class _Drawing:
    """The rows of one table on the way to their values."""

    def __init__(
        self,
        view: View,
        model: Model,
        above: Mapping[str, Codes],
        numbers: Numbers,
        *,
        text: bool,
        checked: Collection[str],
    ) -> None:
        assert view.schema is not None
        self._view, self._model, self._above, self._text, self._checked = view, model, above, text, checked
        self._schema: Schema = view.schema
        n_rows = len(next(iter(above.values())))
        self.codes = {name: np.zeros(n_rows, self._schema[name].dtype) for name in view.own}
        self.numbers = dict(numbers) | {
            name: np.full(n_rows, np.nan) for name in view.table.attributes if name in checked
        }
        self._pieces: list[pd.DataFrame] = []

    def draw(self, rows: Ints, turn: int, groups: list[tuple[Ints, Wanted]], seed: np.random.SeedSequence) -> None:
        """Draw some rows, all of one turn; ``groups`` say which of them may have which levels."""
        sampling, decoding = (int(word) for word in seed.generate_state(2))
        view = self._view
        known = {name: codes[rows] for name, codes in self._above.items()}
        other = rows - (1 if view.table.order is not None else turn)
        for name, source in view.beside.items():
            missing = np.full(len(rows), self._schema[name].missing_code)
            known[name] = self.codes[source][other] if turn else missing
        for number, (which, wanted) in enumerate(groups):
            part = {name: codes[which] for name, codes in known.items()}
            if wanted:
                drawn = complete_where(self._model, part, wanted, seed=sampling + number)
            else:
                drawn = self._model.complete(part, seed=sampling + number)
            for name, codes in zip(self._schema.names, drawn, strict=True):
                if name in self.codes:
                    self.codes[name][rows[which]] = codes
        if self._schema.checks is not None:
            self._settle(rows, other if turn else None, known, np.random.default_rng(decoding))

    def _settle(self, rows: Ints, other: Ints | None, known: Mapping[str, Codes], rng: np.random.Generator) -> None:
        """Values of some rows, such that they keep to checks with what is above and beside them."""
        checks, own = self._schema.checks, {name: codes[rows] for name, codes in self.codes.items()}
        assert checks is not None
        given = {name: self.numbers[name][rows] for name in checks.columns if name in self._above}
        for name, source in self._view.beside.items():
            if name in checks.columns:
                given[name] = np.full(len(rows), np.nan) if other is None else self.numbers[source][other]
        every = [{**known, **own}[name] for name in self._schema.names]
        drawn = decode(every, self._schema, rng, text=self._text, given=given)
        frame = _own_columns(self._view, drawn)
        table = self._view.table
        assert table.schema is not None
        for name, codes in zip(table.attributes, encode(frame, table.schema).columns, strict=True):
            self.codes[name][rows] = codes
        for name, values in _numbers(self._view, frame, self._checked).items():
            self.numbers[name][rows] = values
        self._pieces.append(frame.set_index(rows))

    def frame(self, seed: np.random.SeedSequence) -> pd.DataFrame:
        """Values of all rows."""
        table = self._view.table
        if table.schema is None:
            return pd.DataFrame(index=pd.RangeIndex(len(next(iter(self._above.values())))))
        if self._pieces:
            return pd.concat(self._pieces).sort_index()
        rng = np.random.default_rng(seed)
        found = decode([self.codes[name] for name in table.attributes], table.schema, rng, text=self._text)
        self.numbers |= _numbers(self._view, found, self._checked)
        return found


def _empty(view: View, *, text: bool) -> pd.DataFrame:
    """A table without rows."""
    schema = view.table.schema
    if schema is None:
        return pd.DataFrame(index=pd.RangeIndex(0))
    none = [np.empty(0, column.dtype) for column in schema.columns]
    return decode(none, schema, np.random.default_rng(0), text=text)


def _own_columns(view: View, drawn: pd.DataFrame) -> pd.DataFrame:
    """The table's own columns of rows of its view."""
    columns = () if view.table.schema is None else view.table.schema.table_columns
    return pd.DataFrame({c.name: drawn[f"{view.name}.{c.name}"] for c in columns}, index=drawn.index)


def _numbers(view: View, frame: pd.DataFrame, checked: Collection[str]) -> dict[str, NDArray[np.float64]]:
    """Values, as numbers, of the table's columns that checks are on."""
    columns = () if view.table.schema is None else view.table.schema.table_columns
    named = {f"{view.name}.{column.name}": column for column in columns if isinstance(column, BinnedColumn)}
    return {name: column.read_numbers(frame[column.name]) for name, column in named.items() if name in checked}
