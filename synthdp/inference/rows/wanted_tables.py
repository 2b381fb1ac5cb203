"""Marginals that records are moved towards, laid out for the loop that moves them."""

from collections.abc import Collection, Mapping, Sequence, Sized
from itertools import combinations
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array, IntArray
from synthdp.inference.possible_cells import possible_cells
from synthdp.inference.rows.move_kernel import Floats, Layout, Ties, price
from synthdp.inference.rows.record_blocks import Block, blocks_of, likely_blocks
from synthdp.inference.summation import marginal_inside

_STRENGTHS = ((0.5, 30.0), (0.25, 3.0))
"""Pairs whose mutual information is above this share of the smaller entropy weigh so much more.

At 10 columns that determine each other contradict twice as often as in the model (raw Adult, epsilon
10), at 30 1.2 times; the mean distance to all tables grows by 4 %. Without the second line rank
correlations of Titanic's three strongest pairs are .021 and .050 off the model's (epsilon 1 and 10),
with it .008 and .011.
"""

_CORRELATIONS = ((0.5, 10.0), (0.25, 3.0))
"""Pairs whose rank correlation is above this weigh so much more, too: between columns of many levels
it hangs on cells that hold less than a record each.

At epsilon 1 rank correlations of the three strongest pairs are .007 off the model's on Titanic in
place of .019, and .004 in place of .017 on 26,000 hours of weather; marginals are 1 to 5 % further.
Weights of 30 and 10 bring a thousandth more, for 4 % of the distance.
"""

_DETERMINED = 0.75
"""Pairs whose mutual information is above this share of the smaller entropy also move together, to
what goes with each other most often.

Alone, each is held back by the other. At epsilon 100 raw Adult's education and education_num, in
some hundred tables each, contradicted each other 1.4 times as often as in the model, and do 1.05
times now; more weight in place of it made that worse.
"""

_UNMEASURED_WEIGHT = 0.03
"""Weight of marginals that were not measured: enough that chance does not blur them, too little to
push aside what was measured.

Of made-up tables at epsilon 1 half of the pairs (`wide`) and most (`groups`) were not measured:
two-way error falls by 6 and 19 %, three-way error by 2 and 4 %. With a weight of 1 what was measured
is twice as far off.
"""


@final
class WantedTables:
    """What the marginals of some records should be, and which values records may have.

    A cell weighs one over the square root of its expected count: what is off by its own chance is
    worth mending alike in large and in small cells. Pairs of attributes of which one says much of
    the other stand as marginals of their own, heavier: where marginals contradict each other by
    their noise, records keep what hangs together.

    Parameters
    ----------
    domain
        The attributes of the records.
    targets
        For cliques in the order of the domain the wanted shares, each table summing to 1.
    unmeasured
        The same of further cliques, which a model only estimates: they weigh little.
    constraints
        What is possible; no record is moved to where it is not.
    fixed
        Attributes that keep their values.
    """

    def __init__(
        self,
        domain: Domain,
        targets: Mapping[Clique, Array],
        *,
        unmeasured: Mapping[Clique, Array] = MappingProxyType({}),
        constraints: Sequence[Constraint] = (),
        fixed: Collection[str] = (),
    ) -> None:
        # Twice listed, an attribute pair would count twice: those that are measured themselves are
        # heavy in place of light.
        strong = strong_pairs(targets)
        weighted = [
            *((1.0, *item) for item in targets.items() if item[0] and item[0] not in strong),
            *((_UNMEASURED_WEIGHT, *item) for item in unmeasured.items()),
            *((weight, pair, table) for pair, (weight, table) in strong.items()),
        ]
        possible = possible_cells(domain, constraints)
        cliques = [*(clique for _, clique, _ in weighted), *possible]
        # A tie with a fixed attribute cannot move as a whole.
        determined = {
            pair: table
            for pair, (_, table) in strong.items()
            if _strength(table) > _DETERMINED
            and not any({*pair} <= {*clique} for clique in possible)
        }
        blocks = [*blocks_of(possible), *likely_blocks(determined)]
        tied = [block for block in blocks if not {*fixed}.intersection(block.names)]
        self.layout = layout_of(domain, cliques)
        self.ties = ties_of(domain, tied, cliques)
        self.movable = np.array(
            [
                size > 1 and name not in fixed and any(name in clique for clique in targets)
                for name, size in zip(domain.attributes, domain.shape, strict=True)
            ]
        )
        """Which attributes may change on their own."""
        self._shares = _joined([_laid_out(table) for _, _, table in weighted])
        self._scales = np.array([weight for weight, _, _ in weighted])
        # Constraints are marginals whose forbidden cells cost infinitely much: the loop needs no
        # case for them.
        limits = [np.where(_laid_out(allowed), 0.0, np.inf) for allowed in possible.values()]
        self._limits = _joined(limits)
        self.n_cells = self._shares.size + self._limits.size

    def __bool__(self) -> bool:
        """Whether any marginal is wanted."""
        return self._shares.size > 0

    def priced(
        self, counts: NDArray[np.int32], n_rows: int, *, n_parts: int = 1
    ) -> tuple[Floats, Floats]:
        """What one record more costs in each cell, and the weight of each cell, 0 in constraints.

        It costs half the change of the weighted squared distance; infinitely much where none may be.

        Parameters
        ----------
        counts
            Of so many records, shape ``(n_cells,)``.
        n_rows
            Number of records.
        n_parts
            Parts of the records that each mend their part of what is off.
        """
        # Of single precision: costs are of noisy counts, and seven digits are more than they have.
        costs, weights = np.empty((2, self.n_cells), dtype=np.float32)
        price(
            counts, self._shares, self._scales, self.layout.starts, n_rows, n_parts, costs, weights
        )
        costs[self._shares.size :] = self._limits
        weights[self._shares.size :] = 0.0
        return costs, weights


