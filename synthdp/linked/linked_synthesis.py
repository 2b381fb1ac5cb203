"""A fitted release of linked tables: what `synthesize` returns of a package and `load` restores."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from os import PathLike
from typing import Any, Self, final

import numpy as np
import pandas as pd

from synthdp.core.errors import ParameterError
from synthdp.core.measurement import FloatArray
from synthdp.core.requests import check_cells, check_seed
from synthdp.core.sealing import sealed
from synthdp.linked import linked_archive
from synthdp.linked.families.expected_rows import expected_rows
from synthdp.linked.families.families import (
    Draw,
    DrawnRows,
    checked_names,
    completed_children,
    drawn_children,
    drawn_roots,
)
from synthdp.linked.families.fitted_view import fitted_views
from synthdp.linked.families.fresh_keys import fresh_keys
from synthdp.linked.families.given_tables import given_roots, given_tables
from synthdp.linked.not_taken import refuse_parameter
from synthdp.linked.package.joined import regrouped
from synthdp.linked.package.linked_table import LinkedTable
from synthdp.linked.package.package import Package
from synthdp.linked.package.view import MAX_GRID, LinkedView, views_of
from synthdp.linked.stated_weights import heaviest_rows
from synthdp.release.certificate.fit_facts import UNKNOWN_ROWS
from synthdp.release.result import FittedPart, Result
from synthdp.release.synthesis import Synthesis
from synthdp.schema.cell_labels import cell_labels
from synthdp.schema.words.headers import listed


@final
class LinkedSynthesis(Result):
    """A fitted release of several tables: a package, a `Synthesis` of each view, one certificate.
    It holds no records.

    All it does is post-processing, and costs no privacy however often.

    Parameters
    ----------
    package
        What is public of the tables.
    parts
        The release of each view by what that is called; counts of rows below the root are in units
        of weight, of which a whole family has as many as
        `synthdp.linked.package.view.LinkedView.grid`.
    certificate
        What the release says about its guarantee, as plain JSON values.
    """

    def __init__(
        self, *, package: Package, parts: Mapping[str, Synthesis], certificate: Mapping[str, Any]
    ) -> None:
        self._package, self._parts, self._certificate = package, dict(parts), dict(certificate)
        self._views = views_of(package)
        heaviest = heaviest_rows(self._certificate)
        self._views |= {
            label: self._views[label].as_released(part.schema, heaviest.get(label, MAX_GRID))
            for label, part in self._parts.items()
        }
        self._fitted = fitted_views(
            {label: (self._views[label], part) for label, part in self._parts.items()}
        )

    @property
    def package(self) -> Package:
        """What is public of the tables."""
        return self._package

    @property
    def parts(self) -> dict[str, Synthesis]:
        """The release of each view, by what that is called."""
        return dict(self._parts)

    @property
    def certificate(self) -> dict[str, Any]:
        """What the release says about its guarantee."""
        return sealed(self._certificate)

    @property
    def tables(self) -> dict[str, tuple[str, ...]]:
        """The columns of each protected table, by its name."""
        return {table.name: tuple(table.fields) for table in self._package.tables}

    @property
    def fitted_parts(self) -> tuple[FittedPart, ...]:
        """The release of each view, and which rows that is of."""
        views = views_of(self._package)
        return tuple(
            FittedPart(
                answers=part,
                drawn=views[label].drawn,
                label=label,
                rows=rows_of(views[label]),
                unit="families",
                weight=views[label].grid,
            )
            for label, part in self._parts.items()
        )

    @property
    def knows_size(self) -> bool:
        """Whether the number of roots stands out of its noise; if not, say how many `sample` is to
        draw.
        """
        return (
            self._package.root.name in self._parts
            and self._parts[self._package.root.name].knows_size
        )

    @property
    def n_measured(self) -> int:
        """How many marginals were measured."""
        return sum(len(part.measurements) for part in self._parts.values())

    @property
    def can_sample(self) -> bool:
        """Whether something was released of all views; if not, the run was stopped before its end."""
        return not self._lacking

    def sample(
        self,
        n_roots: int | None = None,
        *,
        seed: int | None = None,
        text: bool = False,
        where: Mapping[str, object] | None = None,
        given: Any = None,
    ) -> dict[str, pd.DataFrame]:
        """Draw synthetic tables that are linked as the package says.

        Parameters
        ----------
        n_roots
            Rows of the root; by default the (noisy) estimate of the sensitive table's, unless noise
            hides it.
        seed
            Makes the draw repeatable. It has nothing to do with the noise, which has no seed.
        text
            Values as texts in the formats of the schemas, as CSV files hold them.
        where
            Nothing: slices are of one table whose rows stand by themselves.
        given
            Complete these families: rows of the root, by some of its columns, as a data frame, a
            dict of lists or a list of dicts, and by its key if fresh ones will not do; or such rows
            by table, those below the root with the keys of their parents and what orders them.
            Values are used as they are and are not protected; what is lacking, or an empty cell, is
            drawn. Of a table that is given no further rows are drawn.

        Returns
        -------
        dict of pandas.DataFrame
            The protected tables by name, with keys that are fresh. Rows of one parent stand
            together.

        Raises
        ------
        ParameterError
            If ``n_roots`` is missing and the estimate is hidden by noise, or not a number of rows;
            both it and ``given`` are there; rows that are given do not belong together; one
            contradicts the rules; or the run was stopped before its end.
        SchemaError
            If ``given`` does not fit the schema.

        >>> import numpy as np
        >>> from synthdp import synthesize
        >>> number, yes = (
        ...     {"name": "id", "type": "integer"},
        ...     {"type": "boolean", "constraints": {"required": True}},
        ... )
        >>> homes = {"fields": [number, {"name": "rents", **yes}], "primaryKey": "id"}
        >>> link = {"fields": "home", "reference": {"resource": "homes", "fields": "id"}}
        >>> people = {
        ...     "fields": [{"name": "home"}, {"name": "smokes", **yes}],
        ...     "foreignKeys": [link],
        ... }
        >>> package = {
        ...     "resources": [
        ...         {"name": "homes", "schema": homes},
        ...         {"name": "people", "schema": people, "synthdp": {"max_children": 2}},
        ...     ]
        ... }
        >>> ids = np.arange(400)
        >>> tables = {
        ...     "homes": pd.DataFrame({"id": ids, "rents": ids % 2 == 0}),
        ...     "people": pd.DataFrame({"home": ids, "smokes": ids % 2 == 0}),
        ... }
        >>> synthesis = synthesize(tables, package, epsilon=1, delta=1e-6)
        >>> drawn = synthesis.sample(3, seed=0)
        >>> (
        ...     drawn["homes"].columns.tolist(),
        ...     drawn["people"].columns.tolist(),
        ...     drawn["homes"]["id"].tolist(),
        ... )
        (['id', 'rents'], ['home', 'smokes'], [1, 2, 3])
        """
        check_seed(seed)
        refuse_parameter("where", where)
        self._check_whole()
        rows = {} if given is None else given_tables(self._package, given)
        if rows and n_roots is not None:
            raise ParameterError("given: each of its rows is completed once; leave out n_roots")
        if n_roots is not None and (
            not isinstance(n_roots, int) or isinstance(n_roots, bool) or n_roots < 0
        ):
            raise ParameterError(f"n_roots is {n_roots!r}; give a whole number of 0 or more")
        if not rows and n_roots is None and not self.knows_size:
            raise ParameterError(f"n_roots: {UNKNOWN_ROWS}; say how many rows of the root you want")
        checked = checked_names(
            [view.schema for view in self._views.values() if view.schema is not None]
        )
        drawn: dict[str, DrawnRows] = {}
        tables: dict[str, pd.DataFrame] = {}
        keys: dict[str, dict[str, pd.Series]] = {}
        # A seed for each table: another number of rows in one changes no draw in those beside it.
        for table, own_seed in zip(
            self._package.tables,
            np.random.SeedSequence(seed).spawn(len(self._package.tables)),
            strict=True,
        ):
            view = self._views[table.name]
            name = table.name
            draw = Draw(own_seed, text=text, checked=checked)
            if table.parent is None:
                # Roots are drawn with the numbers of their children, and by these the tables
                # below.
                named = given_roots(self._package, rows, self._fitted[name]) if rows else None
                drawn_rows = drawn_roots(view, self._parts[name].model, n_roots, draw, named)
            else:
                fitted = [self._fitted[label] for label in self._of_table(name)]
                if name in rows:
                    children = partial(completed_children, rows)
                else:
                    children = partial(drawn_children, whole=not rows)
                drawn_rows = children(view, fitted, drawn[table.parent], draw)
            above = {} if table.parent is None else keys[table.parent]
            given_keys = rows[name].frame if name in rows else None
            drawn[name] = drawn_rows
            keys[name] = fresh_keys(
                self._package, table, drawn_rows, above, text=text, given=given_keys
            )
            tables[name] = _put_together(
                table, drawn_rows.frame, keys[name], seed=own_seed, text=text
            )
        return tables

    def marginal(self, columns: Sequence[str]) -> pd.Series:
        """Expected numbers of rows with all combinations of levels of some columns, of one table or
        several.

        Parameters
        ----------
        columns
            Names as ``table.column``, or ``number of table``, each once: of one table, of tables
            above it, and of public tables to which these refer. Before the name of a column of the
            lowest table ``other`` stands for another row of the same parent: the row before, or the
            first one.

        Returns
        -------
        pandas.Series
            One float a combination, indexed by the levels' labels: rows of the lowest table that is
            named.

        Raises
        ------
        ParameterError
            If a column is unknown or repeats, or the columns are of tables of which none hangs on
            all others.
        ModelTooLargeError
            If there are too many combinations.
        """
        names = [columns] if isinstance(columns, str) else list(columns)
        if not names or len(set(names)) < len(names):
            raise ParameterError(
                "columns: there is none, or one repeats; name at least one, each once"
            )
        joined = self._package.joined
        asked = list(
            dict.fromkeys(joined[name].source if name in joined else name for name in names)
        )
        views = self._views_with(asked)
        counts = np.sum([self._rows_expected(view, asked) for view in views], axis=0)
        schema = views[0].schema
        assert schema is not None
        wanted = {name: joined[name].column if name in joined else schema[name] for name in names}
        check_cells(
            prod(column.size for column in wanted.values()), f"the marginal of {listed(names)}"
        )
        table = regrouped(counts, asked, wanted, joined)
        return pd.Series(table.ravel(), index=cell_labels(wanted, names), name="count")

    def _rows_expected(self, view: LinkedView, names: Sequence[str]) -> FloatArray:
        """Expected numbers of rows of a view by some columns."""
        if view.label not in self._parts:
            raise ParameterError(
                f"columns: the run was stopped before it came to {view.label!r}; ask for others"
            )
        return expected_rows(view, self._parts[view.label].model, [tuple(names)])[0]

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write everything to one file, from which `synthdp.load` restores it; no pickle.

        Raises
        ------
        DataFileError
            If the file exists and ``force`` is not set, or cannot be written.
        """
        linked_archive.write(
            self._package.content, self._parts, self.certificate, path, force=force
        )

    @classmethod
    def load(cls, path: str | PathLike[str], *, max_bytes: int | None = None) -> Self:
        """Restore what `save` wrote; see `synthdp.linked.doors.loading.load`."""
        package, parts, certificate = linked_archive.read(path, max_bytes=max_bytes)
        return cls(package=package, parts=parts, certificate=certificate)

    def _of_table(self, name: str) -> list[str]:
        """The views of a table that have something to draw."""
        labels = self._views.items()
        return [label for label, view in labels if view.name == name and view.schema is not None]

    def _views_with(self, names: Sequence[str]) -> list[LinkedView]:
        """The views whose rows are counted by some columns: those of the lowest table that has one
        of them.
        """
        seen: set[str] = set()
        for table in self._package.tables:
            views = [self._views[label] for label in self._of_table(table.name)]
            fitting = [
                view
                for view in views
                if view.schema is not None and set(names) <= set(view.schema.names)
            ]
            if fitting and not {*fitting[-1].drawn, *fitting[-1].siblings}.isdisjoint(names):
                return fitting
            seen |= {
                name for view in views if view.schema is not None for name in view.schema.names
            }
        if unknown := [name for name in names if name not in seen]:
            raise ParameterError(
                f"columns: there is no {unknown[0]!r}; there are {', '.join(map(repr, sorted(seen)))}"
            )
        raise ParameterError(
            f"columns: {listed(names)} are of tables of which none hangs on all others; ask for fewer"
        )

    @property
    def _lacking(self) -> list[str]:
        """Views of which nothing was released."""
        return [
            n for n, view in self._views.items() if view.schema is not None and n not in self._parts
        ]

    def _check_whole(self) -> None:
        if lacking := self._lacking:
            raise ParameterError(
                f"sample: the run was stopped before it came to {lacking[0]!r}; see parts and marginal"
            )

    def __repr__(self) -> str:
        return f"<LinkedSynthesis of {len(self._package.tables)} tables: {self._certificate.get('guarantee')}>"


def rows_of(view: LinkedView) -> str:
    """Which rows a view is about, for readers who know the tables only."""
    if view.table.parent is None:
        return f"All rows of {view.name}, each by itself."
    if not view.is_later:
        return f"The first row of {view.name} of each parent, with what it hangs on."
    beside = "the row before" if view.table.order is not None else "another row of its parent"
    return f"All rows of {view.name} but the first of each parent, with what they hang on and {beside} (other)."


def _put_together(
    table: LinkedTable,
    frame: pd.DataFrame,
    keys: Mapping[str, pd.Series],
    *,
    seed: np.random.SeedSequence,
    text: bool,
) -> pd.DataFrame:
    """Keys and columns in the order of the table's fields, generated ones among them."""
    if table.schema is not None and table.schema.generated.columns:
        frame = table.schema.generated.completed(
            frame, seed=int(seed.generate_state(1)[0]), stated={}, text=text
        )
    every = {**{str(name): values for name, values in frame.items()}, **keys}
    return pd.DataFrame({name: every[name] for name in table.fields if name in every})
