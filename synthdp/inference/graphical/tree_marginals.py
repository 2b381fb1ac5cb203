"""Marginals of a calibrated junction tree, inside one clique or across several, answered as one
batch.

Within a clique a marginal is a sum, taken one attribute at a time (the one with most levels first)
so that sums to related marginals share their first, expensive steps. Across cliques, a marginal is
a matrix product of two parts, as `QueryPlan` splits it. A query that is another query of the batch
less one attribute is summed from that. What questions have in common is kept for later ones while
there is room for it; beyond, tables are dropped after their last use in the batch.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar, final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.requests import check_cells
from synthdp.inference.arrays import Array
from synthdp.inference.graphical.query_plan import QueryPlan, Split
from synthdp.inference.summation import summed
from synthdp.inference.trees.attribute_sets import AttributeSet, AttributeSets
from synthdp.inference.trees.junction_tree import JunctionTree

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_MAX_KEPT_BYTES = 1 << 26
"""Of the tables that are kept between questions: 64 MB, twice what all triples of a small model of
Adult need.
"""
_MAX_KEPT_SETS = 1 << 16
"""Sets of attributes that a plan remembers between questions, at about 1 kB each."""


class _Table(NamedTuple):
    values: Array
    axes: tuple[int, ...]


class _Operand(NamedTuple):
    """A stack of matrices: batch x summed x rest, the axes of the rest in this order."""

    values: Array
    rest: tuple[int, ...]


class _Use(NamedTuple):
    """How a step uses a table; ``conditional``: divided by its sums over what is neither batch nor
    summed.
    """

    table: AttributeSet
    batch: AttributeSet
    summed: AttributeSet
    conditional: bool


@final
class TreeMarginals:
    """Answers marginals of one calibrated tree, and keeps plans and parts of them for later
    questions.

    What is kept is at most 64 MB between questions. Several threads may ask at once: what is kept
    serves one of them at a time, and the others start anew.

    Parameters
    ----------
    tree
        The junction tree.
    beliefs
        Marginal of each tree clique, all with the same total; they must not change.
    """

    def __init__(self, tree: JunctionTree, beliefs: Sequence[Array]) -> None:
        self._tree = tree
        self._beliefs = beliefs
        self._idle: list[_Contraction] = []

    def marginal(self, clique: Clique) -> Array:
        """The marginal of any clique with distinct attributes, axes in the order of ``clique``."""
        return self.marginals([clique])[0]

    def marginals(self, cliques: Sequence[Clique]) -> list[Array]:
        """Many marginals; what they have in common is computed once.

        Answers may be views of the beliefs, of what is kept and, where they have the same
        attributes, of each other: they are not to be changed.

        Raises
        ------
        ModelTooLargeError
            If a part of a marginal would have more than `MAX_CELLS` cells; nothing is computed
            then.
        """
        try:
            # One pop is atomic, so of several threads one gets what is kept and the others find the
            # list empty: no lock is held while marginals are computed.
            contraction = self._idle.pop()
        except IndexError:
            contraction = _Contraction(self._tree, self._beliefs)
        answers = contraction.marginals(cliques)
        # A question about thousands of large marginals must not hold a gigabyte afterwards.
        if contraction.may_be_kept():
            self._idle[:] = [contraction]
        return answers


@final
class _Contraction:
    """What answers the questions of one thread: a plan, sums within cliques, and parts across
    cliques.
    """

    def __init__(self, tree: JunctionTree, beliefs: Sequence[Array]) -> None:
        self._tree = tree
        self._beliefs = beliefs
        self._sets = AttributeSets(tree.domain)
        self._plan = QueryPlan(tree, self._sets)
        self._sums: dict[AttributeSet, _Table] = {}
        self._parts: dict[AttributeSet, _Table] = {}
        self._n_bytes = 0

    def may_be_kept(self) -> bool:
        """Whether all that was computed takes little memory."""
        return self._n_bytes <= _MAX_KEPT_BYTES and len(self._sets.n_cells) <= _MAX_KEPT_SETS

    def marginals(self, cliques: Sequence[Clique]) -> list[Array]:
        """See `TreeMarginals.marginals`."""
        queries = [self._sets.of(clique) for clique in cliques]
        # All triples and all pairs are often asked together; a pair is a sum over a triple that is
        # there anyway.
        larger = self._larger(set(queries))
        answers = self._contract([query for query in dict.fromkeys(queries) if query not in larger])
        # Wide ones first: what is summed down from may itself be summed down from something wider.
        for query in sorted(larger, key=int.bit_count, reverse=True):
            axis = (larger[query] ^ query).bit_length() - 1
            answers[query] = _without(answers[larger[query]], axis)
        index = self._tree.domain.index
        return [
            _ordered(answers[q], [index(name) for name in c])
            for q, c in zip(queries, cliques, strict=True)
        ]

    def _larger(self, queries: set[AttributeSet]) -> dict[AttributeSet, AttributeSet]:
        """For queries that are another one less one attribute the smallest such other one."""
        larger: dict[AttributeSet, AttributeSet] = {}
        # The smallest superset is the cheapest to sum; setdefault keeps the first.
        for query in sorted(queries, key=self._sets.n_cells.__getitem__):
            for bit in self._sets.bits[query]:
                if query ^ bit in queries:
                    larger.setdefault(query ^ bit, query)
        return larger

    def _contract(self, queries: Sequence[AttributeSet]) -> dict[AttributeSet, _Table]:
        """The marginals of some sets, from the parts up; a part is dropped when all that need it
        are made.
        """
        for query in queries:
            self._plan.add(query)
        splits = self._plan.splits
        steps = _in_order(splits, [query for query in queries if query in splits], self._parts)
        for step in steps:
            # All sizes are checked before the first table is made: a question that cannot be
            # answered costs no memory.
            check_cells(
                max(map(self._sets.n_cells.__getitem__, (step, *splits[step]))),
                "a table on the way",
            )
        tables = {query: self._sum(query) for query in queries if query not in splits}
        # Tables are counted down and dropped with their last use, so memory is that of what is
        # still needed.
        n_uses = Counter(use for step in steps for use in _uses(step, splits[step]))
        n_waiting = Counter(use.table for use in n_uses) + Counter(queries)
        operands: dict[_Use, _Operand] = {}
        for step in steps:
            pair = _uses(step, splits[step])
            for use in pair:
                if use not in operands:
                    operands[use] = self._operand(self._table(use.table, tables), use)
                    _release(use.table, n_waiting, tables)
            tables[step] = self._product(step, *(operands[use] for use in pair))
            for use in pair:
                _release(use, n_uses, operands)
        return tables | {query: self._parts[query] for query in queries if query in self._parts}

    def _table(self, members: AttributeSet, tables: Mapping[AttributeSet, _Table]) -> _Table:
        """A marginal that has been made in this batch or an earlier one, or lies within a clique."""
        table = tables.get(members) or self._parts.get(members)
        return table or self._sum(members)

    def _operand(self, table: _Table, use: _Use) -> _Operand:
        batch = self._sets.positions[use.batch]
        summed = self._sets.positions[use.summed]
        rest = tuple(axis for axis in table.axes if axis not in batch and axis not in summed)
        n_batch = self._sets.n_cells[use.batch]
        n_summed = self._sets.n_cells[use.summed]
        if (
            # The matrices are then transposed as views, which the product takes as they are.
            table.axes and table.axes[-1] in summed
        ):  # copies are fast, or not needed, if the last axis stays last
            values = (
                _ordered(table, batch + rest + summed).reshape(n_batch, -1, n_summed).swapaxes(1, 2)
            )
        else:
            values = _ordered(table, batch + summed + rest).reshape(n_batch, n_summed, -1)
        if use.conditional:
            totals = np.add.reduce(values, axis=2, keepdims=True)
            # The conditional of one side given the separator, times the joint of the other: that is
            # what a tree says of both.
            values = values / np.where(totals > 0, totals, 1.0)  # where the total is 0, all is
        return _Operand(values, rest)

    def _product(self, members: AttributeSet, one: _Operand, other: _Operand) -> _Table:
        """The sum of products; the order of the axes is that of the domain where this costs
        nothing.
        """
        first, second = sorted((one, other), key=lambda operand: operand.rest)
        shared = members
        for axis in first.rest + second.rest:
            # What is left after taking off both rests is the batch: attributes of the separator
            # that the answer holds.
            shared ^= 1 << axis
        axes = self._sets.positions[shared] + first.rest + second.rest
        values = np.matmul(first.values.swapaxes(1, 2), second.values)
        table = _Table(values.reshape([self._tree.domain.shape[axis] for axis in axes]), axes)
        # Later tables are made and given away, not kept: which ones is decided by who comes first,
        # and any rule about use would cost more than it saves.
        if self._n_bytes + values.nbytes <= _MAX_KEPT_BYTES:
            self._n_bytes += values.nbytes
            self._parts[members] = table
        return table

    def _sum(self, members: AttributeSet) -> _Table:
        """Marginal of some attributes of one clique, axes in the order of the domain."""
        if members not in self._sums:
            home = self._plan.home(members)
            clique = self._plan.cliques[home]
            if members == clique:
                table = _Table(self._beliefs[home], self._sets.positions[clique])
            else:
                last = min(
                    # The smallest axis last: sums then run over the largest tables as few times as
                    # possible.
                    self._sets.positions[clique & ~members],
                    key=self._tree.domain.shape.__getitem__,
                )
                table = _without(self._sum(members | 1 << last), last)
                self._n_bytes += table.values.nbytes
            self._sums[members] = table
        return self._sums[members]


def _in_order(
    splits: Mapping[AttributeSet, Split],
    queries: Iterable[AttributeSet],
    made: Mapping[AttributeSet, _Table],
) -> list[AttributeSet]:
    """The queries and all parts that have parts themselves, parts first, but for those made before.

    Queries that share a part come together.
    """
    done: dict[AttributeSet, None] = {}
    for query in sorted(
        (query for query in queries if query not in made), key=lambda query: splits[query].joint
    ):
        stack = [query]
        while stack:
            split = splits[stack[-1]]
            parts = (
                part for part in (split.given, split.joint) if part in splits and part not in made
            )
            # Depth first by hand: chains of parts can be longer than Python's stack.
            missing = [part for part in parts if part not in done]
            if missing:
                stack += missing
            else:
                done[stack.pop()] = None
    return list(done)


def _uses(members: AttributeSet, split: Split) -> tuple[_Use, _Use]:
    """The two operands of the last step to a marginal."""
    batch = split.separator & members
    summed = split.separator & ~members
    return _Use(split.given, batch, summed, True), _Use(split.joint, batch, summed, False)


def _release(key: _Key, n_left: Counter[_Key], store: dict[_Key, _Value]) -> None:
    """Count one use of a table as done, and drop it after the last one."""
    n_left[key] -= 1
    if n_left[key] == 0:
        store.pop(key, None)


def _without(table: _Table, axis: int) -> _Table:
    """A table summed over one attribute."""
    place = table.axes.index(axis)
    return _Table(summed(table.values, (place,)), table.axes[:place] + table.axes[place + 1 :])


def _ordered(table: _Table, axes: Sequence[int]) -> Array:
    return np.transpose(table.values, [table.axes.index(axis) for axis in axes])