def strong_pairs(targets: Mapping[Clique, Array]) -> dict[Clique, tuple[float, Array]]:
    """The pairs inside of some clique of which one attribute says much of the other: how much more
    they weigh, and their tables.
    """
    pairs: dict[Clique, tuple[float, Array]] = {}
    for clique, table in targets.items():
        for pair in combinations(clique, 2):
            if pair in pairs:
                continue
            shares = marginal_inside(table, clique, pair)
            strength, correlation = _strength(shares), abs(_rank_correlation(shares))
            weights = [weight for least, weight in _STRENGTHS if strength > least]
            weights += [weight for least, weight in _CORRELATIONS if correlation > least]
            if weights:
                pairs[pair] = (max(weights), shares)
    return pairs


def _strength(shares: Array) -> float:
    """Mutual information of a pair, as a share of the smaller entropy."""
    ways = [_entropy(shares.sum(axis=1)), _entropy(shares.sum(axis=0))]
    if min(ways) <= 0.0:
        return 0.0
    # The sum of both entropies less the joint one is what each says of the other.
    return (sum(ways) - _entropy(shares)) / min(ways)


def _rank_correlation(shares: Array) -> float:
    """Spearman's, of the codes."""
    ranks = []
    for axis in (0, 1):
        way = shares.sum(axis=1 - axis)
        rank = np.cumsum(way) - way / 2.0
        rank -= rank @ way
        variance = way @ rank**2
        # What does not vary goes with nothing.
        ranks.append(rank / np.sqrt(variance) if variance > 0.0 else np.zeros(way.size))
    return float(ranks[0] @ shares @ ranks[1])


def _entropy(shares: Array) -> float:
    some = shares[shares > 0]
    return -float(np.dot(some, np.log(some)))


def _laid_out(table: NDArray[Any]) -> NDArray[Any]:
    """A flat table whose longest axis is the last one, as `_strides` has it."""
    # The longest axis is the one whose values the loop tries side by side most often.
    return np.moveaxis(table, int(np.argmax(table.shape)), -1).ravel()


def _strides(domain: Domain, clique: Clique) -> list[int]:
    """By how many cells of `_laid_out` one level more of each attribute moves a record."""
    shape = [domain[name] for name in clique]
    longest = int(np.argmax(shape))
    order = [longest, *(place for place in reversed(range(len(shape))) if place != longest)]
    strides, stride = [0] * len(shape), 1
    for place in order:
        strides[place] = stride
        stride *= shape[place]
    return strides


def layout_of(domain: Domain, cliques: Sequence[Clique]) -> Layout:
    """Where the marginals lie, one clique after the other."""
    strides = [_strides(domain, clique) for clique in cliques]
    holders: list[list[tuple[int, int]]] = [[] for _ in domain.attributes]
    for t, clique in enumerate(cliques):
        for name, stride in zip(clique, strides[t], strict=True):
            holders[domain.index(name)].append((t, stride))
    sizes = [*map(domain.size, cliques)]
    # Cells of 32 bits make the loop quicker where they can number all.
    cell = np.int32 if sum(sizes) <= np.iinfo(np.int32).max else np.int64
    return Layout(
        starts=np.cumsum([0, *sizes], dtype=np.int64)[:-1].astype(cell),
        first_member=_ends(cliques),
        members=_flat([[domain.index(name) for name in clique] for clique in cliques]),
        member_strides=_flat(strides).astype(cell),
        first_holder=_ends(holders),
        holders=_flat([[t for t, _ in held] for held in holders]),
        holder_strides=_flat([[stride for _, stride in held] for held in holders]),
        sizes=np.array(domain.shape, dtype=np.int64),
    )


def ties_of(domain: Domain, blocks: Sequence[Block], cliques: Sequence[Clique]) -> Ties:
    """The blocks, and how each of their combinations lies in the marginals that it changes."""
    holders = [
        [t for t, clique in enumerate(cliques) if not {*clique}.isdisjoint(block.names)]
        for block in blocks
    ]
    offsets: list[list[int]] = []
    for block, changed in zip(blocks, holders, strict=True):
        for t in changed:
            moved = np.zeros(len(block.values), dtype=np.int64)
            for name, stride in zip(cliques[t], _strides(domain, cliques[t]), strict=True):
                if name in block.names:
                    moved += stride * block.values[:, block.names.index(name)]
            offsets.append(moved.tolist())
    values = [block.values.ravel().tolist() for block in blocks]
    return Ties(
        first_name=_ends([block.names for block in blocks]),
        names=_flat([[domain.index(name) for name in block.names] for block in blocks]),
        first_value=_ends(values),
        values=_flat(values),
        n_values=np.array([len(block.values) for block in blocks], dtype=np.int64),
        first_holder=_ends(holders),
        holders=_flat(holders),
        first_offset=_ends(offsets),
        offsets=_flat(offsets),
    )


def _ends(lists: Sequence[Sized]) -> IntArray:
    """Where each of some lists starts if they lie end to end, and where the last one ends."""
    return np.cumsum([0, *map(len, lists)], dtype=np.int64)


def _flat(lists: Sequence[Sequence[int]]) -> IntArray:
    """The lists end to end."""
    return np.array([each for part in lists for each in part], dtype=np.int64)


def _joined(tables: Sequence[Array]) -> Array:
    """The tables end to end; there may be none."""
    return np.concatenate([np.empty(0), *tables])
