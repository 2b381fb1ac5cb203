"""Drawing the rows of a view: completed one by one, and then moved until they are together what was
released.

Completing draws each row by chance, as if it were the only one, and of many overlapping tables uses
those that make a tree. So rows that are completed are off by chance, and lack what other tables
say. Moved together, with their ancestors and siblings as they are, they match all tables that were
measured.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.measurement import FloatArray, LinearMeasurement
from synthdp.inference.arrays import CodeColumn
from synthdp.inference.complete_where import complete_where
from synthdp.inference.model import Model
from synthdp.inference.rows.record_moves import RecordMoves
from synthdp.inference.rows.wanted_tables import WantedTables
from synthdp.linked.families.child_numbers import SeenNumbers
from synthdp.linked.families.expected_rows import ExpectedRows
from synthdp.linked.families.row_targets import Group, RowTargets, shares_by_number
from synthdp.linked.package.view import LinkedView
from synthdp.release.drawing.following import with_densities_by
from synthdp.release.synthesis import Synthesis
from synthdp.schema.schema import Schema

Given = Mapping[str, CodeColumn]

_FEWEST_MOVED = 1000
"""Fewer rows are drawn and moved in several copies, of which one is kept: moved by themselves they
would all take the levels that are likeliest.
"""

_MOST_MOVED = 1 << 18
"""More rows are drawn in blocks of so many, which bounds the memory that they take."""

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
        if self._expected.measured:  # or nothing is known that rows could be moved to
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
        domain = self.model.domain
        # The mover takes rows as they come, and rows of one parent stand together here.
        order = generator.permutation(records.shape[1])
        shuffled = records[:, order]
        known = self._known_shares(shuffled, fixed, places, whole=whole)
        targets = RowTargets(self.view, domain, shuffled, fixed, groups, known)
        tables = WantedTables(
            Domain((*domain.attributes, _GROUP), (*domain.shape, len(groups))),
            targets.of(self._expected.measured),
            unmeasured=targets.of(self._expected.unmeasured),
            constraints=[*self.view.schema.constraints, *_limits(domain, groups)],
            fixed=(*fixed, _GROUP),
        )
        RecordMoves().move(shuffled, tables)
        records[:, order] = shuffled

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
        domain = self.model.domain
        count, position = self.view.table.count, self.view.position
        if places is not None and position is not None and position in fixed:
            code = int(records[domain.index(position), 0])
            return self._expected.places.shares(records[domain.index(count)], code, places)
        if whole and self.view.is_later and count in fixed:
            return shares_by_number(self._expected.by_number, records[domain.index(count)])
        return None

    @cached_property
    def _rough(self) -> Model:
        return self.model.rough()

    @cached_property
    def _expected(self) -> ExpectedRows:
        return ExpectedRows(self.view, self.model, self.measurements)


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


def _limits(domain: Domain, groups: Sequence[Group]) -> list[Constraint]:
    """Which levels the rows of each group may have."""
    allowed: dict[str, NDArray[np.bool_]] = {}
    for number, (_, wanted) in enumerate(groups):
        for name, levels in wanted.items():
            table = allowed.setdefault(name, np.ones((len(groups), domain[name]), np.bool_))
            table[number] = levels
    return [Constraint((_GROUP, name), table) for name, table in allowed.items()]
