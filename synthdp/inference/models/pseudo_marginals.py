"""Pseudo-marginals: tables of overlapping regions that agree where they overlap, and rows that
match them.

They need not be the marginals of any distribution, so answers beyond the regions are estimates.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import combinations
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError, ParameterError
from synthdp.core.factor import Factor
from synthdp.core.requests import check_cliques, check_rows, seeded
from synthdp.inference.arrays import Array, Codes, compact
from synthdp.inference.engine import FitProblem
from synthdp.inference.graphical.markov_random_field import MarkovRandomField
from synthdp.inference.graphical.tree_marginals import TreeMarginals
from synthdp.inference.graphical.tree_sampling import sample_tree
from synthdp.inference.model import FitStatus, LevelWeights, Model, State, check_slice
from synthdp.inference.models.pseudo_slices import drawn_given, field_of, moved_inside, some_of
from synthdp.inference.models.row_network import RowNetwork
from synthdp.inference.possible_cells import possible_cells
from synthdp.inference.regions.region_tables import RegionTables, region_tree
from synthdp.inference.rows.constraint_repair import RowRules
from synthdp.inference.rows.partial_records import complete_possibly, drawn_inside
from synthdp.inference.rows.record_moves import RecordMoves, Records
from synthdp.inference.rows.wanted_tables import WantedTables, few_pairs
from synthdp.inference.saving import constraints_from_state, constraints_to_state, tables_from_state
from synthdp.inference.shrinkage import raked
from synthdp.inference.trees.junction_tree import JunctionTree

Messages = Mapping[tuple[Clique, Clique], Array]

_RAKING_TOLERANCE, _MAX_RAKING = 1e-7, 30
"""Consistent marginals are met to 1e-7 within few rounds; those that no table has never are."""
_POOL_ROWS = (10_000, 200_000)
"""Bounds on the rows that conditional draws look through: the fewest show slices of 1/500; more
take long to move.
"""
_FEWEST_MOVED = 500
"""Fewer rows are some of so many: moved by themselves they would all take the levels that are
likeliest.
"""


@final
class PseudoMarginalModel(Model):
    """Locally consistent tables of regions.

    Inside a region, marginals are sums of its table. Beyond, they are estimated: the region tree's
    distribution (`region_tree`), fitted by iterative proportional fitting to all that regions say
    about the clique. Rows are drawn from a network of what regions say of each attribute
    (`RowNetwork`), and then moved until they match the tables of all regions (`RecordMoves`).

    Parameters
    ----------
    domain
        The attributes and their sizes.
    tables
        For each region, in the order of the domain, its table, summing to 1.
    messages
        Lagrange multipliers of the fit, by (joint, region), for warm starts.
    constraints
        What is possible; the tables respect it already.
    total
        Number of records that marginals add up to.
    status
        How the fit ended.
    """

    kind: ClassVar[str] = "pseudo-marginals"

    def __init__(
        self,
        *,
        domain: Domain,
        tables: Mapping[Clique, Array],
        messages: Messages,
        constraints: Sequence[Constraint],
        total: float,
        status: FitStatus,
    ) -> None:
        super().__init__(domain=domain, total=total, status=status)
        self._regions = RegionTables(domain, dict(tables))
        self._messages = dict(messages)
        self._constraints = tuple(constraints)

    @classmethod
    def fitted(
        cls,
        problem: FitProblem,
        tables: Mapping[Clique, Array],
        messages: Messages,
        *,
        total: float,
        status: FitStatus,
    ) -> Self:
        """The model of a problem that was solved."""
        return cls(
            domain=problem.domain,
            tables=tables,
            messages=messages,
            constraints=problem.constraints,
            total=total,
            status=status,
        )

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The cliques whose marginals are answered without estimating anything."""
        return tuple(self._regions.tables)

    @property
    def messages(self) -> Messages:
        """Lagrange multipliers of the fit, by (joint, region)."""
        return self._messages

    @cached_property
    def _tree(self) -> tuple[JunctionTree, list[Array]]:
        """The tree that the regions make, or else one of some of them."""
        targets = self.targets()
        # Where the regions make a tree themselves, it holds all they say, and rows are exact.
        if len(targets) <= len(self.domain):  # a triangulated graph has no more maximal cliques
            with suppress(ParameterError):
                tree = JunctionTree.from_cliques(self.domain, list(targets))
                return tree, [targets[clique] for clique in tree.cliques]
        return region_tree(self._regions)

    def rough(self) -> Model:
        """The region tree's tables alone: no rows are made that match the others."""
        tree, tables = self._tree
        return type(self)(
            domain=self.domain,
            tables=dict(zip(tree.cliques, tables, strict=True)),
            messages={},
            constraints=self._constraints,
            total=self._total,
            status=self._status,
        )

    def marginal(self, clique: Sequence[str]) -> Factor:
        """Expected counts of one marginal: exact inside a region, an estimate beyond."""
        return self.marginals([clique])[0]

    def marginals(self, cliques: Sequence[Sequence[str]]) -> list[Factor]:
        """Many marginals; those beyond the regions share the work on the region tree."""
        checked = check_cliques(self.domain, cliques)
        beyond = [names for names in checked if self._regions.home(names) is None]
        starts = dict(zip(beyond, self._beyond.marginals(beyond) if beyond else (), strict=True))
        return [self._in_counts(names, self._shares(names, starts.get(names))) for names in checked]

    @cached_property
    def _beyond(self) -> TreeMarginals:
        return TreeMarginals(*self._tree)

    def _shares(self, clique: Clique, start: Array | None) -> Array:
        home = self._regions.home(clique)
        if start is None:
            assert home is not None  # the tree is asked for all others
            return self._regions.marginal(home, clique)
        wanted = {
            tuple(clique.index(name) for name in part): self._regions.marginal(home, part)
            for part, home in self._regions.parts(clique).items()
        }
        # Beyond the regions the tree's estimate is only a start: it is scaled to every region's
        # word on a part of the clique.
        return raked(start, wanted, tolerance=_RAKING_TOLERANCE, max_rounds=_MAX_RAKING)

    def sample(
        self, n_rows: int, *, seed: int | None = None, rounding: bool = True, n_jobs: int = 1
    ) -> Codes:
        """Draw records; see `Model.sample`.

        Without ``rounding``, rows are drawn independently out of a table of 10,000 to 200,000 rows
        that was made with it.
        """
        check_rows(self.domain, n_rows)
        generator = seeded(seed)
        if rounding:
            records = self.records(n_rows, generator=generator, n_jobs=n_jobs)
        else:
            records = self._pool[:, generator.integers(self._pool.shape[1], size=n_rows)]
        return tuple(
            compact(column, size) for column, size in zip(records, self.domain.shape, strict=True)
        )

    @cached_property
    def _pool(self) -> Records:
        # A pool as large as the table, within bounds: made once, and looked through by all
        # conditional draws.
        n_rows = int(np.clip(self._total, *_POOL_ROWS))
        return self.records(n_rows, generator=np.random.default_rng(0))

    def complete(
        self, given: Mapping[str, NDArray[np.integer]], *, seed: int | None = None
    ) -> Codes:
        """Complete partial records: exactly if the regions make a tree, else nearly
        (`pseudo_slices`).
        """
        generator = seeded(seed)
        return complete_possibly(
            lambda part: drawn_given(
                self._field, None if self._is_tree else self._pool, part, generator
            ),
            given,
            rules=self._rules,
            generator=generator,
        )

    def sample_where(
        self, wanted: Mapping[str, LevelWeights], n_rows: int, *, seed: int | None = None
    ) -> Codes:
        """Draw records of a slice: exactly if the regions make a tree, else nearly
        (`pseudo_slices`).
        """
        check_rows(self.domain, n_rows)
        checked = check_slice(self.domain, wanted)
        generator = seeded(seed)
        if not self._is_tree:
            draw = partial(self.records, generator=generator)
            moved = moved_inside(
                draw, self._pool, checked, n_rows, domain=self.domain, generator=generator
            )
            # Too rare for the pool: the tree's distribution answers, exactly for itself, and
            # without what other regions say.
            if moved is not None:
                return tuple(
                    compact(column, size)
                    for column, size in zip(moved, self.domain.shape, strict=True)
                )

        def inside(count: int) -> Codes:
            return self._field.sample_where(checked, count, seed=int(generator.integers(1 << 62)))

        return drawn_inside(inside, checked, n_rows, rules=self._rules, generator=generator)

    @property
    def _rules(self) -> RowRules:
        return RowRules(domain=self.domain, constraints=self._constraints, one_way=self._one_way)

    def _one_way(self, name: str) -> Array:
        return self._shares((name,), None)

    @cached_property
    def _field(self) -> MarkovRandomField:
        return field_of(*self._tree, possible_cells(self.domain, self._constraints))

    @cached_property
    def _is_tree(self) -> bool:
        """Whether the region tree says all that the regions say."""
        return all(self._tree[0].position_of(region) is not None for region in self.targets())

    def records(self, n_rows: int, *, generator: np.random.Generator, n_jobs: int = 1) -> Records:
        """Codes that match the regions' tables, shape ``(n_attributes, n_rows)``."""
        if self._is_tree:
            return self.tree_records(n_rows, generator=generator)
        # Sixty rows, moved towards expected counts below one, would all be the likeliest row.
        if n_rows < _FEWEST_MOVED:
            records = self._moved(_FEWEST_MOVED, RecordMoves(n_sweeps=1), generator)
            return some_of(records, n_rows, generator)
        return self._moved(n_rows, RecordMoves(), generator, n_jobs=n_jobs)

    def _moved(
        self,
        n_rows: int,
        moves: RecordMoves,
        generator: np.random.Generator,
        *,
        n_jobs: int = 1,
    ) -> Records:
        records = self.rough_records(n_rows, generator=generator, n_jobs=n_jobs)
        moves.move(records, self.wanted, n_jobs=n_jobs)
        return records

    @cached_property
    def wanted(self) -> WantedTables:
        """What the marginals of drawn rows should be."""
        return WantedTables(
            self.domain,
            self.targets(),
            unmeasured=self._unmeasured_pairs(),
            narrow=self._regions.tables,
            constraints=self._constraints,
        )

    def _unmeasured_pairs(self) -> dict[Clique, Array]:
        """Tables of the pairs that are in no region, each summing to 1, if they are few enough."""
        unknown = [
            pair
            for pair in combinations(self.domain.attributes, 2)
            if self._regions.home(pair) is None
        ]
        pairs = few_pairs(self.domain, unknown)
        with suppress(ModelTooLargeError):  # a table on the way there is: chance blurs the pairs
            factors = self.marginals(pairs)
            return {
                pair: factor.values / factor.values.sum()
                for pair, factor in zip(pairs, factors, strict=True)
            }
        return {}

    def rough_records(
        self, n_rows: int, *, generator: np.random.Generator, n_jobs: int = 1
    ) -> Records:
        """Codes that nearly match the regions' tables, all of them possible, shape
        ``(n_attributes, n_rows)``.
        """
        drawn = self._network.draw(n_rows, generator=generator, n_jobs=n_jobs)
        if not self._constraints:
            return drawn
        return self.possible_records(tuple(drawn), generator=generator)

    @cached_property
    def _network(self) -> RowNetwork:
        regions = RegionTables(self.domain, self.targets())
        return RowNetwork(regions, generator=np.random.default_rng(0))

    def tree_records(self, n_rows: int, *, generator: np.random.Generator) -> Records:
        """Codes drawn from the region tree, all of them possible, shape ``(n_attributes, n_rows)``."""
        return self.possible_records(self._drawn(n_rows, generator), generator=generator)

    def possible_records(self, columns: Codes, *, generator: np.random.Generator) -> Records:
        """The rows given, but for impossible ones, which are replaced; shape ``(n_attributes,
        n_rows)``.
        """
        fixed = self._rules.repaired(
            columns,
            redraw=lambda rows: self._drawn(rows.size, generator),
            generator=generator,
        )
        return np.array(fixed, dtype=np.int32)

    def _drawn(self, n_rows: int, generator: np.random.Generator) -> Codes:
        return sample_tree(*self._tree, n_rows, generator=generator, rounding=True)

    def is_constrained(self, name: str) -> bool:
        """Whether constraints hold an attribute."""
        return any(name in constraint.clique for constraint in self._constraints)

    def targets(self) -> dict[Clique, Array]:
        """The tables of the regions that no other region contains."""
        return self._targets

    @cached_property
    def _targets(self) -> dict[Clique, Array]:
        return {region: self._regions.tables[region] for region in maximal_cliques(self.cliques)}

    def to_state(self) -> tuple[State, dict[str, Array]]:
        """Regions, joints, constraints, total and status; tables, messages and constraints as
        arrays.
        """
        constrained, arrays = constraints_to_state(self._constraints)
        state: State = {
            "regions": [list(region) for region in self.cliques],
            "messages": [[list(joint), list(region)] for joint, region in self._messages],
            "constraints": constrained,
            **self._fit_to_state(),
        }
        arrays |= {f"region-{i}": table for i, table in enumerate(self._regions.tables.values())}
        arrays |= {f"message-{i}": message for i, message in enumerate(self._messages.values())}
        return state, arrays

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain
    ) -> Self:
        """Rebuild a saved model."""
        regions = cast("list[list[str]]", state["regions"])
        messages = cast("list[list[list[str]]]", state["messages"])
        return cls(
            domain=domain,
            tables=tables_from_state(
                domain, [tuple(region) for region in regions], arrays, "region"
            ),
            messages={
                (tuple(j), tuple(r)): arrays[f"message-{i}"] for i, (j, r) in enumerate(messages)
            },
            constraints=constraints_from_state(state, arrays, domain),
            **cls._fit_from_state(state),
        )
