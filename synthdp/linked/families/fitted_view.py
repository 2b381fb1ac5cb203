"""Drawing the rows of a view: completed one by one, and then moved until they are together what was
released.

Completing draws each row by chance, as if it were the only one, and of many overlapping tables uses
those that make a tree. So rows that are completed are off by chance, and lack what other tables
say. Moved together, with their ancestors and siblings as they are, they match all tables that were
measured.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import combinations
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError
from synthdp.core.measurement import FloatArray, LinearMeasurement
from synthdp.inference.arrays import CodeColumn, cell_counts
from synthdp.inference.complete_where import complete_where
from synthdp.inference.model import Model
from synthdp.inference.rows.record_moves import RecordMoves
from synthdp.inference.rows.wanted_tables import WantedTables, few_pairs
from synthdp.inference.shrinkage import raked
from synthdp.linked.families.chain_places import ChainPlaces
from synthdp.linked.families.child_numbers import SeenNumbers
from synthdp.linked.families.expected_rows import expected_rows
from synthdp.linked.package.qualified import OTHER
from synthdp.linked.package.view import LinkedView
from synthdp.release.drawing.following import with_densities_by
from synthdp.release.synthesis import Synthesis
from synthdp.schema.schema import Schema

Given = Mapping[str, CodeColumn]
LevelMasks = Mapping[str, NDArray[np.bool_]]
Group = tuple[NDArray[np.intp], LevelMasks]
"""Places of rows, and for attributes which levels these may have."""

MAX_CELLS = 2**20
"""Larger marginals are not matched."""

_FEWEST_MOVED = 1000
"""Fewer rows are drawn and moved in several copies, of which one is kept: moved by themselves they
would all take the levels that are likeliest.
"""

_MOST_MOVED = 1 << 18
"""More rows are drawn in blocks of so many, which bounds the memory that they take."""

_TOLERANCE, _MAX_ROUNDS = 1e-6, 20
_HARDLY = 1e-9
"""Expected rows that are none."""
_GROUP = "group of rows"
"""The attribute that says which levels a row may have."""


@final
class FittedView:
    """A view, and the model that draws its rows.

    Parameters
    ----------
    view
        The view.
    part
        Its release.
    others
        The other views of its table, and their releases.
    """

    def __init__(
        self,
        view: LinkedView,
        part: Synthesis,
        others: Sequence[tuple[LinkedView, Synthesis]] = (),
    ) -> None:
        self.view, self._part, self._others = view, part, others

    @property
    def model(self) -> Model:
        """What was fitted."""
        return self._part.model

    @property
    def measurements(self) -> Sequence[LinearMeasurement]:
        """What it was fitted to."""
        return self._part.measurements

    @cached_property
    def schema(self) -> Schema | None:
        """The view's, with the densities that bins say; None of keys alone."""
        schema = self.view.schema
        return None if schema is None else with_densities_by(schema, self._weights)

    def _weights(self, name: str) -> FloatArray:
        """What each level of an attribute weighs where it is drawn; shape ``(size,)``."""
        assert self.view.schema is not None
        axis = self.view.schema[name].axis
        if name in self.view.drawn and axis is not None and axis.has_gaps:
            return self.families_with(name)
        return self.model.marginal((name,)).values

    def families_with(self, name: str) -> FloatArray:
        """Expected families by the level of an own attribute, in all views of the table together;
        shape ``(size,)``.

        A shape is learnt of first and later rows together, of families that weigh nearly alike.
        Held against the bins of later rows alone, dates would seem to lie beyond those that it has.
        """
        views = [(self.view, self._part), *self._others]
        every = [part.model.marginal((name,)).values / view.grid for view, part in views]
        return np.asarray(np.sum(every, axis=0))

    def nearest_numbers(self, name: str, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Numbers of children that are given, each as the nearest one that the model has: it has
        none that noise does not show.
        """
        seen = self._seen_numbers.get(name)
        if seen is None:
            return numbers
        places = np.searchsorted(seen, numbers).clip(1, max(len(seen) - 1, 1))
        low = seen[places - 1]
        high = seen[np.minimum(places, len(seen) - 1)]
        nearest: NDArray[np.intp] = np.where(numbers - low <= high - numbers, low, high)
        return nearest

    @cached_property
    def _seen_numbers(self) -> dict[str, NDArray[np.intp]]:
        seen = {}
        for each in SeenNumbers(self.view, self.measurements).constraints:
            # What the views of the rows below say may leave none of a number that the root's own
            # show.
            (rows,) = self.model.marginals([each.clique])
            has_rows = each.allowed & (rows.values > 0)
            seen[each.clique[0]] = np.flatnonzero(has_rows if has_rows.any() else each.allowed)
        return seen

    def drawn(
        self,
        given: Given,
        groups: Sequence[Group],
        generator: np.random.Generator,
        *,
        places: FloatArray | None = None,
        whole: bool = False,
    ) -> dict[str, CodeColumn]:
        """Codes of the view's own attributes for some rows, no two of one parent.

        Parameters
        ----------
        given
            Codes of the rows' ancestors and siblings, each of shape ``(n_rows,)``.
        groups
            The rows, in groups.
        generator
            Source of (seeded, not private) randomness.
        places
            Of rows in a chain whose ancestors are those of a whole population, where among the
            levels of `position` each is, see `LinkedView.places`: then what was released of each
            place holds, however far the chain has drifted.
        whole
            Whether ancestors are those of a whole population. Of rows that limits have drawn one
            after the other, without an order, what was released of each number of rows holds then:
            those of one step are no sample of all later rows, for many have few beside them.

        Raises
        ------
        ParameterError
            If a row contradicts the rules.
        """
        n_rows = len(next(iter(given.values())))
        drawn: dict[str, CodeColumn] = {
            name: np.empty(n_rows, np.int32) for name in self.view.drawn
        }
        for block in self._blocks(given, n_rows):
            place = np.full(n_rows, -1)
            place[block] = np.arange(len(block))
            inside = [(place[rows][place[rows] >= 0], wanted) for rows, wanted in groups]
            some = self._some(
                {name: codes[block] for name, codes in given.items()},
                inside,
                generator,
                None if places is None else places[block],
                whole=whole and self.view.position is None and bool(self.view.table.limits),
            )
            for name, codes in some.items():
                drawn[name][block] = codes
        return drawn

    def _blocks(self, given: Given, n_rows: int) -> Iterator[NDArray[np.intp]]:
        """Rows that are moved together: those of one position, of which there are not too many."""
        position = self.view.position
        rows = np.arange(n_rows)
        alike = [rows]
        if position is not None and position in given:
            codes = given[position]
            alike = [rows[codes == code] for code in np.unique(codes)]
        for each in alike:
            for start in range(0, len(each), _MOST_MOVED):
                yield each[start : start + _MOST_MOVED]

    def _some(
        self,
        given: Given,
        groups: Sequence[Group],
        generator: np.random.Generator,
        places: FloatArray | None,
        *,
        whole: bool,
    ) -> dict[str, CodeColumn]:
        """As `drawn`, for rows that are held and moved at once, at least one."""
        domain = self.model.domain
        n_rows = len(next(iter(given.values())))
        # Sixty rows, moved towards shares, would all become the likeliest one; in copies each keeps
        # its chance.
        n_copies = -(-_FEWEST_MOVED // n_rows)
        fixed = {
            name: np.tile(given[name], n_copies) for name in domain.attributes if name in given
        }
        records = np.empty((len(domain) + 1, n_rows * n_copies), np.int32)
        for number, (members, wanted) in enumerate(groups):
            which = (members + n_rows * np.arange(n_copies)[:, None]).ravel()
            part = {name: codes[which] for name, codes in fixed.items()}
            seed = int(generator.integers(1 << 62))
            if which.size:
                if wanted:
                    records[:-1, which] = complete_where(self._rough, part, wanted, seed=seed)
                else:
                    records[:-1, which] = self._rough.complete(part, seed=seed)
                # The group is one more column, tied by constraints to the levels that it may have:
                # moving then keeps to quotas.
                records[-1, which] = number
        if self._tables:  # or nothing is known that rows could be moved to
            tiled = None if places is None else np.tile(places, n_copies)
            self._move(records, tuple(fixed), groups, generator, tiled, whole=whole)
        return {name: records[domain.index(name), :n_rows] for name in self.view.drawn}

    def _move(
        self,
        records: NDArray[np.int32],
        fixed: Clique,
        groups: Sequence[Group],
        generator: np.random.Generator,
        places: FloatArray | None,
        *,
        whole: bool,
    ) -> None:
        """Move rows in place until they match what was released, given what is known of them."""
        assert self.view.schema is not None
        model = self.model.domain
        domain = Domain((*model.attributes, _GROUP), (*model.shape, len(groups)))
        allowed = {
            name: np.ones((len(groups), model[name]), np.bool_)
            for _, wanted in groups
            for name in wanted
        }
        for number, (_, wanted) in enumerate(groups):
            for name, levels in wanted.items():
                allowed[name][number] = levels
        limits = [Constraint((_GROUP, name), levels) for name, levels in allowed.items()]
        # The mover takes rows as they come, and rows of one parent stand together here.
        order = generator.permutation(records.shape[1])
        shuffled = records[:, order]
        possible = self._beside(shuffled, groups)
        known = self._known_shares(shuffled, fixed, places, whole=whole)
        measured, unmeasured = (
            self._targets(each, shuffled, fixed, possible, known)
            for each in (self._tables, self._unmeasured)
        )
        tables = WantedTables(
            domain,
            measured,
            unmeasured=unmeasured,
            constraints=[*self.view.schema.constraints, *limits],
            fixed=(*fixed, _GROUP),
        )
        RecordMoves().move(shuffled, tables)
        records[:, order] = shuffled

    def _targets(
        self,
        tables: Mapping[Clique, FloatArray],
        records: NDArray[np.int32],
        fixed: Clique,
        possible: Mapping[str, NDArray[np.bool_]],
        known: Mapping[str, FloatArray] | None,
    ) -> dict[Clique, FloatArray]:
        """Shares of the cells of marginals that rows should have, given what is known of them, and
        expected rows of the whole view; ``possible`` is `_beside`, and ``known`` `_known_shares`.

        What is released of own columns beside known ones says how they are distributed given these;
        so do one-way tables of own columns, which those of several are brought to agree with.
        """
        domain = self.model.domain
        position = self.view.position
        targets: dict[Clique, FloatArray] = {}
        implied: dict[str, list[FloatArray]] = {name: [] for name in self.view.drawn}
        for clique, rows in tables.items():
            shares = rows
            if position in fixed:
                shares = np.take(rows, records[domain.index(position), 0], axis=-1)
            shares = _kept(clique, np.maximum(shares, 0.0), possible)
            if not shares.any():
                continue
            outer = [name for name in clique if name in fixed]
            if outer:
                present = _present(domain, records, outer)
                # What was released of a column beside its ancestors is used as a conditional: the
                # ancestors that were drawn are as they are.
                shares = _given(shares, [clique.index(name) for name in outer], present)
                for axis, name in enumerate(clique):
                    if name in implied:
                        implied[name].append(_one_way(shares, axis))
            targets[clique] = shares / shares.sum()
        means: dict[str, FloatArray] = {
            name: np.mean(ways, axis=0) for name, ways in implied.items() if ways
        }
        means.update(known or {})
        return {
            clique: self._agreeing(clique, shares, means, records, fixed)
            if known is not None or not {*fixed}.intersection(clique)
            else shares
            for clique, shares in targets.items()
        }

    def _known_shares(
        self,
        records: NDArray[np.int32],
        fixed: Clique,
        places: FloatArray | None,
        *,
        whole: bool,
    ) -> Mapping[str, FloatArray] | None:
        """Shares of the levels of own columns that a population has where these rows are; None if
        they are no population of one place, or of some numbers of rows.
        """
        if places is not None and self.view.position in fixed:
            return self._shares_of_place(records, places)
        if whole and self.view.is_later and self.view.table.count in fixed:
            return self._shares_of_numbers(records)
        return None

    def _beside(
        self, records: NDArray[np.int32], groups: Sequence[Group]
    ) -> dict[str, NDArray[np.bool_]]:
        """Of own columns that groups limit, which levels rows may have beside each level of the
        sibling's; shape ``(size, size)``.

        What was released beside the others is then left out: rows that it is asked of, and that may
        not have it, would be moved to any other cells.
        """
        domain = self.model.domain
        possible: dict[str, NDArray[np.bool_]] = {}
        for number, (_, wanted) in enumerate(groups):
            for name, levels in wanted.items():
                if OTHER + name in domain.attributes:
                    size = domain[name]
                    table = possible.setdefault(name, np.zeros((size, size), np.bool_))
                    beside = records[domain.index(OTHER + name), records[-1] == number]
                    table[beside] |= levels
        # What a group does not limit may be anything.
        for name, table in possible.items():
            free = [number for number, (_, wanted) in enumerate(groups) if name not in wanted]
            table[records[domain.index(OTHER + name), np.isin(records[-1], free)]] = True
        return possible

    def _agreeing(
        self,
        clique: Clique,
        shares: FloatArray,
        means: Mapping[str, FloatArray],
        records: NDArray[np.int32],
        fixed: Clique,
    ) -> FloatArray:
        """Shares of the cells of a marginal that agree with those of own columns, and with what is
        known of the rows; as they are where a column has none.
        """
        outer = tuple(axis for axis, name in enumerate(clique) if name in fixed)
        if not set(clique) <= means.keys() | {*fixed}:
            return shares
        ways: dict[tuple[int, ...], FloatArray] = {
            (axis,): means[name] for axis, name in enumerate(clique) if name in means
        }
        if outer:
            ways[outer] = _present(self.model.domain, records, [clique[axis] for axis in outer])
        return raked(shares, ways, tolerance=_TOLERANCE, max_rounds=_MAX_ROUNDS)

    def _shares_of_place(
        self, records: NDArray[np.int32], places: FloatArray
    ) -> Mapping[str, FloatArray]:
        """Shares of the levels of own columns that a population has at the place of these rows."""
        domain = self.model.domain
        position = self.view.position
        assert position is not None
        numbers = records[domain.index(self.view.table.count)]
        return self._places.shares(numbers, int(records[domain.index(position), 0]), places)

    def _shares_of_numbers(self, records: NDArray[np.int32]) -> dict[str, FloatArray]:
        """Shares of the levels of own columns in families of as many rows as these have."""
        count = self.view.table.count
        numbers = records[self.model.domain.index(count)]
        shares = {}
        for name, rows in self._by_number.items():
            present = np.bincount(numbers, minlength=len(rows)) / len(numbers)
            shares[name] = _one_way(_given(rows, [0], present), 1)
        return shares

    @cached_property
    def _by_number(self) -> dict[str, FloatArray]:
        """Expected rows by how many their parent has, and the level of an own column."""
        domain = self.model.domain
        expected: dict[str, FloatArray] = {}
        for name in self.view.drawn:
            clique = (self.view.table.count, name)
            if domain.size({*clique, *self.view.steps}) <= MAX_CELLS:
                with suppress(ModelTooLargeError):
                    (rows,) = expected_rows(self.view, self.model, [clique])
                    expected[name] = np.maximum(rows, 0.0)
        return expected

    @cached_property
    def _places(self) -> ChainPlaces:
        """How own columns are distributed at each place, where their tables are not too large."""
        view = self.view
        domain = self.model.domain
        assert view.position is not None
        expected: dict[str, FloatArray] = {}
        for name in view.drawn:
            clique = (view.table.count, name, view.position)
            if domain.size({*clique, *view.steps}) <= MAX_CELLS:
                with suppress(ModelTooLargeError):
                    (expected[name],) = expected_rows(view, self.model, [clique])
        return ChainPlaces(expected, f"{view.name}.{view.table.order}")

    @cached_property
    def _rough(self) -> Model:
        return self.model.rough()

    @cached_property
    def _tables(self) -> dict[Clique, FloatArray]:
        """Expected rows by what was measured of own columns, and by their position if it was
        measured (the last axis).
        """
        domain = self.model.domain
        own = set(self.view.drawn)
        measured = {
            tuple(
                name
                for name in domain.attributes
                if name in measurement.clique and name != self.view.position
            )
            for measurement in self.measurements
            # What compares a row with its sibling follows from both.
            if not self.view.comparing & {*measurement.clique}
        }
        measured |= {
            domain.canonical((OTHER + repeated, repeated))
            for name, repeated in self.view.repeats.items()
            if name in domain.attributes
        }
        return self._expected(
            clique for clique in maximal_cliques(sorted(measured)) if own.intersection(clique)
        )

    @cached_property
    def _unmeasured(self) -> dict[Clique, FloatArray]:
        """The same of further pairs with an own column, as the model has them, if they are few
        enough: else chance blurs them.
        """
        domain = self.model.domain
        own = {*self.view.drawn}
        no_columns = {self.view.position, *self.view.comparing}
        names = [name for name in domain.attributes if name not in no_columns]
        pairs = [
            pair
            for pair in combinations(names, 2)
            if own.intersection(pair) and not any({*pair} <= {*clique} for clique in self._tables)
        ]
        return self._expected(few_pairs(domain, pairs))

    def _expected(self, cliques: Iterable[Clique]) -> dict[Clique, FloatArray]:
        """Expected rows of marginals that are not too large, by position if that is modelled (the
        last axis).
        """
        position = self.view.position
        last = (position,) if position in self.model.domain.attributes else ()
        tables: dict[Clique, FloatArray] = {}
        for clique in cliques:
            if self.model.domain.size(clique) <= MAX_CELLS:
                with suppress(ModelTooLargeError):  # of a tree whose cliques this joins
                    tables[clique] = self._rows_of(clique, last)
        return tables

    def _rows_of(self, clique: Clique, last: Clique) -> FloatArray:
        """Expected rows of a marginal, by attributes that are its last axes.

        Rows that are moved to nothing lose what they were drawn with. So a table that is too large
        is taken to be the same at all positions, and one that still is in families of any size.
        """
        domain = self.model.domain
        if domain.size({*clique, *self.view.steps, *last}) <= MAX_CELLS:
            (rows,) = expected_rows(self.view, self.model, [(*clique, *last)])
            return rows
        if domain.size({*clique, *self.view.steps}) <= MAX_CELLS:
            (rows,) = expected_rows(self.view, self.model, [clique])
        else:
            rows = self.model.marginal(clique).values
        shape = domain.project(last).shape
        return np.broadcast_to(rows.reshape(*rows.shape, *(1 for _ in shape)), rows.shape + shape)


def fitted_views(parts: Mapping[str, tuple[LinkedView, Synthesis]]) -> dict[str, FittedView]:
    """Views and their releases, by what they are called, each with the others of its table."""
    return {
        label: FittedView(
            view,
            part,
            [each for other, each in parts.items() if other != label and each[0].name == view.name],
        )
        for label, (view, part) in parts.items()
    }


def _given(shares: FloatArray, axes: Sequence[int], present: FloatArray) -> FloatArray:
    """Shares with another marginal on some axes, whose order is that of the axes; even where they
    have none.
    """
    inner = tuple(axis for axis in range(shares.ndim) if axis not in axes)
    sums = shares.sum(axis=inner, keepdims=True)
    even = np.full_like(shares, sums.size / shares.size)
    return np.asarray(
        np.divide(shares, sums, out=even, where=sums > 0) * present.reshape(sums.shape)
    )


def _kept(
    clique: Clique, shares: FloatArray, possible: Mapping[str, NDArray[np.bool_]]
) -> FloatArray:
    """The cells of a marginal that rows may be in, as `FittedView._beside` has them; others as 0."""
    for name, levels in possible.items():
        if {name, OTHER + name} <= {*clique}:
            axes = [clique.index(OTHER + name), clique.index(name)]
            table = levels if axes[0] < axes[1] else levels.T
            others = tuple(axis for axis in range(shares.ndim) if axis not in axes)
            # Where nothing possible was released all that is possible is alike.
            shares = (shares + _HARDLY) * np.expand_dims(table, others)
    return shares


def _present(domain: Domain, records: NDArray[np.int32], names: Sequence[str]) -> FloatArray:
    """Shares of rows in the cells of some attributes."""
    counts = cell_counts(domain, tuple(names), tuple(records[: len(domain)]))
    return np.asarray(counts / records.shape[1])


def _one_way(shares: FloatArray, axis: int) -> FloatArray:
    return np.asarray(
        shares.sum(axis=tuple(other for other in range(shares.ndim) if other != axis))
    )
