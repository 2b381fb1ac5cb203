"""Drawing families: roots first, then the rows below them by their position among the rows of one
parent, each given its ancestors and siblings.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.data.codes.decoding import decode
from synthdp.data.records.codec import encode
from synthdp.inference.arrays import CodeColumn
from synthdp.inference.model import Model
from synthdp.linked.families.fitted_view import FittedView
from synthdp.linked.families.given_tables import GivenTable
from synthdp.linked.families.quotas import Quotas
from synthdp.linked.families.row_targets import Group
from synthdp.linked.families.within_bins import order_within_bins
from synthdp.linked.package.qualified import OTHER
from synthdp.linked.package.view import LinkedView
from synthdp.release.drawing.completing import completed_table, decoded_rows
from synthdp.release.drawing.draw import drawn_table
from synthdp.release.drawing.following import with_densities_by
from synthdp.release.drawing.given_rows import GivenRows, with_given
from synthdp.schema.schema import Schema

Ints = NDArray[np.intp]
Numbers = Mapping[str, NDArray[np.float64]]
_NONE = np.empty(0, np.intp)


@final
@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows of one table, those of one parent together."""

    frame: pd.DataFrame
    """Values of the table's own columns."""
    codes: Mapping[str, CodeColumn]
    """Of attributes of ancestors and of its own, each of shape ``(n_rows,)``."""
    numbers: Numbers
    """Values, as numbers, of the attributes that checks are on."""
    parents: Ints
    positions: Ints
    """For each row which row its parent is, and how many rows of that come before it."""

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.parents)


class Draw(NamedTuple):
    """How rows of one table are drawn."""

    seed: np.random.SeedSequence
    text: bool
    """Whether values are texts in the formats of the schema."""
    checked: Collection[str]
    """The attributes whose values checks compare, as `checked_names` has them."""


def checked_names(schemas: Collection[Schema]) -> set[str]:
    """The attributes of views whose values are compared by some check, wherever they stand."""
    checks = [schema.checks for schema in schemas if schema.checks is not None]
    return {name.removeprefix(OTHER) for check in checks for name in check.columns}


def drawn_roots(
    view: LinkedView,
    model: Model,
    n_roots: int | None,
    draw: Draw,
    given: pd.DataFrame | None = None,
) -> DrawnRows:
    """Rows of the root; ``given`` are some of its columns, by the names of the view."""
    schema = view.schema
    assert schema is not None
    if given is None:
        frame = drawn_table(model, schema, n_roots, seed=draw.seed, text=draw.text)
    else:
        frame, _ = completed_table(model, schema, given, seed=draw.seed, text=draw.text)
    codes = dict(zip(schema.names, encode(frame, schema).columns, strict=True))
    own = _written(view, _modelled_columns(view, frame), text=draw.text)
    places = np.arange(len(frame))
    return DrawnRows(own, codes, _numbers(view, own, draw.checked), places, np.zeros_like(places))


