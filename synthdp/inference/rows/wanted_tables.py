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
from synthdp.inference.rows.move_kernel import DOUBTED, Floats, Layout, Ties, Trends, price, tally
from synthdp.inference.rows.record_blocks import Block, blocks_of, likely_blocks
from synthdp.inference.summation import marginal_inside

_STRENGTHS = ((0.5, 30.0), (0.25, 3.0))
"""Pairs whose mutual information is above this share of the smaller entropy weigh so much more.

At 10 columns that determine each other contradict twice as often as in the model (raw Adult,
epsilon 10), at 30 1.2 times; the mean distance to all tables grows by 4 %. Without the second line
rank correlations of Titanic's three strongest pairs are .021 and .050 off the model's (epsilon 1
and 10), with it .008 and .011.
"""

_CORRELATIONS = ((0.5, 3.0), (0.25, 1.0))
"""Pairs whose rank correlation is above this are also pulled towards it as a whole, so strongly:
between columns of many levels it hangs on cells that hold less than a record each.

Of the three strongest pairs the worst was off by .023 to .034 in three of four releases of Titanic
and 8,600 hours of bicycles, and is by .003 to .014; weights of 10 for the strongest bring no more,
and marginals of diamonds, not chosen on, are 10 % further in place of 7.
"""

_DETERMINED = 0.75
"""Pairs whose mutual information is above this share of the smaller entropy also move together, to
what goes with each other most often.

Alone, each is held back by the other. At epsilon 100 raw Adult's education and education_num, in
some hundred tables each, contradicted each other 1.4 times as often as in the model, and do 1.05
times now; more weight in place of it made that worse.
"""

_INNER_WEIGHT = 0.1
"""Weight of pairs inside of wider marginals, which say the same wherever cells hold many records.

Of 2,500 records in a table of 3,600 cells pairs are .028 off without them, .018 with this weight
and .007 with a weight of 1. That let columns which determine each other contradict 1.5 times as
often as in the model (discretised Adult, epsilon 10), where 1.3 times is had without them and 1.35
with this.
"""

_UNMEASURED_WEIGHT = 0.03
"""Weight of marginals that were not measured: enough that chance does not blur them, too little to
push aside what was measured.

Of made-up tables at epsilon 1 half of the pairs (`wide`) and most (`groups`) were not measured:
two-way error falls by 6 and 19 %, three-way error by 2 and 4 %. With a weight of 1 what was
measured is twice as far off.
"""


_MAX_PAIRS, _MAX_PAIR_CELLS = 256, 1 << 20
"""Rows are moved towards what a model says of pairs that were not measured, too, unless there are
more: each takes time for each row.
"""


