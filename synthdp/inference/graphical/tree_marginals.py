"""Marginals of a calibrated junction tree, inside one clique or across several, answered as one batch.

Within a clique a marginal is a sum, taken one attribute at a time (the one with most levels
first) so that sums to related marginals share their first, expensive steps. Across cliques, a
marginal is a matrix product of two parts, as `QueryPlan` splits it; tables are dropped after their
last use. A query that is another query of the batch less one attribute is summed from that.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar, final

import numpy as np

from synthdp.cliques import Clique
from synthdp.inference.arrays import Array
from synthdp.inference.graphical.query_plan import QueryPlan, Split
from synthdp.inference.trees.attribute_sets import AttributeSet, AttributeSets
from synthdp.inference.trees.junction_tree import JunctionTree

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class _Table(NamedTuple):
    values: Array
    axes: tuple[int, ...]


class _Operand(NamedTuple):
    """A stack of matrices: batch x summed x rest, the axes of the rest in this order."""

    values: Array
    rest: tuple[int, ...]


class _Use(NamedTuple):
    """How a step uses a table; ``conditional``: divided by its sums over what is neither batch nor summed."""

    table: AttributeSet
    batch: AttributeSet
    summed: AttributeSet
    conditional: bool


@final
class TreeMarginals:
    """Answers marginals of one calibrated tree; sums within cliques live as long as the object.

    Parameters
    ----------
    tree
        The junction tree.
    beliefs
        Marginal of each tree clique, all with the same total.
    """

    def __init__(self, tree: JunctionTree, beliefs: Sequence[Array]) -> None:
        self._tree = tree
        self._beliefs = beliefs
        self._sets = AttributeSets(tree.domain)
        self._plan = QueryPlan(tree, self._sets)
        self._sums: dict[AttributeSet, _Table] = {}

    def marginal(self, clique: Clique) -> Array:
        """The marginal of any clique with distinct attributes, axes in the order of ``clique``."""
        return self.marginals([clique])[0]

    def marginals(self, cliques: Sequence[Clique]) -> list[Array]:
        """Many marginals; what they have in common is computed once.

        Answers may be views of the beliefs and, where they have the same attributes, of each other.
        """
        queries = [self._sets.of(clique) for clique in cliques]
        larger = self._larger(set(queries))
        answers = self._contract([query for query in dict.fromkeys(queries) if query not in larger])
        for query in sorted(larger, key=int.bit_count, reverse=True):
            axis = (larger[query] ^ query).bit_length() - 1
            answers[query] = _without(answers[larger[query]], axis)
        index = self._tree.domain.index
        return [_ordered(answers[q], [index(name) for name in c]) for q, c in zip(queries, cliques, strict=True)]

    def _larger(self, queries: set[AttributeSet]) -> dict[AttributeSet, AttributeSet]:
        """For queries that are another one less one attribute the smallest such other one."""
        larger: dict[AttributeSet, AttributeSet] = {}
        for query in sorted(queries, key=self._sets.n_cells.__getitem__):
            for bit in self._sets.bits[query]:
                if query ^ bit in queries:
                    larger.setdefault(query ^ bit, query)
        return larger

    def _contract(self, queries: Sequence[AttributeSet]) -> dict[AttributeSet, _Table]:
        """The marginals of some sets, from the parts up; a part is dropped when all that need it are made."""
        for query in queries:
            self._plan.add(query)
        splits = self._plan.splits
        tables = {query: self._sum(query) for query in queries if query not in splits}
        steps = _in_order(splits, [query for query in queries if query in splits])
        n_uses = Counter(use for step in steps for use in _uses(step, splits[step]))
        n_waiting = Counter(use.table for use in n_uses) + Counter(queries)
        operands: dict[_Use, _Operand] = {}
        for step in steps:
            pair = _uses(step, splits[step])
            for use in pair:
                if use not in operands:
                    table = tables[use.table] if use.table in splits else self._sum(use.table)
                    operands[use] = self._operand(table, use)
                    _release(use.table, n_waiting, tables)
            tables[step] = self._product(step, *(operands[use] for use in pair))
            for use in pair:
                _release(use, n_uses, operands)
        return tables

    def _operand(self, table: _Table, use: _Use) -> _Operand:
        batch, summed = self._sets.positions[use.batch], self._sets.positions[use.summed]
        rest = tuple(axis for axis in table.axes if axis not in batch and axis not in summed)
        n_batch, n_summed = self._sets.n_cells[use.batch], self._sets.n_cells[use.summed]
        if table.axes and table.axes[-1] in summed:  # copies are fast, or not needed, if the last axis stays last
            values = _ordered(table, batch + rest + summed).reshape(n_batch, -1, n_summed).swapaxes(1, 2)
        else:
            values = _ordered(table, batch + summed + rest).reshape(n_batch, n_summed, -1)
        if use.conditional:
            totals = np.add.reduce(values, axis=2, keepdims=True)
            values = values / np.where(totals > 0, totals, 1.0)  # where the total is 0, all is
        return _Operand(values, rest)

    def _product(self, members: AttributeSet, one: _Operand, other: _Operand) -> _Table:
        """The sum of products; the order of the axes is that of the domain where this costs nothing."""
        first, second = sorted((one, other), key=lambda operand: operand.rest)
        shared = members
        for axis in first.rest + second.rest:
            shared ^= 1 << axis
        axes = self._sets.positions[shared] + first.rest + second.rest
        values = np.matmul(first.values.swapaxes(1, 2), second.values)
        return _Table(values.reshape([self._tree.domain.shape[axis] for axis in axes]), axes)

    def _sum(self, members: AttributeSet) -> _Table:
        """Marginal of some attributes of one clique, axes in the order of the domain."""
        if members not in self._sums:
            home = self._plan.home(members)
            clique = self._plan.cliques[home]
            if members == clique:
                table = _Table(self._beliefs[home], self._sets.positions[clique])
            else:
                last = min(self._sets.positions[clique & ~members], key=self._tree.domain.shape.__getitem__)
                table = _without(self._sum(members | 1 << last), last)
            self._sums[members] = table
        return self._sums[members]


def _in_order(splits: Mapping[AttributeSet, Split], queries: Iterable[AttributeSet]) -> list[AttributeSet]:
    """The queries and all parts that have parts themselves, parts first; queries that share a part come together."""
    done: dict[AttributeSet, None] = {}
    for query in sorted(queries, key=lambda query: splits[query].joint):
        stack = [query]
        while stack:
            split = splits[stack[-1]]
            missing = [part for part in (split.given, split.joint) if part in splits and part not in done]
            if missing:
                stack += missing
            else:
                done[stack.pop()] = None
    return list(done)


def _uses(members: AttributeSet, split: Split) -> tuple[_Use, _Use]:
    """The two operands of the last step to a marginal."""
    batch, summed = split.separator & members, split.separator & ~members
    return _Use(split.given, batch, summed, True), _Use(split.joint, batch, summed, False)


def _release(key: _Key, n_left: Counter[_Key], store: dict[_Key, _Value]) -> None:
    """Count one use of a table as done, and drop it after the last one."""
    n_left[key] -= 1
    if n_left[key] == 0:
        store.pop(key, None)


def _without(table: _Table, axis: int) -> _Table:
    """A table summed over one attribute."""
    place = table.axes.index(axis)
    return _Table(np.asarray(np.add.reduce(table.values, axis=place)), table.axes[:place] + table.axes[place + 1 :])


def _ordered(table: _Table, axes: Sequence[int]) -> Array:
    return np.transpose(table.values, [table.axes.index(axis) for axis in axes])