def drawn_children(
    view: LinkedView,
    fitted: Sequence[FittedView],
    parents: DrawnRows,
    draw: Draw,
    *,
    whole: bool = True,
) -> DrawnRows:
    """Rows of a table below rows that were drawn.

    ``fitted`` are the views of its first rows and of later ones, which stay undrawn without theirs;
    there is none if the table has nothing but keys. ``whole`` is whether the rows above are those
    of a whole population, and not of families that somebody chose.
    """
    counts = parents.codes[view.table.count].astype(np.intp)
    # How many rows there are was drawn with the parents: numbers of children are columns of these.
    parent_rows = np.repeat(np.arange(parents.n_rows), counts)
    positions = np.arange(len(parent_rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    ancestors = {name: parents.codes[name][parent_rows] for name in view.ancestors}
    numbers = {name: values[parent_rows] for name, values in parents.numbers.items()}
    settles = any(
        each.view.schema is not None and each.view.schema.checks is not None for each in fitted
    )
    drawing = _Drawing(view, ancestors, numbers, len(parent_rows), settles=settles, draw=draw)
    quotas = Quotas(view.table, counts)
    of_parent = counts[parent_rows]
    n_steps = int(counts.max(initial=0))
    steps = (
        # Rows of no order depend on the first row only, so all later ones are drawn at once. In a
        # chain, or under limits, each waits for the one before.
        positions if view.table.order is not None or view.table.limits else np.minimum(positions, 1)
    )
    for step in range(n_steps if len(fitted) > 1 else min(n_steps, len(fitted))):
        rows = np.flatnonzero(steps == step)
        if len(rows):
            drawing.draw(
                fitted[min(step, 1)],
                rows,
                positions[rows],
                of_parent[rows],
                quotas.groups(parent_rows[rows], step),
                draw.seed.spawn(1)[0],
                whole=whole,
            )
            # What these rows have used up narrows what the next ones may have.
            quotas.add(parent_rows[rows], drawing.codes, rows)
    frame = drawing.frame(view, fitted, draw.seed.spawn(1)[0])
    rng = np.random.default_rng(draw.seed.spawn(1)[0])
    frame = order_within_bins(
        frame, fitted, drawing.codes, parent_rows, positions, rng, text=draw.text
    )
    # Only now: a distance from the column of order goes along with that.
    frame = _written(view, frame, text=draw.text)
    values = drawing.numbers | _numbers(view, frame, draw.checked)
    return DrawnRows(frame, ancestors | drawing.codes, values, parent_rows, positions)


@final
class _Drawing:
    """The rows of one table on the way to their values."""

    def __init__(
        self,
        view: LinkedView,
        ancestors: Mapping[str, CodeColumn],
        numbers: Numbers,
        n_rows: int,
        *,
        settles: bool,
        draw: Draw,
    ) -> None:
        self._table = view.table
        self._ancestors = ancestors
        self._text = draw.text
        self._checked = draw.checked
        schema = view.schema
        if schema is None:
            self.codes = {}
        else:
            self.codes = {name: np.zeros(n_rows, schema[name].dtype) for name in view.drawn}
        self.numbers = dict(numbers) | {
            name: np.full(n_rows, np.nan) for name in view.drawn if name in draw.checked
        }
        self._pieces: list[pd.DataFrame] = []
        self._n_rows = n_rows
        self._settles = settles

    def draw(
        self,
        fitted: FittedView,
        rows: Ints,
        positions: Ints,
        counts: Ints,
        groups: Sequence[Group],
        seed: np.random.SeedSequence,
        *,
        whole: bool,
    ) -> None:
        """Draw some rows, none a sibling of another; ``counts`` say how many their parents have,
        ``groups`` which of them may have which levels.
        """
        # Two generators: whether values are settled now or later changes no code.
        sampling, decoding = (np.random.default_rng(int(word)) for word in seed.generate_state(2))
        view = fitted.view
        given = {name: codes[rows] for name, codes in self._ancestors.items()}
        given |= view.sibling_codes(self.codes, rows, positions, counts)
        try:
            places = view.places(positions, counts) if whole else None
            drawn = fitted.drawn(given, groups, sampling, places=places, whole=whole)
        except ParameterError as error:
            problem = "the rules leave no value for some rows, given the rows that they hang on"
            raise ParameterError(
                f"table {view.name!r}: {problem} ({error}); relax a rule, or rule out such rows above"
            ) from None
        for name, codes in drawn.items():
            self.codes[name][rows] = codes
        if self._settles:
            self._settle(fitted, rows, self._table.siblings(rows, positions), given, decoding)

    def _settle(
        self,
        fitted: FittedView,
        rows: Ints,
        other: Ints,
        conditions: Mapping[str, CodeColumn],
        rng: np.random.Generator,
    ) -> None:
        """Values of some rows, such that they keep to checks with their ancestors and siblings."""
        view = fitted.view
        schema = fitted.schema
        known = {**conditions, **{name: codes[rows] for name, codes in self.codes.items()}}
        # What compares rows with siblings is no column of theirs.
        known |= dict.fromkeys(view.comparing, np.zeros(len(rows), np.intp))
        assert schema is not None
        checked = () if schema.checks is None else schema.checks.columns
        given = {name: self.numbers[name][rows] for name in checked if name in self._ancestors}
        given |= {
            name: self.numbers[source][other]
            for name, source in view.siblings.items()
            if name in checked
        }
        drawn = decode(
            [known[name] for name in schema.names],
            schema,
            rng,
            text=self._text,
            given=given,
        )
        frame = _modelled_columns(view, drawn)
        if self._table.schema is not None:
            # A check may have moved a value into another bin; what hangs on the row must see the
            # value's own code.
            coded = encode(_written(view, frame, text=self._text), self._table.schema)
            for name, codes in zip(self._table.attributes, coded.columns, strict=True):
                self.codes[name][rows] = codes
        for name, values in _numbers(view, frame, self._checked).items():
            self.numbers[name][rows] = values
        self._pieces.append(frame.set_index(rows))

    def frame(
        self, view: LinkedView, fitted: Sequence[FittedView], seed: np.random.SeedSequence
    ) -> pd.DataFrame:
        """Values of all rows, of relative columns distances: as they were settled, or now."""
        schema = self._table.schema
        if schema is None:
            return pd.DataFrame(index=pd.RangeIndex(self._n_rows))
        if self._pieces:
            return pd.concat(self._pieces).sort_index()
        attributes = dict(zip(schema.names, self._table.attributes, strict=True))
        codes = [self.codes[name] for name in attributes.values()]

        def weights(name: str) -> NDArray[np.float64]:
            axis = schema[name].axis
            if axis is not None and axis.has_gaps:
                return fitted[0].families_with(attributes[name])
            drawn = np.bincount(self.codes[attributes[name]], minlength=schema[name].size)
            return drawn.astype(np.float64)

        dense = with_densities_by(schema, weights)
        plain = replace(dense, relatives=None)
        decoded = decode(codes, plain, np.random.default_rng(seed), text=self._text)
        self.numbers |= _numbers(view, decoded, self._checked)
        return decoded


def _modelled_columns(view: LinkedView, drawn: pd.DataFrame) -> pd.DataFrame:
    """The table's own columns of rows of its view, of relative ones distances."""
    columns = () if view.table.schema is None else view.table.schema.table_columns
    return pd.DataFrame(
        {column.name: drawn[f"{view.name}.{column.name}"] for column in columns},
        index=drawn.index,
    )


def _written(view: LinkedView, frame: pd.DataFrame, *, text: bool) -> pd.DataFrame:
    """Rows with values in place of the distances of relative columns."""
    schema = view.table.schema
    if schema is None or schema.relatives is None:
        return frame
    return schema.relatives.written(frame, schema.table_columns, {}, text=text)


def _numbers(
    view: LinkedView, frame: pd.DataFrame, checked: Collection[str]
) -> dict[str, NDArray[np.float64]]:
    """Values, as numbers, of the table's columns that checks are on."""
    columns = () if view.table.schema is None else view.table.schema.table_columns
    named = {
        f"{view.name}.{column.name}": (column.axis, frame[column.name])
        for column in columns
        if column.axis is not None
    }
    return {
        name: axis.read_numbers(values) for name, (axis, values) in named.items() if name in checked
    }


def completed_children(
    given: Mapping[str, GivenTable],
    view: LinkedView,
    fitted: Sequence[FittedView],
    parents: DrawnRows,
    draw: Draw,
) -> DrawnRows:
    """Rows of a table that are given: drawn is what they lack, their numbers of children too.

    ``given`` are rows by their table, all else as in `drawn_children`.
    """
    rows = given[view.name]
    partial = rows.partial()
    n_rows = len(rows.frame)
    counts: dict[str, CodeColumn] = {
        child.count: given[child.name].counted(n_rows)
        for child in view.package.children(view.name)
        if child.name in given
    }
    codes: dict[str, CodeColumn] = {
        name: parents.codes[name][rows.parents] for name in view.ancestors
    }
    if view.schema is not None:
        codes |= {name: np.zeros(n_rows, view.schema[name].dtype) for name in view.drawn}
    if partial is not None:
        codes |= {f"{view.name}.{name}": own for name, own in partial.codes().items()}
    codes |= counts
    alike = _alike(partial, view, n_rows)
    # One row of each parent after the other: what a row lacks depends on the rows before it.
    for position in range(int(rows.positions.max(initial=-1)) + 1):
        for known, members in alike:
            which = members[rows.positions[members] == position]
            unknown = [name for name in view.drawn if name not in known | counts.keys()]
            if len(which) and unknown:
                (seed,) = draw.seed.spawn(1)
                of_position = fitted[min(position, 1)]
                drawn = _rest_drawn(of_position, which, position, codes, unknown, seed)
                for name in unknown:
                    codes[name][which] = drawn[name]
    frame = pd.DataFrame(index=pd.RangeIndex(n_rows))
    if partial is not None:
        own_codes = tuple(codes[name] for name in view.table.attributes)
        rng = np.random.default_rng(draw.seed.spawn(1)[0])
        frame = with_given(
            decoded_rows(own_codes, partial, rng, text=draw.text), partial, text=draw.text
        )
        # A check may have moved a value into another bin; what hangs on the row must see its code.
        codes |= dict(
            zip(view.table.attributes, encode(frame, partial.schema).columns, strict=True)
        )
    numbers = {each: values[rows.parents] for each, values in parents.numbers.items()}
    return DrawnRows(
        frame, codes, numbers | _numbers(view, frame, draw.checked), rows.parents, rows.positions
    )


def _alike(partial: GivenRows | None, view: LinkedView, n_rows: int) -> list[tuple[set[str], Ints]]:
    """Given rows in groups of which the same is known: these attributes, and the rows."""
    if partial is None:
        return [(set(), np.arange(n_rows))]
    source = {column.name: column.source for column in partial.schema.columns}
    return [
        ({f"{view.name}.{name}" for name in source if source[name] in names}, rows)
        for names, rows in partial.alike(partial.modelled)
    ]


def _rest_drawn(
    fitted: FittedView,
    rows: Ints,
    position: int,
    codes: Mapping[str, CodeColumn],
    unknown: Collection[str],
    seed: np.random.SeedSequence,
) -> dict[str, CodeColumn]:
    """What given rows of one position lack, given all else that is known of them."""
    view = fitted.view
    positions = np.full(len(rows), position)
    given = {name: column[rows] for name, column in codes.items() if name not in unknown}
    given |= {
        name: fitted.nearest_numbers(name, np.asarray(given[name], np.intp))
        for name in view.counts
        if name in given
    }
    counts = np.asarray(codes[view.table.count], np.intp)[rows]
    given |= view.sibling_codes(codes, rows, positions, counts)
    try:
        return fitted.drawn(given, [(np.arange(len(rows)), {})], np.random.default_rng(seed))
    except ParameterError as error:
        problem = str(error).removeprefix("given: ")
        raise ParameterError(
            f"given: rows of {view.name!r} contradict the rules: {problem}"
        ) from None