@final
class WantedTables:
    """What the marginals of some records should be, and which values records may have.

    A cell weighs one over the square root of its expected count: what is off by its own chance is
    worth mending alike in large and in small cells. Pairs of attributes of which one says much of
    the other stand as marginals of their own, heavier: where marginals contradict each other by
    their noise, records keep what hangs together. So do rank correlations, each as a whole.

    Single attributes and pairs inside of a clique are wanted too: where its cells expect less than
    a record each, 0 is the nearest whole number of most, and levels with the emptiest cells lose
    records. Of 2,500 in two tables of 4,800 cells, a level of 10 % came out at 6 %.

    Parameters
    ----------
    domain
        The attributes of the records.
    targets
        For cliques in the order of the domain the wanted shares, each table summing to 1.
    unmeasured
        The same of further cliques, which a model only estimates: they weigh little.
    narrow
        The same of cliques inside of those; pairs that hang together are read off the smallest
        clique.
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
        narrow: Mapping[Clique, Array] = MappingProxyType({}),
        constraints: Sequence[Constraint] = (),
        fixed: Collection[str] = (),
    ) -> None:
        # Twice listed, an attribute pair would count twice: those that are measured themselves are
        # heavy in place of light.
        tables = {**targets, **narrow}
        singles, pairs = (_parts_inside(domain, tables, n_names) for n_names in (1, 2))
        strong = strong_pairs(pairs)
        listed = {*targets, *unmeasured, *strong}

        def weighing(
            weight: float, some: Mapping[Clique, Array], without: Collection[Clique]
        ) -> list[tuple[float, Clique, Array]]:
            return [
                (weight, clique, table) for clique, table in some.items() if clique not in without
            ]

        weighted = [
            *weighing(1.0, targets, {(), *strong}),
            *weighing(1.0, singles, listed),
            *weighing(_INNER_WEIGHT, pairs, listed),
            *weighing(_UNMEASURED_WEIGHT, unmeasured, ()),
            *((weight, pair, table) for pair, (weight, table) in strong.items()),
        ]
        possible = possible_cells(domain, constraints)
        cliques = [*(clique for _, clique, _ in weighted), *possible]
        ruled = [{*clique} for clique in possible]
        determined = {
            pair: table
            for pair, (_, table) in strong.items()
            # Rules say exactly what goes with each other, and make blocks of their own.
            if _strength(table) > _DETERMINED and not any({*pair} <= names for names in ruled)
        }
        blocks = [*blocks_of(possible), *likely_blocks(determined)]
        # A tie with a fixed attribute cannot move as a whole.
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
        self._trends = trends_of(domain, pairs)
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

        It costs half the change of the weighted squared distance; infinitely much where none may
        be.

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

    def gaps(self, rows: NDArray[np.int32]) -> Array:
        """By how much the rank correlations of some records are off, as sums over the records;
        shape ``(n_pairs,)``.

        ``rows`` are codes, shape ``(n_rows, n_attributes)``.
        """
        gaps = -len(rows) * self._trends.correlations
        tally(rows, self._trends._replace(gaps=gaps))
        return gaps

    def trends(self, gaps: Array, n_rows: int, *, n_parts: int = 1) -> Trends:
        """The rank correlations that are wanted of so many records, which are off by so much.

        Parameters
        ----------
        gaps
            As `gaps` gives them.
        n_rows, n_parts
            As in `priced`.
        """
        # Weighed as cells are: chance makes of a sum of so many products the root of their number.
        squares = (gaps / DOUBTED) ** 2 + n_rows
        weights = (self._trends.weights / np.sqrt(squares)).astype(np.float32)
        return self._trends._replace(weights=weights, gaps=gaps / n_parts)


def few_pairs(domain: Domain, pairs: Sequence[Clique]) -> Sequence[Clique]:
    """Pairs that were not measured, if they are few enough to move rows towards them, else none."""
    is_few = len(pairs) <= _MAX_PAIRS and sum(map(domain.size, pairs)) <= _MAX_PAIR_CELLS
    return pairs if is_few else ()


def strong_pairs(pairs: Mapping[Clique, Array]) -> dict[Clique, tuple[float, Array]]:
    """The pairs of which one attribute says much of the other: how much more they weigh, and their
    tables.
    """
    weights = {pair: _of(_STRENGTHS, _strength(table)) for pair, table in pairs.items()}
    return {pair: (weight, pairs[pair]) for pair, weight in weights.items() if weight}


def _of(weights: Sequence[tuple[float, float]], value: float) -> float:
    """The first weight whose limit a value is above; 0 if there is none."""
    return next((weight for least, weight in weights if value > least), 0.0)


def _parts_inside(
    domain: Domain, targets: Mapping[Clique, Array], n_names: int
) -> dict[Clique, Array]:
    """The tables of all so many attributes inside of some clique, from that with the fewest cells."""
    parts: dict[Clique, Array] = {}
    for clique in sorted(targets, key=domain.size):
        for part in combinations(clique, n_names):
            if part not in parts:
                parts[part] = marginal_inside(targets[clique], clique, part)
    return parts


def _strength(shares: Array) -> float:
    """Mutual information of a pair, as a share of the smaller entropy."""
    ways = [_entropy(shares.sum(axis=1)), _entropy(shares.sum(axis=0))]
    if min(ways) <= 0.0:
        return 0.0
    # The sum of both entropies less the joint one is what each says of the other.
    return (sum(ways) - _entropy(shares)) / min(ways)


def _rank_correlation(shares: Array) -> float:
    """Spearman's, of the codes."""
    one, other = map(_ranks, _ways(shares))
    return float(one @ shares @ other)


def _ways(shares: Array) -> tuple[Array, Array]:
    """Both one-way marginals of a pair."""
    return shares.sum(axis=1), shares.sum(axis=0)


def _ranks(way: Array) -> Array:
    """Ranks of the levels of an attribute, of mean 0 and variance 1."""
    ranks = np.cumsum(way) - way / 2.0
    ranks -= ranks @ way
    variance = way @ ranks**2
    # What does not vary goes with nothing.
    return ranks / np.sqrt(variance) if variance > 0.0 else np.zeros(way.size)


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
    strides = [0] * len(shape)
    stride = 1
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


def trends_of(domain: Domain, tables: Mapping[Clique, Array]) -> Trends:
    """The pairs of some tables whose ranks go with each other, nothing being off."""
    correlations = {pair: _rank_correlation(table) for pair, table in tables.items()}
    weights = {pair: _of(_CORRELATIONS, abs(each)) for pair, each in correlations.items()}
    trending = [pair for pair, weight in weights.items() if weight]
    # One of the pairs says what ranks an attribute has: tables may contradict each other in that.
    ranks = np.zeros((len(domain), max(domain.shape)), dtype=np.float32)
    products = []
    for pair in trending:
        for name, way in zip(pair, _ways(tables[pair]), strict=True):
            ranks[domain.index(name), : way.size] = _ranks(way)
    for pair in trending:
        one, other = (ranks[domain.index(name), : domain[name]] for name in pair)
        products.append(float(one @ tables[pair] @ other))
    pairs = [[*map(domain.index, pair)] for pair in trending]
    held = [[p for p, pair in enumerate(pairs) if j in pair] for j in range(len(domain))]
    return Trends(
        pairs=np.array(pairs, dtype=np.int64).reshape(-1, 2),
        first=_ends(held),
        places=_flat(held),
        others=_flat([[sum(pairs[p]) - j for p in part] for j, part in enumerate(held)]),
        ranks=ranks,
        correlations=np.array(products),
        weights=np.array([weights[pair] for pair in trending], dtype=np.float32),
        gaps=np.zeros(len(trending)),
    )


def ties_of(domain: Domain, blocks: Sequence[Block], cliques: Sequence[Clique]) -> Ties:
    """The blocks, and how each of their combinations lies in the marginals that it changes."""
    holders = [
        [t for t, clique in enumerate(cliques) if not {*clique}.isdisjoint(block.names)]
        for block in blocks
    ]
    # By how many cells a combination moves a record in each marginal: sums over the levels of the
    # attributes that belong to the block, worked out once for all records.
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
